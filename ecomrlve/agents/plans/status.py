"""The reference plan of E_STATUS: list the orders and ask, track the one that fits, answer."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan, Said, call
from ecomrlve.agents.plans.orders import ORDER_QUESTION, OrderReader
from ecomrlve.protocol import Observation

QUESTION = ORDER_QUESTION + "Would you like to know when it arrives? Is there anything else I should know?"


class StatusPlan(IntentPlan):
    """Plays an E_STATUS intent."""

    def __init__(self, memory: Memory):
        super().__init__(memory)
        self.reader = OrderReader(memory)

    def act(self, observation: Observation, view: Said) -> dict[str, Any]:
        """Read and ask until one order fits and all is said."""
        fitting = self.reader.orders(view.of_kind("reference"))
        settled = len(fitting) == 1 and self.reader.finished
        wants_eta = view.value("eta", False)
        told = view.complete or self.complete or observation.intent_turns_left <= 2
        if settled and told:
            order = fitting[0]
            tracked = self.memory.tracked.get(order["order_id"])
            if not wants_eta or tracked:
                answer = {"selected_order_id": order["order_id"], "order_status": order["status"]}
                if wants_eta and tracked:
                    answer["eta"] = tracked["eta"]
                return {"answer": answer}
        calls = self.reader.calls(observation.tool_budget)
        if len(fitting) == 1 and fitting[0]["order_id"] not in self.memory.tracked and self.reader.finished:
            calls.append(call("order_track", order_id=fitting[0]["order_id"]))
        return {"assistant_message": QUESTION, "tool_calls": calls[: observation.tool_budget]}
