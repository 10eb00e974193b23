"""The certificate: all laws measured over a grid of cells, as tables and as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from ecomrlve import __version__
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.evaluation import laws, laws_of_fairness, leaks, monotone, recovery
from ecomrlve.evaluation.laws import CHEAT_DIFFICULTIES, LawResult

ALL_LAWS = (1, 2, 3, 4, 5, 6, 7, 8)
CHEAT_SEEDS, SLIP_SEEDS = 20, 20  # seeds per (environment, d) for laws 2 and 5
FULL_CHEAT_SEEDS, FULL_SLIP_SEEDS = 400, 60  # the same for the certificate that is published
RECOVERY_SEEDS = 6  # seeds per (environment, d) for law 6, whose noisy queries must all be encoded
FEW_SEEDS = 2  # seeds per (environment, d) for the laws that play each episode many times


@dataclass(frozen=True, slots=True)
class Certificate:
    """The laws' results for one catalog.

    Attributes:
        catalog: Name and fingerprint.
        results: One result per law that was measured.
        seconds: Law → seconds that measuring it took.
    """

    catalog: dict[str, Any]
    results: tuple[LawResult, ...]
    seconds: Mapping[int, float] = field(default_factory=dict)

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
    slip_seeds: int = SLIP_SEEDS,
    cheats_with_vectors: bool = False,
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
        cheat_seeds: Seeds per cheat, environment and difficulty (3, 6 and 12), at most.
        slip_seeds: Seeds per environment and difficulty for the imperfect agent of law 5.
        cheats_with_vectors: Whether cheats search with sentence vectors too, as all other agents do.
        catalog: How another process can load the same catalog; None is the default one.
        words_only: Whether that process must search by words alone.
        progress: Whether to show bars.
    """
    cells = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in seeds]
    few = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in list(seeds)[:FEW_SEEDS]]
    results: list[LawResult] = []
    seconds: dict[int, float] = {}

    def run(law: int, measure: Callable[[], LawResult]) -> None:
        started = time.perf_counter()
        results.append(measure())
        seconds[law] = time.perf_counter() - started

    if 1 in which or 7 in which:
        run(1, lambda: laws.solvable(engine, cells, workers, progress))
    perfect = results[0].passed if results else True
    if 2 in which:
        numbers = range(cheat_seeds)
        # Cheats ask thousands of queries that nobody asks twice. What they find matters little, how they are judged
        # matters; so they search by words, which takes a hundredth of the time that encoding takes.
        searched = engine if cheats_with_vectors else engine.by_words()
        run(2, lambda: laws.not_hackable(searched, envs, CHEAT_DIFFICULTIES, numbers, workers, progress))
    if 4 in which:
        run(4, lambda: leaks.no_leak(engine, envs, list(seeds), workers, progress))
    if 5 in which:
        levels = sorted(difficulties)
        run(5, lambda: monotone.monotone(engine, envs, levels, range(slip_seeds), workers, progress))
    if 6 in which:
        named = [(env_id, d, seed) for env_id in envs for d in difficulties for seed in list(seeds)[:RECOVERY_SEEDS]]
        run(6, lambda: recovery.recoverable(engine, named, workers, progress))
    if 7 in which:
        run(7, lambda: laws_of_fairness.bounded(engine, few, workers, perfect, progress))
    if 8 in which:
        run(8, lambda: laws_of_fairness.indifferent(engine, few, workers, progress))
    # Last, because it runs threads in this process, after which forking is not safe any more.
    if 3 in which:
        run(3, lambda: laws.deterministic(engine, few, catalog, words_only, workers, progress))
    results = [result for result in results if result.law in which]
    name = {"name": engine.catalog.name, "fingerprint": engine.catalog.fingerprint, "products": len(engine.catalog)}
    return Certificate(name, tuple(sorted(results, key=lambda result: result.law)), seconds)


def show(certificate: Certificate, console: Console) -> None:
    """Print one table per law and the verdict."""
    about = certificate.catalog
    console.print(f"Catalog [bold]{about['name']}[/] ({about['products']:,} products, {about['fingerprint']})")
    for result in certificate.results:
        mark = "[green]passed[/]" if result.passed else "[red]FAILED[/]"
        console.print(
            f"\n[bold]Law {result.law}: {result.name}[/] — {mark}. {result.summary}"
            + (f" [dim]({certificate.seconds[result.law]:.0f} s)[/]" if result.law in certificate.seconds else "")
        )
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
