"""The reference plan of E_RETURN: find the line, check it, look for a replacement, act, answer."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan, Said, call, filters_of, meets
from ecomrlve.agents.plans.discovery import best_first, question
from ecomrlve.agents.plans.orders import ORDER_QUESTION, OrderReader
from ecomrlve.protocol import Observation

QUESTION = (
    "What brand is it? Why would you like to send it back, would you like a refund or an exchange, "
    "and how should the refund be paid out? "
)


class ReturnPlan(IntentPlan):
    """Plays an E_RETURN intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self.reader = OrderReader(memory)
        self._searched: tuple[Any, ...] | None = None
        self._looked_around = False

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Read and ask until all is said and one line fits; then check, look for a replacement, act and answer."""
        kind = str(view.value("sendback"))
        fitting = self.reader.lines(kind, view.of_kind("reference"))
        told = self.complete or observation.intent_turns_left <= 2
        # One call is kept for the search that shows early what can sell out.
        calls = self.reader.calls(max(1, observation.tool_budget - (not self._looked_around)))
        if len(fitting) == 1 and not calls:
            order, line = fitting[0]
            checked = self.memory.checked.get((order["order_id"], line["line_id"]))
            if checked is None:
                calls.append(call("return_check_eligibility", order_id=order["order_id"], line_id=line["line_id"]))
            elif told:
                eligible = view.value("reason") in checked["reasons"]
                if not _wants_product(view, eligible):
                    return self._finish(view, order, line, eligible, None, None)
                best = self._best(observation, view, kind, line)
                ready, variant = self._variant(best)
                if best and ready:
                    return self._finish(view, order, line, eligible, best, variant)
                if best:
                    calls.append(call("catalog_get_variants", product_id=best))
        calls += self._searches(observation, view, kind, bool(calls) and not self.reader.finished)
        asked = ORDER_QUESTION + QUESTION + question(self.memory)
        return {"assistant_message": asked, "tool_calls": calls[: observation.tool_budget]}

    def _searches(self, observation: Observation, view: Said, kind: str, reading: bool) -> list[dict[str, Any]]:
        """A search with everything said; at first a broad one, so that what can sell out does so early."""
        if view.value("wish", "") == "refund":
            return []
        shown = {"query": kind, "limit": observation.search_depth}
        if not self._looked_around:
            self._looked_around = True
            return [call("catalog_search", filters={"type": kind}, **shown)]
        if reading:
            return []
        rules = view.of_kind("constraint")
        self._searched = (_state(rules), self.turn)
        filters = filters_of(rules) | {"type": kind, "in_stock": True}
        return [call("catalog_search", filters=filters, **shown)]

    def _best(self, observation: Observation, view: Said, kind: str, line: dict[str, Any]) -> str | None:
        """The best replacement on the page that was searched last, if the page holds nothing new."""
        rules = view.of_kind("constraint")
        if not self.pages or self._searched != (_state(rules), self.turn - 1):
            return None
        hits = [
            hit
            for hit in self.pages[0]
            if hit["type"] == kind and hit["stock"] > 0 and hit["id"] != line["product_id"] and meets(hit, rules)
        ]
        known = all(self.memory.first_seen[hit["id"]] < observation.turn for hit in hits)
        best = best_first(hits, view, 1)
        return best[0] if best and (known or self.last(observation)) else None

    def _variant(self, product: str | None) -> tuple[bool, str | None]:
        """Whether the product can be ordered as things stand, and in which variant."""
        if product is None or not self.memory.hits[product].get("has_variants"):
            return product is not None, None
        variants = self.memory.variants.get(product)
        stocked = [variant["variant_id"] for variant in variants or () if variant["stock"] > 0]
        return bool(stocked), stocked[0] if stocked else None

    def _finish(
        self, view: Said, order: dict[str, Any], line: dict[str, Any], eligible: bool, product: str | None,
        variant: str | None,
    ) -> dict[str, Any]:  # fmt: skip
        """Make the return or the exchange, unless it is not eligible, and answer."""
        ids = {"order_id": order["order_id"], "line_id": line["line_id"]}
        answer = {"selected_order_id": order["order_id"], "selected_line_id": line["line_id"]}
        reason, exchange = view.value("reason"), view.value("wish") == "exchange"
        suggested = [product] if product and not exchange else []
        if not eligible:
            return {"answer": answer | {"return_decision": "not_eligible", "recommended_product_ids": suggested}}
        if exchange:
            chosen = {"new_product_id": product} | ({"new_variant_id": variant} if variant else {})
            act = call("return_exchange", **ids, reason=reason, **chosen)
            return {"tool_calls": [act], "answer": answer | {"return_decision": "exchange"}}
        act = call("return_initiate", **ids, reason=reason, method=view.value("refund"))
        return {
            "tool_calls": [act],
            "answer": answer | {"return_decision": "return", "recommended_product_ids": suggested},
        }


def _wants_product(view: Said, eligible: bool) -> bool:
    wish = view.value("wish")
    return wish == "refund_and_suggestion" or (wish == "exchange" and eligible)


def _state(rules: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted(map(str, rules)))
