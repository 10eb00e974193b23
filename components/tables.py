"""Tables for people, made of values that may be anything: what is missing or odd becomes text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Cell = str | int | float | dict[str, Any] | None


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping with text keys, else an empty one."""
    return {str(key): part for key, part in value.items()} if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list; nothing for anything else."""
    return [mapping(entry) for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def words(value: Any) -> str:
    """Any value as a short text."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(words, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


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
