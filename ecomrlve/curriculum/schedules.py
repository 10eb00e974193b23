"""Schedules: they draw difficulties, count what came of them, and decide once per batch."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import ValidationError

from ecomrlve.collections import resolve
from ecomrlve.curriculum.log import LogEntry
from ecomrlve.curriculum.state import (
    AdaptiveState,
    CurriculumError,
    State,
    StaticState,
    Tally,
    Window,
    first_problem,
    new_state,
)
from ecomrlve.difficulty import HIGHEST, LOWEST, check_difficulty
from ecomrlve.errors import short
from ecomrlve.streams import HashStream, key_of

# RLVE's 8 prompts × 16 samples; docs/curriculum.md says what other numbers would do.
MIN_EPISODES = 128
THRESHOLD = 0.9
WIDTH = 4


class Outcome(NamedTuple):
    """What a schedule needs to know of a finished episode."""

    env_id: str
    difficulty: int
    correct: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """What a batch did to one environment.

    Attributes:
        env_id: The environment.
        window: The window that the batch was drawn from.
        episodes: Episodes of the batch at d = high.
        successes: How many of them were correct.
        decided: Whether enough episodes were on record for a decision.
        raised: Whether that decision raised the window.
    """

    env_id: str
    window: Window
    episodes: int
    successes: int
    decided: bool
    raised: bool

    @property
    def success(self) -> float | None:
        """Share of correct episodes at d = high; None if there were none."""
        return self.successes / self.episodes if self.episodes else None

    def log_entry(self, step: int) -> LogEntry:
        """The line for ``curriculum.jsonl``: write its `model_dump_json()`."""
        low, high = self.window
        return LogEntry(step=step, env_id=self.env_id, low=low, high=high, success=self.success)


class Schedule(ABC):
    """What all schedules share: drawing from the windows, counting, and their state.

    Use it batch by batch: `draw` a difficulty for every group of episodes, `record` every finished episode (or
    `record_many` at once), then `decide`. Or `draw`, then `finish_batch` with all outcomes. What is drawn depends only
    on the arguments of `draw`, the seed and the windows, so that it does not matter who draws, or in which order.

    Episodes that share a problem and are compared with each other, such as a group of GRPO, must share their
    difficulty: draw once for the group. Record every finished episode, before groups without variance are dropped; a
    group in which all went well is what mastery looks like.
    """

    _state: Any  # An AdaptiveState or a StaticState.
    _model: ClassVar[type[State]]

    @property
    def env_ids(self) -> tuple[str, ...]:
        """The environments that have a window, in the order they were given."""
        return tuple(self._state.environments)

    def window(self, env_id: str) -> Window:
        """The difficulties that this environment's next episodes are drawn from."""
        tally = self._tally(env_id)
        return Window(tally.low, tally.high)

    def draw(self, env_id: str, step: int, slot: int) -> int:
        """The difficulty of one group of episodes, each of the window equally likely.

        Args:
            env_id: The environment.
            step: Number of the training step.
            slot: Number of the group within the step.
        """
        low, high = self.window(env_id)
        if low == high:
            return low
        # As plain numbers: a key tells NumPy's integers from Python's.
        key = key_of("curriculum", self._state.seed, env_id, operator.index(step), operator.index(slot))
        return low + HashStream(key).integer(high - low + 1)

    def record(self, env_id: str, difficulty: int, correct: bool) -> None:
        """Count a finished episode; one at another difficulty than the window's upper end is left out.

        Raises:
            CurriculumError, DifficultyError: There is no such environment, difficulty or outcome. Nothing is counted.
        """
        self.record_many(env_id, difficulty, [correct])

    def record_many(self, env_id: str, difficulty: int, correct: Sequence[bool]) -> None:
        """Count finished episodes of one difficulty, such as those of a group.

        Raises:
            CurriculumError, DifficultyError: There is no such environment, difficulty or outcome. Nothing is counted.
        """
        tally = self._checked(env_id, difficulty, correct)
        if difficulty == tally.high:
            tally.batch_episodes += len(correct)
            tally.batch_successes += sum(correct)

    def decide(self) -> list[Progress]:
        """End the batch: add what was recorded, and move the windows for which there is enough.

        Returns:
            For every environment, in the order of `env_ids`, what the batch did.
        """
        return [self._end_batch(env_id, tally) for env_id, tally in self._state.environments.items()]

    def finish_batch(self, outcomes: Iterable[Outcome | tuple[str, int, bool]]) -> list[Progress]:
        """Record a whole batch and decide. The order of the outcomes does not matter.

        With several processes, gather the outcomes of all of them first and give each process the same.

        Raises:
            CurriculumError, DifficultyError: One of them cannot be counted. Then none is.
        """
        batch = list(outcomes)
        for env_id, difficulty, correct in batch:
            self._checked(env_id, difficulty, [correct])
        for outcome in batch:
            self.record(*outcome)
        return self.decide()

    def to_dict(self) -> dict[str, Any]:
        """All there is to know, ready for JSON: settings, windows and counts, also in the middle of a batch."""
        return self._state.model_dump()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """A schedule that goes on exactly where the saved one was.

        Args:
            data: What `to_dict` gave.

        Raises:
            CurriculumError, UnknownEnvironmentError: That is not what a schedule of this kind can be like.
        """
        try:
            state = cls._model.model_validate(dict(data) if isinstance(data, Mapping) else data)
        except ValidationError as error:
            raise CurriculumError(f"this is no saved state of a curriculum: {first_problem(error)}") from error
        resolve(list(state.environments))
        schedule = cls.__new__(cls)
        schedule._state = state
        return schedule

    def _tally(self, env_id: str) -> Tally:
        try:
            return self._state.environments[env_id]
        except (KeyError, TypeError):
            known = ", ".join(self.env_ids)
            raise CurriculumError(f"{short(repr(env_id))} has no window here; there are {known}") from None

    def _checked(self, env_id: str, difficulty: int, correct: Sequence[bool]) -> Tally:
        """The environment's tally, if episodes like that can be counted."""
        check_difficulty(difficulty)
        for one in correct:
            if not isinstance(one, bool):
                raise CurriculumError(f"correct must be True or False, not {short(repr(one))}")
        return self._tally(env_id)

    def _end_batch(self, env_id: str, tally: Tally) -> Progress:
        window = Window(tally.low, tally.high)
        episodes, successes = tally.batch_episodes, tally.batch_successes
        tally.batch_episodes = tally.batch_successes = 0
        decided = self._decide_one(tally, episodes, successes)
        return Progress(env_id, window, episodes, successes, decided, raised=tally.high > window.high)

    @abstractmethod
    def _decide_one(self, tally: Tally, episodes: int, successes: int) -> bool:
        """Take what a batch counted into the tally; returns whether that made a decision."""


