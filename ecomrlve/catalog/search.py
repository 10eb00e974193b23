"""The search engine: words and meaning fused, filters exact, ties by row number.

One rule of fusion, here: 2 parts corrected words, 1 part dense similarity, each scaled to its best hit. Scores are
rounded before sorting, so that the last bits of a processor's arithmetic do not decide an order.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.encoder import Encoder
from ecomrlve.catalog.filters import Constraint, satisfied
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
    """

    def __init__(self, catalog: Catalog, encoder: Encoder | None = None, *, progress: bool = False):
        self.catalog = catalog
        # How hits are found: the encoder's name, or by words alone. Part of what an episode depends on.
        self.method = encoder.name if encoder is not None else "words"
        self._lexical = LexicalIndex(catalog)
        self._encoder = encoder
        self._dense = DenseIndex(embeddings(catalog, encoder, progress=progress)) if encoder else None
        self._all = np.arange(len(catalog))
        self._rankings: OrderedDict[str, tuple[np.ndarray, np.ndarray]] = OrderedDict()
        self._lock = threading.Lock()

    def matching(self, constraints: list[Constraint]) -> np.ndarray:
        """Rows that satisfy all constraints, ascending. A type filter first narrows the work to its postings."""
        rows = self._all
        for constraint in constraints:
            if constraint.attribute == "type" and constraint.operator == "eq":
                rows = self.catalog.rows_of_type(str(constraint.value))
                break
        for constraint in constraints:
            rows = rows[satisfied(self.catalog, rows, constraint)]
        return rows

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
        words = _scaled(self._lexical.scores(query))
        if self._dense is None or self._encoder is None:
            return np.round(words, 4)
        meaning = _scaled(np.maximum(self._dense.scores(self._encoder.query(query)), 0))
        return np.round(LEXICAL_SHARE * words + (1 - LEXICAL_SHARE) * meaning, 4)


def _scaled(scores: np.ndarray) -> np.ndarray:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
