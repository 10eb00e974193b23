"""The lines of a training run's ``metrics.jsonl``: one JSON object per optimizer step, of stage "sft" or "dapo".

Whoever writes is held to the types, so that a report needs no doubts; whoever reads ignores fields that it does not
know. JSON has no NaN: a figure that is none, as that of a run that has diverged, is stored as null and named.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ecomrlve.curriculum.log import Name, Share
from ecomrlve.curriculum.state import Level, first_problem

Stage = Literal["sft", "dapo"]
STAGES: tuple[Stage, ...] = get_args(Stage)

Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Part(BaseModel):
    """What all parts of a line have in common."""

    # A trainer may note figures of its own.
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Line(_Part):
    """What the lines of all stages have.

    Attributes:
        step: Optimizer step within the stage, from 0.
        not_finite: Figures that were NaN or infinite and therefore are None, such as ``loss`` or ``batch.reward``.
    """

    step: Annotated[int, Field(ge=0, lt=2**53)]
    not_finite: Annotated[tuple[str, ...], Field(strict=False)] = ()  # a list, as JSON has it

    @model_validator(mode="before")
    @classmethod
    def _without_nan(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        names: list[str] = []
        finite = _finite(data, "", names)
        return {**finite, "not_finite": tuple(names)} if names else finite

    def to_json(self) -> str:
        """The line, without its line break."""
        return self.model_dump_json()


class SftMetrics(_Line):
    """A step of supervised fine-tuning.

    Attributes:
        stage: Which stage.
        loss: Mean cross-entropy of the tokens that were learned from, in nats.
        learning_rate: Of this step.
        grad_norm: Norm of the gradient before clipping.
        token_accuracy: Share of those tokens that the model thought likeliest.
        seconds: That the step took.
    """

    stage: Literal["sft"] = "sft"
    loss: Number | None = None
    learning_rate: Amount | None = None
    grad_norm: Amount | None = None
    token_accuracy: Share | None = None
    seconds: Amount | None = None


class BatchMetrics(_Part):
    """The rollouts that a batch was made of; means are over all that were finished, also of groups that were dropped.

    Attributes:
        rounds: How often groups were drawn, 1 if none had to be replaced.
        groups: Groups drawn in all rounds.
        groups_without_variance: Of those, the ones in which all rollouts got the same reward.
        groups_masked: Groups that still had no variance in the end and taught nothing.
        rollouts: Finished rollouts.
        reward: Mean total.
        reward_std: Standard deviation of the totals.
        success: Share of rollouts that were correct.
        overlong: Share that were cut because of their length.
        invalid: Share that ended with an output that is no action.
        turns: Mean turns.
        tool_errors: Refused tool calls per rollout.
        own_tokens: Mean tokens that the model wrote.
        own_tokens_most: The most that it wrote in one rollout.
        completion_tokens: Mean tokens after the prompt, its own and those of the tools and the customer.
        overlong_penalty: Mean of the soft overlong punishment, from −1 to 0, before its weight.
    """

    rounds: Count | None = None
    groups: Count | None = None
    groups_without_variance: Count | None = None
    groups_masked: Count | None = None
    rollouts: Count | None = None
    reward: Number | None = None
    reward_std: Amount | None = None
    success: Share | None = None
    overlong: Share | None = None
    invalid: Share | None = None
    turns: Amount | None = None
    tool_errors: Amount | None = None
    own_tokens: Amount | None = None
    own_tokens_most: Count | None = None
    completion_tokens: Amount | None = None
    overlong_penalty: Number | None = None


class StepSeconds(_Part):
    """Where the time of a step went.

    Attributes:
        batch: Making the batch: generation, environment and what lies between.
        generation: The model's writing.
        environment: The engine's reset, step and record.
        update: The optimizer's work.
        step: The whole step.
    """

    batch: Amount | None = None
    generation: Amount | None = None
    environment: Amount | None = None
    update: Amount | None = None
    step: Amount | None = None


class EnvironmentMetrics(_Part):
    """One environment's rollouts in a batch.

    Attributes:
        rollouts: How many there were.
        success: Share that were correct.
        total: Mean reward.
        task: Mean r_task of the rollouts that were judged: an invalid or overlong one has only a total.
        efficiency: Mean r_eff.
        hallucination: Mean r_hall.
        turns: Mean turns.
        difficulty: Mean d.
        low: Lower end of the window that they were drawn from.
        high: Upper end of that window: the frontier.
        frontier_rollouts: Rollouts at d = high.
        frontier_success: Share of those that were correct.
    """

    rollouts: Count
    success: Share | None = None
    total: Number | None = None
    task: Number | None = None
    efficiency: Number | None = None
    hallucination: Number | None = None
    turns: Amount | None = None
    difficulty: Amount | None = None
    low: Level | None = None
    high: Level | None = None
    frontier_rollouts: Count = 0
    frontier_success: Share | None = None


class DapoMetrics(_Line):
    """A step of DAPO. With several updates per batch only the first one's line has the batch's fields.

    Attributes:
        stage: Which stage.
        loss: Of this update.
        grad_norm: Norm of the gradient before clipping.
        learning_rate: Of this step.
        entropy: Mean entropy of the model's next token, in nats.
        clip_low: Share of tokens whose ratio was clipped from below.
        clip_high: Share clipped from above.
        batch: The rollouts; None where this update used an earlier line's.
        seconds: Where the time went.
        environments: By environment; empty where there is no batch.
    """

    stage: Literal["dapo"] = "dapo"
    loss: Number | None = None
    grad_norm: Amount | None = None
    learning_rate: Amount | None = None
    entropy: Number | None = None
    clip_low: Share | None = None
    clip_high: Share | None = None
    batch: BatchMetrics | None = None
    seconds: StepSeconds | None = None
    environments: dict[Name, EnvironmentMetrics] | None = None


Metrics = SftMetrics | DapoMetrics

# The stage must be there in a file, though the classes know it by themselves.
_LINES: TypeAdapter[Metrics] = TypeAdapter(Annotated[Metrics, Field(discriminator="stage")])


def read_metrics(lines: Iterable[str | bytes]) -> tuple[list[Metrics], list[str]]:
    """The lines of a ``metrics.jsonl``.

    A run that was resumed from a checkpoint writes some steps again: of the lines for one step of a stage the last
    counts.

    Args:
        lines: The file, or its lines.

    Returns:
        The lines by stage and step, and one sentence for each that was skipped.
    """
    found: dict[tuple[int, int], Metrics] = {}
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            read = _LINES.validate_json(line)
        except ValidationError as error:
            problems.append(f"line {number}: {first_problem(error)}")
        else:
            found[STAGES.index(read.stage), read.step] = read
    return [found[place] for place in sorted(found)], problems


def _finite(value: Any, place: str, names: list[str]) -> Any:
    """A copy in which None stands for every NaN and infinity; their places are added to `names`."""
    if isinstance(value, Mapping):
        return {key: _finite(part, f"{place}.{key}" if place else str(key), names) for key, part in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        names.append(place)
        return None
    return value
