"""Rollouts: many episodes at a time, each a sequence of tokens with the turns of the model marked as its own.

An episode is played exactly as a checkpoint plays it in an evaluation (`ecomrlve.agents.checkpoint`): the same chat,
the same actions, the same end for output that is no action. What differs is that tokens are kept, and that a model
that runs out of tokens has lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.base import no_answer
from ecomrlve.agents.chat import Conversation, assistant_message
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment
from ecomrlve.errors import EpisodeNotRunningError
from ecomrlve.rewards import Reward
from ecomrlve.training.rows import Row
from ecomrlve.training.token_chats import TokenChats
from ecomrlve.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model made of a prompt.

    Attributes:
        tokens: As sampled, with the token that ends the turn, if it came to that.
        log_probabilities: Of each token, where the sampler tells them; else None.
    """

    tokens: list[int]
    log_probabilities: list[float] | None = None


# Gets the prompts of the running rollouts, and how many there are on the process that has most of them; gives a turn
# for each. Where generating needs all processes at once, they must bring equally many.
Generate = Callable[[Sequence[list[int]], int], list[Turn]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens a rollout may have.

    Attributes:
        context: The prompt and all that follows.
        turn: One turn of the model.
        own: All turns of the model together.
    """

    context: int
    turn: int
    own: int


class Rollout:
    """One episode of a group, and its tokens.

    Args:
        engine: The engine with the catalog.
        row: What is played.
        overrides: Axis → value.
        chats: Makes the tokens.
        limits: How many there may be.

    Attributes:
        row: What is played.
        env: The episode.
        prompt: Tokens of the system message and the customer's opening.
        tokens: All tokens after that.
        own: 1 for each token of the model's own, else 0; as long as `tokens`.
        log_probabilities: Of each own token where the sampler told them, 0.0 for the others; None without.
        observation: What the environment gave last.
        overlong: The model ran out of tokens.
        engine_seconds: Time that the environment took.

    Raises:
        GenerationError: The catalog supports no such problem.
    """

    def __init__(
        self,
        engine: SearchEngine,
        row: Row,
        overrides: dict[str, float],
        chats: TokenChats,
        limits: Limits,
    ):
        self.row = row
        self._chats = chats
        self._limits = limits
        self.overlong = False
        self.engine_seconds = 0.0
        self.env = Environment((row.env_id,), engine)
        started = time.perf_counter()
        options = {"difficulty": row.difficulty, "overrides": overrides}
        self.observation, _ = self.env.reset(seed=row.seed, options=options)
        self._chat = Conversation(self.env.system_prompt("native"), self.observation.tools)
        self._chat.hear(self.observation)
        self.engine_seconds += time.perf_counter() - started
        self.prompt = chats.prompt(self._chat.messages, self._chat.tools)
        self.tokens: list[int] = []
        self.own: list[int] = []
        self.log_probabilities: list[float] | None = None
        if not self._room():
            self._run_out("the first prompt leaves no room for a turn")

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.env.episode.over

    @property
    def reward(self) -> Reward:
        """What the engine says of it.

        Raises:
            EpisodeNotRunningError: It is not over.
        """
        reward = self.env.episode.reward
        if reward is None:
            raise EpisodeNotRunningError("the rollout is still running")
        return reward

    @property
    def own_tokens(self) -> int:
        """Tokens that the model made."""
        return sum(self.own)

    @property
    def turns(self) -> int:
        """Turns that the model took."""
        return self.env.episode.turn

    @property
    def invalid(self) -> bool:
        """Whether the model's output was no action. Running out of tokens is another matter."""
        return self.env.episode.steps[-1]["canonical"] is None and not self.overlong

    @property
    def tool_errors(self) -> int:
        """Calls that the shop refused."""
        return sum("error" in call["result"] for step in self.env.episode.steps for call in step["tool_results"])

    def trajectory(self, player: str) -> Trajectory:
        """The record of the finished episode.

        Args:
            player: The name of who played.
        """
        return self.env.trajectory(player, "checkpoint")

    def take(self, turn: Turn) -> None:
        """Take the model's turn, and append what comes of it."""
        text = self._chats.text(self.tokens or self.prompt, turn.tokens)
        self._append(turn.tokens, 1, turn.log_probabilities)
        if not turn.tokens or turn.tokens[-1] not in self._chats.ends:
            self._run_out(f"a turn was not finished after {len(turn.tokens)} tokens")
            return
        self._step(text)
        if self.over:
            return
        heard = len(self._chat.messages)
        self._chat.say(assistant_message(text))
        self._chat.hear(self.observation)
        self._append(self._chats.between(self._chat.messages[heard + 1 :]), 0)
        if not self._room():
            self._run_out("there is no room for another turn")

    def _step(self, action: Any) -> None:
        started = time.perf_counter()
        self.observation, *_ = self.env.step(action)
        self.engine_seconds += time.perf_counter() - started

    def _append(self, tokens: Sequence[int], own: int, log_probabilities: Sequence[float] | None = None) -> None:
        self.tokens += tokens
        self.own += [own] * len(tokens)
        if log_probabilities is not None and self.log_probabilities is None:
            self.log_probabilities = [0.0] * (len(self.tokens) - len(tokens))
        if self.log_probabilities is not None:
            self.log_probabilities += log_probabilities if log_probabilities is not None else [0.0] * len(tokens)

    def _room(self) -> bool:
        """Whether there is room for another turn of full length."""
        used = len(self.prompt) + len(self.tokens)
        return (
            used + self._limits.turn <= self._limits.context and self.own_tokens + self._limits.turn <= self._limits.own
        )

    def _run_out(self, why: str) -> None:
        """End the episode as lost; what follows the model's last turn is not part of it."""
        self.overlong = True
        self._step(no_answer(f"out of tokens: {why}"))
        while self.own and not self.own[-1]:
            self.own.pop()
            self.tokens.pop()
            if self.log_probabilities is not None:
                self.log_probabilities.pop()


def play_out(rollouts: Sequence[Rollout], generate: Generate, most: Callable[[int], int] = int) -> None:
    """Play rollouts to their ends, one turn of each at a time.

    Args:
        rollouts: Fresh ones.
        generate: Makes the turns.
        most: The largest of the numbers that the processes call it with. They all go on until the last one is done.
    """
    while True:
        running = [rollout for rollout in rollouts if not rollout.over]
        places = most(len(running))
        if not places:
            return
        turns = generate([[*rollout.prompt, *rollout.tokens] for rollout in running], places)
        for rollout, turn in zip(running, turns, strict=True):
            rollout.take(turn)


def overlong_penalty(own_tokens: int, most: int, buffer: int) -> float:
    """DAPO's soft overlong punishment, over the model's own tokens alone: 0 down to −1 (equation 13, arXiv 2503.14476).

    What tools and customers say is not the model's doing, so it does not count.

    Args:
        own_tokens: Tokens that the model made.
        most: Where the punishment is whole.
        buffer: It begins that many tokens before.
    """
    if own_tokens <= most - buffer:
        return 0.0
    return max(-1.0, (most - buffer - own_tokens) / buffer) if buffer else -1.0
