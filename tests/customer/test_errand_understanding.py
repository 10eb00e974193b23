"""What an agent's free text asks for where it is about orders, returns, rules, projects and substitutes."""

from __future__ import annotations

from typing import Any

import pytest

from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.understanding import understand


def slot(kind: str, attribute: str, value: Any = "", *synonyms: str, key: str = "", **more: Any) -> Slot:
    label = more.pop("label", attribute.replace("_", " "))
    return Slot(key or attribute, kind, attribute, "eq", value, label=label, synonyms=synonyms, **more)


PRICE_WORDS = ("budget", "cost", "spend", "expensive", "cheap", "pay")
RETURN = [
    slot("sendback", "type", "air fryer"),
    slot("reference", "order_id", "o7k2m9qd", "order id", "which order"),
    slot("reference", "ordered_on", "2025-03-04", "date", "when", "day", "which order"),
    slot("reference", "delivered_on", "2025-03-08", "date", "arrive", "delivered", "which order"),
    slot("reference", "paid", 80, "price", "amount", "cost", "which order"),
    slot("reference", "bought", "Ovenly Crisp 4", "item", "which product", "title", "which order"),
    slot("reference", "quantity", 2, "how many", "number", "which order"),
    slot("reference", "brand", "Ovenly"),
    slot("reason", "reason", "damaged", "why", "wrong"),
    slot("wish", "wish", "exchange", "replacement"),
    slot("refund", "refund_method", "store_credit", "money", "store credit"),
    slot("constraint", "price", 60, *PRICE_WORDS, key="new_price"),
    slot("constraint", "color", "black", "colour", key="new_color"),
    slot("priority", "rating", "", key="priority", rank=1),
]
WHICH = {"order_id", "ordered_on", "delivered_on", "paid", "bought", "quantity", "brand"}
STATUS = [
    slot("order", "order"),
    slot("reference", "order_id", "o7k2m9qd", "order id", "which order"),
    slot("reference", "bought", "Ovenly Crisp 4", "item", "which product"),
    slot("reference", "ordered_on", "2025-03-04", "date", "when", "day", "which order"),
    slot("reference", "order_total", 120, "total", "amount", "cost", "paid"),
    slot("eta", "eta", True, "arrive", "arrival", "when"),
]
POLICY = [
    slot("question", "question", "how many days I have to send it back"),
    slot("fact", "tier", "Gold"),
    slot("fact", "region", "Islands"),
    slot("fact", "department", "Electronics"),
    slot("fact", "reason", "damaged"),
    slot("fact", "order_total", 50),
    slot("fact", "days_since_purchase", 15),
    slot("fact", "payment", "gift card"),
    slot("fact", "channel", "app"),
    slot("fact", "quantity", 3),
    slot("fact", "opened", "unopened"),
    slot("fact", "order_id", "o7k2m9qd"),
]
BUNDLE = [
    slot("project", "project", "home office"),
    slot("part", "type", "desk", key="part0", item=0),
    slot("part", "type", "phone charger", key="part1", item=1),
    slot("part", "type", "charging cable", key="part2", item=2),
    slot("constraint", "price", 90, *PRICE_WORDS, key="desk_price", item=0, item_name="desk"),
    slot("constraint", "color", "black", "colour", key="desk_color", item=0, item_name="desk"),
    slot("constraint", "length", 2, key="cable_length", item=2, item_name="charging cable"),
    slot("tie", "connector_type", ["phone charger", "charging cable"], label="connector", key="tie"),
    slot("budget", "budget", 300),
]

