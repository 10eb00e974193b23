"""Names of people on the leaderboard: which may be taken, whose they are, and whether games are kept under them.

A name is stored only after its owner agreed. A nickname belongs to the browser that took it: it got a secret key, of
which only a checksum is stored here. A name from Hugging Face belongs to whoever is signed in by it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import threading
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from components.episode import AGAIN, GUIDED, UNKNOWN, YOU
from components.session import SessionError

SHORTEST, LONGEST = 2, 24
MOST_NAMES: Final = 20_000
SIGNED_IN: Final = "@"  # names from Hugging Face begin with it, nicknames cannot
_BETWEEN = " -_.'"
# Names that would be taken for somebody else.
_RESERVED = (
    *(YOU, UNKNOWN, "api", "agent", "ai", "bot", "human", "person", "player", "anonymous", "nobody", "null"),
    *("none", "admin", "administrator", "moderator", "staff", "system", "official", "ecomrlve", "customer", "shop"),
    *("assistant", "leaderboard"),
)
# How `components.episode.player_of` joins the names of several players.
_THEN, _AND, _IN_TURNS = ", then ", " and ", " in turns"
# Alphabets with letters that look alike: a name in two of them could pass for another name.
_ALIKE = ("LATIN", "CYRILLIC", "GREEK")


class NicknameError(SessionError):
    """A name that cannot be taken; the message is for whoever wanted it."""


def folded(name: str) -> str:
    """What two names share that people could mix up: without case, accents, blanks and signs.

    On Hugging Face ``a-b`` and ``ab`` are two people, so that of those names only the case goes.
    """
    if name.startswith(SIGNED_IN):
        return name.casefold()
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def check_nickname(text: Any, reserved: Iterable[str] = ()) -> str:
    """The nickname in its one spelling, if it may be taken by a person.

    Args:
        text: What was typed.
        reserved: Names of agents.

    Raises:
        NicknameError: It may not; the message says what to change.
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split()) if isinstance(text, str) else ""
    shown = sum(1 for letter in name if not unicodedata.combining(letter))
    if not SHORTEST <= shown <= LONGEST or len(name) > 3 * LONGEST:
        raise NicknameError(f"A nickname has {SHORTEST} to {LONGEST} letters or digits.")
    if not all(letter.isalnum() or letter in _BETWEEN or unicodedata.category(letter)[0] == "M" for letter in name):
        raise NicknameError("A nickname is made of letters and digits, with blanks or - _ . ' between them.")
    if not (name[0].isalnum() and folded(name)):
        raise NicknameError("A nickname begins with a letter or a digit.")
    if _AND in f" {name} ".casefold():
        raise NicknameError("Take a nickname without “and”, which stands between two players.")
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    if len(alphabets.intersection(_ALIKE)) > 1:
        raise NicknameError("Take the letters of a nickname from one alphabet, so that it cannot pass for another.")
    if folded(name) in {folded(one) for one in (*_RESERVED, *reserved)}:
        raise NicknameError(f"“{name}” is reserved, so that nobody is taken for an agent. Choose another name.")
    return name


def players_in(name: str, kind: str) -> tuple[list[str], str, str]:
    """Those who played an episode, from its record's player.

    Args:
        name: As `components.episode.player_of` made it.
        kind: ``human``, ``agent`` or ``mixed``.

    Returns:
        Their names, what stands between them, and what follows them.
    """
    plain, between = name.removesuffix(AGAIN), _THEN
    if kind == "mixed":
        plain = plain.removesuffix(GUIDED)
        if plain.endswith(_IN_TURNS):
            plain, between = plain.removesuffix(_IN_TURNS), _AND
    names = plain.split(between) if kind == "mixed" else [plain]
    return names, between, name[len(plain) :]


