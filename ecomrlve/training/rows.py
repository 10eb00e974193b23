"""What is played in training: which environment, difficulty and seed each group of rollouts has.

A row depends only on the run's seed, the step, the round and the slot, and on the curriculum's windows. So all
processes draw the same rows without asking each other, and a run that goes on after a kill draws what it would have
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from ecomrlve.curriculum import Curriculum, Schedule, StaticCurriculum
from ecomrlve.splits import split_of_seed
from ecomrlve.streams import key_of
from ecomrlve.training.config import TrainingConfig

# Seeds that training draws from; those held back for measuring are left out.
SEEDS = 2**48


@dataclass(frozen=True, slots=True)
class Row:
    """What one group plays.

    Attributes:
        env_id: The environment.
        difficulty: d.
        seed: The episode's seed, never one that is held back for measuring.
    """

    env_id: str
    difficulty: int
    seed: int


def schedule_of(config: TrainingConfig) -> Schedule:
    """The schedule of difficulties at the start of a run."""
    if config.schedule == "static":
        return StaticCurriculum(config.envs, (config.static_low, config.static_high), seed=config.seed)
    return Curriculum(
        config.envs,
        min_episodes=config.min_episodes,
        threshold=config.threshold,
        width=config.width,
        seed=config.seed,
    )


def draw_row(schedule: Schedule, seed: int, step: int, number: int, attempt: int = 0) -> Row:
    """The row of one group.

    The environments take turns, so that each gets its share of every batch; who begins changes from step to step.

    Args:
        schedule: Gives the environments and their difficulties.
        seed: The run's seed.
        step: Number of the training step.
        number: Number of the group in that step, counted over all rounds.
        attempt: Counts seeds for which the catalog supports no problem.
    """
    env_ids = schedule.env_ids
    env_id = env_ids[(key_of("first environment", seed, step) + number) % len(env_ids)]
    difficulty = schedule.draw(env_id, step, number)
    again = 0
    while True:
        episode = key_of("training row", seed, step, number, attempt, again) % SEEDS
        if split_of_seed(episode) == "train":
            return Row(env_id, difficulty, episode)
        again += 1
