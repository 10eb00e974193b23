"""How texts about a finished game speak of its player: to whoever played it here, of everybody else by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.agents import BUILT_IN, title_of
from components.entries import player_of
from components.episode import AGAIN, GUIDED, YOU
from components.tables import mapping


@dataclass(frozen=True, slots=True)
class Voice:
    """Who played, in two cases; both begin in small letters where they are no name.

    Attributes:
        subject: As in “you spent”.
        possessive: As in “your cart”.
    """

    subject: str
    possessive: str

    @property
    def title(self) -> str:
        """The subject at the beginning of a sentence."""
        return capital(self.subject)


READER = Voice("you", "your")


def capital(text: str) -> str:
    """The text with its first letter large, and the others as they are."""
    return text[:1].upper() + text[1:]


def voice_of(record: Mapping[str, Any]) -> Voice:
    """How to speak of the player of a record, which may come from an uploaded file.

    A game that somebody played without a name is the reader's; what several played is nobody's in particular.
    """
    name = player_of(record)
    if name.removesuffix(AGAIN).removesuffix(GUIDED) == YOU:
        return READER
    if mapping(record.get("player")).get("kind") == "mixed":
        name = "the player"
    elif name in BUILT_IN:
        name = f"the {title_of(name).lower()}"
    return Voice(name, f"{name}’s")
