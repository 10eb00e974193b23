"""The leaderboard of this server: plays stored games again in the background and keeps what they amount to.

A page never waits for it. It shows what is known, and asks again while games are being checked.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from components import agents
from components.episode import UNKNOWN, YOU
from components.leaderboard_counting import Counted, Game, counted, game_of
from components.leaderboard_names import Names, Visitor, players_in, with_names
from components.leaderboard_runs import Run, Runs
from components.leaderboard_store import Reader, StoreError, Verdicts, erase
from components.session import Shop
from components.tables import mapping, words
from ecomrlve import __version__, replay
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.trajectory import described

FOLDER = "leaderboard"  # inside that of the games
LONGEST_REST = 0.25  # seconds


def agents_here() -> list[str]:
    """Names of the agents that visitors may let play here."""
    return [choice.name for choice in agents.choices()]


class Store(Protocol):
    """What is needed of `components.library.Library`."""

    folder: Path

    def entries(self) -> Any:
        """Look at the files again."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What the background is at.

    Attributes:
        loading: The shop is not there yet.
        done: Games played again since the background last had nothing to do.
        of: How many there were to play.
    """

    loading: bool = False
    done: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class _Place:
    """A line whose game has to be played again; the line itself stays on the disk until then."""

    number: int
    file: Path
    start: int
    length: int
    digest: str


class Board:
    """Everything that the Leaderboard tab shows.

    Args:
        store: The stored games.
        shop: Where the engine comes from.
        offered: Names of the agents that visitors may let play here.
        rest: How long the background rests after each game, as a multiple of the time the game took: visitors'
            own turns run on the same processors.

    Attributes:
        names: Of people.
        runs: Submitted by visitors.
        idle: Set while the background has nothing to do.
    """

    def __init__(
        self,
        store: Store,
        shop: Shop,
        *,
        offered: Callable[[], Iterable[str]] = agents_here,
        rest: float = 1.0,
    ):
        self.names = Names(store.folder / FOLDER / "names.json")
        self.runs = Runs(store.folder / FOLDER)
        self.idle = threading.Event()
        self.idle.set()
        self._store, self._shop, self._offered, self._rest = store, shop, offered, rest
        self._reader = Reader(store.folder)
        self._verdicts: Verdicts | None = None
        self._problem = ""
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._again = False
        self._count = 0
        self._found: dict[int, Game | str] = {}  # by order; a game, or why it does not count
        self._version = 0
        self._progress = Progress(loading=True)
        self._known: tuple[Any, Counted] | None = None

    def start(self) -> Board:
        """Have the background look for what is new."""
        self.idle.clear()
        self._wake.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="check games", daemon=True)
            self._thread.start()
        return self

    def _work(self) -> None:
        while True:
            self._wake.wait()
            self.idle.clear()
            self._wake.clear()
            try:
                self.check()
            except Exception as error:  # whatever it is, visitors must learn of it, and the next look may go well
                self._problem = f"Games could not be checked: {error}"
                self._again = True
            if not self._wake.is_set():
                self.idle.set()

    def check(self) -> None:
        """Play all games again that were stored or submitted since the last time.

        Raises:
            SessionError: There is no shop to play in.
        """
        with self._one_at_a_time:
            self._shop.wait()
            engine = self._shop.engine
            self._problem = ""
            self._check_stored(engine)
            while self.runs.work(engine, lambda seconds: self._between(engine, seconds)):
                self._check_stored(engine)

    def _between(self, engine: SearchEngine, seconds: float) -> None:
        """What is done after each episode of a run, which must not keep those waiting who have just finished a game."""
        self._pause(seconds)
        self._check_stored(engine)

    def _pause(self, seconds: float) -> None:
        time.sleep(min(seconds * self._rest, LONGEST_REST))

    def _check_stored(self, engine: SearchEngine) -> None:
        if self._verdicts is None:
            here = described(engine)
            stamp = f"{here['fingerprint']} {here['search']} {__version__}"
            self._verdicts = Verdicts(self._store.folder / FOLDER / "verdicts.txt", stamp)
        places = self._look(self._verdicts)
        for done, place in enumerate(places):
            self._progress = Progress(done=done, of=len(places))
            began = time.perf_counter()
            record = _read_again(place)
            if record is None:
                continue
            reason = _judge(record, engine)
            self._verdicts.put(place.digest, reason)
            with self._lock:
                self._found[place.number] = reason or game_of(record)
                self._version += 1
            self._pause(time.perf_counter() - began)
        self._progress = Progress()

    def _look(self, verdicts: Verdicts) -> list[_Place]:
        """Read what is new. Returns the games that nobody has played again yet."""
        anew = self._again or self._reader.replaced()
        if anew:
            self._again = False
            self._reader.start_over()
        found: dict[int, Game | str] = {}
        places = []
        try:
            for line in self._reader.lines():
                problem, record = replay.parse_line(line.text)
                if problem:
                    continue  # the Trajectories tab tells of it
                self._count += 1
                reason = verdicts.get(line.digest)
                if reason is None:
                    places.append(_Place(self._count, line.file, line.start, len(line.text), line.digest))
                else:
                    found[self._count] = reason or game_of(record)
        except StoreError as error:
            self._problem = str(error)
        if anew or found:
            with self._lock:
                self._found = found if anew else self._found | found
                self._version += 1
        return places

    @property
    def problem(self) -> str:
        """Why the board may not be complete; empty if it is."""
        kept = self._verdicts.problem if self._verdicts else ""
        return " ".join(filter(None, (self._problem, kept, self.names.problem, *self.runs.problems)))

    def progress(self) -> Progress | None:
        """What the background is at; None if it has nothing to do."""
        return None if self.idle.is_set() else self._progress

    def submitted(self) -> list[Run]:
        """The accepted runs on this shop's catalog, the newest first; none before the shop is there."""
        return self.runs.on(self._shop.engine) if self._shop.engine is not None else []

    def agents(self) -> set[str]:
        """All names of agents on the board."""
        return {*self._offered(), *(run.entry.agent for run in self.submitted())}

    def counted(self) -> Counted:
        """All games as they count now."""
        people, offered, runs = self.names.listed(), frozenset(self._offered()), self.submitted()
        with self._lock:
            made_of = (self._version, people, offered, tuple(run.key for run in runs))
            if self._known is not None and self._known[0] == made_of:
                return self._known[1]
            found = [self._found[number] for number in sorted(self._found)]
        games = [game for game in found if isinstance(game, Game)]
        games += [game for run in runs for game in run.games]
        result = counted(games, people, offered, {run.key: run.note for run in runs})
        left_out = Counter(reason for reason in found if isinstance(reason, str))
        result = Counted(result.players, left_out + Counter(result.left_out))
        with self._lock:
            self._known = (made_of, result)
        return result

    def name_for(self, nickname: str) -> str:
        """The name to keep a person's game under: the nickname if its owner agreed to that, else `YOU`."""
        return nickname if self.names.keeps(nickname) else YOU

    def consented(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record with no name of a person in it that did not agree to be named: to be stored instead of the given."""
        player = mapping(record.get("player"))
        name, kind = words(player.get("name")), words(player.get("kind"))
        if kind == "agent":
            return record
        kept = {*self.agents(), UNKNOWN}
        named = with_names(name, kind, lambda one: one if one in kept else self.name_for(one))
        return record if named == name else {**record, "player": {**player, "name": named}}

    def forget(self, visitor: Visitor) -> int:
        """Erase a person's games, also those that do not count, and then the name.

        Returns:
            How many games were erased.

        Raises:
            EcomrlveError: The name is not the visitor's, or a file cannot be changed.
        """
        self.names.stop(visitor)  # so that no game is added meanwhile
        erased = erase(self._store.folder, lambda record: _took_part(record, visitor.name))
        self.names.forget(visitor)
        self._store.entries()
        self._again = True
        return erased


def _took_part(record: Mapping[str, Any], name: str) -> bool:
    player = mapping(record.get("player"))
    kind = words(player.get("kind"))
    return kind != "agent" and name in players_in(words(player.get("name")), kind)[0]


def _read_again(place: _Place) -> dict[str, Any] | None:
    """The record at a place; None if it was erased meanwhile."""
    try:
        with place.file.open("rb") as stream:
            stream.seek(place.start)
            text = stream.read(place.length)
    except FileNotFoundError:
        return None
    if hashlib.sha256(text).hexdigest() != place.digest:
        return None
    return replay.parse_line(text)[1]


def _judge(record: Mapping[str, Any], engine: SearchEngine) -> str:
    """Why a game does not count, as a key of `LEFT_OUT`; empty if it comes out the same when it is played again."""
    here = described(engine)
    if any(record["catalog"].get(name) != here[name] for name in ("fingerprint", "search")):
        return "catalog"
    try:
        return "" if replay.verify(record, engine).ok else "changed"
    except Exception:  # a file may hold anything, and one record must not keep all others from being checked
        return "changed"
