"""Vectors of a catalog on disk: encoded shard by shard, so that a killed run loses at most one shard.

Shards collect in a working folder. Each is written under another name and then renamed, so that it is there whole or
not at all, and which texts are encoded together never depends on where a run began. When all are there they become
one array, ``vectors.npy``, which is memory-mapped: processes on one machine share it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ecomrlve.catalog.encoder import Encoder, identity
from ecomrlve.errors import CatalogError, short

VECTORS = "vectors.npy"
FACTS = "vectors.json"  # what the vectors are of, and their checksum
WORKING = "vectors.part"
SHARD_ROWS = 65_536
BATCH_ROWS = 8_192


def build_vectors(
    texts: Callable[[int, int], Sequence[str]],
    count: int,
    encoder: Encoder,
    folder: Path,
    *,
    fingerprint: str = "",
    shard_rows: int = SHARD_ROWS,
    batch_rows: int = BATCH_ROWS,
    worker: tuple[int, int] = (0, 1),
    progress: bool = False,
    stop_after: int | None = None,
) -> Path:
    """Encode all rows of a catalog, going on where an earlier run was stopped or killed.

    Several processes, also of several machines that see one folder, share the work if each gets another `worker`.
    None of them puts the shards together: that is done by a last call for all rows, which encodes what is missing.

    Args:
        texts: Gives the texts of the rows from a first one up to, not including, a second one.
        count: Number of rows.
        encoder: What turns texts into vectors.
        folder: Where ``vectors.npy`` is published: float16, shape (count, dimensions), row after row.
        fingerprint: Of the catalog, so that vectors of another one are not mistaken for this one's.
        shard_rows: Rows of a shard.
        batch_rows: How many texts the encoder gets at once; batches never reach over the end of a shard.
        worker: (k, n): encode only the shards whose number leaves k when divided by n.
        progress: Show a bar with the rate and the time left.
        stop_after: Stop when so many shards have been encoded, as if interrupted.

    Returns:
        The published file; the working folder, if there are no vectors for all rows yet or `worker` is one of many.

    Raises:
        CatalogError: The folder holds unfinished vectors of another catalog or encoder, or an argument is no use.
    """
    part, parts = worker
    if not 0 <= part < parts:
        raise CatalogError(f"worker {part} of {parts} is not possible: the first is 0, the last {max(parts - 1, 0)}")
    if min(count, shard_rows, batch_rows) < 1:
        raise CatalogError("a catalog without products has no vectors; shards and batches need at least one row each")
    working = folder / WORKING
    wanted = {"catalog": fingerprint, "encoder": identity(encoder), "count": count}
    if _published(folder, wanted):
        shutil.rmtree(working, ignore_errors=True)  # left by a run that was killed after publishing
        return folder / VECTORS
    dimensions = int(encoder.query("how many dimensions").shape[0])
    layout = {"dimensions": dimensions, "shard_rows": shard_rows, "batch_rows": batch_rows}
    _claim(working, wanted | layout)
    shards = [_Shard(working, number, layout, count) for number in range(part, -(-count // shard_rows), parts)]
    missing = [shard for shard in shards if not shard.whole()]
    _encode(texts, encoder, missing[:stop_after], batch_rows, _bar(shards, missing) if progress else None)
    if parts > 1 or len(missing) > len(missing[:stop_after]):
        return working
    return _publish(folder, shards, wanted | {"dimensions": dimensions})


def open_vectors(folder: Path) -> np.ndarray:
    """The vectors of a folder, memory-mapped: float16, shape (rows, dimensions).

    Raises:
        CatalogError: There are none, or the file does not fit what is written about it.
    """
    facts = vector_facts(folder)
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise CatalogError(f"{folder / VECTORS} cannot be read ({error}); build the vectors again") from error
    if vectors.shape != (facts["count"], facts["dimensions"]) or vectors.dtype != np.float16:
        raise CatalogError(f"{folder / VECTORS} is not what {FACTS} says; build the vectors again")
    return vectors


def vector_facts(folder: Path) -> dict[str, Any]:
    """What the vectors of a folder are of: catalog, encoder, count, dimensions, sha256.

    Raises:
        CatalogError: There are no vectors.
    """
    facts = read_json(folder / FACTS)
    if facts is None or not (folder / VECTORS).is_file():
        raise CatalogError(f"{folder} has no vectors yet; build them first")
    return facts


def _published(folder: Path, wanted: Mapping[str, Any]) -> bool:
    facts = read_json(folder / FACTS)
    if facts is None or not (folder / VECTORS).is_file():
        return False
    return all(facts.get(key) == value for key, value in wanted.items())


def _claim(working: Path, wanted: dict[str, Any]) -> None:
    """Begin a working folder, or go on with one of the same vectors."""
    working.mkdir(parents=True, exist_ok=True)
    file = working / "meta.json"
    found = read_json(file)
    if found is None:
        for shard in working.glob("shard-*"):  # of nobody knows what
            shard.unlink()
        write_json(file, wanted)
    elif found != wanted:
        differ = ", ".join(
            f"{key} {short(found.get(key))} instead of {short(value)}"
            for key, value in wanted.items()
            if found.get(key) != value
        )
        raise CatalogError(
            f"{working} holds unfinished vectors of something else ({differ}); remove that folder or finish those first"
        )


class _Shard:
    """A run of rows, and the two files in which their vectors are kept."""

    def __init__(self, working: Path, number: int, layout: Mapping[str, int], count: int):
        self.start = number * layout["shard_rows"]
        self.stop = min(self.start + layout["shard_rows"], count)
        self.shape = (self.stop - self.start, layout["dimensions"])
        self.file = working / f"shard-{number:05d}.npy"
        self.checksum = self.file.with_suffix(".json")

    def whole(self) -> bool:
        """Whether the vectors are there, to the last bit."""
        facts = read_json(self.checksum)
        if facts is None or not self.file.is_file():
            return False
        try:
            vectors = np.load(self.file, mmap_mode="r")
        except (OSError, ValueError):
            return False
        return vectors.shape == self.shape and _digest(vectors) == facts["sha256"]

    def save(self, vectors: np.ndarray) -> None:
        """Write the vectors. The array's own file comes last: once it is there, the shard is."""
        for stray in self.file.parent.glob(f"{self.file.stem}.*.writing"):
            stray.unlink()
        write_json(self.checksum, {"sha256": _digest(vectors)})
        writing = writing_name(self.file)
        with writing.open("wb") as file:
            np.save(file, vectors)
            settle(file)
        os.replace(writing, self.file)


