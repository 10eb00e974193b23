"""Variants: the catalog's own where it has them, made by one rule for every other product.

The rule answers for every product an agent may look up, from a hash of episode and row that knows nothing of the
goal; so having variants unmasks nothing. Two products of a type differ in whether and which variants they have, never
in the attribute.
"""

from __future__ import annotations

import itertools

import numpy as np

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.product import Variant
from ecomrlve.streams import HashStream, mix, unit_hash, unit_hashes

PER_PRODUCT = 3
_MADE, _STOCKED = 1 << 40, 1 << 41  # keep these draws apart from that of whether there are any
LEAST_STOCK = 4  # the most that a customer asks for of one item

# By department or category word, the attribute that people expect to choose and plausible values, in order of
# preference. Used for catalogs that bring no rule of their own.
PRIORITY: tuple[tuple[tuple[str, ...], tuple[str, tuple[str, ...]]], ...] = (
    (
        ("apparel", "clothing", "shirt", "jacket", "formalwear", "men", "women", "top", "pants", "hoodie", "tank"),
        ("size", ("XS", "S", "M", "L", "XL", "XXL")),
    ),
    (("footwear", "shoes", "sneaker", "boot"), ("size", ("6", "7", "8", "9", "10", "11", "12"))),
    (
        ("housewares", "kitchen", "homedecor", "furniture", "home"),
        ("material", ("Bamboo", "Ceramic", "Steel", "Glass", "Oak", "Linen")),
    ),
    (("beauty", "skin", "fragrance", "cosmetic"), ("scent", ("Rose", "Citrus", "Vanilla", "Cedar", "Unscented"))),
    (("groceries", "food", "seasonal", "floral"), ("pack", ("Single", "Twin pack", "Family pack", "Gift box", "Bulk"))),
    (
        ("electronics", "computer", "tech", "pc", "charger", "cable", "drive", "keyboard", "mouse", "monitor", "card"),
        ("connector_type", ("USB-C", "Lightning", "HDMI", "USB-A", "DisplayPort")),
    ),
)
FALLBACK = ("edition", ("Standard", "Plus", "Lite", "Studio", "Travel"))


class VariantRule:
    """The variants of every product in one episode.

    Args:
        catalog: The shop's products.
        key: 64-bit key of the episode.
        probability: Share of products without variants of their own that get some.
    """

    def __init__(self, catalog: Catalog, key: int, probability: float):
        self._catalog = catalog
        self._key = key
        self._probability = probability
        self._made: dict[int, tuple[Variant, ...]] = {}
        self._stock: dict[int, int] = {}

    def of(self, row: int) -> tuple[Variant, ...]:
        """The variants of a row, in an order that tells nothing; empty where it has none."""
        if row not in self._made:
            self._made[row] = self._make(row)
        return self._made[row]

    def has(self, row: int) -> bool:
        """Whether a row has variants, without making them."""
        if row in self._catalog.variants:
            return True
        if self._probability <= 0:
            return False
        ruled = ruled_types(self._catalog)[self._catalog.type_codes[row]]
        return bool(ruled) and unit_hash(self._key, row) < self._probability

    def stock(self, row: int) -> int:
        """Units of all variants of a row together."""
        if row not in self._stock:
            own = row in self._catalog.variants
            # Made variants need not be made to be counted: every hit of a search asks.
            units = [variant.stock for variant in self.of(row)] if own or not self.has(row) else self._made_stocks(row)
            self._stock[row] = sum(units)
        return self._stock[row]

    def having(self, rows: np.ndarray) -> np.ndarray:
        """`has` for many rows: a bool array."""
        made = unit_hashes(self._key, rows) < self._probability
        ruled = ruled_types(self._catalog)[self._catalog.type_codes[rows]]
        return (made & ruled) | self._catalog.has_own_variants[rows]

    def _make(self, row: int) -> tuple[Variant, ...]:
        stream = HashStream(mix(self._key ^ mix(row + _MADE)))
        own = self._catalog.variants.get(row)
        if own:
            return tuple(stream.shuffled(own))
        found = variant_rule(self._catalog, self._catalog.type_of(row)) if self.has(row) else None
        if found is None:
            return ()
        attribute, values = found
        price = round(float(self._catalog.columns["price"].values[row]), 2)
        chosen = stream.sample(values, PER_PRODUCT)
        return tuple(
            Variant({attribute: value}, price, stock)
            for value, stock in zip(chosen, self._made_stocks(row), strict=True)
        )

    def _made_stocks(self, row: int) -> list[int]:
        """Units of each made variant.

        A product that the shelf does not hold has no variant in stock either; otherwise each has some units, so that
        stock levels say nothing about which one is wanted.
        """
        stock = int(self._catalog.stock[row])
        if not stock:
            return [0] * PER_PRODUCT
        key = mix(self._key ^ mix(row + _STOCKED))
        return [LEAST_STOCK + int(unit_hash(key, number) * min(stock, 60)) for number in range(PER_PRODUCT)]


def ruled_types(catalog: Catalog) -> np.ndarray:
    """For each type code, whether products of the type can be given variants: a bool array, computed once."""
    found = catalog.memo.get("ruled_types")
    if found is None:
        found = np.array([variant_rule(catalog, name) is not None for name in catalog.type_names], bool)
        catalog.memo["ruled_types"] = found
    return found


def variant_rule(catalog: Catalog, type_name: str) -> tuple[str, tuple[str, ...]] | None:
    """What the variants of a type differ in.

    The catalog's own rule, else the first entry of `PRIORITY` that fits the type's name or category path and whose
    attribute the type does not have already (a cable with connector USB-C must not come as "the Lightning version").
    """
    if type_name in catalog.variant_rules:
        attribute, values = catalog.variant_rules[type_name]
        return (attribute, tuple(values)) if len(values) >= PER_PRODUCT else None
    rows = catalog.rows_of_type(type_name)
    path = catalog.category_names[catalog.category_codes[rows[0]]] if len(rows) else ()
    words = set(itertools.chain.from_iterable(fold(text).replace("/", " ").split() for text in (type_name, *path)))
    words |= {word.rstrip("s") for word in words}
    taken = catalog.attributes_of_type(type_name)
    for keys, (attribute, values) in PRIORITY:
        if words & set(keys) and attribute not in taken:
            return attribute, values
    return FALLBACK if FALLBACK[0] not in taken else None
