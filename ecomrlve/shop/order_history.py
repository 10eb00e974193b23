"""The orders on the customer's account: what was bought, when, and where it is now. Read-only, as records."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ecomrlve.catalog.aliases import Aliases
from ecomrlve.errors import Refused, short

Status = Literal[
    "processing", "shipped", "in_transit", "out_for_delivery", "delivered", "delayed", "cancelled", "returned"
]
STATUSES: tuple[str, ...] = get_args(Status)
MOST_ORDERS, MOST_LINES = 4096, 65536  # how many ids exist; far more than an account has


@dataclass(frozen=True, slots=True)
class OrderLine:
    """One product of an order.

    Attributes:
        number: Unique in the history; what the line's id names.
        row: Row of the catalog.
        variant: Index of the variant, or None where the product has none.
        quantity: Units bought.
        price: Dollars per unit.
        returned: Sent back earlier, before the episode.
    """

    number: int
    row: int
    variant: int | None
    quantity: int
    price: float
    returned: bool


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of an order's tracking.

    Attributes:
        date: The day it happened.
        status: The order's status from then on.
        text: The carrier's or the shop's words for it.
    """

    date: datetime.date
    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Order:
    """One order.

    Attributes:
        number: Place in the history; what the order's id names.
        placed: The day it was ordered.
        status: One of `STATUSES`; that of the last event.
        lines: What was bought, at least one line.
        payment: How it was paid, one of `policy_rules.PAYMENTS`.
        channel: Where it was placed, one of `policy_rules.CHANNELS`.
        promised: The day of arrival that was promised when ordered.
        delivered: The day it arrived, also of an order that went back later; else None.
        eta: The carrier's current estimate, for orders under way; after `promised` exactly where delayed.
        events: Its tracking, oldest first; none in the future.
    """

    number: int
    placed: datetime.date
    status: str
    lines: tuple[OrderLine, ...]
    payment: str
    channel: str
    promised: datetime.date
    delivered: datetime.date | None
    eta: datetime.date | None
    events: tuple[Event, ...]

    @property
    def total(self) -> float:
        """What all lines cost together, dollars with two decimals."""
        return round(sum(line.price * line.quantity for line in self.lines), 2)

    @property
    def quantity(self) -> int:
        """Units of all lines together."""
        return sum(line.quantity for line in self.lines)


class OrderHistory:
    """All orders of the account.

    Args:
        orders: Newest first; an order's number is its place.
        episode_key: What the ids are keyed by.
    """

    def __init__(self, orders: Sequence[Order], episode_key: tuple[Any, ...]):
        self.orders = tuple(orders)
        self._order_ids = Aliases("o", MOST_ORDERS, *episode_key)
        self._line_ids = Aliases("l", MOST_LINES, *episode_key)

    def order_id(self, number: int) -> str:
        """The id of an order in this episode."""
        return self._order_ids.encode(number)

    def line_id(self, number: int) -> str:
        """The id of a line in this episode."""
        return self._line_ids.encode(number)

    def order(self, order_id: str) -> Order:
        """The order behind an id.

        Raises:
            Refused: The account has no such order.
        """
        number = self._order_ids.decode(order_id)
        if number is None or number >= len(self.orders):
            raise Refused(
                "unknown_order", f"this account has no order {short(order_id.strip(), 40)!r}; order_list shows them"
            )
        return self.orders[number]

    def line(self, order: Order, line_id: str) -> OrderLine:
        """The line of an order behind an id.

        Raises:
            Refused: The order has no such line, though another may.
        """
        number = self._line_ids.decode(line_id)
        for line in order.lines:
            if line.number == number:
                return line
        raise Refused(
            "unknown_line", f"this order has no line {short(line_id.strip(), 40)!r}; order_get shows its lines"
        )
