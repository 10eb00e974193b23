"""The reference plan of E_CART: read the visit history, ask, read variants, fill the cart."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import satisfies
from ecomrlve.agents.plans.base import IntentPlan, Said
from ecomrlve.protocol import Observation

QUESTION = (
    "Which model exactly, which variant and how many of each would you like? Is there anything else I should know?"
)


class CartPlan(IntentPlan):
    """Plays an E_CART intent."""

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """The next step towards the cart that was asked for."""
        if self.turn == 0:
            return {
                "assistant_message": QUESTION,
                "tool_calls": [{"name": "user_get_visit_history", "args": {"limit": 100}}],
            }
        wanted, to_read, unclear = self._wanted_lines(view)
        last = self.last(observation)
        calls: list[dict[str, Any]] = [{"name": "catalog_get_variants", "args": {"product_id": p}} for p in to_read]
        settled = not unclear and not to_read and (self.told(observation) or self.complete)
        changes = self._cart_changes(wanted) if settled or last else []
        calls = (calls + changes)[: observation.tool_budget]
        told = self.told(observation)
        if (settled and told and not changes) or last:
            return {"tool_calls": calls, "answer": {"done": True}} if calls else {"answer": {"done": True}}
        return {"assistant_message": QUESTION, "tool_calls": calls}

    def _wanted_lines(self, view: Said) -> tuple[dict[tuple[str, str | None], int], list[str], bool]:
        """The cart wanted by what was said; products whose variants must be read; whether something is unclear."""
        wanted: dict[tuple[str, str | None], int] = {}
        to_read: list[str] = []
        unclear = False
        for item in [slot for slot in view.slots if slot["kind"] == "item"]:
            mine = [slot for slot in view.slots if slot["item"] == item["item"] and slot is not item]
            by_kind = {slot["kind"]: slot for slot in mine}
            title = item["value"]
            marks = {slot["attribute"]: slot["value"] for slot in mine if slot["kind"] == "identify"}
            variant = by_kind.get("variant", {}).get("value")
            quantity = by_kind.get("quantity", {}).get("value", 1)
            fallback = by_kind.get("fallback", {}).get("value")
            if fallback and fallback["do"] == "drop":
                continue
            if fallback and fallback["do"] == "product":
                title, marks, variant = fallback["title"], fallback["identify"], fallback["value"]
            if fallback and fallback["do"] == "variant":
                variant = fallback["value"]
            found = self._named(title, marks)
            if len(found) != 1:
                unclear = True
                continue
            product = found[0]
            if not self.memory.hits[product].get("has_variants"):
                wanted[(product, None)] = wanted.get((product, None), 0) + quantity
            elif product not in self.memory.variants:
                to_read.append(product)
            else:
                chosen = [v for v in self.memory.variants[product] if _named_by(v["attributes"]) == variant]
                unclear |= not chosen
                for option in chosen[:1]:
                    line = (product, option["variant_id"])
                    wanted[line] = wanted.get(line, 0) + quantity
        return wanted, to_read, unclear

    def _named(self, title: str, marks: dict[str, Any]) -> list[str]:
        words = " ".join(title.split()).casefold()
        return [
            identifier
            for identifier, hit in self.memory.hits.items()
            if " ".join(hit["title"].split()).casefold() == words
            and all(satisfies(hit, attribute, "eq", value) for attribute, value in marks.items())
        ]

    def _cart_changes(self, wanted: dict[tuple[str, str | None], int]) -> list[dict[str, Any]]:
        calls = []
        for (product, variant), quantity in self.memory.cart.items():
            line = {"product_id": product} | ({"variant_id": variant} if variant else {})
            if (product, variant) not in wanted:
                calls.append({"name": "cart_remove", "args": line})
            elif wanted[(product, variant)] != quantity:
                calls.append({"name": "cart_update", "args": line | {"qty": wanted[(product, variant)]}})
        for (product, variant), quantity in wanted.items():
            if (product, variant) not in self.memory.cart:
                line = {"product_id": product} | ({"variant_id": variant} if variant else {})
                calls.append({"name": "cart_add", "args": line | {"qty": quantity}})
        return calls


def _named_by(attributes: dict[str, Any]) -> str:
    return " ".join(str(value) for value in attributes.values())
