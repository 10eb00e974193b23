"""The customer's account: its orders, their tracking, and the profile."""

from __future__ import annotations

import datetime
from typing import Any

from ecomrlve.errors import Refused, short
from ecomrlve.shop.order_history import Order, OrderLine, Status
from ecomrlve.shop.returns import department
from ecomrlve.shop.world import World
from ecomrlve.tools.base import tool

PER_PAGE = 10


@tool
def order_list(world: World, page: int = 1, status: Status | None = None, since: str | None = None) -> dict[str, Any]:
    """List the customer's orders with their lines, newest first, ten to a page.

    Args:
        page: Page number, starting at 1.
        status: Only orders of this status.
        since: Only orders placed on this day or later, as YYYY-MM-DD.
    """
    if page < 1:
        raise Refused("bad_page", "page starts at 1")
    first_day = None if since is None else _day(since)
    found = [
        order
        for order in world.orders.orders
        if (status is None or order.status == status) and (first_day is None or order.placed >= first_day)
    ]
    start = (page - 1) * PER_PAGE
    return {
        "orders": [_order(world, order) for order in found[start : start + PER_PAGE]],
        "page": page,
        "more": len(found) > start + PER_PAGE,
    }


@tool
def order_get(world: World, order_id: str) -> dict[str, Any]:
    """Read one order: its lines, and the day of arrival promised when it was placed.

    Args:
        order_id: Id of the order, as order_list shows it.
    """
    order = world.orders.order(order_id)
    result = _order(world, order)
    result["promised"] = order.promised.isoformat()
    return result


@tool
def order_track(world: World, order_id: str) -> dict[str, Any]:
    """Track one order: what happened to it so far, and when it is now expected to arrive.

    Args:
        order_id: Id of the order, as order_list shows it.
    """
    order = world.orders.order(order_id)
    return {
        "order_id": world.orders.order_id(order.number),
        "status": order.status,
        "promised": order.promised.isoformat(),
        "eta": None if order.eta is None else order.eta.isoformat(),
        "delivered": None if order.delivered is None else order.delivered.isoformat(),
        "events": [
            {"date": event.date.isoformat(), "status": event.status, "text": event.text} for event in order.events
        ],
    }


@tool
def user_get_profile(world: World) -> dict[str, Any]:
    """Show the customer's account: name, membership tier, region and member since when."""
    profile = world.profile
    return {
        "name": profile.name,
        "tier": profile.tier,
        "region": profile.region,
        "member_since": profile.member_since.isoformat(),
    }


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text.strip())
    except ValueError as error:
        raise Refused("bad_date", f"since is a date such as 2025-01-31, not {short(text.strip(), 40)!r}") from error


def _order(world: World, order: Order) -> dict[str, Any]:
    """An order as the list shows it. When it is expected is not told here: the carrier knows, and order_track asks."""
    result: dict[str, Any] = {
        "order_id": world.orders.order_id(order.number),
        "placed": order.placed.isoformat(),
        "status": order.status,
        "total": order.total,
        "payment": order.payment,
        "channel": order.channel,
    }
    if order.delivered is not None:
        result["delivered"] = order.delivered.isoformat()
    result["lines"] = [_line(world, line) for line in order.lines]
    return result


def _line(world: World, line: OrderLine) -> dict[str, Any]:
    world.show(line.row, line.variant)
    facts = world.catalog.facts(line.row)
    result: dict[str, Any] = {
        "line_id": world.orders.line_id(line.number),
        "product_id": world.product_id(line.row),
        "title": facts["title"],
        "type": facts["type"],
        "department": department(world, line.row),
    }
    if "brand" in facts:
        result["brand"] = facts["brand"]
    # Copies: what one agent does to its results must not reach another episode.
    result["attributes"] = dict(facts["attributes"])
    if line.variant is not None:
        result["variant"] = dict(world.variants_of(line.row)[line.variant].attributes)
    result |= {"qty": line.quantity, "price": line.price}
    if line.returned:
        result["returned"] = True
    return result
