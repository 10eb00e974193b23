"""Questions about the shop's policies: what a customer wants to know, the facts of its case, and the answer.

Some facts are said, some stand in the customer's profile or in one of its orders. A question prefers cases in which
an exception and an adjustment bite: a number that simply stands on the page is seldom the answer. Now and then it
prefers that one of the two does not, so that to take them for granted is no short cut either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ecomrlve.errors import GenerationError
from ecomrlve.shop.policies import Policies
from ecomrlve.shop.policy_questions import FACT_LABELS, FACT_PHRASES, QUESTIONS, REASON_WORDS
from ecomrlve.shop.policy_rules import NUMBERS, ORDER_ATTRIBUTES, PROFILE_ATTRIBUTES, VALUES, Page, dollars
from ecomrlve.shop.policy_subjects import TOPICS
from ecomrlve.streams import Stream

__all__ = [
    "FACT_LABELS", "FACT_PHRASES", "REASON_WORDS", "Fact", "OrderFacts", "Question", "draw_question", "fact_clause",
    "fact_in",
]  # fmt: skip

CATEGORICAL_SHARE = 0.08
BOUNDARY_SHARE = 0.3
_ORDER_SHARE = 0.72  # of the questions that may use an order and are not about a boundary: about half of all
_FAMILY_SHARE = 0.65
_ROUNDS, _TRIES = 6, 8  # subjects tried, and cases of each
_MOST_ROUNDS = 60
_NAMED_SHARE = 0.65  # how often a said value is one that the page names
_NAMED_OF_STANDARDS = 0.25  # the same where no exception shall decide
_STANDARD_SHARE = 0.14  # of the questions: no exception shall decide
_PLAIN_SHARE = 0.06  # of the others, where the page has adjustments: none of them shall bite
_BEST = 3  # what `_worth` says of a case that cannot be had more cheaply
_CENTS = (0, 0, 0, 25, 49, 50, 75, 90, 99)
_CHANNELS = {"website": "on the website", "app": "in the app", "phone": "by phone"}
_AMOUNTS = (20, 500)  # dollars


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the case.

    Attributes:
        attribute: One of `policy_rules.ATTRIBUTES`.
        value: Its value; dollars for `order_total`.
        source: Where it is found: "said" by the customer, in the "profile", or in the "order".
    """

    attribute: str
    value: Any
    source: str


