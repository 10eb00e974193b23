"""How the customer speaks of the items on a list: which, how many, which version, and what if one is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ecomrlve.customer import wording
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.phrases import mod, short, version
from ecomrlve.customer.values import say_count
from ecomrlve.customer.words import is_plural, listed, pick, squeeze, statements, the
from ecomrlve.streams import Stream


def agreement(name: str) -> dict[str, str]:
    """The words that agree with a name: ``is``/``are``, ``it``/``them``."""
    many = is_plural(name)
    return {
        "is": "are" if many else "is",
        "it": "them" if many else "it",
        "it_is": "they're" if many else "it's",
    }


def thing(name: str, slots: Sequence[Slot], stream: Stream, *, aside: bool = False) -> str:
    """The item with all that is said of it: "3 of the PixelVault Tank Top in size XS".

    Args:
        name: The item as the sentence calls it, with its article.
        slots: Quantity, variant, identify and constraint slots of the item.
        stream: For the wording.
        aside: Put the long parts in brackets, so that a list of several things stays readable.
    """
    quantity = next((slot for slot in slots if slot.kind == "quantity"), None)
    text, tail = name, ""
    if quantity is not None:
        form = pick(("{n} of {name}", "{n} of {name}", "{digits}x {name}"), stream)
        text = form.format(n=say_count(quantity.value, stream), digits=quantity.value, name=name)
    for slot in slots:
        if slot.kind in ("variant", "constraint"):
            text += f" {mod(slot, stream)}"
    notes = [mod(slot, stream) for slot in slots if slot.kind == "identify"]
    if notes:
        tail = listed([notes[0], *(note.removeprefix("the one ") for note in notes[1:])])
        text += f" ({tail})" if aside or stream.chance(0.3) else f", {tail}"
    return text


def about_item(name: str, slots: Sequence[Slot], stream: Stream) -> list[str]:
    """Clauses that say the slots of one item and name it."""
    facts = [slot for slot in slots if slot.kind != "fallback"]
    clauses = [fallback(name, slot, stream) for slot in slots if slot.kind == "fallback"]
    if facts and stream.chance(0.5):
        frame = pick(wording.ITEM_NEEDS, stream)
        clauses.insert(0, frame.format(thing=thing(the(name), facts, stream)))
    elif facts:
        notes = [_note(slot, stream) for slot in facts]
        frame = pick(wording.ITEM_NOTES, stream)
        clauses.insert(0, frame.format(name=the(name), what=listed(notes)))
    return clauses


def listed_items(
    items: Sequence[Slot], owned: Sequence[Slot], stream: Stream, *, style: str, opening: bool
) -> tuple[list[str], list[Slot]]:
    """Clauses that name all items by title, each with what belongs to it; and the slots that are left.

    Args:
        items: The items.
        owned: Slots that belong to one of them.
        stream: For the wording.
        style: One of `wording.STYLES`, or empty.
        opening: Whether questions may be asked.
    """
    mine: dict[str, list[Slot]] = {slot.key: [] for slot in items}
    keys = {slot.item: slot.key for slot in items}
    left: list[Slot] = []
    for slot in owned:
        place = left if slot.kind == "fallback" or slot.item not in keys else mine[keys[slot.item]]
        place.append(slot)
    terse = stream.chance({"terse": 0.9, "hurried": 0.5, "polite": 0.0}.get(style, 0.1))
    needs = wording.CART_NEEDS if opening else statements(wording.CART_NEEDS)
    frame = pick(wording.CART_TERSE if terse else needs, stream)
    apart = not terse and stream.chance(0.35)
    titles = [(the(squeeze(str(slot.value))), mine[slot.key]) for slot in items]
    names = [title if apart else thing(title, own, stream, aside=True) for title, own in titles]
    if len(names) > 2 and not terse and stream.chance(0.25):
        clauses = _one_by_one(names, stream)
    else:
        clauses = [frame.format(list=listed(names))]
    for title, own in titles:
        if apart and own:
            clauses += about_item(title, own, stream)
    return clauses, left


def _one_by_one(names: Sequence[str], stream: Stream) -> list[str]:
    """A list as sentences: "First, I need ...", "then ...", "and finally ..."."""
    first, *middle, last = names
    clauses = [pick(wording.LIST_FIRST, stream).format(name=first)]
    clauses += [pick(wording.LIST_NEXT, stream).format(name=name) for name in middle]
    return [*clauses, pick(wording.LIST_LAST, stream).format(name=last)]


def _note(slot: Slot, stream: Stream) -> str:
    if slot.kind == "quantity":
        count = say_count(slot.value, stream)
        return stream.choice((f"{count} of them", f"{count} pieces", f"{count} of those", f"quantity {slot.value}"))
    return short(slot, stream)


def fallback(name: str, slot: Slot, stream: Stream) -> str:
    """What to do if the item is sold out, as a clause that names it."""
    value = slot.value
    agree = agreement(name)
    if value["do"] == "drop":
        then = pick(wording.THEN_DROP, stream).format(**agree)
    elif value["do"] == "variant":
        then = pick(wording.THEN_VARIANT, stream).format(v=_with_label(slot, value["attribute"], value["value"]))
    else:
        then = pick(wording.THEN_PRODUCT, stream).format(v=_other_product(slot, value, stream))
    clause = pick(wording.IF_GONE, stream).format(name=the(name), then=then, **agree)
    return clause.replace(", then then ", ", then ")


def fact_slot(slot: Slot, kind: str, attribute: str, value: Any) -> Slot:
    """A slot made of one fact of a fallback, so that it is said like any other."""
    own = attribute == slot.attribute
    label = slot.label if own and slot.label else attribute.replace("_", " ")
    return Slot(slot.key, kind, attribute, "eq", value, label=label, unit=slot.unit if own else "")


def _with_label(slot: Slot, attribute: str, value: Any) -> str:
    return version(fact_slot(slot, "variant", attribute, value), value)


def _other_product(slot: Slot, value: dict[str, Any], stream: Stream) -> str:
    facts = [fact_slot(slot, "identify", name, fact) for name, fact in (value.get("identify") or {}).items()]
    if value.get("attribute") and value.get("value") is not None:
        facts.insert(0, fact_slot(slot, "variant", value["attribute"], value["value"]))
    return thing(the(squeeze(value["title"])), facts, stream, aside=True)


def named(slot: Slot) -> str:
    """How the customer calls the item of a slot."""
    return slot.item_name or (str(slot.value) if slot.kind == "item" else "that item")
