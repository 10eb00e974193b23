"""The published rewards to the printed digit, and the properties every reward must have."""

import itertools
import json
import math
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ecomrlve import rewards
from ecomrlve.rewards import (
    Reward,
    cart_f1,
    cart_reward,
    compose,
    contributions,
    efficiency,
    hallucination,
    list_alpha,
    list_reward,
    priority_utility,
)

# A busy machine may take its time over an example.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Figures that the original authors published: (turns, user turns, turn budget, required, cart, and the results).
WORKED = [
    (3, 1, 4, {"keypad": 1}, {"keypad": 1}, (1.00, 0.33, 0.00, 0.80)),
    (
        8,
        2,
        8,
        {"charger/100W": 1, "fryer/Charcoal": 1, "top/XS": 3},
        {"charger/100W": 1, "fryer/Bamboo": 1, "top/XL": 3, "top/XS": 2},
        (0.00, -0.43, 0.00, -0.06),
    ),
]


@pytest.mark.parametrize(("turns", "user_turns", "budget", "required", "cart", "expected"), WORKED)
def test_worked_examples_to_the_printed_digits(turns, user_turns, budget, required, cart, expected):
    task = cart_reward(required, cart)
    quick = efficiency(turns, user_turns, budget)
    honest = hallucination([*cart], set(cart))
    assert tuple(round(value, 2) for value in (task, quick, honest, compose(task, quick, honest))) == expected


def test_the_weights_sum_to_one():
    total = rewards.TASK_WEIGHT + rewards.EFFICIENCY_WEIGHT + rewards.HALLUCINATION_WEIGHT
    assert total == pytest.approx(1)
    # A perfect run in one turn: r_hall can only be ≤ 0, so this is the most there is, and a threshold must be below it.
    assert compose(1.0, 1.0, 0.0) == pytest.approx(0.9)


# --- carts -----------------------------------------------------------------------------------------------------------

carts = st.dictionaries(st.integers(0, 6), st.integers(-1, 9), max_size=6)


@given(carts, carts)
def test_cart_f1_is_exact_and_bounded(required, have):
    score = cart_f1(required, have)
    assert isinstance(score, Fraction)
    assert 0 <= score <= 1
    positive = [{key: units for key, units in cart.items() if units > 0} for cart in (required, have)]
    assert (score == 1) == (positive[0] == positive[1])
    assert (cart_reward(required, have) == 1.0) == (positive[0] == positive[1])
    assert cart_reward(required, have) == cart_reward(have, required)


@given(carts, carts, st.randoms(use_true_random=False))
def test_order_of_the_cart_does_not_count(required, have, random):
    lines = list(have.items())
    random.shuffle(lines)
    assert cart_reward(required, dict(lines)) == cart_reward(dict(reversed(required.items())), have)


@pytest.mark.parametrize("units", [*range(1, 60), 10**6])
def test_every_perfect_cart_gives_exactly_one(units):
    assert cart_reward({"a": units}, {"a": units}) == 1.0


def test_edges_of_the_cart():
    assert cart_reward({}, {}) == 1.0
    assert cart_reward({"a": 1}, {}) == -1.0
    assert cart_reward({}, {"a": 1}) == -1.0
    assert cart_f1({("p", "red"): 1}, {("p", "blue"): 1}) == 0
    assert cart_f1({"a": 1}, {"a": 4}) == Fraction(2, 5)


@given(carts, carts, st.integers(0, 6))
def test_a_right_unit_never_lowers_and_a_wrong_one_never_raises(required, have, key):
    more = {**have, key: max(0, have.get(key, 0)) + 1}
    wanted = required.get(key, 0) >= more[key]
    before, after = cart_f1(required, have), cart_f1(required, more)
    assert after >= before if wanted else after <= before


# --- lists -----------------------------------------------------------------------------------------------------------

K = 5
utilities = st.dictionaries(st.integers(0, 11), st.floats(0, 1), max_size=12)
shares = st.lists(st.floats(0, 1), min_size=20, max_size=20)
lists = st.lists(st.integers(0, 19), max_size=8)


def score(recommended, feasible, share=None, k=K, d=0):
    return list_reward(recommended, k, list_alpha(d), feasible, (share or [0.0] * 20).__getitem__)


def best_first(feasible):
    return sorted(feasible, key=feasible.__getitem__, reverse=True)


@given(lists, utilities, shares, st.integers(1, 10), st.integers(0, 12))
def test_list_reward_is_bounded(recommended, feasible, share, k, d):
    result = score(recommended, feasible, share, k, d)
    assert -1 <= result.task <= 1
    assert all(0 <= value <= 1 for value in (result.precision, result.satisfaction, result.ranking))
    assert result.n == min(k, len(feasible))
    assert result.given == min(k, len(recommended))
    assert json.loads(json.dumps(result.parts()))["feasible_count"] == len(feasible)


@given(utilities, st.integers(1, 10), st.integers(0, 12))
def test_a_perfect_list_gives_exactly_one(feasible, k, d):
    assume(feasible)
    result = score(best_first(feasible)[:k], feasible, k=k, d=d)
    assert result.task == 1.0
    assert result.correct


