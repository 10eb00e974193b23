"""The folders of finished episodes: what the table shows of each stays in memory, the records stay on the disk."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr

from components.entries import Entry, digest, entry_of, read_line
from ecomrlve.errors import TrajectoryError
from ecomrlve.replay import TrajectoryStore

MOST_STORED = 5000
BLOCK = 2**20  # bytes read at a time while looking for line breaks

Span = tuple[int, int]  # where a line begins in its file, and its bytes


@dataclass(slots=True)
class _File:
    """What is known of one file.

    Attributes:
        path: Where it is.
        stamp: Which file it is, its size and when it was last written to, at the last look.
        spans: Its lines, oldest first.
        open_end: The last of them has no line break: it is torn, or still being written.
        known: Line → its entry, or what is wrong with it (nothing, if it is blank), for lines that were read.
    """

    path: Path
    stamp: tuple[int, int, int] = (0, 0, 0)
    spans: list[Span] = field(default_factory=list)
    open_end: bool = False
    known: dict[Span, Entry | str] = field(default_factory=dict)

    def look(self) -> None:
        """Find the lines that were added since the last look; all of them, where the file is another one now.

        Raises:
            OSError: It cannot be read.
        """
        facts = self.path.stat()
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if stamp == self.stamp:
            return
        if stamp[0] != self.stamp[0] or stamp[1] <= self.stamp[1]:
            self.spans, self.open_end, self.known = [], False, {}
        if self.open_end:
            self.spans.pop()
        start = sum(self.spans[-1]) if self.spans else 0
        self.spans += _lines_from(self.path, start, stamp[1])
        self.open_end = bool(self.spans) and not _ends_line(self.path, sum(self.spans[-1]))
        self.stamp = stamp

    def read(self, spans: Iterable[Span]) -> None:
        """Read those of these lines that are not known yet, and forget all others."""
        wanted = list(spans)
        self.known = {span: self.known[span] for span in wanted if span in self.known}
        with self.path.open("rb") as file:
            for start, length in wanted:
                if (start, length) not in self.known:
                    file.seek(start)
                    self.known[start, length] = self._entry(file.read(length), start)

    def _entry(self, line: bytes, start: int) -> Entry | str:
        if not line.strip():
            return ""
        problem, record = read_line(line)
        # The place names it, so that a key means the same episode after a restart.
        return problem or entry_of(record, digest(self.path.name.encode(), str(start).encode()))


def _lines_from(path: Path, start: int, end: int) -> list[Span]:
    """The lines of a file between two places; the first place begins a line."""
    spans: list[Span] = []
    with path.open("rb") as file:
        file.seek(start)
        place = start
        while place < end and (block := file.read(min(BLOCK, end - place))):
            at = block.find(b"\n")
            while at >= 0:
                spans.append((start, place + at + 1 - start))
                start = place + at + 1
                at = block.find(b"\n", at + 1)
            place += len(block)
    return [*spans, (start, place - start)] if place > start else spans


def _ends_line(path: Path, end: int) -> bool:
    with path.open("rb") as file:
        file.seek(end - 1)
        return file.read(1) == b"\n"


class Library:
    """The folder of finished episodes, and others to read along. Only what was added since the last look is read.

    Args:
        folder: Where the JSONL files are, and where episodes are added.
        also: More folders of such files, such as those of a training run's episodes; they need not be there yet.
        most: How many episodes to show: the newest ones.

    Attributes:
        problems: A sentence for each line, among those to be shown, that is no episode.
        older: How many lines are too old to be shown.
        version: Another one whenever anything has changed.
    """

    def __init__(self, folder: str | Path, *, also: Iterable[Path] = (), most: int = MOST_STORED):
        self.folder = Path(folder)
        self.problems: list[str] = []
        self.older = 0
        self.version = 0
        self._folders = (self.folder, *also)
        self._most = most
        self._store = TrajectoryStore(folder)
        self._lock = threading.Lock()
        self._files: dict[Path, _File] = {}
        self._entries: list[Entry] = []
        self._places: dict[str, tuple[Path, Span]] = {}

    def append(self, trajectory: dict[str, Any]) -> None:
        """Store a finished episode. A full disk must not cost the visitor the page that shows the reward."""
        try:
            self._store.append(trajectory)
        except TrajectoryError as error:
            gr.Warning(html.escape(f"This episode could not be stored: {error}"))

    def start(self) -> Library:
        """Read what is there in the background, so that the first visitor need not wait for it."""
        threading.Thread(target=self.entries, name="read stored episodes", daemon=True).start()
        return self

    def entries(self) -> list[Entry]:
        """The newest episodes, oldest first."""
        with self._lock:
            before = {path: file.stamp for path, file in self._files.items()}
            paths = [file for folder in self._folders if folder.is_dir() for file in sorted(folder.glob("*.jsonl"))]
            self._files = {path: self._files.get(path) or _File(path) for path in paths}
            trouble = [why for file in self._files.values() if (why := _look(file))]
            if before != {path: file.stamp for path, file in self._files.items()} or not self.version:
                self.problems = [*self._list(), *trouble]
                self.version += 1
            return self._entries

    def _list(self) -> list[str]:
        """Make the list anew; lines that were read before are not read again. Returns what is wrong with others."""
        files = sorted(self._files.values(), key=lambda file: (file.stamp[2], file.path.name))
        lines = [(file, number) for file in files for number in range(len(file.spans))]
        self.older = max(0, len(lines) - self._most)
        self._entries, self._places = [], {}
        problems: list[str] = []
        first = {file.path: number for file, number in reversed(lines[self.older :])}
        for file in files:
            start = first.get(file.path, len(file.spans))
            try:
                file.read(file.spans[start:])
            except OSError as error:
                problems.append(f"{file.path.name} cannot be read: {error.strerror}")
                continue
            for number, span in enumerate(file.spans[start:], start + 1):
                entry = file.known[span]
                if isinstance(entry, Entry):
                    self._entries.append(entry)
                    self._places[entry.key] = file.path, span
                elif entry:
                    problems.append(f"{file.path.name}, line {number}: {entry}; skipped")
        return problems

    def line(self, key: str) -> bytes | None:
        """The record with this key, as it is stored; None if there is none any more."""
        if key not in self._places:
            self.entries()
        place = self._places.get(key)
        if place is None:
            return None
        path, (start, length) = place
        try:
            with path.open("rb") as file:
                file.seek(start)
                return file.read(length).strip()
        except OSError:
            return None

    def find(self, episode_id: str) -> str | None:
        """The key of the newest episode with this id."""
        return next((entry.key for entry in reversed(self.entries()) if entry.id == episode_id), None)


def _look(file: _File) -> str:
    """Look for new lines; returns why that did not work, or nothing."""
    try:
        file.look()
    except OSError as error:
        return f"{file.path.name} cannot be read: {error.strerror}"
    return ""
