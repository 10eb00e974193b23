"""A word index that forgives typing: query words are corrected against the catalog's own vocabulary.

Dense vectors break under typos; shoppers' words with 12 % wrong characters do not even tokenise. Correcting each word
to its nearest neighbours in the vocabulary (optimal string alignment distance) before a BM25 look-up finds what was
meant, and costs a few milliseconds at most whatever the size of the catalog.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ecomrlve.catalog import lexical_store
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.lexical_store import SMALL, WordPostings, words_of

__all__ = ["LexicalIndex", "words_of"]

NEIGHBOURS = 3
MOST_WORDS = 64  # distinct words of a query that count
LONGEST_WORD = 40
CLOSEST = 0.6  # least similarity of a corrected word: two slips in a word of five letters
QUERIES_REMEMBERED = 512
# How the best rows are found does not change which they are; these only weigh one way against another.
FEW = 64  # words that match at most one in so many rows are put together without looking at all rows
WORTH = 8  # to ask whether the words that are left may be looked up costs about as much as adding rows / WORTH entries
GROUPS_OF = 64  # rows whose best one stands for all where a bound is looked for
LOOKUP = 8  # finding a row in a list costs about as much as adding so many entries of it
# More than what rounding can do to a sum of all words' float32 weights, however they are added up.
ROUNDING = 1e-4
# Words of talk, not of goods. Corrected typos of them must not turn into product words either.
TALK = frozenset(
    """a an and any are as at be but by can could do for from get give have hello help hey hi i if im in into is it its
    just like list looking may me my need needs no not of off on one or order our over please pls shop shopping should
    so some something than thanks that the them then there these they this those to today u under up us want wanted
    was we what when where which with would you your add buy find everything item items thing things following cart
    ive id lets also too both each put show search after around good great maybe really thx hoping trying""".split()
)


class Speller:
    """Finds the words that a misspelt one may stand for.

    Args:
        words: The words to choose from; of two that are as close, the one that comes first is closer.
    """

    def __init__(self, words: Sequence[str]):
        # What is longer is less than `CLOSEST` to every word that is asked for.
        self._words = [word for word in words if len(word) * CLOSEST <= LONGEST_WORD]
        lengths = [len(word) for word in self._words]
        self._lengths = np.array(lengths, np.uint8)
        codes = np.frombuffer("".join(self._words).encode("ascii"), np.uint8)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        self._counts = {
            chr(code): np.bincount(owners[codes == code], minlength=len(lengths)).astype(np.uint8)
            for code in np.unique(codes).tolist()
        }

    def nearest(self, word: str) -> list[tuple[str, float]]:
        """The at most `NEIGHBOURS` words that are `CLOSEST` or closer, with their similarities, closest first."""
        common = np.zeros(len(self._words), np.uint8)
        for letter, count in Counter(word).items():
            if letter in self._counts:
                common += np.minimum(self._counts[letter], count)
        # No word is more similar than its share of common letters: that rules most words out at once.
        worth = np.flatnonzero(common >= CLOSEST * np.maximum(self._lengths, len(word)) - 1e-6)
        choices = [self._words[number] for number in worth.tolist()]
        near = process.extract(word, choices, scorer=OSA.normalized_similarity, score_cutoff=CLOSEST, limit=NEIGHBOURS)
        return [(other, score) for other, score, _ in near]


@dataclass(frozen=True)
class _Meant:
    """A vocabulary word that a query is taken to mean.

    Attributes:
        word: The word.
        closeness: How much it counts, in (0, 1].
        rows, weights: Its postings.
        most: The most that it adds to any row.
    """

    word: str
    closeness: float
    rows: np.ndarray
    weights: np.ndarray
    most: float

    def add_to(self, total: np.ndarray) -> None:
        """Add this word's scores to an array over all rows."""
        np.add.at(total, self.rows.astype(np.intp), np.float32(self.closeness) * self.weights)

    def of(self, rows: np.ndarray) -> np.ndarray:
        """This word's scores of some rows (int32): float32."""
        if not len(self.rows):
            return np.zeros(len(rows), np.float32)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        there = self.rows[places] == rows
        return np.where(there, np.float32(self.closeness) * self.weights[places], np.float32(0))


