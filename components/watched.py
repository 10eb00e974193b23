"""One episode that an agent plays and a visitor watches, from its beginning or in the middle of the visitor's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from components import agents
from components.agents import Seat
from components.episode import MOST_ACTIONS, Episode, read_players
from components.session import SessionError, Shop, whole
from ecomrlve.agents.base import no_answer
from ecomrlve.protocol import Action

MOST_LOG_CHARACTERS = 2_000_000
LONGEST_KEY = 32
GONE = "That episode is gone. Start another one."


@dataclass
class Watch:
    """An agent at an episode, and a visitor who looks on.

    Attributes:
        seat: Where the agent sits.
        wanted: Number of the last of the page's requests for a turn.
        paused: No turn is taken for requests up to this number; what the agent decided on meanwhile waits.
        stopped: The visitor has seen enough.
        problem: Why the agent could not go on.
        kept: The record was stored.
        pending: The turn that is under way or was the last.
        sent: What the page shows in each panel.
    """

    seat: Seat
    wanted: int = 0
    paused: int = -1
    stopped: bool = False
    problem: str = ""
    kept: bool = False
    pending: Future[None] | None = None
    sent: dict[str, Any] = field(default_factory=dict)

    @property
    def episode(self) -> Episode:
        """What is played; its key tells this watch from the visitor's earlier ones."""
        return self.seat.episode

    @property
    def agent(self) -> str:
        """Who plays."""
        return self.seat.name

    @property
    def status(self) -> str:
        """How it stands: ``going``, ``finished``, ``failed`` or ``stopped``."""
        if not self.episode.running:
            return "finished"
        return "failed" if self.problem else "stopped" if self.stopped else "going"

    @property
    def busy(self) -> bool:
        """Whether a turn is under way."""
        return self.pending is not None and not self.pending.done()

    def turn(self) -> None:
        """Take one turn, unless the visitor pauses or stops while the agent thinks; or note why there is none."""
        try:
            self.seat.choose()
        except SessionError as error:
            self.problem = str(error)
            return
        if not self.stopped and self.wanted > self.paused:
            self.seat.take()

    def log(self, turn: int | None = None) -> dict[str, Any]:
        """What is needed to go on from a turn of it, here or in the Play tab.

        Args:
            turn: After which turn, from 0; None for the last.
        """
        log = {name: value for name, value in self.episode.log().items() if name != "key"}
        actions = [plain(action) for action in log["actions"][:turn]]
        return {**log, "actions": actions, "players": log["players"][:turn], "agent": self.agent}


@dataclass
class Viewer:
    """What belongs to one browser tab.

    Attributes:
        watch: What is watched now, or was the last.
        ended: Environment and seed of each episode whose end was shown.
    """

    watch: Watch | None = None
    ended: set[tuple[str, int]] = field(default_factory=set)

    def note_end(self) -> None:
        """Remember that the visitor is shown how this episode ends, and with that its goal."""
        if self.watch and self.watch.status == "finished":
            self.ended.add((self.watch.episode.env_id, self.watch.episode.seed))

    def log(self, turn: int | None = None) -> dict[str, Any] | None:
        """The log of what is watched, which says whether the visitor knows how it ends; see `Watch.log`."""
        if self.watch is None:
            return None
        log = self.watch.log(turn)
        return {**log, "again": log["again"] or (log["env_id"], log["seed"]) in self.ended}


def plain(action: Any) -> Any:
    """An action as JSON holds it, so that a page can keep it. What JSON cannot hold is no action either way."""
    try:
        return json.loads(json.dumps(action.canonical() if isinstance(action, Action) else action, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return no_answer(f"it put out {type(action).__name__} that is not JSON")


def begin(shop: Shop, agent: Any, env_id: Any, difficulty: Any, seed: Any) -> Watch:
    """Let an agent begin an episode. It takes its first turn when it is asked to.

    Raises:
        EcomrlveError: Unknown agent, environment, difficulty or seed.
    """
    agents.check_name(agent)
    shop.wait()
    return Watch(Seat(agent, shop.open(env_id, whole(difficulty), whole(seed))))


def take(shop: Shop, log: Any, agent: Any) -> Watch:
    """Let an agent go on in the middle of an episode, of which it is shown what happened so far.

    Args:
        shop: Where environments come from.
        log: What `Watch.log` or `Episode.log` gave, by way of the browser.
        agent: Who goes on.

    Raises:
        EcomrlveError: The log is none, its episode is over, or there is no such agent.
    """
    watch = again(shop, log, agent)
    if watch.status == "finished":
        raise SessionError("That episode is over, so there is nothing left to do for an agent. Start another one.")
    return watch


def again(shop: Shop, log: Any, agent: Any, key: Any = None) -> Watch:
    """Bring a watch back that the server has forgotten, wherever it stood.

    Args:
        shop: See `take`.
        log: See `take`.
        agent: See `take`.
        key: The watch's key, where a page is waiting with it.

    Raises:
        EcomrlveError: The log is none, or there is no such agent.
    """
    log = checked(log)
    agents.check_name(agent)
    shop.wait()
    episode = shop.open(log["env_id"], log["difficulty"], log["seed"])
    episode.guided, episode.again = log["guided"], log["again"]
    if isinstance(key, str) and 0 < len(key) <= LONGEST_KEY:
        episode.key = key
    return Watch(Seat(agent, episode, list(zip(log["players"], log["actions"], strict=True))))


def checked(log: Any, turn: int | None = None) -> dict[str, Any]:
    """A log from a browser in its proper form, up to a turn. Whether its actions are any is for the engine to say.

    Raises:
        SessionError: It is none.
    """
    actions = log.get("actions") if isinstance(log, Mapping) else None
    if not isinstance(actions, list) or len(actions) > MOST_ACTIONS:
        raise SessionError(GONE)
    if len(json.dumps(log, default=str)) > MOST_LOG_CHARACTERS:
        raise SessionError("That episode is too large to be brought back. Start another one.")
    offered = {choice.name for choice in agents.choices()}
    return {
        "env_id": log.get("env_id"),
        "difficulty": whole(log.get("difficulty")),
        "seed": whole(log.get("seed")),
        "actions": actions[:turn],
        "players": read_players(log, len(actions), offered)[:turn],
        "guided": log.get("guided") is True,
        "again": log.get("again") is True,
    }
