"""E_STATUS: find the order the customer means, and tell where it is and when it arrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import draw_persona
from ecomrlve.difficulty import Difficulty, sigmoid
from ecomrlve.shop.order_history import STATUSES, Order
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, Verdict, ask_turns
from ecomrlve.tasks.order_reference import Fact, normal_date, order_facts, order_has, reference_slot, singled_out
from ecomrlve.tools.order_tools import PER_PAGE

ETA_CHANCE = 0.5
LEAST_FACTS = 2  # of an indirect reference


class StatusAnswer(BaseModel):
    """The answer of E_STATUS."""

    model_config = ConfigDict(strict=True, extra="ignore")
    selected_order_id: str = Field("", description="Id of the order that the customer means.")
    order_status: str = Field("", description="Its status, one of " + ", ".join(STATUSES) + ".")
    eta: str = Field("", description="When it arrives by the latest estimate (YYYY-MM-DD), if the customer asks.")
    done: bool = True


@dataclass(frozen=True, slots=True)
class StatusGoal:
    """The order that is meant, and whether its arrival is asked for."""

    order: Order
    eta: bool


def indirect_probability(d: int) -> float:
    """Probability that the customer names no order number but what it remembers."""
    return sigmoid((d - 2) / 1.5)


class StatusTask:
    """The E_STATUS task (see `tasks.base.Task`)."""

    env_id = "E_STATUS"
    title = "Order tracking"
    instructions = (
        "The customer asks about one of its orders. Find out which one it means and answer with its id, its status "
        "and, if the customer wants to know, the date on which it arrives by the latest estimate (order_track has it)."
    )
    tools = ("order_list", "order_get", "order_track")
    answer: type[BaseModel] = StatusAnswer

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """Orders of all statuses alike."""
        return Setting(sells_out=False)

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw the order, the facts that single it out, and whether the arrival is asked for."""
        stream = Stream("problem", *key, *salt)
        orders = world.orders.orders
        order = stream.choice(orders)
        indirect = stream.chance(indirect_probability(axes.d))
        facts = self._facts(world, order, stream) if indirect else None
        if facts is None:
            facts = [Fact("order_id", world.orders.order_id(order.number))]
        eta = order.eta is not None and stream.chance(ETA_CHANCE)
        slots = [Slot("order", "order", "order", "eq", "", label="order")]
        slots += [reference_slot(world, fact) for fact in facts]
        if eta:
            words = ("arrive", "arrival", "when", "expected", "estimate", "delivery date")
            slots.append(Slot("eta", "eta", "eta", "eq", True, label="arrival", synonyms=words))
        persona = draw_persona(Stream("persona", *key, *salt), (), ())
        drawn = {"indirect": int(len(facts) > 1), "facts": len(facts), "eta": int(eta)}
        return Problem(slots, StatusGoal(order, eta), persona, world, drawn=drawn)

    def _facts(self, world: World, order: Order, stream: Stream) -> list[Fact] | None:
        """What the customer remembers: what kind of thing it bought, the date, the total, in random order.

        Not the exact product, which mostly stands in one order only, but a kind of thing that it buys again and again:
        of the order's, the one that most orders hold.
        """
        kinds = stream.shuffled(sorted({world.catalog.type_of(line.row) for line in order.lines}))
        shares = [sum(order_has(world, o, Fact("bought", kind)) for o in world.orders.orders) for kind in kinds]
        bought = Fact("bought", kinds[shares.index(max(shares))])
        known = [bought, *(Fact(name, value) for name, value in order_facts(world, order).items())]
        others = [other for other in world.orders.orders if other is not order]
        return singled_out(stream.shuffled(known), others, lambda o, fact: order_has(world, o, fact), LEAST_FACTS)

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """The customer means one order throughout."""
        return None

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """Read the list and ask; track the order where its arrival is wanted; answer."""
        pages = -(-len(problem.world.orders.orders) // PER_PAGE)
        asking = ask_turns(len(problem.omitted), 3, axes.turn_budget)
        known = max(-(-pages // axes.tool_budget), asking)
        return Plan(known + problem.goal.eta + 1 + bool(problem.omitted), min(pages, axes.tool_budget))

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """The customer sees nothing of it: only the shop knows where the order is."""
        return Sight()

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """Nothing can sell out."""
        return {}

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """Half for the order, half for what was said of it, which counts for the right order only."""
        goal: StatusGoal = problem.goal
        world = problem.world
        given = str(answer.get("selected_order_id", "")).strip().lower()
        found = given == world.orders.order_id(goal.order.number)
        status = normal_status(str(answer.get("order_status", ""))) == goal.order.status
        wants_eta = goal.eta and ledger.said("eta")
        eta = not wants_eta or normal_date(str(answer.get("eta", ""))) == goal.order.eta
        told = found and status and eta
        reason = (
            "The order and its status are right." if told
            else "That is another order." if not found
            else "The order is right, its status is not." if not status
            else "The order and its status are right, the arrival is not."
        )  # fmt: skip
        done = [{"order_id": given, "status": str(answer.get("order_status", "")), "eta": str(answer.get("eta", ""))}]
        task = 2 * (0.5 * found + 0.5 * told) - 1
        parts = {"order": int(found), "status": int(found and status), "eta": int(found and eta)}
        return Verdict(float(task), told, parts, reason, done if given else [])

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """The order with its status and estimate."""
        goal: StatusGoal = problem.goal
        world, order = problem.world, goal.order
        return {
            "env_id": self.env_id,
            "order_id": world.orders.order_id(order.number),
            "placed": order.placed.isoformat(),
            "products": [world.catalog.titles[line.row] for line in order.lines],
            "status": order.status,
            "eta": order.eta.isoformat() if goal.eta and order.eta else None,
        }


def normal_status(text: str) -> str:
    """A status as the shop writes it: "In transit" → "in_transit", "canceled" → "cancelled"."""
    words = "_".join(text.strip().lower().replace("-", " ").replace("_", " ").split())
    return {"canceled": "cancelled"}.get(words, words)
