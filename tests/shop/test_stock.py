"""The shelf: what sells out is fixed beforehand, happens when it is first seen, and is scored as if it always had."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.variants import VariantRule
from ecomrlve.shop.stock import Stock
from ecomrlve.streams import key_of

RATE = 0.3
ROWS = range(3_000)
FEW = range(24)
# What is seen, turn after turn: places in the list of units.
TURNS = st.lists(st.lists(st.integers(0, len(FEW) - 1), max_size=12), max_size=6)


def new_stock(
    catalog: Catalog, *, key: int = 1, rate: float = RATE, by_variant: bool = True, share: float = 0.5
) -> Stock:
    return Stock(catalog, VariantRule(catalog, key_of("v", key), share), key_of("e", key), rate, by_variant=by_variant)


def variants_of(stock: Stock, row: int) -> tuple[Variant, ...]:
    return stock._variants.of(row)


def units_of(stock: Stock, catalog: Catalog, rows: Any) -> list[tuple[int, int | None]]:
    """Everything that can sell out by itself."""
    found: list[tuple[int, int | None]] = []
    for row in rows:
        count = len(variants_of(stock, row)) if stock.units(row) else 0
        found += [(row, number) for number in range(count)] or [(row, None)]
    return found


@pytest.mark.parametrize("by_variant", [True, False])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3, 0.5])
def test_as_many_units_are_fated_as_the_axis_says(catalog, rate, by_variant):
    stock = new_stock(catalog, rate=rate, by_variant=by_variant)
    fates = [stock.fated(*unit) for unit in units_of(stock, catalog, ROWS)]
    assert len(fates) >= len(ROWS)
    assert abs(sum(fates) - rate * len(fates)) <= 4 * math.sqrt(len(fates) * rate * (1 - rate))


def test_fate_says_nothing_about_the_product_or_its_other_variants(catalog):
    stock = new_stock(catalog, by_variant=False)
    fates = [stock.fated(row) for row in ROWS]
    for values in (catalog.columns["price"].values, catalog.stock, catalog.columns["rating"].values, np.arange(10_000)):
        assert abs(stats.spearmanr(fates, values[: len(fates)]).statistic) < 4 / math.sqrt(len(fates))
    stock = new_stock(catalog, share=1.0)
    pairs = [(stock.fated(row, 0), stock.fated(row, 1)) for row in ROWS]
    table = [[pairs.count((one, other)) for other in (False, True)] for one in (False, True)]
    assert stats.chi2_contingency(table).pvalue > 1e-4


def test_another_episode_has_another_fate(catalog):
    one, other = (new_stock(catalog, key=key, by_variant=False).fated_rows(np.arange(10_000)) for key in (1, 2))
    assert stats.chi2_contingency(np.histogram2d(one, other, bins=2)[0]).pvalue > 1e-4
    assert not np.array_equal(one, other)


def test_one_row_and_many_rows_have_the_same_fate(catalog):
    stock = new_stock(catalog, by_variant=False)
    rows = np.array(ROWS)
    assert stock.fated_rows(rows).tolist() == [stock.fated(row) for row in ROWS]
    assert stock.lasting_rows(rows).tolist() == [stock.lasting(row) > 0 for row in ROWS]


@settings(max_examples=40)
@given(turns=TURNS, by_variant=st.booleans())
def test_fate_and_scoring_do_not_depend_on_what_is_read(catalog, turns, by_variant):
    read, unread = new_stock(catalog, by_variant=by_variant), new_stock(catalog, by_variant=by_variant)
    units = units_of(unread, catalog, FEW)
    for turn in turns:
        for place in turn:
            read.see(*units[place])
        read.end_turn()
    for row, variant in units:
        assert read.fated(row, variant) == unread.fated(row, variant)
        assert read.lasting(row, variant) == unread.lasting(row, variant)
        assert read.lasting(row) == unread.lasting(row)
    rows = np.array(FEW)
    assert np.array_equal(read.fated_rows(rows), unread.fated_rows(rows))
    assert np.array_equal(read.lasting_rows(rows), unread.lasting_rows(rows))


@settings(max_examples=40)
@given(turns=TURNS, by_variant=st.booleans())
def test_a_unit_sells_out_at_the_end_of_the_turn_in_which_it_is_first_seen(catalog, turns, by_variant):
    stock = new_stock(catalog, by_variant=by_variant)
    units = units_of(stock, catalog, FEW)
    gone: set[tuple[int, int | None]] = set()
    for turn in turns:
        for place in turn:
            before = stock.left(*units[place])
            stock.see(*units[place])
            assert stock.left(*units[place]) == before  # not yet: the turn is still going on
        new = {units[place] for place in turn if stock.fated(*units[place])} - gone
        assert set(stock.end_turn()) == new
        gone |= new
        for row, variant in units:
            expected = 0 if (row, variant) in gone else stock.shelf(row, variant)
            assert stock.left(row, variant) == expected


def test_what_a_turn_sells_out_is_told_once_and_in_order(catalog):
    stock = new_stock(catalog)
    units = units_of(stock, catalog, range(200))
    for unit in reversed(units):
        stock.see(*unit)
        stock.see(*unit)
    gone = stock.end_turn()
    assert gone == [unit for unit in units if stock.fated(*unit)]
    assert len(gone) > 20
    for unit in units:
        stock.see(*unit)
    assert stock.end_turn() == []


def test_a_hit_of_a_product_with_variants_shows_none_of_them(catalog):
    stock = new_stock(catalog, share=1.0)
    for row in ROWS:
        stock.see(row)
    assert stock.end_turn() == []


def test_whole_products_sell_out_with_all_their_variants_where_variants_do_not_matter(catalog):
    stock = new_stock(catalog, share=1.0, by_variant=False)
    row = next(row for row in ROWS if stock.fated(row) and catalog.stock[row] > 0)
    assert all(stock.fated(row, number) for number in range(3))
    assert stock.left(row, 1) > 0
    stock.see(row, 1)
    assert stock.end_turn() == [(row, None)]
    assert [stock.left(row)] + [stock.left(row, number) for number in range(3)] == [0, 0, 0, 0]


def test_a_product_whose_variants_sell_out_one_by_one_lasts_while_one_of_them_does(catalog):
    stock = new_stock(catalog, share=1.0, rate=0.6)
    seen = set()
    for row in ROWS:
        fates = [stock.fated(row, number) for number in range(len(variants_of(stock, row)))]
        assert stock.fated(row) == all(fates)
        lasting = [stock.lasting(row, number) for number in range(len(fates))]
        assert lasting == [0 if fate else stock.shelf(row, number) for number, fate in enumerate(fates)]
        assert stock.lasting(row) == sum(lasting)
        seen.add(sum(fates))
    assert {0, 1, 2, 3} <= seen


def test_scoring_goes_by_what_is_left_after_everything_was_seen(catalog):
    for by_variant in (True, False):
        stock = new_stock(catalog, by_variant=by_variant)
        lasting = {unit: stock.lasting(*unit) for unit in units_of(stock, catalog, range(500))}
        whole = {row: stock.lasting(row) for row in range(500)}
        for unit in lasting:
            stock.see(*unit)
        stock.end_turn()
        assert {unit: stock.left(*unit) for unit in lasting} == lasting
        assert {row: stock.left(row) for row in range(500)} == whole


def test_without_sell_outs_everything_stays(catalog):
    stock = new_stock(catalog, rate=0.0)
    for unit in units_of(stock, catalog, range(500)):
        stock.see(*unit)
    assert stock.end_turn() == []
    assert all(stock.left(row) == stock.shelf(row) == stock.lasting(row) for row in range(500))


def test_the_shelf_of_a_product_with_variants_is_their_sum(catalog):
    stock = new_stock(catalog, share=1.0)
    for row in ROWS[:500]:
        assert stock.shelf(row) == sum(variant.stock for variant in variants_of(stock, row))
        assert (stock.shelf(row) > 0) == (catalog.stock[row] > 0)
    plain = new_stock(catalog, share=0.0)
    assert all(plain.shelf(row) == catalog.stock[row] for row in ROWS if row not in catalog.variants)


@settings(max_examples=40)
@given(
    places=st.lists(st.integers(0, 99), max_size=40), by_variant=st.booleans(), share=st.sampled_from([0.0, 0.5, 1.0])
)
def test_many_rows_are_available_as_each_is_alone(catalog, places, by_variant, share):
    stock = new_stock(catalog, rate=0.7, by_variant=by_variant, share=share)
    units = units_of(stock, catalog, FEW)
    for place in places:
        stock.see(*units[place % len(units)])
    stock.end_turn()
    rows = np.arange(2 * len(FEW))
    assert stock.available_rows(rows).tolist() == [stock.left(row) > 0 for row in rows.tolist()]


def test_a_product_that_lists_sold_out_variants_is_counted_by_them():
    variants = (Variant({"size": "S"}, 5.0, 0), Variant({"size": "M"}, 5.0, 7))
    record = {"title": "Shirt", "type": "shirt", "price": 5.0, "stock": 7, "variants": variants}
    stock = new_stock(Catalog.from_records([record], name="one"), rate=0.0)
    assert stock.left(0) == 7
    assert sorted(stock.left(0, number) for number in range(2)) == [0, 7]
    assert stock.available_rows(np.array([0])).tolist() == [True]
