"""Several topics of the library together, so that a text is compared with all their phrasings at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ecomrlve.customer.asking import vectors
from ecomrlve.customer.asking.library import Topic, weight_of


class Shelf:
    """Topics side by side.

    Args:
        topics: The topics, in order; one may stand there several times.

    Attributes:
        topics: The same.
        vocabulary: The longer stems of their phrasings.
    """

    def __init__(self, topics: Sequence[Topic]):
        self.topics = tuple(topics)
        # A topic without a phrasing gets one that is near to nothing.
        sizes = [max(1, len(topic.words)) for topic in topics]
        self._starts = np.cumsum([0, *sizes[:-1]]) if topics else np.zeros(0, dtype=int)
        rows = -(-sum(sizes) // vectors.BLOCK) * vectors.BLOCK
        self._matrix = np.zeros((rows, vectors.DIMENSIONS), dtype=np.float32)
        self._norms = np.full(sum(sizes), np.inf)
        places: dict[str, list[int]] = {}
        for start, topic in zip(self._starts.tolist(), topics, strict=True):
            self._matrix[start : start + len(topic.words)] = topic.matrix
            for place, (words, norm) in enumerate(zip(topic.words, topic.norms, strict=True), start):
                if norm:
                    self._norms[place] = norm
                for stem in words:
                    places.setdefault(stem, []).append(place)
        self.vocabulary = sorted(stem for stem in places if len(stem) > 3)
        self._places = {stem: np.array(found) for stem, found in places.items()}

    def meanings(self, vector: np.ndarray) -> np.ndarray:
        """For every topic, the cosine of a text's vector with the nearest phrasing's: shape (topics,)."""
        if not self.topics:
            return np.zeros(0)
        values = vectors.similarities(self._matrix, vector)[: len(self._norms)]
        return np.maximum.reduceat(values, self._starts)

    def words(self, stems: frozenset[str], norm: float) -> np.ndarray:
        """For every topic, the cosine of a text's words with the nearest phrasing's: shape (topics,).

        Args:
            stems: The text's stems that carry meaning.
            norm: Their length, see `library.norm_of`.
        """
        if not self.topics:
            return np.zeros(0)
        shared = np.zeros(len(self._norms))
        for stem in sorted(stems):  # in a fixed order, so that the sums are the same everywhere
            places = self._places.get(stem)
            if places is not None:
                shared[places] += weight_of(stem) ** 2
        return np.maximum.reduceat(shared / (self._norms * norm), self._starts) if norm else np.zeros(len(self.topics))
