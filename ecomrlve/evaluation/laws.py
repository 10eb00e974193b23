"""The laws of the contract, each as a measurement that can fail.

Every function here plays episodes and returns a `LawResult`: a verdict, one table, and what it means.
"""

from __future__ import annotations

import hashlib
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
from ecomrlve.agents.cheats import CHEATS, PARTIAL_BY_DESIGN, cheats_for, make_cheat
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment
from ecomrlve.evaluation.essence import essence, guessing_chance, subjects
from ecomrlve.evaluation.pool import each, environment
from ecomrlve.replay import verify
from ecomrlve.trajectory import stable

Cell = tuple[str, int, int]  # environment, difficulty, seed

CHEAT_DIFFICULTIES = (3, 6, 12)
CHEATS_FROM = 3
MEAN_BOUND = -0.2
FEW_OUTCOMES = 20
ENOUGH_SEEDS = 400  # from so many on the bounds hold as they stand; below, for the 99 % limit
CORRECT_BOUND = {False: 0.10, True: 0.05}  # up to d = 5, and from d = 6
Z_99 = 2.33  # one-sided
FIRST_LOOK = 100  # seeds after which a cheat that surely fails is done with


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
    budget = env.episode.turn_budget
    replayed = verify(env.trajectory().to_dict(), env.engine)
    return {
        "env": env_id, "d": d, "seed": seed, "correct": reward.correct, "task": reward.task, "total": reward.total,
        "turns": env.episode.turn, "budget": budget, "replayed": replayed.ok, "dropped": list(problem.dropped),
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
            "perfect": sum(o["task"] == 1.0 for o in found), "replayed": sum(o["replayed"] for o in found),
            "turns": round(sum(o["turns"] for o in found) / len(found), 2), "budget": found[0]["budget"],
            "dropped": ", ".join(f"{name} {count / len(found):.0%}" for name, count in dropped.items()) or "–",
        }  # fmt: skip
        if found[0]["supported"] >= 0:
            counts = Counter(o["supported"] for o in found)
            row["constraints"] = f"{found[0]['wanted']} wanted: " + ", ".join(
                f"{number}×{count}" for number, count in sorted(counts.items(), reverse=True)
            )
        rows.append(row)
    failures = [o for o in outcomes if not (o["correct"] and o["task"] == 1.0 and o["replayed"])]
    right = sum(o["correct"] for o in outcomes)
    summary = f"reference agent {right}/{len(outcomes)} correct, "
    summary += f"{sum(o['task'] == 1.0 for o in outcomes)} with r_task = 1, "
    summary += f"{sum(o['replayed'] for o in outcomes)} replayed byte for byte"
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


def not_hackable(
    engine: SearchEngine,
    envs: Sequence[str],
    difficulties: Sequence[int],
    seeds: Sequence[int],
    workers: int,
    progress: bool = True,
    *,
    first_look: int = FIRST_LOOK,
) -> LawResult:
    """Law 2: no cheat scores, from d = 3 on.

    After the first seeds a cheat is done with, where the 99 % limits of both its figures are within the bounds already;
    all others play on to the last seed.

    Args:
        engine: The engine to play on.
        envs: Environments.
        difficulties: Values of d; those below 3 are left out.
        seeds: Seeds per cheat, environment and difficulty.
        workers: Processes.
        progress: Whether to show a bar.
        first_look: Seeds after which the hopeless cheats are done with; no such look where it is not below all seeds.
    """
    levels = [d for d in difficulties if d >= CHEATS_FROM]
    groups = [(name, env_id, d) for env_id in envs for name in cheats_for(env_id) for d in levels]
    by_group: dict[tuple[str, str, int], list[tuple[float, bool, float]]] = {group: [] for group in groups}
    open_groups, done = groups, 0
    for upto in sorted({min(first_look, len(seeds)), len(seeds)}):
        # All cheats on one episode follow each other: most search with the opening, which is then encoded once.
        tasks = sorted(
            ((name, env_id, d, seed) for name, env_id, d in open_groups for seed in seeds[done:upto]),
            key=lambda task: (task[1], task[2], task[3]),
        )
        outcomes = each(_cheat_cell, tasks, engine, workers=workers, label="law 2", progress=progress)
        for (*group, _), outcome in zip(tasks, outcomes, strict=True):
            by_group[tuple(group)].append(outcome)  # type: ignore[index]
        open_groups = [group for group in open_groups if not _hopeless(group, by_group[group])]
        done = upto
    rows = [_cheat_row(group, by_group[group]) for group in groups if by_group[group]]
    worst = max((row for row in rows if row["bound on it"] != "declared"), key=_mean_task, default=None)
    if worst is None:
        return LawResult(2, "not hackable", True, "no difficulty from 3 on was asked for", [])
    episodes = sum(row["episodes"] for row in rows)
    failed = [row for row in rows if not row["passed"]]
    summary = (
        f"{len(CHEATS)} cheats, {len(envs)} environments, d = {', '.join(map(str, levels))}, up to {len(seeds)} seeds "
        f"({episodes:,} episodes); best mean r_task {worst['mean r_task']:+.3f} ({worst['cheat']}, {worst['env']}, "
        f"d={worst['d']})"
    )
    if failed:
        summary += f"; {len(failed)} above a bound, first {failed[0]['cheat']} in {failed[0]['env']}"
    return LawResult(2, "not hackable", not failed, summary, rows)


Group = tuple[str, str, int]
Outcomes = Sequence[tuple[float, bool, float]]


