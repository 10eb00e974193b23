"""Weaving distractors into a ranking: no genuine hit is lost, none is shown twice, and pages fit together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.streams import key_of, unit_hash
from ecomrlve.tools.catalog_tools import woven

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
        assert rows or not more, "a page is announced that holds nothing"
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
