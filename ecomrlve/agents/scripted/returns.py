"""Sending something back: the line, whether it may go by the policy in force, and what may replace it."""

from __future__ import annotations

import datetime
import re
from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.policy_reader import UnreadablePage, read_page
from ecomrlve.agents.scripted.discovery import Discovery
from ecomrlve.agents.scripted.errand import call
from ecomrlve.agents.scripted.orders import ORDER_QUESTION, Choice, OrderErrand
from ecomrlve.agents.scripted.reading import Speller
from ecomrlve.protocol import Observation

QUESTION = (
    "What brand is it, why would you like to send it back, would you like a refund or an exchange, and how should the "
    "refund be paid out?"
)
POLICY_QUERY = "how many days after delivery an item can be returned"
REASONS = {
    "damaged": re.compile(r" damaged "),
    "wrong_item": re.compile(r" wrong item "),
    "not_as_described": re.compile(r" descri\w+ "),
    "does_not_fit": re.compile(r" (?:fit|fits) "),
    "arrived_late": re.compile(r" late "),
    "changed_mind": re.compile(r" (?:mind|no longer want) "),
}
_EXCHANGE = re.compile(r" (?:exchange|swap) ")
_SUGGEST = re.compile(r" (?:suggest\w*|recommend\w*|replacement|in its place) ")
_NEW_ONE = re.compile(r" new ones? ")


class Replacement(Discovery):
    """Looks for what may replace a product; the return decides what is asked and when it is enough."""

    returned = ""  # id of the product that goes back

    def _fitting(self) -> list[dict[str, Any]]:
        return [hit for hit in super()._fitting() if hit["id"] != self.returned]


class ReturnErrand(OrderErrand):
    """Reads orders, policy and profile, asks, looks at replacements, acts and answers."""

    def __init__(self, memory: Memory, speller: Speller):
        super().__init__(memory, speller)
        self._new = Replacement(memory, speller)

    def about_it(self, text: str) -> str:
        """What was said before the new one came up: that is about what goes back."""
        return _NEW_ONE.split(text, maxsplit=1)[0]

    def act(self, observation: Observation) -> dict[str, Any]:
        """Read and ask; once all is told, act and answer."""
        choices = self.choices()
        wish = self._wish()
        best, looks = self._replacement(observation, choices[0][1]) if choices and wish != "refund" else ("", [])
        needs = self.reading_orders(max(1, observation.tool_budget - 1)) + looks
        if POLICY_QUERY not in self.memory.found_first:
            needs.append(call("policy_search", query=POLICY_QUERY, limit=1))
        if self.memory.profile is None:
            needs.append(call("user_get_profile"))
        if self.last(observation) or (self.told(observation) and not needs):
            return self._finish(observation.today, choices[0], wish, best) if choices else {"answer": {}}
        asked = self.question(choices[0][1]["type"] if choices else "")
        return {"assistant_message": f"{ORDER_QUESTION} {QUESTION} {asked}", "tool_calls": needs}

    def _wish(self) -> str:
        """What the customer wants: "refund", "exchange", or "suggestion" for a refund and something else to buy."""
        said = "".join(self.texts)
        return "exchange" if _EXCHANGE.search(said) else "suggestion" if _SUGGEST.search(said) else "refund"

    def _replacement(self, observation: Observation, line: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """The best replacement so far, and the calls that are needed before it may be taken."""
        new = self._new
        new.kind, new.returned = line["type"], line["product_id"]
        told = [_NEW_ONE.split(text, maxsplit=1)[1:] for text in self.texts]
        new.heard = [f" {part}" for parts in told for part in parts]
        new.complete, new.messages, new.idle = True, self.messages, self.idle
        action = new.act(observation)
        ids = action.get("answer", {}).get("recommended_product_ids", [])
        best = ids[0] if ids else ""
        several = best and self.memory.hits[best].get("has_variants") and best not in self.memory.variants
        reads = [call("catalog_get_variants", product_id=best)] if several else []
        return best, [*action.get("tool_calls", []), *reads]

    def _reason(self) -> str:
        said = "".join(map(self.about_it, self.texts))
        return next((code for code, cue in REASONS.items() if cue.search(said)), "changed_mind")

    def _last_day(self, order: dict[str, Any], line: dict[str, Any]) -> str:
        """The last day on which the line may, or might have, gone back by the return policy; empty if there is none."""
        case = {
            **(self.memory.profile or {}), "order_total": order["total"], "payment": order["payment"],
            "channel": order["channel"], "quantity": sum(one["qty"] for one in order["lines"]),
            "department": line["department"], "reason": self._reason(),
        }  # fmt: skip
        try:
            days = int(read_page(self.memory.found_first[POLICY_QUERY]["text"]).value(case))
            delivered = datetime.date.fromisoformat(order["delivered"])
        except (UnreadablePage, KeyError, ValueError):  # not delivered, or nothing that this agent could work out
            return ""
        return (delivered + datetime.timedelta(days=days)).isoformat() if days > 0 else ""

    def _finish(self, today: str, choice: Choice, wish: str, best: str) -> dict[str, Any]:
        """Make the return or the exchange, unless it is too late, and answer."""
        order, line = choice
        ids = {"order_id": order["order_id"], "line_id": line["line_id"]}
        answer: dict[str, Any] = {f"selected_{name}": value for name, value in ids.items()}
        answer["recommended_product_ids"] = [best] if wish == "suggestion" and best else []
        last_day = self._last_day(order, line)
        if last_day < today:
            return {"answer": answer | {"return_decision": "not_eligible", "last_return_day": last_day}}
        if wish == "exchange" and best:
            stocked = [one["variant_id"] for one in self.memory.variants.get(best, ()) if one["stock"] > 0]
            chosen = {"new_product_id": best} | ({"new_variant_id": stocked[0]} if stocked else {})
            act = call("return_exchange", **ids, reason=self._reason(), **chosen)
            return {"tool_calls": [act], "answer": answer | {"return_decision": "exchange"}}
        method = "store_credit" if " store credit " in "".join(self.texts) else "original_payment"
        act = call("return_initiate", **ids, reason=self._reason(), method=method)
        return {"tool_calls": [act], "answer": answer | {"return_decision": "return"}}
