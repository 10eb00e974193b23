"""Demonstrations on disk: a folder in the Hub's layout, written as a stream and put in place only when it is whole.

Messages and tools are kept as JSON texts (the `Json` type of `datasets`), because a table's columns would fill in a
null for every argument that some other call has.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ecomrlve.errors import EcomrlveError
from ecomrlve.training.demonstrations_chat import Demonstration, LeftOutError, Reason

if TYPE_CHECKING:
    import datasets
    import pyarrow

DATA, CARD = "data", "README.md"
SPLITS = ("train", "test")
BATCH_CHARACTERS = 16 * 2**20
BATCH_ROWS = 1000
MOST_ZEROS = 12

# A string comes first, so that no number inside one is taken for a number.
_STRING_OR_DECIMAL = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+\.\d+(?![\deE])')

Row = dict[str, Any]


class DemonstrationError(EcomrlveError, ValueError):
    """Demonstrations that cannot be exported as asked."""


def features() -> datasets.Features:
    """The columns, with their types."""
    from datasets import Features, Json, List, Value

    return Features(
        {
            "messages": List(Json()),
            "tools": List(Json()),
            "env_id": Value("string"),
            "difficulty": Value("int32"),
            "seed": Value("int64"),
            "overrides": Value("string"),
            "agent": Value("string"),
            "total": Value("float64"),
            "correct": Value("bool"),
            "turns": Value("int32"),
            "catalog": Value("string"),
            "episode_id": Value("string"),
        }
    )


def row_of(demonstration: Demonstration, *, agent: str, episode_id: str, catalog: str) -> Row:
    """A row of the table, its messages and tools as JSON texts.

    Args:
        demonstration: What was demonstrated.
        agent: Who played, by the record.
        episode_id: The record's id.
        catalog: The catalog's fingerprint.

    Raises:
        LeftOutError: The texts would not be read back as what they are.
    """
    return {
        "messages": [_stored(message) for message in demonstration.messages],
        "tools": [_stored(tool) for tool in demonstration.tools],
        "env_id": demonstration.env_id,
        "difficulty": demonstration.difficulty,
        "seed": demonstration.seed,
        "overrides": json.dumps(demonstration.overrides, sort_keys=True),
        "agent": agent,
        "total": demonstration.total,
        "correct": demonstration.correct,
        "turns": demonstration.turns,
        "catalog": catalog,
        "episode_id": episode_id,
    }


def _stored(value: dict[str, Any]) -> str:
    """JSON text that `datasets` reads as what it is."""
    text = json.dumps(value, ensure_ascii=False)
    if _read(text) != value:
        text = _STRING_OR_DECIMAL.sub(_respelled, text)
    if _read(text) != value:
        raise LeftOutError(Reason.NOT_STORABLE)
    return text


def _read(text: str) -> Any:
    """What `datasets` reads, or None if it cannot."""
    from datasets import Json

    try:
        return Json().decode_example(text)
    except ValueError:
        return None


def _respelled(match: re.Match[str]) -> str:
    """A number so spelled that it is read exactly: the quick reader takes 0.3 for 0.30000000000000004, but not 0.30."""
    text = match.group()
    if text.startswith('"'):
        return text
    spellings = (text + "0" * zeros for zeros in range(MOST_ZEROS))
    return next((spelling for spelling in spellings if _read(spelling) == float(text)), text)


class SplitWriter:
    """Writes the Parquet files of the splits, a batch of rows at a time. A split without rows gets no file.

    Args:
        folder: Where the files go.

    Attributes:
        table_bytes: Split → what its table takes in memory, in bytes.
    """

    def __init__(self, folder: Path):
        self.table_bytes = dict.fromkeys(SPLITS, 0)
        self._folder = folder
        self._schema = features().arrow_schema
        self._rows: dict[str, list[Row]] = {split: [] for split in SPLITS}
        self._waiting = dict.fromkeys(SPLITS, 0)
        self._writers: dict[str, Any] = {}

    def __enter__(self) -> SplitWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                for split in SPLITS:
                    self._flush(split)
        finally:
            for writer in self._writers.values():
                writer.close()

    def add(self, split: str, row: Row) -> None:
        """Add a row to a split."""
        self._rows[split].append(row)
        self._waiting[split] += sum(map(len, row["messages"])) + sum(map(len, row["tools"]))
        if self._waiting[split] >= BATCH_CHARACTERS or len(self._rows[split]) >= BATCH_ROWS:
            self._flush(split)

    def _flush(self, split: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = self._rows[split]
        if not rows:
            return
        if split not in self._writers:
            path = self._folder / f"{split}-00000-of-00001.parquet"
            self._writers[split] = pq.ParquetWriter(path, self._schema, compression="zstd")
        columns = [_column(field, [row[field.name] for row in rows]) for field in self._schema]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._writers[split].write_table(table)
        self.table_bytes[split] += table.nbytes
        self._rows[split], self._waiting[split] = [], 0


def _column(field: pyarrow.Field, values: list[Any]) -> pyarrow.Array:
    import pyarrow as pa

    if field.name not in ("messages", "tools"):
        return pa.array(values, field.type)
    texts = pa.array(values, pa.list_(pa.string()))
    return pa.ListArray.from_arrays(texts.offsets, pa.ExtensionArray.from_storage(pa.json_(), texts.values))


@contextmanager
def new_folder(folder: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write into, which takes the other one's place when everything went well, and else is thrown away.

    Args:
        folder: Where it shall be in the end. What is there must be empty.
        overwrite: Replace an earlier export that is there.

    Raises:
        DemonstrationError: Something is in the way, or cannot be written.
    """
    _check_place(folder, overwrite)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        working = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            fresh = working / "new"
            (fresh / DATA).mkdir(parents=True)
            yield fresh
            _put_in_place(fresh, folder, aside=working / "old")
        finally:
            shutil.rmtree(working, ignore_errors=True)
    except OSError as error:
        raise DemonstrationError(f"{folder} cannot be written: {error.strerror or error}") from error


def _put_in_place(fresh: Path, folder: Path, aside: Path) -> None:
    if folder.exists():
        folder.rename(aside)
    try:
        fresh.rename(folder)
    except OSError:
        if aside.exists():
            aside.rename(folder)
        raise


def _check_place(folder: Path, overwrite: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DemonstrationError(f"{folder} is a file; name a folder")
    inside = {path.name for path in folder.iterdir()}
    if inside and not overwrite:
        raise DemonstrationError(f"{folder} is not empty; name another folder, or replace the export with --overwrite")
    # A slip of the pen must not cost anybody a folder full of other things.
    others = sorted(inside - {DATA, CARD})
    others += sorted(path.name for path in (folder / DATA).glob("*") if path.suffix != ".parquet")
    if others:
        raise DemonstrationError(f"{folder} holds {others[0]}, which no export makes; name another folder")


def push(folder: Path, repository: str) -> str:
    """Put an export on the Hub.

    Args:
        folder: The export.
        repository: OWNER/NAME of the dataset; made if it is not there.

    Returns:
        Its address.

    Raises:
        DemonstrationError: The Hub refused, or cannot be reached.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError

    api = HfApi()
    try:
        address = api.create_repo(repository, repo_type="dataset", exist_ok=True)
        api.upload_folder(
            repo_id=repository, folder_path=folder, repo_type="dataset", commit_message="Upload demonstrations"
        )
    except (HfHubHTTPError, HFValidationError, HTTPError, OSError) as error:
        raise DemonstrationError(f"cannot push to {repository}: {error}; the export itself is in {folder}") from error
    return str(address)
