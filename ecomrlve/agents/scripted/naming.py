"""Finding the things that a customer names: product titles and product types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from ecomrlve.agents.scripted.reading import blank, normal_name, sentences

CLOSE = 80.0  # per cent that a customer's word for a thing must have in common with a name
MOST_BARE = 3  # words of a thing in a list that has no article

_THINGS = re.compile(r"(?= (?:an?|some) ((?:\w+ ){1,3}))")
_THING_ENDS = re.compile(r" (?:for|that|which|to|with|in|from|by|i|rated|made|under|of|or|is|as|without) .*$")
_LIST_PART = re.compile(r" , | and ")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that stands in a text, and where."""

    name: str
    start: int
    end: int


def mentions(text: str, names: Iterable[str]) -> list[Mention]:
    """Where a normal text holds which of the normal names, from left to right; of two for one place, the longer."""
    found = []
    for name in sorted({name for name in names if f" {name} " in text}, key=lambda name: (-len(name), name)):
        place = text.find(f" {name} ")
        while place >= 0:
            found.append(Mention(name, place + 1, place + 1 + len(name)))
            text = blank(text, place + 1, place + 1 + len(name))
            place = text.find(f" {name} ")
    return sorted(found, key=lambda mention: mention.start)


def things(message: str) -> list[str]:
    """What a message seems to ask for, in the customer's own words, from the sentence that names most.

    That is what follows "a", "an" or "some", and what stands between or behind such things in a list.
    """
    most: list[str] = []
    for sentence in sentences(f" {normal_name(message)} . "):
        found: list[str] = []
        for part in _LIST_PART.split(sentence):
            named = [_THING_ENDS.sub("", f" {thing}").strip() for thing in _THINGS.findall(f" {part.strip()} ")]
            bare = [part.strip()] if found and len(part.split()) <= MOST_BARE else []
            found += named or bare
        if len(found) > len(most):
            most = found
    return [thing for thing in dict.fromkeys(most) if thing]


def closest(thing: str, names: Sequence[str]) -> str:
    """The one of some names that a customer's word for a thing comes close to, or empty."""
    near = process.extractOne(thing, names, scorer=fuzz.ratio, score_cutoff=CLOSE)
    return near[0] if near else ""


def types_named(text: str, types: Iterable[str]) -> list[str]:
    """The product types that a normal text names, in its order, each once; singular and plural are the same."""
    forms: dict[str, str] = {}
    for kind in types:
        name = normal_name(kind)
        forms |= {name: kind, name.removesuffix("s") if name.endswith("s") else f"{name}s": kind}
    return list(dict.fromkeys(forms[mention.name] for mention in mentions(text, forms)))
