"""Drawing requirements: conjunctions of (attribute, operator, value) that leave a wanted number of products.

An anchor product makes the conjunction satisfiable; it plays no part afterwards. For each requirement the candidate is
chosen whose share of survivors comes nearest to what leads from the whole type to the wanted number in the steps that
remain, so that every requirement does some of the work and none is decoration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import UNKNOWN, Catalog, Column, plain_number
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.streams import Stream

NECESSARY = 3  # how many requirements must be mutually necessary, if there are so many
MOST_LEVELS = 4  # candidate thresholds or pairs looked at per attribute and operator
NEAR_BEST = 3  # one of so many best candidates is drawn, so that equal situations differ


def draw_constraints(
    catalog: Catalog, rows: np.ndarray, alive: np.ndarray, anchor: int, count: int, goal: int, stream: Stream
) -> list[Constraint]:
    """Requirements that the anchor satisfies.

    Args:
        catalog: Whose products.
        rows: All rows of the type.
        alive: Which of them are in stock and stay so.
        anchor: A row among the alive ones.
        count: How many requirements are wanted, each on another attribute.
        goal: How many alive rows should be left, at least 2.
        stream: Where the draws come from.

    Returns:
        At most `count` requirements; fewer where the type has no more attributes that can exclude anything.
    """
    names = ["price", "rating", "ship_days", "brand", *catalog.type_attributes(anchor)]
    chosen: list[Constraint] = []
    left = alive.copy()
    for name in stream.shuffled(names):
        if len(chosen) == count:
            break
        column = catalog.columns[name]
        steps = count - len(chosen)
        share = min(0.95, (goal / max(int(left.sum()), 1)) ** (1 / steps))
        found = _best(column, rows, left, anchor, max(2, goal), share, stream)
        if found is not None:
            chosen.append(found[0])
            left &= found[1]
    return chosen


def necessary(catalog: Catalog, rows: np.ndarray, alive: np.ndarray, constraints: Sequence[Constraint]) -> int:
    """How many requirements are mutually necessary: without one of them, more alive rows would satisfy the rest."""
    masks = [satisfied(catalog, rows, constraint) for constraint in constraints]
    failures = np.sum([~mask for mask in masks], axis=0) if masks else np.zeros(len(rows), int)
    return sum(bool(np.any(alive & ~mask & (failures == 1))) for mask in masks)


def _best(
    column: Column, rows: np.ndarray, left: np.ndarray, anchor: int, least: int, share: float, stream: Stream
) -> tuple[Constraint, np.ndarray] | None:
    """The candidate whose share of survivors is nearest to the wanted one, among those that leave enough."""
    cells = column.values[rows]
    total = int(left.sum())
    scored: list[tuple[float, int, Constraint, np.ndarray]] = []
    for number, (constraint, mask) in enumerate(_candidates(column, cells, left, anchor, total * share, stream)):
        kept = int(np.count_nonzero(left & mask))
        if kept < least or mask.all():
            continue
        # A requirement that excludes nothing more is the last choice: it is no decoration only if nothing else fits.
        distance = abs(math.log(kept / total / share)) + (10.0 if kept == total else 0.0)
        scored.append((distance, number, constraint, mask))
    if not scored:
        return None
    scored.sort(key=lambda entry: entry[:2])
    near = [entry for entry in scored[:NEAR_BEST] if entry[0] <= scored[0][0] + 0.15]
    return stream.choice(near)[2:]


def _candidates(
    column: Column, cells: np.ndarray, left: np.ndarray, anchor: int, target: float, stream: Stream
) -> list[tuple[Constraint, np.ndarray]]:
    """Requirements on one attribute that the anchor satisfies, with the rows that satisfy them.

    For a number, the thresholds that leave about `target` of the rows that are left.
    """
    name = column.info.name
    if not column.numeric:
        return _word_candidates(column, cells, anchor, stream)
    own = float(column.values[anchor])
    if math.isnan(own):
        return []
    known = np.sort(cells[left & ~np.isnan(cells)])
    first = np.ones(len(known), bool)
    np.not_equal(known[1:], known[:-1], out=first[1:])
    distinct = known[first]
    found = []
    for operator in {"less": ("le",), "more": ("ge",)}.get(column.info.better, ("le", "ge")):
        levels = distinct[distinct >= own] if operator == "le" else distinct[distinct <= own]
        right = np.searchsorted(known, levels, side="right")
        kept = right if operator == "le" else len(known) - np.searchsorted(known, levels, side="left")
        nearest = np.argsort(np.abs(np.log(np.maximum(kept, 1) / target)), kind="stable")[:MOST_LEVELS]
        for level in levels[nearest]:
            value = _round_price(float(level)) if name == "price" else plain_number(round(float(level), 4))
            mask = cells <= value if operator == "le" else cells >= value
            found.append((Constraint(name, operator, value), mask))
    return found


def _round_price(value: float) -> int | float:
    """A limit as people name it: 19.47 → 20, 63.10 → 65, 412 → 420."""
    step = 1 if value < 30 else 5 if value < 200 else 10
    return plain_number(math.ceil(round(value, 2) / step) * step)


def _word_candidates(
    column: Column, cells: np.ndarray, anchor: int, stream: Stream
) -> list[tuple[Constraint, np.ndarray]]:
    code = int(column.values[anchor])
    if code == UNKNOWN:
        return []
    name, word = column.info.name, column.names[code]
    found = [(Constraint(name, "eq", word), cells == code)]
    present = np.flatnonzero(np.bincount(cells[cells != UNKNOWN]))
    others = [other for other in present.tolist() if other != code]
    for other in stream.sample(others, MOST_LEVELS):
        pair = stream.shuffled([word, column.names[other]])
        found.append((Constraint(name, "in", tuple(pair)), (cells == code) | (cells == other)))
    if name == "brand" and len(others) > 3:
        few = stream.sample(others, 3)
        names = stream.shuffled([word, *(column.names[other] for other in few)])
        found.append((Constraint(name, "in", tuple(names)), np.isin(cells, [code, *few])))
    return found


def alternatives(
    catalog: Catalog,
    rows: np.ndarray,
    alive: np.ndarray,
    constraints: Sequence[Constraint],
    index: int,
    accept: Callable[[int], bool],
    stream: Stream,
) -> Any | None:
    """Another value for one requirement under which the problem is still a good one, for a change of mind.

    Args:
        catalog: Whose products.
        rows: All rows of the type.
        alive: Which of them are in stock and stay so.
        constraints: The requirements as they are.
        index: Which of them changes.
        accept: Whether a number of feasible products will do.
        stream: Where the draws come from.

    Returns:
        The new value, or None if there is none.
    """
    old = constraints[index]
    column = catalog.columns[old.attribute]
    rest = alive.copy()
    for number, constraint in enumerate(constraints):
        if number != index:
            rest &= satisfied(catalog, rows, constraint)
    anchors = rows[rest]
    found: dict[str, Any] = {}
    for anchor in stream.sample(anchors.tolist(), 8):
        for constraint, mask in _candidates(column, column.values[rows], rest, anchor, len(anchors) / 2, stream):
            same = constraint.operator == old.operator and constraint.value != old.value
            other = same and set(_listed(constraint.value)) != set(_listed(old.value)) and not mask.all()
            if other and accept(int(np.count_nonzero(rest & mask))):
                found.setdefault(str(constraint.value), constraint.value)
    return stream.choice(list(found.values())) if found else None


def _listed(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
