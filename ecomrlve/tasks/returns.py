"""E_RETURN: find the order line meant, decide by the policy in force, act, and suggest a replacement if asked."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.catalog.filters import Constraint
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import Persona, draw_persona
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.shop.order_history import Order, OrderLine
from ecomrlve.shop.orders import edge_share
from ecomrlve.shop.policies import METHODS, REASONS
from ecomrlve.shop.returns import return_window
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream
from ecomrlve.tasks import return_sight
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, Verdict, ask_turns
from ecomrlve.tasks.discovery import (
    ANCHORS_PER_TYPE,
    DiscoveryGoal,
    constraint_of,
    constraint_slots,
    draw_requirements,
    feasible_rows,
    most_feasible,
    persona_for,
    priority_slots,
    requirements,
    summary,
    utilities_by_priority,
)
from ecomrlve.tasks.identify import slot_of
from ecomrlve.tasks.order_reference import (
    Fact,
    attributes_to_name,
    line_facts,
    normal_date,
    reference_slot,
    singled_out,
)
from ecomrlve.tools.order_tools import PER_PAGE

NEVER = 0.15  # share of refusals that no day would have helped
MOST_CASES = 80  # lines and reasons looked at, to find one of the wanted kind
BEST_FIT = 7
NOT_ELIGIBLE = 1 / 3  # share of episodes whose line may not go back
SMALL_ACCOUNTS = ((4, 0.12), (8, 0.27))  # below so many orders fewer, since some accounts have nothing that may go back
DELIVERED = 0.55  # share of the account's orders that are delivered
WISHES, WISH_WEIGHTS = ("refund", "refund_and_suggestion", "exchange"), (0.4, 0.3, 0.3)
REPLACEMENT_CORRECT = 0.95
LINE_TRIES = 40
POLICY_CALLS = 2  # the policy and the profile
REPLACEMENTS_SHOWN = 4  # products of a message that the customer looks at; a third of the most that are feasible


class ReturnAnswer(BaseModel):
    """The answer of E_RETURN."""

    model_config = ConfigDict(strict=True, extra="ignore")
    selected_order_id: str = Field("", description="Id of the order that the customer means.")
    selected_line_id: str = Field("", description="Id of the line in it.")
    return_decision: str = Field("", description="What was done: return, exchange or not_eligible.")
    last_return_day: str = Field(
        "",
        description="Only where not eligible: the last day (YYYY-MM-DD) on which it could have gone back for the "
        "customer's reason, by the return policy; empty if it never could.",
    )
    recommended_product_ids: Annotated[list[str], MaxLen(100)] = Field(
        default_factory=list, description="Id of the replacement you suggest, if the customer wants one; at most one."
    )
    done: bool = True


@dataclass(frozen=True, slots=True)
class ReturnGoal:
    """What an E_RETURN problem is about.

    Attributes:
        order, line: What is meant.
        reason, method, wish: What the customer wants.
        eligible: Whether the line may go back for the reason.
        last_day: The last day on which it may, or might have; None if it never could.
        edge: Whether it was delivered on the last day of its window, or the day after.
        replacement: Products to replace it with, or None where none is asked for.
    """

    order: Order
    line: OrderLine
    reason: str
    method: str
    wish: str
    eligible: bool
    last_day: datetime.date | None
    edge: bool
    replacement: DiscoveryGoal | None

    @property
    def decision(self) -> str:
        """The right value of the answer's `return_decision`."""
        return "not_eligible" if not self.eligible else "exchange" if self.wish == "exchange" else "return"

    @property
    def suggestion(self) -> bool:
        """Whether a product must be named: by suggestion, or by exchange for it."""
        return self.replacement is not None and (self.wish == "refund_and_suggestion" or self.decision == "exchange")


