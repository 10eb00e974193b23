"""What a customer of E_CART sees to be wrong in its cart, in the words a customer has."""

from __future__ import annotations

from ecomrlve.catalog.columns import fold
from ecomrlve.customer.dialogue import Complaint
from ecomrlve.customer.ledger import Ledger
from ecomrlve.tasks.base import Problem


def wanted_variant(problem: Problem, ledger: Ledger, index: int) -> int | None:
    """The variant index that the item's slot names now, or None for an item without variants."""
    slot = ledger.slots.get(f"item{index}:variant")
    if slot is None:
        return None
    row = problem.goal[index].row
    for number, variant in enumerate(problem.world.variants_of(row)):
        if " ".join(str(value) for value in variant.attributes.values()) == slot.value:
            return number
    raise KeyError(f"no variant {slot.value!r}")


def wanted_now(problem: Problem, ledger: Ledger, index: int) -> tuple[int, int | None] | None:
    """The line the customer wants at this point: the fallback once it was said; None where the item is dropped."""
    item = problem.goal[index]
    if item.fallback is not None and ledger.said(f"item{index}:fallback"):
        return None if item.fallback.row is None else (item.fallback.row, item.fallback.variant)
    return item.row, wanted_variant(problem, ledger, index)


def complaints(problem: Problem, ledger: Ledger) -> tuple[Complaint, ...]:
    """What is wrong in the cart: wrong versions and quantities first, then strangers, then what is missing."""
    world = problem.world
    lines = world.cart.lines
    claimed: set[tuple[int, int | None]] = set()
    wrong: list[Complaint] = []
    missing: list[Complaint] = []
    for index in range(len(problem.goal)):
        target = wanted_now(problem, ledger, index)
        if target is None:
            continue
        row = target[0]
        subject, name = f"item{index}", world.catalog.titles[row]
        claimed.add(target)
        others = [line for line in lines if line[0] == row and line != target]
        claimed.update(others)
        if others:
            wrong.append(_wrong_variant(problem, ledger, index, name, others[0]))
        elif target in lines:
            slot = ledger.slots.get(f"item{index}:quantity")
            if lines[target] != (slot.value if slot else 1):
                facts = {"what": "wrong_quantity", "item_name": name, "got": lines[target], "slot": slot}
                wrong.append(Complaint(subject, facts, (slot.key,) if slot else (), name, badness=1))
        else:
            alike = _lookalike(problem, ledger, index, claimed)
            if alike is not None:
                claimed.add(alike[1])
                wrong.append(alike[0])
            else:
                missing.append(Complaint(subject, {"what": "missing", "item_name": name}, (), name, badness=3))
    strangers = [
        Complaint(f"line{line}", {"what": "not_wanted", "title": world.catalog.titles[line[0]]})
        for line in lines
        if line not in claimed
    ]
    return (*wrong, *strangers, *missing)


def _wrong_variant(problem: Problem, ledger: Ledger, index: int, name: str, line: tuple[int, int | None]) -> Complaint:
    world = problem.world
    row, variant = line
    got = "" if variant is None else " ".join(map(str, world.variants_of(row)[variant].attributes.values()))
    fallback = ledger.slots.get(f"item{index}:fallback")
    if fallback is not None and ledger.said(fallback.key):
        # The wanted version is the fallback's; it has been said, so it may be repeated.
        facts = {
            "what": "wrong_variant", "item_name": name, "attribute": fallback.value.get("attribute"),
            "label": str(fallback.value.get("attribute") or "").replace("_", " "), "got": got, "slot": fallback,
        }  # fmt: skip
        return Complaint(f"item{index}", facts, (fallback.key,), name, badness=2)
    slot = ledger.slots[f"item{index}:variant"]
    facts = {
        "what": "wrong_variant", "item_name": name, "attribute": slot.attribute, "label": slot.label, "got": got,
        "slot": slot,
    }  # fmt: skip
    return Complaint(f"item{index}", facts, (slot.key,), name, badness=2)


def _lookalike(
    problem: Problem, ledger: Ledger, index: int, claimed: set[tuple[int, int | None]]
) -> tuple[Complaint, tuple[int, int | None]] | None:
    """A line with the right title that is another product: the attribute it differs in is named."""
    world = problem.world
    item = problem.goal[index]
    title = world.catalog.titles[item.row]
    for line in world.cart.lines:
        if line in claimed or line[0] == item.row or fold(world.catalog.titles[line[0]]) != fold(title):
            continue
        slots = [s for s in ledger.slots.values() if s.kind == "identify" and s.item == index]
        for slot in slots:
            if world.catalog.columns[slot.attribute].get(line[0]) != slot.value:
                facts = {"what": "wrong_product", "title": title, "item_name": title, "slot": slot}
                return Complaint(f"item{index}", facts, (slot.key,), title, badness=3), line
    return None
