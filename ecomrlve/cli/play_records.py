"""Tool results and goals as compact tables. They show every field there is, whatever its name.

All text is shown as the text it is: titles are not markup, and what steers a terminal is taken out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ecomrlve.cli.play_numbers import Numbers, kind_of

WIDE = 90  # columns from which on numbers to compare get columns of their own
MOST_COLUMNS = 6
LONG = 160  # characters from which on a text is a paragraph
BETWEEN = " · "
EMPTY = "–"


def clean(text: str) -> str:
    """The text without characters that are not for reading, such as those that begin a terminal's commands."""
    return "".join(
        sign if sign == "\n" or sign.isprintable() else " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}"
        for sign in text
    )


def told(value: Any) -> str:
    """Any value as a short text."""
    if isinstance(value, str):
        return clean(value) or EMPTY
    if isinstance(value, list | tuple):
        return ", ".join(map(told, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{told(name)} {told(part)}" for name, part in value.items()) or "none"
    return "none" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def blocks(data: Mapping[str, Any], numbers: Numbers, width: int) -> Iterator[RenderableType]:
    """What stands in a tool result or a goal, as lines and tables.

    Args:
        data: The result, or any mapping like it.
        numbers: The ids that were shown; they are printed with their numbers.
        width: Columns of the terminal.
    """
    facts = {name: value for name, value in data.items() if not _listed(value) and not _long(value)}
    if facts:
        yield _facts(facts, numbers)
    for name, value in data.items():
        if _long(value):
            yield Padding(Text(clean(value)), (0, 0, 0, 2))
        elif _listed(value):
            yield Text(f"{clean(name)} ({len(value)})", style="dim")
            yield table(value, numbers, width)


def table(records: Sequence[Mapping[str, Any]], numbers: Numbers, width: int) -> Table:
    """Records that are alike, one below the other; what is listed inside a record follows it, indented."""
    columns = _numeric(records) if width >= WIDE else []
    grid = Table(box=None, pad_edge=False, show_header=bool(columns), header_style="dim", padding=(0, 1, 0, 0))
    grid.add_column("", no_wrap=True, style="cyan")
    grid.add_column("", no_wrap=True)
    grid.add_column("", overflow="fold")
    for name in columns:
        grid.add_column(clean(name), justify="right", no_wrap=True)
    for record in records:
        identifier, text = _row(record, numbers, skip=columns)
        grid.add_row(_number(identifier, numbers), identifier, text, *(_cell(record, name) for name in columns))
        for name, part in record.items():
            if _listed(part):
                _add_inner(grid, name, part, numbers, depth=1)
    return grid


def _add_inner(grid: Table, name: str, records: Sequence[Mapping[str, Any]], numbers: Numbers, depth: int) -> None:
    for record in records:
        identifier, text = _row(record, numbers)
        mark = "" if identifier else f"{clean(name)}: "
        shown = Padding(Text.assemble((mark, "dim"), text), (0, 0, 0, 2 * depth))
        grid.add_row(_number(identifier, numbers), identifier, shown)
        for inner, part in record.items():
            if _listed(part):
                _add_inner(grid, inner, part, numbers, depth + 1)


def _row(record: Mapping[str, Any], numbers: Numbers, skip: list[str] | None = None) -> tuple[str, Text]:
    """A record's own id, and everything else in it but the listed records and what is in columns."""
    own = next((name for name, value in record.items() if kind_of(name) and isinstance(value, str)), "")
    left_out = {own, "title", *(skip or ())}
    rest = {name: value for name, value in record.items() if name not in left_out and not _listed(value)}
    parts: list[Text] = []
    if record.get("title") is not None:
        parts.append(Text(told(record["title"]), style="bold"))
    facts = {name: value for name, value in rest.items() if not _long(value)}
    if facts:
        parts.append(_facts(facts, numbers))
    parts += [Text(clean(value)) for value in rest.values() if _long(value)]
    return clean(record[own]) if own else "", Text("\n").join(parts)


def _facts(facts: Mapping[str, Any], numbers: Numbers) -> Text:
    """Names and values in one paragraph."""
    pieces = [
        Text.assemble((f"{clean(name)} ", "dim"), _ids(value, numbers) if kind_of(name) else told(value))
        for name, value in facts.items()
    ]
    return Text(BETWEEN).join(pieces)


def _ids(value: Any, numbers: Numbers) -> Text:
    """An id or a list of ids, each with its number where it has one."""
    values = value if isinstance(value, list) and value else [value]
    marked = [(told(one), _number(one, numbers)) for one in values]
    return Text(", ").join(Text.assemble(text, (f" {number}" if number else "", "cyan")) for text, number in marked)


def _number(identifier: Any, numbers: Numbers) -> str:
    number = numbers.of(identifier)
    return "" if number is None else f"#{number}"


def _cell(record: Mapping[str, Any], name: str) -> str:
    return told(record[name]) if name in record else ""


def _numeric(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The fields that hold nothing but numbers, and in more than one record, so that they are worth comparing."""
    found: dict[str, int] = {}
    other: set[str] = set()
    for record in records:
        for name, value in record.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[name] = found.get(name, 0) + 1
            else:
                other.add(name)
    return [name for name, count in found.items() if count > 1 and name not in other][:MOST_COLUMNS]


def _listed(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, Mapping) for part in value)


def _long(value: Any) -> bool:
    return isinstance(value, str) and (len(value) > LONG or "\n" in value)
