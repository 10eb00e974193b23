"""How generated catalogs of more than 10,000 products grow: as shops do, unevenly.

A catalog four times as large has not four times as much of everything. Let N be its size and
``t = log(N / 10,000) / log(200)``, which goes from 0 at 10,000 products to 1 at 2,000,000. Then:

- Types. Their weights are log-normal: ``exp(0.85 · u · z)``, where z is the normal quantile of the type's rank by a
  hash of seed and name. u is 0 up to 30,000 products, where all types are still equally large, and grows with log N to
  1 at 2,000,000: the largest type has then 7.5 times the mean, the smallest a fifteenth. None has fewer than 50
  products (or the mean, where that is less).
- Brands. A department with n products has ``b · sqrt(n / n0)`` of them, b being those written in its file and n0 the
  products it would have in a catalog of 10,000. The others are made of syllables.
- Shares of brands. Log-normal too: ``exp(1.1 · t · y + 0.6 · t · x)`` with normal y for brand and x for brand and type,
  so that a few brands lead in a department, and others than these in some of its types.
- Families. Their sizes come from a mixture of those of small catalogs, with weight 1 − t, and of sizes up to 16 (as far
  as the type's attributes allow a grid that large), with weight t; the mean goes from 6 to about 10.
- Series. Every family of a type has a name of its own: one word, a word and a numeral, or two words; then two words and
  a numeral or a code, for types with more families than there are pairs.

Rows lie type after type, in alphabetical order. A large type is made in chunks of at most 20,000 products. Chunks
depend on nothing but size, seed and their number, so any process can make any of them.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from ecomrlve.catalog.columns import fold
from ecomrlve.catalog.departments import BrandSpec, TypeSpec, holds, read_goods, spaced
from ecomrlve.catalog.product_families import FAMILY_SIZES, SHAPES, TypeProducts
from ecomrlve.errors import CatalogError
from ecomrlve.streams import Stream, key_of, unit_hashes

EVEN_SIZE = 10_000  # the largest catalog with the same share of everything
EVEN_TYPES_SIZE = 30_000  # the largest whose types are equally large
FULL_SIZE = 2_000_000  # where t and u are 1
LEAST_PER_TYPE = 50
MOST_PER_CHUNK = 20_000
TYPE_SPREAD, BRAND_SPREAD, BRAND_IN_TYPE_SPREAD = 0.85, 1.1, 0.6
BRAND_GROWTH = 0.5  # Heaps' law: the exponent of the number of brands
# Weights of family sizes in the largest catalogs.
LARGE_FAMILIES = {4: 1, 5: 1, 6: 2, 7: 2, 8: 3, 9: 2, 10: 3, 11: 1, 12: 4, 13: 1, 14: 1, 15: 2, 16: 4}
LEAST_FAMILY = 4
NUMERALS = ("II", "III", "IV", "VI", "VII", "VIII", "IX")
SINGLE_SHARE, NUMERAL_SHARE = 0.6, 0.15  # of a type's series: one word, or a word and a numeral, while they last


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the plan that one process makes at one go.

    Attributes:
        place: Place of its type in the plan's `types`.
        part: Which of the type's chunks it is, from 0.
        first: How many products come before it in the catalog.
        families: The sizes of its families, in order.
        first_family: How many families come before it in the catalog.
        first_of_type: How many families come before it in its type.
    """

    place: int
    part: int
    first: int
    families: tuple[int, ...]
    first_family: int
    first_of_type: int

    @property
    def count(self) -> int:
        """How many products it has."""
        return sum(self.families)


