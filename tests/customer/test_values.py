"""In whatever way a value is said, the checker finds it in the sentence, and finds no other value there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.customer.items import thing
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import mentions
from ecomrlve.customer.phrases import mod, need, short
from ecomrlve.customer.values import (
    NUMBER_WORDS,
    WEEKS,
    count_word,
    say_amount,
    say_count,
    say_days,
    say_money,
    unit_words,
)
from ecomrlve.streams import Stream

OPERATORS = ("le", "ge", "eq")
SHAPES = (need, mod, short)
STREAMS = 200
# Attribute → label, unit. The name of the item holds no number, which could pass for its quantity.
MEASURES = {
    "price": ("price", "$"),
    "ship_days": ("delivery time", "days"),
    "battery_life": ("battery life", "hours"),
    "weight": ("weight", "kg"),
}
NAME = "PixelVault Tank Top"

many = settings(max_examples=400)
seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)
operators = st.sampled_from(OPERATORS)
prices = st.one_of(st.integers(2, 5000), st.integers(101, 99999).map(lambda cents: cents / 100))
weights = st.one_of(st.integers(1, 90), st.integers(1, 400).map(lambda tenths: tenths / 10))


def measure(attribute: str, operator: str, value: float) -> Slot:
    label, unit = MEASURES[attribute]
    return Slot(f"constraint:{attribute}", "constraint", attribute, operator, value, label=label, unit=unit)


def quantity(value: int) -> Slot:
    return Slot("item0:quantity", "quantity", "quantity", "eq", value, item=0, item_name=NAME)


def check(attribute: str, operator: str, value: float, shape: Callable[..., str], seed: int) -> None:
    text = shape(measure(attribute, operator, value), Stream("test", seed))
    assert mentions(text, measure(attribute, operator, value)), text
    assert not mentions(text, measure(attribute, operator, value + 1)), text


@many
@given(prices, operators, shapes, seeds)
def test_a_price_is_found_however_it_is_said(value: float, operator: str, shape: Callable[..., str], seed: int) -> None:
    check("price", operator, value, shape, seed)


@many
@given(st.integers(1, 21), operators, shapes, seeds)
def test_a_delivery_time_is_found_however_it_is_said(
    value: int, operator: str, shape: Callable[..., str], seed: int
) -> None:
    check("ship_days", operator, value, shape, seed)


@many
@given(st.integers(1, 200), operators, shapes, seeds)
def test_hours_are_found_however_they_are_said(value: int, operator: str, shape: Callable[..., str], seed: int) -> None:
    check("battery_life", operator, value, shape, seed)


@many
@given(weights, operators, shapes, seeds)
def test_a_weight_is_found_however_it_is_said(
    value: float, operator: str, shape: Callable[..., str], seed: int
) -> None:
    check("weight", operator, value, shape, seed)


@many
@given(st.integers(2, 60), seeds)
def test_a_quantity_is_found_however_it_is_said(value: int, seed: int) -> None:
    text = thing(f"the {NAME}", [quantity(value)], Stream("test", seed))
    assert mentions(text, quantity(value)), text
    assert not mentions(text, quantity(value + 1)), text


@pytest.mark.parametrize("attribute", MEASURES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_values_with_words_of_their_own_are_found_in_every_shape(attribute: str, operator: str) -> None:
    for value in (7, 14, *((1,) if attribute != "price" else ())):
        for shape in SHAPES:
            for seed in range(60):
                check(attribute, operator, value, shape, seed)


def test_money_is_said_in_all_of_its_ways() -> None:
    ways = {say_money(25, Stream("test", seed)) for seed in range(STREAMS)}
    assert ways == {"$25", "25 dollars", "25 bucks"}
    # Nobody says cents in bucks.
    assert {say_money(24.5, Stream("test", seed)) for seed in range(STREAMS)} == {"$24.50", "24.50 dollars"}
    assert {say_amount(25, "$", Stream("test", seed)) for seed in range(STREAMS)} == ways


@pytest.mark.parametrize(("days", "words"), sorted(WEEKS.items()))
def test_a_week_is_said_as_such_and_in_days(days: int, words: str) -> None:
    assert {say_days(days, Stream("test", seed)) for seed in range(STREAMS)} == {words, f"{days} days"}
    assert {say_days(days + 1, Stream("test", seed)) for seed in range(STREAMS)} == {f"{days + 1} days"}
    # Seven hours are no week.
    assert words not in {say_amount(days, "hours", Stream("test", seed)) for seed in range(STREAMS)}


@pytest.mark.parametrize(("value", "unit"), [(20, "hours"), (1, "hours"), (3, "kg"), (1, "kg"), (80, "%"), (2.5, "L")])
def test_a_unit_is_said_in_all_of_its_spellings_and_in_no_other(value: float, unit: str) -> None:
    ways = {say_amount(value, unit, Stream("test", seed)) for seed in range(STREAMS)}
    said = {way.removeprefix(str(value)).strip() for way in ways}
    assert len(said) > 1
    assert said <= set(unit_words(unit))
    assert all(way.startswith(str(value)) for way in ways)


def test_a_count_is_said_in_digits_and_in_words() -> None:
    for value in range(1, len(NUMBER_WORDS)):
        ways = {say_count(value, Stream("test", seed)) for seed in range(STREAMS)}
        assert ways == {str(value), NUMBER_WORDS[value]}
    assert {say_count(12, Stream("test", seed)) for seed in range(STREAMS)} == {"12"}
    assert (count_word(0), count_word(10), count_word(11)) == ("0", "ten", "11")


def test_the_ways_are_used_in_sentences() -> None:
    def texts(slot: Slot) -> str:
        return " | ".join(need(slot, Stream("test", seed)) for seed in range(STREAMS))

    price, days = texts(measure("price", "le", 25)), texts(measure("ship_days", "le", 7))
    hours, weight = texts(measure("battery_life", "ge", 20)), texts(measure("weight", "le", 3))
    assert all(way in price for way in ("$25", "25 dollars", "25 bucks"))
    assert all(way in days for way in ("a week", "7 days"))
    assert all(way in hours for way in ("20 hours", "20 hrs"))
    assert all(way in weight for way in ("3 kg", "3 kilos", "3 kilograms"))
    things = {thing(f"the {NAME}", [quantity(3)], Stream("test", seed)) for seed in range(STREAMS)}
    assert things >= {f"3 of the {NAME}", f"three of the {NAME}", f"3x the {NAME}"}
