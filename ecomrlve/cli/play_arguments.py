"""Filling in a form, which is a tool's arguments or the answer's fields, from the words of a line. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecomrlve.cli.play_numbers import NUMBER, Numbers, kind_of
from ecomrlve.cli.play_values import Item, PlayError, Word, filter_value, typed, words
from ecomrlve.errors import short

FILTERS = "filters"
OPERATORS = {"=": "eq", "<=": "le", ">=": "ge"}
ALIKE = 0.75  # how similar a filter's name must be to an argument's to be taken for a slip


@dataclass(frozen=True, slots=True)
class Form:
    """What can be filled in.

    Attributes:
        name: The tool, or "answer".
        properties: JSON schema of each argument or field.
        wanted: Those that words without a name go to, in this order.
    """

    name: str
    properties: Mapping[str, Mapping[str, Any]]
    wanted: tuple[str, ...] = ()

    def filled(self, text: str, numbers: Numbers) -> dict[str, Any]:
        """The values that a text gives, in the order of the form.

        Args:
            text: ``name=value`` words, words without a name, and shorthands for filters.
            numbers: The ids that were shown.

        Raises:
            PlayError: A word belongs to nothing, or a value does not fit.
        """
        values: dict[str, Any] = {}
        bare: list[Word] = []
        shorthands: list[Word] = []
        for word in words(text):
            if not word.key:
                bare.append(word)
            elif word.key in values:
                raise PlayError(f"{word.key} is there twice.")
            elif word.key in self.properties and word.sign == "=":
                values[word.key] = _value(word.key, word, self.properties[word.key], numbers)
            elif FILTERS in self.properties and word.key not in self.properties:
                shorthands.append(self._no_slip(word))
            else:
                raise PlayError(self._unknown(word))
        loose = [word for word in bare if not self._placed(word, values, numbers)]
        values |= self._in_order(loose, values, numbers)
        if shorthands:
            values[FILTERS] = with_shorthands(values.get(FILTERS, {}), shorthands)
        return {key: values[key] for key in self.properties if key in values}

    def usage(self) -> str:
        """The name with all that can be filled in, the optional ones in brackets."""
        return " ".join([self.name, *(key if key in self.wanted else f"[{key}]" for key in self.properties)])

    def _unknown(self, word: Word) -> str:
        if word.key in self.properties:
            return f"{word.key} takes a value with =, not with {word.sign}."
        close = difflib.get_close_matches(word.key, list(self.properties), n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        known = ", ".join(self.properties) or "nothing to fill in"
        return f"{self.name} has no {short(word.key, 40)}.{meant} There is: {known}."

    def _no_slip(self, word: Word) -> Word:
        """A shorthand for a filter, unless it looks like an argument mistyped."""
        close = difflib.get_close_matches(word.key, list(self.properties), n=1, cutoff=ALIKE)
        if close:
            raise PlayError(
                f'Did you mean {close[0]}? If {word.key} is meant as a filter, write filters={{"{word.key}": …}}.'
            )
        return word

    def _placed(self, word: Word, values: dict[str, Any], numbers: Numbers) -> bool:
        """Put a word of ids that were shown where such ids go; whether it was one."""
        found = _shown(word, numbers)
        for identifier, kind in found:
            key = next((key for key in self.properties if kind_of(key) == kind and self._has_room(key, values)), None)
            if key is None:
                raise PlayError(f"{identifier} is the id of {_a(kind)}, and {self.name} has no place for it.")
            listed = self.properties[key].get("type") == "array"
            values[key] = [*values.get(key, []), identifier] if listed else identifier
        return bool(found)

    def _has_room(self, key: str, values: Mapping[str, Any]) -> bool:
        return key not in values or self.properties[key].get("type") == "array"

    def _in_order(self, loose: list[Word], values: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
        """Give the other words to what is wanted and still free; surplus ones are part of the last one's text."""
        free = [key for key in self.wanted if key not in values][: len(loose)]
        surplus = len(loose) > len(free)
        if surplus and not (free and _takes_text(free[-1], self.properties[free[-1]])):
            text = short(" ".join(word.raw for word in loose))
            rest = ", ".join(key for key in self.properties if key not in values)
            raise PlayError(f"“{text}” belongs to nothing. Write NAME=VALUE; {self.name} takes {rest or 'no more'}.")
        found = {key: _value(key, word, self.properties[key], numbers) for key, word in zip(free, loose, strict=False)}
        if surplus:
            found[free[-1]] = " ".join(_text(word) for word in loose[len(free) - 1 :])
        return found


def with_shorthands(filters: Mapping[str, Any], shorthands: list[Word]) -> dict[str, Any]:
    """Filters, with ``price<=25`` as ``{"price": {"le": 25}}`` among them.

    Raises:
        PlayError: A filter is there twice.
    """
    merged = dict(filters)
    for word in shorthands:
        value = filter_value(word)
        added = value if isinstance(value, dict) else {"in" if isinstance(value, list) else OPERATORS[word.sign]: value}
        before = merged.get(word.key, {})
        if not isinstance(before, dict) or not added.keys().isdisjoint(before):
            raise PlayError(f"The filter {word.key} is there twice; several values go after one =, with commas.")
        merged[word.key] = {**before, **added}
    return merged


def strangers(values: Mapping[str, Any], numbers: Numbers) -> list[str]:
    """The ids among some values that neither a tool nor the customer has named: probably mistyped."""
    return [
        str(identifier)
        for key, value in values.items()
        if kind_of(key)
        for identifier in (value if isinstance(value, list) else [value])
        if not numbers.known(str(identifier))
    ]


def _value(key: str, word: Word, schema: Mapping[str, Any], numbers: Numbers) -> Any:
    """The typed value of an argument or a field, with numbers replaced by the ids they stand for."""
    kind = kind_of(key)
    if not kind or word.is_json:
        return typed(word, schema)
    items = tuple(
        item if item.quoted or not NUMBER.fullmatch(item.text) else Item(_id(item.text, kind, key, numbers), True)
        for item in word.items
    )
    return typed(Word(word.key, word.sign, items, word.raw), schema)


def _id(text: str, kind: str, key: str, numbers: Numbers) -> str:
    identifier, found = numbers.look_up(text)
    if found != kind:
        raise PlayError(f"{text} is the number of {_a(found)}, and {key} takes {_a(kind)}.")
    return identifier


def _shown(word: Word, numbers: Numbers) -> list[tuple[str, str]]:
    """The ids that a word consists of, each with its kind; none if it is anything else."""
    found: list[tuple[str, str]] = []
    for item in word.items:
        if not item.quoted and NUMBER.fullmatch(item.text):
            found.append(numbers.look_up(item.text))
        elif numbers.kind(item.text):
            found.append((item.text, numbers.kind(item.text)))
        else:
            return []
    return found


def _takes_text(key: str, schema: Mapping[str, Any]) -> bool:
    kinds = {option.get("type") for option in schema.get("anyOf", (schema,))}
    return "string" in kinds and "enum" not in schema and not kind_of(key)


def _text(word: Word) -> str:
    return word.items[0].text if len(word.items) == 1 else word.raw


def _a(kind: str) -> str:
    return f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"
