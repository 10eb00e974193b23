"""One episode in a terminal, from the player's side: only what the environment gave out, until it has ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ecomrlve.cli.play_commands import joined
from ecomrlve.cli.play_numbers import Numbers
from ecomrlve.cli.play_values import PlayError
from ecomrlve.environment import Environment
from ecomrlve.protocol import Action, Observation
from ecomrlve.rewards import Reward


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as its player saw it.

    Attributes:
        action: What the player did.
        messages: What came back: tool results, and what the customer said.
    """

    action: Action
    messages: tuple[dict[str, Any], ...]


@dataclass
class Game:
    """A running episode with what the player collects for the next turn.

    Attributes:
        environment: Plays the episode. Nothing but its observations is read before the end.
        observation: The newest observation.
        seed, difficulty: What the episode was reset with.
        opening: What the customer said first.
        turns: The turns taken.
        tray: Parts of the next turn, or None.
        numbers: The ids that were shown.
        reward: The outcome, once the episode is over.
    """

    environment: Environment
    observation: Observation
    seed: int
    difficulty: int
    opening: tuple[dict[str, Any], ...]
    turns: list[Turn] = field(default_factory=list)
    tray: Action | None = None
    numbers: Numbers = field(default_factory=Numbers)
    reward: Reward | None = None

    @classmethod
    def start(cls, environment: Environment, seed: int | None, difficulty: int, env_id: str | None = None) -> Game:
        """Reset an environment.

        Args:
            environment: One of one's own; its last episode is replaced.
            seed: The episode's seed; None draws one.
            difficulty: d, from 0 to 12.
            env_id: Which of the environment's environments; None lets the seed decide.

        Raises:
            EcomrlveError: The seed or the difficulty is out of range.
        """
        options: dict[str, Any] = {"difficulty": difficulty, **({"env_id": env_id} if env_id else {})}
        observation, info = environment.reset(seed=seed, options=options)
        game = cls(environment, observation, info["seed"], info["difficulty"], observation.messages)
        game._read(observation)
        return game

    @property
    def env_id(self) -> str:
        """The environment that is played."""
        return self.observation.env_id

    @property
    def calls_left(self) -> int:
        """Tool calls that the next turn may still get."""
        return self.observation.tool_budget - (len(self.tray.tool_calls) if self.tray else 0)

    def collect(self, part: Action) -> None:
        """Put a part of the next turn into the tray.

        Raises:
            PlayError: It does not fit; the tray is as before.
        """
        self.tray = joined(self.tray, part)

    def send(self, part: Action | None = None) -> Turn:
        """Take a turn with what is in the tray and one more part.

        Raises:
            PlayError: There is nothing to send, or it does not fit together; nothing has happened.
        """
        action = joined(self.tray, part) if part is not None else self.tray
        if action is None:
            raise PlayError("There is nothing in the tray. A line without + is sent at once.")
        self.tray = None
        observation, _, terminated, truncated, info = self.environment.step(action.canonical())
        turn = Turn(action, observation.messages)
        self.turns.append(turn)
        self.observation = observation
        self._read(observation)
        if terminated or truncated:
            self.reward = info["reward"]
        return turn

    def _read(self, observation: Observation) -> None:
        for message in observation.messages:
            if message["role"] == "tool":
                self.numbers.read(message["result"])
            else:
                self.numbers.hear(message["content"])
