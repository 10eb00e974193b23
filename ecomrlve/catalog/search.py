"""The search engine: words and meaning fused, filters exact, ties by row number.

One rule of fusion, here: 2 parts corrected words, 1 part dense similarity, each scaled to its best hit. Scores are
rounded before sorting, so that the last bits of a processor's arithmetic do not decide an order.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.encoder import Encoder
from ecomrlve.catalog.filters import Constraint, rows_satisfying, satisfied
from ecomrlve.catalog.index import DenseIndex, embeddings
from ecomrlve.catalog.lexical import LexicalIndex

LEXICAL_SHARE = 2 / 3
CACHED_RANKINGS = 256
SORTS = ("relevance", "price_asc", "price_desc", "rating", "ship_days")


class SearchEngine:
    """Ranks rows of one catalog. Shared by all episodes and threads; it remembers queries, never episodes.

    Args:
        catalog: What is searched.
        encoder: For similarity by meaning; None searches by words alone.
        progress: Show a bar while vectors are computed for the first time.
        vectors: The products' vectors by that encoder, where they are at hand; else shipped, cached or computed.
    """

    def __init__(
        self,
        catalog: Catalog,
        encoder: Encoder | None = None,
        *,
        progress: bool = False,
        vectors: np.ndarray | None = None,
    ):
        self.catalog = catalog
        # How hits are found: the encoder's name, or by words alone. Part of what an episode depends on.
        self.method = encoder.name if encoder is not None else "words"
        self._lexical = LexicalIndex(catalog)
        self.encoder = encoder
        if encoder is not None and vectors is None:
            vectors = embeddings(catalog, encoder, progress=progress)
        self._dense = DenseIndex(vectors) if encoder is not None and vectors is not None else None
        self._all = np.arange(len(catalog))
        self._rankings: OrderedDict[str, tuple[np.ndarray, np.ndarray]] = OrderedDict()
        self._lock = threading.Lock()

    def matching(self, constraints: list[Constraint]) -> np.ndarray:
        """Rows that satisfy all constraints, ascending. A type filter first narrows the work to its postings."""
        return matching_rows(self.catalog, self._all, constraints)

    def rank(self, query: str, rows: np.ndarray, sort: str = "relevance") -> np.ndarray:
        """The given rows, best first.

        Args:
            query: Free text; an empty one leaves relevance equal for all.
            rows: Candidate rows, ascending.
            sort: One of `SORTS`; ties, and products without the value, are ordered by relevance, then row.
        """
        if sort == "relevance" and len(rows) == len(self._all):
            return self.order(query)
        relevance = -self.scores(query)[rows]
        if sort == "relevance":
            return rows[np.argsort(relevance, kind="stable")]
        column, sign = {
            "price_asc": ("price", 1.0),
            "price_desc": ("price", -1.0),
            "rating": ("rating", -1.0),
            "ship_days": ("ship_days", 1.0),
        }[sort]
        values = sign * self.catalog.columns[column].values[rows]
        return rows[np.lexsort((rows, relevance, np.nan_to_num(values, nan=np.inf)))]

    def stray(self, query: str, ranked: np.ndarray, count: int, *, filtered: bool, key: int) -> np.ndarray:
        """Rows that a deficient engine would show for a query besides the genuine hits.

        With filters, its best hits if it forgot them. Without, everything is a genuine hit, and what is out of place
        comes from far down the ranking.

        Args:
            query: What was searched for.
            ranked: The genuine hits, best first.
            count: How many rows are wanted; without filters there may be more.
            filtered: Whether there were filters.
            key: 64-bit key of episode and search, for engines that draw.
        """
        if not filtered:
            return ranked[len(ranked) // 2 :]
        order = self.order(query)[: count + len(ranked)]
        foreign = np.ones(len(self.catalog), bool)
        foreign[ranked] = False
        return order[foreign[order]][:count]

    def by_words(self) -> SearchEngine:
        """An engine over the same catalog that searches by words alone, for what asks thousands of queries once."""
        return self if self.encoder is None else SearchEngine(self.catalog)

    def prepare(self, queries: Iterable[str]) -> None:
        """Rank the catalog for many queries at once, ahead of the searches of many episodes that step together."""
        for query in queries:
            self._ranking(query)

    def warm_up(self) -> None:
        """Load what the first search would otherwise wait for."""
        self.order("warm up")

    def scores(self, query: str) -> np.ndarray:
        """Relevance of every row to a query: float32, shape (rows,), at most 1."""
        return self._ranking(query)[0]

    def order(self, query: str) -> np.ndarray:
        """All rows, best first."""
        return self._ranking(query)[1]

    def _ranking(self, query: str) -> tuple[np.ndarray, np.ndarray]:
        key = fold(query)
        with self._lock:
            if key in self._rankings:
                self._rankings.move_to_end(key)
                return self._rankings[key]
        scores = self._fused(key)
        ranking = scores, np.argsort(-scores, kind="stable").astype(np.int32)
        for array in ranking:  # shared by all episodes
            array.setflags(write=False)
        with self._lock:
            self._rankings[key] = ranking
            if len(self._rankings) > CACHED_RANKINGS:
                self._rankings.popitem(last=False)
        return ranking

    def _fused(self, query: str) -> np.ndarray:
        if not query:
            return np.zeros(len(self.catalog), np.float32)
        words = self._lexical.scores(query)
        if self._dense is None or self.encoder is None:
            return fused(words, float(words.max(initial=0.0)))
        meaning = self._dense.scores(self.encoder.query(query))
        return fused(words, float(words.max(initial=0.0)), meaning, float(meaning.max(initial=0.0)))


def fused(
    words: np.ndarray, best_words: float, meaning: np.ndarray | None = None, best_meaning: float = 0.0
) -> np.ndarray:
    """The one rule of relevance: 2 parts words, 1 part meaning, each scaled to its best hit in the whole catalog.

    Args:
        words: Scores of the word index.
        best_words: The best of them in the catalog.
        meaning: Cosine similarities of the same rows; None where there are no vectors.
        best_meaning: The best of them in the catalog.

    Returns:
        float32 of the same shape, at most 1 and rounded to four decimals.
    """
    words = words / np.float32(best_words) if best_words > 0 else words
    if meaning is None:
        return np.round(words, 4)
    meaning = np.maximum(meaning, 0)
    meaning = meaning / np.float32(best_meaning) if best_meaning > 0 else meaning
    return np.round(LEXICAL_SHARE * words + (1 - LEXICAL_SHARE) * meaning, 4)


def matching_rows(catalog: Catalog, everything: np.ndarray, constraints: Sequence[Constraint]) -> np.ndarray:
    """Rows that satisfy all constraints, ascending: only the smallest postings that one of them names are looked at.

    Args:
        catalog: Whose products.
        everything: All rows.
        constraints: What they must satisfy.
    """
    rows = everything
    for constraint in constraints:
        some = postings_of(catalog, constraint)
        if some is not None and len(some) < len(rows):
            rows = some
    for constraint in constraints:
        if rows is everything:  # a whole column is compared without picking its rows one by one
            rows = rows_satisfying(catalog, constraint)
        else:
            rows = rows[satisfied(catalog, rows, constraint)]
    return rows


def postings_of(catalog: Catalog, constraint: Constraint) -> np.ndarray | None:
    """Rows, ascending, among which are all that satisfy the constraint; None where the catalog keeps no postings."""
    name, value = constraint.attribute, constraint.value
    if constraint.operator == "eq" and name == "type":
        return catalog.rows_of_type(str(value))
    if constraint.operator == "eq" and name == "brand":
        return catalog.rows_of_brand(catalog.columns["brand"].code(str(value)))
    if constraint.operator == "in" and name == "type":
        return np.sort(np.concatenate([catalog.rows_of_type(str(word)) for word in dict.fromkeys(map(fold, value))]))
    return None
