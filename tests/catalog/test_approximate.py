"""The dense index on disk: the rule, the same bytes for the same vectors, good results with any mask, whatever dies."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ecomrlve.catalog import approximate, dense_searcher
from ecomrlve.catalog.approximate import build_index, info, kind_of, list_count, noisy_queries, open_index, verify
from ecomrlve.errors import CatalogError

COUNT = 12_000
DIMENSIONS = 32
TWINS = slice(500, 560)  # rows with one and the same vector
EXACT_UP_TO = 5_000  # so that a small index follows the rule for large ones
CHILD = """
import sys
from pathlib import Path
from ecomrlve.catalog import approximate
approximate.EXACT_UP_TO = 5_000
approximate.ADDED_AT_ONCE = 1_000
def telling(name):
    real = getattr(approximate, name)
    def told(*args, **kwargs):
        print(name, flush=True)
        return real(*args, **kwargs)
    setattr(approximate, name, told)
for name in ("_trained", "_write", "_choose_probes", "file_checksum", "write_json"):
    telling(name)
import tqdm
class Bar(tqdm.tqdm):
    def update(self, n=1):
        print("added", flush=True)
        super().update(n)
tqdm.tqdm = Bar
approximate.build_index(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.fixture(scope="module", autouse=True)
def _small_rule():
    import faiss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "EXACT_UP_TO", EXACT_UP_TO)
        patch.setattr(approximate, "ADDED_AT_ONCE", 1_000)
        patch.setattr(dense_searcher, "SCORE_ALL", 200)
        patch.setenv("OMP_NUM_THREADS", "1")  # of processes that tests start
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # so little work is done sooner by one that waits for no other
        yield
        faiss.omp_set_num_threads(threads)