class ReturnTask:
    """The E_RETURN task (see `tasks.base.Task`)."""

    env_id = "E_RETURN"
    title = "Return and replacement"
    instructions = (
        "The customer wants to send something back. Find the order and the line, check by the shop's return policy "
        "whether it may go back for the customer's reason, and act: make the return or the exchange exactly as the "
        "customer wants it; or, if the line is not eligible, do nothing and tell until which day it was. If the "
        "customer wants a replacement suggested, find one in stock that meets all its requirements, the best by what "
        "matters most to it; what it is exchanged for must be such a product too."
    )
    tools = (
        "order_list", "order_get", "return_check_eligibility", "return_initiate", "return_exchange", "return_cancel",
        "catalog_search", "catalog_get_product", "catalog_get_variants", "policy_search", "policy_get",
        "user_get_profile",
    )  # fmt: skip
    answer: type[BaseModel] = ReturnAnswer

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """An account with many delivered orders."""
        return Setting(delivered_share=DELIVERED)

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw the line, why and how it goes back, and what may replace it."""
        stream = Stream("problem", *key, *salt)
        for _ in range(LINE_TRIES):
            goal = self._draw_line(world, axes, stream)
            facts = self._facts(world, axes, stream, goal.order, goal.line)
            if facts is not None:
                break
        else:
            raise GenerationError(f"catalog {world.catalog.name!r}: no order line can be told from the others")
        catalog, kind = world.catalog, world.catalog.type_of(goal.line.row)
        persona: Persona = draw_persona(Stream("persona", *key, *salt), (), ())
        wanted: list[Slot] = []
        supported = -1
        found = self._draw_replacement(world, axes, stream, goal) if hazards.optional else None
        if found is None:
            goal = replace(goal, wish="refund")
        else:
            goal = replace(goal, replacement=found[0])
            supported = len(found[1])
            persona = persona_for(catalog, *found, Stream("persona", *key, *salt))
            wanted = [*constraint_slots(catalog, found[1]), *priority_slots(catalog, persona)]
        slots = [slot_of(catalog, "sendback", "sendback", "type", "eq", kind)]
        slots += [reference_slot(world, fact, kind) for fact in facts]
        slots.append(Slot("reason", "reason", "reason", "eq", goal.reason, label="reason", synonyms=("why", "wrong")))
        slots.append(Slot("wish", "wish", "wish", "eq", goal.wish, label="exchange", synonyms=("replacement",)))
        if goal.wish != "exchange":
            words = ("money", "paid out", "store credit", "refunded")
            slots.append(Slot("refund", "refund", "refund_method", "eq", goal.method, label="refund", synonyms=words))
        drawn = {"eligible": int(goal.eligible), "edge": int(goal.edge), "facts": len(facts),
                 "replacement": int(found is not None)}  # fmt: skip
        return Problem([*slots, *wanted], goal, persona, world, supported=supported, drawn=drawn)

    def _draw_line(self, world: World, axes: Difficulty, stream: Stream) -> ReturnGoal:
        """A delivered line, why it goes back, and how.

        Never one that was sent back earlier: the list says so, which would tell the answer.
        """
        method, wish = stream.choice(METHODS), stream.weighted(WISHES, WISH_WEIGHTS)
        wants_refusal = stream.chance(refusals_wanted(len(world.orders.orders)))
        wants_edge = stream.chance(edge_share(axes.d))
        wants_never = stream.chance(NEVER)
        lines = [(o, line) for o in world.orders.orders if o.status == "delivered" for line in o.lines]
        cases = [(o, line, reason) for o, line in lines if not line.returned for reason in REASONS]
        best: tuple[int, ReturnGoal] | None = None
        for order, line, reason in stream.shuffled(cases)[:MOST_CASES]:
            window = int(return_window(world, order, line, reason))
            delivered = order.delivered or world.today
            over = (world.today - delivered).days - window  # days since the window closed
            eligible, edge = window > 0 and over <= 0, window > 0 and 0 <= over <= 1
            never = window <= 0
            fits = 4 * (eligible != wants_refusal) + 2 * (eligible or never == wants_never) + (edge == wants_edge)
            if best is None or fits > best[0]:
                last_day = None if never else delivered + datetime.timedelta(days=window)
                best = fits, ReturnGoal(order, line, reason, method, wish, eligible, last_day, edge, None)
            if fits == BEST_FIT:
                break
        assert best is not None, "an account always has a delivered order"
        return best[1]

    def _draw_replacement(
        self, world: World, axes: Difficulty, stream: Stream, goal: ReturnGoal
    ) -> tuple[DiscoveryGoal, list[Constraint]] | None:
        """What may replace the product, and what it must be like, where the customer wants that."""
        if goal.wish == "refund":
            return None
        kind = world.catalog.type_of(goal.line.row)
        rows = world.catalog.rows_of_type(kind)
        alive = world.stock.lasting_rows(rows) & (rows != goal.line.row)
        replacement = DiscoveryGoal(kind, rows, alive, axes.d, REPLACEMENTS_SHOWN)
        most = most_feasible(axes, REPLACEMENTS_SHOWN)
        return draw_requirements(world, axes, stream, lambda: replacement, 4 * ANCHORS_PER_TYPE, most)

    def _facts(
        self, world: World, axes: Difficulty, stream: Stream, order: Order, line: OrderLine
    ) -> list[Fact] | None:
        """Facts that tell the line from all others of its type on the account, in random order."""
        facts = line_facts(world, order, line)
        names = ["ordered_on", "paid", "quantity", "delivered_on", "brand", "bought"]
        names += attributes_to_name(world, line.row, stream)
        candidates = [Fact(name, facts[name]) for name in stream.shuffled(names) if facts.get(name) is not None]
        # How many were bought is worth saying where it is more than one.
        candidates = [fact for fact in candidates if fact.attribute != "quantity" or fact.value > 1]
        kind = world.catalog.type_of(line.row)
        others = [
            line_facts(world, o, other)
            for o in world.orders.orders
            for other in o.lines
            if other.number != line.number and world.catalog.type_of(other.row) == kind
        ]
        return singled_out(candidates, others, lambda o, fact: o.get(fact.attribute) == fact.value, 1 + axes.d // 4)

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """The customer means one line throughout."""
        return None

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """Read the orders, the policy and the profile, ask, and look twice at what may replace it; act and answer."""
        goal: ReturnGoal = problem.goal
        pages = -(-len(problem.world.orders.orders) // PER_PAGE)
        asking = ask_turns(len(problem.omitted), 3, axes.turn_budget)
        looks, variants = 0, False
        if goal.replacement is not None:
            looks, variants = 2, bool(problem.world.variants.having(goal.replacement.rows).any())
        reading = max(-(-(pages + looks + POLICY_CALLS) // axes.tool_budget), looks)
        return Plan(max(asking, reading) + variants + 1 + bool(problem.omitted), 2)

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """What the customer sees of the returns made and of the products suggested."""
        return return_sight.see(problem, ledger, shown)

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """E_RETURN has no fallbacks."""
        return {}

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """The line, the right transaction and no other, and how good the replacement is."""
        goal: ReturnGoal = problem.goal
        world = problem.world
        order_id = world.orders.order_id(goal.order.number)
        line_id = world.orders.line_id(goal.line.number)
        given = [str(answer.get(name, "")).strip().lower() for name in ("selected_order_id", "selected_line_id")]
        selected = given == [order_id, line_id]
        decision = "_".join(str(answer.get("return_decision", "")).strip().lower().replace("-", " ").split())
        told = goal.eligible or _same_day(str(answer.get("last_return_day", "")), goal.last_day)
        done_right = decision == goal.decision and told and self._transacted(world, goal)
        replaced = self._replacement(problem, ledger, answer)
        score = 3 + 6 * done_right + replaced if selected else 0
        task = 2 * score / 10 - 1
        correct = selected and done_right and replaced >= REPLACEMENT_CORRECT
        reason = (
            "That is another order line." if not selected
            else f"The line is right, but it should be: {goal.decision.replace('_', ' ')}, and nothing else."
            if not done_right and told
            else "The line is right, but not the day until which it could have gone back." if not done_right
            else "The line and the decision are right." if replaced >= REPLACEMENT_CORRECT
            else f"The line and the decision are right; the replacement is worth {replaced:.0%} of the best."
        )  # fmt: skip
        parts = {"selected": int(selected), "returned": int(done_right), "replacement": round(float(replaced), 6)}
        done = [*world.returns.listed()] if world.transactions() else []
        return Verdict(float(task), correct, parts, reason, done)

    def _transacted(self, world: World, goal: ReturnGoal) -> bool:
        """Whether the world shows exactly the right transaction."""
        made = world.transactions()
        if goal.decision == "not_eligible":
            return not made
        if len(made) != 1:
            return False
        one = made[0]
        right_line = (one.order, one.line, one.reason) == (goal.order.number, goal.line.number, goal.reason)
        method = None if goal.decision == "exchange" else goal.method
        return right_line and one.kind == goal.decision and one.method == method

    def _replacement(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any]) -> float:
        """How good the product is, over the best one: that exchanged for or suggested; 1 where none was asked for."""
        goal: ReturnGoal = problem.goal
        world = problem.world
        if not goal.suggestion or goal.replacement is None:
            return 1.0
        if goal.decision == "exchange":
            rows = [one.new_row for one in world.transactions() if one.kind == "exchange"]
        else:
            given = [str(one).strip().lower() for one in answer.get("recommended_product_ids", [])]
            rows = [world.product_ids.decode(one) for one in given]
        if len(rows) != 1 or rows[0] is None:
            return 0.0
        said = [constraint_of(slot) for slot in requirements(ledger) if ledger.said(slot.key)]
        feasible = goal.replacement.rows[feasible_rows(world.catalog, goal.replacement, said)]
        utilities = utilities_by_priority(world.catalog, ledger.said_slots(), feasible)
        if rows[0] not in utilities:
            return 0.0
        return (1 + utilities[rows[0]]) / (1 + max(utilities.values()))

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """The line, the decision, and the best replacements."""
        goal: ReturnGoal = problem.goal
        world = problem.world
        window = return_window(world, goal.order, goal.line, goal.reason)
        found: dict[str, Any] = {
            "env_id": self.env_id,
            "order_id": world.orders.order_id(goal.order.number),
            "line_id": world.orders.line_id(goal.line.number),
            "product": world.catalog.titles[goal.line.row],
            "placed": goal.order.placed.isoformat(),
            "delivered": goal.order.delivered.isoformat() if goal.order.delivered else None,
            "days_since_delivery": world.returns.days_since_delivery(goal.order),
            "window_days": int(window),
            "decision": goal.decision,
            "last_return_day": goal.last_day.isoformat() if goal.last_day else None,
            "reason": goal.reason,
            "method": goal.method if goal.decision == "return" else None,
            "best": [],
        }
        if goal.suggestion and goal.replacement is not None:
            slots = requirements(ledger)
            found["constraints"] = [str(constraint_of(slot)) for slot in slots]
            mask = feasible_rows(world.catalog, goal.replacement, [constraint_of(slot) for slot in slots])
            utilities = utilities_by_priority(world.catalog, ledger.slots.values(), goal.replacement.rows[mask])
            ordered = sorted(utilities, key=lambda row: (-utilities[row], row))
            found["best"] = [{**summary(world, row), "utility": round(utilities[row], 4)} for row in ordered[:5]]
        return found


def refusals_wanted(orders: int) -> float:
    """How often a line is looked for that may not go back, so that it happens in 25 to 40 % of episodes."""
    return next((share for below, share in SMALL_ACCOUNTS if orders < below), NOT_ELIGIBLE)


def _same_day(text: str, day: datetime.date | None) -> bool:
    """Whether a text is the day, or empty where there is none."""
    return normal_date(text) == day if day is not None else not text.strip()
