"""Sending back: the edge of the window to the day, one transaction per line, and refusals that change nothing."""

from __future__ import annotations

import copy
import datetime
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.errors import Refused
from ecomrlve.shop.order_history import STATUSES, Order, OrderHistory, OrderLine
from ecomrlve.shop.policy_rules import METHODS, REASONS
from ecomrlve.shop.returns import department, return_case

WINDOWS = dict(zip(REASONS, (0, 14, 30, 31, 60, 1), strict=True))


def order_of(world: Any, days: int | None, *, status: str = "delivered", number: int = 0, **line: Any) -> Order:
    """An order of two lines that arrived so many days ago."""
    placed = world.today - datetime.timedelta(days=(days or 0) + 5)
    delivered = None if days is None else world.today - datetime.timedelta(days=days)
    own = {"variant": None, "quantity": 2, "price": 10.25, "returned": False} | line
    lines = (OrderLine(2 * number, 7, **own), OrderLine(2 * number + 1, 8, None, 1, 3.5, False))
    return Order(number, placed, status, lines, "card", "app", world.today, delivered, None, ())


@pytest.fixture
def shop(new_world: Any) -> Callable[..., Any]:
    """A world with one order that arrived so many days ago, and windows by reason."""

    def make(days: int | None, **order: Any) -> Any:
        world = new_world(0, variant_share=0.0)
        world.policies = SimpleNamespace(value=lambda topic, case: Fraction(WINDOWS[case["reason"]]))
        world.orders = OrderHistory([order_of(world, days, **order), order_of(world, 3, number=1)], world.episode_key)
        return world

    return make


def snapshot(world: Any) -> Any:
    """Everything that a refused call must leave alone."""
    returns = world.returns
    return copy.deepcopy(
        (returns.active, returns._made, world.cart.lines, world.stock.sold_out, world.outputs, world.seen)
    )


def refusal(world: Any, act: Callable[..., Any], *arguments: Any) -> str:
    """The code of the refusal of an act that changes nothing."""
    before = snapshot(world)
    with pytest.raises(Refused) as caught:
        act(*arguments)
    assert snapshot(world) == before
    assert caught.value.message
    return caught.value.code


@pytest.mark.parametrize("reason", [reason for reason in REASONS if WINDOWS[reason]])
def test_the_last_day_of_the_window_still_counts_and_the_next_does_not(shop, reason):
    for days, allowed in ((WINDOWS[reason], True), (WINDOWS[reason] + 1, False), (WINDOWS[reason] - 1, True)):
        world = shop(days)
        order = world.orders.orders[0]
        assert world.returns.eligible(order, order.lines[0], reason) is allowed
        assert (reason in world.returns.check(order, order.lines[0])["reasons"]) is allowed
        if allowed:
            world.returns.initiate(order, order.lines[0], reason, "store_credit")
            assert len(world.returns.active) == 1
        else:
            assert refusal(world, world.returns.initiate, order, order.lines[0], reason, METHODS[0]) == "not_returnable"


@pytest.mark.parametrize("days", [0, 1, 100])
def test_a_window_of_no_days_means_never(shop, days):
    world = shop(days)
    order = world.orders.orders[0]
    assert not world.returns.eligible(order, order.lines[0], REASONS[0])
    assert refusal(world, world.returns.initiate, order, order.lines[0], REASONS[0], METHODS[0]) == "not_returnable"


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "delivered"])
def test_only_what_was_delivered_goes_back(shop, status):
    world = shop(2 if status == "returned" else None, status=status, returned=status == "returned")
    order = world.orders.orders[0]
    told = world.returns.check(order, order.lines[0])
    assert not told["returnable"]
    assert told["reasons"] == told["methods"] == []
    assert (told["delivered"] is None) == (told["days_since_delivery"] is None) == (status != "returned")
    for line in order.lines:
        code = refusal(world, world.returns.initiate, order, line, REASONS[2], METHODS[0])
        assert code == ("already_returned" if line.returned else "not_returnable")
        refusal(world, world.returns.exchange, order, line, REASONS[2], 20, None)


def test_what_went_back_earlier_does_not_go_back_again(shop):
    world = shop(5, returned=True)
    order = world.orders.orders[0]
    assert world.returns.check(order, order.lines[0])["already_returned"]
    assert refusal(world, world.returns.initiate, order, order.lines[0], REASONS[2], METHODS[0]) == "already_returned"
    assert world.returns.eligible(order, order.lines[1], REASONS[2])


