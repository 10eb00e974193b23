"""The order history: plausible days, even statuses, opaque ids, nothing that singles out a line or knows a goal."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import Refused
from ecomrlve.shop.orders import PATHS, STATUSES, Order, OrderHistory, draw_orders, edge_share
from ecomrlve.shop.policy_rules import CHANNELS, PAYMENTS, REGIONS, TIERS
from ecomrlve.shop.profile import draw_profile
from ecomrlve.shop.returns import department

DAY = datetime.timedelta(days=1)
FINAL = ("delivered", "cancelled", "returned")


def window_of(days: int) -> Any:
    """Policies under which everything can go back for so many days."""
    return SimpleNamespace(value=lambda topic, case: Fraction(days))


def worlds(new_world: Any, seeds: int, *, window: int = 30, **settings: Any) -> Iterator[Any]:
    for seed in range(seeds):
        world = new_world(seed, **settings)
        world.policies = window_of(window)
        yield world


def orders_of(new_world: Any, seeds: int, **settings: Any) -> list[Order]:
    return [order for world in worlds(new_world, seeds, **settings) for order in world.orders.orders]


def check_days(order: Order, today: datetime.date) -> None:
    """What must hold of the days of any order."""
    days = [event.date for event in order.events]
    assert days == sorted(days)
    assert days[0] == order.placed
    assert days[-1] <= today
    assert tuple(event.status for event in order.events) == ("processing", *PATHS[order.status])
    assert all(event.text for event in order.events)
    assert order.placed < order.promised
    assert (order.delivered is not None) == (order.status in ("delivered", "returned"))
    assert (order.eta is None) == (order.status in FINAL)
    age = (today - order.placed).days
    if order.eta is not None:
        assert order.eta >= today
        assert (order.eta > order.promised) == (order.status == "delayed")
    if order.delivered is not None:
        arrival = [event.date for event in order.events if event.status == "delivered"]
        assert arrival == [order.delivered]
        assert 2 <= (order.delivered - order.placed).days <= 8
        assert 2 <= (today - order.delivered).days <= 201
    assert {
        "processing": 0 <= age <= 2,
        "shipped": 1 <= age <= 3,
        "in_transit": 2 <= age <= 6,
        "out_for_delivery": 2 <= age <= 8 and order.eta == today,
        "delayed": 5 <= age <= 20,
        "cancelled": 3 <= age <= 202,
    }.get(order.status, True)


@pytest.mark.parametrize(("share", "d"), [(None, 12), (0.6, 12), (0.6, 0)])
def test_the_days_of_every_order_are_plausible(new_world, share, d):
    seen = 0
    for world in worlds(new_world, 2_000 // (2 + 3 * d) // 3 + 1, d=d, delivered_share=share):
        assert len(world.orders.orders) == world.axes.order_history
        for order in world.orders.orders:
            check_days(order, world.today)
            seen += 1
    assert seen >= 650


def test_orders_come_newest_first_and_mostly_from_different_days(new_world):
    same, count = 0, 0
    for world in worlds(new_world, 40, window=0, d=6, delivered_share=0.6):
        placed = [order.placed for order in world.orders.orders]
        assert placed == sorted(placed, reverse=True)
        assert [order.number for order in world.orders.orders] == list(range(20))
        same, count = same + len(placed) - len(set(placed)), count + len(placed)
    assert same / count < 0.05


def test_the_promise_does_not_tell_the_estimate(new_world):
    for status in ("processing", "shipped", "in_transit", "out_for_delivery"):
        orders = [order for order in orders_of(new_world, 60, d=12, delivered_share=None) if order.status == status]
        early = Counter((order.promised - order.eta).days for order in orders if order.eta is not None)
        assert set(early) == {0, 1, 2, 3}
        assert max(early.values()) < 0.35 * early.total()


def test_all_statuses_are_equally_likely(new_world):
    found = Counter(order.status for order in orders_of(new_world, 100, d=6, delivered_share=None))
    assert set(found) == set(STATUSES)
    assert stats.chisquare(list(found.values())).pvalue > 0.001


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_as_many_orders_are_delivered_as_asked_and_the_rest_is_even(new_world, share):
    found = Counter(order.status for order in orders_of(new_world, 60, d=12, delivered_share=share))
    count = found.total()
    assert abs(found.pop("delivered") - share * count) < 4 * math.sqrt(count * share * (1 - share))
    assert len(found) == 7
    assert stats.chisquare(list(found.values())).pvalue > 0.001


@pytest.mark.parametrize("count", [1, 2, 5])
def test_one_order_is_delivered_at_least_where_a_share_is_asked_for(new_world, count):
    places = Counter()
    for world in worlds(new_world, 40, order_history=count, delivered_share=0.0):
        delivered = [order for order in world.orders.orders if order.status == "delivered"]
        assert len(delivered) == 1
        assert any(not line.returned for line in delivered[0].lines)
        places[delivered[0].number] += 1
    assert len(places) >= min(count, 3)  # not always the same one


def test_what_went_back_earlier_fits_the_status(new_world):
    kept, back = 0, 0
    for order in orders_of(new_world, 60, d=12, delivered_share=0.6):
        returned = [line.returned for line in order.lines]
        if order.status == "delivered":
            assert not all(returned)
            back, kept = back + sum(returned), kept + len(returned) - sum(returned)
        else:
            assert all(returned) if order.status == "returned" else not any(returned)
    assert 0.12 < back / (back + kept) < 0.18


def test_orders_have_one_to_five_different_products_and_sensible_values(new_world):
    sizes, quantities = Counter(), Counter()
    for world in worlds(new_world, 40, d=12):
        numbers = []
        for order in world.orders.orders:
            rows = [line.row for line in order.lines]
            assert len(set(rows)) == len(rows)
            sizes[len(rows)] += 1
            numbers += [line.number for line in order.lines]
            quantities.update(line.quantity for line in order.lines)
            assert order.payment in PAYMENTS
            assert order.channel in CHANNELS
            cents = sum(round(100 * line.price) * line.quantity for line in order.lines)
            assert round(100 * order.total) == cents
            assert order.total == round(order.total, 2)
            assert order.quantity == sum(line.quantity for line in order.lines)
        assert len(set(numbers)) == len(numbers)
    assert set(sizes) == {1, 2, 3, 4, 5}
    assert 0.3 < sizes[1] / sizes.total() < 0.4
    assert set(quantities) == {1, 2, 3}
    assert 0.7 < quantities[1] / quantities.total() < 0.8


def test_lines_have_the_variant_and_price_that_the_shop_has_for_them(new_world):
    with_variant = 0
    for world in worlds(new_world, 20, d=6, variant_share=0.5):
        for line in (line for order in world.orders.orders for line in order.lines):
            variants = world.variants_of(line.row)
            assert (line.variant is None) == (not variants)
            expected = world.catalog.columns["price"].values[line.row]
            if line.variant is not None:
                with_variant += 1
                expected = variants[line.variant].price
            assert line.price == round(float(expected), 2)
    assert with_variant > 300


def test_naming_a_type_does_not_single_out_a_line(new_world):
    shares, alone = [], []
    for world in worlds(new_world, 60, d=6, delivered_share=0.6):
        types = Counter(world.catalog.type_of(line.row) for order in world.orders.orders for line in order.lines)
        assert len(types) <= 5
        shares.append(types.total() / len(types))
        alone.append(sum(1 for count in types.values() if count == 1) / types.total())
    assert sum(shares) / len(shares) >= 3
    assert sum(alone) / len(alone) < 0.02


def test_some_products_are_bought_again_and_stock_does_not_matter(new_world):
    again, sold_out, count = 0, 0, 0
    for world in worlds(new_world, 30, d=6):
        rows = [line.row for order in world.orders.orders for line in order.lines]
        again, count = again + len(rows) - len(set(rows)), count + len(rows)
        sold_out += sum(1 for row in rows if world.catalog.stock[row] == 0)
    assert 0.08 < again / count < 0.3
    on_shelf = float((world.catalog.stock > 0).mean())
    assert abs(sold_out / count - (1 - on_shelf)) < 0.05


# --- what it is drawn from ---------------------------------------------------------------------------------------


def test_the_same_episode_has_the_same_orders_and_another_has_others(new_world):
    first, again, other = (new_world(seed, d=6, delivered_share=None).orders.orders for seed in (1, 1, 2))
    assert first == again
    rows = [{line.row for order in orders for line in order.lines} for orders in (first, other)]
    assert len(rows[0] & rows[1]) < 0.2 * len(rows[0])


def test_no_policy_is_read_where_no_share_is_asked_for(new_world):
    world = new_world(3, d=12, delivered_share=None)
    world.policies = world.profile = None
    assert len(world.orders.orders) == 38


def test_what_happened_before_in_the_episode_changes_nothing(new_world):
    fresh, used = new_world(5, d=3, delivered_share=None), new_world(5, d=3, delivered_share=None)
    for row in range(300):
        used.hit(row)
        used.variants_of(row)
    used.end_call()
    used.stock.sold_out.update((row, None) for row in range(300))
    assert used.orders.orders == fresh.orders.orders


def small_engine(types: int, per_type: int) -> SearchEngine:
    own = [Variant({"size": size}, price, 3) for size, price in (("S", 4.5), ("M", 5.25), ("L", 6.0))]
    records = [
        {
            "title": f"Thing {kind} {number}",
            "price": 5.0,
            "type": f"thing {kind}",
            "variants": own if number == 0 else None,
        }
        for kind in range(types)
        for number in range(per_type)
    ]
    return SearchEngine(Catalog.from_records(records, name="small"))


@pytest.mark.parametrize(("types", "per_type"), [(1, 1), (2, 1), (1, 4), (3, 5)])
def test_a_small_catalog_has_orders_too(new_world, types, per_type):
    prices = set()
    for world in worlds(new_world, 10, d=6, engine=small_engine(types, per_type), variant_share=0.0):
        for order in world.orders.orders:
            check_days(order, world.today)
            rows = [line.row for line in order.lines]
            assert 1 <= len(rows) == len(set(rows)) <= types * per_type
            for line in order.lines:
                variants = world.variants_of(line.row)
                assert line.price == (5.0 if line.variant is None else variants[line.variant].price)
                prices.add(line.price)
    assert {4.5, 5.25, 6.0} <= prices


# --- the edge of the return window -------------------------------------------------------------------------------


def days_since_delivery(new_world: Any, *, window: int, d: int) -> Counter[int]:
    found: Counter[int] = Counter()
    for world in worlds(new_world, 2_000 // (2 + 3 * d), window=window, d=d, delivered_share=1.0):
        for order in world.orders.orders:
            check_days(order, world.today)
            found[(world.today - order.delivered).days] += 1
    return found


@pytest.mark.parametrize("d", [3, 6, 12])
@pytest.mark.parametrize("window", [2, 60, 200])
def test_orders_lie_at_the_edge_of_the_window_as_often_as_the_difficulty_says(new_world, window, d):
    found = days_since_delivery(new_world, window=window, d=d)
    count, last, past = found.total(), found[window], found[window + 1]
    share = edge_share(d)
    deviation = 4 * math.sqrt(count * share * (1 - share))
    assert share * count - deviation < last + past < share * count + deviation + 0.06 * count
    assert abs(last - past) < 4 * math.sqrt(last + past)


@pytest.mark.parametrize("window", [0, 1, 201, 400])
def test_a_window_out_of_range_moves_nothing(new_world, window):
    found = days_since_delivery(new_world, window=window, d=12)
    assert min(found) == 3
    assert max(found) <= 200
    assert max(found.values()) < 0.05 * found.total()


def test_the_edge_is_that_of_a_line_that_can_still_go_back(new_world):
    for world in worlds(new_world, 10, d=12, delivered_share=1.0):
        asked = []
        world.policies = SimpleNamespace(
            value=lambda topic, case, asked=asked: asked.append((topic, case)) or Fraction(40)
        )
        orders = world.orders.orders
        kept = {
            (department(world, line.row), order.total, order.quantity)
            for order in orders
            for line in order.lines
            if not line.returned
        }
        assert asked
        for topic, case in asked:
            assert topic == "return_window"
            assert (case["department"], case["order_total"], case["quantity"]) in kept


# --- ids ---------------------------------------------------------------------------------------------------------


def test_ids_lead_back_whatever_their_case_and_spacing(new_world):
    history = new_world(1, d=6, delivered_share=None).orders
    for order in history.orders:
        name = history.order_id(order.number)
        assert name.startswith("o")
        assert history.order(f"  {name.upper()}\n") is order
        for line in order.lines:
            assert history.line(order, f" {history.line_id(line.number).upper()} ") is line


def test_what_is_no_id_of_this_account_is_refused(new_world):
    history = new_world(1, d=6, delivered_share=None).orders
    first, second = history.orders[:2]
    past_the_end = history.order_id(len(history.orders))
    other = new_world(2, d=6, delivered_share=None).orders
    for name in ("", "o", "o0000000", "0", past_the_end, other.order_id(0), history.line_id(first.lines[0].number)):
        with pytest.raises(Refused) as caught:
            history.order(name)
        assert caught.value.code == "unknown_order"
    for name in ("", "l0000000", history.line_id(second.lines[0].number), history.order_id(0)):
        with pytest.raises(Refused) as caught:
            history.line(first, name)
        assert caught.value.code == "unknown_line"


def test_ids_tell_nothing(new_world):
    histories = [new_world(seed, d=12, delivered_share=None).orders for seed in range(10)]
    for kind in (OrderHistory.order_id, OrderHistory.line_id):
        names = [[kind(history, number) for number in range(38)] for history in histories]
        assert len({name for found in names for name in found}) == 380
        ranks = [sorted(found).index(name) for found in names for name in found]
        assert abs(stats.spearmanr(ranks, list(range(38)) * 10).statistic) < 4 / math.sqrt(380)


def test_a_longer_history_is_drawn_too(new_world):
    world = new_world(0, delivered_share=None)
    history = draw_orders(world, count=200, delivered_share=None)
    assert len(history.orders) == 200
    assert len({history.order_id(order.number) for order in history.orders}) == 200


# --- the profile -------------------------------------------------------------------------------------------------


def test_the_profile_is_fixed_by_the_episode_and_knows_no_favourites():
    today = datetime.date(2026, 3, 1)
    profiles = [draw_profile(("test", seed), today) for seed in range(800)]
    assert profiles == [draw_profile(("test", seed), today) for seed in range(800)]
    for kind, words in (("tier", TIERS), ("region", REGIONS)):
        found = Counter(getattr(profile, kind) for profile in profiles)
        assert set(found) == set(words)
        assert stats.chisquare(list(found.values())).pvalue > 0.001
    assert len({profile.name for profile in profiles}) > 300
    assert all(400 <= (today - profile.member_since).days <= 4000 for profile in profiles)


def test_nobody_ordered_before_joining(new_world):
    for world in worlds(new_world, 30, d=12, window=200, delivered_share=1.0):
        assert min(order.placed for order in world.orders.orders) > world.profile.member_since
