"""What an agent can remember of tool results: products, variants, cart. No privilege."""

from __future__ import annotations

from typing import Any

from ecomrlve.protocol import Observation


class Memory:
    """Collects what the tools returned in one episode.

    Attributes:
        hits: Product id → the last hit shown for it.
        first_seen: Product id → turn in which it was first shown.
        variants: Product id → variants as last listed.
        cart: (product id, variant id or None) → quantity, as last returned.
        customer: What the customer said last.
        errors: Codes of the refusals of the last turn.
        orders: Order id → the order as last listed.
        order_pages: Pages of the unfiltered list of orders that were read.
        orders_finished: Whether the last of them was read.
        tracked: Order id → its tracking.
        checked: (order id, line id) → what return_check_eligibility said last.
        returns: Return id → the return or exchange, as made; a cancelled one is gone.
        profile: The customer's profile, once read.
        policies: Help pages that were read, by id.
        found_first: Query → the help page that a search for it put first.
        compatible_by: Product id → the attribute in which a substitute for it must be equal.
    """

    def __init__(self) -> None:
        self.hits: dict[str, dict[str, Any]] = {}
        self.first_seen: dict[str, int] = {}
        self.variants: dict[str, list[dict[str, Any]]] = {}
        self.cart: dict[tuple[str, str | None], int] = {}
        self.customer: list[str] = []
        self.errors: list[str] = []
        self.compatible_by: dict[str, str | None] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.order_pages = 0
        self.orders_finished = False
        self.tracked: dict[str, dict[str, Any]] = {}
        self.checked: dict[tuple[str, str], dict[str, Any]] = {}
        self.returns: dict[str, dict[str, Any]] = {}
        self.profile: dict[str, Any] | None = None
        self.policies: dict[str, dict[str, Any]] = {}
        self.found_first: dict[str, dict[str, Any]] = {}

    def read(self, observation: Observation) -> list[list[dict[str, Any]]]:
        """Take in an observation; returns the pages of hits it brought, in order."""
        pages: list[list[dict[str, Any]]] = []
        self.errors = []
        for message in observation.messages:
            if message["role"] == "customer":
                self.customer.append(message["content"])
                continue
            result = message["result"]
            if "error" in result:
                self.errors.append(result["error"]["code"])
            if "compatible_by" in result:
                self.compatible_by[message["args"]["product_id"].strip().lower()] = result["compatible_by"]
            page = result.get("results") or result.get("products") or ([result] if "price" in result else [])
            if page:
                pages.append(page)
            for hit in page:
                self.hits[hit["id"]] = hit
                self.first_seen.setdefault(hit["id"], observation.turn)
            self._read_account(message["name"], message["args"], result)
            if "variants" in result:
                self.variants[result["product_id"]] = result["variants"]
            if "lines" in result and message["name"].startswith("cart_"):
                self.cart = {(line["product_id"], line["variant_id"]): line["qty"] for line in result["lines"]}
        return pages

    def _read_account(self, name: str, args: dict[str, Any], result: dict[str, Any]) -> None:
        """Orders, returns, profile and help pages."""
        if "error" in result:
            return
        if name == "order_list":
            self.orders.update((order["order_id"], order) for order in result["orders"])
            if not args.get("status") and not args.get("since"):
                self.order_pages = max(self.order_pages, result["page"])
                self.orders_finished |= not result["more"]
        elif name == "order_get":
            self.orders[result["order_id"]] = result
        elif name == "order_track":
            self.tracked[result["order_id"]] = result
        elif name == "return_check_eligibility":
            self.checked[result["order_id"], result["line_id"]] = result
        elif name in ("return_initiate", "return_exchange"):
            self.returns[result["return_id"]] = result
        elif name == "return_cancel":
            self.returns.pop(result["return_id"], None)
        elif name == "user_get_profile":
            self.profile = result
        elif name == "policy_search":
            self.policies.update((page["policy_id"], page) for page in result["policies"])
            self.found_first.update((args["query"], page) for page in result["policies"][:1])
        elif name == "policy_get":
            self.policies[result["policy_id"]] = result


def value_of(hit: dict[str, Any], attribute: str) -> Any:
    """A hit's value for a filter key, or None."""
    return hit[attribute] if attribute in hit else hit.get("attributes", {}).get(attribute)


def satisfies(hit: dict[str, Any], attribute: str, operator: str, value: Any) -> bool:
    """Whether a hit satisfies a requirement, judged by the fields it shows; an unknown value does not."""
    own = value_of(hit, attribute)
    if own is None:
        return False
    if operator in ("le", "ge"):
        return own <= value if operator == "le" else own >= value
    wanted = value if operator == "in" else [value]
    return any(_same(own, word) for word in wanted)


def _same(own: Any, other: Any) -> bool:
    if isinstance(own, str) or isinstance(other, str):
        return str(own).casefold().strip() == str(other).casefold().strip()
    return own == other
