"""E_PD: recommend products that satisfy every requirement, best first by what matters to the customer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.catalog.columns import COMMON, Catalog
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.customer.dialogue import Complaint
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import Persona, draw_persona
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.rewards import list_alpha, list_reward, priority_utility
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, Verdict, ask_turns
from ecomrlve.tasks.constraints import (
    MANY,
    NECESSARY,
    alternatives,
    draw_constraints,
    draw_from_many,
    narrowed,
    necessary,
)
from ecomrlve.tasks.identify import slot_of

DEPTH_SHARE = 0.7  # feasible products are at most this share of a page, so that noise cannot push one off it
ANCHOR_TRIES = 240
ANCHORS_PER_TYPE = 20
PATIENT_TRIES = 60  # after these, fewer requirements are asked for, step by step
LEAST_OF_TYPE = 12
PRIORITY_SLOTS = 2


class DiscoveryAnswer(BaseModel):
    """The answer of E_PD."""

    model_config = ConfigDict(strict=True, extra="ignore")
    recommended_product_ids: Annotated[list[str], MaxLen(100)] = Field(
        default_factory=list, description="Ids of the products you recommend, best first, at most list_size of them."
    )
    done: bool = True


@dataclass(frozen=True, slots=True)
class DiscoveryGoal:
    """What an E_PD problem is about: the type; everything else stands in the slots.

    Attributes:
        rows: All rows of the type, ascending.
        alive: Which of them are in stock and stay so.
        d: The difficulty, which decides how much a missed requirement costs.
        k: Longest list that is scored.
    """

    type: str
    rows: np.ndarray
    alive: np.ndarray
    d: int
    k: int


class DiscoveryTask:
    """The E_PD task (see `tasks.base.Task`)."""

    env_id = "E_PD"
    title = "Product discovery"
    instructions = (
        "The customer looks for a product with certain properties. Find products in stock that have all of them, and "
        "recommend the best ones, best first by what matters most to the customer (the first thing it names counts "
        "three times as much as the second)."
    )
    tools: tuple[str, ...] = ("catalog_search", "catalog_get_product", "catalog_get_variants", "catalog_rerank")
    answer: type[BaseModel] = DiscoveryAnswer

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """Whole products."""
        return Setting()

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw a type, requirements, priorities and a change of mind."""
        stream = Stream("problem", *key, *salt)
        goal, constraints = self._draw_constraints(world, axes, stream)
        persona = persona_for(world.catalog, goal, constraints, Stream("persona", *key, *salt))
        slots = [slot_of(world.catalog, "type", "type", "type", "eq", goal.type)]
        slots += constraint_slots(world.catalog, constraints)
        slots += priority_slots(world.catalog, persona)
        return Problem(
            slots=slots,
            goal=goal,
            persona=persona,
            world=world,
            supported=len(constraints),
            drawn=drawn_figures(goal, constraints, world),
        )

    def _draw_constraints(
        self, world: World, axes: Difficulty, stream: Stream
    ) -> tuple[DiscoveryGoal, list[Constraint]]:
        """The type and the most requirements, up to the wanted number, that the catalog supports."""
        most = most_feasible(axes, axes.list_size)
        found = draw_requirements(world, axes, stream, lambda: self._draw_type(world, axes, stream), ANCHOR_TRIES, most)
        if found is None:
            raise GenerationError(
                f"catalog {world.catalog.name!r} supports no {self.env_id} problem: in {ANCHOR_TRIES} draws no type "
                f"had attributes that single out 2 to {most} products in stock"
                f"{_stock_hint(world.catalog)}"
            )
        return found

    def _draw_type(self, world: World, axes: Difficulty, stream: Stream) -> DiscoveryGoal:
        rows = world.catalog.rows_of_type(stream.choice(_types(world.catalog)))
        name = world.catalog.type_of(int(rows[0]))
        return DiscoveryGoal(name, rows, world.stock.lasting_rows(rows), axes.d, axes.list_size)

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """Another value for a requirement, under which 2 to 3k products are feasible."""
        if slot.kind != "constraint":
            return None
        goal: DiscoveryGoal = problem.goal
        slots = [other for other in problem.slots if other.kind == "constraint"]
        value = alternatives(
            problem.world.catalog,
            goal.rows,
            goal.alive,
            [constraint_of(other) for other in slots],
            slots.index(slot),
            lambda count: 2 <= count <= most_feasible(axes, axes.list_size),
            stream,
        )
        return list(value) if isinstance(value, tuple) else value

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """Ask and look around, search with everything said, look again for what sold out meanwhile, answer.

        Where the whole type fits on the pages of the first turn, everything that can sell out has done so by the end
        of it, and the second look is not needed.
        """
        goal: DiscoveryGoal = problem.goal
        asking = max(ask_turns(len(problem.omitted), 3, axes.turn_budget), 2 if problem.switch else 0)
        pages = -(-len(goal.rows) // max(1, genuine_per_page(axes)))
        seen_early = pages <= axes.tool_budget and asking >= 1
        look_again = problem.world.stock.rate > 0 and not seen_early
        return Plan(max(asking, 0) + 1 + look_again + 1 + bool(problem.omitted), 1)

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """What the customer sees of the products shown: their properties, never whether they will last."""
        goal: DiscoveryGoal = problem.goal
        catalog = problem.world.catalog
        complaints: list[Complaint] = []
        for row in shown[: goal.k]:
            title = catalog.titles[row]
            if catalog.type_of(row) != goal.type:
                facts: dict[str, Any] = {"what": "wrong_type", "title": title, "wanted": goal.type}
                complaints.append(Complaint(f"row{row}", facts))
                continue
            complaint = violation(catalog, row, requirements(ledger))
            if complaint is not None:
                complaints.append(complaint)
        reached = len(shown) >= 2 and not complaints and ledger.everything_said()
        return Sight(tuple(complaints), reached, 0.0)

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """E_PD has no fallbacks."""
        return {}

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """The list reward over what the customer said."""
        goal: DiscoveryGoal = problem.goal
        world = problem.world
        constraints = [constraint_of(slot) for slot in requirements(ledger) if ledger.said(slot.key)]
        mask = feasible_rows(world.catalog, goal, constraints)
        utilities = self._utilities(problem, ledger.said_slots(), goal.rows[mask])
        alive = dict(zip(goal.rows.tolist(), goal.alive.tolist(), strict=True))

        def share_met(identifier: str) -> float:
            row = world.product_ids.decode(identifier)
            if row is None or not alive.get(row, False):
                return 0.0
            met = [bool(satisfied(world.catalog, np.array([row]), constraint)[0]) for constraint in constraints]
            return sum(met) / len(met) if met else 1.0

        given = [str(identifier).strip().lower() for identifier in answer.get("recommended_product_ids", [])]
        feasible = {world.product_id(row): utility for row, utility in utilities.items()}
        score = list_reward(given, goal.k, list_alpha(goal.d), feasible, share_met)
        done = [self._done(world, goal, constraints, identifier, identifier in feasible) for identifier in given]
        reason = (
            f"{score.hits} of the {score.n} places hold a product that meets everything; {score.given} given, "
            f"order {score.ranking:.0%} of the best."
            if given
            else "Nothing was recommended."
        )
        return Verdict(score.task, score.correct, score.parts(), reason, done)

    def _utilities(self, problem: Problem, slots: Iterable[Slot], rows: np.ndarray) -> dict[int, float]:
        """u(p) of each feasible row, by the priorities among the slots."""
        return utilities_by_priority(problem.world.catalog, slots, rows)

    def _done(
        self, world: World, goal: DiscoveryGoal, constraints: Sequence[Constraint], identifier: str, feasible: bool
    ) -> dict[str, Any]:
        row = world.product_ids.decode(identifier)
        if row is None:
            return {"product_id": identifier, "title": "(no such product)", "feasible": False, "violates": []}
        one = np.array([row])
        violates = [str(c) for c in constraints if not satisfied(world.catalog, one, c)[0]]
        if world.catalog.type_of(row) != goal.type:
            violates.insert(0, f"type = {goal.type}")
        elif not self._suits(world, goal, row):
            violates.insert(0, "compatible")
        elif not world.stock.lasting_rows(one)[0]:
            violates.insert(0, "in stock")
        return {**summary(world, row), "feasible": feasible, "violates": violates}

    def _suits(self, world: World, goal: DiscoveryGoal, row: int) -> bool:
        """Whether a product of the type may be recommended at all."""
        return True

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """Requirements, priorities, all feasible products with their utility, and the best list."""
        goal: DiscoveryGoal = problem.goal
        world = problem.world
        slots = requirements(ledger)
        rows = goal.rows[feasible_rows(world.catalog, goal, [constraint_of(slot) for slot in slots])]
        priorities = [slot for slot in ledger.slots.values() if slot.kind == "priority"]
        utilities = self._utilities(problem, ledger.slots.values(), rows)
        ordered = sorted(rows.tolist(), key=lambda row: (-utilities[row], row))
        return {
            "env_id": self.env_id,
            "type": goal.type,
            "constraints": [str(constraint_of(slot)) for slot in slots],
            "priorities": [f"brand {s.value}" if s.attribute == "brand" else s.attribute for s in priorities],
            "feasible": [{**summary(world, row), "utility": round(utilities[row], 4)} for row in ordered],
            "best": [world.product_id(row) for row in ordered[: goal.k]],
        }


def constraint_slots(catalog: Catalog, constraints: Sequence[Constraint]) -> list[Slot]:
    """Requirements as slots."""
    return [
        slot_of(catalog, f"constraint:{c.attribute}", "constraint", c.attribute, c.operator, c.value)
        for c in constraints
    ]


def drawn_figures(goal: DiscoveryGoal, constraints: Sequence[Constraint], world: World) -> dict[str, int]:
    """What the axes drew, for the published tables."""
    stocked = goal.rows[world.catalog.stock[goal.rows] > 0]
    fated = int(world.stock.fated_rows(stocked).sum())
    return {"constraints": len(constraints), "units": len(stocked), "fated": fated}


def draw_requirements(
    world: World, axes: Difficulty, stream: Stream, draw_goal: Callable[[], DiscoveryGoal], tries: int, most: int
) -> tuple[DiscoveryGoal, list[Constraint]] | None:
    """A goal, and the most requirements on it, up to the wanted number, that leave 2 to `most` products.

    Args:
        world: The shop.
        axes: The episode's difficulty.
        stream: Where the draws come from.
        draw_goal: Gives another goal (a type) to try, every few attempts.
        tries: Anchors that are tried.
        most: Most products that the requirements may leave.

    Returns:
        The goal and its requirements; None where nothing was found.
    """
    best: tuple[int, DiscoveryGoal, list[Constraint]] | None = None
    goal: DiscoveryGoal | None = None
    for attempt in range(tries):
        if attempt % ANCHORS_PER_TYPE == 0:
            goal = draw_goal()
        if goal is None or goal.alive.sum() < 2:
            continue
        # Where many anchors failed the catalog may not support so many requirements: ask for fewer.
        count = max(1, axes.constraints - max(0, attempt - PATIENT_TRIES) // ANCHORS_PER_TYPE)
        if best is not None and best[0] >= count:
            break
        found = _requirements(world.catalog, goal, count, most, stream)
        left = len(narrowed(world.catalog, goal.rows, goal.alive, found))
        if not found or not 2 <= left <= most:
            continue
        enough = min(len(found), NECESSARY)
        if necessary(world.catalog, goal.rows, goal.alive, found, enough) < enough:
            continue
        if best is None or len(found) > best[0]:
            best = len(found), goal, found
        if len(found) == axes.constraints:
            break
    return None if best is None else (best[1], best[2])


def _requirements(catalog: Catalog, goal: DiscoveryGoal, count: int, most: int, stream: Stream) -> list[Constraint]:
    """Requirements on a goal that try to leave some number of products up to `most`."""
    alive = int(np.count_nonzero(goal.alive))
    many = alive > MANY
    anchor = -1 if many else int(stream.choice(goal.rows[goal.alive]))
    # At most a third of what is there, so that the requirements have work to do.
    wanted = 2 + stream.integer(max(1, min(most, alive // 3) - 1))
    if many:
        return draw_from_many(catalog, goal.rows, goal.alive, count, wanted, stream)
    return draw_constraints(catalog, goal.rows, goal.alive, anchor, count, wanted, stream)


def _stock_hint(catalog: Catalog) -> str:
    unknown = not catalog.stock.any()
    return "; nothing is in stock: map a stock column, or let the mapping synthesize it" if unknown else ""


def utilities_by_priority(catalog: Catalog, slots: Iterable[Slot], rows: np.ndarray) -> dict[int, float]:
    """u(p) of each feasible row by the priorities among the slots; all alike where there is none."""
    ranked = sorted((slot for slot in slots if slot.kind == "priority"), key=lambda slot: slot.rank)
    if not ranked or not len(rows):
        return dict.fromkeys(rows.tolist(), 1.0)
    values = [priority_values(catalog, rows, slot.attribute, slot.value) for slot in ranked]
    return dict(zip(rows.tolist(), priority_utility([v.tolist() for v in values]), strict=True))


def priority_slots(catalog: Catalog, persona: Persona) -> list[Slot]:
    """The customer's first two priorities as slots."""
    slots = []
    for rank, name in enumerate(persona.priorities[:PRIORITY_SLOTS], start=1):
        value = persona.preferred_brand if name == "brand" else ""
        slots.append(slot_of(catalog, f"priority:{rank}", "priority", name, "eq", value, rank=rank))
    return slots


def persona_for(catalog: Catalog, goal: DiscoveryGoal, constraints: Sequence[Constraint], stream: Stream) -> Persona:
    """A customer whose priorities lean towards what it asks for; it may prefer a brand that is feasible."""
    touched = {constraint.attribute for constraint in constraints}
    feasible = goal.rows[narrowed(catalog, goal.rows, goal.alive, constraints)]
    brand = catalog.columns["brand"]
    brands = sorted({brand.get(int(row)) for row in feasible} - {None})
    return draw_persona(stream, touched, brands if len(brands) > 1 else ())


def priority_values(catalog: Catalog, rows: np.ndarray, attribute: str, brand: str) -> np.ndarray:
    """How good each row is on one priority, higher better; unknown is worst."""
    column = catalog.columns[attribute]
    if attribute == "brand":
        return (column.values[rows] == column.code(str(brand))).astype(float)
    sign = 1.0 if COMMON[attribute].better == "more" else -1.0
    return np.nan_to_num(sign * column.values[rows], nan=-np.inf)


def _types(catalog: Catalog) -> list[str]:
    """Types with enough products to choose from; all of them, if none has."""
    if "discovery_types" not in catalog.memo:
        names = [name for name in catalog.type_names if len(catalog.rows_of_type(name)) >= LEAST_OF_TYPE]
        catalog.memo["discovery_types"] = names or list(catalog.type_names)
    return catalog.memo["discovery_types"]


def most_feasible(axes: Difficulty, list_size: int) -> int:
    """At most 3k, and few enough that the distractors of a page cannot push one off it."""
    return max(2, min(3 * list_size, genuine_per_page(axes)))


def genuine_per_page(axes: Difficulty) -> int:
    """Genuine hits that a full page surely holds: at most 70 % of it, and four standard deviations below the mean."""
    mean = axes.search_depth * (1 - axes.distractors)
    spread = math.sqrt(mean * axes.distractors)
    return int(min(DEPTH_SHARE * axes.search_depth, mean - 4 * spread))


def feasible_rows(catalog: Catalog, goal: DiscoveryGoal, constraints: Sequence[Constraint]) -> np.ndarray:
    """Which rows of the goal's type satisfy the requirements and stay in stock: a bool array."""
    mask = np.zeros(len(goal.rows), bool)
    mask[narrowed(catalog, goal.rows, goal.alive, constraints)] = True
    return mask


def requirements(ledger: Ledger) -> list[Slot]:
    """The requirements among the slots, said or not, with their present values."""
    return [slot for slot in ledger.slots.values() if slot.kind == "constraint"]


def constraint_of(slot: Slot) -> Constraint:
    """A requirement as the filters have it."""
    value = tuple(slot.value) if isinstance(slot.value, list) else slot.value
    return Constraint(slot.attribute, slot.operator, value)


def violation(catalog: Catalog, row: int, slots: Sequence[Slot]) -> Complaint | None:
    """The customer's complaint about the first requirement that a product does not meet, or None."""
    for slot in slots:
        if not _meets(catalog, row, slot):
            got = catalog.columns[slot.attribute].get(row)
            facts = {"what": "violates", "title": catalog.titles[row], "slot": slot, "got": got}
            return Complaint(f"row{row}", facts, (slot.key,))
    return None


def _meets(catalog: Catalog, row: int, slot: Slot) -> bool:
    return bool(satisfied(catalog, np.array([row]), constraint_of(slot))[0])


def summary(world: World, row: int) -> dict[str, Any]:
    """A product in a few fields, for the goal that is shown after the end."""
    columns = world.catalog.columns
    return {
        "product_id": world.product_id(row),
        "title": world.catalog.titles[row],
        **{name: columns[name].get(row) for name in ("price", "rating", "ship_days", "brand")},
    }
