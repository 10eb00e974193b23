"""Find a product's attributes in the cells and texts of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ecomrlve.catalog.columns import COMMON, fold, plain_number
from ecomrlve.catalog.mapping import AttributeFacts, ColumnAttribute, TextAttribute
from ecomrlve.catalog.product import Attribute
from ecomrlve.catalog.reading import Table
from ecomrlve.catalog.values import as_number, as_text, clean_text, known, snake_case

# Texts longer than these, on average and at most, describe a product; people do not filter by them.
LONG_ON_AVERAGE, LONGEST = 40, 80
_NUMBERS = frozenset({int, float})
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"https?://|www\.|[\w-]+\.(?:jpe?g|png|webp|gif)$", re.I)


def cell_value(value: Any, spec: ColumnAttribute) -> float | str | None:
    """The attribute's value that a cell holds: a number, a text, or None where there is none.

    Args:
        value: The cell.
        spec: What to do with it.
    """
    value = known(value)
    if value is None:
        return None
    if spec.plain:  # The many cells that need no work.
        if type(value) in _NUMBERS:
            return as_number(value)
        if type(value) is str and spec.kind != "number" and value.isprintable():
            return " ".join(value.split())
    if spec.separator and isinstance(value, str):
        value = [part for part in (part.strip() for part in value.split(spec.separator)) if part]
    if isinstance(value, list | tuple):
        value = _from_list([item for item in value if known(item) is not None], spec)
    elif isinstance(spec.index, int) and spec.index not in (0, -1):
        return None  # A lone value is a list of one.
    if isinstance(value, dict | bytes) or known(value) is None:
        return None
    if spec.values or spec.pattern:
        value = _replaced(as_text(value), spec)
        if value is None:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        number = as_number(value) if spec.kind == "number" else None
        value = as_text(value) if number is None else number
    if not isinstance(value, str):
        if (number := as_number(value)) is None:
            return None
        # Twelve digits: 0.1 × 3 is 0.3 to people.
        value = float(f"{number * spec.scale:.12g}") if spec.scale != 1 else number
    if spec.template:
        value = spec.template.replace("{}", as_text(value))
    if isinstance(value, str):
        value = " ".join(clean_text(value)[0].split())
    return value if value != "" else None


def _from_list(items: list[Any], spec: ColumnAttribute) -> Any:
    if isinstance(spec.index, int):
        return items[spec.index] if -len(items) <= spec.index < len(items) else None
    if spec.index is None:
        return spec.join.join(text for item in items if (text := as_text(item)))
    numbers = [as_number(item) for item in items]
    if not numbers or any(number is None for number in numbers):
        return None
    result = 1.0
    for number in numbers:
        result *= number or 0.0
    known_numbers = [number for number in numbers if number is not None]
    return {"min": min(known_numbers), "max": max(known_numbers), "product": result}[spec.index]


def _replaced(text: str, spec: ColumnAttribute) -> str | None:
    if spec.pattern is not None:
        match = spec.pattern.search(text)
        if match is None:
            return None
        text = match[1] if spec.pattern.groups else match[0]
    return spec.values.get(fold(text), text) if spec.values else text


class TextFinder:
    """Finds one attribute in texts.

    Args:
        spec: The words or the pattern to find.
    """

    def __init__(self, spec: TextAttribute):
        self.spec = spec
        self._where = {column: {fold(value) for value in values} for column, values in spec.where.items()}
        # First word of a phrase → phrases, longest first, so that "rose gold" is not found as "rose".
        self._phrases: dict[str, list[tuple[list[str], str]]] = {}
        for value, words in spec.words.items():
            for phrase in (value, *words):
                tokens = _tokens(phrase)
                if tokens:
                    self._phrases.setdefault(tokens[0], []).append((tokens, value))
        for phrases in self._phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase[0]))

    def find(self, texts: Mapping[str, str], tokens: Mapping[str, list[str]], row: Mapping[str, Any]) -> str | None:
        """The value in the first text that has one, or None.

        Args:
            texts: ``title`` and ``description``.
            tokens: Their words, as `text_tokens` gives them.
            row: The row of the file, for ``where``.
        """
        if any(fold(as_text(row.get(column))) not in values for column, values in self._where.items()):
            return None
        for place in self.spec.look_in:
            text = texts[place]
            for phrase in self.spec.ignore:
                text = phrase.sub(" ", text)
            if self.spec.pattern is not None:
                match = self.spec.pattern.search(text)
                value = match[1] if match else None
            else:
                value = self._first(tokens[place] if text == texts[place] else _tokens(text))
            if value:
                return value
        return None

    def _first(self, tokens: list[str]) -> str | None:
        for start, token in enumerate(tokens):
            for phrase, value in self._phrases.get(token, ()):
                if tokens[start : start + len(phrase)] == phrase:
                    return value
        return None


def _tokens(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def text_tokens(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The words of each text, in order, in lower case."""
    return {place: _tokens(text) for place, text in texts.items()}


