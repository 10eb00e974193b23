"""What the curriculum's rule does: how often it promotes whom, and what a learner gains by it in a simple model.

Two questions, answered without any language model. First, a window of n episodes is a small sample: how often does a
learner whose true success rate is 0.80, or 0.95, reach the 0.9 in it? That is exact, by the binomial distribution, and
played through the real `Curriculum` besides. Second, what becomes of a learner that meets always easy, always hard, or
adaptive episodes? That is a simulation of an abstract learner with three numbers. It shows what can happen and why; it
predicts nothing about a particular model. docs/curriculum.md discusses both, and what they leave out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import bdtrc, betaln, gammaln

from ecomrlve.curriculum import MIN_EPISODES, THRESHOLD, Curriculum, Schedule, StaticCurriculum
from ecomrlve.difficulty import HIGHEST, LOWEST
from ecomrlve.streams import key_of

SUCCESS_RATES = (0.80, 0.85, 0.90, 0.95)
WINDOWS = (32, 64, 128, 256)

# What a learner gains from a group that teaches as much as a group can, in units of d, and per training step.
SPEEDS = {"slow": 0.1, "medium": 0.2, "fast": 0.4}
ALWAYS_EASY, ALWAYS_HARD = 1, 11
STEPS, GROUPS, GROUP_SIZE = 300, 16, 8
# A learner knows nothing of environments; the curriculum wants the name of one.
ENVIRONMENT = "E_CART"


def fewest_successes(window: int, threshold: float = THRESHOLD) -> int:
    """How many of `window` episodes must be correct for a promotion."""
    return next(count for count in range(window + 1) if count / window >= threshold)


def promotion_chance(success: float, window: int, *, group_size: int = 1, correlation: float = 0.0) -> float:
    """The chance that one window promotes a learner, exactly.

    Independent episodes are binomial. Episodes of one group share their problem, and problems differ in how hard they
    are: then a group's successes are beta-binomial, with the given correlation between two episodes of a group
    (J. G. Skellam 1948, "A probability distribution derived from the binomial distribution by regarding the probability
    of success as variable between the sets of trials", JRSS B 10).

    Args:
        success: The learner's true success rate at d = high, over all problems; above 0 and below 1.
        window: Episodes that a decision is made on, a multiple of the group's size.
        group_size: Episodes of one problem.
        correlation: From 0, every problem equally hard, to below 1, every problem always solved or never.
    """
    needed = fewest_successes(window)
    if correlation == 0 or group_size == 1:
        return float(bdtrc(needed - 1, window, success))
    groups, rest = divmod(window, group_size)
    if rest:
        raise ValueError(f"a window of {window} is not made of groups of {group_size}")
    one = _beta_binomial(group_size, success, correlation)
    total = np.array([1.0])
    for _ in range(groups):
        total = np.convolve(total, one)
    return float(total[needed:].sum())


def _beta_binomial(size: int, success: float, correlation: float) -> np.ndarray:
    """Chances of 0 … size successes in one group."""
    scale = (1 - correlation) / correlation
    a, b = success * scale, (1 - success) * scale
    k = np.arange(size + 1)
    ways = gammaln(size + 1) - gammaln(k + 1) - gammaln(size - k + 1)
    return np.exp(ways + betaln(k + a, size - k + b) - betaln(a, b))


def promotion_rate(success: float, window: int, trials: int, seed: int = 0) -> float:
    """The share of windows that promote a learner, played through the real `Curriculum`.

    Args:
        success: The learner's true success rate.
        window: `min_episodes` of the curriculum; its batches are just as large.
        trials: How many windows are played.
        seed: Names the stream that outcomes are drawn from.
    """
    generator = np.random.default_rng(key_of("promotion rate", seed, window, int(success * 10_000)))
    promoted = 0
    for correct in generator.random((trials, window)) < success:
        curriculum = Curriculum(ENVIRONMENT, min_episodes=window)
        (progress,) = curriculum.finish_batch((ENVIRONMENT, LOWEST, bool(one)) for one in correct)
        promoted += progress.raised
    return promoted / trials


def promotions(
    rates: Sequence[float] = SUCCESS_RATES,
    windows: Sequence[int] = WINDOWS,
    *,
    trials: int = 0,
    correlation: float = 0.0,
) -> list[dict[str, Any]]:
    """One row per success rate and window, ready for JSON.

    Args:
        rates: True success rates.
        windows: Numbers of episodes.
        trials: Windows that are simulated for each row; 0 for none.
        correlation: Between two episodes of one group of `GROUP_SIZE`.

    Returns:
        ``{"success", "window", "needed", "chance", "episodes"}``, where episodes is how many at d = high the promotion
        takes on average, and with trials ``"simulated"``.
    """
    rows: list[dict[str, Any]] = []
    for success in rates:
        for window in windows:
            chance = promotion_chance(success, window, group_size=GROUP_SIZE, correlation=correlation)
            row = {"success": success, "window": window, "needed": fewest_successes(window), "chance": chance}
            # Windows follow each other until one promotes: their number is geometric.
            row["episodes"] = window / chance
            if trials:
                row["simulated"] = promotion_rate(success, window, trials)
            rows.append(row)
    return rows


@dataclass(frozen=True, slots=True)
class Learner:
    """An abstract learner: how good it is, and how fast it gets better.

    It solves an episode at difficulty d with probability 1 / (1 + e^(−slope · (skill − d))). From a group with a share
    q of correct episodes it gains `rate` · 4·q·(1 − q): as much as `rate` where half of them are correct, nothing where
    all fail or all succeed. 4·q·(1 − q) is the variance of the group's success, over its largest value; on average
    over groups of G it is 4·p·(1 − p)·(1 − 1/G).

    Attributes:
        skill: The difficulty at which half of the episodes are correct.
        rate: Gain in skill, in units of d, from a step whose groups all are half correct.
        slope: How sharply success falls with d.
    """

    skill: float = 0.0
    rate: float = SPEEDS["medium"]
    slope: float = 1.0

    def success(self, difficulty: np.ndarray) -> np.ndarray:
        """Chance of a correct episode at each difficulty."""
        return 1 / (1 + np.exp(-self.slope * (self.skill - difficulty)))

    def exam(self, skills: np.ndarray) -> np.ndarray:
        """Expected success over all difficulties alike, 0 … 12, with each of these skills.

        It is the same exam for all, whatever they practised.
        """
        gaps = skills[:, None] - np.arange(LOWEST, HIGHEST + 1)
        return (1 / (1 + np.exp(-self.slope * gaps))).mean(axis=1)

    def after(self, correct: np.ndarray) -> Learner:
        """The learner after a step.

        Args:
            correct: Bools, one row per group.
        """
        share = correct.mean(axis=1)
        return replace(self, skill=self.skill + self.rate * float((4 * share * (1 - share)).mean()))


@dataclass(frozen=True, slots=True)
class Course:
    """What became of a learner; every attribute is an array over steps.

    Attributes:
        low: Lower end of the window.
        high: Upper end of the window.
        success: Share of the step's episodes that were correct: what a training log shows.
        useful: Share of the step's groups from which anything can be learned: neither all correct nor all failed.
        skill: The learner's skill before the step.
        exam: `Learner.exam` of that skill.
    """

    low: np.ndarray
    high: np.ndarray
    success: np.ndarray
    useful: np.ndarray
    skill: np.ndarray
    exam: np.ndarray


def train(
    schedule: Schedule,
    learner: Learner,
    *,
    steps: int = STEPS,
    groups: int = GROUPS,
    group_size: int = GROUP_SIZE,
    seed: int = 0,
) -> Course:
    """Let a learner practise what a schedule draws.

    Args:
        schedule: What draws difficulties and counts; it has moved on afterwards.
        learner: The learner at the beginning.
        steps: Training steps.
        groups: Groups per step; the episodes of a group share a difficulty.
        group_size: Episodes per group.
        seed: Names the stream of luck. It is the same for all schedules and learners, which makes them comparable.
    """
    env_id = schedule.env_ids[0]
    luck = np.random.default_rng(key_of("learner", seed)).random((steps, groups, group_size))
    rows: list[tuple[float, ...]] = []
    for step in range(steps):
        low, high = schedule.window(env_id)
        difficulties = np.array([schedule.draw(env_id, step, slot) for slot in range(groups)])
        correct = luck[step] < learner.success(difficulties)[:, None]
        useful = correct.any(axis=1) & ~correct.all(axis=1)
        rows.append((low, high, correct.mean(), useful.mean(), learner.skill))
        for difficulty in np.unique(difficulties):
            schedule.record_many(env_id, int(difficulty), correct[difficulties == difficulty].ravel().tolist())
        schedule.decide()
        learner = learner.after(correct)
    low_ends, high_ends, success, useful_shares, skills = np.array(rows, dtype=float).T
    return Course(low_ends, high_ends, success, useful_shares, skills, learner.exam(skills))


def schedules(seed: int = 0, *, min_episodes: int = MIN_EPISODES) -> dict[str, Schedule]:
    """The three that are compared: always easy, always hard, adaptive."""
    return {
        "easy": StaticCurriculum(ENVIRONMENT, ALWAYS_EASY, seed=seed),
        "hard": StaticCurriculum(ENVIRONMENT, ALWAYS_HARD, seed=seed),
        "adaptive": Curriculum(ENVIRONMENT, min_episodes=min_episodes, seed=seed),
    }


def compare(learner: Learner, *, seed: int = 0, steps: int = STEPS) -> dict[str, Course]:
    """The same learner with the same luck under each of the `schedules`."""
    return {name: train(schedule, learner, steps=steps, seed=seed) for name, schedule in schedules(seed).items()}


def mean_course(courses: Sequence[Course]) -> Course:
    """Step by step, the mean over several courses of the same length."""
    names = ("low", "high", "success", "useful", "skill", "exam")
    return Course(*(np.mean([getattr(course, name) for course in courses], axis=0) for name in names))
