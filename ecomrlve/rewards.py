"""How an episode is scored: the metrics that tasks share, and the one place where they are put together.

Everything here is a pure function of plain values. A perfect result gives exactly 1.0, never 0.999…: success is tested
against thresholds, and a rounding error there would freeze a curriculum at its first level.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)

TASK_WEIGHT, EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT = 0.75, 0.15, 0.10
INVALID_TOTAL = -1.0
FIRST_PRIORITY, SECOND_PRIORITY = 0.75, 0.25
LIST_CORRECT_FROM = 0.8
# Below this, the best order and the average order of a list are the same.
_SAME_DCG = 1e-12


def clip(value: float, low: float = -1.0, high: float = 1.0) -> float:
    """The number in [low, high] that is nearest to `value`; `low` for NaN, which must never pass for a score."""
    return low if math.isnan(value) else min(max(value, low), high)


# --- carts and bundles -----------------------------------------------------------------------------------------------


def exact_f1(matched: int, given: int, wanted: int) -> Fraction:
    """F1 = 2·matched / (given + wanted), exactly. Nothing wanted and nothing given is perfect."""
    return Fraction(2 * matched, given + wanted) if given + wanted else Fraction(1)


def cart_f1(required: Mapping[Key, int], have: Mapping[Key, int]) -> Fraction:
    """F1 over units.

    Args:
        required: Units wanted per key. The key says what must match: product, or (product, variant).
        have: Units in the cart per key. A count of zero or less is no unit.
    """
    wanted = {key: units for key, units in required.items() if units > 0}
    given = {key: units for key, units in have.items() if units > 0}
    matched = sum(min(units, given.get(key, 0)) for key, units in wanted.items())
    return exact_f1(matched, sum(given.values()), sum(wanted.values()))


def cart_reward(required: Mapping[Key, int], have: Mapping[Key, int]) -> float:
    """2·F1 − 1: exactly 1.0 for a perfect cart, −1.0 for one without any right unit."""
    return float(2 * cart_f1(required, have) - 1)


# --- lists of recommendations ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListScore:
    """The list reward with what led to it.

    Attributes:
        task: r_task.
        precision: P, the share of slots with a feasible entry.
        satisfaction: S, the mean over slots of (share of constraints met)^alpha.
        ranking: R, how good the order is, from 0 (average or worse) to 1 (best).
        n: Entries that a perfect list has.
        hits: Feasible entries in the list.
        given: Entries in the list after the cut to k.
        feasible_count: Feasible products in the whole catalog.
    """

    task: float
    precision: float
    satisfaction: float
    ranking: float
    n: int
    hits: int
    given: int
    feasible_count: int

    @property
    def correct(self) -> bool:
        """Exactly n feasible entries, nothing else, and well enough ordered."""
        return self.hits == self.given == self.n and self.task >= LIST_CORRECT_FROM

    def parts(self) -> dict[str, float | int]:
        """The figures by name, for `Reward.parts`."""
        return {
            "precision": self.precision,
            "satisfaction": self.satisfaction,
            "ranking": self.ranking,
            "n": self.n,
            "hits": self.hits,
            "given": self.given,
            "feasible_count": self.feasible_count,
        }


def list_alpha(d: int) -> int:
    """The exponent that makes a missed constraint weigh more at higher difficulty."""
    return 4 + d // 4


def list_reward(
    recommended: Sequence[Key],
    k: int,
    alpha: float,
    feasible: Mapping[Key, float],
    share_met: Callable[[Key], float],
) -> ListScore:
    """Score a list of recommendations, best first.

    Args:
        recommended: The keys as given. Only the first k count; a repeated key is a wrong entry.
        k: Longest list that is scored.
        alpha: What `list_alpha` gives.
        feasible: For each feasible product its utility to the customer, in [0, 1].
        share_met: The share of constraints that a product that is *not* feasible meets; 0 if sold out or unknown.
    """
    entries = list(recommended[:k])
    utilities = {key: clip(utility, 0.0) for key, utility in feasible.items()}
    n = min(k, len(utilities))
    if not entries:
        return ListScore(-1.0, 0.0, 0.0, 0.0, n, 0, 0, len(utilities))
    slots = max(n, len(entries))
    seen: set[Key] = set()
    shares, gains = [], []
    for key in entries:
        fresh = key not in seen
        seen.add(key)
        if fresh and key in utilities:
            shares.append(1.0)
            gains.append(_relevance(utilities[key]))
        else:
            shares.append(clip(share_met(key), 0.0) ** alpha if fresh else 0.0)
            gains.append(0.0)
    hits = sum(gain > 0 for gain in gains)
    precision = hits / slots
    satisfaction = math.fsum(shares) / slots
    ranking = _ranking(gains, [_relevance(utility) for utility in utilities.values()], n)
    task = 2 * (0.8 * precision**2 + 0.2 * satisfaction) * (0.6 + 0.4 * ranking) - 1
    return ListScore(clip(task), precision, satisfaction, ranking, n, hits, len(entries), len(utilities))


def _relevance(utility: float) -> float:
    return (1 + utility) / 2


def _ranking(gains: Sequence[float], relevances: Sequence[float], n: int) -> float:
    """Where the list's DCG lies between that of a random order (0) and that of the best order (1)."""
    best = _dcg(sorted(relevances, reverse=True)[:n])
    # In a random order every place holds an average product.
    average = _dcg([math.fsum(relevances) / len(relevances)] * n) if n else 0.0
    if best - average <= _SAME_DCG:
        return 1.0
    return clip((_dcg(gains) - average) / (best - average), 0.0)


