"""Reading the account's orders, as the plans of E_STATUS, E_RETURN and E_POLICY do."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory, satisfies
from ecomrlve.agents.plans.base import call

ORDER_QUESTION = (
    "Which order is it: do you have the order number, what did you buy, when did you order it, when was it delivered, "
    "how many did you buy and what did you pay in total? "
)


class OrderReader:
    """Lists the orders page by page, until there are no more.

    Args:
        memory: Where what was read is kept.
    """

    def __init__(self, memory: Memory):
        self.memory = memory

    @property
    def finished(self) -> bool:
        """Whether the last page was read."""
        return self.memory.orders_finished

    def calls(self, most: int) -> list[dict[str, Any]]:
        """The next calls of order_list, at most so many; nothing is asked for twice."""
        if self.finished:
            return []
        first = self.memory.order_pages + 1
        return [call("order_list", page=page) for page in range(first, first + most)]

    def orders(self, facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The orders that fit reference slots about orders."""
        return [order for order in self.memory.orders.values() if all(_order_fits(order, fact) for fact in facts)]

    def lines(self, kind: str, facts: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The (order, line) pairs of a product type that fit reference slots about lines."""
        return [
            (order, line)
            for order in self.memory.orders.values()
            for line in order["lines"]
            if line["type"].casefold() == kind.casefold() and all(_line_fits(order, line, fact) for fact in facts)
        ]


def order_case(order: dict[str, Any]) -> dict[str, Any]:
    """What the rules of a help page can test of an order."""
    return {
        "order_total": order["total"],
        "payment": order["payment"],
        "channel": order["channel"],
        "quantity": sum(line["qty"] for line in order["lines"]),
    }


def _order_fits(order: dict[str, Any], fact: dict[str, Any]) -> bool:
    name, value = fact["attribute"], fact["value"]
    if name == "bought":
        return any(line["type"] == value for line in order["lines"])
    own = {"order_id": order["order_id"], "ordered_on": order["placed"], "order_total": order["total"]}
    return own.get(name, order.get("delivered")) == value


def _line_fits(order: dict[str, Any], line: dict[str, Any], fact: dict[str, Any]) -> bool:
    name, value = fact["attribute"], fact["value"]
    own = {
        "ordered_on": order["placed"], "delivered_on": order.get("delivered"), "paid": line["price"],
        "quantity": line["qty"], "bought": line["title"], "order_id": order["order_id"],
    }  # fmt: skip
    return own[name] == value if name in own else satisfies(line, name, "eq", value)