class Curriculum(Schedule):
    """The adaptive schedule.

    When at least `min_episodes` are on record at d = high and the share of correct ones is at least `threshold`,
    high rises by 1 and low follows at a distance of `width`; either way the count begins anew. High never falls, and
    stops at 12.

    Args:
        env_ids: Environments or collections, as `ecomrlve.make` takes them.
        min_episodes: Fewest episodes at d = high that a decision takes.
        threshold: The success rate that raises the window, above 0 and at most 1.
        width: How far low stays behind high at most: the window has `width` + 1 difficulties.
        seed: Names the stream that difficulties are drawn from, 0 to 2**63 − 1.

    Raises:
        CurriculumError, UnknownEnvironmentError: A setting is out of range, or there is no such environment.
    """

    _state: AdaptiveState
    _model = AdaptiveState

    def __init__(
        self,
        env_ids: str | Sequence[str],
        *,
        min_episodes: int = MIN_EPISODES,
        threshold: float = THRESHOLD,
        width: int = WIDTH,
        seed: int = 0,
    ):
        settings = {"min_episodes": min_episodes, "threshold": threshold, "width": width, "seed": seed}
        self._state = new_state(AdaptiveState, env_ids, Window(LOWEST, LOWEST), settings)

    def _decide_one(self, tally: Tally, episodes: int, successes: int) -> bool:
        tally.episodes += episodes
        tally.successes += successes
        if tally.episodes < self._state.min_episodes:
            return False
        if tally.successes / tally.episodes >= self._state.threshold and tally.high < HIGHEST:
            tally.high += 1
            tally.low = max(tally.low, tally.high - self._state.width)
        tally.episodes = tally.successes = 0
        return True


class StaticCurriculum(Schedule):
    """The schedule that never moves, for comparison and for evaluation: one difficulty, or the same few throughout.

    Args:
        env_ids: Environments or collections, as `ecomrlve.make` takes them.
        difficulty: One difficulty, or the lowest and the highest.
        seed: Names the stream that difficulties are drawn from, 0 to 2**63 − 1.

    Raises:
        CurriculumError, DifficultyError, UnknownEnvironmentError: A setting is out of range, or there is no such
            environment.
    """

    _state: StaticState
    _model = StaticState

    def __init__(self, env_ids: str | Sequence[str], difficulty: int | tuple[int, int], *, seed: int = 0):
        ends = difficulty if isinstance(difficulty, tuple | list) else (difficulty, difficulty)
        if len(ends) != 2:
            raise CurriculumError(f"give one difficulty, or the lowest and the highest, not {short(repr(difficulty))}")
        window = Window(check_difficulty(ends[0]), check_difficulty(ends[1]))
        self._state = new_state(StaticState, env_ids, window, {"seed": seed})

    def _decide_one(self, tally: Tally, episodes: int, successes: int) -> bool:
        return False


def schedule_from_dict(data: Mapping[str, Any]) -> Schedule:
    """The schedule that was saved, of whichever kind it was.

    Raises:
        CurriculumError, UnknownEnvironmentError: That is no schedule's state.
    """
    kinds: dict[str, type[Schedule]] = {"adaptive": Curriculum, "static": StaticCurriculum}
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise CurriculumError(f"a saved curriculum has a kind, {' or '.join(kinds)}, not {short(repr(kind))}")
    return kinds[kind].from_dict(data)
