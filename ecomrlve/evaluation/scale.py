"""How everything grows with the catalog: building, opening, memory, resets, searches, and builds that are killed.

Catalogs are generated, indexed with the static encoder, and measured beside the smallest one in the same process, so
that figures can be told as ratios. Building and opening happen in processes of their own, whose memory is read from
the operating system (Linux).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from ecomrlve.catalog.columns import fold
from ecomrlve.catalog.filters import Constraint
from ecomrlve.catalog.indexes import open_engine, sample_queries
from ecomrlve.catalog.large_search import PROPOSED, LargeSearchEngine
from ecomrlve.catalog.search import SearchEngine, fused
from ecomrlve.catalog.stored import is_catalog_folder
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.evaluation.benchmark import median
from ecomrlve.evaluation.processes import command_of, memory_of, watched

SIZES = (10_000, 100_000, 1_000_000, 2_000_000)
DIFFICULTIES = (0, 6, 12)
# What the project promises of the largest catalog.
TARGETS: dict[str, float] = {
    "build minutes": 15, "build memory": 12_000, "serving memory": 3_000, "open": 2_000, "opened memory": 300,
    "eight readers": 1.1, "reset": 10, "reset ratio": 2, "search": 25, "over faiss": 2,
}  # fmt: skip
RECALL = 0.95
READERS = 8
WARM_ROUNDS = 3
# Share of all products that a filter leaves → how it is made, by price or by the brand of about that size.
FILTERED = {"50 %": 0.5, "1 %": 0.01, "0.01 %": 0.0001}


def measure(folder: Path, sizes: Sequence[int] = SIZES, *, rounds: int = 60, progress: bool = True) -> dict[str, Any]:
    """Build a catalog of each size in a folder, unless it is there, and measure all of them.

    Args:
        folder: Where the catalogs are kept.
        sizes: How many products each has; the first is the one that the others are compared with.
        rounds: Repetitions behind each median.
        progress: Show a bar.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    bar = tqdm(total=2 * len(sizes), disable=not progress, desc="scale")
    for size in sizes:
        rows += [row | {"size": size} for row in built(folder / f"generated-{size}", size)]
        bar.update()
    engines: dict[int, SearchEngine] = {}
    for size in sizes:
        place = folder / f"generated-{size}"
        found = list(_opened(place))
        started = time.perf_counter()
        engines[size] = open_engine(place, "static")
        engines[size].warm_up()
        seconds = time.perf_counter() - started
        found.append({"what": "open catalog and indexes", "value": 1000 * seconds, "unit": "ms"})
        found += _searches(engines[size], rounds)
        memory = memory_of("self")
        found.append(
            {"what": "serving: resident", "value": memory["Rss"], "unit": "MB", "target": TARGETS["serving memory"]}
        )
        rows += [row | {"size": size} for row in found]
        bar.update()
    rows += _resets(engines, rounds)
    first = {(row["what"], row.get("env"), row.get("d")): row["value"] for row in rows if row["size"] == sizes[0]}
    for row in rows:
        key = row["what"], row.get("env"), row.get("d")
        if row["unit"] == "ms" and key in first:
            row["ratio"] = row["value"] / first[key]
    bar.close()
    return {"sizes": list(sizes), "rows": rows}


# --- building, in a process of its own -------------------------------------------------------------------------------


def built(place: Path, size: int) -> Iterator[dict[str, Any]]:
    """Generate and index; what takes how long, and the most memory that all processes held together."""
    total = 0.0
    for what, command in (
        ("generate", command_of("catalog", "generate", "--size", size, "--out", place)),
        ("embed and index", command_of("index", "build", place, "--encoder", "static", "--quiet")),
    ):
        if what == "generate" and is_catalog_folder(place):
            continue
        started = time.perf_counter()
        most = watched(command)
        seconds = time.perf_counter() - started
        total += seconds
        yield {"what": what, "value": seconds, "unit": "s"}
        yield {"what": f"{what}: memory", "value": most, "unit": "MB", "target": TARGETS["build memory"]}
    yield {"what": "build, all together", "value": total / 60, "unit": "min", "target": TARGETS["build minutes"]}
    size_on_disk = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    yield {"what": "on disk", "value": size_on_disk / 1e6, "unit": "MB"}


# --- opening ---------------------------------------------------------------------------------------------------------

_OPEN = """
import json, sys, time
import ecomrlve.catalog.store, ecomrlve.catalog.indexes, numpy
from ecomrlve.catalog.stored import open_catalog
from ecomrlve.evaluation.benchmark import median
from ecomrlve.evaluation.processes import memory_of
before = memory_of("self")
started = time.perf_counter()
catalog = open_catalog(sys.argv[1])
opened = time.perf_counter() - started
after = memory_of("self")
print(json.dumps({"seconds": opened, "before": before["Rss"], "after": after["Rss"]}), flush=True)
# Read a thousand products and three whole columns, as a busy server would have.
for row in range(0, len(catalog), max(1, len(catalog) // 1000)):
    catalog.product(row)
for name in ("price", "rating", "brand"):
    catalog.columns[name].values[:].sum()
print("read", flush=True)
sys.stdin.readline()
"""


