"""The reference plan of E_BUNDLE: look at everything, ask meanwhile, look again at what is left, compute the basket."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ecomrlve.agents.memory import Memory, value_of
from ecomrlve.agents.plans.base import IntentPlan, Said, call, meets
from ecomrlve.agents.plans.bundle_parts import MOST_READ, PartLooks
from ecomrlve.protocol import Observation

QUESTIONS = (
    "What is your budget, how much may all of it cost together?",
    "Do any of these have to match or go together?",
    "What do you want in terms of price, rating, brand, delivery time, color, size, material, style, weight, capacity "
    "and power?",
)
ANYTHING_ELSE = "Is there anything else I should know?"
MOST_LOOKS_AGAIN = 2  # turns: a customer to whom three turns bring nothing new leaves


class BundlePlan(IntentPlan):
    """Plays an E_BUNDLE intent.

    The first look reads all products of the parts' types, page by page; what is fated to sell out has done so by its
    end. The second look reads what is still in stock, and lasts. Other types are noise of the search. Where there is
    too much to read, it looks part by part instead.
    """

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._again = False  # which look is under way
        self._page = 1  # the next page of it
        self._asked = 0  # pages asked for in the last turn of this plan
        self._asked_at = -1  # and when that was
        self._began_at = -1  # when the second look began
        self._turns_again = 0
        self._pages_before: int | None = None  # pages that the first look took
        self._left: dict[str, dict[str, Any]] = {}
        self._complete = False  # the second look showed all that is left
        self._looked = False  # there will be no further look
        self._parts: PartLooks | None = None  # how to look where there is too much to read

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Look, ask, and answer once everything is said and everything was looked at twice."""
        kinds = [slot["value"] for slot in view.of_kind("part")]
        self._take_in(kinds, observation)
        if self.last(observation) or (self._looked and self.told(observation)):
            return {"answer": {"recommended_product_ids": self._answer(kinds, view)}}
        if self._parts is not None:
            told = self.told(observation)
            calls = self._parts.calls(view, observation, told)
            idle = self._parts.idle(len(self.memory.hits), len(view.slots))
            if told and (not calls or idle >= MOST_LOOKS_AGAIN):
                return {"answer": {"recommended_product_ids": self._answer(kinds, view)}}
        else:
            calls = [] if self._looked else self._look(kinds, observation)
        return {"assistant_message": self._question(kinds), "tool_calls": calls}

    def _look(self, kinds: Sequence[str], observation: Observation) -> list[dict[str, Any]]:
        """The next pages of the look that is under way, as many as one turn may hold."""
        filters: dict[str, Any] = {"type": {"in": list(kinds)}}
        if self._again:
            filters["in_stock"] = True
            self._turns_again += 1
            self._began_at = observation.turn if self._began_at < 0 else self._began_at
        self._asked, self._asked_at = observation.tool_budget, observation.turn
        if self._again and self._pages_before is not None:
            self._asked = max(1, min(self._asked, self._pages_before + 1 - self._page))
        search = {"query": " ".join(kinds), "filters": filters, "limit": observation.search_depth}
        return [call("catalog_search", **search, page=self._page + number) for number in range(self._asked)]

    def _take_in(self, kinds: Sequence[str], observation: Observation) -> None:
        """Note the pages that came, and whether the look is over."""
        asked, self._asked = self._asked, 0
        if not asked:
            return
        if observation.turn != self._asked_at + 1:
            # Another intent came in between and got the pages. They are seen, so it remains to look at what is left.
            self._look_again()
            return
        results = [message["result"] for message in observation.messages if message["role"] == "tool"]
        pages = [result for result in results if "results" in result]
        self._page += asked
        over = bool(pages) and not pages[-1]["more"]
        asked_for = (self._page - 1) * observation.search_depth
        # A large shop's ranking ends after some pages though there is more.
        read = sum(hit["type"] in kinds for hit in self.memory.hits.values()) if over else asked_for
        if min(read, asked_for) >= MOST_READ * len(kinds):
            self._parts = PartLooks()
            return
        if not self._again:
            if over:
                self._pages_before = self._page - asked + [page["more"] for page in pages].index(False)
                self._look_again()
            return
        self._left.update((hit["id"], hit) for page in pages for hit in page["results"] if hit["type"] in kinds)
        known = all(self.memory.first_seen[identifier] <= self._began_at for identifier in self._left)
        self._complete = over and known
        self._looked = self._complete or self._turns_again >= MOST_LOOKS_AGAIN
        if over and not self._looked:
            self._look_again()

    def _look_again(self) -> None:
        """Start the second look, from its first page."""
        self._again, self._page, self._began_at = True, 1, -1
        self._left.clear()

    def _question(self, kinds: Sequence[str]) -> str:
        """Ask for the budget, for every attribute that the parts' products have, and for whatever else there is."""
        mine = [hit for hit in self.memory.hits.values() if hit["type"] in kinds]
        names = sorted({name.replace("_", " ") for hit in mine for name in hit["attributes"]})
        about = [f"Which {', '.join(names)} do you want?"] if names else []
        return " ".join([*QUESTIONS, *about, ANYTHING_ELSE])

    def _answer(self, kinds: Sequence[str], view: Said) -> list[str]:
        """The cheapest basket of what was in stock when last seen."""
        hits = self._left if self._complete else self.memory.hits
        constraints = view.of_kind("constraint")
        fitting: dict[str, list[Mapping[str, Any]]] = {}
        for part in view.of_kind("part"):
            mine = [slot for slot in constraints if slot["item"] == part["item"]]
            fitting[part["value"]] = [
                hit for hit in hits.values() if hit["type"] == part["value"] and hit["stock"] > 0 and meets(hit, mine)
            ]
        chosen = {kind: min(options, key=_price) for kind, options in fitting.items() if options}
        for tie in view.of_kind("tie"):
            first, second = tie["value"]
            pairs = [
                (one, other)
                for one in fitting.get(first, ())
                for other in fitting.get(second, ())
                if _same(one, other, tie["attribute"])
            ]
            if pairs:
                chosen[first], chosen[second] = min(pairs, key=lambda pair: math.fsum(map(_price, pair)))
        return [chosen[kind]["id"] for kind in kinds if kind in chosen]


def _price(hit: Mapping[str, Any]) -> float:
    return float(hit["price"])


def _same(one: Mapping[str, Any], other: Mapping[str, Any], attribute: str) -> bool:
    value = value_of(dict(one), attribute)
    return value is not None and value == value_of(dict(other), attribute)
