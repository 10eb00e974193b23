"""What a report says about a group of episodes: averages with intervals, causes of failure, refusals of tools."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ecomrlve.evaluation.failures import CAUSES
from ecomrlve.evaluation.rows import Row, numbers_in
from ecomrlve.evaluation.statistics import mean_interval, pass_hat_k, wilson
from ecomrlve.rewards import INVALID_TOTAL, contributions

Key = TypeVar("Key", bound=Hashable)

PARTS = ("task", "efficiency", "hallucination", "invalid")


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """The rows by key; keys and rows keep their order."""
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


def summary(rows: Sequence[Row], confidence: float) -> dict[str, Any]:
    """Averages over the episodes of a group, ready for JSON.

    Shares and means are over episodes. Their intervals count problems, since trials of one problem depend on each
    other: as if all trials of a problem came out alike, which is the most cautious assumption.

    Args:
        rows: At least one.
        confidence: Of the intervals.
    """
    episodes = len(rows)
    problems = [row.problem for row in rows]
    distinct = len(set(problems))
    correct = sum(row.correct for row in rows)
    share = correct / episodes
    totals = [row.total for row in rows]
    low, high = mean_interval(totals, problems, confidence)
    return {
        "episodes": episodes,
        "problems": distinct,
        "correct": correct,
        "success": _with_interval(share, *wilson(share * distinct, distinct, confidence)),
        "total": _with_interval(mean(totals), low, high),
        "task": mean(row.task for row in rows),
        "efficiency": mean(row.efficiency for row in rows),
        "hallucination": mean(row.hallucination for row in rows),
        "contributions": _contributions(rows),
        "turns": mean(row.turns for row in rows),
        "user_turns": mean(row.user_turns for row in rows),
        "tool_calls": mean(sum(row.tool_calls.values()) for row in rows),
        "tool_errors": mean(sum(row.tool_errors.values()) for row in rows),
        "invalid": mean(row.invalid for row in rows),
        "truncated": mean(row.truncated for row in rows),
        "failed": sum(row.failed for row in rows),
        "notes": _notes(rows),
        **_times(rows),
    }


def mean(values: Iterable[float]) -> float:
    """The mean, the same in whatever order the values come; 0 of none."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0


def _with_interval(value: float, low: float, high: float) -> dict[str, float]:
    return {"mean": value, "low": low, "high": high}


def _contributions(rows: Sequence[Row]) -> dict[str, float]:
    """What each part adds to the mean total; an invalid output replaces all of them by −1."""
    sums = dict.fromkeys(PARTS, 0.0)
    for row in rows:
        if row.invalid:
            sums["invalid"] += INVALID_TOTAL
            continue
        for part, value in contributions(row.task, row.efficiency, row.hallucination).items():
            sums[part] += value
    return {part: value / len(rows) for part, value in sums.items()}


def _notes(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """The numbers that agents noted, such as tokens and cost. An episode without a note counts as 0."""
    noted: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in numbers_in(row.notes).items():
            noted[name].append(value)
    return {
        name: {"sum": math.fsum(values), "per_episode": math.fsum(values) / len(rows)}
        for name, values in sorted(noted.items())
    }


def _times(rows: Sequence[Row]) -> dict[str, float | None]:
    """Seconds per episode and the engine's share of them, over the episodes that were timed."""
    timed = [row.seconds for row in rows if row.seconds is not None]
    both = [(row.engine_seconds, row.seconds) for row in rows if row.engine_seconds is not None and row.seconds]
    spent = math.fsum(seconds for _, seconds in both)
    return {
        "seconds": mean(timed) if timed else None,
        "engine_share": math.fsum(engine for engine, _ in both) / spent if spent else None,
    }


def parts_of(rows: Sequence[Row]) -> dict[str, float]:
    """Means of the environment's own figures, each over the episodes that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in row.parts.items():
            values[name].append(value)
    return {name: mean(found) for name, found in sorted(values.items())}


def failures_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Why episodes failed, the most frequent main cause first.

    ``main`` counts episodes in which it was the main cause, ``mentioned`` all in which it was one at all.
    """
    failed = [row for row in rows if not row.correct]
    main = Counter(row.causes[0] for row in failed if row.causes)
    mentioned = Counter(cause for row in failed for cause in set(row.causes))
    return [
        {
            "cause": cause,
            "sentence": CAUSES.get(cause, ""),
            "main": main[cause],
            "mentioned": mentioned[cause],
            "share_of_failures": main[cause] / len(failed),
            "share_of_episodes": main[cause] / len(rows),
        }
        for cause in sorted(mentioned, key=lambda cause: (-main[cause], -mentioned[cause], cause))
    ]


def errors_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Refusals of tools by code, the most frequent first."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.tool_errors)
    return [
        {"code": code, "count": counts[code], "per_episode": counts[code] / len(rows)}
        for code in sorted(counts, key=lambda code: (-counts[code], code))
    ]


def repeated(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """pass^k for k from 1 to the most trials of a problem; empty where nothing was repeated."""
    cells = [(sum(row.correct for row in trials), len(trials)) for trials in grouped(rows, _problem).values()]
    most = max(n for _, n in cells)
    if most == 1:
        return []
    enough: Mapping[int, int] = {k: sum(n >= k for _, n in cells) for k in range(1, most + 1)}
    return [
        {"k": k, "value": pass_hat_k(cells, k), "problems": count, "left_out": len(cells) - count}
        for k, count in enough.items()
    ]


def _problem(row: Row) -> tuple[str, int, str, int]:
    return row.problem
