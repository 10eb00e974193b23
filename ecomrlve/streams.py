"""Independent random streams, keyed by words and numbers.

Every draw of an episode comes from a stream named after what it decides ("problem", "noise" …), so that a change in
one part leaves the draws of all others as they were, and nothing depends on what ran before. Python's `hash()` of
strings differs between processes; BLAKE2 does not.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_MASK = (1 << 64) - 1


def key_of(*parts: object) -> int:
    """A 64-bit key for any sequence of strings and integers, the same in every process.

    Args:
        *parts: Strings and integers; their order and boundaries count.
    """
    # The separator is doubled where it stands inside a part, so that no text can pass for two.
    text = "\x1f".join(f"{type(part).__name__}:{part}".replace("\x1f", "\x1f\x1f") for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


class Stream:
    """A small random stream built on the Mersenne twister's `random()` alone, whose values Python guarantees.

    The other methods of `random.Random` may change between Python versions; an episode must not.

    Args:
        *parts: What `key_of` takes: the name of the stream.
    """

    def __init__(self, *parts: object):
        self._random = random.Random(key_of(*parts)).random

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return self._random()

    def chance(self, probability: float) -> bool:
        """True with the given probability. One draw is used up whatever the probability."""
        return self._random() < probability

    def integer(self, bound: int) -> int:
        """A whole number in [0, bound)."""
        if bound <= 0:
            raise ValueError(f"bound must be positive, not {bound}")
        return min(int(self._random() * bound), bound - 1)

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`, all equally likely."""
        return items[self.integer(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One of `items` with probability proportional to its weight."""
        point = self._random() * math.fsum(weights)
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        return items[-1]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list with the same items in random order (Fisher–Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.integer(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items (all of them, if there are fewer), in random order."""
        pool = list(items)
        count = min(count, len(pool))
        for first in range(count):
            other = first + self.integer(len(pool) - first)
            pool[first], pool[other] = pool[other], pool[first]
        return pool[:count]


class HashStream(Stream):
    """A stream for a few draws: seeded in no time, where the Mersenne twister takes longer to seed than to draw.

    It counts, and hashes key and count with SplitMix64, as `unit_hash` does.

    Args:
        key: A 64-bit key; streams of different keys are independent.
    """

    def __init__(self, key: int):
        counter = itertools.count()
        self._random = lambda: unit_hash(key, next(counter))


def mix(value: int) -> int:
    """SplitMix64's finaliser: spreads a 64-bit number over all 64 bits (Steele, Lea and Flood 2014)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def unit_hash(key: int, number: int) -> float:
    """A number in [0, 1) that is fixed by (key, number): a draw made for all of the catalog without a table."""
    return (mix(key ^ mix(number)) >> 11) / (1 << 53)


def unit_hashes(key: int, numbers: np.ndarray) -> np.ndarray:
    """`unit_hash` for an array of whole numbers: float64 of the same shape, equal to the last bit."""
    with np.errstate(over="ignore"):
        return (_mix_array(np.uint64(key) ^ _mix_array(numbers.astype(np.uint64))) >> np.uint64(11)) / float(1 << 53)


def _mix_array(value: np.ndarray) -> np.ndarray:
    value = value + np.uint64(0x9E3779B97F4A7C15)
    # In place: new arrays for each step would take longer than the steps.
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    return value
