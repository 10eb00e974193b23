"""Ids that an agent sees: they lead back to their row in their own episode, and say nothing anywhere else."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ecomrlve.catalog.aliases import ALPHABET, LENGTH, Aliases

ROWS = 10_000
SEEDS = (0, 1, 2, 2**63 - 1)


def value_of(alias: str) -> int:
    """The number that an id spells."""
    value = 0
    for letter in alias[1:]:
        value = value * 32 + ALPHABET.index(letter)
    return value


def products(seed: int, size: int = ROWS) -> Aliases:
    return Aliases("p", size, "E_CART", seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_has_one_id_that_leads_back_to_it(seed):
    aliases = products(seed)
    ids = [aliases.encode(row) for row in range(ROWS)]
    assert len(set(ids)) == ROWS
    assert [aliases.decode(alias) for alias in ids] == list(range(ROWS))


def test_ids_have_one_length_and_no_letters_that_people_confuse():
    aliases = products(0)
    for row in range(ROWS):
        alias = aliases.encode(row)
        assert (alias[0], len(alias)) == ("p", 1 + LENGTH)
        assert not set(alias[1:]) & set("ilou")


@given(st.integers(0, 2**35 - 1), st.integers())
def test_the_largest_shops_have_room(number, seed):
    aliases = Aliases("v", 2**35, seed)
    assert aliases.decode(aliases.encode(number)) == number


def test_the_same_episode_gives_the_same_ids_whatever_was_asked_before():
    one, other = products(5), products(5)
    for row in range(500):
        one.encode(row)
    assert [other.encode(row) for row in reversed(range(ROWS))] == [one.encode(row) for row in reversed(range(ROWS))]


def test_ids_stay_the_same_from_version_to_version():
    # Stored actions hold ids: if these change, no stored trajectory replays.
    assert [products(0).encode(row) for row in (0, 1, 9_999)] == ["prb2pg0t", "pw7sf8y2", "pg359b2z"]


@pytest.mark.parametrize("key", [("E_CART", 1), ("E_PD", 0), ("E_CART", "0"), ()])
def test_ids_of_another_episode_name_nothing(key):
    foreign, own = Aliases("p", ROWS, *key), products(0)
    ids = [foreign.encode(row) for row in range(ROWS)]
    assert not set(ids) & {own.encode(row) for row in range(ROWS)}
    assert [own.decode(alias) for alias in ids] == [None] * ROWS


def test_ids_of_another_kind_name_nothing():
    variants = Aliases("v", ROWS * 64, "E_CART", 0)
    for row in range(1_000):
        alias = variants.encode(row)
        assert products(0).decode(alias) is None
        assert products(0).decode("p" + alias[1:]) is None


def test_rows_beyond_the_catalog_name_nothing():
    large, small = products(0, 2_000_000), products(0, 100)
    assert [small.decode(large.encode(row)) for row in (99, 100, 1_999_999)] == [99, None, None]


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "p", "p000000", "p00000000", "q0000000", "0000000", "p000000i", "p000000l", "p000000o", "p000000u",
        "p-000001", "p00 0000", "p000000é", "p000000٣", "p\x00000000", "１２３４５６７８", "ｐ0000000", "İ0000000",
        "p" * 200, "None", "p7k2m9q\ud800",
    ],
)  # fmt: skip
def test_what_is_no_id_names_nothing(text):
    assert products(0, 2**35).decode(text) is None


@given(st.text(max_size=12))
def test_no_text_at_all_is_an_error(text):
    found = products(0).decode(text)
    assert found is None or products(0).encode(found) == text.strip().lower()


@given(st.text(ALPHABET, min_size=LENGTH, max_size=LENGTH))
def test_two_ids_never_name_the_same_row(letters):
    aliases = products(3, 2**35)
    row = aliases.decode("p" + letters)
    assert row is not None
    assert aliases.encode(row) == "p" + letters


def test_letter_case_and_spaces_around_an_id_do_not_count():
    aliases = products(0)
    for row in range(200):
        alias = aliases.encode(row)
        for written in (alias.upper(), alias.title(), f"  {alias}\n", f"\t{alias.upper()} ", f"\u00a0{alias}"):
            assert aliases.decode(written) == row


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_ids_says_nothing_about_the_order_of_rows(seed):
    aliases = products(seed)
    values = [value_of(aliases.encode(row)) for row in range(ROWS)]
    limit = 4 / math.sqrt(ROWS - 1)
    assert abs(stats.spearmanr(range(ROWS), values).statistic) < limit
    assert abs(stats.spearmanr(values[:-1], values[1:]).statistic) < limit
    # No single character tells anything either: neither the parity of a row nor its half of the catalog.
    for place in range(LENGTH):
        digits = [value >> 5 * place & 31 for value in values]
        assert abs(stats.spearmanr(range(ROWS), digits).statistic) < limit
        assert abs(stats.spearmanr(np.arange(ROWS) % 2, digits).statistic) < limit


@pytest.mark.parametrize("seed", SEEDS)
def test_every_character_is_equally_likely_at_every_place(seed):
    aliases = products(seed)
    ids = [aliases.encode(row) for row in range(ROWS)]
    for place in range(1, 1 + LENGTH):
        counts = Counter(alias[place] for alias in ids)
        assert stats.chisquare([counts[letter] for letter in ALPHABET]).pvalue > 1e-4


def test_neighbouring_rows_and_neighbouring_seeds_share_no_more_characters_than_strangers():
    aliases, others = products(0), products(1)
    chance, pairs = 1 / 32, (ROWS - 1) * LENGTH
    spread = 4 * math.sqrt(pairs * chance * (1 - chance))
    ids, foreign = ([kind.encode(row) for row in range(ROWS)] for kind in (aliases, others))
    for one, other in ((ids[1:], ids[:-1]), (ids[1:], foreign[1:])):
        equal = sum(a == b for x, y in zip(one, other, strict=True) for a, b in zip(x[1:], y[1:], strict=True))
        assert abs(equal - pairs * chance) < spread
