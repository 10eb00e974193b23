"""Pure functions: a trajectory's dict → what to show of it, in the Play tab after the end and in the inspector.

Trajectories also come from uploaded files, so nothing here trusts a type: what is missing or odd is shown as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.entries import failures_of, player_of
from components.figures import figures
from components.goals import goal_blocks, wish_name
from components.known import known
from components.session import JOURNEY
from components.tables import MOST_ROWS, Cell, block, cell, mapping, number, placed, rows, words
from components.views import error_of, products_in, variant_label
from components.voice import Voice, capital, voice_of
from ecomrlve.evaluation.failures import CAUSES

MOST_FACTS = 16
TASK_WEIGHT, EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT = 0.75, 0.15, 0.10


def result(trajectory: Mapping[str, Any], voice: Voice | None = None) -> dict[str, Any] | None:
    """Reward, hidden goal against what was done, and the ledger of what was said; None without a reward.

    Args:
        trajectory: The record of an episode.
        voice: How to speak of the player; by default as the record says.
    """
    reward, voice = mapping(trajectory.get("reward")), voice or voice_of(trajectory)
    if not reward:
        return None
    blocks = [*goal_blocks(trajectory, voice), *ledger_blocks(trajectory, voice)]
    correct = bool(reward.get("correct"))
    return {
        "episode": words(trajectory.get("episode_id")),
        "difficulty": number(trajectory.get("difficulty")),
        "total": number(reward.get("total")),
        "headline": "Correct: all the customer wanted" if correct else "Not correct",
        "reason": words(reward.get("reason")),
        "bars": bars(reward),
        "notes": notes(trajectory, voice),
        "parts": figures(mapping(reward.get("parts"))),
        "blocks": blocks,
    }


def bars(reward: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The waterfall: weight × part for each part, and the total they add up to."""
    task, efficiency = number(reward.get("task")), number(reward.get("efficiency"))
    counted = efficiency if efficiency < 0 or task > 0 else 0.0
    hallucination = number(reward.get("hallucination"))
    total = number(reward.get("total"))
    pieces = [
        ("Task", TASK_WEIGHT, task, "Did the customer get what it wanted?"),
        (
            "Efficiency",
            EFFICIENCY_WEIGHT,
            counted,
            "Few turns, apart from those that the customer caused. Counts only where the task went well.",
        ),
        ("Made-up ids", HALLUCINATION_WEIGHT, hallucination, "Share of ids that were used without having been shown."),
    ]
    shown: list[dict[str, Any]] = []
    level = 0.0
    for label, weight, part, note in pieces:
        value = weight * part
        shown.append(_bar(label, f"{weight:.2f} × {part:+.2f}".replace("-", "−"), level, level + value, note))
        level += value
    if abs(level - total) > 0.005:
        note = "An output that is no action costs the whole reward."
        shown.append(_bar("Invalid output", "", level, total, note))
    return [*shown, {**_bar("Total", "", 0.0, total, "What the episode was worth"), "total": True}]


def _bar(label: str, formula: str, start: float, end: float, note: str) -> dict[str, Any]:
    return {"label": label, "formula": formula, "start": start, "end": end, "value": end - start, "note": note}


def notes(trajectory: Mapping[str, Any], voice: Voice | None = None) -> list[str]:
    """Sentences under the waterfall: uncounted efficiency, discounted turns, dropped hazards, how it ended."""
    reward, voice = mapping(trajectory.get("reward")), voice or voice_of(trajectory)
    steps = rows(trajectory.get("steps"))
    lines = []
    if number(reward.get("efficiency")) > 0 >= number(reward.get("task")):
        value = f"{number(reward.get('efficiency')):+.2f}"
        lines.append(
            f"{capital(voice.possessive)} efficiency was {value}, but failing fast earns nothing, so it did not count."
        )
    free = [step for step in steps if step.get("discounted")]
    if free:
        turns = ", ".join(words(step.get("turn")) for step in free)
        lines.append(f"Caused by the customer, so not counted: turn{'s' if len(free) > 1 else ''} {turns}.")
    if trajectory.get("truncated"):
        lines.append("The turns ran out before an answer was given.")
    dropped = words(trajectory.get("dropped_hazards"))
    if dropped:
        lines.append(f"Left out of this episode so that it can be solved in time: {dropped}.")
    return lines


