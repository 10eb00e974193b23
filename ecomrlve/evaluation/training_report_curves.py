"""The curves of a training run: what each figure was at each step, and what it is over the last few steps.

Lines come as plain data, as `metrics.jsonl` holds them; a figure that a line does not have leaves a gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.evaluation.statistics import wilson

WINDOW = 20  # Lines that a moving mean or a moving interval is over, at most.

Line = Mapping[str, Any]
Curve = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that a run measures at every step.

    Attributes:
        key: Its name in data.
        title: What people call it.
        unit: ``share``, ``number``, ``count`` or ``seconds``: how it is written.
        of: What a line says it is; None if it says nothing.
    """

    key: str
    title: str
    unit: str
    of: Callable[[Line], float | None]


def _at(*path: str) -> Callable[[Line], float | None]:
    def found(line: Line) -> float | None:
        value: Any = line
        for name in path:
            value = (value or {}).get(name)
        return None if value is None else float(value)

    return found


def _over_environments(name: str) -> Callable[[Line], float | None]:
    """The mean over all rollouts of a figure that lines have by environment."""

    def found(line: Line) -> float | None:
        known = [one for one in (line.get("environments") or {}).values() if one.get(name) is not None]
        rollouts = sum(one["rollouts"] for one in known)
        return math.fsum(one[name] * one["rollouts"] for one in known) / rollouts if rollouts else None

    return found


def _ratio(above: Callable[[Line], float | None], below: Callable[[Line], float | None]) -> Any:
    def found(line: Line) -> float | None:
        one, other = above(line), below(line)
        return None if one is None or not other else one / other

    return found


def _of_batch(name: str) -> Callable[[Line], float | None]:
    """Seconds that making a batch takes: an update that uses an earlier batch says nothing about them."""
    return lambda line: _at("seconds", name)(line) if line.get("batch") else None


def _tokens_written(line: Line) -> float | None:
    each, rollouts = _at("batch", "own_tokens")(line), _at("batch", "rollouts")(line)
    return None if each is None or rollouts is None else each * rollouts


