"""E_POLICY: answer one question about the shop's policies, which are drawn per episode."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import draw_persona
from ecomrlve.difficulty import Difficulty
from ecomrlve.shop.order_history import Order
from ecomrlve.shop.questions import FACT_LABELS, OrderFacts, Question, draw_question
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, Verdict, ask_turns
from ecomrlve.tools.order_tools import PER_PAGE

DELIVERED = 0.55
# "30 days", "$14.50", "15 %", "1,200 points", "-3": a sign, a number, and nothing but units around it.
_NUMBER = re.compile(
    r"^\s*(?P<sign>[-−+]?)\s*(?P<currency>[$]?)\s*(?P<sign2>[-−+]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)?(?:\.(?P<part>\d+))?"
    r"\s*(?P<behind>[$]?)(?P<unit>(?:%|[a-z]+(?: [a-z]+){0,3})?)\s*\.?\s*$",
    re.IGNORECASE,
)
# What may stand behind the number, by the unit of the question; another unit is another answer.
_UNITS: dict[str, tuple[str, ...]] = {
    "$": ("dollars", "dollar", "usd", "bucks"),
    "%": ("%", "percent", "per cent", "percentage points"),
    "days": ("days", "day", "calendar days"),
    "hours": ("hours", "hour", "h"),
    "months": ("months", "month"),
    "points": ("points", "point", "points per dollar"),
}
MOST_CHARACTERS = 80


class PolicyAnswer(BaseModel):
    """The answer of E_POLICY."""

    model_config = ConfigDict(strict=True, extra="ignore")
    policy_answer: str | int | float = Field(
        "", description='The answer: a number, also as "30 days", "$14.50" or "15 %", or one of the choices named.'
    )
    done: bool = True


@dataclass(frozen=True, slots=True)
class PolicyGoal:
    """The question, and the order that it is about, if any."""

    question: Question
    order: Order | None


class PolicyTask:
    """The E_POLICY task (see `tasks.base.Task`)."""

    env_id = "E_POLICY"
    title = "Policy question"
    instructions = (
        "The customer has a question about the shop's policies. Find the help page that answers it, learn all that "
        "the page's rules depend on (from the customer, its profile, or the order it names), and work the answer out "
        "exactly: the number, or one of the choices."
    )
    tools = ("policy_search", "policy_get", "user_get_profile", "order_list", "datetime_now")
    answer: type[BaseModel] = PolicyAnswer

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """An account with many delivered orders."""
        return Setting(delivered_share=DELIVERED, sells_out=False)

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw a question about the world's policies, its profile and its orders."""
        profile = {"tier": world.profile.tier, "region": world.profile.region}
        orders = [OrderFacts(order.number, order_values(world, order)) for order in world.orders.orders]
        question = draw_question(world.policies, profile, orders, Stream("problem", *key, *salt))
        order = next((one for one in world.orders.orders if one.number == question.order), None)
        slots = [
            Slot(
                "question", "question", question.topic, "eq", question.text, label="question", choices=question.choices
            )
        ]
        if order is not None:
            number = world.orders.order_id(order.number)
            words = ("which order", "order id")
            slots.append(Slot("fact:order_id", "fact", "order_id", "eq", number, label="order number", synonyms=words))
        for fact in question.facts:
            if fact.source == "said":
                slots.append(_fact_slot(fact.attribute, fact.value))
        if question.amount is not None:
            slots.append(_fact_slot("amount", float(question.amount)))
        persona = draw_persona(Stream("persona", *key, *salt), (), ())
        drawn = {"facts": len(question.facts), "order": int(order is not None), "choice": int(bool(question.choices))}
        return Problem(slots, PolicyGoal(question, order), persona, world, drawn=drawn)

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """The customer's case is what it is."""
        return None

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """Search the pages, read the profile and the orders, ask; then answer."""
        pages = -(-len(problem.world.orders.orders) // PER_PAGE) if problem.goal.order is not None else 0
        asking = ask_turns(len(problem.omitted), 3, axes.turn_budget)
        # The order's number may be said last: its page can be read only after that.
        reading = -(-2 // axes.tool_budget) + (-(-pages // axes.tool_budget) if pages else 0)
        return Plan(max(asking + bool(pages and problem.omitted), reading, 1) + 1 + bool(problem.omitted), 2)

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """The customer does not know the answer."""
        return Sight()

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """Nothing can sell out."""
        return {}

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """How near a number is, or whether the choice is right."""
        question: Question = problem.goal.question
        given = answer.get("policy_answer", "")
        text = str(given).strip()
        if isinstance(question.answer, str):
            right = text.casefold().strip(" .") == question.answer.casefold()
            task, ratio = (1.0 if right else -1.0), float(right)
        else:
            number = read_number(given, question.unit)
            right = number == question.answer
            ratio = 1.0 if right else closeness(number, question.answer)
            task = 2 * ratio - 1
        reason = (
            "The answer is exact."
            if right
            else "No answer was given."
            if not text
            else f"It should be {shown(question)}."
        )
        done = [{"answer": text[:MOST_CHARACTERS], "right": right}] if text else []
        return Verdict(float(task), right, {"closeness": round(float(ratio), 6), "exact": int(right)}, reason, done)

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """The page, the facts and the answer."""
        goal: PolicyGoal = problem.goal
        question, world = goal.question, problem.world
        page = world.policies.page(question.topic)
        return {
            "env_id": self.env_id,
            "question": question.text,
            "policy_id": world.policies.policy_id(page),
            "page": page.title,
            "order_id": None if goal.order is None else world.orders.order_id(goal.order.number),
            "facts": [{"attribute": f.attribute, "value": f.value, "source": f.source} for f in question.facts],
            "amount": None if question.amount is None else float(question.amount),
            "answer": shown(question),
        }


def order_values(world: World, order: Order) -> dict[str, Any]:
    """What a question may take from an order: all that order_list shows of it and a rule can test."""
    return {
        "order_total": order.total,
        "days_since_purchase": (world.today - order.placed).days,
        "payment": order.payment,
        "channel": order.channel,
        "quantity": order.quantity,
    }


def _fact_slot(attribute: str, value: Any) -> Slot:
    labels = FACT_LABELS[attribute]
    plain = float(value) if isinstance(value, Fraction) else value
    return Slot(f"fact:{attribute}", "fact", attribute, "eq", plain, label=labels[0], synonyms=tuple(labels[1:]))


def read_number(given: Any, unit: str) -> Fraction | None:
    """The number that an answer states, exactly; None where it states none, or one in another unit.

    Args:
        given: A number, or a text such as "30 days", "$14.50", "15 %".
        unit: Unit of the question.
    """
    if isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return Fraction(repr(given)) if abs(given) < 1e15 else None
    text = str(given)
    match = _NUMBER.match(text) if len(text) <= MOST_CHARACTERS else None
    if match is None or (match["whole"] is None and match["part"] is None) or (match["sign"] and match["sign2"]):
        return None
    if (match["currency"] and match["behind"]) or ((match["currency"] or match["behind"]) and unit != "$"):
        return None
    words = " ".join(match["unit"].lower().split())
    if words and words not in _UNITS.get(unit, (unit,)) and words != unit.lower():
        return None
    number = Fraction(f"{(match['whole'] or '0').replace(',', '')}.{match['part'] or '0'}")
    return -number if "-" in (match["sign"] + match["sign2"]).replace("−", "-") else number


def closeness(number: Fraction | None, answer: Fraction) -> float:
    """ρ = (min/max)⁴ of the magnitudes: 0 for none or opposite signs, 1 for both zero."""
    if number is None or number * answer < 0:
        return 0.0
    low, high = sorted((abs(number), abs(answer)))
    return 1.0 if high == 0 else float(low / high) ** 4


def shown(question: Question) -> str:
    """The answer as people write it."""
    answer = question.answer
    if isinstance(answer, str):
        return answer
    if question.unit == "$":
        return f"${float(answer):.2f}"
    number = str(answer.numerator) if answer.denominator == 1 else f"{float(answer):g}"
    return f"{number}%" if question.unit == "%" else f"{number} {question.unit}".strip()
