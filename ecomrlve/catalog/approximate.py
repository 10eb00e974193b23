"""The dense index of a catalog folder: exact while that is quick, approximate by inverted lists above.

One rule decides. Up to `EXACT_UP_TO` vectors every one is compared. Above, ``IVF…,SQ8``: vectors are sorted into
lists around as many centres as the power of two nearest to four times the square root of their number, a byte per
dimension, and a search looks into the lists nearest to the query. Centres are trained on a sample chosen by hash and
with a fixed seed: the same vectors give the same file. How many lists are looked into is measured, not guessed.
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.catalog.dense_searcher import DenseSearcher, library, opened_index
from ecomrlve.catalog.vectors import FACTS, file_checksum, read_json, settle, write_json
from ecomrlve.errors import CatalogError
from ecomrlve.streams import key_of, unit_hashes

INDEX = "index.faiss"
META = "index.json"
WORKING = "index.part"
EXACT_UP_TO = 100_000  # vectors that are all compared
TRAINING_PER_LIST = 64
MOST_TRAINING = 262_144
PROBES = (8, 16, 32, 64, 128)  # how many lists a search may look into
RECALL = 0.97  # of the best ten, that many have to be found
SAMPLED_QUERIES = 200
SEED = 20_250
PRUNED_FROM = 32  # dimensions that FAISS's quicker k-means, which prunes comparisons, asks for
ADDED_AT_ONCE = 65_536
SAME_SCORE = 1e-5


def list_count(count: int) -> int:
    """The rule: how many lists an index of `count` vectors has, 0 if every vector is compared."""
    return 0 if count <= EXACT_UP_TO else int(2 ** round(math.log2(4 * math.sqrt(count))))


def kind_of(count: int) -> str:
    """The rule in FAISS's words. The exact index keeps the half floats that the vectors are stored in."""
    lists = list_count(count)
    return f"IVF{lists},SQ8" if lists else "SQfp16"


def build_index(
    vectors_path: Path, folder: Path, *, progress: bool = False, queries: np.ndarray | None = None
) -> dict[str, Any]:
    """Build the index of vectors on disk; a call after a killed one goes on with the centres that it had trained.

    Args:
        vectors_path: A ``vectors.npy`` as `vectors.build_vectors` publishes it: float16, shape (rows, dimensions).
        folder: Where the index is published.
        progress: Show a bar.
        queries: What to measure recall with when choosing how many lists to look into: float32, shape (queries,
            dimensions), unit length. Left out, vectors of sampled rows with noise.

    Returns:
        What is written next to the index: kind, nlist, nprobe, recall_at_10 (as measured for the choice), count,
        dimensions, vectors (relative path), vectors_sha256, index_sha256, catalog, encoder, faiss.

    Raises:
        CatalogError: The vectors cannot be read.
    """
    faiss = library()
    vectors = _mapped(vectors_path)
    facts = read_json(vectors_path.with_name(FACTS)) or {}
    wanted = {
        "kind": kind_of(len(vectors)),
        "count": len(vectors),
        "dimensions": vectors.shape[1],
        "vectors_sha256": facts.get("sha256") or file_checksum(vectors_path),
        "faiss": faiss.__version__,
    }
    present = read_json(folder / META)
    working = folder / WORKING
    if present is not None and (folder / INDEX).is_file() and _fits(present, wanted):
        shutil.rmtree(working, ignore_errors=True)
        return present
    if read_json(working / META) != wanted:  # nothing, or of other vectors: nothing there is of use
        shutil.rmtree(working, ignore_errors=True)
        working.mkdir(parents=True)
        write_json(working / META, wanted)
    filled = _filled(vectors, wanted["kind"], working, progress)
    nprobe, recall = _choose_probes(filled, vectors, queries)
    meta = wanted | {
        "nlist": list_count(len(vectors)),
        "nprobe": nprobe,
        "recall_at_10": round(recall, 4),
        "vectors": os.path.relpath(vectors_path.resolve(), folder.resolve()),
        "index_sha256": file_checksum(filled),
        "catalog": facts.get("catalog", ""),
        "encoder": facts.get("encoder", ""),
    }
    ready = working / "ready.json"
    write_json(ready, meta)
    # Killed between these steps, a folder has an index of which nothing is known, hence none, and is built again.
    (folder / META).unlink(missing_ok=True)
    os.replace(filled, folder / INDEX)
    os.replace(ready, folder / META)
    shutil.rmtree(working)
    return meta


