"""Search in a catalog too large to rank as a whole: the best thousand hits, proposed by two indexes and scored exactly.

Up to a hundred thousand products every search ranks everything. Here the word index and the dense index each propose
their best rows; what was proposed is scored by the same rule of fusion, from the same scores, so that a hit's place
depends on nothing else that was found. Where filters leave few rows there is nothing to propose: all are scored, and
the ranking is exact and complete.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.dense_searcher import DenseSearcher
from ecomrlve.catalog.encoder import Encoder
from ecomrlve.catalog.filters import Constraint
from ecomrlve.catalog.lexical import LexicalIndex
from ecomrlve.catalog.search import SORTS, SearchEngine, fused, matching_rows
from ecomrlve.streams import unit_hashes

DEEPEST = 1_000  # hits that a ranking of many rows holds; narrower filters show the rest
PROPOSED = 300  # rows that the dense index proposes; the word index proposes as many as a ranking holds
FEW = 20_000  # with no more rows than these, all are scored
CACHED = 256
_COLUMNS = {
    "price_asc": ("price", 1.0),
    "price_desc": ("price", -1.0),
    "rating": ("rating", -1.0),
    "ship_days": ("ship_days", 1.0),
}


@dataclass(frozen=True, slots=True)
class _Query:
    """What one query needs for every row's score.

    Attributes:
        text: The folded query.
        words: Rows that the word index proposes, of the whole catalog.
        best_words: The best score of the word index in the catalog.
        vector: The query's vector; None without vectors.
        meaning: Rows that the dense index proposes, of the whole catalog.
        best_meaning: The best similarity that it found in the catalog.
    """

    text: str
    words: np.ndarray
    best_words: float
    vector: np.ndarray | None
    meaning: np.ndarray
    best_meaning: float


class LargeSearchEngine(SearchEngine):
    """Searches a large catalog by indexes on disk. It has the methods of `SearchEngine`, besides `scores`.

    Args:
        catalog: What is searched.
        words: Its word index.
        encoder: For similarity by meaning; None searches by words alone.
        dense: The index of its vectors by that encoder.
    """

    def __init__(
        self,
        catalog: Catalog,
        words: LexicalIndex,
        encoder: Encoder | None = None,
        dense: DenseSearcher | None = None,
    ):
        self.catalog = catalog
        self.method = f"{encoder.name}, approximate" if encoder is not None else "words"
        self.words = words
        self.encoder = encoder
        self.searcher = dense
        self._all = np.arange(len(catalog))
        self._queries: OrderedDict[str, _Query] = OrderedDict()
        self._orders: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def matching(self, constraints: list[Constraint]) -> np.ndarray:
        """Rows that satisfy all constraints, ascending."""
        return matching_rows(self.catalog, self._all, constraints)

    def rank(self, query: str, rows: np.ndarray, sort: str = "relevance") -> np.ndarray:
        """The given rows, best first: all of them where there are few, else the best `DEEPEST`.

        Args:
            query: Free text; an empty one leaves relevance equal for all.
            rows: Candidate rows, ascending.
            sort: One of `SORTS`; ties, and products without the value, are ordered by relevance, then row.
        """
        assert sort in SORTS
        if sort != "relevance":
            return self._sorted(query, rows, *_COLUMNS[sort])
        if len(rows) == len(self._all):
            return self.order(query)
        if len(rows) <= FEW:
            return rows[np.argsort(-self.relevance(query, rows), kind="stable")]
        return self._best(self._query(query), rows, DEEPEST)

    def order(self, query: str) -> np.ndarray:
        """The best `DEEPEST` rows of the catalog, best first."""
        key = fold(query)
        with self._lock:
            if key in self._orders:
                self._orders.move_to_end(key)
                return self._orders[key]
        order = self._best(self._query(query), None, DEEPEST)
        order.setflags(write=False)  # shared by all episodes
        with self._lock:
            self._orders[key] = order
            if len(self._orders) > CACHED:
                self._orders.popitem(last=False)
        return order

    def relevance(self, query: str, rows: np.ndarray) -> np.ndarray:
        """Relevance of some rows to a query: float32, shape (len(rows),), at most about 1."""
        return self._relevance(self._query(query), rows)

    def scores(self, query: str) -> np.ndarray:
        """Relevance of every row; slow, for comparisons."""
        return self.relevance(query, self._all)

    def by_words(self) -> SearchEngine:
        """An engine over the same catalog and word index that searches by words alone."""
        return self if self.encoder is None else LargeSearchEngine(self.catalog, self.words)

    def prepare(self, queries: Iterable[str]) -> None:
        """Find what the indexes propose for many queries at once, ahead of searches that come together."""
        with self._lock:
            fresh = [key for key in dict.fromkeys(map(fold, queries)) if key and key not in self._queries]
        if self.searcher is None or self.encoder is None or len(fresh) < 2:
            return
        vectors = np.stack([self.encoder.query(key) for key in fresh])
        scores, rows = self.searcher.nearest(vectors, PROPOSED)
        for number, key in enumerate(fresh):
            self._remember(self._asked(key, vectors[number], scores[number], rows[number]))

    def stray(self, query: str, ranked: np.ndarray, count: int, *, filtered: bool, key: int) -> np.ndarray:
        """Rows that a deficient engine would show besides the genuine hits (see `SearchEngine.stray`).

        With filters, the best of what both indexes propose for the query alone. Without, rows drawn from all of the
        catalog: that is what lies far down a ranking.
        """
        if filtered:
            asked = self._query(query)
            found = np.union1d(asked.words[:count], asked.meaning[:count]).astype(np.int64)
            genuine = np.zeros(len(self._all), bool)
            genuine[ranked] = True
            found = found[~genuine[found]]
            return found[np.argsort(-self._relevance(asked, found), kind="stable")][:count]
        drawn = (unit_hashes(key, np.arange(count)) * len(self._all)).astype(np.int64)
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        return drawn[~np.isin(drawn, ranked)]

    # -- one query

    def _query(self, query: str) -> _Query:
        key = fold(query)
        with self._lock:
            if key in self._queries:
                self._queries.move_to_end(key)
                return self._queries[key]
        if not key or self.searcher is None or self.encoder is None:
            return self._remember(self._asked(key, None, np.empty(0, np.float32), np.empty(0, np.int64)))
        vector = self.encoder.query(key)
        scores, rows = self.searcher.nearest(vector[None, :], PROPOSED)
        return self._remember(self._asked(key, vector, scores[0], rows[0]))

    def _asked(self, key: str, vector: np.ndarray | None, scores: np.ndarray, rows: np.ndarray) -> _Query:
        words, _, best = self.words.best(key, DEEPEST)
        return _Query(key, words, best, vector, rows, float(scores[0]) if len(scores) else 0.0)

    def _remember(self, asked: _Query) -> _Query:
        with self._lock:
            self._queries[asked.text] = asked
            if len(self._queries) > CACHED:
                self._queries.popitem(last=False)
        return asked

    def _relevance(self, asked: _Query, rows: np.ndarray) -> np.ndarray:
        words = self.words.scores_of(asked.text, rows)
        if asked.vector is None or self.searcher is None:
            return fused(words, asked.best_words)
        return fused(words, asked.best_words, self.searcher.exact(asked.vector, rows), asked.best_meaning)

    def _best(self, asked: _Query, rows: np.ndarray | None, count: int) -> np.ndarray:
        """The best rows of many, or of all where None is given."""
        words, meaning = asked.words, asked.meaning
        if rows is not None:
            allowed = np.zeros(len(self._all), bool)
            allowed[rows] = True
            words = self.words.best(asked.text, DEEPEST, allowed)[0]
            if asked.vector is not None and self.searcher is not None:
                meaning = self.searcher.nearest(asked.vector[None, :], PROPOSED, allowed)[1][0]
        found = np.union1d(words, meaning).astype(np.int64)
        ranked = found[np.argsort(-self._relevance(asked, found), kind="stable")][:count]
        if len(ranked) < count:
            # Nothing speaks for the others, so they come by row; so many of them that enough are new.
            others = self._all[: count + len(found)] if rows is None else rows[: count + len(found)]
            others = others[~np.isin(others, found)]
            ranked = np.concatenate([ranked, others[: count - len(ranked)]])
        return ranked

    # -- other orders

    def _sorted(self, query: str, rows: np.ndarray, column: str, sign: float) -> np.ndarray:
        every = self.catalog.columns[column].values
        values = np.nan_to_num(sign * (every if len(rows) == len(self._all) else every[rows]), nan=np.inf)
        if len(rows) <= FEW:
            return rows[np.lexsort((rows, -self.relevance(query, rows), values))]
        last = np.partition(values, DEEPEST - 1)[DEEPEST - 1]
        first, equal = rows[values < last], rows[values == last]
        first = first[np.lexsort((first, -self.relevance(query, first), values[values < last]))]
        return np.concatenate([first, self.rank(query, equal)[: DEEPEST - len(first)]])
