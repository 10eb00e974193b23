"""The word index of large catalogs: the same scores however it is built, kept and asked."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ecomrlve.catalog import lexical, lexical_store
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.lexical import CLOSEST, LexicalIndex, Speller
from ecomrlve.catalog.lexical_store import words_of, write_lexical
from ecomrlve.catalog.store import save_catalog
from ecomrlve.catalog.synthetic import generate
from ecomrlve.errors import CatalogError

WORDS = ("red", "blue", "lamp", "desk", "chair", "oak", "large", "usb", "2.5", "o'neil", "desks", "lampe")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "title": TEXTS,
            "price": st.just(1.0),
            "type": st.sampled_from(["Desk Lamp", "chair", "DESK"]),
            "category": st.sampled_from([None, ("Home", "Lamp"), ("Oak Chair", "Blue desk", "x y z")]),
            "brand": st.sampled_from([None, "Oak & Co", "O’Neil", "red"]),
            "attributes": st.dictionaries(
                st.sampled_from(["color", "material", "size"]), st.sampled_from([None, "red", "Blue Oak", "usb 2.5"])
            ),
        }
    ),
    min_size=1,
    max_size=40,
)
QUERIES = st.lists(st.sampled_from([*WORDS, "lmap", "chiar", "lampdesk", "homes", "zzzzz"]), max_size=8).map(" ".join)


def catalog_of(records: list[dict[str, Any]]) -> Catalog:
    return Catalog.from_records(records, name="words")


def reindexed(catalog: Catalog, folder: Path) -> LexicalIndex:
    write_lexical(catalog, folder)
    return LexicalIndex.open(folder)


@pytest.fixture(autouse=True, scope="module")
def eager():
    """Small catalogs take the ways of large ones: the thresholds between them change speed, never results."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical_store, "BLOCK", 7)
        patch.setattr(lexical, "FEW", 1_000)
        patch.setattr(lexical, "WORTH", 1_000)
        patch.setattr(lexical, "GROUPS_OF", 2)
        patch.setattr(lexical, "LOOKUP", 0.1)
        yield


# --- what counts how much --------------------------------------------------------------------------------------------


def plain_weights(catalog: Catalog) -> dict[tuple[str, int], np.float32]:
    """(word, row) → weight, one product after the other."""
    bags = []
    for row, title in enumerate(catalog.titles):
        bag: dict[str, float] = {}
        of_type = set(words_of(catalog.type_of(row)))
        for word in words_of(title):
            bag[word] = 3.0 if word in of_type else 2.0
        for word in words_of(catalog.type_of(row)):
            bag.setdefault(word, 1.0)
        for word in words_of(" ".join(catalog.category_names[catalog.category_codes[row]])):
            bag.setdefault(word, 0.3)
        for column in catalog.columns.values():
            if not column.numeric:
                for word in words_of(column.get(row) or ""):
                    bag.setdefault(word, 1.0)
        bags.append(bag)
    lengths = np.array([math.fsum(bag.values()) for bag in bags])
    rows_with = Counter(word for bag in bags for word in bag)
    weights = {}
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            rarity = np.log(1 + (len(bags) - rows_with[word] + 0.5) / (rows_with[word] + 0.5))
            weight = rarity * count * 2.2 / (count + 1.2 * (0.5 + 0.5 * lengths[row] / lengths.mean()))
            weights[word, row] = np.float32(weight)
    return weights


@given(records=RECORDS)
@settings(max_examples=60, deadline=None)
def test_weights_are_those_of_counting_each_product_by_itself(records: list[dict[str, Any]]):
    index = LexicalIndex(catalog_of(records))
    postings = index._postings
    found = {
        (word, row): weight
        for number, word in enumerate(index.vocabulary)
        for row, weight in zip(
            postings.rows[postings.starts[number] : postings.starts[number + 1]].tolist(),
            postings.weights[postings.starts[number] : postings.starts[number + 1]],
            strict=True,
        )
    }
    expected = plain_weights(catalog_of(records))
    assert list(index.vocabulary) == sorted({word for word, _ in expected})
    assert found.keys() == expected.keys()
    keys = sorted(expected)
    np.testing.assert_allclose([found[key] for key in keys], [expected[key] for key in keys], rtol=3e-7)
    assert all(np.all(np.diff(part) > 0) for part in np.split(postings.rows, postings.starts[1:-1]))


def test_titles_are_cut_together_as_they_would_be_one_by_one():
    titles = ["Straße\nNo. 5", "", "\n", "it’s 2.5\r\nm", "a.", ".b", "日本", "İstanbul", "x\u2028y"]
    number = lexical_store._Reader(catalog_of([{"title": "x", "price": 1.0, "type": "t"}])).number
    owners, numbers = lexical_store._cut(titles, number)
    words = list(number)
    cut = [[words[word] for word in numbers[owners == place]] for place in range(len(titles))]
    assert cut == [words_of(title) for title in titles]


