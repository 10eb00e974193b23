"""The report of a training run: every figure that its renderings show, as one structure that JSON holds.

It is made of what a run's folder holds and of nothing else, whether the run is through, going on, or was killed; it
takes plain data, so that it needs nothing of what trains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.curriculum import LogEntry
from ecomrlve.evaluation.training_report_curves import (
    DAPO,
    SFT,
    WINDOW,
    Curve,
    Line,
    curve,
    ends,
    frontier,
    of_environment,
)
from ecomrlve.evaluation.training_report_words import notes, summary, warnings

SCHEMA = 1
MOST_PROBLEMS = 20  # Skipped lines that a report quotes.
PARTS = ("total", "task", "efficiency", "hallucination")
_TIMES = ("generation", "environment", "update")


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """A training run in figures.

    Attributes:
        data: Plain data: ``run``, its record; ``finished``; ``summary``, ``warnings`` and ``notes``, one sentence each;
            ``headline``; ``stages``, by stage the steps and the curve of every figure that is known; ``environments``,
            a list; ``time``, where it went; ``problems``, lines that were skipped.
    """

    data: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self.data


def build(
    run: Mapping[str, Any],
    lines: Sequence[Line],
    curriculum: Sequence[LogEntry] = (),
    problems: Sequence[str] = (),
    *,
    finished: bool = False,
) -> TrainingReport:
    """Make the report of a run.

    Args:
        run: What ``run.json`` says.
        lines: What ``metrics.jsonl`` says, one line per stage and step, in order.
        curriculum: What ``curriculum.jsonl`` says.
        problems: A sentence for each line that was skipped.
        finished: Whether the run is through.
    """
    sft = [line for line in lines if line["stage"] == "sft"]
    dapo = [line for line in lines if line["stage"] == "dapo"]
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "training",
        "run": dict(run),
        "finished": finished,
        "window": WINDOW,
        "stages": {
            stage: {"steps": [line["step"] for line in found], "curves": _known(found, figures)}
            for stage, found, figures in (("sft", sft, SFT), ("dapo", dapo, DAPO))
            if found
        },
        "environments": _environments(dapo, curriculum, _group_size(run)),
        "time": _times(dapo),
        "not_finite": [
            {"stage": one["stage"], "step": one["step"], "figures": list(one["not_finite"])}
            for one in lines
            if one.get("not_finite")
        ],
        "problems": {"count": len(problems), "first": list(problems[:MOST_PROBLEMS])},
    }
    data["headline"] = _headline(data, dapo)
    return TrainingReport(data | {"summary": summary(data), "warnings": warnings(data), "notes": notes(data)})


def _known(lines: Sequence[Line], figures: Sequence[Any]) -> dict[str, Curve]:
    curves = {figure.key: curve(lines, figure) for figure in figures}
    return {key: found for key, found in curves.items() if found["step"]}


def _group_size(run: Mapping[str, Any]) -> int:
    """Rollouts per group by the run's settings; 1 where they do not say, which takes rollouts for independent."""
    size = run.get("config", {}).get("group_size")
    return size if isinstance(size, int) and size >= 1 else 1


# --- environments ----------------------------------------------------------------------------------------------------


def _environments(dapo: Sequence[Line], curriculum: Sequence[LogEntry], group_size: int) -> list[dict[str, Any]]:
    seen = dict.fromkeys(entry.env_id for entry in curriculum)
    for line in dapo:
        seen |= dict.fromkeys(line.get("environments") or {})
    return [_environment(env_id, dapo, curriculum, group_size) for env_id in sorted(seen)]


def _environment(env_id: str, dapo: Sequence[Line], curriculum: Sequence[LogEntry], group_size: int) -> dict[str, Any]:
    own = [one for line in dapo if (one := (line.get("environments") or {}).get(env_id))]
    window, reached = _windows(env_id, dapo, curriculum), frontier(dapo, env_id, group_size)
    curves = {part: of_environment(dapo, env_id, part, part) for part in (*PARTS, "success", "turns", "difficulty")}
    return {
        "env_id": env_id,
        "low": window["low"][-1] if window["step"] else None,
        "high": window["high"][-1] if window["step"] else None,
        "rollouts": sum(one["rollouts"] for one in own),
        # Of another difficulty than today's it would say nothing about today's.
        "frontier": _last(reached) if reached["step"] and reached["difficulty"][-1] == window["high"][-1] else None,
        "recent": {name: ends(found["value"])[1] if found["step"] else None for name, found in curves.items()},
        "curves": {"window": window, "frontier": reached, **curves},
    }


def _windows(env_id: str, dapo: Sequence[Line], curriculum: Sequence[LogEntry]) -> Curve:
    """The window at each step, by the curriculum's log; where that has no line of this environment, by the metrics."""
    rows = [(entry.step, entry.low, entry.high) for entry in curriculum if entry.env_id == env_id]
    if not rows:
        found = [(line["step"], (line.get("environments") or {}).get(env_id)) for line in dapo]
        rows = [(step, one["low"], one["high"]) for step, one in found if one and one.get("high") is not None]
    return {name: [row[place] for row in rows] for place, name in enumerate(("step", "low", "high"))}


def _last(found: Curve) -> dict[str, Any]:
    return {name: values[-1] for name, values in found.items()}


# --- time ------------------------------------------------------------------------------------------------------------


def _times(dapo: Sequence[Line]) -> dict[str, Any] | None:
    """Where the seconds of all steps went; None if no step was timed.

    Of several updates that share a batch only the first has the batch's seconds; the others' time counts all the same.
    """
    timed = [line["seconds"] for line in dapo if _is_timed(line)]
    total = math.fsum(seconds["step"] for seconds in timed)
    if not total:
        return None
    spent = {name: math.fsum(seconds.get(name) or 0.0 for seconds in timed) for name in _TIMES}
    spent["rest"] = max(0.0, total - math.fsum(spent.values()))
    parts = {name: {"seconds": value / len(timed), "share": value / total} for name, value in spent.items()}
    return {"steps": len(timed), "seconds": total, "seconds_per_step": total / len(timed), "parts": parts}


def _is_timed(line: Line) -> bool:
    """Whether a step's seconds are known, and those of its batch, where it made one."""
    seconds = line.get("seconds") or {}
    return seconds.get("step") is not None and (line.get("batch") is None or seconds.get("environment") is not None)


# --- at the top ------------------------------------------------------------------------------------------------------


def _headline(data: Mapping[str, Any], dapo: Sequence[Line]) -> dict[str, Any]:
    """The figures that a first look asks for; None for what is not known."""
    curves = data["stages"].get("dapo", {}).get("curves", {})
    time = data["time"]
    return {
        "steps": {stage: len(found["steps"]) for stage, found in data["stages"].items()},
        "rollouts": sum(int((line.get("batch") or {}).get("rollouts") or 0) for line in dapo),
        "environment_share": time["parts"]["environment"]["share"] if time else None,
        "seconds_per_step": time["seconds_per_step"] if time else None,
        **{
            key: ends(curves[key]["value"])[1] if key in curves else None
            for key in ("reward", "success", "without_variance", "tokens_per_second")
        },
    }