def test_a_list_that_is_not_perfect_is_less():
    feasible = {1: 1.0, 2: 0.7, 3: 0.4, 4: 0.1}
    order = best_first(feasible)[:3]
    assert score(order, feasible, k=3).task == 1.0
    for other in itertools.permutations(feasible, 3):
        assert list(other) == order or score(other, feasible, k=3).task < 1
    assert score([*order, 19], feasible, k=4).task < 1
    assert not score([*order[:2], 19], feasible, k=3).correct


def test_figures_of_a_list_by_hand():
    feasible = {"a": 1.0, "b": 0.0}
    result = list_reward(["b", "x"], 3, 4, feasible, {"x": 0.5}.__getitem__)
    discount = 1 / math.log2(3)
    best, average, got = 1 + 0.5 * discount, 0.75 * (1 + discount), 0.5
    assert (result.n, result.hits, result.given, result.feasible_count) == (2, 1, 2, 2)
    assert result.precision == 0.5
    assert result.satisfaction == pytest.approx((1 + 0.5**4) / 2)
    assert got < average < best
    assert result.ranking == 0.0
    assert result.task == pytest.approx(2 * (0.8 * 0.25 + 0.2 * result.satisfaction) * 0.6 - 1)


def test_the_average_is_that_of_all_orders():
    feasible = dict(enumerate([1.0, 0.9, 0.5, 0.2, 0.2]))
    relevances = [(1 + utility) / 2 for utility in feasible.values()]

    def dcg(gains):
        return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))

    orders = [dcg(order) for order in itertools.permutations(relevances, 3)]
    average, best = sum(orders) / len(orders), max(orders)
    for order in itertools.permutations(range(5), 3):
        expected = max(0.0, (dcg(relevances[key] for key in order) - average) / (best - average))
        assert score(order, feasible, k=3).ranking == pytest.approx(expected, abs=1e-12)


def test_nothing_recommended_is_the_worst():
    for feasible in ({}, {1: 1.0, 2: 0.5}):
        assert score([], feasible).task == -1.0
        assert not score([], feasible).correct


def test_the_list_is_cut_before_anything_else():
    feasible = dict.fromkeys(range(4), 0.5)
    assert score([0, 1, 2, 19, 19, 18], feasible, k=3) == score([0, 1, 2], feasible, k=3)
    assert score([19, 19, 18, 0, 1, 2], feasible, k=3).task == -1.0


def test_a_repeated_id_is_a_wrong_entry():
    feasible, share = {1: 1.0, 2: 0.5, 3: 0.2}, [0.9] * 20
    assert score([1, 1, 1], feasible, share, k=3) == score([1, 18, 19], feasible, [0.0] * 20, k=3)
    assert score([18, 18], feasible, share).satisfaction == pytest.approx(0.9**4 / 3)
    assert not score([1, 2, 3, 3], feasible, share).correct


def test_equal_products_have_no_order():
    feasible = dict.fromkeys(range(5), 0.6)
    for order in itertools.permutations(range(5), 3):
        assert score(order, feasible, k=3).task == 1.0


def test_not_every_product_scores():
    """A normaliser that was never filled would let any product pass."""
    assert score([18, 19], {}).task == -1.0
    assert score([18, 19], {}, [0.5] * 20).task < -0.9
    assert score([18, 19, 17], {1: 0.5, 2: 0.5, 3: 0.5}).task == -1.0


def test_numbers_out_of_bounds_are_brought_in():
    wild = {1: float("nan"), 2: 7.0, 3: -4.0}
    assert score([2, 1, 3], wild, [float("nan"), *[9.0] * 19]).task == 1.0
    assert -1 <= score([0, 5, 2], wild, [float("nan"), *[9.0] * 19]).task <= 1


@given(lists, utilities, st.integers(0, 8))
def test_an_added_wrong_entry_never_raises(recommended, feasible, place):
    recommended = recommended[:K]
    longer = [*recommended[:place], 19, *recommended[place:]]
    assume(19 not in recommended)
    assert score(longer, feasible).task <= score(recommended, feasible).task + 1e-12


@given(utilities, shares, st.lists(st.integers(12, 19), min_size=1, max_size=4))
def test_padding_a_complete_list_never_raises(feasible, share, padding):
    complete = best_first(feasible)
    assume(complete)
    assert score([*complete, *padding], feasible, share, k=12).task <= score(complete, feasible, share, k=12).task


@given(lists, utilities, shares, st.data())
def test_mending_an_entry_never_lowers(recommended, feasible, share, data):
    recommended = recommended[:K]
    wrong = [i for i, key in enumerate(recommended) if key not in feasible or key in recommended[:i]]
    unused = sorted(set(feasible) - set(recommended))
    assume(wrong and unused)
    place = data.draw(st.sampled_from(wrong))
    mended = [*recommended]
    mended[place] = data.draw(st.sampled_from(unused))
    assert score(mended, feasible, share).task >= score(recommended, feasible, share).task - 1e-12


