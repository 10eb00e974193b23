"""What a task is: it draws problems, says what the customer knows, and judges what was done.

A task is stateless; a `Problem` is all that is drawn for one episode. The goal is read from the ledger's slots at all
times (a change of mind replaces a slot's value there), so that what is said and what is scored cannot come apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.dialogue import Complaint
from ecomrlve.customer.ledger import HEADS, Ledger, Slot
from ecomrlve.customer.persona import Persona
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream

# Hazards that the budget law may drop, in this order.
SELLOUT, SWITCH, OMISSION, OPTIONAL = "sellout", "switch", "omission", "optional"
BELOW_THIS_NOTHING_IS_OMITTED = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """What the reference plan needs.

    Attributes:
        turns: Agent turns, the spare one included.
        calls: Most tool calls in one turn.
    """

    turns: int
    calls: int

    def fits(self, axes: Difficulty) -> bool:
        """Whether both budgets hold it."""
        return self.turns <= axes.turn_budget and self.calls <= axes.tool_budget


@dataclass(frozen=True, slots=True)
class Hazards:
    """Which hazards are still in the problem that is being drawn.

    Attributes:
        sellout: Probability of selling out; 0 where the budget law dropped it.
        switch: Whether a change of mind may happen.
        optional: Whether optional parts are in.
    """

    sellout: float
    switch: bool = True
    optional: bool = True


@dataclass(slots=True)
class Problem:
    """All that was drawn for one episode.

    Attributes:
        slots: Most important first, heads at the start.
        goal: The task's own dataclass: rows, variants … that slots refer to.
        persona: The customer's priorities and style.
        asleep: Keys of slots that only a sell-out brings to life.
        omitted: Keys that the opening leaves out.
        switch: Key → new value, or empty.
        drawn: What the axes drew before the budget law dropped anything, for the published tables.
        dropped: Hazards that the budget law dropped.
        supported: Constraints the catalog supported, of `axes.constraints` wanted; −1 where it does not apply.
        plan: What the reference plan needs, with everything that is left.
        world: The world in which the episode plays.
        parts: The intents that it is made of; empty for a problem of one intent.
    """

    slots: list[Slot]
    goal: Any
    persona: Persona
    world: World
    asleep: frozenset[str] = frozenset()
    omitted: frozenset[str] = frozenset()
    switch: dict[str, Any] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    supported: int = -1
    plan: Plan = Plan(1, 1)
    parts: tuple[Part, ...] = ()

    def ledger(self) -> Ledger:
        """A fresh ledger for an episode of this problem."""
        return Ledger(
            slots={slot.key: slot for slot in self.slots},
            asleep=set(self.asleep),
            pending=dict(self.switch),
            omitted=self.omitted,
        )


@dataclass(frozen=True, slots=True)
class Part:
    """One intent of a journey.

    Attributes:
        task: What kind of intent it is.
        problem: What was drawn for it; its world is the journey's.
        interrupted: Whether the customer raises its next intent before this one is answered.
    """

    task: Task
    problem: Problem
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier found.

    Attributes:
        task: r_task in [−1, 1].
        correct: Whether it counts as a success, given an accepted answer.
        parts: The task's own figures.
        reason: One sentence for people.
        done: What the agent did, entry by entry, for people.
    """

    task: float
    correct: bool
    parts: dict[str, Any]
    reason: str
    done: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Sight:
    """What the customer can see of a turn's result.

    Attributes:
        complaints: What is wrong, most important first.
        reached: All that the customer wants is there.
        quality: A number that grows when the shop changed for the better.
    """

    complaints: tuple[Complaint, ...] = ()
    reached: bool = False
    quality: float = 0.0


class Described(Protocol):
    """What every environment says of itself."""

    @property
    def env_id(self) -> str:
        """Name of the environment."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def instructions(self) -> str:
        """What an agent is told to do."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools it offers."""

    @property
    def answer(self) -> type[BaseModel]:
        """The answer's fields."""