def other_columns(table: Table, used: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The columns that can serve as attributes, and why each other one cannot.

    Args:
        table: The file.
        used: Columns that are mapped already.
    """
    useful: list[str] = []
    useless: dict[str, str] = {}
    names: set[str] = set()
    for column in table.columns:
        if column in set(used):
            continue
        name = snake_case(column)
        reason = _why_useless([known(row.get(column)) for row in table.rows])
        if not name or name in COMMON or name in names or not name[0].isalpha():
            reason = reason or "its name is taken"
        if reason:
            useless[column] = reason
        else:
            names.add(name)
            useful.append(column)
    return useful, useless


def _why_useless(cells: list[Any]) -> str:
    values = [value for value in cells if value is not None]
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    if any(isinstance(item, dict | bytes) for item in items):
        return "not plain values"
    texts = [as_text(value) for value in values]
    different = len(set(texts))
    if different < 2:
        return "one value or none"
    numbers = [as_number(value) for value in values]
    measured = all(number is not None for number in numbers)
    if different == len(texts) and not (measured and any(number % 1 for number in numbers if number is not None)):
        return "another value in every row"
    if not measured and (sum(map(len, texts)) > LONG_ON_AVERAGE * len(texts) or max(map(len, texts)) > LONGEST):
        return "long texts"
    return "addresses" if not measured and any(_ADDRESS.search(text) for text in texts) else ""


def written_out(attributes: Mapping[str, Any], labels: Mapping[str, tuple[str, str]]) -> str:
    """Write the attributes as sentences, such as ``Size: 120 mm. Color: Black``.

    Args:
        attributes: Name → value.
        labels: Name → label and unit.
    """
    parts = []
    for name, value in attributes.items():
        label, unit = labels.get(name, (name.replace("_", " "), ""))
        text = str(plain_number(value)) if isinstance(value, int | float) else value
        parts.append(f"{label[:1].upper()}{label[1:]}: {text}{' ' + unit if unit else ''}.")
    return " ".join(parts)


def settle_kinds(
    records: list[dict[str, Any]], facts: Mapping[str, AttributeFacts], counted: Counter[str]
) -> dict[str, Attribute]:
    """Decide which attributes are numbers, and make all their values so.

    Args:
        records: Products; their ``attributes`` are changed in place.
        facts: What the mapping says about each attribute.
        counted: Gets a note for values that are no numbers where they should be; they become unknown.

    Returns:
        The fact sheets of the attributes that have a value.
    """
    values: dict[str, list[Any]] = {}
    for record in records:
        for key, value in record["attributes"].items():
            values.setdefault(key, []).append(value)
    kinds = {
        key: facts[key].kind or ("number" if all(as_number(value) is not None for value in some) else "category")
        for key, some in values.items()
    }
    for record in records:
        settled = {}
        for key, value in record["attributes"].items():
            result = as_number(value) if kinds[key] == "number" else as_text(value)
            if result is None:
                counted[f"values of {key} that are not numbers, left unknown"] += 1
            else:
                settled[key] = result
        record["attributes"] = settled
    return {key: facts[key].as_attribute(key, kind) for key, kind in kinds.items()}
