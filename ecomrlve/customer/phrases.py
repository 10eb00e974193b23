"""How one slot is said, in three shapes that sentences are made of.

- `mod` follows a noun: "(an air fryer) under $25", "(the charger) in black";
- `need` is a clause of its own: "it shouldn't cost more than $25";
- `short` is a note: "max $25", "color: black".

Every shape holds the value verbatim and the unit, and says nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ecomrlve.customer import phrase_forms as forms
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import yes_or_no
from ecomrlve.customer.values import say_amount, say_days
from ecomrlve.customer.words import a, amount, is_number, is_plural, listed, number, pick, singular_unit, squeeze
from ecomrlve.streams import Stream


class Pronoun(NamedTuple):
    """What stands for the thing wanted: "it" for an air fryer, "they" and "them" for headphones."""

    subject: str
    object: str
    one: str


IT = Pronoun("it", "it", "one")
THEY = Pronoun("they", "them", "ones")

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


def say_value(slot: Slot, value: Any, stream: Stream) -> str:
    """A value as in `value_words`, in one of the ways in which people say it: "25 bucks"."""
    if is_number(value) and slot.attribute == "ship_days":
        return say_days(value, stream)
    if is_number(value) and slot.attribute != "rating":
        return say_amount(value, unit_of(slot), stream)
    return value_words(slot, value)


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
    special = forms.SPECIAL.get(slot.attribute)
    if special:
        return special.get(slot.operator, special["eq"])[shape]
    values = slot.value if isinstance(slot.value, list | tuple | set | frozenset) else (slot.value,)
    if any(is_number(value) for value in values):
        return _number_forms(slot, shape)
    answer = yes_or_no(slot.value)
    if answer is not None:
        return _answer_forms(label_of(slot), answer, shape)
    return forms.LOOKS[_look(slot)][shape]


def _number_forms(slot: Slot, shape: int) -> tuple[str, ...]:
    label = label_of(slot)
    counted = label[10:] if label.startswith("number of ") else label
    amounts = forms.AMOUNTS.get(slot.operator, forms.AMOUNTS["eq"])
    noun = " {counted}" if not slot.unit and is_plural(counted) else ""
    # "At least 4 pockets", "at least 3 modes": the label, or the unit in it, is itself what is counted.
    is_counted = noun or (slot.unit and slot.unit.lower() in label.lower().split())
    if not is_counted and shape == 2 and slot.operator == "eq":
        return ("{label} {v}", "{label}: {v}")
    shapes = (forms.COUNTED if is_counted else forms.MEASURED)[shape]
    return tuple(form.replace("{n}", words.replace("{v}", "{v}" + noun)) for words in amounts for form in shapes)


def is_adjective(label: str) -> bool:
    """Whether a yes/no label describes ("dishwasher safe") instead of naming a part ("backlight")."""
    return label.lower().rsplit(" ", 1)[-1].rsplit("-", 1)[-1].endswith(_ADJECTIVE_ENDS)


def _answer_forms(label: str, answer: bool, shape: int) -> tuple[str, ...]:
    if is_adjective(label):
        return (forms.IS if answer else forms.IS_NOT)[shape]
    return (forms.HAS if answer else forms.HAS_NOT)[shape]


def _counted(label: str, value: Any) -> str:
    """What a number counts: "pockets", or "pocket" if it is one."""
    counted = label[10:] if label.startswith("number of ") else label
    return singular_unit(counted) if value == 1 and " " not in counted else counted


def _said(slot: Slot, shape: int, stream: Stream, pronoun: Pronoun) -> str:
    label = label_of(slot)
    return pick(_forms(slot, shape), stream).format(
        v=say_value(slot, slot.value, stream),
        label=label,
        a_label=a(label),
        counted=_counted(label, slot.value),
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


def priority(slot: Slot, stream: Stream, pronoun: Pronoun = IT, *, alone: bool = False) -> str:
    """What matters first or second, as a clause; alone, the second does not go on from a first."""
    nouns = forms.PRIORITY_NOUNS.get(slot.attribute, ("the {label}",))
    if slot.attribute == "brand" and not slot.value:
        nouns = ("the brand", "which brand it is")
    value = squeeze(str(slot.value)) if slot.value else ""
    noun = pick(nouns, stream).format(v=value, it=pronoun.subject, label=label_of(slot))
    return pick(forms.FIRST if slot.rank != 2 else forms.SECOND_ALONE if alone else forms.SECOND, stream).format(n=noun)
