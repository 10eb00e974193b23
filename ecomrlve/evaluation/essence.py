"""What a problem is in substance, without ids, and what a blind guess at it is worth; for the laws on seeds and cheats.

Ids are keyed by the seed, so problems that are compared must be described by what stands behind them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ecomrlve.episode import Episode
from ecomrlve.shop.world import World
from ecomrlve.tasks.base import Problem

NAMES_AN_ID = ("order_id",)


def essence(env_id: str, problem: Problem) -> str:
    """Everything that makes a problem, as text: equal for equal problems only."""
    if problem.parts:
        return json.dumps([[part.task.env_id, essence(part.task.env_id, part.problem)] for part in problem.parts])
    slots = [slot.public() for slot in problem.slots if slot.attribute not in NAMES_AN_ID]
    switch = list(problem.switch.items())
    return json.dumps([_CORES[env_id](problem), slots, switch], sort_keys=True, default=str)


def subjects(env_id: str, problem: Problem) -> set[str]:
    """What it is about: product types, a page's topic; neighbouring seeds must not share them more than any others."""
    if problem.parts:
        return {f"{p.task.env_id}:{name}" for p in problem.parts for name in subjects(p.task.env_id, p.problem)}
    return _SUBJECTS[env_id](problem)


def guessing_chance(episode: Episode) -> float:
    """The generator's own figure for whoever knows the opening and guesses the rest.

    For E_CART that is one of the products of each title in the history, times one of its variants, one of each; nothing
    where more than one is wanted or something is to be replaced. For E_STATUS one of the orders. For E_RETURN one of
    the delivered lines of the type, and one of the ways to deal with it. For E_POLICY one of the choices, or nothing.
    For other environments nothing: no bound is raised there.
    """
    problem = episode.problem
    return 0.0 if problem.parts else _CHANCES.get(episode.task.env_id, lambda problem: 0.0)(problem)


def _rows(problem: Problem) -> Any:
    return [(item.row, item.variant, item.quantity) for item in problem.goal]


def _order(world: World, order: Any) -> Any:
    return [order.placed, order.status, [(line.row, line.quantity) for line in order.lines]]


def _returned(problem: Problem) -> Any:
    goal = problem.goal
    return [_order(problem.world, goal.order), goal.line.row, goal.reason, goal.method, goal.wish, goal.eligible]


def _asked(problem: Problem) -> Any:
    question = problem.goal.question
    facts = [(fact.attribute, str(fact.value)) for fact in question.facts]
    return [question.topic, question.family, facts, str(question.answer)]


_CORES: dict[str, Callable[[Problem], Any]] = {
    "E_CART": _rows,
    "E_PD": lambda problem: problem.goal.type,
    "E_SUB": lambda problem: problem.goal.original,
    "E_STATUS": lambda problem: _order(problem.world, problem.goal.order),
    "E_RETURN": _returned,
    "E_POLICY": _asked,
    "E_BUNDLE": lambda problem: [slot.value for slot in problem.slots if slot.kind in ("project", "part", "budget")],
}


def _types(problem: Problem, rows: list[int]) -> set[str]:
    return {problem.world.catalog.type_of(row) for row in rows}


_SUBJECTS: dict[str, Callable[[Problem], set[str]]] = {
    "E_CART": lambda problem: _types(problem, [item.row for item in problem.goal]),
    "E_PD": lambda problem: {problem.goal.type},
    "E_SUB": lambda problem: {problem.goal.type},
    "E_STATUS": lambda problem: _types(problem, [line.row for line in problem.goal.order.lines]),
    "E_RETURN": lambda problem: _types(problem, [problem.goal.line.row]),
    "E_POLICY": lambda problem: {problem.goal.question.topic},
    "E_BUNDLE": lambda problem: {str(slot.value) for slot in problem.slots if slot.kind == "project"},
}


def _guess_cart(problem: Problem) -> float:
    chance, world = 1.0, problem.world
    for item in problem.goal:
        if item.fallback is not None and item.fallback.row is None:
            continue  # sold out and to be left out: it cannot be bought wrongly
        if item.quantity > 1 or item.fallback is not None:
            return 0.0
        title = world.catalog.folded_title(item.row)
        chance /= sum(world.catalog.folded_title(row) == title for row in world.history)
        chance /= max(1, len(world.variants_of(item.row)))
    return chance


def _guess_line(problem: Problem) -> float:
    """One of the delivered lines of the type; and, where it may go back, one of two kinds of transaction."""
    goal, world = problem.goal, problem.world
    kind = world.catalog.type_of(goal.line.row)
    orders = [order for order in world.orders.orders if order.delivered is not None]
    alike = sum(world.catalog.type_of(line.row) == kind for order in orders for line in order.lines)
    return 1 / max(1, alike) / (2 if goal.eligible else 1)


_CHANCES: dict[str, Callable[[Problem], float]] = {
    "E_CART": _guess_cart,
    "E_STATUS": lambda problem: 1 / len(problem.world.orders.orders),
    "E_RETURN": _guess_line,
    "E_POLICY": lambda p: 1 / len(p.goal.question.choices) if p.goal.question.choices else 0.0,
}
