"""Drawing one help page: its rules, their values, and which of several exceptions decides."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ecomrlve.shop.policy_conditions import Test, contains, depths, draw_attributes, draw_tests
from ecomrlve.shop.policy_rules import Page, Rule
from ecomrlve.shop.policy_texts import page_text
from ecomrlve.shop.policy_topics import RETURN_WINDOW, Topic
from ecomrlve.streams import Stream

_MOST_PERCENT_ADDED = 35  # in all, so that no fee exceeds the price
# How far from all before it an amount must be, try by try: a narrow range does not hold so many values.
_GAPS = (*[1.3] * 12, *[1.1] * 12, *[1.001] * 24)
_TRIES = 12  # to find adjustments that can be told apart
_ZERO_SHARE, _SECOND_ZERO_SHARE = 0.85, 0.6  # of the return pages: an exception of 0 days, and of these a second one
_UP_SHARE = 0.55
_MOST_TAKEN_OFF = 0.6  # of the standard value, in all


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
    base: Fraction | str
    amounts: list[Fraction | str]
    adjustments: list[Rule] = []
    if topic.choices:
        base, *others = stream.sample(topic.choices, len(topic.choices))
        amounts = [others[place % len(others)] for place in range(len(sets))]
    else:
        # Where the best value decides, a narrower rule could not stand out from a wider one that rules out as well.
        zeros = 0
        if topic.name == RETURN_WINDOW and stream.chance(_ZERO_SHARE):
            zeros = 1 + (len(sets) > 2 and precedence != topic.better and stream.chance(_SECOND_ZERO_SHARE))
        numbers = _draw_amounts(topic, stream, d, len(sets), zeros)
        changes = _draw_changes(topic, numbers, stream, len(adds))
        base, amounts = Fraction(numbers[0], 100), [Fraction(number, 100) for number in numbers[1:]]
        adjustments = [Rule(test, "add", Fraction(change, 100)) for test, change in zip(adds, changes, strict=True)]
    exceptions = _in_order(sets, amounts, precedence)
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


def _draw_amounts(topic: Topic, stream: Stream, d: int, count: int, zeros: int) -> list[int]:
    """The standard value and those of the exceptions, in hundredths: far apart where there is room."""
    values, standard = topic.values(d), stream.choice(topic.standards(d))
    amounts: list[int] = []
    for _ in range(count - zeros):
        amount = stream.choice(values)
        for gap in _GAPS:
            if not 2 * standard < 3 * amount < 4.5 * standard and _is_apart(amount, amounts, gap):
                break
            amount = stream.choice(values)
        amounts.append(amount)
    return [standard, *(stream.shuffled([*amounts, *[0] * zeros]) if zeros else amounts)]


def _is_apart(amount: int, others: list[int], gap: float) -> bool:
    return all(amount >= gap * other or other >= gap * amount for other in others)


def _draw_changes(topic: Topic, numbers: list[int], stream: Stream, count: int) -> list[int]:
    """What the adjustments add, in hundredths: a fifth to two thirds of the page's middle value, or take off.

    No two sets of them add up to the same, and none makes an exception into the standard value, where there is room.
    All that they take off leaves much of the standard value, so that not everything ends at zero.
    """
    above_zero = sorted(number for number in numbers if number)
    middle = above_zero[len(above_zero) // 2]
    gaps = {abs(number - numbers[0]) for number in above_zero}
    step = 25 if topic.unit == "$" else 100  # quarters of a dollar
    changes: list[int] = []
    for _ in range(_TRIES if count else 0):
        changes, sums, allowance = [], [0], numbers[0] * _MOST_TAKEN_OFF
        for _ in range(count):
            up = stream.chance(_UP_SHARE)
            percent = 20 + stream.integer(46) if up else 20 + stream.integer(31)
            size = max(step, middle * percent // 100 // step * step)
            if size > allowance:
                up = True
            if topic.unit == "%" and up:
                size = min(size, _MOST_PERCENT_ADDED // count * 100)
            allowance -= 0 if up else size
            changes.append(size if up else -size)
            sums += [total + changes[-1] for total in sums]
        if len(set(sums)) == len(sums) and not any(abs(change) in gaps for change in changes):
            break
    return changes
