"""Who the customer is: what counts for it, in which order, and how it talks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ecomrlve.customer.wording import STYLES
from ecomrlve.streams import Stream

DIMENSIONS = ("price", "rating", "ship_days")
TOUCHED_WEIGHT = 3.0
BRAND_CHANCE = 0.25


@dataclass(frozen=True, slots=True)
class Persona:
    """One customer's tastes.

    Attributes:
        priorities: What counts, most important first: price, rating, ship_days, and brand where one is preferred.
        preferred_brand: The brand it likes best, or None.
        style: One of ``terse``, ``chatty``, ``hurried``, ``polite``, ``unsure``; it colours the words and nothing else.
    """

    priorities: tuple[str, ...]
    preferred_brand: str | None
    style: str


def draw_persona(stream: Stream, touched: Collection[str], brands: Sequence[str]) -> Persona:
    """Draw a customer whose priorities lean towards what it already asks for.

    The order is a Plackett–Luce draw: with weights w (1 for each dimension, 3 for one that a stated constraint
    touches), the order (i₁, i₂, …, iₙ) has the probability ∏ₖ w(iₖ) / (w(iₖ) + w(iₖ₊₁) + … + w(iₙ)); that is, each
    place is filled from what is left in proportion to the weights. Brand takes part only where a brand is preferred.

    Args:
        stream: Where the draws come from.
        touched: Attributes that the stated constraints speak of.
        brands: Brands one of which may be preferred, with probability 0.25; empty for none.
    """
    prefers = stream.chance(BRAND_CHANCE) and len(brands) > 0
    preferred = stream.choice(brands) if prefers else None
    left = [*DIMENSIONS, "brand"] if preferred is not None else list(DIMENSIONS)
    order: list[str] = []
    while left:
        weights = [TOUCHED_WEIGHT if dimension in touched else 1.0 for dimension in left]
        order.append(stream.weighted(left, weights))
        left.remove(order[-1])
    return Persona(tuple(order), preferred, stream.choice(STYLES))
