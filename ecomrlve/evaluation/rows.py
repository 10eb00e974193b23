"""One row per evaluated episode: the few figures of a trajectory that a report needs, read from any number of files.

A trajectory takes tens of kilobytes, a row about two. Files are read line by line, so that a hundred thousand episodes
fit into the memory of any machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ecomrlve.episode import INVALID
from ecomrlve.errors import EcomrlveError, TrajectoryError, short
from ecomrlve.evaluation.failures import causes, tool_calls, tool_errors
from ecomrlve.evaluation.grid import canonical_overrides
from ecomrlve.replay import iter_trajectories

CellKey = tuple[str, str, int, str, int, int]  # agent, environment, d, overrides, seed, trial
# In `Row.notes`: why the agent could not put out anything. Not the same as an output that is invalid.
FAILED = "failed"
_HUGE = 1e300  # No figure is larger; comparing with it also sorts out NaN and integers that no float holds.


class MixedCatalogsError(EcomrlveError, ValueError):
    """Episodes of different catalogs, or of different ways to search one, which no average may mix."""


@dataclass(frozen=True, slots=True)
class Row:
    """One episode.

    Attributes:
        agent: Who played.
        env_id: Environment.
        difficulty: d.
        overrides: Axis overrides as canonical JSON, ``{}`` for none.
        seed: Seed of the episode.
        trial: Number of the repetition of the same episode by the same agent, from 0.
        correct: Whether it counts as a success.
        invalid: Whether an invalid output ended it.
        total: The reward, from −1 to 1.
        task: r_task.
        efficiency: r_eff, whether it counted or not.
        hallucination: r_hall.
        parts: The environment's own figures that are numbers; a yes is 1.
        turns: Turns of the agent.
        user_turns: Those of them that the customer caused.
        tool_calls: Tool → calls.
        tool_errors: Code of a refusal → how many.
        causes: Why it is not correct, the main cause first.
        reason: The verifier's sentence.
        seconds: Time the episode took, in seconds; None where nobody measured it.
        engine_seconds: The environment's part of that time.
        notes: What the agent noted about itself: token counts, cost, problems.
        terminated: Ended by an answer, a quit or an invalid output.
        truncated: Ended by the turn budget.
        catalog: Name of the catalog.
        fingerprint: Fingerprint of the catalog.
        search: How it was searched.
        engine: Version of the program that played it.
    """

    agent: str
    env_id: str
    difficulty: int
    overrides: str
    seed: int
    trial: int
    correct: bool
    invalid: bool
    total: float
    task: float
    efficiency: float
    hallucination: float
    parts: Mapping[str, float] = field(default_factory=dict)
    turns: int = 0
    user_turns: int = 0
    tool_calls: Mapping[str, int] = field(default_factory=dict)
    tool_errors: Mapping[str, int] = field(default_factory=dict)
    causes: tuple[str, ...] = ()
    reason: str = ""
    seconds: float | None = None
    engine_seconds: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    terminated: bool = False
    truncated: bool = False
    catalog: str = ""
    fingerprint: str = ""
    search: str = ""
    engine: str = ""

    @property
    def cell(self) -> CellKey:
        """What identifies the episode: no two rows of a report share it."""
        return self.agent, self.env_id, self.difficulty, self.overrides, self.seed, self.trial

    @property
    def problem(self) -> tuple[str, int, str, int]:
        """The generated problem, which all agents and trials share: environment, d, overrides, seed."""
        return self.env_id, self.difficulty, self.overrides, self.seed

    @property
    def failed(self) -> bool:
        """Whether the agent could not put out anything, such as for a broken connection."""
        return bool(self.notes.get(FAILED))


@dataclass(frozen=True, slots=True)
class Rows:
    """All that `read_rows` found.

    Attributes:
        rows: One row per cell, in the order of the cells.
        problems: One sentence for each line that was skipped, and for each cell whose records contradict each other.
        doubled: Records left out because their cell was there already.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    doubled: int = 0


