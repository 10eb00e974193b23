"""Running a grid: what is done already is left alone, what is left is handed to workers, every episode is kept at once.

A run lives in a folder: trajectories in ``traj-*.jsonl``, and one ``run-*.json`` for each command that added to it. A
killed run goes on where it was when the same command is given again; several machines may fill one folder, or one each.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ecomrlve import __version__
from ecomrlve.agents.registry import players_of
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import TrajectoryError
from ecomrlve.evaluation.grid import Cell, EvaluationError, Plan, Shard, cell_of
from ecomrlve.evaluation.launchers import launched
from ecomrlve.replay import TrajectoryStore, iter_trajectories
from ecomrlve.trajectory import described

LOCK_SECONDS = 5.0  # how long the workers of a killed run may take to notice


@dataclass
class Outcome:
    """What a run did.

    Attributes:
        played: Episodes played now.
        kept: Cells that were done before.
        problems: Cells without an episode, and why.
    """

    played: int = 0
    kept: int = 0
    problems: list[tuple[Cell, str]] = field(default_factory=list)


def evaluate(
    plan: Plan,
    engine: SearchEngine,
    folder: Path,
    *,
    shard: Shard | None = None,
    workers: int = 1,
    launcher: str = "local",
    again_failed: bool = False,
    command: str = "",
    progress: bool = True,
) -> Outcome:
    """Play what is left of a grid.

    Args:
        plan: The grid.
        engine: The engine of its catalog.
        folder: Where the run lives; made if it is not there.
        shard: Which part of the grid to play; None for all of it.
        workers: Processes.
        launcher: ``local``, or ``ray`` for a Ray cluster (this machine, where none is running).
        again_failed: Play those cells again in which an agent got no answer from its model.
        command: The command, for the record.
        progress: Show a bar.

    Raises:
        EvaluationError: The folder holds episodes of another catalog, or is in use.
        EcomrlveError: An agent cannot play at all.
    """
    shard = shard or Shard()
    for name in dict.fromkeys(plan.agents):
        players = players_of(name)  # before anything is written: a mistyped name leaves no trace
        check = getattr(players, "check", None)
        if check is not None:
            check()
    with _held(folder, plan, shard) as run:
        done = done_cells(folder, engine, again_failed=again_failed)
        wanted = shard.of(plan.cells())
        cells = [cell for cell in wanted if cell not in done]
        _note(run, plan, shard, engine, command)
        outcome = Outcome(kept=len(wanted) - len(cells))
        store = TrajectoryStore(folder, sync=False)
        with tqdm(total=len(wanted), initial=outcome.kept, disable=not progress, unit="ep", mininterval=0.5) as bar:
            correct = 0
            for played in launched(launcher, plan, engine, cells, workers, store):
                if played.problem:
                    outcome.problems.append((played.cell, played.problem))
                else:
                    outcome.played += 1
                    correct += played.correct
                    bar.set_postfix_str(f"{correct / outcome.played:.0%} correct", refresh=False)
                bar.update()
        return outcome


def done_cells(folder: Path, engine: SearchEngine, *, again_failed: bool = False) -> set[Cell]:
    """The cells that a folder holds.

    Args:
        folder: Of a run; it need not be there.
        engine: What the episodes must have been played on.
        again_failed: Leave out those in which the agent got no answer.

    Raises:
        EvaluationError: An episode was played on another catalog, or with another kind of search.
    """
    found: set[Cell] = set()
    if not folder.is_dir():
        return found
    here = described(engine)
    for _, data in iter_trajectories(folder):
        if data is None:
            continue  # a line torn by a kill: its cell is played again
        there = data["catalog"]
        if there.get("fingerprint") != here["fingerprint"] or there.get("search") != here["search"]:
            raise EvaluationError(
                f"{folder} holds episodes on catalog {there.get('name')!r} with search by {there.get('search')!r}; this"
                f" one is {here['name']!r} with search by {here['search']!r}. Take another folder."
            )
        note = data.get("evaluation")
        failed = isinstance(note, dict) and bool((note.get("notes") or {}).get("failed"))
        if not (failed and again_failed):
            found.add(cell_of(data))
    return found


def commands_of(paths: Sequence[Path]) -> list[str]:
    """The commands that made the runs in some folders, oldest first."""
    found: dict[str, str] = {}
    for path in paths:
        for file in sorted(path.glob("run-*.json")) if path.is_dir() else ():
            try:
                note = json.loads(file.read_text(encoding="utf-8"))
                found.setdefault(str(note["command"]), str(note["started"]))
            except (ValueError, KeyError, TypeError, OSError) as error:
                raise EvaluationError(f"{file} cannot be read: {error}") from error
    return sorted(filter(None, found), key=lambda command: found[command])


@contextmanager
def _held(folder: Path, plan: Plan, shard: Shard) -> Iterator[Path]:
    """The file of this plan and shard, locked, so that the same command does not run twice at a time."""
    key = json.dumps([plan.to_dict(), str(shard)], sort_keys=True)
    run = folder / f"run-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = run.with_suffix(".lock").open("w")
    except OSError as error:
        raise TrajectoryError(f"cannot write to {folder}: {error.strerror}") from error
    with lock:
        # Workers hold it too: those of a run that was killed a moment ago still end.
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > until:
                    raise EvaluationError(f"this evaluation is running already in {folder}") from error
                time.sleep(0.1)
        yield run


def _note(run: Path, plan: Plan, shard: Shard, engine: SearchEngine, command: str) -> None:
    if run.exists():
        return
    note: dict[str, Any] = {
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "engine": __version__,
        "catalog": described(engine),
        "shard": str(shard),
        "plan": plan.to_dict(),
    }
    half = run.with_suffix(f".{os.getpid()}.tmp")
    half.write_text(json.dumps(note, indent=1, ensure_ascii=False), encoding="utf-8")
    half.replace(run)
