"""What an agent is: it gets observations and gives actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.rewards import Reward


class Agent(Protocol):
    """Plays episodes, one at a time."""

    name: str

    def reset(self, env: Environment) -> None:
        """Get ready for the episode that was just reset. Only privileged agents look at `env.episode`."""

    def act(self, observation: Observation) -> Any:
        """The next action, in any dialect."""


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
