"""An episode in which texts go in and chat messages come out, for trainers that know neither tools nor observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecomrlve.adapters._episodes import json_object, left_alone, opened, reset_arguments
from ecomrlve.agents.chat import Message, assistant_message
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import resolve
from ecomrlve.environment import Environment
from ecomrlve.episode import INVALID
from ecomrlve.errors import OptionError
from ecomrlve.rewards import Reward

# The tools stand in the system message: whoever applies the chat template here has no others to give it.
DIALECTS = ("hermes", "json")


@dataclass(frozen=True, slots=True)
class TextStep:
    """What came of one text.

    Attributes:
        messages: What the model is to be shown next: results of tools and what the customer said.
        reward: The engine's total at the end, 0.0 before.
        done: The episode is over.
        facts: Which episode it is; at the end also ``correct``, ``parts`` and ``reason``.
    """

    messages: list[Message]
    reward: float
    done: bool
    facts: dict[str, Any]


class TextEpisode:
    """One episode.

    Args:
        extras: ``env_id``, ``difficulty``, ``seed``, maybe ``overrides`` (axis → value, or its JSON text) and
            ``max_turns``, after which it is over even if the episode has turns left; or all of that as JSON text.
        engine: Search engine with the catalog.
        dialect: How the model is to write its actions: ``hermes`` (blocks of ``<tool_call>``) or ``json``.

    Raises:
        OptionError: Something is missing or unknown.
        UnknownEnvironmentError: There is no such environment.
    """

    def __init__(self, extras: Mapping[str, Any] | str, engine: SearchEngine, dialect: str = "hermes"):
        extras = json_object("extras", extras) if isinstance(extras, str) else extras
        if dialect not in DIALECTS:
            raise OptionError(f"there is no dialect {dialect!r} for texts; there are {' and '.join(DIALECTS)}")
        if not isinstance(extras.get("env_id"), str):
            raise OptionError("extras need an env_id such as E_CART")
        self._env = Environment(resolve(extras["env_id"]), engine)
        self._start = reset_arguments(extras)
        self._dialect = dialect
        self._most_turns = extras.get("max_turns")
        self._facts: dict[str, Any] = {}
        self._reward: Reward | None = None
        self._turns = 0

    def begin(self) -> tuple[list[Message], dict[str, Any]]:
        """Start the episode; returns the system message with the customer's opening, and which episode it is."""
        observation, self._facts = self._env.reset(**self._start)
        self._reward, self._turns = None, 0
        self._chat = opened(self._env, observation, self._dialect)
        return list(self._chat.messages), dict(self._facts)

    def step(self, text: str) -> TextStep:
        """Take one turn.

        Args:
            text: What the model put out.

        Raises:
            EpisodeNotRunningError: `begin` was not called, or the episode is over.
        """
        observation, _, terminated, truncated, info = self._env.step(text)
        self._turns += 1
        self._chat.say(assistant_message(text))
        before = len(self._chat.messages)
        self._chat.hear(observation)
        if terminated or truncated:
            self._reward = info["reward"]
        elif self._turns == self._most_turns:
            self._reward = left_alone(self._env)
        facts = dict(self._facts)
        if self._reward is not None:
            facts |= {"correct": self._reward.correct, "parts": self._reward.parts, "reason": self._reward.reason}
        total = self._reward.total if self._reward is not None else 0.0
        return TextStep(self._chat.messages[before:], total, self._reward is not None, facts)

    def metrics(self) -> dict[str, float]:
        """Figures of the episode; those of many episodes can be averaged. One that was cut off counts as failed."""
        reward = self._reward
        total, correct = (reward.total, float(reward.correct)) if reward is not None else (0.0, 0.0)
        env_id = self._facts["env_id"]
        return {
            "reward": total,
            "correct": correct,
            "finished": float(reward is not None),
            "invalid": float(reward is not None and reward.reason.startswith(INVALID)),
            "turns": float(self._turns),
            "difficulty": float(self._facts["difficulty"]),
            f"{env_id}/reward": total,
            f"{env_id}/correct": correct,
        }
