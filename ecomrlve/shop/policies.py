"""The shop's policies: help pages drawn for one episode, and what they say about a case.

Nothing memorized helps: subjects, standard values, what the rules test, their amounts and which of several exceptions
decides are all drawn from the episode's key. Pages are made when they are first read, each from a stream of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rapidfuzz import fuzz, process

from ecomrlve.catalog.aliases import Aliases
from ecomrlve.errors import Refused
from ecomrlve.shop.policy_rules import METHODS, REASONS, VALUES, Condition, Page, Rule
from ecomrlve.shop.policy_subjects import CATEGORICAL, NUMERIC, TOPICS
from ecomrlve.shop.policy_texts import page_text
from ecomrlve.shop.policy_topics import RETURN_WINDOW, Topic
from ecomrlve.streams import Stream

__all__ = ["METHODS", "REASONS", "Condition", "Page", "Policies", "Rule"]

PAGES_WITH_NUMBERS = 11  # of one episode; the other subjects have no page in it
# Thresholds of rules, by attribute: round numbers, as shops like them.
THRESHOLDS = {
    "order_total": (25, 30, 40, 50, 60, 75, 80, 90, 100, 120, 150, 180, 200, 250, 300),
    "days_since_purchase": (5, 7, 10, 12, 14, 15, 20, 21, 25, 28, 30, 35, 40, 45, 60, 90),
    "quantity": (2, 3, 4, 5, 6),
}
_MOST_SIZES = 6  # rules of a page that tests unusually many attributes; more would not be read
_MOST_TWICE = 2  # attributes of a page with two rules each
_MOST_PERCENT_ADDED = 35  # in all, so that no fee exceeds the price
_WORD = re.compile(r"[^\W_]+")
_LONGEST_QUERY = 600  # characters that are looked at
_TRIES = 40  # to find an amount that is far from the standard one
_TYPO = 74  # how alike two words are, of 100, that count as the same with a slip
_DULL = frozenset(
    "a an and are as at be by can do does each for from get have how i if in is it its long many me much my of on or "
    "our pay see so that the them there they this to up us was we what when where which who will with would you "
    "your read asked works worked page here about day percent high".split()
)


class Policies:
    """The help pages of one episode.

    Args:
        episode_key: What the pages are drawn from, and nothing else of the episode.
        clauses: Attributes that the rules of every page test, 1 to 8.
        d: Level of difficulty, which sets how finely values lie.
        departments: The departments of the catalog.
    """

    def __init__(self, episode_key: tuple[Any, ...], *, clauses: int, d: int, departments: Sequence[str]):
        self._key = episode_key
        self._clauses = clauses
        self._d = d
        self.departments: tuple[str, ...] = tuple(departments)
        stream = Stream("policy", *episode_key)
        others = [name for name in NUMERIC if name != RETURN_WINDOW]
        chosen = [RETURN_WINDOW, *CATEGORICAL, *stream.sample(others, PAGES_WITH_NUMBERS - 1)]
        self.topics: tuple[str, ...] = tuple(stream.shuffled(chosen))
        self._aliases = Aliases("h", 64, *episode_key)
        self._pages: dict[str, Page] = {}
        self._words: list[dict[str, float]] | None = None

    @property
    def pages(self) -> tuple[Page, ...]:
        """All pages, in an order that tells nothing."""
        return tuple(self.page(topic) for topic in self.topics)

    def page(self, topic: str) -> Page:
        """The page about a subject. KeyError where this episode's shop has none."""
        if topic not in self.topics:
            raise KeyError(f"this shop has no page about {topic!r}, only about {', '.join(sorted(self.topics))}")
        if topic not in self._pages:
            self._pages[topic] = draw_page(
                TOPICS[topic],
                Stream("policy", *self._key, topic),
                clauses=self._clauses,
                d=self._d,
                departments=self.departments,
            )
        return self._pages[topic]

    def value(self, topic: str, case: Mapping[str, Any]) -> Fraction | str:
        """What the page about a subject says for a case: see `Page.value`.

        Raises:
            KeyError: No such page, or the case lacks an attribute that it tests.
        """
        return self.page(topic).value(case)

    def policy_id(self, page: Page) -> str:
        """The id of a page in this episode."""
        return self._aliases.encode(self.topics.index(page.topic))

    def find(self, policy_id: str) -> Page:
        """The page behind an id.

        Raises:
            Refused: The shop does not know the id.
        """
        number = self._aliases.decode(policy_id)
        if number is None or number >= len(self.topics):
            raise Refused(
                "unknown_policy",
                f"no help page has the id {policy_id.strip()[:40]!r}; ids come from policy_search",
            )
        return self.page(self.topics[number])

    def search(self, query: str, limit: int) -> list[Page]:
        """The pages nearest to a query, best first. Slips of the keys do not count; ties keep the pages' order.

        Args:
            query: Words to look for; pages that share none with it come last.
            limit: Most pages to return.
        """
        if self._words is None:
            self._words = _weigh_words(self.pages)
        vocabulary = sorted({word for words in self._words for word in words})
        scores = [0.0] * len(self.topics)
        for word in sorted(_stems(query[:_LONGEST_QUERY])):
            alike = process.extract(word, vocabulary, scorer=fuzz.ratio, score_cutoff=_TYPO, limit=5)
            for place, words in enumerate(self._words):
                found = [words[other] * (ratio / 100) ** 3 for other, ratio, _ in alike if other in words]
                scores[place] += max(found, default=0.0)
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return [self.page(self.topics[place]) for place in order[:limit]]


