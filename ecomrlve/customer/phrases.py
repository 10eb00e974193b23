"""How one slot is said, in three shapes that sentences are made of.

- `mod` follows a noun: "(an air fryer) under $25", "(the charger) in black";
- `need` is a clause of its own: "it shouldn't cost more than $25";
- `short` is a note: "max $25", "color: black".

Every shape holds the value verbatim and the unit, and says nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import yes_or_no
from ecomrlve.customer.words import a, amount, is_number, is_plural, listed, number, squeeze
from ecomrlve.streams import Stream


class Pronoun(NamedTuple):
    """What stands for the thing wanted: "it" for an air fryer, "they" and "them" for headphones."""

    subject: str
    object: str
    one: str


IT = Pronoun("it", "it", "one")
THEY = Pronoun("they", "them", "ones")

# Attribute → operator → (mods, needs, shorts). {v} is the value, {it} and {obj} the pronoun.
_Forms = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_SPECIAL: dict[str, dict[str, _Forms]] = {
    "price": {
        "le": (
            ("under {v}", "for at most {v}", "for {v} or less", "for no more than {v}", "within a budget of {v}"),
            (
                "{it} shouldn't cost more than {v}",
                "my budget is {v}",
                "I can spend at most {v}",
                "I'd like to stay under {v}",
                "the price should be {v} or less",
                "{v} is the most I can pay",
            ),
            ("under {v}", "max {v}", "{v} or less", "budget {v}", "at most {v}"),
        ),
        "ge": (
            ("for at least {v}", "priced at {v} or more", "for no less than {v}"),
            ("{it} should cost at least {v}", "the price should be {v} or more", "I want to spend at least {v}"),
            ("{v} or more", "at least {v}", "min {v}"),
        ),
        "eq": (
            ("for {v}", "priced at {v}", "at a price of {v}"),
            ("the price should be {v}", "{it} should cost {v}", "I want to pay exactly {v}"),
            ("price: {v}", "{v} exactly", "priced at {v}"),
        ),
    },
    "rating": {
        "le": (
            ("rated at most {v}", "with a rating of {v} or less", "with no more than {v}"),
            ("the rating should be at most {v}", "{it} should have {v} or less", "I want at most {v}"),
            ("at most {v}", "max {v}", "{v} or less"),
        ),
        "ge": (
            ("rated at least {v}", "with a rating of at least {v}", "rated {v} or better", "with {v} or more"),
            (
                "the rating should be at least {v}",
                "I want at least {v} in the reviews",
                "{it} should have {v} or more",
                "nothing below {v}",
                "the reviews should come to {v} or better",
            ),
            ("at least {v}", "{v} or better", "{v} and up", "min {v}"),
        ),
        "eq": (
            ("rated {v}", "with a rating of {v}", "with {v}"),
            ("the rating should be {v}", "{it} should be rated {v}", "{it} should have {v}"),
            ("rating: {v}", "rated {v}", "{v}"),
        ),
    },
    "ship_days": {
        "le": (
            ("delivered within {v}", "arriving within {v}", "with delivery in {v} or less", "here in at most {v}"),
            (
                "{it} must arrive within {v}",
                "I need {obj} within {v}",
                "delivery shouldn't take longer than {v}",
                "{it} should be here in {v} or less",
                "I can wait {v} at most",
            ),
            ("delivery within {v}", "{v} or less for delivery", "delivery in at most {v}", "here within {v}"),
        ),
        "ge": (
            ("delivered in {v} or more", "arriving in {v} at the earliest", "with delivery in no less than {v}"),
            ("{it} should arrive in {v} at the earliest", "delivery should take at least {v}"),
            ("delivery in {v} at the earliest", "delivery in at least {v}", "delivery: {v} or more"),
        ),
        "eq": (
            ("delivered in {v}", "arriving in {v}", "with delivery in {v}"),
            ("{it} should arrive in {v}", "delivery should take {v}", "I want {obj} in {v}"),
            ("delivery in {v}", "delivery: {v}", "here in {v}"),
        ),
    },
    "brand": {
        "eq": (
            ("from {v}", "by {v}", "made by {v}", "from the brand {v}"),
            ("{it} must be from {v}", "the brand should be {v}", "I only want {v}", "I want {obj} from {v}"),
            ("brand: {v}", "from {v}", "by {v} only", "{v} brand"),
        ),
    },
}  # fmt: skip
_LOOKS: dict[str, _Forms] = {
    "color": (
        ("in {v}",),
        ("I want {obj} in {v}", "the {label} should be {v}", "{it} should come in {v}", "I'd like {v} for the {label}"),
        ("in {v}", "{label}: {v}", "{v} for the {label}"),
    ),
    "size": (
        ("in size {v}",),
        ("the size should be {v}", "I need size {v}", "{it} should come in size {v}", "I take size {v}"),
        ("size {v}", "in size {v}", "size: {v}"),
    ),
    "material": (
        ("made of {v}", "in {v}"),
        ("{it} should be made of {v}", "the {label} should be {v}", "I'd like {v} as the {label}"),
        ("made of {v}", "{label}: {v}", "{v} as the {label}"),
    ),
    "": (
        ("with {v} as the {label}", "with {label} {v}"),
        (
            "the {label} should be {v}",
            "for the {label} I need {v}",
            "I want {v} as the {label}",
            "when it comes to the {label}, I need {v}",
        ),
        ("{label}: {v}", "{v} as the {label}", "{label} {v}"),
    ),
}
_AMOUNTS = {
    "le": ("at most {v}", "no more than {v}", "{v} or less", "up to {v}"),
    "ge": ("at least {v}", "no less than {v}", "{v} or more"),
    "eq": ("{v}",),
}
_ADJECTIVE_ENDS = (
    "safe", "proof", "resistant", "able", "ible", "less", "friendly", "compatible", "free", "certified", "approved",
    "organic", "vegan", "ready", "automatic", "rated", "adjustable", "insulated", "lined", "scented", "cushioned",
    "padded", "heated", "assembled", "included", "free", "tight", "stick",
)  # fmt: skip


def label_of(slot: Slot) -> str:
    """How people call the attribute."""
    return squeeze(slot.label or slot.attribute.replace("_", " "))


def value_words(slot: Slot, value: Any) -> str:
    """A value of the slot's attribute in words: "$25", "10 hours", "black or white"."""
    if isinstance(value, list | tuple | set | frozenset):
        # "10 or 20 hours", but "$10 or $20": a unit in front belongs to each.
        if all(is_number(one) for one in value) and unit_of(slot) != "$":
            values = list(value)
            return listed([*(number(one) for one in values[:-1]), value_words(slot, values[-1])], "or")
        return listed([value_words(slot, one) for one in value], "or")
    answer = yes_or_no(value)
    if answer is not None:
        return "yes" if answer else "no"
    return amount(value, unit_of(slot))


