"""The help pages: what they say stands in their text, every condition counts, and no value is near all others."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.errors import Refused
from ecomrlve.shop.policies import METHODS, REASONS, THRESHOLDS, Condition, Page, Policies, Rule
from ecomrlve.shop.policy_rules import ATTRIBUTES, NUMBERS, VALUES, dollars, written
from ecomrlve.shop.policy_subjects import CATEGORICAL, NUMERIC, TOPICS
from ecomrlve.shop.policy_topics import RETURN_WINDOW
from ecomrlve.streams import Stream

DEPARTMENTS = ("Electronics", "Toys", "Baby", "Food", "Home", "Garden", "Kitchen", "Bags and Accessories")


def shop(seed: int, clauses: int = 3, d: int = 6, departments: tuple[str, ...] = DEPARTMENTS) -> Policies:
    return Policies(("test", seed), clauses=clauses, d=d, departments=departments)


def draw_case(stream: Stream) -> dict[str, Any]:
    """A case at random, thresholds and their neighbors included."""
    case: dict[str, Any] = {name: stream.choice(VALUES.get(name, DEPARTMENTS)) for name in ATTRIBUTES}
    for name in NUMBERS:
        case[name] = max(0, stream.choice(THRESHOLDS[name]) + stream.integer(3) - 1)
    return case


def test_reasons_and_methods_are_those_of_the_tools():
    assert REASONS == ("damaged", "wrong_item", "not_as_described", "changed_mind", "does_not_fit", "arrived_late")
    assert METHODS == ("original_payment", "store_credit")


def page_of(rules: tuple[Rule, ...], precedence: str, base: int = 30) -> Page:
    return Page("return_window", "Returns", "days", (), ("tier", "quantity"), Fraction(base), rules, precedence, "")


GOLD = Rule((Condition("tier", "in", ("Gold",)),), "set", Fraction(60))
MANY = Rule((Condition("quantity", "ge", (3,)),), "set", Fraction(10))
LESS = Rule((Condition("quantity", "lt", (5,)),), "add", Fraction(-40))
MORE = Rule((Condition("tier", "in", ("Gold", "Silver")),), "add", Fraction(7))


@pytest.mark.parametrize(
    ("rules", "precedence", "tier", "quantity", "value"),
    [
        ((GOLD, MANY), "first", "Gold", 3, 60),
        ((GOLD, MANY), "last", "Gold", 3, 10),
        ((MANY, GOLD), "first", "Gold", 3, 10),
        ((MANY, GOLD), "highest", "Gold", 3, 60),
        ((MANY, GOLD), "lowest", "Gold", 3, 10),
        ((GOLD, MANY), "last", "Gold", 2, 60),
        ((GOLD, MANY), "first", "Basic", 2, 30),
        ((GOLD, LESS, MORE), "", "Gold", 4, 27),
        ((GOLD, LESS, MORE), "", "Gold", 5, 67),
        ((GOLD, LESS, MORE), "", "Silver", 1, 0),
        ((GOLD, LESS, MORE), "", "Basic", 1, 0),
    ],
)
def test_exceptions_replace_and_adjustments_add(rules, precedence, tier, quantity, value):
    assert page_of(rules, precedence).value({"tier": tier, "quantity": quantity}) == value


def test_what_is_ruled_out_stays_ruled_out():
    never = Rule((Condition("tier", "in", ("Gold",)),), "set", Fraction(0))
    assert page_of((never, MORE), "").value({"tier": "Gold", "quantity": 1}) == 0
    assert page_of((never, MORE), "").value({"tier": "Silver", "quantity": 1}) == 37


@pytest.mark.parametrize(
    ("operator", "holds"),
    [
        ("ge", (False, True, True)),
        ("gt", (False, False, True)),
        ("le", (True, True, False)),
        ("lt", (True, False, False)),
    ],
)
def test_bounds_are_exact_to_the_cent(operator, holds):
    condition = Condition("order_total", operator, (50,))
    assert tuple(condition.holds({"order_total": total}) for total in (49.99, 50, 50.01)) == holds
    assert condition.holds({"order_total": Fraction(50)}) == condition.holds({"order_total": 50.0}) == holds[1]


def test_a_case_that_lacks_a_fact_is_an_error_that_names_it():
    with pytest.raises(KeyError, match="quantity"):
        page_of((GOLD, MANY), "first").value({"tier": "Gold"})
    with pytest.raises(KeyError, match="no page about 'weather'"):
        shop(0).value("weather", {})


@pytest.mark.parametrize("clauses", range(1, 9))
def test_pages_test_as_many_attributes_as_asked_for(clauses):
    for seed in range(8):
        for page in shop(seed, clauses).pages:
            tested = {condition.attribute for rule in page.rules for condition in rule.conditions}
            assert tested == set(page.attributes)
            assert len(page.attributes) == len(tested) == clauses
            assert all(1 <= len(rule.conditions) <= 2 for rule in page.rules)
            assert page.exceptions
            assert len(page.rules) >= 2 or page.attributes == ("opened",)
            if clauses > 1:
                assert set(page.attributes) & set(NUMBERS)
                assert len(page.exceptions) >= 5
                assert len(page.adjustments) >= 3 or page.choices
            assert bool(page.precedence) == (len(page.exceptions) > 1)
            assert page.rules == (*page.exceptions, *page.adjustments)


@pytest.mark.parametrize("clauses", [1, 2, 3, 4, 5, 8])
def test_every_attribute_matters(clauses):
    for seed in range(6):
        for page in shop(seed, clauses, 12).pages:
            for attribute in page.attributes:
                assert matters(page, attribute), (page, attribute)


def matters(page: Page, attribute: str) -> bool:
    """Whether for some setting of the other attributes the value changes with this one."""
    options = {name: interesting(page, name) for name in page.attributes}
    others = [name for name in page.attributes if name != attribute]
    # All settings are too many with eight attributes, so the others take two values each: one that no rule names.
    settings_of_others = itertools.product(
        *(options[name] if len(others) < 4 else plain(page, name) for name in others)
    )
    for setting in settings_of_others:
        case = dict(zip(others, setting, strict=True))
        if len({page.value({**case, attribute: value}) for value in options[attribute]}) > 1:
            return True
    return False


def conditions_on(page: Page, attribute: str) -> list[Condition]:
    return [test for rule in page.rules for test in rule.conditions if test.attribute == attribute]


def interesting(page: Page, attribute: str) -> list[Any]:
    if attribute in NUMBERS:
        bounds = [test.values[0] for test in conditions_on(page, attribute)]
        return sorted({bound + step for bound in bounds for step in (-1, 0, 1)})
    return list(VALUES.get(attribute, DEPARTMENTS))


def plain(page: Page, attribute: str) -> list[Any]:
    tests = conditions_on(page, attribute)
    excepted = [rule.conditions[0] for rule in page.exceptions if len(rule.conditions) == 1]
    excepted = [test for test in excepted if test.attribute == attribute]
    options = interesting(page, attribute)
    # Each attribute keeps a value that no exception names, so that the others are seen.
    free = [value for value in options if not any(test.holds({attribute: value}) for test in excepted)]
    off = next((value for value in free if not any(test.holds({attribute: value}) for test in tests)), free[0])
    on = next(value for value in options if tests[0].holds({attribute: value}))
    return [off, on]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), clauses=st.integers(1, 8), d=st.integers(0, 12))
def test_values_are_exact_and_never_negative(seed, clauses, d):
    policies, stream = shop(seed, clauses, d), Stream("case", seed)
    for page in policies.pages:
        case = draw_case(stream)
        value = policies.value(page.topic, case)
        assert value == page.value(dict(reversed(case.items())))
        if page.choices:
            assert value in page.choices
            continue
        assert isinstance(value, Fraction)
        assert value >= 0
        assert (value * (100 if page.unit == "$" else 1)).denominator == 1
        assert page.unit != "%" or value < 100


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), clauses=st.integers(1, 8))
def test_a_page_says_all_that_decides(seed, clauses):
    for page in shop(seed, clauses, 12).pages:
        text = page.text
        assert text.startswith(page.title + "\n")
        assert written(page.base, page.unit) in text
        for rule in page.rules:
            assert written_in(rule, page.unit) in text, (rule, text)
            for condition in rule.conditions:
                for value in condition.values:
                    assert said(condition, value).search(text), (condition, text)
        for choice in page.choices:
            assert choice in text
        # No number stands there that decides nothing: list numbers apart.
        numbers = re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?m)^\d+\. ", "", text))
        bounds = {str(value) for rule in page.rules for test in rule.conditions for value in test.values}
        amounts = {re.sub(r"[^\d.]", "", written(abs(amount), page.unit)) for amount in numbers_of(page)}
        assert set(numbers) <= bounds | amounts
        assert not re.search(r"[{}]", text)
        assert 60 <= len(text.split()) <= 350


def numbers_of(page: Page) -> list[Fraction]:
    return [amount for amount in (page.base, *(rule.amount for rule in page.rules)) if isinstance(amount, Fraction)]


def written_in(rule: Rule, unit: str) -> str:
    if unit == "%" and rule.effect == "add" and isinstance(rule.amount, Fraction):
        return f"{abs(rule.amount)} percentage point"
    return written(abs(rule.amount) if isinstance(rule.amount, Fraction) else rule.amount, unit)


def said(condition: Condition, value: Any) -> re.Pattern[str]:
    words = {
        "damaged": "damaged", "wrong_item": "wrong item", "not_as_described": "descri", "changed_mind": "changed",
        "does_not_fit": "not (?:to )?fit", "arrived_late": "arrived (?:too )?late", "website": "on the website",
        "app": "in the app", "phone": "by phone", "opened": "has been opened", "unopened": "is unopened",
    }  # fmt: skip
    if condition.operator == "in":
        return re.compile(words.get(value, re.escape(value)))
    unit = {"order_total": "", "days_since_purchase": " days", "quantity": " units"}[condition.attribute]
    number = ("\\$" if not unit else "") + str(value) + unit
    bound = {
        "ge": f"{number} or more|at least {number}",
        "gt": f"(?:more than|over) {number}",
        "le": f"{number} or less|at most {number}",
        "lt": f"(?:less than|under) {number}",
    }
    return re.compile(f"(?:{bound[condition.operator]})(?!\\d)", re.IGNORECASE)


def test_precedence_and_limits_are_said():
    told = {"first": ("first", "top"), "last": ("last", "end"), "highest": ("highest",), "lowest": ("lowest",)}
    seen = set()
    for seed in range(30):
        for page in shop(seed, 4).pages:
            lines = page.text.split("\n")
            number = 1 + max(place for place, line in enumerate(lines) if line.startswith(("1. ", "- ", "2. ", "3. ")))
            assert number < len(lines)
            if page.precedence:
                seen.add(page.precedence)
                words = {name for name, cues in told.items() if any(f" {cue}" in page.text for cue in cues)}
                assert page.precedence in words
            if any(isinstance(rule.amount, Fraction) and rule.amount < 0 for rule in page.rules):
                assert "zero" in page.text
    assert seen == set(told)


@pytest.mark.parametrize(("d", "least"), [(0, 20), (5, 20), (6, 40), (12, 40)])
def test_values_spread(d, least):
    for name in NUMERIC:
        topic = TOPICS[name]
        values = topic.values(d)
        assert len(set(values)) >= least
        assert max(values) >= 8 * min(values)
        assert len(set(topic.standards(d))) >= least
        assert all(value % 100 == 0 for value in values) or topic.unit == "$"
    window = TOPICS[RETURN_WINDOW].standards(d)
    assert (min(window), max(window)) == (1400, 6000)
    assert all(len(TOPICS[name].choices) >= 5 for name in CATEGORICAL)


def test_drawn_values_really_differ():
    for d, least in ((0, 20), (6, 40)):
        drawn: dict[str, set[Any]] = {}
        for seed in range(400):
            policies = shop(seed, 3, d)
            for topic in (RETURN_WINDOW, policies.topics[0]):
                page = policies.page(topic)
                drawn.setdefault(topic, set()).update([page.base, *(rule.amount for rule in page.exceptions)])
        assert len(drawn[RETURN_WINDOW]) >= least


def test_the_return_window_tests_what_an_order_line_or_a_return_knows_and_rules_some_out():
    known = {"tier", "region", "department", "reason", "order_total", "payment", "channel", "quantity"}
    stream, zero, cases = Stream("returns"), 0, 0
    for seed in range(300):
        policies = shop(seed, 1 + seed % 5)
        page = policies.page(RETURN_WINDOW)
        assert set(page.attributes) <= known
        assert isinstance(page.base, Fraction)
        assert 14 <= page.base <= 60
        for _ in range(10):
            cases += 1
            zero += page.value(draw_case(stream)) == 0
    assert 0.08 <= zero / cases <= 0.4


def test_pages_depend_on_the_episode_alone():
    assert shop(3).pages == shop(3).pages
    one, other = shop(5), shop(5)
    assert tuple(other.page(topic) for topic in reversed(one.topics)) == tuple(reversed(one.pages))
    texts = {shop(seed).page(RETURN_WINDOW).text for seed in range(200)}
    assert len(texts) == 200
    assert len({shop(seed).topics for seed in range(50)}) == 50


def test_a_catalog_of_one_department_has_pages_without_departments():
    for seed in range(20):
        for page in shop(seed, 8, departments=("Parts",)).pages:
            assert "department" not in page.attributes
            assert len(page.attributes) >= 7


def test_golden_page():
    page = shop(1, 2, 3).page(RETURN_WINDOW)
    assert page.text == GOLDEN


def test_ids_are_opaque_and_of_this_episode():
    policies = shop(0)
    ids = [policies.policy_id(page) for page in policies.pages]
    assert len(set(ids)) == len(policies.pages) == 13
    assert all(re.fullmatch(r"h[0-9a-z]{7}", text) for text in ids)
    assert [policies.find(f" {text.upper()} ") for text in ids] == list(policies.pages)
    for wrong in (shop(1).policy_id(shop(1).pages[0]), "", "h0000000", "return_window"):
        with pytest.raises(Refused) as refusal:
            policies.find(wrong)
        assert refusal.value.code == "unknown_policy"


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("return period", RETURN_WINDOW),
        ("how many days do I have to send an item back?", RETURN_WINDOW),
        ("retrun windoww", RETURN_WINDOW),
        ("which carrier delivers", "carrier"),
        ("how is my refund paid out", "refund_method"),
        ("refnud paid ot", "refund_method"),
    ],
)
def test_search_finds_the_page_meant(query, topic):
    places = [[page.topic for page in shop(seed).search(query, 20)].index(topic) for seed in range(30)]
    assert max(places) <= 2
    assert sum(place == 0 for place in places) >= 25


def test_search_orders_all_pages_and_cuts():
    policies = shop(2)
    assert set(policies.search("", 20)) == set(policies.pages)
    assert policies.search("zzzz", 4) == list(policies.pages[:4])
    assert policies.search("return fee " * 5000, 20)[:2] == policies.search("return fee", 2)


def test_money_is_written_as_people_write_it():
    assert [dollars(value) for value in (50, 49.99, Fraction(29, 2), 0, 1234.5)] == [
        "$50", "$49.99", "$14.50", "$0", "$1234.50",
    ]  # fmt: skip
    assert [written(Fraction(n), "days") for n in (1, 2)] == ["1 day", "2 days"]
    assert written(Fraction(15), "%") == "15%"


GOLDEN = """\
Returns: the time you have
You asked us about the return window, so here is how it works. It is the number of days after \
delivery in which an item can be sent back.
Unless something else is said below, the return window is 44 days.

Exceptions to the standard
- We do not take an item back if the order contains at least 6 units (0 days).
- The return window is 73 days if the membership level is Silver.
- Provided that the order contains under 2 units, the return window is 13 days.
- Where the membership level is Platinum, the return window is 8 days.
- The return window is 24 days if the account has the membership level Gold.
- Whenever the customer is a Silver member and the order holds 6 units or more in all, a return is \
ruled out (0 days).
Where more than one exception applies, go by the one listed last.
What cannot be returned stays so: the adjustments below do not change it.

What is added or taken off
Every one of these that applies is made, on top of the value found so far:
- The return window goes up by 6 days if the order is for at most 4 units.
- Whenever you are a Basic member, 15 days must be added.
- The return window goes up by 12 days if you are a Gold or Platinum member.
- If the order is for under 3 units, add 8 days.

No other page of our help pages changes what is said here. Thank you for shopping with us."""
