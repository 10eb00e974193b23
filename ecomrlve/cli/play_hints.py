"""Advice for newcomers to `ecomrlve play`. It follows from the rules and from what the player saw."""

from __future__ import annotations

from collections.abc import Iterator

from ecomrlve.cli.play_commands import answer_fields
from ecomrlve.cli.play_game import Game


def hints(game: Game) -> Iterator[str]:
    """What is worth knowing before the next turn.

    Args:
        game: A running game.
    """
    seen = game.observation
    asked = any(turn.action.message for turn in game.turns)
    if not game.turns:
        yield "Collect the turn with +: tool calls and a question together take one turn, and fewer turns score higher."
    if not asked and seen.intent_turns_left > 1:
        yield ("The customer may not have said everything that counts. Ask, for instance: say What else should I know?")
    last = game.turns[-1].messages if game.turns else ()
    if any(message["role"] == "tool" and message["result"].get("more") for message in last):
        yield "There are more entries: the same call with page=2, or a higher limit where the tool has one."
    if any(message["role"] == "tool" and "error" in message["result"] for message in last):
        yield "A refused call changes nothing, but it did count as a call."
    # Speaking up happens at the end of the turn after which two turns remain.
    if seen.intent_turns_left == 3:
        yield "After this turn two are left; then the customer says by itself what it has not said yet."
    elif seen.intent_turns_left == 1:
        fields = ", ".join(answer_fields(seen)) or "nothing to fill in: the cart is what counts"
        yield f"This is the last turn for this wish. Hand in the answer ({fields})."
