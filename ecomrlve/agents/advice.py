"""Advice for people who play: what follows from the rules and from what was seen, and never from the goal.

The door that a person plays through words it as it likes: a piece of advice has a code besides its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.protocol import Observation


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing that is worth knowing before the next turn.

    Attributes:
        code: What it is about, the same for every door.
        text: One or two sentences for people.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Past:
    """One turn that was taken.

    Attributes:
        spoke: Whether it held a message to the customer.
        results: What its tool calls returned, in order.
    """

    spoke: bool
    results: tuple[Mapping[str, Any], ...]


def advice(observation: Observation, past: Sequence[Past]) -> Iterator[Advice]:
    """What is worth knowing before the next turn.

    Args:
        observation: The newest observation of a running episode.
        past: The turns taken so far.
    """
    left = observation.intent_turns_left
    if not past:
        yield Advice(
            "collect", "Tool calls and a question that are sent together take one turn, and fewer turns score higher."
        )
    if not any(turn.spoke for turn in past) and left > 1:
        yield Advice("ask", "The customer may not have said everything that counts. Ask what else you should know.")
    yield from _on_results(observation, past)
    # Speaking up happens at the end of the turn after which two turns remain.
    if left == 3:
        yield Advice(
            "speaks_up", "After this turn two are left; then the customer says by itself what it has not said yet."
        )
    elif left == 1:
        fields = ", ".join(name for name in observation.answer_fields if name != "done")
        fields = fields or "nothing to fill in: the cart is what counts"
        wish = " for this wish" if left < observation.turns_left else ""
        yield Advice("last_turn", f"This is the last turn{wish}. Hand in the answer ({fields}).")


def _on_results(observation: Observation, past: Sequence[Past]) -> Iterator[Advice]:
    """Advice on what the tools returned."""
    last = past[-1].results if past else ()
    codes = {str(error.get("code")) for result in last if isinstance(error := result.get("error"), Mapping)}
    if any(result.get("more") for result in last):
        yield Advice("more", "There are more entries: make the same call for the next page, or with a higher limit.")
    if codes:
        yield Advice("refused", "A refused call changes nothing, but it did count as a call.")
    if "out_of_stock" in codes:
        yield Advice("sold_out", "That is sold out. Ask the customer what you may take instead.")
    if _variants_unread(observation, past):
        yield Advice(
            "variants",
            "Some of these products come in variants. Read the variants of the one that you want: the cart needs the "
            "variant's id too.",
        )


def _variants_unread(observation: Observation, past: Sequence[Past]) -> bool:
    """Whether products in variants were shown, the cart needs variants, and none has been looked at."""
    tools = {tool["function"]["name"] for tool in observation.tools}
    if not {"cart_add", "catalog_get_variants"} <= tools:
        return False
    results = [result for turn in past for result in turn.results]
    shown = any(
        isinstance(hit, Mapping) and hit.get("has_variants")
        for result in results
        for hit in (result, *(result.get("results") or ()), *(result.get("products") or ()))
    )
    return shown and not any("variants" in result for result in results)
