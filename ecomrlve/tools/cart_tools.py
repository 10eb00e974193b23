"""The cart: add, change, remove, view. A refused call changes nothing."""

from __future__ import annotations

from typing import Any

from ecomrlve.shop.world import World
from ecomrlve.tools.base import tool


@tool
def cart_add(world: World, product_id: str, variant_id: str | None = None, qty: int = 1) -> dict[str, Any]:
    """Put a product into the customer's cart.

    Args:
        product_id: Id of the product.
        variant_id: Id of the variant, for products that come in variants.
        qty: How many to add.
    """
    line = _line(world, product_id, variant_id)
    world.cart.set(line, qty if qty < 1 else qty + world.cart.lines.get(line, 0), world.stock.left(*line))
    world.output(product_id)
    return _cart(world)


@tool
def cart_update(world: World, product_id: str, qty: int, variant_id: str | None = None) -> dict[str, Any]:
    """Set how many of a product the cart holds.

    Args:
        product_id: Id of a product in the cart.
        qty: The new quantity, at least 1.
        variant_id: Id of the variant, for products that come in variants.
    """
    line = _line(world, product_id, variant_id)
    if line not in world.cart.lines:
        world.cart.remove(line)  # raises the refusal
    world.cart.set(line, qty, world.stock.left(*line))
    return _cart(world)


@tool
def cart_remove(world: World, product_id: str, variant_id: str | None = None) -> dict[str, Any]:
    """Take a product out of the cart.

    Args:
        product_id: Id of a product in the cart.
        variant_id: Id of the variant, for products that come in variants.
    """
    world.cart.remove(_line(world, product_id, variant_id))
    return _cart(world)


@tool
def cart_view(world: World) -> dict[str, Any]:
    """Show the customer's cart."""
    return _cart(world)


def _line(world: World, product_id: str, variant_id: str | None) -> tuple[int, int | None]:
    row = world.row(product_id)
    line = row, world.variant(row, variant_id)
    world.touched.update((line, world.stock.unit_of(*line)))
    return line


def _cart(world: World) -> dict[str, Any]:
    lines = world.cart_lines()
    for row, variant in world.cart.lines:
        # Already seen before it could be added, except where an id was guessed: adding must not make it seen.
        if row in world.seen:
            world.show(row, variant)
    return {"lines": lines, "total": round(sum(line["price"] * line["qty"] for line in lines), 2)}
