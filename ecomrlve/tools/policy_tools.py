"""The shop's help pages."""

from __future__ import annotations

from typing import Any

from ecomrlve.errors import Refused
from ecomrlve.shop.policies import Page, Policies
from ecomrlve.shop.world import World
from ecomrlve.tools.base import tool

MOST_PAGES = 20


@tool
def policy_search(world: World, query: str, limit: int = 3) -> dict[str, Any]:
    """Search the shop's help pages (returns, fees, delivery, warranty …), best match first, with their full text.

    Args:
        query: Words to look for.
        limit: Most pages to return, up to 20.
    """
    if limit < 1:
        raise Refused("bad_page", "limit starts at 1")
    found = world.policies.search(query, min(limit, MOST_PAGES))
    return {"policies": [_shown(world.policies, page) for page in found]}


@tool
def policy_get(world: World, policy_id: str) -> dict[str, Any]:
    """Read one help page.

    Args:
        policy_id: Id from policy_search.
    """
    return _shown(world.policies, world.policies.find(policy_id))


def _shown(policies: Policies, page: Page) -> dict[str, Any]:
    return {"policy_id": policies.policy_id(page), "title": page.title, "text": page.text}
