"""Pure functions: a record → what was known and done by each turn, held against the hidden goal of the end.

What the customer had said, which things that matter the tools had shown, how the cart stood, which wishes were open.
All of it is told by turn, so that a page can show any turn without asking again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.goals import cart_block, wish_name
from components.session import JOURNEY
from components.tables import mapping, number, rows, words

MOST_PARTS = 200_000  # of one tool result
MOST_REPLACEMENTS = 3
Target = tuple[str, str, tuple[str, ...]]  # what it is, more about it, and the ids that show it


def known(trajectory: Mapping[str, Any]) -> dict[str, Any]:
    """Value of the panel that tells what was known: everything with the turn from which on it holds, 0 the opening."""
    goal, steps = mapping(trajectory.get("goal")), rows(trajectory.get("steps"))
    goals = rows(goal.get("intents")) if goal.get("env_id") == JOURNEY else [goal]
    several = len(goals) > 1
    shown = _first_shown(steps)
    groups: list[dict[str, Any]] = []
    for place, one in enumerate(goals):
        said = [_slot(slot) for slot in rows(trajectory.get("ledger")) if not several or _of(slot, place)]
        seen = [{"text": text, "sub": more, "at": _all_shown(shown, ids)} for text, more, ids in targets(one)]
        groups.append({"title": f"{place + 1}. {wish_name(one)}" if several else "", "targets": seen, "said": said})
    return {
        "wishes": _wishes(goals, trajectory) if several else [],
        "groups": groups,
        "carts": _carts(goals, steps),
        "cart_wish": next((place for place, one in enumerate(goals) if rows(one.get("items"))), -1),
    }


def _all_shown(shown: Mapping[str, int], ids: tuple[str, ...]) -> int | None:
    """The turn by which all of these ids had been shown."""
    return max(shown[one] for one in ids) if all(one in shown for one in ids) else None


def _of(slot: Mapping[str, Any], place: int) -> bool:
    return words(slot.get("key")).partition(":")[0] == str(place)


def _slot(slot: Mapping[str, Any]) -> dict[str, Any]:
    """A slot with all that was said of it: turn and wording."""
    text = words(slot.get("text") or slot.get("key")).removesuffix(": ")
    item = words(slot.get("item_name"))
    said = [
        [int(number(one.get("turn"))), words(one.get("text")).removesuffix(": ") or text, words(one.get("act"))]
        for one in rows(slot.get("said"))
    ]
    return {"text": text, "item": "" if item == text else item, "said": said}


def targets(goal: Mapping[str, Any]) -> list[Target]:
    """The things that somebody who reaches this goal must have come across."""
    make = _TARGETS.get(words(goal.get("env_id")))
    return [(text, more, tuple(filter(None, ids))) for text, more, ids in make(goal) if any(ids)] if make else []


def _of_cart(goal: Mapping[str, Any]) -> Iterator[Target]:
    for item in rows(goal.get("items")):
        ids = words(item.get("product_id")), words(item.get("variant_id"))
        yield words(item.get("title")), "with its variants" if ids[1] else "", ids


def _of_list(goal: Mapping[str, Any]) -> Iterator[Target]:
    best = goal.get("best")
    places = {words(one): place for place, one in enumerate(best, 1)} if isinstance(best, list) else {}
    fitting = {words(one.get("product_id")): one for one in rows(goal.get("feasible"))}
    for product in sorted(fitting, key=lambda one: places.get(one, len(fitting) + 1)):
        place = places.get(product)
        yield words(fitting[product].get("title")), f"best: no. {place}" if place else "fits", (product,)


def _of_return(goal: Mapping[str, Any]) -> Iterator[Target]:
    yield f"The order line: {words(goal.get('product'))}", "", (words(goal.get("order_id")), words(goal.get("line_id")))
    for place, one in enumerate(rows(goal.get("best"))[:MOST_REPLACEMENTS], 1):
        yield words(one.get("title")), f"best replacement: no. {place}", (words(one.get("product_id")),)


def _of_status(goal: Mapping[str, Any]) -> Iterator[Target]:
    order = words(goal.get("order_id"))
    yield "The order that is meant", f"placed on {words(goal.get('placed'))}", (order,)
    if goal.get("eta") is not None:
        yield "When it arrives, from its tracking", "", (_by("order_track", order),)


def _of_policy(goal: Mapping[str, Any]) -> Iterator[Target]:
    yield f"The help page: {words(goal.get('page'))}", "", (words(goal.get("policy_id")),)
    sources = {words(fact.get("source")) for fact in rows(goal.get("facts"))}
    if "profile" in sources:
        yield "The customer's profile", "", (_by("user_get_profile"),)
    if "order" in sources:
        yield "The order it is about", "", (words(goal.get("order_id")),)


def _of_bundle(goal: Mapping[str, Any]) -> Iterator[Target]:
    for one in rows(goal.get("cheapest")):
        about = f"the cheapest {words(one.get('part'))} that fits"
        yield words(one.get("title")), about, (words(one.get("product_id")),)


_TARGETS = {
    "E_CART": _of_cart,
    "E_PD": _of_list,
    "E_SUB": _of_list,
    "E_RETURN": _of_return,
    "E_STATUS": _of_status,
    "E_POLICY": _of_policy,
    "E_BUNDLE": _of_bundle,
}


def _by(tool: str, identifier: str = "") -> str:
    """What stands for an id that a certain tool showed, or for anything that it showed."""
    return f"{tool} {identifier}"


def _first_shown(steps: list[dict[str, Any]]) -> dict[str, int]:
    """Id → the first turn in which a tool result showed it."""
    found: dict[str, int] = {}
    for turn, step in enumerate(steps, 1):
        for call in rows(step.get("tool_results")):
            result, name = call.get("result"), words(call.get("name"))
            if not isinstance(result, Mapping) or "error" in result:
                continue
            found.setdefault(_by(name), turn)
            for text in _texts(result):
                found.setdefault(text, turn)
                if name == "order_track":
                    found.setdefault(_by(name, text), turn)
    return found


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value."""
    left = [value]
    for _ in range(MOST_PARTS):
        if not left:
            return
        part = left.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            left += part.values()
        elif isinstance(part, list):
            left += part


