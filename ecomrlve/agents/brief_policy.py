"""The brief plan of E_POLICY: read the page, and then only what its rules test.

The page tells what must be known: the answer is due as soon as every fact that its rules test is there. The profile is
short and read at once; the orders are long, and read page by page until the one in question turns up.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ecomrlve.agents.brief_discovery import OpenQuestion
from ecomrlve.agents.brief_words import as_written
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import Said, call
from ecomrlve.agents.plans.policy import PolicyPlan
from ecomrlve.agents.policy_reader import answer_question, read_page
from ecomrlve.protocol import Observation


class BriefPolicyPlan(PolicyPlan):
    """Plays an E_POLICY intent: reads what the reference plan reads, as far as it is needed."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._question = OpenQuestion()
        self._query = ""

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Read the page and the profile, then what is missing; answer once nothing is."""
        self._question.hear(view)
        self._query = self._query or as_written(str(view.value("question")), self.memory.customer)
        self._page = self._page or self.memory.found_first.get(self._query)
        apart = Said(tuple(slot for slot in view.slots if slot["attribute"] != "order_id"), view.complete)
        # The order is long: it is of interest only where the page is read and something is missing that it may tell.
        needed = apart if self._page is None or self._enough(observation, apart) else view
        self.complete = self._question.over or self._enough(observation, needed)
        action = super().act(observation, needed)
        if "answer" in action:
            return action
        calls = self._shortened(action["tool_calls"], observation, view)
        action = {"tool_calls": calls} if calls else {}
        if not calls or not self._question.over:
            action["assistant_message"] = self._question.ask()
        return action

    def _enough(self, observation: Observation, view: Said) -> bool:
        """Whether all is known that the page's rules and the question take."""
        if self._page is None:
            return False
        facts = {slot["attribute"]: slot["value"] for slot in view.of_kind("fact")}
        case = self._case(facts, self.memory.orders.get(facts.get("order_id", "")), observation.today)
        amount = Fraction(str(facts["amount"])) if "amount" in facts else None
        try:
            answer_question(read_page(self._page["text"]), str(view.value("question")), case, amount)
        except (KeyError, ValueError):  # a fact is missing
            return False
        return True

    def _shortened(self, calls: list[dict[str, Any]], observation: Observation, view: Said) -> list[dict[str, Any]]:
        """One page of orders instead of many; the order alone, where the shop lets it be read."""
        lists = [one for one in calls if one["name"] == "order_list"]
        others = [self._as_written(one) for one in calls if one not in lists]
        if lists and any(tool["function"]["name"] == "order_get" for tool in observation.tools):
            number = next(slot["value"] for slot in view.of_kind("fact") if slot["attribute"] == "order_id")
            return [*others, call("order_get", order_id=number)]
        return others + lists[:1]

    def _as_written(self, one: dict[str, Any]) -> dict[str, Any]:
        """A search for the page in the customer's own words."""
        return call("policy_search", query=self._query, limit=1) if one["name"] == "policy_search" else one
