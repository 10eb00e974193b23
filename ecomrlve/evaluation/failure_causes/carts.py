"""What is wrong with a cart (E_CART): the cart as it stands at the end, held against the one wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.record import CartLine, Record
from ecomrlve.evaluation.failure_causes.requirements import number_in
from ecomrlve.evaluation.failure_causes.vocabulary import Fault, Mistake, mistake
from ecomrlve.evaluation.failure_causes.wish import Wish

Json = Mapping[str, Any]
Cart = dict[CartLine, Json]


class CartMistakes:
    """Finds the mistakes of one cart, item by item, and takes the lines that it explains out of what is left.

    Args:
        wish: The wish for a cart.
        record: The episode.
    """

    def __init__(self, wish: Wish, record: Record):
        self._wish = wish
        self._record = record
        self._cart = record.cart()
        wanted = [_line_of(item) for item in wish.goal["items"]]
        self._left: Cart = {line: entry for line, entry in self._cart.items() if line not in wanted}
        self._items = {wish.wanted(key): key for key, entry in wish.slots.items() if entry["kind"] == "item"}
        self._made_up = len(record.made_up)

    def all(self) -> list[Mistake]:
        """The mistakes: wanted lines that are not right, then lines that nobody wanted."""
        found = [self._wrong(item) for item in self._wish.goal["items"] if self._units(item) != item["qty"]]
        found += [mistake(self._stray(line)) for line in self._left]
        return found

    def _units(self, item: Json) -> int:
        line = self._cart.get(_line_of(item))
        return line["qty"] if line else 0

    def _wrong(self, item: Json) -> Mistake:
        instead = _original(item)
        slot = self._items[instead or item["title"]]
        units = self._units(item)
        taken = self._take(item, instead) if units < item["qty"] else None
        if units and taken is None:
            blame = self._wish.blame(f"{slot}:quantity", fits=lambda text: _quantity(text) == units)
            told = self._told(lambda cart: _same_line(cart, self._cart, _line_of(item)))
            return mistake({cause.QUANTITY, *blame, *told})
        if taken is None:
            return mistake(self._missing(item, bool(instead)))
        fault = self._misfit(item, slot, taken, bool(instead))
        if not self._shown(item):
            fault.add(cause.NOT_FOUND)
        return mistake(fault)

    def _take(self, item: Json, instead: str) -> CartLine | None:
        """The line that was taken for an item: what it was to replace, another variant, or a similar product."""
        tests: tuple[Callable[[CartLine], bool], ...] = (
            lambda line: bool(instead) and self._title(line) == instead and self._sold_out(line),
            lambda line: line[0] == item["product_id"],
            lambda line: self._title(line) in (item["title"], instead),
            lambda line: self._kind(line[0]) is not None and self._kind(line[0]) == self._kind(item["product_id"]),
        )
        for test in tests:
            for line in self._left:
                if test(line):
                    del self._left[line]
                    return line
        return None

    def _misfit(self, item: Json, slot: str, line: CartLine, replaced: bool) -> Fault:
        """What is wrong with the line that was taken for an item."""
        if replaced and self._sold_out(line):
            return {cause.SOLD_OUT, *self._wish.blame(f"{slot}:fallback")}
        if line[0] == item["product_id"]:
            variant = " ".join(map(str, (self._cart[line]["variant"] or {}).values()))
            keys = [f"{slot}:fallback"] if replaced else [f"{slot}:variant"]
            return {cause.VARIANT, *self._wish.blame(*keys, fits=lambda text: text.partition(": ")[2] == variant)}
        keys = [f"{slot}:fallback"] if replaced else self._wish.keys(f"{slot}:identify:")
        return {cause.PRODUCT, *self._wish.blame(*keys), *self._told(lambda cart: line in cart and _lacks(cart, item))}

    def _missing(self, item: Json, replaced: bool) -> Fault:
        # Of an empty cart the customer says that all is missing, which is no news.
        fault = {cause.MISSING, *self._told(lambda cart: bool(cart) and _lacks(cart, item))}
        if replaced:
            fault.add(cause.SOLD_OUT)
        if not self._shown(item):
            fault.add(cause.NOT_FOUND)
        if self._made_up:  # one of the ids that do not exist may have been meant for it
            self._made_up -= 1
            fault.add(cause.MADE_UP)
        return fault

    def _stray(self, line: CartLine) -> Fault:
        """What is wrong with a line that nobody wants, or wants no more: an item to be left out when it sold out."""
        told = self._told(lambda cart: line in cart)
        slot = self._items.get(self._title(line), "")
        fallback = f"{slot}:fallback"
        if self._sold_out(line) and fallback in self._wish.slots:
            return {cause.SOLD_OUT, *self._wish.blame(fallback), *told}
        return {cause.EXTRA, *told}

    def _told(self, wrong_then: Callable[[Cart], bool]) -> Fault:
        """Whether the customer complained of something when the cart was wrong in this way."""
        turns = self._wish.other_corrections()
        return {cause.CORRECTION} if any(wrong_then(self._record.cart(turn)) for turn in turns) else set()

    def _title(self, line: CartLine) -> str:
        return str(self._cart[line]["title"])

    def _kind(self, product: str) -> str | None:
        return self._record.facts.get(product, {}).get("type")

    def _sold_out(self, line: CartLine) -> bool:
        return line[0] in self._record.sold_out or line[1] in self._record.sold_out

    def _shown(self, item: Json) -> bool:
        """Whether tools showed the product wanted and, where it comes in variants, the variant."""
        ids = [item["product_id"], *([item["variant_id"]] if item["variant_id"] else [])]
        return all(self._record.shown(identifier, self._wish.end) for identifier in ids)


def cart_mistakes(wish: Wish, record: Record) -> list[Mistake]:
    """What is wrong with the cart at the end."""
    return CartMistakes(wish, record).all()


def _line_of(item: Json) -> CartLine:
    return item["product_id"], item["variant_id"]


def _original(item: Json) -> str:
    """The title of the sold-out item that this one replaces, or an empty text."""
    return str(item["note"]).removeprefix("instead of ").removesuffix(", sold out")


def _quantity(text: str) -> float | None:
    return number_in(text.partition(": ")[2])


def _lacks(cart: Cart, item: Json) -> bool:
    return _line_of(item) not in cart


def _same_line(cart: Cart, other: Cart, line: CartLine) -> bool:
    return line in cart and cart[line]["qty"] == other[line]["qty"]
