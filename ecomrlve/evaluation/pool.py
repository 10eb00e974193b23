"""Running many episodes on several processes that share one engine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from tqdm import tqdm

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment, engine_for

Task = TypeVar("Task")
Result = TypeVar("Result")

_engine: SearchEngine | None = None
_environments: dict[str, Environment] = {}


def environment(env_id: str) -> Environment:
    """This process' environment of that name, over the engine of the running `each`."""
    if env_id not in _environments:
        assert _engine is not None, "environment() is for functions that `each` runs"
        _environments[env_id] = Environment((env_id,), _engine)
    return _environments[env_id]


def current_engine() -> SearchEngine:
    """The engine of the running `each`."""
    assert _engine is not None, "current_engine() is for functions that `each` runs"
    return _engine


def _use(engine: SearchEngine | None) -> None:
    global _engine
    if engine is not _engine:
        _environments.clear()
    _engine = engine


def each(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    engine: SearchEngine,
    *,
    workers: int = 1,
    label: str = "",
    progress: bool = True,
) -> list[Result]:
    """Apply a function to all tasks; the results come in the order of the tasks, whatever finished first.

    The workers are forked, so that the catalog exists once in memory. The encoder is not touched before the fork:
    its threads would not survive it.

    Args:
        function: A module-level function; it may call `environment` and `current_engine`.
        tasks: Its arguments.
        engine: The engine to play on.
        workers: Processes; 1 runs in this one.
        label: What the progress bar says.
        progress: Whether to show a bar.
    """
    _use(engine)
    bar: Callable[[Iterable[Any]], Iterable[Any]] = lambda results: tqdm(
        results, total=len(tasks), desc=label, disable=not progress, leave=False, mininterval=1.0
    )
    if workers <= 1 or len(tasks) < 2 * workers:
        return list(bar(map(function, tasks)))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        chunk = max(1, min(32, len(tasks) // (workers * 4)))
        results: Iterator[Result] = pool.map(function, tasks, chunksize=chunk)
        return list(bar(results))


def engine_of(catalog: str | None, *, words_only: bool = False, progress: bool = True) -> SearchEngine:
    """The engine for the catalog that a command names.

    Args:
        catalog: ``default``, or a file, folder or glob; ``FILE::MAPPING`` names the column mapping too; or a catalog
            folder, ``FOLDER::ENCODER`` names the vectors to use.
        words_only: Search by words alone, without vectors.
        progress: Show a bar while vectors are computed for the first time.
    """
    if catalog in (None, "default") and not words_only:
        return engine_for(None, progress=progress)
    from ecomrlve.catalog.encoder import SentenceEncoder
    from ecomrlve.catalog.stored import is_catalog_folder

    folder, _, encoder = str(catalog).partition("::")
    if catalog not in (None, "default") and is_catalog_folder(folder):
        from ecomrlve.catalog.indexes import open_engine

        return open_engine(folder, encoder or None, words_only=words_only, progress=progress)
    if catalog in (None, "default"):
        from ecomrlve.catalog.synthetic import generate

        products = generate()
    else:
        from ecomrlve.catalog.files import load_file

        path, _, mapping = str(catalog).partition("::")
        products = load_file(path, mapping or None)
    return SearchEngine(products, None if words_only else SentenceEncoder(), progress=progress)
