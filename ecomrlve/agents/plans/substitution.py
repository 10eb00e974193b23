"""The reference plan of E_SUB: find the product by its title, look at what resembles it, look again, recommend."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory, satisfies, value_of
from ecomrlve.agents.plans.base import IntentPlan, Said, call, filters_of, meets
from ecomrlve.agents.plans.discovery import question
from ecomrlve.protocol import Observation

FIRST_LOOK = 20  # hits among which a product shows when its title is searched for


class SubstitutionPlan(IntentPlan):
    """Plays an E_SUB intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._looked: tuple[Any, ...] | None = None

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Search until the product is known, then list what resembles it until nothing new shows."""
        rules = view.of_kind("constraint")
        original = self._original(view)
        state = tuple(sorted(map(str, rules)))
        if original and self.pages and self._looked == (state, self.turn - 1) and self.told(observation):
            fitting = [hit for hit in self.pages[0] if self._suits(hit, original) and meets(hit, rules)]
            known = all(self.memory.first_seen[hit["id"]] < observation.turn for hit in fitting)
            if known or self.last(observation):
                best = sorted(fitting, key=lambda hit: -hit["similarity"])[: observation.list_size]
                return {"answer": {"recommended_product_ids": [hit["id"] for hit in best]}}
        asked = question(self.memory, original["type"] if original else "")
        if original is None:
            marks = filters_of(view.of_kind("identify"))
            search = call("catalog_search", query=view.value("original"), filters=marks, limit=FIRST_LOOK)
            return {"assistant_message": asked, "tool_calls": [search]}
        filters = filters_of(rules) | {"in_stock": True}
        calls = [call("catalog_similar", product_id=original["id"], filters=filters, limit=observation.search_depth)]
        if self._looked is None and observation.tool_budget > 1:
            # What can sell out does so after it was first shown: show all of it early.
            calls.append(call("catalog_similar", product_id=original["id"], limit=observation.search_depth))
        self._looked = (state, self.turn)
        return {"assistant_message": asked, "tool_calls": calls}

    def _original(self, view: Said) -> dict[str, Any] | None:
        title = " ".join(str(view.value("original", "")).split()).casefold()
        marks = view.of_kind("identify")
        named = [
            hit for hit in self.memory.hits.values() if " ".join(hit["title"].split()).casefold() == title
        ]  # fmt: skip
        found = [h for h in named if all(satisfies(h, s["attribute"], "eq", s["value"]) for s in marks)]
        return found[0] if len(found) == 1 else None

    def _suits(self, hit: dict[str, Any], original: dict[str, Any]) -> bool:
        if hit["type"] != original["type"] or hit["stock"] <= 0 or hit["id"] == original["id"]:
            return False
        shared = self.memory.compatible_by.get(original["id"])
        want = value_of(original, shared) if shared else None
        return want is None or (shared is not None and satisfies(hit, shared, "eq", want))
