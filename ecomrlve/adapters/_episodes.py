"""What the adapters share: engines by name, which episodes are for training, and how an abandoned episode ends."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ecomrlve.agents.chat import Conversation
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import resolve
from ecomrlve.environment import Environment, check_seed, engine_for
from ecomrlve.errors import OptionError, SeedError, short
from ecomrlve.prompts import system_prompt
from ecomrlve.protocol import Observation
from ecomrlve.rewards import Reward
from ecomrlve.splits import split_of_seed

# A turn in which nothing is said or done.
SILENCE = {"answer": {"done": False}}

Cell = tuple[str, int, int]

_engines: dict[tuple[str, bool], SearchEngine] = {}
_engines_lock = threading.Lock()


def shared_engine(catalog: SearchEngine | str | None = None, *, words_only: bool = False) -> SearchEngine:
    """An engine that all episodes of this process share: built at first use, then kept.

    Args:
        catalog: None or ``default``; a file, or FILE::MAPPING; a catalog folder, or FOLDER::ENCODER; or an engine,
            which is returned.
        words_only: Search by words alone, without vectors: there in a second, and without the libraries for vectors.

    Raises:
        CatalogError: The catalog cannot be read.
    """
    if isinstance(catalog, SearchEngine):
        return catalog
    name = catalog or "default"
    with _engines_lock:
        if (name, words_only) not in _engines:
            _engines[name, words_only] = _words_engine(name) if words_only else engine_for(name)
        return _engines[name, words_only]


def _words_engine(name: str) -> SearchEngine:
    from ecomrlve.catalog.files import load_file
    from ecomrlve.catalog.stored import is_catalog_folder
    from ecomrlve.catalog.synthetic import generate

    if name == "default":
        return SearchEngine(generate())
    path, _, detail = name.partition("::")
    if is_catalog_folder(path):
        from ecomrlve.catalog.indexes import open_engine

        return open_engine(path, words_only=True)
    return SearchEngine(load_file(path, detail or None))


def cells(
    env_ids: str | Sequence[str], difficulties: Iterable[int], seeds: Iterable[int], *, held: bool = False
) -> Iterator[Cell]:
    """Every environment at every difficulty with every seed, as (environment, d, seed).

    Args:
        env_ids: An environment, a collection (``C8``), or several names.
        difficulties: Each from 0 to 12.
        seeds: Each from 0 to 2**63 − 1.
        held: Let seeds pass that are held back for measuring: for validation, never for training.

    Raises:
        UnknownEnvironmentError: There is no such environment.
        SeedError: A seed is out of range, or held back.
    """
    names = resolve(env_ids)
    numbers = [check_seed(seed) for seed in seeds]
    kept_back = [seed for seed in numbers if split_of_seed(seed) != "train"]
    if kept_back and not held:
        raise SeedError(
            f"seed {kept_back[0]} belongs to the split {split_of_seed(kept_back[0])!r}, which is held back for "
            "measuring; train on other seeds, or pass held=True if these rows are for validation"
        )
    return itertools.product(names, list(difficulties), numbers)


def reset_arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    """What `Environment.reset` takes, from a row of training data.

    Args:
        row: ``seed``, and maybe ``difficulty`` and ``overrides`` (axis → value, or its JSON text).

    Raises:
        OptionError: The row has no seed, or its overrides are no JSON object.
    """
    if "seed" not in row:
        raise OptionError("a row of training data needs a seed")
    overrides = row.get("overrides") or {}
    if isinstance(overrides, str):
        overrides = json_object("overrides", overrides)
    if isinstance(overrides, Mapping):
        # Tables give every row the columns of all rows, and None where a row has no value of its own.
        overrides = {axis: value for axis, value in overrides.items() if value is not None}
    return {"seed": row["seed"], "options": {"difficulty": row.get("difficulty", 0), "overrides": overrides}}


def json_object(name: str, text: str) -> dict[str, Any]:
    """The JSON object that a text is.

    Raises:
        OptionError: It is none.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise OptionError(f"{name} must be a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise OptionError(f"{name} must be a JSON object, not {short(text)}")
    return value


def opened(env: Environment, observation: Observation, dialect: str, note: str = "") -> Conversation:
    """The chat of an episode that was just reset: what a model is told first, and the customer's opening.

    Args:
        env: The environment.
        observation: What `reset` gave.
        dialect: How the model is to write its actions; see `ecomrlve.prompts.system_prompt`.
        note: What else it is to know about how it is played here.

    Raises:
        OptionError: There is no such dialect.
    """
    task = env.task_of(observation.env_id)
    system = system_prompt(task.title, task.instructions, observation, dialect)
    chat = Conversation(f"{system}\n{note}" if note else system, observation.tools)
    chat.hear(observation)
    return chat


def left_alone(env: Environment) -> Reward:
    """The outcome of a running episode if the agent says and does nothing more.

    The customer leaves after a few silent turns, or the turns run out; either way there is no answer.
    """
    while True:
        _, _, terminated, truncated, info = env.step(SILENCE)
        if terminated or truncated:
            return info["reward"]