def _digest(vectors: np.ndarray) -> str:
    return hashlib.sha256(vectors.reshape(-1).view(np.uint8).data).hexdigest()


def _bar(shards: Sequence[_Shard], missing: Sequence[_Shard]) -> Any:
    """A progress bar over the worker's rows. What earlier runs did counts as done, and not for the rate."""
    from tqdm import tqdm

    total, left = (sum(shard.shape[0] for shard in some) for some in (shards, missing))
    return tqdm(total=total, initial=total - left, unit=" rows", desc="vectors", smoothing=0.05)


def _encode(
    texts: Callable[[int, int], Sequence[str]],
    encoder: Encoder,
    shards: Sequence[_Shard],
    batch_rows: int,
    bar: Any,
) -> None:
    try:
        for shard in shards:
            vectors = np.empty(shard.shape, dtype=np.float16)
            for start in range(shard.start, shard.stop, batch_rows):
                stop = min(start + batch_rows, shard.stop)
                vectors[start - shard.start : stop - shard.start] = encoder.encode(texts(start, stop))
                if bar is not None:
                    bar.update(stop - start)
            shard.save(vectors)
    finally:
        if bar is not None:
            bar.close()


def _publish(folder: Path, shards: Sequence[_Shard], facts: dict[str, Any]) -> Path:
    """Make one array of all shards, streaming, and put it in the place of what was there before."""
    path = folder / VECTORS
    working = shards[0].file.parent
    writing = working / VECTORS
    shape = (facts["count"], facts["dimensions"])
    with writing.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": np.lib.format.dtype_to_descr(np.dtype(np.float16)), "fortran_order": False, "shape": shape}
        )
        for shard in shards:
            file.write(np.load(shard.file, mmap_mode="r").data)
        settle(file)
    checksum = file_checksum(writing)
    # Killed between these steps, a folder has no facts, hence no vectors, and the shards are still there.
    write_json(working / FACTS, facts | {"sha256": checksum})
    (folder / FACTS).unlink(missing_ok=True)
    os.replace(writing, path)
    os.replace(working / FACTS, folder / FACTS)
    shutil.rmtree(working)
    return path


def file_checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def writing_name(path: Path) -> Path:
    """The name under which this process writes a file before it is renamed."""
    return path.with_name(f"{path.stem}.{os.getpid()}.writing")


def settle(file: IO[bytes]) -> None:
    """Have a file on the disk before it gets its name, so that a loss of power leaves no empty one."""
    file.flush()
    os.fsync(file.fileno())


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small JSON file so that a reader sees all of it or nothing."""
    writing = writing_name(path)
    with writing.open("wb") as file:
        file.write(json.dumps(value, indent=1, ensure_ascii=False).encode())
        settle(file)
    os.replace(writing, path)


def read_json(path: Path) -> dict[str, Any] | None:
    """What a small JSON file says, None if it is not there or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