def unit_of(slot: Slot) -> str:
    """The unit, also for the attributes whose unit goes without saying."""
    return {"price": "$", "rating": "stars", "ship_days": "days"}.get(slot.attribute, slot.unit)


def _look(slot: Slot) -> str:
    words = set(slot.attribute.lower().split("_")) | set(label_of(slot).lower().split())
    if words & {"color", "colour", "finish"}:
        return "color"
    if words == {"size"}:
        return "size"
    return "material" if words & {"material", "fabric"} else ""


def _forms(slot: Slot, shape: int) -> tuple[str, ...]:
    special = _SPECIAL.get(slot.attribute)
    if special:
        return special.get(slot.operator, special["eq"])[shape]
    values = slot.value if isinstance(slot.value, list | tuple | set | frozenset) else (slot.value,)
    if any(is_number(value) for value in values):
        return _number_forms(slot, shape)
    answer = yes_or_no(slot.value)
    if answer is not None:
        return _answer_forms(label_of(slot), answer, shape)
    return _LOOKS[_look(slot)][shape]


def _number_forms(slot: Slot, shape: int) -> tuple[str, ...]:
    label = label_of(slot)
    counted = label[10:] if label.startswith("number of ") else label
    amounts = _AMOUNTS.get(slot.operator, _AMOUNTS["eq"])
    if not slot.unit and is_plural(counted):
        # "at least 4 pockets": the label itself is what is counted.
        nouns = [words.replace("{v}", "{v} {counted}") for words in amounts]
        return tuple(
            form.replace("{n}", noun)
            for noun in nouns
            for form in (("with {n}",), ("{it} should have {n}", "I need {n}"), ("{n}", "with {n}"))[shape]
        )
    if slot.unit and slot.unit.lower() in label.lower().split():
        return tuple(
            form.replace("{n}", words)
            for words in amounts
            for form in (("with {n}",), ("{it} should have {n}", "I need {n}"), ("{n}", "with {n}"))[shape]
        )
    if shape == 2 and slot.operator == "eq":
        return ("{label} {v}", "{label}: {v}")
    shapes = (
        ("with {a_label} of {n}",),
        ("the {label} should be {n}", "I need {a_label} of {n}", "{it} should have {a_label} of {n}"),
        ("{label}: {n}", "{label} of {n}"),
    )
    return tuple(form.replace("{n}", words) for words in amounts for form in shapes[shape])


def is_adjective(label: str) -> bool:
    """Whether a yes/no label describes ("dishwasher safe") instead of naming a part ("backlight")."""
    return label.lower().rsplit(" ", 1)[-1].rsplit("-", 1)[-1].endswith(_ADJECTIVE_ENDS)


