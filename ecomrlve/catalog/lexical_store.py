"""Building the word index: BM25 weights of every word in every product, for catalogs from ten to millions of products.

Rows are read in blocks. The words of types, categories, brands and attribute values are cut once per distinct value and
then spread over rows by their codes; sorting one number per (word, row, place it was found in) puts a block in order.
The result is four arrays and a vocabulary, kept in memory or in a folder that is mapped into memory.
"""

from __future__ import annotations

import json
import re
import shutil
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ecomrlve.catalog.columns import COMMON, UNKNOWN, Catalog
from ecomrlve.catalog.stored import array_file, mapped
from ecomrlve.errors import CatalogError

K1, B = 1.2, 0.5  # BM25: titles are short, so length matters less than in documents
BLOCK = 100_000  # rows that are put in order at a time
SMALL = 60_000  # words of a vocabulary that is looked up in a dict; a longer one is searched where it lies
VERSION = 1
META = "lexical.json"
VOCABULARY = "vocabulary.arrow"
_WORD = re.compile(r"[a-z0-9]+(?:[.'][a-z0-9]+)*")
_WORD_OR_BREAK = re.compile(rf"{_WORD.pattern}|\n")
# Where a word of a product was found, in the order in which one place goes before another, and what it counts there.
_TITLE, _TYPE, _CATEGORY, _ATTRIBUTE, _TITLE_AND_TYPE = range(5)
_COUNTS = np.array([2.0, 1.0, 0.3, 1.0, 3.0])


def words_of(text: str) -> list[str]:
    """Lower-case words and numbers of a text."""
    return _WORD.findall(text.casefold().replace("’", "'"))


class Vocabulary(Sequence[str]):
    """Words in alphabetical order, numbered from 0.

    Args:
        words: The words, ascending.
    """

    def __init__(self, words: pa.StringArray):
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return self._words[number].to_pylist()
        return self._words[int(number)].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self._words.to_pylist())

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) is not None

    def find(self, word: str) -> int | None:
        """The number of a word, or None where it is not here."""
        if len(self._words) <= SMALL:
            return self._numbers.get(word)
        # A dict of a million words takes longer to make than a process may take to start.
        place = bisect_left(range(len(self)), word, key=self.__getitem__)
        return place if place < len(self) and self[place] == word else None

    def of(self, numbers: np.ndarray) -> list[str]:
        """The words with these numbers."""
        wanted = np.ascontiguousarray(numbers, np.int64)
        return self._words.take(
            pa.Array.from_buffers(pa.int64(), len(wanted), [None, pa.py_buffer(wanted)])
        ).to_pylist()

    @property
    def words(self) -> pa.StringArray:
        """All words as they are kept."""
        return self._words

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self._words.to_pylist())}


@dataclass(frozen=True)
class WordPostings:
    """Word → the rows that have it, with BM25 weights.

    Attributes:
        vocabulary: The words.
        size: Rows of the catalog.
        starts: int64, shape (words + 1,): word `w` has the entries from ``starts[w]`` up to ``starts[w + 1]``.
        rows: int32, shape (entries,), ascending within a word.
        weights: float32, shape (entries,).
        peaks: float32, shape (words,): the largest weight of each word.
        frequent: int32: numbers of the words that most rows have, at most `SMALL`, most frequent first.
    """

    vocabulary: Vocabulary
    size: int
    starts: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    peaks: np.ndarray
    frequent: np.ndarray


ARRAYS = ("starts", "rows", "weights", "peaks", "frequent")
Allocate = Callable[[str, Any, int], np.ndarray]  # name, type and length → a new array


def in_memory(name: str, kind: Any, length: int) -> np.ndarray:
    """A new array in memory (see `Allocate`)."""
    return np.empty(length, kind)


