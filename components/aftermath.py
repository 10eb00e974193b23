"""What the reference agent does from the same seed: shown beside one's own result, and never before the end."""

from __future__ import annotations

from typing import Any

from components.agents import Seat
from components.episode import Episode, Turn, opened
from components.session import SessionError, Shop
from components.views import error_of
from ecomrlve.environment import Environment

AGENT = "reference"


def pending(episode: Episode | None) -> dict[str, Any] | None:
    """Value of the panel as soon as an episode is over: it makes the page ask for the rest. None before.

    The rest comes by a request of its own, so that the reward does not wait for it.
    """
    return None if episode is None or episode.running else {"episode": episode.key, "pending": True}


def aftermath(episode: Episode | None, shop: Shop) -> dict[str, Any]:
    """Value of the panel: how the reference agent plays the episode that is over.

    Args:
        episode: The visitor's episode.
        shop: Has the engine.

    Raises:
        SessionError: The episode is still running, or there is none.
    """
    if episode is None or episode.running:
        raise SessionError("The reference agent is shown when an episode is over.")
    # The built-in customer: it tells the same, and costs no request to a model.
    environment = Environment((episode.env_id,), shop.engine)
    other = opened(environment, episode.env_id, episode.difficulty, episode.seed)
    seat = Seat(AGENT, other)
    while other.running:
        seat.turn()
    return {
        "episode": episode.key,
        "pending": False,
        "total": other.reward.total,
        "correct": other.reward.correct,
        "your_total": episode.reward.total,
        "your_turns": len(episode.turns),
        "turns": [_turn(turn) for turn in other.turns],
    }


def _turn(turn: Turn) -> dict[str, Any]:
    calls = [{"name": call["name"], "args": call["args"], "error": error_of(call["result"])} for call in turn.calls]
    return {
        "number": turn.number,
        "calls": calls,
        "message": turn.message,
        "answer": turn.answer,
        "customer": turn.customer,
    }
