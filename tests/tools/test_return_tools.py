"""The tools of sending back: what they tell, what they refuse, and that a refusal changes nothing."""

from __future__ import annotations

import copy
import typing
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from ecomrlve.shop.order_history import Order, OrderLine
from ecomrlve.shop.policy_rules import METHODS, REASONS
from ecomrlve.tools import REGISTRY, return_tools

NAMES = ("return_check_eligibility", "return_initiate", "return_exchange", "return_cancel")
REASON, HOPELESS = "damaged", "changed_mind"


@pytest.fixture
def world(new_world: Any) -> Any:
    """A shop where everything that arrived can go back, except for a change of mind."""
    world = new_world(6, d=6, delivered_share=0.6, variant_share=0.5)
    world.policies = SimpleNamespace(value=lambda topic, case: Fraction(0 if case["reason"] == HOPELESS else 250))
    return world


def kept_lines(world: Any) -> list[tuple[Order, OrderLine]]:
    """The lines that can go back."""
    delivered = [order for order in world.orders.orders if order.status == "delivered"]
    return [(order, line) for order in delivered for line in order.lines if not line.returned]


def names(world: Any, order: Order, line: OrderLine) -> dict[str, str]:
    return {"order_id": world.orders.order_id(order.number), "line_id": world.orders.line_id(line.number)}


def on_shelf(world: Any, *, variants: bool) -> int:
    """A row with units left that comes in variants, or does not."""
    return next(
        row for row in range(len(world.catalog)) if world.stock.left(row) and world.variants.has(row) is variants
    )


def snapshot(world: Any) -> Any:
    returns = world.returns
    return copy.deepcopy(
        (returns.active, returns._made, world.cart.lines, world.stock.sold_out, world.outputs, world.seen)
    )


def refused(call: Any, world: Any, name: str, **arguments: Any) -> str:
    """The code of a refusal that changes nothing."""
    before = snapshot(world)
    result = call(world, name, **arguments)
    assert set(result) == {"error"}
    assert snapshot(world) == before
    return result["error"]["code"]


def test_the_tools_are_registered_with_all_reasons_and_methods():
    assert all(REGISTRY[name].function is getattr(return_tools, name) for name in NAMES)
    assert typing.get_args(return_tools.Reason) == REASONS
    assert typing.get_args(return_tools.Method) == METHODS


def test_a_line_that_can_go_back_is_told_with_reasons_and_methods(call, world):
    order, line = kept_lines(world)[0]
    told = call(world, "return_check_eligibility", **names(world, order, line))
    assert told == {
        **names(world, order, line),
        "delivered": order.delivered.isoformat(),
        "days_since_delivery": (world.today - order.delivered).days,
        "already_returned": False,
        "returnable": True,
        "reasons": [reason for reason in REASONS if reason != HOPELESS],
        "methods": list(METHODS),
    }


def test_a_return_is_made_once_and_cancelled_once(call, world):
    order, line = kept_lines(world)[0]
    spoken = {key: f"  {name.upper()} " for key, name in names(world, order, line).items()}
    made = call(world, "return_initiate", **spoken, reason=REASON, method="store_credit")
    assert made == {
        "return_id": made["return_id"],
        "kind": "return",
        **names(world, order, line),
        "reason": REASON,
        "method": "store_credit",
        "refund": round(line.price * line.quantity, 2),
    }
    assert call(world, "return_check_eligibility", **spoken)["already_returned"] is True
    assert refused(call, world, "return_initiate", **spoken, reason=REASON, method="store_credit") == "already_returned"
    cancelled = call(world, "return_cancel", return_id=f" {made['return_id'].upper()} ")
    assert cancelled["return_id"] == made["return_id"]
    assert cancelled["cancelled"] is True
    assert world.transactions() == ()
    assert refused(call, world, "return_cancel", return_id=made["return_id"]) == "unknown_return"
    again = call(world, "return_initiate", **spoken, reason=REASON, method="original_payment")
    assert again["return_id"] != made["return_id"]
    assert len(world.transactions()) == 1


@pytest.mark.parametrize("name", ["return_check_eligibility", "return_initiate", "return_exchange"])
def test_orders_and_lines_must_be_known_and_belong_together(call, world, name):
    (order, line), (other, foreign) = kept_lines(world)[0], kept_lines(world)[-1]
    assert order is not other
    rest: dict[str, Any] = {
        "return_check_eligibility": {},
        "return_initiate": {"reason": REASON, "method": "store_credit"},
        "return_exchange": {"reason": REASON, "new_product_id": world.product_id(on_shelf(world, variants=False))},
    }[name]
    right = names(world, order, line)
    for order_id in ("", "o0000000", right["line_id"], world.orders.order_id(20)):
        assert refused(call, world, name, **{**right, "order_id": order_id}, **rest) == "unknown_order"
    for line_id in ("", "l0000000", right["order_id"], world.orders.line_id(foreign.number)):
        assert refused(call, world, name, **{**right, "line_id": line_id}, **rest) == "unknown_line"


