"""A model's message taken apart for `model_check`: what it is without its wrapping, its words, numbers and dates."""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from ecomrlve.customer.dates import dates_in
from ecomrlve.customer.words import number

_LONGEST_VALUE = 4  # words
_TOKEN = re.compile(r"(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)|[^\W\d_]+(?:['’][^\W\d_]+)*")
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SPEAKER = re.compile(r"\A\W*(?:the\s+)?(?:customer|user|message|answer|reply)\W*:[\s*]*", re.IGNORECASE)
LIST = re.compile(r"^[ \t]*(?:[-*•#>]|\d+[.)])[ \t]", re.MULTILINE)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"), ("`", "`"))
_MONEY = re.compile(r"\$\s?(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?)\s?(?:dollars?|bucks?|usd)\b", re.IGNORECASE)
_NEGATIONS = {"no", "not", "never", "nothing", "none", "without", "cannot", "neither", "nor", "dont"}


class Word(NamedTuple):
    """One word or number of a text."""

    text: str  # lower-cased; a number in its plain form
    raw: str
    is_number: bool
    sentence: int
    clause: int
    plus: bool  # a plus sign follows


class Text:
    """A text taken apart once, for all the checks."""

    def __init__(self, text: str):
        self.raw = text
        self.words = words_of(text)

    @cached_property
    def bag(self) -> frozenset[str]:
        """All words, lower-cased."""
        return frozenset(word.text for word in self.words)

    @cached_property
    def phrases(self) -> frozenset[str]:
        """All runs of up to `_LONGEST_VALUE` words."""
        words = [word.text for word in self.words]
        return frozenset(
            " ".join(words[start : start + size])
            for size in range(1, _LONGEST_VALUE + 1)
            for start in range(len(words) - size + 1)
        )

    @cached_property
    def days(self) -> frozenset[str]:
        """Full dates, as ISO."""
        return frozenset(found.day for found in dates_in(self.raw))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Numbers that belong to no date."""
        text = self.raw
        for day in dates_in(text):
            text = text[: day.start] + " " * (day.end - day.start) + text[day.end :]
        return frozenset(word.text for word in words_of(text) if word.is_number)

    @cached_property
    def money(self) -> frozenset[str]:
        """Amounts of money, as plain numbers."""
        return frozenset(plain_number(match[1] or match[2]) for match in _MONEY.finditer(self.raw))

    def places(self, phrase: str) -> list[int]:
        """Where the words of `phrase` stand, as the index of the first."""
        wanted = [word.text for word in words_of(phrase)]
        size = len(wanted)
        starts = range(len(self.words) - size + 1) if size else range(0)
        return [at for at in starts if [word.text for word in self.words[at : at + size]] == wanted]

    def denied(self, place: int) -> bool:
        """Whether a negation stands shortly before, in the same clause."""
        for word in reversed(self.words[max(0, place - 4) : place]):
            if word.clause != self.words[place].clause or word.text in ("and", "but", "also"):
                return False
            if negates(word.text):
                return True
        return False


def plain(answer: str) -> str:
    """The message in a model's answer: without its thoughts, a speaker's name, quotation marks and line breaks."""
    text = _THINKING.sub("", answer).strip()
    text = _SPEAKER.sub("", text).strip()
    for first, last in _QUOTES:
        inner = text[len(first) : -len(last)]
        if len(text) > 1 and text.startswith(first) and text.endswith(last) and first not in inner:
            text = inner.strip()
    # Lists keep their lines, so that the check sees them.
    return text if LIST.search(text) else " ".join(text.split())


def words_of(text: str) -> list[Word]:
    """The words and numbers of a text, in order."""
    found: list[Word] = []
    end, sentence, clause = 0, 0, 0
    for match in _TOKEN.finditer(text):
        gap = text[end : match.start()]
        sentence += bool(found) and any(mark in gap for mark in ".!?…\n")
        # A colon goes on: "budget: $25". So does a hyphen.
        clause += bool(found) and any(mark in gap for mark in ".,;!?…()–—\n")
        raw, is_count = match.group(), match["number"] is not None
        word = plain_number(raw) if is_count else raw.lower().replace("’", "'")
        end = match.end()
        found.append(Word(word, raw, is_count, sentence, clause, text[end : end + 1] == "+"))
    return found


def plain_number(digits: str) -> str:
    """A number as `words.number` writes it: "1,000" as "1000", "2.50" as "2.5"."""
    digits = digits.replace(",", "")
    return number(float(digits)) if "." in digits else digits.lstrip("0") or "0"


def negates(word: str) -> bool:
    """Whether a word denies."""
    return word in _NEGATIONS or word.endswith("n't")
