"""What tools answer: refusals that leave the world as it was, and results that are short and say all that is needed."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.tools import REGISTRY

FOREIGN_VARIANT = "v0000000"


@pytest.fixture
def world(new_world):
    return new_world()


def first(world: Any, has: bool) -> int:
    """A row with, or without, variants."""
    return next(row for row in range(1_000) if world.variants.has(row) == has and world.catalog.stock[row] > 9)


def snapshot(world: Any) -> Any:
    """All of the world that a call can change, besides what the customer may now hear about."""
    return (
        list(world.cart.lines.items()), list(world.seen), set(world.seen_variants), dict(world.outputs),
        set(world.stock.sold_out), list(world.history),
    )  # fmt: skip


# --- refusals ----------------------------------------------------------------------------------------------------

UNKNOWN_IDS = ["p0000000", "", " ", "lamp", "v0000000", "p" * 5_000, "p000000\u0660", "None", "0", "p0000000; drop"]


@pytest.mark.parametrize("name", sorted(n for n in REGISTRY if "product_id" in REGISTRY[n].arguments.model_fields))
@pytest.mark.parametrize("product_id", UNKNOWN_IDS)
def test_an_unknown_product_is_refused_and_nothing_changes(world, call, name, product_id):
    args = {"product_id": product_id} | ({"qty": 1} if name == "cart_update" else {})
    before = snapshot(world)
    result = call(world, name, **args)
    assert result["error"]["code"] == "unknown_product"
    assert "tool results" in result["error"]["message"]
    assert len(result["error"]["message"]) < 200
    assert snapshot(world) == before


def test_one_unknown_product_among_known_ones_refuses_the_list(world, call):
    before = snapshot(world)
    result = call(world, "catalog_rerank", query="lamp", product_ids=[world.product_id(0), "p0000000"])
    assert result["error"]["code"] == "unknown_product"
    assert snapshot(world) == before


def test_ids_of_another_episode_are_unknown(new_world, call):
    one, other = new_world(1), new_world(2)
    for row in range(50):
        result = call(one, "catalog_get_product", product_id=other.product_id(row))
        assert result["error"]["code"] == "unknown_product"


@pytest.mark.parametrize("name", ["cart_add", "cart_update", "cart_remove"])
def test_variants_that_do_not_belong_are_refused(world, call, name):
    having, bare = first(world, True), first(world, False)
    other = next(row for row in range(having + 1, 1_000) if world.variants.has(row))
    cases = [
        (having, None, "variant_required"),
        (having, "", "variant_required"),
        (having, FOREIGN_VARIANT, "unknown_variant"),
        (having, world.variant_id(other, 0), "unknown_variant"),
        (having, world.product_id(having), "unknown_variant"),
        (having, "S", "unknown_variant"),
        (bare, FOREIGN_VARIANT, "unknown_variant"),
        (bare, world.variant_id(bare, 0), "unknown_variant"),
        (bare, world.variant_id(having, 0), "unknown_variant"),
    ]
    for row, variant_id, code in cases:
        args = {"product_id": world.product_id(row), "variant_id": variant_id}
        before = snapshot(world)
        assert call(world, name, **args | ({"qty": 1} if name == "cart_update" else {}))["error"]["code"] == code
        assert snapshot(world) == before


@pytest.mark.parametrize("number", [3, 17, 63])
def test_a_variant_beyond_the_last_of_a_product_is_refused(world, call, number):
    row = next(row for row in range(1_000) if world.variants.has(row) and row not in world.catalog.variants)
    assert len(world.variants.of(row)) == 3
    args = {"product_id": world.product_id(row), "variant_id": world.variant_id(row, number)}
    assert call(world, "cart_add", **args)["error"]["code"] == "unknown_variant"


def test_every_variant_of_a_product_with_very_many_can_be_bought(new_world, call):
    many = [Variant({"size": str(number)}, 5.0, 9) for number in range(70)]
    records = [{"title": f"Screw {row}", "type": "screw", "price": 5.0, "stock": 9, "variants": many} for row in (0, 1)]
    world = new_world(engine=SearchEngine(Catalog.from_records(records, name="screws")))
    listed = call(world, "catalog_get_variants", product_id=world.product_id(0))
    for entry in listed["variants"]:
        call(world, "cart_add", product_id=listed["product_id"], variant_id=entry["variant_id"])
    assert world.cart.lines == {(0, number): 1 for number in range(70)}


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ({"colour": "red"}, "unknown_filter"), ({"price": {"lt": 5}}, "bad_filter"), ({"price": "cheap"}, "bad_filter"),
        ({"brand": {"ge": "a"}}, "bad_filter"), ({"price": {"in": 5}}, "bad_filter"), ({"in_stock": 7}, "bad_filter"),
    ],
)  # fmt: skip
def test_filters_that_cannot_be_read_are_refused(world, call, filters, code):
    before = snapshot(world)
    result = call(world, "catalog_search", query="lamp", filters=filters)
    assert result["error"]["code"] == code
    assert snapshot(world) == before


@pytest.mark.parametrize("limit", [0, -1, -(10**9)])
def test_a_limit_below_one_is_refused(world, call, limit):
    for name, args in (("catalog_search", {"query": "lamp"}), ("user_get_visit_history", {})):
        assert call(world, name, **args, limit=limit)["error"]["code"] == "bad_page"


# --- results -----------------------------------------------------------------------------------------------------


def test_every_result_is_plain_json(world, call):
    world.history = [1, 2, 3]
    product, having = world.product_id(first(world, False)), world.product_id(first(world, True))
    variant = world.variant_id(first(world, True), 0)
    calls = [
        ("catalog_search", {"query": "lamp", "limit": 50}),
        ("catalog_search", {"query": "lamp", "filters": {"colour": 1}}),
        ("catalog_get_product", {"product_id": product}),
        ("catalog_get_variants", {"product_id": having}),
        ("catalog_get_variants", {"product_id": product}),
        ("catalog_rerank", {"query": "lamp", "product_ids": [product, having]}),
        ("cart_add", {"product_id": product}),
        ("cart_add", {"product_id": having, "variant_id": variant, "qty": 2}),
        ("cart_update", {"product_id": product, "qty": 3}),
        ("cart_view", {}),
        ("cart_remove", {"product_id": product}),
        ("user_get_visit_history", {}),
        ("datetime_now", {}),
    ]
    for name, args in calls:
        result = call(world, name, **args)
        assert json.loads(json.dumps(result, allow_nan=False)) == result, name


def tokens(value: Any) -> float:
    """About how many tokens a language model reads: four characters each."""
    return len(json.dumps(value, ensure_ascii=False)) / 4


def test_a_hit_is_short(new_world, catalog):
    # Measured over every third product of the default catalog: 94 tokens at the median, 102 below the longest
    # twentieth, 112 at most.
    world = new_world(variant_share=1.0)
    sizes = sorted(tokens(world.hit(row)) for row in range(0, len(catalog), 3))
    assert sizes[len(sizes) // 2] <= 100
    assert sizes[int(0.95 * len(sizes))] <= 110
    assert sizes[-1] <= 120


def test_a_hit_shows_everything_that_a_constraint_can_use(world, catalog):
    for row in range(0, len(catalog), 50):
        hit, product = world.hit(row), catalog.product(row)
        shown = {**hit["attributes"], **{name: hit.get(name) for name in ("price", "rating", "ship_days", "brand")}}
        expected = {**product.attributes, "price": product.price, "rating": product.rating}
        expected |= {"ship_days": product.ship_days, "brand": product.brand}
        assert shown == expected
        assert set(product.attributes) == set(catalog.type_attributes(row))
        assert (hit["title"], hit["type"], hit["stock"]) == (product.title, product.type, world.stock.left(row))
        assert hit.get("has_variants", False) == world.variants.has(row)


def test_no_result_shows_a_row_number_or_anything_else_that_is_the_same_in_another_episode(new_world, call):
    one, other = new_world(1, variant_share=1.0), new_world(2, variant_share=1.0)
    known = {"id", "title", "type", "price", "rating", "ship_days", "brand", "attributes", "stock", "has_variants"}
    for row in range(100):
        assert set(one.hit(row)) <= known
        assert one.hit(row)["id"] != other.hit(row)["id"]


def test_a_product_page_adds_the_texts_to_the_hit(world, call, catalog):
    row = first(world, True)
    page, product = call(world, "catalog_get_product", product_id=world.product_id(row)), catalog.product(row)
    assert {key: page[key] for key in world.hit(row)} == world.hit(row)
    assert page["description"] == product.description
    assert page["features"] == list(product.features)
    assert page["category"] == " > ".join(product.category)
    assert page["rating_count"] == product.rating_count


def test_variants_are_listed_with_ids_that_the_cart_takes(world, call):
    row = first(world, True)
    listed = call(world, "catalog_get_variants", product_id=world.product_id(row))
    assert listed["product_id"] == world.product_id(row)
    assert [entry["attributes"] for entry in listed["variants"]] == [v.attributes for v in world.variants.of(row)]
    assert len({entry["variant_id"] for entry in listed["variants"]}) == len(listed["variants"])
    for number, entry in enumerate(listed["variants"]):
        assert entry["stock"] == world.stock.left(row, number)
        call(world, "cart_add", product_id=listed["product_id"], variant_id=entry["variant_id"])
        assert world.cart.lines[row, number] == 1


def test_a_product_without_variants_lists_none(world, call):
    product_id = world.product_id(first(world, False))
    assert call(world, "catalog_get_variants", product_id=product_id)["variants"] == []


def test_reranking_orders_the_given_products_and_names_each_once(world, call, catalog):
    rows = [int(row) for row in catalog.rows_of_type(catalog.type_names[5])[:6]] + [7, 8]
    ids = [world.product_id(row) for row in rows]
    ranked = call(
        world, "catalog_rerank", query=catalog.titles[rows[3]], product_ids=[*ids, ids[0], f" {ids[1].upper()}"]
    )
    assert sorted(ranked["product_ids"]) == sorted(ids)
    best = world.row(ranked["product_ids"][0])
    assert catalog.folded_title(best) == catalog.folded_title(rows[3])
    again = call(world, "catalog_rerank", query=catalog.titles[rows[3]], product_ids=list(reversed(ids)))
    assert again == ranked


def test_reranking_nothing_gives_nothing(world, call):
    assert call(world, "catalog_rerank", query="lamp", product_ids=[]) == {"product_ids": []}


def test_the_visit_history_comes_in_its_order_and_no_longer_than_asked(world, call):
    world.history = [30, 10, 20]
    for limit in (1, 2, 20, 10**9):
        products = call(world, "user_get_visit_history", limit=limit)["products"]
        assert [world.row(hit["id"]) for hit in products] == world.history[:limit]


def test_the_date_is_the_date_of_the_episode(new_world, call):
    days = {call(new_world(seed), "datetime_now")["today"] for seed in range(30)}
    assert len(days) > 20
    assert all(datetime.date.fromisoformat(day).year in (2025, 2026) for day in days)
    assert call(new_world(3), "datetime_now") == call(new_world(3), "datetime_now")


# --- what counts as seen -----------------------------------------------------------------------------------------


def test_what_a_call_returns_is_seen_and_nothing_else(world, call):
    result = call(world, "catalog_search", query="lamp", limit=5)
    assert [world.product_id(row) for row in world.seen] == [hit["id"] for hit in result["results"]]
    row = first(world, True)
    call(world, "catalog_get_variants", product_id=world.product_id(row))
    assert row in world.seen
    assert world.seen_variants == {(row, number) for number in range(len(world.variants.of(row)))}


def test_a_refused_call_shows_nothing(world, call):
    call(world, "catalog_search", query="lamp", filters={"colour": "red"})
    call(world, "catalog_get_product", product_id="p0000000")
    assert (world.seen, world.seen_variants) == ({}, set())
