"""What the guide can know of a cart episode: only what the customer said and what the tools showed.

It reads the customer's words the way the scripted agent does, which has no privilege either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.episode import Turn
from components.views import error_of, products_in
from ecomrlve.agents.scripted.naming import mentions
from ecomrlve.agents.scripted.reading import Speller, blank, normal_name, sentences
from ecomrlve.agents.scripted.shelf import Shelf
from ecomrlve.agents.scripted.wishes import Wishes

Product = dict[str, Any]
Line = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen and understood so far.

    Attributes:
        products: All products shown, by id, each as it was shown last.
        named: Those whose title the customer said.
        fitting: Those of them that fit best what else it said.
        marks: Attributes by which the fitting ones differ from the other named ones, with their values.
        variants: The variants of each product that were listed, by product id.
        meant: Product id → the variant of it that the customer named, where it did.
        cart: The cart as a tool returned it last: (product id, variant id or None) → quantity.
    """

    products: dict[str, Product]
    named: tuple[Product, ...]
    fitting: tuple[Product, ...]
    marks: dict[str, Any]
    variants: dict[str, list[Product]]
    meant: dict[str, Product]
    cart: dict[Line, int]

    @property
    def product(self) -> Product | None:
        """The one product that is wanted, or None while that is unclear."""
        return self.fitting[0] if len(self.fitting) == 1 else None


def look(opening: str, turns: Sequence[Turn]) -> Sight:
    """See what there is to see.

    Args:
        opening: What the customer said first.
        turns: The turns taken.
    """
    products: dict[str, Product] = {}
    variants: dict[str, list[Product]] = {}
    cart: dict[Line, int] = {}
    for result in (call["result"] for turn in turns for call in turn.calls if not error_of(call["result"])):
        for hit in products_in(result):
            if isinstance(hit.get("attributes"), Mapping):
                products[hit["id"]] = hit
        if isinstance(result.get("variants"), list):
            variants[result["product_id"]] = result["variants"]
        if isinstance(result.get("lines"), list):
            cart = {(line["product_id"], line["variant_id"]): line["qty"] for line in result["lines"]}
    texts = [opening, *(turn.customer for turn in turns if turn.customer)]
    named, remarks = _named(texts, products, variants)
    fitting, marks = _fitting(named, remarks)
    meant = {product["id"]: found for product in named if (found := _meant(variants.get(product["id"], []), remarks))}
    return Sight(products, named, fitting, marks, variants, meant, cart)


def _named(
    texts: Sequence[str], products: Mapping[str, Product], variants: Mapping[str, list[Product]]
) -> tuple[tuple[Product, ...], list[str]]:
    """The products whose title was said first, and all sentences without titles."""
    speller = Speller()
    speller.learn_of(products.values(), titles=True)
    for listed in variants.values():
        speller.learn(_variant_name(variant) for variant in listed)
    titles = {normal_name(hit["title"]) for hit in products.values()}
    title, remarks = "", []
    for sentence in sentences("".join(speller.normal(text) for text in texts)):
        for mention in mentions(sentence, titles):
            title = title or mention.name
            sentence = blank(sentence, mention.start, mention.end)
        remarks.append(sentence)
    return tuple(hit for hit in products.values() if normal_name(hit["title"]) == title), remarks


def _fitting(named: tuple[Product, ...], remarks: list[str]) -> tuple[tuple[Product, ...], dict[str, Any]]:
    """The named products that meet most of what was said, and what tells them from the others."""
    if len(named) < 2:
        return named, {}
    wishes, shelf = Wishes(), Shelf(named)
    for remark in remarks:
        wishes.hear(remark, shelf)
    most = max(map(wishes.fit, named))
    fitting = tuple(hit for hit in named if wishes.fit(hit) == most)
    marks = {
        name: fitting[0]["attributes"][name]
        for name, rule in wishes.rules.items()
        if name in fitting[0]["attributes"] and all(map(rule.holds, fitting)) and not all(map(rule.holds, named))
    }
    return fitting, marks


def _meant(listed: Sequence[Product], remarks: Sequence[str]) -> Product | None:
    """The variant that was named last."""
    by_name = {_variant_name(variant): variant for variant in listed}
    found = [mention.name for remark in remarks for mention in mentions(remark, by_name)]
    return by_name[found[-1]] if found else None


def _variant_name(variant: Product) -> str:
    return normal_name(" ".join(map(str, variant["attributes"].values())))
