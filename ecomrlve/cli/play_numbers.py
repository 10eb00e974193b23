"""Short numbers for the ids that tool results show: ``#3`` is easier to type than ``p7k2m9qd``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ecomrlve.cli.play_values import PlayError

NUMBER = re.compile(r"#(\d{1,6})\b")


def kind_of(name: str) -> str:
    """What a field or an argument holds ids of: ``new_product_id`` → product, ``selected_order_id`` → order.

    Returns:
        The kind, or "" for a name that stands for no id. A plain ``id`` is that of a product.
    """
    if name == "id":
        return "product"
    stem, found, rest = name.removesuffix("s").rpartition("_id")
    return stem.rpartition("_")[2] if found and not rest else ""


class Numbers:
    """Every id that was shown in an episode, numbered in the order of showing."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._shown: list[tuple[str, str]] = []
        self._heard: set[str] = set()

    def read(self, value: Any) -> None:
        """Number the ids in a tool result, at any depth."""
        if isinstance(value, Mapping):
            for name, part in value.items():
                kind = kind_of(name)
                for identifier in (part if isinstance(part, list) else [part]) if kind else ():
                    self._add(identifier, kind)
                self.read(part)
        elif isinstance(value, list):
            for part in value:
                self.read(part)

    def _add(self, identifier: Any, kind: str) -> None:
        if isinstance(identifier, str) and identifier not in self._numbers:
            self._shown.append((identifier, kind))
            self._numbers[identifier] = len(self._shown)

    def hear(self, text: str) -> None:
        """Keep what the customer said: it may name ids too, which get no number."""
        self._heard.update(re.findall(r"\w+", text.lower()))

    def of(self, identifier: Any) -> int | None:
        """The number of an id, or None where no tool result has shown it."""
        return self._numbers.get(identifier) if isinstance(identifier, str) else None

    def kind(self, identifier: str) -> str:
        """What an id stands for, or "" where no tool result has shown it."""
        number = self._numbers.get(identifier.strip().lower())
        return "" if number is None else self._shown[number - 1][1]

    def known(self, identifier: str) -> bool:
        """Whether a tool result showed an id, or the customer named it."""
        plain = identifier.strip().lower()
        return plain in self._numbers or plain in self._heard

    def look_up(self, text: str) -> tuple[str, str]:
        """The id behind ``#3``, and what it stands for.

        Raises:
            PlayError: There is no such number yet.
        """
        match = NUMBER.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= len(self._shown):
            most = f"the highest is #{len(self._shown)}" if self._shown else "tool results give them"
            raise PlayError(f"There is no {text}; {most}.")
        return self._shown[int(match[1]) - 1]

    def spelled_out(self, text: str) -> str:
        """A text with the numbers that exist replaced by the ids they stand for; others stay as they are."""

        def replace(match: re.Match[str]) -> str:
            number = int(match[1])
            return self._shown[number - 1][0] if 1 <= number <= len(self._shown) else match.group()

        return NUMBER.sub(replace, text)
