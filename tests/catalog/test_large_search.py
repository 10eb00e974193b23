"""The engine over indexes on disk finds what the exact one finds, whatever the filters leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecomrlve.catalog import indexes, large_search
from ecomrlve.catalog.approximate import open_index
from ecomrlve.catalog.filters import Constraint
from ecomrlve.catalog.large_search import LargeSearchEngine
from ecomrlve.catalog.lexical import LexicalIndex
from ecomrlve.catalog.search import SORTS, SearchEngine
from ecomrlve.catalog.static_encoder import StaticEncoder
from ecomrlve.catalog.store import save_catalog
from ecomrlve.catalog.stored import open_catalog
from ecomrlve.catalog.synthetic import generate
from ecomrlve.catalog.vectors import open_vectors
from ecomrlve.environment import Environment, engine_for
from ecomrlve.errors import CatalogError

ROWS = 3_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog folder with its word index and the static encoder's dense one."""
    place = tmp_path_factory.mktemp("large") / "catalog"
    save_catalog(generate(ROWS, 5), place)
    meta = indexes.build(place, "static")
    assert (meta["kind"], meta["count"]) == ("SQfp16", ROWS)
    return place


@pytest.fixture(scope="module")
def exact(folder: Path) -> SearchEngine:
    engine = indexes.open_engine(folder)
    assert type(engine) is SearchEngine
    return engine


@pytest.fixture
def large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LargeSearchEngine]:
    """The engine for large catalogs, to which a few dozen rows are many."""
    monkeypatch.setattr(large_search, "FEW", 60)
    monkeypatch.setattr(large_search, "DEEPEST", 200)
    monkeypatch.setattr(large_search, "PROPOSED", 100)
    words, encoder = LexicalIndex.open(folder / "words"), StaticEncoder()
    dense = open_index(indexes.index_folder(folder, encoder))
    return LargeSearchEngine(open_catalog(folder), words, encoder, dense)


def queries(engine: SearchEngine) -> list[str]:
    return [*indexes.sample_queries(engine.catalog, 40, seed=2), "blakc wirless hedphones", "something nice", "tent"]


FILTERS: dict[str, list[Constraint]] = {
    "half": [Constraint("price", "le", 60)],
    "a tenth": [Constraint("rating", "ge", 4.7)],
    "a type": [Constraint("type", "eq", "tent")],
    "a few": [Constraint("type", "eq", "tent"), Constraint("price", "le", 150)],
    "none": [Constraint("type", "eq", "tent"), Constraint("price", "le", 0.01)],
}


def share_found(engine: LargeSearchEngine, exact: SearchEngine, query: str, constraints: list[Constraint]) -> float:
    """Recall of the ten best: how many are at least as relevant as the truly tenth."""
    rows = exact.matching(constraints)
    assert np.array_equal(rows, engine.matching(constraints))
    found, true = engine.rank(query, rows)[:10], exact.rank(query, rows)[:10]
    assert len(found) == len(true) == min(10, len(rows))
    if not len(true):
        return 1.0
    scores = exact.scores(query)
    return float((scores[found] >= scores[true[-1]] - 1e-4).mean())


@pytest.mark.parametrize("constraints", [[], *FILTERS.values()], ids=["everything", *FILTERS])
def test_the_ten_best_are_those_of_the_exact_engine(
    large: LargeSearchEngine, exact: SearchEngine, constraints: list[Constraint]
) -> None:
    found = [share_found(large, exact, query, constraints) for query in queries(exact)]
    few = len(exact.matching(constraints)) <= large_search.FEW
    assert min(found) == 1.0 if few else np.mean(found) >= 0.98


def test_relevance_is_that_of_the_exact_engine(large: LargeSearchEngine, exact: SearchEngine) -> None:
    rows = np.arange(0, ROWS, 7)
    for query in queries(exact):
        assert np.abs(large.relevance(query, rows) - exact.scores(query)[rows]).max() <= 2e-4


def test_few_rows_are_ranked_to_the_last(large: LargeSearchEngine, exact: SearchEngine) -> None:
    rows = exact.matching(FILTERS["a few"])
    assert 3 < len(rows) <= large_search.FEW
    ranked = large.rank("tent with room for four", rows)
    assert sorted(ranked.tolist()) == rows.tolist()
    scores = large.relevance("tent with room for four", ranked)
    assert (np.diff(scores) <= 0).all()


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("name", ["everything", "half", "a few"])
def test_sorting_goes_by_value_then_relevance_then_row(
    large: LargeSearchEngine, exact: SearchEngine, sort: str, name: str
) -> None:
    rows = exact.matching(FILTERS.get(name, []))
    for query in ("black backpack", ""):
        found = large.rank(query, rows, sort)
        true = exact.rank(query, rows, sort)[: len(found)]
        assert len(found) == len(set(found.tolist())) == min(len(rows), large_search.DEEPEST)
        if sort != "relevance":
            column = {"price_asc": "price", "price_desc": "price"}.get(sort, sort)
            values = exact.catalog.columns[column].values
            assert np.array_equal(values[found], values[true], equal_nan=True)
        if not query:
            assert np.array_equal(found, true)