@dataclass(frozen=True)
class OrderFacts:
    """What a question may take from one order.

    Attributes:
        number: Its number in the history.
        values: `order_total`, `days_since_purchase`, `department`, `payment`, `channel` and `quantity`; an order that
            lacks what a page tests is not used for it.
    """

    number: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its one answer.

    Attributes:
        topic: Subject of the page that answers it.
        family: "value", "days_left", "money_back" or "choice".
        text: What the customer wants to know, as a clause without facts.
        unit: Unit of the answer, "" for a choice.
        choices: Possible answers of a "choice".
        facts: All that the answer depends on besides the page.
        answer: Exact; positive if it is a number.
        order: Number of the order that it is about, if any.
        amount: Dollars that the customer paid, for "money_back".
    """

    topic: str
    family: str
    text: str
    unit: str
    choices: tuple[str, ...]
    facts: tuple[Fact, ...]
    answer: Fraction | str
    order: int | None
    amount: Fraction | None


@dataclass(frozen=True, slots=True)
class _Aim:
    """What a question shall be like, as far as the pages and the customer's orders allow.

    Attributes:
        boundary: A number that is said is exactly a threshold.
        with_order: An order tells the facts that orders hold.
        standard: No exception decides.
        plain: No adjustment bites; an exception decides.
    """

    boundary: bool
    with_order: bool
    standard: bool
    plain: bool


def draw_question(
    policies: Policies, profile: Mapping[str, str], orders: Sequence[OrderFacts], stream: Stream
) -> Question:
    """Draw a question.

    Args:
        policies: The shop's pages.
        profile: The customer's "tier" and "region".
        orders: The customer's orders; may be empty.
        stream: All draws.

    Raises:
        GenerationError: No page has a positive answer.
    """
    categorical = stream.chance(CATEGORICAL_SHARE)
    topics = [name for name in policies.topics if bool(TOPICS[name].choices) == categorical]
    boundary, with_order = stream.chance(BOUNDARY_SHARE), stream.chance(_ORDER_SHARE)
    standard, plain = stream.chance(_STANDARD_SHARE), stream.chance(_PLAIN_SHARE)
    aim = _Aim(boundary, with_order, standard, plain and not standard)
    best: Question | None = None
    most = -1
    for attempt in range(_MOST_ROUNDS):
        if best is not None and attempt >= _ROUNDS:
            break
        page = policies.page(stream.choice(topics))
        kind = TOPICS[page.topic].family
        special = kind if kind and stream.chance(_FAMILY_SHARE) else ""
        for _ in range(_TRIES):
            question = _draw_case(policies, page, special, profile, orders, stream, aim)
            worth = -1 if question is None else _worth(page, question, aim)
            if worth > most:
                best, most = question, worth
            if most == _BEST:
                break
        if most == _BEST:
            break
    if best is None:
        raise GenerationError("no page of the shop's policies has a positive answer for this customer")
    return best


def _worth(page: Page, question: Question, aim: _Aim) -> int:
    """How far a question is from being answered without working it out, and how near to its aim: 0 to `_BEST`."""
    answer, base = question.answer, page.base
    case = {fact.attribute: fact.value for fact in question.facts}
    excepted = any(rule.applies(case) for rule in page.exceptions)
    if isinstance(answer, str) or isinstance(base, str):
        return _BEST if excepted != aim.standard else 0
    adjusted = any(rule.applies(case) for rule in page.adjustments)
    if page.adjustments:
        if not adjusted and not excepted:
            return 0
        if adjusted == aim.plain or (adjusted and answer in page.numbers):
            return 1
        if aim.standard:
            return 2 if excepted else _BEST
        if not excepted:
            return 1
    near = any(2 * base <= 3 * got <= Fraction(9, 2) * base for got in (answer, Fraction(page.value(case))))
    if near:
        return 2 if adjusted else 0
    return _BEST


def _draw_case(
    policies: Policies,
    page: Page,
    special: str,
    profile: Mapping[str, str],
    orders: Sequence[OrderFacts],
    stream: Stream,
    aim: _Aim,
) -> Question | None:
    """One case for a page, or None where it has no positive answer."""
    bounds = _bounds(page)
    of_orders = [attribute for attribute in page.attributes if attribute in ORDER_ATTRIBUTES]
    if special == "days_left":
        of_orders.append("days_since_purchase")
    order: OrderFacts | None = None
    # The amount that a customer names need not be found in an order, so the two do not meet in one question.
    if aim.with_order and of_orders and special != "money_back" and not (aim.boundary and bounds):
        known = [order for order in orders if all(attribute in order.values for attribute in of_orders)]
        order = stream.choice(known) if known else None
    exact = stream.choice(sorted(bounds)) if aim.boundary and bounds else ""
    named = _NAMED_OF_STANDARDS if aim.standard else _NAMED_SHARE
    facts = []
    for attribute in page.attributes:
        if attribute in PROFILE_ATTRIBUTES:
            facts.append(Fact(attribute, profile[attribute], "profile"))
        elif order is not None and attribute in of_orders:
            facts.append(Fact(attribute, order.values[attribute], "order"))
        else:
            value = _said(policies, page, attribute, attribute == exact, named, stream)
            facts.append(Fact(attribute, value, "said"))
    answer = page.value({fact.attribute: fact.value for fact in facts})
    amount: Fraction | None = None
    unit = page.unit
    if isinstance(answer, Fraction):
        if special == "days_left" and answer > 1:
            if order is None:
                facts.append(Fact("days_since_purchase", 1 + stream.integer(int(answer) - 1), "said"))
            else:
                facts.append(Fact("days_since_purchase", order.values["days_since_purchase"], "order"))
            answer -= facts[-1].value
        elif special == "money_back" and answer > 0:
            total = next((fact.value for fact in facts if fact.attribute == "order_total"), None)
            amount = _draw_amount(total, stream)
            answer = amount * (100 - answer) / 100
            unit = "$"
        elif special:
            return None
        if answer <= 0:
            return None
    family = special or ("choice" if page.choices else "value")
    text = stream.choice(QUESTIONS[page.topic, family])
    number = None if order is None else order.number
    return Question(page.topic, family, text, unit, page.choices, tuple(facts), answer, number, amount)


def _bounds(page: Page) -> dict[str, list[int]]:
    """Attribute → the thresholds that the page's rules test it against."""
    found: dict[str, list[int]] = {}
    for rule in page.rules:
        for condition in rule.conditions:
            if condition.operator != "in":
                found.setdefault(condition.attribute, []).append(condition.values[0])
    return found


