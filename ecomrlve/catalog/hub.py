"""Load the two million products of a dataset on the Hub, or a Parquet file of the same columns, into a catalog folder.

The columns are those of the item metadata of "Amazon Reviews 2023". Rows come as a stream and are never all in memory:
every batch becomes a chunk (`chunks`) that also holds the position in the stream, so that a run that was killed goes
on where it was. When the last row is read, attributes are settled (`hub_attributes`) and the chunks merged (`store`).

Nothing is made up but stock and days to ship; every row that is no product is counted by reason.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq

from ecomrlve.catalog.chunks import chunk_numbers, chunk_state, claim_part, part_folder, remove_part, write_chunk
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.hub_attributes import settle, settle_chunk
from ecomrlve.catalog.hub_card import make_card, readable_card
from ecomrlve.catalog.hub_rows import COLUMNS, SYNTHESIZED, RowReader
from ecomrlve.catalog.store import finish
from ecomrlve.errors import CatalogError, short
from ecomrlve.streams import key_of

__all__ = ["load_hub", "readable_card"]

READER = 1  # changes whenever the same rows become other products, so that no catalog is made by two readers
SPLIT = "train"
# An attribute that fewer of a type's products have is no use as a filter there, and would cost a value for each.
LEAST_SHARE = 0.01
# Rows that are decoded at a time; positions in the stream depend on it.
PARQUET_ROWS = 10_000
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def load_hub(
    source: str,
    folder: Path,
    *,
    limit: int | None = None,
    progress: bool = False,
    revision: str | None = None,
    batch_rows: int = 20_000,
) -> Catalog:
    """Load a catalog from the Hub, or from local Parquet files of the same columns.

    Killed and called again with the same arguments, it goes on, and the catalog is the same as without the break.

    Args:
        source: A dataset's id such as ``owlgebra-ai/Amazebay-catalog-2M``, or a Parquet file, a folder of them, or a
            glob pattern. What is there as a local path is taken as that.
        folder: The catalog folder to make; until it is done, its chunks are beside it in ``<folder>.part``.
        limit: Read at most so many rows.
        progress: Show a bar.
        revision: Commit, branch or tag on the Hub; left out, the newest.
        batch_rows: Rows that are read before they are written; a run that goes on keeps to that of its beginning.

    Returns:
        The catalog, opened. Its ``card`` tells what was read, kept and dropped; `readable_card` shows it.

    Raises:
        CatalogError: The source cannot be read, or has other columns, or no row of it is a product; `folder` is there
            already; its part folder is of another source. The message says what to do.
    """
    if (limit is not None and limit < 1) or batch_rows < 1:
        raise CatalogError("limit and batch_rows are whole numbers from 1")
    folder = Path(folder)
    if folder.exists():
        raise CatalogError(f"{folder} is there already; use it as it is, remove it or choose another name")
    opened = _open(source, revision)
    part = part_folder(folder)
    claim_part(part, {**opened.identity, "limit": limit, "reader": READER})
    reader = RowReader()
    _read(opened, part, reader, limit, batch_rows, progress)
    if not reader.kept:
        remove_part(part)
        if not reader.read:
            raise CatalogError(f"{source} has no rows")
        reasons = ", ".join(f"{count} × {reason}" for reason, count in reader.dropped.most_common())
        raise CatalogError(f"none of the {reader.read:,} rows of {source} is a product: {reasons}")
    settled = settle(reader.attributes)
    for number in chunk_numbers(part):
        settle_chunk(part, number, settled.attributes)
    facts = {"source": source, "revision": opened.revision, "limit": limit, "splits_not_read": list(opened.unread)}
    card = make_card(facts, reader, settled)
    return finish(
        part,
        folder,
        name=folder.name,
        attributes=settled.attributes,
        synthesized=SYNTHESIZED,
        card=card,
        only=True,
        least_share=LEAST_SHARE,
    )


def _read(opened: _Source, part: Path, reader: RowReader, limit: int | None, batch_rows: int, progress: bool) -> None:
    """Read what is not read yet, chunk by chunk."""
    from tqdm import tqdm

    numbers = chunk_numbers(part)
    if numbers != list(range(len(numbers))):
        raise CatalogError(f"chunks are missing in {part}; remove that folder and start again")
    for number in numbers:
        state = chunk_state(part, number)
        reader.remember(state)
        batch_rows = state["batch_rows"]  # positions in the stream are told in batches
    if numbers:
        opened.rows.load_state_dict(state["position"])
    total = min((count for count in (limit, opened.count) if count), default=None)
    if limit is not None and reader.read >= limit:
        return
    bar = tqdm(total=total, initial=reader.read, unit=" rows", disable=not progress)
    # Closed at once, as the library complains of a stream that is still open when Python ends.
    stream = closing(opened.rows.iter(batch_size=batch_rows))
    with bar, _reading_errors(opened.name, reader), stream as tables:
        for number, table in enumerate(tables, start=len(numbers)):
            if limit is not None:
                table = table.slice(0, limit - reader.read)
            records, state = reader.batch({name: table.column(name).to_pylist() for name in COLUMNS})
            state |= {"position": opened.rows.state_dict(), "batch_rows": batch_rows}
            write_chunk(part, number, records, state)
            bar.set_postfix(kept=reader.kept, dropped=reader.dropped.total(), refresh=False)
            bar.update(table.num_rows)
            if limit is not None and reader.read >= limit:
                break


# -- the source


@dataclass
class _Source:
    """A source, opened.

    Attributes:
        name: What the user called it.
        revision: The commit on the Hub; None for files.
        identity: What the rows depend on, plain values.
        rows: A `datasets.IterableDataset` that gives Arrow tables.
        count: How many rows it has, where that is known.
        unread: Names of its splits that are not read.
    """

    name: str
    revision: str | None
    identity: dict[str, Any]
    rows: Any
    count: int | None
    unread: tuple[str, ...]


def _open(source: str, revision: str | None) -> _Source:
    try:
        import datasets
    except ImportError as error:
        raise CatalogError("reading from the Hub needs a library; install it with: pip install datasets") from error
    files = _local_files(source)
    if files and revision is not None:
        raise CatalogError("a revision is a version on the Hub; local files have none")
    identity: dict[str, Any] = {"source": source}
    count = None
    if files:
        with _opening_errors(source):
            count = sum(pq.read_metadata(file).num_rows for file in files)
        facts = [part for file in files for part in (str(file), file.stat().st_size, file.stat().st_mtime_ns)]
        identity["files"] = f"{len(files)} with key {key_of('files', *facts):016x}"  # another one when any file changes
        # The library takes every path for a pattern.
        place = {"path": "parquet", "data_files": {SPLIT: [glob.escape(str(file)) for file in files]}}
    else:
        revision = identity["revision"] = _commit(source, revision)
        place = {"path": source, "revision": revision}
    with _opening_errors(source), TemporaryDirectory() as cache:
        # Nothing of a local file is cached; the library would leave an empty lock in the home folder all the same.
        splits = _load(datasets, {**place, "cache_dir": cache} if files else place)
    split = SPLIT if SPLIT in splits else next(iter(splits), None)
    if split is None or (split != SPLIT and len(splits) > 1):
        raise CatalogError(f"{source} has the splits {', '.join(splits)}, and none of them is called {SPLIT!r}")
    rows = splits[split]
    if rows.column_names is None:  # a format that tells its columns with its rows
        with _opening_errors(source):
            rows = rows._resolve_features()
    missing = [name for name in COLUMNS if name not in (rows.column_names or ())]
    if missing:
        raise CatalogError(
            f"{source} does not have the columns {', '.join(missing)}; it has {', '.join(rows.column_names or ())}. "
            "A file with other columns can be loaded with a mapping"
        )
    if count is None and (info := (rows.info.splits or {}).get(split)) is not None:
        count = info.num_examples
    rows = rows.select_columns(list(COLUMNS)).with_format("arrow")
    return _Source(source, revision, identity, rows, count, tuple(name for name in splits if name != split))


def _load(datasets: Any, place: dict[str, Any]) -> Any:
    try:
        # Parquet: pictures and videos are not even downloaded. The default for the other option is the size of the
        # first row group, which may be a million or none.
        return datasets.load_dataset(**place, streaming=True, columns=list(COLUMNS), batch_size=PARQUET_ROWS)
    except (TypeError, ValueError) as error:
        if "'columns'" not in str(error) and "'batch_size'" not in str(error):
            raise
    return datasets.load_dataset(**place, streaming=True)  # another format


def _local_files(source: str) -> list[Path]:
    """The local files that a source stands for; none where it is a dataset's id."""
    path = Path(source).expanduser()
    if path.is_dir():
        files = sorted(path.resolve().rglob("*.parquet"))
        if not files:
            raise CatalogError(f"no file in {source} ends with .parquet")
        return files
    if path.is_file():
        return [path.resolve()]
    if files := sorted(Path(name).resolve() for name in glob.glob(str(path), recursive=True) if Path(name).is_file()):
        return files
    if not _HUB_ID.fullmatch(source) or source.endswith(".parquet"):
        raise CatalogError(f"no file {source}, and a dataset on the Hub is called owner/name")
    return []


