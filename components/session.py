"""One visitor's episode, and the shop that all visitors share.

A browser tab has a `Session`. Its episode is deterministic, so a log of (environment, difficulty, seed, actions) is all
that is needed to bring it back: the browser keeps that log, and a page that was reloaded, or whose server was started
anew, hands it in and goes on.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from components.episode import MOST_ACTIONS, YOU, Episode, Turn, opened, read_players
from ecomrlve.collections import TASKS
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.understanding import understand
from ecomrlve.errors import EcomrlveError

__all__ = ["ENVIRONMENTS", "JOURNEY", "Episode", "Session", "SessionError", "Shop", "Turn", "whole"]

_NAMES = {
    "E_CART": "Fill a cart",
    "E_PD": "Find products",
    "E_SUB": "Find a substitute",
    "E_RETURN": "Return something",
    "E_STATUS": "Track an order",
    "E_POLICY": "Answer a policy question",
    "E_BUNDLE": "Plan a bundle",
    "E_JOURNEY": "Several wishes in one talk",
}
JOURNEY = "E_JOURNEY"
# The environments that can be played here, with their names for people; the first is where a newcomer starts.
ENVIRONMENTS = {env_id: f"{name} ({env_id})" for env_id, name in _NAMES.items() if env_id in TASKS}
MOST_ENDINGS = 5000
LONGEST_NAME = 80


class SessionError(EcomrlveError):
    """Something a visitor asked for that cannot be done; the message is for them."""


class Shop:
    """The engine with its catalog, loaded once in the background so that the page can answer at once.

    Args:
        load: Gives the search engine that all episodes share; by default the one of the default catalog.
    """

    def __init__(self, load: Callable[[], Any] | None = None):
        self._load_engine = load or _default_engine
        # One for all games: it counts what a model said, and leaves alone one that is down.
        self._customer: Any = None
        self._customer_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.engine: Any = None
        self.loaded = threading.Event()
        self.problem = ""
        self.seconds = 0.0

    def start(self) -> Shop:
        """Begin to load, unless that has begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._load, name="load the shop", daemon=True)
            self._thread.start()
        return self

    def _load(self) -> None:
        started = time.perf_counter()
        try:
            self.engine = self._load_engine()
            # A first search touches what the engine loads lazily, such as the encoder's weights, and a first question
            # what the customer understands by.
            self.engine.warm_up()
            understand("Which color?", [Slot("color", "constraint", "color", "eq", "black")])
        except Exception as error:  # whatever it is, every visitor must learn of it instead of waiting
            self.problem = f"The shop could not be loaded: {error}"
        self.seconds = time.perf_counter() - started
        self.loaded.set()

    def wait(self) -> None:
        """Return when the shop is ready.

        Raises:
            SessionError: It could not be loaded.
        """
        self.start().loaded.wait()
        if self.problem:
            raise SessionError(self.problem)

    def make(self, env_id: Any) -> Any:
        """A new environment.

        Raises:
            SessionError: There is no such environment here.
        """
        if not isinstance(env_id, str) or env_id not in ENVIRONMENTS:
            raise SessionError(f"There is no environment {env_id!r} here; choose one of {', '.join(ENVIRONMENTS)}.")
        import ecomrlve

        with self._customer_lock:
            if self._customer is None and os.environ.get("ECOMRLVE_CUSTOMER_MODEL"):
                self._customer = _customer_model(self.engine.catalog)
        return ecomrlve.make(env_id, catalog=self.engine, customer=self._customer)

    def open(self, env_id: Any, difficulty: Any, seed: Any) -> Episode:
        """A new episode at its beginning.

        Raises:
            EcomrlveError: Unknown environment, difficulty or seed.
        """
        return opened(self.make(env_id), env_id, difficulty, seed)


def _customer_model(catalog: Any) -> Any:
    """The language model that chooses the customer's words, as the environment's variables name it."""
    from ecomrlve.customer.model_grammar import grammar_by

    cache = os.environ.get("ECOMRLVE_CUSTOMER_CACHE")
    name, url = os.environ["ECOMRLVE_CUSTOMER_MODEL"], os.environ.get("ECOMRLVE_CUSTOMER_URL", "")
    return grammar_by(name, url, Path(cache) if cache else None, catalog)


def _default_engine() -> Any:
    from ecomrlve.environment import engine_for

    # Also a file or a catalog folder, as `make(catalog=...)` takes them.
    return engine_for(os.environ.get("ECOMRLVE_CATALOG") or None, progress=True)


