"""The generated catalog: invented products in families of lookalikes, for every department in `goods/`.

A family shares brand, series, price level and all attributes but one or two, over which it is laid out as a grid; so
whatever a customer wants has near misses, and no member stands out as the one the others were made from. All numbers
come from keyed hashes and streams: the same size and seed give the same catalog in every process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.departments import BrandSpec, Goods, TypeSpec, holds, read_goods, spaced
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.product_texts import LONGEST_TITLE, Wording, description_plan
from ecomrlve.errors import CatalogError, SeedError
from ecomrlve.streams import Stream, key_of, unit_hashes

DEFAULT_SIZE = 10_000
SMALLEST, LARGEST = 1_000, 2_000_000
PRODUCTS_PER_EXTRA_BRAND = 25_000  # for each department, from 100,000 products on

# Rows × columns of a family's grid, by its size. Where the grid has more cells than that, some stay empty.
SHAPES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((1, 1),), 2: ((1, 2),), 3: ((1, 3),), 4: ((2, 2), (1, 4)), 5: ((1, 5), (2, 3)), 6: ((2, 3), (1, 6)),
    7: ((2, 4), (3, 3)), 8: ((2, 4), (1, 8), (3, 3)),
}  # fmt: skip
FAMILY_SIZES = (4, 5, 6, 6, 7, 8)
TITLED_SHARE = 0.5  # of families: their titles tell the members apart
SHIP_DAYS_WEIGHTS = (4, 15, 19, 18, 13, 9, 6, 4, 3, 2)  # for 1 … 10 days
SOLD_OUT, VARIANT_SOLD_OUT = 0.04, 0.08
NUMBER_EFFECT = 0.5  # how much dearer the highest level of a price-raising attribute is than the lowest


@dataclass(slots=True)
class _Family:
    """What the members of a family share, and what each has of its own."""

    brand: BrandSpec
    members: list[dict[str, Any]]  # attributes of each
    titles: list[str]
    descriptions: list[str]
    features: tuple[str, ...]


def generate(size: int = DEFAULT_SIZE, seed: int = 0, folder: Path | None = None) -> Catalog:
    """Generate a catalog.

    Args:
        size: How many products, 1,000 to 2,000,000, about equally many of each type.
        seed: Which catalog of that size.
        folder: Department files to use in place of the package's own.

    Returns:
        The catalog, called ``default`` for the default size and seed.

    Raises:
        CatalogError: A size out of range, or department files that do not fit together.
        SeedError: A seed that is no whole number from 0 to 2**63 - 1.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not SMALLEST <= size <= LARGEST:
        raise CatalogError(f"a generated catalog has {SMALLEST:,} to {LARGEST:,} products, not {size!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise SeedError(f"a seed is a whole number from 0 to 2**63 - 1, not {seed!r}")
    goods = read_goods(folder)
    brands = _brands(goods, size, seed)
    types = goods.types()
    if size < len(types):
        raise CatalogError(f"{size:,} products are too few for {len(types):,} types")
    records: list[dict[str, Any]] = []
    families = 0
    for place, (department, kind) in enumerate(types):
        count = size // len(types) + (place < size % len(types))
        made = _Type(goods, kind, brands[department.department], count, seed)
        path = (department.department, *kind.category)
        records += made.records(path, families)
        families += len(made.families)
    order = np.argsort(unit_hashes(key_of("goods", "order", seed), np.arange(size)), kind="stable")
    standard = folder is None and size == DEFAULT_SIZE and seed == 0
    return Catalog.from_records(
        [records[row] for row in order],
        name="default" if standard else f"generated-{size}-{seed}",
        attributes=goods.attributes,
        variant_rules={kind.name: (kind.variant.attribute, kind.variant.values) for _, kind in types},
        card={
            "source": ["generated"], "seed": seed, "read": size, "kept": size, "dropped": {}, "synthesized": [],
            "departments": len(goods.departments), "types": len(types), "families": families,
            "brands": sum(map(len, brands.values())), "notes": ["All products, brands and texts are invented."],
        },
    )  # fmt: skip


def _brands(goods: Goods, size: int, seed: int) -> dict[str, tuple[BrandSpec, ...]]:
    """The brands of each department: the written ones, and for large catalogs some made of syllables."""
    found = {department.department: department.brands for department in goods.departments}
    extra = size // PRODUCTS_PER_EXTRA_BRAND if size >= 100_000 else 0
    taken = {fold(brand.name) for brands in found.values() for brand in brands}
    syllables = [text.split() for text in (goods.words.starts, goods.words.middles, goods.words.ends)]
    for department in found:
        stream = Stream("goods", "brands", seed, department)
        for _ in range(extra):
            name = ""
            while not name or fold(name) in taken:
                name = "".join(stream.choice(parts) for parts in syllables)
            taken.add(fold(name))
            brand = BrandSpec(name=name, level=round(0.6 + 1.2 * stream.uniform(), 2), quality=round(stream.uniform(), 2))
            found[department] = (*found[department], brand)
    return found


class _Type:
    """All products of one type.

    Args:
        goods: Everything written about departments.
        kind: The type.
        brands: Brands of its department.
        count: How many products.
        seed: Seed of the catalog.
    """

    def __init__(self, goods: Goods, kind: TypeSpec, brands: tuple[BrandSpec, ...], count: int, seed: int):
        self.kind = kind
        self.count = count
        self._seed = seed
        self._stream = Stream("goods", "type", seed, kind.name)
        self._wording = Wording(kind, goods.attributes)
        self._brands = [b for b in brands if not any(holds(b.name, value) for value in kind.variant.values)]
        if not self._brands:
            raise CatalogError(f"type {kind.name!r}: every brand's name holds a variant value")
        self._nouns = kind.nouns or (kind.name.title(),)
        avoided = kind.words() | set(spaced(" ".join(self._nouns)).split())
        self._words = [word for word in goods.words.series.split() if fold(word) not in avoided]
        self._used: set[str] = set()
        self._weights = {name: _weights(values) for name, values in kind.attributes.items()}
        self._names = list(kind.attributes)
        self.families = [self._family(size) for size in self._sizes()]

    def _sizes(self) -> list[int]:
        """Sizes of the families; they add up to the count, and none is below 4 unless the count is."""
        left, sizes = self.count, []
        while left:
            fitting = [size for size in FAMILY_SIZES if size == left or size <= left - 4] or [left]
            sizes.append(self._stream.choice(fitting))
            left -= sizes[-1]
        return sizes

    def _family(self, size: int) -> _Family:
        stream, kind = self._stream, self.kind
        brand = stream.choice(self._brands)
        series = self._series(brand)
        start = f"{brand.name} {series} {stream.choice(self._nouns)}"
        members, varying = self._grid(size)
        room = LONGEST_TITLE - len(start.split())
        if stream.chance(TITLED_SHARE):
            wanted = varying
        else:  # Some of the other titles name something that all members have in common.
            wanted = [name for name in self._names if name not in varying]
            wanted = stream.sample(wanted, 1) if stream.chance(0.35) else []
        named = []
        for name in wanted:
            if name in self._wording.titled and (length := self._wording.length(name)) <= room:
                named.append(name)
                room -= length
        plan = description_plan(stream, kind, series, varying or self._names)
        return _Family(
            brand,
            members,
            [self._wording.title(start, named, values) for values in members],
            [self._wording.description(plan, values) for values in members],
            tuple(stream.sample(kind.features, 2 + stream.integer(2))),
        )

    def _series(self, brand: BrandSpec) -> str:
        """A series name that no other family of the type has."""
        while True:
            words = self._stream.sample(self._words, 2)
            crowded = len(self._used) > len(self._words) // 4
            name = " ".join(words) if crowded or self._stream.chance(0.3) else words[0]
            if name not in self._used and not any(fold(word) in fold(brand.name) for word in words):
                self._used.add(name)
                return name

    def _grid(self, size: int) -> tuple[list[dict[str, Any]], list[str]]:
        """The members' attributes, in random order, and the names of those in which they differ."""
        stream, values = self._stream, self.kind.attributes
        base = {name: stream.weighted(*self._weights[name]) for name in self._names}
        for rows, columns in stream.shuffled(SHAPES[size]):
            second = stream.choice([name for name in self._names if len(values[name]) >= columns] or [""])
            others = [name for name in self._names if len(values[name]) >= rows and name != second]
            if second and others:
                break
        else:  # Only for families larger than any attribute allows, which the checks of department files rule out.
            raise CatalogError(f"type {self.kind.name!r}: no attribute has enough values for {size} lookalikes")
        first = stream.choice(others)
        across = stream.sample(self._weights[second][0], columns)
        down = stream.sample(self._weights[first][0], rows) if rows > 1 else [base[first]]
        cells = stream.sample([(one, two) for one in down for two in across], size)
        varying = [name for name, length in ((first, rows), (second, columns)) if length > 1]
        return [base | {first: one, second: two} for one, two in cells], varying
