"""What is typed after a command's name, as values: ``query="usb charger" price<=25 qty=2``. Pure functions.

`words` cuts a line into words, `typed` makes of a word what a schema wants, and `written` is the way back: what it
gives is read as the same value again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecomrlve.errors import EcomrlveError, InvalidActionError, short
from ecomrlve.strict_json import decode_object

_KEY = re.compile(r"([^\W\d]\w*)\s*(<=|>=|≤|≥|==|=|<|>)\s*")
_SIGNS = {"≤": "<=", "≥": ">=", "==": "="}
_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', re.DOTALL)
_BARE = re.compile(r"[^\s,]+")
_COMMA = re.compile(r",\s*")
_SAFE = re.compile(r"[\w.$%/+-]+")
_MISSING = object()


class PlayError(EcomrlveError):
    """Something typed that cannot be done as it stands; the message asks back, and nothing has happened."""


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a word; what stood in quotation marks is taken as it is."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a line.

    Attributes:
        key: The name before the sign, or "" for a word without one.
        sign: ``=``, ``<=`` or ``>=``, or "".
        items: The values, as they were separated by commas; none where the word is JSON.
        raw: The values as they were typed.
        value: The JSON value, where the word is an object or a list; look at `is_json`.
    """

    key: str
    sign: str
    items: tuple[Item, ...]
    raw: str
    value: Any = _MISSING

    @property
    def is_json(self) -> bool:
        """Whether it was typed as a JSON object or list."""
        return self.value is not _MISSING


def words(text: str) -> list[Word]:
    """Cut what follows a command's name into words.

    Raises:
        PlayError: A quotation mark or a bracket is not closed, or a name has no value.
    """
    found: list[Word] = []
    place = _skip(text, 0)
    while place < len(text):
        key, sign = "", ""
        if match := _KEY.match(text, place):
            key, sign = match[1], _SIGNS.get(match[2], match[2])
            place = match.end()
            if sign in ("<", ">"):
                raise PlayError(f"Write {key}{sign}= with a value: there is no {sign} without =.")
            if place >= len(text):
                raise PlayError(f"{key}{sign} has no value.")
        word, place = _word(text, place, key, sign)
        found.append(word)
        place = _skip(text, place)
    return found


def _skip(text: str, place: int) -> int:
    return _SPACE.match(text, place).end()  # type: ignore[union-attr]  # it matches anywhere


def _word(text: str, start: int, key: str, sign: str) -> tuple[Word, int]:
    """The values at a place, with the place after them."""
    if text[start] in "{[":
        value, end = _json(text, start)
        return Word(key, sign, (), text[start:end], value), end
    items: list[Item] = []
    place = end = start
    while place < len(text) and (place == start or not _KEY.match(text, place)):
        item, end = _item(text, place)
        if item is not None:
            items.append(item)
        comma = _COMMA.match(text, end)
        if comma is None:
            break
        place = end = comma.end()
    return Word(key, sign, tuple(items), text[start:end].strip()), end


def _item(text: str, place: int) -> tuple[Item | None, int]:
    if text[place] in "\"'":
        match = _QUOTED.match(text, place)
        if match is None:
            raise PlayError(f"A quotation mark is not closed: {short(text[place:])}")
        return Item(match[2] if match[1] is None else _unescaped(match[1]), True), match.end()
    match = _BARE.match(text, place)
    return (Item(match.group()), match.end()) if match else (None, place)


def _unescaped(text: str) -> str:
    """What stands between double quotation marks, with JSON's escapes; other backslashes stand for themselves."""
    try:
        return json.loads(f'"{text}"', strict=False)
    except ValueError:
        return text


def _json(text: str, start: int) -> tuple[Any, int]:
    try:
        found = decode_object(text, start) if text[start] == "{" else json.JSONDecoder().raw_decode(text, start)
    except InvalidActionError as error:
        raise PlayError(f"{str(error).capitalize()}.") from error
    except (ValueError, RecursionError):
        found = None
    if found is None:
        raise PlayError(f"This begins as JSON, but cannot be read: {short(text[start:])}")
    return found


def number(text: str) -> int | float | None:
    """The text as JSON reads a number, or None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if usable else None


def typed(word: Word, schema: Mapping[str, Any]) -> Any:
    """The value of a word, as the JSON schema of an argument or of an answer's field wants it.

    Raises:
        PlayError: It is no such value.
    """
    options = {option.get("type") for option in schema.get("anyOf", (schema,))}
    if "array" in options:
        if word.is_json and not isinstance(word.value, list):
            raise PlayError(f"{word.key or 'This'} takes a list, such as a,b,c.")
        return list(word.value) if word.is_json else [item.text for item in word.items]
    if "object" in options:
        if not isinstance(word.value, dict):
            raise PlayError(f'{word.key or "This"} takes a JSON object, such as {{"price": {{"le": 25}}}}.')
        return word.value
    alone = word.items[0] if len(word.items) == 1 else Item(word.raw, True)
    if options & {"integer", "number"} and not (alone.quoted and "string" in options):
        value = number(alone.text)
        if value is not None and ("number" in options or isinstance(value, int)):
            return value
    if "boolean" in options and alone.text.lower() in ("true", "false"):
        return alone.text.lower() == "true"
    if "string" in options:
        return alone.text
    wanted = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
    kinds = " or ".join(wanted[option] for option in wanted if option in options) or "another value"
    raise PlayError(f"{word.key or 'This'} takes {kinds}, not {short(word.raw)!r}.")


def filter_value(word: Word) -> Any:
    """The value of a shorthand for a filter: ``price<=25``, ``color=black,white``, ``in_stock=true``."""
    if word.is_json:
        return word.value
    values = [_scalar(item) for item in word.items]
    if len(values) == 1:
        return values[0]
    if not values or word.sign != "=":
        raise PlayError(f"{word.key}{word.sign} takes one value, not {short(word.raw)!r}.")
    return values


def _scalar(item: Item) -> Any:
    if not item.quoted and item.text in ("true", "false"):
        return item.text == "true"
    value = None if item.quoted else number(item.text)
    return item.text if value is None else value


def written(value: Any) -> str:
    """A value as it can be typed after ``name=``."""
    if isinstance(value, str):
        plain = _SAFE.fullmatch(value) and number(value) is None
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        return ",".join(map(written, value))
    return json.dumps(value, ensure_ascii=False)
