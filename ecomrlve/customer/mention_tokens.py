"""A text as whole words and whole numbers, for `mentions`: where a phrase stands, what is near it, what is denied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.words import number, singular_unit

_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[-−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)"
    r"|(?P<word>[^\W_]+(?:['’][^\W_]+)*)"
)
_NEGATIONS = {"no", "not", "never", "nothing", "without", "non", "lack", "lacks", "cannot"}


class Token(NamedTuple):
    """One word or number of a text."""

    word: str  # lower-cased; a number in its plain form
    raw: str
    glued: bool  # follows the token before it without a gap, as "W" does in "65W"
    before: str  # the character in front of it
    after: str
    sentence: int
    clause: int


@lru_cache(maxsize=2048)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The words and numbers of a text, in order."""
    found: list[Token] = []
    end, count, clauses = -1, 0, 0
    for match in _TOKEN.finditer(text):
        raw = match.group()
        if match.group("number"):
            digits = raw.replace(",", "").replace("−", "-")
            word = number(float(digits)) if "." in digits else digits.lstrip("0") or "0"
        else:
            word = raw.lower().replace("’", "'")
        gap = text[max(end, 0) : match.start()]
        if found and any(mark in gap for mark in ".!?;\n"):
            count += 1
        clauses += bool(found) and any(mark in gap for mark in ".,:!?;()\n")
        before = text[match.start() - 1] if match.start() else " "
        after = text[match.end()] if match.end() < len(text) else " "
        found.append(Token(word, raw, match.start() == end, before, after, count, clauses))
        end = match.end()
    return tuple(found)


def places_of(tokens: Sequence[Token], phrase: str) -> list[int]:
    """Where the whole words of `phrase` stand, as the index of the first."""
    words = [token.word for token in tokens_of(phrase)]
    size = len(words)
    if not size:
        return []
    return [
        start
        for start in range(len(tokens) - size + 1)
        if tokens[start].word == words[0]
        and not tokens[start].glued
        and (start + size == len(tokens) or not tokens[start + size].glued)
        and all(tokens[start + step].word == words[step] for step in range(size))
    ]


def is_near(tokens: Sequence[Token], place: int, words: set[str], before: int, after: int) -> bool:
    """Whether one of the words stands near a place, in the same sentence."""
    around = tokens[max(0, place - before) : place] + tokens[place + 1 : place + 1 + after]  # type: ignore[operator]
    return any(token.word in words and token.sentence == tokens[place].sentence for token in around)


def label_words(slot: Slot) -> set[str]:
    """The words of a slot's label and synonyms, singular too: "1 pocket"."""
    texts = (slot.label or slot.attribute.replace("_", " "), *slot.synonyms)
    words = {token.word for text in texts for token in tokens_of(text) if token.word not in ("of", "the", "number")}
    return words | {singular_unit(word) for word in words}


def is_denied(tokens: Sequence[Token], place: int, reach: int) -> bool:
    """Whether a negation stands in front, in the same clause: "without timer, with backlight" denies one only."""
    for token in reversed(tokens[max(0, place - reach) : place]):
        if token.clause != tokens[place].clause or token.word in ("and", "but", "also"):
            return False
        if token.word in _NEGATIONS or token.word.endswith("n't"):
            return True
    return False
