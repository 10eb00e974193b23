"""How the reader of help pages understands amounts and conditions: "$1,000", "more than 15 days", "you paid by card".

A condition is read by its frame (the words that say which fact of the case is meant) and by what stands in the frame
(values of that fact, or a comparison with a threshold). Whatever fits no frame is refused rather than guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ecomrlve.errors import EcomrlveError

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d.,]*\d)"
# A number with its unit, as pages write it; the unit's word may be singular or plural.
AMOUNT = (
    rf"(?:\$(?P<dollars>{NUMBER})|(?P<percent>{NUMBER}) ?(?:%|percentage points?|percent)"
    rf"|(?P<points>{NUMBER}) points?(?: per dollar)?|(?P<counted>{NUMBER}) (?P<unit>day|hour|month|unit)s?)(?!\w)"
)
AT_LEAST, MORE_THAN, AT_MOST, LESS_THAN = ">=", ">", "<=", "<"
COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    AT_LEAST: lambda fact, threshold: fact >= threshold,
    MORE_THAN: lambda fact, threshold: fact > threshold,
    AT_MOST: lambda fact, threshold: fact <= threshold,
    LESS_THAN: lambda fact, threshold: fact < threshold,
}
# The words before or after an amount that tell on which side of it a case lies, and whether the amount itself counts.
BEFORE = {
    AT_LEAST: "at least|no less than|not less than",
    MORE_THAN: "more than|over|above",
    AT_MOST: "at most|up to|no more than|not more than",
    LESS_THAN: "less than|fewer than|under|below",
}
AFTER = {AT_LEAST: "or more|or over|or above", AT_MOST: "or less|or fewer|or under|or below"}
COMPARISON = re.compile(
    rf"(?:(?P<before>{'|'.join(BEFORE.values())}) )?{AMOUNT}(?: (?P<after>{'|'.join(AFTER.values())}))?"
)
OPERATOR_BEFORE = {words: operator for operator, group in BEFORE.items() for words in group.split("|")}
OPERATOR_AFTER = {words: operator for operator, group in AFTER.items() for words in group.split("|")}

# "@" stands for the comparison. Dollars, units and days each speak of one fact only.
COMPARED_FRAMES = {
    "$": (
        "order_total",
        r"(?:the|your) (?:whole )?order(?: total| value)? (?:comes to|is worth|costs|is) @",
    ),
    "units": (
        "quantity",
        r"(?:the|your) (?:whole )?order (?:consists of|contains|holds|has|includes|is for) @(?: in all| altogether)?",
    ),
    "days": (
        "days_since_purchase",
        r"(?:it has been @ since|the time since (?:the|your) purchase is @|@ (?:have|has) (?:passed|gone by) since)"
        r"(?: (?:the|your) purchase)?",
    ),
}
TIERS = "Basic|Silver|Gold|Platinum"
REGIONS = "Mainland|Islands|Highlands|Overseas"
PAYMENTS = "card|gift card|bank transfer|installments|store credit"
CHANNELS = "on the website|in the app|by phone"
# A department is a name: capitalised words, of which an "and" may be one.
DEPARTMENTS = r"[A-Z][\w&'-]*(?:(?: and| &)? [A-Z][\w&'-]*)*"


def _listed(values: str) -> str:
    """An expression for one value or a list of alternatives: "A", "A or B", "A, B or C"."""
    return rf"(?P<values>(?:{values})(?:, (?:{values}))*(?:,? or (?:{values}))?)"


# Payment and channel words name their fact already; tiers, regions and departments are announced by theirs.
LISTED_FRAMES = tuple(
    (attribute, re.compile(frame.replace("@", _listed(values))), re.compile(values))
    for attribute, values, frame in (
        ("tier", TIERS, r"(?:the|your) (?:account has the )?membership level(?: is)? @"),
        ("tier", TIERS, r"(?:you are|the customer is) an? @ member"),
        ("region", REGIONS, r"(?:the customer lives|you live) in the region @"),
        ("region", REGIONS, r"(?:the|your) (?:delivery |home )?region(?: on (?:the|your) account)? is @"),
        (
            "department",
            DEPARTMENTS,
            r"the (?:item (?:belongs to|is from|comes from|was bought in) the )?department(?: is)? @",
        ),
        ("payment", PAYMENTS, r"(?:(?:the|your) order was paid|you paid|the payment was made) (?:by|with) @"),
        ("payment", PAYMENTS, r"the payment method is @"),
        ("channel", CHANNELS, r"(?:(?:the|your) (?:order|purchase) was (?:made|placed)|you ordered) @"),
    )
)
CHANNEL_CODES = {"on the website": "website", "in the app": "app", "by phone": "phone"}
OPENED = re.compile(
    r"the (?:box|item|package|packaging|original packaging) (?:has been|was|is) (?:still )?(opened|unopened)"
)
CUSTOMER = r"(?:the customer (?:has )?|you (?:have )?)"
REASONS = tuple(
    (code, re.compile(words))
    for code, words in (
        ("damaged", r"the item (?:arrived damaged|(?:was|is) damaged(?: on arrival)?)"),
        ("wrong_item", r"we sent the wrong item|the wrong item (?:was delivered|arrived)"),
        ("not_as_described", r"the item (?:is not as described|does not match (?:its|the) description)"),
        ("changed_mind", rf"{CUSTOMER}changed (?:their|your) mind"),
        ("does_not_fit", r"the item (?:does not fit|turns out not to fit)"),
        ("arrived_late", r"the item arrived (?:too )?late"),
    )
)


class UnreadablePage(EcomrlveError, ValueError):  # noqa: N818 - it names what the page is
    """A help page with a sentence that states something and is not understood; the message quotes the sentence."""


@dataclass(frozen=True)
class Amount:
    """An exact number and what it counts: "$", "%", "points", "days", "hours", "months" or "units"."""

    number: Fraction
    unit: str


@dataclass(frozen=True)
class Condition:
    """One test of one fact of a case: against `values` (any of them fits), or by `operator` against `threshold`."""

    attribute: str
    values: tuple[str, ...] = ()
    operator: str = ""
    threshold: Fraction = Fraction(0)

    def holds(self, case: Mapping[str, Any]) -> bool:
        """Whether the case passes; raises KeyError naming the fact if the case lacks it."""
        fact = case[self.attribute]
        if self.operator:
            return COMPARE[self.operator](exact(fact), self.threshold)
        return str(fact) in self.values


def exact(number: Any) -> Fraction:
    """A number as it is written: 14.1 is 141/10, although no float is."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


