"""Read product tables from local files: Parquet, CSV, TSV, JSONL, JSON and YAML, the text ones also gzipped.

Every failure is a `CatalogError` that says in which file and line, and what to do.
"""

from __future__ import annotations

import csv
import glob
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ecomrlve.errors import CatalogError

FORMATS = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")
# "size=XS,color=Black": a comma ends a pair only where the next pair begins, as values may hold commas themselves.
_NEXT_PAIR = re.compile(r",(?=[A-Za-z_]\w*=)")
# The C parser is some ten times as fast; it is part of PyYAML's wheels but not of every build.
YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Table:
    """The rows of one file.

    Attributes:
        file: The file's name.
        stem: Its name without suffixes: ``case-fan`` of ``case-fan.jsonl.gz``.
        columns: Names in order of appearance; fields of nested objects are named ``outer.inner``.
        rows: One dict per product.
    """

    file: str
    stem: str
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]


def find_files(path: str | Path | Sequence[str | Path]) -> tuple[list[Path], list[str]]:
    """The files that a path, folder, glob pattern or list of these stands for.

    Args:
        path: What to look for. A folder's own files are taken, not those of folders in it.

    Returns:
        The files in a fixed order, and the names of files beside them whose format is not one of `FORMATS`.

    Raises:
        CatalogError: Nothing there, or nothing that can be read.
    """
    if not isinstance(path, str | Path):
        found: dict[Path, None] = {}
        skipped: list[str] = []
        for item in path:
            files, others = find_files(item)
            found.update(dict.fromkeys(files))
            skipped += others
        if not found:
            raise CatalogError("the list of catalog files is empty; name at least one file")
        return list(found), skipped
    place = Path(path).expanduser()
    if place.is_file():
        if _format(place) is None:
            raise CatalogError(f"{place.name}: unknown format; use a file that ends in one of {', '.join(FORMATS)}")
        return [place], []
    if place.is_dir():
        candidates = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    else:
        candidates = sorted(Path(name) for name in glob.glob(str(place), recursive=True) if Path(name).is_file())
        if not candidates:
            raise CatalogError(f"no file at {str(path)!r}; check the path (it may be a file, a folder or a pattern)")
    readable = [file for file in candidates if _format(file) is not None]
    if not readable:
        raise CatalogError(f"{str(path)!r} holds no file that ends in one of {', '.join(FORMATS)}")
    return readable, [file.name for file in candidates if _format(file) is None]


