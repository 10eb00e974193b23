"""E_POLICY: questions about policies that are drawn per episode, numbers as people type them, and closeness."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.customer.ledger import Ledger
from ecomrlve.difficulty import difficulty
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.policy import PolicyAnswer, PolicyTask, closeness, read_number, shown

TASK = PolicyTask()
LEVELS = (0, 3, 6, 9, 12)


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_POLICY", seed))


def told(problem: Problem) -> Ledger:
    ledger = problem.ledger()
    ledger.say(list(ledger.slots), 0, "open")
    return ledger


def judge(problem: Problem, given: Any) -> Any:
    answer = PolicyAnswer.model_validate({"policy_answer": given}).model_dump()
    return TASK.verify(problem, told(problem), answer, difficulty(6))


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[tuple[int, Problem]]:
    return [(d, draw(words_engine, seed, d)) for d in LEVELS for seed in range(120)]


def numeric(problems: list[tuple[int, Problem]]) -> list[Problem]:
    return [problem for _, problem in problems if not isinstance(problem.goal.question.answer, str)]


def categorical(problems: list[tuple[int, Problem]]) -> list[Problem]:
    return [problem for _, problem in problems if isinstance(problem.goal.question.answer, str)]


# --- reading a number ------------------------------------------------------------------------------------------------

READ = [
    (30, "days", 30),
    (30.0, "days", 30),
    ("30", "days", 30),
    ("30 days", "days", 30),
    ("30days", "days", 30),
    (" 30  Days. ", "days", 30),
    ("1 day", "days", 1),
    ("30 calendar days", "days", 30),
    ("30 months", "days", None),
    ("30 hours", "days", None),
    ("30 day trips", "days", None),
    ("$30", "days", None),
    ("30 $", "days", None),
    ("30%", "days", None),
    ("30 or 40", "days", None),
    ("30-40", "days", None),
    ("30 days or 40", "days", None),
    ("about 30", "days", None),
    ("30 40", "days", None),
    ("12 months", "months", 12),
    ("12 days", "months", None),
    ("48 h", "hours", 48),
    ("48 hours", "hours", 48),
    ("$14.50", "$", Fraction("14.5")),
    ("$ 14.50", "$", Fraction("14.5")),
    ("14.5", "$", Fraction("14.5")),
    (14.5, "$", Fraction("14.5")),
    ("14.50 dollars", "$", Fraction("14.5")),
    ("14.50 USD", "$", Fraction("14.5")),
    ("$14.5.0", "$", None),
    ("14.50 days", "$", None),
    ("14.50%", "$", None),
    ("14,50", "$", None),
    (".5", "$", Fraction("0.5")),
    ("5.", "$", 5),
    ("$", "$", None),
    ("15 %", "%", 15),
    ("15%", "%", 15),
    ("15 percent", "%", 15),
    ("$15", "%", None),
    ("0.15", "%", Fraction("0.15")),
    ("300 points", "points", 300),
    ("300 pts", "points", None),
    ("1,200", "points", 1200),
    ("1,200 points", "points", 1200),
    ("$1,234.56", "$", Fraction("1234.56")),
    ("12,00", "points", None),
    ("1,2,3", "points", None),
    ("1,2000", "points", None),
    ("-3", "days", -3),
    ("−3", "days", -3),
    ("- 3 days", "days", -3),
    ("+3", "days", 3),
    ("-$3", "$", -3),
    ("$-3", "$", -3),
    ("-$-3", "$", None),
    ("--3", "days", None),
    ("", "days", None),
    ("   ", "days", None),
    ("days", "days", None),
    ("thirty", "days", None),
    ("1e3", "days", None),
    ("0x1e", "days", None),
    ("1/2", "days", None),
    ("nan", "days", None),
    ("inf", "days", None),
    ("Infinity", "days", None),
    (True, "days", None),
    (False, "days", None),
    (None, "days", None),
    (1e308, "$", None),
    (-1e308, "$", None),
    (1e15, "$", None),
    ("9" * 400, "$", None),
    ("0" * 79 + "5", "$", 5),
    (0, "days", 0),
    ("0", "days", 0),
    (-0.0, "days", 0),
    (0.1 + 0.2, "$", Fraction("0.30000000000000004")),
    ("30\n40", "days", None),
    ("30; drop", "days", None),
    ("[30]", "days", None),
    ("'30'", "days", None),
]


@pytest.mark.parametrize(("given_answer", "unit", "number"), READ)
def test_a_number_is_read_with_its_own_unit_or_none_and_nothing_else(
    given_answer: Any, unit: str, number: int | Fraction | None
):
    found = read_number(given_answer, unit)
    assert found == number
    assert found is None or isinstance(found, Fraction)


@pytest.mark.parametrize("text", ["٣٠", "३०", "３０", "30 дней", "³", "½", "Ⅻ"])
def test_strange_digits_never_crash_and_never_mean_another_number(text: str):
    assert read_number(text, "days") in (None, 30)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_none(bad: float):
    assert read_number(bad, "$") is None


@given(cents=st.integers(0, 10**9), negative=st.booleans())
def test_money_is_read_to_the_cent_in_every_way_of_writing_it(cents: int, negative: bool):
    value = Fraction(cents, 100) * (-1 if negative else 1)
    sign = "-" if negative else ""
    whole, part = divmod(cents, 100)
    for text in (
        f"{sign}{whole}.{part:02d}", f"{sign}${whole}.{part:02d}", f"{sign}{whole:,}.{part:02d}",
        f"{sign}${whole:,}.{part:02d}", f"{sign}{whole}.{part:02d} dollars", float(f"{sign}{whole}.{part:02d}"),
    ):  # fmt: skip
        assert read_number(text, "$") == value


@given(text=st.text(max_size=100), unit=st.sampled_from(["days", "$", "%", "points", "hours", "months"]))
def test_no_text_crashes_the_reader_and_what_is_read_stands_in_it(text: str, unit: str):
    found = read_number(text, unit)
    if found is not None:
        assert re.search(r"\d", text)


@given(number=st.integers(1, 10**6), other=st.integers(0, 999))
def test_two_numbers_are_no_answer(number: int, other: int):
    for text in (f"{number} {other}", f"{number}, {other}", f"{number} or {other}", f"{number}/{other}"):
        assert read_number(text, "points") is None


# --- closeness -------------------------------------------------------------------------------------------------------

NUMBERS = st.fractions(-1000, 1000, max_denominator=100)


@given(a=NUMBERS, b=NUMBERS)
def test_closeness_is_symmetric_within_bounds_and_one_for_equals_alone(a: Fraction, b: Fraction):
    found = closeness(a, b)
    assert 0 <= found <= 1
    assert found == closeness(b, a)
    assert closeness(a, a) == 1.0
    if a * b < 0 or (a == 0) != (b == 0):
        assert found == 0
    elif a == b:
        assert found == 1
    else:
        assert found < 1
        assert found == pytest.approx((min(abs(a), abs(b)) / max(abs(a), abs(b))) ** 4, rel=1e-9)


@given(a=st.fractions(1, 1000, max_denominator=100), b=st.fractions(1, 1000, max_denominator=100))
def test_closeness_falls_with_the_distance(a: Fraction, b: Fraction):
    low, high = sorted((a, b))
    assert closeness(low, high) >= closeness(low, high + 1)
    assert closeness(-low, -high) == closeness(low, high)


def test_closeness_of_nothing_and_of_worked_examples():
    assert closeness(None, Fraction(5)) == 0.0
    assert closeness(Fraction(10), Fraction(100)) == pytest.approx(1e-4)
    assert closeness(Fraction(30), Fraction(15)) == pytest.approx(1 / 16)
    assert closeness(Fraction(10**14), Fraction(1, 100)) < 1e-30


# --- the question ----------------------------------------------------------------------------------------------------


def test_at_most_one_in_ten_is_categorical_with_five_choices_or_more(problems: list[tuple[int, Problem]]):
    found = categorical(problems)
    assert len(problems) == 600
    assert 10 <= len(found) <= 60
    for problem in found:
        question = problem.goal.question
        assert len(set(question.choices)) == len(question.choices) >= 5
        assert question.answer in question.choices
        # The customer names the choices, so that nobody has to guess their wording.
        assert problem.slots[0].choices == question.choices
        folded = [choice.casefold() for choice in question.choices]
        assert len(set(folded)) == len(folded)


def test_the_question_is_said_first_and_always(problems: list[tuple[int, Problem]]):
    for _, problem in problems:
        assert problem.slots[0].kind == "question"
        assert problem.slots[0].value == problem.goal.question.text
        assert "question" not in problem.omitted
        assert {slot.kind for slot in problem.slots[1:]} <= {"fact"}
        assert not problem.switch


def test_the_facts_of_an_order_are_what_order_list_and_the_date_say(problems: list[tuple[int, Problem]], call: Any):
    checked: Counter[str] = Counter()
    for _, problem in problems:
        goal, world = problem.goal, problem.world
        if goal.order is None:
            assert not any(slot.attribute == "order_id" for slot in problem.slots)
            continue
        said = next(slot.value for slot in problem.slots if slot.attribute == "order_id")
        orders: dict[str, dict[str, Any]] = {}
        page, more = 1, True
        while more:
            result = call(world, "order_list", page=page)
            orders |= {order["order_id"]: order for order in result["orders"]}
            more, page = result["more"], page + 1
        order = orders[said]
        today = datetime.date.fromisoformat(call(world, "datetime_now")["today"])
        shows = {
            "order_total": order["total"],
            "payment": order["payment"],
            "channel": order["channel"],
            "quantity": sum(line["qty"] for line in order["lines"]),
            "days_since_purchase": (today - datetime.date.fromisoformat(order["placed"])).days,
        }
        for fact in goal.question.facts:
            if fact.source == "order":
                assert fact.value == shows[fact.attribute], fact
                checked[fact.attribute] += 1
    assert set(checked) == {"order_total", "payment", "channel", "quantity", "days_since_purchase"}
    assert min(checked.values()) >= 10


def test_the_facts_of_the_profile_are_what_it_shows_and_the_rest_is_said(
    problems: list[tuple[int, Problem]], call: Any
):
    sources: Counter[str] = Counter()
    for _, problem in problems:
        profile = call(problem.world, "user_get_profile")
        said = {slot.attribute: slot.value for slot in problem.slots if slot.kind == "fact"}
        question = problem.goal.question
        expected = {"order_id"} if problem.goal.order is not None else set()
        expected |= {"amount"} if question.amount is not None else set()
        for fact in question.facts:
            sources[fact.source] += 1
            if fact.source == "profile":
                assert fact.value == profile[fact.attribute]
            elif fact.source == "said":
                assert said[fact.attribute] == fact.value
                expected.add(fact.attribute)
        assert set(said) == expected
        if question.amount is not None:
            assert said["amount"] == question.amount
    assert min(sources[name] for name in ("profile", "order", "said")) > 50


def test_the_answer_follows_from_the_page_in_force_and_the_facts(problems: list[tuple[int, Problem]], call: Any):
    families: Counter[str] = Counter()
    for d, problem in problems:
        question, world = problem.goal.question, problem.world
        page = world.policies.page(question.topic)
        # The page is one that an agent can read in this very world.
        assert call(world, "policy_get", policy_id=world.policies.policy_id(page))["text"] == page.text
        assert len(page.attributes) == difficulty(d).policy_clauses
        case = {fact.attribute: fact.value for fact in question.facts}
        value = page.value(case)
        families[question.family] += 1
        if question.family == "days_left":
            assert question.answer == value - case["days_since_purchase"]
            assert question.answer > 0
        elif question.family == "money_back":
            assert question.answer == question.amount * (100 - value) / 100
            assert (question.answer * 100).denominator == 1
        else:
            assert question.answer == value
    assert set(families) == {"value", "days_left", "money_back", "choice"}
    assert min(families.values()) >= 10


def test_the_page_is_found_by_the_customers_words(problems: list[tuple[int, Problem]], call: Any):
    """On the first three pages that a search for the question shows."""
    missed = 0
    for _, problem in problems[::3]:
        world, question = problem.world, problem.goal.question
        page = world.policies.policy_id(world.policies.page(question.topic))
        found = call(world, "policy_search", query=question.text)["policies"]
        missed += page not in [one["policy_id"] for one in found]
    assert missed == 0


def test_no_answer_fits_many_episodes(problems: list[tuple[int, Problem]]):
    counts = Counter((shown(problem.goal.question)) for problem in numeric(problems))
    assert counts.most_common(1)[0][1] < 0.05 * len(problems)


# --- the verdict -----------------------------------------------------------------------------------------------------


def as_float(answer: Fraction) -> float:
    return float(answer)


def test_the_exact_number_is_exactly_one_in_every_way_of_writing_it(problems: list[tuple[int, Problem]]):
    for problem in numeric(problems):
        question = problem.goal.question
        answer = question.answer
        ways: list[Any] = [shown(question), f"  {shown(question)} ".upper(), as_float(answer)]
        if answer.denominator == 1:
            ways += [answer.numerator, str(answer.numerator), f"{answer.numerator}.00", f"{answer.numerator:,}"]
        if question.unit == "$":
            ways += [f"{float(answer):.2f} dollars", f"${float(answer):,.2f}"]
        elif question.unit != "%":
            ways.append(f"{shown(question).split()[0]} {question.unit}")
        for way in ways:
            verdict = judge(problem, way)
            assert verdict.task == 1.0, (way, question)
            assert verdict.correct
            assert verdict.parts == {"closeness": 1.0, "exact": 1}


def test_a_number_nearby_is_near_and_never_right(problems: list[tuple[int, Problem]]):
    for problem in numeric(problems):
        answer = problem.goal.question.answer
        cent = Fraction(1, 100)
        for other in (answer + cent, answer - cent, answer + 1, answer * 2, answer / 2, answer * 10, answer + 10**6):
            verdict = judge(problem, float(other))
            ratio = (min(other, answer) / max(other, answer)) ** 4 if other > 0 else 0
            assert verdict.task == pytest.approx(2 * float(ratio) - 1, abs=1e-6)
            assert not verdict.correct
            assert verdict.task < 1.0
        digits = str(math.floor(answer))
        # The sign, a digit too many, a part of it, and a list of guesses.
        for text in (-float(answer), f"-{digits}", f"{digits}0", f"{digits} or {digits}1", f"{digits}; 5", "", "?"):
            assert not judge(problem, text).correct
        assert judge(problem, -float(answer)).task == -1.0
        assert judge(problem, "").task == -1.0
        assert judge(problem, "").done == []


def test_another_unit_is_no_answer(problems: list[tuple[int, Problem]]):
    for problem in numeric(problems):
        question = problem.goal.question
        number = f"{float(question.answer):g}"
        for unit in ("days", "hours", "months", "%", "points", "dollars", "weeks", "€ and more"):
            own = {"$": "dollars"}.get(question.unit, question.unit)
            if unit != own:
                assert judge(problem, f"{number} {unit}").task == -1.0, (unit, question.unit)
        if question.unit != "$":
            assert judge(problem, f"${number}").task == -1.0


def test_another_currency_is_no_answer(problems: list[tuple[int, Problem]]):
    for problem in numeric(problems):
        question = problem.goal.question
        if question.unit == "$":
            assert not judge(problem, f"€{float(question.answer):.2f}").correct


def test_a_choice_is_taken_whole_without_regard_to_case(problems: list[tuple[int, Problem]]):
    for problem in categorical(problems):
        question = problem.goal.question
        own = question.answer
        for way in (own, own.upper(), own.lower(), f"  {own} ", f"{own}."):
            verdict = judge(problem, way)
            assert verdict.task == 1.0, way
            assert verdict.correct
        others = [choice for choice in question.choices if choice != own]
        for text in (*others, own[:-1], own[1:], own + "s", f"{own} or {others[0]}", f"not {own}", f"{own} {own}", ""):
            verdict = judge(problem, text)
            assert verdict.task == -1.0, text
            assert not verdict.correct
        assert judge(problem, 1).task == -1.0


@given(answer=st.text(max_size=60) | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_any_answer_is_scored_within_bounds(problems: list[tuple[int, Problem]], answer: Any):
    for _, problem in problems[3:40:12]:
        verdict = judge(problem, answer)
        assert -1 <= verdict.task <= 1
        assert verdict.correct == (verdict.task == 1.0)


@pytest.mark.parametrize("bad", [None, True, ["30"], {"value": 30}])
def test_an_answer_of_another_type_is_no_answer_of_the_schema(bad: Any):
    with pytest.raises(ValueError, match="policy_answer"):
        PolicyAnswer.model_validate({"policy_answer": bad})


def test_reveal_shows_page_facts_and_answer(problems: list[tuple[int, Problem]]):
    for _, problem in problems[::11]:
        found = TASK.reveal(problem, told(problem))
        assert judge(problem, found["answer"]).task == 1.0
        assert [fact["attribute"] for fact in found["facts"]] == [f.attribute for f in problem.goal.question.facts]
        assert (found["order_id"] is None) == (problem.goal.order is None)
