"""Filling the cart: which products are named, in which variant and how many, and what to take where one is gone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.agents.scripted.errand import ANYTHING_ELSE, Errand, call
from ecomrlve.agents.scripted.naming import Mention, mentions
from ecomrlve.agents.scripted.reading import NUMBER_WORDS, SOLD_OUT, normal_name, sentences
from ecomrlve.agents.scripted.shelf import Shelf
from ecomrlve.agents.scripted.wishes import TAKEN_BACK, Wishes
from ecomrlve.protocol import Observation

QUESTION = f"Which version of each would you like, which model exactly, and how many of each? {ANYTHING_ELSE}"
MOST_HISTORY = 100

_COUNT = rf"(\d{{1,2}}|{'|'.join(NUMBER_WORDS)})"
_COUNT_BEFORE = re.compile(rf" {_COUNT} (?:x )?(?:of )?(?:the )?$")
_COUNT_AFTER = re.compile(rf" quantity {_COUNT} |(?<! of) {_COUNT} (?:pieces?|of (?:them|those|these|it)) ")
_GONE = re.compile(rf" {SOLD_OUT} ")
_LEFT_OUT = re.compile(r" (?:leave|skip|drop|forget|bother) ")
_THAT_IS = re.compile(r"^.* thats .*? (?=but |i (?:need|want))")  # "that's the large one, but I need …"


@dataclass(slots=True)
class Item:
    """A product that was named.

    Attributes:
        title: Its normal title.
        said: What was said of it, oldest first.
        count: How many are wanted.
        dropped: It is gone, and nothing is wanted instead.
        instead: What is wanted instead, since it is gone.
    """

    title: str
    said: list[str] = field(default_factory=list)
    count: int = 1
    dropped: bool = False
    instead: Item | None = None


class CartErrand(Errand):
    """Reads the visit history, asks, reads variants, fills the cart and looks at what the customer says to it."""

    def act(self, observation: Observation) -> dict[str, Any]:
        """The next step towards the cart that was asked for."""
        if self.turn == 0:
            look = call("user_get_visit_history", limit=MOST_HISTORY)
            return {"assistant_message": QUESTION, "tool_calls": [look]}
        self.speller.learn_of(self.memory.hits.values(), titles=True)
        for variants in self.memory.variants.values():
            self.speller.learn(map(_variant_name, variants))
        wanted, to_read = self._wanted()
        calls = [call("catalog_get_variants", product_id=product) for product in to_read]
        ready = self.last(observation) or (self.told(observation) and not calls)
        calls += self._changes(wanted) if ready else []
        if self.last(observation) or (ready and not calls):
            return {"tool_calls": calls, "answer": {"done": True}}
        return {"assistant_message": QUESTION, "tool_calls": calls}

    def items(self) -> list[Item]:
        """What was named in all that the customer said, with what was said of each."""
        titles = {normal_name(hit["title"]) for hit in self.memory.hits.values()}
        items: dict[str, Item] = {}
        for sentence in sentences("".join(self.texts)):
            named = mentions(sentence, titles)
            if not named and len(items) == 1:
                named = [Mention(next(iter(items)), 0, 0)]
            for mention in named:
                items.setdefault(mention.name, Item(mention.name))
            if _GONE.search(sentence):
                _hear_fallback(sentence, named, items)
                continue
            ends = [*(mention.start for mention in named[1:]), len(sentence)]
            for mention, end in zip(named, ends, strict=False):
                before, after = sentence[: mention.start], TAKEN_BACK.sub(" ", f" {sentence[mention.end : end]} ")
                count = _COUNT_BEFORE.search(before) or _COUNT_AFTER.search(after)
                item = items[mention.name]
                if count:
                    word = next(filter(None, count.groups()))
                    item.count = max(1, NUMBER_WORDS[word] if word in NUMBER_WORDS else int(word))
                item.said.append(after)
        return [item for item in items.values() if item.said]

    def _wanted(self) -> tuple[dict[tuple[str, str | None], int], list[str]]:
        """The cart as it should be, and the products whose variants must be read first."""
        wanted: dict[tuple[str, str | None], int] = {}
        to_read: list[str] = []
        for item in [item for item in self.items() if not item.dropped]:
            chosen = item.instead or item
            product = self._product(chosen)
            several = self.memory.hits[product].get("has_variants")
            if several and product not in self.memory.variants:
                to_read.append(product)
                continue
            line = product, self._variant(chosen, product) if several else None
            wanted[line] = wanted.get(line, 0) + item.count
        return wanted, to_read

    def _product(self, item: Item) -> str:
        """The product of an item's title; of several, the one that fits best what was said."""
        alike = [hit for hit in self.memory.hits.values() if normal_name(hit["title"]) == item.title]
        wishes, shelf = Wishes(), Shelf(alike)
        for text in item.said if len(alike) > 1 else ():
            wishes.hear(text, shelf)
        return str(max(alike, key=wishes.fit)["id"])

    def _variant(self, item: Item, product: str) -> str:
        """The variant that was named last; else the first in stock."""
        variants = self.memory.variants[product]
        names = {_variant_name(variant): variant["variant_id"] for variant in variants}
        for text in reversed(item.said):
            named = mentions(_THAT_IS.sub(" ", text), names)
            if named:
                return str(names[named[-1].name])
        return str(max(variants, key=lambda variant: variant["stock"] > 0)["variant_id"])

    def _changes(self, wanted: dict[tuple[str, str | None], int]) -> list[dict[str, Any]]:
        """The calls that make the cart what it should be."""
        cart = self.memory.cart
        calls = [call("cart_remove", **_line(*line)) for line in cart if line not in wanted]
        for line, count in wanted.items():
            if cart.get(line) != count:
                calls.append(call("cart_update" if line in cart else "cart_add", **_line(*line), qty=count))
        return calls


def _hear_fallback(sentence: str, named: list[Mention], items: dict[str, Item]) -> None:
    """What to do where an item is gone: the one that is named last before that is said."""
    gone = _GONE.search(sentence)
    before = [mention for mention in named if gone and mention.end <= gone.end()]
    if not before:
        return
    item = items[before[-1].name]
    others = [mention for mention in named if mention is not before[-1]]
    if others:
        item.instead = Item(others[0].name, [f" {sentence[others[0].end :]}"])
    elif _LEFT_OUT.search(sentence):
        item.dropped = True
    else:
        item.instead = Item(item.title, [*item.said, sentence])


def _line(product: str, variant: str | None) -> dict[str, Any]:
    return {"product_id": product} | ({"variant_id": variant} if variant else {})


def _variant_name(variant: dict[str, Any]) -> str:
    return normal_name(" ".join(map(str, variant["attributes"].values())))
