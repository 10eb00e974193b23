"""What a customer wants a product to be like: requirements and priorities, read from normal texts.

A number belongs to the attribute whose name stands near it, a word to the attribute that takes it as a value, and a
yes or no to the attribute that is named itself. What is said later replaces what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.agents.memory import satisfies, value_of
from ecomrlve.agents.scripted.reading import COMMON, NOT, Amount, amounts, blank, sentences
from ecomrlve.agents.scripted.shelf import Shelf, alike, name_words, naming
from ecomrlve.rewards import priority_utility

ENOUGH_OF_A_NAME = 0.5  # share of an attribute's name that must be said
OBSERVED = 0.3  # what it adds that products have exactly this number
WORDS_BEFORE, LETTERS_BEHIND = 9, 20  # how far from a number its attribute is named
ORDINARY = frozenset((*COMMON, "left", "right", "other"))  # words that may be no value at all
TAKEN_BACK = re.compile(
    r" (?:instead of|rather than|(?:and )?no longer) [^.;:]*|, not [^.;:,]* any more|, (?:and )?not [^.;:,]+ $"
)

_PRIORITY = re.compile(
    r" (?:most important|matters?|priority|comes (?:first|second)|above all|most of all|counts most|care about"
    r"|after that|then comes|in second place) "
)
_SECOND = re.compile(r" (?:second|after that|then comes|next) ")
_DIMENSIONS = {
    "price": re.compile(r" (?:price|cheap) "),
    "rating": re.compile(r" (?:rating|reviews) "),
    "ship_days": re.compile(r" (?:delivery|shipping) "),
    "brand": re.compile(r" brand "),
}
_DELIVERY = re.compile(r" (?:deliver\w*|arriv\w*|within|here|hands|wait|get) ")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One requirement: attribute, operator (``eq``, ``in``, ``le``, ``ge``) and value."""

    attribute: str
    operator: str
    value: Any

    def holds(self, hit: dict[str, Any]) -> bool:
        """Whether a hit meets it, as far as its fields show."""
        return satisfies(hit, self.attribute, self.operator, self.value)


