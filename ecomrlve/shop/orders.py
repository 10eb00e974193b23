"""Drawing an account's orders: plausible, keyed by the episode alone, and knowing nothing of any goal.

People buy from a few product types again and again, so that naming a type does not single out a line. Near the edge of
the return window, days of delivery are moved to where a careless count goes wrong.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.variants import PER_PRODUCT
from ecomrlve.difficulty import sigmoid
from ecomrlve.shop.order_history import (
    STATUSES,
    Event,
    Order,
    OrderHistory,
    OrderLine,
    Status,
)
from ecomrlve.shop.policy_rules import CHANNELS, PAYMENTS, REASONS
from ecomrlve.shop.returns import return_window
from ecomrlve.streams import Stream

if TYPE_CHECKING:
    from ecomrlve.shop.world import World

__all__ = [
    "CHANNELS",
    "PAYMENTS",
    "STATUSES",
    "Event",
    "Order",
    "OrderHistory",
    "OrderLine",
    "Status",
    "draw_orders",
    "edge_share",
]

LEAST_PER_TYPE = 4
ORDERS_PER_TYPE, FEWEST_TYPES = 4, 3
# Lines of an order and units of a line, each as often as it is likely: one draw picks one.
LINE_COUNTS = (1,) * 7 + (2,) * 6 + (3,) * 4 + (4,) * 2 + (5,)
QUANTITIES = (1,) * 15 + (2,) * 3 + (3,) * 2
AGAIN = 0.1  # share of lines that repeat a product of another order
# Lines of a delivered order that went back earlier. One line of each order is always kept (an order sent back whole is
# `returned`), so that about 15 % of all such lines went back.
RETURNED = 0.19
LATE = 0.15  # share of deliveries after the promised day
NEAREST, RECENT, FARTHEST = 3, 25, 200  # days since a delivery
RECENT_SHARE = 0.75  # share of them that is at most RECENT for sure
SMALLEST_WINDOW, LARGEST_WINDOW = 2, 200  # return windows, in days, whose edge an order can be moved to
TRIES = 8

# What happened to an order of each status after it was placed, in order.
PATHS: dict[str, tuple[str, ...]] = {
    "processing": (),
    "shipped": ("shipped",),
    "in_transit": ("shipped", "in_transit"),
    "out_for_delivery": ("shipped", "in_transit", "out_for_delivery"),
    "delivered": ("shipped", "in_transit", "out_for_delivery", "delivered"),
    "delayed": ("shipped", "in_transit", "delayed"),
    "cancelled": ("cancelled",),
    "returned": ("shipped", "in_transit", "out_for_delivery", "delivered", "returned"),
}
TEXTS: dict[str, tuple[str, ...]] = {
    "processing": ("Order received", "Order confirmed", "Payment accepted, being packed"),
    "shipped": ("Left the warehouse", "Handed over to the carrier", "Picked up by the carrier"),
    "in_transit": ("Arrived at the regional hub", "On its way to the delivery depot", "Passed the sorting center"),
    "out_for_delivery": ("Out for delivery", "Loaded into the delivery van"),
    "delivered": ("Delivered to the door", "Handed to the recipient", "Left in the mailbox"),
    "delayed": ("Held up on the way; a new date was set", "Missed its connection; it will arrive later"),
    "cancelled": ("Cancelled at the customer's request", "Cancelled before it was packed"),
    "returned": ("Everything was sent back and received", "Return received; the order is closed"),
}
# Fewest days since an order of a status was placed, and how many different numbers of days are possible.
UNDER_WAY: dict[str, tuple[int, int]] = {
    "processing": (0, 3),
    "shipped": (1, 3),
    "in_transit": (2, 5),
    "out_for_delivery": (2, 7),
    "delayed": (5, 16),
}
# The same for the days until it arrives.
ARRIVAL: dict[str, tuple[int, int]] = {
    "processing": (3, 8),
    "shipped": (2, 7),
    "in_transit": (1, 6),
    "out_for_delivery": (0, 1),
}


def edge_share(d: int) -> float:
    """Share of delivered orders that are moved to the edge of their return window at a difficulty."""
    return 0.7 * sigmoid((d - 4) / 1.5)


def draw_orders(world: World, *, count: int, delivered_share: float | None) -> OrderHistory:
    """Draw the account's orders from a stream of their own.

    Args:
        world: The shop. Its policies and profile are read only where `delivered_share` is given.
        count: How many orders, at least 1.
        delivered_share: Probability that an order is delivered, the other statuses sharing the rest; at least one is
            delivered then, and some are moved to the edge of their return window. None: all statuses alike, as drawn.
    """
    stream = Stream("orders", *world.episode_key)
    statuses = _statuses(stream, count, delivered_share)
    edge = 0.0 if delivered_share is None else edge_share(world.axes.d)
    pool = stream.sample(_types(world.catalog), max(FEWEST_TYPES, count // ORDERS_PER_TYPE))
    bought: list[int] = []
    taken: set[int] = set()
    drafts = []
    for status in statuses:
        lines = _lines(world, stream, pool, bought, status)
        bought += [line.row for line in lines]
        draft = _Draft(status, lines, stream.choice(PAYMENTS), stream.choice(CHANNELS))
        days = _edge(world, stream, draft) if status == "delivered" and stream.chance(edge) else None
        _date(draft, stream, days, taken)
        drafts.append(draft)
    drafts.sort(key=lambda draft: draft.placed)
    return OrderHistory([d.order(number, world.today) for number, d in enumerate(drafts)], world.episode_key)


@dataclass(slots=True)
class _Draft:
    """An order as it is drawn: its days count back from today, negative ones lie ahead."""

    status: str
    lines: tuple[OrderLine, ...]
    payment: str
    channel: str
    placed: int = 0
    promised: int = 0
    delivered: int | None = None
    eta: int | None = None
    events: list[tuple[int, str, str]] = field(default_factory=list)

    def order(self, number: int, today: datetime.date) -> Order:
        """The order with its dates."""
        day = today.toordinal()
        date = datetime.date.fromordinal
        return Order(
            number=number,
            placed=date(day - self.placed),
            status=self.status,
            lines=self.lines,
            payment=self.payment,
            channel=self.channel,
            promised=date(day - self.promised),
            delivered=None if self.delivered is None else date(day - self.delivered),
            eta=None if self.eta is None else date(day - self.eta),
            events=tuple(Event(date(day - ago), status, text) for ago, status, text in self.events),
        )


def _statuses(stream: Stream, count: int, delivered_share: float | None) -> list[str]:
    if delivered_share is None:
        return [stream.choice(STATUSES) for _ in range(count)]
    others = [status for status in STATUSES if status != "delivered"]
    found = ["delivered" if stream.chance(delivered_share) else stream.choice(others) for _ in range(count)]
    place = stream.integer(count)
    if "delivered" not in found:
        found[place] = "delivered"
    return found


def _types(catalog: Catalog) -> list[np.ndarray]:
    """The rows of each product type that orders draw from, computed once for a catalog."""
    found = catalog.memo.get("order_types")
    if found is None:
        every = [catalog.rows_of_type(name) for name in catalog.type_names]
        found = [rows for rows in every if len(rows) >= LEAST_PER_TYPE] or [rows for rows in every if len(rows)]
        catalog.memo["order_types"] = found
    return found


def _lines(
    world: World, stream: Stream, pool: list[np.ndarray], bought: list[int], status: str
) -> tuple[OrderLine, ...]:
    """The lines of one order: no product twice, so fewer where the pool is tiny. Earlier lines count in `bought`."""
    rows: list[int] = []
    prices = world.catalog.columns["price"].values
    for _ in range(stream.choice(LINE_COUNTS)):
        for _ in range(TRIES):
            if stream.chance(AGAIN) and bought:
                row = stream.choice(bought)
            else:
                of_type = stream.choice(pool)
                row = int(of_type[stream.integer(len(of_type))])
            if row not in rows:
                rows.append(row)
                break
    back = [status == "returned" or (status == "delivered" and stream.chance(RETURNED)) for _ in rows]
    if status == "delivered" and all(back):
        back[stream.integer(len(rows))] = False
    lines = []
    for number, (row, returned) in enumerate(zip(rows, back, strict=True), start=len(bought)):
        variant, price = None, float(prices[row])
        if row in world.catalog.variants:
            variants = world.variants_of(row)
            variant = stream.integer(len(variants))
            price = variants[variant].price
        elif world.variants.has(row):
            # Made variants cost what the product costs; not making them here keeps long histories cheap.
            variant = stream.integer(PER_PRODUCT)
        quantity = stream.choice(QUANTITIES)
        lines.append(OrderLine(number, row, variant, quantity, round(price, 2), returned))
    return tuple(lines)


def _edge(world: World, stream: Stream, draft: _Draft) -> int | None:
    """Days since delivery at the edge of the order's return window: its last day or the day after, half each.

    The window is that of the first line that can still go back, for a random reason; None where it is out of range.
    """
    line = next(line for line in draft.lines if not line.returned)
    reason, past = stream.choice(REASONS), stream.integer(2)
    window = return_window(world, draft.order(0, world.today), line, reason)
    return int(window) + past if SMALLEST_WINDOW <= window <= LARGEST_WINDOW else None


def _recently(stream: Stream) -> int:
    """Days since an arrival or a cancellation: mostly the last weeks, when people still think of sending back."""
    farthest = RECENT if stream.chance(RECENT_SHARE) else FARTHEST
    return NEAREST + stream.integer(farthest - NEAREST + 1)


def _date(draft: _Draft, stream: Stream, days: int | None, taken: set[int]) -> None:
    """Give an order its days.

    Args:
        draft: The order.
        stream: The orders' stream.
        days: Days since delivery, where they are fixed.
        taken: Days since the placement of orders so far, which a new one avoids where it can.
    """
    for _ in range(TRIES):
        placed, end = _span(draft.status, stream, days)
        if placed not in taken:
            break
    taken.add(placed)
    draft.placed = placed
    draft.promised, draft.eta = _promise(stream, draft.status, placed, end)
    draft.delivered = end if draft.status in ("delivered", "returned") else None
    draft.events = _events(stream, draft.status, placed, end)


def _span(status: str, stream: Stream, days: int | None) -> tuple[int, int]:
    """Days since an order was placed, and since it arrived or was cancelled; the latter 0 while it is under way."""
    if status in UNDER_WAY:
        first, options = UNDER_WAY[status]
        return first + stream.integer(options), 0
    end = _recently(stream) if days is None else days
    return (end + stream.integer(3) if status == "cancelled" else end + 2 + stream.integer(7)), end


def _promise(stream: Stream, status: str, placed: int, end: int) -> tuple[int, int | None]:
    """The promised day and the carrier's estimate, as days before today (negative ahead).

    What is not delayed is on time or up to three days early, so that the promise does not tell the estimate.
    """
    if status in ARRIVAL:
        soonest, options = ARRIVAL[status]
        eta = -(soonest + stream.integer(options))
        return eta - stream.integer(4), eta
    if status == "delayed":
        promised = min(placed - 3, 6 - stream.integer(10))
        return promised, min(promised, 0) - 1 - stream.integer(6)
    if status == "cancelled":
        return placed - 3 - stream.integer(8), None
    if stream.chance(LATE):
        return min(end + 1 + stream.integer(4), placed - 1), None
    return end - stream.integer(4), None


def _events(stream: Stream, status: str, placed: int, end: int) -> list[tuple[int, str, str]]:
    """The tracking of an order that was placed and arrived (or was cancelled) these days ago, oldest first."""
    path = ("processing", *PATHS[status])
    days = [placed]
    if status == "cancelled":
        days.append(end)
    elif status in ("delivered", "returned", "out_for_delivery"):
        days += sorted((end + stream.integer(placed - end + 1) for _ in range(2)), reverse=True)
        days.append(end)
        if status != "out_for_delivery":
            days.append(end)
        if status == "returned":
            days.append(end - 1 - stream.integer(min(end - 1, 20)))
    else:
        days += sorted((stream.integer(placed + 1) for _ in range(len(path) - 1)), reverse=True)
    return [(day, name, stream.choice(TEXTS[name])) for day, name in zip(days, path, strict=True)]
