"""How sure a result is: intervals for shares and means, pass^k, and the comparison of two agents on the same problems.

Everything is a pure function of its arguments. Repeated trials of one problem are not independent of each other, so
that wherever trials may occur it is problems that count, not episodes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtri, stdtrit

from ecomrlve.streams import key_of

CONFIDENCE = 0.95
RESAMPLES = 10_000
_DRAWS_AT_ONCE = 4_000_000  # Indices drawn in one array, so that memory stays below some 50 MB.

# An episode's key for pairing: what is alike in a stratum (environment, d …), then the seed, then the trial.
PairKey = tuple[Any, ...]


def wilson(successes: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval for a share; unlike the textbook one it is sound near 0 and 1 and for small n.

    E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22.

    Args:
        successes: How often it went well, from 0 to n. Need not be whole: a problem solved in 3 of 4 trials is 0.75.
        n: How many independent tries there were.
        confidence: Share of such intervals that hold the true share.

    Returns:
        Lower and upper bound; (0, 1) if nothing was tried.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be from 0 to n = {n}, not {successes}")
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    z = float(ndtri((1 + confidence) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the bound is the share itself, which rounding would miss by a hair.
    return min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)


def mean_interval(
    values: Sequence[float],
    groups: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> tuple[float, float]:
    """Student's t interval for a mean.

    The t interval and not a bootstrap: for the mean of bounded values both agree from some twenty values on, below
    that the t interval is wider, which is what honesty asks for, and a report has hundreds of them to compute. Values
    in groups get the standard error of a ratio over clusters of unequal size (W. G. Cochran, "Sampling Techniques",
    3rd ed. 1977, chapter 9A), which with one value per group is s/√n. Where all values are alike, it has no width.

    Args:
        values: The values, at least one.
        groups: For each value what it belongs to; values of one group may depend on each other. None: all independent.
        confidence: Share of such intervals that hold the true mean.
        bounds: The range that values can lie in; the interval stays inside, and with a single group fills it.
    """
    data = np.asarray(values, dtype=float)
    if not len(data):
        raise ValueError("the mean of no values has no interval")
    numbers: dict[Hashable, int] = {}
    index = [numbers.setdefault(group, len(numbers)) for group in (range(len(data)) if groups is None else groups)]
    count = len(numbers)
    if count < 2:
        return bounds
    mean = float(data.mean())
    residuals = np.bincount(index, weights=data - mean, minlength=count)
    error = math.sqrt(count / (count - 1) * float(residuals @ residuals)) / len(data)
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * error
    return max(mean - half, bounds[0]), min(mean + half, bounds[1])


def pass_hat_k(successes_per_cell: Sequence[tuple[int, int]], k: int) -> float:
    """pass^k: the chance that k trials of the same problem all succeed.

    Mean over cells of C(c, k) / C(n, k), c of n trials having succeeded: the estimate without bias of S. Yao et al.
    (2024), "τ-bench: A benchmark for tool-agent-user interaction in real-world domains".

    Args:
        successes_per_cell: Successes and trials per cell. Cells with fewer than k trials are left out.
        k: How many trials must succeed, at least 1.

    Raises:
        ValueError: No cell has k trials, or k is less than 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    shares = [math.comb(c, k) / math.comb(n, k) for c, n in successes_per_cell if n >= k]
    if not shares:
        raise ValueError(f"no cell has {k} trials")
    return math.fsum(shares) / len(shares)


