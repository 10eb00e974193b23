"""The reader of help pages: pages written by hand, pages it must refuse, and the shop's own against the shop."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from ecomrlve.agents.policy_reader import PolicyPage, UnreadablePage, answer_question, read_page
from ecomrlve.streams import Stream

LISTED_FIRST = "Where more than one exception applies, go by the one listed first."
LISTED_LAST = "Where more than one exception applies, go by the one listed last."
PAYMENTS = ("card", "gift card", "bank transfer", "installments", "store credit")
ALL_MADE = "Then the value found above changes by each of these that applies:"


def page_of(
    *bullets: str, standard: str = "Normally the delivery fee is $10.", prose: str = LISTED_FIRST
) -> PolicyPage:
    """A page with one standard, some bullets, and what is said after them."""
    lines = ["Delivery", "This page is about the delivery fee. We charge it once per order.", standard]
    return read_page("\n".join([*lines, *(f"- {bullet}" for bullet in bullets), prose, "Thank you for shopping here."]))


def applies(condition: str, **case: Any) -> bool:
    """Whether a condition holds for a case, seen by the value it makes."""
    first, last = (
        page_of(f"If {condition}, the delivery fee is $77."),
        page_of(f"The delivery fee is $77 if {condition}."),
    )
    assert first.value(case) == last.value(case), "both orders of condition and effect say the same"
    return first.value(case) == 77


@pytest.mark.parametrize(
    ("words", "below", "at", "above"),
    [
        ("$50 or more", False, True, True),
        ("at least $50", False, True, True),
        ("more than $50", False, False, True),
        ("over $50", False, False, True),
        ("$50 or less", True, True, False),
        ("at most $50", True, True, False),
        ("less than $50", True, False, False),
        ("under $50", True, False, False),
        ("below $50", True, False, False),
        ("up to $50", True, True, False),
    ],
)
@pytest.mark.parametrize("frame", ["the order comes to {}", "the order total is {}", "the whole order costs {}"])
def test_a_threshold_counts_itself_in_or_out(frame: str, words: str, below: bool, at: bool, above: bool) -> None:
    totals = (49.99, 50.0, 50.01)
    assert tuple(applies(frame.format(words), order_total=total) for total in totals) == (below, at, above)


def test_thresholds_are_exact_where_floats_are_not() -> None:
    assert applies("the order is worth at least $14.10", order_total=14.1)
    assert not applies("the order is worth more than $1,000.30", order_total=1000.3)
    assert applies("the order is worth more than $1,000.30", order_total=1000.31)


def test_units_and_days() -> None:
    for condition in ("the order holds 3 units or more in all", "the order is for over 2 units"):
        assert [applies(condition, quantity=quantity) for quantity in (1, 2, 3)] == [False, False, True]
    for condition in (
        "more than 15 days have passed since the purchase",
        "it has been over 15 days since the purchase",
        "the time since the purchase is more than 15 days",
        "at least 16 days have gone by since the purchase",
    ):
        assert [applies(condition, days_since_purchase=days) for days in (14, 15, 16)] == [False, False, True]


@pytest.mark.parametrize(
    ("condition", "attribute", "fits", "others"),
    [
        ("you are a Gold or Silver member", "tier", "Gold Silver", "Basic Platinum"),
        ("the account has the membership level Basic", "tier", "Basic", "Gold Silver Platinum"),
        ("your home region is Islands or Overseas", "region", "Islands Overseas", "Mainland Highlands"),
        ("the customer lives in the region Highlands", "region", "Highlands", "Mainland"),
        ("you ordered in the app or by phone", "channel", "app phone", "website"),
        ("the purchase was made on the website", "channel", "website", "app phone"),
        ("the item is unopened", "opened", "unopened", "opened"),
        ("the box has been opened", "opened", "opened", "unopened"),
        ("the item arrived damaged or the wrong item was delivered", "reason", "damaged wrong_item", "does_not_fit"),
        ("the item does not match its description", "reason", "not_as_described", "wrong_item arrived_late"),
        (
            "you have changed your mind or the item turns out not to fit",
            "reason",
            "changed_mind does_not_fit",
            "damaged",
        ),
        ("the item arrived too late", "reason", "arrived_late", "damaged"),
    ],
)
def test_values_of_a_case(condition: str, attribute: str, fits: str, others: str) -> None:
    assert all(applies(condition, **{attribute: value}) for value in fits.split())
    assert not any(applies(condition, **{attribute: value}) for value in others.split())


def test_a_gift_card_is_no_card_and_an_and_may_belong_to_a_name() -> None:
    assert applies("you paid by card", payment="card")
    assert not applies("you paid by card", payment="gift card")
    assert not applies("the payment method is gift card or bank transfer", payment="card")
    both = "the item belongs to the department Bags and Accessories or Home"
    both += " and you paid by card, gift card or store credit"
    assert applies(both, department="Bags and Accessories", payment="store credit")
    assert applies(both, department="Home", payment="card")
    assert not applies(both, department="Bags", payment="card")
    assert not applies(both, department="Home", payment="installments")


def test_two_conditions_must_both_hold() -> None:
    both = "you are a Gold member and the order comes to $20 or more"
    cases = [("Gold", 20), ("Gold", 19.99), ("Basic", 20)]
    assert [applies(both, tier=tier, order_total=total) for tier, total in cases] == [True, False, False]


TWO = (
    "If you ordered by phone, the delivery fee is $8 instead.",
    "Where you are a Gold member, the delivery fee is $3.50.",
)
PHONE_GOLD = {"channel": "phone", "tier": "Gold"}


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        (LISTED_FIRST, "8"),
        ("Read the list from the top: the first exception that applies decides alone.", "8"),
        (LISTED_LAST, "3.50"),
        ("Of several exceptions that apply, the one nearest to the end of the list decides.", "3.50"),
        ("Several exceptions apply? Then the one with the highest value counts, in your favor.", "8"),
        ("If several of these exceptions apply, the best for the customer counts: the lowest value.", "3.50"),
    ],
)
def test_which_of_two_exceptions_decides(sentence: str, value: str) -> None:
    for bullets in (TWO, TWO[::-1]):
        page = page_of(*bullets, prose=sentence)
        turned = page.precedence in ("first", "last") and bullets != TWO
        assert page.value(PHONE_GOLD) == Fraction({"8": "3.50", "3.50": "8"}[value] if turned else value)
        assert page.value({"channel": "app", "tier": "Gold"}) == Fraction("3.50")
        assert page.value({"channel": "app", "tier": "Basic"}) == 10
    assert page.attributes == ("tier", "channel")


CHANGES = (
    "If you are a Gold member, subtract $9.",
    "The delivery fee goes up by $0.25 if you ordered by phone.",
    "Where the department is Toys, $2 must be subtracted.",
    "Where the department is Toys, the delivery fee falls by $1,000.",
)


def test_adjustments_add_up_and_stop_at_zero_only_where_the_page_says_so() -> None:
    case = {"tier": "Gold", "channel": "phone", "department": "Home"}
    open_ended, floored = (
        page_of(*CHANGES, prose=f"{ALL_MADE}{more}") for more in ("", "\nThe result is never below zero.")
    )
    assert open_ended.value(case) == floored.value(case) == Fraction("1.25")
    toys = {**case, "department": "Toys"}
    assert (open_ended.value(toys), floored.value(toys)) == (Fraction("-1000.75"), 0)


RETURNS = """Returns
You asked us about the return period, so here is how it works. It says within how many days you can send an item back.
As a rule, the return period is 30 days.

