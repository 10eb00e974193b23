"""Judging stored episodes again from their actions alone: nothing that a file claims is taken on trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import TrajectoryError
from ecomrlve.evaluation.pool import current_engine, each
from ecomrlve.replay import parse_line, verify


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trajectory stands, so that workers read for themselves what they check.

    Attributes:
        file: The JSONL file.
        line: Number of its line, from 1 on.
        start: First byte.
        length: Bytes.
    """

    file: str
    line: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What came of judging stored episodes again.

    Attributes:
        checked: Trajectories that were executed again.
        wrong: One sentence for each that came out differently, or could not be executed.
        unreadable: One sentence for each line that holds no trajectory.
    """

    checked: int
    wrong: tuple[str, ...]
    unreadable: tuple[str, ...]


def recompute(paths: Sequence[Path], engine: SearchEngine, *, workers: int = 1, progress: bool = True) -> Recomputed:
    """Execute the actions of all trajectories again and compare every byte that may not differ.

    Args:
        paths: JSONL files, and folders of them.
        engine: Of the catalog they were recorded on.
        workers: Processes.
        progress: Show a bar.

    Raises:
        TrajectoryError: There is nothing at a path.
    """
    places = [place for path in paths for place in _places(path)]
    results = each(_check, places, engine, workers=workers, label="recompute", progress=progress)
    unreadable = tuple(text for readable, text in results if not readable)
    wrong = tuple(text for readable, text in results if readable and text)
    return Recomputed(len(results) - len(unreadable), wrong, unreadable)


def _places(path: Path) -> list[Place]:
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    found = []
    for file in files:
        try:
            with file.open("rb") as lines:
                start = 0
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        found.append(Place(str(file), number, start, len(line)))
                    start += len(line)
        except OSError as error:
            raise TrajectoryError(f"{file} cannot be read: {error.strerror}") from error
    return found


def _check(place: Place) -> tuple[bool, str]:
    """Whether the line is a trajectory, and what is wrong with it."""
    with open(place.file, "rb") as file:
        file.seek(place.start)
        problem, data = parse_line(file.read(place.length))
    where = f"{Path(place.file).name}, line {place.line}"
    if problem:
        return False, f"{where}: {problem}; skipped"
    found = verify(data, current_engine())
    name = f"{data['env_id']} d={data['difficulty']} seed={data['seed']}"
    return True, "" if found.ok else f"{where}, {name}: {found.difference}"