def _commit(source: str, revision: str | None) -> str:
    """The commit that a revision stands for now, so that a run that goes on reads the same rows."""
    from huggingface_hub import HfApi

    with _opening_errors(source):
        commit = HfApi().dataset_info(source, revision=revision).sha
    if not commit:
        raise CatalogError(f"the Hub tells no commit of {source}; name one as the revision")
    return commit


@contextmanager
def _opening_errors(source: str) -> Iterator[None]:
    """Make one error of the many that the Hub's client and the readers of files raise."""
    try:
        yield
    except CatalogError:
        raise
    except Exception as error:
        raise CatalogError(f"{source} cannot be opened: {_advice(error)}") from error


@contextmanager
def _reading_errors(source: str, reader: RowReader) -> Iterator[None]:
    try:
        yield
    except CatalogError:
        raise
    except Exception as error:
        raise CatalogError(
            f"reading {source} broke off after {reader.read:,} rows: {_advice(error)}. The rows so far are kept; the "
            "same command goes on from there"
        ) from error


def _advice(error: Exception) -> str:
    """What went wrong and what to do, by the name of the error: the client's classes move between its versions."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "OfflineModeIsEnabled" in names:
        return "the Hub's client is told to stay offline; unset HF_HUB_OFFLINE, or name a local Parquet file"
    if "GatedRepoError" in names:
        return "its owner must let you in; ask on its page on the Hub, then log in with: hf auth login"
    if "RevisionNotFoundError" in names:
        return "it has no such revision"
    if names & {"RepositoryNotFoundError", "DatasetNotFoundError"}:
        return "there is no such dataset, or it is private; check the name, or log in with: hf auth login"
    if names & {"ConnectionError", "ConnectError", "TransportError", "Timeout", "TimeoutException"}:
        return f"the Hub cannot be reached ({short(error, 120)}); check the network, or name a local Parquet file"
    if "ArrowInvalid" in names:
        return f"it is no Parquet file, or a damaged one ({short(error, 120)})"
    return f"{type(error).__name__}: {short(error, 200)}"