@dataclass(slots=True)
class Wishes:
    """What was understood so far.

    Attributes:
        rules: Attribute → the requirement on it.
        priorities: Rank (1 or 2) → attribute, and the brand if it is one.
    """

    rules: dict[str, Rule] = field(default_factory=dict)
    priorities: dict[int, tuple[str, str]] = field(default_factory=dict)

    def hear(self, text: str, shelf: Shelf, about: Sequence[str] = ()) -> None:
        """Take in a normal text.

        Args:
            text: What was said.
            shelf: What can be said of the products.
            about: Names of what it is about, whose words mean nothing else.
        """
        rules: dict[str, Rule] = {}
        for sentence in sentences(text):
            sentence = TAKEN_BACK.sub(" ", sentence)
            for name in about:
                sentence = sentence.replace(f" {name} ", " it ")
            if not self._hear_priorities(sentence, shelf):
                for rule in requirements(sentence, shelf):
                    rules[rule.attribute] = _either(rules[rule.attribute], rule) if rule.attribute in rules else rule
        self.rules |= rules

    def _hear_priorities(self, sentence: str, shelf: Shelf) -> bool:
        """Note what matters most and second; whether the sentence says that at all."""
        if not _PRIORITY.search(sentence):
            return False
        places = [(match.start(), name) for name, cue in _DIMENSIONS.items() if (match := cue.search(sentence))]
        found = [(name, _brand_in(sentence, shelf) if name == "brand" else "") for _, name in sorted(places)]
        if len(found) == 1:
            self.priorities[2 if _SECOND.search(sentence) else 1] = found[0]
        elif found:
            self.priorities[1], self.priorities[2] = found[:2]
        return bool(found)

    def fit(self, hit: dict[str, Any]) -> int:
        """How many of the requirements a hit meets."""
        return sum(rule.holds(hit) for rule in self.rules.values())

    def fitting(self, hits: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The hits in stock that meet the most requirements: all of them, where there are such hits."""
        stocked = [(self.fit(hit), hit) for hit in hits if hit["stock"] > 0]
        most = max((met for met, _ in stocked), default=0)
        return [hit for met, hit in stocked if met == most]

    def best_first(self, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The hits in the order of the priorities, as the list reward weighs them."""
        values = [[_goodness(hit, *priority) for hit in hits] for _, priority in sorted(self.priorities.items())]
        scores = priority_utility(values) if values else [0.0] * len(hits)
        return [hits[number] for number in sorted(range(len(hits)), key=lambda number: -scores[number])]


def requirements(sentence: str, shelf: Shelf) -> list[Rule]:
    """The requirements in one sentence of a normal text: numbers first, then words, then yes and no."""
    found: list[Rule] = []
    left, start = sentence, 0
    for amount in amounts(sentence):
        attribute = _measured(amount, sentence[start : amount.start], sentence[amount.end :], shelf)
        start = amount.end
        if attribute:
            usual = {"price": "le", "rating": "ge", "ship_days": "le"}.get(attribute, "eq")
            operator = usual if amount.operator == "eq" else amount.operator
            value = int(amount.number) if amount.number.is_integer() else amount.number
            found.append(Rule(attribute, operator, value))
            left = blank(_without_name(left, attribute, amount.end + LETTERS_BEHIND), amount.start, amount.end)
    for words in shelf.longest_first:
        place = left.find(f" {words} ")
        attribute = _attribute_of(words, sentence, shelf) if place >= 0 else ""
        if attribute:
            left = blank(left, place + 1, place + 1 + len(words))
            found.append(Rule(attribute, "eq", shelf.words[words][attribute]))
    for attribute in {rule.attribute: None for rule in found}:
        left = _without_name(left, attribute, len(left))
    return found + _answers(left, shelf)


def _measured(amount: Amount, before: str, behind: str, shelf: Shelf) -> str:
    """The attribute that an amount is about, or empty."""
    if amount.unit in ("$", "star", "stars"):
        return "price" if amount.unit == "$" else "rating"
    near = (*before.split()[-WORDS_BEFORE:], amount.unit, *behind[:LETTERS_BEHIND].split()[:2])
    scores = {name: naming(name, near) for name in shelf.numbers}
    named = [name for name, score in scores.items() if score >= ENOUGH_OF_A_NAME]
    if named:
        return max(named, key=lambda name: scores[name] + OBSERVED * (amount.number in shelf.numbers[name]))
    if amount.unit in ("day", "days") and _DELIVERY.search(f" {before} {behind} "):
        return "ship_days"
    observed = [name for name, taken in shelf.numbers.items() if amount.number in taken]
    return observed[0] if len(observed) == 1 else ""


def _attribute_of(words: str, sentence: str, shelf: Shelf) -> str:
    """Which of the attributes that take a value is meant by it; empty where it may be no value at all."""
    named = {attribute: naming(attribute, sentence.split()) for attribute in shelf.words[words]}
    best = max(named, key=lambda attribute: (named[attribute], attribute == "color", attribute == "material"))
    ordinary = all(word in ORDINARY or len(word) < 3 for word in words.split())
    return "" if ordinary and named[best] < ENOUGH_OF_A_NAME else best


def _answers(left: str, shelf: Shelf) -> list[Rule]:
    """What must or must not be, by the names of yes/no attributes among the words that are left."""
    found = []
    for attribute in sorted(shelf.answers, key=lambda name: -naming(name, left.split())):
        words = left.split()
        if naming(attribute, words) >= ENOUGH_OF_A_NAME:
            first = next(number for number, word in enumerate(words) if naming(attribute, (word,)))
            before, behind = words[max(0, first - 4) : first], words[first : first + 5]
            denied = re.search(rf" {NOT} ", f" {' '.join(before)} ") or ": no" in " ".join(behind)
            found.append(Rule(attribute, "eq", "no" if denied else "yes"))
            left = _without_name(left, attribute, len(left))
    return found


def _without_name(text: str, attribute: str, end: int) -> str:
    """The text with spaces in place of the words that name an attribute, where they stand last before a place."""
    for name in name_words(attribute):
        places = [match.span() for match in _WORD.finditer(text, 0, end) if alike(name, match.group())]
        text = blank(text, *places[-1]) if places else text
    return text


def _either(one: Rule, other: Rule) -> Rule:
    """Two requirements on one attribute in one message: either value will do, or the later number counts."""
    if one.operator in ("le", "ge") or other.operator in ("le", "ge"):
        return other
    values = one.value if one.operator == "in" else [one.value]
    return Rule(one.attribute, "in", [*values, other.value]) if other.value not in values else one


def _brand_in(sentence: str, shelf: Shelf) -> str:
    brands = (shelf.words[words].get("brand", "") for words in shelf.longest_first if f" {words} " in sentence)
    return next(filter(None, brands), "")


def _goodness(hit: dict[str, Any], attribute: str, brand: str) -> float:
    """How good a hit is on what matters, higher is better."""
    value = value_of(hit, attribute)
    if attribute == "brand":
        return float(value == brand)
    if value is None:
        return float("-inf")
    return float(value) if attribute == "rating" else -float(value)
