"""What a customer can say about products of one kind: the attributes and values that their hits show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from ecomrlve.agents.scripted.reading import normal_name

# Words in an attribute's name that tell it from no other.
VAGUE = frozenset("kind type count grade style form level option number of for from to by with in on after".split())
SHARE_ALIKE = 0.55  # of the longer word's letters that two words of one stem have in common at their beginning
SHORTEST_STEM = 4


class Shelf:
    """The vocabulary of some hits or order lines.

    Attributes:
        numbers: Attribute → numbers it takes; price, rating and delivery time are apart.
        words: Value as it stands in normal texts → attributes that take it, with the value as shown.
        answers: Attributes that are yes or no.
        longest_first: The keys of `words`.
    """

    def __init__(self, hits: Iterable[Mapping[str, Any]]):
        self.numbers: dict[str, set[float]] = {}
        self.words: dict[str, dict[str, str]] = {}
        self.answers: list[str] = []
        known: set[tuple[str, Any]] = set()
        for hit in hits:
            for attribute, value in (("brand", hit.get("brand")), *hit["attributes"].items()):
                if value is not None and (attribute, value) not in known:
                    known.add((attribute, value))
                    self._add(attribute, value)
        self.longest_first = sorted(self.words, key=lambda words: (-len(words), words))

    def _add(self, attribute: str, value: Any) -> None:
        if not isinstance(value, str):
            self.numbers.setdefault(attribute, set()).add(float(value))
        elif value not in ("yes", "no"):
            self.words.setdefault(normal_name(value), {})[attribute] = value
        elif attribute not in self.answers:
            self.answers.append(attribute)


@lru_cache(maxsize=4096)
def name_words(attribute: str) -> tuple[str, ...]:
    """The words of an attribute's name that tell it from others."""
    words = attribute.split("_")
    return tuple(word for word in words if word not in VAGUE) or tuple(words)


@lru_cache(maxsize=65536)
def alike(one: str, other: str) -> bool:
    """Whether two words seem to be forms of one: "charging" and "charge", "ports" and "port"."""
    if one == other:
        return True
    shortest, longest = sorted((len(one), len(other)))
    common = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), shortest)
    return common >= SHARE_ALIKE * longest and common >= min(SHORTEST_STEM, max(3, shortest))


def naming(attribute: str, words: Iterable[str]) -> float:
    """Which share of an attribute's name stands among some words."""
    names = name_words(attribute)
    words = tuple(words)
    return sum(any(alike(name, word) for word in words) for name in names) / len(names)
