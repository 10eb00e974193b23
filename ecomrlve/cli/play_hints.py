"""Advice for newcomers to `ecomrlve play`, in the words of a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ecomrlve.agents.advice import Past, advice
from ecomrlve.cli.play_game import Game

# Where a command of the terminal does what is advised.
WORDS = {
    "collect": "Collect the turn with +: tool calls and a question together take one turn, and fewer turns score "
    "higher.",
    "ask": "The customer may not have said everything that counts. Ask, for instance: say What else should I know?",
    "more": "There are more entries: the same call with page=2, or a higher limit where the tool has one.",
}


def hints(game: Game) -> Iterator[str]:
    """What is worth knowing before the next turn.

    Args:
        game: A running game.
    """
    past = [
        Past(
            spoke=bool(turn.action.message),
            results=tuple(message["result"] for message in turn.messages if message["role"] == "tool"),
        )
        for turn in game.turns
    ]
    for found in advice(game.observation, past):
        yield WORDS.get(found.code, found.text)
