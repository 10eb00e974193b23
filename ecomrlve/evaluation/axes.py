"""The published tables, measured on generated episodes before the budget law drops anything, and what it dropped."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.difficulty import difficulty
from ecomrlve.evaluation.pool import current_engine, each, environment
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import generate
from ecomrlve.tasks.bundle import parts_wanted
from ecomrlve.tasks.cart import items_wanted, quantity_probability, variant_probability
from ecomrlve.tasks.journey import intents_wanted
from ecomrlve.tasks.status import indirect_probability
from ecomrlve.tools import REGISTRY

STANDARD_ERRORS = 4
BATCH = 250


@dataclass(frozen=True, slots=True)
class AxisRow:
    """One measured figure.

    Attributes:
        env: Environment.
        d: Difficulty.
        axis: What was measured.
        formula: What it should be.
        measured: What it is.
        error: Standard error of the measurement, 0 for a fixed quantity.
        count: Draws behind it.
        within: Whether it is within four standard errors.
    """

    env: str
    d: int
    axis: str
    formula: float
    measured: float
    error: float
    count: int

    @property
    def within(self) -> bool:
        """Whether formula and measurement agree within four standard errors."""
        return abs(self.measured - self.formula) <= STANDARD_ERRORS * self.error + 1e-9


def _count(task: tuple[str, int, int, int]) -> Counter[str]:
    env_id, d, first, last = task
    environment(env_id)
    total: Counter[str] = Counter()
    axes = difficulty(d)
    for seed in range(first, last):
        problem = generate(environment(env_id).task_of(env_id), current_engine(), axes, (env_id, seed))
        total.update(problem.drawn)
        total["episodes"] += 1
        total["turns"] += problem.world.axes.turn_budget
        total.update(f"dropped {hazard}" for hazard in problem.dropped)
        if seed % 10 == 0 and "catalog_search" in environment(env_id).task_of(env_id).tools:
            total.update(_noise_in_a_search(problem.world, seed))
    return total


def _noise_in_a_search(world: Any, seed: int) -> Counter[str]:
    """Hits of a filtered search that do not fit the filter: the distractors."""
    name = Stream("axes", seed).choice(world.catalog.type_names)
    args = {"query": name, "filters": {"type": name}, "limit": 20}
    hits = REGISTRY["catalog_search"].call(world, REGISTRY["catalog_search"].validate(args))["results"]
    return Counter({"hits": len(hits), "noise": sum(hit["type"] != name for hit in hits)})


def measure(
    engine: SearchEngine, envs: Sequence[str], difficulties: Sequence[int], episodes: int, workers: int, progress: bool
) -> tuple[list[AxisRow], list[dict[str, Any]]]:
    """Measure axes 1–5 and what the environments scale by themselves.

    Args:
        engine: Search engine with the catalog.
        envs: Environments.
        difficulties: Values of d.
        episodes: Episodes per (environment, d).
        workers: Processes.
        progress: Whether to show a bar.

    Returns:
        The measured figures, and per (environment, d) how often the budget law dropped which hazard.
    """
    cells = [(env_id, d) for env_id in envs for d in difficulties]
    tasks = [(e, d, s, min(s + BATCH, episodes)) for e, d in cells for s in range(0, episodes, BATCH)]
    counts: dict[tuple[str, int], Counter[str]] = {cell: Counter() for cell in cells}
    for task, found in zip(
        tasks, each(_count, tasks, engine, workers=workers, label="axes", progress=progress), strict=True
    ):
        counts[task[:2]].update(found)
    rows: list[AxisRow] = []
    dropped = []
    for (env_id, d), total in counts.items():
        rows += _rows(env_id, d, total)
        shares = {
            hazard: f"{total[f'dropped {hazard}'] / total['episodes']:.1%}"
            for hazard in ("sellout", "switch", "omission", "optional")
        }
        dropped.append({"env": env_id, "d": d, "episodes": total["episodes"], **shares})
    return rows, dropped


def _rows(env_id: str, d: int, total: Counter[str]) -> list[AxisRow]:
    axes = difficulty(d)
    episodes = total["episodes"]

    def share(axis: str, expected: float, hits: str, of: str) -> AxisRow:
        count = total[of]
        error = math.sqrt(max(expected * (1 - expected), 1e-12) / max(count, 1))
        return AxisRow(env_id, d, axis, expected, total[hits] / max(count, 1), error, count)

    def mean(axis: str, expected: float, name: str) -> AxisRow:
        return AxisRow(env_id, d, axis, expected, total[name] / episodes, 0.0, episodes)

    rows = [mean("turn_budget", axes.turn_budget, "turns")]
    if total["omittable"]:
        rows.append(share("omission", axes.omission, "omitted", "omittable"))
    if total["hits"]:
        rows.append(share("distractors", axes.distractors, "noise", "hits"))
    if total["units"]:
        rows.append(share("sellout", axes.sellout, "fated", "units"))
    if env_id in ("E_PD", "E_SUB", "E_BUNDLE"):
        rows.append(mean("constraints", axes.constraints, "constraints"))
    if env_id == "E_CART":
        rows += [
            mean("distinct items", items_wanted(d), "items"),
            share("variant required", variant_probability(d), "variants", "items"),
            share("quantity > 1", quantity_probability(d), "quantities", "items"),
        ]
    if env_id == "E_STATUS":
        rows.append(share("indirect reference", indirect_probability(d), "indirect", "episodes"))
    if env_id == "E_BUNDLE":
        rows.append(mean("slots", parts_wanted(d), "parts"))
    if env_id == "E_JOURNEY":
        rows.append(mean("intents", intents_wanted(d), "intents"))
    return rows


def show(rows: Sequence[AxisRow], dropped: Sequence[dict[str, Any]], console: Console) -> None:
    """Print both tables."""
    table = Table("env", "d", "axis", "formula", "measured", "std. error", "draws", "within 4 s.e.", box=None)
    for row in rows:
        table.add_row(
            row.env, str(row.d), row.axis, f"{row.formula:.4f}", f"{row.measured:.4f}", f"{row.error:.4f}",
            str(row.count), "✓" if row.within else "[red]✗[/]",
        )  # fmt: skip
    console.print(table)
    console.print("\nEpisodes in which the budget law dropped a hazard:")
    table = Table(*dropped[0], box=None)
    for entry in dropped:
        table.add_row(*map(str, entry.values()))
    console.print(table)


def to_dict(rows: Sequence[AxisRow], dropped: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Both tables, ready for JSON."""
    return {"axes": [asdict(row) | {"within": row.within} for row in rows], "dropped": list(dropped)}
