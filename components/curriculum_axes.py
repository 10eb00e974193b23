"""The twelve axes for people: what each does to a conversation, and what a customer says at two difficulties."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from components.session import ENVIRONMENTS, Shop, whole
from ecomrlve.collections import COLLECTIONS
from ecomrlve.difficulty import HIGHEST, LOWEST, difficulty
from ecomrlve.errors import EcomrlveError

DEFAULT_DIFFICULTY = 6
FIRST_COMPARISON: dict[str, Any] = {"env_id": next(iter(ENVIRONMENTS)), "seed": "7", "difficulties": [0, 9]}
_EVERY = COLLECTIONS["C8"]
_LISTS = ("E_SUB", "E_PD", "E_BUNDLE")
_SEARCHING = ("E_CART", "E_SUB", "E_PD", "E_RETURN", "E_BUNDLE")
# A widget redraws when its value is another one than before; this makes every value another one.
_number = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis, in words.

    Attributes:
        name: Its field in `Difficulty`.
        title: Its name for people.
        formula: How it follows from d; σ is the logistic function.
        effect: What it does to the conversation.
        reaches: The environments that it changes; a journey is made of the others.
        share: Whether it is a share or chance, shown in per cent; else it is a count.
    """

    name: str
    title: str
    formula: str
    effect: str
    reaches: tuple[str, ...]
    share: bool = False


AXES = (
    Axis(
        "constraints", "Requirements", "2 + ⌊d/2⌋",
        "The customer has more requirements, and a product must meet all of them.",
        (*_LISTS, "E_RETURN"),
    ),
    Axis(
        "omission", "Left unsaid at first", "0.8·σ((d − 3.4912)/1.2892)",
        "The opening leaves more out: whoever does not ask finds out late.",
        _EVERY, share=True,
    ),
    Axis(
        "distractors", "Noise in the search", "min(0.4, 0.02·d)",
        "More hits do not fit the search, whatever its filters say: read before you recommend.",
        _SEARCHING, share=True,
    ),
    Axis(
        "sellout", "Sold out meanwhile", "min(0.5, 0.05·d)",
        "More of what you have just seen is gone a turn later, so check again and ask what to take instead.",
        _SEARCHING, share=True,
    ),
    Axis(
        "turn_budget", "Turns", "4 + ⌊d/2⌋",
        "You get more turns, and more to do in them.",
        _EVERY,
    ),
    Axis(
        "noise", "Typos and slang", "min(0.125, 0.01·d)",
        "The customer mistypes more letters; ids, numbers and prices are always right.",
        _EVERY, share=True,
    ),
    Axis(
        "switching", "Changes of mind", "0.6·σ((d − 5)/2)",
        "The customer is likelier to change a wish that it has already told you; in a journey it changes the subject.",
        ("E_CART", *_LISTS, "E_JOURNEY"), share=True,
    ),
    Axis(
        "search_depth", "Hits on a page", "max(20, 200 − 10·d)",
        "One page of a search holds fewer hits: filter well, or turn pages and pay in calls.",
        _SEARCHING,
    ),
    Axis(
        "list_size", "Length of the list (k)", "min(10, 3 + ⌊d/3⌋)",
        "A longer list of recommendations is scored, and its order counts.",
        ("E_SUB", "E_PD"),
    ),
    Axis(
        "order_history", "Orders on the account", "2 + 3·d",
        "The account has more orders among which to find the one that is meant.",
        ("E_STATUS", "E_RETURN", "E_POLICY"),
    ),
    Axis(
        "policy_clauses", "Rules in one question", "1 + ⌊d/3⌋",
        "The answer follows from more rules of the shop at once, and they interact.",
        ("E_POLICY", "E_RETURN"),
    ),
    Axis(
        "tool_budget", "Tool calls per turn", "2 + ⌊d/2⌋",
        "You may make more calls in one turn; a call beyond that is refused.",
        _EVERY,
    ),
)  # fmt: skip


def axes() -> dict[str, Any]:
    """Value of the widget: every axis at every difficulty."""
    levels = [difficulty(d) for d in range(LOWEST, HIGHEST + 1)]
    return {"axes": [_axis(axis, [getattr(level, axis.name) for level in levels]) for axis in AXES]}


def _axis(axis: Axis, points: list[float]) -> dict[str, Any]:
    shown = [f"{100 * point:.0f} %" if axis.share else str(point) for point in points]
    reaches = ["every task"] if axis.reaches == _EVERY else list(axis.reaches)
    words = {"name": axis.name, "title": axis.title, "formula": axis.formula, "effect": axis.effect}
    return words | {"reaches": reaches, "points": points, "shown": shown}


def waiting() -> dict[str, Any]:
    """Value of the comparison before anybody has looked at it."""
    return {**_choice(), **FIRST_COMPARISON, "sides": [], "number": next(_number)}


def comparison(shop: Shop, asked: dict[str, Any]) -> dict[str, Any]:
    """Value of the comparison: what the customer opens with at two difficulties.

    Only what an agent is given at the start stands in it.

    Args:
        shop: The shop, loaded.
        asked: ``env_id``, ``seed`` and ``difficulties``, two of them, as a browser sent them.
    """
    # Without a seed an environment would draw one, and another for each side.
    given = asked.get("seed")
    env_id, seed = asked.get("env_id"), "" if given is None else whole(given)
    pair = asked.get("difficulties")
    try:
        shop.wait()
        if not isinstance(pair, list) or len(pair) != 2:
            pair = FIRST_COMPARISON["difficulties"]
        sides = [_opening(shop, env_id, seed, whole(d)) for d in pair]
    except EcomrlveError as error:
        return {**_choice(), "sides": [], "problem": str(error), "number": next(_number)}
    # As text, since a browser rounds large numbers.
    chosen = {"env_id": env_id, "seed": str(seed), "difficulties": [side["d"] for side in sides]}
    return {**_choice(), **chosen, "sides": sides, "number": next(_number)}


def _choice() -> dict[str, Any]:
    return {"environments": [{"id": env_id, "label": label} for env_id, label in ENVIRONMENTS.items()]}


def _opening(shop: Shop, env_id: Any, seed: Any, d: Any) -> dict[str, Any]:
    observation, _ = shop.make(env_id).reset(seed=seed, options={"difficulty": d})
    opening = "\n".join(entry["content"] for entry in observation.messages if entry["role"] == "customer")
    return {
        "d": d,
        "opening": opening,
        "turns": observation.turns_left,
        "tool_budget": observation.tool_budget,
        "tools": len(observation.tools),
    }
