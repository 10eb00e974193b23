"""Telling what a customer is after, and when it comes to another matter or back to an earlier one."""

from __future__ import annotations

import re
from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.scripted.bundle import BundleErrand
from ecomrlve.agents.scripted.cart import CartErrand
from ecomrlve.agents.scripted.discovery import Discovery, Substitution
from ecomrlve.agents.scripted.errand import Errand
from ecomrlve.agents.scripted.orders import StatusErrand
from ecomrlve.agents.scripted.policy import PolicyErrand
from ecomrlve.agents.scripted.reading import SOLD_OUT, Speller
from ecomrlve.agents.scripted.returns import ReturnErrand
from ecomrlve.protocol import Observation

ERRANDS: dict[str, type[Errand]] = {
    "E_SUB": Substitution,
    "E_RETURN": ReturnErrand,
    "E_POLICY": PolicyErrand,
    "E_STATUS": StatusErrand,
    "E_BUNDLE": BundleErrand,
    "E_CART": CartErrand,
    "E_PD": Discovery,
}
FIRST_CUE = 2.0  # what the most telling cue of a matter counts, against one for any other

# What speaks for a matter, in normal texts, the most telling cue first; each counts once.
CUES: dict[str, tuple[str, ...]] = {
    "E_SUB": (rf" {SOLD_OUT} ", r" (?:substitute|alternative|instead of|similar|close to|comes close|something like) "),
    "E_RETURN": (
        r" (?:(?:send|sending|give|take|goes|going|go) (?:\w+ ){0,6}back|return|returning) ",
        r" (?:exchange|refund|store credit|money back|reason|new one|new ones) ",
    ),
    "E_POLICY": (
        r" (?:how (?:many|much|long|high)|percentage|percent|which (?:way|carrier|company)|in which|what i pay"
        r"|(?:what|how) (?:\w+ ){2,7}(?:fee|costs?|charge)) ",
        r" (?:fee|charge|warranty|period|points|carrier|discount|valid|match|rule|rules|print|rate|free|refund) ",
        r" (?:know|hear|find out|check|question is|tell me|understand|wondering|is) (?:\w+ )?(?:how|what|which|who) ",
    ),
    "E_STATUS": (
        r" (?:my|the|an|that|of) (?:orders?|order) (?!total|number is|came|came to|adds)",
        r" (?:where|status|state|latest|news|update|far along|track|stands?|question about) ",
        r" (?:when (?:will|can)|when it will|look up|check on|happened|became|hear about|tell me about) ",
    ),
    "E_BUNDLE": (r" (?:,|and) (?:an?|some) .* (?:,|and) (?:an?|some) ", r" (?:altogether|everything|together|total) "),
    "E_CART": (r" (?:cart|order me|to order) ", r" (?:buy|list|one with|version|pieces|add|put) "),
    "E_PD": (r" (?:matters most|most important|priority|care about|above all|second) ", r" (?:looking|find|show) "),
}  # fmt: skip
_COMPILED = {env_id: [re.compile(cue) for cue in cues] for env_id, cues in CUES.items()}
_TITLE = re.compile(r"\bthe (?:[A-Z]\w* ?){3,}")
_OTHER_MATTER = re.compile(
    r"[^.!?]*\b(?:else|different|another thing|aside|interrupt|moment|before we go on)\b[^.!?]*[.!?]", re.IGNORECASE
)
_BACK = re.compile(r" (?:back to|return to|go on with|where were we|settle) ")


def kind_of(message: str, speller: Speller, done: tuple[str, ...] = ()) -> str:
    """The environment whose matter a customer's first words raise.

    Args:
        message: The words as they came.
        speller: Puts them right.
        done: Environments of earlier matters: no customer is after the same kind of thing twice.
    """
    text = speller.normal(message)
    scores: dict[str, float] = {"E_CART": float(bool(_TITLE.search(message)))}
    for env_id, cues in _COMPILED.items():
        found = [cue for cue in cues if cue.search(text)]
        scores[env_id] = scores.get(env_id, 0.0) + len(found) + (FIRST_CUE - 1) * (cues[0] in found)
    return max([one for one in _COMPILED if one not in done] or _COMPILED, key=lambda one: (scores[one], one == "E_PD"))


class Subjects:
    """The matters of one episode: the one at hand, and those that were put aside for it.

    Args:
        memory: What tool results showed in this episode.
        speller: Knows the words that were seen.

    Attributes:
        raised: What each matter was taken for, by the name of its environment, in the order in which they came up.
    """

    def __init__(self, memory: Memory, speller: Speller):
        self._memory = memory
        self._speller = speller
        self._open: list[Errand] = []
        self.raised: tuple[str, ...] = ()
        self._turns_left = 0
        self._answered = False  # whether the last turn held an answer

    def take_turn(self, observation: Observation) -> dict[str, Any]:
        """The next action in the matter at hand."""
        heard = [message["content"] for message in observation.messages if message["role"] == "customer"]
        if self._open and self._changed(observation, heard):
            if self._answered:
                self._open.pop()
            else:
                before, after = _parted(" ".join(heard))
                self._open[-1].hear([before])
                heard = [after]
                self._raise(observation.env_id, after)
        if not self._open:
            self._raise(observation.env_id, " ".join(heard))
        self._open[-1].hear(heard)
        action = self._open[-1].take_turn(observation)
        self._turns_left, self._answered = observation.intent_turns_left, "answer" in action
        return action

    def _changed(self, observation: Observation, heard: list[str]) -> bool:
        """Whether the customer came to another matter: the turns that are meant for it start anew.

        Where it goes back to what was put aside, there may by chance be one turn less, as if nothing had changed.
        """
        if observation.env_id in ERRANDS:
            return False
        if observation.intent_turns_left != max(0, self._turns_left - 1):
            return True
        back = any(_BACK.search(self._speller.normal(text)) for text in heard)
        return self._answered and len(self._open) > 1 and back

    def _raise(self, env_id: str, message: str) -> None:
        kind = env_id if env_id in ERRANDS else kind_of(message, self._speller, self.raised)
        self.raised += (kind,)
        self._open.append(ERRANDS[kind](self._memory, self._speller))


def _parted(message: str) -> tuple[str, str]:
    """A message in which the subject changes: what belongs to the old one, and what to the new one."""
    match = _OTHER_MATTER.search(message)
    return (message[: match.start()], message[match.end() :]) if match else (message, message)
