"""Openings differ, also where there is little to say; and the measure sees it when they do not."""

from __future__ import annotations

from typing import Any

import pytest

from ecomrlve.customer import openings as parts
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.values import say_money
from ecomrlve.customer.words import pick
from ecomrlve.evaluation.words import openings, skeleton, truth, variety
from ecomrlve.streams import Stream


# Where the least is said, so that the least can vary: no facts at all, or one.
@pytest.mark.parametrize(("env_id", "d"), [("E_STATUS", 12), ("E_POLICY", 8), ("E_CART", 0)])
def test_of_a_thousand_openings_few_repeat_another_but_for_the_values(words_engine: Any, env_id: str, d: int) -> None:
    found = variety(openings(words_engine, env_id, d, 1000))
    assert found.openings == 1000
    assert found.repeated <= 0.02


@pytest.mark.parametrize("env_id", ["E_PD", "E_SUB", "E_RETURN", "E_BUNDLE", "E_JOURNEY"])
def test_openings_with_more_to_say_hardly_repeat(words_engine: Any, env_id: str) -> None:
    assert variety(openings(words_engine, env_id, 8, 250)).repeated <= 0.01


def test_sameness_is_seen() -> None:
    same = variety(["i want # ."] * 100)
    assert same.repeated == pytest.approx(0.99)
    assert same.self_bleu == pytest.approx(1.0)
    other = variety([f"word{n} thing{n} part{n} piece{n} end{n}" for n in range(100)])
    assert other.repeated == 0.0
    assert other.self_bleu < 0.01
    assert other.distinct == (1.0, 1.0, 1.0)


def test_values_do_not_make_two_openings_different() -> None:
    slots = [
        Slot("type", "type", "type", "eq", "air fryer"),
        Slot("p", "constraint", "price", "le", 25, label="price", unit="$"),
        Slot("q", "quantity", "quantity", "eq", 3, item=0, item_name="the Zed Box"),
    ]
    one = skeleton("I need an air fryer under $25, three of the Zed Box by March 4, 2025.", slots)
    assert one == "I need # under #, # of # by #."
    slots[0] = Slot("type", "type", "type", "eq", "headphones")
    assert skeleton("I need headphones under 30 dollars", slots) == "I need # under # dollars"


def test_every_persona_has_words_of_its_own() -> None:
    hello = {style: {parts.greeting(style, Stream("hello", style, n)) for n in range(400)} for style in parts.GREETINGS}
    for style, own in hello.items():
        others = set().union(*(texts for other, texts in hello.items() if other not in (style, "")))
        assert len(own - others) >= (4 if style else 0), style
    closings = [
        sum(bool(parts.closing(style, "E_PD", Stream("bye", n))) for n in range(400)) for style in ("polite", "")
    ]
    assert closings[0] > closings[1] > 0


def test_a_choice_in_a_form_is_decided_also_inside_another() -> None:
    found = {pick(("[a|b[c|d]] e[| f]",), Stream("pick", n)) for n in range(200)}
    assert found == {"a e", "a e f", "bc e", "bc e f", "bd e", "bd e f"}
    assert pick(("plain",), Stream("pick")) == "plain"


def test_money_is_said_in_three_ways_and_cents_never_in_bucks() -> None:
    assert {say_money(25, Stream("money", n)) for n in range(200)} == {"$25", "25 dollars", "25 bucks"}
    assert {say_money(24.5, Stream("money", n)) for n in range(200)} == {"$24.50", "24.50 dollars"}


@pytest.mark.parametrize(
    "env_id", ["E_PD", "E_SUB", "E_CART", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE", "E_JOURNEY"]
)
def test_what_the_ledger_says_was_said_stands_in_the_text_and_nothing_unsaid_does(
    words_engine: Any, env_id: str
) -> None:
    said = withheld = 0
    for d in (0, 6, 12):
        found = truth(words_engine, env_id, d, range(20))
        assert found.wrong == []
        said, withheld = said + found.said, withheld + found.withheld
    assert said > 50
    assert withheld > 10 or env_id == "E_JOURNEY"
