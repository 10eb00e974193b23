"""Searches in a dense index on disk: which rows are most similar to a query, of all or of some.

The index only proposes rows. Scores always come from the vectors themselves, so that a product's score depends neither
on the index nor on what else was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.errors import CatalogError

SCORED_AT_ONCE = 1024  # rows whose half floats fit a processor's cache
SCORE_ALL = 20_000  # with no more rows allowed, all are scored, which is as quick as a search and exact
MOST_WIDENING = 16  # a mask widens a search to no more than so many times its lists, unless too little is found


def library() -> Any:
    """FAISS, imported when first needed; its type stubs know too little of it to be of use."""
    import faiss

    return faiss


@contextmanager
def one_thread() -> Iterator[None]:
    """Have FAISS compute on the caller's thread alone; other callers' threads are not concerned.

    A search for one query is over sooner than threads have found each other, and where other processes keep the
    processor busy they wait for each other a hundred times as long as they compute.
    """
    faiss = library()
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def opened_index(path: Path) -> Any:
    """An index whose large parts stay on disk and are shared by all processes that open it.

    Raises:
        CatalogError: The file cannot be read.
    """
    faiss = library()
    try:
        # The codes of an exact index and the lists of the other one are mapped in different ways.
        with path.open("rb") as file:
            exact = file.read(4) == b"IxSQ"
        way = faiss.IO_FLAG_MMAP_IFC if exact else faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY
        index = faiss.read_index(str(path), way)
    except (OSError, RuntimeError) as error:
        raise CatalogError(f"{path} cannot be read as a dense index; build it again") from error
    if not exact:
        # Made for disks that seek: it starts 32 threads in every search, and the page cache needs none.
        faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0
    return index


class DenseSearcher:
    """Searches a dense index. Any number of threads may use one.

    Attributes:
        meta: What is written next to the index (see `build_index`).
        nprobe: How many lists a search looks into; of no use for an exact index.
        vectors: The vectors themselves: float16, shape (rows, dimensions), memory-mapped.
    """

    def __init__(self, index: Any, vectors: np.ndarray, meta: dict[str, Any]):
        self.meta = meta
        self.nprobe: int = meta["nprobe"]
        self.vectors = vectors
        self._index = index
        self._lists: int = getattr(index, "nlist", 0)
        self._codes = vectors.view(np.uint8)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(
        self, query_vectors: np.ndarray, count: int, allowed: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows most similar to each query.

        A search that finds fewer rows than there are to be found looks into more lists until it has them.

        Args:
            query_vectors: float32, shape (queries, dimensions).
            count: How many rows are wanted.
            allowed: The rows that may be found: bool, shape (rows,); None allows all.

        Returns:
            Scores (float32) and rows (int64), both of shape (queries, found) with found = `count` or all that are
            allowed, if these are fewer. Best first; equal scores by row.

        Raises:
            CatalogError: A query vector, or one of the index, is not finite.
        """
        queries = np.ascontiguousarray(query_vectors, dtype=np.float32)
        number = len(self) if allowed is None else int(np.count_nonzero(allowed))
        wanted = min(count, number)
        scores = np.empty((len(queries), wanted), dtype=np.float32)
        rows = np.empty((len(queries), wanted), dtype=np.int64)
        if not np.isfinite(queries).all():
            raise CatalogError("a query vector holds values that are no numbers, so that nothing is similar to it")
        if not wanted:
            return scores, rows
        for place, candidates in self._candidates(queries, wanted, allowed, number):
            own = self.exact(queries[place], candidates)
            best = np.lexsort((candidates, -own))[:wanted]
            scores[place], rows[place] = own[best], candidates[best]
        return scores, rows

    def exact(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The inner products of a query with some rows.

        A row's score is the same to the last bit whatever other rows are asked for. NumPy needs three times as long
        to widen half floats as FAISS to search them, so FAISS searches, for all.

        Args:
            query: float32, shape (dimensions,).
            rows: Row numbers; quickest in ascending order, and where they follow each other.

        Returns:
            float32, shape (len(rows),).
        """
        faiss = library()
        index = faiss.IndexScalarQuantizer(
            self.vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        asked = np.ascontiguousarray(query, dtype=np.float32)[None, :]
        scores = np.empty(len(rows), dtype=np.float32)
        together = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all())
        with one_thread():
            for start in range(0, len(rows), SCORED_AT_ONCE):
                some = rows[start : start + SCORED_AT_ONCE]
                index.reset()
                index.add_sa_codes(
                    self._codes[some[0] : some[-1] + 1] if together else np.take(self._codes, some, axis=0)
                )
                found, places = index.search(asked, len(some))
                scores[start + places[0]] = found[0]
        return scores

    def plain(self, query_vectors: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """What FAISS alone finds with the same index and settings: the yardstick for `nearest`."""
        faiss = library()
        chosen = faiss.SearchParametersIVF(nprobe=self.nprobe) if self._lists else None
        return self._index.search(np.ascontiguousarray(query_vectors, dtype=np.float32), count, params=chosen)

    def _candidates(
        self, queries: np.ndarray, wanted: int, allowed: np.ndarray | None, number: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """(number of a query, rows among which are its best)."""
        faiss = library()
        if number <= (SCORE_ALL if self._lists else wanted):
            everything = np.arange(len(self)) if allowed is None else np.flatnonzero(allowed)
            yield from ((place, everything) for place in range(len(queries)))
            return
        parameters: dict[str, Any] = {}
        if allowed is not None:
            # The bits have to outlive the search, hence a name for them.
            bits = np.packbits(np.ascontiguousarray(allowed, dtype=bool), bitorder="little")
            parameters["sel"] = faiss.IDSelectorBitmap(bits)
        probes = min(self.nprobe * min(MOST_WIDENING, -(-len(self) // number)), self._lists)
        # A few more than wanted: bytes order rows a little differently than their vectors do.
        most = min(wanted + wanted // 4 + 8, number)
        waiting = np.arange(len(queries))
        while len(waiting):
            if self._lists:
                chosen = faiss.SearchParametersIVF(nprobe=probes, **parameters)
            else:
                chosen = faiss.SearchParameters(**parameters)
            with one_thread() if len(waiting) == 1 else nullcontext():
                found = self._index.search(queries[waiting], most, params=chosen)[1]
            enough = np.count_nonzero(found >= 0, axis=1) >= wanted
            for place, candidates in zip(waiting[enough], found[enough], strict=True):
                yield int(place), np.sort(candidates[candidates >= 0])
            waiting = waiting[~enough]
            if len(waiting) and probes == self._lists:
                raise CatalogError("some vectors of the index hold values that are no numbers; build the vectors again")
            probes = min(4 * probes, self._lists)
