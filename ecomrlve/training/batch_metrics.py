"""What a batch came to, as the figures of the run's metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ecomrlve.training.metrics import BatchMetrics, EnvironmentMetrics
from ecomrlve.training.sampling import Batch, Finished


def batch_metrics(batch: Batch) -> BatchMetrics:
    """The figures of all rollouts of a batch, those of replaced groups too."""
    every = batch.finished
    totals = [one.reward.total for one in every]
    return BatchMetrics(
        rounds=batch.rounds,
        groups=batch.groups,
        groups_without_variance=batch.flat_groups,
        groups_masked=batch.masked_groups,
        rollouts=len(every),
        reward=_mean(totals),
        reward_std=float(np.std(totals)),
        success=_mean([one.reward.correct for one in every]),
        overlong=_mean([one.overlong for one in every]),
        invalid=_mean([one.invalid for one in every]),
        turns=_mean([one.turns for one in every]),
        tool_errors=_mean([one.tool_errors for one in every]),
        own_tokens=_mean([one.own_tokens for one in every]),
        own_tokens_most=max(one.own_tokens for one in every),
        completion_tokens=_mean([one.tokens for one in every]),
        overlong_penalty=_mean([one.penalty for one in every]),
    )


def environment_metrics(batch: Batch) -> dict[str, EnvironmentMetrics]:
    """The figures of each environment that the batch played."""
    found: dict[str, EnvironmentMetrics] = {}
    for progress in batch.progress:
        mine = [one for one in batch.finished if one.row.env_id == progress.env_id]
        if mine:
            found[progress.env_id] = _environment(mine, *progress.window)
    return found


def _environment(mine: Sequence[Finished], low: int, high: int) -> EnvironmentMetrics:
    # An output that is no action or too long has a total but no parts.
    judged = [one.reward for one in mine if not (one.invalid or one.overlong)]
    frontier = [one.reward.correct for one in mine if one.row.difficulty == high]
    return EnvironmentMetrics(
        rollouts=len(mine),
        success=_mean([one.reward.correct for one in mine]),
        total=_mean([one.reward.total for one in mine]),
        task=_mean([reward.task for reward in judged]) if judged else None,
        efficiency=_mean([reward.efficiency for reward in judged]) if judged else None,
        hallucination=_mean([reward.hallucination for reward in judged]) if judged else None,
        turns=_mean([one.turns for one in mine]),
        difficulty=_mean([one.row.difficulty for one in mine]),
        low=low,
        high=high,
        frontier_rollouts=len(frontier),
        frontier_success=_mean(frontier) if frontier else None,
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
