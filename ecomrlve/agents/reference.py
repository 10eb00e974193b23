"""The reference agent: it shows that every problem is solvable by what an agent can see.

Its one privilege is to read what the customer *said* as (attribute, operator, value) instead of as words, and which
acts the customer's last reply made. It never reads an unsaid slot, an id or the goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.memory import Memory, satisfies, value_of
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.protocol import Observation
from ecomrlve.rewards import priority_utility

MESSAGES_BEFORE_ANSWERING = 2  # a change of mind comes with the reply to the second message
CART_QUESTION = (
    "Which model exactly, which variant and how many of each would you like? Is there anything else I should know?"
)
WORDS = "price, rating, brand, delivery time, color, size, material, style, weight, capacity, power"


@dataclass(frozen=True, slots=True)
class Said:
    """What the reference agent may read of the ledger.

    Attributes:
        slots: Said slots as plain values.
        complete: The customer's last words were that there is nothing else, or that all is right.
    """

    slots: tuple[dict[str, Any], ...]
    complete: bool


def said(episode: Episode) -> Said:
    """The privileged view: said slots, and whether the last reply said that there is nothing else."""
    acts = (episode.steps[-1]["customer"] or {}).get("acts", []) if episode.steps else []
    slots = tuple(slot.public() for slot in episode.ledger.said_slots())
    return Said(slots, "nothing_else" in acts or "confirm" in acts)


class ReferenceAgent:
    """Plays E_CART and E_PD by the reference plan of each task."""

    name = "reference"

    def reset(self, env: Environment) -> None:
        """Forget everything and look at the new episode's said slots from now on."""
        self._episode = env.episode
        self._memory = Memory()
        self._complete = False
        self._messages = 0
        self._searched: tuple[Any, ...] | None = None
        self._pages: list[list[dict[str, Any]]] = []

    def act(self, observation: Observation) -> dict[str, Any]:
        """The next turn."""
        self._pages = self._memory.read(observation)
        view = said(self._episode)
        self._complete = (self._complete or view.complete) and True
        action = self._cart(observation, view) if observation.env_id == "E_CART" else self._discovery(observation, view)
        self._messages += bool(action.get("assistant_message"))
        return action

    def _done_asking(self, observation: Observation) -> bool:
        """Everything is said: the customer said so, or it has spoken up because two turns remain."""
        told = self._complete and self._messages >= MESSAGES_BEFORE_ANSWERING
        return told or observation.turns_left <= 2

    # --- E_CART ------------------------------------------------------------------------------------------------------

    def _cart(self, observation: Observation, view: Said) -> dict[str, Any]:
        if observation.turn == 0:
            return {
                "assistant_message": CART_QUESTION,
                "tool_calls": [{"name": "user_get_visit_history", "args": {"limit": 100}}],
            }
        wanted, to_read, unclear = self._wanted_lines(view)
        last = observation.turns_left <= 1
        calls: list[dict[str, Any]] = [{"name": "catalog_get_variants", "args": {"product_id": p}} for p in to_read]
        settled = not unclear and not to_read and (self._done_asking(observation) or self._complete)
        changes = self._cart_changes(wanted) if settled or last else []
        calls = (calls + changes)[: observation.tool_budget]
        told = self._done_asking(observation)
        if (settled and told and not changes) or last:
            return {"tool_calls": calls, "answer": {"done": True}} if calls else {"answer": {"done": True}}
        return {"assistant_message": CART_QUESTION, "tool_calls": calls}

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
            if not self._memory.hits[product].get("has_variants"):
                wanted[(product, None)] = wanted.get((product, None), 0) + quantity
            elif product not in self._memory.variants:
                to_read.append(product)
            else:
                chosen = [v for v in self._memory.variants[product] if _named_by(v["attributes"]) == variant]
                unclear |= not chosen
                for option in chosen[:1]:
                    line = (product, option["variant_id"])
                    wanted[line] = wanted.get(line, 0) + quantity
        return wanted, to_read, unclear

    def _named(self, title: str, marks: dict[str, Any]) -> list[str]:
        words = " ".join(title.split()).casefold()
        return [
            identifier
            for identifier, hit in self._memory.hits.items()
            if " ".join(hit["title"].split()).casefold() == words
            and all(satisfies(hit, attribute, "eq", value) for attribute, value in marks.items())
        ]

    def _cart_changes(self, wanted: dict[tuple[str, str | None], int]) -> list[dict[str, Any]]:
        calls = []
        for (product, variant), quantity in self._memory.cart.items():
            line = {"product_id": product} | ({"variant_id": variant} if variant else {})
            if (product, variant) not in wanted:
                calls.append({"name": "cart_remove", "args": line})
            elif wanted[(product, variant)] != quantity:
                calls.append({"name": "cart_update", "args": line | {"qty": wanted[(product, variant)]}})
        for (product, variant), quantity in wanted.items():
            if (product, variant) not in self._memory.cart:
                line = {"product_id": product} | ({"variant_id": variant} if variant else {})
                calls.append({"name": "cart_add", "args": line | {"qty": quantity}})
        return calls

    # --- E_PD --------------------------------------------------------------------------------------------------------

    def _discovery(self, observation: Observation, view: Said) -> dict[str, Any]:
        kind = next(slot["value"] for slot in view.slots if slot["kind"] == "type")
        rules = [(s["attribute"], s["operator"], s["value"]) for s in view.slots if s["kind"] == "constraint"]
        state = tuple(sorted(map(str, rules)))
        if self._searched == (state, observation.turn - 1) and self._done_asking(observation):
            page = self._pages[0] if self._pages else []
            fitting = [h for h in page if h["type"] == kind and h["stock"] > 0 and all(satisfies(h, *r) for r in rules)]
            known = all(self._memory.first_seen[hit["id"]] < observation.turn for hit in fitting)
            if known or observation.turns_left <= 1:
                return {"answer": {"recommended_product_ids": self._best(fitting, view, observation.list_size)}}
        filters = {"type": kind, "in_stock": True}
        for attribute, operator, value in rules:
            filters[attribute] = {operator: value}
        search = {"query": kind, "filters": filters, "limit": observation.search_depth}
        calls = [{"name": "catalog_search", "args": search}]
        if observation.turn == 0:
            for number in range(1, observation.tool_budget):
                broad = {"query": kind, "filters": {"type": kind}, "limit": observation.search_depth, "page": number}
                calls.append({"name": "catalog_search", "args": broad})
        self._searched = (state, observation.turn)
        return {"assistant_message": self._question(), "tool_calls": calls}

    def _question(self) -> str:
        names = {name.replace("_", " ") for hit in self._memory.hits.values() for name in hit["attributes"]}
        return (
            f"What do you want in terms of {', '.join([WORDS, *sorted(names)])}, and what matters most to you? "
            "Is there anything else I should know?"
        )

    def _best(self, hits: list[dict[str, Any]], view: Said, k: int) -> list[str]:
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


def _named_by(attributes: dict[str, Any]) -> str:
    return " ".join(str(value) for value in attributes.values())
