"""Plain reading of what a customer writes: words put right, sentences, amounts with their bounds.

Everything works on a *normal text*: lower case, one space around every word and mark, no apostrophes, hyphens as
spaces, and words that nobody knows replaced by the nearest word that was seen in the shop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA

SHORTEST = 4  # letters of a word that may be mistyped beyond recognition
LONG = 6  # letters from which a word may be mistyped twice
MOST_WORDS = 12  # of a sentence that says that all is told
NUMBER_WORDS = {word: count for count, word in enumerate("one two three four five six seven eight nine".split(), 1)}
CHAT = {"u": "you", "ur": "your", "pls": "please", "thx": "thanks", "abt": "about", "bc": "because"}
# English that customers of any shop use: never taken for a mistyped word, and what a mistyped word may be meant to be.
COMMON = tuple(
    """price least most more less than reviews rating rated delivery second first matters nothing everything brand order
    about above after again ahead all already also altogether always amount another anything are arent arrive arrived
    arriving back because been before below best better between bought break budget buying cant care cart change changed
    cheap color come comes coming cost costs could couldnt counts credit customer damaged days deliver delivered
    department described description different does doesnt dollars done dont each early else enough even every exactly
    exchange fast find fine fits forget from give given good great half have having hello help here high home hours idea
    important instead into isnt item just keep know last late later leave like list little long longer look looking made
    make many maximum maybe mean meant mind minimum minutes money morning much must mustnt near need needs never next
    none number offer once only open opened orders other over package paid part parts pay payment people pieces place
    please point possible priority product purchase quantity quick quite rather really reason received recommend refund
    replacement return returned right said same sell send sent should shouldnt show since skip sold some someone
    something soon sorry spend stars start status stay still stock store such suggest sure take tell thank thanks that
    thats their them then there these they thing things think third this those though three time times today together
    told tops total track trust under unit units until unopened used version very wait want wanted wasnt week weeks well
    were what whats when where which while will wish with within without wont word works would wouldnt wrong years
    your""".split()
)
_COMMON_BY_LETTER = {letter: [word for word in COMMON if word[0] == letter] for letter in {word[0] for word in COMMON}}
SOLD_OUT = r"(?:sold out|out of stock|gone|not available|cant get)"
NOT = r"(?:not|no|never|nothing|without|dont|doesnt|isnt|arent|wont|wouldnt|shouldnt|mustnt|cant|couldnt)"
NO_UNITS = frozenset("or at and is in for max maximum min minimum tops to as with x of".split())

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\s\w]")
_LOOSE = (
    (re.compile(r"(?<=\w)['’](?=\w)"), ""), (re.compile(r"\bw/o\b"), "without"), (re.compile(r"\bw/"), "with "),
    (re.compile(r"(?<=\w)[-–](?=\w)"), " "),
)  # fmt: skip
_SENTENCE = re.compile(r" [.?!;](?= )")
_NOTHING_ELSE = re.compile(
    r" (?:nothing\w*|everything|thats all|that was it|told you all|all good|exactly it|just right|looks right"
    r"|what i (?:wanted|asked for|meant)|my whole order) "
)
_GOES_ON = re.compile(r" (?:so|only|(?<!asked )for|on|below|but|\d\S*) ")
_NUMBER = r"\d[\d,]{0,12}(?:\.\d{1,6})?"
_AMOUNT = re.compile(
    rf" (?:(?P<weeks>a|one|two|1|2) weeks?|(?P<dollar>\$ )?(?P<number>{_NUMBER})(?: (?P<unit>[^\W\d_]+|%))?)(?= )"
)
_WEEKS = {"a": 7, "one": 7, "1": 7, "two": 14, "2": 14}
_UPPER_BEFORE = re.compile(r" (?:at most|(?:no|not) (?:more|longer|later)(?: \w+)?|up to|max(?:imum)?|within)(?: of)?$")
_LOWER_BEFORE = re.compile(r" (?:at (?:least|last)|(?:no|not) (?:less|fewer)(?: \w+)?|min(?:imum)?)(?: of)?$")
_MORE_BEFORE = re.compile(r" (?:more|longer|over|above|higher)(?: than)?$")
_LESS_BEFORE = re.compile(r" (?:less|fewer|under|below|lower)(?: than)?$")
_REST_OF_UNIT = r"^ (?:per (?:\d+ )?\w+ |(?:(?!and |with |or |in |for )\w+ ){0,3}?)"
_UPPER_AFTER = re.compile(
    _REST_OF_UNIT + r"(?:or (?:less|fewer|under|below)|at (?:the )?most|tops|max(?:imum)?|is the most) "
)
_LOWER_AFTER = re.compile(
    _REST_OF_UNIT + r"(?:or (?:more|better|higher|over|above)|at (?:the )?(?:least|last)|and up|min(?:imum)?) "
)
_DENIED = re.compile(rf" {NOT} [^.,;:]*$")


class Speller:
    """Replaces words that nobody knows by the nearest word that was seen in the shop."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()
        self._known = set(COMMON)
        self._by_letter = {letter: list(words) for letter, words in _COMMON_BY_LETTER.items()}
        self._texts: dict[str, str] = {}

    def learn_of(self, products: Iterable[Mapping[str, Any]], *, titles: bool = False) -> None:
        """Take in the words of hits or order lines, those of their titles only if that is asked for."""
        for product in products:
            key = product.get("id") or product["line_id"], titles
            if key not in self._seen:
                self._seen.add(key)
                self.learn(product["attributes"])
                self.learn(value for value in product["attributes"].values() if isinstance(value, str))
                self.learn((product["type"], product.get("brand") or "", product["title"] if titles else ""))

    def learn(self, texts: Iterable[str]) -> None:
        """Take in the words of names, titles and values."""
        for text in texts:
            if text in self._seen:
                continue
            self._seen.add(text)
            for word in words_of(text):
                if len(word) >= SHORTEST and word.isalpha() and word not in self._known:
                    self._known.add(word)
                    self._by_letter.setdefault(word[0], []).append(word)
                    self._texts.clear()

    def normal(self, text: str) -> str:
        """The normal text of a message."""
        if text not in self._texts:
            words = [self._corrected(CHAT.get(word, word)) for word in words_of(text)]
            self._texts[text] = f" {' '.join(words)} . "
        return self._texts[text]

    def _corrected(self, word: str) -> str:
        if len(word) < SHORTEST or word in self._known or not word.isalpha():
            return word
        most = 1 + (len(word) >= LONG)
        near = process.extractOne(word, self._by_letter.get(word[0], ()), scorer=OSA.distance, score_cutoff=most)
        return near[0] if near else word


