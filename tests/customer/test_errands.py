"""Orders, returns, rules, projects and substitutes: all that is to be said is said, nothing else, and readably."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ecomrlve.customer.dates import date_forms, dates_in
from ecomrlve.customer.grammar import ACTS, Grammar, join, mentions, names_item
from ecomrlve.customer.ledger import HEADS, KINDS, Slot
from ecomrlve.customer.noise import add_noise
from ecomrlve.customer.wording import STYLES
from ecomrlve.shop.policy_rules import METHODS, REASONS
from ecomrlve.streams import Stream

GRAMMAR = Grammar()
ENVIRONMENTS = ("E_SUB", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE")
ID = re.compile(r"\bo[0-9a-hjkmnp-tv-z]{7}\b")
LEAKS = re.compile(
    r"[{}]|\bNone\b|\bnan\b|  |\s[,.;:!?]|\b[Aa] (?:air|electric|ear|umbrella|hour)\b|the the\b|[,:;][.,:;]"
)
BRANDS, COLORS = ("Ovenly", "NordHaus", "Kettlero"), ("black", "white", "crimson")
TYPES = ("air fryer", "running shoes", "desk lamp", "office chair", "coffee", "umbrella stand", "headphones")
TITLES = ("PixelVault Tank Top", "GreenLeaf Fast Charger, Foldable", "Zed Box 3000", "Volt Brick Mini")
PROJECTS = ("home office", "first camping trip", "game night", "new kitchen")
CLAUSES = ("how many days I can return an item", "what the standard delivery fee is")


def make(kind: str, attribute: str, value: Any, operator: str = "eq", **more: Any) -> Slot:
    label = more.pop("label", attribute.replace("_", " "))
    return Slot(f"{kind}:{attribute}:{more.get('item')}", kind, attribute, operator, value, label=label, **more)


def an_id(stream: Stream) -> str:
    return "o" + "".join(stream.choice("0123456789abcdefghjkmnpqrstvwxyz") for _ in range(7))


def a_day(stream: Stream, year: int) -> str:
    return f"{year}-{1 + stream.integer(12):02d}-{1 + stream.integer(28):02d}"


def some_slots(env_id: str, stream: Stream) -> list[Slot]:
    """All slots that a problem of an environment might have, with values drawn so that no two are the same."""
    amounts = stream.sample(range(20, 400), 6)
    cents = [amount + stream.choice((0, 0.5, 0.99, 0.25)) for amount in amounts]
    wanted = [
        make("constraint", "price", amounts[0], "le", unit="$"),
        make("constraint", "color", stream.sample(COLORS, 2), "in"),
        make("constraint", "ship_days", 2 + stream.integer(3), "le"),
        make("constraint", "backlight", stream.choice(("yes", "no"))),
    ]
    references = [
        make("reference", "order_id", an_id(stream), label="order number"),
        make("reference", "ordered_on", a_day(stream, 2025), label="order date"),
        make("reference", "bought", stream.choice(TITLES), label="product"),
        make("reference", "order_total", cents[1], label="order total", unit="$"),
    ]
    if env_id == "E_SUB":
        title = stream.choice(TITLES)
        told_by = make("identify", "wattage", 40 + stream.integer(50), unit="W", item=0, item_name=title)
        return [make("original", "title", title), told_by, *wanted]
    if env_id == "E_STATUS":
        return [make("order", "order", ""), *references, make("eta", "eta", True)]
    if env_id == "E_POLICY":
        choices = ("store credit", "a gift card", "a check") if stream.chance(0.3) else ()
        return [
            make("question", "question", stream.choice(CLAUSES), choices=choices),
            make("fact", "reason", stream.choice(REASONS)),
            make("fact", "order_total", cents[2]),
            make("fact", "amount", amounts[3]),
            make("fact", "days_since_purchase", 2 + stream.integer(60)),
            make("fact", "department", stream.choice(("Kitchen", "Electronics"))),
            make("fact", "order_id", an_id(stream)),
        ]
    if env_id == "E_BUNDLE":
        parts = stream.sample(TYPES, 3)
        owned = [
            make("constraint", "price", amounts[number], "le", unit="$", item=number, item_name=parts[number])
            for number in range(2)
        ]
        owned.append(make("constraint", "color", stream.choice(COLORS), item=2, item_name=parts[2]))
        return [
            make("project", "project", stream.choice(PROJECTS)),
            *(make("part", "type", part, item=number) for number, part in enumerate(parts)),
            *owned,
            make("tie", "connector_type", parts[:2], label="connector type"),
            make("budget", "budget", amounts[4]),
        ]
    return [
        make("sendback", "type", stream.choice(TYPES)),
        *references,
        make("reference", "delivered_on", a_day(stream, 2026), label="delivery date"),
        make("reference", "paid", cents[5], label="price paid", unit="$"),
        make("reference", "quantity", 2 + stream.integer(4)),
        make("reference", "brand", stream.choice(BRANDS)),
        make("reference", "wattage", 45 + stream.integer(50), unit="W"),
        make("reference", "dishwasher_safe", stream.choice(("yes", "no"))),
        make("reason", "reason", stream.choice(REASONS)),
        make("refund", "refund_method", stream.choice(METHODS)),
        make("wish", "wish", stream.choice(("refund", "refund_and_suggestion", "exchange"))),
        *wanted,
        make("priority", "rating", "", rank=1),
    ]


def check_readable(text: str) -> None:
    assert text
    assert text == text.strip()
    assert not LEAKS.search(text), text
    assert text[-1] in ".!?", text
    assert not text.split()[0][0].islower(), text
    for start in re.finditer(r"[a-z]{3}[.!?] ([a-z]\w*)", text):
        assert start.group(1) != start.group(1).lower(), text


def noun_of(slots: list[Slot]) -> str:
    return next((str(slot.value) for slot in slots if slot.kind == "sendback"), "")


# What a sentence about something else may name, too: an order, or the part that it belongs to.
NAMED_ANYWAY = ("order", "part", "project", "original")


@pytest.mark.parametrize("act", [act for act in ACTS if act != "correct"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_all_that_is_to_be_said_is_said_and_nothing_else(env_id: str, act: str) -> None:
    for seed in range(200 if act in ("open", "clarify", "elaborate", "repeat", "quit") else 40):
        stream = Stream("errands", env_id, act, seed)
        slots = some_slots(env_id, stream)
        heads = [slot for slot in slots if slot.kind in HEADS]
        others = [slot for slot in slots if slot not in heads]
        chosen = stream.sample(others, stream.integer(len(others) + 1))
        chosen = [slot for slot in slots if slot in chosen or (act == "open" and slot in heads)]
        context = {"style": (*STYLES, "")[seed % 6], "type": noun_of(slots), "follow": seed % 4 == 3}
        context |= {"hasty": seed % 5 == 1, "late": seed % 5 == 2, "about": "warranty"}
        text = GRAMMAR.say(act, env_id, chosen, stream, context=context)
        check_readable(text)
        for slot in chosen:
            assert mentions(text, slot), (slot, text)
            assert names_item(text, slot), (slot, text)
        for slot in slots:
            if slot not in chosen and slot.kind not in NAMED_ANYWAY:
                assert not mentions(text, slot), (slot, text)
        said = {str(slot.value) for slot in chosen if slot.attribute == "order_id"}
        assert {found for found in ID.findall(text) if any(letter.isdigit() for letter in found)} <= said, text


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_every_kind_is_said_in_five_ways_at_least(env_id: str) -> None:
    for slot in some_slots(env_id, Stream("variety", env_id)):
        alike = {"title": "x", "type": noun_of([slot])}
        texts = {GRAMMAR.say("clarify", env_id, [slot], Stream("variety", seed), context=alike) for seed in range(150)}
        leads = re.compile(r"^(?:Sure|Good question|Right|Oh, I should have said|Let me think|Well|Of course"
                           r"|To answer that|Fair point|Ah yes)[.,:] ")  # fmt: skip
        bodies = {leads.sub("", text).casefold() for text in texts}
        # The shop's own words for a fact of a case come in four.
        assert len(bodies) >= 5 - (slot.kind == "fact"), (slot, bodies)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_openings_vary(env_id: str) -> None:
    slots = some_slots(env_id, Stream("openings", env_id))[:5]
    assert len({GRAMMAR.say("open", env_id, slots, Stream("openings", seed)) for seed in range(300)}) > 150


@pytest.mark.parametrize("env_id", [*ENVIRONMENTS, "E_JOURNEY"])
@pytest.mark.parametrize("act", [act for act in ACTS if act not in ("correct", "repeat", "clarify", "elaborate")])
def test_acts_without_slots_vary_and_give_nothing_away(env_id: str, act: str) -> None:
    if act == "open" and env_id == "E_JOURNEY":
        return
    texts = {
        GRAMMAR.say(act, env_id, [], Stream("bare", act, seed), context={"item_name": "that"}) for seed in range(200)
    }
    assert len(texts) >= (2 if act == "open" else 6)
    for text in texts:
        check_readable(text)
        assert not re.search(r"\d", text)


def test_what_is_known_only_to_the_shop_is_never_confirmed() -> None:
    for env_id in ("E_STATUS", "E_POLICY"):
        for seed in range(60):
            text = GRAMMAR.say("confirm", env_id, [], Stream("confirm", seed)).lower()
            assert not re.search(r"deliver|ship|status|arriv|day|fee|\$|perfect|cart|order", text), text


def test_a_replacement_is_not_taken_for_what_goes_back() -> None:
    wanted = [
        make("constraint", "brand", "NordHaus"),
        make("constraint", "size", "XS"),
        make("priority", "price", "", rank=1),
    ]
    for seed in range(150):
        for slot in wanted:
            context = {"type": "running shoes" if seed % 2 else "air fryer"}
            text = GRAMMAR.say("clarify", "E_RETURN", [slot], Stream("new", seed), context=context)
            assert "new one" in text, text
            assert seed % 2 == 0 or "new ones" in text, text
            assert "new one" not in GRAMMAR.say("clarify", "E_SUB", [slot], Stream("new", seed))


# --- journeys


def test_another_subject_comes_first_and_the_earlier_one_comes_back() -> None:
    slots = some_slots("E_STATUS", Stream("journey"))[:2]
    for seed in range(80):
        stream = Stream("journey", seed)
        lead = GRAMMAR.say("switch", "E_STATUS", [], stream, context={"subject": True, "env": "E_STATUS"})
        opening = GRAMMAR.say("open", "E_STATUS", slots, stream, context={"follow": True, "style": "chatty"})
        text = join([lead, opening])
        check_readable(text)
        assert all(mentions(text, slot) for slot in slots)
        assert not re.match(r"(?:Hi|Hello|Hey|Good day)\b", opening)
        check_readable(GRAMMAR.say("next", "E_STATUS", [], stream))


@pytest.mark.parametrize(
    ("env_id", "what", "expected"),
    [
        ("E_RETURN", "Air Fryer", "the air fryer"),
        ("E_RETURN", "my return", "my return"),
        ("E_STATUS", "", "my order"),
        ("E_POLICY", "how long the warranty lasts", "my question about how long the warranty lasts"),
        ("E_BUNDLE", "first camping trip", "my first camping trip"),
        ("E_CART", "PixelVault Tank Top", "the PixelVault Tank Top"),
    ],
)
def test_what_comes_back_is_named(env_id: str, what: str, expected: str) -> None:
    for seed in range(30):
        context = {"back": True, "env": env_id, "what": what}
        text = GRAMMAR.say("switch", env_id, [], Stream("back", seed), context=context)
        check_readable(text)
        assert expected in text


# --- changes of mind and complaints


@pytest.mark.parametrize("env_id", ["E_SUB", "E_RETURN", "E_BUNDLE"])
def test_a_change_of_mind_says_the_new_value(env_id: str) -> None:
    for seed in range(100):
        stream = Stream("switch", env_id, seed)
        slots = [slot for slot in some_slots(env_id, stream) if slot.kind in ("constraint", "budget")]
        slot = stream.choice(slots)
        old = {"price": 777, "budget": 777, "ship_days": 9, "backlight": "no"}.get(slot.attribute, "green")
        text = GRAMMAR.say("switch", env_id, [slot], stream, context={"old": old})
        check_readable(text)
        assert mentions(text, slot), (slot, text)
        assert names_item(text, slot), (slot, text)


TIE = make("tie", "connector_type", ["phone charger", "cable"], label="connector type")
COMPLAINTS: list[dict[str, Any]] = [
    {"what": "wrong_line", "title": "Zed Box", "slot": None},
    {"what": "wrong_line", "title": "Zed Box", "slot": make("reference", "order_id", "o7k2m9qd")},
    {"what": "wrong_line", "title": "Zed Box", "slot": make("reference", "ordered_on", "2025-03-04")},
    {"what": "wrong_line", "title": "Zed Box", "slot": make("reference", "bought", "Volt Brick Mini")},
    {"what": "wrong_return", "slot": make("reason", "reason", "does_not_fit")},
    {"what": "wrong_return", "slot": make("refund", "refund_method", "store_credit")},
    {"what": "wrong_return", "slot": make("wish", "wish", "exchange")},
    {"what": "wrong_return", "slot": make("wish", "wish", "refund")},
    {"what": "over_budget", "slot": make("budget", "budget", 300), "got": 412.5},
    {"what": "not_compatible", "title": "Zed Box", "label": "connector", "got": "HDMI", "want": "USB-C"},
    {"what": "not_compatible", "title": "Zed Box", "label": "connector", "got": None, "want": "USB-C"},
    {"what": "wrong_project_part", "title": "Zed Box"},
    {"what": "tie_broken", "slot": TIE},
]


@pytest.mark.parametrize("what", COMPLAINTS, ids=lambda what: f"{what['what']}-{(what.get('slot') or TIE).attribute}")
def test_complaints_say_what_is_wrong_and_what_is_right(what: dict[str, Any]) -> None:
    slot, texts = what.get("slot"), set()
    for seed in range(150):
        text = GRAMMAR.say(
            "correct", "E_RETURN", [slot] if slot else [], Stream("c", seed), context={"complaints": [what]}
        )
        texts.add(text)
        check_readable(text)
        assert slot is None or mentions(text, slot), text
        assert what.get("title", "") in text
        assert "got" not in what or what["got"] is None or str(what["got"]) in text, text
        assert str(what.get("want", "")) in text
    assert len(texts) >= 10


# --- the checker


def reference(attribute: str, value: Any) -> Slot:
    return make("reference", attribute, value)


@pytest.mark.parametrize(
    ("text", "slot", "found"),
    [
        ("It's order O7K2M9QD.", reference("order_id", "o7k2m9qd"), True),
        ("It's order o7k2m9qe.", reference("order_id", "o7k2m9qd"), False),
        ("It's order o7k2m9qdx.", reference("order_id", "o7k2m9qd"), False),
        ("I ordered it on March 4, 2025.", reference("ordered_on", "2025-03-04"), True),
        ("I ordered it on Mar 4th, 2025.", reference("ordered_on", "2025-03-04"), True),
        ("I ordered it on the 4th of March 2025.", reference("ordered_on", "2025-03-04"), True),
        ("I ordered it on 2025-03-04.", reference("ordered_on", "2025-03-04"), True),
        ("I ordered it on 2025-04-03.", reference("ordered_on", "2025-03-04"), False),
        ("I ordered it on March 14, 2025.", reference("ordered_on", "2025-03-04"), False),
        ("I ordered it on March 4, 2026.", reference("ordered_on", "2025-03-04"), False),
        ("I ordered it on March 4.", reference("ordered_on", "2025-03-04"), False),
        ("It arrived on March 4, 2025.", reference("ordered_on", "2025-03-04"), False),
        ("It arrived on March 4, 2025.", reference("delivered_on", "2025-03-04"), True),
        (
            "I ordered it on March 4, 2025, and it came on March 8, 2025.",
            reference("delivered_on", "2025-03-04"),
            False,
        ),
        ("I ordered it on March 4, 2025, and it came on March 8, 2025.", reference("delivered_on", "2025-03-08"), True),
        ("I ordered it on 4 March 2025, please.", reference("quantity", 4), False),
        ("I ordered 4 of them.", reference("quantity", 4), True),
        ("I paid $80 for it.", reference("paid", 80), True),
        ("I paid $80.50 for it.", reference("paid", 80), False),
        ("I paid $180 for it.", reference("paid", 80), False),
        ("The order total was $80.", reference("paid", 80), False),
        ("It should stay under $80.", reference("paid", 80), False),
        ("The order total was $80.", reference("order_total", 80), True),
        ("I paid $80 for it.", reference("order_total", 80), False),
        ("I paid $80 for it, the whole order was $99.", reference("order_total", 80), False),
        ("Everything together at most $80.", make("budget", "budget", 80), True),
        ("The desk should cost at most $80.", make("budget", "budget", 80), False),
        ("Store credit is fine.", make("refund", "refund_method", "store_credit"), True),
        ("I don't want store credit.", make("refund", "refund_method", "store_credit"), False),
        ("Store credit is fine.", make("refund", "refund_method", "original_payment"), False),
        ("Just a refund, I don't want an exchange.", make("wish", "wish", "exchange"), False),
        ("Just a refund, I don't want an exchange.", make("wish", "wish", "refund"), True),
        ("Just so you know: I'd like the refund as store credit.", make("wish", "wish", "refund"), False),
        ("A refund, and please suggest another one.", make("wish", "wish", "refund"), False),
        ("When will it arrive?", make("eta", "eta", True), True),
        ("It arrived late.", make("eta", "eta", True), False),
        ("The phone charger and the cable need the same connector type.", TIE, True),
        ("The phone charger needs the same connector type as the lamp.", TIE, False),
        ("The phone charger and the cable have a connector type.", TIE, False),
    ],
)
def test_checker(text: str, slot: Slot, found: bool) -> None:
    assert mentions(text, slot) is found


def test_dates_are_found_as_they_are_written() -> None:
    for seed in range(300):
        day = a_day(Stream("dates", seed), 2020 + seed % 8)
        forms = date_forms(day)
        assert len(set(forms)) == 3
        for form in forms:
            for text in (f"on {form}.", f"It was {form.lower()}, I think", form):
                found = dates_in(text)
                assert [date.day for date in found] == [day], text
                assert text[found[0].start : found[0].end].casefold() == form.casefold()
    assert dates_in("February 30, 2025; 2025-13-01; model 12025-03-04; I may 4 times") == ()


# --- noise


def test_noise_leaves_dates_ids_and_amounts_alone() -> None:
    changed = 0
    for seed in range(300):
        stream = Stream("noise", seed)
        env_id = ("E_RETURN", "E_STATUS")[seed % 2]
        slots = [slot for slot in some_slots(env_id, stream) if slot.kind == "reference"]
        # Ids may happen to be all letters, and then look like words.
        slots[0] = make("reference", "order_id", "oqkvwnbx") if seed % 3 == 0 else slots[0]
        kept = [
            slot
            for slot in slots
            if slot.attribute in ("order_id", "ordered_on", "delivered_on", "paid", "order_total")
        ]
        text = GRAMMAR.say("open", env_id, kept, stream, context={"style": (*STYLES, "")[seed % 6]})
        noisy = add_noise(text, 0.12, stream)
        changed += noisy != text
        assert dates_in(noisy)
        assert [date.day for date in dates_in(noisy)] == [date.day for date in dates_in(text)]
        assert str(slots[0].value) in noisy
        assert re.findall(r"\$[\d.]+\d", noisy) == re.findall(r"\$[\d.]+\d", text)
    assert changed > 290


def test_kinds_are_complete() -> None:
    drawn = {slot.kind for env_id in ENVIRONMENTS for slot in some_slots(env_id, Stream("kinds"))}
    assert drawn | {"type", "item", "identify", "variant", "quantity", "fallback"} == set(KINDS)
    assert set(HEADS) <= set(KINDS)
