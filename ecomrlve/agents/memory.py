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
    """

    def __init__(self) -> None:
        self.hits: dict[str, dict[str, Any]] = {}
        self.first_seen: dict[str, int] = {}
        self.variants: dict[str, list[dict[str, Any]]] = {}
        self.cart: dict[tuple[str, str | None], int] = {}
        self.customer: list[str] = []
        self.errors: list[str] = []

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
            page = result.get("results") or result.get("products") or ([result] if "price" in result else [])
            if page:
                pages.append(page)
            for hit in page:
                self.hits[hit["id"]] = hit
                self.first_seen.setdefault(hit["id"], observation.turn)
            if "variants" in result:
                self.variants[result["product_id"]] = result["variants"]
            if "lines" in result:
                self.cart = {(line["product_id"], line["variant_id"]): line["qty"] for line in result["lines"]}
        return pages


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
