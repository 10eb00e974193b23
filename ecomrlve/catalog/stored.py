"""A catalog on disk: columns that are mapped into memory, so that opening costs nothing and processes share them.

Dense columns are plain arrays. An attribute belongs to some product types only, so its values are kept type by type
(a segment per attribute and type), which takes the room of what is there instead of rows × attributes. Postings (type,
category, brand, family, title → rows) are kept too: whatever an episode computes begins with one of them.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa

from ecomrlve.catalog.chunks import title_key
from ecomrlve.catalog.columns import COMMON, UNKNOWN, Catalog, Column, fold
from ecomrlve.catalog.product import Attribute, Variant
from ecomrlve.errors import CatalogError

VERSION = 1
META = "catalog.json"
TEXTS = "texts.arrow"
VARIANTS = "variants.arrow"
FACTS = "facts"
DENSE = (
    "price", "rating", "ship_days", "brand", "type", "category", "rating_count", "stock", "family", "own_variants",
)  # fmt: skip
POSTINGS = ("type", "category", "brand", "family")


def is_catalog_folder(path: str | Path) -> bool:
    """Whether a path is a folder that `store.finish` published."""
    return (Path(path).expanduser() / META).is_file()


def array_file(folder: Path, name: str) -> Path:
    """Where an array of a catalog folder is."""
    return folder / f"{name}.npy"


def mapped(file: Path) -> np.ndarray:
    """An array on disk as a plain read-only array; nothing is read before it is used.

    Raises:
        CatalogError: It is not there or no array.
    """
    try:
        # A view without the subclass, whose indexing costs several times as much.
        return np.asarray(np.load(file, mmap_mode="r"))
    except (OSError, ValueError) as error:
        raise CatalogError(f"{file} is missing or damaged ({error}); make the catalog folder again") from error


class Texts(Sequence[str]):
    """One text column of an Arrow file by row number.

    Args:
        batches: The file's batches, in order.
        name: The column.
        place: Row → position in the file; None where they are the same.
    """

    def __init__(self, batches: Sequence[pa.RecordBatch], name: str, place: np.ndarray | None):
        self._columns = [batch.column(name) for batch in batches]
        self._ends = np.cumsum([len(column) for column in self._columns]).tolist()
        self._place = place

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return [self._at(number) for number in range(*row.indices(len(self)))]
        if row < 0:
            row += len(self)
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self._at(row)

    def __iter__(self) -> Iterator[Any]:
        return (self._at(row) for row in range(len(self)))

    def _at(self, row: int) -> Any:
        place = int(row if self._place is None else self._place[row])
        chunk = bisect_right(self._ends, place)
        return self._value(self._columns[chunk][place - (self._ends[chunk - 1] if chunk else 0)])

    def _value(self, cell: Any) -> Any:
        return cell.as_py()


class TextLists(Texts):
    """A column with a list of texts in each row, as tuples."""

    def _value(self, cell: Any) -> Any:
        return tuple(cell.as_py() or ())


class Segments:
    """The values of one attribute over all rows, kept for the types that have it; indexed like an array.

    Args:
        type_codes: Each row's type.
        rank: Each row's place within its type.
        parts: Type code → the values of that type's rows, in the order of its postings.
        unknown: What stands for no value: NaN, or −1.
    """

    def __init__(self, type_codes: np.ndarray, rank: np.ndarray, parts: Mapping[int, np.ndarray], unknown: float):
        self._type_codes = type_codes
        self._rank = rank
        self.parts = parts
        self._unknown = unknown
        self.dtype = np.dtype(np.int32) if unknown == UNKNOWN else np.dtype(np.float64)

    def __len__(self) -> int:
        return len(self._type_codes)

    def __getitem__(self, rows: Any) -> Any:
        if not isinstance(rows, np.ndarray):
            if isinstance(rows, slice):
                return self[np.arange(*rows.indices(len(self)))]
            if not isinstance(rows, int | np.integer):
                return self[np.asarray(rows)]
            part = self.parts.get(int(self._type_codes[rows]))
            return self.dtype.type(self._unknown) if part is None else part[self._rank[rows]]
        codes = self._type_codes[rows]
        if not len(codes):
            return np.empty(0, self.dtype)
        if (codes == codes[0]).all():
            part = self.parts.get(int(codes[0]))
            return np.full(len(rows), self._unknown, self.dtype) if part is None else part[self._rank[rows]]
        result = np.full(len(rows), self._unknown, self.dtype)
        # Rows of one type that follow each other are one run; where types are mixed, bring them together first.
        changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        order = np.argsort(codes, kind="stable") if len(changes) > len(self.parts) else None
        if order is not None:
            codes, rows = codes[order], rows[order]
            changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        ranks = self._rank[rows]
        for start, end in zip([0, *changes.tolist()], [*changes.tolist(), len(rows)], strict=True):
            part = self.parts.get(int(codes[start]))
            if part is not None:
                result[slice(start, end) if order is None else order[start:end]] = part[ranks[start:end]]
        return result


class StoredVariants(Mapping[int, tuple[Variant, ...]]):
    """Row → the variants that the catalog itself lists, read when asked for.

    Args:
        rows: Rows that have any, ascending.
        texts: Their variants as JSON.
        own: For each row of the catalog, whether it has any.
    """

    def __init__(self, rows: np.ndarray, texts: pa.Array, own: np.ndarray):
        self._rows = rows
        self._texts = texts
        self._own = own

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows.tolist())

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int | np.integer) and bool(0 <= row < len(self._own) and self._own[row])

    def __getitem__(self, row: int) -> tuple[Variant, ...]:
        if row not in self:
            raise KeyError(row)
        text = self._texts[int(np.searchsorted(self._rows, row))].as_py()
        return tuple(Variant(**variant) for variant in json.loads(text))


class Postings:
    """Group → rows, as one array of all rows in the order of their groups.

    Args:
        rows: All rows that have a group, group after group.
        groups: The different groups, ascending.
        starts: Where each begins in `rows`, and the end of the last.
    """

    def __init__(self, rows: np.ndarray, groups: np.ndarray, starts: np.ndarray):
        self._rows = rows
        self._groups = groups
        self._starts = starts

    def of(self, group: int) -> np.ndarray:
        """Rows of a group, ascending."""
        place = int(np.searchsorted(self._groups, group))
        if place >= len(self._groups) or self._groups[place] != group:
            return np.empty(0, np.int64)
        return self._rows[self._starts[place] : self._starts[place + 1]]


class StoredCatalog(Catalog):
    """A catalog over a folder. It answers like one in memory; open it with `open_catalog`.

    Args:
        folder: The catalog folder.

    Raises:
        CatalogError: No catalog folder, of another version, or with a file missing.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._meta = meta = read_meta(folder)
        arrays = {name: mapped(array_file(folder, name)) for name in DENSE}
        self._rank = mapped(array_file(folder, "rank"))
        place = mapped(array_file(folder, "place")) if meta["reordered"] else None
        batches = _batches(folder / TEXTS)
        variants = _batches(folder / VARIANTS)[0]
        size = meta["products"]
        if any(len(array) != size for array in arrays.values()):
            raise CatalogError(f"{folder}: columns of different lengths; make the catalog folder again")
        infos = {key: Attribute(**{**info, "synonyms": tuple(info["synonyms"])}) for key, info in meta["columns"]}
        parts = self._parts(folder, list(infos), arrays["type"])
        columns = {}
        for key, info in infos.items():
            values: Any = arrays[key] if key in COMMON else None
            if values is None:
                unknown = np.nan if info.kind == "number" else UNKNOWN
                values = Segments(arrays["type"], self._rank, parts[key], unknown)
            columns[key] = Column(info, values, meta["names"].get(key, []))
        super().__init__(
            name=meta["name"],
            titles=Texts(batches, "title", place),
            descriptions=Texts(batches, "description", place),
            features=TextLists(batches, "features", place),
            columns=columns,
            type_names=meta["types"],
            type_codes=arrays["type"],
            category_names=[tuple(path) for path in meta["categories"]],
            category_codes=arrays["category"],
            rating_count=arrays["rating_count"],
            stock=arrays["stock"],
            family=arrays["family"],
            variants=StoredVariants(variants.column("row").to_numpy(), variants.column("text"), arrays["own_variants"]),
            variant_rules={key: (name, tuple(values)) for key, (name, values) in meta["variant_rules"].items()},
            synthesized=meta["synthesized"],
            card=meta["card"],
        )
        self._own_variants = arrays["own_variants"]
        self._postings = {name: _read_postings(folder, name) for name in POSTINGS}
        self._title_keys = mapped(array_file(folder, "title_keys"))
        self._title_rows = mapped(array_file(folder, "title_rows"))

    def _parts(self, folder: Path, keys: list[str], type_codes: np.ndarray) -> dict[str, dict[int, np.ndarray]]:
        """Attribute → type → values."""
        numbers, words = mapped(array_file(folder, "numbers")), mapped(array_file(folder, "words"))
        found: dict[str, dict[int, np.ndarray]] = {key: {} for key in keys}
        for key, code, word, start, end in mapped(array_file(folder, "segments")).tolist():
            found[keys[key]][code] = (words if word else numbers)[start:end]
        return found

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        """The same as in memory where the catalog is small enough to compute that; else by the files' checksums."""
        return self._meta["fingerprint"]

    @cached_property
    def has_own_variants(self) -> np.ndarray:
        """Which rows have variants of their own: a bool array."""
        return self._own_variants

    def rows_of_type(self, type_name: str) -> np.ndarray:
        """Rows of a product type, ascending; empty for an unknown type."""
        code = self.type_index.get(fold(type_name))
        return np.empty(0, np.int64) if code is None else self._postings["type"].of(code)

    def rows_of_category(self, code: int) -> np.ndarray:
        """Rows of a category, ascending."""
        return self._postings["category"].of(code)

    def rows_of_brand(self, code: int) -> np.ndarray:
        """Rows of a brand, ascending."""
        return self._postings["brand"].of(code)

    def rows_where(self, attribute: str, test: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """Rows whose value of an attribute passes a test, ascending: read type by type, without picking rows."""
        values = self.columns[attribute].values
        if not isinstance(values, Segments):
            return None
        found = [self._postings["type"].of(code)[test(values.parts[code])] for code in sorted(values.parts)]
        rows = np.concatenate(found) if found else np.empty(0, np.int64)
        return rows if self._meta["reordered"] else np.sort(rows)  # types that lie one after the other are in order

    def rows_of_family(self, row: int) -> np.ndarray:
        """Rows that share this row's family, itself included."""
        return self._postings["family"].of(int(self.family[row]))

    def rows_titled(self, title: str) -> tuple[int, ...]:
        """Rows whose title is this one whatever its letter case and spacing."""
        key = np.uint64(title_key(title))
        start, end = (int(np.searchsorted(self._title_keys, key, side)) for side in ("left", "right"))
        wanted = fold(title)
        return tuple(row for row in self._title_rows[start:end].tolist() if fold(self.titles[row]) == wanted)

    def remembered(self, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """A fact of the catalog alone, kept beside it so that one process computes it for all."""
        if name not in self.memo:
            file = array_file(self.folder / FACTS, name)
            if not file.exists():
                _keep(file, compute())
            self.memo[name] = mapped(file) if file.exists() else compute()
        return self.memo[name]

    @cached_property
    def _attributes_by_type(self) -> list[tuple[str, ...]]:
        found: list[list[str]] = [[] for _ in self.type_names]
        for key, column in self.columns.items():
            if isinstance(column.values, Segments):
                for code in column.values.parts:
                    found[code].append(key)
        return [tuple(keys) for keys in found]

    def check(self) -> list[str]:
        """Names of the files that are not what was written; empty where all is well."""
        wrong = []
        for name, digest in self._meta["files"].items():
            try:
                with (self.folder / name).open("rb") as file:
                    same = hashlib.file_digest(file, "sha256").hexdigest() == digest
            except OSError:
                same = False
            if not same:
                wrong.append(name)
        return wrong


def open_catalog(folder: str | Path) -> StoredCatalog:
    """Open a catalog folder; two million products take a fraction of a second.

    Raises:
        CatalogError: No catalog folder, of another version, or damaged.
    """
    return StoredCatalog(Path(folder).expanduser())


def read_meta(folder: Path) -> dict[str, Any]:
    """What a catalog folder says about itself.

    Raises:
        CatalogError: No catalog folder, or one of another version.
    """
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        version = meta["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CatalogError(f"{folder} is no catalog folder: {META} is missing or damaged") from error
    if version != VERSION:
        raise CatalogError(f"{folder} has version {version!r}, this program reads {VERSION}; make the folder again")
    return meta


def _batches(file: Path) -> list[pa.RecordBatch]:
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(file)))
        return [reader.get_batch(number) for number in range(reader.num_record_batches)]
    except (OSError, pa.ArrowException) as error:
        raise CatalogError(f"{file} is missing or damaged ({error}); make the catalog folder again") from error


def _read_postings(folder: Path, name: str) -> Postings:
    return Postings(*(mapped(array_file(folder, f"{name}_{part}")) for part in ("rows", "groups", "starts")))


def _keep(file: Path, array: np.ndarray) -> None:
    """Write a fact beside the catalog; a folder that cannot be written to is no reason to stop."""
    from ecomrlve.catalog.index import save

    try:
        save(array, file)
    except OSError:
        return
