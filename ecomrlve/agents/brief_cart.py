"""The brief plan of E_CART: find each item by one search for one hit, read its variants, add it, and answer.

Haste is safe here, for the customer speaks up when an answer comes too early. So the plan answers as soon as the cart
is as it was said, and asks for one thing only: the version of an item that comes in several, without which it could
add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.brief_words import as_written
from ecomrlve.agents.memory import Memory, satisfies
from ecomrlve.agents.plans.base import IntentPlan, Said, call
from ecomrlve.protocol import Observation

WHICH_VERSION = "Which version would you like?"
MOST_PAGES = 3  # a distractor may stand in front of what is meant

Line = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that shall be in the cart, as far as it was said.

    Attributes:
        title: The product's title.
        marks: Attribute → value, what tells it from others of its title.
        version: The wanted variant's name; None where it was not said.
        quantity: How many.
    """

    title: str
    marks: dict[str, Any]
    version: str | None
    quantity: int

    @property
    def product(self) -> tuple[Any, ...]:
        """What is searched for."""
        return self.title, *sorted(self.marks.items())


def wishes(view: Said) -> list[Wish]:
    """What shall be in the cart by what was said; what is sold out is replaced by what the customer takes instead."""
    wanted = []
    for item in view.of_kind("item"):
        mine = {slot["kind"]: slot["value"] for slot in view.slots if slot["item"] == item["item"]}
        marks = {
            slot["attribute"]: slot["value"]
            for slot in view.of_kind("identify")
            if slot["item"] == item["item"]
        }  # fmt: skip
        title, version, quantity = item["value"], mine.get("variant"), mine.get("quantity", 1)
        instead = mine.get("fallback") or {"do": "nothing"}
        if instead["do"] == "drop":
            continue
        if instead["do"] == "product":
            title, marks, version = instead["title"], instead["identify"], instead["value"]
        elif instead["do"] == "variant":
            version = instead["value"]
        wanted.append(Wish(title, marks, version, quantity))
    return wanted


class BriefCartPlan(IntentPlan):
    """Plays an E_CART intent in two to four turns."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._searches: dict[tuple[Any, ...], int] = {}

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """The next step towards the cart that was asked for."""
        wanted: dict[Line, int] = {}
        look: list[dict[str, Any]] = []
        unsaid = False
        for wish in wishes(view):
            product = self._found(wish)
            if product is None:
                look += self._search(wish)
            elif not self.memory.hits[product].get("has_variants"):
                wanted[product, None] = wanted.get((product, None), 0) + wish.quantity
            elif product not in self.memory.variants:
                look.append(call("catalog_get_variants", product_id=product))
                unsaid |= wish.version is None
            else:
                line = product, self._variant(product, wish.version)
                wanted[line] = wanted.get(line, 0) + wish.quantity
        return self._turn(observation, look, self._changes(wanted), unsaid)

    def _turn(
        self, observation: Observation, look: list[dict[str, Any]], changes: list[dict[str, Any]], unsaid: bool
    ) -> dict[str, Any]:
        """Look first; change the cart once everything is found, and answer with the last change."""
        last = self.last(observation)
        if look and not last:
            action: dict[str, Any] = {"tool_calls": look[: observation.tool_budget]}
            return action | ({"assistant_message": WHICH_VERSION} if unsaid else {})
        calls = changes[: observation.tool_budget]
        if len(changes) > len(calls) and not last:
            return {"tool_calls": calls}
        return ({"tool_calls": calls} if calls else {}) | {"answer": {"done": True}}

    def _search(self, wish: Wish) -> list[dict[str, Any]]:
        """The search for one hit; the next page of it, if the last one was something else."""
        page = self._searches.get(wish.product, 0) + 1
        if page > MOST_PAGES:
            return []
        self._searches[wish.product] = page
        args: dict[str, Any] = {"query": as_written(wish.title, self.memory.customer)}
        if wish.marks:
            args["filters"] = dict(wish.marks)
        args["limit"] = 1
        if page > 1:
            args["page"] = page
        return [call("catalog_search", **args)]

    def _found(self, wish: Wish) -> str | None:
        """The product that was found for a wish, if any; of several, the one seen first."""
        title = _folded(wish.title)
        return next(
            (
                identifier
                for identifier, hit in self.memory.hits.items()
                if _folded(hit["title"]) == title
                and all(satisfies(hit, attribute, "eq", value) for attribute, value in wish.marks.items())
            ),
            None,
        )

    def _variant(self, product: str, version: str | None) -> str:
        """The variant of a name; any, where none was said."""
        variants = self.memory.variants[product]
        named = [option for option in variants if " ".join(map(str, option["attributes"].values())) == version]
        return str((named or variants)[0]["variant_id"])

    def _changes(self, wanted: dict[Line, int]) -> list[dict[str, Any]]:
        """The calls that make the cart what it should be."""
        cart = self.memory.cart
        calls = [call("cart_remove", **_line(line)) for line in cart if line not in wanted]
        for line, quantity in wanted.items():
            if line not in cart:
                calls.append(call("cart_add", **_line(line), **({"qty": quantity} if quantity > 1 else {})))
            elif cart[line] != quantity:
                calls.append(call("cart_update", **_line(line), qty=quantity))
        return calls


def _line(line: Line) -> dict[str, Any]:
    product, variant = line
    return {"product_id": product} | ({"variant_id": variant} if variant else {})


def _folded(title: str) -> str:
    return " ".join(title.split()).casefold()