class _Shape(BaseModel):
    """What must be true of a stored record before anything is computed from it."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class _Reward(_Shape):
    task: float = Field(ge=-1, le=1)
    efficiency: float = Field(ge=-1, le=1)
    hallucination: float = Field(ge=-1, le=1)
    total: float = Field(ge=-1, le=1)
    parts: dict[str, Any] = {}
    correct: bool
    reason: str = ""


class _Player(_Shape):
    name: str = ""


class _Evaluation(_Shape):
    agent: str = ""
    trial: int = Field(default=0, ge=0)
    seconds: float | None = Field(default=None, ge=0)
    engine_seconds: float | None = Field(default=None, ge=0)
    notes: dict[str, Any] | None = None


class _Record(_Shape):
    env_id: str
    difficulty: int
    overrides: dict[str, float]
    seed: int
    catalog: dict[str, Any]
    engine: str = ""
    player: _Player = _Player()
    evaluation: _Evaluation = _Evaluation()
    steps: list[dict[str, Any]]
    reward: _Reward
    terminated: bool = False
    truncated: bool = False


def row_of(trajectory: Mapping[str, Any]) -> Row:
    """The row of one stored trajectory.

    Args:
        trajectory: The record; ``evaluation`` in it is what a runner added. Without that, the player is the agent.

    Raises:
        TrajectoryError: A field that the row needs is missing or of the wrong type.
    """
    try:
        record = _Record.model_validate(trajectory)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise TrajectoryError(f"{place}: {problem['msg']}") from error
    played = record.evaluation
    parts = numbers_in(record.reward.parts)
    parts.pop("turns", None)
    discounted = sum(bool(step.get("discounted")) for step in record.steps)
    return Row(
        agent=sys.intern(played.agent or record.player.name or "unknown"),
        env_id=sys.intern(record.env_id),
        difficulty=record.difficulty,
        overrides=sys.intern(canonical_overrides(record.overrides)),
        seed=record.seed,
        trial=played.trial,
        correct=record.reward.correct,
        invalid=record.reward.reason.startswith(INVALID),
        total=record.reward.total,
        task=record.reward.task,
        efficiency=record.reward.efficiency,
        hallucination=record.reward.hallucination,
        user_turns=int(parts.pop("user_turns", discounted)),
        parts=parts,
        turns=len(record.steps),
        tool_calls=dict(sorted(tool_calls(trajectory).items())),
        tool_errors=dict(sorted(tool_errors(trajectory).items())),
        causes=causes(trajectory),
        reason=record.reward.reason,
        seconds=played.seconds,
        engine_seconds=played.engine_seconds,
        notes=played.notes or {},
        terminated=record.terminated,
        truncated=record.truncated,
        catalog=sys.intern(str(record.catalog.get("name", ""))),
        fingerprint=sys.intern(str(record.catalog.get("fingerprint", ""))),
        search=sys.intern(str(record.catalog.get("search", ""))),
        engine=sys.intern(record.engine),
    )


def read_rows(paths: Sequence[str | Path]) -> Rows:
    """The rows of all trajectories in some files and folders.

    Where a cell was played twice, the first record in which the agent did not fail counts. Files are read in the order
    of their names, so that the order in which they are given changes nothing.

    Args:
        paths: JSONL files, and folders whose ``*.jsonl`` files are read.

    Raises:
        TrajectoryError: There is nothing at a path, or it is not text.
        MixedCatalogsError: The episodes were played on different catalogs.
    """
    kept: dict[CellKey, Row] = {}
    problems: list[str] = []
    doubled = 0
    first: Row | None = None
    for file in _files(paths):
        for problem, row in _read(file):
            if row is None:
                problems.append(problem)
                continue
            first = first or row
            _check_catalog(first, row)
            known = kept.get(row.cell)
            if known is None:
                kept[row.cell] = row
                continue
            doubled += 1
            if _differ(known, row):
                problems.append(_contradiction(known, row))
            if known.failed and not row.failed:
                kept[row.cell] = row
    return Rows(tuple(kept[cell] for cell in sorted(kept)), tuple(problems), doubled)


def _files(paths: Sequence[str | Path]) -> list[Path]:
    """The files, each once and by name; a path that is neither file nor folder stays, for the reader to refuse."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            found.setdefault(file.resolve(), file)
    return sorted(found.values(), key=lambda file: (file.name, str(file)))


def _read(file: Path) -> Iterator[tuple[str, Row | None]]:
    for problem, data in iter_trajectories(file):
        if data is None:
            yield problem, None
            continue
        try:
            yield "", row_of(data)
        except TrajectoryError as error:
            yield f"{file.name}, episode {short(data.get('episode_id', 'without a name'))}: {error}; skipped", None


def _check_catalog(first: Row, row: Row) -> None:
    if (first.fingerprint, first.search) == (row.fingerprint, row.search):
        return
    one, other = (f"{short(r.catalog)!r} ({short(r.fingerprint)}, search by {short(r.search)})" for r in (first, row))
    raise MixedCatalogsError(
        f"these episodes were played on different catalogs, {one} and {other}; report on each alone"
    )


def _differ(known: Row, row: Row) -> bool:
    """Whether two records of a cell contradict each other. A failed agent's reward says nothing."""
    return not known.failed and not row.failed and (known.total, known.correct) != (row.total, row.correct)


def _contradiction(known: Row, row: Row) -> str:
    agent, env_id, d, overrides, seed, trial = row.cell
    with_overrides = "" if overrides == "{}" else f" with {overrides}"
    return (
        f"{short(agent)}, {short(env_id)}, d={d}, seed {seed}, trial {trial}{with_overrides}: there is one record with "
        f"total {known.total:.3f} and another with {row.total:.3f}; the first counts"
    )


def numbers_in(values: Mapping[str, Any]) -> dict[str, float]:
    """Those that are finite numbers; a yes is 1, a no 0."""
    return {
        sys.intern(key): int(value) if isinstance(value, bool) else value
        for key, value in values.items()
        if isinstance(value, int | float) and abs(value) < _HUGE
    }