def _opened(place: Path) -> Iterator[dict[str, Any]]:
    """Opening the catalog in a fresh process, and what eight processes that read it cost beside one."""
    reader = _Reader(place)
    alone = reader.pss()
    yield {"what": "open the catalog", "value": 1000 * reader.told["seconds"], "unit": "ms", "target": TARGETS["open"]}
    yield {
        "what": "resident after opening", "value": reader.told["after"], "unit": "MB",
        "target": TARGETS["opened memory"],
    }  # fmt: skip
    others = [_Reader(place) for _ in range(READERS - 1)]
    together = sum(one["Pss_File"] + one.get("Pss_Shmem", 0.0) for one in (reader.pss(), *(r.pss() for r in others)))
    anonymous = statistics.median(r.pss()["Pss_Anon"] for r in others)
    for one in (reader, *others):
        one.end()
    yield {"what": "one reader: mapped", "value": alone["Pss_File"], "unit": "MB"}
    yield {
        "what": "eight readers: mapped, of one", "value": together / alone["Pss_File"], "unit": "×",
        "target": TARGETS["eight readers"],
    }  # fmt: skip
    yield {"what": "a reader's own memory, interpreter and libraries", "value": anonymous, "unit": "MB"}


class _Reader:
    """A process that has opened a catalog and read some of it."""

    def __init__(self, place: Path):
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OPEN, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.told = json.loads(self._process.stdout.readline())
        self._process.stdout.readline()

    def pss(self) -> dict[str, float]:
        return memory_of(self._process.pid)

    def end(self) -> None:
        self._process.communicate("\n")


# --- episodes and searches -------------------------------------------------------------------------------------------


def _resets(engines: dict[int, SearchEngine], rounds: int) -> Iterator[dict[str, Any]]:
    """Medians of `reset`, one catalog after the other in every round, so that a machine's moods fall on all alike."""
    for env_id in COLLECTIONS["C8"]:
        environments = {size: Environment((env_id,), engine) for size, engine in engines.items()}
        for d in DIFFICULTIES:
            times: dict[int, list[float]] = {size: [] for size in engines}
            # What a catalog's first episodes find out about it, others find in its folder or in memory.
            for seed in range(-WARM_ROUNDS, rounds):
                for size, env in environments.items():
                    started = time.perf_counter()
                    env.reset(seed=seed % 10_000, options={"difficulty": d})
                    if seed >= 0:
                        times[size].append(1000 * (time.perf_counter() - started))
            for size in engines:
                yield {
                    "what": "reset", "env": env_id, "d": d, "value": statistics.median(times[size]), "unit": "ms",
                    "target": TARGETS["reset"], "target_ratio": TARGETS["reset ratio"], "size": size,
                }  # fmt: skip


def constraint_for(engine: SearchEngine, share: float) -> Constraint:
    """A filter that leaves about this share of the catalog: a price limit, or for tiny shares a brand."""
    catalog = engine.catalog
    if share >= 0.001:
        return Constraint("price", "le", float(np.quantile(catalog.columns["price"].values[:], share)))
    brand = catalog.columns["brand"]
    sizes = np.bincount(brand.values[:][brand.values[:] >= 0], minlength=len(brand.names))
    return Constraint("brand", "eq", brand.names[int(np.argmin(np.abs(sizes - share * len(catalog))))])


def _searches(engine: SearchEngine, rounds: int) -> Iterator[dict[str, Any]]:
    """A search step of an episode for new queries whose encoding is not counted, plain and with filters."""
    env = Environment(("E_PD",), engine)
    queries = sample_queries(engine.catalog, rounds * (1 + len(FILTERED)), seed=2)
    assert engine.encoder is not None
    for query in queries:
        engine.encoder.query(fold(query))
    for number, (name, share) in enumerate([("no filter", 1.0), *FILTERED.items()]):
        filters = {} if share == 1.0 else constraint_for(engine, share).as_filter()
        mine = queries[number * rounds : (number + 1) * rounds]
        env.reset(seed=1, options={"difficulty": 6})

        def step(place: int, mine: list[str] = mine, filters: dict[str, Any] = filters) -> None:
            if env.episode.over:
                env.reset(seed=2 + place, options={"difficulty": 6})
            env.step({"tool_calls": [{"name": "catalog_search", "args": {"query": mine[place], "filters": filters}}]})

        value = median(step, rounds)
        yield {"what": f"search step, {name}", "value": value, "unit": "ms", "target": TARGETS["search"]}
    yield from _recall(engine, rounds)
    if isinstance(engine, LargeSearchEngine):
        yield from _beside_faiss(engine, queries[:rounds])


