"""Projects of E_BUNDLE, and what baskets of fitting products cost.

A basket holds one fitting product for every part; where two parts are tied, these two have the same value. Costs are
whole cents, so that "within the budget" is never a matter of rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import yaml

from ecomrlve.catalog.columns import COMMON, Catalog
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.customer.ledger import Slot
from ecomrlve.shop.world import World
from ecomrlve.streams import Stream
from ecomrlve.tasks.constraints import MANY, draw_constraints, draw_from_many, narrowed

LEAST_OF_TYPE = 5  # products in stock that a part's type needs
LEAST_PARTS = 3
LEAST_FITTING = 2  # lasting products that must fill a part
LEAST_SHARED = 3  # products of either type that a value needs, to count as one that both types have
MOST_BINS = 1 << 13  # resolution of the distribution of costs
MOST_FITTING = 40  # products that the requirements of a part are meant to leave at most, where there are a great many
PART_TRIES = 8
SAME = 1e-9  # shares that differ by less are equal: they come out of a Fourier transform

Tie = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Project:
    """Something people plan in one go.

    Attributes:
        name: As people call it: "home office".
        types: Product types that may belong to it.
        ties: (type, type, attribute) that may have to agree.
    """

    name: str
    types: tuple[str, ...]
    ties: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a project.

    Attributes:
        type: Its product type.
        rows: All rows of the type, ascending.
        alive: Which of them are in stock and stay so.
        cents: Their prices.
        least: The price of the cheapest that is in stock and stays so.
    """

    type: str
    rows: np.ndarray
    alive: np.ndarray
    cents: np.ndarray
    least: int = field(init=False)

    def __post_init__(self) -> None:
        least = int(self.cents[self.alive].min(initial=np.iinfo(np.int64).max))
        object.__setattr__(self, "least", least)  # the way into a frozen object

    def fitting(self, catalog: Catalog, constraints: Sequence[Constraint]) -> np.ndarray:
        """Which rows last and meet the constraints: a bool array."""
        mask = np.zeros(len(self.rows), bool)
        mask[narrowed(catalog, self.rows, self.alive, constraints)] = True
        return mask

    def cheapest_fits(self, fitting: np.ndarray) -> bool:
        """Whether a product that costs no more than any lasting one of the type is among the fitting ones."""
        return bool(self.cents[fitting].min(initial=np.iinfo(np.int64).max) <= self.least)


def cents_of(catalog: Catalog, rows: np.ndarray) -> np.ndarray:
    """Prices in whole cents."""
    return np.rint(catalog.columns["price"].values[rows] * 100).astype(np.int64)


