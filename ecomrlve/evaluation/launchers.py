"""Where the cells of a grid are played: in this process, on forked workers of this machine, or on a Ray cluster.

Workers of this machine keep each episode themselves, the moment it ends. Those of a cluster may be anywhere: they give
finished episodes back.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import groupby

from ecomrlve.agents.registry import players_of
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import OptionError
from ecomrlve.evaluation.grid import Cell, EvaluationError, Plan
from ecomrlve.evaluation.pool import engine_of
from ecomrlve.evaluation.rollouts import Played, play_cells
from ecomrlve.replay import TrajectoryStore

LAUNCHERS = ("local", "ray")
# Cells that a worker gets at a time, at most. What a cluster plays comes back a portion at a time.
PORTION, RAY_PORTION = 32, 8

_engine: SearchEngine | None = None
_store: TrajectoryStore | None = None


def launched(
    launcher: str, plan: Plan, engine: SearchEngine, cells: Sequence[Cell], workers: int, store: TrajectoryStore
) -> Iterator[Played]:
    """Play cells and keep the episodes; what became of each cell comes in any order, once it is kept.

    Args:
        launcher: One of `LAUNCHERS`.
        plan: What the cells are of; it names the catalog for workers elsewhere.
        engine: The engine for workers here.
        cells: What to play.
        workers: Processes.
        store: Where the episodes are kept.

    Raises:
        OptionError: There is no such launcher.
        EvaluationError: A worker died, or Ray is not installed.
    """
    if launcher not in LAUNCHERS:
        raise OptionError(f"there is no launcher {launcher!r}; there are {', '.join(LAUNCHERS)}")
    if not cells:
        return
    if launcher == "local" and workers <= 1:
        yield from (_kept(played, store) for played in play_cells(engine, cells))
        return
    for name, group in groupby(sorted(cells), key=lambda cell: cell.agent):
        players, some = players_of(name), list(group)
        if launcher == "ray":
            played_elsewhere = _on_ray(plan, portions(some, workers, RAY_PORTION), workers, model=players.model)
            yield from (_kept(played, store) for played in played_elsewhere)
            continue
        # A model is loaded once, and what limits requests to a server has to see all of them.
        here = 1 if players.model or players.threads else workers
        handfuls = portions(some, here, max(PORTION, 4 * players.width))
        yield from _on_processes(engine, handfuls, here, store)


def _kept(played: Played, store: TrajectoryStore) -> Played:
    if played.line:
        store.append_line(played.line)
    return replace(played, line="")


def portions(cells: Sequence[Cell], workers: int, most: int) -> list[list[Cell]]:
    """Cells of one agent in the handfuls that workers get; the last ones small, so that workers end together."""
    found, rest = [], list(cells)
    while rest:
        size = max(1, min(most, len(rest) // (2 * workers) if workers > 1 else most))
        found.append(rest[:size])
        rest = rest[size:]
    return found


def _on_processes(
    engine: SearchEngine, handfuls: list[list[Cell]], workers: int, store: TrajectoryStore
) -> Iterator[Played]:
    # Forked, so that the catalog is in memory once. Nothing loads torch before that: its threads would not survive.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(
        workers, context, initializer=_ready, initargs=(engine, store, workers, os.getpid())
    ) as pool:
        waiting = iter(handfuls)
        running: set[Future[list[Played]]] = set()
        try:
            while True:
                # Few at a time in the queue, so that an interruption does not wait for all of them.
                while len(running) < 2 * workers and (handful := next(waiting, None)) is not None:
                    running.add(pool.submit(_play, handful))
                if not running:
                    return
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield from future.result()
        except BrokenProcessPool as error:
            raise EvaluationError(
                "a worker died (killed, or out of memory?); what was finished is kept: give the same command again"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _ready(engine: SearchEngine, store: TrajectoryStore, workers: int, parent: int) -> None:
    global _engine, _store
    _engine, _store = engine, store
    # Read when torch is loaded: workers that each use all processors wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker when who started it was killed: nobody else would, and it would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _play(cells: list[Cell]) -> list[Played]:
    assert _engine is not None
    assert _store is not None
    return [_kept(played, _store) for played in play_cells(_engine, cells)]


def _on_ray(plan: Plan, handfuls: list[list[Cell]], workers: int, *, model: bool) -> Iterator[Played]:
    """Ray actors that build the engine once each; Ray finds them a machine, and starts on this one if it is alone.

    Where there are GPUs, each actor that loads a model gets one for itself.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        from ray.util import ActorPool
    except ImportError as error:
        raise EvaluationError("the launcher ray needs Ray: pip install 'ray>=2.50'") from error

    started = not ray.is_initialized()
    if started:
        ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False, num_cpus=_cpus(workers))
    try:
        gpus = int(model and ray.cluster_resources().get("GPU", 0) > 0)
        actor = ray.remote(num_cpus=1, num_gpus=gpus)(_RayWorker)
        pool = ActorPool([actor.remote(plan.catalog, plan.words_only) for _ in range(workers)])
        for played in pool.map_unordered(lambda one, cells: one.play.remote(cells), handfuls):
            yield from played
    finally:
        if started:
            ray.shutdown()


def _cpus(workers: int) -> int | None:
    """How many processors a Ray of our own has; None, so that it asks, where a cluster is there already."""
    return None if os.environ.get("RAY_ADDRESS") else workers


class _RayWorker:
    """One worker of a Ray cluster."""

    def __init__(self, catalog: str, words_only: bool):
        self._engine = engine_of(catalog, words_only=words_only, progress=False)

    def play(self, cells: list[Cell]) -> list[Played]:
        return list(play_cells(self._engine, cells))
