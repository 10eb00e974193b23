"""The twelve axes: the published figures to the printed digit, the table of the contract, and what is refused."""

import math

import pytest

from ecomrlve.difficulty import AXES, BOUNDS, difficulty
from ecomrlve.errors import DifficultyError
from ecomrlve.tasks.cart import CartTask, items_wanted, quantity_probability, variant_probability

# As published by the original authors; shares as printed, to the whole per cent.
PUBLISHED = {
    "constraints": {0: 2, 6: 5, 12: 8},
    "omission": {0: 0.05, 6: 0.70, 12: 0.80},
    "distractors": {0: 0.0, 6: 0.12, 12: 0.24},
    "sellout": {0: 0.0, 6: 0.30, 12: 0.50},
}
PUBLISHED_CART = {
    "distinct_items": (items_wanted, {0: 1, 3: 2, 6: 3, 9: 4}),
    "variant_required": (variant_probability, {0: 0.21, 3: 0.66, 6: 0.93, 9: 0.99}),
    "multi_quantity": (quantity_probability, {0: 0.0, 3: 0.30, 6: 0.50, 9: 0.50}),
}
PUBLISHED_CART_TOOLS = {
    "catalog_search", "catalog_get_variants", "cart_add", "cart_view", "user_get_visit_history", "ask_user",
}  # fmt: skip
# The contract's table: d = 0, 6, 12, and how many decimals it prints.
TABLE = {
    "constraints": ((2, 5, 8), 0),
    "omission": ((0.05, 0.70, 0.80), 2),
    "distractors": ((0.0, 0.12, 0.24), 2),
    "sellout": ((0.0, 0.30, 0.50), 2),
    "turn_budget": ((4, 7, 10), 0),
    "noise": ((0.0, 0.06, 0.12), 2),
    "switching": ((0.046, 0.37, 0.58), None),
    "search_depth": ((200, 140, 80), 0),
    "list_size": ((3, 5, 7), 0),
    "order_history": ((2, 20, 38), 0),
    "policy_clauses": ((1, 3, 5), 0),
    "tool_budget": ((2, 5, 8), 0),
}
WHOLE = {
    "constraints", "turn_budget", "search_depth", "list_size", "order_history", "policy_clauses", "tool_budget",
}  # fmt: skip
# Axes on which less is harder.
HARDER_WHEN_LESS = {"search_depth"}


@pytest.mark.parametrize("axis", PUBLISHED)
def test_published_axes_come_out_to_the_printed_digit(axis):
    assert {d: round(getattr(difficulty(d), axis), 2) for d in PUBLISHED[axis]} == PUBLISHED[axis]


@pytest.mark.parametrize("name", PUBLISHED_CART)
def test_published_scaling_of_the_cart_comes_out_to_the_printed_digit(name):
    formula, printed = PUBLISHED_CART[name]
    assert {d: round(formula(d), 2) for d in printed} == printed


def test_the_cart_never_wants_more_than_five_items():
    assert [items_wanted(d) for d in range(13)] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5]


def test_the_cart_offers_the_published_tools():
    assert PUBLISHED_CART_TOOLS - {"ask_user"} <= set(CartTask().tools)


@pytest.mark.parametrize("axis", TABLE)
def test_the_table_of_the_contract(axis):
    printed, digits = TABLE[axis]
    for d, figure in zip((0, 6, 12), printed, strict=True):
        value = getattr(difficulty(d), axis)
        places = digits if digits is not None else (3 if figure < 0.1 else 2)
        assert round(value, places) == figure, (axis, d)


def test_there_are_exactly_the_twelve_axes():
    assert list(TABLE) == list(AXES) == list(difficulty(3).axes())
    assert set(BOUNDS) == set(AXES)


def test_whole_axes_are_whole_and_the_others_are_not():
    for d in range(13):
        assert {axis for axis, value in difficulty(d).axes().items() if type(value) is int} == WHOLE


def test_turn_budgets_that_the_published_rewards_need():
    assert [difficulty(d).turn_budget for d in range(13)] == [4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10]


def test_no_axis_becomes_easier_as_d_grows_and_each_is_harder_at_the_end():
    for axis in set(AXES) - {"turn_budget", "list_size", "tool_budget"}:
        sign = -1 if axis in HARDER_WHEN_LESS else 1
        values = [sign * getattr(difficulty(d), axis) for d in range(13)]
        assert values == sorted(values), axis
        assert values[0] < values[6] < values[12], axis


def test_every_axis_lies_within_the_bounds_of_its_overrides():
    for d in range(13):
        for axis, value in difficulty(d).axes().items():
            low, high = BOUNDS[axis]
            assert low <= value <= high, (axis, d)


def test_the_axes_of_a_difficulty_cannot_be_changed():
    axes = difficulty(4)
    with pytest.raises(AttributeError):
        axes.noise = 0.0


@pytest.mark.parametrize("d", [-1, 13, 2.5, "hard", True, False, None, "3", math.nan, math.inf, [3], 10**30])
def test_a_difficulty_out_of_range_is_refused_with_the_range(d):
    with pytest.raises(DifficultyError, match=r"whole number from 0 to 12") as caught:
        difficulty(d)
    assert repr(d) in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("axis", AXES)
def test_an_override_replaces_one_axis_and_leaves_the_others(axis):
    plain = difficulty(6)
    for bound in BOUNDS[axis]:
        changed = difficulty(6, {axis: bound})
        assert getattr(changed, axis) == bound
        assert type(getattr(changed, axis)) is type(getattr(plain, axis))
        assert changed.axes() | {axis: getattr(plain, axis)} == plain.axes()
        assert changed.d == 6


@pytest.mark.parametrize("axis", AXES)
def test_an_override_just_outside_its_bounds_is_refused_with_the_bounds(axis):
    low, high = BOUNDS[axis]
    step = 1 if axis in WHOLE else 1e-9
    for value in (low - step, high + step):
        with pytest.raises(DifficultyError, match=rf"'{axis}'.* from {low} to {high}"):
            difficulty(6, {axis: value})


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("value", ["5", True, None, [5], math.nan, math.inf, -math.inf, 5j])
def test_an_override_of_the_wrong_type_is_refused(axis, value):
    with pytest.raises(DifficultyError, match=f"'{axis}'"):
        difficulty(6, {axis: value})


@pytest.mark.parametrize("axis", sorted(WHOLE))
def test_a_whole_axis_takes_no_fraction(axis):
    low, _ = BOUNDS[axis]
    with pytest.raises(DifficultyError, match="a whole number"):
        difficulty(6, {axis: low + 0.5})


@pytest.mark.parametrize("name", ["sell_out", "d", "", "SELLOUT", 3])
def test_an_unknown_axis_is_refused_with_the_known_ones(name):
    with pytest.raises(DifficultyError, match="unknown axis") as caught:
        difficulty(6, {name: 1})
    assert all(axis in str(caught.value) for axis in AXES)


def test_the_bounds_that_the_contract_states():
    assert BOUNDS["turn_budget"][0] == 2
    assert difficulty(6, {"sellout": 0.0}).sellout == 0.0
    assert difficulty(0, {}) == difficulty(0, None) == difficulty(0)


def test_several_overrides_hold_at_once_and_the_mapping_is_left_alone():
    overrides = {"noise": 0.2, "turn_budget": 9}
    axes = difficulty(2, overrides)
    assert (axes.noise, axes.turn_budget) == (0.2, 9)
    assert overrides == {"noise": 0.2, "turn_budget": 9}