def _stem(word: str) -> str:
    """A word without the endings that plurals and tenses add, crudely."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _weigh_words(pages: Sequence[Page]) -> list[dict[str, float]]:
    """For each page the weight of each of its words: rare ones count more, and so do those of the title and intro."""
    texts = [page.text.split("\n") for page in pages]
    # Title and introduction say what a page is about; the rules mention all kinds of things.
    # What else such a page might have been called is what people may look for.
    topics = [TOPICS[page.topic] for page in pages]
    names = [" ".join((*topic.titles, *topic.nouns, *topic.meaning)) for topic in topics]
    abouts = [_stems(" ".join((*lines[:2], other))) for lines, other in zip(texts, names, strict=True)]
    mentions = [_stems(" ".join(lines[2:])) for lines in texts]
    weighed: list[dict[str, float]] = []
    for about, mentioned in zip(abouts, mentions, strict=True):
        weights = {word: 0.2 / sum(word in words for words in mentions) for word in sorted(mentioned)}
        weighed.append(weights | {word: 1 / sum(word in words for words in abouts) ** 0.7 for word in sorted(about)})
    return weighed


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.lower()) if word not in _DULL}


def draw_page(topic: Topic, stream: Stream, *, clauses: int, d: int, departments: Sequence[str]) -> Page:
    """Draw one page.

    Args:
        topic: Its subject.
        stream: All its draws.
        clauses: Attributes to test; fewer where the subject does not allow as many.
        d: Level of difficulty.
        departments: The departments of the catalog; rules do not test them where there are fewer than three.
    """
    attributes = _draw_attributes(topic, stream, clauses, len(departments) >= 3)
    groups = _draw_groups(attributes, stream)
    shape: list[tuple[tuple[Condition, ...], str]] = []
    for place, group in enumerate(groups):
        # The first group is an exception, and the second more often than not an adjustment, so that both kinds occur.
        added = place > 0 and not topic.choices and stream.chance(0.65 if place == 1 else 0.5)
        # Two rules on one attribute leave cases that neither names; "opened" has too few values for that.
        twice = not added and len(group) == 1 and group != ["opened"] and (len(groups) == 1 or stream.chance(0.3))
        twice = twice and len(shape) - place < _MOST_TWICE
        for conditions in _draw_conditions(group, stream, departments, count=2 if twice else 1):
            shape.append((conditions, "add" if added else "set"))
    sets = stream.shuffled([conditions for conditions, effect in shape if effect == "set"])
    adds = stream.shuffled([conditions for conditions, effect in shape if effect == "add"])
    base, amounts = _draw_amounts(topic, stream, d, len(sets))
    exceptions = [Rule(conditions, "set", amount) for conditions, amount in zip(sets, amounts, strict=True)]
    adjustments = [Rule(conditions, "add", _draw_change(topic, base, stream, len(adds))) for conditions in adds]
    precedence = ""
    if len(exceptions) > 1:
        precedence = stream.choice(("first", "last") if topic.choices else ("first", "last", topic.better))
    title = stream.choice(topic.titles)
    text = page_text(topic, title, base, exceptions, adjustments, precedence, stream)
    rules = (*exceptions, *adjustments)
    return Page(topic.name, title, topic.unit, topic.choices, tuple(attributes), base, rules, precedence, text)


def _draw_attributes(topic: Topic, stream: Stream, clauses: int, has_departments: bool) -> list[str]:
    natural, spare = (
        [attribute for attribute in attributes if has_departments or attribute != "department"]
        for attributes in (topic.natural, topic.spare)
    )
    chosen = stream.sample(natural, clauses)
    return chosen + stream.sample(spare, clauses - len(chosen))


def _draw_groups(attributes: list[str], stream: Stream) -> list[list[str]]:
    """Split the attributes into those of one rule each: one or two, and two rules at least where there are two."""
    count = len(attributes)
    least = max(0, count - _MOST_SIZES)
    pairs = 0 if count < 3 else least + stream.integer(count // 2 - least + 1)
    groups = [attributes[2 * place : 2 * place + 2] for place in range(pairs)]
    return stream.shuffled([*groups, *([attribute] for attribute in attributes[2 * pairs :])])


def _draw_conditions(
    group: list[str], stream: Stream, departments: Sequence[str], count: int
) -> list[tuple[Condition, ...]]:
    """The conditions of a group's rule, or of two rules on its one attribute that never both apply."""
    if count == 1:
        return [tuple(_draw_condition(attribute, stream, departments, len(group) == 1) for attribute in group)]
    attribute = group[0]
    if attribute in THRESHOLDS:
        bounds = THRESHOLDS[attribute]
        third = len(bounds) // 3
        low, high = stream.choice(bounds[: third + 1]), stream.choice(bounds[-third - 1 :])
        below = Condition(attribute, stream.choice(("lt", "le")), (low,))
        return [(below,), (Condition(attribute, stream.choice(("ge", "gt")), (high,)),)]
    values = stream.sample(VALUES.get(attribute, departments), 4)
    # Two words at most in one sentence, and something left that neither names.
    if len(VALUES.get(attribute, departments)) > 4 and stream.chance(0.5):
        return [(Condition(attribute, "in", tuple(values[:2])),), (Condition(attribute, "in", tuple(values[2:])),)]
    return [(Condition(attribute, "in", (value,)),) for value in values[:2]]