@dataclass(frozen=True, slots=True)
class Paired:
    """Two agents compared on the problems that both played.

    Attributes:
        problems: Problems both played; each counts once, with the mean over the trials both have.
        cells: Episodes of each that were used.
        one: Mean of the first.
        other: Mean of the second.
        difference: First minus second.
        low: Lower bound of the difference; None where there are too few problems to tell.
        high: Upper bound.
        one_better: Share of problems in which the first is better.
        equal: Share in which both are the same.
        other_better: Share in which the second is better.
        p_value: Of the exact sign test: how likely so uneven a split of the unequal problems is if neither were
            better. On correct/incorrect with a trial each it is McNemar's exact test.
    """

    problems: int
    cells: int
    one: float
    other: float
    difference: float
    low: float | None
    high: float | None
    one_better: float
    equal: float
    other_better: float
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def paired(
    one: Mapping[PairKey, float],
    other: Mapping[PairKey, float],
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Paired:
    """Compare two agents on the cells that both have.

    The interval is a bootstrap over problems: environments and difficulties are fixed by the grid, so that seeds are
    drawn anew within each of them. From m problems m − 1 are drawn, which makes the variance unbiased where m is small
    (J. N. K. Rao and C. F. J. Wu 1988, "Resampling inference with complex survey data", JASA 83). Where all
    differences are alike the interval has no width; the p-value then says how much that means.

    Args:
        one: Score by cell. A cell ends with seed and trial; what stands before them is the stratum.
        other: The same of the agent it is compared with.
        confidence: Share of such intervals that hold the true difference.
        resamples: How often problems are drawn anew.

    Raises:
        ValueError: They have no cell in common.
    """
    common = sorted(key for key in one if key in other)
    if not common:
        raise ValueError("the two have no cell in common")
    tried: dict[PairKey, list[PairKey]] = defaultdict(list)
    for key in common:
        tried[key[:-1]].append(key)
    means = {
        problem: tuple(math.fsum(scores[key] for key in keys) / len(keys) for scores in (one, other))
        for problem, keys in tried.items()
    }
    strata: dict[PairKey, list[float]] = defaultdict(list)
    for problem, (first, second) in means.items():
        strata[problem[:-1]].append(first - second)
    differences = [difference for stratum in strata.values() for difference in stratum]
    count = len(differences)
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    low, high = _bootstrap([np.array(stratum) for stratum in strata.values()], confidence, resamples)
    return Paired(
        problems=count,
        cells=len(common),
        one=math.fsum(first for first, _ in means.values()) / count,
        other=math.fsum(second for _, second in means.values()) / count,
        difference=math.fsum(differences) / count,
        low=low,
        high=high,
        one_better=better / count,
        equal=(count - better - worse) / count,
        other_better=worse / count,
        p_value=sign_test(better, worse),
    )


def sign_test(better: int, worse: int) -> float:
    """Two-sided p-value of the exact sign test, which on right and wrong is McNemar's (Q. McNemar 1947, Psychometrika).

    Args:
        better: Pairs in which the first is better.
        worse: Pairs in which it is worse; pairs that are equal say nothing.
    """
    return min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5)))


def _bootstrap(
    strata: Sequence[np.ndarray], confidence: float, resamples: int
) -> tuple[float, float] | tuple[None, None]:
    """Percentile interval of the mean over all values, drawn anew within each stratum."""
    count = sum(map(len, strata))
    if count < 2:
        return None, None
    generator = np.random.default_rng(key_of("paired bootstrap"))
    sums = np.zeros(resamples)
    for values in _collapsed(strata):
        draws = len(values) - 1
        at_once = max(1, _DRAWS_AT_ONCE // draws)
        for start in range(0, resamples, at_once):
            part = sums[start : start + at_once]
            chosen = generator.integers(0, len(values), size=(len(part), draws), dtype=np.int32)
            part += len(values) * values[chosen].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(sums / count, (tail, 1 - tail))
    return float(low), float(high)


def _collapsed(strata: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The strata with at least two values each: one alone would seem to be certain, so those are put together."""
    several = [stratum for stratum in strata if len(stratum) > 1]
    alone = [stratum for stratum in strata if len(stratum) == 1]
    if len(alone) == 1:
        return [*several[:-1], np.concatenate([several[-1], alone[0]])]
    return [*several, np.concatenate(alone)] if alone else several