def ledger_blocks(trajectory: Mapping[str, Any], voice: Voice | None = None) -> list[dict[str, Any]]:
    """Which turns were the customer's doing, and what was said when."""
    blocks, voice = [], voice or voice_of(trajectory)
    turns: list[list[Cell]] = [
        [words(step.get("turn")), words(step.get("discount_reason")) or "caused by the customer"]
        for step in rows(trajectory.get("steps"))
        if step.get("discounted")
    ]
    if turns:
        blocks.append(block(f"Turns that were not counted as {voice.possessive} own", ["Turn", "Why"], turns))
    for title, slots in _said(trajectory):
        blocks.append(block(title, ["What", "Opening", "Told"], [_slot(slot) for slot in slots]))
    return blocks


def _said(trajectory: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The ledger's slots under a heading; those of a journey under one for each wish, which their keys begin with."""
    title, slots = "What the customer said", rows(trajectory.get("ledger"))
    goal = mapping(trajectory.get("goal"))
    if goal.get("env_id") != JOURNEY:
        return [(title, slots)] if slots else []
    groups: dict[str, list[dict[str, Any]]] = {}
    for slot in slots:
        groups.setdefault(words(slot.get("key")).partition(":")[0], []).append(slot)
    names = {str(place): f"{place + 1}. {wish_name(wish)}: " for place, wish in enumerate(rows(goal.get("intents")))}
    return [(names.get(place, "") + title[0].lower() + title[1:], found) for place, found in groups.items()]


def _slot(slot: Mapping[str, Any]) -> list[Cell]:
    said = rows(slot.get("said"))
    # Some slots only name what the customer is after and have no value.
    text = words(slot.get("text") or slot.get("key")).removesuffix(": ")
    item = words(slot.get("item_name"))
    if any(mention.get("turn") == 0 for mention in said):
        opening: Cell = "said"
    else:
        opening = cell("left out", "warn") if slot.get("omitted") else cell("came up later", "muted")
    told = "; ".join(_when(mention, text) for mention in said)
    when = cell(told) if told else cell("never said, so not scored", "muted")
    return [cell(text, sub="" if item == text else item), opening, when]


def _when(mention: Mapping[str, Any], final: str) -> str:
    """When something was said, and what, where it was not yet what counted in the end."""
    turn = mention.get("turn")
    where = "opening" if turn in (0, None) else f"turn {words(turn)}"
    act, text = words(mention.get("act")), words(mention.get("text")).removesuffix(": ")
    where += f" ({act})" if act and act != "open" else ""
    return where if text in ("", final) else f"{where}: {text}"


def _names(steps: list[dict[str, Any]]) -> dict[str, str]:
    """Titles of all products and variants that tools showed, by id."""
    names: dict[str, str] = {}
    for step in steps:
        for call in rows(step.get("tool_results")):
            for product in products_in(call.get("result")):
                title = words(product.get("title"))
                names[words(product.get("id"))] = title
                for variant in rows(product.get("variants")):
                    names[words(variant.get("variant_id"))] = f"{title} [{variant_label(variant.get('attributes'))}]"
    return names


def _call(at: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call without its arguments and result: the page has these in the record, at this place of the step."""
    ms, result = entry.get("ms"), entry.get("result")
    return {
        "at": at,
        "name": words(entry.get("name")),
        "ms": round(number(ms), 1) if ms is not None else None,
        "error": words(error_of(result)),
        "gist": gist(result),
    }


def gist(result: Any) -> str:
    """How much a tool result holds, in two words: ``20 results``."""
    lists = [(name, value) for name, value in mapping(result).items() if isinstance(value, list)]
    if not lists:
        return ""
    name, value = lists[0]
    name = words(name).replace("_", " ")
    return f"{len(value)} {name.removesuffix('s') if len(value) == 1 and name != 'ids' else name}"


def _step(at: int, entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    action = entry.get("action")
    canonical = mapping(entry.get("canonical")) or mapping(action)
    customer = mapping(entry.get("customer"))
    shop = mapping(entry.get("shop"))
    sold_out = shop.get("sold_out")
    calls = [_call(*call) for call in placed(entry.get("tool_results"))]
    message = words(canonical.get("assistant_message"))
    answer = mapping(canonical.get("answer"))
    summary = [call["name"] for call in calls]
    summary += [f"“{message[:60]}”"] if message else []
    summary += ["answer"] if answer else []
    reason = words(entry.get("discount_reason"))
    return {
        "at": at,
        "turn": words(entry.get("turn")) or str(at + 1),
        "calls": calls,
        "message": message,
        "answer": [[words(name), words(value)] for name, value in answer.items() if name != "done"] if answer else None,
        "raw": words(action) if isinstance(action, str) else "",
        "customer": words(customer.get("text")),
        "acts": words(customer.get("acts")),
        "discount": f"Not counted as a turn: {reason}" if entry.get("discounted") else "",
        "returns": [_returned(entry) for entry in rows(shop.get("returns"))],
        "sold_out": [names.get(words(item), words(item)) for item in sold_out[:MOST_ROWS]]
        if isinstance(sold_out, list)
        else [],
        "summary": " · ".join(summary) or "—",
    }


def _returned(entry: Mapping[str, Any]) -> str:
    """A return or an exchange in one sentence."""
    kind, reason = words(entry.get("kind")), words(entry.get("reason")).replace("_", " ")
    told = f"Sent back: line {words(entry.get('line_id'))} ({kind}), reason: {reason}"
    if entry.get("method"):
        told += f", money back by {words(entry['method']).replace('_', ' ')}"
    return told + (f", for {words(entry['new_product_id'])}" if entry.get("new_product_id") else "")


def timeline(trajectory: Mapping[str, Any], *, start: int = 0) -> dict[str, Any]:
    """What the inspector shows of a record besides the record itself.

    Args:
        trajectory: The record of an episode.
        start: The step to begin at: 0 the opening, then the turns, then the result.
    """
    steps = placed(trajectory.get("steps"))
    names = _names([step for _, step in steps])
    reward = mapping(trajectory.get("reward"))
    place = f"{words(trajectory.get('env_id'))} · d {words(trajectory.get('difficulty'))}"
    left_out = len(trajectory["steps"]) - len(steps) if isinstance(trajectory.get("steps"), list) else 0
    return {
        "id": words(trajectory.get("episode_id")),
        "title": f"{place} · seed {words(trajectory.get('seed'))}",
        "facts": _facts(trajectory),
        "agent": voice_of(trajectory).title,
        "start": start,
        "total": number(reward.get("total")) if reward else None,
        "correct": bool(reward.get("correct")),
        "failures": [[cause, CAUSES.get(cause, "")] for cause in failures_of(trajectory)],
        "opening": words(mapping(trajectory.get("opening")).get("text")),
        "steps": [_step(at, step, names) for at, step in steps],
        "left_out": left_out,
        "result": result(trajectory),
        "known": known(trajectory),
    }


def _facts(trajectory: Mapping[str, Any]) -> list[str]:
    """Who played it, on what, and what an evaluation noted about it."""
    catalog = words(mapping(trajectory.get("catalog")).get("name"))
    evaluation = mapping(trajectory.get("evaluation"))
    facts = [("played by", player_of(trajectory)), ("engine", words(trajectory.get("engine"))), ("catalog", catalog)]
    if evaluation:
        facts += [("trial", str(1 + int(number(evaluation.get("trial")))))]
        facts += [("took", f"{number(evaluation.get('seconds')):.2f} s")] if "seconds" in evaluation else []
        facts += [(name.replace("_", " "), words(value)) for name, value in mapping(evaluation.get("notes")).items()]
    return [f"{words(name)} {value}" for name, value in facts if value][:MOST_FACTS]
