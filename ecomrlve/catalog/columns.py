"""The store: products as columns, shared read-only by every episode.

A product is a row number; whatever an episode computes over many products is a vectorised mask over these columns or
over the postings (type → rows). A `Product` is a view, built only for what is shown.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ecomrlve.catalog.product import Attribute, Product, Variant
from ecomrlve.errors import CatalogError

UNKNOWN = -1
FACTS_REMEMBERED = 20_000
MOST_VARIANTS = 1000

COMMON: dict[str, Attribute] = {
    "price": Attribute(
        "price", "number", "price", "$", ("budget", "cost", "spend", "expensive", "cheap", "pay"), "less",
    ),
    "rating": Attribute("rating", "number", "rating", "stars", ("review", "score", "star"), "more"),
    "ship_days": Attribute(
        "ship_days", "number", "delivery time", "days",
        ("shipping", "ship", "deliver", "delivery", "arrive", "arrival", "fast", "urgent", "deadline"), "less",
    ),
    "brand": Attribute("brand", "category", "brand", "", ("make", "manufacturer", "maker", "label")),
}  # fmt: skip


def fold(text: str) -> str:
    """Lower case, no surrounding or doubled spaces, compatible characters unified: how words are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def plain_number(value: float) -> float | int:
    """30.0 → 30, 4.5 → 4.5: numbers as people and JSON write them."""
    return int(value) if float(value).is_integer() else float(value)


@dataclass
class Column:
    """One attribute over all rows.

    Attributes:
        info: Name, kind, label, unit.
        values: float64 with NaN for unknown (number), or int32 codes into `names` with −1 for unknown (category).
        names: The words of a category column, in code order.
    """

    info: Attribute
    values: np.ndarray
    names: list[str] = field(default_factory=list)

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.info.kind == "number"

    def get(self, row: int) -> Any:
        """The plain Python value at a row, or None where unknown."""
        value = self.values[row]
        if self.numeric:
            return None if math.isnan(value) else plain_number(float(value))
        return None if value == UNKNOWN else self.names[value]

    def code(self, word: str) -> int:
        """The code of a word whatever its letter case, or −2, which matches no row."""
        return self.codes.get(fold(word), -2)

    @cached_property
    def codes(self) -> dict[str, int]:
        """Folded word → code."""
        return {fold(name): code for code, name in enumerate(self.names)}


