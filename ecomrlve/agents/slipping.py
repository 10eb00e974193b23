"""An imperfect agent for law 5: the reference agent with a stated slip rate.

It mishears what the customer says, the more so the more typos the text holds, and overlooks entries of what it reads.
Each thing is misheard or overlooked by a draw of its own, fixed by the seed, so that the same episode always goes wrong
in the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ecomrlve.agents.plans.base import Said
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.streams import key_of, unit_hash

SLIP = 0.03  # chance to mishear a fact that is said without typos, and to overlook an entry of a list
HEADS = ("type", "item", "original", "sendback", "order", "question", "project", "part")
LISTS = ("results", "products", "orders", "policies", "variants")


class SlippingAgent(ReferenceAgent):
    """Plays like the reference agent, with slips.

    Args:
        slip: Chance of one slip: of mishearing a fact, where nothing is mistyped, and of overlooking a list's entry.
        trial: Other slips for each repetition of an episode.
    """

    name = "slipping"

    def __init__(self, slip: float = SLIP, trial: int = 0):
        self._slip = slip
        self._trial = (trial,) if trial else ()

    def reset(self, env: Environment) -> None:
        """Forget everything; the slips of an episode are fixed by its seed."""
        super().reset(env)
        self._key = key_of("slips", env.episode.task.env_id, env.episode.seed, *self._trial)
        # A fact of two words, say, is understood if neither is garbled.
        self._mishears = 1 - (1 - self._slip) * (1 - env.episode.axes.noise) ** 2

    def act(self, observation: Observation) -> dict[str, Any]:
        """The next turn, by what it believes to have heard and read."""
        messages = tuple(
            self._read(message, observation.turn, number) for number, message in enumerate(observation.messages)
        )
        return super().act(replace(observation, messages=messages))

    def _chance(self, *parts: object) -> float:
        return unit_hash(self._key, key_of(*parts))

    def _read(self, message: dict[str, Any], turn: int, number: int) -> dict[str, Any]:
        """A tool result without the entries that are overlooked this time."""
        result = message.get("result")
        if not isinstance(result, dict):
            return message
        read = {
            name: [
                entry for place, entry in enumerate(value) if self._chance("read", turn, number, place) >= self._slip
            ]
            if name in LISTS and isinstance(value, list)
            else value
            for name, value in result.items()
        }
        return {**message, "result": read}

    def _said(self) -> tuple[int, str, Said]:
        index, env_id, view = super()._said()
        heard = [self._heard(index, slot) for slot in view.slots]
        return index, env_id, Said(tuple(slot for slot in heard if slot is not None), view.complete)

    def _heard(self, index: int, slot: dict[str, Any]) -> dict[str, Any] | None:
        """The slot as it was understood, or None where it was missed. What it is all about is never misheard."""
        if slot["kind"] in HEADS:
            return slot
        parts = (index, slot["kind"], slot["item"], slot["attribute"], slot["value"])
        if self._chance("heard", *parts) >= self._mishears:
            return slot
        # That two things have to match is heard or not: there is nothing to take it for.
        return None if slot["kind"] == "tie" else {**slot, "value": misheard(slot["value"])}


def misheard(value: Any) -> Any:
    """Another value in place of the one that was said."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + max(1, round(value * 0.4))
    if isinstance(value, list):
        return value[:-1] or ["something else"]
    if isinstance(value, dict):
        return {"do": "drop"}
    return {"yes": "no", "no": "yes", "refund": "exchange", "exchange": "refund"}.get(value, f"{value} or so")
