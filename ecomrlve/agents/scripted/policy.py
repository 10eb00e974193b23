"""Questions about the shop's rules: the help page is found by the question, and read for the customer's case."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Any

from ecomrlve.agents.policy_reader import PolicyPage, UnreadablePage, answer_question, read_page
from ecomrlve.agents.scripted.errand import ANYTHING_ELSE, Errand, call
from ecomrlve.agents.scripted.reading import amounts, ids_in, normal_name
from ecomrlve.agents.scripted.returns import REASONS
from ecomrlve.protocol import Observation

QUESTION = (
    "Which order number is it about, if any? Which department is the item from, what is the reason, how much did you "
    "pay in total and for it, how many units, when did you buy it, how was it paid, where was it ordered, and was the "
    f"package opened? {ANYTHING_ELSE}"
)
FEWEST_WORDS = 5  # of a question about the rules; "how are you?" is none
CHANNELS = {"website": " website ", "app": " app ", "phone": " phone "}

_ASKED = re.compile(r".*\b((?:(?:after|within|for|in|from) )?(?:how|what|which|who)\b.*)", re.IGNORECASE)
_PART = re.compile(r"(?<=[.?!:]) ")
_ORDER_ID = re.compile(r"\bo[0-9a-z]{7}\b")


class PolicyErrand(Errand):
    """Finds the page, the profile and the order, asks for the rest, and works the answer out."""

    def act(self, observation: Observation) -> dict[str, Any]:
        """Read and ask until nothing is missing; then answer."""
        query = self._query()
        page = self.memory.found_first.get(query)
        calls = [] if page else [call("policy_search", query=query, limit=1)]
        calls += [] if self.memory.profile else [call("user_get_profile")]
        if any(map(_ORDER_ID.search, self.heard)):
            calls += self.reading_orders(max(1, observation.tool_budget - len(calls)))
        if self.last(observation) or (self.told(observation) and not calls):
            return {"answer": {"policy_answer": self._answer(page["text"], observation.today) if page else ""}}
        return {"assistant_message": QUESTION, "tool_calls": calls}

    def _query(self) -> str:
        """What the first message asks, as it came: from a word such as "how" to the end of the sentence."""
        asked = [match[1] for part in _PART.split(self.heard[0]) if (match := _ASKED.match(part))]
        return next((part for part in asked if len(part.split()) >= FEWEST_WORDS), self.heard[0])

    def _answer(self, text: str, today: str) -> str | float:
        """What the page says for the customer's case; where a fact is missing, what normally holds."""
        try:
            page = read_page(text)
        except UnreadablePage:
            return ""
        case = self._case(page, today)
        paid = case.get("amount", case.get("order_total"))
        try:
            value = answer_question(page, self._query().lower(), case, None if paid is None else Fraction(str(paid)))
        except (KeyError, ValueError):
            value = page.standard
        return value if isinstance(value, str) else float(value)

    def _case(self, page: PolicyPage, today: str) -> dict[str, Any]:
        """The facts of the case: those of the profile, of the order, and what the customer said."""
        tested: dict[str, list[str]] = {}  # attribute → the words that the page tests it for
        for rule in page.exceptions + page.adjustments:
            for condition in rule.conditions:
                if condition.values:
                    tested.setdefault(condition.attribute, []).extend(condition.values)
                    self.speller.learn(condition.values)
        said = "".join(self.texts).replace(self.speller.normal(self._query())[:-3], " ")
        case: dict[str, Any] = dict.fromkeys(tested, "something else") | (self.memory.profile or {})
        for order_id in ids_in(" ".join(self.heard), self.memory.orders):
            order = self.memory.orders[order_id]
            days = datetime.date.fromisoformat(today) - datetime.date.fromisoformat(order["placed"])
            case |= {
                "order_total": order["total"], "payment": order["payment"], "channel": order["channel"],
                "quantity": sum(line["qty"] for line in order["lines"]), "days_since_purchase": days.days,
            }  # fmt: skip
        for name, values in tested.items():
            named = [value for value in values if f" {normal_name(value)} " in said]
            case |= {name: max(named, key=len)} if named else {}
        for name, cues in (
            ("channel", CHANNELS.items()),
            ("reason", ((code, cue.pattern) for code, cue in REASONS.items())),
        ):
            found = [code for code, cue in cues if re.search(cue, said)]
            case |= {name: found[0]} if found else {}
        return case | _numbers(said)


def _numbers(said: str) -> dict[str, Any]:
    """The numbers of the case: sums, days and units."""
    facts: dict[str, Any] = {}
    for amount in amounts(said):
        if amount.unit == "$":
            of_order = " order " in said[max(0, amount.start - 40) : amount.end]
            facts["order_total" if of_order else "amount"] = Fraction(str(amount.number))
        elif amount.unit in ("day", "days", "unit", "units"):
            facts["quantity" if amount.unit.startswith("unit") else "days_since_purchase"] = int(amount.number)
    return facts
