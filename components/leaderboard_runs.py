"""Evaluation runs that visitors submit: taken in, played again in the background, kept as their figures.

Of an accepted run the entry of `ecomrlve.evaluation.leaderboard` is kept, with one short row per episode. The episodes
themselves are not; the entry's checksum tells whether a file that somebody shows is the one that was checked.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from components.leaderboard_counting import LONGEST_NAME, Game
from components.session import SessionError
from ecomrlve import replay
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import EcomrlveError
from ecomrlve.evaluation.grid import EvaluationError
from ecomrlve.evaluation.leaderboard import Entry, make_entry
from ecomrlve.evaluation.rows import read_rows
from ecomrlve.trajectory import described

MOST_BYTES: Final = 64 * 2**20
MOST_EPISODES: Final = 5_000
LONGEST_LINE: Final = 4 * 2**20
MOST_FILES: Final = 32
MOST_AGENTS: Final = 8
MOST_RUNS: Final = 200
MOST_WAITING: Final = 5
MOST_TOLD: Final = 5
LONGEST_NOTE: Final = 2**16
REMEMBERED: Final = 500  # submissions whose outcome can still be asked for


class SubmissionError(SessionError):
    """A submission that is not taken; the message is for whoever sent it."""


@dataclass(frozen=True, slots=True)
class Run:
    """An accepted run.

    Attributes:
        entry: Its line of a leaderboard's file.
        games: Its episodes.
    """

    entry: Entry
    games: tuple[Game, ...]

    @property
    def key(self) -> str:
        """Tells runs apart."""
        return key_of(self.entry)

    @property
    def note(self) -> str:
        """Which seeds it is over."""
        entry = self.entry
        trials = f", {entry.trials} trials each" if entry.trials > 1 else ""
        return f"submitted run · {entry.split}, first {entry.seeds} {'seed' if entry.seeds == 1 else 'seeds'}{trials}"


def key_of(entry: Entry) -> str:
    """The key of the run that an entry is of."""
    return entry.actions[:16]


@dataclass
class Submission:
    """Files of one visitor on their way to the board.

    Attributes:
        ticket: What the visitor asks for it by; nobody else knows it.
        folder: Where its files wait.
        status: ``waiting``, ``checking``, ``accepted`` or ``refused``.
        done: Episodes that were played again.
        of: Episodes there are.
        lines: What came of it, in sentences.
    """

    ticket: str
    folder: Path
    status: str = "waiting"
    done: int = 0
    of: int = 0
    lines: list[str] = field(default_factory=list)


class Runs:
    """The accepted runs, and those that wait.

    Args:
        folder: Where they are kept; made when the first is submitted.

    Attributes:
        problems: One sentence for each stored run that could not be read.
    """

    def __init__(self, folder: Path):
        self.problems: list[str] = []
        self._kept, self._incoming = folder / "runs", folder / "incoming"
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._submissions: OrderedDict[str, Submission] = OrderedDict()
        shutil.rmtree(self._incoming, ignore_errors=True)  # of a server that was stopped: their senders are gone
        for file in sorted(self._kept.glob("*.json")):
            try:
                run = _read(file)
                self._runs[run.key] = run
            except (OSError, ValueError, TypeError, KeyError) as error:
                self.problems.append(f"{file.name} holds no run: {type(error).__name__}")

    def on(self, engine: SearchEngine) -> list[Run]:
        """The accepted runs on this catalog, the newest first."""
        here = described(engine)
        with self._lock:
            runs = [run for run in self._runs.values() if _same_shop(run.entry.catalog, here)]
        return sorted(runs, key=lambda run: (run.entry.made, run.key), reverse=True)

    def submission(self, ticket: str) -> Submission | None:
        """What a visitor submitted."""
        with self._lock:
            return self._submissions.get(ticket)

    def waiting(self) -> int:
        """How many submissions are not decided."""
        with self._lock:
            return sum(one.status in ("waiting", "checking") for one in self._submissions.values())

    def take(self, files: Sequence[Path]) -> Submission:
        """Put files into the queue: trajectories as JSONL, and the ``run-*.json`` that tell their commands.

        Raises:
            SubmissionError: There is no room for them, or they are too large.
        """
        if not files or len(files) > MOST_FILES:
            raise SubmissionError(f"Choose from 1 to {MOST_FILES} files of one evaluation run.")
        size = sum(file.stat().st_size for file in files)
        if size > MOST_BYTES:
            raise SubmissionError(
                f"These files have {size / 2**20:.0f} MB; a run of up to {MOST_BYTES // 2**20} MB can be submitted."
            )
        if self.waiting() >= MOST_WAITING:
            raise SubmissionError("Several runs are waiting to be checked. Try again in a few minutes.")
        if len(self._runs) >= MOST_RUNS:
            raise SubmissionError(f"This leaderboard holds {MOST_RUNS} runs already; no more can be submitted.")
        ticket = secrets.token_urlsafe(16)
        taken = Submission(ticket, self._incoming / ticket)
        try:
            taken.folder.mkdir(parents=True)
            for number, file in enumerate(files):
                # The names that a visitor gave them are not used: a name may be a path, or hide another file.
                note = _note_in(file)
                name = f"traj-{number}.jsonl" if note is None else f"run-{number}.json"
                if note is None:
                    shutil.copyfile(file, taken.folder / name)
                else:
                    (taken.folder / name).write_text(json.dumps(note), encoding="utf-8")
        except OSError as error:
            shutil.rmtree(taken.folder, ignore_errors=True)
            raise SubmissionError(f"These files could not be stored: {error.strerror}.") from error
        with self._lock:
            self._submissions[ticket] = taken
            while len(self._submissions) > REMEMBERED:
                self._submissions.popitem(last=False)
        return taken

    def work(self, engine: SearchEngine, between: Callable[[float], None]) -> bool:
        """Check the submission that waits longest.

        Args:
            engine: Of the catalog.
            between: Called after each episode with the seconds that it took.

        Returns:
            Whether there was one.
        """
        with self._lock:
            taken = next((one for one in self._submissions.values() if one.status == "waiting"), None)
            if taken is None:
                return False
            taken.status = "checking"
        try:
            taken.lines = [self._accept(run) for run in _checked(taken, engine, between)]
            taken.status = "accepted"
        except (EcomrlveError, OSError) as error:
            taken.lines = str(error).splitlines()
            taken.status = "refused"
        except Exception as error:  # files of strangers: whatever is in them, the others must still be checked
            taken.lines = [f"These files could not be read ({type(error).__name__})."]
            taken.status = "refused"
        finally:
            shutil.rmtree(taken.folder, ignore_errors=True)
        return True

    def _accept(self, run: Run) -> str:
        """Keep a run; returns the sentence for its sender."""
        entry = run.entry
        if run.key in self._runs:
            return f"{entry.agent}: this run is on the leaderboard already."
        stored = {
            "entry": entry.model_dump(by_alias=True),
            "episodes": [
                [game.env_id, game.difficulty, game.seed, game.trial, game.correct, game.total] for game in run.games
            ],
        }
        self._kept.mkdir(parents=True, exist_ok=True)
        fresh = self._kept / f"{run.key}.new"
        fresh.write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")
        os.replace(fresh, self._kept / f"{run.key}.json")
        with self._lock:
            self._runs[run.key] = run
        score = entry.score
        return (
            f"{entry.agent}: recomputed, and on the leaderboard. {entry.split}, {entry.seeds} seeds, "
            f"{score.episodes:,} episodes, {score.success:.1%} correct, mean total {score.total:+.3f}."
        )


def _same_shop(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(one.get(name) == other[name] for name in ("fingerprint", "search"))


def _read(file: Path) -> Run:
    stored = json.loads(file.read_text(encoding="utf-8"))
    entry = Entry.model_validate(stored["entry"])
    games = tuple(
        Game(
            entry.agent, "agent", str(env_id), int(d), int(seed), bool(correct), float(total), int(trial), key_of(entry)
        )
        for env_id, d, seed, trial, correct, total in stored["episodes"]
    )
    return Run(entry, games)


def _note_in(file: Path) -> dict[str, str] | None:
    """The command that made a run, if the file is such a note."""
    if file.suffix != ".json" or file.stat().st_size > LONGEST_NOTE:
        return None
    try:
        note = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None
    if not isinstance(note, dict) or not isinstance(note.get("command"), str):
        return None
    return {"command": note["command"], "started": str(note.get("started", ""))}


def _checked(taken: Submission, engine: SearchEngine, between: Callable[[float], None]) -> list[Run]:
    """The runs in a submission, one per agent, each episode of which came out the same when played again.

    Raises:
        EcomrlveError: It is no whole run, or an episode is not what its actions lead to.
    """
    taken.of = sum(1 for _ in _lines(taken.folder))
    if not 0 < taken.of <= MOST_EPISODES:
        raise SubmissionError(f"There are {taken.of:,} episodes in these files; a run has 1 to {MOST_EPISODES:,}.")
    wrong: list[str] = []
    for number, line in enumerate(_lines(taken.folder), start=1):
        began = time.perf_counter()
        problem, record = replay.parse_line(line)
        if not problem:
            problem = replay.verify(record, engine).difference
        if problem:
            wrong.append(f"Episode {number} of {taken.of}: {problem}")
        if len(wrong) >= MOST_TOLD:
            break
        taken.done = number
        between(time.perf_counter() - began)
    if wrong:
        raise SubmissionError("\n".join(["Refused: it does not come out the same when it is played again.", *wrong]))
    found = read_rows([taken.folder])
    if found.problems:
        raise SubmissionError("\n".join(["Refused:", *found.problems[:MOST_TOLD]]))
    agents = sorted({row.agent for row in found.rows})
    if len(agents) > MOST_AGENTS:
        raise SubmissionError(f"These are runs of {len(agents)} agents; submit up to {MOST_AGENTS} at a time.")
    for agent in agents:
        if not agent.isprintable() or not 0 < len(agent) <= LONGEST_NAME:
            raise SubmissionError(f"An agent's name has 1 to {LONGEST_NAME} visible characters.")
    try:
        entries = [make_entry([taken.folder], agent) for agent in agents]
    except EvaluationError as error:
        raise SubmissionError(f"Refused: {error}.") from error
    return [
        Run(
            entry,
            tuple(
                Game(
                    row.agent,
                    "agent",
                    row.env_id,
                    row.difficulty,
                    row.seed,
                    row.correct,
                    row.total,
                    row.trial,
                    key_of(entry),
                )
                for row in found.rows
                if row.agent == entry.agent
            ),
        )
        for entry in entries
    ]


def _lines(folder: Path) -> Iterator[bytes]:
    """The lines of all files that are not blank.

    Raises:
        SubmissionError: A line is too long.
    """
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise SubmissionError(f"Refused: a line is longer than {LONGEST_LINE // 2**20} MB.")
                if line.strip():
                    yield line
