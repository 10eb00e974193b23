"""The brief plan of E_STATUS: track the order that is named; else read as few of the account's orders as will do.

A page of orders is long. Who knows the day of an order asks for those from that day on and finds it at their end; so
where there may be many, a later page is read first, which is short or empty.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.brief_discovery import LONG_TALK, OpenQuestion
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan, Said, call
from ecomrlve.agents.plans.orders import OrderReader
from ecomrlve.protocol import Observation


class OrderPages:
    """Reads pages of orders, one at a time.

    Args:
        filters: Further filters of order_list.
    """

    def __init__(self, **filters: Any) -> None:
        self._filters = filters
        self._since: str | None = None
        self._read: dict[int, bool] = {}  # page → whether more follows

    def take_in(self, observation: Observation) -> None:
        """Note which pages of the list came."""
        for message in observation.messages:
            page = message["result"] if message["role"] == "tool" and message["name"] == "order_list" else {}
            if "page" in page and message["args"] == self._args(page["page"]):
                self._read[page["page"]] = page["more"]

    def next(self, since: str | None, first: int = 1) -> list[dict[str, Any]]:
        """The next page of orders placed since a day; none where all were read.

        Args:
            since: A day that the order was not placed before, as YYYY-MM-DD; None where none is known.
            first: The page to begin with.
        """
        if since != self._since:
            self._since, self._read = since, {}
        page = self._next_page() if self._read else first
        return [call("order_list", **self._args(page))] if page else []

    def _next_page(self) -> int:
        last = max(self._read)
        if self._read[last]:
            return last + 1
        return next((page for page in range(last, 0, -1) if page not in self._read), 0)

    def _args(self, page: int) -> dict[str, Any]:
        days = {"since": self._since} if self._since else {}
        return self._filters | days | ({"page": page} if page > 1 else {})


class BriefStatusPlan(IntentPlan):
    """Plays an E_STATUS intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self._reader = OrderReader(memory)
        self._pages = OrderPages()
        self._question = OpenQuestion()
        self._turns = 0  # that the customer has for it

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Track the order once it is known, and answer; find it before."""
        self._turns = self._turns or observation.intent_turns_left
        self._question.hear(view)
        self._pages.take_in(observation)
        facts = {slot["attribute"]: slot["value"] for slot in view.of_kind("reference")}
        named = facts.get("order_id") or self._found(view)
        tracked = self.memory.tracked.get(named or "")
        if tracked or (named in self.memory.orders and not view.value("eta", False)) or self.last(observation):
            return {"answer": self._answer(named)}
        if named:
            calls = [call("order_track", order_id=named)]
        elif "ordered_on" in facts or self._question.over or observation.intent_turns_left <= 2:
            day = facts.get("ordered_on")
            calls = self._pages.next(day, first=2 if day and self._turns >= LONG_TALK else 1)
        else:
            calls = []
        action: dict[str, Any] = {"tool_calls": calls} if calls else {}
        if not calls or not self._question.over:
            action["assistant_message"] = self._question.ask()
        return action

    def _found(self, view: Said) -> str | None:
        """The one order among those read that all said facts fit."""
        facts = view.of_kind("reference")
        fitting = self._reader.orders(facts) if facts else []
        return str(fitting[0]["order_id"]) if len(fitting) == 1 else None

    def _answer(self, named: str | None) -> dict[str, Any]:
        order = self.memory.tracked.get(named or "") or self.memory.orders.get(named or "")
        if order is None:
            return {"selected_order_id": named or ""}
        answer = {"selected_order_id": order["order_id"], "order_status": order["status"]}
        return answer | ({"eta": order["eta"]} if order.get("eta") else {})
