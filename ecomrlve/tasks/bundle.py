"""E_BUNDLE: put together everything that a project needs, each part as wanted, within one budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.catalog.columns import Catalog, plain_number
from ecomrlve.catalog.filters import Constraint
from ecomrlve.customer.dialogue import Complaint
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import draw_persona
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.rewards import exact_f1
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream
from ecomrlve.tasks import bundle_baskets as baskets
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, Verdict, ask_turns
from ecomrlve.tasks.bundle_baskets import LEAST_FITTING, BundleGoal, Costs, Project, Tie, fitting_masks
from ecomrlve.tasks.constraints import MANY, alternatives
from ecomrlve.tasks.identify import slot_of

MOST_PARTS = 12
TIE_FROM, LURE_FROM = 6, 3  # difficulties from which two parts are tied, and the cheapest products do not fit
LURED_SHARE = 0.6
TRIES = 240
PATIENT_TRIES = 60  # after so many, the tie is given up; after twice as many, the lure; after three times, requirements
CHANGE_TRIES = 8
MOST_READ = 100  # products per part that an agent reads before it looks part by part instead
MOST_LOOKS_AGAIN = 2  # turns in which a customer may see nothing new; after a third it leaves
OVER_BUDGET_MOST, OVER_BUDGET_WEIGHT = Fraction(-3, 10), Fraction(7, 10)


class BundleAnswer(BaseModel):
    """The answer of E_BUNDLE."""

    model_config = ConfigDict(strict=True, extra="ignore")
    recommended_product_ids: Annotated[list[str], MaxLen(100)] = Field(
        default_factory=list, description="Ids of the products you recommend, one for every part of the project."
    )
    done: bool = True


def parts_wanted(d: int) -> int:
    """Parts of the project: 3, 6, 9 at d = 0, 6, 12."""
    return min(MOST_PARTS, 3 + d // 2)


def share_within_budget(d: int) -> float:
    """The share of random fitting baskets that the budget lets through at most."""
    return 0.25 if d < 3 else 0.04


class BundleTask:
    """The E_BUNDLE task (see `tasks.base.Task`)."""

    env_id = "E_BUNDLE"
    title = "Bundle planning"
    instructions = (
        "The customer plans a project and needs one product for each of its parts. Find products in stock that meet "
        "what is asked of each part and together stay within the budget, and recommend exactly one for every part."
    )
    tools = ("catalog_search", "catalog_get_product", "catalog_get_variants")
    answer: type[BaseModel] = BundleAnswer

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """Whole products."""
        return Setting()

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw a project, its parts, what is asked of them, and a budget."""
        stream = Stream("problem", *key, *salt)
        goal, constraints, budget = self._draw_goal(world, axes, stream)
        slots = self._slots(world.catalog, goal, constraints, budget)
        touched = sorted({constraint.attribute for listed in constraints for constraint in listed} | {"price"})
        stocked = [world.catalog.stock[part.rows] > 0 for part in goal.parts]
        number = sum(map(len, constraints))
        return Problem(
            slots=slots,
            goal=goal,
            persona=draw_persona(Stream("persona", *key, *salt), touched, ()),
            world=world,
            supported=number,
            drawn={
                "constraints": number,
                "parts": len(goal.parts),
                "ties": int(goal.tie is not None),
                "units": sum(int(mask.sum()) for mask in stocked),
                "fated": sum(int((mask & ~part.alive).sum()) for mask, part in zip(stocked, goal.parts, strict=True)),
            },
        )

    def _draw_goal(
        self, world: World, axes: Difficulty, stream: Stream
    ) -> tuple[BundleGoal, list[list[Constraint]], int]:
        """Draw until everything that makes a good problem holds; where a catalog cannot do it, with less of it."""
        projects = baskets.projects_of(world.catalog)
        if not projects:
            raise GenerationError(
                f"catalog {world.catalog.name!r} supports no E_BUNDLE problem: it takes {baskets.LEAST_PARTS} product "
                f"types with at least {baskets.LEAST_OF_TYPE} products in stock each; where stock is unknown, map its "
                "column or let the mapping synthesize it"
            )
        wanted = parts_wanted(axes.d)
        most = min(wanted, max(len(project.types) for project in projects))
        projects = tuple(project for project in projects if len(project.types) >= most)
        for attempt in range(TRIES):
            patience = attempt // PATIENT_TRIES
            found = self._attempt(world, axes, stream, stream.choice(projects), most, patience)
            if found is not None:
                return found
        raise GenerationError(
            f"catalog {world.catalog.name!r} supports no E_BUNDLE problem: in {TRIES} draws no project of {most} parts "
            "had enough products in stock, and prices that leave a budget something to exclude"
        )

    def _attempt(
        self, world: World, axes: Difficulty, stream: Stream, project: Project, count: int, patience: int
    ) -> tuple[BundleGoal, list[list[Constraint]], int] | None:
        ties = project.ties if axes.d >= TIE_FROM and patience == 0 else ()
        readable = _genuine(_pages_read(axes), axes)
        if all(len(world.catalog.rows_of_type(name)) > MANY for name in project.types):
            readable = len(world.catalog)  # nobody reads them through, so that their sizes do not matter
        chosen, tied = baskets.draw_types(world.catalog, project, ties, count, readable, stream)
        parts = tuple(baskets.part_of(world, name) for name in chosen)
        if any(part.alive.sum() < LEAST_FITTING for part in parts):
            return None
        tie = (chosen.index(tied[0]), chosen.index(tied[1]), tied[2]) if tied else None
        numbers = baskets.spread(axes.constraints // (1 + (patience >= 3)), count, stream)
        many = any(int(part.alive.sum()) > MANY for part in parts)
        if many and tie is not None:
            numbers = _first_for(tie[:2], numbers)
        lured = math.ceil(LURED_SHARE * count) if axes.d >= LURE_FROM and patience < 2 else 0
        goal = BundleGoal(
            project.name, parts, tie, share_within_budget(axes.d), min(lured, sum(number > 0 for number in numbers))
        )
        constraints: list[list[Constraint]] = [[] for _ in parts]
        # The tied parts first: they are the likeliest to fail.
        order = sorted(range(count), key=lambda index: tie is None or index not in tie[:2])
        for index in order:
            # What fits the tied parts must fit on one page, for an agent to find the cheapest pair.
            narrow = _genuine(1, axes) if many and tie is not None and index in tie[:2] else None
            drawn = baskets.draw_part(world.catalog, goal, index, numbers[index], stream, narrow)
            if narrow is not None and np.count_nonzero(parts[index].fitting(world.catalog, drawn)) > narrow:
                return None
            constraints[index] = drawn
            if tie is not None and index == order[1] and not baskets.tie_works(world.catalog, goal, constraints):
                return None
        masks = fitting_masks(world.catalog, parts, constraints)
        if not baskets.sound(world.catalog, goal, masks):
            return None
        costs = Costs(world.catalog, parts, masks, tie)
        # Not always at the edge of what is allowed, so that the budget tells nothing exact about the baskets.
        level = goal.share * (1 + stream.uniform()) / 2
        budget = max(costs.least_dollars(), costs.most_dollars(level))
        return (goal, constraints, budget) if baskets.budget_holds(goal, costs, budget) else None

    def _slots(
        self, catalog: Catalog, goal: BundleGoal, constraints: Sequence[Sequence[Constraint]], budget: int
    ) -> list[Slot]:
        """Heads, budget, tie, requirements."""
        slots = [slot_of(catalog, "project", "project", "project", "eq", goal.project)]
        for index, part in enumerate(goal.parts):
            slots.append(slot_of(catalog, f"part{index}", "part", "type", "eq", part.type, index, part.type))
        money = slot_of(catalog, "budget", "budget", "budget", "le", budget)
        slots.append(replace(money, label="budget", unit="$"))
        if goal.tie is not None:
            first, second, attribute = goal.tie
            pair = [goal.parts[first].type, goal.parts[second].type]
            slots.append(slot_of(catalog, "tie", "tie", attribute, "eq", pair))
        for index, listed in enumerate(constraints):
            for constraint in listed:
                key = f"part{index}:{constraint.attribute}"
                slots.append(
                    slot_of(
                        catalog, key, "constraint", constraint.attribute, constraint.operator, constraint.value, index,
                        goal.parts[index].type,
                    )
                )  # fmt: skip
        return slots

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """Another budget, or another value for a requirement, under which the problem is as good as before."""
        goal: BundleGoal = problem.goal
        catalog = problem.world.catalog
        constraints = baskets.listed_by_part(problem.slots, len(goal.parts))
        if slot.kind == "budget":
            costs = Costs(catalog, goal.parts, fitting_masks(catalog, goal.parts, constraints), goal.tie)
            first, last = costs.least_dollars(), costs.most_dollars(goal.share)
            drawn = [first + stream.integer(max(1, last - first + 1)) for _ in range(CHANGE_TRIES)]
            fitting = (value for value in drawn if value != slot.value and baskets.budget_holds(goal, costs, value))
            return next(fitting, None)
        if slot.kind != "constraint" or slot.item is None:
            return None
        part, own = goal.parts[slot.item], constraints[slot.item]
        place = [constraint.attribute for constraint in own].index(slot.attribute)
        budget = next(other.value for other in problem.slots if other.kind == "budget")
        tried: list[Any] = []
        for _ in range(CHANGE_TRIES):
            value = alternatives(
                catalog, part.rows, part.alive, own, place, lambda count: count >= LEAST_FITTING, stream
            )
            if value is None:
                return None
            if value in tried:
                continue
            tried.append(value)
            changed = [list(listed) for listed in constraints]
            changed[slot.item][place] = replace(own[place], value=value)
            masks = fitting_masks(catalog, goal.parts, changed)
            if baskets.sound(catalog, goal, masks) and baskets.budget_holds(
                goal, Costs(catalog, goal.parts, masks, goal.tie), budget
            ):
                return list(value) if isinstance(value, tuple) else value
        return None

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """Look at all products of the parts, look again at what is left of them, ask meanwhile, answer.

        The first look reads every product of the types; all that can sell out has done so by its end. The second reads
        what is still in stock. It must fit in two turns, for a customer who sees nothing new in three leaves; without
        sell-outs it is not needed, and left out where turns are short. Asking goes on at the same time, until the
        customer says that there is nothing else.
        """
        goal: BundleGoal = problem.goal
        if any(int(part.alive.sum()) > MANY for part in goal.parts):
            return self._plan_by_part(problem, axes)
        first = -(-_pages(sum(len(part.rows) for part in goal.parts), axes) // axes.tool_budget)
        again = _pages(sum(int(part.alive.sum()) for part in goal.parts), axes)
        looking, calls = first + min(MOST_LOOKS_AGAIN, -(-again // axes.tool_budget)), -(-again // MOST_LOOKS_AGAIN)
        if problem.world.stock.rate <= 0:
            looking, calls = max(first, min(looking, axes.turn_budget - 1)), 1
        omitted = len(problem.omitted)
        asking = min(ask_turns(omitted, 3, axes.turn_budget) + 1, axes.turn_budget - 2) if omitted else 0
        turns = max(looking, asking, 2 if problem.switch else 0)
        return Plan(turns + 1 + bool(omitted), calls)

    def _plan_by_part(self, problem: Problem, axes: Difficulty) -> Plan:
        """Find out that there is too much to read, look at each part, again at those of which more was said, answer.

        Asking goes on meanwhile. Where things sell out, every part is looked at twice with all that was said of it;
        else a part of which nothing is asked need not be looked at again, and there is one, so that one turn will do.
        """
        parts = problem.goal.parts
        trying = -(-MOST_READ * len(parts) // (axes.search_depth * axes.tool_budget))
        looking = trying - (-len(parts) // axes.tool_budget)
        changed = {slot.item for slot in problem.slots if slot.kind == "constraint" and slot.key in problem.omitted}
        changed |= {slot.item for slot in problem.slots if slot.kind == "constraint" and slot.key in problem.switch}
        again = int(bool(changed))
        if problem.world.stock.rate > 0:
            again = -(-(len(parts) + len(changed)) // axes.tool_budget)
        omitted = len(problem.omitted)
        asking = min(ask_turns(omitted, 3, axes.turn_budget) + 1, axes.turn_budget - 2) if omitted else 0
        turns = max(looking, asking, 2 if problem.switch else 0) + again
        return Plan(turns + 1 + bool(omitted), 1)

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """What the customer sees of the products shown: their properties and prices, never whether they will last."""
        goal: BundleGoal = problem.goal
        catalog = problem.world.catalog
        by_type = {part.type: index for index, part in enumerate(goal.parts)}
        constraints = _constraint_slots(ledger)
        complaints: list[Complaint] = []
        fitting: dict[int, list[int]] = {}
        for row in shown:
            title = catalog.titles[row]
            index = by_type.get(catalog.type_of(row))
            if index is None:
                facts: dict[str, Any] = {"what": "wrong_project_part", "title": title}
                complaints.append(Complaint(f"row{row}", facts))
                continue
            broken = next((s for s in constraints if s.item == index and not baskets.meets(catalog, row, s)), None)
            if broken is None:
                fitting.setdefault(index, []).append(row)
                continue
            got = catalog.columns[broken.attribute].get(row)
            facts = {"what": "violates", "title": title, "slot": broken, "got": got}
            complaints.append(Complaint(f"row{row}", facts, (broken.key,)))
        if goal.tie is not None and not baskets.agree(catalog, goal.tie, fitting):
            complaints.append(Complaint("tie", {"what": "tie_broken", "slot": ledger.slots["tie"]}, ("tie",)))
        types = [catalog.type_of(row) for row in shown]
        one_each = len(types) == len(goal.parts) and set(types) == set(by_type)
        total = int(baskets.cents_of(catalog, np.array(shown, np.int64)).sum())
        budget = ledger.slots["budget"]
        if one_each and total > 100 * budget.value:
            facts = {"what": "over_budget", "slot": budget, "got": plain_number(total / 100)}
            complaints.append(Complaint("budget", facts, ("budget",)))
        return Sight(tuple(complaints), one_each and not complaints and ledger.everything_said(), 0.0)

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """E_BUNDLE has no fallbacks."""
        return {}

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """F1 over the parts by what the customer said, and the price of all that was recommended."""
        goal: BundleGoal = problem.goal
        world = problem.world
        said = {slot.key: slot for slot in ledger.said_slots()}
        masks = fitting_masks(world.catalog, goal.parts, baskets.listed_by_part(list(said.values()), len(goal.parts)))
        place = {int(row): (i, n) for i, part in enumerate(goal.parts) for n, row in enumerate(part.rows)}
        given = [str(identifier).strip().lower() for identifier in answer.get("recommended_product_ids", [])]
        rows = {identifier: row for identifier in given if (row := world.product_ids.decode(identifier)) is not None}
        fitting: dict[int, list[int]] = {}
        for row in rows.values():
            if row in place and masks[place[row][0]][place[row][1]]:
                fitting.setdefault(place[row][0], []).append(row)
        tie = goal.tie if "tie" in said else None
        kept = tie is None or baskets.agree(world.catalog, tie, fitting)
        matched = len(fitting) - (not kept)
        f1 = exact_f1(matched, len(given), len(goal.parts))
        cost = int(baskets.cents_of(world.catalog, np.array(list(rows.values()), np.int64)).sum())
        limit = round(100 * said["budget"].value) if "budget" in said else None
        within = limit is None or cost <= limit
        task = 2 * f1 - 1
        if not within and limit is not None:
            task = max(Fraction(-1), min(task, OVER_BUDGET_MOST) - OVER_BUDGET_WEIGHT * Fraction(cost - limit, limit))
        parts = {
            "f1": float(f1),
            "filled": matched,
            "parts": len(goal.parts),
            "given": len(given),
            "cost": cost / 100,
            "budget": None if limit is None else plain_number(limit / 100),
            "within_budget": within,
            "tie_kept": kept,
        }
        reason = "Nothing was recommended."
        if given:
            reason = f"{matched} of {len(goal.parts)} parts are filled, {len(given) - matched} of {len(given)} wrong"
            reason += f"; ${cost / 100:.2f} " + ("is within the budget." if within else "is over the budget.")
        done = self._done(problem, said, given, fitting, tie if not kept else None)
        return Verdict(float(task), f1 == 1 and within, parts, reason, done)

    def _done(
        self,
        problem: Problem,
        said: Mapping[str, Slot],
        given: Sequence[str],
        fitting: Mapping[int, Sequence[int]],
        broken: Tie | None,
    ) -> list[dict[str, Any]]:
        """For each id given, the part it fills, or why it fills none."""
        goal: BundleGoal = problem.goal
        world = problem.world
        types = {part.type: index for index, part in enumerate(goal.parts)}
        filled: set[int] = set()
        done = []
        for number, identifier in enumerate(given):
            row = world.product_ids.decode(identifier)
            if row is None:
                done.append(
                    {"product_id": identifier, "title": "(no such product)", "fills": None, "wrong": ["unknown"]}
                )
                continue
            index = types.get(world.catalog.type_of(row))
            wrong: list[str] = []
            if identifier in given[:number]:
                wrong = ["named before"]
            elif index is None:
                wrong = [f"the project needs no {world.catalog.type_of(row)}"]
            elif row in fitting.get(index, ()):
                if index in filled:
                    wrong = ["the part is filled already"]
                elif broken is not None and index == broken[1]:
                    wrong = [f"not the same {said['tie'].label} as the {said['tie'].value[0]}"]
                filled.add(index)
            else:
                wrong = [
                    str(baskets.constraint_of(slot))
                    for slot in said.values()
                    if slot.kind == "constraint" and slot.item == index and not baskets.meets(world.catalog, row, slot)
                ]
                if not world.stock.lasting_rows(np.array([row]))[0]:
                    wrong.insert(0, "in stock")
            part = None if wrong or index is None else goal.parts[index].type
            done.append({**_summary(world, row), "fills": part, "wrong": wrong})
        return done

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """Parts, requirements, budget, tie, a cheapest basket, and how much the budget excludes."""
        goal: BundleGoal = problem.goal
        world = problem.world
        constraints = baskets.listed_by_part(list(ledger.slots.values()), len(goal.parts))
        masks = fitting_masks(world.catalog, goal.parts, constraints)
        costs = Costs(world.catalog, goal.parts, masks, goal.tie)
        budget, tie = ledger.slots["budget"].value, ledger.slots.get("tie")
        rows = baskets.cheapest_basket(world.catalog, goal.parts, masks, goal.tie)
        return {
            "env_id": self.env_id,
            "project": goal.project,
            "parts": [
                {"type": part.type, "constraints": [str(c) for c in listed], "fitting": int(mask.sum())}
                for part, listed, mask in zip(goal.parts, constraints, masks, strict=True)
            ],
            "budget": budget,
            "tie": None if tie is None else {"attribute": tie.attribute, "types": list(tie.value)},
            "cheapest": [{"part": p.type, **_summary(world, r)} for p, r in zip(goal.parts, rows, strict=True)],
            "cost": costs.least / 100,
            "share_within_budget": round(costs.share_within(budget), 6),
            "share_allowed": goal.share,
        }


def _first_for(indices: Sequence[int], numbers: Sequence[int]) -> list[int]:
    """The same numbers in another order, so that none of these parts has the smallest if others have more.

    As many parts as ever have a requirement: one that has none is filled by whatever is cheapest.
    """
    result = list(numbers)
    for index in indices:
        others = [other for other in range(len(result)) if other not in indices and result[other] > result[index]]
        if others:
            result[index], result[others[0]] = result[others[0]], result[index]
    return result


def _pages(rows: int, axes: Difficulty) -> int:
    """Full pages that surely hold so many genuine hits."""
    pages = 1
    while _genuine(pages, axes) < rows:
        pages += 1
    return pages


def _genuine(pages: int, axes: Difficulty) -> int:
    """Genuine hits that full pages surely hold: four standard deviations below the mean."""
    places, noise = pages * axes.search_depth, axes.distractors
    return int(places * (1 - noise) - 4 * math.sqrt(places * noise * (1 - noise)))


def _pages_read(axes: Difficulty) -> int:
    """Pages that can be read twice before the answer, with a turn to spare; the second time in two turns at most."""
    turns = max(1, min(MOST_LOOKS_AGAIN, (axes.turn_budget - 2) // 2))
    return turns * axes.tool_budget


def _constraint_slots(ledger: Ledger) -> list[Slot]:
    return [slot for slot in ledger.slots.values() if slot.kind == "constraint"]


def _summary(world: World, row: int) -> dict[str, Any]:
    columns = world.catalog.columns
    price = columns["price"].get(row)
    return {"product_id": world.product_id(row), "title": world.catalog.titles[row], "price": price}
