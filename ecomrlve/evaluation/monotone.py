"""Law 5, monotone: a fixed imperfect agent does worse as the difficulty rises."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ecomrlve.agents.base import play
from ecomrlve.agents.slipping import SLIP, SlippingAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.difficulty import HIGHEST, LOWEST
from ecomrlve.evaluation.laws import Cell, LawResult
from ecomrlve.evaluation.pool import each, environment

MOST_RISE = 2.0  # standard errors
LEAST_FALL = 0.2  # from d = 0 to d = 12


def _slipping_cell(cell: Cell) -> float:
    env_id, d, seed = cell
    return play(environment(env_id), SlippingAgent(), seed, d).task


def curves(
    engine: SearchEngine, envs: Sequence[str], difficulties: Sequence[int], seeds: Sequence[int], workers: int,
    progress: bool,
) -> dict[str, list[dict[str, float]]]:  # fmt: skip
    """The imperfect agent's mean r_task per environment and difficulty.

    Args:
        engine: The engine to play on.
        envs: Environments.
        difficulties: Values of d, ascending.
        seeds: Seeds per (environment, d).
        workers: Processes.
        progress: Whether to show a bar.

    Returns:
        For each environment its points: ``{"d", "mean", "error"}``, the error being one standard error.
    """
    cells = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in seeds]
    outcomes = each(_slipping_cell, cells, engine, workers=workers, label="law 5", progress=progress)
    grouped: dict[tuple[str, int], list[float]] = defaultdict(list)
    for (env_id, d, _), task in zip(cells, outcomes, strict=True):
        grouped[env_id, d].append(task)
    return {
        env_id: [
            {
                "d": d,
                "mean": float(np.mean(grouped[env_id, d])),
                "error": float(np.std(grouped[env_id, d], ddof=1) / math.sqrt(len(seeds))),
            }
            for d in difficulties
        ]
        for env_id in envs
    }


def monotone(
    engine: SearchEngine, envs: Sequence[str], difficulties: Sequence[int], seeds: Sequence[int], workers: int,
    progress: bool,
) -> LawResult:  # fmt: skip
    """Law 5: from one d to the next the mean never rises by more than two standard errors, and it falls in all."""
    rows: list[dict[str, Any]] = []
    levels = sorted(difficulties)
    for env_id, points in curves(engine, envs, levels, seeds, workers, progress).items():
        rises = []
        for before, after in itertools.pairwise(points):
            error = math.hypot(before["error"], after["error"])
            rises.append((after["mean"] - before["mean"]) / error if error else 0.0)
        fall = points[0]["mean"] - points[-1]["mean"]
        whole = levels[0] == LOWEST and levels[-1] == HIGHEST
        passed = max(rises, default=0.0) <= MOST_RISE and (not whole or fall >= LEAST_FALL)
        rows.append(
            {"env": env_id, **{f"d={point['d']:.0f}": f"{point['mean']:+.2f}" for point in points},
             "largest rise": f"{max(rises, default=0.0):+.1f} s.e.", "fall": f"{fall:.2f}", "passed": passed}
        )  # fmt: skip
    least = min(float(row["fall"]) for row in rows)
    summary = (
        f"reference agent that slips ({SLIP:.0%} per fact and entry, more with typos), {len(seeds)} seeds; "
        f"smallest fall of the mean {least:.2f}"
    )
    return LawResult(5, "monotone", all(row["passed"] for row in rows), summary, rows)