OF_RETURNS = [
    ("Which order is it about?", WHICH),
    ("Which of your orders do you mean?", WHICH),
    ("Could you give me some details about the order?", WHICH),
    ("Which one do you want to return?", WHICH),
    ("Can you help me find your order?", WHICH),
    ("Could you give me the order number?", {"order_id"}),
    ("What's your order number, please?", {"order_id"}),
    ("Do you have the order ID?", {"order_id"}),
    ("I'll need your order number.", {"order_id"}),
    ("When did you buy it?", {"ordered_on"}),
    ("When did you order it?", {"ordered_on"}),
    ("What was the purchase date?", {"ordered_on"}),
    ("How long ago did you purchase it?", {"ordered_on"}),
    ("On which day did you place the order?", {"ordered_on"}),
    ("When did it arrive?", {"delivered_on"}),
    ("When was it delivered?", {"delivered_on"}),
    ("What was the delivery date?", {"delivered_on"}),
    ("What did you pay for it?", {"paid"}),
    ("How much did it cost?", {"paid"}),
    ("What was the price?", {"paid"}),
    ("How much was it?", {"paid"}),
    ("Which product did you buy?", {"bought"}),
    ("What item are you sending back?", {"bought"}),
    ("How many did you order?", {"quantity"}),
    ("How many units were in the order?", {"quantity"}),
    ("Which brand was it?", {"brand"}),
    ("What's the reason for the return?", {"reason"}),
    ("Why are you sending it back?", {"reason"}),
    ("What is wrong with it?", {"reason"}),
    ("Is it damaged or did you change your mind?", {"reason"}),
    ("May I ask why?", {"reason"}),
    ("Would you like a refund or an exchange?", {"wish"}),
    ("Do you want to exchange it?", {"wish"}),
    ("Shall I look for a replacement?", {"wish"}),
    ("Should I suggest another one?", {"wish"}),
    ("What would you like me to do?", {"wish"}),
    ("How would you like to be refunded?", {"refund_method"}),
    ("Store credit or your original payment method?", {"refund_method"}),
    ("Would you like the refund as store credit?", {"refund_method"}),
    ("Do you want a refund or store credit?", {"refund_method"}),
    ("What's your budget for the new one?", {"new_price"}),
    ("How much would you like to spend?", {"new_price"}),
    ("Which colour should it have?", {"new_color"}),
    ("What matters most to you?", {"priority"}),
    ("What's the order number, and why are you returning it?", {"order_id", "reason"}),
]
OF_ORDERS = [
    ("Which order do you mean?", {"order_id", "bought", "ordered_on", "order_total"}),
    ("Can you tell me the order number?", {"order_id"}),
    ("When did you place it?", {"ordered_on"}),
    ("What was the order date?", {"ordered_on"}),
    ("What did you order?", {"bought"}),
    ("What was in it?", {"bought"}),
    ("Which products did it contain?", {"bought"}),
    ("What was the total?", {"order_total"}),
    ("How much did you pay altogether?", {"order_total"}),
    ("Do you want to know the estimated arrival too?", {"eta"}),
    ("Do you need the ETA as well?", {"eta"}),
]
OF_RULES = [
    ("What is your membership level?", {"tier"}),
    ("Which tier are you?", {"tier"}),
    ("Which region do you live in?", {"region"}),
    ("Which department is the item from?", {"department"}),
    ("Why would you return it?", {"reason"}),
    ("What was the order total?", {"order_total"}),
    ("How long ago did you buy it?", {"days_since_purchase"}),
    ("When did you buy it?", {"days_since_purchase"}),
    ("What was your payment method?", {"payment"}),
    ("Did you use the website or the app?", {"channel"}),
    ("How many units are in the order?", {"quantity"}),
    ("Has the package been opened?", {"opened"}),
    ("What's the order number?", {"order_id"}),
    ("Which order is it?", {"order_id"}),
]
OF_PROJECTS = [
    ("What's your budget?", {"budget"}),
    ("How much can you spend altogether?", {"budget"}),
    ("Is there an overall price limit?", {"budget"}),
    ("What may the desk cost?", {"desk_price"}),
    ("What is your budget for the desk?", {"desk_price"}),
    ("Which color should the desk be?", {"desk_color"}),
    ("How long should the cable be, in terms of length?", {"cable_length"}),
    ("Do any of them have to match?", {"tie"}),
    ("Should the charger and the cable be compatible?", {"tie"}),
    ("Must they have the same connector?", {"tie"}),
    ("What about the desk?", {"desk_price", "desk_color"}),
]
ALL = [
    *((text, expected, RETURN) for text, expected in OF_RETURNS),
    *((text, expected, STATUS) for text, expected in OF_ORDERS),
    *((text, expected, POLICY) for text, expected in OF_RULES),
    *((text, expected, BUNDLE) for text, expected in OF_PROJECTS),
]


@pytest.mark.parametrize(("text", "expected", "slots"), ALL, ids=[text for text, _, _ in ALL])
def test_a_natural_question_is_about_what_it_names(text: str, expected: set[str], slots: list[Slot]) -> None:
    assert set(understand(text, slots).asked) == expected


@pytest.mark.parametrize("slots", [RETURN, STATUS, POLICY, BUNDLE])
@pytest.mark.parametrize("text", ["Is there anything else I should know?", "What else?", "Any other details?"])
def test_an_open_question_stays_open(text: str, slots: list[Slot]) -> None:
    found = understand(text, slots)
    assert found.open
    assert not found.asked


@pytest.mark.parametrize("slots", [RETURN, STATUS, POLICY, BUNDLE])
@pytest.mark.parametrize(
    "text",
    ["I found order o7k2m9qd from March 4 for $80.", "The reason was noted.", "Your refund goes to store credit.", ""],
)
def test_telling_is_not_asking(text: str, slots: list[Slot]) -> None:
    assert not understand(text, slots).asked


def test_what_is_wanted_is_not_asked_for_by_what_was() -> None:
    keys = {"new_price", "new_color", "priority"}
    for text, expected in OF_RETURNS:
        if not expected & keys:
            assert not set(understand(text, RETURN).asked) & keys, text
