"""Two players in the same scenario, turn by turn in step, in portions so small that other visitors hardly notice.

An agent plays here and now. A recorded game is played again from its actions: what the page shows of it is what the
shop itself says, never what a file claims.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.agents import Seat, check_name, title_of
from components.episode import Episode
from components.session import SessionError, Shop, whole
from components.tables import mapping, words
from ecomrlve.errors import TrajectoryError, short
from ecomrlve.evaluation.failures import tool_calls
from ecomrlve.replay import first_difference, parse_line, replay
from ecomrlve.trajectory import stable

PORTION_SECONDS = 0.05
# Of one recorded game as JSON. Long journeys have up to a megabyte.
MOST_BYTES = 4 * 2**20
MOST_CALLS = 500
LONGEST_NAME = 40
PERSON, AGENT = "person", "agent"


@dataclass(frozen=True)
class Scenario:
    """What two players share: environment, difficulty, seed."""

    env_id: Any
    difficulty: Any
    seed: Any
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def open(self, shop: Shop) -> Episode:
        """A new episode of it.

        Raises:
            EcomrlveError: Unknown environment, difficulty or seed.
        """
        shop.wait()
        environment = shop.make(self.env_id)
        difficulty, seed = whole(self.difficulty), whole(self.seed)
        options = {"difficulty": difficulty, "overrides": dict(self.overrides)}
        observation, _ = environment.reset(seed=seed, options=options)
        opening = "\n".join(entry["content"] for entry in observation.messages if entry["role"] == "customer")
        return Episode(self.env_id, difficulty, seed, environment, observation, opening)


class AgentSide:
    """An agent in the scenario.

    Args:
        shop: Where it plays.
        scenario: What it plays.
        name: The agent's name.

    Attributes:
        record: The record of the episode, once it is over.
        notes: Sentences about it for people.

    Raises:
        SessionError: There is no such agent here.
    """

    kind = AGENT

    def __init__(self, shop: Shop, scenario: Scenario, name: Any):
        self.name = check_name(name)
        self.label = title_of(self.name)
        self.record: dict[str, Any] | None = None
        self.notes: list[str] = []
        self._shop, self._scenario = shop, scenario
        self._seat: Seat | None = None
        self._seconds = 0.0

    def turn(self) -> None:
        """Take a turn, the first time after opening the episode.

        Raises:
            EcomrlveError: The scenario does not exist, or the agent cannot play.
        """
        started = time.perf_counter()
        if self._seat is None:
            self._seat = Seat(self.name, self._scenario.open(self._shop))
        self._seat.turn()
        self._seconds += time.perf_counter() - started
        if not self._seat.episode.running:
            self.record = self._finished(self._seat.episode)

    def _finished(self, episode: Episode) -> dict[str, Any]:
        record = episode.environment.trajectory(self.name, AGENT).to_dict()
        engine_seconds = sum(turn.ms for turn in episode.turns) / 1000
        times = {"seconds": round(self._seconds, 6), "engine_seconds": round(engine_seconds, 6)}
        return {**record, "evaluation": {"agent": self.name, "trial": 0, **times, "notes": {}}}


@dataclass(frozen=True)
class Game:
    """A recorded game that was looked at, but not yet played again.

    Attributes:
        record: The record as it came.
        label: Who played, for people.
        kind: Whether a person played, or an agent.
        scenario: What was played.
    """

    record: dict[str, Any]
    label: str
    kind: str
    scenario: Scenario


def game_of(trajectory: Any) -> Game:
    """Check a record from anywhere.

    Raises:
        SessionError: It is no finished episode, or too large.
    """
    try:
        text = json.dumps(trajectory, ensure_ascii=False).encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError):
        raise SessionError("That game is no record of an episode.") from None
    if len(text) > MOST_BYTES:
        raise SessionError(f"That game has {len(text) / 2**20:.0f} MB; up to {MOST_BYTES // 2**20} MB can be compared.")
    problem, record = parse_line(text)
    if problem:
        raise SessionError(f"That game cannot be read: {problem}.")
    if sum(tool_calls(record).values()) > MOST_CALLS:
        raise SessionError(f"That game has more than {MOST_CALLS} tool calls; shorter ones can be compared.")
    player = mapping(record.get("player"))
    name = short(words(player.get("name")) or "unknown", LONGEST_NAME)
    label = "You" if name == "you" else name
    kind = AGENT if player.get("kind") == AGENT else PERSON
    scenario = Scenario(record["env_id"], record["difficulty"], record["seed"], record["overrides"])
    return Game(record, label, kind, scenario)


class GameSide:
    """A recorded game in the scenario; its one turn plays all of it again.

    Args:
        shop: Where it is played again.
        game: What `game_of` gave.
    """

    name = ""

    def __init__(self, shop: Shop, game: Game):
        self.label, self.kind = game.label, game.kind
        self.record: dict[str, Any] | None = None
        self.notes: list[str] = []
        self._shop, self._game = shop, game

    def turn(self) -> None:
        """Play it again.

        Raises:
            EcomrlveError: It cannot be, such as for another catalog.
        """
        self._shop.wait()
        again = replay(self._game.record, self._shop.engine)
        old, new = (json.loads(json.dumps(stable(record))) for record in (self._game.record, again))
        difference = first_difference(old, new)
        if difference:
            self.notes.append(f"Played again, the recorded game came out differently, and that is shown: {difference}")
        self.record = again


@dataclass
class Match:
    """Two sides on their way through one scenario.

    Attributes:
        scenario: What they play.
        sides: The two; the first is the one named first.
        turns: How many turns have been taken by both together.
    """

    scenario: Scenario
    sides: tuple[AgentSide | GameSide, AgentSide | GameSide]
    turns: int = 0

    @property
    def over(self) -> bool:
        """Whether both have finished."""
        return all(side.record is not None for side in self.sides)

    def portion(self, seconds: float = PORTION_SECONDS, clock: Callable[[], float] = time.perf_counter) -> bool:
        """Play on for about so long, in turns; returns whether it is over.

        Raises:
            EcomrlveError: The scenario does not exist, or a side cannot play.
        """
        until = clock() + seconds
        while not self.over:
            for side in self.sides:
                if side.record is None:
                    side.turn()
                    self.turns += 1
            if clock() >= until:
                break
        return self.over

    def records(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The records of both.

        Raises:
            TrajectoryError: They have not finished.
        """
        one, other = (side.record for side in self.sides)
        if one is None or other is None:
            raise TrajectoryError("this match is not over yet")
        return one, other


def agents_match(shop: Shop, scenario: Scenario, one: Any, other: Any) -> Match:
    """Agent against agent.

    Raises:
        SessionError: There is no such agent, or it is the same twice.
    """
    if one == other:
        raise SessionError("Choose two different players.")
    return Match(scenario, (AgentSide(shop, scenario, one), AgentSide(shop, scenario, other)))


def against(trajectory: Any, agent_name: Any, shop: Shop) -> Match:
    """A recorded game, usually a person's, against an agent in the same scenario.

    Args:
        trajectory: The record of a finished episode, from anywhere.
        agent_name: One of `components.agents.choices`.
        shop: Where both are played.

    Raises:
        SessionError: It is no finished episode, or there is no such agent.
    """
    game = trajectory if isinstance(trajectory, Game) else game_of(trajectory)
    return Match(game.scenario, (GameSide(shop, game), AgentSide(shop, game.scenario, agent_name)))
