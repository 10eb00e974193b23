"""Families of lookalikes of one product type: what members share, how they differ, and all their numbers.

A family shares brand, series, price level and all attributes but one or two, over which it is laid out as a grid. All
draws come from streams and keyed hashes that are named after seed, type and part of the type, so that types, and parts
of a large type, can be made in any order and in any process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from ecomrlve.catalog.departments import BrandSpec, Goods, TypeSpec, holds, spaced
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.product_texts import LONGEST_TITLE, Wording, description_plan
from ecomrlve.errors import CatalogError
from ecomrlve.streams import Stream, key_of, unit_hashes

# Rows × columns of a family's grid, by its size. Where the grid has more cells than that, some stay empty.
SHAPES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((1, 1),), 2: ((1, 2),), 3: ((1, 3),), 4: ((2, 2), (1, 4)), 5: ((1, 5), (2, 3)), 6: ((2, 3), (1, 6)),
    7: ((2, 4), (3, 3)), 8: ((2, 4), (1, 8), (3, 3)), 9: ((3, 3), (2, 5)), 10: ((2, 5), (3, 4)),
    11: ((3, 4), (2, 6)), 12: ((3, 4), (2, 6)), 13: ((3, 5), (2, 7)), 14: ((2, 7), (3, 5), (4, 4)),
    15: ((3, 5), (4, 4)), 16: ((4, 4), (2, 8)),
}  # fmt: skip
FAMILY_SIZES = (4, 5, 6, 6, 7, 8)
TITLED_SHARE = 0.55  # of families: their titles tell the members apart
SHIP_DAYS_WEIGHTS = (4, 15, 19, 18, 13, 9, 6, 4, 3, 2)  # for 1 … 10 days
SOLD_OUT, VARIANT_SOLD_OUT = 0.04, 0.08
# What the draws of a product or family are for; the place in this list keys them.
DRAWS = (
    "price", "price member", "price ending", "popular", "popular member", "rating", "rating member", "ship",
    "ship member", "stock", "sold out",
)  # fmt: skip
NUMBER_EFFECT = 0.5  # how much dearer the highest level of a price-raising attribute is than the lowest


@dataclass(slots=True)
class Family:
    """What the members of a family share, and what each has of its own.

    Attributes:
        brand: Their brand.
        members: The attributes of each.
        titles, descriptions: The texts of each.
        features: What all of them are praised for.
    """

    brand: BrandSpec
    members: list[dict[str, Any]]
    titles: list[str]
    descriptions: list[str]
    features: tuple[str, ...]


class TypeProducts:
    """All products of one type, or of a part of it.

    Args:
        goods: Everything written about departments.
        kind: The type.
        brands: Brands of its department.
        count: How many products.
        seed: Seed of the catalog.
        part: What tells this part of the type from its other parts, where it is made in several.

    Raises:
        CatalogError: Every brand's name holds a variant value.
    """

    def __init__(self, goods: Goods, kind: TypeSpec, brands: tuple[BrandSpec, ...], count: int, seed: int, *part: int):
        self.kind = kind
        self.count = count
        self._stream = Stream("goods", "type", seed, kind.name, *part)
        self._wording = Wording(kind, goods.attributes)
        self.brands = [b for b in brands if not any(holds(b.name, value) for value in kind.variant.values)]
        if not self.brands:
            raise CatalogError(f"type {kind.name!r}: every brand's name holds a variant value")
        self._nouns = kind.nouns or (kind.name.title(),)
        avoided = kind.words() | set(spaced(" ".join(self._nouns)).split())
        self._words = [word for word in goods.words.series.split() if word.lower() not in avoided]
        self._used: set[str] = set()  # series names
        self._weights = {name: _weights(values) for name, values in kind.attributes.items()}
        self._names = list(kind.attributes)
        # One table, since a call of its own for each of them would take longer than all else about numbers.
        numbers = (np.arange(len(DRAWS))[:, None] << 32) + np.arange(count)
        self._drawn = unit_hashes(key_of("goods", "numbers", seed, kind.name, *part), numbers)

    @cached_property
    def families(self) -> list[Family]:
        """All families, in the order of their products."""
        return [self._family(size) for size in self._sizes()]

    def _sizes(self) -> list[int]:
        """Sizes of the families; they add up to the count, and none is below 4 unless the count is."""
        left, sizes = self.count, []
        while left:
            fitting = [size for size in FAMILY_SIZES if size == left or size <= left - 4] or [left]
            sizes.append(self._stream.choice(fitting))
            left -= sizes[-1]
        return sizes

    def _family(self, size: int) -> Family:
        stream, kind = self._stream, self.kind
        brand, series = self._name()
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
        return Family(
            brand,
            members,
            [self._wording.title(start, named, values) for values in members],
            [self._wording.description(plan, values) for values in members],
            tuple(stream.sample(kind.features, 2 + stream.integer(2))),
        )

    def _name(self) -> tuple[BrandSpec, str]:
        """The next family's brand, and a series name that no other family of the type has."""
        brand = self._stream.choice(self.brands)
        while True:
            words = self._stream.sample(self._words, 2)
            crowded = len(self._used) > len(self._words) // 4
            name = " ".join(words) if crowded or self._stream.chance(0.3) else words[0]
            if name not in self._used and not any(word.lower() in brand.name.lower() for word in words):
                self._used.add(name)
                return brand, name

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

    # -- numbers, for all products of the type at once

    def records(self, category: tuple[str, ...], first_family: int) -> list[dict[str, Any]]:
        """The products as records for the store.

        Args:
            category: Path from department to leaf.
            first_family: Number of the first family.
        """
        sizes = [len(family.members) for family in self.families]
        of_family = np.repeat(np.arange(len(sizes)), sizes)
        prices = self._prices(of_family)
        counts, ratings = self._ratings(of_family)
        usual = np.searchsorted(np.cumsum(SHIP_DAYS_WEIGHTS), self._uniform("ship") * sum(SHIP_DAYS_WEIGHTS), "right")
        ship_days = np.clip(1 + usual[of_family] + (4 * self._uniform("ship member")).astype(int) % 3 - 1, 1, 10)
        stock = np.where(self._uniform("sold out") < SOLD_OUT, 0, 5 + (196 * self._uniform("stock") ** 1.5).astype(int))
        numbers = zip(
            prices.tolist(), counts.tolist(), ratings.tolist(), ship_days.tolist(), stock.tolist(), strict=True
        )
        records = []
        for number, family in enumerate(self.families, first_family):
            for values, title, text in zip(family.members, family.titles, family.descriptions, strict=True):
                price, count, rating, days, units = next(numbers)
                record = {
                    "title": title, "description": text, "category": category, "type": self.kind.name,
                    "brand": family.brand.name, "price": price, "rating": rating, "rating_count": count,
                    "ship_days": days, "stock": units, "attributes": values, "features": family.features,
                    "family": number,
                }  # fmt: skip
                if self.kind.natural_variants:
                    record["variants"] = self._variants(price, units > 0)
                    record["stock"] = sum(variant.stock for variant in record["variants"])
                records.append(record)
        return records

    def _uniform(self, what: str) -> np.ndarray:
        """A number in [0, 1) for each product (or family, which are fewer), fixed by what it is for."""
        return self._drawn[DRAWS.index(what)]

    def _normal(self, what: str) -> np.ndarray:
        return ndtri(np.clip(self._uniform(what), 1e-6, 1 - 1e-6))

    def _prices(self, of_family: np.ndarray) -> np.ndarray:
        """Log-normal around the type's median times brand level, dearer with more of what raises the price."""
        level = np.array([family.brand.level for family in self.families])[of_family]
        prices = self.kind.price * level * np.exp(0.22 * self._normal("price")[of_family])
        for name in self.kind.raises_price:
            levels = self._weights[name][0]
            place = {value: index / (len(levels) - 1) - 0.5 for index, value in enumerate(levels)}
            prices *= 1 + NUMBER_EFFECT * np.array([place[m[name]] for f in self.families for m in f.members])
        return _price_tags(prices * np.exp(0.05 * self._normal("price member")), self._uniform("price ending"))

    def _ratings(self, of_family: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many ratings each product has and their average, which spreads more where they are few."""
        popularity = 4.4 + 1.1 * self._normal("popular")[of_family] + 0.7 * self._normal("popular member")
        counts = np.clip(np.exp(popularity).astype(int), 1, 200_000)
        quality = np.array([family.brand.quality for family in self.families])[of_family]
        usual = 3.4 + 1.15 * quality + 0.15 * self._normal("rating")[of_family]
        spread = 0.12 + 0.9 / np.sqrt(counts)
        return counts, np.round(np.clip(usual + spread * self._normal("rating member"), 2.5, 5.0), 1)

    def _variants(self, price: float, available: bool) -> tuple[Variant, ...]:
        """Variants that the product itself lists, in the order that the type's values are written in."""
        stream, values = self._stream, self.kind.variant.values
        chosen = set(stream.sample(values, 4 + stream.integer(3)))
        return tuple(
            Variant(
                {self.kind.variant.attribute: value},
                round(price * stream.choice((1, 1, 1, 1.05, 1.1, 0.95)), 2),
                0 if stream.chance(VARIANT_SOLD_OUT) or not available else 5 + stream.integer(56),
            )
            for value in values
            if value in chosen
        )


def _weights(values: Any) -> tuple[list[Any], list[float]]:
    """Values and how often each is drawn; of numeric levels, those in the middle more often."""
    if isinstance(values, dict):
        return list(values), list(values.values())
    last = len(values) - 1
    return list(values), [1 + 2 * min(place, last - place) / last for place in range(last + 1)]


def _price_tags(prices: np.ndarray, endings: np.ndarray) -> np.ndarray:
    """Whole cents, most of them just below a whole dollar as on real tags."""
    dollars = np.floor(prices)
    tags = np.select(
        [prices < 3, endings < 0.45, endings < 0.6, endings < 0.7],
        [prices, dollars + 0.99, dollars + 0.95, dollars],
        prices,
    )
    return np.round(np.maximum(tags, 0.49), 2)