SFT: tuple[Figure, ...] = (
    Figure("loss", "Loss", "number", _at("loss")),
    Figure("token_accuracy", "Tokens predicted right", "share", _at("token_accuracy")),
    Figure("grad_norm", "Gradient norm", "number", _at("grad_norm")),
    Figure("learning_rate", "Learning rate", "number", _at("learning_rate")),
    Figure("seconds", "Seconds per step", "seconds", _at("seconds")),
)
DAPO: tuple[Figure, ...] = (
    Figure("reward", "Reward", "number", _at("batch", "reward")),
    Figure("reward_std", "Reward, standard deviation", "number", _at("batch", "reward_std")),
    Figure("task", "r_task", "number", _over_environments("task")),
    Figure("efficiency", "r_eff", "number", _over_environments("efficiency")),
    Figure("hallucination", "r_hall", "number", _over_environments("hallucination")),
    Figure("overlong_penalty", "Overlong punishment", "number", _at("batch", "overlong_penalty")),
    Figure("success", "Success", "share", _at("batch", "success")),
    Figure("invalid", "Invalid output", "share", _at("batch", "invalid")),
    Figure("overlong", "Overlong", "share", _at("batch", "overlong")),
    Figure("turns", "Turns", "number", _at("batch", "turns")),
    Figure("tool_errors", "Refusals per rollout", "number", _at("batch", "tool_errors")),
    Figure("own_tokens", "Own tokens", "count", _at("batch", "own_tokens")),
    Figure("own_tokens_most", "Own tokens, the most", "count", _at("batch", "own_tokens_most")),
    Figure("completion_tokens", "Completion length", "count", _at("batch", "completion_tokens")),
    Figure("rollouts", "Rollouts", "count", _at("batch", "rollouts")),
    Figure("rounds", "Rounds of sampling", "number", _at("batch", "rounds")),
    Figure(
        "without_variance",
        "Groups without variance",
        "share",
        _ratio(_at("batch", "groups_without_variance"), _at("batch", "groups")),
    ),
    Figure("masked", "Groups masked", "number", _at("batch", "groups_masked")),
    Figure("loss", "Loss", "number", _at("loss")),
    Figure("entropy", "Entropy", "number", _at("entropy")),
    Figure("grad_norm", "Gradient norm", "number", _at("grad_norm")),
    Figure("clip_low", "Clipped from below", "share", _at("clip_low")),
    Figure("clip_high", "Clipped from above", "share", _at("clip_high")),
    Figure("learning_rate", "Learning rate", "number", _at("learning_rate")),
    Figure("seconds", "Seconds per step", "seconds", _at("seconds", "step")),
    Figure("generation", "Generation", "seconds", _of_batch("generation")),
    Figure("environment", "Environment", "seconds", _of_batch("environment")),
    Figure("update", "Update", "seconds", _at("seconds", "update")),
    Figure(
        "environment_share",
        "Environment's share",
        "share",
        _ratio(_of_batch("environment"), _at("seconds", "step")),
    ),
    Figure("tokens_per_second", "Own tokens per second", "count", _ratio(_tokens_written, _of_batch("generation"))),
)


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that are shown together.

    Attributes:
        stage: Whose they are.
        title: Heading.
        drawings: Title of each drawing, and the figures in it.
        about: How to read them; may be empty.
    """

    stage: str
    title: str
    drawings: tuple[tuple[str, tuple[str, ...]], ...]
    about: str = ""

    @property
    def key(self) -> str:
        """A short name that is no other group's."""
        return f"{self.stage}-{self.drawings[0][1][0]}"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures of the group, in order."""
        by_key = {figure.key: figure for figure in STAGES[self.stage]}
        return tuple(by_key[key] for _, keys in self.drawings for key in keys)


STAGES = {"sft": SFT, "dapo": DAPO}
GROUPS = (
    Group(
        "dapo",
        "Reward and success",
        (
            ("Reward", ("reward",)),
            ("Success", ("success",)),
            ("Parts of the reward", ("task", "efficiency", "hallucination")),
            ("Spread of the reward", ("reward_std",)),
        ),
        "Over all finished rollouts of a batch, whatever their environment and difficulty.",
    ),
    Group(
        "dapo",
        "Lengths and behaviour",
        (
            ("Tokens per rollout", ("own_tokens", "completion_tokens", "own_tokens_most")),
            ("Overlong and invalid", ("overlong", "invalid")),
            ("Overlong punishment", ("overlong_penalty",)),
            ("Turns", ("turns",)),
            ("Refused tool calls per rollout", ("tool_errors",)),
        ),
        "Own tokens are what the model wrote; completion length also counts tools' results and the customer's words.",
    ),
    Group(
        "dapo",
        "Dynamic sampling",
        (
            ("Groups without variance", ("without_variance",)),
            ("Rounds of sampling per batch", ("rounds",)),
            ("Groups masked at the end", ("masked",)),
            ("Rollouts per batch", ("rollouts",)),
        ),
        "A group whose rollouts all got the same reward teaches nothing: it is drawn anew, and in the end masked.",
    ),
    Group(
        "dapo",
        "Optimisation",
        (
            ("Loss", ("loss",)),
            ("Entropy", ("entropy",)),
            ("Gradient norm", ("grad_norm",)),
            ("Clipped tokens", ("clip_low", "clip_high")),
            ("Learning rate", ("learning_rate",)),
        ),
    ),
    Group(
        "dapo",
        "Time",
        (
            ("Seconds per step", ("seconds", "generation", "update", "environment")),
            ("Environment's share of a step", ("environment_share",)),
            ("Own tokens per second of generation", ("tokens_per_second",)),
        ),
    ),
    Group(
        "sft",
        "Supervised fine-tuning",
        (
            ("Loss", ("loss",)),
            ("Tokens predicted right", ("token_accuracy",)),
            ("Gradient norm", ("grad_norm",)),
            ("Learning rate", ("learning_rate",)),
            ("Seconds per step", ("seconds",)),
        ),
    ),
)


def curve(lines: Iterable[Line], figure: Figure) -> Curve:
    """The steps at which a figure is known, what it was, and its moving mean."""
    found = [(line["step"], value) for line in lines if (value := figure.of(line)) is not None]
    values = [value for _, value in found]
    return {"step": [step for step, _ in found], "value": values, "mean": moving_mean(values)}


def ends(values: Sequence[float]) -> tuple[float, float]:
    """The mean of the first and of the last `WINDOW` values; of a short run, those of its halves."""
    count = min(WINDOW, max(1, len(values) // 2))
    return math.fsum(values[:count]) / count, math.fsum(values[-count:]) / count


def moving_mean(values: Sequence[float]) -> list[float]:
    """At each place the mean of the last `WINDOW` values up to it; of a tenth of all, where that is fewer."""
    window = min(WINDOW, math.ceil(len(values) / 10))
    return [math.fsum(values[max(0, end - window) : end]) / min(end, window) for end in range(1, len(values) + 1)]


def frontier(lines: Iterable[Line], env_id: str, group_size: int) -> Curve:
    """Success at d = high with Wilson's interval, over the last `WINDOW` lines since d = high began.

    Rollouts of a group share their problem and depend on each other, so that groups are counted: as if all rollouts of
    a group came out alike, which is the most cautious assumption.

    Args:
        lines: Of stage "dapo", by step.
        env_id: The environment.
        group_size: Rollouts per group.
    """
    found: Curve = {name: [] for name in ("step", "difficulty", "mean", "low", "high", "rollouts")}
    recent: list[tuple[int, float]] = []  # rollouts at the frontier, successes
    level = None
    for line in lines:
        one = (line.get("environments") or {}).get(env_id)
        if one is None or one.get("frontier_success") is None or not one["frontier_rollouts"]:
            continue
        if one["high"] != level:
            level, recent = one["high"], []
        recent = [*recent, (one["frontier_rollouts"], one["frontier_rollouts"] * one["frontier_success"])][-WINDOW:]
        rollouts = sum(count for count, _ in recent)
        share = min(1.0, math.fsum(successes for _, successes in recent) / rollouts)
        groups = max(1.0, rollouts / group_size)
        low, high = wilson(share * groups, groups)
        row = (line["step"], level, share, low, high, rollouts)
        for name, value in zip(found, row, strict=True):
            found[name].append(value)
    return found


def of_environment(lines: Iterable[Line], env_id: str, name: str, title: str) -> Curve:
    """A figure that lines have by environment, as `curve` gives it."""
    return curve(lines, Figure(name, title, "number", _at("environments", env_id, name)))