@lru_cache(maxsize=4096)
def _number(digits: str) -> Fraction:
    """The number that digits with thousands separators write."""
    return Fraction(digits.replace(",", ""))


def amount_of(match: re.Match[str]) -> Amount:
    """The amount that a match of `AMOUNT` holds."""
    for group, unit in (("dollars", "$"), ("percent", "%"), ("points", "points")):
        if match[group]:
            return Amount(_number(match[group]), unit)
    return Amount(_number(match["counted"]), match["unit"] + "s")


def _compared(words: str) -> Condition | None:
    """A comparison in its frame, such as "the order comes to more than $50"."""
    match = COMPARISON.search(words)
    if match is None or bool(match["before"]) == bool(match["after"]):
        return None
    amount = amount_of(match)
    attribute, frame = COMPARED_FRAMES.get(amount.unit, ("", ""))
    if not attribute or not re.fullmatch(frame, f"{words[: match.start()]}@{words[match.end() :]}"):
        return None
    operator = OPERATOR_BEFORE[match["before"]] if match["before"] else OPERATOR_AFTER[match["after"]]
    return Condition(attribute, operator=operator, threshold=amount.number)


def _reason(words: str) -> Condition | None:
    """One reason or several, each told by a clause of its own."""
    codes = []
    for clause in words.split(" or "):
        code = next((code for code, cue in REASONS if cue.fullmatch(clause)), None)
        if code is None:
            return None
        codes.append(code)
    return Condition("reason", tuple(codes))


def _single(words: str) -> Condition | None:
    """A condition on one fact, or None if the words fit no frame."""
    for attribute, frame, value in LISTED_FRAMES:
        match = frame.fullmatch(words)
        if match:
            values = tuple(found[0] for found in value.finditer(match["values"]))
            return Condition(attribute, tuple(CHANNEL_CODES.get(value, value) for value in values))
    match = OPENED.fullmatch(words)
    if match:
        return Condition("opened", (match[1],))
    return _compared(words) or _reason(words)


@lru_cache(maxsize=65536)
def read_conditions(words: str) -> tuple[Condition, ...] | None:
    """The conditions that must all hold, or None if any of the words are not understood."""
    conditions = []
    # An "and" before a capital letter is part of a department's name; any other joins two conditions.
    parts = re.split(r" and (?![A-Z])", words)
    for part in parts:
        condition = _single(part)
        # "A or B and C" can be read in two ways where A and B are clauses of their own.
        if condition is None or (len(parts) > 1 and condition.attribute == "reason" and len(condition.values) > 1):
            return None
        conditions.append(condition)
    return tuple(conditions)
