"""The guided first episode: explains the screen step by step and suggests the next click.

Every suggestion follows from what the customer said and what the tools showed (`components.guide_reading`), so that it
survives whatever the visitor does instead, and any catalog. Nothing here looks into the environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.episode import Episode, Turn
from components.guide_reading import look
from components.guide_steps import Step, ending, next_step
from components.views import error_of

# An easy episode with all there is to learn: lookalikes, a variant, and something that the customer left out.
EPISODE: dict[str, Any] = {"env_id": "E_CART", "difficulty": 0, "seed": 2530}
STAGES = 5
HIDDEN: dict[str, Any] = {"hidden": True}


def guide(episode: Episode | None) -> dict[str, Any]:
    """Value of the guide.

    Returns:
        ``hidden`` where no guided episode is open; else the step: ``episode``, ``turn``, ``stage`` of ``stages``,
        ``title``, ``aside`` (on what the visitor did instead, or "") and ``points``, one after the other.
    """
    if episode is None or not episode.guided or episode.env_id != EPISODE["env_id"]:
        return HIDDEN
    done = len(episode.turns)
    left = episode.observation.turns_left
    step = _step(episode, episode.turns, left) if episode.running else ending()
    aside = ""
    if episode.turns and episode.running:
        before = _step(episode, episode.turns[:-1], left + 1)
        aside = _aside(before, episode.turns[-1], left)
    return {
        "hidden": False,
        "episode": episode.key,
        "turn": done,
        "stage": step.stage,
        "stages": STAGES,
        "title": step.title,
        "aside": aside,
        "points": list(step.points),
    }


def _step(episode: Episode, turns: Sequence[Turn], left: int) -> Step:
    return next_step(look(episode.opening, turns), turns, left, episode.observation.tool_budget)


def _aside(suggested: Step, turn: Turn, left: int) -> str:
    """What to say about the last turn: something was refused, or the visitor went another way."""
    refused = next((error for call in turn.calls if (error := error_of(call["result"]))), "")
    turns = f"{left} {'turn' if left == 1 else 'turns'} left"
    if refused:
        return f"The shop refused that: {refused}. Nothing has changed; you have {turns}."
    if turn.answer is not None:
        return f"That was early: the customer had something left to say, and says it now. You have {turns}."
    if suggested.fits(turn):
        return ""
    did = [f"`{call['name']}`" for call in turn.calls] + (["a message"] if turn.message else [])
    return f"You took another way ({', '.join(did)}). That is fine: you have {turns}, and this goes on from there."
