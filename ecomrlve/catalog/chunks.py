"""Chunks: how every source hands its products over, so that a killed run loses at most one of them.

A chunk is an Arrow file with a few thousand products, written under another name and then renamed. What a source needs
to go on (its position, its counters) travels inside the chunk, so that products and position never disagree. Chunks
are independent of each other: several processes can write different ones at the same time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ecomrlve.catalog.columns import COMMON, MOST_VARIANTS, fold, plain_word
from ecomrlve.errors import CatalogError

PART_SUFFIX = ".part"
SOURCE = "source.json"  # what the chunks of a part folder are of
_NAME = re.compile(r"chunk-(\d{6})\.arrow")
_KEY = b"ecomrlve.state"


def part_folder(folder: Path) -> Path:
    """Where the chunks of a catalog folder are collected until it is finished."""
    return folder.with_name(folder.name + PART_SUFFIX)


def claim_part(part: Path, source: Mapping[str, Any]) -> None:
    """Make a part folder, or go on with one that holds chunks of the same source.

    Args:
        part: The folder.
        source: What the chunks depend on, plain values: name, size, seed, revision …

    Raises:
        CatalogError: It holds chunks of something else.
    """
    part.mkdir(parents=True, exist_ok=True)
    wanted = json.loads(json.dumps(source, default=str))
    file = part / SOURCE
    if file.exists():
        found = json.loads(file.read_text(encoding="utf-8"))
        if found != wanted:
            raise CatalogError(
                f"{part} holds an unfinished catalog of something else ({_told(found)}, not {_told(wanted)}); "
                "remove that folder or choose another name"
            )
        return
    if chunk_numbers(part):
        raise CatalogError(f"{part} holds chunks but not what they are of; remove that folder or choose another name")
    for stray in part.glob("*.writing"):
        stray.unlink()
    write_text(file, json.dumps(wanted))


def _told(source: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in source.items())


def write_text(file: Path, text: str) -> None:
    """Write a text file so that a reader sees all of it or nothing."""
    writing = file.with_name(file.name + ".writing")
    writing.write_text(text, encoding="utf-8")
    os.replace(writing, file)


def chunk_numbers(part: Path) -> list[int]:
    """Numbers of the whole chunks in a part folder, ascending."""
    if not part.is_dir():
        return []
    return sorted(int(match[1]) for file in part.iterdir() if (match := _NAME.fullmatch(file.name)))


def chunk_file(part: Path, number: int) -> Path:
    """Where a chunk is."""
    return part / f"chunk-{number:06d}.arrow"


def write_chunk(
    part: Path, number: int, records: Sequence[Mapping[str, Any]], state: Mapping[str, Any] | None = None
) -> None:
    """Write one chunk, durably and whole or not at all.

    Args:
        part: The part folder.
        number: Which chunk; one that is there already is replaced.
        records: Products as `Catalog.from_records` takes them; may be empty.
        state: A JSON object that the source wants back when it goes on.

    Raises:
        CatalogError: A product has more variants than ids are made for, or a value that no column can hold.
    """
    part.mkdir(parents=True, exist_ok=True)
    batch = _batch(records)
    batch = batch.replace_schema_metadata({_KEY: json.dumps(dict(state or {})).encode()})
    file = chunk_file(part, number)
    writing = file.with_name(f"{file.name}.{os.getpid()}.writing")
    with pa.OSFile(str(writing), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    os.replace(writing, file)


def read_chunk(part: Path, number: int) -> pa.RecordBatch:
    """A chunk, memory-mapped.

    Raises:
        CatalogError: The file is damaged.
    """
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(chunk_file(part, number))))
        return reader.get_batch(0)
    except (OSError, pa.ArrowException) as error:
        raise CatalogError(f"{chunk_file(part, number)} is damaged ({error}); remove it and start again") from error


def chunk_state(part: Path, number: int) -> dict[str, Any]:
    """What the source wrote with a chunk."""
    reader = pa.ipc.open_file(pa.memory_map(str(chunk_file(part, number))))
    return json.loads((reader.schema.metadata or {}).get(_KEY, b"{}"))


def remove_part(part: Path) -> None:
    """Remove a part folder and everything in it."""
    shutil.rmtree(part, ignore_errors=True)


def title_key(title: str) -> int:
    """64 bits of a title, as titles are compared."""
    return int.from_bytes(hashlib.blake2b(fold(title).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _batch(records: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    crowded = next((record for record in records if len(record.get("variants") or ()) > MOST_VARIANTS), None)
    if crowded is not None:
        raise CatalogError(f"{crowded['title']!r} has more than {MOST_VARIANTS} variants")
    titles = [str(record["title"]) for record in records]
    keys, numbers, words, lengths = _attributes(records)
    starts = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    lists = pa.ListArray.from_arrays
    try:
        columns: dict[str, pa.Array] = {
            "title": pa.array(titles, pa.string()),
            "title_key": pa.array([title_key(title) for title in titles], pa.uint64()),
            "description": pa.array([str(record.get("description") or "") for record in records], pa.string()),
            "features": pa.array([list(record.get("features") or ()) for record in records], pa.list_(pa.string())),
            "type": pa.array([str(record["type"]) for record in records]).dictionary_encode(),
            # A path is one text, so that each is read once however many products share it.
            "category": pa.array([_path(record) for record in records], pa.string()).dictionary_encode(),
            "brand": pa.array([_brand(record) for record in records], pa.string()).dictionary_encode(),
            **{
                name: pa.array([record.get(name) for record in records], pa.float64())
                for name in ("price", "rating", "ship_days")
            },
            "rating_count": pa.array([record.get("rating_count") for record in records], pa.int32()),
            "stock": pa.array([record.get("stock") for record in records], pa.int32()),
            "family": pa.array([record.get("family") for record in records], pa.int64()),
            "variants": pa.array([_variants(record) for record in records], pa.string()),
            "attribute": lists(starts, pa.array(keys, pa.string()).dictionary_encode()),
            "number": lists(starts, pa.array(numbers, pa.float64())),
            "word": lists(starts, pa.array(words, pa.string()).dictionary_encode()),
        }
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        raise CatalogError(f"a product has a value that no column can hold: {error}") from error
    return pa.RecordBatch.from_pydict(columns)


def _attributes(
    records: Sequence[Mapping[str, Any]],
) -> tuple[list[str], list[float | None], list[str | None], list[int]]:
    """All attributes after each other: keys, numbers, words (one of the two is None), and how many each record has."""
    keys: list[str] = []
    numbers: list[float | None] = []
    words: list[str | None] = []
    lengths: list[int] = []
    for record in records:
        before = len(keys)
        for key, value in (record.get("attributes") or {}).items():
            if value is None or key in COMMON:
                continue
            keys.append(key)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            numbers.append(float(value) if number else None)
            words.append(None if number else plain_word(value))
        lengths.append(len(keys) - before)
    return keys, numbers, words, lengths


def _path(record: Mapping[str, Any]) -> str:
    return json.dumps(list(record.get("category") or (str(record["type"]),)), ensure_ascii=False)


def _brand(record: Mapping[str, Any]) -> str | None:
    brand = record.get("brand")
    return None if brand is None else plain_word(brand)


def _variants(record: Mapping[str, Any]) -> str | None:
    found = record.get("variants")
    return json.dumps([asdict(variant) for variant in found], ensure_ascii=False) if found else None
