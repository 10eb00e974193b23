"""Filters: what each operator means for each kind of key, what is refused, and agreement with a slow evaluator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.catalog.columns import COMMON, Catalog, fold
from ecomrlve.catalog.filters import OPERATORS, Constraint, as_number, parse_filters, satisfied
from ecomrlve.catalog.product import Product
from ecomrlve.errors import Refused

RECORDS = [
    {"title": "Red Mug", "type": "mug", "category": ("Kitchen", "Drinking", "Mugs"), "price": 12.5, "rating": 4.5,
     "ship_days": 2, "brand": "Nord", "attributes": {"color": "Red", "height": 10, "handle": True, "set_of": "2"}},
    {"title": "Blue Mug", "type": "mug", "category": ("Kitchen", "Drinking", "Mugs"), "price": 25, "rating": None,
     "ship_days": 5, "brand": "nord", "attributes": {"color": "blue", "height": 9.5, "handle": False}},
    {"title": "Steel Pan", "type": "pan", "category": ("Kitchen", "Cooking"), "price": 40.0, "rating": 3.9,
     "brand": None, "attributes": {"color": "Steel Grey"}},
    {"title": "Mug Rug", "type": "Coaster", "category": ("Home",), "price": 3.0, "rating": 5, "ship_days": 1,
     "brand": "Sud", "attributes": {"height": None, "handle": "no"}},
]  # fmt: skip


@pytest.fixture(scope="module")
def tiny() -> Catalog:
    return Catalog.from_records(RECORDS, name="tiny")


def rows_for(catalog: Catalog, filters: dict[str, Any]) -> list[int]:
    """Rows that the filters let through."""
    constraints, in_stock = parse_filters(catalog, filters)
    assert in_stock is None
    rows = np.arange(len(catalog))
    for constraint in constraints:
        rows = rows[satisfied(catalog, rows, constraint)]
    return rows.tolist()


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        # numbers
        ({"price": 25}, [1]),
        ({"price": {"eq": 25}}, [1]),
        ({"price": {"le": 25}}, [0, 1, 3]),
        ({"price": {"ge": 25}}, [1, 2]),
        ({"price": {"in": [3, 40]}}, [2, 3]),
        ({"price": [3, 40]}, [2, 3]),
        ({"price": {"ge": 10, "le": 30}}, [0, 1]),
        ({"price": {"le": 12.49}}, [3]),
        ({"price": {"ge": 30, "le": 10}}, []),
        ({"rating": {"ge": 4.5}}, [0, 3]),
        ({"rating": {"le": 5}}, [0, 2, 3]),
        ({"ship_days": {"ge": 0}}, [0, 1, 3]),
        ({"height": {"ge": 9.5}}, [0, 1]),
        ({"height": 9.5}, [1]),
        # words
        ({"color": "red"}, [0]),
        ({"color": {"eq": "RED"}}, [0]),
        ({"color": {"in": ["red", "Blue"]}}, [0, 1]),
        ({"color": ["red", "purple"]}, [0]),
        ({"color": " steel   GREY "}, [2]),
        ({"color": "steel"}, []),
        ({"color": "purple"}, []),
        ({"brand": "NORD"}, [0, 1]),
        ({"handle": True}, [0]),
        ({"handle": "yes"}, [0]),
        ({"handle": False}, [1, 3]),
        ({"handle": [True, "no"]}, [0, 1, 3]),
        ({"set_of": 2}, [0]),
        ({"set_of": "2"}, [0]),
        ({"set_of": 2.0}, [0]),
        # type and category
        ({"type": "MUG"}, [0, 1]),
        ({"type": {"in": ["pan", "coaster"]}}, [2, 3]),
        ({"type": "mugs"}, []),
        ({"category": "kitchen"}, [0, 1, 2]),
        ({"category": "Mugs"}, [0, 1]),
        ({"category": "kitchen > drinking > MUGS"}, [0, 1]),
        ({"category": {"in": ["Home", "Cooking"]}}, [2, 3]),
        ({"category": "mug"}, []),
        # several keys must all hold, and how a key is written does not count
        ({"type": "mug", "price": {"le": 20}}, [0]),
        ({"Ship Days": {"le": 2}}, [0, 3]),
        ({" PRICE ": {"LE": 3}}, [3]),
        ({}, [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_what_a_filter_lets_through(tiny, filters, rows):
    assert rows_for(tiny, filters) == rows


def test_no_filters_and_empty_filters_are_the_same(tiny):
    assert parse_filters(tiny, None) == parse_filters(tiny, {}) == ([], None)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_unknown_number_satisfies_nothing(tiny, operator):
    for value in (0, -1, 10**9, 4.5):
        condition = {operator: [value] if operator == "in" else value}
        assert 1 not in rows_for(tiny, {"rating": condition})
        assert not {2, 3} & set(rows_for(tiny, {"height": condition}))


@pytest.mark.parametrize("value", ["", "none", "None", "unknown", "nan", "-1", "null", "-2"])
def test_an_unknown_word_satisfies_nothing(tiny, value):
    assert rows_for(tiny, {"brand": value}) == []
    assert rows_for(tiny, {"color": [value, "red"]}) == [0]


PRICES = [25, 25.0, "25", "25.0", "25.00", "$25", "$25.00", " $25.00 ", "$ 25", "25 "]


@pytest.mark.parametrize("price", PRICES)
def test_a_price_is_the_same_however_it_is_written(tiny, price):
    assert parse_filters(tiny, {"price": {"le": price}}) == parse_filters(tiny, {"price": {"le": 25}})
    assert rows_for(tiny, {"price": price}) == rows_for(tiny, {"price": [price]}) == [1]


def test_thousands_may_be_set_apart():
    assert as_number("$1,299.50") == 1299.5
    assert as_number("12,000,000") == 12_000_000


@pytest.mark.parametrize("value", ["1,5", "10,0", "1,2,3", "1,,000", ",5"])
def test_a_comma_that_sets_no_thousands_apart_is_not_read_over(value):
    assert as_number(value) is None


@pytest.mark.parametrize(
    "value", [True, False, None, "cheap", "", " ", "$", "nan", math.nan, math.inf, "inf", "-inf", [1], {}, "25 or 30"]
)
def test_what_is_no_number_is_not_read_as_one(tiny, value):
    assert as_number(value) is None
    with pytest.raises(Refused) as caught:
        parse_filters(tiny, {"price": {"le": value}})
    assert caught.value.code == "bad_filter"


@pytest.mark.parametrize(
    "filters",
    [
        {"price": {"lt": 5}},
        {"price": {"=": 5}},
        {"price": {}},
        {"price": None},
        {"price": []},
        {"price": {"in": []}},
        {"price": {"in": 5}},
        {"price": {"in": "3, 40"}},
        {"price": {"in": [3, "cheap"]}},
        {"price": {"in": [[3]]}},
        {"price": {"eq": {"le": 3}}},
        {"price": {"le": 5, "around": 4}},
        {"color": {"le": "red"}},
        {"color": {"ge": 3}},
        {"color": None},
        {"color": {"eq": ["red"]}},
        {"color": {"in": "red"}},
        {"color": {"in": ["red", None]}},
        {"type": {"ge": "mug"}},
        {"category": {"le": "Home"}},
        {"category": {"in": []}},
        {"in_stock": "maybe"},
        {"in_stock": 1},
        {"in_stock": None},
        {"in_stock": [True]},
        {"in_stock": {"in": [True]}},
        {"in_stock": {"eq": True, "ge": False}},
    ],
    ids=str,
)
def test_a_filter_that_fits_no_rule_is_refused(tiny, filters):
    with pytest.raises(Refused) as caught:
        parse_filters(tiny, filters)
    assert caught.value.code == "bad_filter"
    assert len(caught.value.message) > 10


@pytest.mark.parametrize("key", ["colour", "Price_", "title", "id", "stock", "", "__class__", "prix", "max_price"])
def test_an_unknown_key_is_refused_with_the_known_ones(tiny, key):
    with pytest.raises(Refused) as caught:
        parse_filters(tiny, {"price": {"le": 5}, key: "red"})
    assert caught.value.code == "unknown_filter"
    known = caught.value.message.partition("known filters: ")[2].split(", ")
    assert known == ["category", "type", "in_stock", *tiny.columns]


def test_a_mistyped_key_is_told_what_was_meant(tiny):
    with pytest.raises(Refused, match="did you mean color"):
        parse_filters(tiny, {"colour": "red"})


def test_a_shop_with_hundreds_of_keys_names_the_common_ones_and_those_spelled_alike(catalog):
    assert len(catalog.columns) > 200
    with pytest.raises(Refused) as caught:
        parse_filters(catalog, {"color_temprature": 2700})
    assert "did you mean color_temperature" in caught.value.message
    assert all(name in caught.value.message for name in ("category", "type", "in_stock", *COMMON))
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    "filters", [{"x" * 5_000: 1}, {"price": "x" * 5_000}, {"color": {"x" * 5_000: 1}}], ids=["key", "value", "operator"]
)
def test_a_refusal_does_not_repeat_pages_of_what_was_sent(tiny, filters):
    with pytest.raises(Refused) as caught:
        parse_filters(tiny, filters)
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(True, True), (False, False), ("true", True), ("No", False), ("YES", True), ({"eq": False}, False)],
)
def test_in_stock_is_read_apart_from_what_a_product_is(tiny, value, wanted):
    assert parse_filters(tiny, {"in_stock": value}) == ([], wanted)
    constraints, in_stock = parse_filters(tiny, {"in_stock": value, "type": "mug"})
    assert (in_stock, constraints) == (wanted, [Constraint("type", "eq", "mug")])


def test_a_constraint_survives_being_written_as_a_filter(tiny):
    for constraint in (
        Constraint("price", "le", 25.0), Constraint("color", "in", ("red", "blue")), Constraint("type", "eq", "mug"),
    ):  # fmt: skip
        assert parse_filters(tiny, constraint.as_filter()) == ([constraint], None)


# --- agreement with an evaluator that reads products one by one --------------------------------------------------


def holds(product: Product, key: str, operator: str, value: Any) -> bool:
    """The meaning of a filter, spelled out for one product."""
    values = value if operator == "in" else [value]
    if key == "category":
        parts = [fold(part) for part in product.category] + [fold(" > ".join(product.category))]
        return any(fold(str(word)) in parts for word in values)
    own = product.attributes.get(key) if key not in (*COMMON, "type") else getattr(product, key)
    if own is None:
        return False
    if isinstance(own, str):
        return fold(own) in [fold(str(word)) for word in values]
    if operator == "le":
        return own <= value
    return own >= value if operator == "ge" else any(own == float(number) for number in values)


@st.composite
def conditions(draw: st.DrawFn, catalog: Catalog) -> tuple[str, str, Any, list[int]]:
    """A key, an operator, a value that some product has or nearly has, and the rows to look at."""
    anchor = draw(st.integers(0, len(catalog) - 1))
    product = catalog.product(anchor)
    key = draw(st.sampled_from(["type", "category", *COMMON, *catalog.type_attributes(anchor)]))
    kin = catalog.rows_of_type(product.type).tolist()
    others = draw(st.lists(st.integers(0, len(catalog) - 1), max_size=60))
    if key in catalog.columns and catalog.columns[key].numeric:
        own = st.sampled_from([value for row in kin if (value := catalog.columns[key].get(row)) is not None] or [0])
        number = st.one_of(own, own.map(lambda x: x + 0.01), own.map(lambda x: x - 1), st.integers(-5, 2000))
        operator = draw(st.sampled_from(OPERATORS))
        return key, operator, draw(st.lists(number, min_size=1) if operator == "in" else number), kin + others
    if key == "type":
        names = catalog.type_names
    elif key == "category":
        names = [*product.category, " > ".join(product.category), *catalog.category_names[0]]
    else:
        names = sorted({str(catalog.columns[key].get(row)) for row in kin})
    word = st.one_of(st.sampled_from(names), st.sampled_from(names).map(str.upper), st.text(max_size=5))
    operator = draw(st.sampled_from(["eq", "in"]))
    return key, operator, draw(st.lists(word, min_size=1, max_size=4) if operator == "in" else word), kin + others


def check_agreement(catalog: Catalog, data: st.DataObject) -> None:
    key, operator, value, numbers = data.draw(conditions(catalog))
    (constraint,), _ = parse_filters(catalog, {key: {operator: value}})
    found = satisfied(catalog, np.array(numbers), constraint)
    assert found.tolist() == [holds(catalog.product(row), key, operator, value) for row in numbers]


@given(data=st.data())
def test_filters_agree_with_a_slow_evaluator(catalog, data):
    check_agreement(catalog, data)


@given(data=st.data())
def test_filters_agree_with_a_slow_evaluator_where_much_is_unknown(tiny, data):
    check_agreement(tiny, data)
