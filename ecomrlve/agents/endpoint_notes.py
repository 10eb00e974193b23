"""What an endpoint agent notes of an episode: what it took and what went wrong."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ecomrlve.agents.chat import Conversation
from ecomrlve.agents.endpoint_answer import Answer

MOST_PROBLEMS = 20


class Notes:
    """Counts of one episode.

    Args:
        price_in: US dollars for a million tokens that are read; None where nobody knows.
        price_out: The same for those that are written.
    """

    def __init__(self, price_in: float | None, price_out: float | None):
        self._price_in = price_in
        self._price_out = price_out
        self.counts: Counter[str] = Counter()
        self.waited = 0.0
        self.failed = ""
        self._problems: list[str] = []

    def answered(self, answer: Answer) -> None:
        """Count the tokens of an answer."""
        if answer.prompt_tokens is None or answer.completion_tokens is None:
            self.counts["tokens_unknown"] += 1
        self.counts["prompt_tokens"] += answer.prompt_tokens or 0
        self.counts["completion_tokens"] += answer.completion_tokens or 0
        self.counts["cut_off"] += answer.cut_off

    def problem(self, turn: int, text: str) -> None:
        """Keep a sentence about something that went wrong, if it is one of the first.

        Args:
            turn: In which turn, from 1.
            text: What.
        """
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(f"turn {turn}: {text}")

    def to_dict(self, conversation: Conversation) -> dict[str, Any]:
        """All that is not zero.

        Args:
            conversation: The chat of the episode, which knows what was left out of it.

        Returns:
            ``requests``, ``retries``, ``prompt_tokens``, ``completion_tokens``, ``tokens_unknown`` (answers without
            counts), ``cut_off`` (answers), ``cost`` (US dollars), ``waited`` (seconds), ``dropped_results``,
            ``dropped_turns``, ``problems`` (sentences), ``failed`` (why there was no answer in the end).
        """
        found: dict[str, Any] = {
            **self.counts,
            "cost": round(self._cost(), 6),
            "waited": round(self.waited, 3),
            "dropped_results": conversation.dropped_results,
            "dropped_turns": conversation.dropped_turns,
            "problems": list(self._problems),
            "failed": self.failed,
        }
        return {name: value for name, value in found.items() if value}

    def _cost(self) -> float:
        read = self.counts["prompt_tokens"] * (self._price_in or 0.0)
        written = self.counts["completion_tokens"] * (self._price_out or 0.0)
        return (read + written) / 1_000_000
