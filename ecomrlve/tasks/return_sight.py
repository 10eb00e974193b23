"""What a customer of E_RETURN sees to be wrong: in the returns made for it, and in the products suggested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ecomrlve.customer.dialogue import Complaint
from ecomrlve.customer.ledger import Ledger
from ecomrlve.shop.returns import Transaction
from ecomrlve.tasks.base import Problem, Sight
from ecomrlve.tasks.discovery import requirements, violation


def see(problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
    """Complaints about the transactions first, then about the products shown."""
    made = problem.world.transactions()
    complaints = [found for one in made if (found := _about(problem, ledger, one)) is not None]
    right = len(made) - len(complaints)
    goal = problem.goal
    if goal.replacement is not None:
        complaints += _about_products(problem, ledger, shown)
    done = right == 1 and len(made) == 1
    reached = done and not complaints and goal.eligible and ledger.everything_said()
    return Sight(tuple(complaints), reached, float(right - (len(made) - right)))


def _about(problem: Problem, ledger: Ledger, made: Transaction) -> Complaint | None:
    """What is wrong with one return or exchange, or None."""
    goal, world = problem.goal, problem.world
    if made.line != goal.line.number:
        row = next(line.row for order in world.orders.orders for line in order.lines if line.number == made.line)
        slot = next((slot for slot in ledger.slots.values() if slot.kind == "reference"), None)
        facts: dict[str, Any] = {"what": "wrong_line", "title": world.catalog.titles[row], "slot": slot}
        return Complaint(f"return{made.number}", facts, (slot.key,) if slot else (), "that return")
    for key, right in (
        ("wish", made.kind == goal.decision),
        ("reason", made.reason == goal.reason),
        ("refund", made.method == goal.method or made.kind == "exchange"),
    ):
        if not right and key in ledger.slots:
            return Complaint(
                f"return{made.number}", {"what": "wrong_return", "slot": ledger.slots[key]}, (key,), "that return"
            )
    if made.new_row is not None:
        found = _about_products(problem, ledger, [made.new_row])
        return found[0] if found else None
    return None


def _about_products(problem: Problem, ledger: Ledger, shown: Sequence[int]) -> list[Complaint]:
    goal, catalog = problem.goal, problem.world.catalog
    found = []
    for row in shown[: goal.replacement.k]:
        if catalog.type_of(row) != goal.replacement.type or row == goal.line.row:
            continue  # products of the order itself, which the agent may well name
        complaint = violation(catalog, row, requirements(ledger))
        if complaint is not None:
            found.append(complaint)
    return found
