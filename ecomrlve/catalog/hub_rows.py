"""Make products of the rows of a catalog from the Hub, batch by batch, and account for every row.

Whatever must be remembered from batch to batch (the ids seen, the spellings of types, counts) is told as a state that
fits JSON, one for each batch. The sum of the states is all there is to know; so a run that goes on after the tenth
batch knows what one knows that was never interrupted.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import fold
from ecomrlve.catalog.files import UNKNOWN_TYPE
from ecomrlve.catalog.hub_attributes import AttributeCounts, count_values
from ecomrlve.catalog.hub_details import LONGEST_VALUE, as_brand, clean, read_details
from ecomrlve.catalog.values import as_count, as_number, as_text, known, parse_price
from ecomrlve.streams import key_of, unit_hash

# The columns that are read; pictures, videos and the like stay where they are.
COLUMNS = (
    "parent_asin", "title", "price", "average_rating", "rating_number", "store", "main_category", "categories",
    "features", "description", "details",
)  # fmt: skip
SYNTHESIZED = ("ship_days", "stock")
CONTROLS = "control characters removed from texts"


class RowReader:
    """Turns batches of rows into records.

    Attributes:
        read: Rows read.
        dropped: Why → how many rows.
        noted: What else there is to tell → how many times.
        attributes: Name → what its values are like.
    """

    def __init__(self) -> None:
        self.read = 0
        self.dropped: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()
        self.attributes: dict[str, AttributeCounts] = defaultdict(AttributeCounts)
        self._ids = np.empty(0, np.uint64)  # sorted
        self._types: dict[str, str] = {}  # folded → its first spelling

    @property
    def kept(self) -> int:
        """Rows that became products."""
        return self.read - self.dropped.total()

    def batch(self, columns: Mapping[str, Sequence[Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Make the products of one batch.

        Args:
            columns: Column → its cells, for all of `COLUMNS`.

        Returns:
            The records, and the state: what `remember` needs to know about this batch. It is remembered already.
        """
        batch = _Batch(columns, self._ids, self._types)
        records = batch.records()
        attributes = {
            name: count_values(batch.values[name], batch.long[name], self.attributes.get(name, AttributeCounts()))
            for name in sorted({*batch.values, *batch.long})
        }
        state = {
            "read": len(columns["title"]),
            "dropped": dict(sorted(batch.dropped.items())),
            "noted": dict(sorted(batch.noted.items())),
            "types": batch.new_types,
            "ids": base64.b64encode(np.array(sorted(batch.new_ids), "<u8").tobytes()).decode(),
            "attributes": attributes,
        }
        self.remember(state)
        return records, state

    def remember(self, state: Mapping[str, Any]) -> None:
        """Add the state of one batch; they are added in the order of the batches."""
        self.read += state["read"]
        self.dropped.update(state["dropped"])
        self.noted.update(state["noted"])
        self._types.update((fold(name), name) for name in state["types"])
        new = np.frombuffer(base64.b64decode(state["ids"]), "<u8").astype(np.uint64)
        # Timsort merges two sorted runs in one pass.
        self._ids = np.sort(np.concatenate([self._ids, new]), kind="stable")
        for name, counts in state["attributes"].items():
            self.attributes[name].add(counts)