def _fits(meta: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(meta.get(key) == value for key, value in wanted.items())


def _mapped(path: Path) -> np.ndarray:
    """Vectors on disk as a plain array, memory-mapped."""
    try:
        vectors = np.load(path, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise CatalogError(f"{path} cannot be read ({error}); build the vectors first") from error
    if vectors.ndim != 2 or vectors.dtype != np.float16 or not len(vectors):
        raise CatalogError(f"{path} holds no float16 vectors, one a row; build the vectors again")
    return np.asarray(vectors)


def _filled(vectors: np.ndarray, kind: str, working: Path, progress: bool) -> Path:
    """The file of the index with all vectors in it; centres are kept as soon as they are trained."""
    from tqdm import tqdm

    faiss = library()
    filled, trained = working / "filled.faiss", working / "trained.faiss"
    if filled.is_file():
        return filled
    with tqdm(total=len(vectors), unit=" rows", desc="index: training", disable=not progress) as bar:
        if trained.is_file():
            index = faiss.read_index(str(trained))
        else:
            index = _trained(vectors, kind)
            _write(index, trained)
        bar.set_description("index: adding")
        bar.unpause()  # training does not count for the rate
        for start in range(0, len(vectors), ADDED_AT_ONCE):
            batch = vectors[start : start + ADDED_AT_ONCE].astype(np.float32)
            index.add(batch)
            bar.update(len(batch))
    _write(index, filled)
    return filled


def _trained(vectors: np.ndarray, kind: str) -> Any:
    faiss = library()
    index = faiss.index_factory(vectors.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
    lists = list_count(len(vectors))
    if lists:
        index.cp.seed = SEED
        index.cp.use_super_kmeans = index.d >= PRUNED_FROM
        sample = _sample("training", len(vectors), min(TRAINING_PER_LIST * lists, MOST_TRAINING))
        index.train(vectors[sample].astype(np.float32))
    return index


def _sample(purpose: str, count: int, most: int) -> np.ndarray:
    """Rows chosen by their hash, ascending."""
    hashes = unit_hashes(key_of("dense index", purpose), np.arange(count))
    return np.sort(np.argsort(hashes, kind="stable")[:most])


def _write(index: Any, path: Path) -> None:
    faiss = library()
    writing = path.with_suffix(".writing")
    faiss.write_index(index, str(writing))
    with writing.open("rb+") as file:
        settle(file)
    os.replace(writing, path)


def noisy_queries(vectors: np.ndarray, count: int) -> np.ndarray:
    """Stand-ins for queries: sampled rows' vectors, turned away from them by as much as a query from its product.

    Args:
        vectors: float16, shape (rows, dimensions).
        count: How many; fewer if there are fewer rows.

    Returns:
        float32, shape (count, dimensions), unit length, the same for the same vectors.
    """
    rows = _sample("queries", len(vectors), count)
    noise = np.random.default_rng(SEED).standard_normal((len(rows), vectors.shape[1]), dtype=np.float32)
    noise *= np.float32(0.75) / np.linalg.norm(noise, axis=1, keepdims=True)  # similarity to the row about 0.8
    queries = vectors[rows].astype(np.float32) + noise
    return queries / np.linalg.norm(queries, axis=1, keepdims=True)


def _choose_probes(filled: Path, vectors: np.ndarray, queries: np.ndarray | None) -> tuple[int, float]:
    """The fewest lists to look into for the wanted recall, and the recall that this gives."""
    lists = list_count(len(vectors))
    if not lists:
        return 0, 1.0
    asked = noisy_queries(vectors, SAMPLED_QUERIES) if queries is None else queries
    searcher = DenseSearcher(opened_index(filled), vectors, {"nprobe": PROBES[0]})
    best = _best_scores(vectors, asked, 10)
    for probes in PROBES:
        searcher.nprobe = probes
        recall = _recall(searcher.nearest(asked, 10)[0], best)
        if recall >= RECALL:
            break
    return probes, recall


def open_index(folder: Path) -> DenseSearcher:
    """The searcher of a folder's index, with index and vectors memory-mapped.

    Raises:
        CatalogError: There is no index, or its vectors are not the ones it was built from.
    """
    meta = _meta(folder)
    vectors = _mapped(folder / meta["vectors"])
    index = opened_index(folder / INDEX)
    if vectors.shape != (index.ntotal, index.d) or len(vectors) != meta["count"]:
        raise CatalogError(f"the index in {folder} does not fit {meta['vectors']}; build the index again")
    return DenseSearcher(index, vectors, meta)


def _meta(folder: Path) -> dict[str, Any]:
    meta = read_json(folder / META)
    if meta is None or not (folder / INDEX).is_file():
        raise CatalogError(f"{folder} has no dense index yet; build it first")
    return meta


def verify(folder: Path, queries: np.ndarray | None = None, *, count: int = 1000) -> dict[str, Any]:
    """Compare an index's results with those of an exact search.

    A row counts as found if it scores at least as much as the last of the truly best, so that it does not matter
    which of many equal products is shown.

    Args:
        folder: The index's folder.
        queries: float32, shape (queries, dimensions), unit length; left out, `noisy_queries`.
        count: How many queries to make, if none are given.

    Returns:
        recall_at_10, recall_at_100, queries.

    Raises:
        CatalogError: There is no index.
    """
    searcher = open_index(folder)
    asked = noisy_queries(searcher.vectors, count) if queries is None else queries
    best = _best_scores(searcher.vectors, asked, 100)
    found = searcher.nearest(asked, 100)[0]
    return {
        "recall_at_10": round(_recall(found[:, :10], best[:, :10]), 4),
        "recall_at_100": round(_recall(found, best), 4),
        "queries": len(asked),
    }


def info(folder: Path) -> dict[str, Any]:
    """What is known of a folder's index, with its files checked.

    Returns:
        What `build_index` wrote, bytes (of the index file) and checksum_ok (whether index and vectors are, to the
        last bit, what was written).

    Raises:
        CatalogError: There is no index.
    """
    meta = _meta(folder)
    sums = {folder / INDEX: meta["index_sha256"], folder / meta["vectors"]: meta["vectors_sha256"]}
    intact = all(path.is_file() and file_checksum(path) == expected for path, expected in sums.items())
    return meta | {"bytes": (folder / INDEX).stat().st_size, "checksum_ok": intact}


def _best_scores(vectors: np.ndarray, queries: np.ndarray, count: int) -> np.ndarray:
    """The highest scores of each query by comparing all, best first: float32, shape (queries, at most `count`)."""
    faiss = library()
    asked = np.ascontiguousarray(queries, dtype=np.float32)
    heap = faiss.ResultHeap(len(asked), min(count, len(vectors)), keep_max=True)
    for start in range(0, len(vectors), ADDED_AT_ONCE):
        block = vectors[start : start + ADDED_AT_ONCE].astype(np.float32)
        heap.add_result(*faiss.knn(asked, block, min(count, len(block)), metric=faiss.METRIC_INNER_PRODUCT))
    heap.finalize()
    return heap.D


def _recall(found: np.ndarray, best: np.ndarray) -> float:
    """The share of found scores that belong to the best; both float32, of one shape."""
    return float((found >= best[:, -1:] - SAME_SCORE).mean())
