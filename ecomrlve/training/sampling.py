"""Dynamic sampling: a batch of groups in which the members of each group differ in reward, as far as that can be had.

A group whose members all got the same reward says nothing about which of them did better. Such groups are drawn anew,
with other rows, for a few rounds; what is still without variance then is masked. The curriculum counts every finished
rollout of every round, before any is replaced: a group in which all went well is what mastery looks like. (DAPO, arXiv
2503.14476, section 3.2; TRL has none of it.)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.curriculum import Outcome, Progress, Schedule
from ecomrlve.errors import GenerationError
from ecomrlve.rewards import Reward
from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.processes import Processes
from ecomrlve.training.rollouts import Generate, Limits, Rollout, overlong_penalty, play_out
from ecomrlve.training.rows import Row, draw_row
from ecomrlve.training.token_chats import TokenChats

MOST_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class Finished:
    """What is told to all processes of a finished rollout.

    Attributes:
        slot: Which group of the batch it belongs to.
        row: What was played.
        reward: What the engine says of it.
        penalty: The punishment for length, from −1 to 0, before its weight.
        turns: Turns taken.
        tool_errors: Calls that the shop refused.
        own_tokens: Tokens that the model made.
        tokens: Tokens after the prompt, the model's and all others.
        overlong: It ran out of tokens.
        invalid: Its output was no action.
        engine_seconds: What the engine took.
    """

    slot: int
    row: Row
    reward: Reward
    penalty: float
    turns: int
    tool_errors: int
    own_tokens: int
    tokens: int
    overlong: bool
    invalid: bool
    engine_seconds: float


@dataclass(frozen=True, slots=True)
class Batch:
    """The rollouts that are trained on, and what all rounds came to.

    Attributes:
        rollouts: This process's, in the order of their places: groups are neighbours.
        rewards: The reward of each of them, with the punishment for length.
        kept: Whether each counts for the loss.
        finished: All rollouts of all rounds and processes.
        rounds: How many rounds were drawn.
        groups: How many groups, in all rounds.
        flat_groups: How many of those had no variance.
        masked_groups: Groups of the batch that are left without.
        progress: What the batch did to the curriculum.
        seconds: How long it took on this process.
        engine_seconds: How much of that was the engine's.
    """

    rollouts: Sequence[Rollout]
    rewards: Sequence[float]
    kept: Sequence[bool]
    finished: Sequence[Finished]
    rounds: int
    groups: int
    flat_groups: int
    masked_groups: int
    progress: Sequence[Progress]
    seconds: float
    engine_seconds: float


class BatchSampler:
    """Plays the batches of a run.

    Args:
        config: The run's settings.
        engine: The engine with the catalog.
        chats: Makes the tokens.
        schedule: The curriculum; each batch moves it.
        processes: Those that play parts of the same batch.
    """

    def __init__(
        self,
        config: TrainingConfig,
        engine: SearchEngine,
        chats: TokenChats,
        schedule: Schedule,
        processes: Processes,
    ):
        self.schedule = schedule
        self._config = config
        self._engine = engine
        self._chats = chats
        self._processes = processes
        self._limits = Limits(config.context_tokens, config.turn_tokens, config.own_tokens)
        each = config.rollouts_per_batch // processes.count
        self._places = range(processes.rank * each, (processes.rank + 1) * each)

    def sample(self, step: int, generate: Generate) -> Batch:
        """Play a batch.

        Args:
            step: Number of the training step; rows depend on it.
            generate: Makes the model's turns.

        Raises:
            GenerationError: The catalog supports none of many problems tried.
        """
        began = time.perf_counter()
        config = self._config
        mine: dict[int, Rollout] = {}
        finished: list[Finished] = []
        waiting = list(range(config.prompts_per_batch))
        flat_groups = groups = rounds = 0
        while waiting and rounds < (config.most_rounds if config.dynamic_sampling else 1):
            fresh = {
                place: self._rollout(step, rounds * config.prompts_per_batch + self._slot(place))
                for place in self._places
                if self._slot(place) in waiting
            }
            play_out(list(fresh.values()), generate, self._processes.most)
            mine |= fresh
            told = self._processes.gathered([self._told(self._slot(place), fresh[place]) for place in sorted(fresh)])
            groups += len(waiting)
            waiting = [slot for slot in waiting if _flat([one.reward.total for one in told if one.slot == slot])]
            flat_groups += len(waiting)
            finished += told
            rounds += 1
        progress = self.schedule.finish_batch(
            Outcome(one.row.env_id, one.row.difficulty, one.reward.correct) for one in finished
        )
        masked = set(waiting) if config.dynamic_sampling else set()
        rollouts = [mine[place] for place in self._places]
        return Batch(
            rollouts=rollouts,
            rewards=[rollout.reward.total + self._penalty(rollout) * config.overlong_weight for rollout in rollouts],
            kept=[
                self._slot(place) not in masked and not (config.overlong_filtering and mine[place].overlong)
                for place in self._places
            ],
            finished=finished,
            rounds=rounds,
            groups=groups,
            flat_groups=flat_groups,
            masked_groups=len(masked),
            progress=progress,
            seconds=time.perf_counter() - began,
            engine_seconds=sum(one.engine_seconds for one in finished) / self._processes.count,
        )

    def _slot(self, place: int) -> int:
        """Which group of the batch a place belongs to."""
        return place // self._config.group_size

    def _rollout(self, step: int, number: int) -> Rollout:
        """A fresh rollout; all members of a group, on whichever process, get the same row."""
        config = self._config
        for attempt in range(MOST_ATTEMPTS):
            row = draw_row(self.schedule, config.seed, step, number, attempt)
            try:
                return Rollout(self._engine, row, config.overrides, self._chats, self._limits)
            except GenerationError:
                continue
        raise GenerationError(
            f"none of {MOST_ATTEMPTS} seeds gives a problem of {row.env_id} at d = {row.difficulty} with this catalog"
        )

    def _penalty(self, rollout: Rollout) -> float:
        return overlong_penalty(rollout.own_tokens, self._config.own_tokens, self._config.overlong_buffer)

    def _told(self, slot: int, rollout: Rollout) -> Finished:
        return Finished(
            slot=slot,
            row=rollout.row,
            reward=rollout.reward,
            penalty=self._penalty(rollout),
            turns=rollout.turns,
            tool_errors=rollout.tool_errors,
            own_tokens=rollout.own_tokens,
            tokens=len(rollout.tokens),
            overlong=rollout.overlong,
            invalid=rollout.invalid,
            engine_seconds=rollout.engine_seconds,
        )


def _flat(totals: Sequence[float]) -> bool:
    """Whether a group's members all got the same from the engine. A difference in length alone teaches no task."""
    return max(totals) == min(totals)