def build(catalog: Catalog, allocate: Allocate = in_memory, *, progress: bool = False) -> WordPostings:
    """Index a catalog.

    Args:
        catalog: The products, in memory or on disk.
        allocate: Makes the arrays of the result, so that large ones can lie in files.
        progress: Show a bar.

    Returns:
        The same for the same products, whatever the size of a block.
    """
    from tqdm import tqdm

    size = len(catalog)
    reader = _Reader(catalog)
    length = np.empty(size)
    blocks = []
    with tqdm(total=size, unit=" products", desc="words", disable=not progress) as bar:
        for start in range(0, size, BLOCK):
            block = reader.block(start, min(start + BLOCK, size))
            length[start : start + block.size] = block.lengths()
            blocks.append(block)
            bar.update(block.size)
    frequency = np.zeros(len(reader.number), np.int64)
    for block in blocks:
        frequency += np.bincount(block.words, minlength=len(frequency))
    vocabulary, numbers = _in_order(list(reader.number), frequency)
    rank = np.zeros(len(reader.number), np.int64)
    rank[numbers] = np.arange(len(numbers))
    frequency = frequency[numbers]
    idf = np.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
    starts = allocate("starts", np.int64, len(vocabulary) + 1)
    starts[0] = 0
    np.cumsum(frequency, out=starts[1:])
    rows = allocate("rows", np.int32, int(starts[-1]))
    weights = allocate("weights", np.float32, int(starts[-1]))
    mean = length.mean()
    filled = starts[:-1].copy()
    while blocks:
        block = blocks.pop(0)
        words, tf = rank[block.words], _COUNTS[block.places]
        # Each word's entries of this block stand together: they follow those that earlier blocks filled in.
        counts = np.bincount(words, minlength=len(vocabulary))
        heads = np.flatnonzero(np.diff(words, prepend=-1))
        lengths = np.diff(heads, append=len(words))
        target = np.repeat(filled[words[heads]] - heads, lengths) + np.arange(len(words))
        weight = idf[words] * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length[block.rows] / mean))
        rows[target] = block.rows
        weights[target] = weight
        filled += counts
    peaks = allocate("peaks", np.float32, len(vocabulary))
    if len(vocabulary):
        np.maximum.reduceat(weights, starts[:-1], out=peaks)
    order = np.argsort(-frequency, kind="stable")[:SMALL]
    frequent = allocate("frequent", np.int32, len(order))
    frequent[:] = order
    return WordPostings(vocabulary, size, starts, rows, weights, peaks, frequent)


def _in_order(words: list[str], frequency: np.ndarray) -> tuple[Vocabulary, np.ndarray]:
    """The words that occur, in alphabetical order, and where each of them is among the given ones."""
    numbers = np.array(sorted(np.flatnonzero(frequency).tolist(), key=words.__getitem__), np.int64)
    return Vocabulary(_string_array([words[number] for number in numbers.tolist()])), numbers


def _string_array(words: Sequence[str]) -> pa.StringArray:
    """Words of ASCII letters and digits as Arrow keeps them; `pyarrow.array` would import pandas first."""
    ends = np.zeros(len(words) + 1, np.int32)
    np.cumsum([len(word) for word in words], out=ends[1:])
    return pa.StringArray.from_buffers(len(words), pa.py_buffer(ends), pa.py_buffer("".join(words).encode("ascii")))


@dataclass
class _Block:
    """Some rows' words, each word once in a row, ordered by word, then row.

    Attributes:
        start, size: The first row and how many rows.
        words, rows, places: For each entry the reader's number of the word, the row, and where it was found.
    """

    start: int
    size: int
    words: np.ndarray
    rows: np.ndarray
    places: np.ndarray

    def lengths(self) -> np.ndarray:
        """What all words of a row count together: float64, shape (size,)."""
        rows = self.rows - self.start
        counts = [np.bincount(rows[self.places == place], minlength=self.size) for place in range(len(_COUNTS))]
        length = sum(counts[place] * _COUNTS[place] for place in (_TITLE, _TITLE_AND_TYPE, _TYPE))
        assert isinstance(length, np.ndarray)
        # One after the other, as one would add them up: a product would differ in the last bit.
        for place in (_CATEGORY, _ATTRIBUTE):
            for step in range(int(counts[place].max(initial=0))):
                length[counts[place] > step] += _COUNTS[place]
        return length


