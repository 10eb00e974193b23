"""The leaderboard's file: one line of JSON per submission, with the command that made it, and its check.

A submission is a run over the first seeds of a held split, the same for every environment and difficulty it names. Its
line can be made again by anybody from the trajectories: their actions are executed again, and every figure recomputed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.console import Console
from rich.table import Table

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import COLLECTIONS
from ecomrlve.evaluation.grid import EvaluationError, cell_of
from ecomrlve.evaluation.recompute import recompute
from ecomrlve.evaluation.rows import Row, read_rows
from ecomrlve.evaluation.runner import commands_of
from ecomrlve.evaluation.statistics import mean_interval, wilson
from ecomrlve.replay import iter_trajectories
from ecomrlve.splits import HELD
from ecomrlve.trajectory import stable

SCHEMA: Final = 1
DIGITS = 6  # a figure is the same on every machine to so many decimals

Share = Annotated[float, Field(ge=0, le=1)]
Reward = Annotated[float, Field(ge=-1, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Score(_Strict):
    """Success and reward over some episodes, with 95 % intervals; repeated trials of a problem count as one."""

    episodes: Annotated[int, Field(ge=1)]
    success: Share
    success_low: Share
    success_high: Share
    total: Reward
    total_low: Reward
    total_high: Reward


class CellScore(Score):
    """The same for one environment at one difficulty."""

    env_id: str
    difficulty: Annotated[int, Field(ge=0, le=12)]


class Entry(_Strict):
    """One line of the leaderboard.

    Attributes:
        agent: Who played.
        split: ``test`` or ``dev``.
        seeds: How many of its seeds, from the first on, per environment and difficulty.
        trials: Repetitions of each.
        score: Over all episodes.
        cells: Per environment and difficulty.
        catalog: Name, fingerprint and kind of search.
        engine: Version of the program.
        commands: What made the run.
        actions: SHA-256 over all trajectories without what may differ between two runs of the same actions.
        made: The day (ISO).
    """

    schema_: Annotated[Literal[1], Field(alias="schema")] = SCHEMA
    agent: str
    split: Literal["dev", "test"]
    seeds: Annotated[int, Field(ge=1)]
    trials: Annotated[int, Field(ge=1)]
    score: Score
    cells: tuple[CellScore, ...]
    catalog: dict[str, str]
    engine: str
    commands: tuple[str, ...]
    actions: str
    made: str

    def to_json(self) -> str:
        """The line."""
        return json.dumps(self.model_dump(by_alias=True), ensure_ascii=False, separators=(",", ":"))


def make_entry(paths: Sequence[Path], agent: str = "") -> Entry:
    """The line of a run.

    Args:
        paths: Folders and files with its trajectories.
        agent: Whose; may be left out where there is only one.

    Raises:
        EvaluationError: It is no whole submission; the message says what is missing or too much.
    """
    found = read_rows(paths)
    agents = sorted({row.agent for row in found.rows})
    if not agent and len(agents) != 1:
        raise EvaluationError(f"name one agent; there are episodes of {', '.join(agents) or 'nobody'}")
    rows = [row for row in found.rows if not agent or row.agent == agent]
    if not rows:
        raise EvaluationError(f"there are no episodes of {agent!r}; there are some of {', '.join(agents) or 'nobody'}")
    split, seeds, trials = _coverage(rows)
    one = rows[0]
    return Entry(
        agent=one.agent,
        split=split,
        seeds=seeds,
        trials=trials,
        score=Score(**_scored(rows)),
        cells=tuple(
            CellScore(env_id=env_id, difficulty=d, **_scored(some)) for (env_id, d), some in _by_place(rows).items()
        ),
        catalog={"name": one.catalog, "fingerprint": one.fingerprint, "search": one.search},
        engine=one.engine,
        commands=tuple(commands_of(paths)),
        actions=_digest(paths, one.agent),
        made=date.today().isoformat(),
    )


def read_entries(file: Path) -> list[Entry]:
    """The lines of a leaderboard's file.

    Raises:
        EvaluationError: It cannot be read, or a line is no entry.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{file} cannot be read: {error}") from error
    entries = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                entries.append(Entry.model_validate_json(line))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                place = ".".join(map(str, first["loc"]))
                raise EvaluationError(f"{file.name}, line {number}: {place}: {first['msg']}") from error
    return entries


