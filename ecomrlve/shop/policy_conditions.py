"""What the rules of a help page test: which attributes, and at which values, so that every rule can decide something.

A page has many exceptions and a few adjustments, several of them on one attribute, so that it can come to so many
values that picking one of them is hopeless. What each attribute needs is drawn together: no two rules then say the
same, and each attribute keeps a value that no exception names, at which the standard and the other exceptions show.
"""

from __future__ import annotations

from collections.abc import Sequence

from ecomrlve.shop.policy_rules import VALUES, Condition
from ecomrlve.shop.policy_topics import Topic
from ecomrlve.streams import Stream

Test = tuple[Condition, ...]

# Thresholds of rules, by attribute: round numbers, as shops like them.
THRESHOLDS = {
    "order_total": (25, 30, 40, 50, 60, 75, 80, 90, 100, 120, 150, 180, 200, 250, 300),
    "days_since_purchase": (5, 7, 10, 12, 14, 15, 20, 21, 25, 28, 30, 35, 40, 45, 60, 90),
    "quantity": (2, 3, 4, 5, 6),
}
_OPERATORS = ("ge", "gt", "le", "lt")
EXCEPTIONS, ADJUSTMENTS = 6, 3  # of a page that tests two attributes or more
_ADJUSTMENTS_OF_TWO = 4  # of a page that tests just two, which can be combined in fewer ways
_ALONE = 2  # exceptions of a page that tests a single attribute
_MOST_EACH = 3  # exceptions that test one attribute and nothing else
_TWO_VALUES_SHARE = 0.3  # of the rules that have room for a second value
_SECOND_PAIR_SHARE = 0.5


def draw_attributes(topic: Topic, stream: Stream, clauses: int, has_departments: bool) -> list[str]:
    """The attributes that a page tests: from two on, one that is a number, as the others have few values.

    Args:
        topic: Its subject, which says what is natural there.
        stream: All draws.
        clauses: How many; fewer where the subject does not allow as many.
        has_departments: Whether departments can be told apart.
    """
    natural, spare = (
        [attribute for attribute in attributes if has_departments or attribute != "department"]
        for attributes in (topic.natural, topic.spare)
    )
    chosen = stream.sample(natural, clauses)
    chosen += stream.sample(spare, clauses - len(chosen))
    if len(chosen) > 1 and not any(attribute in THRESHOLDS for attribute in chosen):
        place = stream.integer(len(chosen))
        chosen[place] = stream.choice([attribute for attribute in natural if attribute in THRESHOLDS])
    return chosen


def draw_tests(
    attributes: Sequence[str], stream: Stream, departments: Sequence[str], adjusted: bool
) -> tuple[list[Test], list[Test]]:
    """What the exceptions test, in an order that tells nothing, and what the adjustments do.

    Args:
        attributes: All that the page tests; each gets a rule that tests nothing else.
        stream: All draws.
        departments: The departments of the catalog.
        adjusted: Whether the page has adjustments.
    """
    several = len(attributes) > 1
    changes = _ADJUSTMENTS_OF_TWO if len(attributes) == 2 else ADJUSTMENTS
    added = _share_out(attributes, stream, changes, departments, 2) if adjusted and several else {}
    missing = [attribute for attribute in attributes if attribute not in added]
    wanted = max(EXCEPTIONS, len(missing)) if several else _ALONE
    pairs = min(1 + stream.chance(_SECOND_PAIR_SHARE), len(attributes) - 1, wanted - len(missing)) if several else 0
    singles = _share_out(attributes, stream, wanted - pairs, departments, _MOST_EACH, first=missing)
    exceptions: list[Test] = []
    adjustments: list[Test] = []
    for attribute in attributes:
        own, others = _draw_single(attribute, singles.get(attribute, 0), added.get(attribute, 0), stream, departments)
        exceptions += own
        adjustments += others
    # Where the attributes have few values, sentences on two of them make up for it.
    if several:
        exceptions += _draw_pairs(exceptions, attributes, wanted - len(exceptions), stream, departments)
    return stream.shuffled(exceptions), stream.shuffled(adjustments)


def _share_out(
    attributes: Sequence[str],
    stream: Stream,
    count: int,
    departments: Sequence[str],
    most: int,
    first: Sequence[str] = (),
) -> dict[str, int]:
    """How many rules each attribute gets: those of `first` one each, then all in turns, as far as values allow."""
    shares = dict.fromkeys(first, 1)
    left = count - len(first)
    while left > 0:
        open_to_more = [one for one in attributes if shares.get(one, 0) < min(most, _room(one, departments))]
        if not open_to_more:
            break
        fewest = min(shares.get(one, 0) for one in open_to_more)
        turn = stream.sample([one for one in open_to_more if shares.get(one, 0) == fewest], left)
        for attribute in turn:
            shares[attribute] = shares.get(attribute, 0) + 1
        left -= len(turn)
    return shares


