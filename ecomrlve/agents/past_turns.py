"""Turns that were taken already as messages of a model: what one that comes in the middle of an episode is shown.

A model takes whatever stands there as its own for what it has said itself, so that each turn is written as it would
have written it: in its dialect, or word for word where the text of a model is at hand.
"""

from __future__ import annotations

import json
from typing import Any

from ecomrlve.agents.chat import CALL, Message, assistant_message, split_thought
from ecomrlve.errors import InvalidActionError
from ecomrlve.prompts import Dialect
from ecomrlve.protocol import Action, parse_action


def past_message(action: Any, dialect: Dialect) -> Message | None:
    """A turn as a message of the model that goes on from it.

    Args:
        action: What was given to the environment.
        dialect: How the model writes its actions.

    Returns:
        An assistant message without thoughts, for `Conversation.say`; None for what is no action, which ended the
        episode, so that nobody goes on from it.
    """
    try:
        read = parse_action(action)
    except InvalidActionError:
        return None
    if isinstance(action, dict) and action.get("role") == "assistant":
        content = action.get("content")
        return action | {"content": split_thought(content)[1] if isinstance(content, str) else ""}
    text = action if isinstance(action, str) else _written(read, dialect)
    return assistant_message(text) if dialect == "native" else {"content": split_thought(text)[1]}


def _written(action: Action, dialect: Dialect) -> str:
    """An action as the text of a model."""
    if dialect == "json" or action.draft:
        return json.dumps(action.canonical(), ensure_ascii=False)
    calls: list[tuple[str, dict[str, Any]]] = [(call.name, call.args) for call in action.tool_calls]
    if action.answer is not None:
        calls.append(("submit_answer", action.answer))
    blocks = [json.dumps({"name": name, "arguments": args}, ensure_ascii=False) for name, args in calls]
    return "\n".join(filter(None, [action.message, *(f"{CALL[0]}\n{block}\n{CALL[1]}" for block in blocks)]))
