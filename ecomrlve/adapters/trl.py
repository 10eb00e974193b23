"""TRL's `GRPOTrainer` plays our episodes in its own tool loop, and their rewards are the engine's.

For people who have a `GRPOTrainer` already; ``python -m ecomrlve train`` is the trainer of this package. In TRL's loop
an assistant message without a tool call ends the rollout, and nothing but a tool can answer. So here the customer is
spoken to with ask_user only; everything else is as everywhere: one assistant message is one turn, its calls run
together, and invalid output ends the episode with −1.

TRL says where a message's calls begin and end only to async tools, which it starts all together. Hence the methods are
async: a turn is played when all of its calls are there.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ecomrlve.adapters._episodes import cells, left_alone, opened, reset_arguments, shared_engine
from ecomrlve.adapters._methods import tool_method
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import resolve
from ecomrlve.environment import Environment
from ecomrlve.episode import INVALID
from ecomrlve.rewards import Reward

if TYPE_CHECKING:
    from datasets import Dataset

DIALECT = "native"
NOTE = "Here the customer reads only what you ask with ask_user. A reply without a tool call ends the conversation."
OVER = json.dumps({"error": {"code": "episode_over", "message": "The conversation is over. Call nothing more."}})


@dataclass(slots=True)
class _Turn:
    """The calls of one assistant message, and what came of each once the turn is played."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


class Rollout:
    """One episode, as a tool loop plays it.

    Args:
        env: An environment of its own.
    """

    def __init__(self, env: Environment):
        self._env = env
        self._start: dict[str, Any] = {}
        self._over = True
        self._turn: _Turn | None = None

    def begin(self, row: Mapping[str, Any]) -> str:
        """Start an episode; returns the customer's opening.

        Args:
            row: ``seed``, ``difficulty``, and maybe ``overrides`` (axis → value, or its JSON text).

        Raises:
            SeedError, DifficultyError, OptionError: Something is out of range.
        """
        self._start = reset_arguments(row)
        observation, _ = self._env.reset(**self._start)
        self._chat = opened(self._env, observation, DIALECT)
        self._over = False
        self._turn = None
        return self._chat.messages[-1]["content"]

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool; all calls that are started together are one turn. Returns what came of it, as text."""
        if self._turn is None:
            self._turn = _Turn()
        turn, number = self._turn, len(self._turn.calls)
        turn.calls.append({"function": {"name": name, "arguments": arguments}})
        # All calls of the message are started before the first goes on, so whoever does finds them here.
        await asyncio.sleep(0)
        if turn is self._turn:
            self._turn = None
            turn.results = self._play(turn.calls)
        return turn.results[number]

    def _play(self, calls: list[dict[str, Any]]) -> list[str]:
        if self._over:
            return [OVER] * len(calls)
        observation, _, terminated, truncated, info = self._env.step({"tool_calls": calls})
        self._over = terminated or truncated
        if self._over and info["reward"].reason.startswith(INVALID):
            return [OVER] * len(calls)
        self._chat.say({"tool_calls": calls})
        before = len(self._chat.messages)
        self._chat.hear(observation)
        texts = [message["content"] for message in self._chat.messages[before:]]
        # What the customer says unasked is a message of its own, for which the loop has no place.
        last = "\n".join(texts[len(calls) - 1 :])
        return [*texts[: len(calls) - 1], f"{last}\n{OVER}" if self._over else last]

    def outcome(self, completion: Sequence[Mapping[str, Any]]) -> Reward:
        """What the engine says about a rollout.

        The episode is played again from what the model put out, because some of it never got here: calls of tools
        that do not exist, arguments that are no object, text that cannot be read.

        Args:
            completion: The chat after the prompt, as a reward function gets it.
        """
        self._env.reset(**self._start)
        for message in completion:
            if message["role"] != "assistant":
                continue
            calls = message.get("tool_calls")
            # Words beside calls reach nobody in the loop, so they are left out; words alone are its last output.
            action = {"tool_calls": calls} if calls else {"role": "assistant", "content": message.get("content") or ""}
            _, _, terminated, truncated, info = self._env.step(action)
            if terminated or truncated:
                return info["reward"]
        return left_alone(self._env)


class ToolEnvironment:
    """What TRL makes an instance of for each rollout; `environment_factories` adds a method for each tool.

    Attributes:
        env_id: The environment.
        rollout: The episode.
    """

    env_id: str

    def __init__(self, engine: SearchEngine):
        self.rollout = Rollout(Environment((self.env_id,), engine))

    def reset(self, **row: Any) -> str:
        """Start the episode of a row; returns the customer's opening, which TRL adds to the prompt."""
        return self.rollout.begin(row)