def test_alpha_by_difficulty():
    assert [list_alpha(d) for d in (0, 3, 4, 8, 12)] == [4, 4, 5, 6, 7]


def test_priority_utility():
    assert priority_utility([[1.0, 3.0, 2.0, 3.0]]) == [0.25, 1.0, 0.5, 1.0]
    assert priority_utility([[1.0, 2.0], [5.0, 5.0]]) == [0.75 * 0.5 + 0.25, 1.0]
    assert priority_utility([[1.0, 2.0], [2.0, 1.0], [9.0, 9.0]]) == [0.75 * 0.5 + 0.25 * 1, 0.75 + 0.25 * 0.5]
    assert priority_utility([[]]) == []
    numpy = pytest.importorskip("numpy")
    arrays = [numpy.array([1, 3, 2, 3]), numpy.array([0.0, 1.0, 1.0, 0.5])]
    assert priority_utility(arrays) == priority_utility([list(array) for array in arrays])
    for wrong in ([], [[1.0, float("nan")]], [[1.0], [1.0, 2.0]]):
        with pytest.raises(ValueError, match=r"priority|zip"):
            priority_utility(wrong)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
def test_the_best_on_every_priority_has_exactly_one(values):
    assert max(priority_utility([values, values])) == 1.0
    assert min(priority_utility([values, values])) > 0


# --- what all environments share -------------------------------------------------------------------------------------


@given(st.integers(-5, 200), st.integers(-5, 200), st.integers(-5, 60))
def test_efficiency_is_bounded_and_falls_with_turns(turns, user_turns, budget):
    value = efficiency(turns, user_turns, budget)
    assert -1 <= value <= 1
    assert efficiency(turns + 1, user_turns, budget) <= value
    assert efficiency(turns, user_turns + 1, budget) >= value


def test_edges_of_efficiency():
    assert efficiency(1, 0, 4) == 1.0
    assert efficiency(4, 0, 4) == -1.0
    assert efficiency(4, 9, 4) == 1.0
    assert efficiency(1, 0, 1) == 1.0


def test_hallucination_counts_distinct_ids():
    assert hallucination([], set()) == 0.0
    assert math.copysign(1, hallucination([], set())) == 1
    assert math.copysign(1, hallucination(["a"], {"a"})) == 1
    assert hallucination(["a", "x"], {"a"}) == -0.5
    assert hallucination(["a", "a", "a", "x"], {"a"}) == -0.5
    assert hallucination(iter(["x", "y"]), {"a"}) == -1.0


parts = st.floats(-1, 1)


@given(parts, parts, st.floats(-1, 0))
def test_total_is_bounded(task, quick, honest):
    total = compose(task, quick, honest)
    assert -1 <= total <= 1
    assert total == pytest.approx(sum(contributions(task, quick, honest).values()))
    assert compose(task, quick, honest, valid=False) == -1.0
    assert Reward.of(task, quick, honest, {}, False, "").total == total


@given(st.floats(-1, 0), parts, st.floats(-1, 0))
def test_failing_fast_earns_nothing(task, quick, honest):
    assert compose(task, quick, honest) <= compose(task, 0.0, honest)
    assert compose(task, quick, honest) <= 0


def test_speed_counts_for_those_who_did_something_right():
    assert compose(0.5, 1.0, 0.0) > compose(0.5, 0.0, 0.0)
    assert compose(0.0, 1.0, 0.0) == 0.0
    assert compose(0.0, -1.0, 0.0) < 0
    assert compose(1.0, 1.0, -1.0) < compose(1.0, 1.0, 0.0)


def test_reward_as_json_keeps_every_field():
    reward = Reward.of(1.0, 0.5, 0.0, {"f1": 1.0, "units": 3}, True, "The cart is exact.")
    values = json.loads(json.dumps(reward.to_dict()))
    assert list(values) == ["task", "efficiency", "hallucination", "total", "parts", "correct", "reason"]
    assert Reward(**values) == reward
    assert values["parts"] == {"f1": 1.0, "units": 3}
    assert reward.correct


def test_invalid_output():
    reward = Reward.invalid("the action is empty")
    assert (reward.total, reward.task, reward.correct, reward.reason) == (-1.0, -1.0, False, "the action is empty")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1.0000001, -1.1, None, True, "1"])
@pytest.mark.parametrize("field", ["task", "efficiency", "hallucination", "total"])
def test_no_reward_out_of_bounds(field, wrong):
    numbers = {"task": 0.0, "efficiency": 0.0, "hallucination": 0.0, "total": 0.0, field: wrong}
    with pytest.raises(ValueError, match=field):
        Reward(**numbers)


@pytest.mark.parametrize("wrong", [float("nan"), {"deep": [float("inf")]}, object(), {1, 2}])
def test_parts_must_be_finite_json(wrong):
    with pytest.raises(ValueError, match="parts"):
        Reward(0.0, 0.0, 0.0, 0.0, {"x": wrong})


def test_two_rewards_share_no_parts():
    first, second = Reward(0.0, 0.0, 0.0, 0.0), Reward(0.0, 0.0, 0.0, 0.0)
    first.parts["x"] = 1
    assert second.parts == {}
