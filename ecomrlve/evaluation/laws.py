"""The laws of the contract, each as a measurement that can fail.

Every function here plays episodes and returns a `LawResult`: a verdict, one table, and what it means.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from ecomrlve.agents.base import play
from ecomrlve.agents.cheats import CHEATS, PARTIAL_BY_DESIGN, make_cheat
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.evaluation.pool import each, environment
from ecomrlve.trajectory import stable

Cell = tuple[str, int, int]  # environment, difficulty, seed

CHEAT_DIFFICULTIES = (3, 6, 12)
CHEATS_FROM = 3
MEAN_BOUND = -0.2
ENOUGH_SEEDS = 400  # from so many on the bounds hold as they stand; below, for the 99 % limit
CORRECT_BOUND = {False: 0.10, True: 0.05}  # up to d = 5, and from d = 6
ONE_SIDED_99 = 0.99


@dataclass(slots=True)
class LawResult:
    """What measuring one law gave.

    Attributes:
        law: Number in the contract.
        name: Its name.
        passed: Whether it holds.
        summary: One sentence with the figures.
        rows: A table, one dict per row.
    """

    law: int
    name: str
    passed: bool
    summary: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "law": self.law, "name": self.name, "passed": self.passed, "summary": self.summary, "rows": self.rows,
        }  # fmt: skip


# --- 1. solvable (and the perfect run of 7) --------------------------------------------------------------------------


def _reference_cell(cell: Cell) -> dict[str, Any]:
    env_id, d, seed = cell
    env = environment(env_id)
    reward = play(env, ReferenceAgent(), seed, d)
    problem, axes = env.episode.problem, env.episode.axes
    return {
        "env": env_id, "d": d, "seed": seed, "correct": reward.correct, "task": reward.task, "total": reward.total,
        "turns": env.episode.turn, "budget": axes.turn_budget, "dropped": list(problem.dropped),
        "supported": problem.supported, "wanted": axes.constraints, "reason": reward.reason,
    }  # fmt: skip


def solvable(engine: SearchEngine, cells: Sequence[Cell], workers: int, progress: bool = True) -> LawResult:
    """Law 1: the reference agent solves every cell, with r_task = 1 exactly."""
    outcomes = each(_reference_cell, cells, engine, workers=workers, label="law 1", progress=progress)
    rows = []
    grouped: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        grouped[outcome["env"], outcome["d"]].append(outcome)
    for (env_id, d), found in sorted(grouped.items()):
        dropped = Counter(hazard for outcome in found for hazard in outcome["dropped"])
        row = {
            "env": env_id, "d": d, "episodes": len(found), "correct": sum(o["correct"] for o in found),
            "perfect": sum(o["task"] == 1.0 for o in found),
            "turns": round(sum(o["turns"] for o in found) / len(found), 2), "budget": found[0]["budget"],
            "dropped": ", ".join(f"{name} {count / len(found):.0%}" for name, count in dropped.items()) or "–",
        }  # fmt: skip
        if found[0]["supported"] >= 0:
            counts = Counter(o["supported"] for o in found)
            row["constraints"] = f"{found[0]['wanted']} wanted: " + ", ".join(
                f"{number}×{count}" for number, count in sorted(counts.items(), reverse=True)
            )
        rows.append(row)
    failures = [o for o in outcomes if not o["correct"] or o["task"] != 1.0]
    right = sum(o["correct"] for o in outcomes)
    summary = f"reference agent {right}/{len(outcomes)} correct, {len(outcomes) - len(failures)} with r_task = 1"
    if failures:
        worst = failures[0]
        summary += f"; first failure {worst['env']} d={worst['d']} seed={worst['seed']}: {worst['reason']}"
    return LawResult(1, "solvable", not failures, summary, rows)


# --- 2. not hackable -------------------------------------------------------------------------------------------------


def _cheat_cell(task: tuple[str, str, int, int]) -> tuple[float, bool, float]:
    """r_task, correct, and the chance that a guess at everything unsaid is right."""
    name, env_id, d, seed = task
    env = environment(env_id)
    reward = play(env, make_cheat(name), seed, d)
    return reward.task, reward.correct, guessing_chance(env.episode)


def guessing_chance(episode: Episode) -> float:
    """The generator's own figure for whoever knows the titles of E_CART's list and guesses the rest, one of each.

    One of the products of that title in the history, times one of its variants; nothing where more than one is wanted
    or something is to be replaced. For other environments 0: no bound is raised there.
    """
    if not isinstance(episode.problem.goal, tuple):
        return 0.0
    chance, world = 1.0, episode.world
    for item in episode.problem.goal:
        if item.fallback is not None and item.fallback.row is None:
            continue  # sold out and to be left out: it cannot be bought wrongly
        if item.quantity > 1 or item.fallback is not None:
            return 0.0
        title = world.catalog.folded_title(item.row)
        chance /= sum(world.catalog.folded_title(row) == title for row in world.history)
        chance /= max(1, len(world.variants_of(item.row)))
    return chance


def not_hackable(
    engine: SearchEngine,
    envs: Sequence[str],
    difficulties: Sequence[int],
    seeds: Sequence[int],
    workers: int,
    progress: bool = True,
) -> LawResult:
    """Law 2: no cheat scores, from d = 3 on."""
    levels = [d for d in difficulties if d >= CHEATS_FROM]
    groups = [(name, env_id, d) for env_id in envs for name in CHEATS for d in levels]
    # All cheats on one episode follow each other: most search with the opening, which is then encoded once.
    tasks = [(name, env_id, d, seed) for env_id in envs for d in levels for seed in seeds for name in CHEATS]
    outcomes = each(_cheat_cell, tasks, engine, workers=workers, label="law 2", progress=progress)
    by_group: dict[tuple[str, str, int], list[tuple[float, bool, float]]] = defaultdict(list)
    for (*group, _), outcome in zip(tasks, outcomes, strict=True):
        by_group[tuple(group)].append(outcome)  # type: ignore[index]
    rows = []
    for name, env_id, d in groups:
        found = by_group[name, env_id, d]
        scores = [task for task, _, _ in found]
        mean = float(np.mean(scores))
        error = float(np.std(scores, ddof=1) / math.sqrt(len(found))) if len(found) > 1 else 0.0
        correct = sum(ok for _, ok, _ in found)
        guess = float(np.mean([chance for _, _, chance in found]))
        declared = env_id in PARTIAL_BY_DESIGN.get(name, ())
        bound = max(CORRECT_BOUND[d >= 6], guess)
        # Few seeds make noisy shares: then a cheat fails only where even the lower 99 % limit is above the bound.
        lowest = stats.binomtest(correct, len(found)).proportion_ci(0.98, "exact").low if correct else 0.0
        exact = len(found) >= ENOUGH_SEEDS and guess <= CORRECT_BOUND[d >= 6]
        passed = declared or mean - 2.33 * error * (len(found) < ENOUGH_SEEDS) <= MEAN_BOUND
        passed = passed and (correct / len(found) <= bound if exact else lowest <= bound)
        rows.append(
            {
                "env": env_id, "cheat": name, "d": d, "episodes": len(found), "mean r_task": round(mean, 3),
                "bound on it": "declared" if declared else MEAN_BOUND, "correct": f"{correct / len(found):.1%}",
                "bound on that": f"{CORRECT_BOUND[d >= 6]:.0%}", "chance of a guess": f"{guess:.1%}",
                "passed": passed,
            }
        )  # fmt: skip
    worst = max((row for row in rows if row["bound on it"] != "declared"), key=_mean_task, default=None)
    if worst is None:
        return LawResult(2, "not hackable", True, "no difficulty from 3 on was asked for", [])
    summary = (
        f"{len(CHEATS)} cheats × {len(envs)} environments × d = {', '.join(map(str, levels))}, {len(seeds)} seeds; "
        f"best mean r_task {worst['mean r_task']:+.3f} ({worst['cheat']}, {worst['env']}, d={worst['d']})"
    )
    return LawResult(2, "not hackable", all(row["passed"] for row in rows), summary, rows)


def _mean_task(row: dict[str, Any]) -> float:
    return row["mean r_task"]


# --- 3. deterministic ------------------------------------------------------------------------------------------------


def trajectory_bytes(env: Environment, seed: int, d: int, env_id: str | None = None) -> bytes:
    """What a reference episode leaves behind, without what may differ between runs."""
    play(env, ReferenceAgent(), seed, d, env_id=env_id)
    record = stable(env.trajectory().to_dict())
    return json.dumps(record, sort_keys=True, ensure_ascii=False).encode()


def _bytes_cell(cell: Cell) -> bytes:
    return trajectory_bytes(environment(cell[0]), cell[2], cell[1])


def digests_in_new_process(cells: Sequence[Cell], catalog: str | None, words_only: bool) -> list[str]:
    """Digests of the same episodes from a fresh interpreter with another hash seed."""
    code = (
        "import json,sys,hashlib\n"
        "from ecomrlve.evaluation.pool import engine_of\n"
        "from ecomrlve.evaluation.laws import trajectory_bytes\n"
        "from ecomrlve.environment import Environment\n"
        "cells, catalog, words = json.load(sys.stdin)\n"
        "engine = engine_of(catalog, words_only=words, progress=False)\n"
        "print(json.dumps([hashlib.sha256(trajectory_bytes(Environment((e,), engine), s, d)).hexdigest()"
        " for e, d, s in cells]))\n"
    )
    environ = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps([list(cells), catalog, words_only]),
        capture_output=True, text=True, env=environ, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.strip().splitlines()[-1])


def deterministic(
    engine: SearchEngine, cells: Sequence[Cell], catalog: str | None, words_only: bool, progress: bool = True
) -> LawResult:
    """Law 3: same bytes again, in other orders, in 8 threads, in another process; and seeds that differ, differ."""
    import hashlib

    rows: list[dict[str, Any]] = []
    first = [hashlib.sha256(b).hexdigest() for b in each(_bytes_cell, cells, engine, label="law 3", progress=progress)]

    def check(name: str, digests: Sequence[str]) -> None:
        same = sum(one == other for one, other in zip(first, digests, strict=True))
        rows.append({"check": name, "episodes": len(first), "identical": same, "passed": same == len(first)})

    order = list(range(len(cells)))
    random.Random(1).shuffle(order)
    shuffled: dict[int, str] = {}
    for number in order:
        env_id, d, seed = cells[number]
        shuffled[number] = hashlib.sha256(trajectory_bytes(Environment((env_id,), engine), seed, d)).hexdigest()
    check("shuffled order, new environments", [shuffled[number] for number in range(len(cells))])

    def one(cell: Cell) -> str:
        return hashlib.sha256(trajectory_bytes(Environment((cell[0],), engine), cell[2], cell[1])).hexdigest()

    with ThreadPoolExecutor(8) as pool:
        check("8 threads at once", list(pool.map(one, cells)))
    check("another process, other hash seed", digests_in_new_process(cells, catalog, words_only))
    rows += _different_seeds(engine, sorted({cell[0] for cell in cells}))
    summary = "; ".join(f"{row['check']}: {row['identical']}/{row['episodes']}" for row in rows)
    return LawResult(3, "deterministic", all(row["passed"] for row in rows), summary, rows)


def fingerprint(env: Environment) -> str:
    """What makes a problem: its goal and what the customer knows, as text."""
    episode = env.episode
    goal = episode.problem.goal
    slots = [slot.public() for slot in episode.problem.slots]
    rows = [(i.row, i.variant, i.quantity) for i in goal] if isinstance(goal, tuple) else goal.type
    return json.dumps([rows, slots, list(episode.problem.switch.items())], sort_keys=True, default=str)


def _different_seeds(engine: SearchEngine, envs: Sequence[str]) -> list[dict[str, Any]]:
    """Problems of different seeds are distinct, also between the ranges of training, dev and test."""
    rows = []
    ranges = [*range(0, 100), *range(10_000, 10_100), *range(1_000_000, 1_000_300)]
    for env_id in envs:
        env = Environment((env_id,), engine)
        prints, targets = [], []
        for seed in ranges:
            env.reset(seed=seed, options={"difficulty": 6})
            prints.append(fingerprint(env))
            goal = env.episode.problem.goal
            targets.append({engine.catalog.type_of(i.row) for i in goal} if isinstance(goal, tuple) else {goal.type})
        distinct = len(set(prints))
        rows.append(
            {"check": f"{env_id}: distinct problems over dev, test and training seeds", "episodes": len(ranges),
             "identical": distinct, "passed": distinct == len(ranges)}
        )  # fmt: skip
        near = np.array([len(a & b) > 0 for a, b in itertools.pairwise(targets)], float)
        far = np.array([len(a & b) > 0 for a, b in zip(targets, targets[97:], strict=False)], float)
        spread = 4 * math.sqrt(near.var() / len(near) + far.var() / len(far))
        rows.append(
            {"check": f"{env_id}: neighbouring seeds share a type {near.mean():.1%}, distant ones {far.mean():.1%}",
             "episodes": len(near), "identical": len(near), "passed": bool(abs(near.mean() - far.mean()) <= spread)}
        )  # fmt: skip
    return rows