def _answer_forms(label: str, answer: bool, shape: int) -> tuple[str, ...]:
    if is_adjective(label):
        if answer:
            return (
                ("that should be {label}", "which must be {label}"),
                ("{it} must be {label}", "{it} should be {label}", "{label} is a must"),
                ("{label}: yes", "{label}", "must be {label}"),
            )[shape]
        return (
            ("that should not be {label}", "which must not be {label}"),
            ("{it} must not be {label}", "{it} shouldn't be {label}", "I want {obj} not {label}"),
            ("{label}: no", "not {label}"),
        )[shape]
    if answer:
        return (
            ("with {label}", "that should come with {label}"),
            ("{it} must have {label}", "{it} should come with {label}", "I need {obj} with {label}"),
            ("with {label}", "{label}: yes"),
        )[shape]
    return (
        ("without {label}", "that should come without {label}"),
        ("{it} should come without {label}", "I want {obj} without {label}", "no {label} please"),
        ("without {label}", "{label}: no", "no {label}"),
    )[shape]


def _said(slot: Slot, shape: int, stream: Stream, pronoun: Pronoun) -> str:
    label = label_of(slot)
    return stream.choice(_forms(slot, shape)).format(
        v=value_words(slot, slot.value),
        label=label,
        a_label=a(label),
        counted=label[10:] if label.startswith("number of ") else label,
        it=pronoun.subject,
        obj=pronoun.object,
    )


def mod(slot: Slot, stream: Stream) -> str:
    """The slot as it follows a noun: ``under $25``."""
    if slot.kind == "variant":
        return _variant_mod(slot, stream)
    if slot.kind == "identify":
        return f"the one {_said(slot, 0, stream, IT)}"
    return _said(slot, 0, stream, IT)


def need(slot: Slot, stream: Stream, pronoun: Pronoun = IT) -> str:
    """The slot as a clause: ``it shouldn't cost more than $25``."""
    if slot.kind == "identify":
        return f"I mean {mod(slot, stream)}"
    return _said(slot, 1, stream, pronoun)


def short(slot: Slot, stream: Stream) -> str:
    """The slot as a note: ``max $25``."""
    if slot.kind == "variant":
        return _variant_short(slot, stream)
    if slot.kind == "identify":
        return mod(slot, stream)
    return _said(slot, 2, stream, IT)


def version(slot: Slot, value: Any) -> str:
    """A variant by a value of its attribute: "size XS", "the Bamboo version", "the version with lid"."""
    words = value_words(slot, value)
    answer = yes_or_no(value)
    if answer is not None:
        label = label_of(slot)
        if is_adjective(label):
            return f"the {label} version" if answer else f"the version that's not {label}"
        return f"the version {'with' if answer else 'without'} {label}"
    return f"size {words}" if _look(slot) == "size" else f"the {words} version"


def _variant_mod(slot: Slot, stream: Stream) -> str:
    words = value_words(slot, slot.value)
    look = _look(slot)
    if look == "size" or yes_or_no(slot.value) is not None:
        return f"in {version(slot, slot.value)}"
    forms: list[str] = [f"in the {words} version", f"with {label_of(slot)} {words}"]
    if look == "color":
        forms = [f"in {words}", f"in the {words} version"]
    elif look == "material":
        forms = [f"in {words}", f"in the {words} version", f"made of {words}"]
    return stream.choice(forms)


def _variant_short(slot: Slot, stream: Stream) -> str:
    words = value_words(slot, slot.value)
    if _look(slot) == "size" or yes_or_no(slot.value) is not None:
        return version(slot, slot.value)
    return stream.choice((f"the {words} version", f"{label_of(slot)}: {words}", f"{label_of(slot)} {words}"))


_PRIORITY_NOUNS: dict[str, tuple[str, ...]] = {
    "price": ("the price", "a low price", "how cheap {it} can be"),
    "rating": ("the rating", "having good reviews", "a high rating"),
    "ship_days": ("quick delivery", "fast shipping", "an early delivery"),
    "brand": ("getting {v} as the brand", "the brand {v}", "having {v} as the brand"),
}
_FIRST = (
    "what matters most to me is {n}",
    "the most important thing for me is {n}",
    "most of all I care about {n}",
    "my first priority is {n}",
    "{n} matters most to me",
    "{n} comes first for me, that's my top priority",
)
_SECOND = (
    "after that, {n}",
    "in second place, {n} matters to me",
    "my second priority is {n}",
    "next I care about {n}",
    "then comes {n}",
    "the second most important thing is {n}",
)


def priority(slot: Slot, stream: Stream, pronoun: Pronoun = IT) -> str:
    """What matters first or second, as a clause."""
    forms = _PRIORITY_NOUNS.get(slot.attribute, ("the {label}",))
    if slot.attribute == "brand" and not slot.value:
        forms = ("the brand", "which brand it is")
    value = squeeze(str(slot.value)) if slot.value else ""
    noun = stream.choice(forms).format(v=value, it=pronoun.subject, label=label_of(slot))
    return stream.choice(_FIRST if slot.rank != 2 else _SECOND).format(n=noun)