def test_a_line_has_one_transaction_at_a_time_and_cancelled_numbers_stay_unused(shop):
    world = shop(5)
    returns, (order, other) = world.returns, world.orders.orders
    first = returns.initiate(order, order.lines[0], REASONS[2], METHODS[1])
    assert (first.kind, first.method, first.reason, first.new_row) == ("return", METHODS[1], REASONS[2], None)
    assert returns.check(order, order.lines[0])["already_returned"]
    assert not returns.check(order, order.lines[0])["returnable"]
    for act in (
        lambda: returns.initiate(order, order.lines[0], REASONS[2], METHODS[1]),
        lambda: returns.exchange(order, order.lines[0], REASONS[3], 20, None),
    ):
        assert refusal(world, act) == "already_returned"
    second = returns.exchange(order, order.lines[1], REASONS[2], 20, None)
    third = returns.initiate(other, other.lines[0], REASONS[2], METHODS[0])
    assert list(returns.active.values()) == [first, second, third]
    assert world.transactions() == (first, second, third)
    name = returns.return_id(first.number)
    assert returns.cancel(f" {name.upper()} ") is first
    assert refusal(world, returns.cancel, name) == "unknown_return"
    again = returns.initiate(order, order.lines[0], REASONS[2], METHODS[0])
    assert again.number not in {first.number, second.number, third.number}
    assert refusal(world, returns.cancel, name) == "unknown_return"
    assert list(returns.active) == [second.number, third.number, again.number]
    for _ in range(3):
        returns.cancel(returns.return_id(again.number))
        used = again.number
        again = returns.initiate(order, order.lines[0], REASONS[2], METHODS[0])
        assert again.number > used


@pytest.mark.parametrize("name", ["", "r", "r0000000", "1", "0"])
def test_what_is_no_return_cannot_be_cancelled(shop, name):
    world = shop(5)
    order = world.orders.orders[0]
    world.returns.initiate(order, order.lines[0], REASONS[2], METHODS[1])
    ids = [name, world.returns.return_id(1), world.orders.order_id(0), world.orders.line_id(0)]
    for text in ids:
        assert refusal(world, world.returns.cancel, text) == "unknown_return"


def test_an_exchange_is_for_something_on_the_shelf(shop):
    world = shop(5)
    order = world.orders.orders[0]
    empty = int((world.catalog.stock == 0).argmax())
    assert world.stock.left(empty) == 0
    assert refusal(world, world.returns.exchange, order, order.lines[0], REASONS[2], empty, None) == "out_of_stock"
    # What may not go back is refused for that, whatever the shelf holds.
    assert refusal(world, world.returns.exchange, order, order.lines[0], REASONS[0], empty, None) == "not_returnable"
    full = int((world.catalog.stock > 0).argmax())
    made = world.returns.exchange(order, order.lines[0], REASONS[2], full, None)
    assert (made.kind, made.new_row, made.method) == ("exchange", full, None)


def test_described_transactions_name_ids_alone(shop):
    world = shop(5)
    order = world.orders.orders[0]
    assert world.transactions() == ()
    world.returns.initiate(order, order.lines[0], REASONS[2], METHODS[1])
    world.returns.exchange(order, order.lines[1], REASONS[3], 20, None)
    orders = world.orders
    assert world.returns.listed() == [
        {
            "return_id": world.returns.return_id(0), "kind": "return", "order_id": orders.order_id(0),
            "line_id": orders.line_id(0), "reason": REASONS[2], "method": METHODS[1],
        },
        {
            "return_id": world.returns.return_id(1), "kind": "exchange", "order_id": orders.order_id(0),
            "line_id": orders.line_id(1), "reason": REASONS[3], "new_product_id": world.product_id(20),
            "new_variant_id": None,
        },
    ]  # fmt: skip


# --- by the policies of an episode -------------------------------------------------------------------------------


def test_the_case_holds_what_the_order_and_the_profile_say(shop):
    world = shop(5)
    order = world.orders.orders[0]
    path = world.catalog.product(7).category
    assert department(world, 7) == path[0]
    assert return_case(world, order, order.lines[0], "damaged") == {
        "tier": world.profile.tier, "region": world.profile.region, "department": path[0], "reason": "damaged",
        "order_total": 24.0, "payment": "card", "channel": "app", "quantity": 3,
    }  # fmt: skip


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), d=st.integers(0, 12))
def test_the_check_tells_exactly_what_is_accepted(new_world, seed, d):
    world = new_world(seed, d=d, delivered_share=0.6)
    for order in world.orders.orders:
        for line in order.lines:
            told = world.returns.check(order, line)
            assert told["returnable"] == bool(told["reasons"]) == bool(told["methods"])
            for reason in REASONS:
                if reason in told["reasons"]:
                    made = world.returns.initiate(order, line, reason, METHODS[0])
                    world.returns.cancel(world.returns.return_id(made.number))
                else:
                    refusal(world, world.returns.initiate, order, line, reason, METHODS[0])
    assert world.transactions() == ()


@pytest.mark.parametrize("clauses", range(1, 9))
def test_every_rule_of_the_window_can_be_decided(new_world, clauses):
    decided = Counter()
    for seed in range(8):
        world = new_world(seed, d=6, delivered_share=0.6, policy_clauses=clauses)
        for order in world.orders.orders:
            for line in order.lines:
                decided[world.returns.check(order, line)["returnable"]] += 1
    assert decided[True] > 0.1 * decided.total()
    assert decided[False] > 0.2 * decided.total()


def test_hard_episodes_lie_on_both_sides_of_the_edge(new_world):
    beside = Counter()
    for seed in range(40):
        world = new_world(seed, d=12, delivered_share=0.6)
        for order in world.orders.orders:
            for line in order.lines:
                if order.status != "delivered" or line.returned:
                    continue
                days = world.returns.days_since_delivery(order)
                cases = [return_case(world, order, line, reason) for reason in REASONS]
                beside.update({int(world.policies.value("return_window", case)) - days for case in cases})
    assert min(beside[0], beside[-1]) > 4 * max(beside[3], beside[-3])