Exceptions
1. No return is possible where the item has been opened (0 days).
2. If the customer is a Platinum member, the return period is 0 days.
{precedence}

Adjustments
After that, all of the following that apply are added up with the value found above:
- Whenever you paid by card, add 5 days.
{guard}
"""


def test_what_is_ruled_out_stays_so_where_the_page_says_so() -> None:
    guard = "What cannot be returned stays so: the adjustments below do not change it."
    case = {"opened": "opened", "tier": "Basic", "payment": "card"}
    guarded = read_page(RETURNS.format(precedence=LISTED_LAST, guard=guard))
    assert read_page(RETURNS.format(precedence=LISTED_LAST, guard="")).value(case) == 5
    assert guarded.value(case) == 0
    # A zero that rules nothing out, and the later exception decides: adjusted like any other value.
    assert guarded.value({**case, "tier": "Platinum"}) == 5
    assert guarded.value({**case, "opened": "unopened"}) == 35


def test_choices() -> None:
    page = read_page(
        "Our carriers\nWhat is the carrier?\nThe possible answers are: Tern Express, Northway Post, Bluecrate.\n"
        "The standard: the carrier is Bluecrate.\n- The carrier is Tern Express if you paid by gift card."
    )
    assert (page.unit, page.choices) == ("", ("Tern Express", "Northway Post", "Bluecrate"))
    assert [page.value({"payment": payment}) for payment in ("gift card", "card")] == ["Tern Express", "Bluecrate"]
    assert answer_question(page, "which carrier brings my order", {"payment": "card"}, None) == "Bluecrate"


def test_a_missing_fact_is_named_even_where_another_decides() -> None:
    with pytest.raises(KeyError, match="tier"):
        page_of(*TWO).value({"channel": "phone"})


@pytest.mark.parametrize(
    ("standard", "value", "unit"),
    [
        ("the points rate is 1 point per dollar", "1", "points"),
        ("the restocking fee is 12.5%", "12.5", "%"),
        ("the time a gift card is valid is 1,024 months", "1024", "months"),
        ("the cancellation period is 7 hours", "7", "hours"),
        ("the gift's minimum is $1,234.50", "1234.50", "$"),
    ],
)
def test_numbers_are_exact(standard: str, value: str, unit: str) -> None:
    page = read_page(f"A page\nUnless something else is said below, {standard}.")
    assert (page.value({}), page.unit) == (Fraction(value), unit)


@pytest.mark.parametrize(
    "bullet",
    [
        "If you are a Diamond member, the delivery fee is $5.",  # no such tier
        "If you are not a Gold member, the delivery fee is $5.",
        "Unless you are a Gold member, the delivery fee is $5.",
        "If you paid by card, the delivery fee is 5 days.",  # another unit
        "If you paid by card, the delivery fee is halved.",
        "If you paid by card, the delivery fee is $5 or $6.",
        "If you paid by card, the return fee is $5.",  # another topic
        "If you paid by card, the delivery fee is $5. Not in the app.",
        "If you paid by card, the delivery fee is $5 (0 days).",
        "If you paid by card, the delivery fee is $1,00.",
        "If the order comes to $20, the delivery fee is $5.",  # no side of the threshold
        "If the order comes to more than $20 or less, the delivery fee is $5.",
        "If the order comes to more than 20 units, the delivery fee is $5.",
        "If the order is for at least $20 in all, the delivery fee is $5.",
        "If the item arrived damaged or you paid by card, the delivery fee is $5.",
        "If the item arrived late or the item does not fit and you paid by card, the delivery fee is $5.",
        "If you paid by card or you ordered by phone, the delivery fee is $5.",
        "The delivery fee is $5.",  # an exception to everything
        "Members like this shop.",
    ],
)
def test_a_bullet_that_is_not_understood_is_refused(bullet: str) -> None:
    with pytest.raises(UnreadablePage) as refusal:
        page_of(bullet)
    assert bullet in str(refusal.value)


@pytest.mark.parametrize(
    "sentence",
    [
        "Gold members pay nothing.",
        "In the app it costs $3.",
        "Delivery is free on Sundays.",
        "If in doubt, ask us.",
        "The delivery fee is a matter of taste.",
        "The delivery fee is $11.",  # a second standard value
        "Where more than one exception applies, the first or the last counts.",
        "Where more than one exception applies, do not go by the one listed last.",
        "Of several exceptions that apply, the one you like best counts.",
        "Where more than one exception applies, go by the one listed last.",  # after "listed first"
        "Only the first of the adjustments is made.",
        "Adjustments are made also where the item cannot be returned.",
        "A result below zero is paid out to you.",
        "The result is never below zero, and in the app it is $1 less.",
        "Of several exceptions that apply, the first decides, but the last one on the website.",
    ],
)
def test_prose_that_states_something_and_is_not_understood_is_refused(sentence: str) -> None:
    with pytest.raises(UnreadablePage) as refusal:
        page_of(*TWO, prose=f"{LISTED_FIRST}\n{sentence}")
    assert sentence in str(refusal.value)


def test_pages_that_leave_something_open_are_refused() -> None:
    with pytest.raises(UnreadablePage, match="which of its exceptions"):
        page_of(*TWO, prose="")
    with pytest.raises(UnreadablePage, match="all of its adjustments"):
        page_of(*CHANGES, prose="")
    with pytest.raises(UnreadablePage, match="no standard"):
        page_of(standard="")
    with pytest.raises(UnreadablePage, match="among the adjustments"):
        read_page(f"Fee\nNormally the fee is $5.\n{ALL_MADE}\n- The fee is $4 if you paid by card.")
    with pytest.raises(UnreadablePage, match="no number"):
        read_page(
            "Carrier\nThese are the options: Swiftline, Bluecrate.\nNormally the carrier is Bluecrate.\n"
            "Of several exceptions that apply, the highest value decides."
        )


def test_sentences_that_state_nothing_are_passed_over() -> None:
    prose = f"{LISTED_FIRST}\n\nWe are glad that you are here! Nothing but this page decides; please keep it at hand."
    assert page_of(*TWO, prose=prose) == page_of(*TWO)


def test_the_family_of_a_question_is_told_from_its_words() -> None:
    fee = read_page("Fee\nNormally the restocking fee is 15%.")
    assert answer_question(
        fee, "what I'd get back in dollars, less the restocking fee", {}, Fraction("9.99")
    ) == Fraction("8.4915")
    assert answer_question(fee, "what restocking fee I'd be charged, in percent of the price", {}, None) == 15
    with pytest.raises(ValueError, match="without an amount"):
        answer_question(fee, "how much money I get back once the restocking fee is taken off", {}, None)
    period = read_page("Exchanges\nNormally the exchange period is 40 days.")
    for question in ("how many more days I can exchange it", "how many days I still have for an exchange"):
        assert answer_question(period, question, {"days_since_purchase": 33}, None) == 7
    for question in ("how many days you allow for an exchange", "how long the exchange period is, in days"):
        assert answer_question(period, question, {"days_since_purchase": 33}, None) == 40


@pytest.mark.parametrize("d", [0, 3, 6, 9, 12])
def test_reader_and_shop_agree_on_every_question(d: int, catalog: Any) -> None:
    from ecomrlve.shop.policies import Policies
    from ecomrlve.shop.questions import OrderFacts, draw_question
    from ecomrlve.shop.world import departments_of

    departments = departments_of(catalog)
    families: Counter[str] = Counter()
    for number in range(200):
        policies = Policies(("second opinion", number, d), clauses=1 + d // 3, d=d, departments=departments)
        for question_number in range(10):
            stream = Stream("second opinion", number, d, question_number)
            profile = {
                "tier": stream.choice(("Basic", "Silver", "Gold", "Platinum")),
                "region": stream.choice(("Mainland", "Islands", "Highlands", "Overseas")),
            }
            orders = [
                OrderFacts(
                    key,
                    {
                        "order_total": round(stream.integer(40000) / 100 + 5, 2),
                        "days_since_purchase": stream.integer(200),
                        "payment": stream.choice(
                            ("card", "gift card", "bank transfer", "installments", "store credit")
                        ),
                        "channel": stream.choice(("website", "app", "phone")),
                        "quantity": 1 + stream.integer(9),
                    },
                )
                for key in range(5)
            ]
            question = draw_question(policies, profile, orders, stream)
            text = policies.page(question.topic).text
            facts = {fact.attribute: fact.value for fact in question.facts}
            amount = None if question.amount is None else Fraction(str(question.amount))
            answer = answer_question(read_page(text), question.text, facts, amount)
            expected = question.answer if isinstance(question.answer, str) else Fraction(str(question.answer))
            assert answer == expected, f"{question.text}\n{facts}\n{text}"
            families[question.family] += 1
    assert set(families) == {"value", "days_left", "money_back", "choice"}
