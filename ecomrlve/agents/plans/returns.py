"""The reference plan of E_RETURN: find the line, read the policy, look for a replacement, act, answer."""

from __future__ import annotations

import datetime
from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan, Said, call, filters_of, meets
from ecomrlve.agents.plans.discovery import best_first, question
from ecomrlve.agents.plans.orders import ORDER_QUESTION, OrderReader, order_case
from ecomrlve.agents.policy_reader import read_page
from ecomrlve.protocol import Observation

QUESTION = (
    "What brand is it? Why would you like to send it back, would you like a refund or an exchange, "
    "and how should the refund be paid out? "
)
POLICY_QUERY = "how many days after delivery I can return an item"


class ReturnPlan(IntentPlan):
    """Plays an E_RETURN intent.

    Whether a line may go back it works out from the help page and the profile, which tell a refusal's day as well; so
    it need not wait for return_check_eligibility. What may replace the product it looks at twice: what is fated to
    sell out has done so by the second look.
    """

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self.reader = OrderReader(memory)
        self._looking: tuple[str, ...] | None = None  # filters of the look that is under way
        self._first: list[dict[str, Any]] | None = None  # the page of the first look
        self._second: list[dict[str, Any]] = []  # that of the last look after it
        self._second_for: tuple[str, ...] | None = None  # the requirements it was filtered by
        self._second_at = -1  # and when it came

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Read and ask until all is said and one line fits; then work out whether it may go, act and answer."""
        kind = str(view.value("sendback"))
        self._take_in(observation)
        fitting = self.reader.lines(kind, view.of_kind("reference"))
        told = self.complete or observation.intent_turns_left <= 2
        looks = self._looks(observation, view, kind)
        reading = self.reader.calls(max(1, observation.tool_budget - len(looks)))
        policy = self._policy_calls()
        calls: list[dict[str, Any]] = []
        if told and len(fitting) == 1 and not reading and not policy:
            order, line = fitting[0]
            last_day = self._last_day(order, line, str(view.value("reason")))
            eligible = last_day >= observation.today and order["status"] == "delivered" and not line.get("returned")
            wants = _wants_product(view, eligible)
            best = self._best(observation, view, kind, line) if wants else None
            ready, variant = self._variant(best)
            if ready or not wants:
                return self._finish(view, order, line, eligible, last_day, best, variant)
            if best:
                calls.append(call("catalog_get_variants", product_id=best))
        calls += [*reading, *looks, *policy][: observation.tool_budget - len(calls)]
        if not any(one in calls for one in looks):
            self._looking = None
        asked = ORDER_QUESTION + QUESTION + question(self.memory, kind)
        return {"assistant_message": asked, "tool_calls": calls}

    def _take_in(self, observation: Observation) -> None:
        """Keep the page that the last look brought."""
        if self._looking is not None and self.pages:
            if self._first is None:
                self._first = self.pages[0]
            else:
                self._second, self._second_for, self._second_at = self.pages[0], self._looking, observation.turn
        self._looking = None

    def _looks(self, observation: Observation, view: Said, kind: str) -> list[dict[str, Any]]:
        """The next look at what may replace the product, while one is needed."""
        if view.value("wish", "") == "refund":
            return []
        filters: dict[str, Any] = {"type": kind}
        rules = view.of_kind("constraint")
        state: tuple[str, ...] = ()
        if self._first is not None:
            filters["in_stock"] = True
            if len(self._first) >= observation.search_depth:  # a type of more products than a page holds
                filters |= filters_of(rules)
                state = _state(rules)
            if self._second_for == state and self._best(observation, view, kind, None):
                return []
        self._looking = state
        return [call("catalog_search", query=kind, filters=filters, limit=observation.search_depth)]

    def _policy_calls(self) -> list[dict[str, Any]]:
        """What is still to be read to work out until when a line may go back."""
        page = [] if POLICY_QUERY in self.memory.found_first else [call("policy_search", query=POLICY_QUERY, limit=1)]
        return page + ([] if self.memory.profile else [call("user_get_profile")])

    def _best(self, observation: Observation, view: Said, kind: str, line: dict[str, Any] | None) -> str | None:
        """The best replacement of the last look, if nothing that fits was new then and may yet sell out."""
        rules = view.of_kind("constraint")
        own = line["product_id"] if line else ""
        hits = [
            hit
            for hit in self._second
            if hit["type"] == kind and hit["stock"] > 0 and hit["id"] != own and meets(hit, rules)
        ]
        known = all(self.memory.first_seen[hit["id"]] < self._second_at for hit in hits)
        current = self._second_for in ((), _state(rules))
        best = best_first(hits, view, 1) if current else []
        return best[0] if best and (known or self.last(observation)) else None

    def _variant(self, product: str | None) -> tuple[bool, str | None]:
        """Whether the product can be ordered as things stand, and in which variant."""
        if product is None or not self.memory.hits[product].get("has_variants"):
            return product is not None, None
        variants = self.memory.variants.get(product)
        stocked = [variant["variant_id"] for variant in variants or () if variant["stock"] > 0]
        return bool(stocked), stocked[0] if stocked else None

    def _last_day(self, order: dict[str, Any], line: dict[str, Any], reason: str) -> str:
        """The last day on which the line could have gone back, or nothing if it never could."""
        page = read_page(self.memory.found_first[POLICY_QUERY]["text"])
        facts = {"department": line["department"], "reason": reason}
        window = page.value((self.memory.profile or {}) | order_case(order) | facts)
        if isinstance(window, str) or window <= 0:
            return ""
        return (datetime.date.fromisoformat(order["delivered"]) + datetime.timedelta(days=int(window))).isoformat()

    def _finish(
        self, view: Said, order: dict[str, Any], line: dict[str, Any], eligible: bool, last_day: str,
        product: str | None, variant: str | None,
    ) -> dict[str, Any]:  # fmt: skip
        """Make the return or the exchange, unless it is not eligible, and answer."""
        ids = {"order_id": order["order_id"], "line_id": line["line_id"]}
        answer = {"selected_order_id": order["order_id"], "selected_line_id": line["line_id"]}
        reason, exchange = view.value("reason"), view.value("wish") == "exchange"
        suggested = [product] if product and not exchange else []
        if not eligible:
            answer |= {"return_decision": "not_eligible", "last_return_day": last_day}
            return {"answer": answer | {"recommended_product_ids": suggested}}
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
