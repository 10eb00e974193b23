"""The shop's policies: help pages drawn for one episode, and what they say about a case.

Nothing memorized helps: subjects, standard values, what the rules test, their amounts and which of several exceptions
decides are all drawn from the episode's key. Pages are made when they are first read, each from a stream of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz, process

from ecomrlve.catalog.aliases import Aliases
from ecomrlve.errors import Refused
from ecomrlve.shop.policy_conditions import THRESHOLDS
from ecomrlve.shop.policy_drawing import draw_page
from ecomrlve.shop.policy_rules import METHODS, REASONS, Condition, Page, Rule
from ecomrlve.shop.policy_subjects import CATEGORICAL, NUMERIC, TOPICS
from ecomrlve.shop.policy_topics import RETURN_WINDOW
from ecomrlve.streams import Stream

__all__ = ["METHODS", "REASONS", "THRESHOLDS", "Condition", "Page", "Policies", "Rule"]

PAGES_WITH_NUMBERS = 11  # of one episode; the other subjects have no page in it
_WORD = re.compile(r"[^\W_]+")
_LONGEST_QUERY = 600  # characters that are looked at
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
        weights, vocabulary = _weighed()
        scores = [0.0] * len(self.topics)
        for word in sorted(_stems(query[:_LONGEST_QUERY])):
            alike = process.extract(word, vocabulary, scorer=fuzz.ratio, score_cutoff=_TYPO, limit=5)
            for place, topic in enumerate(self.topics):
                words = weights[topic]
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


@lru_cache(maxsize=1)
def _weighed() -> tuple[dict[str, dict[str, float]], list[str]]:
    """For each subject the weight of each word that its page may be looked for by, rare ones counting more; all words.

    Everything such a page might be called counts; its rules do not, since they mention all kinds of things. So no page
    has to be written to be found.
    """
    names = {
        topic: _stems(" ".join((*subject.titles, *subject.nouns, *subject.meaning)))
        for topic, subject in TOPICS.items()
    }
    weights = {
        topic: {word: 1 / sum(word in words for words in names.values()) ** 0.7 for word in sorted(mine)}
        for topic, mine in names.items()
    }
    return weights, sorted({word for words in names.values() for word in words})


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.lower()) if word not in _DULL}
