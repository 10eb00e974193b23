"""Recommending products: what fits the customer's wishes, or what comes closest to a product that is sold out."""

from __future__ import annotations

import re
from typing import Any

from ecomrlve.agents.memory import Memory, value_of
from ecomrlve.agents.scripted.errand import Errand, call
from ecomrlve.agents.scripted.naming import mentions
from ecomrlve.agents.scripted.reading import Speller, normal_name, sentences
from ecomrlve.agents.scripted.shelf import Shelf
from ecomrlve.agents.scripted.wishes import Wishes
from ecomrlve.protocol import Observation

_ABOUT_ORIGINAL = re.compile(r" (?:i mean|i meant|i wanted|which one is sold out) ")


class Discovery(Errand):
    """Finds the type, looks at all its products in stock until none of them is new, and recommends the best."""

    def __init__(self, memory: Memory, speller: Speller):
        super().__init__(memory, speller)
        self.kind = ""
        self._look: dict[str, Any] | None = None  # the last look at all there is
        self._page: list[dict[str, Any]] = []  # what it brought

    def act(self, observation: Observation) -> dict[str, Any]:
        """Ask and look; answer once all is told and nothing new came."""
        came = [
            message["result"].get("results", [])
            for message in observation.messages
            if self._look and message.get("args") == self._look["args"]
        ]
        if came:
            self._page = came[-1]
        if self.turn and not self.kind:
            self._find_subject()
        fitting = self._fitting() if self.kind else []
        known = all(self.memory.first_seen[hit["id"]] < observation.turn for hit in fitting)
        if self.last(observation) or (self.told(observation) and came and known):
            chosen = [hit["id"] for hit in fitting[: observation.list_size]]
            return {"answer": {"recommended_product_ids": chosen}}
        self._look = self._next_look(observation) if self.kind else None
        looks = [self._look] if self._look else self.look_around(observation)
        return {"assistant_message": self.question(self.kind), "tool_calls": looks}

    def _find_subject(self) -> None:
        """Find the type that is named; where several are, the one that the search found most of."""
        found = [hit["type"] for hit in self.memory.hits.values()]
        self.kind = max(self.types() or found, key=lambda kind: (len(kind.split()), found.count(kind)), default="")

    def _next_look(self, observation: Observation) -> dict[str, Any]:
        filters = {"type": self.kind, "in_stock": True}
        return call("catalog_search", query=self.kind, filters=filters, limit=observation.search_depth)

    def _fitting(self) -> list[dict[str, Any]]:
        """What fits of the last look, best first."""
        wishes = Wishes()
        for text in self.texts:
            wishes.hear(text, self.shelf_of(self.kind), (normal_name(self.kind),))
        return wishes.best_first(wishes.fitting(hit for hit in self._page if hit["type"] == self.kind))


class Substitution(Discovery):
    """The same by similarity: the product that is sold out is found by its title, and what resembles it is listed."""

    original: dict[str, Any]

    def _find_subject(self) -> None:
        """Find the product that is named; of several with its title, the one that fits what is said of it."""
        hits = self.memory.hits.values()
        self.speller.learn_of(hits, titles=True)
        said = "".join(self.texts)
        titles = [mention.name for mention in mentions(said, {normal_name(hit["title"]) for hit in hits})]
        alike = [hit for hit in hits if normal_name(hit["title"]) in titles[:1]]
        about, shelf = Wishes(), Shelf(alike)
        for sentence in filter(_ABOUT_ORIGINAL.search, sentences(said)):
            about.hear(sentence, shelf, titles[:1])
        if alike:
            self.original = max(alike, key=about.fit)
            self.kind = self.original["type"]

    def _next_look(self, observation: Observation) -> dict[str, Any]:
        like, filters = self.original["id"], {"in_stock": True}
        return call("catalog_similar", product_id=like, filters=filters, limit=observation.search_depth)

    def _fitting(self) -> list[dict[str, Any]]:
        """What fits of the last look and is compatible, most similar first."""
        wishes, title = Wishes(), normal_name(self.original["title"])
        for text in self.texts:
            wanted = [sentence for sentence in sentences(text) if not _ABOUT_ORIGINAL.search(sentence)]
            wishes.hear(" . ".join(wanted), self.shelf_of(self.kind), (title,))
        same = self.memory.compatible_by.get(self.original["id"])
        fitting = wishes.fitting(
            hit
            for hit in self._page
            if hit["type"] == self.kind and (same is None or value_of(hit, same) == value_of(self.original, same))
        )
        return sorted(fitting, key=lambda hit: -hit["similarity"])
