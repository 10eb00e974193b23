"""The words of E_PD and E_CART are part of recorded episodes: they must not change by so much as a comma."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from ecomrlve.customer.grammar import Grammar
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.wording import STYLES
from ecomrlve.streams import Stream

GRAMMAR = Grammar()
OLD_ACTS = (
    "open", "clarify", "confirm", "elaborate", "switch", "correct", "unsure", "repeat", "chat", "give_up", "quit",
    "thanks", "nothing_else",
)  # fmt: skip
TANK, CHARGER = "the PixelVault Tank Top", "the GreenLeaf charger"
DISCOVERY = [
    Slot("type", "type", "type", "eq", "headphones"),
    Slot("c0", "constraint", "price", "le", 25, label="price", unit="$"),
    Slot("c1", "constraint", "battery_life", "ge", 10, label="battery life", unit="hours"),
    Slot("c2", "constraint", "color", "in", ["black", "white"], label="color"),
    Slot("c3", "constraint", "ship_days", "le", 3, label="delivery time", unit="days"),
    Slot("c4", "constraint", "dishwasher_safe", "eq", "yes", label="dishwasher safe"),
    Slot("p1", "priority", "rating", "eq", "", label="rating", rank=1),
    Slot("p2", "priority", "brand", "eq", "NordHaus", label="brand", rank=2),
]
CART = [
    Slot("i0", "item", "title", "eq", "PixelVault Tank Top", item=0, item_name=TANK),
    Slot("i1", "item", "title", "eq", "GreenLeaf Fast Charger, Foldable", item=1, item_name=CHARGER),
    Slot("v0", "variant", "size", "eq", "XS", label="size", item=0, item_name=TANK),
    Slot("q0", "quantity", "quantity", "eq", 3, label="quantity", item=0, item_name=TANK),
    Slot("d1", "identify", "wattage", "eq", 65, label="wattage", unit="W", item=1, item_name=CHARGER),
    Slot("f1", "fallback", "fallback", "eq", {"do": "drop"}, item=1, item_name=CHARGER),
]
COMPLAINTS: list[dict[str, Any]] = [
    {"what": "violates", "title": "Zed Box", "slot": DISCOVERY[2], "got": 5},
    {"what": "wrong_quantity", "item_name": TANK, "got": 1, "slot": CART[3]},
    {"what": "not_wanted", "title": "Zed Box"},
    {"what": "sold_out", "title": "Zed Box"},
]


def utterances(env_id: str) -> list[str]:
    """150 of them, over all acts, styles and contexts that there were before the other environments came."""
    slots = DISCOVERY if env_id == "E_PD" else CART
    texts = []
    for number in range(150):
        act = OLD_ACTS[number % len(OLD_ACTS)]
        stream = Stream("golden", env_id, number)
        chosen = slots if act == "open" else stream.sample(slots, stream.integer(len(slots)))
        context: dict[str, Any] = {"style": (*STYLES, "")[number % 6], "item_name": TANK, "about": "warranty"}
        context["why"] = ("shown_fine", "working", "greeting", "other")[number % 4]
        context |= {} if number % 3 else {"hasty": number % 2 == 0, "late": number % 2 == 1}
        if act == "correct":
            what = COMPLAINTS[number % len(COMPLAINTS)]
            context["complaints"], chosen = [what], [what["slot"]] if what.get("slot") else []
        if act == "switch":
            chosen = [slot for slot in slots if slot.kind in ("constraint", "quantity", "variant")][
                number % 2 : 1 + number % 2
            ]
            context["old"] = "M" if chosen[0].kind == "variant" else 7
        texts.append(GRAMMAR.say(act, env_id, chosen, stream, context=context))
    return texts


@pytest.mark.parametrize(
    ("env_id", "digest"),
    [
        ("E_PD", "a6f19a8d8ec36414fa5153c684f0203c"),
        ("E_CART", "0b40d15f8fb2d2cd20acfd54b263414d"),
    ],
)
def test_the_words_are_as_they_were(env_id: str, digest: str) -> None:
    assert hashlib.sha256("\n".join(utterances(env_id)).encode()).hexdigest()[:32] == digest