def _recall(engine: SearchEngine, rounds: int) -> Iterator[dict[str, Any]]:
    """Of the ten most relevant products by the rule of fusion over the whole catalog, how many a search finds."""
    queries = sample_queries(engine.catalog, rounds, seed=3)
    for name, share in [("no filter", 1.0), *FILTERED.items()]:
        rows = engine.matching([] if share == 1.0 else [constraint_for(engine, share)])
        found = []
        for query in queries:
            scores = _exact(engine, query)
            # Equally relevant products count as found, whichever of them is shown.
            best = np.sort(scores[rows])[::-1][:10]
            hits = scores[engine.rank(query, rows)[:10]]
            found.append(float((hits >= best[-1] - 1e-4).mean()))
        yield {"what": f"recall@10, {name}", "value": statistics.fmean(found), "unit": "", "at_least": RECALL}


def _exact(engine: SearchEngine, query: str) -> np.ndarray:
    """Relevance of every row, with nothing approximate in it: also the best similarity is the true one."""
    if not isinstance(engine, LargeSearchEngine) or engine.encoder is None or engine.searcher is None:
        return engine.scores(query)
    words = engine.words.scores(fold(query))
    vectors, asked = engine.searcher.vectors, engine.encoder.query(fold(query))
    blocks = range(0, len(vectors), 200_000)
    meaning = np.concatenate(
        [engine.searcher.exact(asked, np.arange(s, min(s + 200_000, len(vectors)))) for s in blocks]
    )
    return fused(words, float(words.max(initial=0.0)), meaning, float(meaning.max(initial=0.0)))


def _beside_faiss(engine: LargeSearchEngine, queries: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The dense part of a search, and the same index asked without us."""
    assert engine.encoder is not None
    assert engine.searcher is not None
    vectors = [engine.encoder.query(fold(query))[None, :] for query in queries]
    searcher = engine.searcher
    plain = median(lambda number: searcher.plain(vectors[number], PROPOSED), len(vectors))
    ours = median(lambda number: searcher.nearest(vectors[number], PROPOSED), len(vectors))
    fresh = sample_queries(engine.catalog, len(queries), seed=4)
    for query in fresh:
        engine.encoder.query(fold(query))
    whole = median(lambda number: engine.order(fresh[number]), len(fresh))
    yield {"what": "plain faiss on the same index", "value": plain, "unit": "ms"}
    yield {"what": "our dense search", "value": ours, "unit": "ms"}
    yield {
        "what": "our dense search, of plain faiss",
        "value": ours / plain,
        "unit": "×",
        "target": TARGETS["over faiss"],
    }
    yield {"what": "a whole ranking, words and fusion too", "value": whole, "unit": "ms"}


# --- showing ---------------------------------------------------------------------------------------------------------


def show(figures: dict[str, Any], console: Console) -> bool:
    """Print a table with a column per size, and say what promises the largest catalog does not keep.

    Returns:
        Whether it keeps all.
    """
    sizes = figures["sizes"]
    table = Table("what", "env", "d", *[f"{size:,}" for size in sizes], f"of {sizes[0]:,}", "promise", "", box=None)
    kept_all = True
    for key in dict.fromkeys((row["what"], row.get("env", ""), row.get("d", "")) for row in figures["rows"]):
        mine = {
            row["size"]: row for row in figures["rows"] if (row["what"], row.get("env", ""), row.get("d", "")) == key
        }
        cells = [f"{mine[size]['value']:,.3g} {mine[size]['unit']}" if size in mine else "" for size in sizes]
        last = mine.get(sizes[-1], {})
        kept, promise = judged(last)
        kept_all &= kept
        mark = "" if not promise else "✓" if kept else "[red]✗[/]"
        ratio = f"{last['ratio']:.2f}" if "ratio" in last else ""
        table.add_row(key[0], key[1], str(key[2]), *cells, ratio, promise, mark)
    console.print(table)
    if "kills" in figures:
        told = figures["kills"]
        kept_all &= told["identical"]
        console.print(
            f"{told['kills']} kills of a build of {told['size']:,} products: {told['files']} files, "
            f"{'all identical to an undisturbed build' if told['identical'] else 'NOT identical'}"
        )
    return kept_all


def judged(row: dict[str, Any]) -> tuple[bool, str]:
    """Whether a figure keeps its promise, and the promise in words."""
    kept, told = True, []
    if "target" in row:
        kept &= row["value"] <= row["target"]
        told.append(f"≤ {row['target']:g} {row['unit']}".strip())
    if "at_least" in row:
        kept &= row["value"] >= row["at_least"]
        told.append(f"≥ {row['at_least']:g}")
    if "target_ratio" in row and "ratio" in row:
        kept &= row["ratio"] <= row["target_ratio"]
        told.append(f"≤ {row['target_ratio']:g} ×")
    return kept, ", ".join(told)