@lru_cache(maxsize=65536)
def words_of(text: str) -> tuple[str, ...]:
    """The words and marks of a text, as they stand in normal texts."""
    text = text.lower()
    for pattern, replacement in _LOOSE:
        text = pattern.sub(replacement, text)
    return tuple(_TOKEN.findall(text))


@lru_cache(maxsize=65536)
def normal_name(name: str) -> str:
    """A name or value as it stands in normal texts, without the spaces around it."""
    return " ".join(words_of(name))


def sentences(text: str) -> list[str]:
    """The sentences of a normal text, each with a space at both ends."""
    return [f"{sentence} " for sentence in _SENTENCE.split(text) if sentence.strip()]


def says_nothing_else(text: str) -> bool:
    """Whether a normal text says that all has been told, or that all is right."""
    short = [sentence for sentence in sentences(text) if len(sentence.split()) <= MOST_WORDS]
    return any(_NOTHING_ELSE.search(sentence) and not _GOES_ON.search(sentence) for sentence in short)


def blank(text: str, start: int, end: int) -> str:
    """The text with spaces in place of a part, so that nothing else moves."""
    return text[:start] + " " * (end - start) + text[end:]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that a customer wrote.

    Attributes:
        number: The number; weeks are given in days.
        operator: ``le`` or ``ge`` where the words around it say so, else ``eq``.
        unit: ``$``, or the word behind the number, or empty.
        start, end: Where number and unit stand in the text.
    """

    number: float
    operator: str
    unit: str
    start: int
    end: int


def amounts(text: str) -> Iterator[Amount]:
    """All amounts of a normal text, from left to right; "a week" counts as 7 days."""
    for match in _AMOUNT.finditer(text):
        unit, end = match["unit"] or "", match.end()
        if match["weeks"]:
            number, unit = float(_WEEKS[match["weeks"]]), "days"
        else:
            number = float(match["number"].replace(",", ""))
            if match["dollar"] or unit in NO_UNITS:
                unit, end = "$" if match["dollar"] else "", match.end("number")
            elif unit in ("dollar", "dollars", "buck", "bucks"):
                unit = "$"
        yield Amount(number, _operator(text[: match.start()], text[end:]), unit, match.start() + 1, end)


def _operator(before: str, after: str) -> str:
    """What the words right before and right after an amount make of it."""
    if _UPPER_BEFORE.search(before) or _UPPER_AFTER.match(after):
        return "le"
    if _LOWER_BEFORE.search(before) or _LOWER_AFTER.match(after):
        return "ge"
    more = _MORE_BEFORE.search(before)
    if more or _LESS_BEFORE.search(before):
        return "ge" if bool(more) != bool(_DENIED.search(before)) else "le"
    return "eq"


def ids_in(message: str, known: Iterable[str]) -> list[str]:
    """Which of the known ids a message names."""
    words = set(re.findall(r"\w+", message.lower()))
    return [identifier for identifier in known if identifier in words]
