"""Drawing one help page: its rules, their values, and which of several exceptions decides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from ecomrlve.shop.policy_conditions import Test, contains, depths, draw_attributes, draw_tests
from ecomrlve.shop.policy_rules import Page, Rule
from ecomrlve.shop.policy_texts import page_text
from ecomrlve.shop.policy_topics import RETURN_WINDOW, Topic
from ecomrlve.streams import Stream

_MOST_PERCENT_ADDED = 35  # in all, so that no fee exceeds the price
_TRIES = 24  # to find an amount that is far enough from those before it
_FEW_ZEROS_SHARE, _MANY_ZEROS_SHARE = 0.75, 0.4  # of the return pages: an exception of 0 days, and a second one
_UP_SHARE = 0.6


def draw_page(topic: Topic, stream: Stream, *, clauses: int, d: int, departments: Sequence[str]) -> Page:
    """Draw one page.

    Args:
        topic: Its subject.
        stream: All its draws.
        clauses: Attributes to test; fewer where the subject does not allow as many.
        d: Level of difficulty.
        departments: The departments of the catalog; rules do not test them where there are fewer than three.
    """
    attributes = draw_attributes(topic, stream, clauses, len(departments) >= 3)
    sets, adds = draw_tests(attributes, stream, departments, adjusted=not topic.choices)
    precedence = ""
    if len(sets) > 1:
        precedence = stream.choice(("first", "last") if topic.choices else ("first", "last", topic.better))
    base, amounts = _draw_amounts(topic, stream, d, len(sets))
    exceptions = _in_order(sets, amounts, precedence)
    changes = _draw_changes(topic, [base, *amounts], stream, len(adds))
    adjustments = [Rule(test, "add", change) for test, change in zip(adds, changes, strict=True)]
    title = stream.choice(topic.titles)
    text = page_text(topic, title, base, exceptions, adjustments, precedence, stream)
    rules = (*exceptions, *adjustments)
    return Page(topic.name, title, topic.unit, topic.choices, tuple(attributes), base, rules, precedence, text)


def _in_order(tests: list[Test], amounts: list[Fraction | str], precedence: str) -> list[Rule]:
    """Exceptions, so that none that is narrower than another is always overruled by it.

    Where the place in the list decides, the narrow ones stand on the winning side; where the best value does, they get
    the better values. Everything else stays in the order in which it was drawn.
    """
    depth = depths(tests)
    order = list(range(len(tests)))
    if precedence in ("first", "last"):
        order.sort(key=lambda place: -depth[place] if precedence == "first" else depth[place])
    elif precedence:
        best = max if precedence == "highest" else min
        for place in sorted(order, key=lambda place: -depth[place]):
            others = [other for other in order if other != place and contains(tests[other], tests[place])]
            # The best value of all that hold there goes to the narrowest; those that it leaves are settled in turn.
            winner = best([place, *others], key=lambda other: Fraction(amounts[other]))
            amounts[place], amounts[winner] = amounts[winner], amounts[place]
    return [Rule(tests[place], "set", amounts[place]) for place in order]


def _draw_amounts(topic: Topic, stream: Stream, d: int, count: int) -> tuple[Fraction | str, list[Fraction | str]]:
    """The standard value and those of the exceptions, all different, and far apart where there is room."""
    if topic.choices:
        base, *others = stream.sample(topic.choices, len(topic.choices))
        return base, [others[place % len(others)] for place in range(count)]
    values, standard = topic.values(d), stream.choice(topic.standards(d))
    zeros = 0
    if topic.name == RETURN_WINDOW and stream.chance(_FEW_ZEROS_SHARE):
        zeros = 1 + (count > 2 and stream.chance(_MANY_ZEROS_SHARE))
    amounts: list[int] = []
    for _ in range(count - zeros):
        amount = stream.choice(values)
        for attempt in range(_TRIES):
            # In the second half of the tries less is asked for: a narrow range does not hold so many values.
            gap = 1.3 if 2 * attempt < _TRIES else 1.1
            if not 2 * standard < 3 * amount < 4.5 * standard and not any(
                amount < gap * other and other < gap * amount for other in amounts
            ):
                break
            amount = stream.choice(values)
        amounts.append(amount)
    amounts = stream.shuffled([*amounts, *[0] * zeros]) if zeros else amounts
    return Fraction(standard, 100), [Fraction(amount, 100) for amount in amounts]


def _draw_changes(topic: Topic, values: Sequence[Fraction | str], stream: Stream, count: int) -> list[Fraction]:
    """What the adjustments add: a fifth to two thirds of the page's middle value, up more often than down.

    No two sets of them add up to the same, and none makes an exception into the standard value, where there is room.
    """
    numbers = sorted(value for value in values if isinstance(value, Fraction) and value > 0)
    if not count or not numbers:
        return []
    base, middle = values[0], numbers[len(numbers) // 2]
    gaps = {abs(value - base) for value in numbers if isinstance(base, Fraction)}
    steps = 4 if topic.unit == "$" else 1  # quarters of a dollar
    changes: list[Fraction] = []
    for _ in range(_TRIES):
        changes = []
        for _ in range(count):
            up = stream.chance(_UP_SHARE)
            share = 20 + stream.integer(46) if up else 20 + stream.integer(31)
            size = max(1, middle.numerator * share * steps // (middle.denominator * 100))
            if topic.unit == "%" and up:
                size = min(size, _MOST_PERCENT_ADDED // count)
            changes.append(Fraction(size if up else -size, steps))
        sums = [sum(chosen) for many in range(count + 1) for chosen in itertools.combinations(changes, many)]
        if len(set(sums)) == len(sums) and not gaps & {abs(one) for one in changes}:
            break
    return changes
