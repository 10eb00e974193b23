"""What the shop knows about the customer and the day."""

from __future__ import annotations

from typing import Any

from ecomrlve.errors import Refused
from ecomrlve.shop.world import World
from ecomrlve.tools.base import tool


@tool
def user_get_visit_history(world: World, limit: int = 20) -> dict[str, Any]:
    """List the products the customer looked at lately.

    Args:
        limit: Most products to list.
    """
    if limit < 1:
        raise Refused("bad_page", "limit starts at 1")
    return {"products": [world.hit(row) for row in world.history[:limit]]}


@tool
def datetime_now(world: World) -> dict[str, Any]:
    """Tell today's date."""
    return {"today": world.today.isoformat()}
