"""What one visitor uploaded: nobody else sees it, and it is gone when the visitor is."""

from __future__ import annotations

import json
import secrets
import threading
import weakref
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.entries import Entry, digest, entry_of, read_line

MEGABYTE = 2**20
MOST_BYTES = 50 * MEGABYTE  # of one file
MOST_KEPT = 20 * MEGABYTE  # of all that a visitor uploaded, packed
MOST_EPISODES = 5000
MOST_PROBLEMS = 6

_making = threading.Lock()
_sessions: weakref.WeakValueDictionary[str, Uploads] = weakref.WeakValueDictionary()
_visitors: weakref.WeakValueDictionary[str, Uploads] = weakref.WeakValueDictionary()


class Uploads:
    """The episodes that one visitor uploaded, and what the visitor's page shows now.

    Attributes:
        token: By this the page's own requests find what belongs to it; nobody else can know it.
        entries: What the table shows of them, oldest first.
        shown: What the page's table was made of, to tell whether it has to be sent again.
        version: Another one whenever the entries change.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.entries: list[Entry] = []
        self.shown: Any = None
        self.version = 0
        self._lock = threading.Lock()
        self._packed: dict[str, bytes] = {}
        self._size = 0
        _visitors[self.token] = self

    def line(self, key: str) -> bytes | None:
        """The record with this key, as it was uploaded; None if there is none."""
        packed = self._packed.get(key)
        return None if packed is None else zlib.decompress(packed)

    def find(self, episode_id: str) -> str | None:
        """The key of the newest upload with this id."""
        return next((entry.key for entry in reversed(self.entries) if entry.id == episode_id), None)

    def forget(self) -> None:
        """Drop everything that was uploaded."""
        with self._lock:
            self.entries, self._packed, self._size = [], {}, 0
            self.version += 1

    def read(self, files: Sequence[Path]) -> dict[str, Any]:
        """Take files in. Returns the notice that says what came of each."""
        with self._lock:
            notices = [self._read(file) for file in files]
            self.version += 1
        bad = any(notice["tone"] == "bad" for notice in notices)
        return {"tone": "bad" if bad else "good", "lines": [line for notice in notices for line in notice["lines"]]}

    def _read(self, file: Path) -> dict[str, Any]:
        size = file.stat().st_size
        if size > MOST_BYTES:
            text = f"{file.name} has {size / MEGABYTE:.0f} MB; a file may have up to {MOST_BYTES // MEGABYTE} MB. "
            return _notice("bad", text + "Nothing of it was read. Split it into smaller files.")
        new = again = left = 0
        problems: list[str] = []
        for number, line in _lines(file):
            problem, record = read_line(line)
            key = digest(line)
            if problem:
                problems.append(f"line {number}: {problem}; skipped")
            elif key in self._packed:
                again += 1
            elif not self._add(key, line, record):
                left += 1
            else:
                new += 1
        if left:
            limit = f"{MOST_EPISODES} episodes or {MOST_KEPT // MEGABYTE} MB packed"
            problems.append(f"{_episodes(left)} found no room: a visitor may keep {limit}. Forget some first")
        return _told(file.name, size, new, again, problems)

    def _add(self, key: str, line: bytes, record: dict[str, Any]) -> bool:
        """Keep one episode, if there is room for it."""
        packed = zlib.compress(line, 1)
        if len(self.entries) >= MOST_EPISODES or self._size + len(packed) > MOST_KEPT:
            return False
        self._packed[key] = packed
        self._size += len(packed)
        self.entries.append(entry_of(record, key))
        return True


def of_session(session: str | None) -> Uploads:
    """What belongs to a browser tab, even where its first two requests come at the same time and both find nothing.

    Args:
        session: Gradio's name of the browser tab.
    """
    with _making:
        found = _sessions.get(session) if session else None
        if found is None:
            found = Uploads()
            if session:
                _sessions[session] = found
        return found


def of_token(token: object) -> Uploads | None:
    """What belongs to the page that sends this token."""
    return _visitors.get(token) if isinstance(token, str) else None


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, blank ones left out; a file of one JSON value is taken for its parts."""
    if file.suffix.lower() == ".json":
        yield from enumerate(_parts(file), 1)
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            line = line.strip().removeprefix(b"\xef\xbb\xbf")
            if line:
                yield number, line


def _parts(file: Path) -> list[bytes]:
    """A JSON file holds one record or a list of them, over as many lines as it likes; else it is read as JSONL."""
    text = file.read_bytes().strip().removeprefix(b"\xef\xbb\xbf")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [line.strip() for line in text.splitlines() if line.strip()]
    entries = (json.dumps(entry, ensure_ascii=False) for entry in (value if isinstance(value, list) else [value]))
    return [entry.encode("utf-8", "replace") for entry in entries]


def _told(name: str, size: int, new: int, again: int, problems: list[str]) -> dict[str, Any]:
    """The notice on one file."""
    line = f"{name}: {_episodes(new)} read." if new or again or size else f"{name} is empty: 0 episodes read."
    line += f" {_episodes(again)} had been read before." if again else ""
    if not new and not again and problems:
        line += " It does not look like a file of episodes: each line must be one record, as Download gives it."
    return _notice("bad" if problems or not (new or again) else "good", line, *first(problems))


def _episodes(count: int) -> str:
    return f"{count} episode" if count == 1 else f"{count} episodes"


def _notice(tone: str, *lines: str) -> dict[str, Any]:
    return {"tone": tone, "lines": list(lines)}


def first(problems: Sequence[str]) -> list[str]:
    """The first few of them, and how many more there are."""
    more = len(problems) - MOST_PROBLEMS
    return [*problems[:MOST_PROBLEMS], *([f"… and {more} more problems"] if more > 0 else [])]
