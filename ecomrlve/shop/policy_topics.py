"""The subjects that a shop has help pages about, and how widely their values spread.

Ranges span a factor of eight or more, so that a number that comes to mind is hardly ever near the answer. What a page
may test is listed in the order of how natural it is there; an ordinary page never needs the second list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

OF_ORDERS = ("tier", "region", "department", "order_total", "payment", "channel", "quantity")
OF_RETURNS = ("tier", "region", "department", "reason", "order_total", "payment", "channel", "quantity")
OF_ANYTHING = (*OF_RETURNS, "days_since_purchase", "opened")
_ENDINGS = (0, 25, 50, 75, 95, 99)
# How finely values lie: at least 20 and 40 different ones are asked for, by the level of difficulty.
_COARSE, _FINE, FINE_FROM = 24, 44, 6
RETURN_WINDOW = "return_window"
_USUAL_RETURN = (14, 60)  # days


@dataclass(frozen=True, slots=True)
class Topic:
    """What all pages about one subject have in common.

    Attributes:
        name: As programs call it.
        titles: Headings, one of which a page has.
        nouns: What the value is called, with its article.
        meaning: Whole sentences that say what the value measures.
        unit: See `Page.unit`.
        least: Smallest value a rule names, in the unit.
        most: Largest.
        better: "highest" or "lowest": which of two values is the better one for the customer.
        natural: Attributes that its rules usually test.
        spare: More of them, for pages that test unusually many.
        family: The kind of question it allows besides asking for the value: "days_left", "money_back", or "".
        choices: Possible values of a subject without numbers.
    """

    name: str
    titles: tuple[str, ...]
    nouns: tuple[str, ...]
    meaning: tuple[str, ...]
    unit: str
    least: int = 0
    most: int = 0
    better: str = ""
    natural: tuple[str, ...] = OF_ORDERS
    spare: tuple[str, ...] = ()
    family: str = ""
    choices: tuple[str, ...] = ()

    def values(self, d: int) -> tuple[int, ...]:
        """Values of exceptions to draw from, in hundredths of the unit: see `spread`.

        Args:
            d: Level of difficulty.
        """
        return spread(self.least, self.most, self.unit == "$", _FINE if d >= FINE_FROM else _COARSE)

    def standards(self, d: int) -> tuple[int, ...]:
        """Standard values to draw from, in hundredths; for returns a narrower range than the exceptions'."""
        if self.name == RETURN_WINDOW:
            return spread(*_USUAL_RETURN, False, _FINE if d >= FINE_FROM else _COARSE)
        return self.values(d)


@cache
def spread(least: int, most: int, money: bool, count: int) -> tuple[int, ...]:
    """At least `count` different values, even on a logarithmic scale; small whole numbers may come more than once.

    Args:
        least: Smallest value.
        most: Largest value.
        money: Whether values have cents.
        count: Different values wanted; fewer where the range does not hold as many whole numbers.

    Returns:
        Hundredths of the unit: cents, for money.
    """
    wanted = count if money else min(count, most - least + 1)
    points = wanted
    while True:
        steps = [least * (most / least) ** (place / (points - 1)) for place in range(points)]
        if money:
            found = [int(step) * 100 + _ENDINGS[place % len(_ENDINGS)] for place, step in enumerate(steps)]
        else:
            found = [round(step) * 100 for step in steps]
        if len(set(found)) >= wanted:
            return tuple(found)
        points += 1
