"""The Python door: `make`, `reset`, `step`, with the five-tuple of Gymnasium."""

from __future__ import annotations

import operator
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import TASKS, resolve
from ecomrlve.customer.model import Completions
from ecomrlve.customer.model_grammar import ModelGrammar, vocabulary_of
from ecomrlve.difficulty import difficulty
from ecomrlve.episode import Episode
from ecomrlve.errors import EpisodeNotRunningError, OptionError, SeedError, UnknownEnvironmentError, short
from ecomrlve.prompts import system_prompt
from ecomrlve.protocol import Observation
from ecomrlve.streams import key_of
from ecomrlve.tasks.base import AnyTask
from ecomrlve.trajectory import Trajectory, record

HIGHEST_SEED = 2**63 - 1
OPTIONS = ("env_id", "difficulty", "overrides")
_shared: dict[str, SearchEngine] = {}
_shared_lock = threading.Lock()


def default_engine(*, progress: bool = False) -> SearchEngine:
    """The search engine over the default catalog: built at first use, then shared by the whole process."""
    with _shared_lock:
        if "default" not in _shared:
            from ecomrlve.catalog.encoder import SentenceEncoder
            from ecomrlve.catalog.synthetic import generate

            _shared["default"] = SearchEngine(generate(), SentenceEncoder(), progress=progress)
        return _shared["default"]


def engine_for(catalog: Catalog | SearchEngine | str | Path | None, *, progress: bool = False) -> SearchEngine:
    """The engine for whatever names a catalog.

    Args:
        catalog: None or ``default``; a file, or FILE::MAPPING; a catalog folder, or FOLDER::ENCODER; a catalog; or an
            engine, which is returned.
        progress: Show a bar while vectors are computed for the first time.
    """
    if isinstance(catalog, SearchEngine):
        return catalog
    if catalog is None or catalog == "default":
        return default_engine(progress=progress)
    from ecomrlve.catalog.encoder import SentenceEncoder

    if isinstance(catalog, str | Path):
        from ecomrlve.catalog.files import load_file
        from ecomrlve.catalog.stored import is_catalog_folder

        folder, _, encoder = str(catalog).partition("::")
        if is_catalog_folder(folder):
            from ecomrlve.catalog.indexes import open_engine

            return open_engine(folder, encoder or None, progress=progress)

        path, _, mapping = str(catalog).partition("::")
        catalog = load_file(path, mapping or None)
    return SearchEngine(catalog, SentenceEncoder(), progress=progress)


def make(
    env: str | Sequence[str],
    *,
    catalog: Catalog | SearchEngine | str | Path | None = None,
    customer: Completions | ModelGrammar | None = None,
) -> Environment:
    """Make an environment.

    Args:
        env: An environment (``E_CART``), a collection (``C1``), or several names.
        catalog: A catalog, a file of products, or an engine that is shared already; None for the default catalog.
        customer: A language model that chooses the customer's words (`EndpointModel`, `LocalModel`), or a grammar with
            one and a cache; None for the built-in grammar.

    Raises:
        UnknownEnvironmentError: There is no such environment.
        CatalogError: The catalog cannot be read.
    """
    engine = engine_for(catalog)
    if customer is not None and not isinstance(customer, ModelGrammar):
        customer = ModelGrammar(customer, vocabulary=vocabulary_of(engine.catalog))
    return Environment(resolve(env), engine, customer)


