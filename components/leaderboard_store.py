"""Stored games for the leaderboard: read each line once, remember what came of playing it again, erase on request.

The files belong to the processes that append to them, so nothing here moves a byte: a line is erased by blanks over it,
which readers skip, and a line that is being appended meanwhile is not lost.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecomrlve.errors import EcomrlveError
from ecomrlve.replay import parse_line

# How much later an erased file claims to have changed. Readers notice it, and the order of files by time stays.
_LATER_NS = 1_000_000


class StoreError(EcomrlveError):
    """Stored games that could not be read or erased."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file of games.

    Attributes:
        file: Where it is.
        start: Its first byte there.
        text: The line, with its line break.
    """

    file: Path
    start: int
    text: bytes

    @property
    def digest(self) -> str:
        """Tells lines apart."""
        return hashlib.sha256(self.text).hexdigest()


class Reader:
    """Reads a folder of games, each line once; what is appended later is read the next time.

    Args:
        folder: Where the JSONL files are; it need not be there yet.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._read: dict[Path, tuple[int, int]] = {}  # file → its inode, and the first byte not yet read

    def start_over(self) -> None:
        """Read everything again the next time."""
        self._read = {}

    def replaced(self) -> bool:
        """Whether something that was read is not there any more, so that only reading everything again helps."""
        for file, (inode, position) in self._read.items():
            try:
                facts = file.stat()
            except OSError:
                return True
            if facts.st_ino != inode or facts.st_size < position:
                return True
        return False

    def lines(self) -> Iterator[Line]:
        """The whole lines that were not read yet, those of the file that was changed longest ago first.

        Raises:
            StoreError: A file cannot be read.
        """
        for file in _by_age(self._folder):
            try:
                with file.open("rb") as stream:
                    inode = os.fstat(stream.fileno()).st_ino
                    _, position = self._read.get(file, (inode, 0))
                    stream.seek(position)
                    for text in stream:
                        if not text.endswith(b"\n"):
                            break  # still being written, or torn
                        start, position = position, position + len(text)
                        self._read[file] = (inode, position)
                        if text.strip():
                            yield Line(file, start, text)
            except OSError as error:
                raise StoreError(f"{file.name} cannot be read: {error.strerror}") from error


def _by_age(folder: Path) -> list[Path]:
    """The files of a folder, that of the process that appended last at the end."""
    found = []
    for file in folder.glob("*.jsonl") if folder.is_dir() else ():
        try:
            found.append((file.stat().st_mtime_ns, file))
        except FileNotFoundError:
            continue
    return [file for _, file in sorted(found)]


def erase(folder: Path, wanted: Callable[[dict[str, Any]], bool]) -> int:
    """Erase games from the store for good, while others may be appended to it.

    Args:
        folder: Where the JSONL files are.
        wanted: Tells of a record whether it is to be erased.

    Returns:
        How many were erased.

    Raises:
        StoreError: A file cannot be read or written. What was erased until then stays erased.
    """
    places = []
    for line in Reader(folder).lines():
        problem, record = parse_line(line.text)
        if not problem and wanted(record):
            places.append(line)
    for file in {line.file for line in places}:
        try:
            with file.open("r+b") as stream:
                before = os.fstat(stream.fileno())
                for line in places:
                    if line.file == file:
                        stream.seek(line.start)
                        stream.write(b" " * (len(line.text) - 1))
                stream.flush()
                os.fsync(stream.fileno())
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + _LATER_NS))
        except OSError as error:
            raise StoreError(f"{file.name} cannot be changed: {error.strerror}") from error
    return len(places)


class Verdicts:
    """What came of playing lines again, kept in a file so that a restart need not do it once more.

    It holds checksums and no names, so that nothing of a game that was erased is left in it.

    Args:
        file: Where it is; made with the first verdict.
        stamp: What verdicts depend on besides the line: catalog, search, version of the program. Those of another
            stamp are not used.

    Attributes:
        problem: Why verdicts are not kept; empty if they are.
    """

    def __init__(self, file: Path, stamp: str):
        self.problem = ""
        self._file, self._stamp = file, stamp
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        try:
            lines = file.read_bytes().splitlines() if file.exists() else []
        except OSError as error:
            self.problem, lines = f"{file.name} cannot be read: {error.strerror}", []
        for line in lines:
            try:
                entry = json.loads(line)
                if entry["stamp"] == stamp:
                    self._known[entry["digest"]] = str(entry["reason"])
            except (ValueError, KeyError, TypeError):
                continue  # a line that was torn by a crash: that game is played again

    def get(self, digest: str) -> str | None:
        """Why the line with this checksum does not count, empty if it came out the same; None if nobody knows yet."""
        return self._known.get(digest)

    def put(self, digest: str, reason: str) -> None:
        """Remember a verdict. One that cannot be written is known until the program ends."""
        self._known[digest] = reason
        line = json.dumps({"digest": digest, "stamp": self._stamp, "reason": reason}) + "\n"
        try:
            with self._lock:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                with self._file.open("a", encoding="utf-8") as stream:
                    stream.write(line)
        except OSError as error:
            self.problem = f"{self._file.name} cannot be written: {error.strerror}"
