"""E_JOURNEY: several wishes in one conversation, over one shop: cart, orders, policies and profile are shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.ledger import Ledger
from ecomrlve.difficulty import Difficulty
from ecomrlve.rewards import clip
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import SELLOUT, SWITCH, Hazards, Part, Problem, Task, Verdict, generate_in
from ecomrlve.tasks.bundle import BundleTask
from ecomrlve.tasks.cart import CartTask, variant_probability
from ecomrlve.tasks.discovery import DiscoveryTask
from ecomrlve.tasks.policy import PolicyTask
from ecomrlve.tasks.returns import ReturnTask
from ecomrlve.tasks.status import StatusTask
from ecomrlve.tasks.substitution import SubstitutionTask

INTENTS: tuple[Task, ...] = (
    CartTask(), SubstitutionTask(), DiscoveryTask(), ReturnTask(), StatusTask(), PolicyTask(), BundleTask(),
)  # fmt: skip
MOST_INTENTS, FEWEST_INTENTS = 5, 2
STRAY_COST = 0.25
DELIVERED = 0.4
TURNS_TO_COME_BACK = 2
IDLE_HISTORY = 8  # products of the visit history where no cart is to be built


def intents_wanted(d: int) -> int:
    """How many intents a journey has: 2, 3, 4, 5 from d = 0, 4, 8, 12."""
    return min(MOST_INTENTS, FEWEST_INTENTS + d // 4)


def _answer_model() -> type[BaseModel]:
    """The fields of all intents' answers; each intent reads its own."""
    fields: dict[str, Any] = {}
    for task in INTENTS:
        for name, info in task.answer.model_fields.items():
            fields.setdefault(name, (info.annotation, info))
    done = fields.pop("done")
    return create_model("JourneyAnswer", __config__=ConfigDict(strict=True, extra="ignore"), **fields, done=done)


class _OtherWorldNeededError(Exception):
    """A part fits only in a world with fewer hazards, and the world is shared."""

    def __init__(self, hazards: Hazards):
        super().__init__()
        self.hazards = hazards


@dataclass(frozen=True, slots=True)
class JourneyGoal:
    """The kinds of intents, in the order in which they are raised."""

    kinds: tuple[str, ...]


class JourneyTask:
    """The E_JOURNEY task (see `tasks.base.ComposedTask`)."""

    env_id = "E_JOURNEY"
    title = "Multi-intent journey"
    instructions = (
        "The customer has several wishes, one after the other, and may change the subject and come back. Each wish is "
        "one of: fill the cart, find a substitute, find products, return something, track an order, answer a policy "
        "question, plan a bundle. Your answer always addresses the wish raised last that is still open; use the "
        "fields that belong to it. Leave alone what no wish is about: stray cart lines, returns and exchanges cost."
    )
    tools = tuple(dict.fromkeys(name for task in INTENTS for name in task.tools))
    answer: type[BaseModel] = _answer_model()

    def compose(self, engine: SearchEngine, axes: Difficulty, key: tuple[Any, ...], salt: tuple[Any, ...]) -> Problem:
        """Draw the kinds of intents, one world for all, and a problem for each that fits its share of the turns."""
        stream = Stream("problem", *key, *salt)
        tasks = stream.sample(INTENTS, intents_wanted(axes.d))
        interruptions = [stream.chance(axes.switching) for _ in tasks]
        hazards = Hazards(axes.sellout)
        dropped: list[str] = []
        while True:
            share = variant_probability(axes.d) if hazards.optional else 0.0
            setting = Setting(share, by_variant=False, delivered_share=DELIVERED)
            world = World(engine, axes, key, setting, sellout=hazards.sellout)
            try:
                problems = [
                    self._part(task, world, hazards, axes, (*key, index), salt) for index, task in enumerate(tasks)
                ]
                break
            except _OtherWorldNeededError as needed:
                if needed.hazards.sellout < hazards.sellout:
                    dropped.append(SELLOUT)
                hazards = needed.hazards
        if not any(isinstance(task, CartTask) for task in tasks):
            # A history that says nothing of what the customer is after.
            everything = Stream("history", *key)
            world.history = [everything.integer(len(world.catalog)) for _ in range(IDLE_HISTORY)]
        parts = []
        for index, (task, problem, wanted) in enumerate(zip(tasks, problems, interruptions, strict=True)):
            wanted = wanted and index < len(tasks) - 1
            # Coming back to an interrupted intent costs turns: what was on the table has to be looked at again.
            spare = problem.plan.turns + TURNS_TO_COME_BACK <= axes.turn_budget
            if wanted and not spare:
                dropped.append(SWITCH)
            problem.persona = replace(problem.persona, style=problems[0].persona.style)
            parts.append(Part(task, problem, wanted and spare))
            dropped += [hazard for hazard in problem.dropped if hazard not in dropped]
        return Problem(
            slots=[],
            goal=JourneyGoal(tuple(task.env_id for task in tasks)),
            persona=problems[0].persona,
            world=world,
            drawn={"intents": len(parts), "interruptions": sum(part.interrupted for part in parts)},
            dropped=tuple(dict.fromkeys(dropped)),
            parts=tuple(parts),
        )

    def _part(
        self, task: Task, world: World, hazards: Hazards, axes: Difficulty, key: tuple[Any, ...], salt: tuple[Any, ...]
    ) -> Problem:
        """One intent's problem in the shared world, with a change of mind only where it has one by itself."""

        def shared(setting: Setting, wanted: Hazards) -> World:
            if wanted.sellout < world.stock.rate:
                raise _OtherWorldNeededError(replace(hazards, sellout=wanted.sellout))
            if isinstance(task, CartTask) and setting.variant_share < world.setting.variant_share:
                raise _OtherWorldNeededError(replace(hazards, optional=False))
            return world

        return generate_in(task, shared, axes, key, salt, hazards)

    def judge(self, problem: Problem, verdicts: Sequence[tuple[Part, Ledger, Verdict | None]]) -> Verdict:
        """The mean over the intents, less what was disturbed without need."""
        scores = [-1.0 if verdict is None else verdict.task for _, _, verdict in verdicts]
        strays = self._strays(problem, verdicts)
        # The sum of ones over their number is exactly one.
        task = clip(sum(scores) / len(scores) - STRAY_COST * strays)
        right = [verdict is not None and verdict.correct for _, _, verdict in verdicts]
        intents = [
            {"env_id": part.task.env_id, "task": score, "correct": ok, "answered": verdict is not None}
            for (part, _, verdict), score, ok in zip(verdicts, scores, right, strict=True)
        ]
        told = [
            f"{part.task.env_id}: {'never answered.' if verdict is None else verdict.reason}"
            for part, _, verdict in verdicts
        ]
        if strays:
            told.append(f"{strays} cart lines or transactions belong to no wish.")
        done = [
            {"intent": part.task.env_id, **entry} for part, _, verdict in verdicts if verdict for entry in verdict.done
        ]
        parts = {"intents": intents, "right": sum(right), "strays": strays}
        return Verdict(task, all(right) and not strays, parts, " ".join(told), done)

    def _strays(self, problem: Problem, verdicts: Sequence[tuple[Part, Ledger, Verdict | None]]) -> int:
        """Cart lines and transactions that belong to no intent."""
        world = problem.world
        lines, meant = set(world.cart.lines), set()
        for part, ledger, _ in verdicts:
            if isinstance(part.task, CartTask):
                lines -= set(part.task.required(part.problem, ledger))
            if isinstance(part.task, ReturnTask):
                meant.add(part.problem.goal.line.number)
        return len(lines) + sum(one.line not in meant for one in world.transactions())