def _said(policies: Policies, page: Page, attribute: str, exact: bool, share: float, stream: Stream) -> Any:
    """A value that the customer says: one that the page names in the given share of the draws, or any."""
    if attribute in NUMBERS:
        bound = stream.choice(_bounds(page)[attribute])
        if exact:
            return bound
        # From two fifths of the threshold to twice as much, but not the threshold itself.
        value = max(1, bound * (40 + stream.integer(161)) // 100)
        value += value == bound
        if attribute == "order_total":
            return (value * 100 + stream.choice(_CENTS)) / 100
        return value
    named = [
        value
        for rule in page.rules
        for condition in rule.conditions
        if condition.attribute == attribute
        for value in condition.values
    ]
    return stream.choice(named if stream.chance(share) else VALUES.get(attribute, policies.departments))


def _draw_amount(total: Any, stream: Stream) -> Fraction:
    """Whole dollars, even on a logarithmic scale, and not more than the order's total."""
    least, most = _AMOUNTS
    if total is not None:
        most = max(1, int(total))
        least = max(1, most // 8)
    return Fraction(max(least, min(most, round(least * (most / least) ** stream.uniform()))))


def fact_value(attribute: str, value: Any) -> str:
    """A value as customers write it: "$50", "15 days", "3 units", "on the website"."""
    if attribute in ("order_total", "amount"):
        return dollars(value)
    if attribute == "days_since_purchase":
        return f"{value} day{'' if value == 1 else 's'}"
    if attribute == "quantity":
        return f"{value} unit{'' if value == 1 else 's'}"
    if attribute == "channel":
        return _CHANNELS[value]
    return str(value)


def fact_clause(attribute: str, value: Any, stream: Stream) -> str:
    """A fact as a clause of the customer's: "I bought it 15 days ago".

    Args:
        attribute: Also "order_id" and "amount".
        value: Its value; stands in the clause word by word, but for reasons, which have wordings of their own.
        stream: Chooses among the wordings.
    """
    text = stream.choice(REASON_WORDS[value]) if attribute == "reason" else fact_value(attribute, value)
    clause = stream.choice(FACT_PHRASES[attribute]).format(v=text)
    return clause.replace("have passed", "has passed") if text == "1 day" else clause


# What has to stand near a value that also occurs in other senses; "{v}" is the value.
_NEAR = {
    "tier": r"(?:member\w*|level|tier|account)\W(?:[^.!?]*\W)?{v}|{v}\W+(?:member\w*|level|tier|customer|account)",
    "region": r"{v}",
    "department": r"(?:from|department|section|category|in)\W+(?:the\W+|your\W+|department\W+)*{v}"
    r"|{v}\W+(?:department|section|category|item|product)",
    "payment": r"(?:pa(?:y|id|ying)|payment)\W(?:[^.!?;]*?\W)?(?<!gift ){v}",
    "channel": r"{v}",
    "opened": r"{v}",
    "order_id": r"{v}",
}


def fact_in(text: str, attribute: str, value: Any) -> bool:
    """Whether a text without slips of the keys says a fact. Another value, also a longer number, is not taken for it.

    Args:
        text: What was said.
        attribute: Also "order_id" and "amount".
        value: The fact's value.
    """
    if attribute == "reason":
        folded = text.lower().replace("’", "'")
        return any(phrase.lower() in folded for phrase in REASON_WORDS[value])
    words = re.escape(fact_value(attribute, value)).replace(r"\ ", r"\s+")
    if attribute in ("order_total", "amount"):
        cents = r"(?:\.00)?" if "." not in fact_value(attribute, value) else ""
        pattern = rf"(?<![\w.,$]){words}{cents}(?![\d%]|[.,]\d)"
    elif attribute in ("days_since_purchase", "quantity"):
        pattern = rf"(?<![\w.,$]){words}(?!\w)"
    else:
        pattern = _NEAR[attribute].replace("{v}", rf"(?<!\w){words}(?!\w)")
    return re.search(pattern, text, re.IGNORECASE) is not None