class Environment:
    """Plays one episode at a time. It holds nothing besides that episode and the shared, read-only catalog.

    Args:
        env_ids: The environments that `reset` chooses from.
        engine: Search engine with the catalog.
        customer: Chooses the customer's words by a language model; None for the built-in grammar.
    """

    def __init__(self, env_ids: Sequence[str], engine: SearchEngine, customer: ModelGrammar | None = None):
        self.customer = customer
        self.env_ids = tuple(env_ids)
        self.engine = engine
        self._episode: Episode | None = None
        self._overrides: dict[str, float] = {}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: From 0 to 2**63 − 1; None draws one. The same seed gives the same episode, always and everywhere.
            options: ``env_id`` (one of this environment's; else the seed decides), ``difficulty`` (0 to 12, default
                0) and ``overrides`` (axis → value).

        Returns:
            The first observation, and ``{"seed", "env_id", "difficulty"}``.

        Raises:
            SeedError, DifficultyError, UnknownEnvironmentError, OptionError: Something is out of range or unknown; a
                running episode goes on undisturbed.
            GenerationError: The catalog supports no such problem, or none fits an extreme override.
        """
        options = _mapping("options", options)
        for name in options:
            if name not in OPTIONS:
                raise OptionError(f"unknown option {short(name)!r}; options are {', '.join(OPTIONS)}")
        seed = secrets.randbelow(2**31) if seed is None else check_seed(seed)
        env_id = options.get("env_id")
        if env_id is None:
            env_id = self.env_ids[key_of("environment", seed) % len(self.env_ids)]
        if env_id not in self.env_ids:
            raise UnknownEnvironmentError(f"{short(env_id)!r} is not one of {', '.join(self.env_ids)}")
        overrides = _mapping("overrides", options.get("overrides"))
        axes = difficulty(options.get("difficulty", 0), overrides)
        self._episode = Episode(
            TASKS[env_id], self.engine, axes, seed, grammar=self.customer.recorded() if self.customer else None
        )
        self._overrides = overrides
        return self._episode.first_observation(), {"seed": seed, "env_id": env_id, "difficulty": axes.d}

    def step(self, action: object) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one agent turn.

        Args:
            action: Canonical JSON (text or dict), Hermes text, an OpenAI message, or plain prose.

        Returns:
            Observation, reward (0.0 until the end), terminated, truncated, and info, which holds the `Reward` under
            ``"reward"`` at the end and nothing before.

        Raises:
            EpisodeNotRunningError: No episode was started, or it is over.
        """
        episode = self.episode
        observation = episode.step(action)
        info: dict[str, Any] = {"reward": episode.reward} if episode.over else {}
        total = episode.reward.total if episode.reward is not None else 0.0
        return observation, total, episode.terminated, episode.truncated, info

    @property
    def episode(self) -> Episode:
        """The running or last episode. It holds the goal: for tests, the reference agent and the record only.

        Raises:
            EpisodeNotRunningError: `reset` was never called.
        """
        if self._episode is None:
            raise EpisodeNotRunningError("no episode yet; call reset() first")
        return self._episode

    @staticmethod
    def task_of(env_id: str) -> AnyTask:
        """The task behind an environment's name."""
        return TASKS[env_id]

    def system_prompt(self, dialect: str = "json") -> str:
        """What to tell a model before the first observation.

        Args:
            dialect: How it is to write its actions: ``json``, ``native`` (its tools come by the chat template or the
                server) or ``hermes`` (``<tool_call>`` blocks).
        """
        episode = self.episode
        return system_prompt(episode.task.title, episode.task.instructions, episode.observe([]), dialect)

    def trajectory(self, player: str = "agent", kind: str = "agent") -> Trajectory:
        """The record of the finished episode.

        Raises:
            EpisodeNotRunningError: It is not over; the record would give the goal away.
        """
        if not self.episode.over:
            raise EpisodeNotRunningError("the episode is still running; its trajectory shows the goal only afterwards")
        names = {"name": player, "kind": kind}
        return record(self.episode, self._overrides, names)


def check_seed(seed: object) -> int:
    """Return the seed as an int.

    Raises:
        SeedError: It is not a whole number in range. A bool is none.
    """
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number <= HIGHEST_SEED:
        raise SeedError(f"seed must be a whole number from 0 to 2**63 - 1, not {short(repr(seed))}")
    return number


def _mapping(name: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} must be a mapping of names to values, not {short(repr(value))}")
    return dict(value)
