"""The customer's words: complete, discreet, varied and readable."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.customer.grammar import ACTS, Grammar, join, mentions, names_item
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.wording import STYLES
from ecomrlve.streams import Stream

GRAMMAR = Grammar()
LEAKS = re.compile(r"[{}]|\bNone\b|\bnan\b|\bNaN\b|  |\s[,.;:!?]|\b[Aa] (?:air|electric|ear|umbrella|hour)\b|the the\b")
TANK, CHARGER = "the PixelVault Tank Top", "the GreenLeaf charger"


def constraint(attribute: str, operator: str, value: Any, label: str = "", unit: str = "") -> Slot:
    return Slot(f"c:{attribute}:{operator}", "constraint", attribute, operator, value, label=label, unit=unit)


def of_item(kind: str, item: int, name: str, value: Any, attribute: str = "", unit: str = "") -> Slot:
    label = attribute.replace("_", " ")
    return Slot(f"i{item}:{kind}:{attribute}", kind, attribute or kind, "eq", value, label=label, unit=unit, item=item,
                item_name=name)  # fmt: skip


PD = [
    Slot("type", "type", "type", "eq", "air fryer"),
    constraint("price", "le", 25, "price", "$"),
    constraint("battery_life", "ge", 10, "battery life", "hours"),
    constraint("color", "in", ["black", "white"], "color"),
    constraint("backlight", "eq", "yes", "backlight"),
    constraint("dishwasher_safe", "eq", "no", "dishwasher safe"),
    constraint("rating", "ge", 4.2, "rating", "stars"),
    constraint("ship_days", "le", 3, "shipping time", "days"),
    constraint("connector_type", "eq", "USB-C", "connector type"),
    constraint("ports", "ge", 4, "ports"),
    constraint("brand", "eq", "Ovenly", "brand"),
    Slot("p1", "priority", "price", "eq", "", label="price", rank=1),
    Slot("p2", "priority", "brand", "eq", "NordHaus", label="brand", rank=2),
]
CART = [
    Slot("i0", "item", "title", "eq", "PixelVault Tank Top", item=0, item_name=TANK),
    Slot("i1", "item", "title", "eq", "GreenLeaf Fast Charger, Foldable", item=1, item_name=CHARGER),
    of_item("variant", 0, TANK, "XS", "size"),
    of_item("quantity", 0, TANK, 3),
    of_item("identify", 1, CHARGER, 65, "wattage", "W"),
    of_item("variant", 1, CHARGER, "USB-C", "connector_type"),
]
FALLBACKS = [
    of_item("fallback", 0, TANK, {"do": "variant", "attribute": "size", "value": "M"}, "size"),
    of_item(
        "fallback", 1, CHARGER,
        {"do": "product", "title": "Volt Brick Mini", "attribute": "connector_type", "value": "Lightning",
         "identify": {"color": "crimson"}},
    ),
    of_item("fallback", 1, CHARGER, {"do": "product", "title": "Volt Brick", "attribute": None, "value": None,
                                     "identify": {}}),
    of_item("fallback", 1, CHARGER, {"do": "drop"}),
]  # fmt: skip
LID = of_item("variant", 1, CHARGER, "yes", "lid")
COMPLAINTS: list[dict[str, Any]] = [
    {"what": "wrong_variant", "item_name": CHARGER, "attribute": "connector_type", "label": "connector type",
     "got": "Lightning", "slot": CART[5]},
    {"what": "wrong_variant", "item_name": TANK, "attribute": "size", "label": "size", "got": None, "slot": CART[2]},
    {"what": "wrong_variant", "item_name": CHARGER, "attribute": "lid", "label": "lid", "got": "no", "slot": LID},
    {"what": "wrong_quantity", "item_name": TANK, "got": 1, "slot": CART[3]},
    {"what": "wrong_quantity", "item_name": CHARGER, "got": 2, "slot": None},
    {"what": "not_wanted", "title": "Zed Box"},
    {"what": "missing", "item_name": CHARGER},
    {"what": "violates", "title": "Zed Box", "slot": PD[2], "got": 5},
    {"what": "violates", "title": "Zed Box", "slot": PD[1], "got": 30.5},
    {"what": "violates", "title": "Zed Box", "slot": PD[3], "got": "red"},
    {"what": "violates", "title": "Zed Box", "slot": PD[8], "got": None},
    {"what": "violates", "title": "Zed Box", "slot": PD[4], "got": "no"},
    {"what": "violates", "title": "Zed Box", "slot": PD[5], "got": None},
    {"what": "wrong_type", "title": "Zed Box", "wanted": "air fryer"},
    {"what": "sold_out", "title": "Zed Box"},
    {"what": "wrong_product", "title": "Zed Box", "item_name": CHARGER, "slot": CART[4]},
    {"what": "wrong_product", "title": "Zed Box", "item_name": CHARGER, "slot": None},
]  # fmt: skip


def say(act: str, env_id: str, slots: list[Slot], seed: object = 0, **context: Any) -> str:
    return GRAMMAR.say(act, env_id, slots, Stream("test", seed), context=context)


def check_readable(text: str) -> None:
    assert text
    assert text == text.strip()
    assert not LEAKS.search(text), text
    assert text[-1] in ".!?", text
    first = text.split()[0]
    assert not first[0].isalpha() or first != first.lower(), text
    for start in re.finditer(r"[a-z]{3}[.!?] ([a-z]\w*)", text):
        assert start.group(1) != start.group(1).lower(), text


# --- everything is said, nothing else is


@pytest.mark.parametrize("act", [act for act in ACTS if act != "correct"])
@pytest.mark.parametrize("env_id", ["E_PD", "E_CART", "E_SUB"])
def test_every_act_carries_its_slots(act: str, env_id: str) -> None:
    slots = CART + FALLBACKS[:1] if env_id == "E_CART" else PD
    for seed in range(60):
        count = seed % (len(slots) + 1)
        chosen = slots if act == "open" else Stream("pick", act, seed).sample(slots, count)
        text = say(act, env_id, chosen, seed, style=(*STYLES, "")[seed % 6])
        check_readable(text)
        for slot in chosen:
            assert mentions(text, slot), (slot, text)
            if act != "open" and slot.kind != "item":
                titled = any(other.kind == "item" and other.item == slot.item for other in chosen)
                assert titled or names_item(text, slot), (slot, text)


@pytest.mark.parametrize("act", ["open", "clarify", "elaborate", "repeat", "quit", "confirm", "thanks", "unsure"])
def test_unsaid_slots_are_not_found(act: str) -> None:
    for seed in range(80):
        stream = Stream("unsaid", act, seed)
        said = [slot for slot in PD if stream.chance(0.5) or (act == "open" and slot.kind == "type")]
        text = say(act, "E_PD", said, seed)
        for slot in PD:
            assert mentions(text, slot) == (slot in said), (slot, text)
        said = [slot for slot in CART if stream.chance(0.5) or (act == "open" and slot.kind == "item")]
        text = say(act, "E_CART", said, seed)
        for slot in CART:
            # The name of an item is also said with what belongs to it.
            assert mentions(text, slot) == (slot in said) or slot.kind == "item", (slot, text)


@pytest.mark.parametrize("fallback", FALLBACKS, ids=lambda slot: str(slot.value)[:40])
def test_fallbacks_name_their_item(fallback: Slot) -> None:
    others = [slot for slot in FALLBACKS if slot.value["do"] != fallback.value["do"]]
    for seed in range(60):
        text = say("clarify", "E_CART", [fallback], seed)
        check_readable(text)
        assert mentions(text, fallback), text
        assert names_item(text, fallback), text
        assert not any(mentions(text, other) for other in others), text


@pytest.mark.parametrize("what", COMPLAINTS, ids=lambda what: f"{what['what']}-{what.get('got')}")
def test_corrections_say_what_is_wanted(what: dict[str, Any]) -> None:
    slot = what.get("slot")
    texts = set()
    for seed in range(120):
        text = say("correct", "E_CART", [slot] if slot else [], seed, complaints=[what])
        texts.add(text)
        check_readable(text)
        if slot is not None:
            assert mentions(text, slot), text
        if "item_name" in what:
            assert what["item_name"].removeprefix("the ") in text
        elif slot is None or slot.item is None:
            assert what["title"] in text
        if what["what"] == "wrong_type":
            assert "an air fryer" in text
        if what["what"] == "wrong_quantity" and slot is None:
            assert re.search(r"\b1\b", text)
            assert re.search(r"\b2\b", text)
    assert len(texts) >= 6


def test_two_complaints_are_both_said() -> None:
    for seed in range(40):
        text = say("correct", "E_CART", [CART[5], CART[3]], seed, complaints=[COMPLAINTS[0], COMPLAINTS[3]])
        assert mentions(text, CART[5])
        assert mentions(text, CART[3])
        assert text.count("I need") <= 2


@pytest.mark.parametrize(
    ("slot", "old"),
    [(PD[1], 40), (PD[3], ["red"]), (PD[2], 5), (PD[4], "no"), (PD[0], "toaster"), (CART[2], "M"), (CART[3], 2),
     (CART[5], "Lightning"), (PD[10], "Kettlero"), (CART[4], 30), (LID, "no"), (FALLBACKS[0], {"do": "drop"}),
     (PD[11], "rating")],
)  # fmt: skip
def test_switch_says_the_new_value(slot: Slot, old: Any) -> None:
    for seed in range(60):
        text = say("switch", "E_CART" if slot.item is not None else "E_PD", [slot], seed, old=old)
        check_readable(text)
        assert mentions(text, slot), text
        assert names_item(text, slot), text


def test_no_slot_no_goal() -> None:
    for act in ACTS:
        for seed in range(40):
            for env_id in ("E_PD", "E_CART"):
                text = say(act, env_id, [], seed)
                check_readable(text)
                assert not re.search(r"\d", text)
                assert not any(mentions(text, slot) for slot in PD + CART + FALLBACKS), text


# --- variety


@pytest.mark.parametrize("env_id", ["E_PD", "E_CART"])
def test_openings_vary(env_id: str) -> None:
    slots = CART[:4] if env_id == "E_CART" else PD[:3]
    texts = {say("open", env_id, slots, seed) for seed in range(400)}
    assert len(texts) > 200
    # The structure: what is left when the slots' own words are taken out.
    heads = [slot.value for slot in slots if slot.kind in ("type", "item")]
    shapes = set()
    for text in texts:
        before = text.split(heads[0])[0] if heads[0] in text else text
        shapes.add(re.sub(r"^(?:Hi|Hello|Hey|Good day)[^A-Z]*", "", before))
    assert len(shapes) >= 12


@pytest.mark.parametrize("env_id", ["E_PD", "E_CART"])
@pytest.mark.parametrize("act", [act for act in ACTS if act not in ("open", "correct")])
def test_other_acts_vary(act: str, env_id: str) -> None:
    slots = []
    if act in ("clarify", "elaborate", "switch", "repeat"):
        slots = [CART[2]] if env_id == "E_CART" else [PD[3]]
    context = {"item_name": "air fryer", "about": "warranty"}
    assert len({say(act, env_id, slots, seed, **context) for seed in range(200)}) >= 6


@pytest.mark.parametrize("why", ["shown_fine", "working", "greeting", "other"])
def test_small_talk_varies(why: str) -> None:
    assert len({say("chat", "E_PD", [], seed, why=why) for seed in range(100)}) >= 6


@pytest.mark.parametrize("why", ["hasty", "late", "sold_out"])
def test_speaking_up_varies(why: str) -> None:
    assert len({say("elaborate", "E_CART", [CART[2]], seed, **{why: True}) for seed in range(200)}) >= 6


def test_context_is_spoken_of() -> None:
    for seed in range(50):
        assert "warranty" in say("unsure", "E_PD", [], seed, about="warranty")
        assert "air fryer" in say("give_up", "E_CART", [], seed, item_name="the air fryer")
        assert "the the" not in say("give_up", "E_CART", [], seed, item_name="the air fryer").lower()


def test_same_stream_same_words() -> None:
    assert say("open", "E_PD", PD, 5) == say("open", "E_PD", PD, 5)
    assert say("open", "E_PD", PD, 5) != say("open", "E_PD", PD, 6)


def test_unknown_act_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown act 'sing'"):
        say("sing", "E_PD", [])


def test_terse_is_shorter_than_chatty() -> None:
    lengths = {}
    for style in STYLES:
        lengths[style] = sum(len(say("open", "E_PD", PD[:4], seed, style=style)) for seed in range(100))
    assert lengths["terse"] < 0.8 * lengths["chatty"]


# --- any slots at all

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# A shop might sell "None" and "The"; these tests could not tell it from a leak. "Yes" is for yes/no attributes.
WORDS_TO_AVOID = ("none", "nan", "the", "yes")
WORDS = st.text(LETTERS, min_size=3, max_size=9).filter(lambda word: word.lower() not in WORDS_TO_AVOID)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
NUMBERS = st.one_of(st.integers(1, 5000), st.floats(0.1, 999.0).map(lambda x: round(x, 1)))
UNITS = st.sampled_from(["hours", "W", "GB", "inches", "%", "kg", "mAh", '"', "°C", "lbs", ""])
LABELS = st.sampled_from(["battery life", "weight", "number of pockets", "ports", "wattage", "age range", "power"])
ANSWERS = st.sampled_from(["yes", "no", True, False])


@st.composite
def slots_of_any_kind(draw: st.DrawFn) -> Slot:
    """Any slot. Several may ask for the same attribute, as no task would have it."""
    kind = draw(st.sampled_from(["type", "number", "answer", "list", "word", "priority", "common", "item", "own"]))
    key = f"k{draw(st.integers(0, 10**9))}"
    if kind == "type":
        return Slot(key, "type", "type", "eq", draw(NAMES))
    if kind == "priority":
        attribute = draw(st.sampled_from(["price", "rating", "ship_days", "brand"]))
        value = draw(NAMES) if attribute == "brand" else ""
        return Slot(key, "priority", attribute, "eq", value, label=attribute, rank=draw(st.sampled_from([1, 2])))
    if kind == "common":
        attribute = draw(st.sampled_from(["price", "rating", "ship_days"]))
        return Slot(key, "constraint", attribute, draw(st.sampled_from(["le", "ge", "eq"])), draw(NUMBERS))
    label = draw(LABELS)
    attribute = label.replace(" ", "_")
    if kind == "number":
        operator = draw(st.sampled_from(["le", "ge", "eq"]))
        return Slot(key, "constraint", attribute, operator, draw(NUMBERS), label=label, unit=draw(UNITS))
    if kind == "answer":
        label = draw(st.sampled_from(["backlight", "dishwasher safe", "timer", "waterproof", "non-slip base"]))
        return Slot(key, "constraint", label.replace(" ", "_"), "eq", draw(ANSWERS), label=label)
    if kind == "word":
        return Slot(key, "constraint", attribute, "eq", draw(NAMES), label=label)
    if kind == "list":
        values: list[Any] = draw(st.lists(st.one_of(NAMES), min_size=1, max_size=3))
        if draw(st.booleans()):
            values = draw(st.lists(st.integers(1, 99), min_size=1, max_size=3))
            return Slot(key, "constraint", attribute, "in", values, label=label, unit=draw(UNITS))
        return Slot(key, "constraint", draw(st.sampled_from(["color", "brand", "finish"])), "in", values)
    item, name = draw(st.integers(0, 3)), draw(NAMES)
    if kind == "item":
        return Slot(key, "item", "title", "eq", name, item=item, item_name=name)
    own = draw(st.sampled_from(["variant", "quantity", "identify", "fallback"]))
    value: Any = draw(st.integers(2, 9)) if own == "quantity" else draw(NAMES)
    attribute = draw(st.sampled_from(["size", "color", "material", "connector_type"]))
    if own == "fallback":
        value = draw(st.sampled_from([
            {"do": "drop"},
            {"do": "variant", "attribute": attribute, "value": value},
            {"do": "product", "title": value, "attribute": attribute, "value": "Plum", "identify": {"wattage": 65}},
            {"do": "product", "title": value, "attribute": None, "value": None, "identify": {"color": "red"}},
        ]))  # fmt: skip
    attribute = "quantity" if own == "quantity" else attribute
    return Slot(key, own, attribute, "eq", value, label=attribute.replace("_", " "), item=item, item_name=name)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(slots_of_any_kind(), max_size=7, unique_by=lambda slot: (slot.kind, slot.item, slot.attribute)),
    st.sampled_from(ACTS),
    st.sampled_from(["E_PD", "E_CART", "E_RETURN"]),
    st.integers(0, 10**6),
    st.sampled_from([*STYLES, None]),
)
def test_any_slots_are_said_readably(slots: list[Slot], act: str, env_id: str, seed: int, style: str | None) -> None:
    text = say(act, env_id, slots, seed, style=style)
    check_readable(text)
    for slot in slots:
        assert mentions(text, slot), (slot, text)


# --- the checker


@pytest.mark.parametrize(
    ("text", "slot", "found"),
    [
        ("I can pay $100.", constraint("price", "le", 10), False),
        ("I can pay $10.50.", constraint("price", "le", 10), False),
        ("I can pay $10.", constraint("price", "le", 10), True),
        ("Up to $1,250 please.", constraint("price", "le", 1250), True),
        ("Up to 25 dollars.", constraint("price", "le", 25.0), True),
        ("It costs $25.00 at most.", constraint("price", "le", 25), True),
        ("At least $25.", constraint("price", "le", 25), False),
        ("At least 25 hours.", constraint("price", "ge", 25), False),
        ("no more than $25", constraint("price", "le", 25), True),
        ("at most 10 hours of battery life", constraint("battery_life", "ge", 10, "battery life", "hours"), False),
        ("a 10W charger", constraint("power", "eq", 10, "power", "W"), True),
        ("a 10W charger", constraint("power", "eq", 10, "power", "hours"), False),
        ("a 110W charger", constraint("power", "eq", 10, "power", "W"), False),
        ("1 hour of battery", constraint("battery_life", "eq", 1, "battery life", "hours"), True),
        ("down to -10 °C", constraint("comfort", "le", -10, "comfort", "°C"), True),
        ("down to 10 °C", constraint("comfort", "le", -10, "comfort", "°C"), False),
        ("in 2XL", constraint("size", "eq", "XL", "size"), False),
        ("in size XL", constraint("size", "eq", "XL", "size"), True),
        ("in size xs", constraint("size", "eq", "XS", "size"), True),
        ("that's the size", constraint("size", "eq", "S", "size"), False),
        ("in size S", constraint("size", "eq", "S", "size"), True),
        ("a size bigger", constraint("size", "eq", "A", "size"), False),
        ("black", constraint("color", "in", ["black", "white"], "color"), False),
        ("white or black", constraint("color", "in", ["black", "white"], "color"), True),
        ("blackberry", constraint("color", "eq", "black", "color"), False),
        ("without backlight", constraint("backlight", "eq", "yes", "backlight"), False),
        ("without backlight", constraint("backlight", "eq", "no", "backlight"), True),
        ("it doesn't need a backlight", constraint("backlight", "eq", "yes", "backlight"), False),
        ("backlight: yes", constraint("backlight", "eq", True, "backlight"), True),
        ("backlight: no", constraint("backlight", "eq", True, "backlight"), False),
        ("rated 4.2 stars", constraint("rating", "ge", 4.2), True),
        ("rated 4 stars", constraint("rating", "ge", 4.2), False),
        ("within 3 days", constraint("ship_days", "le", 3), True),
        ("3 of them", constraint("ship_days", "le", 3), False),
        ("3 of them", of_item("quantity", 0, TANK, 3), True),
        ("within 3 days", of_item("quantity", 0, TANK, 3), False),
        ("13 of them", of_item("quantity", 0, TANK, 3), False),
        ("for $3", of_item("quantity", 0, TANK, 3), False),
        ("The price is under $25.", PD[11], False),
        ("The price matters most.", PD[11], True),
        ("I prefer NordHaus.", PD[12], True),
        ("I have a NordHaus kettle.", PD[12], False),
    ],
)
def test_checker(text: str, slot: Slot, found: bool) -> None:
    assert mentions(text, slot) is found


# --- joining


def test_join() -> None:
    assert join(["change of plan: in red", "", "Sure. It's $25.", "Sure. It's $25."]) == (
        "Change of plan: in red. Sure. It's $25."
    )
    assert join([]) == ""
