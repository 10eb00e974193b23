"""Pure functions: a trajectory's dict → what to show of it, in the Play tab after the end and in the inspector.

Trajectories also come from uploaded files, so nothing here trusts a type: what is missing or odd is shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from components.views import error_of, products_in, variant_label

TASK_WEIGHT, EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT = 0.75, 0.15, 0.10
Cell = str | int | float | dict[str, Any] | None


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping with text keys, else an empty one."""
    return {str(key): part for key, part in value.items()} if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list; nothing for anything else."""
    return [mapping(entry) for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def words(value: Any) -> str:
    """Any value as a short text."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(words, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def number(value: Any) -> float:
    """The value as a finite number; 0 for anything else."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
    return float(value) if usable else 0.0


def result(trajectory: Mapping[str, Any]) -> dict[str, Any] | None:
    """Reward, hidden goal against what was done, and the ledger of what was said; None without a reward."""
    reward = mapping(trajectory.get("reward"))
    if not reward:
        return None
    blocks = [*goal_blocks(trajectory), *ledger_blocks(trajectory)]
    correct = bool(reward.get("correct"))
    parts = [[name.replace("_", " "), words(value)] for name, value in mapping(reward.get("parts")).items()]
    return {
        "episode": words(trajectory.get("episode_id")),
        "difficulty": number(trajectory.get("difficulty")),
        "total": number(reward.get("total")),
        "headline": "Correct: all the customer wanted" if correct else "Not correct",
        "reason": words(reward.get("reason")),
        "bars": bars(reward),
        "notes": notes(trajectory),
        "parts": parts,
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
        ("Efficiency", EFFICIENCY_WEIGHT, counted, "Few turns of your own. Counts only where the task went well."),
        ("Made-up ids", HALLUCINATION_WEIGHT, hallucination, "Share of ids you used without having been shown them."),
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


def notes(trajectory: Mapping[str, Any]) -> list[str]:
    """Sentences under the waterfall: uncounted efficiency, discounted turns, dropped hazards, how it ended."""
    reward = mapping(trajectory.get("reward"))
    steps = rows(trajectory.get("steps"))
    lines = []
    if number(reward.get("efficiency")) > 0 >= number(reward.get("task")):
        value = f"{number(reward.get('efficiency')):+.2f}"
        lines.append(f"Your efficiency was {value}, but failing fast earns nothing, so it did not count.")
    free = [step for step in steps if step.get("discounted")]
    if free:
        turns = ", ".join(words(step.get("turn")) for step in free)
        lines.append(
            f"Not counted as yours: turn {turns}." if len(free) == 1 else f"Not counted as yours: turns {turns}."
        )
    if trajectory.get("truncated"):
        lines.append("The turns ran out before an answer was given.")
    dropped = words(trajectory.get("dropped_hazards"))
    if dropped:
        lines.append(f"Left out of this episode so that it can be solved in time: {dropped}.")
    return lines


def _cell(text: Any, tone: str = "", sub: str = "") -> dict[str, Any]:
    return {"text": words(text), "tone": tone, "sub": sub}


def _block(title: str, columns: list[str], lines: list[list[Cell]], note: str = "") -> dict[str, Any]:
    return {"title": title, "note": note, "columns": columns, "rows": lines}


def goal_blocks(trajectory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The hidden goal against what was done."""
    goal = mapping(trajectory.get("goal"))
    done = rows(trajectory.get("done"))
    if "items" in goal:
        return [_cart_block(rows(goal["items"]), done)]
    if "feasible" in goal:
        return [_list_block(goal, done), _feasible_block(goal)]
    if not goal and not done:
        return []
    pairs: list[list[Cell]] = [[name, words(value)] for name, value in goal.items()]
    did: list[list[Cell]] = [[words(entry)] for entry in done]
    return [_block("The hidden goal", ["Field", "Value"], pairs), _block("What was done", ["Record"], did)]


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    quantity = entry.get("qty", 1)
    variant = variant_label(entry.get("variant"))
    label = f"{words(quantity)} × {words(entry.get('title'))}" + (f" [{variant}]" if variant else "")
    return _cell(label, sub=words(entry.get("note")))


