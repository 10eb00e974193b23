"""The brief plan of E_SUB: find the product by one search for one hit, list a few that resemble it, twice, and answer.

The list tells in which attribute a substitute must be equal; from then on that is a filter like the others.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.brief_discovery import (
    SHORT_TALK,
    OpenQuestion,
    lasting,
    page_for,
    result_of,
    short_filters,
)
from ecomrlve.agents.brief_words import as_written
from ecomrlve.agents.memory import Memory, value_of
from ecomrlve.agents.plans.base import MESSAGES_BEFORE_ANSWERING, Said, call, meets
from ecomrlve.agents.plans.substitution import SubstitutionPlan
from ecomrlve.protocol import Observation

MOST_PAGES = 3  # a distractor may stand in front of what is meant


class BriefSubstitutionPlan(SubstitutionPlan):
    """Plays an E_SUB intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._question = OpenQuestion()
        self._turns = 0  # that the customer has for it
        self._pages: dict[str, int] = {}  # marks of the product → pages read in search of it
        self._listing: dict[str, Any] | None = None  # the last list that was asked for
        self._listed_for: list[dict[str, Any]] = []  # and the requirements at that time

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Find the product, list what resembles it until nothing new shows, and answer."""
        self._turns = self._turns or observation.intent_turns_left
        self._question.hear(view)
        original = self._original(view)
        best = self._best(original, observation, view) if original else None
        if best is not None or self.last(observation):
            return {"answer": {"recommended_product_ids": best or []}}
        calls = []
        if original is None:
            calls = self._search(view)
        elif self._question.over or observation.intent_turns_left < SHORT_TALK:
            calls = [self._list(original, observation, view)]
        action: dict[str, Any] = {"tool_calls": calls} if calls else {}
        # A change of mind comes with the reply to the second message, also when all else was said.
        if not calls or not self._question.over or self.messages < MESSAGES_BEFORE_ANSWERING:
            action["assistant_message"] = self._question.ask()
        return action

    def _search(self, view: Said) -> list[dict[str, Any]]:
        """The search for the product: one hit, and the next one if that was something else."""
        marks = short_filters(view.of_kind("identify"))
        page = self._pages[str(marks)] = self._pages.get(str(marks), 0) + 1
        if page > MOST_PAGES:
            return []
        args: dict[str, Any] = {"query": as_written(str(view.value("original")), self.memory.customer)}
        if marks:
            args["filters"] = marks
        args["limit"] = 1
        if page > 1:
            args["page"] = page
        return [call("catalog_search", **args)]

    def _list(self, original: dict[str, Any], observation: Observation, view: Said) -> dict[str, Any]:
        """The list of what resembles the product, as far as it is known what a substitute must be like."""
        rules = view.of_kind("constraint")
        shared = self.memory.compatible_by.get(original["id"])
        same = {shared: value_of(original, shared)} if shared and value_of(original, shared) is not None else {}
        self._listed_for = rules
        filters = short_filters(rules) | same | {"in_stock": True}
        limit = page_for(observation.list_size)
        self._listing = call("catalog_similar", product_id=original["id"], filters=filters, limit=limit)
        return self._listing

    def _best(self, original: dict[str, Any], observation: Observation, view: Said) -> list[str] | None:
        """The best substitutes, if the last list shows them and nothing better that may yet sell out."""
        rules, k = view.of_kind("constraint"), observation.list_size
        page = result_of(observation, self._listing) if self._listing and self._listed_for == rules else None
        if page is None:
            return None
        fitting = [hit for hit in page["results"] if self._suits(hit, original) and meets(hit, rules)]
        sure = fitting if self._turns <= SHORT_TALK else lasting(fitting, self.memory, observation)
        chosen = sure if len(sure) >= k else fitting
        doubtful = len(sure) < min(k, len(fitting)) or (len(fitting) < k and page["more"])
        if doubtful and not self.last(observation):
            return None
        ranked = sorted(chosen, key=lambda hit: -hit["similarity"])
        return [hit["id"] for hit in ranked[:k]]