def environment_factories(
    env_ids: str | Sequence[str] = "C8", *, catalog: SearchEngine | str | None = None, words_only: bool = False
) -> dict[str, Callable[[], ToolEnvironment]]:
    """What ``GRPOTrainer(environment_factory=...)`` takes: each row offers only its environment's tools.

    Args:
        env_ids: An environment, a collection (``C8``), or several names.
        catalog: None for the default catalog; a file, a catalog folder, or an engine.
        words_only: Search by words alone, without vectors.

    Raises:
        UnknownEnvironmentError: There is no such environment.
        CatalogError: The catalog cannot be read.
    """
    engine = shared_engine(catalog, words_only=words_only)
    return {env_id: functools.partial(_tool_class(env_id, engine), engine) for env_id in resolve(env_ids)}


def _tool_class(env_id: str, engine: SearchEngine) -> type[ToolEnvironment]:
    """The class of one environment. Its name is what TRL's logs call it."""
    observation, _ = Environment((env_id,), engine).reset(seed=0)
    functions = [tool["function"] for tool in observation.tools]
    methods = {function["name"]: tool_method(function) for function in functions}
    return type(env_id, (ToolEnvironment,), {"env_id": env_id, "__doc__": f"The tools of {env_id}.", **methods})


def training_rows(
    env_ids: str | Sequence[str],
    difficulties: Iterable[int],
    seeds: Iterable[int],
    *,
    catalog: SearchEngine | str | None = None,
    words_only: bool = False,
    held: bool = False,
) -> Dataset:
    """A dataset with the columns that `environment_factories` needs: every environment, difficulty and seed.

    Args:
        env_ids: An environment, a collection (``C8``), or several names.
        difficulties: Each from 0 to 12.
        seeds: Each from 0 to 2**63 − 1.
        catalog: The same as for `environment_factories`.
        words_only: The same as for `environment_factories`.
        held: Let seeds pass that are held back for measuring: for validation, never for training.

    Returns:
        ``prompt`` (system message, and an empty user message that gets the opening), ``environment``, ``difficulty``
        and ``seed``.

    Raises:
        SeedError: A seed is out of range, or held back.
        GenerationError: The catalog supports no such problem.
    """
    from datasets import Dataset

    engine = shared_engine(catalog, words_only=words_only)
    return Dataset.from_list([_row(engine, *cell) for cell in cells(env_ids, difficulties, seeds, held=held)])


def _row(engine: SearchEngine, env_id: str, difficulty: int, seed: int) -> dict[str, Any]:
    env = Environment((env_id,), engine)
    observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
    system = opened(env, observation, DIALECT, NOTE).messages[0]
    prompt = [system, {"role": "user", "content": ""}]
    return {"prompt": prompt, "environment": env_id, "difficulty": difficulty, "seed": seed}


def episode_reward(
    completions: Sequence[Sequence[Mapping[str, Any]]],
    environments: Sequence[Any],
    log_metric: Callable[[str, float], None] | None = None,
    **columns: Any,
) -> list[float | None]:
    """The engine's totals, for ``GRPOTrainer(reward_funcs=...)``.

    Args:
        completions: The chats after the prompts.
        environments: The instance that each was played with.
        log_metric: TRL's; gets the mean reward and the share of correct episodes of each environment.
        columns: What else TRL hands over; not needed.

    Returns:
        From −1 to 1 each; None for rollouts in environments of others.
    """
    totals: list[float | None] = []
    rewards: dict[str, list[Reward]] = defaultdict(list)
    for completion, environment in zip(completions, environments, strict=True):
        if not isinstance(environment, ToolEnvironment):
            totals.append(None)
            continue
        reward = environment.rollout.outcome(completion)
        totals.append(reward.total)
        rewards[environment.env_id].append(reward)
    if log_metric is not None:
        for env_id, found in rewards.items():
            log_metric(f"{env_id}/reward", sum(reward.total for reward in found) / len(found))
            log_metric(f"{env_id}/correct", sum(reward.correct for reward in found) / len(found))
    return totals
