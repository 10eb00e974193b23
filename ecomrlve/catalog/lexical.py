"""A word index that forgives typing: query words are corrected against the catalog's own vocabulary.

Dense vectors break under typos; shoppers' words with 12 % wrong characters do not even tokenise. Correcting each word
to its nearest neighbours in the vocabulary (optimal string alignment distance) before a BM25 look-up finds what was
meant, and costs a fraction of a millisecond whatever the size of the catalog.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ecomrlve.catalog.columns import UNKNOWN, Catalog

K1, B = 1.2, 0.5  # BM25: titles are short, so length matters less than in documents
NEIGHBOURS = 3
MOST_WORDS = 64  # distinct words of a query that count
LONGEST_WORD = 40
CLOSEST = 0.6  # least similarity of a corrected word: two slips in a word of five letters
# Words of talk, not of goods. Corrected typos of them must not turn into product words either.
TALK = frozenset(
    """a an and any are as at be but by can could do for from get give have hello help hey hi i if im in into is it its
    just like list looking may me my need needs no not of off on one or order our over please pls shop shopping should
    so some something than thanks that the them then there these they this those to today u under up us want wanted
    was we what when where which with would you your add buy find everything item items thing things following cart
    ive id lets also too both each put show search after around good great maybe really thx hoping trying""".split()
)
_WORD = re.compile(r"[a-z0-9]+(?:[.'][a-z0-9]+)*")


def words_of(text: str) -> list[str]:
    """Lower-case words and numbers of a text."""
    return _WORD.findall(text.casefold().replace("’", "'"))


class LexicalIndex:
    """BM25 over title, type, brand, category and attribute words.

    Args:
        catalog: The products to index.
    """

    def __init__(self, catalog: Catalog):
        counts: list[Counter[str]] = []
        extra = [words_of(f"{name} {' '.join(path)}") for name, path in [("", path) for path in catalog.category_names]]
        types = [words_of(name) for name in catalog.type_names]
        words_by_column = [
            (column.values, [words_of(name) for name in column.names])
            for column in catalog.columns.values()
            if not column.numeric
        ]
        for row, title in enumerate(catalog.titles):
            bag = Counter(dict.fromkeys(words_of(title), 2))
            bag.update(dict.fromkeys(types[catalog.type_codes[row]], 1))
            bag.update(dict.fromkeys(extra[catalog.category_codes[row]], 0))
            for values, words in words_by_column:
                if values[row] != UNKNOWN:
                    for word in words[values[row]]:
                        bag.setdefault(word, 1)
            counts.append(bag)
        self.vocabulary = sorted(set().union(*counts))
        self._number = {word: number for number, word in enumerate(self.vocabulary)}
        self._size = len(counts)
        self._build(counts)
        # The cache belongs to this index; a method-level cache would keep every index alive for ever.
        self._near = lru_cache(maxsize=8192)(self._neighbours)

    def _build(self, counts: list[Counter[str]]) -> None:
        rows = np.repeat(np.arange(len(counts)), [len(bag) for bag in counts])
        words = np.fromiter((self._number[word] for bag in counts for word in bag), np.int64, len(rows))
        tf = np.fromiter((count for bag in counts for count in bag.values()), np.float64, len(rows))
        tf = np.where(tf == 0, 0.3, tf)  # category words count a little
        length = np.bincount(rows, weights=tf, minlength=len(counts))
        order = np.argsort(words, kind="stable")
        rows, words, tf = rows[order], words[order], tf[order]
        frequency = np.bincount(words, minlength=len(self.vocabulary))
        idf = np.log(1 + (len(counts) - frequency + 0.5) / (frequency + 0.5))
        weight = idf[words] * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length[rows] / length.mean()))
        self._starts = np.searchsorted(words, np.arange(len(self.vocabulary) + 1))
        self._rows = rows.astype(np.int32)
        self._weights = weight.astype(np.float32)

    def scores(self, query: str) -> np.ndarray:
        """BM25 score of every row: float32, shape (rows,), 0 where no word matches."""
        result = np.zeros(self._size, np.float32)
        for word, closeness in self.corrected(query):
            number = self._number[word]
            part = slice(self._starts[number], self._starts[number + 1])
            result[self._rows[part]] += np.float32(closeness) * self._weights[part]
        return result

    def corrected(self, query: str) -> list[tuple[str, float]]:
        """The vocabulary words that a query is taken to mean, with a weight in (0, 1] each."""
        found: dict[str, float] = {}
        words = [word for word in dict.fromkeys(words_of(query)) if len(word) <= LONGEST_WORD]
        for word in words[:MOST_WORDS]:
            for other, closeness in self._near(word):
                found[other] = max(found.get(other, 0.0), closeness)
        return list(found.items())

    def _neighbours(self, word: str) -> tuple[tuple[str, float], ...]:
        if word in TALK:
            return ()
        if word in self._number:
            return ((word, 1.0),)
        if word.endswith("s") and word[:-1] in self._number:
            return ((word[:-1], 1.0),)
        if len(word) < 4 or word.isdigit():
            return ()
        for cut in range(3, len(word) - 2):  # a missing space
            if word[:cut] in self._number and word[cut:] in self._number:
                return ((word[:cut], 0.9), (word[cut:], 0.9))
        talk = process.extractOne(word, TALK, scorer=OSA.normalized_similarity, score_cutoff=0.75)
        near = process.extract(
            word, self.vocabulary, scorer=OSA.normalized_similarity, score_cutoff=CLOSEST, limit=NEIGHBOURS
        )
        if not near or (talk and talk[1] >= near[0][1]):
            return ()
        best = near[0][1]
        # A second-best guess counts less the further it is behind the best one.
        return tuple((other, score * (score / best) ** 4) for other, score, _ in near)
