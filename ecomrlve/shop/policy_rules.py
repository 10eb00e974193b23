"""What a page of the shop's policies says, as data: conditions, rules, and how they combine to one value.

Everything is exact: amounts of money are fractions of whole cents, days and percentages whole numbers, so that two
ways of working out the same answer cannot differ in the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

REASONS = ("damaged", "wrong_item", "not_as_described", "changed_mind", "does_not_fit", "arrived_late")
METHODS = ("original_payment", "store_credit")
TIERS = ("Basic", "Silver", "Gold", "Platinum")
REGIONS = ("Mainland", "Islands", "Highlands", "Overseas")
PAYMENTS = ("card", "gift card", "bank transfer", "installments", "store credit")
CHANNELS = ("website", "app", "phone")
OPENED = ("opened", "unopened")

# What a case consists of. An order knows some of it, the profile some, and the rest only the customer.
ATTRIBUTES = (
    "tier", "region", "department", "reason", "order_total", "days_since_purchase", "payment", "channel", "quantity",
    "opened",
)  # fmt: skip
PROFILE_ATTRIBUTES = ("tier", "region")
ORDER_ATTRIBUTES = ("department", "order_total", "days_since_purchase", "payment", "channel", "quantity")
NUMBERS = ("order_total", "days_since_purchase", "quantity")
VALUES: dict[str, tuple[str, ...]] = {
    "tier": TIERS,
    "region": REGIONS,
    "reason": REASONS,
    "payment": PAYMENTS,
    "channel": CHANNELS,
    "opened": OPENED,
}


def cents(dollars: Any) -> int:
    """An amount in dollars as whole cents."""
    return round(float(dollars) * 100)


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of one attribute of a case.

    Attributes:
        attribute: One of `ATTRIBUTES`.
        operator: "in" (is one of the values), or "ge", "gt", "le", "lt" for numbers.
        values: The values named, or the one threshold (whole dollars, days or units).
    """

    attribute: str
    operator: str
    values: tuple[Any, ...]

    def holds(self, case: Mapping[str, Any]) -> bool:
        """Whether the case meets it. KeyError where the case lacks the attribute."""
        value = case[self.attribute]
        if self.operator == "in":
            return value in self.values
        bound: int = self.values[0]
        if self.attribute == "order_total":
            value, bound = cents(value), bound * 100
        if self.operator == "ge":
            return bool(value >= bound)
        if self.operator == "gt":
            return bool(value > bound)
        if self.operator == "le":
            return bool(value <= bound)
        return bool(value < bound)


@dataclass(frozen=True, slots=True)
class Rule:
    """One sentence of a page.

    Attributes:
        conditions: One or two; all must hold.
        effect: "set" puts `amount` in the place of the standard value; "add" is added afterwards and may be negative.
        amount: In the page's unit (dollars as a fraction of whole cents), or one of its choices.
    """

    conditions: tuple[Condition, ...]
    effect: str
    amount: Fraction | str

    def applies(self, case: Mapping[str, Any]) -> bool:
        """Whether all conditions hold."""
        return all(condition.holds(case) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Page:
    """One help page.

    Attributes:
        topic: What it is about, as programs name it.
        title: Its heading.
        unit: "days", "hours", "months", "$", "%", "points", or "" where the value is one of `choices`.
        choices: The possible values of a page that is not about a number.
        attributes: What its rules test, each once; a case must know all of them.
        base: The standard value.
        rules: In the order of the text: exceptions, then adjustments.
        precedence: Which of several exceptions decides: "first" or "last" of the list, or "highest" or "lowest"
            where the best for the customer does; "" where there is but one.
        text: The page as an agent reads it; it says all of the above.
    """

    topic: str
    title: str
    unit: str
    choices: tuple[str, ...]
    attributes: tuple[str, ...]
    base: Fraction | str
    rules: tuple[Rule, ...]
    precedence: str
    text: str

    @property
    def exceptions(self) -> tuple[Rule, ...]:
        """The rules that replace the standard value."""
        return tuple(rule for rule in self.rules if rule.effect == "set")

    @property
    def adjustments(self) -> tuple[Rule, ...]:
        """The rules that are added afterwards."""
        return tuple(rule for rule in self.rules if rule.effect == "add")

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """Every value the page names: the standard, the exceptions', and the sizes of the adjustments."""
        named = [self.base, *(rule.amount for rule in self.rules)]
        return tuple(abs(amount) for amount in named if isinstance(amount, Fraction))

    def value(self, case: Mapping[str, Any]) -> Fraction | str:
        """What the page says for a case.

        Args:
            case: Attribute → value; `order_total` in dollars, `days_since_purchase` and `quantity` whole numbers.

        Raises:
            KeyError: The case lacks an attribute that the page tests.
        """
        missing = [attribute for attribute in self.attributes if attribute not in case]
        if missing:
            raise KeyError(f"the page {self.topic!r} depends on {', '.join(missing)}, which the case does not say")
        found = [rule.amount for rule in self.exceptions if rule.applies(case)]
        value = _decide(found, self.precedence) if found else self.base
        # What a rule rules out stays ruled out: extra days are given on a period, not on its absence.
        if isinstance(value, str) or value == 0:
            return value
        for rule in self.adjustments:
            if isinstance(rule.amount, Fraction) and rule.applies(case):
                value += rule.amount
        return max(value, Fraction(0))


def _decide(amounts: list[Fraction | str], precedence: str) -> Fraction | str:
    if precedence == "last":
        return amounts[-1]
    numbers = [amount for amount in amounts if isinstance(amount, Fraction)]
    if precedence == "highest":
        return max(numbers)
    if precedence == "lowest":
        return min(numbers)
    return amounts[0]


def written(amount: Fraction | str, unit: str) -> str:
    """A value as pages and people write it: "30 days", "$14.50", "15%", "3 points", or the choice itself."""
    if isinstance(amount, str):
        return amount
    if unit == "$":
        return dollars(amount)
    if unit == "%":
        return f"{amount}%"
    return f"{amount} {unit[:-1] if amount == 1 else unit}"


def dollars(amount: Any) -> str:
    """An amount of money: "$50" or "$49.99"."""
    whole, rest = divmod(cents(amount), 100)
    return f"${whole}.{rest:02}" if rest else f"${whole}"
