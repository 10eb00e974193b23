"""Typing errors and casual spellings, as people make them (axis 6).

Two kinds, kept apart: `casual` swaps whole words for chat spellings and drops capitals; `slips` hits wrong keys. What
was meant stays recoverable: nothing with a digit or a currency sign is touched, short words and acronyms keep their
letters, a word keeps its first letter and takes at most one slip per six letters, and a date keeps its month.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from ecomrlve.customer.dates import dates_in
from ecomrlve.streams import Stream

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CURRENCY = "$€£¥₹¢"
_NUMBERLIKE = re.compile(rf"[^\s\d{_CURRENCY}]*[\d{_CURRENCY}]\S*")
# An order's id may happen to have no digit, and then only the words in front tell it from a word.
_ORDER_ID = re.compile(r"\b(?i:order|number|id)(?: number| id)?(?: is|:|,)? (o[0-9a-hjkmnp-tv-z]{7})(?!\w)")
_KINDS = ("neighbour", "drop", "double", "swap", "space")
_KIND_WEIGHTS = (0.34, 0.25, 0.15, 0.21, 0.05)
_SHORTEST = 4
_LETTERS_PER_SLIP = 6
# How much likelier than a slip a casual spelling is, for a word that has one, and a lost capital.
_CASUAL_FACTOR, _CASUAL_MOST = 4.0, 0.6

SLANG = {
    "please": "pls",
    "you": "u",
    "your": "ur",
    "thanks": "thx",
    "about": "abt",
    "really": "rly",
    "with": "w/",
    "without": "w/o",
    "because": "bc",
    "though": "tho",
    "something": "smth",
    "probably": "prob",
    "tomorrow": "tmrw",
    "people": "ppl",
    "maximum": "max",
    "minimum": "min",
    "could": "cld",
    "should": "shld",
    "would": "wld",
    "i'm": "im",
    "don't": "dont",
    "that's": "thats",
    "it's": "its",
    "can't": "cant",
    "isn't": "isnt",
    "shouldn't": "shouldnt",
    "i've": "ive",
}


def _neighbours() -> dict[str, str]:
    """Letter → the letters whose keys touch its own; each row is shifted right by half a key or so."""
    places = {letter: (x + 0.4 * y, y) for y, row in enumerate(_ROWS) for x, letter in enumerate(row)}
    return {
        one: "".join(
            other
            for other, (x2, y2) in places.items()
            if other != one and abs(y1 - y2) <= 1 and abs(x1 - x2) < (1.1 if y1 == y2 else 0.8)
        )
        for one, (x1, y1) in places.items()
    }


NEIGHBOURS = _neighbours()


def add_noise(text: str, rate: float, stream: Stream, protect: Sequence[str] = ()) -> str:
    """The text as a person types it in a hurry.

    Args:
        text: A noise-free text.
        rate: Slips per letter; 0 leaves the text as it is, byte for byte.
        stream: Where the draws come from.
        protect: Substrings to leave alone, wherever they stand, such as ids.
    """
    if rate <= 0 or not text:
        return text
    return slips(casual(text, rate, stream, protect), rate, stream, protect)


def casual(text: str, rate: float, stream: Stream, protect: Sequence[str] = ()) -> str:
    """Chat spellings for whole words and lost capitals, each with probability min(0.6, 4·rate)."""
    chance = min(_CASUAL_MOST, _CASUAL_FACTOR * rate)
    closed = _closed(text, protect)
    pieces: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match.group()
        spelling = SLANG.get(word.lower().replace("’", "'"))
        # One draw for every word, so that a word more or less in `SLANG` moves nothing else.
        hit = stream.chance(chance)
        if not hit or 1 in closed[match.start() : match.end()]:
            continue
        if spelling is None:
            # "XS" and "iPad" keep their capitals: they mean something.
            spelling = word.lower() if word[:1].isupper() and word[1:] == word[1:].lower() and len(word) > 1 else word
        elif not _stands_alone(text, match.start(), match.end()):
            continue
        pieces += [text[end : match.start()], spelling]
        end = match.end()
    return "".join([*pieces, text[end:]])


def slips(text: str, rate: float, stream: Stream, protect: Sequence[str] = ()) -> str:
    """Wrong keys: rate × letters of them, rounded up or down at random, spread over the words that can take one.

    Letters in tokens with digits and in protected parts do not count. Where the words cannot take that many (from a
    rate of about 0.15 on), there are as many as they can.
    """
    closed = _closed(text, protect)
    words = [match.span() for match in _WORD.finditer(text) if 1 not in closed[match.start() : match.end()]]
    letters = sum(end - start for start, end in words)
    able = [(start, end) for start, end in words if _can_slip(text[start:end])]
    seats = [span for span in able for _ in range(math.ceil((span[1] - span[0]) / _LETTERS_PER_SLIP))]
    count = min(int(rate * letters + stream.uniform()), len(seats))
    chosen: dict[tuple[int, int], int] = {}
    for span in stream.sample(seats, count):
        chosen[span] = chosen.get(span, 0) + 1
    result = text
    following = dict(itertools.pairwise(able))
    # From the back, so that the places in front stay where they are.
    for span in sorted(chosen, reverse=True):
        start, end = span
        after = following.get(span)
        joinable = after is not None and after[0] == end + 1 and text[end] == " " and text[after[0]].islower()
        word, glue = _mistyped(text[start:end], chosen[span], joinable, stream)
        result = result[:start] + word + result[end + 1 if glue else end :]
    return result


def _can_slip(word: str) -> bool:
    return len(word) >= _SHORTEST and not word.isupper() and "'" not in word and "’" not in word


def _mistyped(word: str, count: int, joinable: bool, stream: Stream) -> tuple[str, bool]:
    """The word with `count` slips, and whether the space behind it is lost."""
    kinds = [stream.weighted(_KINDS, _KIND_WEIGHTS) for _ in range(count)]
    glue = joinable and "space" in kinds
    if glue:
        kinds.remove("space")
    letters = list(word)
    # Two slips keep apart, so that each stays one: halves of the word, each without its last letter but the final one.
    size = len(word) - 1
    for index, kind in enumerate(kinds):
        low = 1 + index * size // len(kinds)
        high = 1 + (index + 1) * size // len(kinds) - (1 if index + 1 < len(kinds) else 0)
        _slip(letters, low + stream.integer(max(1, high - low)), kind, stream)
    return "".join(letters), glue


def _slip(letters: list[str], place: int, kind: str, stream: Stream) -> None:
    letter = letters[place]
    if kind == "swap" and place + 1 < len(letters) and letters[place + 1] not in ("", letter):
        letters[place], letters[place + 1] = letters[place + 1], letter
    elif kind == "drop":
        letters[place] = ""
    elif kind == "neighbour" and letter.lower() in NEIGHBOURS:
        other = stream.choice(NEIGHBOURS[letter.lower()])
        letters[place] = other.upper() if letter.isupper() else other
    else:
        letters[place] = letter * 2


def _closed(text: str, protect: Sequence[str]) -> bytearray:
    """For each character, 1 where it stays: tokens with a digit or a currency sign, dates, ids, what is protected."""
    closed = bytearray(len(text))
    for match in _NUMBERLIKE.finditer(text):
        closed[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    spans = [(day.start, day.end) for day in dates_in(text)] + [match.span(1) for match in _ORDER_ID.finditer(text)]
    for start, end in spans:
        closed[start:end] = b"\1" * (end - start)
    for part in protect:
        start = text.find(part) if part else -1
        while start >= 0:
            closed[start : start + len(part)] = b"\1" * len(part)
            start = text.find(part, start + 1)
    return closed


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a word is no part of a compound such as "about-face"."""
    return (start == 0 or text[start - 1] not in "-/_&") and (end == len(text) or text[end] not in "-/_&")
