"""Finding what was meant: titles and types full of typos by their words, and other words by their meaning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.noise import add_noise
from ecomrlve.streams import Stream

SAMPLED, NOISE, FIRST_PAGE = 300, 0.12, 10


def noisy_titles(catalog: Catalog, noise: float) -> Iterator[tuple[int, str]]:
    for number, row in enumerate(Stream("typos").sample(range(len(catalog)), SAMPLED)):
        yield row, add_noise(catalog.titles[row], noise, Stream("typos", number))


def test_a_title_finds_its_product_at_once(words_engine, catalog):
    # Measured: the title stands first for 297 of 300. In the rest a lookalike's differs in "no" or "a" alone, which
    # are words of talk.
    rows = np.arange(len(catalog))
    first = 0
    for row, title in noisy_titles(catalog, 0.0):
        page = words_engine.rank(title, rows)[:FIRST_PAGE].tolist()
        assert row in page
        first += catalog.folded_title(page[0]) == catalog.folded_title(row)
    assert first >= 0.98 * SAMPLED


def test_a_title_full_of_typos_finds_its_product_on_the_first_page(words_engine, catalog):
    # Law 6 asks for 95 %. Measured by words alone, without any filter: all 300 of 300.
    rows = np.arange(len(catalog))
    found, changed = 0, 0
    for row, title in noisy_titles(catalog, NOISE):
        changed += fold(title) != catalog.folded_title(row)
        found += row in words_engine.rank(title, rows)[:FIRST_PAGE]
    assert changed > 0.9 * SAMPLED
    assert found >= 0.95 * SAMPLED


def test_a_type_with_a_typo_finds_products_of_the_type(words_engine, catalog):
    rows = np.arange(len(catalog))
    found = 0
    for number, name in enumerate(catalog.type_names):
        page = words_engine.rank(add_noise(name, NOISE, Stream("type", number)), rows)[:FIRST_PAGE]
        found += any(catalog.type_of(int(row)) == name for row in page)
    assert found >= 0.95 * len(catalog.type_names)


def test_words_of_talk_are_no_product_words(words_engine):
    rows = np.arange(len(words_engine.catalog))
    plain = words_engine.rank("desk lamp", rows)
    assert np.array_equal(words_engine.rank("hi, could you please find me some desk lamp, thanks", rows), plain)


THINGS = (
    "Skillet", "Bookshelf", "Trainers", "Parka", "Spaniel Collar", "Lantern", "Kettle", "Sofa", "Notebook", "Violin",
    "Umbrella", "Pillow",
)  # fmt: skip


@pytest.fixture(scope="module")
def tiny_catalog() -> Catalog:
    records = [{"title": f"Nord {thing}", "type": thing.lower(), "price": 10.0 + i} for i, thing in enumerate(THINGS)]
    return Catalog.from_records(records, name="tiny")


@pytest.fixture(scope="module")
def encoder():
    from ecomrlve.catalog.encoder import SentenceEncoder

    return SentenceEncoder()


@pytest.fixture(scope="module")
def dense(tiny_catalog, encoder) -> SearchEngine:
    return SearchEngine(tiny_catalog, encoder)


@pytest.mark.parametrize(
    ("query", "thing"),
    [
        ("frying pan", "Skillet"),
        ("furniture for novels", "Bookshelf"),
        ("jogging shoes", "Trainers"),
        ("protection from rain", "Umbrella"),
        ("for my dog", "Spaniel Collar"),
        ("couch", "Sofa"),
        ("musical instrument", "Violin"),
    ],
)
def test_meaning_finds_what_words_cannot(dense, tiny_catalog, query, thing):
    rows = np.arange(len(tiny_catalog))
    assert not SearchEngine(tiny_catalog).scores(query).any()
    assert tiny_catalog.titles[int(dense.rank(query, rows)[0])] == f"Nord {thing}"


def test_words_count_twice_as_much_as_meaning(dense, tiny_catalog):
    words = SearchEngine(tiny_catalog)
    for query in ("lantern for my dog", "nord notebok", "kettle or couch"):
        meaning = dense.scores(query) - 2 / 3 * words.scores(query)
        assert meaning.min() >= -1e-4
        assert meaning.max() == pytest.approx(1 / 3, abs=2e-4)


@pytest.mark.parametrize(
    ("query", "thing"),
    [("lantern for my dog", "Lantern"), ("nord notebok", "Notebook"), ("parka, not a coat", "Parka")],
)
def test_words_that_are_there_outweigh_what_else_is_meant(dense, tiny_catalog, query, thing):
    assert tiny_catalog.titles[int(dense.rank(query, np.arange(len(tiny_catalog)))[0])] == f"Nord {thing}"


def test_computed_vectors_are_kept_and_give_the_same_scores_again(dense, tiny_catalog, encoder):
    from ecomrlve.catalog.index import cache_folder

    files = list(cache_folder().glob(f"{tiny_catalog.fingerprint}-*.npy"))
    assert len(files) == 1
    assert np.load(files[0]).shape[0] == len(tiny_catalog)
    again = SearchEngine(tiny_catalog, encoder)
    for query in ("couch", "nord lantern", "日本"):
        assert np.array_equal(again.scores(query), dense.scores(query))
