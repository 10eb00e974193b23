"""How a customer says which order, or which line of an order, it means: by facts that single it out together."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ecomrlve.customer.ledger import Slot
from ecomrlve.shop.order_history import Order, OrderLine
from ecomrlve.shop.world import World
from ecomrlve.streams import Stream
from ecomrlve.tasks.identify import slot_of

Thing = TypeVar("Thing")
MOST_ATTRIBUTES = 3  # catalog attributes among the facts that may tell a line

# Label, unit and other words of the facts that are no catalog attributes.
_WORDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "order_id": ("order number", "", ("order id", "number of the order", "which order")),
    "bought": ("product", "", ("item", "which product", "title", "which order")),
    "ordered_on": ("order date", "", ("date", "when", "day", "which order")),
    "delivered_on": ("delivery date", "", ("date", "arrive", "delivered", "which order")),
    "order_total": ("order total", "$", ("total", "amount", "cost", "paid", "which order")),
    "paid": ("price paid", "$", ("price", "amount", "cost", "which order")),
    "quantity": ("quantity", "", ("how many", "number", "which order")),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about an order or a line.

    Attributes:
        attribute: As in the reference slots.
        value: JSON.
    """

    attribute: str
    value: Any


def order_facts(world: World, order: Order) -> dict[str, Any]:
    """What can be said of an order, besides its products."""
    return {"ordered_on": order.placed.isoformat(), "order_total": order.total}


def order_has(world: World, order: Order, fact: Fact) -> bool:
    """Whether a fact is true of an order."""
    if fact.attribute == "bought":
        return any(world.catalog.type_of(line.row) == fact.value for line in order.lines)
    if fact.attribute == "order_id":
        return world.orders.order_id(order.number) == fact.value
    return order_facts(world, order)[fact.attribute] == fact.value


def line_facts(world: World, order: Order, line: OrderLine) -> dict[str, Any]:
    """What can be said of an order's line: what it is, when it was bought, what it cost."""
    facts = world.catalog.facts(line.row)
    found: dict[str, Any] = {
        "ordered_on": order.placed.isoformat(),
        "paid": line.price,
        "quantity": line.quantity,
        "bought": facts["title"],
    }
    if order.delivered is not None:
        found["delivered_on"] = order.delivered.isoformat()
    if "brand" in facts:
        found["brand"] = facts["brand"]
    return found | facts["attributes"]


def singled_out(
    candidates: Sequence[Fact], others: Sequence[Thing], true_of: Callable[[Thing, Fact], bool], least: int
) -> list[Fact] | None:
    """The first facts that tell a thing from all others, at least so many.

    Args:
        candidates: Facts that are true of the thing, in the order in which they are tried.
        others: What it must be told from.
        true_of: Whether a fact is true of another.
        least: Fewest facts.

    Returns:
        The facts, or None where all together do not single it out.
    """
    chosen: list[Fact] = []
    left = list(others)
    for fact in candidates:
        if not left:
            break
        still = [other for other in left if true_of(other, fact)]
        if len(still) < len(left):
            chosen.append(fact)
            left = still
    if left:
        return None
    spare = [fact for fact in candidates if fact not in chosen]
    told = [*chosen, *spare[: max(0, least - len(chosen))]]
    return [fact for fact in candidates if fact in told]


def attributes_to_name(world: World, row: int, stream: Stream) -> list[str]:
    """A few catalog attributes of a product that people would name."""
    return stream.sample(world.catalog.type_attributes(row), MOST_ATTRIBUTES)


def reference_slot(world: World, fact: Fact, name: str = "") -> Slot:
    """A fact as a slot.

    Args:
        world: The shop, for the words of catalog attributes.
        fact: The fact.
        name: How the customer calls the thing, for attributes: "the air fryer".
    """
    if fact.attribute in world.catalog.columns and fact.attribute not in _WORDS:
        return slot_of(
            world.catalog, f"reference:{fact.attribute}", "reference", fact.attribute, "eq", fact.value, None, name
        )
    label, unit, synonyms = _WORDS[fact.attribute]
    return Slot(
        f"reference:{fact.attribute}", "reference", fact.attribute, "eq", fact.value, label=label, unit=unit,
        synonyms=synonyms, item_name=name,
    )  # fmt: skip


def normal_date(text: str) -> datetime.date | None:
    """An ISO date, or None."""
    try:
        return datetime.date.fromisoformat(text.strip())
    except ValueError:
        return None
