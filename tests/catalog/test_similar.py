"""Likeness of products: the figures that catalog_similar reports and the judge goes by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.product import Attribute
from ecomrlve.catalog.similar import COMPATIBILITY_WORDS, compatible_by, similarity
from ecomrlve.streams import Stream


def record(title: str, kind: str = "lamp", **fields: Any) -> dict[str, Any]:
    common = {"price": 20.0, "rating": 4.0, "ship_days": 2, "brand": "Aro", "stock": 5}
    return {"title": title, "type": kind} | common | fields


def small(*records: dict[str, Any], **attributes: Attribute) -> Catalog:
    return Catalog.from_records(records, name="small", attributes=attributes)


LAMPS = small(
    record("own", attributes={"color": "red", "power_w": 10}),
    record("same", attributes={"color": "red", "power_w": 10}),
    record("other color", attributes={"color": "blue", "power_w": 10}),
    record("half as strong", attributes={"color": "red", "power_w": 5}),
    record("far end", attributes={"color": "red", "power_w": 0}),
    record("twice the price", price=40.0, attributes={"color": "red", "power_w": 10}),
    record("other brand", brand="Bea", attributes={"color": "red", "power_w": 10}),
    record("no brand", brand=None, attributes={"color": "red", "power_w": 10}),
    record("unknown attributes", attributes={"color": None, "power_w": None}),
    record("nothing in common", price=80.0, brand="Bea", attributes={"color": "blue", "power_w": 0}),
)
# 0.6 · mean likeness of color and power (range 10) + 0.25 · min/max price + 0.15 · same brand.
EXPECTED = [1.0, 1.0, 0.7, 0.85, 0.7, 0.875, 0.85, 0.85, 0.4, 0.062]


def test_the_worked_examples_come_out_to_the_digit():
    found = similarity(LAMPS, 0, np.arange(len(LAMPS)))
    assert found.tolist() == pytest.approx(EXPECTED, abs=0.0006)
    assert found.tolist() == [round(value, 3) for value in found.tolist()]


def test_an_unknown_brand_is_like_no_other_not_even_another_unknown_one():
    shop = small(*(record(f"lamp {n}", brand=None, attributes={"color": "red"}) for n in range(2)), record("branded"))
    assert similarity(shop, 0, np.array([1])).tolist() == [0.85]


def test_a_number_that_is_the_same_everywhere_counts_as_equal():
    shop = small(*(record(f"lamp {n}", attributes={"power_w": 7}) for n in range(3)))
    assert similarity(shop, 0, np.array([1, 2])).tolist() == [1.0, 1.0]


def test_a_product_without_attributes_is_compared_by_price_and_brand():
    shop = small(record("a"), record("b", price=10.0), record("c", brand="Bea"))
    assert similarity(shop, 0, np.array([1, 2])).tolist() == [0.275, 0.25]


def test_distances_are_measured_within_the_type_alone():
    giant = record("giant", "crane", attributes={"power_w": 1_000_000})
    shop = small(*(record(f"lamp {n}", attributes={"power_w": 10 - n}) for n in range(3)), giant)
    assert similarity(shop, 0, np.array([1])).tolist() == [0.7]
    assert 0.4 <= similarity(shop, 0, np.array([3]))[0] <= 1.0


def plain_likeness(catalog: Catalog, row: int, other: int) -> float:
    """The documented formula, one pair at a time."""
    own, its = catalog.facts(row)["attributes"], catalog.facts(other)["attributes"]
    likes = []
    for name, value in own.items():
        if name not in its:
            likes.append(0.0)
        elif not catalog.columns[name].numeric:
            likes.append(float(its[name] == value))
        else:
            rows = catalog.rows_of_type(catalog.type_of(row))
            known = [v for v in (catalog.columns[name].get(int(r)) for r in rows) if v is not None]
            span = max(known) - min(known)
            likes.append(max(0.0, 1 - abs(its[name] - value) / span) if span else float(its[name] == value))
    a, b = (catalog.columns["price"].get(r) for r in (row, other))
    brands = [catalog.columns["brand"].get(r) for r in (row, other)]
    same_brand = brands[0] is not None and brands[0] == brands[1]
    return 0.6 * sum(likes) / max(1, len(likes)) + 0.25 * min(a, b) / max(a, b) + 0.15 * same_brand


def test_it_is_the_documented_formula_all_over_the_default_catalog(catalog: Catalog):
    stream = Stream("pairs")
    for _ in range(40):
        row = stream.integer(len(catalog))
        others = np.array(stream.sample(catalog.rows_of_type(catalog.type_of(row)).tolist(), 8))
        found = similarity(catalog, row, others)
        assert found.tolist() == pytest.approx([plain_likeness(catalog, row, int(o)) for o in others], abs=0.00051)
        assert ((found >= 0) & (found <= 1)).all()
        assert similarity(catalog, row, np.array([row])).tolist() == [1.0]
        # The order in which others are given does not matter.
        assert similarity(catalog, row, others[::-1]).tolist() == found[::-1].tolist()


def test_no_others_have_no_likeness(catalog: Catalog):
    assert similarity(catalog, 0, np.array([], np.int64)).tolist() == []


def test_compatible_by_is_the_first_word_that_the_type_has_an_attribute_for():
    shop = small(
        record("a", attributes={"material": "steel", "shoe_size": "42", "color": "red"}),
        record("b", "cable", attributes={"material": "nylon", "size": "2 m", "connector_type": "USB-C"}),
        record("c", "mug", attributes={"color": "red"}),
        record("d", "screw", attributes={"size_mm": 4, "material": "steel"}),
        record("e", "rug", attributes={"oversized": "yes", "immaterial": "no"}),
    )
    found = {name: compatible_by(shop, name) for name in shop.type_names}
    # A number is no matter of fitting or not, and a word inside another is none.
    assert found == {"lamp": "shoe_size", "cable": "connector_type", "mug": None, "screw": "material", "rug": None}


def test_compatible_by_names_a_word_column_of_the_type_and_is_remembered(catalog: Catalog):
    some = 0
    for name in catalog.type_names:
        attribute = compatible_by(catalog, name)
        if attribute is not None:
            assert attribute in catalog.attributes_of_type(name)
            assert not catalog.columns[attribute].numeric
            assert set(attribute.split("_")) & set(COMPATIBILITY_WORDS)
            some += 1
        assert compatible_by(catalog, name) == attribute
    assert 0 < some < len(catalog.type_names)


@pytest.mark.parametrize("distractors", [0.0, 0.3])
def test_the_tool_reports_these_figures_most_similar_first(
    new_world: Any, call: Any, catalog: Catalog, distractors: float
):
    stream = Stream("tool")
    for seed in range(12):
        world = new_world(seed, distractors=distractors)
        row = stream.integer(len(catalog))
        kind = catalog.type_of(row)
        result = call(world, "catalog_similar", product_id=world.product_id(row), limit=200)
        assert result["compatible_by"] == compatible_by(catalog, kind)
        genuine = [hit for hit in result["results"] if hit["type"] == kind]
        assert [hit["similarity"] for hit in genuine] == sorted((h["similarity"] for h in genuine), reverse=True)
        for hit in result["results"]:
            assert hit["similarity"] == similarity(catalog, row, np.array([world.row(hit["id"])]))[0]
        ids = [hit["id"] for hit in result["results"]]
        assert world.product_id(row) not in ids
        assert len(set(ids)) == len(ids)
        foreign = len(result["results"]) - len(genuine)
        assert (foreign > 0) == (distractors > 0)


def test_pages_of_the_tool_hold_all_of_the_type_once(new_world: Any, call: Any, catalog: Catalog):
    world = new_world(3, distractors=0.2)
    row = 17
    ids: list[str] = []
    page, more = 1, True
    while more:
        result = call(world, "catalog_similar", product_id=world.product_id(row), limit=20, page=page)
        ids += [hit["id"] for hit in result["results"] if hit["type"] == catalog.type_of(row)]
        more, page = result["more"], page + 1
    rows = [world.row(identifier) for identifier in ids]
    assert sorted(rows) == [r for r in catalog.rows_of_type(catalog.type_of(row)).tolist() if r != row]


def test_filters_and_refusals_of_the_tool(new_world: Any, call: Any, catalog: Catalog):
    world = new_world(1)
    own = world.product_id(17)
    price = catalog.columns["price"].get(17)
    cheap = call(world, "catalog_similar", product_id=own, filters={"price": {"le": price}, "in_stock": True})
    assert cheap["results"]
    assert all(hit["price"] <= price and hit["stock"] > 0 for hit in cheap["results"])
    for arguments, code in (
        ({"product_id": "p0000000"}, "unknown_product"),
        ({"product_id": own, "limit": 0}, "bad_page"),
        ({"product_id": own, "page": 0}, "bad_page"),
        ({"product_id": own, "filters": {"colour": "red"}}, "unknown_filter"),
    ):
        assert call(world, "catalog_similar", **arguments)["error"]["code"] == code