class LexicalIndex:
    """BM25 over title, type, brand, category and attribute words.

    Args:
        catalog: The products to index.
    """

    def __init__(self, catalog: Catalog):
        self._use(lexical_store.build(catalog))

    @classmethod
    def open(cls, folder: Path) -> LexicalIndex:
        """The index that `write_lexical` put into a folder, mapped into memory.

        Raises:
            CatalogError: No word index, one of another version, or one that is damaged.
        """
        index = cls.__new__(cls)
        index._use(lexical_store.read_lexical(folder))
        return index

    def _use(self, postings: WordPostings) -> None:
        self._postings = postings
        self.vocabulary = postings.vocabulary
        self._size = postings.size
        self._local = threading.local()
        # The caches belong to this index; a method-level cache would keep every index alive for ever.
        self._near: Callable[[str], Sequence[tuple[str, float]]] = lru_cache(maxsize=8192)(self._neighbours)
        self._meant = lru_cache(maxsize=QUERIES_REMEMBERED)(self._words_meant)
        self._top = lru_cache(maxsize=QUERIES_REMEMBERED)(self._best_score)

    def __len__(self) -> int:
        """How many rows are indexed."""
        return self._size

    def scores(self, query: str) -> np.ndarray:
        """BM25 score of every row: float32, shape (rows,), 0 where no word matches."""
        result = np.zeros(self._size, np.float32)
        for word in self._meant(query):
            word.add_to(result)
        return result

    def hits(self, query: str) -> tuple[np.ndarray, np.ndarray]:
        """The rows that any word matches, and their scores, equal to those of `scores`.

        Returns:
            int32, ascending, and float32: arrays of one length.
        """
        words = self._meant(query)
        with self._scratch(words) as total:
            for word in words:
                word.add_to(total)
            rows = self._touched(words, total)
            return rows, total[rows]

    def scores_of(self, query: str, rows: np.ndarray) -> np.ndarray:
        """The scores of some rows, equal to those of `scores`: float32, one for each of `rows`."""
        return self._scores_of(self._meant(query), np.asarray(rows, np.int32))

    def best(self, query: str, count: int, allowed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, float]:
        """The best rows that any word matches, by score and then row number, exactly.

        Args:
            query: Free text.
            count: How many rows are wanted, from 1; fewer come where fewer match.
            allowed: bool, shape (rows,): which rows may come. None: all.

        Returns:
            The rows (int32), their scores (float32) and the best score of all rows, allowed or not (0: no match).
        """
        words = self._meant(query)
        if self._sparse(words):
            rows, scores = self.hits(query)
            top = float(scores.max(initial=0))
            if allowed is not None:
                kept = allowed[rows]
                rows, scores = rows[kept], scores[kept]
            return *_leading(rows, scores, count), top
        if allowed is None or np.count_nonzero(allowed) * len(words) * LOOKUP > _entries(words):
            return self._best(words, count, allowed)
        rows = np.flatnonzero(allowed).astype(np.int32)
        scores = self._scores_of(words, rows)
        return *_leading(rows[scores > 0], scores[scores > 0], count), self._top(query)

    def corrected(self, query: str) -> list[tuple[str, float]]:
        """The vocabulary words that a query is taken to mean, with a weight in (0, 1] each."""
        return [(word.word, word.closeness) for word in self._meant(query)]

    # -- the best rows

    def _best_score(self, query: str) -> float:
        return self._best(self._meant(query), 1)[2]

    def _best(
        self, words: Sequence[_Meant], count: int, allowed: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """What `best` returns, for words with many postings.

        Words that can add much go first. Once the words that are left cannot lift a row that none has matched so far
        among the best, their long lists are not added up any more but looked up for the rows still in question.
        """
        ordered = sorted(words, key=lambda word: -word.most)
        with self._scratch(words) as total:
            for place, word in enumerate(ordered, 1):
                word.add_to(total)
                rest = ordered[place:]
                left = _most(rest)
                if rest and (_entries(rest) * WORTH <= self._size or left >= _most(ordered[:place])):
                    continue
                possible = total if allowed is None else self._only(total, allowed)
                least = _least(_bound(possible, count), left)
                # No row that is still at 0 can come among the best, and few enough others can.
                still = possible >= least if least > 0 else possible > 0
                if not rest or (least > 0 and np.count_nonzero(still) * len(rest) * LOOKUP < _entries(rest)):
                    break
            rows = np.flatnonzero(still).astype(np.int32)
            partial = total[rows]
            if allowed is not None:  # The best of all is found on the way: its score is no less than theirs.
                highest = np.flatnonzero(total >= _least(float(total.max()), left)).astype(np.int32)
                partial_highest = total[highest]
        rows, scores = self._finished(words, rest, rows, partial, count)
        if allowed is None:
            return rows, scores, float(scores[0])
        return rows, scores, float(self._finished(words, rest, highest, partial_highest, 1)[1][0])

    def _finished(
        self, words: Sequence[_Meant], rest: Sequence[_Meant], rows: np.ndarray, partial: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best of some rows, whose scores without the words of `rest` are known."""
        for place in range(len(rest) + 1):
            if len(rows) > count:
                kept = partial >= _least(float(np.partition(partial, -count)[-count]), _most(rest[place:]))
                rows, partial = rows[kept], partial[kept]
            if place < len(rest):
                partial += rest[place].of(rows)
        # Added up in another order than `scores` does, the last bit may differ.
        return _leading(rows, self._scores_of(words, rows) if len(words) > 1 else partial, count)

    def _scores_of(self, words: Sequence[_Meant], rows: np.ndarray) -> np.ndarray:
        if len(rows) * len(words) * LOOKUP > _entries(words):
            with self._scratch(words) as total:
                for word in words:
                    word.add_to(total)
                return total[rows]
        result = np.zeros(len(rows), np.float32)
        for word in words:
            result += word.of(rows)
        return result

    def _sparse(self, words: Sequence[_Meant]) -> bool:
        return _entries(words) * FEW <= self._size

    def _touched(self, words: Sequence[_Meant], total: np.ndarray) -> np.ndarray:
        """The rows that any word matches, ascending: int32."""
        if self._sparse(words):
            rows = np.sort(np.concatenate([np.empty(0, np.int32), *(word.rows for word in words)]))
            return rows[np.diff(rows, prepend=-1) != 0]
        return np.flatnonzero(total != 0).astype(np.int32)

    @contextmanager
    def _scratch(self, words: Sequence[_Meant]) -> Iterator[np.ndarray]:
        """This thread's array over all rows (float32, zeros), for adding up `words`; zeros again afterwards."""
        total: np.ndarray | None = getattr(self._local, "total", None)
        if total is None:
            total = self._local.total = np.zeros(self._size, np.float32)
        try:
            yield total
        finally:
            if self._sparse(words):
                for word in words:
                    total[word.rows] = 0
            else:
                total.fill(0)

    def _only(self, total: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """`total` where allowed, else 0, in this thread's second array."""
        only: np.ndarray | None = getattr(self._local, "only", None)
        if only is None:
            only = self._local.only = np.empty(self._size, np.float32)
        return np.multiply(total, allowed, out=only)

    # -- what words mean

    def _words_meant(self, query: str) -> tuple[_Meant, ...]:
        found: dict[str, float] = {}
        words = [word for word in dict.fromkeys(words_of(query)) if len(word) <= LONGEST_WORD]
        for word in words[:MOST_WORDS]:
            for other, closeness in self._near(word):
                found[other] = max(found.get(other, 0.0), closeness)
        return tuple(self._meaning(word, closeness) for word, closeness in found.items())

    def _meaning(self, word: str, closeness: float) -> _Meant:
        number = self.vocabulary.find(word)
        assert number is not None
        part = slice(int(self._postings.starts[number]), int(self._postings.starts[number + 1]))
        most = closeness * float(self._postings.peaks[number])
        return _Meant(word, closeness, self._postings.rows[part], self._postings.weights[part], most)

    def _neighbours(self, word: str) -> tuple[tuple[str, float], ...]:
        if word in TALK:
            return ()
        if word in self.vocabulary:
            return ((word, 1.0),)
        if word.endswith("s") and word[:-1] in self.vocabulary:
            return ((word[:-1], 1.0),)
        if len(word) < 4 or word.isdigit():
            return ()
        for cut in range(3, len(word) - 2):  # a missing space
            if word[:cut] in self.vocabulary and word[cut:] in self.vocabulary:
                return ((word[:cut], 0.9), (word[cut:], 0.9))
        talk = process.extractOne(word, TALK, scorer=OSA.normalized_similarity, score_cutoff=0.75)
        near = self._speller.nearest(word)
        if not near or (talk and talk[1] >= near[0][1]):
            return ()
        best = near[0][1]
        # A second-best guess counts less the further it is behind the best one.
        return tuple((other, score * (score / best) ** 4) for other, score in near)

    @cached_property
    def _speller(self) -> Speller:
        """Of all words in a small vocabulary, and of the most frequent ones in a large one: those are what is meant."""
        if len(self.vocabulary) <= SMALL:
            return Speller(list(self.vocabulary))
        return Speller(self.vocabulary.of(self._postings.frequent))


def _entries(words: Sequence[_Meant]) -> int:
    return sum(len(word.rows) for word in words)


def _most(words: Sequence[_Meant]) -> float:
    """The most that some words add to a row together."""
    return sum(word.most for word in words)


def _least(bound: float, left: float) -> float:
    """What a row must have so far to reach a bound, where the words that are left add at most `left`."""
    return bound * (1 - ROUNDING) - left * (1 + ROUNDING)


def _bound(total: np.ndarray, count: int) -> float:
    """A score that the `count` best rows reach at least, found without putting all rows in order.

    The maxima of groups are scores of different rows. Rows of a group lie far apart: neighbours are often alike.
    """
    groups = len(total) // GROUPS_OF
    if groups < count:
        return 0.0
    maxima = total[: groups * GROUPS_OF].reshape(GROUPS_OF, groups).max(axis=0)
    return float(np.partition(maxima, -count)[-count])


def _leading(rows: np.ndarray, scores: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The `count` best of some rows, which are ascending, by score and then row."""
    if len(rows) > count:
        least = np.partition(scores, -count)[-count]
        above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
        kept = np.sort(np.concatenate([above, equal[: count - len(above)]]))
        rows, scores = rows[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")
    return rows[order], scores[order]
