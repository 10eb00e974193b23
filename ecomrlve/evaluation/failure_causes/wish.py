"""One wish of a customer as the record has it: what was wanted, what was answered, and what was said in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ecomrlve.customer.dialogue import COMPLAINTS_PER_REPLY
from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.vocabulary import Fault


@dataclass(frozen=True, slots=True)
class Wish:
    """One intent of an episode; all of it, in environments with one.

    Attributes:
        env_id: The environment it belongs to.
        goal: What was wanted, as revealed after the end.
        done: What the verifier found done for it.
        answer: The accepted answer, or None.
        end: The turn of that answer; one more than there were, where there is none.
        correct: Whether it was a success.
        raised: Whether the customer came to raise it.
        slots: Key → entry of the ledger.
        acts: Turn → what the customer's reply did in it, for the turns that belong to the wish.
    """

    env_id: str
    goal: Mapping[str, Any]
    done: Sequence[Mapping[str, Any]]
    answer: Mapping[str, Any] | None
    end: int
    correct: bool
    raised: bool
    slots: Mapping[str, Mapping[str, Any]]
    acts: Mapping[int, Sequence[str]]

    def keys(self, start: str) -> list[str]:
        """The slots whose names begin so."""
        return [key for key in self.slots if key.startswith(start)]

    def wanted(self, key: str) -> str:
        """What the customer said last of a slot, in words; empty where there is no such slot."""
        return str(self.slots[key]["text"]) if key in self.slots else ""

    def wanted_before(self, key: str) -> str | None:
        """What the customer had said of a slot before it changed its mind; None where it did not."""
        said = pairwise(self.slots[key]["said"])
        return next((before["text"] for before, after in said if after["act"] == "switch"), None)

    def asked_for(self, key: str) -> bool:
        """Whether the opening said a slot, or the agent was asking when it was first said.

        The customer tells at most three slots per question and then, when turns run short, all that remain; whoever was
        still asking by then did what it could.
        """
        entry = self.slots[key]
        if not entry["omitted"]:
            return True
        return bool(entry["said"]) and "clarify" in self.acts.get(entry["said"][0]["turn"], ())

    def corrected(self, key: str) -> bool:
        """Whether the customer said that a slot, as it stood at the end, was not met."""
        return any(one["act"] == "correct" and one["text"] == self.wanted(key) for one in self.slots[key]["said"])

    def other_corrections(self) -> list[int]:
        """Turns after which the customer may have pointed out something that has no slot, such as a stray cart line.

        It points out two things at most, and the ledger tells those that have a slot.
        """
        told = [one["turn"] for entry in self.slots.values() for one in entry["said"] if one["act"] == "correct"]
        return [
            turn for turn, acts in self.acts.items() if "correct" in acts and told.count(turn) < COMPLAINTS_PER_REPLY
        ]

    def blame(self, *keys: str, fits: Callable[[str], bool] | None = None) -> Fault:
        """What led to a mistake in these slots; nothing where it was said in time, asked for and not corrected.

        Args:
            *keys: Slots; those that this wish does not have are passed over.
            fits: Whether what was done fits a slot as worded, to tell whether it fits what was wanted before.
        """
        found: Fault = set()
        for key in keys:
            if key not in self.slots:
                continue
            before = self.wanted_before(key)
            if self.corrected(key):
                found.add(cause.CORRECTION)
            if before is not None and fits is not None and fits(before):
                found.add(cause.CHANGE)
            if not self.asked_for(key):
                found.add(cause.NOT_ASKED)
        return found