def _draw_condition(attribute: str, stream: Stream, departments: Sequence[str], alone: bool) -> Condition:
    if attribute in THRESHOLDS:
        bound = stream.choice(THRESHOLDS[attribute])
        return Condition(attribute, stream.choice(("ge", "gt", "le", "lt")), (bound,))
    values = VALUES.get(attribute, tuple(departments))
    two = alone and len(values) > 2 and stream.chance(0.4)
    return Condition(attribute, "in", tuple(stream.sample(values, 2 if two else 1)))


def _draw_amounts(topic: Topic, stream: Stream, d: int, count: int) -> tuple[Fraction | str, list[Fraction | str]]:
    """The standard value and those of the exceptions, all different, and far apart where there is room."""
    if topic.choices:
        base, *others = stream.sample(topic.choices, len(topic.choices))
        return base, [others[place % len(others)] for place in range(count)]
    values, standard = topic.values(d), stream.choice(topic.standards(d))
    amounts: list[int] = []
    ruled_out = stream.integer(count) if topic.name == RETURN_WINDOW and stream.chance(0.75) else None
    for place in range(count):
        amount = 0 if place == ruled_out else stream.choice(values)
        for _ in range(_TRIES):
            if amount not in amounts and not 2 * standard < 3 * amount < 4.5 * standard:
                break
            amount = stream.choice(values)
        amounts.append(amount)
    return Fraction(standard, 100), [Fraction(amount, 100) for amount in amounts]


def _draw_change(topic: Topic, base: Fraction | str, stream: Stream, count: int) -> Fraction:
    """What an adjustment adds: a quarter to nine tenths of the standard value, or takes off, a sixth to a half."""
    if isinstance(base, str):
        raise TypeError("a choice has no adjustments")
    up = stream.chance(0.65)
    share = 25 + stream.integer(66) if up else 15 + stream.integer(36)
    steps = 4 if topic.unit == "$" else 1  # quarters of a dollar
    size = max(1, base.numerator * share * steps // (base.denominator * 100))
    if topic.unit == "%" and up:
        size = min(size, _MOST_PERCENT_ADDED // count)
    return Fraction(size if up else -size, steps)
