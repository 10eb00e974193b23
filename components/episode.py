"""One episode from the player's side: only what the environment gave out until it has ended, and who took its turns."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.errors import InvalidActionError
from ecomrlve.protocol import parse_action

YOU = "you"  # stands for the person at the page, whatever its nickname
UNKNOWN = "unknown"  # took an action that no record tells who took
AGAIN = " (again)"
GUIDED = ", guided"
MOST_ACTIONS = 60
MOST_STRETCHES = 3


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
    """An episode as it runs, and its record once it is over.

    Attributes:
        env_id, difficulty, seed: What it was reset with.
        environment: Plays it. Nothing but its observations is read before the end.
        observation: The newest observation.
        opening: What the customer said first.
        guided: The guide leads through it.
        again: The person had seen how an episode of this environment and seed ends, before this one was over.
        nickname: The person's name in the record.
        key: Tells it from every other episode in the browser.
        turns: The turns taken.
        actions: What was given to the environment in each of them.
        players: Who took each of them: `YOU`, or an agent's name.
        reward: The outcome, once it is over.
        trajectory: Its record, once it is over.
        stored: Under which ``episode_id`` the record was kept, or "".
    """

    env_id: str
    difficulty: Any
    seed: Any
    environment: Any
    observation: Any
    opening: str
    guided: bool = False
    again: bool = False
    nickname: str = YOU
    key: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    turns: list[Turn] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    players: list[str] = field(default_factory=list)
    reward: Any = None
    trajectory: dict[str, Any] | None = None
    stored: str = ""

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
            "players": list(self.players),
            "guided": self.guided,
            "again": self.again,
            "stored": self.stored,
            # The browser compares this, to tell whether a message that waits in the box belongs to this episode.
            "key": self.key,
        }

    def step(self, action: Any, player: str = YOU) -> None:
        """Take one turn.

        Args:
            action: What the environment gets.
            player: Who takes it: `YOU`, or an agent's name.
        """
        message, answer = _readable(action)
        started = time.perf_counter()
        observation, _, terminated, truncated, info = self.environment.step(action)
        ms = (time.perf_counter() - started) * 1000
        calls = [dict(entry) for entry in observation.messages if entry["role"] == "tool"]
        customer = "\n".join(entry["content"] for entry in observation.messages if entry["role"] == "customer")
        self.actions.append(action)
        self.players.append(player)
        self.turns.append(Turn(len(self.turns) + 1, message, answer, calls, customer, ms))
        self.observation = observation
        if terminated or truncated:
            self.reward = info["reward"]
            name, kind = player_of(self.players, self.nickname, again=self.again, guided=self.guided)
            self.trajectory = self.environment.trajectory(name, kind).to_dict()
        _take_times(self)


def opened(environment: Any, env_id: str, difficulty: Any, seed: Any) -> Episode:
    """Reset an environment to an episode.

    Args:
        environment: Plays it; its last episode is replaced.
        env_id: Which of the environment's environments.
        difficulty: d.
        seed: The episode's seed.

    Raises:
        EcomrlveError: The difficulty or the seed is out of range.
    """
    observation, _ = environment.reset(seed=seed, options={"difficulty": difficulty})
    opening = "\n".join(entry["content"] for entry in observation.messages if entry["role"] == "customer")
    return Episode(env_id, difficulty, seed, environment, observation, opening)


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


def player_of(
    players: Sequence[str], nickname: str = YOU, *, again: bool = False, guided: bool = False
) -> tuple[str, str]:
    """Who played an episode, for its record.

    Only what a person did alone and without having seen the goal is of kind "human" under the plain nickname. Where
    the goal had been seen the name says "(again)"; what the guide or an agent had a part in is of kind "mixed".

    Args:
        players: Who took each action: `YOU`, or an agent's name.
        nickname: What `YOU` is called.
        again: The goal had been seen before.
        guided: The guide told what to do next.

    Returns:
        Name and kind: "human", "agent" or "mixed".
    """
    names = [nickname if player == YOU else player for player in players]
    stretches = [name for name, _ in itertools.groupby(names)]
    name = ", then ".join(stretches)
    if len(stretches) > MOST_STRETCHES:
        name = " and ".join(dict.fromkeys(names)) + " in turns"
    if YOU not in players:
        return name, "agent" if len(stretches) == 1 and UNKNOWN not in players else "mixed"
    name += (GUIDED if guided else "") + (AGAIN if again else "")
    return name, "human" if set(players) == {YOU} and not guided else "mixed"


def read_players(log: Mapping[str, Any], count: int, agents: Container[str]) -> list[str]:
    """Who took each action of a log, which may say anything.

    Args:
        log: What `Episode.log` gave, by way of the browser.
        count: How many actions it has.
        agents: The names of agents that may have taken some.

    Returns:
        One name per action; `UNKNOWN` for each where the log does not say it well. A log without the list is that of
        a person.
    """
    named = log.get("players", [YOU] * count)
    fits = isinstance(named, list) and len(named) == count
    if not fits or any(not isinstance(name, str) or (name != YOU and name not in agents) for name in named):
        return [UNKNOWN] * count
    return list(named)
