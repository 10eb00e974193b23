"""What an agent's free text asks for."""

from __future__ import annotations

import pytest

from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.understanding import understand


def slot(kind: str, attribute: str, value: object, **more: object) -> Slot:
    key = str(more.pop("key", f"{kind}:{attribute}"))
    return Slot(key, kind, attribute, "eq", value, **{"label": attribute.replace("_", " "), **more})  # type: ignore[arg-type]


DISCOVERY = [
    slot("type", "type", "headphones"),
    slot("constraint", "price", 80, synonyms=("budget", "cost", "spend", "expensive", "cheap", "pay")),
    slot("constraint", "color", "black", synonyms=("colour", "shade"), choices=("black", "white", "red")),
    slot("constraint", "battery_life", 20, synonyms=("battery", "runtime")),
    slot("constraint", "ship_days", 3, label="delivery time", synonyms=("shipping", "deliver", "delivery", "arrive")),
    slot("priority", "rating", "", key="priority:1", rank=1),
]
CART = [
    slot("item", "title", "GreenLeaf Compact Charger", key="item0", item=0),
    slot("item", "title", "PixelVault Tank Top", key="item1", item=1),
    slot("variant", "connector_type", "USB-C", key="item0:variant", item=0, choices=("USB-C", "Lightning", "HDMI")),
    slot("variant", "size", "XS", key="item1:variant", item=1, choices=("XS", "S", "M")),
    slot("quantity", "quantity", 3, key="item1:quantity", item=1),
    slot("fallback", "fallback", {"do": "drop"}, key="item0:fallback", item=0),
]

QUESTIONS = [
    ("What is your budget?", {"constraint:price"}),
    ("How much would you like to spend?", {"constraint:price"}),
    ("Do you have a preferred colour in mind?", {"constraint:color"}),
    ("Any particular colors?", {"constraint:color"}),
    ("Should it be the black one?", {"constraint:color"}),
    ("would the red one do?", {"constraint:color"}),
    ("How soon does it have to arrive?", {"constraint:ship_days"}),
    ("How long should the battery last", {"constraint:battery_life"}),
    ("Please tell me the shade and your budget.", {"constraint:color", "constraint:price"}),
    ("What matters most to you?", {"priority:1"}),
    ("Is a low price or fast shipping most important?", {"priority:1"}),
    ("I need to know your budgte. Thanks!", {"constraint:price"}),
    ("What about colour? And how about battery life?", {"constraint:color", "constraint:battery_life"}),
]


@pytest.mark.parametrize(("text", "expected"), QUESTIONS)
def test_a_question_is_about_the_slots_it_names(text: str, expected: set[str]) -> None:
    assert set(understand(text, DISCOVERY).asked) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Here are three models for $79.99 in black with a battery life of 20 hours.",
        "The price of this one is 59 dollars.",
        "I found a red one that ships in 2 days.",
        "Thank you!",
        "",
    ],
)
def test_telling_is_not_asking(text: str) -> None:
    found = understand(text, DISCOVERY)
    assert not found.question
    assert not found.asked


@pytest.mark.parametrize(
    "text", ["Is there anything else I should know?", "What else?", "Any other requirements?", "Tell me more please"]
)
def test_an_open_question_is_open(text: str) -> None:
    found = understand(text, DISCOVERY)
    assert found.open
    assert not found.asked


def test_apart_from_takes_a_slot_out() -> None:
    found = understand("Apart from the colour, is there anything else?", DISCOVERY)
    assert found.open
    assert "constraint:color" not in found.asked


def test_a_question_about_nothing_here_is_about_nothing() -> None:
    found = understand("Do you need a warranty?", DISCOVERY)
    assert found.question
    assert not found.asked
    assert found.about == "warranty"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which size for the tank top?", {"item1:variant"}),
        ("How many tank tops do you need?", {"item1:quantity"}),
        ("Which connector type for the charger?", {"item0:variant"}),
        ("Which version do you want?", {"item0:variant", "item1:variant"}),
        ("Which variant, and how many of each?", {"item0:variant", "item1:variant", "item1:quantity"}),
        ("Lightning for the charger, right?", {"item0:variant"}),
        ("The charger is sold out, would an alternative do?", {"item0:fallback"}),
        ("What about the tank top?", {"item1:variant", "item1:quantity"}),
    ],
)
def test_a_sentence_that_names_an_item_asks_about_that_item(text: str, expected: set[str]) -> None:
    assert set(understand(text, CART).asked) == expected


@pytest.mark.parametrize("text", ["Is that right?", "Does this look good to you?", "Shall I go ahead?", "All correct?"])
def test_asking_for_a_confirmation_is_understood(text: str) -> None:
    assert understand(text, CART).confirm


def test_order_of_importance_is_kept() -> None:
    asked = understand("What are your battery, colour and price wishes?", DISCOVERY).asked
    assert asked == ("constraint:price", "constraint:color", "constraint:battery_life")


@pytest.mark.parametrize(("text", "expected"), [("How many of each?", ""), ("How many chargers?", "item")])
def test_a_number_is_asked_for_where_there_is_none_to_tell(text: str, expected: str) -> None:
    assert understand(text, CART).how_many == expected


def test_asking_how_many_without_a_quantity_slot_is_noticed() -> None:
    assert understand("How many do you want?", [s for s in CART if s.kind != "quantity"]).how_many == "all"


def test_a_measure_counts_no_pieces_and_a_noun_that_begins_like_a_unit_hides_no_number() -> None:
    tops = [s for s in CART if s.item == 1]
    assert understand("So that's three warm tank tops, right?", tops).claims == {"item1:quantity": True}
    assert "item1:quantity" not in understand("So the tank top is 3 kg, right?", tops).claims
