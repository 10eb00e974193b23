"""The certificate: all laws measured over a grid of cells, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from ecomrlve import __version__
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.evaluation import laws, laws_of_fairness
from ecomrlve.evaluation.laws import CHEAT_DIFFICULTIES, LawResult

ALL_LAWS = (1, 2, 3, 4, 6, 7, 8)
CHEAT_SEEDS = 400


@dataclass(frozen=True, slots=True)
class Certificate:
    """The laws' results for one catalog.

    Attributes:
        catalog: Name and fingerprint.
        results: One result per law that was measured.
    """

    catalog: dict[str, Any]
    results: tuple[LawResult, ...]

    @property
    def passed(self) -> bool:
        """Whether every measured law holds."""
        return all(result.passed for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "engine": __version__,
            "catalog": self.catalog,
            "passed": self.passed,
            "laws": [result.to_dict() for result in self.results],
        }


def certify(
    engine: SearchEngine,
    envs: Sequence[str],
    difficulties: Sequence[int],
    seeds: Sequence[int],
    *,
    workers: int = 1,
    which: Sequence[int] = ALL_LAWS,
    cheat_seeds: int = CHEAT_SEEDS,
    catalog: str | None = None,
    words_only: bool = False,
    progress: bool = True,
) -> Certificate:
    """Measure the laws.

    Args:
        engine: Search engine with the catalog.
        envs: Environments.
        difficulties: Values of d.
        seeds: Seeds per (environment, d).
        workers: Processes.
        which: Numbers of the laws to measure.
        cheat_seeds: Seeds per cheat, environment and difficulty (3, 6 and 12).
        catalog: How another process can load the same catalog; None is the default one.
        words_only: Whether that process must search by words alone.
        progress: Whether to show bars.
    """
    cells = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in seeds]
    few = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in list(seeds)[:5]]
    results: list[LawResult] = []
    perfect = True
    if 1 in which or 7 in which:
        first = laws.solvable(engine, cells, workers, progress)
        perfect = first.passed
        if 1 in which:
            results.append(first)
    if 2 in which:
        numbers = range(cheat_seeds)
        results.append(laws.not_hackable(engine, envs, CHEAT_DIFFICULTIES, numbers, workers, progress))
    if 4 in which:
        results.append(laws_of_fairness.no_leak(engine, envs, list(seeds), workers, progress))
    if 6 in which:
        results.append(laws_of_fairness.recoverable(engine, cells, workers, progress))
    if 7 in which:
        results.append(laws_of_fairness.bounded(engine, few, workers, perfect, progress))
    if 8 in which:
        results.append(laws_of_fairness.indifferent(engine, few, workers, progress))
    # Last, because it runs threads in this process, after which forking is not safe any more.
    if 3 in which:
        sample = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in list(seeds)[:2]]
        results.append(laws.deterministic(engine, sample, catalog, words_only, progress))
    name = {"name": engine.catalog.name, "fingerprint": engine.catalog.fingerprint, "products": len(engine.catalog)}
    return Certificate(name, tuple(sorted(results, key=lambda result: result.law)))


def show(certificate: Certificate, console: Console) -> None:
    """Print one table per law and the verdict."""
    about = certificate.catalog
    console.print(f"Catalog [bold]{about['name']}[/] ({about['products']:,} products, {about['fingerprint']})")
    for result in certificate.results:
        mark = "[green]passed[/]" if result.passed else "[red]FAILED[/]"
        console.print(f"\n[bold]Law {result.law}: {result.name}[/] — {mark}. {result.summary}")
        if not result.rows:
            continue
        columns = list(dict.fromkeys(key for row in result.rows for key in row))
        table = Table(*columns, box=None, header_style="bold", pad_edge=False)
        for row in result.rows:
            table.add_row(*(_cell(row.get(column)) for column in columns))
        console.print(table)
    console.print("\n[bold green]All laws hold.[/]" if certificate.passed else "\n[bold red]A law is broken.[/]")


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "✓" if value else "[red]✗[/]"
    return "" if value is None else str(value)
