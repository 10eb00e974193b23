"""What is on the shelf, and what sells out while the customer waits.

Whether something sells out is a draw fixed for all of the catalog alike, from a hash of episode and item, so that it
tells nothing about the goal. It happens at the end of the turn in which the agent first sees the item. For scoring,
what is fated to sell out counts as sold out, seen or not, so that reading more changes nothing.
"""

from __future__ import annotations

import numpy as np

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.variants import VariantRule
from ecomrlve.streams import unit_hash, unit_hashes

# What sells out: (row, None) for a whole product, (row, index) for one of its variants.
Unit = tuple[int, int | None]
_UNITS_PER_ROW = 2048  # the product itself and each of its variants


class Stock:
    """Stock of one episode, as differences from the catalog's.

    Args:
        catalog: The shop's products.
        variants: The episode's variants.
        key: 64-bit key of the episode's events.
        rate: Probability that a unit sells out.
        by_variant: Whether variants sell out one by one (E_CART); else whole products do.
    """

    def __init__(self, catalog: Catalog, variants: VariantRule, key: int, rate: float, *, by_variant: bool):
        self._catalog = catalog
        self._variants = variants
        self._key = key
        self.rate = rate
        self._by_variant = by_variant
        self.sold_out: set[Unit] = set()
        self._rows_sold: set[int] = set()
        self._seen_now: set[Unit] = set()

    def units(self, row: int) -> bool:
        """Whether this product sells variant by variant."""
        return self._by_variant and self._variants.has(row)

    def keep_sold_out(self, row: int) -> None:
        """Let there be none of a product from the start: the customer says that it is sold out."""
        if self.shelf(row) > 0:
            self.sold_out.add((row, None))
            self._rows_sold.add(row)

    def unit_of(self, row: int, variant: int | None) -> Unit:
        """What sells out when this line of a list does: the variant, or the whole product."""
        return row, variant if self.units(row) else None

    def fated(self, row: int, variant: int | None = None) -> bool:
        """Whether the unit sells out once it is seen."""
        index = variant + 1 if variant is not None and self.units(row) else 0
        if index == 0 and self.units(row):
            return all(self.fated(row, number) for number in range(len(self._variants.of(row))))
        return unit_hash(self._key, row * _UNITS_PER_ROW + index) < self.rate

    def fated_rows(self, rows: np.ndarray) -> np.ndarray:
        """`fated` for whole products, vectorised: a bool array."""
        if self.rate <= 0:
            return np.zeros(len(rows), bool)
        return unit_hashes(self._key, rows * _UNITS_PER_ROW) < self.rate

    def shelf(self, row: int, variant: int | None = None) -> int:
        """Units on the shelf before anything sold out."""
        if variant is not None:
            return self._variants.of(row)[variant].stock
        if self._variants.has(row):
            return self._variants.stock(row)
        return int(self._catalog.stock[row])

    def left(self, row: int, variant: int | None = None) -> int:
        """Units on the shelf now; for a product with variants and none named, their sum."""
        if row not in self._rows_sold:
            return self.shelf(row, variant)
        if (row, None) in self.sold_out:
            return 0
        if variant is None and self._variants.has(row):
            return sum(self.left(row, number) for number in range(len(self._variants.of(row))))
        return 0 if (row, variant) in self.sold_out else self.shelf(row, variant)

    def available_rows(self, rows: np.ndarray) -> np.ndarray:
        """Which products have any unit left now: a bool array.

        A product with made variants is on the shelf exactly if its row is, so only what sold out needs a closer look.
        """
        everything = len(rows) == len(self._catalog)  # then rows and places are the same
        available = (self._catalog.stock if everything else self._catalog.stock[rows]) > 0
        if self._rows_sold and everything:
            for row in self._rows_sold:
                available[row] = available[row] and self.left(row) > 0
        elif self._rows_sold:
            sold = np.fromiter(self._rows_sold, np.int64, len(self._rows_sold))
            for place in np.flatnonzero(np.isin(rows, sold) & available):
                available[place] = self.left(int(rows[place])) > 0
        return available

    def lasting(self, row: int, variant: int | None = None) -> int:
        """Units that remain when all that is fated has sold out: what scoring goes by."""
        if self.fated(row, variant):
            return 0
        if variant is None and self.units(row):
            return sum(self.lasting(row, number) for number in range(len(self._variants.of(row))))
        return self.shelf(row, variant)

    def lasting_rows(self, rows: np.ndarray) -> np.ndarray:
        """Which products are in stock and stay so, where whole products sell out: a bool array."""
        return (self._catalog.stock[rows] > 0) & ~self.fated_rows(rows)

    def see(self, row: int, variant: int | None = None) -> None:
        """Note that a tool result of this turn shows the unit."""
        if self.rate <= 0:
            return
        unit = self.unit_of(row, variant)
        if self.units(row) and variant is None:
            return
        if unit not in self.sold_out and self.fated(*unit):
            self._seen_now.add(unit)

    def end_turn(self) -> list[Unit]:
        """Sell out what is fated and was first seen in this turn; returns it, sorted."""
        gone = sorted(self._seen_now, key=lambda unit: (unit[0], -1 if unit[1] is None else unit[1]))
        self.sold_out.update(gone)
        self._rows_sold.update(row for row, _ in gone)
        self._seen_now.clear()
        return gone
