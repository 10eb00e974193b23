"""What goes back: which lines may, and the returns and exchanges of this episode. A refused call changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ecomrlve.catalog.aliases import Aliases
from ecomrlve.errors import Refused, short
from ecomrlve.shop.order_history import MOST_LINES, Order, OrderLine
from ecomrlve.shop.policy_rules import METHODS, REASONS

if TYPE_CHECKING:
    from ecomrlve.shop.world import World


@dataclass(frozen=True, slots=True)
class Transaction:
    """A return or an exchange that was made in this episode.

    Attributes:
        number: What its id names; never used again, even when cancelled.
        kind: ``return`` or ``exchange``.
        order: Number of the order.
        line: Number of the line.
        reason: One of `REASONS`.
        method: One of `METHODS`, how the money comes back; None for an exchange.
        new_row: Row of the product exchanged for; None for a return.
        new_variant: Index of its variant, where it has variants.
    """

    number: int
    kind: str
    order: int
    line: int
    reason: str
    method: str | None
    new_row: int | None = None
    new_variant: int | None = None


def return_case(world: World, order: Order, line: OrderLine, reason: str) -> dict[str, Any]:
    """Everything that a rule of the return window can test, for one line and one reason."""
    return {
        "tier": world.profile.tier,
        "region": world.profile.region,
        "department": department(world, line.row),
        "reason": reason,
        "order_total": order.total,
        "payment": order.payment,
        "channel": order.channel,
        "quantity": order.quantity,
    }


def return_window(world: World, order: Order, line: OrderLine, reason: str) -> Fraction:
    """Days after its delivery in which a line may go back for a reason; 0 where it may not at all."""
    return Fraction(world.policies.value("return_window", return_case(world, order, line, reason)))


def department(world: World, row: int) -> str:
    """The department that a product belongs to."""
    return department_name(world.catalog.category_names[world.catalog.category_codes[row]])


def department_name(path: Sequence[str]) -> str:
    """The department of a category path as the shop writes it: with capitals, so that it stands out in a sentence."""
    return " ".join(word[:1].upper() + word[1:] for word in path[0].split()) if path else "Other"


class Returns:
    """The returns and exchanges of one episode.

    Args:
        world: The shop; its orders, policies, profile and stock are only read.

    Attributes:
        active: Number → transaction, in the order of making; what was cancelled is not among them.
    """

    def __init__(self, world: World):
        self._world = world
        self._ids = Aliases("r", MOST_LINES, *world.episode_key)
        self._made = 0
        self.active: dict[int, Transaction] = {}

    def return_id(self, number: int) -> str:
        """The id of a transaction in this episode."""
        return self._ids.encode(number)

    def of_line(self, line: OrderLine) -> Transaction | None:
        """The active transaction for a line, if there is one."""
        return next((found for found in self.active.values() if found.line == line.number), None)

    def days_since_delivery(self, order: Order) -> int | None:
        """Whole days since the order arrived, or None where it did not."""
        return None if order.delivered is None else (self._world.today - order.delivered).days

    def eligible(self, order: Order, line: OrderLine, reason: str) -> bool:
        """Whether a line may go back today for a reason."""
        return self._obstacle(order, line, reason) is None

    def check(self, order: Order, line: OrderLine) -> dict[str, Any]:
        """What the shop tells about sending a line back today."""
        reasons = [reason for reason in REASONS if self.eligible(order, line, reason)]
        return {
            "order_id": self._world.orders.order_id(order.number),
            "line_id": self._world.orders.line_id(line.number),
            "delivered": None if order.delivered is None else order.delivered.isoformat(),
            "days_since_delivery": self.days_since_delivery(order),
            "already_returned": line.returned or self.of_line(line) is not None,
            "returnable": bool(reasons),
            "reasons": reasons,
            "methods": list(METHODS) if reasons else [],
        }

    def initiate(self, order: Order, line: OrderLine, reason: str, method: str) -> Transaction:
        """Send a line back for its money.

        Raises:
            Refused: It may not go back, or is on its way back already.
        """
        self._require(order, line, reason)
        return self._add(Transaction(self._made, "return", order.number, line.number, reason, method))

    def exchange(self, order: Order, line: OrderLine, reason: str, row: int, variant: int | None) -> Transaction:
        """Send a line back for another product, of any type.

        Raises:
            Refused: It may not go back, is on its way back already, or the other product is sold out.
        """
        self._require(order, line, reason)
        if self._world.stock.left(row, variant) <= 0:
            raise Refused("out_of_stock", "the item to exchange for is sold out")
        return self._add(Transaction(self._made, "exchange", order.number, line.number, reason, None, row, variant))

    def cancel(self, return_id: str) -> Transaction:
        """Take a return or an exchange back; the line may go back again afterwards.

        Raises:
            Refused: There is no such return, or it was cancelled before.
        """
        number = self._ids.decode(return_id)
        if number is None or number not in self.active:
            raise Refused("unknown_return", f"there is no open return {short(return_id.strip(), 40)!r}")
        return self.active.pop(number)

    def describe(self, transaction: Transaction) -> dict[str, Any]:
        """A transaction as an agent and a record see it: ids instead of numbers."""
        world = self._world
        told: dict[str, Any] = {
            "return_id": self.return_id(transaction.number),
            "kind": transaction.kind,
            "order_id": world.orders.order_id(transaction.order),
            "line_id": world.orders.line_id(transaction.line),
            "reason": transaction.reason,
        }
        if transaction.new_row is None:
            return told | {"method": transaction.method}
        variant = transaction.new_variant
        return told | {
            "new_product_id": world.product_id(transaction.new_row),
            "new_variant_id": None if variant is None else world.variant_id(transaction.new_row, variant),
        }

    def listed(self) -> list[dict[str, Any]]:
        """The active transactions, described, in the order of making."""
        return [self.describe(transaction) for transaction in self.active.values()]

    def _add(self, transaction: Transaction) -> Transaction:
        self._made += 1
        self.active[transaction.number] = transaction
        return transaction

    def _require(self, order: Order, line: OrderLine, reason: str) -> None:
        obstacle = self._obstacle(order, line, reason)
        if obstacle is not None:
            raise Refused(*obstacle)

    def _obstacle(self, order: Order, line: OrderLine, reason: str) -> tuple[str, str] | None:
        """Why a line may not go back for a reason, as a refusal's code and message; None where it may."""
        if line.returned:
            return "already_returned", "this line was sent back earlier"
        if self.of_line(line) is not None:
            return "already_returned", "this line has an open return or exchange; return_cancel takes it back"
        days = self.days_since_delivery(order)
        if order.status != "delivered" or days is None:
            return "not_returnable", f"only what was delivered can go back; the status of this order is {order.status}"
        window = return_window(self._world, order, line, reason)
        # A window of 0 days means "cannot be sent back", whatever the day.
        if window <= 0 or days > window:
            return (
                "not_returnable",
                f"delivered {days} days ago, which is too late to send this item back for the reason {reason}",
            )
        return None