def test_a_word_that_no_product_has_is_not_in_the_vocabulary():
    catalog = catalog_of([{"title": "lamp", "price": 1.0, "type": "t", "attributes": {"color": "red"}}])
    catalog.columns["color"].names.append("blue")
    assert list(LexicalIndex(catalog).vocabulary) == ["lamp", "red", "t"]


# --- asking ----------------------------------------------------------------------------------------------------------


def plainly_best(scores: np.ndarray, count: int, allowed: np.ndarray | None) -> np.ndarray:
    rows = [row for row in range(len(scores)) if scores[row] > 0 and (allowed is None or allowed[row])]
    return np.array(sorted(rows, key=lambda row: (-scores[row], row))[:count], np.int32)


def check_best(index: LexicalIndex, query: str, count: int, allowed: np.ndarray | None) -> None:
    scores = index.scores(query)
    rows, found, top = index.best(query, count, allowed)
    assert rows.dtype == np.int32
    assert found.dtype == np.float32
    np.testing.assert_array_equal(rows, plainly_best(scores, count, allowed))
    np.testing.assert_array_equal(found, scores[rows])
    assert top == scores.max()


@given(records=RECORDS, queries=st.lists(QUERIES, min_size=1, max_size=3), data=st.data())
@settings(max_examples=60, deadline=None)
def test_hits_and_best_agree_with_all_scores(records: list[dict[str, Any]], queries: list[str], data: Any):
    index = LexicalIndex(catalog_of(records))
    masks = st.lists(st.booleans(), min_size=len(records), max_size=len(records)).map(lambda mask: np.array(mask, bool))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical, "LOOKUP", data.draw(st.sampled_from([0.0, 0.1, 1e9])))
        patch.setattr(lexical, "FEW", data.draw(st.sampled_from([0, 3, 1_000])))
        for query in queries:
            scores = index.scores(query)
            rows, found = index.hits(query)
            assert rows.dtype == np.int32
            np.testing.assert_array_equal(rows, np.flatnonzero(scores))
            np.testing.assert_array_equal(found, scores[rows])
            some = np.array(data.draw(st.lists(st.integers(0, len(records) - 1), max_size=9)), np.int64)
            np.testing.assert_array_equal(index.scores_of(query, some), scores[some])
            check_best(index, query, data.draw(st.integers(1, 50)), data.draw(st.none() | masks))


@pytest.fixture(scope="module")
def thousand() -> Catalog:
    return generate(1_000)


def queries_of(catalog: Catalog, count: int) -> list[str]:
    """Words from two titles with a type: some match a lot of rows, some few, some are misspelt."""
    step = len(catalog) // count
    mixed = [
        " ".join(
            [*catalog.titles[row].split()[:4], *catalog.titles[row - 1].split()[-2:], catalog.type_of(row), "black"]
        )
        for row in range(0, len(catalog), step)
    ]
    return [
        query if place % 2 else re.sub(r"(\w\w)(\w)(\w)", r"\1\3\2", query, count=1)
        for place, query in enumerate(mixed)
    ]


def test_long_lists_are_looked_up_and_not_added_up(thousand: Catalog, monkeypatch: pytest.MonkeyPatch):
    index = LexicalIndex(thousand)
    added: list[int] = []
    add = lexical._Meant.add_to

    def noted(word: Any, total: np.ndarray) -> None:
        added.append(len(word.rows))
        add(word, total)

    monkeypatch.setattr(lexical._Meant, "add_to", noted)
    half = np.arange(len(thousand)) % 2 == 0
    spared = 0
    for query in queries_of(thousand, 60):
        for allowed in (None, half):
            added.clear()
            index.best(query, 5, allowed)
            spared += sum(added) < sum(len(word.rows) for word in index._meant(query))
            check_best(index, query, 5, allowed)
    assert spared > 30


def test_threads_do_not_disturb_each_other(thousand: Catalog):
    index, queries = LexicalIndex(thousand), queries_of(thousand, 100)
    expected = [index.best(query, 10)[0].tolist() for query in queries]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda query: index.best(query, 10)[0].tolist(), queries * 3)) == expected * 3


def test_a_failure_leaves_no_scores_behind(thousand: Catalog, monkeypatch: pytest.MonkeyPatch):
    index = LexicalIndex(thousand)
    scores = index.scores("black chair lamp")

    def failing(word: Any, total: np.ndarray) -> None:
        total[word.rows] += 1
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(lexical._Meant, "add_to", failing)
        for ask in (lambda: index.best("black chair lamp", 5), lambda: index.hits("black chair lamp")):
            with pytest.raises(MemoryError):
                ask()
    np.testing.assert_array_equal(index.hits("black chair lamp")[1], scores[scores > 0])


# --- on disk ---------------------------------------------------------------------------------------------------------


def test_an_index_on_disk_answers_like_one_in_memory(thousand: Catalog, tmp_path: Path):
    memory, disk = LexicalIndex(thousand), reindexed(thousand, tmp_path / "words")
    assert len(disk) == len(thousand)
    assert list(disk.vocabulary) == list(memory.vocabulary)
    assert disk.vocabulary[3:6] == [disk.vocabulary[number] for number in (3, 4, 5)]
    for query in queries_of(thousand, 50):
        assert disk.corrected(query) == memory.corrected(query)
        np.testing.assert_array_equal(disk.scores(query), memory.scores(query))
        check_best(disk, query, 20, None)


