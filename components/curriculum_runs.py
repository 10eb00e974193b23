"""Learners for the curriculum tab: simulated ones, and the log of a real training run."""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.session import SessionError, whole
from ecomrlve.curriculum import LogEntry, read_log
from ecomrlve.errors import EcomrlveError, short
from ecomrlve.evaluation.curriculum_study import (
    ALWAYS_EASY,
    ALWAYS_HARD,
    GROUP_SIZE,
    GROUPS,
    SPEEDS,
    STEPS,
    Course,
    Learner,
    compare,
)

FIRST_LEARNER: dict[str, Any] = {"skill": 0, "speed": "medium", "seed": "7"}
LOWEST_SKILL, HIGHEST_SKILL = 0, 8
LOG_NAME, EPISODES_NAME = "curriculum.jsonl", "trajectories"
MOST_BYTES = 20 * 2**20
MOST_LINES = 200_000
MOST_ENVIRONMENTS = 16
MOST_POINTS = 300
MOST_PROBLEMS = 8
_number = itertools.count(1)
_lock = threading.Lock()


# --- simulated learners ----------------------------------------------------------------------------------------------


def learning(asked: dict[str, Any]) -> dict[str, Any]:
    """Value of the live picture: what becomes of one learner under three schedules.

    Args:
        asked: ``skill``, ``speed`` and ``seed``, as a browser sent them.
    """
    skill, speed, seed = whole(asked.get("skill")), asked.get("speed"), whole(asked.get("seed"))
    try:
        return {**_simulated(*_checked(skill, speed, seed)), "number": next(_number)}
    except EcomrlveError as error:
        return {**_choice(), "courses": [], "problem": str(error), "number": next(_number)}


def _checked(skill: Any, speed: Any, seed: Any) -> tuple[int, str, int]:
    if not _is_whole(skill) or not LOWEST_SKILL <= skill <= HIGHEST_SKILL:
        raise SessionError(f"The skill must be a whole number from {LOWEST_SKILL} to {HIGHEST_SKILL}.")
    if not isinstance(speed, str) or speed not in SPEEDS:
        raise SessionError(f"The learner is one of {', '.join(SPEEDS)}.")
    if not _is_whole(seed) or not 0 <= seed < 2**63:
        raise SessionError(f"The seed of luck must be a whole number from 0 to 2^63 − 1, not {short(repr(seed))}.")
    return skill, speed, seed


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _choice() -> dict[str, Any]:
    sizes = {"steps": STEPS, "groups": GROUPS, "group_size": GROUP_SIZE}
    return {"speeds": SPEEDS, "lowest": LOWEST_SKILL, "highest": HIGHEST_SKILL, **sizes}


@lru_cache(maxsize=64)
def _simulated(skill: int, speed: str, seed: int) -> dict[str, Any]:
    courses = compare(Learner(skill=float(skill), rate=SPEEDS[speed]), seed=seed)
    names = {
        "easy": f"Always easy (d = {ALWAYS_EASY})",
        "hard": f"Always hard (d = {ALWAYS_HARD})",
        "adaptive": "Adaptive",
    }
    shown = [{"name": name, "label": names[name], **_points(course)} for name, course in courses.items()]
    # As text, since a browser rounds large numbers.
    return {**_choice(), "skill": skill, "speed": speed, "seed": str(seed), "courses": shown}


def _points(course: Course) -> dict[str, Any]:
    shares = {
        name: [round(float(value), 3) for value in getattr(course, name)]
        for name in ("success", "useful", "skill", "exam")
    }
    ends = {name: [int(value) for value in getattr(course, name)] for name in ("low", "high")}
    return shares | ends


# --- the log of a real run -------------------------------------------------------------------------------------------


def run_file() -> Path | None:
    """The log of the training run that this Space shows, if one is named in ``ECOMRLVE_RUN``: a file, or a folder."""
    named = os.environ.get("ECOMRLVE_RUN")
    if not named:
        return None
    path = Path(named)
    return path if path.suffix == ".jsonl" else path / LOG_NAME


def run_episodes() -> list[Path]:
    """The folder of that run's sampled episodes, if there is a run; it need not be there yet."""
    file = run_file()
    return [] if file is None else [file.parent / EPISODES_NAME]


def no_run() -> dict[str, Any]:
    """Value of the picture of a real run before there is one."""
    return {"source": "", "runs": [], "problems": [], "from_server": run_file() is not None, "number": next(_number)}


def server_run() -> dict[str, Any]:
    """Value of the picture: the run that ``ECOMRLVE_RUN`` names, as far as it has got."""
    file = run_file()
    return no_run() if file is None else read_run(file, f"this Space's training run, {short(file.parent.name, 40)}")


def read_run(file: Path, source: str) -> dict[str, Any]:
    """Value of the picture: the log in a file.

    Args:
        file: A ``curriculum.jsonl``; whatever else it may be is told.
        source: What people call it.
    """
    try:
        entries, problems = _read(file)
    except (OSError, SessionError) as error:
        reason = str(error) if isinstance(error, SessionError) else f"there is no {LOG_NAME} that can be read yet"
        return {**no_run(), "source": source, "problems": [f"{source}: {reason}"]}
    by_environment: dict[str, list[LogEntry]] = defaultdict(list)
    for entry in entries:
        by_environment[entry.env_id].append(entry)
    if len(by_environment) > MOST_ENVIRONMENTS:
        problems = [*problems, f"only the first {MOST_ENVIRONMENTS} of {len(by_environment)} environments are shown"]
    runs = [_run(env_id, found) for env_id, found in list(by_environment.items())[:MOST_ENVIRONMENTS]]
    if not runs:
        problems = [*problems, "there is no line of a curriculum's log in it"]
    return {**no_run(), "source": source, "runs": runs, "problems": _first(problems)}


def _read(file: Path) -> tuple[list[LogEntry], list[str]]:
    """The entries of a log and the problems with its lines, within limits."""
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise SessionError(f"it has {size / 2**20:.1f} MB; up to {MOST_BYTES // 2**20} MB can be shown")
    # One at a time: a large file takes a while and some memory.
    with _lock, file.open("rb") as lines:
        entries, problems = read_log(itertools.islice(lines, MOST_LINES))
        if next(lines, None) is not None:
            problems.append(f"only the first {MOST_LINES} lines are shown")
    return entries, problems


def _first(problems: list[str]) -> list[str]:
    more = len(problems) - MOST_PROBLEMS
    return [*problems[:MOST_PROBLEMS], *([f"… and {more} more problems"] if more > 0 else [])]


def _run(env_id: str, entries: list[LogEntry]) -> dict[str, Any]:
    """One environment's course, in no more points than can be told apart.

    Windows are taken at the end of each stretch of steps; success is the mean over the stretch, of those steps that had
    episodes at d = high.
    """
    size = math.ceil(len(entries) / MOST_POINTS)
    stretches = [entries[start : start + size] for start in range(0, len(entries), size)]
    ends = [stretch[-1] for stretch in stretches]
    return {
        "env_id": env_id,
        "step": [entry.step for entry in ends],
        "low": [entry.low for entry in ends],
        "high": [entry.high for entry in ends],
        "success": [_mean([entry.success for entry in stretch]) for stretch in stretches],
        "lines": len(entries),
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(math.fsum(known) / len(known), 4) if known else None
