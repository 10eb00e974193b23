"""What is read from the cells of the Hub's product data: units, dimensions, details, single rows."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.catalog import hub_units
from ecomrlve.catalog.hub_details import as_brand, dimensions, meaning, plain_text, read_details
from ecomrlve.catalog.hub_rows import COLUMNS, RowReader
from ecomrlve.catalog.hub_units import converted, measure, unit_for, written


def read_rows(*rows: dict[str, Any], reader: RowReader | None = None) -> tuple[list[dict[str, Any]], RowReader]:
    """The records of rows that can be sold unless told otherwise."""
    reader = reader or RowReader()
    whole = [{"parent_asin": f"B{place}", "title": "Kettle", "price": "10.00"} | row for place, row in enumerate(rows)]
    return reader.batch({name: [row.get(name) for row in whole] for name in COLUMNS})[0], reader


# -- units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.2 pounds", (1.2, "lb")),
        ("65W", (65, "W")),
        ("1,200", (1200, "")),
        ("12.0 Count", (12, "")),
        ('6"', (6, "inches")),
        (".5 in.", (0.5, "inches")),
        ("8 Fl Oz", (8, "fl oz")),
        ("90.0 Hundredths Inches", (90, "hundredths of an inch")),
        ("-5 Degrees Celsius", (-5, "°C")),
        ("1. kg", (1, "kg")),
        ("USB 3", None),
        ("3 glorps", None),
        ("10 x 5 inches", None),
        ("1/2 inch", None),
        ("4,5 kg", None),
        ("1e5 lb", None),
        ("９ kg", None),
        ("9" * 400, None),
        ("", None),
        ("pounds", None),
        ("5 to 7 inches", None),
    ],
)
def test_measure(text: str, expected: tuple[float, str] | None) -> None:
    assert measure(text) == expected


@pytest.mark.parametrize(
    ("number", "unit", "wanted", "expected"),
    [
        (16, "oz", "lb", 1),
        (1, "kg", "lb", 2.205),
        (454, "g", "lb", 1.001),
        (25.4, "mm", "inches", 1),
        (12345.678, "lb", "lb", 12345.678),
        (1, "TB", "GB", 1024),
        (0.5, "kW", "W", 500),
        (90, "minutes", "hours", 1.5),
        (2, "years", "months", 24),
        (1, "lb", "V", None),
        (1, "", "lb", None),
        (1, "fl oz", "oz", None),
    ],
)
def test_converted(number: float, unit: str, wanted: str, expected: float | None) -> None:
    assert converted(number, unit, wanted) == expected


def test_units_are_told_apart() -> None:
    spellings = Counter(
        spelling
        for units in hub_units._FAMILIES.values()
        for name, _, others in units
        for spelling in {name.casefold(), *others.split("|")}
    )
    assert [spelling for spelling, count in spellings.items() if count > 1] == []
    for own, unit in hub_units._OWN_UNIT.items():
        assert unit_for(own, hub_units.family(unit)) == unit
        assert unit_for(own, "gems") == "carats"


@given(st.floats(0.01, 1e6), st.sampled_from(["oz", "kg", "g", "lb", "tons"]))
def test_equal_weights_stay_equal(number: float, unit: str) -> None:
    assert measure(written(round(number, 2), unit)) == (round(number, 2), unit)
    grams = converted(number, unit, "lb")
    assert grams is not None
    assert grams == converted(number, unit, "lb")
    exact = number * {"oz": 1 / 16, "kg": 2.2046226218, "g": 0.0022046226218, "lb": 1, "tons": 2000}[unit]
    assert grams == pytest.approx(exact, rel=6e-4)


# -- dimensions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "10 x 5 x 2 inches; 1.2 Pounds",
            {"length": "10 inches", "width": "5 inches", "height": "2 inches", "item_weight": "1.2 lb"},
        ),
        ('10"L x 5"W x 2"H', {"length": "10 inches", "width": "5 inches", "height": "2 inches"}),
        ("5 D × 10 W X 2.5 H cm", {"depth": "5 cm", "width": "10 cm", "height": "2.5 cm"}),
        ("10 x 5 mm", {"length": "10 mm", "width": "5 mm"}),
        ("10 x 5 x 2 inches; 1.2 Volts", {"length": "10 inches", "width": "5 inches", "height": "2 inches"}),
        ("10 x 5 x 2", {}),
        ("10 inches", {}),
        ("1 x 2 x 3 x 4 inches", {}),
        ('10"L x 5"L', {}),
        ('10"L x 5"', {}),
        ("10 x 5 x 2 pounds", {}),
        ("big x small inches", {}),
        ("", {}),
    ],
)
def test_dimensions(text: str, expected: dict[str, str]) -> None:
    assert dimensions(text) == expected


def test_keys_tell_the_order_of_sides() -> None:
    assert meaning("Item Dimensions  LxWxH")[1] == ("length", "width", "height")
    assert meaning("Item Dimensions D x W x H")[1] == ("depth", "width", "height")
    assert meaning("Product Dimensions")[1] == ("length", "width", "height")
    assert meaning("Package Dimensions") == ("", ())
    assert meaning("Item Package Dimensions L x W x H") == ("", ())


# -- details


def test_details_become_attributes() -> None:
    counted: Counter[str] = Counter()
    details = {
        "Brand": "Acme", "Colour": " Navy\u0000  Blue ", "Item Weight": "8 Ounces", "Is Fragile": True, "Pieces": 4,
        "Product Dimensions": "10 x 5 x 2 inches; 1.2 Pounds", "Item Height": "3 inches", "Finish": ["Matte", "Oiled"],
        "Waterproof?": "YES", "Empty": "", "Nothing": None, "Dash": "—", "Ratio": float("nan"), "Size": "N/A",
        "Type": "Corded", "Price": "$5", "In Stock": "yes", "ASIN": "B1", "Item model number": "X-1", "Rank": {"a": 1},
        "Parts": [{"a": 1}], "": "x", "***": "y", "Date First Available": "May 1", "k" * 90: "z",
    }  # fmt: skip
    attributes, brand = read_details(json.dumps(details), counted)
    assert brand == "Acme"
    assert attributes == {
        "color": "Navy Blue", "item_weight": "8 Ounces", "is_fragile": "yes", "pieces": "4", "length": "10 inches",
        "width": "5 inches", "height": "3 inches", "finish": "Matte, Oiled", "waterproof": "yes", "item_type": "Corded",
    }  # fmt: skip
    assert counted == {"details inside details, left out": 2}
    assert read_details(details, Counter())[0] == attributes


@pytest.mark.parametrize("cell", ["", "  ", None, "null", "None", "{}", {}])
def test_details_that_say_nothing(cell: Any) -> None:
    counted: Counter[str] = Counter()
    assert read_details(cell, counted) == ({}, None)
    assert not counted


@pytest.mark.parametrize("cell", ["not json", "[1]", "3", '{"a": 1', "[" * 100_000, "9" * 10_000, 7, [1]])
def test_details_that_are_no_object(cell: Any) -> None:
    counted: Counter[str] = Counter()
    assert read_details(cell, counted) == ({}, None)
    assert counted == {"details that are no JSON object, left out": 1}


@pytest.mark.parametrize(
    ("cell", "brand"),
    [
        ("Acme", "Acme"),
        (" Bolt\u200b  &  Co ", "Bolt\u200b & Co"),
        (3, "3"),
        ("Unknown", None),
        ("none", None),
        ("x" * 61, None),
        (True, None),
        (None, None),
        (float("nan"), None),
        ({"a": 1}, None),
    ],
)
def test_as_brand(cell: Any, brand: str | None) -> None:
    assert as_brand(cell) == brand


def test_plain_text_is_one_clean_line() -> None:
    assert plain_text(" a\u202e\n\tb\ud800 ") == "a b"
    assert plain_text("\x00none\x00") == ""


@pytest.mark.parametrize(
    ("details", "store", "brand"),
    [
        ({"Brand": "Acme", "Brand Name": "Bolt"}, "Store", "Acme"),
        ({"Brand": "", "Brand Name": "Bolt"}, "Store", "Bolt"),
        ({"Manufacturer": "Maker"}, "Store", "Store"),
        ({"Manufacturer": "Maker"}, None, None),
        ({}, "Jane Doe (Author)", None),
        ({}, "Format: Kindle Edition", None),
        ({}, "unknown", None),
    ],
)
def test_where_the_brand_comes_from(details: dict[str, str], store: str | None, brand: str | None) -> None:
    records, _ = read_rows({"details": json.dumps(details), "store": store, "title": "Acme Kettle"})
    assert records[0]["brand"] == brand


# -- rows


def test_the_type_is_the_last_step_of_the_path() -> None:
    records, reader = read_rows(
        {"categories": ["Home", None, "", "Kettles"], "main_category": "Tools"},
        {"categories": ["Home", "KETTLES "]},
        {"categories": [], "main_category": "Tools"},
        {"categories": None, "main_category": None},
    )
    assert [record["type"] for record in records] == ["Kettles", "Kettles", "Tools", "unknown"]
    assert [record["category"] for record in records] == [("Home", "Kettles"), ("Home", "KETTLES"), None, None]
    assert reader.noted["products whose category is unknown"] == 2
    assert reader.noted["products whose type is unknown, listed as 'unknown'"] == 1


def test_the_first_spelling_of_a_type_stays_over_batches() -> None:
    _, reader = read_rows({"categories": ["Kettles"]})
    records, _ = read_rows({"categories": ["KETTLES"], "parent_asin": "B9"}, reader=reader)
    assert records[0]["type"] == "Kettles"


def test_duplicates_are_dropped_within_and_over_batches() -> None:
    records, reader = read_rows(
        {"parent_asin": "A", "price": "None"}, {"parent_asin": "A", "price": "2"}, {"parent_asin": " A ", "price": "3"}
    )
    assert [record["price"] for record in records] == [2]
    assert reader.dropped == {"price missing": 1, "duplicate": 1}
    again, _ = read_rows(
        {"parent_asin": "A"}, {"parent_asin": "B"}, {"parent_asin": ""}, {"parent_asin": None}, reader=reader
    )
    assert len(again) == 3
    assert reader.dropped["duplicate"] == 2
    assert reader.noted["products without an id"] == 2
    assert (reader.read, reader.kept) == (7, 4)


def test_a_reader_that_is_told_the_states_knows_the_same() -> None:
    first, second = [{"parent_asin": f"A{n}", "details": '{"Color": "Red"}'} for n in range(9)], [{"parent_asin": "A3"}]
    _, reader = read_rows(*first)
    whole, told = {name: [row.get(name) for row in first] for name in COLUMNS}, RowReader()
    whole |= {"title": ["T"] * 9, "price": ["1"] * 9}
    told.remember(json.loads(json.dumps(RowReader().batch(whole)[1])))
    assert read_rows(*second, reader=told)[0] == read_rows(*second, reader=reader)[0] == []
    assert (told.dropped, told.noted, told.attributes) == (reader.dropped, reader.noted, reader.attributes)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(
    st.dictionaries(st.text(max_size=50), _JSON, max_size=5),
    st.text(),
    st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text()), max_size=4)),
)
def test_whatever_the_cells_hold_a_row_is_kept_or_dropped(details: dict[str, Any], text: str, steps: Any) -> None:
    cells = {"details": json.dumps(details), "title": text, "price": text, "store": text, "categories": steps}
    records, reader = read_rows(cells, {**cells, "title": "T", "price": "1", "features": steps, "description": steps})
    assert reader.read == 2 == len(records) + reader.dropped.total()
    for record in records:
        json.dumps(record).encode()
        assert record["type"]
        assert all(name.isidentifier() and text and len(text) <= 40 for name, text in record["attributes"].items())