class _Table:
    """The words of some distinct values.

    Args:
        texts: The values, in the order of their codes.
        number: Word → its number; new words are numbered on.
    """

    def __init__(self, texts: Sequence[str], number: dict[str, int]):
        owners, self._words = _cut(texts, number)
        self._lengths = np.bincount(owners, minlength=len(texts))
        self._starts = np.cumsum(self._lengths) - self._lengths

    def spread(self, rows: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and words of the values that the rows have, one entry for each word."""
        lengths = self._lengths[codes]
        ends = np.cumsum(lengths)
        places = np.repeat(self._starts[codes] - (ends - lengths), lengths) + np.arange(
            int(ends[-1]) if len(ends) else 0
        )
        return np.repeat(rows, lengths), self._words[places]


class _Reader:
    """Reads a catalog's words block by block and numbers them as they come."""

    def __init__(self, catalog: Catalog):
        self.catalog = catalog
        self.number: defaultdict[str, int] = defaultdict()
        self.number.default_factory = self.number.__len__
        self.number["\n"]  # what ends a text is no word; it gets the number 0 and never occurs
        self._types = _Table(catalog.type_names, self.number)
        self._categories = _Table([" ".join(path) for path in catalog.category_names], self.number)
        self._tables: dict[str, _Table] = {}

    def block(self, start: int, end: int) -> _Block:
        """The words of the rows from `start` up to `end`."""
        span = np.arange(start, end)
        types = np.asarray(self.catalog.type_codes[start:end])
        found = {
            _TITLE: [_cut(self.catalog.titles[start:end], self.number)],
            _TYPE: [self._types.spread(span - start, types)],
            _CATEGORY: [self._categories.spread(span - start, np.asarray(self.catalog.category_codes[start:end]))],
            _ATTRIBUTE: [],
        }
        for name, rows, codes in self._attributes(span, types):
            known = codes != UNKNOWN
            found[_ATTRIBUTE].append(self._table(name).spread(rows[known] - start, codes[known]))
        # Word, row and place in one number: half of the time of the whole would go into sorting three arrays.
        keys = np.concatenate(
            [
                ((words.astype(np.int64) * BLOCK + rows) << 2) | place
                for place, parts in found.items()
                for rows, words in parts
            ]
        )
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) != 0]
        entries, places = keys >> 2, (keys & 3).astype(np.uint8)
        first = np.diff(entries, prepend=-1) != 0
        # A word of the title that is one of the type as well: the type's entry comes right behind.
        both = ~first[1:] & (places[1:] == _TYPE) & (places[:-1] == _TITLE)
        places[:-1][both] = _TITLE_AND_TYPE
        entries, places = entries[first], places[first]
        rows = (entries % BLOCK + start).astype(np.int32)
        return _Block(start, end - start, (entries // BLOCK).astype(np.int32), rows, places)

    def _attributes(self, span: np.ndarray, types: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Each attribute of words that any of the rows may have: rows whose type has it, and their values' codes."""
        columns = self.catalog.columns
        for name in COMMON:
            if name in columns and not columns[name].numeric:
                yield name, span, np.asarray(columns[name].values[span])
        # Type by type: that is how a catalog on disk keeps them.
        order = np.argsort(types, kind="stable")
        heads = np.flatnonzero(np.diff(types[order], prepend=-1))
        holders: dict[str, list[np.ndarray]] = defaultdict(list)
        for rows in np.split(span[order], heads[1:]):
            for name in self.catalog.type_attributes(int(rows[0])):
                if not columns[name].numeric:
                    holders[name].append(rows)
        for name, parts in holders.items():
            codes = [np.asarray(columns[name].values[rows]) for rows in parts]
            yield name, np.concatenate(parts), np.concatenate(codes)

    def _table(self, name: str) -> _Table:
        if name not in self._tables:
            self._tables[name] = _Table(self.catalog.columns[name].names, self.number)
        return self._tables[name]


def _cut(texts: Sequence[str], number: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """For each word of many texts which text it is from, and its number, as `words_of` would cut them one by one."""
    joined = "\n".join(text.replace("\n", " ") for text in texts).casefold().replace("’", "'")
    tokens = _WORD_OR_BREAK.findall(joined)
    numbers = np.fromiter(map(number.__getitem__, tokens), np.int32, len(tokens))
    ends = numbers == number["\n"]
    return np.cumsum(ends)[~ends], numbers[~ends]


def write_lexical(catalog: Catalog, folder: Path, *, progress: bool = False) -> None:
    """Index a catalog into a folder, for `LexicalIndex.open`. The same products make the same bytes.

    Args:
        catalog: The products, in memory or on disk.
        folder: Where the index shall be; one that is there is replaced. Until all is written it is called
            ``<folder>.part``.
        progress: Show a bar.

    Raises:
        CatalogError: The folder cannot be written.
    """
    part = folder.with_name(folder.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)

        def in_file(name: str, kind: Any, length: int) -> np.ndarray:
            # A file of no length cannot be mapped; one more entry that nothing points to can.
            return np.lib.format.open_memmap(array_file(part, name), "w+", np.dtype(kind), (max(length, 1),))[:length]

        postings = build(catalog, in_file, progress=progress)
        for name in ARRAYS:
            getattr(postings, name).base.flush()
        words = postings.vocabulary.words
        batch = pa.record_batch([words], names=["word"])
        with pa.OSFile(str(part / VOCABULARY), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)
        lengths = {name: len(getattr(postings, name)) for name in ARRAYS}
        meta = {"version": VERSION, "rows": postings.size, "words": len(words), "lengths": lengths}
        (part / META).write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
    except OSError as error:
        raise CatalogError(f"the word index {folder} cannot be written: {error}") from error


def read_lexical(folder: Path) -> WordPostings:
    """Map what `write_lexical` wrote; only what is asked for is ever read.

    Raises:
        CatalogError: No word index, one of another version, or one that is damaged.
    """
    again = "make it again with `write_lexical`"
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        if meta["version"] != VERSION:
            raise CatalogError(f"the word index {folder} is of another version: {again}")
        arrays = {}
        for name in ARRAYS:
            length = meta["lengths"][name]
            arrays[name] = mapped(array_file(folder, name))[:length]
            if len(arrays[name]) != length:
                raise CatalogError(f"the word index {folder} is damaged ({name}): {again}")
        words = pa.ipc.open_file(pa.memory_map(str(folder / VOCABULARY))).get_batch(0).column("word")
        if not len(words) == meta["words"] == len(arrays["starts"]) - 1:
            raise CatalogError(f"the word index {folder} is damaged (vocabulary): {again}")
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise CatalogError(f"{folder} is no word index, or a damaged one ({error!r}): {again}") from error
    return WordPostings(Vocabulary(words), meta["rows"], **arrays)