# --- projects --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def written_projects() -> dict[str, Any]:
    """The projects as they stand in the data file: name → types and ties."""
    text = (files("ecomrlve.tasks") / "projects.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def projects_of(catalog: Catalog) -> tuple[Project, ...]:
    """The projects that a catalog has the products for; made from its departments where it lacks the usual types."""
    if "bundle_projects" not in catalog.memo:
        catalog.memo["bundle_projects"] = _written(catalog) or _made(catalog)
    return catalog.memo["bundle_projects"]


def _stocked(catalog: Catalog, type_name: str) -> bool:
    rows = catalog.rows_of_type(type_name)
    return int((catalog.stock[rows] > 0).sum()) >= LEAST_OF_TYPE


def _written(catalog: Catalog) -> tuple[Project, ...]:
    """Projects all of whose types the catalog has."""
    found = []
    for name, entry in written_projects().items():
        if all(_stocked(catalog, type_name) for type_name in entry["types"]):
            ties = tuple((first, second, attribute) for first, second, attribute in entry["ties"])
            found.append(Project(name, tuple(entry["types"]), ties))
    return tuple(found)


def _made(catalog: Catalog) -> tuple[Project, ...]:
    """One project per department with enough types; one of all types, where no department has."""
    departments: dict[str, list[str]] = {}
    everything = [name for name in catalog.type_names if _stocked(catalog, name)]
    for name in everything:
        row = int(catalog.rows_of_type(name)[0])
        path = catalog.category_names[catalog.category_codes[row]]
        departments.setdefault(path[0] if path else name, []).append(name)
    groups = [(f"set for {name.casefold()}", types) for name, types in sorted(departments.items())]
    groups = [(name, types) for name, types in groups if len(types) >= LEAST_PARTS]
    if not groups and len(everything) >= LEAST_PARTS:
        groups = [("starter set", everything)]
    return tuple(Project(name, tuple(types), _shared(catalog, types)) for name, types in groups)


def _shared(catalog: Catalog, types: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    """Pairs of types with an attribute in words of which both have at least two values in common."""
    present: dict[tuple[str, str], set[int]] = {}
    for name in types:
        rows = catalog.rows_of_type(name)
        for attribute in ("brand", *catalog.attributes_of_type(name)):
            column = catalog.columns[attribute]
            if column.numeric or (attribute in COMMON and attribute != "brand"):
                continue
            codes = column.values[rows][column.values[rows] >= 0]
            often = np.flatnonzero(np.bincount(codes) >= LEAST_SHARED) if len(codes) else codes
            words = {int(code) for code in often if column.names[int(code)].casefold() not in ("yes", "no")}
            present[(name, attribute)] = words
    return tuple(
        (first, second, attribute)
        for first, second in itertools.combinations(types, 2)
        for attribute in ("brand", *catalog.attributes_of_type(first))
        if len(present.get((first, attribute), set()) & present.get((second, attribute), set())) >= 2
    )


# --- costs of baskets ------------------------------------------------------------------------------------------------


def tied_pairs(
    catalog: Catalog, parts: Sequence[Part], fitting: Sequence[np.ndarray], tie: Tie
) -> tuple[np.ndarray, np.ndarray]:
    """Positions in the two tied parts' rows of all pairs of fitting products with the same value."""
    first, second, attribute = tie
    values = catalog.columns[attribute].values
    one, other = np.flatnonzero(fitting[first]), np.flatnonzero(fitting[second])
    left, right = values[parts[first].rows[one]], values[parts[second].rows[other]]
    # An unknown value is negative and agrees with nothing.
    agree = (left[:, None] == right[None, :]) & (left[:, None] >= 0)
    rows, columns = np.nonzero(agree)
    return one[rows], other[columns]


class Costs:
    """What random fitting baskets cost: every basket that keeps the tie is equally likely.

    Args:
        catalog: Whose products.
        parts: The project's parts.
        fitting: For each part, which of its rows fit.
        tie: The parts that must agree, and in what.

    Attributes:
        least: Cents that the cheapest basket costs.
    """

    def __init__(self, catalog: Catalog, parts: Sequence[Part], fitting: Sequence[np.ndarray], tie: Tie | None):
        tied = set() if tie is None else {tie[0], tie[1]}
        groups = [part.cents[mask] for i, (part, mask) in enumerate(zip(parts, fitting, strict=True)) if i not in tied]
        if tie is not None:
            one, other = tied_pairs(catalog, parts, fitting, tie)
            groups.append(parts[tie[0]].cents[one] + parts[tie[1]].cents[other])
        self.least = sum(int(group.min()) for group in groups)
        spread = sum(int(group.max()) - int(group.min()) for group in groups)
        # Costs above the least are rounded down to steps, so that the share of baskets within a limit is never
        # stated too low; for small baskets a step is one cent.
        self._step = -(-spread // MOST_BINS) or 1
        size = 1 << (spread // self._step).bit_length()
        steps = [(group - group.min()) // self._step for group in groups]
        each = np.stack([np.bincount(group, minlength=size) / len(group) for group in steps])
        density = np.fft.irfft(np.fft.rfft(each, axis=1).prod(axis=0), size) if size > 1 else np.ones(1)
        self._shares = np.clip(density, 0, None).cumsum()

    def share_within(self, dollars: int) -> float:
        """The share of random fitting baskets that cost at most so much (an upper bound, a few cents too generous)."""
        above = 100 * dollars - self.least
        return 0.0 if above < 0 else float(self._shares[min(above // self._step, len(self._shares) - 1)])

    def most_dollars(self, share: float) -> int:
        """The largest whole number of dollars within which lies at most this share of the baskets."""
        steps = int(np.searchsorted(self._shares, share + SAME, side="right"))
        return (self.least + steps * self._step - 1) // 100

    def least_dollars(self) -> int:
        """The smallest whole number of dollars that buys a fitting basket."""
        return -(-self.least // 100)


def cheapest_basket(
    catalog: Catalog, parts: Sequence[Part], fitting: Sequence[np.ndarray], tie: Tie | None
) -> list[int]:
    """The rows of a cheapest fitting basket, part by part."""
    chosen = []
    for part, mask in zip(parts, fitting, strict=True):
        places = np.flatnonzero(mask)
        chosen.append(int(part.rows[places[np.argmin(part.cents[places])]]))
    if tie is not None:
        first, second, _ = tie
        one, other = tied_pairs(catalog, parts, fitting, tie)
        best = int(np.argmin(parts[first].cents[one] + parts[second].cents[other]))
        chosen[first], chosen[second] = int(parts[first].rows[one[best]]), int(parts[second].rows[other[best]])
    return chosen


# --- requirements ----------------------------------------------------------------------------------------------------


def constraint_of(slot: Slot) -> Constraint:
    """The requirement that a slot states."""
    value = tuple(slot.value) if isinstance(slot.value, list) else slot.value
    return Constraint(slot.attribute, slot.operator, value)


def listed_by_part(slots: Sequence[Slot], count: int) -> list[list[Constraint]]:
    """The requirements of each part."""
    listed: list[list[Constraint]] = [[] for _ in range(count)]
    for slot in slots:
        if slot.kind == "constraint" and slot.item is not None:
            listed[slot.item].append(constraint_of(slot))
    return listed


def meets(catalog: Catalog, row: int, slot: Slot) -> bool:
    """Whether a product has what a slot asks for."""
    return bool(satisfied(catalog, np.array([row]), constraint_of(slot))[0])


# --- good problems ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BundleGoal:
    """What an E_BUNDLE problem is about; requirements, budget and tie stand in the slots.

    Attributes:
        project: Its name.
        parts: The parts, in the order of the slots.
        tie: The two parts that must agree, and in what attribute; None without a tie.
        share: At most this share of random fitting baskets is within the budget.
        lured: In at least so many parts the cheapest product must not fit.
    """

    project: str
    parts: tuple[Part, ...]
    tie: Tie | None
    share: float
    lured: int


def part_of(world: World, name: str) -> Part:
    """The part of this type, in an episode's shop."""
    rows = world.catalog.rows_of_type(name)
    alive, cents = world.stock.lasting_rows(rows), cents_of(world.catalog, rows)
    return Part(world.catalog.type_of(int(rows[0])), rows, alive, cents)


def draw_types(
    catalog: Catalog, project: Project, ties: Sequence[tuple[str, str, str]], count: int, most: int, stream: Stream
) -> tuple[list[str], tuple[str, str, str] | None]:
    """Types for the parts of a project, and the tie between two of them.

    Args:
        catalog: Whose products.
        project: The project.
        ties: Its ties, one of which is drawn; empty for none.
        count: How many types.
        most: How many products they should have together, so that an agent can look at all of them. Where even the
            smallest types have more, these are taken.
        stream: Where the draws come from.
    """
    sizes = {name: len(catalog.rows_of_type(name)) for name in project.types}
    any_do = sum(sorted(sizes.values())[-count:]) <= most

    def room(*names: str) -> bool:
        """Whether these can be had, if the smallest types are added to them."""
        if any_do:
            return True
        rest = sorted(size for name, size in sizes.items() if name not in names)[: count - len(names)]
        return sum(sizes[name] for name in names) + sum(rest) <= most

    small = [tie for tie in ties if room(*tie[:2])]
    tie = stream.choice(small) if small else None
    chosen = list(tie[:2]) if tie else []
    others = stream.shuffled([name for name in project.types if name not in chosen])
    for name in others:
        if len(chosen) < count and room(*chosen, name):
            chosen.append(name)
    left = sorted((name for name in others if name not in chosen), key=lambda name: sizes[name])
    chosen += left[: count - len(chosen)]
    return stream.shuffled(chosen), tie


def spread(number: int, count: int, stream: Stream) -> list[int]:
    """How many requirements each part gets, as evenly as possible."""
    extra = stream.sample(range(count), number % count)
    return [number // count + (index in extra) for index in range(count)]


def fitting_masks(
    catalog: Catalog, parts: Sequence[Part], constraints: Sequence[Sequence[Constraint]]
) -> list[np.ndarray]:
    """For each part, which of its rows last and meet its requirements."""
    return [part.fitting(catalog, listed) for part, listed in zip(parts, constraints, strict=True)]


def tie_works(catalog: Catalog, goal: BundleGoal, constraints: Sequence[Sequence[Constraint]]) -> bool:
    """Whether some fitting products of the tied parts agree and some do not."""
    assert goal.tie is not None
    masks = fitting_masks(catalog, goal.parts, constraints)
    one, other = tied_pairs(catalog, goal.parts, masks, goal.tie)
    first, second, _ = goal.tie
    some_differ = len(one) < int(masks[first].sum()) * int(masks[second].sum())
    return min(_different(one), _different(other)) >= LEAST_FITTING and some_differ


def _different(places: np.ndarray) -> int:
    return len(set(places.tolist()))


def sound(catalog: Catalog, goal: BundleGoal, masks: Sequence[np.ndarray]) -> bool:
    """Whether every part can be filled in two ways, also with the tie, and enough of the cheapest do not fit."""
    if any(int(mask.sum()) < LEAST_FITTING for mask in masks):
        return False
    if goal.tie is not None:
        one, other = tied_pairs(catalog, goal.parts, masks, goal.tie)
        if min(_different(one), _different(other)) < LEAST_FITTING:
            return False
    lured = sum(not part.cheapest_fits(mask) for part, mask in zip(goal.parts, masks, strict=True))
    return lured >= goal.lured


def budget_holds(goal: BundleGoal, costs: Costs, budget: int) -> bool:
    """Whether the budget buys a fitting basket and excludes the careless choice."""
    return costs.least <= 100 * budget and costs.share_within(budget) <= goal.share + SAME


def agree(catalog: Catalog, tie: Tie, fitting: Mapping[int, Sequence[int]]) -> bool:
    """Whether the products of the tied parts have a value in common, as far as there are any for both."""
    first, second, attribute = tie
    values = catalog.columns[attribute]
    one = {values.get(row) for row in fitting.get(first, ())} - {None}
    other = {values.get(row) for row in fitting.get(second, ())} - {None}
    return first not in fitting or second not in fitting or bool(one & other)


def draw_part(
    catalog: Catalog, goal: BundleGoal, index: int, number: int, stream: Stream, narrow: int | None = None
) -> list[Constraint]:
    """Requirements of one part that, if need be, the cheapest products of its type do not meet.

    Args:
        catalog: Whose products.
        goal: The project.
        index: Which part.
        number: How many requirements.
        stream: Where the draws come from.
        narrow: At most so many products should fit, where there are a great many; None for any number.
    """
    part = goal.parts[index]
    if not number:
        return []
    tied = goal.tie is not None and index in goal.tie[:2]
    alive = part.rows[part.alive]
    many = len(alive) > MANY
    found: list[Constraint] = []
    for _ in range(PART_TRIES):
        anchor = -1 if many else int(stream.choice(alive))
        # Of tied parts more products must be left, for some of them to agree.
        most = min(len(alive) // 2 if tied else len(alive) // 3, MOST_FITTING)
        left = LEAST_FITTING + stream.integer(max(1, most - LEAST_FITTING))
        if many:
            drawn = draw_from_many(catalog, part.rows, part.alive, number, left, stream)
            if narrow is not None and np.count_nonzero(part.fitting(catalog, drawn)) > narrow:
                continue
        else:
            drawn = draw_constraints(catalog, part.rows, part.alive, anchor, number, left, stream)
        if tied and any(goal.tie is not None and c.attribute == goal.tie[2] for c in drawn):
            continue
        if len(drawn) > len(found):
            found = drawn
        if len(drawn) == number and not (goal.lured and part.cheapest_fits(part.fitting(catalog, drawn))):
            return drawn
    return found