class GrowthPlan:
    """What a generated catalog of more than 10,000 products consists of, before any of it is made.

    Args:
        size: How many products.
        seed: Which catalog of that size.
        folder: Department files to use in place of the package's own.

    Attributes:
        goods: Everything written about departments.
        types: Department and type of each place, in alphabetical order of the types.
        counts: How many products each type has: int64.
        brands: Department → its brands.
        chunks: What to make, in the order of rows.

    Raises:
        CatalogError: A size that does not grow, or department files that do not fit together.
    """

    def __init__(self, size: int, seed: int = 0, folder: Path | None = None):
        if size <= EVEN_SIZE:
            raise CatalogError(f"catalogs grow from {EVEN_SIZE:,} products on; {size:,} are generated in one piece")
        self.size = size
        self.seed = seed
        self.goods = read_goods(folder)
        self.types = sorted(self.goods.types(), key=lambda found: found[1].name)
        if size < len(self.types):
            raise CatalogError(f"{size:,} products are too few for {len(self.types):,} types")
        self.growth = min(1.0, math.log(size / EVEN_SIZE) / math.log(FULL_SIZE / EVEN_SIZE))
        self.counts = self._counts()
        self.brands = self._brands()
        self.chunks = self._chunks()
        self._families_of_type = np.bincount(
            [chunk.place for chunk in self.chunks], [len(chunk.families) for chunk in self.chunks], len(self.types)
        ).astype(int)

    @property
    def families(self) -> int:
        """How many families the catalog has."""
        return int(self._families_of_type.sum())

    def records(self, number: int) -> list[dict[str, Any]]:
        """The products of a chunk as records for the store.

        Args:
            number: Place of the chunk in `chunks`.
        """
        chunk = self.chunks[number]
        department, kind = self.types[chunk.place]
        made = _ChunkProducts(self, chunk, int(self._families_of_type[chunk.place]))
        return made.records((department.department, *kind.category), chunk.first_family)

    def _counts(self) -> np.ndarray:
        """Products of each type: a few for each, the rest by log-normal weights."""
        names = [kind.name for _, kind in self.types]
        spread = math.log(max(self.size, EVEN_TYPES_SIZE) / EVEN_TYPES_SIZE) / math.log(FULL_SIZE / EVEN_TYPES_SIZE)
        hashes = np.array([key_of("goods", "type share", self.seed, name) for name in names], np.uint64)
        ranks = np.argsort(np.argsort(hashes, kind="stable"))
        weights = np.exp(TYPE_SPREAD * min(1.0, spread) * ndtri((ranks + 0.5) / len(names)))
        least = min(LEAST_PER_TYPE, self.size // len(names))
        return least + _apportioned(self.size - least * len(names), weights)

    def _brands(self) -> dict[str, tuple[BrandSpec, ...]]:
        """The brands of each department: the written ones, and as many of syllables as its size asks for."""
        departments = self.goods.departments
        products: dict[str, int] = defaultdict(int)
        for (department, _), count in zip(self.types, self.counts.tolist(), strict=True):
            products[department.department] += count
        words = self.goods.words
        names = [
            "".join(parts) for parts in itertools.product(*map(str.split, (words.starts, words.middles, words.ends)))
        ]
        order = np.argsort(unit_hashes(key_of("goods", "brand names", self.seed), np.arange(len(names))), kind="stable")
        written = [brand.name for department in departments for brand in department.brands]
        unused = {fold(names[place]): names[place] for place in order.tolist()}
        for name in written:
            unused.pop(fold(name), None)
        left = iter(unused.values())
        found = {}
        for department in departments:
            usual = EVEN_SIZE * len(department.types) / len(self.types)
            ratio = products[department.department] / usual
            wanted = round(len(department.brands) * max(1.0, ratio) ** BRAND_GROWTH)
            stream = Stream("goods", "brands", self.seed, department.department)
            found[department.department] = department.brands + tuple(
                BrandSpec(name=name, level=round(0.6 + 1.2 * stream.uniform(), 2), quality=round(stream.uniform(), 2))
                for name in itertools.islice(left, wanted - len(department.brands))
            )
        return found

    def _chunks(self) -> list[Chunk]:
        """Types after each other, the large ones in parts of about the same size."""
        chunks: list[Chunk] = []
        first = first_family = 0
        for place, count in enumerate(self.counts.tolist()):
            kind = self.types[place][1]
            sizes, weights = _size_weights(kind, self.growth)
            parts = -(-count // MOST_PER_CHUNK)
            first_of_type = 0
            for part, some in enumerate(_apportioned(count, np.ones(parts)).tolist()):
                key = key_of("goods", "families", self.seed, kind.name, part)
                families = _family_sizes(some, sizes, weights, key)
                chunks.append(Chunk(place, part, first, families, first_family, first_of_type))
                first += some
                first_family += len(families)
                first_of_type += len(families)
        return chunks


class _ChunkProducts(TypeProducts):
    """The products of one chunk.

    Args:
        plan: The plan.
        chunk: Which chunk of it.
        families: How many families the whole type has.
    """

    def __init__(self, plan: GrowthPlan, chunk: Chunk, families: int):
        department, kind = plan.types[chunk.place]
        brands = plan.brands[department.department]
        super().__init__(plan.goods, kind, brands, chunk.count, plan.seed, chunk.part)
        self._chunk = chunk
        # "Alba" with the series "Ridge Nova" would be called like "Alba Ridge" with the series "Nova".
        inside = {word for b in brands if " " in b.name for word in spaced(b.name).split()}
        words = [word for word in self._words if fold(word) not in inside]
        suffixes = [text for text in NUMERALS if not self._taken(text)]
        key = key_of("goods", "series", plan.seed, kind.name)
        self._series = SeriesNames(words, suffixes, families, key)
        self._next = chunk.first_of_type
        self._shares = np.cumsum(_brand_weights(self.brands, plan, department.department, kind.name)).tolist()

    def _taken(self, text: str) -> bool:
        return fold(text) in self.kind.words() or any(holds(text, value) for value in self.kind.variant.values)

    def _sizes(self) -> list[int]:
        return list(self._chunk.families)

    def _name(self) -> tuple[BrandSpec, str]:
        series = self._series.name(self._next)
        self._next += 1
        words = [word.lower() for word in series.split() if word not in NUMERALS]
        for _ in range(20):
            brand = self.brands[self._brand_place()]
            if not any(word in brand.name.lower() for word in words):
                return brand, series
        # As good as impossible unless a department has a brand or two, all of them named like a series.
        return brand, series

    def _brand_place(self) -> int:
        return min(bisect_right(self._shares, self._stream.uniform() * self._shares[-1]), len(self._shares) - 1)


class SeriesNames:
    """A different series name for every family of a type, found from the family's number alone.

    Args:
        words: Words for names.
        numerals: What may follow a word.
        families: How many names are needed.
        key: A 64-bit key: which words go together, and in which order.

    Raises:
        CatalogError: Fewer than two words.
    """

    def __init__(self, words: Sequence[str], numerals: Sequence[str], families: int, key: int):
        if len(words) < 2:
            raise CatalogError(
                "a type needs at least two series words that are no value of it; add some to _words.yaml"
            )
        self._words = [words[place] for place in _permutation(len(words), key)]
        self._numerals = numerals
        self._ranks = _permutation(families, key + 1)
        self._singles = min(len(words), int(SINGLE_SHARE * families))
        self._numbered = min(len(words) * len(numerals), int(NUMERAL_SHARE * families))
        self._shifts = [int(share * (len(words) - 1)) for share in unit_hashes(key, np.arange(len(words))).tolist()]

    def name(self, family: int) -> str:
        """The name of a family of the type, by its number from 0."""
        words, rank = self._words, self._ranks[family]
        if rank < self._singles:
            return words[rank]
        rank -= self._singles
        if rank < self._numbered:
            return f"{words[rank % len(words)]} {self._numerals[rank // len(words)]}"
        rank -= self._numbered
        # Each word goes through all others, from a place of its own on; then the same once more with a suffix.
        first = rank % len(words)
        rounds, step = divmod(rank // len(words), len(words) - 1)
        second = (first + 1 + (step + self._shifts[first]) % (len(words) - 1)) % len(words)
        return " ".join([words[first], words[second], *self._suffix(rounds)])

    def _suffix(self, rounds: int) -> list[str]:
        if rounds == 0:
            return []
        if rounds <= len(self._numerals):
            return [self._numerals[rounds - 1]]
        return [f"X{10 * (rounds - len(self._numerals))}"]


def _permutation(count: int, key: int) -> list[int]:
    return np.argsort(unit_hashes(key % 2**64, np.arange(count)), kind="stable").tolist()


def _apportioned(total: int, weights: np.ndarray) -> np.ndarray:
    """Whole numbers that add up to the total, each within one of its share."""
    ends = np.rint(np.cumsum(weights) / weights.sum() * total).astype(np.int64)
    return np.diff(ends, prepend=0)


def _brand_weights(brands: Sequence[BrandSpec], plan: GrowthPlan, department: str, kind: str) -> np.ndarray:
    """How often a type has each brand, up to a factor."""
    in_department = [key_of("goods", "brand share", plan.seed, department, brand.name) for brand in brands]
    in_type = [key_of("goods", "brand share", plan.seed, kind, brand.name, "type") for brand in brands]
    normals = [ndtri((np.array(keys, np.float64) / 2**64).clip(1e-3, 1 - 1e-3)) for keys in (in_department, in_type)]
    return np.exp(plan.growth * (BRAND_SPREAD * normals[0] + BRAND_IN_TYPE_SPREAD * normals[1]))


def _size_weights(kind: TypeSpec, growth: float) -> tuple[np.ndarray, np.ndarray]:
    """The sizes that families of a type can have, ascending, and the share of each."""
    lengths = sorted(len(values) for values in kind.attributes.values())[-2:]
    possible = [
        size
        for size, shapes in SHAPES.items()
        if size >= LEAST_FAMILY and any(rows <= lengths[0] and columns <= lengths[1] for rows, columns in shapes)
    ]
    small = np.array([FAMILY_SIZES.count(size) for size in possible], float)
    large = np.array([LARGE_FAMILIES[size] for size in possible], float)
    return np.array(possible), (1 - growth) * small / small.sum() + growth * large / large.sum()


def _family_sizes(count: int, sizes: np.ndarray, weights: np.ndarray, key: int) -> tuple[int, ...]:
    """Sizes that add up to the count, none below 4 unless the count is."""
    draws = unit_hashes(key, np.arange(count // LEAST_FAMILY + 1))
    ends = np.cumsum(weights)
    drawn = sizes[np.searchsorted(ends[:-1], draws, "right")]
    whole = int(np.searchsorted(np.cumsum(drawn), count, "right"))  # families before the count is passed
    found = drawn[:whole].tolist()
    left = count - sum(found)
    if left and found:
        # The last one and what is left, as two halves where these are not too small.
        left += found.pop()
    if left:
        found += [left] if left < 2 * LEAST_FAMILY else [left // 2, left - left // 2]
    return tuple(found)
