"""Sending things back: whether a line may go, returns, exchanges. A refused call changes nothing."""

from __future__ import annotations

from typing import Any, Literal

from ecomrlve.shop.order_history import Order, OrderLine
from ecomrlve.shop.world import World
from ecomrlve.tools.base import tool

Reason = Literal["damaged", "wrong_item", "not_as_described", "changed_mind", "does_not_fit", "arrived_late"]
Method = Literal["original_payment", "store_credit"]


@tool
def return_check_eligibility(world: World, order_id: str, line_id: str) -> dict[str, Any]:
    """Check whether a line of an order can be sent back today, and for which reasons.

    Args:
        order_id: Id of the order, as order_list shows it.
        line_id: Id of the line in this order.
    """
    return world.returns.check(*_line(world, order_id, line_id))


@tool
def return_initiate(world: World, order_id: str, line_id: str, reason: Reason, method: Method) -> dict[str, Any]:
    """Send a line of an order back for its money.

    Args:
        order_id: Id of the order, as order_list shows it.
        line_id: Id of the line in this order.
        reason: Why it goes back.
        method: How the money comes back.
    """
    order, line = _line(world, order_id, line_id)
    transaction = world.returns.initiate(order, line, reason, method)
    return {**world.returns.describe(transaction), "refund": round(line.price * line.quantity, 2)}


@tool
def return_exchange(
    world: World,
    order_id: str,
    line_id: str,
    reason: Reason,
    new_product_id: str,
    new_variant_id: str | None = None,
) -> dict[str, Any]:
    """Send a line of an order back and get another product for it.

    Args:
        order_id: Id of the order, as order_list shows it.
        line_id: Id of the line in this order.
        reason: Why it goes back.
        new_product_id: Id of the product to get instead.
        new_variant_id: Id of its variant, for products that come in variants.
    """
    order, line = _line(world, order_id, line_id)
    row = world.row(new_product_id)
    variant = world.variant(row, new_variant_id)
    # Noted even where it is refused: the customer hears of what is sold out.
    world.touched.update(((row, variant), world.stock.unit_of(row, variant)))
    transaction = world.returns.exchange(order, line, reason, row, variant)
    world.output(new_product_id)
    return world.returns.describe(transaction)


@tool
def return_cancel(world: World, return_id: str) -> dict[str, Any]:
    """Cancel a return or an exchange that was made before.

    Args:
        return_id: Id of the return, as return_initiate or return_exchange gave it.
    """
    return {**world.returns.describe(world.returns.cancel(return_id)), "cancelled": True}


def _line(world: World, order_id: str, line_id: str) -> tuple[Order, OrderLine]:
    order = world.orders.order(order_id)
    return order, world.orders.line(order, line_id)
