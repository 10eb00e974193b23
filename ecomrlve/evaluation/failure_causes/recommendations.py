"""What is wrong with a list of recommendations (E_PD, E_SUB)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.record import Record
from ecomrlve.evaluation.failure_causes.requirements import meets, value_of
from ecomrlve.evaluation.failure_causes.vocabulary import Fault, Mistake, mistake
from ecomrlve.evaluation.failure_causes.wish import Wish

NO_SUCH_PRODUCT = "(no such product)"


def list_mistakes(wish: Wish, record: Record) -> list[Mistake]:
    """Places of the list that hold no feasible product; else its order is wrong."""
    feasible = [product["product_id"] for product in wish.goal["feasible"]]
    wanted = min(record.list_size, len(feasible))
    places: list[list[Fault]] = []
    given: set[str] = set()
    entries = wish.done[: record.list_size]
    for entry in entries:
        if entry["product_id"] in given:
            places.append([{cause.EXTRA}])
        elif not entry["feasible"]:
            places.append(product_faults(wish, record, entry))
        given.add(entry["product_id"])
    short = {cause.MISSING} if entries else {cause.EMPTY}
    places = [[set(short)] for _ in range(wanted - len(entries))] + places
    # Who saw too few feasible products could not have filled these places.
    for faults in places[: max(0, wanted - _found(wish, record))]:
        for fault in faults:
            fault.add(cause.NOT_FOUND)
    return [mistake(*faults) for faults in places] or [mistake({cause.RANKING, *wish.blame(*wish.keys("priority:"))})]


def list_found(wish: Wish, record: Record) -> bool:
    """Whether enough feasible products were shown before the end."""
    return _found(wish, record) >= min(record.list_size, len(wish.goal["feasible"]))


def _found(wish: Wish, record: Record) -> int:
    return sum(record.shown(product["product_id"], wish.end) for product in wish.goal["feasible"])


def product_faults(wish: Wish, record: Record, entry: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with one recommended product, as the verifier noted it under `violates`."""
    identifier = entry["product_id"]
    if entry["title"] == NO_SUCH_PRODUCT:
        return [{cause.MADE_UP}]
    # What a product of another kind is like in other respects does not matter any more.
    if any(text == "compatible" or text.startswith("type = ") for text in entry["violates"]):
        faults: list[Fault] = [{cause.PRODUCT, *_pointed_out(wish, record, entry)}]
    else:
        faults = [_fault(wish, record, entry, text) for text in entry["violates"]]
    if not record.seen(identifier, wish.end):
        for fault in faults:
            fault.add(cause.MADE_UP)
    return faults


def _fault(wish: Wish, record: Record, entry: Mapping[str, Any], text: str) -> Fault:
    if text == "in stock":
        return {cause.SOLD_OUT}
    names = [key for key in wish.keys("constraint:") if text.startswith(key.removeprefix("constraint:") + " ")]
    # An attribute's name may be the beginning of another's.
    return {cause.REQUIREMENT, *requirement_blame(wish, record, entry["product_id"], max(names, key=len))}


def requirement_blame(wish: Wish, record: Record, identifier: str, key: str) -> Fault:
    """What led to a product that does not meet the requirement of a slot."""
    own = value_of(record.facts.get(identifier, {}), key.partition(":")[2])
    return wish.blame(key, fits=lambda text: meets(text, own))


def _pointed_out(wish: Wish, record: Record, entry: Mapping[str, Any]) -> Fault:
    """Whether the customer was shown this product before, and said that something was wrong."""
    names = (str(entry["product_id"]), str(entry["title"]).casefold())
    told = any(name in record.message(turn) for turn in wish.other_corrections() for name in names)
    return {cause.CORRECTION} if told else set()
