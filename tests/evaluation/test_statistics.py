"""Intervals that hold what they promise, pass^k, and the paired comparison."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from ecomrlve.evaluation.statistics import mean_interval, paired, pass_hat_k, sign_test, wilson

COUNTS = st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CELLS = st.lists(st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=20)
SCORES = st.floats(-1, 1, allow_nan=False)


# --- shares ----------------------------------------------------------------------------------------------------------


@given(COUNTS, st.floats(0.5, 0.999))
def test_wilson_contains_the_share_and_stays_a_share(counts, confidence):
    successes, n = counts
    low, high = wilson(successes, n, confidence)
    assert 0 <= low <= (successes / n if n else 0.5) <= high <= 1


@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95, 0.99])
)
def test_wilson_is_the_interval_that_scipy_computes(counts, confidence):
    successes, n = counts
    expected = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert wilson(successes, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_is_mirrored_and_shrinks():
    low, high = wilson(3, 10)
    assert wilson(7, 10) == pytest.approx((1 - high, 1 - low))
    assert (low, high) == pytest.approx((0.1078, 0.6032), abs=1e-4)
    wider, narrower = wilson(30, 100), wilson(300, 1000)
    assert wider[0] < narrower[0] < 0.3 < narrower[1] < wider[1]
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (1, 0)])
def test_wilson_refuses_counts_that_cannot_be(successes, n):
    with pytest.raises(ValueError, match="from 0 to n"):
        wilson(successes, n)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(7)
    shares = means = 0
    for _ in range(2000):
        # Rewards of a mediocre agent: mostly one of two values, so as far from normal as they come.
        right = generator.random(40) < 0.3
        totals = np.where(right, 0.8, -0.7) + generator.uniform(-0.1, 0.1, 40)
        low, high = wilson(int(right.sum()), 40)
        shares += low <= 0.3 <= high
        low, high = mean_interval(totals.tolist())
        means += low <= 0.3 * 0.8 - 0.7 * 0.7 <= high
    assert 0.93 < shares / 2000 < 0.975
    assert 0.93 < means / 2000 < 0.975


# --- means -----------------------------------------------------------------------------------------------------------


@given(st.lists(SCORES, min_size=2, max_size=60))
def test_the_interval_of_a_mean_contains_it(values):
    low, high = mean_interval(values)
    mean = sum(values) / len(values)
    assert -1 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1


def test_the_interval_of_a_mean_is_students():
    values = [0.1, 0.4, -0.2, 0.35, 0.0, 0.2]
    expected = ttest_1samp(values, 0).confidence_interval(0.9)
    assert mean_interval(values, confidence=0.9) == pytest.approx((expected.low, expected.high))


def test_repeating_every_value_makes_a_mean_no_surer():
    values = [0.1, 0.4, -0.2, 0.35, 0.0, 0.2]
    alone = mean_interval(values)
    assert mean_interval(values * 3, [*range(6)] * 3) == pytest.approx(alone)
    careless = mean_interval(values * 3)
    assert alone[0] < careless[0] < careless[1] < alone[1]


def test_a_single_value_says_nothing_about_its_mean():
    assert mean_interval([0.4]) == (-1, 1)
    assert mean_interval([0.4, 0.5], ["same", "same"], bounds=(0, 2)) == (0, 2)
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


# --- pass^k ----------------------------------------------------------------------------------------------------------


@given(CELLS)
def test_pass_hat_1_is_the_mean_success(cells):
    assert pass_hat_k(cells, 1) == pytest.approx(sum(c / n for c, n in cells) / len(cells))


@given(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.integers(1, n)))
)
def test_pass_hat_k_is_the_share_of_draws_in_which_all_succeed(trials_and_k):
    trials, k = trials_and_k
    draws = list(combinations(trials, k))
    assert pass_hat_k([(sum(trials), len(trials))], k) == pytest.approx(sum(map(all, draws)) / len(draws))


@given(CELLS)
def test_pass_hat_k_falls_with_k_where_all_have_the_same_trials(cells):
    same = [(min(c, 4), 4) for c, _ in cells]
    values = [pass_hat_k(same, k) for k in (1, 2, 3, 4)]
    assert values == sorted(values, reverse=True)


def test_cells_with_too_few_trials_are_left_out_of_pass_hat_k():
    assert pass_hat_k([(1, 1), (2, 3)], 2) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="no cell has 4 trials"):
        pass_hat_k([(1, 1), (2, 3)], 4)
    with pytest.raises(ValueError, match="at least 1"):
        pass_hat_k([(1, 1)], 0)


# --- two agents ------------------------------------------------------------------------------------------------------


def cells_of(values, difficulties=2, trials=1):
    """Scores for as many cells as there are values, over some difficulties and trials."""
    return {
        (
            "E_CART",
            number % difficulties,
            "{}",
            number // difficulties // trials,
            number // difficulties % trials,
        ): value
        for number, value in enumerate(values)
    }


PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=24)


@settings(max_examples=40)
@given(PAIRS, st.integers(1, 3), st.integers(1, 2))
def test_comparing_the_other_way_round_only_changes_the_sign(pairs, difficulties, trials):
    one, other = (cells_of([pair[side] for pair in pairs], difficulties, trials) for side in (0, 1))
    there, back = paired(one, other, resamples=200), paired(other, one, resamples=200)
    assert there.difference == pytest.approx(-back.difference, abs=1e-12)
    assert (there.one, there.one_better, there.p_value) == (back.other, back.other_better, back.p_value)
    assert there.one_better + there.equal + there.other_better == pytest.approx(1)
    if there.problems == 1:
        assert (there.low, there.high) == (None, None)
    else:
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-12)


def test_only_common_cells_are_compared():
    one = {("E_CART", 0, "{}", seed, 0): 1.0 for seed in range(0, 10)}
    other = {("E_CART", 0, "{}", seed, 0): float(seed % 2) for seed in range(5, 20)}
    found = paired(one, other)
    assert (found.problems, found.cells) == (5, 5)
    assert (found.one, found.other, found.difference) == pytest.approx((1, 0.6, 0.4))
    assert (found.one_better, found.equal, found.other_better) == pytest.approx((0.4, 0.6, 0))
    with pytest.raises(ValueError, match="no cell in common"):
        paired(one, {("E_CART", 1, "{}", 0, 0): 1.0})


def test_trials_of_a_problem_count_as_one():
    once = cells_of([1, 0, 1, 1, 0, 1], 1)
    nothing = dict.fromkeys(once, 0.0)
    thrice = {(*key[:-1], trial): value for key, value in once.items() for trial in range(3)}
    one, three = paired(once, nothing), paired(thrice, dict.fromkeys(thrice, 0.0))
    assert (three.problems, three.cells) == (6, 18)
    assert (three.low, three.high, three.p_value) == (one.low, one.high, one.p_value)


def test_the_p_value_is_the_exact_binomial_one():
    for better, worse in [(0, 0), (5, 0), (3, 9), (20, 20), (0, 30)]:
        expected = binomtest(better, better + worse).pvalue if better + worse else 1.0
        assert sign_test(better, worse) == pytest.approx(expected)


def test_the_paired_interval_holds_the_truth_about_as_often_as_it_says():
    """Three seeds in each of eight strata that differ a lot: drawing all three anew would hold it in 86 of 100."""
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(600):
        one = {
            ("E_CART", d, "{}", seed, 0): 0.1 * d + generator.normal(0.1, 0.3) for d in range(8) for seed in range(3)
        }
        found = paired(one, dict.fromkeys(one, 0.0), resamples=800)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.1 + 0.1 * 3.5 <= found.high
    assert 0.89 < held / 600 < 0.975


def test_strata_with_a_single_seed_do_not_seem_to_be_certain():
    values = [0.9, -0.8, 0.7, -0.6, 0.5, -0.4]
    alone = {("E_CART", d, "{}", 0, 0): value for d, value in enumerate(values)}
    found = paired(alone, dict.fromkeys(alone, 0.0))
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 2 * np.std(values) / math.sqrt(len(values))
    with_one_more = {**cells_of(values, 1), ("E_CART", 9, "{}", 0, 0): 1.0}
    assert paired(with_one_more, dict.fromkeys(with_one_more, 0.0)).problems == 7
