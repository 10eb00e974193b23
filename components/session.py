"""One visitor's episode, and the shop that all visitors share.

A browser tab has a `Session`. Its episode is deterministic, so a log of (environment, difficulty, seed, actions) is all
that is needed to bring it back: the browser keeps that log, and a page that was reloaded, or whose server was started
anew, hands it in and goes on.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ecomrlve.collections import TASKS
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.understanding import understand
from ecomrlve.errors import EcomrlveError, InvalidActionError
from ecomrlve.protocol import parse_action

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
PLAYER = {"player": "you", "kind": "human"}
MOST_ACTIONS = 60


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


@dataclass
class Turn:
    """One turn as its player saw it.

    Attributes:
        number: 1 for the first.
        message: What the customer was told, or the raw output where it was no action.
        answer: The answer's fields, or None.
        calls: ``{"name", "args", "result", "ms"}`` of each call.
        customer: The customer's reply, or "".
        ms: Milliseconds that the whole turn took.
    """

    number: int
    message: str
    answer: dict[str, Any] | None
    calls: list[dict[str, Any]]
    customer: str
    ms: float


@dataclass
class Episode:
    """One episode from the player's side: only what the environment gave out, until it has ended."""

    env_id: str
    difficulty: Any
    seed: Any
    environment: Any
    observation: Any
    opening: str
    key: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    turns: list[Turn] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    reward: Any = None
    trajectory: dict[str, Any] | None = None

    @property
    def running(self) -> bool:
        """Whether another turn can be taken."""
        return self.reward is None

    def log(self) -> dict[str, Any]:
        """What is needed to bring this episode back."""
        return {
            "env_id": self.env_id,
            "difficulty": self.difficulty,
            "seed": self.seed,
            "actions": list(self.actions),
            # The browser compares this, to tell whether a message that waits in the box belongs to this episode.
            "key": self.key,
        }

    def step(self, action: Any) -> None:
        """Take one turn."""
        message, answer = _readable(action)
        started = time.perf_counter()
        observation, _, terminated, truncated, info = self.environment.step(action)
        ms = (time.perf_counter() - started) * 1000
        calls = [dict(entry) for entry in observation.messages if entry["role"] == "tool"]
        customer = "\n".join(entry["content"] for entry in observation.messages if entry["role"] == "customer")
        self.actions.append(action)
        self.turns.append(Turn(len(self.turns) + 1, message, answer, calls, customer, ms))
        self.observation = observation
        if terminated or truncated:
            self.reward = info["reward"]
            self.trajectory = self.environment.trajectory(**PLAYER).to_dict()
        _take_times(self)


def _readable(action: Any) -> tuple[str, dict[str, Any] | None]:
    try:
        read = parse_action(action)
    except InvalidActionError:
        return (action if isinstance(action, str) else repr(action)), None
    return read.message, read.answer


def _take_times(episode: Episode) -> None:
    """Give each call of the last turn its milliseconds: its own where they are on record, else its share."""
    turn = episode.turns[-1]
    record = episode.trajectory["steps"][-1]["tool_results"] if episode.trajectory else []
    for number, call in enumerate(turn.calls):
        known = record[number].get("ms") if number < len(record) else None
        call["ms"] = turn.ms / len(turn.calls) if known is None else known


class Session:
    """What belongs to one browser tab. All changes happen under its lock; each one raises the version."""

    def __init__(self, shop: Shop, keep: Callable[[dict[str, Any]], None] = lambda trajectory: None):
        self.lock = threading.Lock()
        self.version = 0
        self.episode: Episode | None = None
        self._shop = shop
        self._keep = keep

    def start(self, env_id: Any, difficulty: Any, seed: Any) -> None:
        """Reset to a new episode; whatever was running is dropped.

        Raises:
            EcomrlveError: Unknown environment, difficulty or seed. What was running goes on.
        """
        self._shop.wait()
        with self.lock:
            self.episode = self._open(env_id, whole(difficulty), whole(seed))
            self.version += 1

    def act(self, action: Any, version: Any) -> None:
        """Take a turn.

        Raises:
            SessionError: There is no running episode, or the page showed an older state than this.
        """
        with self.lock:
            if self.episode is None or not self.episode.running:
                raise SessionError("No episode is running. Reset one first.")
            if version != self.version:
                raise SessionError("That click belonged to an older state; the page is up to date now.")
            self.episode.step(action)
            self.version += 1
            if self.episode.trajectory is not None:
                self._keep(self.episode.trajectory)

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
        self._shop.wait()
        with self.lock:
            try:
                episode = self._open(log.get("env_id"), log.get("difficulty"), log.get("seed"))
                for action in log["actions"][:MOST_ACTIONS]:
                    if episode.running:
                        episode.step(action)
            except EcomrlveError:
                return False
            key = log.get("key")
            if isinstance(key, str) and len(key) <= 32:
                episode.key = key
            self.episode = episode
            self.version = version if isinstance(version, int) and version > 0 else 1 + len(episode.turns)
            return True

    def _open(self, env_id: Any, difficulty: Any, seed: Any) -> Episode:
        environment = self._shop.make(env_id)
        observation, _ = environment.reset(seed=seed, options={"difficulty": difficulty})
        opening = "\n".join(entry["content"] for entry in observation.messages if entry["role"] == "customer")
        return Episode(env_id, difficulty, seed, environment, observation, opening)


def whole(text: Any) -> Any:
    """A number from text that is one; anything else as it is, so that the engine can say what is wrong with it."""
    if isinstance(text, str):
        try:
            return int(text.strip())
        except ValueError:
            return text.strip()
    return int(text) if isinstance(text, float) and text.is_integer() else text