def _room(attribute: str, departments: Sequence[str]) -> int:
    """How many rules may name a value of an attribute, each another, so that one value is left that none names."""
    return 4 if attribute in THRESHOLDS else len(VALUES.get(attribute, departments)) - 1


def _draw_single(
    attribute: str, exceptions: int, adjustments: int, stream: Stream, departments: Sequence[str]
) -> tuple[list[Test], list[Test]]:
    """Tests of one attribute alone."""
    if attribute in THRESHOLDS:
        return _draw_bounds(attribute, exceptions, adjustments, stream)
    values = VALUES.get(attribute, tuple(departments))
    made: list[list[Test]] = []
    # An adjustment may name what an exception names too: both apply then. It leaves a value unnamed as well.
    for count in (exceptions, adjustments):
        pool = stream.sample(values, min(len(values) - 1, 2 * count))
        own = [[pool.pop()] for _ in range(count)]
        for named in own:
            if pool and stream.chance(_TWO_VALUES_SHARE):
                named.append(pool.pop())
        made.append([(Condition(attribute, "in", tuple(named)),) for named in own])
    return made[0], made[1]


def _draw_bounds(attribute: str, exceptions: int, adjustments: int, stream: Stream) -> tuple[list[Test], list[Test]]:
    """Tests of a number against thresholds: exceptions below low ones and above high ones, with a gap in between."""
    bounds = THRESHOLDS[attribute]
    third = len(bounds) // 3
    low = (exceptions + stream.chance(0.5)) // 2
    # One side of a threshold for all exceptions: "more than 5 units" and "6 units or more" would be the same.
    below, above = stream.choice(("lt", "le")), stream.choice(("ge", "gt"))
    own = [Condition(attribute, below, (bound,)) for bound in stream.sample(bounds[: third + 1], low)]
    own += [Condition(attribute, above, (bound,)) for bound in stream.sample(bounds[-third - 1 :], exceptions - low)]
    used = {condition.values[0] for condition in own}
    free = [bound for bound in bounds if bound not in used]
    others = [Condition(attribute, stream.choice(_OPERATORS), (bound,)) for bound in stream.sample(free, adjustments)]
    return [(condition,) for condition in own], [(condition,) for condition in others]


def _draw_pairs(
    singles: Sequence[Test], attributes: Sequence[str], count: int, stream: Stream, departments: Sequence[str]
) -> list[Test]:
    """Tests of two attributes at once: narrower cases of exceptions on one, so that they hide no others."""
    made: list[Test] = []
    while len(made) < count:
        narrowed = stream.choice(singles)[0]
        if len(narrowed.values) > 1:
            narrowed = Condition(narrowed.attribute, "in", (stream.choice(narrowed.values),))
        attribute = stream.choice([other for other in attributes if other != narrowed.attribute])
        test = tuple(stream.shuffled([narrowed, _draw_one(attribute, stream, departments)]))
        if not any(contains(test, other) or contains(other, test) for other in made):
            made.append(test)
    return made


def _draw_one(attribute: str, stream: Stream, departments: Sequence[str]) -> Condition:
    if attribute in THRESHOLDS:
        return Condition(attribute, stream.choice(_OPERATORS), (stream.choice(THRESHOLDS[attribute]),))
    return Condition(attribute, "in", (stream.choice(VALUES.get(attribute, departments)),))


def contains(wide: Test, narrow: Test) -> bool:
    """Whether `wide` holds in every case in which `narrow` does, as their words alone show it."""
    if len(wide) == len(narrow) == 1:
        return _implies(narrow[0], wide[0])
    return len(wide) <= len(narrow) and all(any(_implies(condition, wanted) for condition in narrow) for wanted in wide)


def _implies(condition: Condition, wanted: Condition) -> bool:
    if condition.attribute != wanted.attribute:
        return False
    if wanted.operator == "in":
        return condition.operator == "in" and set(condition.values) <= set(wanted.values)
    high = wanted.operator in ("ge", "gt")
    if condition.operator == "in" or (condition.operator in ("ge", "gt")) != high:
        return False
    bound, limit = condition.values[0], wanted.values[0]
    if bound == limit:
        return condition.operator == wanted.operator or wanted.operator in ("ge", "le")
    return bool((bound > limit) == high)


def depths(tests: Sequence[Test]) -> list[int]:
    """For each test, how many of the others hold wherever it does: a rule with many must come before them."""
    return [
        sum(contains(wide, narrow) for other, wide in enumerate(tests) if other != place)
        for place, narrow in enumerate(tests)
    ]
