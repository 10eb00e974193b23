"""E_SUB: a product is sold out; recommend compatible ones that meet the requirements, most similar first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.catalog.similar import compatible_by, similarity
from ecomrlve.customer.dialogue import Complaint
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import draw_persona
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.shop.world import World
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, ask_turns
from ecomrlve.tasks.discovery import (
    LEAST_OF_TYPE,
    DiscoveryGoal,
    DiscoveryTask,
    constraint_slots,
    drawn_figures,
    summary,
)
from ecomrlve.tasks.identify import identifying, slot_of

MOST_ORIGINALS = 20_000  # of a large catalog only so many, evenly spaced, are looked at
ENOUGH_SOLD_OUT = 40  # with fewer such products in the catalog, any product may be the one that is sold out


@dataclass(frozen=True, slots=True)
class SubstitutionGoal(DiscoveryGoal):
    """What an E_SUB problem is about.

    Attributes:
        original: Row of the product that is sold out.
        compatible: The attribute in which a substitute must be equal, or None.
    """

    original: int = -1
    compatible: str | None = None


class SubstitutionTask(DiscoveryTask):
    """The E_SUB task (see `tasks.base.Task`)."""

    env_id = "E_SUB"
    title = "Substitution"
    instructions = (
        "The customer wanted a product that is sold out. Recommend others of the same type that are in stock, meet "
        "all requirements and are compatible: equal to it in the attribute that catalog_similar names under "
        "compatible_by. Order them by similarity, as catalog_similar reports it, most similar first."
    )
    tools: tuple[str, ...] = (
        "catalog_search", "catalog_get_product", "catalog_get_variants", "catalog_rerank", "catalog_similar",
    )  # fmt: skip

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw the sold-out product, requirements and a change of mind."""
        stream = Stream("problem", *key, *salt)
        goal, constraints = self._draw_constraints(world, axes, stream)
        assert isinstance(goal, SubstitutionGoal)
        world.stock.keep_sold_out(goal.original)
        catalog = world.catalog
        title = catalog.titles[goal.original]
        slots = [slot_of(catalog, "original", "original", "title", "eq", title)]
        slots += [
            slot_of(catalog, f"identify:{c.attribute}", "identify", c.attribute, "eq", c.value, 0, title)
            for c in identifying(catalog, goal.original) or ()
        ]
        slots += constraint_slots(catalog, constraints)
        return Problem(
            slots=slots,
            goal=goal,
            persona=draw_persona(Stream("persona", *key, *salt), (), ()),
            world=world,
            supported=len(constraints),
            drawn=drawn_figures(goal, constraints, world),
        )

    def _draw_type(self, world: World, axes: Difficulty, stream: Stream) -> SubstitutionGoal:
        """A product that is sold out, and what is compatible with it."""
        catalog = world.catalog
        originals = _originals(catalog)
        if not len(originals):
            raise GenerationError(f"catalog {catalog.name!r} has no product for E_SUB: none can be told from others")
        row = int(originals[stream.integer(len(originals))])
        name = catalog.type_of(row)
        rows = catalog.rows_of_type(name)
        alive = world.stock.lasting_rows(rows) & (rows != row)
        shared = compatible_by(catalog, name)
        if shared is not None:
            value = catalog.columns[shared].get(row)
            alive &= satisfied(catalog, rows, Constraint(shared, "eq", value)) if value is not None else True
        return SubstitutionGoal(name, rows, alive, axes.d, axes.list_size, row, shared)

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """Find the product, look at what resembles it, look again for what sold out meanwhile, answer."""
        asking = ask_turns(len(problem.omitted), 3, axes.turn_budget)
        return Plan(max(asking, 2) + 2 + bool(problem.omitted), 1)

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """As in E_PD; besides, the sold-out product itself and incompatible ones are pointed out."""
        goal: SubstitutionGoal = problem.goal
        world, catalog = problem.world, problem.world.catalog
        column = catalog.columns[goal.compatible] if goal.compatible else None
        complaints: list[Complaint] = []
        for row in shown[: goal.k]:
            title = catalog.titles[row]
            if row == goal.original:
                complaints.append(Complaint(f"row{row}", {"what": "sold_out", "title": title}))
            elif column is not None and catalog.type_of(row) == goal.type and not self._suits(world, goal, row):
                got, want, label = column.get(row), column.get(goal.original), column.info.label
                facts = {"what": "not_compatible", "title": title, "label": label, "got": got, "want": want}
                complaints.append(Complaint(f"row{row}", facts))
        rest = [row for row in shown[: goal.k] if f"row{row}" not in {c.subject for c in complaints}]
        sight = super().see(problem, ledger, rest)
        return Sight((*complaints, *sight.complaints), sight.reached and not complaints, sight.quality)

    def _utilities(self, problem: Problem, slots: Iterable[Slot], rows: np.ndarray) -> dict[int, float]:
        """u(p): the share of the feasible products that are no more similar."""
        alike = similarity(problem.world.catalog, problem.goal.original, rows)
        ranked = np.sort(alike)
        shares = np.searchsorted(ranked, alike, side="right") / max(1, len(rows))
        return dict(zip(rows.tolist(), shares.tolist(), strict=True))

    def _suits(self, world: World, goal: DiscoveryGoal, row: int) -> bool:
        assert isinstance(goal, SubstitutionGoal)
        if row == goal.original or goal.compatible is None:
            return row != goal.original
        column = world.catalog.columns[goal.compatible]
        return column.get(goal.original) in (None, column.get(row))

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """As in E_PD, with the sold-out product and the similarities in place of the priorities."""
        goal: SubstitutionGoal = problem.goal
        found = super().reveal(problem, ledger)
        catalog = problem.world.catalog
        del found["priorities"]
        for entry in found["feasible"]:
            row = problem.world.product_ids.decode(entry["product_id"])
            entry["similarity"] = float(similarity(catalog, goal.original, np.array([row]))[0])
        return found | {"original": summary(problem.world, goal.original), "compatible_by": goal.compatible}


def _originals(catalog: Catalog) -> np.ndarray:
    """Rows that the customer can name and that are sold out, where there are enough; else any it can name.

    A product that the catalog itself has none of is the best choice: then nothing about the shop depends on the goal.
    """

    def compute() -> np.ndarray:
        big = np.array([len(catalog.rows_of_type(name)) >= LEAST_OF_TYPE for name in catalog.type_names], bool)
        rows = np.flatnonzero(big[catalog.type_codes]) if big.any() else np.arange(len(catalog))
        sold_out = rows[catalog.stock[rows] == 0]
        candidates = sold_out if len(sold_out) >= ENOUGH_SOLD_OUT else rows
        candidates = candidates[:: -(-len(candidates) // MOST_ORIGINALS) or 1]
        named = [int(row) for row in candidates if identifying(catalog, int(row)) is not None]
        return np.array(named, np.int64)

    return catalog.remembered("originals", compute)
