"""What all reference plans share: what they may know, and when everything has been said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.memory import Memory, satisfies
from ecomrlve.protocol import Observation

MESSAGES_BEFORE_ANSWERING = 2  # a change of mind comes with the reply to the second message


@dataclass(frozen=True, slots=True)
class Said:
    """What the reference agent may read of the ledger.

    Attributes:
        slots: Said slots of the current intent as plain values.
        complete: The customer's last words on it were that there is nothing else, or that all is right.
    """

    slots: tuple[dict[str, Any], ...]
    complete: bool

    def of_kind(self, *kinds: str) -> list[dict[str, Any]]:
        """The said slots of these kinds."""
        return [slot for slot in self.slots if slot["kind"] in kinds]

    def value(self, kind: str, default: Any = None) -> Any:
        """The value of the first said slot of a kind."""
        return next((slot["value"] for slot in self.slots if slot["kind"] == kind), default)


class IntentPlan:
    """Plays one intent. Subclasses say what to do in `act`.

    Args:
        memory: What tool results of the episode showed, shared by its intents.
    """

    def __init__(self, memory: Memory):
        self.memory = memory
        self.turn = 0
        self.messages = 0
        self.complete = False
        self.pages: list[list[dict[str, Any]]] = []
        self._acted_at = 0

    def take_turn(self, observation: Observation, view: Said, pages: list[list[dict[str, Any]]]) -> dict[str, Any]:
        """The next turn of this intent.

        Args:
            observation: What any agent gets.
            view: What was said, as plain values.
            pages: The pages of hits that came since the last turn.
        """
        # What came while another intent was on the table is no answer to what this plan asked for.
        self.pages = pages if self.turn == 0 or observation.turn == self._acted_at + 1 else []
        self._acted_at = observation.turn
        self.complete = self.complete or view.complete
        action = self.act(observation, view)
        self.turn += 1
        self.messages += bool(action.get("assistant_message"))
        return action

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """What to do in this turn."""
        raise NotImplementedError

    def told(self, observation: Observation) -> bool:
        """Everything is said: the customer said so, or it has spoken up because two turns remain."""
        enough = self.complete and self.messages >= MESSAGES_BEFORE_ANSWERING
        return enough or observation.intent_turns_left <= 2

    @staticmethod
    def last(observation: Observation) -> bool:
        """Whether this is the last turn for the intent."""
        return observation.intent_turns_left <= 1


def call(name: str, **args: Any) -> dict[str, Any]:
    """A tool call."""
    return {"name": name, "args": args}


def filters_of(slots: list[dict[str, Any]]) -> dict[str, Any]:
    """Constraint slots as the search tool's filters; several on one attribute go together."""
    filters: dict[str, Any] = {}
    for slot in slots:
        filters.setdefault(slot["attribute"], {})[slot["operator"]] = slot["value"]
    return filters


def meets(hit: Mapping[str, Any], slots: list[dict[str, Any]]) -> bool:
    """Whether a hit satisfies all constraint slots, judged by the fields it shows."""
    return all(satisfies(dict(hit), slot["attribute"], slot["operator"], slot["value"]) for slot in slots)
