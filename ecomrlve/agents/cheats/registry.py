"""The list of cheats, filled by the modules beside this one."""

from __future__ import annotations

from collections.abc import Callable

from ecomrlve.agents.cheats.base import Cheat, Move

CHEATS: dict[str, Move] = {}
# The kinds of wishes that a rule has a trick for; elsewhere it takes the first hits. Nothing: all kinds.
MADE_FOR: dict[str, tuple[str, ...]] = {}
ELSEWHERE = "first_hits"


def cheat(*kinds: str) -> Callable[[Move], Move]:
    """Add a rule to the list, under its function's name.

    Args:
        *kinds: What it is made for; nothing where it makes sense for all.
    """

    def add(move: Move) -> Move:
        CHEATS[move.__name__] = move
        MADE_FOR[move.__name__] = kinds
        return move

    return add


def make_cheat(name: str) -> Cheat:
    """A cheat by name."""
    return Cheat(name, CHEATS[name], MADE_FOR.get(name, ()), CHEATS[ELSEWHERE])
