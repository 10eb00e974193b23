"""Pure functions: two finished episodes of one scenario → rows that stand side by side, and where the two part.

Turn n of one stands beside turn n of the other. The same actions get the same results, so what matters is the first
turn in which the two act differently: from there on they live in different worlds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from components.records import bars
from components.tables import mapping, number, rows, words
from components.views import error_of
from ecomrlve.evaluation.failures import CAUSES, causes, tool_calls, tool_errors

Step = Mapping[str, Any]
Pairs = list[tuple[Step | None, Step | None]]

# Of a tool's result as text; the Trajectories tab shows all of it.
MOST_CHARACTERS = 3000
ENDING = "ending"
# What an agent puts out, then what comes back; each with its words in a sentence.
ACTED = {
    "calls": "the tool calls",
    "message": "what is said to the customer",
    "answer": "the answer",
    "unreadable": "an output that is no action",
}
CAME_BACK = {"results": "what the shop returned", "reply": "what the customer replied"}
_WORDS = {**ACTED, **CAME_BACK, ENDING: "only one of the two is still playing"}


def aligned(one: Sequence[Step], other: Sequence[Step]) -> Pairs:
    """The steps of two episodes by turn; None stands where one has ended already."""
    return list(zip_longest(one, other))


def differences(one: Step | None, other: Step | None) -> tuple[str, ...]:
    """In what two steps differ.

    Args:
        one: A step of a record, as `ecomrlve.trajectory` makes it.
        other: The same turn of the other episode.

    Returns:
        Keys of `ACTED`; only where both acted alike, keys of `CAME_BACK`. ``("ending",)`` if there is one step only.
    """
    if one is None or other is None:
        return () if one is other else (ENDING,)
    acted = _differing(ACTED, one, other)
    return acted or _differing(CAME_BACK, one, other)


def first_difference(pairs: Pairs) -> int | None:
    """Place of the first pair that differs, from 0; None if none does."""
    return next((place for place, pair in enumerate(pairs) if differences(*pair)), None)


def _differing(names: Mapping[str, str], one: Step, other: Step) -> tuple[str, ...]:
    return tuple(name for name in names if _PARTS[name](one) != _PARTS[name](other))


def _action(step: Step) -> dict[str, Any]:
    return mapping(step.get("canonical"))


def _calls(step: Step) -> list[tuple[Any, Any]]:
    return [(call.get("name"), call.get("args")) for call in rows(_action(step).get("tool_calls"))]


def _message(step: Step) -> str:
    return words(_action(step).get("assistant_message"))


def _unreadable(step: Step) -> Any:
    """The output that could not be read as an action."""
    return None if _action(step) else step.get("action")


def _results(step: Step) -> list[Any]:
    return [call.get("result") for call in rows(step.get("tool_results"))]


def _reply(step: Step) -> str:
    return words(mapping(step.get("customer")).get("text"))


_PARTS: dict[str, Callable[[Step], Any]] = {
    "calls": _calls,
    "message": _message,
    "answer": lambda step: _action(step).get("answer"),
    "unreadable": _unreadable,
    "results": _results,
    "reply": _reply,
}


def told(pairs: Pairs) -> str:
    """In one sentence where two episodes part, without saying which one does what."""
    place = first_difference(pairs)
    if place is None:
        return "Both did exactly the same, turn by turn."
    found = differences(*pairs[place])
    before = "" if place == 0 else f"Alike for {place} turn{'s' if place > 1 else ''}. "
    if found == (ENDING,):
        return f"{before}In turn {place + 1} only one of the two is still playing."
    return f"{before}They part in turn {place + 1}: {in_words(found)} {_verb(found)}."


def _verb(found: Sequence[str]) -> str:
    return "differ" if len(found) > 1 or found[0] == "calls" else "differs"


def in_words(found: Sequence[str]) -> str:
    """Several differences in words: ``the tool calls and the answer``."""
    named = [_WORDS[name] for name in found]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def table(pairs: Pairs, *, timed: bool) -> list[dict[str, Any]]:
    """The rows that the page draws.

    Args:
        pairs: What `aligned` gives.
        timed: Whether milliseconds are shown; they may tell who played.

    Returns:
        Per turn its number, what differs in words ("" if nothing does), and the two steps; a single one where both are
        alike.
    """
    found = []
    for place, (one, other) in enumerate(pairs):
        differing = differences(one, other)
        steps = (one, other) if differing else (one,)
        sides = [None if step is None else shown(step, timed=timed) for step in steps]
        found.append({"turn": place + 1, "differs": in_words(differing) if differing else "", "sides": sides})
    return found


def shown(step: Step, *, timed: bool) -> dict[str, Any]:
    """One side of a row: plain texts only."""
    action = _action(step)
    answer = action.get("answer")
    fields = [[name, words(value)] for name, value in mapping(answer).items() if name != "done"]
    unreadable = _unreadable(step)
    return {
        "calls": [_call(call, timed) for call in rows(step.get("tool_results"))],
        "message": _message(step),
        "answer": fields if isinstance(answer, Mapping) and answer.get("done") is not False else None,
        "unreadable": "" if unreadable is None else words(unreadable)[:MOST_CHARACTERS],
        "reply": _reply(step),
        "free": words(step.get("discount_reason")) if step.get("discounted") else "",
    }


def _call(entry: Mapping[str, Any], timed: bool) -> dict[str, Any]:
    ms = entry.get("ms")
    arguments = mapping(entry.get("args"))
    summary = " · ".join(f"{name}: {words(value)}" for name, value in arguments.items())
    return {
        "name": words(entry.get("name")),
        "summary": words(summary[:160]),
        "args": _json(arguments),
        "result": _json(entry.get("result")),
        "ms": round(number(ms), 1) if timed and ms is not None else None,
        "refused": words(error_of(entry.get("result"))),
    }


def _json(value: Any) -> str:
    text = json.dumps(value, indent=1, ensure_ascii=False, default=str)
    more = len(text) - MOST_CHARACTERS
    return words(text if more <= 0 else f"{text[:MOST_CHARACTERS]}\n… {more} more characters")


def figures(record: Mapping[str, Any], *, timed: bool) -> dict[str, Any]:
    """What an episode was worth and why, as the score board shows it.

    Args:
        record: The record of a finished episode.
        timed: Whether the seconds are told; they may tell who played.
    """
    reward = mapping(record.get("reward"))
    steps = rows(record.get("steps"))
    correct = reward.get("correct") is True
    refused = sum(tool_errors(record).values())
    return {
        "total": number(reward.get("total")),
        "correct": correct,
        "reason": words(reward.get("reason")),
        "parts": [
            {"label": bar["label"], "formula": bar["formula"], "value": bar["value"], "note": bar["note"]}
            for bar in bars(reward)
            if not bar.get("total")
        ],
        "turns": len(steps),
        "free": sum(bool(step.get("discounted")) for step in steps),
        "calls": sum(tool_calls(record).values()),
        "refused": refused,
        "seconds": _seconds(record) if timed else None,
        "causes": [{"name": name, "sentence": CAUSES.get(name, "")} for name in causes(record)[:3]],
    }


def _seconds(record: Mapping[str, Any]) -> float | None:
    """How long the player and the shop took together; None where nobody measured it, as for people."""
    seconds = mapping(record.get("evaluation")).get("seconds")
    return None if seconds is None else round(number(seconds), 3)
