"""The account's tools: pages, filters, what is told and what is kept for tracking."""

from __future__ import annotations

import datetime
import json
import typing
from typing import Any

import pytest

from ecomrlve.shop.order_history import STATUSES, Status
from ecomrlve.tools import REGISTRY, order_tools

NAMES = ("order_list", "order_get", "order_track", "user_get_profile")


@pytest.fixture
def world(new_world: Any) -> Any:
    return new_world(4, d=12, delivered_share=None)


def every_order(call: Any, world: Any, **arguments: Any) -> list[dict[str, Any]]:
    """All pages of the list."""
    found: list[dict[str, Any]] = []
    for page in range(1, 10):
        result = call(world, "order_list", page=page, **arguments)
        assert result["page"] == page
        assert len(result["orders"]) == 10 or not result["more"]
        found += result["orders"]
        if not result["more"]:
            return found
    raise AssertionError("the list does not end")


def test_the_tools_are_registered_and_know_every_status():
    assert all(REGISTRY[name].function is getattr(order_tools, name) for name in NAMES)
    assert typing.get_args(Status) == STATUSES
    assert REGISTRY["order_list"].schema["function"]["parameters"]["properties"]["status"]["enum"] == list(STATUSES)


def test_the_pages_hold_every_order_once_newest_first(call, world):
    found = every_order(call, world)
    assert [order["order_id"] for order in found] == [world.orders.order_id(number) for number in range(38)]
    assert [order["placed"] for order in found] == sorted((order["placed"] for order in found), reverse=True)
    assert call(world, "order_list", page=5) == {"orders": [], "page": 5, "more": False}
    assert call(world, "order_list", page=10**9)["orders"] == []
    for page in (0, -1):
        assert call(world, "order_list", page=page)["error"]["code"] == "bad_page"


@pytest.mark.parametrize("count", [10, 11, 20, 1])
def test_a_full_page_is_not_followed_by_an_empty_one(call, new_world, count):
    world = new_world(4, delivered_share=None, order_history=count)
    assert len(every_order(call, world)) == count
    assert call(world, "order_list")["more"] == (count > 10)


@pytest.mark.parametrize("status", STATUSES)
def test_the_status_filter_keeps_exactly_that_status(call, world, status):
    everything = every_order(call, world)
    assert every_order(call, world, status=status) == [order for order in everything if order["status"] == status]


def test_since_keeps_that_day_and_later(call, world):
    everything = every_order(call, world)
    for order in everything[::7]:
        day = order["placed"]
        assert every_order(call, world, since=f" {day} ") == [o for o in everything if o["placed"] >= day]
    tomorrow = (world.today + datetime.timedelta(days=1)).isoformat()
    assert every_order(call, world, since=tomorrow) == []
    both = every_order(call, world, since=everything[20]["placed"], status="delivered")
    assert both == [o for o in everything if o["placed"] >= everything[20]["placed"] and o["status"] == "delivered"]


@pytest.mark.parametrize("since", ["", "yesterday", "2025-02-30", "01/02/2025", "2025-1-5", "5", "x" * 500])
def test_what_is_no_date_is_refused(call, world, since):
    error = call(world, "order_list", since=since)["error"]
    assert error["code"] == "bad_date"
    assert len(error["message"]) < 160


def test_an_order_is_told_as_the_shop_knows_it(call, world):
    for shown, order in zip(every_order(call, world), world.orders.orders, strict=True):
        expected = {
            "order_id": world.orders.order_id(order.number),
            "placed": order.placed.isoformat(),
            "status": order.status,
            "total": order.total,
            "payment": order.payment,
            "channel": order.channel,
        }
        if order.delivered is not None:
            expected["delivered"] = order.delivered.isoformat()
        assert {key: value for key, value in shown.items() if key != "lines"} == expected
        for told, line in zip(shown["lines"], order.lines, strict=True):
            facts = world.catalog.facts(line.row)
            assert told["line_id"] == world.orders.line_id(line.number)
            assert told["product_id"] == world.product_id(line.row)
            assert told["department"] in world.policies.departments
            assert told["department"].casefold() == world.catalog.product(line.row).category[0].casefold()
            assert (told["title"], told["type"]) == (facts["title"], facts["type"])
            assert told["attributes"] == facts["attributes"]
            assert told.get("brand") == facts.get("brand")
            assert (told["qty"], told["price"]) == (line.quantity, line.price)
            assert told.get("returned", False) is line.returned
            variants = world.variants_of(line.row)
            assert told.get("variant") == (None if line.variant is None else variants[line.variant].attributes)


def test_one_order_adds_the_promise(call, world):
    for shown, order in zip(every_order(call, world), world.orders.orders, strict=True):
        told = call(world, "order_get", order_id=f" {shown['order_id'].upper()} ")
        assert told.pop("promised") == order.promised.isoformat()
        assert told == shown


def test_only_tracking_tells_when_an_order_is_expected(call, world):
    differ = 0
    for order in world.orders.orders:
        name = world.orders.order_id(order.number)
        tracked = call(world, "order_track", order_id=name)
        assert tracked == {
            "order_id": name,
            "status": order.status,
            "promised": order.promised.isoformat(),
            "eta": order.eta.isoformat() if order.eta else None,
            "delivered": order.delivered.isoformat() if order.delivered else None,
            "events": [{"date": e.date.isoformat(), "status": e.status, "text": e.text} for e in order.events],
        }
        if order.eta is not None and order.eta != order.promised:
            differ += 1
            assert order.eta.isoformat() not in json.dumps(call(world, "order_get", order_id=name))
    for order in every_order(call, world):
        assert not {"eta", "promised", "events"} & set(order)
    assert differ > 5  # the promise is no good guess


@pytest.mark.parametrize("name", ["order_get", "order_track"])
def test_an_unknown_order_is_refused(call, world, name):
    for order_id in ("", "o0000000", world.orders.order_id(38), world.product_id(0)):
        assert call(world, name, order_id=order_id)["error"]["code"] == "unknown_order"


def test_what_an_order_shows_counts_as_seen(call, world):
    assert not world.seen
    call(world, "order_track", order_id=world.orders.order_id(0))
    assert not world.seen
    order = world.orders.orders[3]
    call(world, "order_get", order_id=world.orders.order_id(order.number))
    assert list(world.seen) == [line.row for line in order.lines]
    assert world.seen_variants == {(line.row, line.variant) for line in order.lines if line.variant is not None}
    call(world, "order_list")
    assert set(world.seen) == {line.row for shown in world.orders.orders[:10] for line in shown.lines}


def test_results_are_copies_and_of_bounded_size(call, world):
    first = call(world, "order_list")
    text = json.dumps(first)
    lines = [line for order in first["orders"] for line in order["lines"]]
    assert len(text) < 200 * len(first["orders"]) + 460 * len(lines)
    for line in lines:
        line["attributes"].clear()
        line.get("variant", {}).clear()
    assert json.dumps(call(world, "order_list")) == text


def test_the_profile_is_told(call, world):
    profile = world.profile
    assert call(world, "user_get_profile") == {
        "name": profile.name,
        "tier": profile.tier,
        "region": profile.region,
        "member_since": profile.member_since.isoformat(),
    }