class Catalog:
    """All products of one shop. Build it with `from_records`; afterwards it is never written to.

    Attributes:
        name: What people call it: ``default``, or a file's name.
        columns: Attribute name → column; price, rating, ship_days and brand among them.
        titles, descriptions, features: Texts by row.
        type_names, type_codes: The product types and each row's.
        category_names, category_codes: Category paths and each row's.
        rating_count: Ratings behind the average, −1 where unknown.
        stock: Units on the shelf before any episode.
        family: Family number of a row (lookalikes share one); a row of its own where none is known.
        variants: Row → the variants that the catalog itself lists.
        synthesized: Names of fields that were not in the source, such as ``{"ship_days"}``.
        card: What was read, kept, dropped and why; shown to people.
    """

    def __init__(self, **fields: Any):
        self.name: str = fields["name"]
        self.titles: Sequence[str] = fields["titles"]
        self.descriptions: Sequence[str] = fields["descriptions"]
        self.features: Sequence[tuple[str, ...]] = fields["features"]
        self.columns: dict[str, Column] = fields["columns"]
        self.type_names: list[str] = fields["type_names"]
        self.type_codes: np.ndarray = fields["type_codes"]
        self.category_names: list[tuple[str, ...]] = fields["category_names"]
        self.category_codes: np.ndarray = fields["category_codes"]
        self.rating_count: np.ndarray = fields["rating_count"]
        self.stock: np.ndarray = fields["stock"]
        self.family: np.ndarray = fields["family"]
        self.variants: Mapping[int, tuple[Variant, ...]] = fields["variants"]
        self.variant_rules: dict[str, tuple[str, tuple[str, ...]]] = fields["variant_rules"]
        self.synthesized: frozenset[str] = frozenset(fields["synthesized"])
        self.card: dict[str, Any] = fields["card"]
        # Facts derived from the catalog alone, which other modules compute once and keep here.
        self.memo: dict[str, Any] = {}
        self._facts: dict[int, dict[str, Any]] = {}
        self._folded: dict[int, str] = {}

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        *,
        name: str,
        attributes: Mapping[str, Attribute] | None = None,
        variant_rules: Mapping[str, tuple[str, tuple[str, ...]]] | None = None,
        synthesized: Iterable[str] = (),
        card: Mapping[str, Any] | None = None,
    ) -> Catalog:
        """Build the store.

        Args:
            records: One mapping per product with the keys of `product.RECORD_REQUIRED` and `RECORD_OPTIONAL`.
            name: Name of the catalog.
            attributes: What is known about attributes; an unlisted one gets its kind from its values.
            variant_rules: Product type → (attribute that its variants differ in, the possible values), for products
                without variants of their own.
            synthesized: Fields that the source did not have.
            card: Anything worth telling about the source.

        Raises:
            CatalogError: No product at all, or one with more variants than ids are made for.
        """
        rows = list(records)
        if not rows:
            raise CatalogError(f"catalog {name!r} has no products")
        crowded = next((r for r in rows if len(r.get("variants") or ()) > MOST_VARIANTS), None)
        if crowded is not None:
            raise CatalogError(f"{crowded['title']!r} has more than {MOST_VARIANTS} variants")
        known = dict(COMMON) | dict(attributes or {})
        cells: dict[str, dict[int, Any]] = defaultdict(dict)
        for number, record in enumerate(rows):
            for key in COMMON:
                if record.get(key) is not None:
                    cells[key][number] = record[key]
            for key, value in (record.get("attributes") or {}).items():
                if value is not None and key not in COMMON:
                    cells[key][number] = value
        columns = {
            key: _column(key, cells.get(key, {}), len(rows), known.get(key))
            for key in [*COMMON, *sorted(set(cells) - set(COMMON))]
        }
        type_names, type_codes = _coded([str(record["type"]) for record in rows])
        paths, category_codes = _coded([tuple(record.get("category") or (str(record["type"]),)) for record in rows])
        families = [record.get("family") for record in rows]
        lone = 1 + max((f for f in families if f is not None), default=-1)
        return cls(
            name=name,
            titles=[str(record["title"]) for record in rows],
            descriptions=[str(record.get("description") or "") for record in rows],
            features=[tuple(record.get("features") or ()) for record in rows],
            columns=columns,
            type_names=type_names,
            type_codes=type_codes,
            category_names=paths,
            category_codes=category_codes,
            rating_count=np.array([-1 if r.get("rating_count") is None else r["rating_count"] for r in rows], np.int32),
            stock=np.array([0 if r.get("stock") is None else r["stock"] for r in rows], np.int32),
            family=np.array([lone + i if f is None else f for i, f in enumerate(families)], np.int64),
            variants={i: tuple(r["variants"]) for i, r in enumerate(rows) if r.get("variants")},
            variant_rules=dict(variant_rules or {}),
            synthesized=synthesized,
            card=dict(card or {}),
        )

    def __len__(self) -> int:
        return len(self.titles)

    def product(self, row: int) -> Product:
        """The view of one row."""
        count = int(self.rating_count[row])
        own = {key: self.columns[key].get(row) for key in self.type_attributes(row)}
        return Product(
            row=row,
            title=self.titles[row],
            description=self.descriptions[row],
            category=self.category_names[self.category_codes[row]],
            type=self.type_of(row),
            brand=self.columns["brand"].get(row),
            price=float(self.columns["price"].values[row]),
            rating=self.columns["rating"].get(row),
            rating_count=None if count < 0 else count,
            ship_days=self.columns["ship_days"].get(row),
            stock=int(self.stock[row]),
            attributes={key: value for key, value in own.items() if value is not None},
            features=self.features[row],
            variants=self.variants.get(row, ()),
        )

    def facts(self, row: int) -> dict[str, Any]:
        """What search results show of a row, besides id and stock. Remembered, so do not change what it returns."""
        known = self._facts.get(row)
        if known is None:
            known = {"title": self.titles[row], "type": self.type_of(row)}
            for name in ("price", "rating", "ship_days", "brand"):
                value = self.columns[name].get(row)
                if value is not None:
                    known[name] = value
            own = {name: self.columns[name].get(row) for name in self.type_attributes(row)}
            known["attributes"] = {name: value for name, value in own.items() if value is not None}
            if len(self._facts) >= FACTS_REMEMBERED:
                self._facts.clear()
            self._facts[row] = known
        return known

    def folded_title(self, row: int) -> str:
        """A row's title as titles are compared."""
        known = self._folded.get(row)
        if known is None:
            if len(self._folded) >= FACTS_REMEMBERED:
                self._folded.clear()
            known = self._folded[row] = fold(self.titles[row])
        return known

    def rows_of_category(self, code: int) -> np.ndarray:
        """Rows of a category, ascending."""
        return np.flatnonzero(self.category_codes == code)

    def rows_of_brand(self, code: int) -> np.ndarray:
        """Rows of a brand, ascending."""
        return np.flatnonzero(self.columns["brand"].values == code)

    def rows_where(self, attribute: str, test: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """Rows whose value of an attribute passes a test, ascending; None where that is no quicker than asking all.

        Args:
            attribute: Name of a column.
            test: Gets values as the column has them, returns a bool array.
        """
        return None

    def remembered(self, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """An array that follows from the catalog alone: computed once, then kept."""
        if name not in self.memo:
            self.memo[name] = compute()
        return self.memo[name]

    def type_of(self, row: int) -> str:
        """The product type of a row."""
        return self.type_names[self.type_codes[row]]

    def type_attributes(self, row: int) -> tuple[str, ...]:
        """Names of the attributes, besides the common ones, that products of this row's type have."""
        return self._attributes_by_type[self.type_codes[row]]

    def attributes_of_type(self, type_name: str) -> tuple[str, ...]:
        """The same, by the type's name."""
        return self._attributes_by_type[self.type_index[fold(type_name)]]

    def rows_of_type(self, type_name: str) -> np.ndarray:
        """Rows of a product type, ascending; empty for an unknown type."""
        code = self.type_index.get(fold(type_name))
        return np.empty(0, np.int64) if code is None else self._rows_by_type[code]

    def rows_of_family(self, row: int) -> np.ndarray:
        """Rows that share this row's family, itself included."""
        return self._rows_by_family[int(self.family[row])]

    def rows_titled(self, title: str) -> tuple[int, ...]:
        """Rows whose title is this one whatever its letter case and spacing."""
        return self._rows_by_title.get(fold(title), ())

    @cached_property
    def type_index(self) -> dict[str, int]:
        """Folded type name → code."""
        return {fold(name): code for code, name in enumerate(self.type_names)}

    @cached_property
    def has_own_variants(self) -> np.ndarray:
        """Which rows have variants of their own: a bool array."""
        mask = np.zeros(len(self), bool)
        mask[list(self.variants)] = True
        return mask

    @cached_property
    def _rows_by_type(self) -> list[np.ndarray]:
        return _postings(self.type_codes, len(self.type_names))

    @cached_property
    def _rows_by_family(self) -> dict[int, np.ndarray]:
        order = np.argsort(self.family, kind="stable")
        values, starts = np.unique(self.family[order], return_index=True)
        return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))

    @cached_property
    def _rows_by_title(self) -> dict[str, tuple[int, ...]]:
        rows: dict[str, list[int]] = defaultdict(list)
        for row, title in enumerate(self.titles):
            rows[fold(title)].append(row)
        return {title: tuple(found) for title, found in rows.items()}

    @cached_property
    def _attributes_by_type(self) -> list[tuple[str, ...]]:
        found: list[list[str]] = [[] for _ in self.type_names]
        for key, column in self.columns.items():
            if key in COMMON:
                continue
            present = ~np.isnan(column.values) if column.numeric else column.values != UNKNOWN
            for code in np.unique(self.type_codes[present]):
                found[code].append(key)
        return [tuple(keys) for keys in found]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (first 16 hex digits) of everything an episode can depend on."""
        digest = hashlib.sha256()
        text = {
            "titles": list(self.titles), "descriptions": list(self.descriptions), "features": list(self.features),
            "types": self.type_names, "categories": self.category_names, "rules": self.variant_rules,
            "variants": {row: [asdict(v) for v in variants] for row, variants in self.variants.items()},
            "columns": {key: [asdict(column.info), column.names] for key, column in self.columns.items()},
        }  # fmt: skip
        digest.update(json.dumps(text, sort_keys=True).encode())
        arrays = [self.type_codes, self.category_codes, self.rating_count, self.stock, self.family]
        for array in [*arrays, *(column.values[:] for column in self.columns.values())]:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def _coded(values: list[Any]) -> tuple[list[Any], np.ndarray]:
    names = sorted(set(values))
    index = {name: code for code, name in enumerate(names)}
    return names, np.array([index[value] for value in values], np.int32)


def _postings(codes: np.ndarray, count: int) -> list[np.ndarray]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, count)))


def _column(name: str, cells: Mapping[int, Any], size: int, info: Attribute | None) -> Column:
    """Build a column; its kind is the declared one, else `number` where every value is a number and no bool."""
    if info is None:
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in cells.values())
        info = Attribute(name, "number" if numbers else "category", name.replace("_", " "))
    if info.kind == "number":
        values = np.full(size, np.nan)
        for row, value in cells.items():
            values[row] = float(value) + 0.0  # one zero: −0.0 has other bytes
        return Column(info, values)
    words = {row: plain_word(value) for row, value in cells.items()}
    names, index = spelled(Counter(words.values()))
    codes = np.full(size, UNKNOWN, np.int32)
    for row, word in words.items():
        codes[row] = index[word]
    return Column(info, codes, names)


def spelled(counts: Mapping[str, int]) -> tuple[list[str], dict[str, int]]:
    """The names of a word column, and each word's code.

    Spellings that differ in letter case alone are one word: the most frequent spelling stands for all.

    Args:
        counts: How many products have each word.
    """
    spellings: dict[str, list[str]] = defaultdict(list)
    folded = {word: fold(word) for word in counts}
    for word in counts:
        spellings[folded[word]].append(word)
    names = sorted(max(sorted(found), key=counts.__getitem__) for found in spellings.values())
    index = {fold(name): code for code, name in enumerate(names)}
    return names, {word: index[key] for word, key in folded.items()}


def plain_word(value: Any) -> str:
    """A value as a word column has it: ``yes`` and ``no`` for truth values, no doubled spaces."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(plain_number(value)) if isinstance(value, int | float) else " ".join(str(value).split())
