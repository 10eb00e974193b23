"""The reference plan of E_POLICY: read the page, the profile and the order, ask for the rest, work it out."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan, Said, call
from ecomrlve.agents.plans.orders import OrderReader, order_case
from ecomrlve.agents.policy_reader import answer_question, read_page
from ecomrlve.protocol import Observation

QUESTION = (
    "Which order number is it about, if any? Which department is the item from, what is the reason, how much did you "
    "pay in total and for it, how many units, when did you buy it, how was it paid, where was it ordered, and was the "
    "package opened? Is there anything else I should know?"
)


class PolicyPlan(IntentPlan):
    """Plays an E_POLICY intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self.reader = OrderReader(memory)
        self._page: dict[str, Any] | None = None
        self._asked: str | None = None

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Read and ask until nothing is missing; then answer."""
        question = str(view.value("question"))
        facts = {slot["attribute"]: slot["value"] for slot in view.of_kind("fact")}
        self._page = self._page or self.memory.found_first.get(question)
        order = self.memory.orders.get(facts.get("order_id", ""))
        told = self.complete or observation.intent_turns_left <= 2
        calls = []
        if self._page is None:
            calls.append(call("policy_search", query=question, limit=1))
        if self.memory.profile is None:
            calls.append(call("user_get_profile"))
        if "order_id" in facts and order is None:
            calls += self.reader.calls(max(1, observation.tool_budget - len(calls)))
        if told and not calls and self._page is not None and self.memory.profile is not None:
            case = self._case(facts, order, observation.today)
            amount = Fraction(str(facts["amount"])) if "amount" in facts else None
            page = read_page(self._page["text"])
            try:
                answer = answer_question(page, question, case, amount)
            except (KeyError, ValueError):  # a fact is missing or makes no sense: nothing better than the standard
                answer = page.standard
            return {"answer": {"policy_answer": answer if isinstance(answer, str) else _plain(answer)}}
        return {"assistant_message": QUESTION, "tool_calls": calls[: observation.tool_budget]}

    def _case(self, facts: dict[str, Any], order: dict[str, Any] | None, today: str) -> dict[str, Any]:
        """All facts of the case: those of the profile, of the order, and what the customer said."""
        profile = self.memory.profile or {}
        case = {"tier": profile.get("tier"), "region": profile.get("region")}
        if order is not None:
            placed = datetime.date.fromisoformat(order["placed"])
            days = (datetime.date.fromisoformat(today) - placed).days
            case |= order_case(order) | {"days_since_purchase": days}
        return case | facts


def _plain(number: Fraction) -> int | float:
    return number.numerator if number.denominator == 1 else float(number)