def _dcg(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def priority_utility(values_by_priority: Sequence[Sequence[float]]) -> list[float]:
    """How well each feasible product serves the customer's first two priorities.

    q is the share of products that are no better on a priority, so the best has 1 and equals share a value.

    Args:
        values_by_priority: For the first priority, and the second if there is one, a value per product, higher being
            better. Lists or arrays, all in the same order of products; further priorities do not count.

    Returns:
        u = 0.75·q₁ + 0.25·q₂ per product, or q₁ with a single priority.
    """
    if not values_by_priority:
        raise ValueError("at least one priority is needed")
    first = _share_no_better(values_by_priority[0])
    if len(values_by_priority) == 1:
        return first
    second = _share_no_better(values_by_priority[1])
    return [FIRST_PRIORITY * one + SECOND_PRIORITY * two for one, two in zip(first, second, strict=True)]


def _share_no_better(values: Sequence[float]) -> list[float]:
    plain = [float(value) for value in values]
    if any(math.isnan(value) for value in plain):
        raise ValueError("a priority has no value (NaN) for some product")
    ranked = sorted(plain)
    return [bisect_right(ranked, value) / len(ranked) for value in plain]


# --- the parts every environment shares ------------------------------------------------------------------------------


def efficiency(turns: int, user_turns: int, turn_budget: int) -> float:
    """r_eff: 1 for a single turn, −1 for the whole budget.

    Args:
        turns: Agent turns taken.
        user_turns: Those of them that the customer caused and that are not counted.
        turn_budget: Agent turns allowed.
    """
    effective = max(1, turns - max(0, user_turns))
    if turn_budget <= 1:
        return 1.0 if effective == 1 else -1.0
    return clip(1 - 2 * (effective - 1) / (turn_budget - 1))


def hallucination(outputs: Iterable[str], seen: Container[str]) -> float:
    """r_hall: minus the share of the output ids that were never seen.

    Each id counts once, so that repeating a seen one does not dilute an invented one.
    """
    distinct = set(outputs)
    unseen = sum(identifier not in seen for identifier in distinct)
    return -unseen / len(distinct) if unseen else 0.0


def contributions(task: float, efficiency: float, hallucination: float) -> dict[str, float]:
    """What each part adds to the total. Being quick is worth something only to those who did something right."""
    counted = efficiency if task > 0 else min(efficiency, 0.0)
    return {
        "task": TASK_WEIGHT * task,
        "efficiency": EFFICIENCY_WEIGHT * counted,
        "hallucination": HALLUCINATION_WEIGHT * hallucination,
    }


def compose(task: float, efficiency: float, hallucination: float, *, valid: bool = True) -> float:
    """The total of an episode; −1 if its output was invalid."""
    if not valid:
        return INVALID_TOTAL
    return clip(math.fsum(contributions(task, efficiency, hallucination).values()))


@dataclass(frozen=True, slots=True)
class Reward:
    """The outcome of one episode. Make it with `Reward.of` or `Reward.invalid`.

    Attributes:
        task: r_task, how well the goal was met.
        efficiency: r_eff as such; whether it counts is decided by `contributions`.
        hallucination: r_hall.
        total: What a learner gets.
        parts: The environment's own figures, ready for JSON.
        correct: Whether the episode counts as a success.
        reason: One sentence for people.

    Raises:
        ValueError: A number is not finite or out of [−1, 1], or the parts are no JSON.
    """

    task: float
    efficiency: float
    hallucination: float
    total: float
    parts: dict[str, Any] = field(default_factory=dict)
    correct: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("task", "efficiency", "hallucination", "total"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
                raise ValueError(f"{name} must be a number from -1 to 1, not {value!r}")
        try:
            json.dumps(self.parts, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the parts of a reward must be finite and fit JSON: {error}") from error

    @classmethod
    def of(
        cls, task: float, efficiency: float, hallucination: float, parts: dict[str, Any], correct: bool, reason: str
    ) -> Reward:
        """The reward of an episode whose output was valid."""
        total = compose(task, efficiency, hallucination)
        return cls(task, efficiency, hallucination, total, parts, correct, reason)

    @classmethod
    def invalid(cls, reason: str) -> Reward:
        """The reward of an episode that ended with an invalid output: nothing else is judged."""
        return cls(task=-1.0, efficiency=0.0, hallucination=0.0, total=INVALID_TOTAL, reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return {
            "task": float(self.task),
            "efficiency": float(self.efficiency),
            "hallucination": float(self.hallucination),
            "total": float(self.total),
            "parts": dict(self.parts),
            "correct": self.correct,
            "reason": self.reason,
        }
