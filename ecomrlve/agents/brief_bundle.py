"""The brief plan of E_BUNDLE: for each part the cheapest product that fits, looked at twice, and an answer.

The cheapest basket is within any budget that can be met, so nothing has to be added up. Parts that must match are
chosen as the cheapest pair among a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.brief_discovery import LONG_TALK, SHORT_TALK, OpenQuestion, result_of, short_filters
from ecomrlve.agents.brief_words import as_written
from ecomrlve.agents.memory import Memory, value_of
from ecomrlve.agents.plans.base import MESSAGES_BEFORE_ANSWERING, IntentPlan, Said, call, meets
from ecomrlve.protocol import Observation

SHOWN_OF_TIED = 4  # hits of a look at a part that must match another


@dataclass(slots=True)
class Look:
    """What was last looked at for one part.

    Attributes:
        search: The call.
        hits: What it showed that fits; None until it came back.
        turn: When it came back.
        enough: How many hits to ask for the next time: up to the first that fits, and more where none did.
    """

    search: dict[str, Any]
    hits: list[dict[str, Any]] | None = None
    turn: int = 0
    enough: int = 1


class BriefBundlePlan(IntentPlan):
    """Plays an E_BUNDLE intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._question = OpenQuestion()
        self._turns = 0  # that the customer has for it
        self._looks: dict[str, Look] = {}  # type of the part → its last look

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Look at the parts until the cheapest that fits is known to last, for each of them; then answer."""
        self._turns = self._turns or observation.intent_turns_left
        self._question.hear(view)
        kinds = [str(slot["value"]) for slot in view.of_kind("part")]
        self._take_in(observation, view)
        open_parts = [kind for kind in kinds if not self._settled(kind, view)]
        if not open_parts or self.last(observation):
            return {"answer": {"recommended_product_ids": self._basket(kinds, view)}}
        worth = sorted(open_parts, key=lambda kind: kind in self._looks)  # what was never seen cannot have sold out
        if self._hear_on(observation, len(open_parts)):
            worth = [kind for kind in worth if self._rules(kind, view)]
        worth = [kind for kind in worth if not self._waits(kind, view)]
        calls = [self._look(kind, view) for kind in worth[: observation.tool_budget]]
        action: dict[str, Any] = {"tool_calls": calls} if calls else {}
        # A change of mind comes with the reply to the second message, also when all else was said.
        if not calls or not self._question.over or self.messages < MESSAGES_BEFORE_ANSWERING:
            action["assistant_message"] = self._question.ask()
        return action

    def _hear_on(self, observation: Observation, parts: int) -> bool:
        """Whether to wait for what else the customer says of parts of which it said nothing yet."""
        looks = 1 if self._turns <= SHORT_TALK else 2
        needed = -(-looks * parts // observation.tool_budget) + 1
        return not self._question.over and observation.intent_turns_left > needed

    def _rules(self, kind: str, view: Said) -> list[dict[str, Any]]:
        """What was said of the part of a type."""
        item = next(slot["item"] for slot in view.of_kind("part") if slot["value"] == kind)
        return [slot for slot in view.of_kind("constraint") if slot["item"] == item]

    def _look(self, kind: str, view: Said) -> dict[str, Any]:
        """The search for the cheapest products of a part."""
        filters = {"type": kind, **short_filters(self._rules(kind, view)), **self._match(kind, view), "in_stock": True}
        before = self._looks.get(kind)
        # Where much sells out, a first look shows the next best, too.
        again = before is not None and before.search["args"]["filters"] == filters
        limit = before.enough if before and again else 1 + (self._turns >= LONG_TALK)
        if self._tie(kind, view):
            limit = max(limit, SHOWN_OF_TIED if before is None else before.search["args"]["limit"] + 1)
        query = as_written(kind, self.memory.customer)
        search = call("catalog_search", query=query, filters=filters, sort="price_asc", limit=limit)
        self._looks[kind] = Look(search)
        return search

    def _tie(self, kind: str, view: Said) -> dict[str, Any] | None:
        """What was said of a match between the part and another."""
        return next((slot for slot in view.of_kind("tie") if kind in slot["value"]), None)

    def _waits(self, kind: str, view: Said) -> bool:
        """Whether it is the turn of the part that a part must match: the first one is looked at first."""
        tie = self._tie(kind, view)
        if tie is None:
            return False
        first, second = tie["value"]
        if kind == second:
            return not self._hits(first, view)
        return self._all_last(first, view) and not self._all_last(second, view)

    def _all_last(self, kind: str, view: Said) -> bool:
        hits = self._hits(kind, view)
        return bool(hits) and all(self._lasts(kind, hit) for hit in hits)

    def _match(self, kind: str, view: Said) -> dict[str, Any]:
        """The filter by which a part matches the one that was looked at before it."""
        tie = self._tie(kind, view)
        if tie is None or tie["value"][1] != kind:
            return {}
        values = {value_of(hit, tie["attribute"]) for hit in self._hits(tie["value"][0], view)} - {None}
        return {tie["attribute"]: sorted(values, key=str)} if values else {}

    def _take_in(self, observation: Observation, view: Said) -> None:
        """Keep what the last looks showed."""
        for kind, look in self._looks.items():
            page = result_of(observation, look.search)
            if page is None:
                continue
            rules, shown = self._rules(kind, view), page["results"]
            fits = [hit["type"] == kind and hit["stock"] > 0 and meets(hit, rules) for hit in shown]
            look.hits = [hit for hit, fit in zip(shown, fits, strict=True) if fit]
            look.turn = observation.turn
            look.enough = fits.index(True) + 1 if look.hits else len(shown) + 1

    def _hits(self, kind: str, view: Said) -> list[dict[str, Any]]:
        """What fits a part by all that was said of it, cheapest first."""
        look = self._looks.get(kind)
        if look is None or look.hits is None:
            return []
        rules = self._rules(kind, view)
        return [hit for hit in look.hits if meets(hit, rules)]

    def _lasts(self, kind: str, hit: dict[str, Any]) -> bool:
        """Whether a hit was seen before the look that showed it last: what is fated to sell out has done so by then."""
        return self._turns <= SHORT_TALK or self.memory.first_seen[hit["id"]] < self._looks[kind].turn

    def _settled(self, kind: str, view: Said) -> bool:
        """Whether the cheapest product of a part is known, and known to last."""
        tie = self._tie(kind, view)
        if tie is not None:
            return self._pair(tie, view) is not None
        hits = self._hits(kind, view)
        return bool(hits) and self._lasts(kind, hits[0])

    def _pair(self, tie: dict[str, Any], view: Said) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The cheapest pair that matches, of what lasts."""
        first, second = ([hit for hit in self._hits(kind, view) if self._lasts(kind, hit)] for kind in tie["value"])
        pairs = [
            (one, other)
            for one in first
            for other in second
            if value_of(one, tie["attribute"]) == value_of(other, tie["attribute"]) is not None
        ]
        return min(pairs, key=lambda pair: float(pair[0]["price"] + pair[1]["price"]), default=None)

    def _basket(self, kinds: list[str], view: Said) -> list[str]:
        """The cheapest of each part; of parts that must match, the cheapest pair."""
        chosen: dict[str, dict[str, Any]] = {}
        for kind in kinds:
            hits = sorted(self._hits(kind, view), key=lambda hit: not self._lasts(kind, hit))
            chosen.update((kind, hit) for hit in hits[:1])
        for tie in view.of_kind("tie"):
            pair = self._pair(tie, view)
            if pair is not None:
                chosen.update(zip(tie["value"], pair, strict=True))
        return [chosen[kind]["id"] for kind in kinds if kind in chosen]
