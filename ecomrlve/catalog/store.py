"""Merge the chunks of a source into a catalog folder, which is published by one rename.

Two passes: the first reads the chunks' columns into arrays (texts stay where they are), the second copies the texts.
Everything in between is sorting whole arrays, so that two million products take a minute and a few gigabytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ecomrlve.catalog.chunks import chunk_numbers, read_chunk, remove_part, write_chunk
from ecomrlve.catalog.columns import COMMON, UNKNOWN, Catalog, plain_word, spelled
from ecomrlve.catalog.product import Attribute
from ecomrlve.catalog.stored import (
    META,
    TEXTS,
    VARIANTS,
    VERSION,
    StoredCatalog,
    array_file,
    is_catalog_folder,
    open_catalog,
    read_meta,
)
from ecomrlve.errors import CatalogError

__all__ = ["finish", "is_catalog_folder", "open_catalog", "save_catalog"]

EXACT_UP_TO = 100_000  # a catalog of at most so many products has the fingerprint that it has in memory
_NUMBERS = ("price", "rating", "ship_days")
_COUNTS = {"rating_count": -1, "stock": 0}


def finish(
    part: Path,
    folder: Path,
    *,
    name: str,
    attributes: Mapping[str, Attribute],
    variant_rules: Mapping[str, tuple[str, tuple[str, ...]]] | None = None,
    synthesized: Iterable[str] = (),
    card: Mapping[str, Any] | None = None,
    by_type: bool = True,
    least_share: float = 0.0,
    only: bool = False,
) -> StoredCatalog:
    """Make a catalog folder from chunks.

    Args:
        part: The folder with the chunks; removed when all is done.
        folder: The catalog folder to make.
        name: The catalog's name.
        attributes: What is known about attributes; an unlisted one gets its kind from its values.
        variant_rules: As for `Catalog.from_records`.
        synthesized: Fields that the source did not have.
        card: Anything worth telling about the source.
        by_type: Lay rows out type after type, so that what belongs together lies together on disk.
        least_share: An attribute that a smaller share of a type's products has is left out for that type.
        only: Leave out attributes that are not listed.

    Returns:
        The catalog, opened. Its card also counts values and attributes that were left out here.

    Raises:
        CatalogError: No product at all, or the folder is there already.
    """
    if folder.exists():
        raise CatalogError(f"{folder} is there already; remove it or choose another name")
    numbers = chunk_numbers(part)
    merged = _Merged(part, numbers)
    if not merged.size:
        raise CatalogError(f"catalog {name!r} has no products")
    building = folder.with_name(folder.name + ".building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    meta: dict[str, Any] = {
        "version": VERSION, "name": name, "products": merged.size, "synthesized": sorted(synthesized),
        "variant_rules": {key: [attribute, list(values)] for key, (attribute, values) in (variant_rules or {}).items()},
    }  # fmt: skip
    order = merged.write_dense(building, meta, by_type)
    kept = set(attributes) if only else None
    left_out = merged.write_attributes(building, meta, {**COMMON, **attributes}, least_share, kept)
    merged.write_texts(building, order)
    meta["card"] = dict(card or {}) | ({"left_out": left_out} if left_out else {})
    _seal(building, meta)
    os.rename(building, folder)
    remove_part(part)
    return open_catalog(folder)


def save_catalog(catalog: Catalog, folder: Path, *, chunk_rows: int = 20_000) -> StoredCatalog:
    """Write a catalog that is in memory to a folder; it stays the same catalog, row for row.

    Raises:
        CatalogError: The folder is there already.
    """
    if folder.exists():
        raise CatalogError(f"{folder} is there already; remove it or choose another name")
    part = folder.with_name(folder.name + ".saving")
    remove_part(part)
    for number, start in enumerate(range(0, len(catalog), chunk_rows)):
        rows = range(start, min(start + chunk_rows, len(catalog)))
        write_chunk(part, number, [_record(catalog, row) for row in rows])
    return finish(
        part,
        folder,
        name=catalog.name,
        attributes={key: column.info for key, column in catalog.columns.items()},
        variant_rules=catalog.variant_rules,
        synthesized=catalog.synthesized,
        card=catalog.card,
        by_type=False,
    )


def _record(catalog: Catalog, row: int) -> dict[str, Any]:
    """A product as a record, its variants left as they are."""
    product = catalog.product(row)
    record = {field.name: getattr(product, field.name) for field in fields(product) if field.name != "row"}
    return record | {"family": int(catalog.family[row])}


class _Codes:
    """Numbers for values, in the order they come."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._codes: dict[Any, int] = {}

    def map(self, column: pa.DictionaryArray) -> np.ndarray:
        """The codes of a dictionary column; −1 where it has none."""
        codes = [self._codes.setdefault(value, len(self._codes)) for value in column.dictionary.to_pylist()]
        self.values = list(self._codes)
        table = np.array([*codes, UNKNOWN], np.int32)
        indices = column.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
        return table[indices]


