"""The brief plan of E_PD: one short page of what fits, the same page again for what has sold out, and an answer.

Beside it stands what all brief plans share: one open question, searches in few words, and the page that came back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ecomrlve.agents.brief_words import as_written
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import MESSAGES_BEFORE_ANSWERING, IntentPlan, Said, call, filters_of, meets
from ecomrlve.agents.plans.discovery import best_first
from ecomrlve.protocol import Observation

ANYTHING_ELSE = "Anything else I should know?"
FACTS_PER_ANSWER = 2  # how many the customer adds when asked so openly, while it has so many
FEWEST_RULES = 2  # of a customer who named fewer there is more to hear, before a search is worth its while
# A customer's turns tell how much there is of everything else.
SHORT_TALK = 4  # with so few turns, nothing is looked at twice
LONG_TALK = 6  # with so many, much sells out, and there are many orders
SORTS = {"price": "price_asc", "rating": "rating", "ship_days": "ship_days"}


class OpenQuestion:
    """Asks for whatever else there is, and knows when that was all: an answer that is shorter than usual is the last.

    Attributes:
        over: Whether everything was said.
    """

    def __init__(self) -> None:
        self.over = False
        self._facts = 0
        self._asked = False

    def hear(self, view: Said) -> None:
        """Take in what was said by now; once a turn."""
        short = len(view.slots) - self._facts < FACTS_PER_ANSWER
        self.over = self.over or view.complete or (self._asked and short)
        self._facts, self._asked = len(view.slots), False

    def ask(self) -> str:
        """The question."""
        self._asked = True
        return ANYTHING_ELSE


def short_filters(slots: list[dict[str, Any]]) -> dict[str, Any]:
    """Constraint slots as filters, written as briefly as the search tool allows."""
    filters = filters_of(slots)
    return {
        key: next(iter(rule.values())) if len(rule) == 1 and next(iter(rule)) in ("eq", "in") else rule
        for key, rule in filters.items()
    }


def page_for(wanted: int) -> int:
    """How many hits are worth reading where so many are wanted: a third more, since some sell out meanwhile."""
    return wanted + (wanted + 1) // 3


def search_for(kind: str, view: Said, texts: Sequence[str], limit: int) -> dict[str, Any]:
    """The search for what meets all that was said, in stock, by what matters most.

    Args:
        kind: The product type.
        view: What was said.
        texts: What the customer said, in its own words.
        limit: How many hits.
    """
    priorities = sorted(view.of_kind("priority"), key=lambda slot: int(slot["rank"]))
    first = priorities[0] if priorities else {"attribute": ""}
    query = as_written(kind, texts)
    if first["attribute"] == "brand":
        query = f"{first['value']} {query}"
    filters = {"type": kind, **short_filters(view.of_kind("constraint")), "in_stock": True}
    args: dict[str, Any] = {"query": query, "filters": filters}
    if first["attribute"] in SORTS:
        args["sort"] = SORTS[first["attribute"]]
    return call("catalog_search", **args, limit=limit)


def result_of(observation: Observation, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """What a call of the last turn returned; None where it was not made, or refused."""
    return next(
        (
            message["result"]
            for message in observation.messages
            if message["role"] == "tool" and message["name"] == wanted["name"] and message["args"] == wanted["args"]
            if "error" not in message["result"]
        ),
        None,
    )


def lasting(hits: list[dict[str, Any]], memory: Memory, observation: Observation) -> list[dict[str, Any]]:
    """The hits that were shown before: what is fated to sell out has done so when it is seen for the second time."""
    return [hit for hit in hits if memory.first_seen[hit["id"]] < observation.turn]


class BriefDiscoveryPlan(IntentPlan):
    """Plays an E_PD intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._question = OpenQuestion()
        self._turns = 0  # that the customer has for it

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Search by what was said, look again, and answer; hear the customer out before."""
        self._turns = self._turns or observation.intent_turns_left
        self._question.hear(view)
        k = observation.list_size
        search = search_for(str(view.value("type")), view, self.memory.customer, page_for(k))
        page = result_of(observation, search)
        if page is not None:
            fitting = self._fitting(page["results"], view)
            sure = fitting if self._turns <= SHORT_TALK else lasting(fitting, self.memory, observation)
            if len(sure) >= min(k, len(fitting)) or self.last(observation):
                chosen = sure if len(sure) >= k else fitting
                return {"answer": {"recommended_product_ids": best_first(chosen, view, k)}}
        if self.last(observation):
            return {"answer": {"recommended_product_ids": []}}
        action: dict[str, Any] = {"tool_calls": [search]} if self._worth_searching(observation, view) else {}
        # A change of mind comes with the reply to the second message, also when all else was said.
        if not action or not self._question.over or self.messages < MESSAGES_BEFORE_ANSWERING:
            action["assistant_message"] = self._question.ask()
        return action

    def _worth_searching(self, observation: Observation, view: Said) -> bool:
        """Whether what was said so far is likely to be all, or must do."""
        if self.turn > 0:
            return self._question.over or observation.intent_turns_left < SHORT_TALK
        known = any(slot["rank"] == 1 for slot in view.of_kind("priority"))
        return known and len(view.of_kind("constraint")) >= FEWEST_RULES

    def _fitting(self, hits: list[dict[str, Any]], view: Said) -> list[dict[str, Any]]:
        kind, rules = view.value("type"), view.of_kind("constraint")
        return [hit for hit in hits if hit["type"] == kind and hit["stock"] > 0 and meets(hit, rules)]
