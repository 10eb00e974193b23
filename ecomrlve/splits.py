"""Which seeds are for what: two ranges are held back for measuring, all others are for training.

Per environment and difficulty the seeds of ``dev`` are for looking at while one works, those of ``test`` for what is
published. No problem of one range occurs in another (law 3).
"""

from __future__ import annotations

from ecomrlve.errors import SeedError

DEV = range(0, 100)
TEST = range(10_000, 10_200)
HELD = {"dev": DEV, "test": TEST}


def split_of_seed(seed: int) -> str:
    """``dev``, ``test`` or ``train``."""
    return next((name for name, seeds in HELD.items() if seed in seeds), "train")


def seeds_of(name: str, count: int | None = None) -> list[int]:
    """The seeds of a held split, or the first `count` of them.

    Raises:
        SeedError: There is no such split, or it has fewer seeds.
    """
    if name not in HELD:
        raise SeedError(f"there is no split {name!r}; there are {', '.join(HELD)}")
    seeds = list(HELD[name])
    if count is not None and not 0 < count <= len(seeds):
        raise SeedError(f"the split {name} has {len(seeds)} seeds; {count} of them cannot be taken")
    return seeds[:count]
