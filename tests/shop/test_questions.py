"""Questions about the policies: answers that must be worked out, from facts that somebody or something tells."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from ecomrlve.shop.policies import Page, Policies
from ecomrlve.shop.policy_questions import QUESTIONS
from ecomrlve.shop.policy_rules import CHANNELS, ORDER_ATTRIBUTES, PAYMENTS, REGIONS, TIERS, VALUES
from ecomrlve.shop.policy_subjects import TOPICS
from ecomrlve.shop.questions import (
    FACT_LABELS,
    FACT_PHRASES,
    REASON_WORDS,
    OrderFacts,
    Question,
    draw_question,
    fact_clause,
    fact_in,
)
from ecomrlve.streams import Stream

DEPARTMENTS = ("Electronics", "Toys", "Baby", "Food", "Home", "Garden", "Kitchen", "Bags and Accessories")
COUNT = 400
LEVELS = (0, 3, 6, 12)


def orders_of(stream: Stream, count: int = 10) -> list[OrderFacts]:
    return [
        OrderFacts(
            number,
            {
                "order_total": round(10 * 30 ** stream.uniform(), 2),
                "days_since_purchase": 1 + stream.integer(150),
                "department": stream.choice(DEPARTMENTS),
                "payment": stream.choice(PAYMENTS),
                "channel": stream.choice(CHANNELS),
                "quantity": 1 + stream.integer(6),
            },
        )
        for number in range(count)
    ]


def draw(seed: int, d: int, with_orders: bool = True) -> tuple[Policies, dict[str, str], list[OrderFacts], Question]:
    policies = Policies(("test", seed), clauses=1 + d // 3, d=d, departments=DEPARTMENTS)
    stream = Stream("question", seed)
    profile = {"tier": stream.choice(TIERS), "region": stream.choice(REGIONS)}
    orders = orders_of(stream) if with_orders else []
    return policies, profile, orders, draw_question(policies, profile, orders, stream)


@cache
def drawn(d: int) -> list[tuple[Page, dict[str, str], list[OrderFacts], Question]]:
    found = []
    for seed in range(COUNT):
        policies, profile, orders, question = draw(seed, d)
        found.append((policies.page(question.topic), profile, orders, question))
    return found


@pytest.mark.parametrize("d", LEVELS)
def test_the_answer_follows_from_the_page_and_the_facts(d):
    for page, _, _, question in drawn(d):
        facts = {fact.attribute: fact for fact in question.facts}
        assert len(facts) == len(question.facts)
        extra = {"days_since_purchase"} if question.family == "days_left" else set()
        assert set(facts) == set(page.attributes) | extra
        case = {name: fact.value for name, fact in facts.items()}
        value = page.value(case)
        if question.family == "choice":
            assert question.answer == value
            assert question.answer in question.choices
            continue
        assert isinstance(value, Fraction)
        assert isinstance(question.answer, Fraction)
        assert question.answer > 0
        if question.family == "days_left":
            assert question.answer == value - case["days_since_purchase"]
            assert question.unit == "days"
        elif question.family == "money_back":
            assert question.amount is not None
            assert question.amount.denominator == 1
            assert question.answer * 100 == question.amount * (100 - value)
            assert question.answer < question.amount <= case.get("order_total", 500)
            assert (question.answer * 100).denominator == 1
            assert (question.unit, question.order) == ("$", None)
        else:
            assert question.answer == value
            assert question.unit == page.unit
        assert (question.amount is None) == (question.family != "money_back")


@pytest.mark.parametrize("d", LEVELS)
def test_facts_come_from_where_they_say(d):
    for _, profile, orders, question in drawn(d):
        for fact in question.facts:
            if fact.attribute in ("tier", "region"):
                assert fact.source == "profile"
                assert fact.value == profile[fact.attribute]
            elif question.order is not None and fact.attribute in ORDER_ATTRIBUTES:
                assert fact.source == "order"
                assert fact.value == orders[question.order].values[fact.attribute]
            else:
                assert fact.source == "said"
                assert fact.value in VALUES.get(fact.attribute, DEPARTMENTS) or fact.value > 0
        assert (question.order is not None) == any(fact.source == "order" for fact in question.facts)


@pytest.mark.parametrize("d", LEVELS)
def test_shares(d):
    questions = drawn(d)
    with_bounds = at_bound = possible = of_order = 0
    for page, _, _, question in questions:
        bounds = defaultdict(set)
        for test in (test for rule in page.rules for test in rule.conditions if test.operator != "in"):
            bounds[test.attribute].add(test.values[0])
        if bounds:
            with_bounds += 1
            at_bound += any(fact.source == "said" and fact.value in bounds[fact.attribute] for fact in question.facts)
        if set(ORDER_ATTRIBUTES) & {fact.attribute for fact in question.facts}:
            possible += 1
            of_order += question.order is not None
    assert 0.2 <= at_bound / with_bounds <= 0.4
    assert 0.4 <= of_order / possible <= 0.7
    families = Counter(question.family for *_, question in questions)
    assert 0 < families["choice"] <= 0.1 * COUNT
    assert families["days_left"] >= 8
    assert families["money_back"] >= 15
    assert len({question.topic for *_, question in questions}) == len(TOPICS)


def score(constant: float, answers: list[float]) -> float:
    return sum((min(constant, answer) / max(constant, answer)) ** 4 for answer in answers) / len(answers)


@pytest.mark.parametrize("d", LEVELS)
def test_no_constant_is_near_the_answers(d):
    answers = [float(question.answer) for *_, question in drawn(d) if isinstance(question.answer, Fraction)]
    assert max(score(constant, answers) for constant in set(answers)) <= 0.35
    by_topic = defaultdict(list)
    for *_, question in drawn(d):
        if isinstance(question.answer, Fraction):
            by_topic[question.topic].append(float(question.answer))
    # Knowing the subject helps a little, and not much: few questions each, so the bound is wider.
    means = [max(score(constant, found) for constant in set(found)) for found in by_topic.values()]
    assert sum(means) / len(means) <= 0.35


@pytest.mark.parametrize("d", LEVELS)
def test_answers_seldom_stand_on_the_page_and_no_kind_of_rule_can_be_taken_for_granted(d):
    standard = plain = unexcepted = several = adjusted = 0
    for page, _, _, question in drawn(d):
        standard += question.answer == page.base
        if page.adjustments:
            case = {fact.attribute: fact.value for fact in question.facts}
            adjusted += 1
            plain += question.answer in page.numbers
            unexcepted += not any(rule.applies(case) for rule in page.exceptions)
            several += sum(rule.applies(case) for rule in page.adjustments) > 1
    assert standard <= 0.03 * COUNT
    assert bool(adjusted) == (d > 0)
    assert plain <= 0.08 * adjusted
    if adjusted:
        assert plain >= 0.02 * adjusted
        assert 0.07 <= unexcepted / adjusted <= 0.18
        assert 0.25 <= several / adjusted <= 0.75


def outcomes(page: Page) -> list[Fraction]:
    """What a page comes to where exactly one of its adjustments bites."""
    values = [page.base, *(rule.amount for rule in page.exceptions)]
    return [
        value + rule.amount
        for value in values
        for rule in page.adjustments
        if isinstance(value, Fraction) and isinstance(rule.amount, Fraction) and value + rule.amount > 0
    ]


@pytest.mark.parametrize("d", [3, 6, 12])
def test_a_guess_at_a_value_of_the_page_is_seldom_right(d):
    numbers = [(page, question.answer) for page, _, _, question in drawn(d) if page.adjustments]
    for guesses, most in ((outcomes, 0.04), (lambda page: page.numbers, 0.02)):
        chances = [guesses(page).count(answer) / len(guesses(page)) for page, answer in numbers]
        assert sum(chances) / len(chances) <= most
    for pick in (min, max, lambda found: sorted(found)[len(found) // 2]):
        assert sum(pick(page.numbers) == answer for page, answer in numbers) <= 0.04 * len(numbers)


def test_without_orders_everything_is_said_or_in_the_profile():
    for seed in range(60):
        *_, question = draw(seed, 6, with_orders=False)
        assert question.order is None
        assert {fact.source for fact in question.facts} <= {"said", "profile"}


def test_an_order_that_lacks_a_fact_is_not_used_for_it():
    stream = Stream("lacking")
    policies = Policies(("lacking",), clauses=5, d=12, departments=DEPARTMENTS)
    for _ in range(40):
        question = draw_question(policies, {"tier": "Gold", "region": "Islands"}, [OrderFacts(0, {})], stream)
        assert question.order is None


def test_the_same_episode_asks_the_same():
    assert draw(7, 9)[3] == draw(7, 9)[3]
    assert len({draw(seed, 9)[3] for seed in range(80)}) == 80


def test_wordings():
    for (topic, family), wordings in QUESTIONS.items():
        assert len(set(wordings)) >= 4
        assert family in ("choice" if TOPICS[topic].choices else "value", TOPICS[topic].family)
        # A fact in the question would be said before it is said.
        assert not any(character.isdigit() for wording in wordings for character in wording)
    for topic in TOPICS.values():
        families = ["choice" if topic.choices else "value", *([topic.family] if topic.family else [])]
        assert all((topic.name, family) in QUESTIONS for family in families)
    together = [wording for wordings in QUESTIONS.values() for wording in wordings]
    assert len(set(together)) == len(together)
    assert all(
        len(set(phrases)) >= 4 and all("{v}" in phrase for phrase in phrases) for phrases in FACT_PHRASES.values()
    )
    assert set(FACT_LABELS) == set(FACT_PHRASES)
    assert set(REASON_WORDS) == set(VALUES["reason"])


SAMPLES: dict[str, tuple[Any, ...]] = {
    **VALUES,
    "department": DEPARTMENTS,
    "order_total": (5, 50, 49.99, 49, 500, 150.5, 15),
    "amount": (5, 50, 49, 500, 15),
    "days_since_purchase": (1, 5, 15, 50, 115),
    "quantity": (1, 2, 11, 12),
    "order_id": ("o7k2m9qd", "o7k2m9qe"),
}


@pytest.mark.parametrize("attribute", SAMPLES)
def test_a_fact_is_found_in_its_clause_and_no_other(attribute):
    for number in range(12):
        for value in SAMPLES[attribute]:
            clause = fact_clause(attribute, value, Stream("clause", number))
            text = f"Hi! I'd like to know how long a gift card is valid. {clause[0].upper() + clause[1:]}, thanks."
            found = [other for other in SAMPLES[attribute] if fact_in(text, attribute, other)]
            assert found == [value], (text, found)


@pytest.mark.parametrize(
    ("text", "attribute", "value", "found"),
    [
        ("the order came to $50.", "order_total", 50, True),
        ("the order came to $50.00 in all", "order_total", 50, True),
        ("the order came to $50.50", "order_total", 50, False),
        ("the order came to $150", "order_total", 50, False),
        ("the order came to $500, I think", "order_total", 50, False),
        ("it was 115 days ago", "days_since_purchase", 15, False),
        ("I bought it 15 days ago", "days_since_purchase", 15, True),
        ("I bought it 15 days ago", "quantity", 15, False),
        ("I paid with a gift card", "payment", "card", False),
        ("I paid with a gift card", "payment", "gift card", True),
        ("how long is a gift card valid", "payment", "gift card", False),
        ("the box is unopened", "opened", "opened", False),
        ("who assembles it at my home?", "department", "Home", False),
        ("I'm a gold member", "tier", "Gold", True),
        ("it doesn’t fit", "reason", "does_not_fit", True),
        ("it arrived damaged", "reason", "arrived_late", False),
    ],
)
def test_facts_in_texts(text, attribute, value, found):
    assert fact_in(text, attribute, value) is found