class Session:
    """What belongs to one browser tab. All changes happen under its lock; each one raises the version.

    Args:
        shop: Where episodes come from.
        keep: What is done with the record of a finished episode.

    Attributes:
        nickname: The person's name in records; `YOU` where it gave none.
        episode: The running or last episode, or None.
        version: Counts what happened, so that a click on an older state can be told.
    """

    def __init__(self, shop: Shop, keep: Callable[[dict[str, Any]], None] = lambda trajectory: None):
        self.lock = threading.Lock()
        self.nickname = YOU
        self.version = 0
        self.episode: Episode | None = None
        self._shop = shop
        self._keep = keep
        # Which endings were shown. The difficulty is left out: often a seed has the same goal one level up.
        self._ended: dict[tuple[str, int], None] = {}

    def start(self, env_id: Any, difficulty: Any, seed: Any, *, guided: bool = False) -> None:
        """Reset to a new episode; whatever was running is dropped.

        Args:
            env_id: Its environment.
            difficulty: d, also as text.
            seed: Its seed, also as text.
            guided: The guide leads through it.

        Raises:
            EcomrlveError: Unknown environment, difficulty or seed. What was running goes on.
        """
        self._shop.wait()
        with self.lock:
            self.episode = self._open(env_id, whole(difficulty), whole(seed))
            self.episode.guided = guided
            self.version += 1

    def act(self, action: Any, version: Any, *, seen: bool = False) -> None:
        """Take a turn.

        Args:
            action: What the environment gets.
            version: Of the state that the page showed.
            seen: The browser remembers that it has shown how an episode of this environment and seed ends.

        Raises:
            SessionError: There is no running episode, or the page showed an older state than this.
        """
        with self.lock:
            episode = self.episode
            if episode is None or not episode.running:
                raise SessionError("No episode is running. Reset one first.")
            if version != self.version:
                raise SessionError("That click belonged to an older state; the page is up to date now.")
            episode.again |= seen
            episode.nickname = self.nickname
            episode.step(action)
            self.version += 1
            if episode.trajectory is not None:
                self._note_end(episode)
                self._keep(episode.trajectory)
                episode.stored = episode.trajectory["episode_id"]

    def restore(self, log: Any, version: Any = None) -> bool:
        """Bring an episode back by replaying its log.

        Args:
            log: What `Episode.log` gave, by way of the browser; anything else is ignored.
            version: The version to go on from, where a page is waiting with one.

        Returns:
            Whether there is an episode now.
        """
        if not isinstance(log, Mapping) or not isinstance(log.get("actions"), list):
            return False
        actions = log["actions"][:MOST_ACTIONS]
        players = read_players(log, len(log["actions"]), _agents())
        self._shop.wait()
        with self.lock:
            try:
                episode = self._open(log.get("env_id"), log.get("difficulty"), log.get("seed"))
                episode.guided = log.get("guided") is True
                episode.again |= log.get("again") is True
                episode.nickname = self.nickname
                for action, player in zip(actions, players, strict=False):
                    if episode.running:
                        episode.step(action, player)
            except EcomrlveError:
                return False
            episode.key = _name(log.get("key")) or episode.key
            if not episode.running:
                episode.stored = _name(log.get("stored"))
                self._note_end(episode)
            self.episode = episode
            self.version = version if isinstance(version, int) and version > 0 else 1 + len(episode.turns)
            return True

    def _open(self, env_id: Any, difficulty: Any, seed: Any) -> Episode:
        episode = self._shop.open(env_id, difficulty, seed)
        episode.again = (env_id, seed) in self._ended
        return episode

    def _note_end(self, episode: Episode) -> None:
        self._ended[episode.env_id, episode.seed] = None
        while len(self._ended) > MOST_ENDINGS:
            del self._ended[next(iter(self._ended))]


def _name(value: Any) -> str:
    """A short name from a log, or nothing."""
    return value if isinstance(value, str) and len(value) <= LONGEST_NAME else ""


def _agents() -> set[str]:
    """The names of agents that may have taken turns; `components.agents` seats them at episodes of this module."""
    from components.agents import choices

    return {choice.name for choice in choices()}


def whole(text: Any) -> Any:
    """A number from text that is one; anything else as it is, so that the engine can say what is wrong with it."""
    if isinstance(text, str):
        try:
            return int(text.strip())
        except ValueError:
            return text.strip()
    return int(text) if isinstance(text, float) and text.is_integer() else text