def _wishes(goals: list[dict[str, Any]], trajectory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """When each wish of a journey was raised and answered. The customer gives thanks for an accepted answer."""
    wishes: list[dict[str, Any]] = [
        {"name": wish_name(goal), "raised": None, "answered": None, "right": None} for goal in goals
    ]
    wishes[0]["raised"] = 0
    open_ones, raised = [0], 1
    for turn, step in enumerate(rows(trajectory.get("steps")), 1):
        acts = mapping(step.get("customer")).get("acts")
        acts = acts if isinstance(acts, list) else []
        if "thanks" in acts and open_ones:
            wishes[open_ones.pop()]["answered"] = turn
        if "open" in acts and raised < len(wishes):
            wishes[raised]["raised"] = turn
            open_ones.append(raised)
            raised += 1
    outcomes = rows(mapping(mapping(trajectory.get("reward")).get("parts")).get("intents"))
    for wish, outcome in zip(wishes, outcomes, strict=False):
        wish["right"] = bool(outcome.get("correct"))
    return wishes


def _carts(goals: list[dict[str, Any]], steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cart against the goal, each with the turn from which on it looked like this."""
    goal = next((one for one in goals if rows(one.get("items"))), None)
    found: list[dict[str, Any]] = []
    last: Any = None
    for turn, lines in enumerate([[], *(rows(mapping(step.get("shop")).get("cart")) for step in steps)]):
        if lines != last and (goal or lines or found):
            table = {**cart_block(goal or {}, lines), "title": "The cart against the goal"}
            note = "" if goal else "No wish of this customer is about a cart."
            found.append({**table, "note": note, "at": turn, "filled": bool(lines)})
        last = lines
    return found