@pytest.fixture(scope="module")
def vectors_path(tmp_path_factory) -> Path:
    random_numbers = np.random.default_rng(3)
    centres = random_numbers.standard_normal((150, DIMENSIONS))
    cluster = np.sort(random_numbers.integers(0, len(centres), COUNT))
    vectors = centres[cluster] + 0.6 * random_numbers.standard_normal((COUNT, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[TWINS] = vectors[TWINS.start]
    path = tmp_path_factory.mktemp("vectors") / "vectors.npy"
    np.save(path, vectors.astype(np.float16))
    return path


@pytest.fixture(scope="module")
def folder(vectors_path) -> Path:
    build_index(vectors_path, vectors_path.parent / "lists")
    return vectors_path.parent / "lists"


@pytest.fixture(scope="module")
def flat(vectors_path) -> Path:
    few = vectors_path.parent / "few.npy"
    np.save(few, np.load(vectors_path)[:4_000])
    build_index(few, vectors_path.parent / "flat")
    return vectors_path.parent / "flat"


@pytest.fixture(scope="module")
def queries(vectors_path) -> np.ndarray:
    return noisy_queries(np.load(vectors_path), 30)


def truth(folder: Path, queries: np.ndarray, count: int, allowed: np.ndarray | None = None):
    """Scores and rows by comparing all in double precision; equal scores by row."""
    vectors = open_index(folder).vectors.astype(np.float64)
    scores = np.round(queries.astype(np.float64) @ vectors.T, 9)
    rows = np.arange(len(vectors)) if allowed is None else np.flatnonzero(allowed)
    best = [rows[np.lexsort((rows, -one[rows]))[:count]] for one in scores]
    return np.stack([one[row] for one, row in zip(scores, best, strict=True)]), np.stack(best)


def test_the_rule(monkeypatch):
    monkeypatch.setattr(approximate, "EXACT_UP_TO", 100_000)
    assert [kind_of(count) for count in (1, 100_000)] == ["SQfp16", "SQfp16"]
    assert kind_of(100_001) == "IVF1024,SQ8"
    assert [list_count(count) for count in (250_000, 1_000_000, 2_000_000, 4_000_000)] == [2048, 4096, 4096, 8192]


def test_the_same_vectors_give_the_same_bytes_whatever_the_threads(vectors_path, folder, tmp_path):
    import faiss

    threads = faiss.omp_get_max_threads()
    first = (folder / "index.faiss").read_bytes()
    for number in (1, 3):
        faiss.omp_set_num_threads(number)
        try:
            build_index(vectors_path, tmp_path / str(number))
        finally:
            faiss.omp_set_num_threads(threads)
        assert (tmp_path / str(number) / "index.faiss").read_bytes() == first


def test_what_is_built_is_not_built_again_but_for_other_vectors(vectors_path, tmp_path, monkeypatch):
    few = np.load(vectors_path)[:4_000]
    np.save(tmp_path / "few.npy", few)
    first = build_index(tmp_path / "few.npy", tmp_path / "index")
    with monkeypatch.context() as patch:
        patch.setattr(approximate, "_trained", None)
        assert build_index(tmp_path / "few.npy", tmp_path / "index") == first
    np.save(tmp_path / "few.npy", few[::-1])
    assert build_index(tmp_path / "few.npy", tmp_path / "index")["index_sha256"] != first["index_sha256"]
    assert {file.name for file in (tmp_path / "index").iterdir()} == {"index.faiss", "index.json"}


def test_recall_and_what_is_told(vectors_path, folder, flat):
    meta = info(folder)
    assert meta["kind"] == "IVF512,SQ8"
    assert (meta["nlist"], meta["count"], meta["dimensions"]) == (512, COUNT, DIMENSIONS)
    assert meta["nprobe"] in approximate.PROBES
    assert meta["recall_at_10"] >= 0.97
    assert meta["checksum_ok"]
    assert meta["bytes"] == (folder / "index.faiss").stat().st_size
    found = verify(folder, count=200)
    assert found["recall_at_10"] >= 0.95
    assert found["queries"] == 200
    assert verify(flat, count=50) == {"recall_at_10": 1.0, "recall_at_100": 1.0, "queries": 50}


def test_the_fewest_lists_that_reach_the_recall_are_taken(vectors_path, folder, monkeypatch):
    filled, vectors = folder / "index.faiss", np.load(vectors_path)
    recalls = []
    for wanted in (0.0, 0.999, 1.1):
        monkeypatch.setattr(approximate, "RECALL", wanted)
        recalls.append(approximate._choose_probes(filled, vectors, None))
    probes = [one for one, _ in recalls]
    assert probes[0] == 8
    assert probes[0] < probes[1] <= probes[2] == 128
    assert recalls[1][1] >= 0.999


def test_given_queries_are_used(vectors_path, folder):
    vectors = np.load(vectors_path)
    assert approximate._choose_probes(folder / "index.faiss", vectors, vectors[:50].astype(np.float32))[0] == 8


def test_the_exact_index_is_exact(flat, queries):
    scores, rows = open_index(flat).nearest(queries, 50)
    right_scores, _ = truth(flat, queries, 50)
    np.testing.assert_allclose(scores, right_scores, atol=1e-6)
    assert scores.dtype == np.float32
    assert rows.dtype == np.int64


def test_scores_are_those_of_the_vectors_and_sorted(folder, queries):
    searcher = open_index(folder)
    for query, scores, rows in zip(queries, *searcher.nearest(queries, 40), strict=True):
        assert scores.tobytes() == searcher.exact(query, rows).tobytes()
        order = list(zip(-scores, rows, strict=True))
        assert order == sorted(order)
        assert len(set(rows.tolist())) == 40


@pytest.mark.parametrize("name", ["folder", "flat"])
def test_equal_products_come_in_the_order_of_rows(name, request):
    searcher = open_index(request.getfixturevalue(name))
    twin = searcher.vectors[TWINS.start].astype(np.float32)
    _, rows = searcher.nearest(twin[None], 10)
    assert rows[0].tolist() == list(range(500, 510))


@pytest.mark.parametrize("name", ["folder", "flat"])
@pytest.mark.parametrize(
    "mask",
    [
        lambda rows: rows % 2 == 0,
        lambda rows: rows % 23 == 5,
        lambda rows: rows < 700,  # whole clusters, which most queries are far from
        lambda rows: (rows >= 3_000) & (rows < 3_150),
        lambda rows: rows == 77,
        lambda rows: rows < 0,
        lambda rows: rows >= 0,
    ],
)
def test_masks(name, mask, request, queries):
    folder = request.getfixturevalue(name)
    searcher = open_index(folder)
    allowed = mask(np.arange(len(searcher)))
    scores, rows = searcher.nearest(queries, 30, allowed)
    assert rows.shape == scores.shape == (len(queries), min(30, allowed.sum()))
    assert allowed[rows].all()
    assert all(len(set(one)) == len(one) for one in rows.tolist())
    if rows.size:
        right = truth(folder, queries, 30, allowed)[0]
        share = (scores >= right[:, -1:] - 1e-5).mean()
        assert share == 1.0 if name == "flat" or allowed.sum() <= 200 else share >= 0.9


def test_more_than_the_lists_looked_into_hold(folder, queries):
    searcher = open_index(folder)
    searcher.nprobe = 1
    rows = searcher.nearest(queries[:3], 5_000)[1]
    assert rows.shape == (3, 5_000)
    assert all(len(set(one)) == 5_000 for one in rows.tolist())
    assert searcher.nearest(queries[:1], COUNT + 5)[1].shape == (1, COUNT)


@pytest.mark.parametrize(
    "rows", [[], [5], range(100, 3_000), range(0, COUNT, 7), [9, 3, 3, 11_999], [3, 5, 4, 6], [7, 6, 5]]
)
def test_exact_scores(folder, queries, rows):
    searcher = open_index(folder)
    rows = np.array(rows, dtype=np.int64)
    scores = searcher.exact(queries[0], rows)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, searcher.vectors[rows].astype(np.float64) @ queries[0], atol=1e-6)
    alone = [searcher.exact(queries[0], rows[place : place + 1])[0] for place in range(0, len(rows), 50)]
    assert scores[::50].tolist() == alone


def test_other_searches_keep_their_threads(folder, queries):
    import faiss

    searcher = open_index(folder)
    faiss.omp_set_num_threads(3)
    try:
        several = searcher.nearest(queries, 20)
        alone = [searcher.nearest(query[None], 20) for query in queries]
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(1)
    for place, kind in ((0, "scores"), (1, "rows")):
        assert several[place].tobytes() == np.concatenate([one[place] for one in alone]).tobytes(), kind


def test_queries_that_are_no_numbers_are_refused(folder, queries):
    broken = queries.copy()
    broken[2, 3] = np.nan
    with pytest.raises(CatalogError, match="no numbers"):
        open_index(folder).nearest(broken, 10)


def test_vectors_that_are_no_numbers_end_a_search(tmp_path, queries):
    np.save(tmp_path / "vectors.npy", np.full((300, DIMENSIONS), np.nan, dtype=np.float16))
    build_index(tmp_path / "vectors.npy", tmp_path)
    with pytest.raises(CatalogError, match="build the vectors again"):
        open_index(tmp_path).nearest(queries, 10)


def test_killed_anywhere_the_index_is_the_same(vectors_path, folder, tmp_path):
    pick = random.Random(11)
    right = (folder / "index.faiss").read_bytes()
    trained = 0
    for number in (2, *(pick.randint(1, 20) for _ in range(4))):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(vectors_path), str(tmp_path)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        said = []
        for line in child.stdout:
            said.append(line.strip())
            if len(said) > number:
                child.send_signal(signal.SIGKILL)
                break
        child.stdout.close()
        assert child.wait() in (-signal.SIGKILL, 0)
        trained += "_trained" in said and "added" in said
    assert trained <= 1  # the adding alone is repeated
    build_index(vectors_path, tmp_path)
    assert (tmp_path / "index.faiss").read_bytes() == right
    assert {file.name for file in tmp_path.iterdir()} == {"index.faiss", "index.json"}
    assert info(tmp_path)["checksum_ok"]


def test_half_an_index_of_other_vectors_is_no_use(vectors_path, folder, tmp_path):
    working = tmp_path / "index.part"
    working.mkdir()
    (working / "index.json").write_text('{"kind": "IVF512,SQ8", "vectors_sha256": "other"}')
    (working / "filled.faiss").write_bytes(b"of something else")
    build_index(vectors_path, tmp_path)
    assert (tmp_path / "index.faiss").read_bytes() == (folder / "index.faiss").read_bytes()


def test_vectors_built_by_us_lend_their_facts(vectors_path, tmp_path):
    np.save(tmp_path / "vectors.npy", np.load(vectors_path)[:1_000])
    checksum = approximate.file_checksum(tmp_path / "vectors.npy")
    (tmp_path / "vectors.json").write_text(json.dumps({"catalog": "c", "encoder": "e@1", "sha256": checksum}))
    meta = build_index(tmp_path / "vectors.npy", tmp_path, progress=True)
    assert (meta["catalog"], meta["encoder"], meta["vectors"]) == ("c", "e@1", "vectors.npy")
    assert info(tmp_path)["checksum_ok"]
    with (tmp_path / "vectors.npy").open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"\x00\x01")
    assert not info(tmp_path)["checksum_ok"]


def test_what_cannot_be_opened_says_what_to_do(vectors_path, flat, tmp_path):
    with pytest.raises(CatalogError, match="build it first"):
        open_index(tmp_path)
    with pytest.raises(CatalogError, match="build the vectors first"):
        build_index(tmp_path / "vectors.npy", tmp_path)
    np.save(tmp_path / "vectors.npy", np.zeros((3, 4), dtype=np.float64))
    with pytest.raises(CatalogError, match="no float16 vectors"):
        build_index(tmp_path / "vectors.npy", tmp_path)
    np.save(tmp_path / "vectors.npy", np.load(vectors_path)[:100])
    build_index(tmp_path / "vectors.npy", tmp_path)
    np.save(tmp_path / "vectors.npy", np.load(vectors_path)[:99])
    with pytest.raises(CatalogError, match="does not fit"):
        open_index(tmp_path)
    (tmp_path / "index.faiss").write_bytes(b"IxSQ and no more")
    with pytest.raises(CatalogError, match="cannot be read as a dense index"):
        open_index(tmp_path)
