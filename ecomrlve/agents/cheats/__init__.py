"""Policies that do not do the task. Law 2: none of them may score.

A cheat sees what any agent sees. Each is one small function from what was observed so far to the next action; its
docstring says what it taught. Import order is the order of the list.
"""

from __future__ import annotations

# isort: off
from ecomrlve.agents.cheats import everywhere, lists, carts, bundles, orders, policies, journeys  # noqa: F401

# isort: on
from ecomrlve.agents.cheats.base import Cheat, Move
from ecomrlve.agents.cheats.registry import CHEATS, MADE_FOR, make_cheat

__all__ = ["CHEATS", "MADE_FOR", "PARTIAL_BY_DESIGN", "Cheat", "Move", "cheats_for", "make_cheat"]


def cheats_for(env_id: str) -> tuple[str, ...]:
    """The cheats that have a trick for an environment; all others only take the first hits there."""
    return tuple(name for name, kinds in MADE_FOR.items() if not kinds or env_id in kinds)


# Declared in the contract: in these environments the rule is half of the work, and its mean reward is meant.
PARTIAL_BY_DESIGN: dict[str, tuple[str, ...]] = {"right_items_first_variant": ("E_CART",)}
