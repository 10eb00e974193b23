"""Planning a project: one product for each part, the cheapest that fits, parts that must match in one value."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

from ecomrlve.agents.memory import Memory, value_of
from ecomrlve.agents.scripted.errand import FEW, Errand, call
from ecomrlve.agents.scripted.naming import things, types_named
from ecomrlve.agents.scripted.reading import Speller, normal_name, sentences
from ecomrlve.agents.scripted.shelf import naming
from ecomrlve.agents.scripted.wishes import Wishes
from ecomrlve.protocol import Observation

LOOKS = 2  # at everything: what sells out does so after the first

_TOGETHER = re.compile(r" (?:same|match|matching) ")
_ALL_OF_IT = re.compile(r" (?:everything|altogether|total|together) ")


class BundleErrand(Errand):
    """Searches for the parts by the customer's words, looks at all products of their types, and takes the cheapest."""

    def __init__(self, memory: Memory, speller: Speller):
        super().__init__(memory, speller)
        self.parts: list[str] = []
        self._words: list[str] = []  # the customer's words for parts that are yet to be searched for
        self._left: dict[str, dict[str, Any]] = {}  # what the look under way has shown so far
        self._page = 1  # its next page
        self._looks = 0  # how many are over

    def act(self, observation: Observation) -> dict[str, Any]:
        """Look and ask; answer once all is told and all was looked at twice."""
        if self.turn == 0:
            self._words = things(self.heard[0]) or [self.heard[0]]
        elif not self._words:
            self.parts = self.parts or self.types()
        self._take_in(observation)
        if self.last(observation) or (self.told(observation) and self._looks >= LOOKS):
            return {"answer": {"recommended_product_ids": self._basket()}}
        question = f"What may all of it cost together? Must any of these match each other? {self.question(*self.parts)}"
        return {"assistant_message": question, "tool_calls": self._calls(observation)}

    def _calls(self, observation: Observation) -> list[dict[str, Any]]:
        """The next searches: for the parts one by one, then through all pages of their types."""
        budget = observation.tool_budget
        if not self.parts:
            words, self._words = self._words[:budget], self._words[budget:]
            return [call("catalog_search", query=query, limit=FEW) for query in words]
        pages = range(self._page, self._page + budget) if self._looks < LOOKS else ()
        self._page += len(pages)
        look: dict[str, Any] = {"query": " ".join(self.parts), "limit": observation.search_depth}
        look["filters"] = {"type": {"in": self.parts}, "in_stock": True}
        return [call("catalog_search", **look, page=page) for page in pages]

    def _take_in(self, observation: Observation) -> None:
        """Keep the pages that came; a look is over with the last of them."""
        pages = [
            message["result"]
            for message in observation.messages
            if "results" in message.get("result", {}) and "filters" in message["args"]
        ]
        if pages and pages[0]["page"] == 1:
            self._left.clear()
        self._left.update((hit["id"], hit) for page in pages for hit in page["results"])
        if pages and not pages[-1]["more"]:
            self._looks, self._page = self._looks + 1, 1

    def _heard(self) -> tuple[dict[str, Wishes], list[tuple[str, str, str]]]:
        """The wishes for each part, and which two parts must have the same of what."""
        wishes = {part: Wishes() for part in self.parts}
        shelves = {part: self.shelf_of(part) for part in self.parts}
        ties = []
        for sentence in sentences("".join(self.texts)):
            named = types_named(sentence, self.parts)
            if len(named) == 2 and _TOGETHER.search(sentence):
                shared = set.intersection(*({*self.of_type(part)[0]["attributes"]} for part in named))
                best = max(sorted(shared), key=lambda name: naming(name, sentence.split()), default="")
                ties.append((named[0], named[1], best))
            elif len(named) == 1 and not _ALL_OF_IT.search(sentence):
                wishes[named[0]].hear(sentence, shelves[named[0]], (normal_name(named[0]),))
        return wishes, ties

    def _basket(self) -> list[str]:
        """The cheapest product that fits for each part; two that must match are chosen together."""
        wishes, ties = self._heard()
        hits = list((self._left or self.memory.hits).values())
        fitting = {part: wishes[part].fitting(hit for hit in hits if hit["type"] == part) for part in self.parts}
        chosen = {part: min(options, key=_price) for part, options in fitting.items() if options}
        for one, other, name in ties:
            pairs = itertools.product(fitting[one], fitting[other])
            same = [(a, b) for a, b in pairs if value_of(a, name) == value_of(b, name)]
            if same:
                chosen[one], chosen[other] = min(same, key=lambda pair: _price(pair[0]) + _price(pair[1]))
        return [hit["id"] for hit in chosen.values()]


def _price(hit: dict[str, Any]) -> float:
    return float(hit.get("price", math.inf))
