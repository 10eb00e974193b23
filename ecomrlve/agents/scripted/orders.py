"""Telling one order, or one line of it, by what the customer says of it: id, dates, money, products."""

from __future__ import annotations

import re
from typing import Any

from ecomrlve.agents.scripted.errand import ANYTHING_ELSE, Errand, call
from ecomrlve.agents.scripted.naming import mentions, types_named
from ecomrlve.agents.scripted.reading import NUMBER_WORDS, amounts, ids_in, normal_name
from ecomrlve.agents.scripted.shelf import Shelf
from ecomrlve.agents.scripted.wishes import Wishes
from ecomrlve.customer.dates import dates_in
from ecomrlve.protocol import Observation

ORDER_QUESTION = (
    "Which order is it: do you know its number, what was in it, when you ordered it, when it was delivered, how many "
    "you bought and what you paid in total?"
)
ANY_ID, ANY_FACT = 100, 10  # an id says more than all else, a date, a sum or a title more than what a product is like
LETTERS_BEFORE = 40  # in front of a date, where it is said what happened then

_ARRIVED = re.compile(r"deliver|arriv|receiv|came|parcel")
_COUNT = re.compile(r" (\w+) of them ")
_WHEN = re.compile(r" when (?:\w+ ){0,6}(?:arrive|here|delivered|get it) | expect it ")

Choice = tuple[dict[str, Any], dict[str, Any]]


class OrderErrand(Errand):
    """Reads the account's orders and scores their lines by what was said."""

    def about_it(self, text: str) -> str:
        """The part of a normal text that is about the order, and not about what the customer wants next."""
        return text

    def choices(self) -> list[Choice]:
        """All (order, line) pairs seen, those that fit best what was said in front."""
        pairs = [(order, line) for order in self.memory.orders.values() for line in order["lines"]]
        lines = [line for _, line in pairs]
        self.speller.learn_of(lines, titles=True)
        raw = " ".join(self.heard)
        said = "".join(map(self.about_it, self.texts))
        ids = ids_in(raw, self.memory.orders)
        days = [(found.day, raw[max(0, found.start - LETTERS_BEFORE) : found.start].lower()) for found in dates_in(raw)]
        types = types_named(said, dict.fromkeys(line["type"] for line in lines))
        titles = [mention.name for mention in mentions(said, {normal_name(line["title"]) for line in lines})]
        facts: dict[str, set[Any]] = {
            "placed": {day for day, before in days if not _ARRIVED.search(before)},
            "delivered": {day for day, before in days if _ARRIVED.search(before)},
            "money": {amount.number for amount in amounts(said) if amount.unit == "$"},
            "count": {str(NUMBER_WORDS.get(word, word)) for word in _COUNT.findall(said)},
        }
        wishes = Wishes()
        wishes.hear(said, Shelf(line for line in lines if line["type"] in types), (*types, *titles))

        def fit(order: dict[str, Any], line: dict[str, Any]) -> int:
            true = [
                order["placed"] in facts["placed"], order.get("delivered") in facts["delivered"],
                order["total"] in facts["money"], line["price"] in facts["money"], str(line["qty"]) in facts["count"],
                line["type"] in types, normal_name(line["title"]) in titles,
            ]  # fmt: skip
            return ANY_ID * (order["order_id"] in ids) + ANY_FACT * sum(true) + wishes.fit(line)

        return sorted(pairs, key=lambda pair: -fit(*pair))


class StatusErrand(OrderErrand):
    """Finds the order that is meant and tells what has become of it."""

    def act(self, observation: Observation) -> dict[str, Any]:
        """Read and ask until all is told; then look the order up and answer."""
        calls = self.reading_orders(observation.tool_budget)
        choices = self.choices()
        order = choices[0][0] if choices else {"order_id": "", "status": ""}
        tracked = self.memory.tracked.get(order["order_id"], {})
        if self.last(observation) or (self.told(observation) and tracked):
            answer = {"selected_order_id": order["order_id"], "order_status": order["status"]}
            if tracked.get("eta") and any(map(_WHEN.search, self.texts)):
                answer["eta"] = tracked["eta"]
            return {"answer": answer}
        if choices and not calls:
            calls = [call("order_track", order_id=order["order_id"])]
        question = f"{ORDER_QUESTION} Would you like to know when it arrives? {ANYTHING_ELSE}"
        return {"assistant_message": question, "tool_calls": calls}
