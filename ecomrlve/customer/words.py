"""English small change: articles, plurals, numbers, lists and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ecomrlve.streams import Stream

_SPACES = re.compile(r"\s+")
_LOOSE_MARKS = re.compile(r"\s+([,.;:!?])(?=\s|$)")
# "a USB cable", "a unicycle": a vowel letter that sounds like "you" or "one"; "an hour": a silent h.
_SOUNDS_CONSONANT = re.compile(r"(?:uni(?!m|n)|us[aeb]|uv\b|ut[ei]|uku|eu|one\b|once\b|ufo)", re.IGNORECASE)
_SOUNDS_VOWEL = re.compile(r"(?:hour|heir|honest|hono|8|11(?!\d)|18(?!\d))", re.IGNORECASE)
# Capitals that are read out letter by letter ("an LED lamp"), and those that are read as a word ("a RAM kit").
_SPELLED = re.compile(r"[AEFHILMNORSX][A-Z0-9]{1,3}\b")
_READ_AS_WORDS = {"RAM", "NAS", "SIM", "LAN", "HEPA", "MIDI", "SATA", "RAID", "MAC", "SUP", "SAN", "ROM"}
_SINGULAR_IN_S = ("ss", "us", "is", "canvas", "atlas", "lens", "gas", "news", "series", "chess", "bias")
_MASS_NOUNS = frozenset(
    "coffee tea shampoo conditioner sunscreen toothpaste yarn food litter oil rice pasta flour sugar honey soap lotion "
    "furniture luggage jewelry clothing equipment software paper fabric paint glue tape detergent bedding".split()
)
_UNIT_SINGULARS = {"feet": "foot", "inches": "inch"}
_GLUED_UNITS = ("%", '"', "″", "°")


_CHOICE = re.compile(r"\[([^\[\]]*)\]")


def pick(forms: Sequence[str], stream: Stream) -> str:
    """One of the forms, with every ``[this|that|]`` in it decided; choices may stand inside choices."""
    form = stream.choice(forms)
    while "[" in form:
        form = _CHOICE.sub(lambda match: stream.choice(match.group(1).split("|")), form)
    return form


@lru_cache(maxsize=32)
def statements(forms: tuple[str, ...]) -> tuple[str, ...]:
    """The forms that ask nothing: said again, a question would sound as if nobody had answered."""
    return tuple(form for form in forms if "?" not in form)


@lru_cache(maxsize=8192)
def squeeze(text: str) -> str:
    """`tidy` for names and values, which come again and again."""
    return tidy(text)


def tidy(text: str) -> str:
    """`text` with single spaces, none before a comma or a full stop, and none at its ends."""
    return _LOOSE_MARKS.sub(r"\1", _SPACES.sub(" ", text)).strip()


@lru_cache(maxsize=4096)
def article(noun: str) -> str:
    """``a`` or ``an``, by how the noun sounds."""
    first = noun.split(" ", 1)[0]
    if _SPELLED.match(first) and first.rstrip("s") not in _READ_AS_WORDS:
        return "an"
    if _SOUNDS_CONSONANT.match(noun):
        return "a"
    return "an" if noun[:1].lower() in ("a", "e", "i", "o", "u") or _SOUNDS_VOWEL.match(noun) else "a"


@lru_cache(maxsize=4096)
def is_plural(noun: str) -> bool:
    """Whether a noun phrase is a plural ("running shoes"), as far as its last word before a comma tells."""
    words = re.split(r"[,(–-] | [–-]| for | with | in ", noun, maxsplit=1)[0].split()
    last = words[-1].lower() if words else ""
    return last.endswith("s") and len(last) > 2 and not last.endswith(_SINGULAR_IN_S)


@lru_cache(maxsize=4096)
def a(noun: str) -> str:
    """The noun with its article (an air fryer, some coffee), and plurals as they are."""
    if is_plural(noun):
        return noun
    if noun.rsplit(" ", 1)[-1].lower() in _MASS_NOUNS:
        return f"some {noun}"
    return f"{article(noun)} {noun}"


@lru_cache(maxsize=4096)
def bare(name: str) -> str:
    """A name without the article in front of it."""
    name = squeeze(name)
    return name[4:] if name[:4].lower() == "the " else name


def the(name: str) -> str:
    """A name with exactly one "the" in front, unless it says whose it is."""
    name = bare(name)
    return name if name[:3].lower() == "my " else f"the {name}"


@lru_cache(maxsize=4096)
def common_noun(noun: str) -> str:
    """A product type as it stands in a sentence: "Air Fryer" becomes "air fryer", "USB hub" stays."""
    noun = squeeze(noun)
    words = noun.split()
    if all(word[:1].isupper() or not word[:1].isalpha() for word in words):
        return " ".join(word.lower() if word[1:].islower() or len(word) == 1 else word for word in words)
    return noun


def number(value: float | int) -> str:
    """A number as people write it: no exponent, no trailing ".0"."""
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(float(value))), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def money(value: float | int) -> str:
    """``$25`` or ``$24.50``."""
    return f"${int(value)}" if float(value).is_integer() else f"${value:.2f}"


@lru_cache(maxsize=1024)
def singular_unit(unit: str) -> str:
    """The unit after the number 1: "hours" → "hour"."""
    if unit in _UNIT_SINGULARS:
        return _UNIT_SINGULARS[unit]
    if not unit.isalpha() or not unit.endswith("s") or unit.endswith("ss") or len(unit) < 3 or unit == "lens":
        return unit
    return unit[:-2] if unit.endswith(("ches", "shes", "xes")) else unit[:-1]


def is_number(value: Any) -> bool:
    """Whether a value is a number to compare; True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def amount(value: Any, unit: str) -> str:
    """A value with its unit: "10 hours", "80%", "$5", or the words as they are."""
    if not is_number(value):
        return squeeze(str(value))
    if unit == "$":
        return money(value)
    if not unit:
        return number(value)
    if value == 1:
        unit = singular_unit(unit)
    return number(value) + unit if unit.startswith(_GLUED_UNITS) else f"{number(value)} {unit}"


def listed(parts: Sequence[str], word: str = "and") -> str:
    """``a, b and c``; with semicolons where a part has commas of its own."""
    if len(parts) < 2:
        return "".join(parts)
    if any("," in part for part in parts):
        if len(parts) == 2:
            return f"{parts[0]}, {word} {parts[1]}"
        return "; ".join(parts[:-1]) + f"; {word} {parts[-1]}"
    return ", ".join(parts[:-1]) + f" {word} {parts[-1]}"


def capitalised(text: str) -> str:
    """`text` with a capital in front, unless its first word has its own ("iPad")."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first == first.lower() else text


def sentence(text: str, end: str = ".") -> str:
    """`text` as a sentence: one capital, one mark at the end."""
    text = text.strip()
    if not text:
        return ""
    return capitalised(text) + ("" if text[-1] in ".!?…" else end)
