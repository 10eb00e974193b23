"""The brief plan of E_RETURN: read few delivered orders, let the shop check the line, act, and answer.

The policy and the profile are read only where the shop refuses the line, for the last day on which it would not have.
What may replace the product is searched for in short pages, as in E_PD.
"""

from __future__ import annotations

import datetime
from typing import Any

from ecomrlve.agents.brief_discovery import SHORT_TALK, OpenQuestion, result_of, search_for
from ecomrlve.agents.brief_status import OrderPages
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import Said, call, meets
from ecomrlve.agents.plans.discovery import best_first
from ecomrlve.agents.plans.returns import ReturnPlan
from ecomrlve.protocol import Observation

SLOWEST = 10  # days from an order to its delivery, at most
SHOWN = 2  # hits of a look at what may replace the product

Line = tuple[dict[str, Any], dict[str, Any]]


class BriefReturnPlan(ReturnPlan):
    """Plays an E_RETURN intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._question = OpenQuestion()
        self._orders = OrderPages(status="delivered")
        self._turns = 0  # that the customer has for it
        self._hits: list[dict[str, Any]] = []  # what the last search for a replacement showed
        self._search: dict[str, Any] | None = None
        self._searched_at = -1

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Find the line, have it checked, look at what may replace it; act and answer once all is known."""
        self._turns = self._turns or observation.intent_turns_left
        self._question.hear(view)
        self._orders.take_in(observation)
        kind = str(view.value("sendback"))
        facts = view.of_kind("reference")
        fitting = self.reader.lines(kind, facts) if facts else []
        found = fitting[0] if len(fitting) == 1 else None
        told = self._question.over or observation.intent_turns_left <= 2
        # Where several lines fit, more must be said of it rather than read.
        calls = self._line_calls(found, view) if found else self._order_calls(view) if not fitting else []
        best, looks = self._replacement(observation, view, kind, found)
        calls += looks
        if self.last(observation) or (found and told and not calls):
            return self._end(view, found, best) if found else {"answer": {}}
        action: dict[str, Any] = {"tool_calls": calls[: observation.tool_budget]} if calls else {}
        if not calls or not self._question.over:
            action["assistant_message"] = self._question.ask()
        return action

    def _order_calls(self, view: Said) -> list[dict[str, Any]]:
        """The next page of orders; who names no day is asked once before, for a day makes the list shorter."""
        facts = {slot["attribute"]: slot["value"] for slot in view.of_kind("reference")}
        since = _since(facts)
        wait = since is None and self.turn == 0 and self._turns > SHORT_TALK
        return [] if wait or not facts else self._orders.next(since)

    def _line_calls(self, found: Line, view: Said) -> list[dict[str, Any]]:
        """What is still to be read of a line: whether it may go back, and if not, until when it might have."""
        checked = self._checked(found)
        if checked is None:
            order, line = found
            return [call("return_check_eligibility", order_id=order["order_id"], line_id=line["line_id"])]
        return [] if view.value("reason") in (None, *checked["reasons"]) else self._policy_calls()

    def _checked(self, found: Line) -> dict[str, Any] | None:
        order, line = found
        return self.memory.checked.get((order["order_id"], line["line_id"]))

    def _replacement(
        self, observation: Observation, view: Said, kind: str, found: Line | None
    ) -> tuple[str | None, list[dict[str, Any]]]:
        """The best replacement as far as it is known, and the next look at what it may be."""
        if view.value("wish", "refund") == "refund" or self._refused(found, view):
            return None, []
        search = search_for(kind, view, self.memory.customer, SHOWN)
        page = result_of(observation, search)
        if page is not None:
            self._hits, self._search, self._searched_at = page["results"], search, observation.turn
        own = found[1]["product_id"] if found else ""
        hits = [
            hit
            for hit in self._hits
            if hit["type"] == kind and hit["stock"] > 0 and hit["id"] != own and meets(hit, view.of_kind("constraint"))
        ]
        best = next(iter(best_first(hits, view, 1)), None)
        sure = best is not None and (self._turns <= SHORT_TALK or self.memory.first_seen[best] < self._searched_at)
        if self._search != search or not sure:
            soon = self._turns <= SHORT_TALK or observation.intent_turns_left < SHORT_TALK
            return best, [search] if soon or self._question.over else []
        if view.value("wish") == "exchange" and not self._variant(best)[0]:
            return best, [call("catalog_get_variants", product_id=best)]
        return best, []

    def _refused(self, found: Line | None, view: Said) -> bool:
        """Whether the line is to be exchanged and may not go back, so that nothing replaces it."""
        checked = self._checked(found) if found else None
        refused = checked is not None and view.value("reason") not in checked["reasons"]
        return refused and view.value("wish") == "exchange"

    def _end(self, view: Said, found: Line, best: str | None) -> dict[str, Any]:
        """Act as the customer wants it and the shop allows, and answer; what was not checked may be allowed."""
        checked, reason = self._checked(found), str(view.value("reason"))
        eligible = checked is None or reason in checked["reasons"]
        ready, variant = self._variant(best)
        if eligible and view.value("wish") == "exchange" and not ready:
            order, line = found
            return {"answer": {"selected_order_id": order["order_id"], "selected_line_id": line["line_id"]}}
        read = not self._policy_calls()
        last_day = self._last_day(*found, reason) if read and not eligible else ""
        return self._finish(view, *found, eligible, last_day, best, variant)


def _since(facts: dict[str, Any]) -> str | None:
    """A day that the order was not placed before."""
    if "ordered_on" in facts:
        return str(facts["ordered_on"])
    if "delivered_on" in facts:
        return (datetime.date.fromisoformat(facts["delivered_on"]) - datetime.timedelta(days=SLOWEST)).isoformat()
    return None
