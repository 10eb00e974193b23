"""Rows of prompts and the episodes behind them, and files of such rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ecomrlve.adapters._episodes import cells, shared_engine
from ecomrlve.adapters._text_episode import TextEpisode
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import OptionError

ENV_CLASS = "ecomrlve"


def rows(
    env_ids: str | Sequence[str],
    difficulties: Iterable[int],
    seeds: Iterable[int],
    *,
    catalog: SearchEngine | str | None = None,
    words_only: bool = False,
    dialect: str = "hermes",
    held: bool = False,
    env_class: str = ENV_CLASS,
) -> Iterator[dict[str, Any]]:
    """Rows of a SkyRL dataset: every environment at every difficulty with every seed.

    Args:
        env_ids: An environment, a collection (``C8``), or several names.
        difficulties: Each from 0 to 12.
        seeds: Each from 0 to 2**63 − 1.
        catalog: The same as the environment is registered with.
        words_only: The same as the environment is registered with.
        dialect: The same as the environment is registered with.
        held: Let seeds pass that are held back for measuring: for validation, never for training.
        env_class: The name that the environment is registered under.

    Yields:
        ``data_source`` (by which SkyRL groups validation), ``prompt`` (all that the model is shown first, so that
        SkyRL's limit on it holds), ``env_class``, ``env_id``, ``difficulty`` and ``seed``.

    Raises:
        SeedError: A seed is out of range, or held back.
        GenerationError: The catalog supports no such problem.
    """
    engine = shared_engine(catalog, words_only=words_only)
    for env_id, difficulty, seed in cells(env_ids, difficulties, seeds, held=held):
        which = {"env_id": env_id, "difficulty": difficulty, "seed": seed}
        prompt, _ = TextEpisode(which, engine, dialect).begin()
        yield {"data_source": env_id, "prompt": prompt, "env_class": env_class, **which}


def write_rows(path: str | Path, found: Iterable[Mapping[str, Any]]) -> Path:
    """Write a dataset file that SkyRL reads; it appears whole or not at all.

    Args:
        path: Ends in ``.parquet``, ``.jsonl`` or ``.json`` (JSON lines as well).
        found: What `rows` gives.

    Returns:
        The path.

    Raises:
        OptionError: The name ends in something else, or there are no rows.
    """
    path = Path(path)
    if path.suffix not in (".parquet", ".jsonl", ".json"):
        raise OptionError(f"SkyRL reads .parquet, .jsonl and .json, not {path.name!r}")
    table = [dict(row) for row in found]
    if not table:
        raise OptionError("there are no rows to write")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), draft)
    else:
        draft.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in table), encoding="utf-8")
    return draft.replace(path)
