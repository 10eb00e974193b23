"""How a generated product is written about: the parts of its title and the sentences of its description."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ecomrlve.catalog.columns import plain_number
from ecomrlve.catalog.departments import TypeSpec, holds
from ecomrlve.catalog.product import Attribute
from ecomrlve.streams import Stream

LONGEST_TITLE = 9  # words
YES_NO = {"yes", "no"}
# Words of these attributes speak for themselves ("oak", "striped"); others need their label ("ceramic basket").
PLAIN = ("color", "material", "style", "pattern", "finish")
# A bare number with one of these units could be anything.
VAGUE_UNITS = frozenset("dB % points years months weeks days nights hours minutes seconds".split()) | {""}
# Labels that say how something is ("foldable") are denied with "not", things ("lid") with "no".
_ADJECTIVE = re.compile(
    r"(able|ible|proof|free|safe|less|ready|ed|ic|cut|vegan|raw|strung)$|^(on|with|in|for|of|made|free) "
)
_SMALL_WORDS = frozenset("a and by for from in of on or per the to with".split())


class Wording:
    """The words for every attribute value of one product type.

    Args:
        kind: The type.
        attributes: What is known about attributes.
    """

    def __init__(self, kind: TypeSpec, attributes: Mapping[str, Attribute]):
        self._variants = kind.variant.values
        units = [attributes[name].unit for name in kind.attributes]
        self._titles: dict[str, dict[Any, str]] = {}
        self._phrases: dict[str, dict[Any, str]] = {}
        for name, values in kind.attributes.items():
            info = attributes[name]
            named = info.unit in VAGUE_UNITS or units.count(info.unit) > 1
            self._titles[name] = {value: _title_part(info, value, named) for value in values}
            self._phrases[name] = {value: _phrase(info, value) for value in values}
        # A title that names what a variant may be ("10 cm" beside size 10) would seem to choose one.
        self.titled = [name for name in kind.attributes if not self._clashes(name)]

    def _clashes(self, name: str) -> bool:
        parts = " | ".join(self._titles[name].values())
        return any(holds(parts, value) for value in self._variants)

    def length(self, name: str) -> int:
        """The most words that a value of the attribute takes in a title."""
        return max(len(part.split()) for part in self._titles[name].values())

    def title(self, start: str, named: Sequence[str], values: Mapping[str, Any]) -> str:
        """A title: brand, series and noun, then the values of the named attributes."""
        parts = [part for name in named if (part := self._titles[name][values[name]])]
        if parts and len(named) == 1 and named[0] == "color":
            return f"{start} in {parts[0]}"
        return ", ".join([start, *parts])

    def description(self, plan: tuple[str, str, Sequence[str]], values: Mapping[str, Any]) -> str:
        """One or two sentences after a plan from `description_plan`."""
        before, after, named = plan
        phrases = [self._phrases[name][values[name]] for name in named]
        listed = " and ".join([", ".join(phrases[:-1]), phrases[-1]])
        return before + (listed if before.endswith(": ") else listed[0].upper() + listed[1:]) + after


def description_plan(stream: Stream, kind: TypeSpec, series: str, varying: Sequence[str]) -> tuple[str, str, list[str]]:
    """What comes before and after the attributes in a family's descriptions, and which attributes these are.

    Args:
        stream: Where the choices come from.
        kind: The product type.
        series: The family's series name.
        varying: Attributes in which the family's members differ; one of them is always mentioned.
    """
    use, feature = stream.choice(kind.uses), stream.choice(kind.features)
    first = stream.choice(varying)
    rest = stream.sample([name for name in kind.attributes if name != first], 1 + stream.integer(2))
    noun = kind.name[0].upper() + kind.name[1:]
    before, after = stream.choice(
        (
            ("", f". Made for {use}."),
            (f"{noun} for {use}: ", "."),
            (f"{series} is made for {use}: ", "."),
            ("", f". {feature}. Good for {use}."),
            (f"{noun} with {use} in mind. ", "."),
            ("", f", made with {use} in mind. {feature}."),
        )
    )
    return before, after, stream.shuffled([first, *rest])


def _title_part(info: Attribute, value: Any, named: bool) -> str:
    """A value as titles put it: ``5 L``, ``Black``, ``Ceramic Basket``, ``Waterproof``; empty for a plain "no"."""
    if info.kind == "number":
        if info.name == "age_from":
            return f"Ages {plain_number(value)}+"
        if info.name == "pack_size":
            return f"Pack of {plain_number(value)}"
        units = [word for word in info.unit.split() if len(word) < 4 or "/" in word]
        return _capitalised(_measured(info, value) if named else _amount(value, info.unit), units)
    if value in YES_NO:
        return _capitalised(info.label) if value == "yes" else ""
    return _capitalised(value if info.name in PLAIN else _with_label(info, value))


def _phrase(info: Attribute, value: Any) -> str:
    """A value in a sentence: ``5 L capacity``, ``in black``, ``ceramic basket``, ``not waterproof``."""
    if info.kind == "number":
        if info.name == "age_from":
            return f"for ages {plain_number(value)} and up"
        if info.name == "pack_size":
            return f"{plain_number(value)} to a pack" if value > 1 else "sold singly"
        return _measured(info, value)
    if value in YES_NO:
        if value == "yes":
            return info.label
        return f"not {info.label}" if _ADJECTIVE.search(info.label) else f"no {info.label}"
    if info.name == "color":
        return f"in {value}"
    if info.name == "material":
        return f"made of {value}"
    return f"{value} {info.name}" if info.name in PLAIN else _with_label(info, value)


def _amount(value: float, unit: str) -> str:
    return f"{plain_number(value)} {_singular(unit) if value == 1 else unit}".strip()


def _measured(info: Attribute, value: float) -> str:
    """A number with unit and label: ``5 L capacity``, ``for pets up to 4 kg``, ``6 pockets``."""
    if info.label.endswith((" up to", " for")):
        return f"{info.label} {_amount(value, info.unit)}"
    label = info.label.removeprefix("number of ").removeprefix("for ")
    if not info.unit or set(info.unit.split()) & set(label.split()):
        return f"{plain_number(value)} {_singular(label) if value == 1 else label}"
    return f"{_amount(value, info.unit)} {label}"


def _singular(words: str) -> str:
    """``hours`` → ``hour``; units such as ``s`` and ``CFM`` stay."""
    if words.endswith("ves"):
        return f"{words[:-3]}f"
    return words[:-1] if len(words) > 3 and words.endswith("s") and not words.endswith("ss") else words


def _with_label(info: Attribute, value: str) -> str:
    """A word with what it is said of: ``ceramic basket``, ``no lid``, ``for men``."""
    label = info.label.removesuffix(" type")
    if label.endswith(" for"):
        return f"for {value}"
    if value == "none":
        return f"no {label}"
    # "Firm" needs no "firmness", nor "desk stand" a "stand".
    words, own = (text.casefold().replace("-", " ").split() for text in (label, value))
    said = any(word.startswith(part.rstrip("s")) for word in words for part in own if len(part) > 2)
    return value if said else f"{value} {label}"


def _capitalised(text: str, kept: Sequence[str] = ()) -> str:
    """Title case that leaves names, small words and the words to keep as they are."""
    return " ".join(
        word if word in kept or (place and word in _SMALL_WORDS) else word[:1].upper() + word[1:]
        for place, word in enumerate(text.split())
    )