def _figures(found: Outcomes) -> tuple[float, float, int, float]:
    """Mean r_task, its standard error, how many were correct, and the mean chance of a guess."""
    scores = [task for task, _, _ in found]
    error = float(np.std(scores, ddof=1) / math.sqrt(len(found))) if len(found) > 1 else 0.0
    if len(found) < FEW_OUTCOMES:  # equal scores of a few episodes do not mean that the mean is known
        error = max(error, 1 / math.sqrt(len(found)))
    return float(np.mean(scores)), error, sum(ok for _, ok, _ in found), float(np.mean([c for _, _, c in found]))


def _hopeless(group: Group, found: Outcomes) -> bool:
    """Whether a cheat surely stays within both bounds."""
    name, env_id, d = group
    mean, error, correct, guess = _figures(found)
    if env_id in PARTIAL_BY_DESIGN.get(name, ()):
        return False
    highest = stats.binomtest(correct, len(found)).proportion_ci(0.98, "exact").high
    return mean + Z_99 * error <= MEAN_BOUND and highest <= max(CORRECT_BOUND[d >= 6], guess)


def _cheat_row(group: Group, found: Outcomes) -> dict[str, Any]:
    name, env_id, d = group
    mean, error, correct, guess = _figures(found)
    declared = env_id in PARTIAL_BY_DESIGN.get(name, ())
    bound = max(CORRECT_BOUND[d >= 6], guess)
    # Few seeds make noisy shares: then a cheat fails only where even the lower 99 % limit is above the bound.
    enough = len(found) >= ENOUGH_SEEDS
    lowest = stats.binomtest(correct, len(found)).proportion_ci(0.98, "exact").low if correct else 0.0
    passed = declared or mean - Z_99 * error * (not enough) <= MEAN_BOUND
    # With all seeds the share itself must be within the bound, or no better than a guess at 99 % confidence.
    within = correct / len(found) <= CORRECT_BOUND[d >= 6] or lowest <= guess if enough else lowest <= bound
    passed = passed and within
    return {
        "env": env_id, "cheat": name, "d": d, "episodes": len(found), "mean r_task": round(mean, 3),
        "bound on it": "declared" if declared else MEAN_BOUND, "correct": f"{correct / len(found):.1%}",
        "bound on that": f"{CORRECT_BOUND[d >= 6]:.0%}", "chance of a guess": f"{guess:.1%}", "passed": passed,
    }  # fmt: skip


def _mean_task(row: dict[str, Any]) -> float:
    return row["mean r_task"]


# --- 3. deterministic ------------------------------------------------------------------------------------------------


def trajectory_bytes(env: Environment, seed: int, d: int, env_id: str | None = None) -> bytes:
    """What a reference episode leaves behind, without what may differ between runs."""
    play(env, ReferenceAgent(), seed, d, env_id=env_id)
    record = stable(env.trajectory().to_dict())
    return json.dumps(record, sort_keys=True, ensure_ascii=False).encode()


def _digest_cell(cell: Cell) -> str:
    return hashlib.sha256(trajectory_bytes(environment(cell[0]), cell[2], cell[1])).hexdigest()


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
    engine: SearchEngine, cells: Sequence[Cell], catalog: str | None, words_only: bool, workers: int, progress: bool
) -> LawResult:
    """Law 3: same bytes again, in other orders, in 8 threads, in another process; and seeds that differ, differ."""
    rows = _different_seeds(engine, list(dict.fromkeys(cell[0] for cell in cells)), workers, progress)
    first = each(_digest_cell, cells, engine, workers=workers, label="law 3", progress=progress)

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
    summary = "; ".join(f"{row['check']}: {row['identical']}/{row['episodes']}" for row in rows)
    return LawResult(3, "deterministic", all(row["passed"] for row in rows), summary, rows)


SEED_RANGES = (range(0, 60), range(10_000, 10_060), range(1_000_000, 1_000_120))  # dev, test, training
FAR = 97  # seeds so far apart are no neighbours


def _essence_cell(cell: Cell) -> tuple[str, list[str]]:
    env_id, d, seed = cell
    env = environment(env_id)
    env.reset(seed=seed, options={"difficulty": d})
    return essence(env_id, env.episode.problem), sorted(subjects(env_id, env.episode.problem))


def _different_seeds(engine: SearchEngine, envs: Sequence[str], workers: int, progress: bool) -> list[dict[str, Any]]:
    """Problems of different seeds are distinct, also between the ranges of training, dev and test."""
    rows = []
    seeds = [seed for found in SEED_RANGES for seed in found]
    for env_id in envs:
        cells = [(env_id, 6, seed) for seed in seeds]
        found = each(_essence_cell, cells, engine, workers=workers, label="law 3", progress=progress)
        distinct = len({text for text, _ in found})
        rows.append(
            {"check": f"{env_id}: distinct problems over dev, test and training seeds", "episodes": len(seeds),
             "identical": distinct, "passed": distinct == len(seeds)}
        )  # fmt: skip
        targets = [set(names) for _, names in found]
        near = np.array([len(a & b) > 0 for a, b in itertools.pairwise(targets)], float)
        far = np.array([len(a & b) > 0 for a, b in zip(targets, targets[FAR:], strict=False)], float)
        spread = 4 * math.sqrt(near.var() / len(near) + far.var() / len(far)) + 1 / len(far)
        rows.append(
            {"check": f"{env_id}: neighbouring seeds share a subject {near.mean():.1%}, distant ones {far.mean():.1%}",
             "episodes": len(near), "identical": len(near), "passed": bool(abs(near.mean() - far.mean()) <= spread)}
        )  # fmt: skip
    return rows
