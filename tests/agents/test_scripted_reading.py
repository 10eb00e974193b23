"""How the scripted agent reads: numbers with their bounds, mistyped words, wishes, names, and what it is all about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.scripted.naming import closest, mentions, things, types_named
from ecomrlve.agents.scripted.reading import COMMON, NUMBER_WORDS, Speller, amounts, normal_name, says_nothing_else
from ecomrlve.agents.scripted.shelf import Shelf, alike, naming
from ecomrlve.agents.scripted.subjects import kind_of
from ecomrlve.agents.scripted.wishes import Wishes

NUMBERS = st.integers(0, 99_999) | st.decimals("0.01", "9999.99", places=2)
UPPER = (
    "at most {}",
    "no more than {}",
    "up to {}",
    "{} or less",
    "{} at most",
    "a maximum of {}",
    "{} tops",
    "under {}",
)
LOWER = ("at least {}", "no less than {}", "{} or more", "{} at least", "a minimum of {}", "more than {}", "{} and up")
TURNED = {"le": ("not more than {}", "I don't want it to cost more than {}"), "ge": ("I won't take less than {}",)}
BOUNDS = [*((form, "le") for form in (*UPPER, *TURNED["le"])), *((form, "ge") for form in (*LOWER, *TURNED["ge"]))]

LAMPS: list[dict[str, Any]] = [
    {"id": "p1", "title": "Lumo Lamp, Arc", "type": "floor lamp", "brand": "Lumo Field", "price": 80.0, "rating": 4.5,
     "ship_days": 2, "stock": 3,
     "attributes": {"height": 150, "shade_material": "linen", "color": "black", "bulb_included": "yes"}},
    {"id": "p2", "title": "Halden Lamp", "type": "floor lamp", "brand": "Halden Craft", "price": 40.0, "rating": 3.9,
     "ship_days": 7, "stock": 9,
     "attributes": {"height": 180, "shade_material": "metal", "color": "warm white", "bulb_included": "no"}},
]  # fmt: skip


def read(text: str) -> list[tuple[float, str, str]]:
    return [(one.number, one.operator, one.unit) for one in amounts(Speller().normal(text))]


def wishes(*texts: str) -> Wishes:
    speller, heard = Speller(), Wishes()
    speller.learn_of(LAMPS)
    for text in texts:
        heard.hear(speller.normal(text), Shelf(LAMPS), ("floor lamp",))
    return heard


def rules(*texts: str) -> dict[str, tuple[str, Any]]:
    return {name: (rule.operator, rule.value) for name, rule in wishes(*texts).rules.items()}


# --- numbers ---------------------------------------------------------------------------------------------------------


@given(NUMBERS, st.sampled_from(BOUNDS))
def test_bounds_are_read_on_whichever_side_they_stand(number: Any, bound: tuple[str, str]):
    form, operator = bound
    assert read(f"Please, {form.format(f'{number} cm')}.") == [(float(number), operator, "cm")]


@given(NUMBERS, st.sampled_from(("${}", "{} dollars", "{} bucks")), st.sampled_from(BOUNDS))
def test_money_is_read_in_all_its_forms(number: Any, money: str, bound: tuple[str, str]):
    form, operator = bound
    assert read(form.format(money.format(number))) == [(float(number), operator, "$")]


@given(st.lists(st.tuples(NUMBERS, st.sampled_from(BOUNDS)), min_size=1, max_size=4))
def test_several_numbers_keep_their_own_bounds(parts: list[tuple[Any, tuple[str, str]]]):
    text = ", and ".join(form.format(f"{number} kg") for number, (form, _) in parts)
    assert read(text) == [(float(number), operator, "kg") for number, (_, operator) in parts]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str):
    normal = Speller().normal(text)
    assert all(normal[one.start : one.end].strip() for one in amounts(normal))
    heard = Wishes()
    heard.hear(normal, Shelf(LAMPS))
    assert heard.fitting(LAMPS)
    assert "" not in things(text)


def test_weeks_are_days_and_thousands_have_commas():
    assert read("delivered within a week") == [(7.0, "le", "days")]
    assert read("within two weeks, for $1,250.50") == [(14.0, "le", "days"), (1250.5, "eq", "$")]


# --- words -----------------------------------------------------------------------------------------------------------


@given(st.sampled_from([word for word in COMMON if len(word) >= 8]), st.data())
def test_one_slip_in_a_long_word_is_put_right(word: str, data: Any):
    place = data.draw(st.integers(1, len(word) - 2))
    slip = data.draw(st.sampled_from(("drop", "double", "swap")))
    typed = {
        "drop": word[:place] + word[place + 1 :],
        "double": word[:place] + word[place] + word[place:],
        "swap": word[:place] + word[place + 1] + word[place] + word[place + 2 :],
    }[slip]
    corrected = Speller().normal(typed).split()[0]
    # Another word may be as near, or the slip may make one: "received" without its d is another word's beginning.
    assert corrected == word or corrected in COMMON


@given(st.sampled_from([*COMMON, "usb", "4k", "$5"]))
def test_words_that_are_known_or_short_stay(word: str):
    assert Speller().normal(word) == f" {' '.join(normal_name(word).split())} . "


def test_names_that_were_seen_are_recognised_and_others_left_alone():
    speller = Speller()
    assert "papergrove" not in speller.normal("by Papergorve")
    speller.learn(["Papergrove"])
    assert speller.normal("by Papergorve, pls w/o a clip-on") == " by papergrove , please without a clip on . "
    assert speller.normal("zzyzx") == " zzyzx . "


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("charging", "charge", True), ("ports", "port", True), ("drinking", "drink", True), ("water", "waterproof", False),
     ("brew", "break", False), ("color", "cover", False)],
)  # fmt: skip
def test_forms_of_a_word_are_alike(one: str, other: str, same: bool):
    assert alike(one, other) is same


def test_how_much_of_an_attributes_name_is_said():
    assert naming("charging_connector", ["the", "connector"]) == 0.5
    assert naming("watch_shape", ["watch", "shapes"]) == 1
    assert naming("kite_kind", ["kite"]) == 1  # "kind" tells it from nothing


@pytest.mark.parametrize(
    "text", ["No, that's everything.", "Nothing more from me.", "That was it, nothing more.",
             "I thnik you know everyhting now.", "Sure. In blue. Nothing else comes to mind.",
             "Perfect, the cart is just right now."],
)  # fmt: skip
def test_it_hears_that_all_is_told(text: str):
    assert says_nothing_else(Speller().normal(text))


@pytest.mark.parametrize(
    "text", ["In blue, please.", "I stick to Lumo, so please nothing else.", "Nothing below 4 stars.",
             "$90 is the most I can spend on everything.", "Wait, one more thing: a height of 150 cm."],
)  # fmt: skip
def test_it_hears_that_more_is_told(text: str):
    assert not says_nothing_else(Speller().normal(text))


# --- wishes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A floor lamp under $40.", {"price": ("le", 40)}),
        ("Rated 4.2 stars or better, here within 5 days.", {"rating": ("ge", 4.2), "ship_days": ("le", 5)}),
        ("With a height of at least 160 cm.", {"height": ("ge", 160)}),
        ("Made by Halden Craft, in black or warm white.",
         {"brand": ("eq", "Halden Craft"), "color": ("in", ["warm white", "black"])}),
        ("The shade material should be linen.", {"shade_material": ("eq", "linen")}),
        ("Bulb included, please.", {"bulb_included": ("eq", "yes")}),
        ("It shouldn't come with the bulb included.", {"bulb_included": ("eq", "no")}),
        ("In blakc, with a hieght of 160 cm at most.", {"color": ("eq", "black"), "height": ("le", 160)}),
        ("I've put it off for ages.", {}),
    ],
)  # fmt: skip
def test_requirements_are_read(text: str, expected: dict[str, Any]):
    assert rules(text) == expected


def test_what_is_said_later_replaces_what_was_said_before():
    assert rules("In black, under $90.", "Change of plan: in warm white instead of black.") == {
        "color": ("eq", "warm white"), "price": ("le", 90),
    }  # fmt: skip


def test_priorities_are_no_requirements_and_decide_the_order():
    heard = wishes("A low price matters most to me. In second place, the brand Lumo Field matters to me.")
    assert heard.rules == {}
    assert heard.priorities == {1: ("price", ""), 2: ("brand", "Lumo Field")}
    assert [hit["id"] for hit in heard.best_first(LAMPS)] == ["p2", "p1"]
    assert [hit["id"] for hit in wishes("Above all I care about a high rating.").best_first(LAMPS)] == ["p1", "p2"]


def test_what_meets_most_is_taken_where_nothing_meets_all():
    heard = wishes("In black, with a height of 170 cm at least and under $50.")
    assert [hit["id"] for hit in heard.fitting(LAMPS)] == ["p2"]
    assert heard.fitting([{**hit, "stock": 0} for hit in LAMPS]) == []


# --- names -----------------------------------------------------------------------------------------------------------


def test_of_two_names_in_one_place_the_longer_is_meant():
    found = mentions(" the usb charger and a charger for it ", {"charger", "usb charger"})
    assert [(one.name, one.start) for one in found] == [("usb charger", 5), ("charger", 23)]
    assert types_named(" two phone cases and a tent ", ["tent", "phone case"]) == ["phone case", "tent"]


def test_things_are_listed_in_the_customers_words():
    assert things("Hi! For a road trip I need a dash cam, sunglasses and a first aid kit. I want a big one.") == [
        "road trip", "dash cam", "sunglasses", "first aid kit",
    ]  # fmt: skip
    assert closest("hih chair", ["chair", "high chair", "tent"]) == "high chair"
    assert closest("winter wardrobe", ["high chair", "tent"]) == ""


@pytest.mark.parametrize(
    ("text", "env_id"),
    [
        ("I'm looking for a tent under $100. A low price matters most to me.", "E_PD"),
        ("The Lumo Arc Lamp, Black is sold out, what would come close?", "E_SUB"),
        ("Please put two of the Lumo Arc Lamp, Black in my cart.", "E_CART"),
        ("I'd like to send back a tent, it arrived damaged. Just a refund, please.", "E_RETURN"),
        ("Where is my order from May 4, 2025? When will it arrive?", "E_STATUS"),
        ("Could you tell me how many days the warranty lasts? My order number is o1234567.", "E_POLICY"),
        ("For a home office I need a desk, a chair and a lamp. My budget for everything is $500.", "E_BUNDLE"),
    ],
)  # fmt: skip
def test_it_tells_what_a_customer_is_after(text: str, env_id: str):
    assert kind_of(text, Speller()) == env_id
    assert kind_of(text, Speller(), (env_id,)) != env_id


def test_number_words_count_from_one():
    assert NUMBER_WORDS["one"] == 1
    assert min(NUMBER_WORDS.values()) == 1