def _cart_block(items: list[dict[str, Any]], done: list[dict[str, Any]]) -> dict[str, Any]:
    """Wanted items with the cart lines that serve them, then the lines that serve none."""
    tones = {"match": ("good", "right"), "partial": ("warn", "in part"), "extra": ("bad", "not wanted")}
    left = list(done)
    lines: list[list[Cell]] = []
    for item in items:
        own = [line for line in left if _serves(line, item)]
        left = [line for line in left if line not in own]
        have = sum(number(line.get("qty")) for line in own)
        wanted = number(item.get("qty", 1))
        if not own:
            verdict = _cell("missing", "bad")
        elif have == wanted:
            verdict = _cell("right", "good")
        else:
            verdict = _cell("too few" if have < wanted else "too many", "warn")
        cell = _cell("; ".join(_item(line)["text"] for line in own) or "—")
        lines.append([_item(item), cell, verdict])
    for line in left:
        tone, text = tones.get(words(line.get("status")), ("bad", "not wanted"))
        lines.append(["—", _item(line), _cell(text, tone)])
    return _block("Hidden goal and your cart", ["Wanted", "In the cart", ""], lines)


def _serves(line: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    same = line.get("product_id") == item.get("product_id")
    return same and item.get("variant_id") in (None, line.get("variant_id"))


def _list_block(goal: Mapping[str, Any], done: list[dict[str, Any]]) -> dict[str, Any]:
    feasible = {words(entry.get("product_id")): entry for entry in rows(goal.get("feasible"))}
    lines: list[list[Cell]] = []
    for rank, entry in enumerate(done, 1):
        product = words(entry.get("product_id"))
        known = {**feasible.get(product, {}), **entry}
        if entry.get("feasible"):
            verdict = _cell("fits", "good")
        else:
            verdict = _cell("does not fit", "bad", words(entry.get("violates")))
        lines.append([rank, _cell(known.get("title") or product, sub=product), verdict])
    wanted = words(goal.get("constraints")) or "nothing in particular"
    order = " before ".join(map(words, goal["priorities"])) if isinstance(goal.get("priorities"), list) else ""
    note = f"Wanted: {words(goal.get('type'))}; {wanted}." + (f" Best means {order}." if order else "")
    return _block("Your list against the hidden goal", ["#", "Recommended", ""], lines, note)


def _feasible_block(goal: Mapping[str, Any]) -> dict[str, Any]:
    best = goal.get("best") if isinstance(goal.get("best"), list) else []
    places = {words(product): place for place, product in enumerate(best or [], 1)}
    entries = rows(goal.get("feasible"))
    entries.sort(key=lambda entry: (places.get(words(entry.get("product_id")), 10**6), -number(entry.get("utility"))))
    lines: list[list[Cell]] = []
    for entry in entries:
        product = words(entry.get("product_id"))
        lines.append(
            [
                places.get(product, ""),
                _cell(entry.get("title"), sub=product),
                f"${number(entry.get('price')):.2f}",
                words(entry.get("rating")),
                words(entry.get("ship_days")),
                words(entry.get("brand")),
                f"{number(entry.get('utility')):.2f}",
            ]
        )
    columns = ["Best", "Product", "Price", "Rating", "Ship days", "Brand", "Utility"]
    return _block("All products that would have fitted", columns, lines)


def ledger_blocks(trajectory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Which turns were the customer's doing, and what was said when."""
    blocks = []
    turns: list[list[Cell]] = [
        [words(step.get("turn")), words(step.get("discount_reason")) or "caused by the customer"]
        for step in rows(trajectory.get("steps"))
        if step.get("discounted")
    ]
    if turns:
        blocks.append(_block("Turns that were not counted as yours", ["Turn", "Why"], turns))
    slots = [_slot(slot) for slot in rows(trajectory.get("ledger"))]
    if slots:
        blocks.append(_block("What the customer said", ["What", "Opening", "Told"], slots))
    return blocks


def _slot(slot: Mapping[str, Any]) -> list[Cell]:
    said = rows(slot.get("said"))
    text, item = words(slot.get("text") or slot.get("key")), words(slot.get("item_name"))
    if any(mention.get("turn") == 0 for mention in said):
        opening: Cell = "said"
    else:
        opening = _cell("left out", "warn") if slot.get("omitted") else _cell("came up later", "muted")
    told = "; ".join(_when(mention, text) for mention in said)
    when = _cell(told) if told else _cell("never said, so not scored", "muted")
    return [_cell(text, sub="" if item == text else item), opening, when]


def _when(mention: Mapping[str, Any], final: str) -> str:
    """When something was said, and what, where it was not yet what counted in the end."""
    turn = mention.get("turn")
    where = "opening" if turn in (0, None) else f"turn {words(turn)}"
    act, text = words(mention.get("act")), words(mention.get("text"))
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


def _call(entry: Mapping[str, Any]) -> dict[str, Any]:
    ms = entry.get("ms")
    return {
        "name": words(entry.get("name")),
        "args": mapping(entry.get("args")),
        "result": entry.get("result"),
        "ms": round(number(ms), 1) if ms is not None else None,
        "error": error_of(entry.get("result")),
    }


def _step(entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    action = entry.get("action")
    canonical = mapping(entry.get("canonical")) or mapping(action)
    customer = mapping(entry.get("customer"))
    shop = mapping(entry.get("shop"))
    sold_out = shop.get("sold_out")
    calls = [_call(call) for call in rows(entry.get("tool_results"))]
    message = words(canonical.get("assistant_message"))
    answer = canonical.get("answer")
    summary = [call["name"] for call in calls]
    summary += [f"“{message[:60]}”"] if message else []
    summary += ["answer"] if answer else []
    reason = words(entry.get("discount_reason"))
    return {
        "turn": entry.get("turn"),
        "calls": calls,
        "message": message,
        "answer": mapping(answer) or None,
        "raw": action if isinstance(action, str) else None,
        "customer": words(customer.get("text")),
        "acts": words(customer.get("acts")),
        "discount": f"Not counted as the agent's turn: {reason}" if entry.get("discounted") else "",
        "cart": [
            {
                "title": words(line.get("title")),
                "variant": variant_label(line.get("variant")),
                "qty": words(line.get("qty")),
                "price": number(line.get("price")),
            }
            for line in rows(shop.get("cart"))
        ],
        "sold_out": [names.get(words(item), words(item)) for item in sold_out] if isinstance(sold_out, list) else [],
        "summary": " · ".join(summary) or "—",
    }


def timeline(trajectory: Mapping[str, Any], *, start: int = 0) -> dict[str, Any]:
    """Value of the inspector."""
    steps = rows(trajectory.get("steps"))
    names = _names(steps)
    player = mapping(trajectory.get("player"))
    name = words(player.get("name")) or "unknown"
    catalog = words(mapping(trajectory.get("catalog")).get("name"))
    subtitle = [f"played by {name}", f"engine {words(trajectory.get('engine'))}", f"catalog {catalog}"]
    place = f"{words(trajectory.get('env_id'))} · d {words(trajectory.get('difficulty'))}"
    return {
        "id": words(trajectory.get("episode_id")),
        "title": f"{place} · seed {words(trajectory.get('seed'))}",
        "subtitle": " · ".join(part for part in subtitle if not part.endswith(" ")),
        "agent": "You" if player.get("kind") == "human" else name,
        "start": start,
        "opening": words(mapping(trajectory.get("opening")).get("text")),
        "steps": [_step(step, names) for step in steps],
        "result": result(trajectory),
        "raw": {**trajectory, "steps": steps},
    }


def row(trajectory: Mapping[str, Any], key: str, source: str, order: int) -> dict[str, Any]:
    """One line of the table of episodes."""
    reward = mapping(trajectory.get("reward"))
    return {
        "key": key,
        "order": order,
        "source": source,
        "id": words(trajectory.get("episode_id")),
        "env_id": words(trajectory.get("env_id")),
        "difficulty": number(trajectory.get("difficulty")),
        "seed": trajectory.get("seed") if isinstance(trajectory.get("seed"), int) else words(trajectory.get("seed")),
        "player": words(mapping(trajectory.get("player")).get("name")) or "unknown",
        "turns": len(rows(trajectory.get("steps"))),
        "total": number(reward.get("total")),
        "correct": bool(reward.get("correct")),
    }