class _Merged:
    """All chunks as arrays in the order they came.

    Args:
        part: The folder with the chunks.
        numbers: Which chunks.
    """

    def __init__(self, part: Path, numbers: list[int]):
        self._part, self._numbers = part, numbers
        codes = {name: _Codes() for name in ("type", "category", "brand", "attribute", "word")}
        found: dict[str, list[np.ndarray]] = {}
        self._variants: list[tuple[int, pa.Array]] = []
        self.size = 0
        for number in numbers:
            batch = read_chunk(part, number)
            for name in ("type", "category", "brand"):
                found.setdefault(name, []).append(codes[name].map(batch.column(name)))
            for name in _NUMBERS:
                found.setdefault(name, []).append(batch.column(name).fill_null(np.nan).to_numpy())
            for name, unknown in _COUNTS.items():
                found.setdefault(name, []).append(batch.column(name).fill_null(unknown).to_numpy())
            family = batch.column("family")
            found.setdefault("family", []).append(family.fill_null(0).to_numpy())
            found.setdefault("lone", []).append(family.is_null().to_numpy(zero_copy_only=False))
            found.setdefault("title_key", []).append(batch.column("title_key").to_numpy())
            offsets = batch.column("attribute").offsets.to_numpy()
            rows = np.repeat(np.arange(self.size, self.size + batch.num_rows, dtype=np.int32), np.diff(offsets))
            found.setdefault("of", []).append(rows)
            found.setdefault("attribute", []).append(codes["attribute"].map(batch.column("attribute").values))
            found.setdefault("number", []).append(batch.column("number").values.fill_null(np.nan).to_numpy())
            found.setdefault("word", []).append(codes["word"].map(batch.column("word").values))
            self._variants.append((self.size, batch.column("variants")))
            self.size += batch.num_rows
        self._arrays = {name: np.concatenate(parts) for name, parts in found.items()}
        self._values = {name: table.values for name, table in codes.items()}

    # -- dense columns and postings

    def write_dense(self, building: Path, meta: dict[str, Any], by_type: bool) -> np.ndarray | None:
        """Write what every product has; returns the order of the rows, or None where it is that of the chunks."""
        arrays, size = self._arrays, self.size
        meta["types"], arrays["type"] = _sorted_codes(self._values["type"], arrays["type"])
        paths = [tuple(json.loads(path)) for path in self._values["category"]]
        meta["categories"], arrays["category"] = _sorted_codes(paths, arrays["category"])
        counts = np.bincount(arrays["brand"] + 1, minlength=len(self._values["brand"]) + 1)[1:]
        names, index = spelled(dict(zip(self._values["brand"], counts.tolist(), strict=True)))
        meta["names"] = {"brand": names}
        table = [*(index[word] for word in self._values["brand"]), UNKNOWN]
        arrays["brand"] = np.array(table, np.int32)[arrays["brand"]]
        lone = arrays.pop("lone")
        if lone.any():  # a family of its own
            first = 1 + int(arrays["family"][~lone].max(initial=-1))
            arrays["family"] = np.where(lone, first + np.arange(size), arrays["family"])
        order = np.argsort(arrays["type"], kind="stable") if by_type else None
        meta["reordered"] = order is not None
        for name in (*_NUMBERS, *_COUNTS, "type", "category", "brand", "family", "title_key"):
            arrays[name] = arrays[name] if order is None else arrays[name][order]
        if order is not None:
            place = np.empty(size, np.int32)
            place[order] = np.arange(size, dtype=np.int32)
            arrays["of"] = place[arrays["of"]]
            _write(building, "place", order.astype(np.int32))
        for name in (*_NUMBERS, *_COUNTS, "type", "category", "brand", "family"):
            _write(building, name, arrays[name])
        for name in ("type", "category", "brand", "family"):
            _write_postings(building, name, arrays[name])
        titles = np.argsort(arrays["title_key"], kind="stable")
        _write(building, "title_keys", arrays["title_key"][titles])
        _write(building, "title_rows", titles)
        self._write_variants(building, order)
        return order

    def _write_variants(self, building: Path, order: np.ndarray | None) -> None:
        rows, texts = [], []
        for start, column in self._variants:
            some = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            rows.append(some + start)
            texts.append(column.take(pa.array(some)))
        where, every = np.concatenate(rows), pa.chunked_array(texts, pa.string())
        if order is not None:
            place = np.empty(self.size, np.int64)
            place[order] = np.arange(self.size)
            where = place[where]
            sorting = np.argsort(where, kind="stable")
            where, every = where[sorting], every.take(pa.array(sorting))
        own = np.zeros(self.size, bool)
        own[where] = True
        _write(building, "own_variants", own)
        column = pa.concat_arrays(every.chunks) if every.num_chunks else pa.array([], pa.string())
        batch = pa.RecordBatch.from_pydict({"row": pa.array(where, pa.int64()), "text": column.cast(pa.large_string())})
        with pa.OSFile(str(building / VARIANTS), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)

    # -- attributes

    def write_attributes(
        self,
        building: Path,
        meta: dict[str, Any],
        known: Mapping[str, Attribute],
        least_share: float,
        only: set[str] | None,
    ) -> dict[str, int]:
        """Write the segments; returns what was left out, by reason."""
        arrays, keys = self._arrays, self._values["attribute"]
        sizes = np.bincount(arrays["type"], minlength=len(meta["types"]))
        rank = np.empty(self.size, np.int32)
        of_type = np.argsort(arrays["type"], kind="stable")
        rank[of_type] = np.arange(self.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        _write(building, "rank", rank)
        by_key = np.argsort(arrays["attribute"], kind="stable")
        bounds = np.searchsorted(arrays["attribute"][by_key], np.arange(len(keys) + 1))
        infos, segments, left_out = dict(COMMON), [], Counter[str]()
        ends = {False: 0, True: 0}
        with (building / "numbers.raw").open("wb") as numbers, (building / "words.raw").open("wb") as words:
            files = {False: numbers, True: words}
            wanted = sorted(key for key in keys if only is None or key in only)
            for key in wanted:
                where = by_key[bounds[keys.index(key)] : bounds[keys.index(key) + 1]]
                info, where, values, names = self._column(key, where, known.get(key), left_out)
                if not len(where):
                    continue
                rows = arrays["of"][where]
                types = arrays["type"][rows]
                dense = info.kind == "number"
                place = len(infos)
                for code in np.unique(types).tolist():
                    here = types == code
                    if here.sum() < least_share * sizes[code]:
                        left_out["values of attributes that too few products of a type have"] += int(here.sum())
                        continue
                    segment = np.full(sizes[code], np.nan if dense else UNKNOWN, np.float64 if dense else np.int32)
                    segment[rank[rows[here]]] = values[here]
                    segment.tofile(files[not dense])
                    segments.append((place, code, int(not dense), ends[not dense], ends[not dense] + len(segment)))
                    ends[not dense] += len(segment)
                if segments and segments[-1][0] == place:
                    infos[key] = info
                    if names:
                        meta["names"][key] = names
        unlisted = sum(int(bounds[i + 1] - bounds[i]) for i, key in enumerate(keys) if key not in wanted)
        if unlisted:
            left_out["values of attributes that are not kept"] += unlisted
        for name, kind in (("numbers", np.float64), ("words", np.int32)):
            raw = building / f"{name}.raw"
            _write(building, name, np.fromfile(raw, kind))
            raw.unlink()
        _write(building, "segments", np.array(segments, np.int64).reshape(-1, 5))
        meta["columns"] = [[key, asdict(info)] for key, info in infos.items()]
        return dict(sorted(left_out.items()))

    def _column(
        self, key: str, where: np.ndarray, info: Attribute | None, left_out: Counter[str]
    ) -> tuple[Attribute, np.ndarray, np.ndarray, list[str]]:
        """The kind of an attribute, where it has a value of that kind, the values, and the names of words."""
        numbers, words = self._arrays["number"][where], self._arrays["word"][where]
        texts = words >= 0
        if info is None:
            info = Attribute(key, "category" if texts.any() else "number", key.replace("_", " "))
        if info.kind == "number":
            lost = int(texts.sum())
            if lost:
                left_out[f"values of {key} that are not numbers"] += lost
            return info, where[~texts], numbers[~texts], []
        table = list(self._values["word"])
        if not texts.all():  # numbers as people write them
            codes: dict[float, int] = {}
            for number in np.unique(numbers[~texts]).tolist():
                codes[number] = len(table)
                table.append(plain_word(number))
            words = words.copy()
            words[~texts] = [codes[number] for number in numbers[~texts].tolist()]
        used, inverse, counts = np.unique(words, return_inverse=True, return_counts=True)
        tally = Counter[str]()
        for code, count in zip(used.tolist(), counts.tolist(), strict=True):
            tally[table[code]] += count
        names, index = spelled(tally)
        return info, where, np.array([index[table[code]] for code in used.tolist()], np.int32)[inverse], names

    # -- texts

    def write_texts(self, building: Path, order: np.ndarray | None) -> None:
        """Copy the texts, batch by batch in the order of the chunks."""
        names = ["title", "description", "features"]
        schema = read_chunk(self._part, self._numbers[0]).select(names).schema.remove_metadata()
        with pa.OSFile(str(building / TEXTS), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for number in self._numbers:
                batch = read_chunk(self._part, number).select(names)
                if batch.num_rows:
                    writer.write_batch(batch.replace_schema_metadata(None))


def _sorted_codes(values: list[Any], codes: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Values in alphabetical order, without repetition, and the codes for it."""
    names = sorted(set(values))
    index = {name: code for code, name in enumerate(names)}
    return names, np.array([index[value] for value in values], np.int32)[codes]


def _write(building: Path, name: str, array: np.ndarray) -> None:
    np.save(array_file(building, name), array)


def _write_postings(building: Path, name: str, codes: np.ndarray) -> None:
    rows = np.argsort(codes, kind="stable")
    ordered = codes[rows]
    first = int(np.searchsorted(ordered, 0))  # unknown ones belong to no group
    groups, starts = np.unique(ordered[first:], return_index=True)
    _write(building, f"{name}_rows", rows[first:])
    _write(building, f"{name}_groups", groups)
    _write(building, f"{name}_starts", np.append(starts, len(rows) - first))


def _seal(building: Path, meta: dict[str, Any]) -> None:
    """Write what the folder says about itself, last: the checksums of its files and the fingerprint."""
    meta["files"] = {}
    for file in sorted(building.iterdir()):
        with file.open("rb") as stream:
            meta["files"][file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
            os.fsync(stream.fileno())
    told = [meta[key] for key in ("types", "categories", "columns", "names", "variant_rules", "files")]
    meta["fingerprint"] = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
    (building / META).write_text(json.dumps(meta, ensure_ascii=False), encoding="utf-8")
    if meta["products"] <= EXACT_UP_TO:
        meta["fingerprint"] = Catalog.fingerprint.func(open_catalog(building))  # type: ignore[attr-defined]
        (building / META).write_text(json.dumps(meta, ensure_ascii=False), encoding="utf-8")
    read_meta(building)