class Task(Described, Protocol):
    """The task of an environment with one intent."""

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """The kind of shop it plays in."""

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw a problem in a world, without omissions and plan.

        Args:
            world: A fresh world, or that of a journey, which other intents share.
            axes: The episode's difficulty.
            key: What the streams are keyed by.
            hazards: Which hazards are still in.
            salt: Another goal in the same world, for law 4.
        """

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """Another value for a slot, for a change of mind that leaves the problem solvable; None if there is none."""

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """What the reference plan needs for this problem."""

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """What the customer sees of the shop and of the products shown."""

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """Fallback key → unit, for the items that are sold out by now."""

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """Judge the world and the answer against what was said."""

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """The goal, for people, after the end."""


@runtime_checkable
class ComposedTask(Described, Protocol):
    """A task made of others (E_JOURNEY): it draws one world for all of them."""

    def compose(self, engine: SearchEngine, axes: Difficulty, key: tuple[Any, ...], salt: tuple[Any, ...]) -> Problem:
        """Draw the parts and put them together."""

    def judge(self, problem: Problem, verdicts: Sequence[tuple[Part, Ledger, Verdict | None]]) -> Verdict:
        """Put the verdicts on the parts together; None stands for a part that was never answered."""


AnyTask = Task | ComposedTask
MakeWorld = Callable[[Setting, Hazards], World]


def generate(
    task: AnyTask, engine: SearchEngine, axes: Difficulty, key: tuple[Any, ...], salt: tuple[Any, ...] = ()
) -> Problem:
    """Draw a problem that its reference plan solves inside both budgets, in a world of its own.

    Args:
        task: Which task.
        engine: Search engine with the catalog.
        axes: The episode's difficulty.
        key: What the episode's streams are keyed by.
        salt: Another goal in the same world; law 4 compares such pairs.

    Raises:
        GenerationError: Even the barest problem does not fit, which only extreme overrides can bring about.
    """
    if isinstance(task, ComposedTask):
        return task.compose(engine, axes, key, salt)

    def make_world(setting: Setting, hazards: Hazards) -> World:
        return World(engine, axes, key, setting, sellout=hazards.sellout)

    return generate_in(task, make_world, axes, key, salt)


def generate_in(
    task: Task,
    make_world: MakeWorld,
    axes: Difficulty,
    key: tuple[Any, ...],
    salt: tuple[Any, ...],
    hazards: Hazards | None = None,
) -> Problem:
    """Draw a problem that its reference plan solves inside both budgets.

    Hazards are dropped one after the other while the plan does not fit: sell-outs for the whole episode, then the
    change of mind, then omissions (the least important first), then optional parts.

    Args:
        task: Which task.
        make_world: Gives the world to draw in.
        axes: The episode's difficulty.
        key: What the problem's streams are keyed by.
        salt: Another goal in the same world.
        hazards: What is in at first; everything, if not given.

    Raises:
        GenerationError: Even the barest problem does not fit.
    """
    dropped: list[str] = []
    hazards = hazards or Hazards(axes.sellout)
    drawn: dict[str, Any] | None = None
    while True:
        problem = task.draw(make_world(task.setting(axes, hazards), hazards), axes, key, hazards, salt)
        problem.omitted = _omissions(problem, axes, (*key, *salt))
        if axes.turn_budget < BELOW_THIS_NOTHING_IS_OMITTED:
            problem.omitted = frozenset()
        elif hazards.switch:
            problem.switch = _switch(task, problem, axes, (*key, *salt))
        if drawn is None:
            drawn = problem.drawn | {
                "omittable": sum(1 for slot in problem.slots if _omittable(problem, slot)),
                "omitted": len(problem.omitted),
            }
        problem.plan = task.plan(problem, axes)
        if not problem.plan.fits(axes) and OMISSION in dropped:
            _say_more(task, problem, axes)
        if problem.plan.fits(axes):
            problem.drawn, problem.dropped = drawn, tuple(dropped)
            return problem
        if hazards.sellout > 0:
            dropped.append(SELLOUT)
            hazards = replace(hazards, sellout=0.0)
        elif hazards.switch and problem.switch:
            dropped.append(SWITCH)
            hazards = replace(hazards, switch=False)
        elif OMISSION not in dropped and problem.omitted:
            dropped.append(OMISSION)
        elif hazards.optional:
            dropped.append(OPTIONAL)
            hazards = replace(hazards, optional=False)
        else:
            raise GenerationError(
                f"no {task.env_id} problem fits a turn budget of {axes.turn_budget} and a tool budget of "
                f"{axes.tool_budget}: its plan needs {problem.plan.turns} turns and {problem.plan.calls} calls"
            )


def _omittable(problem: Problem, slot: Slot) -> bool:
    return slot.kind not in HEADS and slot.key not in problem.asleep


def _omissions(problem: Problem, axes: Difficulty, key: tuple[Any, ...]) -> frozenset[str]:
    stream = Stream("omission", *key)
    return frozenset(slot.key for slot in problem.slots if _omittable(problem, slot) and stream.chance(axes.omission))


def _switch(task: Task, problem: Problem, axes: Difficulty, key: tuple[Any, ...]) -> dict[str, Any]:
    """The customer changes its mind about one slot that the opening says, if the axis and the catalog let it."""
    stream = Stream("switch", *key)
    if not stream.chance(axes.switching):
        return {}
    said = [slot for slot in problem.slots if _omittable(problem, slot) and slot.key not in problem.omitted]
    for slot in stream.shuffled(said):
        value = task.change(problem, slot, axes, stream)
        if value is not None:
            return {slot.key: value}
    return {}


def _say_more(task: Task, problem: Problem, axes: Difficulty) -> None:
    """Take back omissions, least important first, until the plan fits or none is left."""
    for slot in reversed(problem.slots):
        if slot.key in problem.omitted:
            problem.omitted -= {slot.key}
            problem.plan = task.plan(problem, axes)
            if problem.plan.fits(axes):
                return


def ask_turns(omitted: int, per_question: int, turn_budget: int) -> int:
    """Turns of asking until everything is said: by questions, or by the customer speaking up when two turns remain."""
    return min(-(-omitted // per_question), max(0, turn_budget - 2))
