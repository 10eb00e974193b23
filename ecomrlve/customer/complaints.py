"""What the customer says is wrong with a cart or with the products shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecomrlve.customer.errands import tell
from ecomrlve.customer.items import agreement, named
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import yes_or_no
from ecomrlve.customer.phrases import IT, is_adjective, label_of, mod, short, value_words, version
from ecomrlve.customer.words import a, bare, common_noun, money, pick, squeeze, the
from ecomrlve.streams import Stream

# {name} is an item with "the", {title} a product with "the"; {got} is what is wrong and {want} what is right.
_FORMS: dict[str, tuple[str, ...]] = {
    "wrong_variant": (
        "that's {got} for {name}, but I need {want}",
        "you've picked {got} of {name}, I want {want}",
        "{name} should be {want}, not {got}",
        "with {name} it's {want} I need, and that's {got}",
        "{got} isn't right for {name}, please make it {want}",
        "for {name} I asked for {want}, this is {got}",
    ),
    "unknown_variant": (
        "that's not the right version of {name}, I need {want}",
        "{name} should be {want}",
        "please pick {want} for {name}",
        "for {name} it has to be {want}",
    ),
    "wrong_quantity": (
        "there {are} {got} of {name} in the cart, but I need {want} of {it}",
        "I don't want {got} of {name}, just {want} please",
        "{name}: I need {want}, not {got}",
        "please make it {want} of {name}, right now it's {got}",
        "the number of {name} is wrong, I want {want} and there {are} {got}",
    ),
    "not_wanted": (
        "I never asked for {title}",
        "{title} shouldn't be in there",
        "please take {title} out again",
        "what is {title} doing in my cart? I don't want that",
        "I don't need {title}",
        "there's something I didn't order: {title}",
    ),
    "missing": (
        "{name} {is} still missing",
        "you've left out {name}",
        "I don't see {name} in the cart",
        "what about {name}? I don't see {it} yet",
        "I still need {name}",
        "the cart doesn't have {name} yet",
    ),
    "violates": (
        "with {title} the {label} is {got}, and I need {want}",
        "{title} won't do: {label} {got}, but I want {want}",
        "for {title} I read {got} as the {label}, I'm looking for {want}",
        "the {label} of {title} is {got}, that doesn't suit me, I need {want}",
        "{title} has {got} for the {label}, I'm after {want}",
        "I can't use {title}, its {label} is {got} and I need {want}",
    ),
    "unknown_value": (
        "I can't see the {label} of {title}, and I need {want}",
        "nothing tells me the {label} of {title}, I want {want}",
        "for {title} the {label} isn't given, I'm after {want}",
        "{title} won't do, the {label} isn't known and I need {want}",
        "what's the {label} of {title}? I need {want}",
        "{title} doesn't state the {label}, I'm looking for {want}",
    ),
    # Yes/no attributes: {got} is "has no backlight" or "is dishwasher safe".
    "violates_answer": (
        "{title} {got}, and I need {want}",
        "{title} won't do, it {got}, I want {want}",
        "as far as I can see, {title} {got}; I'm after {want}",
        "the trouble is that {title} {got}, I need {want}",
        "I can't use {title}, it {got} and I want {want}",
        "{title} {got}, that doesn't suit me: I need {want}",
    ),
    "unknown_answer": (
        "I can't tell whether {title} {got}, and I need {want}",
        "nothing says that {title} {got}, I want {want}",
        "who knows whether {title} {got}? I'm after {want}",
        "I'd have to know that {title} {got}, since I need {want}",
        "it isn't said whether {title} {got}, I want {want}",
        "does anything say that {title} {got}? I need {want}",
    ),
    "wrong_type": (
        "{title} isn't what I meant, I want {want}",
        "{title} is something else, I'm looking for {want}",
        "I asked for {want}, and {title} is not that",
        "why show me {title}? I need {want}",
        "that's the wrong kind of thing, {title}: I'm after {want}",
    ),
    "sold_out": (
        "{title} is sold out",
        "I see that {title} is out of stock",
        "{title} can't be had any more",
        "you can't offer me {title}, there's none left",
        "it seems that {title} can't be had any more",
    ),
    "wrong_product": (
        "that's not quite the right one, for {name} I mean {want}",
        "{title} looks like it, but it isn't: I mean {name}, {want}",
        "you've got a lookalike there, {name} I want is {want}",
        "close, but {name} I'm after is {want}",
        "that one is different, I want {name}, {want}",
    ),
    "lookalike": (
        "{title} isn't {name} I meant",
        "that's a lookalike, not {name}",
        "you've got a different one there, I want {name}",
        "close, but {title} is not {name} I'm after",
        "wrong product: I meant {name}, and that's {title}",
    ),
    # Returns: {want} is a clause about what was bought, or about what is to happen.
    "wrong_line": (
        "{title} isn't what I want to send back",
        "that's the wrong thing, I'm keeping {title}",
        "I don't want to send back {title}",
        "you've taken {title}, and that's not what I meant",
        "not {title}, please undo that",
        "{title} should stay with me",
    ),
    "wrong_line_told": (
        "{title} isn't what I want to send back: {want}",
        "that's the wrong thing, I'm keeping {title}; {want}",
        "I don't want to send back {title}, {want}",
        "you've taken {title}, and that's not what I meant: {want}",
        "not {title}, please undo that; {want}",
    ),
    "wrong_return": (
        "that's not how I wanted it: {want}",
        "please change that: {want}",
        "what you've entered isn't right: {want}",
        "it isn't right like that, {want}",
        "you've got something wrong there: {want}",
        "that return isn't as it should be: {want}",
    ),
    # Projects: {got} is what it costs, {want} a clause about what it may cost.
    "over_budget": (
        "that comes to {got}, and {want}",
        "{got} is too much: {want}",
        "if I add it up, that's {got}; {want}",
        "all of that costs {got}, but {want}",
        "I can't pay {got}, {want}",
    ),
    "wrong_project_part": (
        "{title} isn't something I need for this",
        "I don't need {title} for it",
        "what would I do with {title}? That's not on my list",
        "{title} isn't on my list",
        "please leave out {title}, it's nothing I asked for",
    ),
    "tie_broken": (
        "those two don't go together: {want}",
        "they don't match, {want}",
        "that doesn't fit together: {want}",
        "the two of them don't fit, {want}",
        "please look again whether they match: {want}",
    ),
    # Substitutes: {want} is what the product that is sold out has.
    "not_compatible": (
        "with {title} the {label} is {got}, and mine was {want}",
        "{title} won't do: {label} {got}, it has to be {want}",
        "the {label} of {title} is {got}, I need {want} as with the one that's gone",
        "{title} doesn't fit, its {label} is {got} instead of {want}",
        "I can't use {title}, the {label} has to be {want} and not {got}",
    ),
    "not_known_compatible": (
        "I can't see the {label} of {title}, it has to be {want}",
        "nothing tells me the {label} of {title}, and mine was {want}",
        "for {title} the {label} isn't given, I need {want}",
        "{title} doesn't state the {label}, it has to be {want}",
        "what's the {label} of {title}? It has to be {want}",
    ),
}


def complaint(what: Mapping[str, Any], stream: Stream) -> str:
    """One complaint as a clause. It says the slot that the complaint holds and never an id.

    Args:
        what: One of the forms documented at `Grammar.say`.
        stream: For the wording.
    """
    kind = what["what"]
    slot: Slot | None = what.get("slot")
    fields: dict[str, str] = {}
    name = squeeze(what.get("item_name") or (named(slot) if slot is not None else ""))
    if name:
        fields |= {"name": the(name), "bare": bare(name), **agreement(name)}
    if what.get("title"):
        fields["title"] = the(squeeze(what["title"]))
    forms = kind
    if kind == "wrong_variant" and slot is not None:
        fields["want"] = version(slot, slot.value)
        if what.get("got") in (None, ""):
            forms = "unknown_variant"
        else:
            fields["got"] = version(slot, what["got"])
    elif kind == "wrong_quantity":
        fields["got"] = str(what["got"])
        fields["want"] = value_words(slot, slot.value) if slot is not None else "1"
        fields["are"] = "is" if what["got"] == 1 else "are"
    elif kind == "violates" and slot is not None:
        forms = _violation(what, slot, fields, stream)
    elif kind == "wrong_type":
        fields["want"] = a(common_noun(str(what["wanted"])))
    elif kind == "wrong_product":
        if slot is None:
            forms = "lookalike"
        else:
            fields["want"] = mod(slot, stream) if slot.kind == "identify" else short(slot, stream)
    elif kind in ("wrong_line", "wrong_return", "over_budget", "tie_broken"):
        if slot is not None:
            fields["want"] = tell(slot, stream, IT, "E_RETURN" if kind == "wrong_line" else "")
            forms = "wrong_line_told" if kind == "wrong_line" else kind
        if kind == "over_budget":
            fields["got"] = money(what["got"])
    elif kind == "not_compatible":
        # The attribute's unit is not known here; a substitute is told by words, such as the connector.
        plain = Slot("", "constraint", "", "eq", what["want"])
        fields |= {"label": squeeze(str(what["label"])), "want": value_words(plain, what["want"])}
        fields["got"] = "" if what.get("got") is None else value_words(plain, what["got"])
        forms = "not_compatible" if fields["got"] else "not_known_compatible"
    return pick(_FORMS[forms], stream).format(**fields)


def _violation(what: Mapping[str, Any], slot: Slot, fields: dict[str, str], stream: Stream) -> str:
    """Fill in a violated constraint; returns the name of its forms."""
    fields["label"] = label_of(slot)
    owner = the(named(slot)) if slot.item is not None else "one"
    fields["want"] = f"{owner} {mod(slot, stream)}"
    got, wanted = what.get("got"), yes_or_no(slot.value)
    if wanted is None:
        fields["got"] = "" if got is None else value_words(slot, got)
        return "unknown_value" if got is None else "violates"
    # A product that is not known to have it is asked for what the customer wants.
    has = wanted if got is None else yes_or_no(got) if yes_or_no(got) is not None else not wanted
    if is_adjective(fields["label"]):
        fields["got"] = f"is {fields['label']}" if has else f"isn't {fields['label']}"
    else:
        fields["got"] = f"has {fields['label']}" if has else f"has no {fields['label']}"
    return "unknown_answer" if got is None else "violates_answer"
