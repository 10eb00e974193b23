"""What a shop sells, as plain values: a product, a variant of it, and what is known about an attribute."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Attributes every product has a column for; the rest belong to a product type.
COMMON_ATTRIBUTES = ("price", "rating", "ship_days", "brand")


@dataclass(frozen=True, slots=True)
class Variant:
    """One version of a product that can be bought.

    Attributes:
        attributes: What tells it from its siblings, such as ``{"size": "XS"}``.
        price: Dollars.
        stock: Units on the shelf.
    """

    attributes: dict[str, str]
    price: float
    stock: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """What is known about an attribute, for filters and for the customer's words.

    Attributes:
        name: The key in filters and results, snake_case: ``battery_life``.
        kind: ``number`` or ``category``.
        label: How people say it: ``battery life``.
        unit: Unit of a number, as people write it after the number (``W``, ``hours``), or empty.
        synonyms: Other words an agent may ask with: ``("runtime",)``.
        better: ``more``, ``less`` or empty: which way people want a number to go.
    """

    name: str
    kind: str
    label: str
    unit: str = ""
    synonyms: tuple[str, ...] = ()
    better: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """One row of the catalog, as a view.

    Attributes:
        row: Row number in the catalog; never shown to an agent.
        category: Path from department to leaf.
        type: Product type, the noun people ask for ("air fryer").
        price: Dollars, two decimals.
        rating: 1 to 5, or None where unknown.
        ship_days: Days until it arrives, or None where unknown.
        attributes: Name → number or word.
        variants: The variants that the catalog itself lists; mostly none.
    """

    row: int
    title: str
    description: str
    category: tuple[str, ...]
    type: str
    brand: str | None
    price: float
    rating: float | None
    rating_count: int | None
    ship_days: int | None
    stock: int
    attributes: dict[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()


# A record is how every source (generator, files, hub) hands a product to the store: a plain dict with these keys.
# Missing optional keys mean unknown; nothing is invented on the way in.
RECORD_REQUIRED = ("title", "price", "type")
RECORD_OPTIONAL = (
    "description", "category", "brand", "rating", "rating_count", "ship_days", "stock", "attributes", "features",
    "variants", "family",
)  # fmt: skip
