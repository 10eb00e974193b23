"""Drawing requirements: conjunctions of (attribute, operator, value) that leave a wanted number of products.

An anchor product makes the conjunction satisfiable; it plays no part afterwards. For each requirement the candidate is
chosen whose share of survivors comes nearest to what leads from the whole type to the wanted number in the steps that
remain, so that every requirement does some of the work and none is decoration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import UNKNOWN, Catalog, Column, plain_number
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.streams import Stream

NECESSARY = 3  # how many requirements must be mutually necessary, if there are so many
MOST_LEVELS = 4  # candidate thresholds or pairs looked at per attribute and operator
MANY = 400  # from more products than these, requirements are drawn values first
SAMPLE, EXACT = 512, 1024  # of so many of them shares are estimated; in the last step, of so many
LOOKED_AT, CLOSE = 3, 0.5  # so many attributes are looked at, more if none comes close (natural logarithm of shares)
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
    chosen: list[Constraint] = []
    left = rows[alive]
    for name in stream.shuffled(_names(catalog, anchor)):
        if len(chosen) == count:
            break
        steps = count - len(chosen)
        share = min(0.95, (goal / max(len(left), 1)) ** (1 / steps))
        found = _best(catalog, catalog.columns[name], rows, left, anchor, max(2, goal), share, stream)
        if found is not None:
            chosen.append(found[0])
            left = left[found[1]]
    return chosen


def draw_from_many(
    catalog: Catalog, rows: np.ndarray, alive: np.ndarray, count: int, goal: int, stream: Stream
) -> list[Constraint]:
    """Requirements on a type with a great many products.

    Where a random product is the anchor, two requirements cannot single out a handful of ten thousand: it would have
    to lie at the edge of something. So the values are chosen first, each as selective as the steps that remain ask
    for. Shares are estimated on a sample, then the rows that are left are counted exactly; the work is that of going
    once through the type, whatever its size otherwise.

    Args:
        catalog: Whose products.
        rows: All rows of the type.
        alive: Which of them are in stock and stay so.
        count: How many requirements are wanted, each on another attribute.
        goal: How many alive rows should be left, at least 2.
        stream: Where the draws come from.

    Returns:
        At most `count` requirements that leave at least 2 alive rows.
    """
    left = rows[alive]
    names = stream.shuffled(_names(catalog, int(rows[0])))
    chosen: list[Constraint] = []
    while names and len(chosen) < count:
        steps = count - len(chosen)
        share = min(0.95, (goal / len(left)) ** (1 / steps))
        constraint = _nearest(catalog, names, _sample(left, EXACT if steps == 1 else SAMPLE), share, stream)
        if constraint is None:
            break
        names.remove(constraint.attribute)
        narrowed = left[satisfied(catalog, left, constraint)]
        if max(2, goal) <= len(narrowed) < len(left):
            chosen.append(constraint)
            left = narrowed
    return chosen


def _names(catalog: Catalog, row: int) -> list[str]:
    return ["price", "rating", "ship_days", "brand", *catalog.type_attributes(row)]


def _sample(rows: np.ndarray, size: int) -> np.ndarray:
    """At most so many of the rows, evenly spaced: neighbours resemble each other."""
    return rows[:: -(-len(rows) // size)]


def _nearest(
    catalog: Catalog, names: Sequence[str], sample: np.ndarray, share: float, stream: Stream
) -> Constraint | None:
    """One of the requirements whose share of survivors in the sample comes nearest to the wanted one."""
    scored: list[tuple[float, int, Constraint]] = []
    for looked_at, name in enumerate(names):
        if looked_at >= LOOKED_AT and scored and min(scored)[0] <= CLOSE:
            break
        for constraint, kept in _levels(catalog.columns[name], sample, share, stream):
            if 0 < kept < len(sample):
                scored.append((abs(math.log(kept / len(sample) / share)), len(scored), constraint))
    scored.sort(key=lambda entry: entry[:2])
    near = [entry for entry in scored[:NEAR_BEST] if entry[0] <= scored[0][0] + 0.15]
    return stream.choice(near)[2] if near else None


def _levels(column: Column, sample: np.ndarray, share: float, stream: Stream) -> list[tuple[Constraint, int]]:
    """Requirements on one attribute that about this share of the sample satisfies, and how many of it do."""
    name, cells = column.info.name, column.values[sample]
    if column.numeric:
        cells = np.sort(cells)  # unknown ones go to the end
        cells = cells[: len(cells) - int(np.isnan(cells).sum())]
        if not len(cells):
            return []
        found = []
        for operator in {"less": ("le",), "more": ("ge",)}.get(column.info.better, ("le", "ge")):
            place = min(len(cells) - 1, int(share * len(cells)))
            level = float(cells[place if operator == "le" else -1 - place])
            value = _round_price(level) if name == "price" else plain_number(round(level, 4))
            below = int(np.searchsorted(cells, value, side="right" if operator == "le" else "left"))
            found.append((Constraint(name, operator, value), below if operator == "le" else len(cells) - below))
        return found
    tally = np.bincount(cells[cells != UNKNOWN])
    codes = np.flatnonzero(tally)
    if not len(codes):
        return []
    counts = tally[codes]
    nearest = np.argsort(np.abs(np.log(counts / (share * len(sample)))), kind="stable")[:MOST_LEVELS]
    found = [(Constraint(name, "eq", column.names[code]), int(tally[code])) for code in codes[nearest].tolist()]
    for size in (2, 3) if name == "brand" else (2,):
        if size < len(codes):
            some = stream.sample(codes.tolist(), size)
            found.append((Constraint(name, "in", tuple(column.names[code] for code in some)), int(tally[some].sum())))
    return found


def narrowed(catalog: Catalog, rows: np.ndarray, alive: np.ndarray, constraints: Sequence[Constraint]) -> np.ndarray:
    """Places in `rows` of the alive ones that satisfy all requirements, ascending."""
    places = np.flatnonzero(alive)
    for constraint in constraints:
        places = places[satisfied(catalog, rows[places], constraint)]
    return places


def necessary(
    catalog: Catalog, rows: np.ndarray, alive: np.ndarray, constraints: Sequence[Constraint], enough: int | None = None
) -> int:
    """How many requirements are mutually necessary: without one of them, more alive rows would satisfy the rest.

    Args:
        catalog: Whose products.
        rows: All rows of the type.
        alive: Which of them are in stock and stay so.
        constraints: The requirements.
        enough: So many will do; of many rows, no more are looked for.
    """
    if len(rows) <= MANY:
        masks = [satisfied(catalog, rows, constraint) for constraint in constraints]
        failures = len(masks) - np.sum(masks, axis=0) if masks else np.zeros(len(rows), int)
        single = alive & (failures == 1)
        return sum(bool(np.any(single & ~mask)) for mask in masks)
    count = 0
    # The last ones first: they are looked for among few rows.
    for index in reversed(range(len(constraints))):
        if count == enough:
            break
        rest = [constraint for number, constraint in enumerate(constraints) if number != index]
        places = narrowed(catalog, rows, alive, rest)
        count += not satisfied(catalog, rows[places], constraints[index]).all()
    return count


def _best(
    catalog: Catalog,
    column: Column,
    rows: np.ndarray,
    left: np.ndarray,
    anchor: int,
    least: int,
    share: float,
    stream: Stream,
) -> tuple[Constraint, np.ndarray] | None:
    """The candidate whose share of survivors is nearest to the wanted one, among those that leave enough."""
    total = len(left)
    scored: list[tuple[float, int, Constraint, np.ndarray]] = []
    for number, (constraint, mask) in enumerate(_candidates(column, rows, left, anchor, total * share, stream)):
        kept = int(np.count_nonzero(mask))
        if kept < least or (kept == total and satisfied(catalog, rows, constraint).all()):
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
    column: Column, rows: np.ndarray, left: np.ndarray, anchor: int, target: float, stream: Stream
) -> list[tuple[Constraint, np.ndarray]]:
    """Requirements on one attribute that the anchor satisfies, with which of the rows that are left satisfy them.

    For a number, the thresholds that leave about `target` of the rows that are left.
    """
    name = column.info.name
    if not column.numeric:
        return _word_candidates(column, rows, left, anchor, stream)
    own = float(column.values[anchor])
    if math.isnan(own):
        return []
    cells = column.values[left]
    known = np.sort(cells[~np.isnan(cells)])
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
    column: Column, rows: np.ndarray, left: np.ndarray, anchor: int, stream: Stream
) -> list[tuple[Constraint, np.ndarray]]:
    code = int(column.values[anchor])
    if code == UNKNOWN:
        return []
    name, word = column.info.name, column.names[code]
    cells = column.values[left]
    found = [(Constraint(name, "eq", word), cells == code)]
    every = column.values[rows]
    present = np.flatnonzero(np.bincount(every[every != UNKNOWN]))
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
    rest = [constraint for number, constraint in enumerate(constraints) if number != index]
    anchors = rows[narrowed(catalog, rows, alive, rest)]
    found: dict[str, Any] = {}
    for constraint, mask in _others(catalog, column, rows, anchors, old, stream):
        same = constraint.operator == old.operator and constraint.value != old.value
        other = same and set(_listed(constraint.value)) != set(_listed(old.value))
        kept = int(np.count_nonzero(mask))
        if not other or not accept(kept) or (kept == len(anchors) and satisfied(catalog, rows, constraint).all()):
            continue
        found.setdefault(str(constraint.value), constraint.value)
    return stream.choice(list(found.values())) if found else None


def _others(
    catalog: Catalog, column: Column, rows: np.ndarray, anchors: np.ndarray, old: Constraint, stream: Stream
) -> Iterator[tuple[Constraint, np.ndarray]]:
    """Other requirements on the attribute of an old one, with which of the anchors satisfy them."""
    if len(anchors) <= MANY:
        for anchor in stream.sample(anchors.tolist(), 8):
            yield from _candidates(column, rows, anchors, anchor, len(anchors) / 2, stream)
        return
    share = max(1, int(np.count_nonzero(satisfied(catalog, anchors, old)))) / len(anchors)
    for factor in (0.5, 0.7, 1.5, 2.0):
        for constraint, _ in _levels(column, _sample(anchors, EXACT), min(0.95, share * factor), stream):
            yield constraint, satisfied(catalog, anchors, constraint)


def _listed(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
