"""Requirements as the record words them ("price ≤ $85", "color: black or yellow"), held against a product's facts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

_BOUNDS: tuple[tuple[str, Callable[[float, float], bool]], ...] = ((" ≤ ", operator.le), (" ≥ ", operator.ge))


def meets(text: str, value: Any) -> bool:
    """Whether a value meets a requirement; an unknown one does not.

    Args:
        text: What `trajectory.slot_text` made of a slot.
        value: A product's value for the slot's attribute.
    """
    if value is None:
        return False
    for sign, holds in _BOUNDS:
        if sign in text:
            limit = number_in(text.rpartition(sign)[2])
            return isinstance(value, int | float) and limit is not None and holds(value, limit)
    wanted = text.partition(": ")[2]
    if isinstance(value, int | float):
        return number_in(wanted) == value
    words = [wanted, *wanted.split(" or ")]
    return str(value).casefold() in [word.casefold() for word in words]


def number_in(text: str) -> float | None:
    """The number that a text begins with ("$85", "5 days"), or None."""
    try:
        return float(text.removeprefix("$").split()[0])
    except (ValueError, IndexError):
        return None


def value_of(facts: Mapping[str, Any], attribute: str) -> Any:
    """A product's value for an attribute, as a tool result shows it, or None."""
    return facts[attribute] if attribute in facts else facts.get("attributes", {}).get(attribute)