def read_table(file: Path, unpack: Mapping[str, str] | None = None) -> Table:
    """Read one file.

    Args:
        file: A file in one of `FORMATS`.
        unpack: Columns that hold several values in one text: name → ``json`` (an object) or ``pairs``
            (``size=XS,color=Black``). Their values become columns named ``column.key``; a text that does not parse
            gives none.

    Raises:
        CatalogError: Unreadable, malformed or empty.
    """
    kind = _format(file)
    if kind is None:
        raise CatalogError(f"{file.name}: unknown format; use a file that ends in one of {', '.join(FORMATS)}")
    try:
        raw = _read_parquet(file) if kind == ".parquet" else _read_text(file, kind)
    except UnicodeDecodeError as error:
        raise CatalogError(f"{file.name}: not UTF-8 text at byte {error.start}; save it as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        # An OSError's own text repeats the whole path, which is nobody's business in a log.
        reason = getattr(error, "strerror", None) or error
        raise CatalogError(f"{file.name}: cannot be read ({reason})") from error
    if not raw:
        raise CatalogError(f"{file.name}: empty; it holds no product")
    rows = []
    for number, row in enumerate(raw, 1):
        if not isinstance(row, dict):
            raise CatalogError(f"{file.name}: product {number} is not an object with named fields")
        rows.append(_flat(row, unpack or {}))
    columns = dict.fromkeys(name for row in rows for name in row)
    return Table(file.name, _stem(file), tuple(columns), rows)


def _format(file: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
        return suffixes[-1] if suffixes and suffixes[-1] in FORMATS[1:] else None
    return suffixes[-1] if suffixes and suffixes[-1] in FORMATS else None


def _stem(file: Path) -> str:
    name = file.name[:-3] if file.name.lower().endswith(".gz") else file.name
    return Path(name).stem


@contextmanager
def _opened(file: Path) -> Iterator[TextIO]:
    # utf-8-sig: spreadsheets put a byte order mark before the first column's name.
    opener: Any = gzip.open if file.name.lower().endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        yield stream


def _read_parquet(file: Path) -> list[Any]:
    try:
        with file.open("rb") as stream:
            return pq.read_table(stream).to_pylist()
    except pa.ArrowException as error:
        raise CatalogError(f"{file.name}: not a readable Parquet file ({error})") from error


def _read_text(file: Path, kind: str) -> list[Any]:
    with _opened(file) as stream:
        if kind in (".csv", ".tsv"):
            return list(_read_csv(file, stream, "\t" if kind == ".tsv" else ","))
        if kind in (".jsonl", ".ndjson"):
            return list(_read_jsonl(file, stream))
        text = stream.read()
    if not text.strip():
        return []
    return _only_list(file, _read_yaml(file, text) if kind in (".yaml", ".yml") else _read_json(file, text))


def _read_csv(file: Path, stream: TextIO, delimiter: str) -> Iterator[dict[str, str]]:
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    try:
        header = [name.strip() or f"column {number}" for number, name in enumerate(next(reader, []), 1)]
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise CatalogError(f"{file.name}: columns named twice: {', '.join(twice)}; rename them in line 1")
        for cells in reader:
            if not cells:  # A blank line.
                continue
            if len(cells) != len(header):
                raise CatalogError(
                    f"{file.name}, line {reader.line_num}: {len(cells)} cells where the header has {len(header)}; "
                    "quote cells that hold the delimiter or a line end"
                )
            yield dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise CatalogError(f"{file.name}, line {reader.line_num}: malformed ({error}); mend that line") from error


def _read_jsonl(file: Path, stream: TextIO) -> Iterator[Any]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CatalogError(f"{file.name}, line {number}: not JSON ({error}); mend or remove that line") from error


def _read_json(file: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise CatalogError(f"{file.name}, line {error.lineno}: not JSON ({error.msg}); mend that line") from error
    except (ValueError, RecursionError) as error:
        raise CatalogError(f"{file.name}: not readable as JSON ({error})") from error


def _read_yaml(file: Path, text: str) -> Any:
    try:
        return yaml.load(text, Loader=YAML_LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise CatalogError(f"{file.name}, line {line}: not YAML ({error.problem}); mend that line") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CatalogError(f"{file.name}: not readable as YAML ({error})") from error


def _only_list(file: Path, content: Any) -> list[Any]:
    """The list of products: the content itself, or the one list of objects inside an object."""
    if content is None or isinstance(content, list):
        return content or []
    if isinstance(content, dict):
        lists = {key: value for key, value in content.items() if isinstance(value, list)}
        if len(lists) > 1:
            lists = {key: value for key, value in lists.items() if value and isinstance(value[0], dict)}
        if len(lists) == 1:
            return next(iter(lists.values()))
        raise CatalogError(
            f"{file.name}: an object with {len(lists)} lists of products inside (fields: "
            f"{', '.join(map(str, content))}); it must be a list, or an object with one list inside"
        )
    raise CatalogError(f"{file.name}: neither a list of products nor an object with one list inside")


def _flat(row: Mapping[Any, Any], unpack: Mapping[str, str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in row.items():
        name = str(key)
        if name in unpack and isinstance(value, str):
            inside = _unpacked(value, unpack[name])
            value = value if inside is None else inside
        if isinstance(value, dict):
            result.update((f"{name}.{inner}", item) for inner, item in _flat(value, {}).items())
        else:
            result[name] = value
    return result


def _unpacked(text: str, how: str) -> dict[str, Any] | None:
    if how == "pairs":
        return dict(pair.split("=", 1) for pair in _NEXT_PAIR.split(text) if "=" in pair) or None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def read_pairs(text: str) -> dict[str, str]:
    """``"size=XS,color=Black"`` → ``{"size": "XS", "color": "Black"}``."""
    return _unpacked(text, "pairs") or {}