def check_entry(
    entry: Entry, paths: Sequence[Path], engine: SearchEngine, *, workers: int = 1, progress: bool = True
) -> list[str]:
    """What is wrong with a submission: nothing, if its actions lead to the figures it claims.

    Args:
        entry: The claim.
        paths: Its trajectories.
        engine: Of the catalog.
        workers: Processes.
        progress: Show a bar.
    """
    again = recompute(paths, engine, workers=workers, progress=progress)
    problems = list(again.wrong)
    try:
        found = make_entry(paths, entry.agent)
    except EvaluationError as error:
        return [*problems, str(error)]
    claimed, recomputed = (one.model_dump(exclude={"made", "commands"}) for one in (entry, found))
    for key, value in recomputed.items():
        if claimed[key] != value:
            problems.append(f"{key.rstrip('_')}: claimed {_short(claimed[key])}, found {_short(value)}")
    return problems


def show(entries: Sequence[Entry], console: Console) -> None:
    """Print entries, the best first; those of other splits, environments or difficulties are not compared."""
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        places = tuple((cell.env_id, cell.difficulty) for cell in entry.cells)
        groups[entry.split, entry.seeds, places, entry.catalog["fingerprint"], entry.catalog["search"]].append(entry)
    for (split, seeds, places, _, search), some in groups.items():
        difficulties = sorted({d for _, d in places})
        envs = {env_id for env_id, _ in places}
        name = next((name for name, members in COLLECTIONS.items() if set(members) == envs), ", ".join(sorted(envs)))
        title = f"{split}, {seeds} seeds · {name} · d = {', '.join(map(str, difficulties))} · search by {search}"
        table = Table("agent", "episodes", "success", "95 %", "mean total", "95 %", title=title)
        for entry in sorted(some, key=lambda one: (-one.score.success, -one.score.total)):
            score = entry.score
            table.add_row(
                entry.agent,
                f"{score.episodes:,}",
                f"{score.success:.1%}",
                f"{score.success_low:.1%} – {score.success_high:.1%}",
                f"{score.total:+.3f}",
                f"{score.total_low:+.3f} – {score.total_high:+.3f}",
            )
        console.print(table)


def _coverage(rows: Sequence[Row]) -> tuple[Any, int, int]:
    """Split, seeds and trials of a submission that is whole."""
    if any(row.overrides != "{}" for row in rows):
        raise EvaluationError("episodes with axis overrides are no submission")
    split = next((name for name, seeds in HELD.items() if rows[0].seed in seeds), "")
    if not split:
        raise EvaluationError(f"seed {rows[0].seed} is for training; a submission is over dev or test")
    trials = 1 + max(row.trial for row in rows)
    count = max(len({row.seed for row in some}) for some in _by_place(rows).values())
    wanted = {(seed, trial) for seed in list(HELD[split])[:count] for trial in range(trials)}
    for (env_id, d), some in _by_place(rows).items():
        have = {(row.seed, row.trial) for row in some}
        if have != wanted:
            what, example = ("lacks", min(wanted - have)) if wanted - have else ("has, besides,", min(have - wanted))
            raise EvaluationError(
                f"{env_id} at d = {d} {what} seed {example[0]}, trial {example[1]}: a submission is over the first"
                f" seeds of {split}, as many for each environment and difficulty"
            )
    return split, count, trials


def _by_place(rows: Sequence[Row]) -> dict[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda one: one.cell):
        found[row.env_id, row.difficulty].append(row)
    return dict(found)


def _scored(rows: Sequence[Row]) -> dict[str, Any]:
    problems = [row.problem for row in rows]
    success = sum(row.correct for row in rows) / len(rows)
    different = len(set(problems))
    low, high = wilson(success * different, different)
    total = [row.total for row in rows]
    total_low, total_high = mean_interval(total, problems)
    figures = {
        "success": success, "success_low": low, "success_high": high,
        "total": sum(total) / len(total), "total_low": total_low, "total_high": total_high,
    }  # fmt: skip
    return {"episodes": len(rows)} | {name: round(value, DIGITS) for name, value in figures.items()}


def _digest(paths: Sequence[Path], agent: str) -> str:
    """One number for all trajectories of an agent, in whichever files and order they stand, and however often."""
    parts = set()
    for path in paths:
        for _, data in iter_trajectories(path):
            if data is not None and (cell := cell_of(data)).agent == agent:
                text = json.dumps([repr(cell), stable(data)], sort_keys=True, separators=(",", ":"))
                parts.add(hashlib.sha256(text.encode()).digest())
    return hashlib.sha256(b"".join(sorted(parts))).hexdigest()


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 100 else f"{text[:99]}…"
