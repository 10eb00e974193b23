"""Loading catalogs from files: formats, mappings, strict values, and five real catalogs where they are present."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.files import UNKNOWN_TYPE, load_file
from ecomrlve.catalog.mapping import SYNTHESIZABLE
from ecomrlve.catalog.mapping_source import load_mapping
from ecomrlve.catalog.reading import find_files, read_table
from ecomrlve.catalog.values import as_count, as_number, clean_text, parse_price, snake_case
from ecomrlve.errors import CatalogError

SHARED = Path(os.environ.get("ECOMRLVE_SHARED_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")

ROWS = [
    {"id": "a", "title": "Red Mug", "price": 12.5, "type": "mug", "color": "red", "height": 10},
    {"id": "b", "title": "Blue Mug", "price": 13.0, "type": "mug", "color": "blue", "height": 10.5},
    {"id": "c", "title": "Steel Pan", "price": 40.0, "type": "pan", "color": None, "height": 6},
    {"id": "d", "title": "Green Mug", "price": 9.99, "type": "mug", "color": "green", "height": 12},
]
MAPPING = {
    "title": "title", "price": "price", "type": "type", "id": "id",
    "attributes": {"color": None, "height": {"unit": "cm", "better": "more"}},
}  # fmt: skip


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not in the folder of shared data")
    return path


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def load_rows(tmp_path: Path, rows: list[dict], mapping: dict | None = None) -> Catalog:
    return load_file(write_jsonl(tmp_path / "rows.jsonl", rows), mapping or MAPPING)


def check_card(catalog: Catalog) -> None:
    card = catalog.card
    assert card["read"] == card["kept"] + sum(card["dropped"].values())
    assert card["kept"] == len(catalog)
    assert set(card["synthesized"]) == catalog.synthesized <= set(SYNTHESIZABLE)
    assert all("/" not in name for name in card["source"])


# -- formats


def write(kind: str, folder: Path) -> Path:
    path = folder / f"products.{kind}"
    frame = pd.DataFrame(ROWS)
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind.startswith("csv"):
        frame.to_csv(path, index=False)  # pandas compresses by the suffix itself.
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind == "jsonl":
        write_jsonl(path, ROWS)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    elif kind == "json":
        path.write_text(json.dumps({"products": ROWS, "total": len(ROWS)}))
    elif kind in ("yaml", "yml"):
        path.write_text(yaml.safe_dump(ROWS))
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "tsv", "jsonl", "jsonl.gz", "json", "yaml", "yml"])
def test_each_format_gives_the_same_products(kind: str, tmp_path: Path) -> None:
    catalog = load_file(write(kind, tmp_path), MAPPING)
    check_card(catalog)
    assert catalog.name == "products"
    assert [catalog.product(row).price for row in range(4)] == [12.5, 13.0, 40.0, 9.99]
    assert catalog.product(0).attributes == {"color": "red", "height": 10}
    assert catalog.product(2).attributes == {"height": 6}
    assert catalog.columns["height"].info.unit == "cm"
    assert catalog.columns["height"].info.better == "more"
    assert catalog.product(0).rating is None
    assert catalog.fingerprint == load_rows(tmp_path, ROWS).fingerprint


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("title,price\nMug,3\n", encoding="utf-8-sig")
    assert len(load_file(path, {"title": "title", "price": "price"})) == 1


def test_folder_pattern_and_list(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "b.jsonl", ROWS[2:])
    write_jsonl(tmp_path / "a.jsonl", ROWS[:2])
    (tmp_path / "LICENSE").write_text("free")
    folder = load_file(tmp_path, MAPPING)
    assert folder.name == tmp_path.name
    assert folder.card["source"] == ["a.jsonl", "b.jsonl"]
    assert any("LICENSE" in note for note in folder.card["notes"])
    assert load_file(f"{tmp_path}/*.jsonl", MAPPING).fingerprint == folder.fingerprint
    assert load_file([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], MAPPING).fingerprint == folder.fingerprint
    assert find_files([tmp_path, tmp_path / "a.jsonl"])[0] == find_files(tmp_path)[0]


# -- bad inputs


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.txt", "title", "unknown format"),
        ("p.jsonl", "", "empty"),
        ("p.json", " \n", "empty"),
        ("p.json", "[]", "empty"),
        ("p.yaml", "", "empty"),
        ("p.csv", "", "empty"),
        ("p.csv", "title,price\n", "empty"),
        ("p.jsonl", '{"title": "A", "price": 1}\n{"title": \n', "line 2: not JSON"),
        ("p.jsonl", '{"title": "A", "price": 1}\n[1]\n', "product 2 is not an object"),
        ("p.json", '[{"title": "A",\n "price": }]', "line 2: not JSON"),
        ("p.json", "[" * 200_000, "not readable as JSON"),
        ("p.json", '{"a": [{}], "b": [{}]}', "2 lists of products"),
        ("p.json", '{"a": 1}', "0 lists of products"),
        ("p.json", '"text"', "neither a list"),
        ("p.csv", "title,price\nMug,1\nPan,2,3\n", "line 3: 3 cells where the header has 2"),
        ("p.csv", 'title,price\n"Mug,1\n', "line 2: malformed"),
        ("p.csv", "title,title\nMug,1\n", "named twice: title"),
        ("p.yaml", "- title: A\n  price: [1\n", "not YAML"),
        ("p.jsonl.gz", "plain", "cannot be read"),
        ("p.parquet", "plain", "not a readable Parquet file"),
    ],
)
def test_bad_files_say_what_is_wrong(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(CatalogError, match=re.escape(message)) as caught:
        load_file(path, {"title": "title", "price": "price"})
    assert name in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(b"title,price\n\xff\xfe,1\n")
    with pytest.raises(CatalogError, match="UTF-8"):
        load_file(path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no file at"):
        load_file(tmp_path / "none.csv")
    with pytest.raises(CatalogError, match="holds no file"):
        load_file(tmp_path)
    with pytest.raises(CatalogError, match="list of catalog files is empty"):
        load_file([])


def test_missing_columns_are_named_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"does not have: cost\. The columns are id, title, price, type"):
        load_rows(tmp_path, ROWS, {"title": "title", "price": "cost"})
    with pytest.raises(CatalogError, match="does not have: colour"):
        load_rows(tmp_path, ROWS, {"title": "title", "price": "price", "attributes": {"colour": None}})


def test_nothing_kept_gives_the_reasons(tmp_path: Path) -> None:
    rows = [{"title": "A", "price": "None"}, {"title": "B", "price": "from 3"}, {"title": "", "price": 3}]
    with pytest.raises(CatalogError, match="none of the 3 rows can be kept") as caught:
        load_rows(tmp_path, rows, {"title": "title", "price": "price"})
    for reason in ("price missing", "price is a range", "title missing"):
        assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "x"}, "unknown key colour; the known keys are title, price, type"),
        ({"attributes": {"color": {"units": "cm"}}}, "unknown key units; the known keys are kind, unit, label"),
        ({"brand": {"from_title": "second_word"}}, "brand.from_title"),
        ({"brand": {"column": "title", "from_title": "known"}}, "either column or from_title"),
        ({"type": {"column": "type", "template": "{type}"}}, "exactly one of column, columns and template"),
        ({"attributes": {"color": {"name": "The Color"}}}, "not snake_case"),
        ({"attributes": {"color": {"name": "brand"}}}, "field of every product"),
        ({"synthesize": ["price"]}, "synthesize.0"),
        ({"from_text": {"color": {"pattern": "red"}}}, "needs a group"),
        ({"from_text": {"color": {"pattern": "("}}}, "from_text.color.pattern"),
        ({"from_text": {"color": {}}}, "either words or pattern"),
    ],
)
def test_wrong_mappings_say_what_is_wrong(change: dict, message: str) -> None:
    with pytest.raises(CatalogError, match=re.escape(message)):
        load_mapping({**MAPPING, **change})


def test_mapping_files_and_names(tmp_path: Path) -> None:
    for name, text in (("m.yaml", yaml.safe_dump(MAPPING)), ("m.json", json.dumps(MAPPING))):
        (tmp_path / name).write_text(text)
        assert load_mapping(tmp_path / name) == load_mapping(MAPPING)
    with pytest.raises(CatalogError, match="built-in ones are pc_parts, retail_demo_store"):
        load_mapping("no_such")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(CatalogError, match="cannot be read"):
        load_mapping(tmp_path / "bad.yaml")
    (tmp_path / "text.yaml").write_text("just words")
    with pytest.raises(CatalogError, match="is wrong"):
        load_mapping(tmp_path / "text.yaml")
    for name in ("pc_parts", "retail_demo_store"):
        load_mapping(name)


def test_one_name_cannot_mean_two_things(tmp_path: Path) -> None:
    parts = {
        name: {"attributes": {"height": {"name": "height", "unit": unit}}} for name, unit in (("a", "cm"), ("b", "in"))
    }
    for name in parts:
        write_jsonl(tmp_path / f"{name}.jsonl", ROWS)
    with pytest.raises(CatalogError, match="describes attribute 'height' in two ways"):
        load_file(tmp_path, {"title": "title", "price": "price", "files": parts})


def test_type_and_category_in_a_circle(tmp_path: Path) -> None:
    circle = {"title": "title", "price": "price", "type": "@category", "category": {"template": "a/{@type}"}}
    with pytest.raises(CatalogError, match="the category from the type"):
        load_rows(tmp_path, ROWS, circle)


# -- prices and other values


@pytest.mark.parametrize(
    ("value", "price"),
    [
        ("$1,299.00", 1299.0), ("12.99", 12.99), (12.99, 12.99), (7, 7.0), (" $ 5 ", 5.0), ("USD 3.50", 3.5),
        ("US$3.50", 3.5), ("3.5 USD", 3.5), ("1,234,567.89", 1234567.89), ("0012", 12.0), ("12.990000", 12.99),
        (Decimal("4.20"), 4.2), (12.989999771118164, 12.99),
    ],
)  # fmt: skip
def test_prices_that_are_prices(value: object, price: float) -> None:
    assert parse_price(value) == (price, "")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "missing"), ("", "missing"), ("None", "missing"), ("—", "missing"), (math.nan, "missing"),
        ("nan", "missing"), ("N/A", "missing"), ([], "missing"), ("from 12.99", "range"), ("12.99 - 15.99", "range"),
        ("$12.99–$15.99", "range"), ("12 to 15", "range"), ("-5", "zero or negative"), (-5, "zero or negative"),
        (0, "zero or negative"), ("0.00", "zero or negative"), ("$-5.00", "zero or negative"),
        (math.inf, "not a number"), ("inf", "not a number"), ("1e3", "not a number"), (True, "not a number"),
        ("free", "not a number"), ("12,99", "not a number"), ("1.299,00", "not a number"), ("12.99.1", "not a number"),
        ("٣٫٥", "not a number"), ("€12.99", "another currency"), ("12.99 EUR", "another currency"),
        ("12.995", "fractions"), (0.001, "fractions"), ("9" * 400, "number"), (10**400, "not a number"),
        ("99999999999", "above a billion"), ({"amount": 3}, "not a number"), ("12.99 per kg", "not a number"),
    ],
)  # fmt: skip
def test_prices_that_are_none(value: object, reason: str) -> None:
    price, why = parse_price(value)
    assert price is None
    assert reason in why


_ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals()
_NEARLY = st.text(alphabet="0123456789.,$- USDfromto–—€eE+")


@given(_ANYTHING | _NEARLY | st.lists(_ANYTHING) | st.dictionaries(st.text(), _ANYTHING))
@example("$1,299.00")
@example("1,29.00")
def test_a_price_is_what_is_written_or_none(value: object) -> None:
    price, why = parse_price(value)
    assert (price is None) == bool(why)
    if price is None:
        return
    assert price > 0
    assert math.isfinite(price)
    if isinstance(value, str):
        # All the digits of the text, in order, and nothing else, make up the number.
        written = re.sub(r"[^0-9.]", "", value)
        assert re.fullmatch(r"[0-9]+(\.[0-9]+)?", written)
        assert Decimal(written) == Decimal(str(price))
        assert not re.search(r"[-–—€]|from|to", value)
    else:
        assert float(value) == pytest.approx(price, rel=1e-6)  # type: ignore[arg-type]


@given(st.integers(1, 10**11), st.booleans(), st.sampled_from(["", "$", "USD ", "US$"]))
def test_prices_written_as_shops_do_are_read(cents: int, grouped: bool, sign: str) -> None:
    whole = f"{cents // 100:,}" if grouped else str(cents // 100)
    assert parse_price(f"{sign}{whole}.{cents % 100:02}") == (cents / 100, "")


@given(_ANYTHING | _NEARLY)
def test_other_values_never_raise(value: object) -> None:
    number, count = as_number(value), as_count(value)
    assert number is None or math.isfinite(number)
    assert count is None or 0 <= count < 2**31


@given(st.text())
def test_clean_text_has_no_control_characters(text: str) -> None:
    clean, removed = clean_text(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", clean)
    assert removed >= 0
    assert clean_text(clean) == (clean, 0)
    clean.encode("utf-8")


@given(st.text())
def test_snake_case_names_are_names(text: str) -> None:
    assert re.fullmatch(r"([a-z][a-z0-9_]*)?", snake_case(text))


# -- rows


def test_dropped_rows_are_counted_by_reason(tmp_path: Path) -> None:
    rows = [
        *ROWS,
        {**ROWS[0], "id": "e", "title": ""},
        {**ROWS[0], "id": "f", "title": "\x00\x07"},
        {**ROWS[0], "id": "g", "title": None},
        {**ROWS[0], "id": "h", "price": "from 12.99"},
        {**ROWS[0], "id": "i", "price": "None"},
        {**ROWS[0], "title": "The same id"},
    ]
    catalog = load_rows(tmp_path, rows)
    check_card(catalog)
    assert catalog.card["dropped"] == {"duplicate": 1, "price is a range": 1, "price missing": 1, "title missing": 3}
    assert catalog.titles == [row["title"] for row in ROWS]


def test_where_keeps_the_rows_that_match_and_counts_the_rest(tmp_path: Path) -> None:
    catalog = load_rows(tmp_path, ROWS, {**MAPPING, "where": {"type": ["MUG"]}})
    assert catalog.card["dropped"] == {"type is not MUG": 1}
    assert len(catalog) == 3


def test_texts_are_cleaned_and_markup_stays(tmp_path: Path) -> None:
    rows = [
        {"title": "Mug\x00 <b>big</b>\n\u202eetsap", "price": 3, "text": "line 1\nline\x1b[31m 2"},
        {"title": "\ud800Pan", "price": 4, "text": ""},
    ]
    catalog = load_rows(tmp_path, rows, {"title": "title", "price": "price", "description": "text"})
    assert catalog.titles == ["Mug <b>big</b> etsap", "Pan"]
    assert catalog.descriptions == ["line 1\nline[31m 2", ""]
    assert "control characters removed from texts: 4" in catalog.card["notes"]


def test_unknown_stays_unknown(tmp_path: Path) -> None:
    rows = [
        {"title": "A", "price": 1, "rating": None, "category": None, "brand": "None", "n": "", "stock": "many"},
        {"title": "B", "price": 1, "rating": 0.9, "category": "Kitchen/Mugs", "brand": "Acme", "n": 3.5, "stock": 7},
        {"title": "C", "price": 1, "rating": 4.5, "category": "Kitchen / mugs", "brand": "ACME", "n": 12, "stock": -1},
    ]
    mapping = {
        "title": "title", "price": "price", "category": "category", "brand": "brand", "rating": "rating",
        "rating_count": "n", "stock": "stock",
    }  # fmt: skip
    catalog = load_rows(tmp_path, rows, mapping)
    first, second, third = (catalog.product(row) for row in range(3))
    assert (first.rating, first.brand, first.rating_count, first.stock, first.type) == (
        None,
        None,
        None,
        0,
        UNKNOWN_TYPE,
    )
    assert (second.rating, second.rating_count, second.stock, second.category) == (None, None, 7, ("Kitchen", "Mugs"))
    assert (third.rating, third.rating_count, third.stock) == (4.5, 12, 0)
    assert second.type == third.type == "Mugs"  # One spelling of a type.
    assert catalog.synthesized == frozenset()
    notes = " ".join(catalog.card["notes"])
    for note in ("rating unknown for 2 of 3", "left unknown: 1", "whose type is unknown", "stock unknown for 2 of 3"):
        assert note in notes


def test_synthesized_values_are_fixed_by_the_product_and_named(tmp_path: Path) -> None:
    mapping = {**MAPPING, "synthesize": list(SYNTHESIZABLE)}
    catalog = load_rows(tmp_path, ROWS, mapping)
    assert catalog.synthesized == frozenset(SYNTHESIZABLE)
    backwards = load_rows(tmp_path, ROWS[::-1], mapping)
    for row in range(4):
        one, other = catalog.product(row), backwards.product(3 - row)
        assert one.title == other.title
        for field in SYNTHESIZABLE:
            assert getattr(one, field) == getattr(other, field) is not None
        assert 1 <= one.rating <= 5
        assert 1 <= one.ship_days <= 7
        assert one.stock > 0
    # What the file says stays; only what it leaves open is filled.
    rows = [{**row, "stars": 2.5 if row["id"] == "a" else None} for row in ROWS]
    mixed = load_rows(tmp_path, rows, {**MAPPING, "rating": "stars", "synthesize": ["rating"]})
    assert mixed.product(0).rating == 2.5
    assert "rating synthesized for 3 of 4 products" in mixed.card["notes"]
    full = [{**row, "stars": 2.5} for row in ROWS]
    assert (
        load_rows(tmp_path, full, {**MAPPING, "rating": "stars", "synthesize": ["rating"]}).synthesized == frozenset()
    )


def test_equal_rows_are_duplicates_when_the_row_is_the_id(tmp_path: Path) -> None:
    rows = [{"title": "A", "price": 1}, {"title": "A", "price": 2}, {"title": "A", "price": 1}]
    catalog = load_rows(tmp_path, rows, {"title": "title", "price": "price", "id": "@row"})
    assert catalog.card["dropped"] == {"duplicate": 1}


def test_brands_from_titles(tmp_path: Path) -> None:
    titles = ["Lian Li Fan", "LIAN LI Case", "Liane Fan", "be quiet! Fan", "Noctua NH"]
    rows = [{"title": title, "price": 1} for title in titles]
    brand = {"from_title": "first_word", "brands": ["Lian Li", "be quiet!"]}
    catalog = load_rows(tmp_path, rows, {"title": "title", "price": "price", "brand": brand})
    found = [catalog.product(row).brand for row in range(5)]
    assert found == ["Lian Li", "Lian Li", "Liane", "be quiet!", "Noctua"]
    known = load_rows(tmp_path, rows, {"title": "title", "price": "price", "brand": {**brand, "from_title": "known"}})
    assert [known.product(row).brand for row in range(5)] == ["Lian Li", "Lian Li", None, "be quiet!", None]


def test_attribute_steps(tmp_path: Path) -> None:
    rows = [
        {"title": "A", "price": 1, "speed": [5, 6000], "rpm": 1200, "tags": ["x", "y"], "ok": True, "w": "65 watts"},
        {"title": "B", "price": 1, "speed": [4, 3200], "rpm": [500, 900], "tags": [], "ok": False, "w": "30 watts"},
        {"title": "C", "price": 1, "speed": [], "rpm": None, "tags": "z", "ok": None, "w": "unknown"},
    ]
    attributes = {
        "speed": [
            {"name": "kind", "index": 0, "template": "DDR{}", "kind": "category"},
            {"name": "speed", "index": 1, "unit": "MHz", "kind": "number"},
            {"name": "area", "index": "product"},
        ],
        "rpm": [{"index": "max"}, {"name": "seconds", "index": "min", "scale": 0.1}],
        "tags": None,
        "ok": {"values": {"yes": "fine"}},
        "w": {"name": "wattage", "pattern": r"^(\d+) watts$", "kind": "number"},
    }
    catalog = load_rows(tmp_path, rows, {"title": "title", "price": "price", "attributes": attributes})
    assert catalog.product(0).attributes == {
        "kind": "DDR5", "speed": 6000, "area": 30000, "rpm": 1200, "seconds": 120, "tags": "x, y", "ok": "fine",
        "wattage": 65,
    }  # fmt: skip
    assert catalog.product(1).attributes == {
        "kind": "DDR4", "speed": 3200, "area": 12800, "rpm": 900, "seconds": 50, "ok": "no", "wattage": 30,
    }  # fmt: skip
    assert catalog.product(2).attributes == {"tags": "z"}
    assert catalog.columns["speed"].numeric
    assert not catalog.columns["kind"].numeric


def test_numbers_that_are_none_are_unknown_and_counted(tmp_path: Path) -> None:
    rows = [{"title": "A", "price": 1, "w": "12"}, {"title": "B", "price": 1, "w": "about 12"}]
    mapping = {"title": "title", "price": "price", "attributes": {"w": {"kind": "number"}}}
    catalog = load_rows(tmp_path, rows, mapping)
    assert catalog.product(1).attributes == {}
    assert "values of w that are not numbers, left unknown: 1" in catalog.card["notes"]
    undeclared = load_rows(tmp_path, rows, {"title": "title", "price": "price", "attributes": {"w": None}})
    assert [undeclared.product(row).attributes["w"] for row in range(2)] == ["12", "about 12"]


def test_words_are_found_in_texts(tmp_path: Path) -> None:
    rows = [
        {"title": "Rose Gold Ring", "price": 1, "text": "A black box."},
        {"title": "Ring", "price": 1, "text": "Shown against a blue background. In NAVY-blue enamel, not red."},
        {"title": "Goldsmith's Ring", "price": 1, "text": "Plain."},
        {"title": "3-Pack of red fans", "price": 1, "text": ""},
    ]
    texts = {
        "color": {
            "words": {"gold": [], "rose gold": [], "black": [], "blue": ["navy"], "red": []},
            "ignore": [r"against an? \w+ background"],
        },
        "pack": {"pattern": r"(\d+)-Pack", "kind": "number", "look_in": ["title"]},
        "ring": {"words": ["ring"], "where": {"price": ["2"]}},
    }
    mapping = {"title": "title", "price": "price", "description": "text", "from_text": texts}
    catalog = load_rows(tmp_path, rows, mapping)
    found = [catalog.product(row).attributes for row in range(4)]
    assert found == [{"color": "rose gold"}, {"color": "blue"}, {}, {"color": "red", "pack": 3}]
    assert "attributes without any value: ring" in catalog.card["notes"]


def test_nested_and_packed_fields(tmp_path: Path) -> None:
    rows = [
        {
            "title": "A",
            "price": 1,
            "size": {"w": 2, "h": {"min": 3}},
            "details": '{"Color": "red"}',
            "more": "x=1,y=a, b",
        },
        {"title": "B", "price": 1, "size": {"w": 4, "h": {"min": 5}}, "details": "not json", "more": "y=c"},
    ]
    mapping = {
        "title": "title", "price": "price", "unpack": {"details": "json", "more": "pairs"},
        "attributes": {"size.w": None, "size.h.min": {"name": "height"}, "details.Color": "color", "more.y": "y"},
    }  # fmt: skip
    catalog = load_rows(tmp_path, rows, mapping)
    assert catalog.product(0).attributes == {"size_w": 2, "height": 3, "color": "red", "y": "a, b"}
    assert catalog.product(1).attributes == {"size_w": 4, "height": 5, "y": "c"}
    assert "texts in column details that are not json, left as they are: 1" in catalog.card["notes"]


def test_types_categories_and_descriptions(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "case-fan.jsonl", [{"title": "A", "price": 1, "mm": 120}])
    write_jsonl(tmp_path / "cpu.jsonl", [{"title": "B", "price": 2, "mm": 40}])
    mapping = {
        "title": "title", "price": "price", "category": {"template": "Parts/{@type}"},
        "description": {"from_attributes": True}, "attributes": {"mm": {"name": "size", "unit": "mm"}},
        "type": {"column": "@file", "values": {"cpu": "processor"}}, "files": {"gpu": "video card"},
    }  # fmt: skip
    catalog = load_file(tmp_path, mapping)
    assert [catalog.product(row).type for row in range(2)] == ["case fan", "processor"]
    assert catalog.product(0).category == ("Parts", "case fan")
    assert catalog.product(0).description == "Size: 120 mm."
    assert "the mapping has parts for files that are not there: gpu" in catalog.card["notes"]


def test_guessed_mapping_takes_useful_columns_and_tells_about_the_others(tmp_path: Path) -> None:
    rows = [
        {
            "Product Name": f"Thing {number}", "Price": f"${number}.00", "Brand": "Acme", "Rating": 4, "Qty": number,
            "Color": "red" if number % 2 else "blue", "Watts": str(number * 1.5), "Code": f"X{number}",
            "Always": "same", "Story": f"Once upon a time {number // 2} " * 10, "Picture": f"https://a/{number % 3}",
            "Parts": [{"a": 1}],
        }
        for number in range(1, 9)
    ]  # fmt: skip
    catalog = load_file(write_jsonl(tmp_path / "things.jsonl", rows))
    product = catalog.product(0)
    assert (product.price, product.brand, product.rating, product.stock) == (1.0, "Acme", 4, 1)
    assert product.type == "things"
    assert product.attributes == {"color": "red", "watts": 1.5}
    notes = " ".join(catalog.card["notes"])
    for column in ("Code", "Always", "Story", "Picture", "Parts"):
        assert column in notes
    with pytest.raises(CatalogError, match=r"looks like a price; .* The columns are title, cost"):
        load_file(write_jsonl(tmp_path / "x.jsonl", [{"title": "A", "cost": 1}]))


def test_listed_variants(tmp_path: Path) -> None:
    rows = [
        {"sku": "S", "title": "Small", "price": 10, "qty": 3, "kind": "simple", "variants": ""},
        {"sku": "P", "title": "Shirt", "price": 12, "qty": 9, "kind": "parent",
         "variants": "sku=S,size=S|sku=M,size=M|sku=T,size=M|sku=U"},
        {"sku": "Q", "title": "Hat", "price": 5, "qty": 1, "kind": "parent",
         "variants": [{"size": "L", "price": "6.00"}, {"size": "XL", "price": "from 6"}]},
    ]  # fmt: skip
    mapping = {
        "title": "title", "price": "price", "stock": "qty", "where": {"kind": ["parent"]},
        "variants": {"column": "variants", "attributes": ["size"], "stock": "qty"},
    }  # fmt: skip
    catalog = load_rows(tmp_path, rows, mapping)
    shirt, hat = catalog.product(0), catalog.product(1)
    assert [(v.attributes, v.price, v.stock) for v in shirt.variants] == [
        ({"size": "S"}, 10, 3),
        ({"size": "M"}, 12, 9),
    ]
    assert [(v.attributes, v.price, v.stock) for v in hat.variants] == [({"size": "L"}, 6, 1)]
    notes = " ".join(catalog.card["notes"])
    for note in ("the same as another): 1", "without attributes): 1", "price is a range): 1"):
        assert note in notes


# -- real catalogs


def test_pc_parts() -> None:
    path = shared("pc_parts")
    catalog = load_file(path, "pc_parts")
    check_card(catalog)
    assert catalog.card["read"] == 16222
    assert catalog.card["dropped"] == {"duplicate": 68}
    assert len(catalog.type_names) == 24
    assert "case fan" in catalog.type_names
    assert catalog.synthesized == frozenset(SYNTHESIZABLE)
    fan = catalog.product(0)
    assert (fan.title, fan.brand, fan.type) == ("Lian Li Uni Fan SL-Infinity 3-Pack", "Lian Li", "case fan")
    assert fan.attributes["airflow"] == 61.3
    memory = catalog.product(int(catalog.rows_of_type("memory kit")[0]))
    assert memory.attributes["memory_type"] == "DDR5"
    assert memory.attributes["total_memory"] == 32
    assert {"Western Digital", "be quiet!", "Cooler Master"} <= set(catalog.columns["brand"].names)
    assert len(catalog.attributes_of_type("monitor")) == 6
    assert load_file(f"{path}/*.jsonl", "pc_parts").fingerprint == catalog.fingerprint


def test_retail_demo_store() -> None:
    path = shared("retail_demo_store.products.yaml")
    catalog = load_file(path, "retail_demo_store", name="retail")
    check_card(catalog)
    assert catalog.name == "retail"
    assert len(catalog) == catalog.card["read"] == 2465
    assert catalog.synthesized == {"rating", "rating_count", "ship_days"}
    assert all(catalog.product(row).brand is None for row in range(50))
    daypack = catalog.product(catalog.rows_titled("Mauve Leather Daypack")[0])
    assert (daypack.type, daypack.category) == ("backpack", ("accessories", "backpack"))
    assert daypack.attributes["color"] == "purple"
    assert daypack.attributes["material"] == "leather"
    assert daypack.stock == 15
    counts = [len(catalog.product(row).attributes) for row in range(len(catalog))]
    assert sum(counts) / len(counts) > 5
    assert load_file(path, "retail_demo_store").fingerprint == catalog.fingerprint


def test_dummyjson() -> None:
    path = shared("dummyjson.products.json")
    days = {
        "Ships overnight": 1,
        "Ships in 1-2 business days": 2,
        "Ships in 3-5 business days": 5,
        "Ships in 1 week": 7,
    }
    mapping = {
        "title": "title", "price": "price", "description": "description", "category": "category", "brand": "brand",
        "rating": "rating", "stock": "stock", "id": "sku",
        "ship_days": {"column": "shippingInformation", "values": days},
        "attributes": {"weight": {"unit": "oz"}, "dimensions.width": "width", "warrantyInformation": "warranty",
                       "returnPolicy": "return_policy"},
    }  # fmt: skip
    catalog = load_file(path, mapping)
    check_card(catalog)
    assert len(catalog) == 194
    first = catalog.product(0)
    assert (first.brand, first.rating, first.stock, first.ship_days) == ("Essence", 2.56, 99, 5)
    assert first.attributes == {"weight": 4, "width": 15.14, "warranty": "1 week warranty",
                                "return_policy": "No return policy"}  # fmt: skip
    assert any("brand unknown for 92 of 194" in note for note in catalog.card["notes"])
    assert any("values of ship_days that are not a whole number" in note for note in catalog.card["notes"])
    guessed = load_file(path)
    check_card(guessed)
    assert "weight" in guessed.columns


def test_magento_sample() -> None:
    path = shared("magento_sample.configurable_products.csv")
    mapping = {
        "title": "name", "price": "price", "description": "description", "id": "sku", "stock": "qty",
        "category": {"column": "categories", "alternatives": ",", "drop": ["Default Category"]},
        "where": {"product_type": ["configurable"]}, "unpack": {"additional_attributes": "pairs"},
        "attributes": {"additional_attributes.material": {"name": "material", "separator": "|", "index": 0},
                       "additional_attributes.climate": {"name": "climate", "separator": "|"}},
        "variants": {"column": "configurable_variations", "attributes": ["size", "color"], "stock": "qty"},
    }  # fmt: skip
    catalog = load_file(path, mapping)
    check_card(catalog)
    assert len(catalog) == 147
    assert catalog.card["dropped"] == {"product_type is not configurable": 1847}
    hoodie = catalog.product(catalog.rows_titled("Chaz Kangeroo Hoodie")[0])
    assert hoodie.category == ("Men", "Tops", "Hoodies & Sweatshirts")
    assert hoodie.type == "Hoodies & Sweatshirts"
    assert hoodie.attributes["material"] == "Wool"
    assert hoodie.attributes["climate"] == "All-weather, Cool, Indoor, Spring, Windy"
    assert len(hoodie.variants) == 15
    assert hoodie.variants[0].attributes == {"size": "XS", "color": "Black"}
    assert hoodie.variants[0].stock == 100
    assert sum(len(catalog.product(row).variants) for row in range(147)) == 1847


def test_amazebay_sample() -> None:
    path = shared("amazebay_schema_sample.parquet")
    mapping = {
        "title": "title", "price": "price", "description": "description", "features": "features", "id": "parent_asin",
        "category": {"columns": ["categories", "main_category"]}, "brand": "store", "rating": "average_rating",
        "rating_count": "rating_number", "unpack": {"details": "json"}, "synthesize": ["stock", "ship_days"],
        "attributes": {"details.Connector Type": None,
                       "details.Wattage": {"name": "wattage", "pattern": r"^(\d+) watts$", "kind": "number"}},
    }  # fmt: skip
    catalog = load_file(path, mapping)
    check_card(catalog)
    # Of the five rows two have a price and a title; none is made up for the other three.
    assert catalog.titles == ["65W USB-C Charger", "Cotton Tee"]
    assert catalog.card["dropped"] == {"price is a range": 1, "price missing": 1, "title missing": 1}
    charger, tee = catalog.product(0), catalog.product(1)
    assert charger.category == ("Electronics", "Chargers")
    assert charger.attributes == {"details_connector_type": "USB Type C", "wattage": 65}
    assert (charger.rating, charger.rating_count, charger.features) == (4.4, 1234, ("GaN", "Foldable plug"))
    assert charger.description == "Compact charger."
    assert (tee.price, tee.rating, tee.rating_count, tee.category) == (1299.0, None, 0, ("AMAZON FASHION",))
    assert catalog.synthesized == {"stock", "ship_days"}


def test_read_table_tells_columns_in_order(tmp_path: Path) -> None:
    table = read_table(write("jsonl", tmp_path))
    assert (table.file, table.stem, table.columns) == ("products.jsonl", "products", tuple(ROWS[0]))
