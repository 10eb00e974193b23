"""Weaving distractors into a ranking: no genuine hit is lost, none is shown twice, and pages fit together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.streams import key_of, unit_hash
from ecomrlve.tools.catalog_tools import Weaving, woven

KEYS = st.integers(0, 2**64 - 1)
SHARES = st.sampled_from([0.0, 0.02, 0.24, 0.4, 0.9])


@st.composite
def rankings(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Genuine rows, best first, and noise: other rows, rows from further down the ranking, or both."""
    size = draw(st.integers(0, 40))
    ranked = draw(st.permutations(range(size)))
    foreign = draw(st.permutations(range(100, 100 + draw(st.integers(0, 12)))))
    noise = [*foreign, *(ranked[size // 2 :] if draw(st.booleans()) else [])]
    return np.array(ranked, np.int64), np.array(noise, np.int64)


def pages(ranked: np.ndarray, noise: np.ndarray, share: float, key: int, limit: int) -> list[int]:
    """All pages one after the other, until the last says that nothing follows."""
    shown: list[int] = []
    for page in range(200):
        rows, more = woven(ranked, noise, share, key, page * limit, limit)
        assert len(rows) <= limit
        assert rows or page == 0, "a page was announced that holds nothing"
        assert len(rows) == limit or not more
        shown += rows
        if not more:
            return shown
    raise AssertionError("the pages never end")


@given(rankings(), SHARES, KEYS, st.integers(1, 15))
def test_every_genuine_hit_is_shown_once_and_nothing_twice(ranking, share, key, limit):
    ranked, noise = ranking
    shown = pages(ranked, noise, share, key, limit)
    assert len(set(shown)) == len(shown)
    assert set(ranked.tolist()) <= set(shown) <= set(ranked.tolist()) | set(noise.tolist())


@given(rankings(), SHARES, KEYS, st.integers(1, 15))
def test_genuine_hits_keep_their_order(ranking, share, key, limit):
    ranked, noise = ranking
    # A genuine row may be pulled forward as a distractor; all others stand in the order of the ranking.
    kept = [row for row in pages(ranked, noise, share, key, limit) if row not in set(noise.tolist())]
    assert kept == [row for row in ranked.tolist() if row not in set(noise.tolist())]


def test_no_page_is_announced_that_holds_nothing():
    # The last genuine hits may all have been pulled forward as distractors.
    for size in range(1, 7):
        ranked = np.arange(size)
        for key in range(40):
            for limit in (1, 2, 3):
                assert sorted(pages(ranked, ranked[size // 2 :], 0.6, key, limit)) == ranked.tolist()


@given(rankings(), SHARES, KEYS, st.integers(1, 15), st.integers(1, 15))
def test_the_size_of_the_pages_does_not_change_what_follows_what(ranking, share, key, one, other):
    ranked, noise = ranking
    assert pages(ranked, noise, share, key, one) == pages(ranked, noise, share, key, other)


@given(rankings(), KEYS)
def test_without_distractors_the_ranking_is_the_result(ranking, key):
    ranked, noise = ranking
    assert woven(ranked, noise, 0.0, key, 0, 50) == (ranked.tolist(), False)
    assert woven(ranked, noise[:0], 0.9, key, 0, 50) == (ranked.tolist(), False)


@given(rankings(), SHARES, KEYS)
def test_no_page_lies_behind_the_last(ranking, share, key):
    ranked, noise = ranking
    assert woven(ranked, noise, share, key, 10_000, 10) == ([], False)


@given(rankings(), SHARES, KEYS)
def test_where_nothing_matches_nothing_is_shown(ranking, share, key):
    _, noise = ranking
    assert woven(noise[:0], noise, share, key, 0, 10) == ([], False)


@pytest.mark.parametrize("share", [0.02, 0.12, 0.24, 0.4])
def test_the_share_of_distractors_is_the_axis(share):
    ranked, noise = np.arange(400), np.arange(1000, 1300)
    places = 300
    found = sum(
        row >= 1000 for key in range(40) for row in woven(ranked, noise, share, key_of("share", key), 0, places)[0]
    )
    expected = 40 * places * share
    assert abs(found - expected) <= 4 * math.sqrt(expected * (1 - share))


def test_which_places_are_noise_depends_on_episode_and_search_alone():
    noise = np.arange(1000, 1300)
    for key in range(20):
        short, _ = woven(np.arange(100), noise, 0.24, key, 0, 50)
        long, _ = woven(np.arange(900, 0, -1), noise, 0.24, key, 0, 50)
        places = [place for place, row in enumerate(short) if row >= 1000]
        assert places == [place for place, row in enumerate(long) if row >= 1000]
        assert places == [place for place in range(50) if unit_hash(key, place) < 0.24]


def test_distractors_are_drawn_from_all_of_the_noise():
    noise = np.arange(1000, 1050)
    drawn = {
        row for key in range(200) for row in woven(np.arange(100), noise, 0.3, key_of("pool", key), 0, 10)[0]
    } - set(range(100))
    assert drawn == set(range(1000, 1050))


# --- as an agent meets them ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(call):
    """The rows that a search shows, best first."""

    def search(world, query, **args):
        results = call(world, "catalog_search", query=query, **args)["results"]
        return [world.row(hit["id"]) for hit in results]

    return search


@pytest.mark.parametrize("share", [0.02, 0.12, 0.24, 0.4])
def test_the_share_of_distractors_is_the_axis_and_all_of_them_violate_the_filters(new_world, catalog, share, found):
    departments = sorted({path[0] for path in catalog.category_names})
    world = new_world(distractors=share)
    places = noise = 0
    for department in departments:
        inside = {code for code, path in enumerate(catalog.category_names) if department in path}
        genuine = [row for row in range(len(catalog)) if catalog.category_codes[row] in inside]
        for sort in ("relevance", "price_asc"):
            shown = found(world, department, filters={"category": department}, sort=sort, limit=120)
            ranked = world.engine.rank(department, np.array(genuine), sort).tolist()
            kept = [row for row in shown if catalog.category_codes[row] in inside]
            assert kept == ranked[: len(kept)]
            places += len(shown)
            noise += len(shown) - len(kept)
    assert places == 120 * 2 * len(departments)
    assert abs(noise - places * share) <= 4 * math.sqrt(places * share * (1 - share))


@pytest.mark.parametrize("share", [0.12, 0.24])
def test_without_filters_distractors_come_from_far_down_the_ranking(new_world, catalog, share, found):
    world = new_world(distractors=share)
    everything = np.arange(len(catalog))
    places = noise = 0
    for name in catalog.type_names[::6]:
        ranked = world.engine.rank(name, everything).tolist()
        near = set(ranked[: len(ranked) // 2])
        shown = found(world, name, limit=150)
        kept = [row for row in shown if row in near]
        assert kept == ranked[: len(kept)]
        places += len(shown)
        noise += len(shown) - len(kept)
    assert abs(noise - places * share) <= 4 * math.sqrt(places * share * (1 - share))


def test_at_difficulty_zero_there_are_no_distractors(new_world, catalog, found):
    world = new_world(d=0)
    for name in catalog.type_names[::10]:
        shown = found(world, name, filters={"type": name}, limit=60)
        assert {catalog.type_of(row) for row in shown} == {name}


def test_distractors_look_as_if_the_engine_had_forgotten_the_filters(new_world, catalog, found):
    world = new_world(distractors=0.4)
    name = "air fryer"
    price = float(np.median(catalog.columns["price"].values[catalog.rows_of_type(name)]))
    genuine = [row for row in catalog.rows_of_type(name) if catalog.columns["price"].values[row] <= price]
    shown = found(world, name, filters={"type": name, "price": {"le": price}}, limit=20)
    noise = set(shown) - set(genuine)
    assert len(noise) >= 4
    # Each is among the 300 best of what the filters exclude.
    scores = np.delete(world.engine.scores(name), genuine)
    assert min(world.engine.scores(name)[list(noise)]) >= np.sort(scores)[-300]


def test_where_distractors_stand_differs_between_episodes_and_searches(new_world, catalog, found):
    name = catalog.type_names[11]

    def places(seed: int, query: str) -> tuple[int, ...]:
        world = new_world(seed, distractors=0.4)
        shown = found(world, query, filters={"type": name}, limit=40)
        return tuple(place for place, row in enumerate(shown) if catalog.type_of(row) != name)

    assert len({places(seed, query) for seed in range(4) for query in (name, f"good {name}")}) == 8
    assert places(0, name) == places(0, f"  {name.upper()}")


@given(rankings(), SHARES, KEYS, st.lists(st.integers(1, 15), min_size=1, max_size=12))
def test_a_weaving_that_is_paged_through_is_one_ranking_whatever_the_sizes(ranking, share, key, sizes):
    ranked, noise = ranking
    whole = pages(ranked, noise, share, key, 200)
    weaving, start = Weaving(ranked, noise, share, key), 0
    for size in sizes:
        rows, more = weaving.page(start, size)
        assert rows == whole[start : start + size]
        assert more == (len(whole) > start + size)
        start += size


@given(rankings(), SHARES, KEYS, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=10))
def test_a_weaving_forgets_nothing_and_every_page_is_what_it_is_alone(ranking, share, key, asked):
    ranked, noise = ranking
    weaving = Weaving(ranked, noise, share, key)
    for start, count in asked:
        assert weaving.page(start, count) == woven(ranked, noise, share, key, start, count)


def test_pages_of_a_search_fit_together_and_other_searches_between_them_change_nothing(new_world, call):
    def listed(world, limit, between):
        found, page, more = [], 1, True
        while more:
            if between:
                # More searches than an episode remembers.
                for number in range(20):
                    call(world, "catalog_search", query=f"blue {number}", limit=3)
            filters = {"price": {"le": 60}}
            result = call(world, "catalog_search", query="desk lamp", filters=filters, limit=limit, page=page)
            found += [hit["id"] for hit in result["results"]]
            more, page = result["more"] and page * limit < 60, page + 1
        return found[:60]

    whole = listed(new_world(3, d=12, distractors=0.4), 60, False)
    assert len(set(whole)) == len(whole) == 60
    for limit, between in ((7, False), (20, True)):
        assert listed(new_world(3, d=12, distractors=0.4), limit, between) == whole
