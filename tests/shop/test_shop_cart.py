"""The cart: what can be put in, in which quantities, and that a refused call changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.errors import Refused
from ecomrlve.shop.cart import MOST_PER_LINE, Cart
from ecomrlve.shop.world import World

LINE = (3, None)


@dataclass
class Shelf:
    """A world, and rows in it that differ in what can be done with them."""

    world: World
    plain: int
    plenty: int
    with_variants: int
    empty: int

    def args(self, row: int, variant: int | None = None) -> dict[str, Any]:
        """The arguments that name a product, or one of its variants, in a call."""
        args = {"product_id": self.world.product_id(row)}
        return args if variant is None else args | {"variant_id": self.world.variant_id(row, variant)}


@pytest.fixture
def shelf(new_world) -> Shelf:
    return make_shelf(new_world)


def make_shelf(new_world: Any, **options: Any) -> Shelf:
    world = new_world(**options)
    bare = [row for row in range(2_000) if not world.variants.has(row)]
    made = [row for row in range(2_000) if world.variants.has(row) and row not in world.catalog.variants]
    stock = world.catalog.stock
    return Shelf(
        world,
        plain=next(row for row in bare if 5 < stock[row] < 30),
        plenty=next(row for row in bare if stock[row] > MOST_PER_LINE),
        with_variants=next(row for row in made if 5 < min(v.stock for v in world.variants.of(row)) < 30),
        empty=next(row for row in bare if stock[row] == 0),
    )


# --- quantities --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantity", "available", "code"),
    [
        (0, 5, "bad_quantity"), (-1, 5, "bad_quantity"), (-(10**9), 0, "bad_quantity"), (1, 0, "out_of_stock"),
        (1, -3, "out_of_stock"), (6, 5, "not_enough_stock"), (10**9, 5, "not_enough_stock"),
        (10**9, 10**10, "not_enough_stock"), (MOST_PER_LINE + 1, 500, "not_enough_stock"),
    ],
)  # fmt: skip
def test_a_quantity_that_cannot_be_bought_is_refused_and_the_line_stays(quantity, available, code):
    for before in ({}, {LINE: 2}, {(4, 1): 1}):
        cart = Cart()
        cart.lines.update(before)
        with pytest.raises(Refused) as caught:
            cart.set(LINE, quantity, available)
        assert caught.value.code == code
        assert cart.lines == before


@pytest.mark.parametrize(("quantity", "available"), [(1, 1), (5, 5), (MOST_PER_LINE, 500)])
def test_all_that_is_there_can_be_bought(quantity, available):
    cart = Cart()
    cart.set(LINE, quantity, available)
    assert cart.lines == {LINE: quantity}


def test_setting_a_line_again_replaces_its_quantity_and_keeps_its_place():
    cart = Cart()
    for line, quantity in ((LINE, 2), ((4, 1), 1), ((4, 0), 1), (LINE, 5)):
        cart.set(line, quantity, 10)
    assert list(cart.lines.items()) == [(LINE, 5), ((4, 1), 1), ((4, 0), 1)]


def test_only_a_line_that_is_there_can_be_removed():
    cart = Cart()
    cart.set(LINE, 2, 10)
    for line in ((3, 0), (4, None)):
        with pytest.raises(Refused, match="cart_view"):
            cart.remove(line)
    assert cart.lines == {LINE: 2}
    cart.remove(LINE)
    assert cart.lines == {}


# --- the tools ---------------------------------------------------------------------------------------------------


def test_adding_twice_sums(shelf, call):
    for quantity in (2, 3):
        result = call(shelf.world, "cart_add", **shelf.args(shelf.plain), qty=quantity)
    assert shelf.world.cart.lines == {(shelf.plain, None): 5}
    assert [line["qty"] for line in result["lines"]] == [5]


def test_variants_of_a_product_are_lines_of_their_own(shelf, call):
    row = shelf.with_variants
    for variant in (2, 0, 2):
        call(shelf.world, "cart_add", **shelf.args(row, variant))
    assert list(shelf.world.cart.lines.items()) == [((row, 2), 2), ((row, 0), 1)]


def test_one_is_added_where_no_quantity_is_named(shelf, call):
    call(shelf.world, "cart_add", **shelf.args(shelf.plain))
    assert shelf.world.cart.lines == {(shelf.plain, None): 1}


@pytest.mark.parametrize("quantity", [0, -1, -(10**9)])
def test_nothing_or_less_cannot_be_added_even_to_a_line_that_is_there(shelf, call, quantity):
    args = shelf.args(shelf.plain)
    call(shelf.world, "cart_add", **args, qty=3)
    for name in ("cart_add", "cart_update"):
        assert call(shelf.world, name, **args, qty=quantity)["error"]["code"] == "bad_quantity"
    assert shelf.world.cart.lines == {(shelf.plain, None): 3}


def test_no_more_than_the_stock_can_be_bought_at_once_or_in_steps(shelf, call):
    for row, variant in ((shelf.plain, None), (shelf.with_variants, 1)):
        args, stock = shelf.args(row, variant), shelf.world.stock.left(row, variant)
        for quantity in (stock + 1, 10**9):
            assert call(shelf.world, "cart_add", **args, qty=quantity)["error"]["code"] == "not_enough_stock"
        call(shelf.world, "cart_add", **args, qty=stock)
        assert call(shelf.world, "cart_add", **args, qty=1)["error"]["code"] == "not_enough_stock"
        assert shelf.world.cart.lines[row, variant] == stock


def test_there_is_a_limit_per_line_whatever_the_stock(shelf, call):
    args = shelf.args(shelf.plenty)
    call(shelf.world, "cart_add", **args, qty=MOST_PER_LINE)
    assert call(shelf.world, "cart_add", **args, qty=1)["error"]["code"] == "not_enough_stock"
    assert call(shelf.world, "cart_update", **args, qty=MOST_PER_LINE + 1)["error"]["code"] == "not_enough_stock"
    assert shelf.world.cart.lines == {(shelf.plenty, None): MOST_PER_LINE}


def test_the_cart_shows_titles_variants_prices_and_the_total(shelf, call):
    world, row = shelf.world, shelf.with_variants
    call(world, "cart_add", **shelf.args(row, 1), qty=2)
    call(world, "cart_add", **shelf.args(shelf.plain), qty=3)
    variant, product = world.variants.of(row)[1], world.catalog.product(shelf.plain)
    assert call(world, "cart_view") == {
        "lines": [
            {
                **shelf.args(row, 1), "title": world.catalog.titles[row], "variant": variant.attributes, "qty": 2,
                "price": variant.price,
            },
            {
                **shelf.args(shelf.plain), "variant_id": None, "title": product.title, "variant": None, "qty": 3,
                "price": product.price,
            },
        ],
        "total": round(2 * variant.price + 3 * product.price, 2),
    }  # fmt: skip


def test_letter_case_and_spaces_of_ids_do_not_make_another_line(shelf, call):
    args = shelf.args(shelf.with_variants, 1)
    call(shelf.world, "cart_add", **args)
    call(shelf.world, "cart_add", **{name: f" {text.upper()}\n" for name, text in args.items()})
    assert shelf.world.cart.lines == {(shelf.with_variants, 1): 2}


def test_a_blank_variant_is_none(shelf, call):
    call(shelf.world, "cart_add", **shelf.args(shelf.plain), variant_id=" ")
    call(shelf.world, "cart_add", **shelf.args(shelf.plain), variant_id=None)
    assert shelf.world.cart.lines == {(shelf.plain, None): 2}
    result = call(shelf.world, "cart_add", **shelf.args(shelf.with_variants), variant_id="")
    assert result["error"]["code"] == "variant_required"


def test_what_sells_out_stays_in_the_cart_but_cannot_be_had_again(new_world, call):
    shelf = make_shelf(new_world, sellout=0.9)
    world, row = shelf.world, shelf.with_variants
    variant = next(number for number in range(3) if world.stock.fated(row, number))
    args = shelf.args(row, variant)
    call(world, "catalog_get_variants", product_id=args["product_id"])
    call(world, "cart_add", **args, qty=2)
    assert (row, variant) in world.stock.end_turn()
    for name in ("cart_add", "cart_update"):
        assert call(world, name, **args, qty=1)["error"]["code"] == "out_of_stock"
    assert world.cart.lines == {(row, variant): 2}
    assert call(world, "cart_remove", **args) == {"lines": [], "total": 0}


def test_adding_an_id_that_was_guessed_does_not_make_the_product_seen(shelf, call):
    call(shelf.world, "cart_add", **shelf.args(shelf.plain))
    call(shelf.world, "cart_view")
    assert shelf.plain not in shelf.world.seen
    assert shelf.world.outputs == {shelf.world.product_id(shelf.plain): False}
    call(shelf.world, "catalog_get_product", **shelf.args(shelf.plenty))
    call(shelf.world, "cart_add", **shelf.args(shelf.plenty))
    assert shelf.world.outputs[shelf.world.product_id(shelf.plenty)] is True


# --- any sequence of calls, against a model -------------------------------------------------------------------------

QUANTITIES = st.sampled_from([-1, 0, 1, 2, 3, 7, 40, MOST_PER_LINE, MOST_PER_LINE + 1, 10**9])
PRODUCTS = st.sampled_from(["plain", "plenty", "with_variants", "empty", "unknown"])
VARIANTS = st.sampled_from([None, 0, 1, 2, "of another product", "unknown"])
CALLS = st.lists(st.tuples(st.sampled_from(["cart_add", "cart_update", "cart_remove"]), PRODUCTS, VARIANTS, QUANTITIES))


def expected(shelf: Shelf, lines: dict, name: str, product: str, variant: Any, quantity: int) -> str | dict:
    """What the contract says of a call: the code of its refusal, or the lines of the cart after it."""
    if product == "unknown":
        return "unknown_product"
    row = getattr(shelf, product)
    if product == "with_variants":
        if variant is None:
            return "variant_required"
        if isinstance(variant, str):
            return "unknown_variant"
    elif variant is not None:
        return "unknown_variant"
    line, here = (row, variant), lines.get((row, variant), 0)
    if name != "cart_add" and not here:
        return "not_in_cart"
    if name == "cart_remove":
        return {other: count for other, count in lines.items() if other != line}
    if quantity < 1:
        return "bad_quantity"
    stock = shelf.world.stock.left(row, variant)
    if stock == 0:
        return "out_of_stock"
    wanted = quantity + (here if name == "cart_add" else 0)
    return "not_enough_stock" if wanted > min(stock, MOST_PER_LINE) else {**lines, line: wanted}


@settings(max_examples=60)
@given(calls=CALLS)
def test_any_sequence_of_calls_leaves_what_the_contract_says_and_a_refused_one_leaves_everything(
    new_world, call, calls
):
    shelf = make_shelf(new_world)
    world = shelf.world
    put_in: set[str] = set()
    for name, product, variant, quantity in calls:
        row = shelf.plain if product == "unknown" else getattr(shelf, product)
        args: dict[str, Any] = {"product_id": "p0000000" if product == "unknown" else world.product_id(row)}
        if variant is not None:
            other = {"of another product": world.variant_id(row + 1, 0), "unknown": "v0000000"}
            args["variant_id"] = other[variant] if isinstance(variant, str) else world.variant_id(row, variant)
        if name != "cart_remove":
            args["qty"] = quantity
        before, noted = list(world.cart.lines.items()), dict(world.outputs)
        wanted = expected(shelf, world.cart.lines, name, product, variant, quantity)
        result = call(world, name, **args)
        if isinstance(wanted, str):
            assert result["error"]["code"] == wanted
            assert (list(world.cart.lines.items()), world.outputs) == (before, noted)
        else:
            assert world.cart.lines == wanted
            assert [(line["product_id"], line["qty"]) for line in result["lines"]] == [
                (world.product_id(row), count) for (row, _), count in world.cart.lines.items()
            ]
            put_in |= {args["product_id"]} if name == "cart_add" else set()
    assert set(world.outputs) == put_in