class _Batch:
    """The rows of one batch, and what is found in them."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], ids: np.ndarray, types: Mapping[str, str]):
        self._columns = columns
        self._types = dict(types)
        self.dropped: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()
        self.new_types: list[str] = []
        self.new_ids: set[int] = set()
        self.values: dict[str, list[str]] = defaultdict(list)
        self.long: Counter[str] = Counter()
        self._own_ids = [
            as_text(known(cell)).strip() if known(cell) is not None else "" for cell in columns["parent_asin"]
        ]
        keys = np.fromiter(
            (key_of("product", own) if own else 0 for own in self._own_ids), np.uint64, len(self._own_ids)
        )
        self._keys = keys.tolist()
        places = np.searchsorted(ids, keys)
        self._seen = (ids[np.minimum(places, len(ids) - 1)] == keys).tolist() if len(ids) else [False] * len(keys)

    def records(self) -> list[dict[str, Any]]:
        """The products among the rows, in order."""
        records = []
        names = [name for name in COLUMNS if name != "parent_asin"]
        for place, cells in enumerate(zip(*(self._columns[name] for name in names), strict=True)):
            record = self._record(place, dict(zip(names, cells, strict=True)))
            if isinstance(record, str):
                self.dropped[record] += 1
            else:
                records.append(record)
        return records

    def _record(self, place: int, row: dict[str, Any]) -> dict[str, Any] | str:
        """The product of a row, or the reason to drop it."""
        title = self._line(row["title"])
        if not title:
            return "title missing"
        price, why = parse_price(row["price"])
        if price is None:
            return why
        key = self._keys[place]
        if not self._own_ids[place]:
            # Nothing tells such a row from a copy of it, so that none is called a duplicate.
            self.noted["products without an id"] += 1
            key = key_of("product without id", json.dumps(row, sort_keys=True, default=str))
        elif self._seen[place] or key in self.new_ids:
            return "duplicate"
        else:
            self.new_ids.add(key)
        path, kind = self._place(row)
        attributes, brand = read_details(row["details"], self.noted)
        brand = brand or self._store(row["store"])
        if brand is None:
            self.noted["products whose brand is unknown"] += 1
        return {
            "title": title,
            "price": price,
            "type": kind,
            "category": path,
            "brand": brand,
            "description": self._text(row["description"]),
            "features": self._features(row["features"]),
            "rating": self._rating(row["average_rating"]),
            "rating_count": self._rating_count(row["rating_number"]),
            "ship_days": 1 + int(7 * unit_hash(key, 0)),
            "stock": 3 + int(58 * unit_hash(key, 1)),
            "attributes": self._short(attributes),
        }

    # -- parts of a product

    def _place(self, row: Mapping[str, Any]) -> tuple[tuple[str, ...] | None, str]:
        """The category path, None where unknown, and the product type."""
        cell = known(row["categories"])
        steps = cell if isinstance(cell, list) else [] if cell is None else [cell]
        path = tuple(step for cell in steps if (step := self._line(cell)))
        name = path[-1] if path else self._line(row["main_category"])
        if not path:
            self.noted["products whose category is unknown"] += 1
        if not name:
            self.noted[f"products whose type is unknown, listed as {UNKNOWN_TYPE!r}"] += 1
            name = UNKNOWN_TYPE
        # The store looks types up whatever their letter case, so that there must be one spelling of each.
        folded = fold(name)
        if folded not in self._types:
            self._types[folded] = name
            self.new_types.append(name)
        return path or None, self._types[folded]

    def _store(self, cell: Any) -> str | None:
        """The brand that a product is sold under; for books and films that cell names people and formats instead."""
        brand = as_brand(cell)
        if brand and (brand.startswith("Format:") or brand.endswith(("(Author)", "(Actor)", "(Director)", "(Artist)"))):
            self.noted["stores that are people or formats, not taken as brands"] += 1
            return None
        return brand

    def _rating(self, cell: Any) -> float | None:
        if known(cell) is None:
            self.noted["products whose rating is unknown"] += 1
            return None
        rating = as_number(cell)
        if rating is None or not 1 <= rating <= 5:
            self.noted["ratings that are not from 1 to 5, left unknown"] += 1
            return None
        return rating

    def _rating_count(self, cell: Any) -> int | None:
        count = as_count(known(cell))
        if count is None:
            self.noted["products whose number of ratings is unknown"] += 1
        return count

    def _features(self, cell: Any) -> tuple[str, ...]:
        cell = known(cell)
        items = cell if isinstance(cell, list) else [] if cell is None else [cell]
        return tuple(text for item in items if (text := self._clean(item)))

    def _text(self, cell: Any) -> str:
        return "\n".join(self._features(cell))

    def _short(self, attributes: dict[str, str]) -> dict[str, str]:
        """The attributes whose text is short enough to choose by; the others are counted."""
        short = {}
        for name, text in attributes.items():
            if len(text) > LONGEST_VALUE:
                self.long[name] += 1
            else:
                self.values[name].append(text)
                short[name] = text
        return short

    def _clean(self, cell: Any) -> str:
        text, removed = clean(cell)
        if removed:
            self.noted[CONTROLS] += removed
        return text

    def _line(self, cell: Any) -> str:
        return " ".join(self._clean(cell).split())