def with_names(name: str, kind: str, change: Callable[[str], str]) -> str:
    """The name of an episode's player with the name of everyone who had a part in it changed."""
    names, between, rest = players_in(name, kind)
    return between.join(map(change, names)) + rest


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who a visitor says to be, and the proof.

    Attributes:
        name: The name; empty for nobody.
        key: The secret that the browser keeps with a nickname.
        signed_in: Whether Hugging Face vouches for the name. Only the server sets this.
    """

    name: str = ""
    key: str = ""
    signed_in: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    key_digest: str  # empty for a name from Hugging Face
    keeps: bool
    since: str


class Names:
    """The file of names. It holds for each: the name, a checksum of its key, whether games are kept, since when.

    Args:
        file: Where it is; made when the first name is taken.

    Attributes:
        problem: Why no name can be taken; empty if they can.
    """

    def __init__(self, file: Path):
        self.problem = ""
        self._file = file
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}
        try:
            stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
            self._entries = {key: _Entry(**entry) for key, entry in stored.items()}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            self.problem = f"The file of names cannot be read ({file.name}: {error}), so none can be taken."

    def listed(self) -> frozenset[str]:
        """All names whose owners agreed to be listed, also of those who have stopped since."""
        with self._lock:
            return frozenset(entry.name for entry in self._entries.values())

    def keeps(self, name: str) -> bool:
        """Whether games are to be stored under this name now."""
        with self._lock:
            entry = self._entries.get(folded(name))
        return entry is not None and entry.name == name and entry.keeps

    def status(self, visitor: Visitor) -> str:
        """``on``, ``off`` (the name is kept, new games are not), ``taken`` (by another one) or ``none``."""
        with self._lock:
            entry = self._entries.get(folded(visitor.name)) if visitor.name else None
        if entry is None:
            return "none"
        if not _owns(entry, visitor):
            return "taken"
        return "on" if entry.keeps else "off"

    def join(self, visitor: Visitor, reserved: Iterable[str] = ()) -> Visitor:
        """Take a name, or one's own again: from now on games are kept under it.

        Args:
            visitor: The wanted name; with the key where the browser has one.
            reserved: Names of agents.

        Returns:
            The visitor with the name in its one spelling, and with the key to keep.

        Raises:
            NicknameError: The name cannot be taken.
        """
        if self.problem:
            raise NicknameError(self.problem)
        name = visitor.name if visitor.signed_in else check_nickname(visitor.name, reserved)
        with self._lock:
            entry = self._entries.get(folded(name))
            if entry is not None and not _owns(entry, replace(visitor, name=entry.name)):
                raise NicknameError(f"“{entry.name}” is taken on this server. Choose another name.")
            if entry is not None:
                self._write({**self._entries, folded(name): replace(entry, keeps=True)})
                return replace(visitor, name=entry.name)
            if len(self._entries) >= MOST_NAMES:
                raise NicknameError(f"There are {MOST_NAMES:,} names already; no more can be taken on this server.")
            key = "" if visitor.signed_in else secrets.token_urlsafe(24)
            since = datetime.now(UTC).date().isoformat()
            self._write({**self._entries, folded(name): _Entry(name, _digest(key) if key else "", True, since)})
        return replace(visitor, name=name, key=key)

    def stop(self, visitor: Visitor) -> None:
        """Keep no new games under a name; the name stays its owner's.

        Raises:
            NicknameError: The name is not the visitor's.
        """
        with self._lock:
            entry = self._own(visitor)
            self._write({**self._entries, folded(entry.name): replace(entry, keeps=False)})

    def forget(self, visitor: Visitor) -> None:
        """Remove a name.

        Raises:
            NicknameError: The name is not the visitor's.
        """
        with self._lock:
            entry = self._own(visitor)
            self._write({key: one for key, one in self._entries.items() if key != folded(entry.name)})

    def _own(self, visitor: Visitor) -> _Entry:
        entry = self._entries.get(folded(visitor.name))
        if entry is None or not _owns(entry, visitor):
            raise NicknameError("This server does not know this name as yours.")
        return entry

    def _write(self, entries: dict[str, _Entry]) -> None:
        text = json.dumps({key: asdict(entry) for key, entry in entries.items()}, ensure_ascii=False, indent=1)
        fresh = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(text, encoding="utf-8")
            os.replace(fresh, self._file)
        except OSError as error:
            raise NicknameError(f"The name could not be stored: {error.strerror}.") from error
        self._entries = entries


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()


def _owns(entry: _Entry, visitor: Visitor) -> bool:
    if entry.name != visitor.name:
        return False
    if not entry.key_digest:
        return visitor.signed_in
    return hmac.compare_digest(entry.key_digest, _digest(visitor.key))
