"""The rules of a help page: many outcomes, far apart, and no rule that another always overrules."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from ecomrlve.shop.policies import Condition, Policies, Rule
from ecomrlve.shop.policy_conditions import contains

DEPARTMENTS = ("Electronics", "Toys", "Baby", "Food", "Home", "Garden", "Kitchen", "Bags and Accessories")


def shop(seed: int, clauses: int) -> Policies:
    return Policies(("test", seed), clauses=clauses, d=6, departments=DEPARTMENTS)


@pytest.mark.parametrize("clauses", [2, 3, 5, 8])
def test_who_knows_all_values_of_a_page_has_still_many_to_guess_from(clauses):
    counts = sorted(
        len({max(value + sum(some), Fraction(0)) for value in values for some in subsets(page.adjustments)})
        for seed in range(12)
        for page in shop(seed, clauses).pages
        if not page.choices
        for values in [[page.base, *(rule.amount for rule in page.exceptions)]]
    )
    # Whole numbers of a narrow range meet more often than amounts of money.
    assert counts[0] >= 12
    assert counts[len(counts) // 10] >= 25
    assert counts[len(counts) // 2] >= 40


def subsets(rules: tuple[Rule, ...]) -> list[list[Any]]:
    amounts = [rule.amount for rule in rules]
    return [list(some) for size in range(len(amounts) + 1) for some in itertools.combinations(amounts, size)]


def test_values_of_a_page_lie_apart_and_adjustments_are_not_small():
    near = total = 0
    for seed in range(60):
        for page in shop(seed, 2 + seed % 4).pages:
            if page.choices:
                continue
            values = [rule.amount for rule in page.exceptions if rule.amount]
            for one, other in itertools.combinations(values, 2):
                total += 1
                near += max(one, other) < Fraction(6, 5) * min(one, other)
            assert not any(2 * page.base < 3 * value < Fraction(9, 2) * page.base for value in values)
            middle = sorted([page.base, *values])[(len(values) + 1) // 2]
            sizes = [abs(rule.amount) for rule in page.adjustments]
            # Percentages are kept from adding up to more than the price.
            assert all(size <= Fraction(4, 5) * middle or size == 1 for size in sizes) or page.unit == "%"
            assert sum(sizes) >= Fraction(2, 5) * middle or page.unit == "%"
            assert sum(rule.amount for rule in page.adjustments if rule.amount < 0) >= Fraction(-3, 5) * page.base
    assert near <= 0.05 * total


@pytest.mark.parametrize("clauses", [2, 3, 5, 8])
def test_no_exception_is_always_overruled_by_a_wider_one(clauses):
    nested = 0
    for seed in range(25):
        for page in shop(seed, clauses).pages:
            rules = page.exceptions
            for (place, narrow), (other, wide) in itertools.permutations(enumerate(rules), 2):
                if not contains(wide.conditions, narrow.conditions):
                    continue
                nested += 1
                wins = {
                    "first": place < other,
                    "last": place > other,
                    "highest": page.choices or narrow.amount > wide.amount,
                    "lowest": page.choices or narrow.amount < wide.amount,
                }
                assert wins[page.precedence], (narrow, wide, page.text)
    assert nested >= 100


@pytest.mark.parametrize(
    ("wide", "narrow", "holds"),
    [
        (("order_total", "ge", 50), ("order_total", "ge", 60), True),
        (("order_total", "ge", 50), ("order_total", "gt", 50), True),
        (("order_total", "gt", 50), ("order_total", "ge", 50), False),
        (("order_total", "gt", 50), ("order_total", "ge", 60), True),
        (("order_total", "le", 50), ("order_total", "lt", 50), True),
        (("order_total", "lt", 50), ("order_total", "le", 50), False),
        (("order_total", "lt", 50), ("order_total", "le", 40), True),
        (("order_total", "ge", 50), ("order_total", "le", 60), False),
        (("order_total", "ge", 50), ("quantity", "ge", 60), False),
        (("tier", "in", "Gold", "Basic"), ("tier", "in", "Gold"), True),
        (("tier", "in", "Gold"), ("tier", "in", "Gold", "Basic"), False),
        (("tier", "in", "Gold"), ("tier", "in", "Gold"), True),
    ],
)
def test_which_test_holds_wherever_another_does(wide, narrow, holds):
    one, other = (Condition(name, operator, tuple(values)) for name, operator, *values in (wide, narrow))
    phone = Condition("channel", "in", ("phone",))
    assert contains((one,), (other,)) is holds
    assert contains((one,), (phone, other)) is holds
    assert contains((one, phone), (other, phone)) is holds
    assert not contains((one, phone), (other,))
