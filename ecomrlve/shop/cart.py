"""The cart: lines of (product, variant) → quantity, in the order they were first added."""

from __future__ import annotations

from ecomrlve.errors import Refused

Line = tuple[int, int | None]
MOST_PER_LINE = 99


class Cart:
    """A shopping cart. It knows quantities only; stock and prices are the world's."""

    def __init__(self) -> None:
        self.lines: dict[Line, int] = {}

    def set(self, line: Line, quantity: int, available: int) -> None:
        """Set the quantity of a line.

        Raises:
            Refused: Not a quantity that can be bought; the cart stays as it was.
        """
        if quantity < 1:
            raise Refused("bad_quantity", f"qty must be at least 1, not {quantity}; use cart_remove to take a line out")
        if available <= 0:
            raise Refused("out_of_stock", "this item is sold out")
        if quantity > min(available, MOST_PER_LINE):
            raise Refused("not_enough_stock", f"only {min(available, MOST_PER_LINE)} can be bought, not {quantity}")
        self.lines[line] = quantity

    def remove(self, line: Line) -> None:
        """Take a line out.

        Raises:
            Refused: There is no such line.
        """
        if line not in self.lines:
            raise Refused("not_in_cart", "this item is not in the cart; cart_view shows what is")
        del self.lines[line]
