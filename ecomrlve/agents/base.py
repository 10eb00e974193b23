"""What an agent is: it gets observations and gives actions. `Players` hands out the agents of many episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ecomrlve.environment import Environment
from ecomrlve.episode import UNREADABLE
from ecomrlve.protocol import Observation
from ecomrlve.rewards import Reward

NO_ANSWER = "no answer from the model"


class Agent(Protocol):
    """Plays episodes, one at a time."""

    name: str

    def reset(self, env: Environment) -> None:
        """Get ready for the episode that was just reset. Only privileged agents look at `env.episode`."""

    def act(self, observation: Observation) -> Any:
        """The next action, in any dialect."""


class Players(Protocol):
    """The agents of many episodes that are played at the same time, over what they share, such as a model.

    Attributes:
        name: The agent's name.
        width: How many episodes are worth playing at a time.
        threads: Each player waits for an answer of its own, from a server, so each episode gets a thread. Otherwise the
            episodes go in step, and `act` decides for all of them at once.
        model: Each process that plays loads a model of its own.
    """

    name: str
    width: int
    threads: bool
    model: bool

    def player(self, trial: int = 0) -> Agent:
        """The agent of one more episode.

        Args:
            trial: Tells repetitions of one episode apart: whatever the agent draws, it draws anew in each trial.
        """
        ...

    def act(self, players: Sequence[Agent], observations: Sequence[Observation]) -> list[Any]:
        """The next actions of some players whose episodes go in step.

        Args:
            players: What `player` handed out.
            observations: What each of them gets, in the same order.
        """
        ...


class Singles:
    """`Players` of an agent that shares nothing.

    Args:
        name: The agent's name.
        make: Makes the agent of an episode, given the trial.
    """

    width = 1
    threads = False
    model = False

    def __init__(self, name: str, make: Callable[[int], Agent]):
        self.name = name
        self._make = make

    def player(self, trial: int = 0) -> Agent:
        """See `Players.player`."""
        return self._make(trial)

    def act(self, players: Sequence[Agent], observations: Sequence[Observation]) -> list[Any]:
        """See `Players.act`."""
        return [player.act(observation) for player, observation in zip(players, observations, strict=True)]


def no_answer(reason: str) -> dict[str, str]:
    """The action of an agent that got no answer from its model: it ends the episode, and replays to the same end.

    Args:
        reason: Why, in a few words.
    """
    return {UNREADABLE: f"{NO_ANSWER}: {reason}"}


def notes_of(agent: Agent) -> dict[str, Any]:
    """What an agent noted of the episode it played: tokens, requests, troubles. Agents without a model note nothing."""
    notes = getattr(agent, "notes", None)
    return dict(notes()) if callable(notes) else {}


def play(
    env: Environment, agent: Agent, seed: int, difficulty: int, overrides: Mapping[str, float] | None = None,
    env_id: str | None = None,
) -> Reward:  # fmt: skip
    """Let an agent play one episode to its end.

    Args:
        env: The environment; its last episode is replaced.
        agent: Who plays.
        seed: Seed of the episode.
        difficulty: d, from 0 to 12.
        overrides: Axis → value.
        env_id: Which of the environment's environments; None lets the seed decide.
    """
    options: dict[str, Any] = {"difficulty": difficulty, "overrides": overrides or {}}
    if env_id is not None:
        options["env_id"] = env_id
    observation, _ = env.reset(seed=seed, options=options)
    agent.reset(env)
    while True:
        observation, _, terminated, truncated, info = env.step(agent.act(observation))
        if terminated or truncated:
            return info["reward"]