def test_a_catalog_on_disk_is_indexed_like_the_one_in_memory(thousand: Catalog, tmp_path: Path):
    stored = save_catalog(thousand, tmp_path / "shop")
    write_lexical(thousand, tmp_path / "a")
    write_lexical(stored, tmp_path / "b")
    for file in sorted((tmp_path / "a").iterdir()):
        assert (tmp_path / "b" / file.name).read_bytes() == file.read_bytes(), file.name


def test_the_same_products_make_the_same_bytes(thousand: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_lexical(thousand, tmp_path / "a")
    monkeypatch.setattr(lexical_store, "BLOCK", 400)
    write_lexical(thousand, tmp_path / "b")
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == 7
    assert {name: (tmp_path / "a" / name).read_bytes() for name in files} == {
        path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()
    }


def test_an_index_is_there_whole_or_not_at_all(thousand: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "words"
    write_lexical(thousand, folder)
    before = (folder / "weights.npy").read_bytes()
    other = catalog_of([{"title": "quite another lamp", "price": 1.0, "type": "lamp"}])
    with monkeypatch.context() as patch:
        patch.setattr(lexical_store.pa, "record_batch", lambda *args, **kwargs: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(CatalogError, match="cannot be written: full"):
            write_lexical(other, folder)
    assert (folder / "weights.npy").read_bytes() == before
    assert reindexed(other, folder).hits("another")[0].tolist() == [0]
    assert [path.name for path in tmp_path.iterdir()] == ["words"]


@pytest.mark.parametrize("damage", ["gone", "version", "short", "words", "no json"])
def test_a_damaged_index_is_refused(thousand: Catalog, tmp_path: Path, damage: str):
    folder = tmp_path / "words"
    write_lexical(thousand, folder)
    meta = json.loads((folder / "lexical.json").read_text())
    if damage == "gone":
        (folder / "rows.npy").unlink()
    elif damage == "version":
        (folder / "lexical.json").write_text(json.dumps({**meta, "version": 99}))
    elif damage == "short":
        (folder / "weights.npy").write_bytes((folder / "weights.npy").read_bytes()[:-8])
    elif damage == "words":
        (folder / "vocabulary.arrow").write_bytes(b"ARROW1")
    else:
        (folder / "lexical.json").write_text("{")
    with pytest.raises(CatalogError, match="again"):
        LexicalIndex.open(folder)


def test_a_catalog_without_words_can_be_kept_and_asked(tmp_path: Path):
    index = reindexed(catalog_of([{"title": "日本", "price": 1.0, "type": "茶"}]), tmp_path / "words")
    assert len(index.vocabulary) == 0
    assert index.corrected("tea lamps") == []
    rows, scores, top = index.best("tea lamps", 5, np.ones(1, bool))
    assert (len(rows), len(scores), top) == (0, 0, 0.0)
    assert index.hits("tea")[0].tolist() == []
    assert index.scores_of("tea", np.array([0])).tolist() == [0.0]


# --- spelling --------------------------------------------------------------------------------------------------------


@given(
    words=st.lists(st.text("abcde.'1", min_size=1, max_size=12), min_size=1, max_size=60, unique=True),
    asked=st.text("abcdef1", min_size=4, max_size=12),
)
@settings(max_examples=200, deadline=None)
def test_the_nearest_words_are_those_that_comparing_with_all_finds(words: list[str], asked: str):
    near = process.extract(asked, words, scorer=OSA.normalized_similarity, score_cutoff=CLOSEST, limit=3)
    assert Speller(words).nearest(asked) == [(word, score) for word, score, _ in near]


def test_a_large_vocabulary_is_searched_and_corrected_to_its_frequent_words(monkeypatch: pytest.MonkeyPatch):
    titles = ["lamp desk", "lamp chair", "lamp lamq", "desk sofa"]
    catalog = catalog_of([{"title": title, "price": 1.0, "type": "thing"} for title in titles])
    assert [word for word, _ in LexicalIndex(catalog).corrected("lampp sofb lamq")] == ["lamp", "sofa", "lamq"]
    for module in (lexical, lexical_store):
        monkeypatch.setattr(module, "SMALL", 3)
    index = LexicalIndex(catalog)
    # The most frequent are "thing" and "lamp" and "desk"; a word that is there is found all the same.
    assert [word for word, _ in index.corrected("lampp sofb")] == ["lamp"]
    assert index.corrected("sofa zzzz chair") == [("sofa", 1.0), ("chair", 1.0)]
    assert "sofa" in index.vocabulary
    assert "sofas" not in index.vocabulary


def test_words_that_are_too_long_to_be_meant_do_no_harm():
    catalog = catalog_of([{"title": f"{'x' * 300} lamp", "price": 1.0, "type": "t"}])
    assert LexicalIndex(catalog).corrected("lammp") == [("lamp", 0.8)]