def test_pages_of_a_ranking_are_pieces_of_it_and_stay_the_same(large: LargeSearchEngine, exact: SearchEngine) -> None:
    rows = exact.matching(FILTERS["half"])
    once = large.rank("garden lamp", rows)
    assert np.array_equal(once, large.rank("garden  LAMP", rows))
    assert np.array_equal(large.order("garden lamp"), large.rank("garden lamp", large.matching([])))


def test_a_query_without_a_known_word_still_ranks_and_an_empty_one_goes_by_row(large: LargeSearchEngine) -> None:
    assert large.order("")[:5].tolist() == [0, 1, 2, 3, 4]
    assert len(large.order("zzzzqqqq")) == large_search.DEEPEST
    some = np.arange(5, ROWS, 2)
    assert large.rank("", some)[:3].tolist() == [5, 7, 9]


def test_many_queries_at_once_give_what_each_gives_alone(folder: Path, large: LargeSearchEngine) -> None:
    dense = open_index(indexes.index_folder(folder, StaticEncoder()))
    batched = LargeSearchEngine(open_catalog(folder), LexicalIndex.open(folder / "words"), StaticEncoder(), dense)
    asked = queries(large)
    calls: list[int] = []
    nearest = dense.nearest

    def counted(vectors: np.ndarray, *args: Any) -> Any:
        calls.append(len(vectors))
        return nearest(vectors, *args)

    dense.nearest = counted  # type: ignore[method-assign]
    batched.prepare([*asked, asked[0]])
    assert calls == [len(set(asked))]
    for query in asked:
        assert np.array_equal(batched.order(query), large.order(query))
    assert len(calls) == 1


def test_what_a_deficient_engine_shows_is_foreign(large: LargeSearchEngine) -> None:
    everything = large.order("tent")
    noise = large.stray("tent", everything, 100, filtered=False, key=3)
    assert 60 <= len(noise) == len(set(noise.tolist())) <= 100
    assert not set(noise.tolist()) & set(everything.tolist())
    assert noise.tolist() != large.stray("tent", everything, 100, filtered=False, key=4).tolist()
    rows = large.matching(FILTERS["a few"])
    ranked = large.rank("tent", rows)
    noise = large.stray("tent", ranked, 100, filtered=True, key=3)
    assert len(noise)
    assert not set(noise.tolist()) & set(ranked.tolist())


def test_words_alone_will_do(folder: Path, exact: SearchEngine) -> None:
    engine = LargeSearchEngine(open_catalog(folder), LexicalIndex.open(folder / "words"))
    alone = indexes.open_engine(folder, words_only=True)
    assert (engine.method, alone.method) == ("words", "words")
    for query in queries(exact)[:10]:
        true = alone.order(query)[:10]
        scores = alone.scores(query)
        assert np.array_equal(scores[engine.order(query)[:10]], scores[true])


def test_episodes_are_played_over_a_folder_by_name(folder: Path) -> None:
    engine = engine_for(f"{folder}::static")
    env = Environment(("E_PD",), engine)
    env.reset(seed=1, options={"difficulty": 3})
    call = {"name": "catalog_search", "args": {"query": "tent", "limit": 3}}
    results = env.step({"tool_calls": [call]})[0].messages[0]["result"]["results"]
    assert len(results) == 3
    assert env.engine.method == "wordllama-256"


# --- building --------------------------------------------------------------------------------------------------------


def test_a_large_catalog_without_its_indexes_says_how_to_build_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "EXACT_UP_TO", 500)
    place = tmp_path / "catalog"
    save_catalog(generate(1_000), place)
    with pytest.raises(CatalogError, match="ecomrlve index build"):
        indexes.open_engine(place)
    assert indexes.default_encoder(1_000) == "static"
    indexes.build(place, words_only=True)
    assert indexes.open_engine(place, words_only=True).order("tent").size
    with pytest.raises(CatalogError, match=r"no dense index; build one with: ecomrlve index build"):
        indexes.open_engine(place)
    indexes.build(place)
    engine = indexes.open_engine(place)
    assert isinstance(engine, LargeSearchEngine)
    assert engine.method == "wordllama-256, approximate"
    told = indexes.info(place)
    assert (told["products"], told["words"], told["damaged_files"]) == (1_000, True, [])
    assert told["indexes"]["wordllama-256"]["checksum_ok"]
    assert indexes.verify(place, count=50) == {"recall_at_10": 1.0, "recall_at_100": 1.0, "queries": 50}


def test_workers_encode_their_shares_and_a_last_call_puts_them_together(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "catalog"
    save_catalog(generate(ROWS, 5), place)
    for number in range(3):
        found = indexes.build(place, "static", shard_rows=700, worker=(number, 3))
        assert found["worker"] == [number, 3]
    assert not (place / "words").exists()
    indexes.build(place, "static", shard_rows=700)
    one, other = (open_vectors(indexes.index_folder(path, StaticEncoder())) for path in (place, folder))
    assert np.array_equal(one, other)


def test_sample_queries_are_words_of_titles(exact: SearchEngine) -> None:
    titles = " ".join(exact.catalog.titles).split()
    found = indexes.sample_queries(exact.catalog, 30)
    assert found == indexes.sample_queries(exact.catalog, 30) != indexes.sample_queries(exact.catalog, 30, seed=1)
    kinds = {word for name in exact.catalog.type_names for word in name.split()}
    assert all(set(query.split()) <= {*titles, *kinds} for query in found)
