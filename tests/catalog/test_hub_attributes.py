"""Settling the attributes of the Hub's product data: kinds, units, and which attributes there are at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ecomrlve.catalog import hub_attributes
from ecomrlve.catalog.chunks import read_chunk, write_chunk
from ecomrlve.catalog.hub_attributes import AttributeCounts, Settled, count_values, settle, settle_chunk, settled_value
from ecomrlve.catalog.product import Attribute


def counts_of(*batches: Sequence[str], long: int = 0) -> AttributeCounts:
    """The counts of an attribute's values, batch after batch."""
    counts = AttributeCounts()
    for values in batches:
        counts.add(count_values(values, long, counts))
    return counts


def settle_one(*values: str, long: int = 0) -> Settled:
    return settle({"item_weight": counts_of(values, long=long)})


def test_an_attribute_is_a_number_from_95_percent_on() -> None:
    enough = settle_one(*["1 pound"] * 95, *["heavy"] * 5)
    assert enough.attributes["item_weight"].kind == "number"
    assert enough.known_for == {"item_weight": 95}
    assert enough.notes == {"values of item_weight that are no numbers in lb, left unknown": 5}
    few = settle_one(*["1 pound"] * 94, *["heavy"] * 6)
    assert few.attributes["item_weight"].kind == "category"
    assert few.known_for == {"item_weight": 100}
    assert not few.notes


def test_the_most_common_family_of_units_decides() -> None:
    settled = settle_one(*["8 oz", "1 kg"] * 50, *["2 inches"] * 3, "7")
    attribute = settled.attributes["item_weight"]
    assert (attribute.kind, attribute.unit, settled.known_for["item_weight"]) == ("number", "lb", 100)
    # Half of one family and half of another: no number that people could compare.
    assert settle_one(*["8 oz", "2 inches"] * 50).attributes["item_weight"].kind == "category"


def test_plain_numbers_have_no_unit() -> None:
    settled = settle_one(*["12", "6.0 Count", "4 pieces"] * 10)
    assert (settled.attributes["item_weight"].kind, settled.attributes["item_weight"].unit) == ("number", "")


@pytest.mark.parametrize(
    ("text", "unit", "value"), [("8 oz", "lb", 0.5), ("2 lb", "lb", 2.0), ("2 V", "lb", None), ("x", "lb", None)]
)
def test_settled_value(text: str, unit: str, value: float | None) -> None:
    assert settled_value(text, Attribute("a", "number", "a", unit)) == value
    assert settled_value(text, Attribute("a", "category", "a")) == text


def test_number_plates_are_no_attributes() -> None:
    plates = [f"X-{number}" for number in range(20)]
    assert settle_one(*plates).left_out == {"another value for every product": ["item_weight"]}
    assert settle_one(*plates[:19]).left_out == {}  # too few to tell
    assert settle_one(*plates, plates[0].lower()).left_out == {}  # one that two products share
    assert settle_one(*map(str, range(20))).left_out == {"another value for every product": ["item_weight"]}
    measured = settle_one(*(f"{number} kg" for number in range(20)))
    assert measured.left_out == {}  # weights may well all differ


def test_too_many_words_are_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_attributes, "MOST_DIFFERENT", 10)
    some, more = [f"w{number}" for number in range(10)], ["W3", "w10", "w11"]
    assert not counts_of(some, some).crowded
    crowded = counts_of(some, more, some)
    assert (crowded.crowded, crowded.different, crowded.known) == (True, set(), 23)
    assert count_values(["new"], 0, crowded)["new"] == []
    assert settle({"a": crowded}).left_out == {"more than 10 different values": ["a"]}
    weights = counts_of([f"{number} g" for number in range(30)])
    assert settle({"a": weights}).attributes["a"].unit == "lb"


def test_mostly_long_texts_are_no_choice() -> None:
    assert settle_one(*["a"] * 10, long=11).left_out == {"mostly long texts": ["item_weight"]}
    settled = settle_one(*["a"] * 10, long=10)
    assert settled.left_out == {}
    assert settled.notes == {"texts of item_weight longer than 40 characters, left unknown": 10}


def test_the_most_common_attributes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_attributes, "MOST_ATTRIBUTES", 2)
    settled = settle({name: counts_of(["x"] * count) for name, count in (("b", 3), ("a", 3), ("d", 9), ("c", 1))})
    assert list(settled.attributes) == ["d", "a"]
    assert settled.left_out == {"not among the 2 most common": ["b", "c"]}


def test_a_chunk_is_settled(tmp_path: Path) -> None:
    texts = [{"w": "8 oz", "c": "Red", "x": "1"}, {}, {"c": "8 oz", "w": "light"}, {"x": "y"}, {"w": "1 kg", "n": "4"}]
    records = [
        {"title": f"T{place}", "price": 1.0, "type": "t", "attributes": some} for place, some in enumerate(texts)
    ]
    write_chunk(tmp_path, 0, records, {"at": 3})
    before = read_chunk(tmp_path, 0)
    attributes = {
        "w": Attribute("w", "number", "w", "lb"),
        "c": Attribute("c", "category", "c"),
        "n": Attribute("n", "number", "n"),
    }
    for _ in range(2):
        settle_chunk(tmp_path, 0, attributes)
        after = read_chunk(tmp_path, 0)
        found = zip(*(after.column(name).to_pylist() for name in ("attribute", "number", "word")), strict=True)
        assert [list(zip(*cells, strict=True)) for cells in found] == [
            [("w", 0.5, None), ("c", None, "Red")],
            [],
            [("c", None, "8 oz")],
            [],
            [("w", 2.205, None), ("n", 4.0, None)],
        ]
        assert after.schema.equals(before.schema, check_metadata=True)
        others = [name for name in before.schema.names if name not in ("attribute", "number", "word")]
        assert after.select(others).equals(before.select(others))


def test_a_chunk_without_products_is_settled(tmp_path: Path) -> None:
    write_chunk(tmp_path, 0, [], {"at": 3})
    settle_chunk(tmp_path, 0, {"w": Attribute("w", "number", "w", "lb")})
    assert read_chunk(tmp_path, 0).num_rows == 0
