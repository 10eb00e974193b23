"""The reference plan of E_PD: ask, search with everything said, look again for what sold out, recommend."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory, satisfies, value_of
from ecomrlve.agents.plans.base import IntentPlan, Said
from ecomrlve.protocol import Observation
from ecomrlve.rewards import priority_utility

WORDS = "price, rating, brand, delivery time, color, size, material, style, weight, capacity, power"


class DiscoveryPlan(IntentPlan):
    """Plays an E_PD intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._searched: tuple[Any, ...] | None = None

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Search, and answer with a page that holds nothing new."""
        kind = next(slot["value"] for slot in view.slots if slot["kind"] == "type")
        rules = [(s["attribute"], s["operator"], s["value"]) for s in view.slots if s["kind"] == "constraint"]
        state = tuple(sorted(map(str, rules)))
        if self.pages and self._searched == (state, self.turn - 1) and self.told(observation):
            page = self.pages[0]
            fitting = [h for h in page if h["type"] == kind and h["stock"] > 0 and all(satisfies(h, *r) for r in rules)]
            known = all(self.memory.first_seen[hit["id"]] < observation.turn for hit in fitting)
            if known or self.last(observation):
                return {"answer": {"recommended_product_ids": best_first(fitting, view, observation.list_size)}}
        filters = {"type": kind, "in_stock": True}
        for attribute, operator, value in rules:
            filters[attribute] = {operator: value}
        search = {"query": kind, "filters": filters, "limit": observation.search_depth}
        calls = [{"name": "catalog_search", "args": search}]
        if self.turn == 0:
            for number in range(1, observation.tool_budget):
                broad = {"query": kind, "filters": {"type": kind}, "limit": observation.search_depth, "page": number}
                calls.append({"name": "catalog_search", "args": broad})
        self._searched = (state, self.turn)
        return {"assistant_message": question(self.memory, kind), "tool_calls": calls}


def question(memory: Memory, kind: str = "") -> str:
    """Ask for every attribute that hits have shown, and for whatever else there is.

    Args:
        memory: What was seen.
        kind: The product type that it is about, since what others have is of no interest; empty if it is not known.
    """
    mine = (hit for hit in memory.hits.values() if not kind or hit["type"].casefold() == kind.casefold())
    names = {name.replace("_", " ") for hit in mine for name in hit.get("attributes", ())}
    listed = ", ".join([WORDS, *sorted(names - set(WORDS.split(", ")))])
    return f"What do you want in terms of {listed}, and what matters most to you? Is there anything else I should know?"


def best_first(hits: list[dict[str, Any]], view: Said, k: int) -> list[str]:
    """The fitting products, best first by the customer's priorities over all that fit."""
    priorities = sorted((s for s in view.slots if s["kind"] == "priority"), key=lambda slot: slot["rank"])
    values = [[_goodness(hit, slot) for hit in hits] for slot in priorities]
    utilities = priority_utility(values) if values else [1.0] * len(hits)
    order = sorted(range(len(hits)), key=lambda number: -utilities[number])
    return [hits[number]["id"] for number in order[:k]]


def _goodness(hit: dict[str, Any], slot: dict[str, Any]) -> float:
    own = value_of(hit, slot["attribute"])
    if slot["attribute"] == "brand":
        return float(str(own).casefold() == str(slot["value"]).casefold())
    if own is None:
        return float("-inf")
    return float(own) if slot["attribute"] == "rating" else -float(own)
