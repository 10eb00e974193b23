"""What the customer is after, one thing at a time: an intent with its own ledger, customer talk and share of turns.

Seven environments have one intent; a journey has several. They lie on a stack: a turn belongs to the topmost one, and
the answer addresses it. The customer raises the next intent when one is answered, or earlier, when it changes the
subject; then it comes back to the interrupted one afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.customer.dialogue import Customer, Reply
from ecomrlve.customer.grammar import Grammar, join
from ecomrlve.customer.ledger import Ledger
from ecomrlve.tasks.base import AnyTask, ComposedTask, Problem, Task

TURNS_BEFORE_A_NEW_SUBJECT = 2
SUBJECT_CHANGED = "the customer changed the subject"


@dataclass(slots=True)
class Intent:
    """One thing the customer is after.

    Attributes:
        index: Its place in the order in which intents are raised.
        task: What kind of intent it is.
        problem: What was drawn for it.
        ledger: What was said of it.
        customer: Who talks about it.
        budget: Agent turns that are meant for it.
        interrupted: Whether the customer raises another intent before this one is answered.
        turns: Agent turns spent on it.
        quality: The best the shop has been for it.
        complete: The customer's last words on it were that there is nothing else, or that all is right.
        answer: The accepted answer, or None.
    """

    index: int
    task: Task
    problem: Problem
    ledger: Ledger
    customer: Customer
    budget: int
    interrupted: bool = False
    turns: int = 0
    quality: float = 0.0
    complete: bool = False
    answer: Mapping[str, Any] | None = None

    @property
    def turns_left(self) -> int:
        """Turns of its share that remain; none if it took more than that."""
        return max(0, self.budget - self.turns)

    def heard(self, reply: Reply | None) -> None:
        """Note what the last reply on this intent said."""
        self.complete = reply is not None and ("nothing_else" in reply.acts or "confirm" in reply.acts)


@dataclass(slots=True)
class Intents:
    """All intents of an episode, and the stack of those that are open.

    Attributes:
        all: In the order in which they are raised.
        stack: Indices of the open ones, the current one last.
        raised: How many have been raised.
    """

    all: list[Intent]
    stack: list[int] = field(default_factory=lambda: [0])
    raised: int = 1

    @property
    def current(self) -> Intent:
        """The intent that a turn belongs to; the last one, when all are answered."""
        return self.all[self.stack[-1]] if self.stack else self.all[-1]

    @property
    def unanswered(self) -> bool:
        """Whether any is open or still to come."""
        return bool(self.stack) or self.raised < len(self.all)

    def key(self, intent: Intent, key: str) -> str:
        """A slot's name in the record: with its intent's number where there are several."""
        return key if len(self.all) == 1 else f"{intent.index}:{key}"

    def close(self, turn: int) -> Reply | None:
        """Take the answered intent off the stack and turn to the next.

        Returns:
            What the customer says to that: it comes back to what was interrupted, or raises its next intent. None if
            nothing is left.
        """
        self.stack.pop()
        if self.stack:
            return self.current.customer.come_back(turn)
        return self._raise(turn, "next") if self.raised < len(self.all) else None

    def interrupt(self, turn: int) -> Reply | None:
        """Let the customer change the subject, where it is due."""
        now = self.current
        due = now.interrupted and now.turns >= TURNS_BEFORE_A_NEW_SUBJECT and self.raised < len(self.all)
        if not due:
            return None
        now.interrupted = False
        return self._raise(turn, "switch")

    def _raise(self, turn: int, lead: str) -> Reply:
        self.stack.append(self.raised)
        self.raised += 1
        return self.current.customer.open(turn, lead)


def intents_of(
    task: AnyTask,
    problem: Problem,
    turn_budget: int,
    noise: float,
    key: tuple[Any, ...],
    grammar: Grammar | None = None,
) -> Intents:
    """The intents of a problem: its parts, or the problem itself.

    Args:
        task: The environment's task.
        problem: What was drawn.
        turn_budget: Agent turns per intent.
        noise: Axis 6.
        key: What the episode's streams are keyed by.
        grammar: The customer's words; None for the built-in ones.
    """
    if not isinstance(task, ComposedTask):
        ledger = problem.ledger()
        customer = Customer(task.env_id, ledger, problem.persona, noise, key, grammar)
        return Intents([Intent(0, task, problem, ledger, customer, turn_budget)])
    found = []
    for index, part in enumerate(problem.parts):
        ledger = part.problem.ledger()
        customer = Customer(part.task.env_id, ledger, part.problem.persona, noise, (*key, index), grammar)
        found.append(Intent(index, part.task, part.problem, ledger, customer, turn_budget, part.interrupted))
    return Intents(found)


def spoken(first: Reply | None, second: Reply | None) -> Reply | None:
    """Two replies as one message."""
    if first is None or second is None:
        return first or second
    return Reply(
        first.acts + second.acts, join([first.text, second.text]), first.slots + second.slots, first.new + second.new,
        second.discount or first.discount, first.quit or second.quit,
    )  # fmt: skip