def test_what_may_not_go_back_is_refused_and_says_why(call, world):
    order, line = kept_lines(world)[0]
    target = world.product_id(on_shelf(world, variants=False))
    right = names(world, order, line)
    assert refused(call, world, "return_initiate", **right, reason=HOPELESS, method="store_credit") == "not_returnable"
    assert refused(call, world, "return_exchange", **right, reason=HOPELESS, new_product_id=target) == "not_returnable"
    waiting = next(order for order in world.orders.orders if order.status not in ("delivered", "returned"))
    arguments = {**names(world, waiting, waiting.lines[0]), "reason": REASON, "method": "store_credit"}
    assert refused(call, world, "return_initiate", **arguments) == "not_returnable"
    assert waiting.status in call(world, "return_initiate", **arguments)["error"]["message"]
    told = call(world, "return_check_eligibility", **names(world, waiting, waiting.lines[0]))
    assert (told["returnable"], told["reasons"], told["methods"], told["delivered"]) == (False, [], [], None)


@pytest.mark.parametrize("variants", [False, True])
def test_an_exchange_puts_out_a_product_that_should_have_been_seen(call, world, variants):
    row = on_shelf(world, variants=variants)
    name, variant = world.product_id(row), world.variant_id(row, 1) if variants else None
    (order, line), (other, second) = kept_lines(world)[:2]
    made = call(
        world, "return_exchange", **names(world, order, line), reason=REASON, new_product_id=name,
        new_variant_id=variant,
    )  # fmt: skip
    assert made == {
        "return_id": made["return_id"],
        "kind": "exchange",
        **names(world, order, line),
        "reason": REASON,
        "new_product_id": name,
        "new_variant_id": variant,
    }
    (transaction,) = world.transactions()
    assert (transaction.new_row, transaction.new_variant) == (row, 1 if variants else None)
    assert world.outputs == {name: False}  # never shown: made up, and naming it does not make it seen
    assert row not in world.seen
    seen = next(n for n in range(row + 1, len(world.catalog)) if world.stock.left(n) and not world.variants.has(n))
    call(world, "catalog_get_product", product_id=world.product_id(seen))
    call(world, "return_exchange", **names(world, other, second), reason=REASON, new_product_id=world.product_id(seen))
    assert world.outputs[world.product_id(seen)] is True


def test_an_exchange_needs_a_product_and_the_right_variant(call, world):
    order, line = kept_lines(world)[0]
    right = {**names(world, order, line), "reason": REASON}
    plain, varied = on_shelf(world, variants=False), on_shelf(world, variants=True)
    for name in ("", "p0000000", right["order_id"]):
        assert refused(call, world, "return_exchange", **right, new_product_id=name) == "unknown_product"
    wanted = {**right, "new_product_id": world.product_id(varied)}
    assert refused(call, world, "return_exchange", **wanted) == "variant_required"
    assert refused(call, world, "return_exchange", **wanted, new_variant_id="v0000000") == "unknown_variant"
    mixed = {**right, "new_product_id": world.product_id(plain), "new_variant_id": world.variant_id(varied, 0)}
    assert refused(call, world, "return_exchange", **mixed) == "unknown_variant"


@pytest.mark.parametrize("by_variant", [False, True])
def test_an_exchange_for_what_sold_out_is_refused_and_the_customer_hears_of_it(call, new_world, by_variant):
    world = new_world(6, d=6, delivered_share=0.6, by_variant=by_variant, sellout=0.9, variant_share=1.0)
    world.policies = SimpleNamespace(value=lambda topic, case: Fraction(250))
    order, line = kept_lines(world)[0]
    row = next(row for row in range(500) if world.stock.left(row) and world.stock.fated(row, 0))
    call(world, "catalog_get_variants", product_id=world.product_id(row))
    unit = world.stock.unit_of(row, 0)
    assert unit in world.stock.end_turn()
    world.touched.clear()
    arguments = {"new_product_id": world.product_id(row), "new_variant_id": world.variant_id(row, 0)}
    assert refused(call, world, "return_exchange", **names(world, order, line), reason=REASON, **arguments) == (
        "out_of_stock"
    )
    assert unit in world.touched
    assert (row, 0) in world.touched
