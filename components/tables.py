"""Tables for people, made of values that may be anything: what is missing or odd becomes text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Cell = str | int | float | dict[str, Any] | None
# More than any episode has; an uploaded file may hold anything, and a page has to draw what it is sent.
MOST_ROWS = 500
MOST_CHARACTERS = 20_000
DEEPEST = 8


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping with text keys, else an empty one."""
    return {str(key): part for key, part in value.items()} if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list, as many as can be shown; nothing for anything else."""
    return [entry for _, entry in placed(value)]


def placed(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The same, each with its place in the list."""
    if not isinstance(value, list):
        return []
    return [(at, mapping(entry)) for at, entry in enumerate(value[:MOST_ROWS]) if isinstance(entry, Mapping)]


def words(value: Any) -> str:
    """Any value as a text that can be shown: not endless, and without what UTF-8 cannot hold."""
    text = _text(value, 0)
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]} …"
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _text(value: Any, depth: int) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(_text(part, depth + 1) for part in value) if depth < DEEPEST else "…"
    if isinstance(value, float):
        return f"{value:.4g}"
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "…"


def number(value: Any) -> float:
    """The value as a finite number; 0 for anything else."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
    return float(value) if usable else 0.0


def cell(text: Any, tone: str = "", sub: str = "") -> dict[str, Any]:
    """A cell with a color (good, bad, warn, muted) and a second, smaller line."""
    return {"text": words(text), "tone": tone, "sub": sub}


def block(title: str, columns: list[str], lines: list[list[Cell]], note: str = "") -> dict[str, Any]:
    """A table with its heading and a sentence about it."""
    return {"title": title, "note": note, "columns": columns, "rows": lines}
