"""What is wrong with the products for a project (E_BUNDLE)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.recommendations import NO_SUCH_PRODUCT, requirement_blame
from ecomrlve.evaluation.failure_causes.record import Record
from ecomrlve.evaluation.failure_causes.requirements import meets, value_of
from ecomrlve.evaluation.failure_causes.vocabulary import Fault, Mistake, mistake
from ecomrlve.evaluation.failure_causes.wish import Wish

_SURPLUS = ("named before", "the part is filled already")


def bundle_mistakes(wish: Wish, record: Record) -> list[Mistake]:
    """Parts that nothing fills, products that fill none, and money."""
    filled = {entry["fills"] for entry in wish.done}
    spare = [entry for entry in wish.done if entry["fills"] is None]
    found: list[Mistake] = []
    for index, part in enumerate(wish.goal["parts"]):
        if part["type"] in filled:
            continue
        tried = next((entry for entry in spare if _is_for(record, entry, part["type"])), None)
        if tried is None:
            faults: list[Fault] = [{cause.MISSING} if wish.done else {cause.EMPTY}]
        else:
            spare.remove(tried)
            faults = [_fault(wish, record, tried, index, text) for text in tried["wrong"]]
        if not _found(wish, record, index):
            faults = [{cause.NOT_FOUND, *fault} for fault in faults]
        found.append(mistake(*faults))
    found += [mistake({_surplus(entry), *_made_up(wish, record, entry)}) for entry in spare]
    prices = {entry["product_id"]: entry.get("price") or 0 for entry in wish.done}
    cost = round(sum(prices.values()), 2)
    if cost > wish.goal["budget"]:
        found.append(mistake({cause.MONEY, *wish.blame("budget", fits=lambda text: meets(text, cost))}))
    return found


def bundle_found(wish: Wish, record: Record) -> bool:
    """Whether a fitting product was shown for every part before the end."""
    return all(_found(wish, record, index) for index in range(len(wish.goal["parts"])))


def _found(wish: Wish, record: Record, index: int) -> bool:
    kind = wish.goal["parts"][index]["type"]
    rules = [(key.partition(":")[2], wish.wanted(key)) for key in wish.keys(f"part{index}:")]
    return any(
        facts.get("type") == kind
        and identifier not in record.sold_out
        and record.shown(identifier, wish.end)
        and all(meets(text, value_of(facts, attribute)) for attribute, text in rules)
        for identifier, facts in record.facts.items()
    )


def _is_for(record: Record, entry: Mapping[str, Any], kind: str) -> bool:
    """Whether a product that fills nothing was meant for a part."""
    known = record.facts.get(entry["product_id"], {}).get("type")
    return _surplus(entry) != cause.EXTRA and known == kind


def _surplus(entry: Mapping[str, Any]) -> str:
    """What a product is that was meant for no part: one too many, or one of a kind that nobody wants."""
    return cause.EXTRA if any(text in _SURPLUS for text in entry["wrong"]) else cause.PRODUCT


def _fault(wish: Wish, record: Record, entry: Mapping[str, Any], index: int, text: str) -> Fault:
    if text == "in stock":
        return {cause.SOLD_OUT}
    made_up = _made_up(wish, record, entry)
    if text.startswith("not the same "):
        return {cause.REQUIREMENT, *made_up, *wish.blame("tie")}
    start = f"part{index}:"
    names = [key for key in wish.keys(start) if text.startswith(key.removeprefix(start) + " ")]
    blame = requirement_blame(wish, record, entry["product_id"], max(names, key=len))
    return {cause.REQUIREMENT, *made_up, *blame}


def _made_up(wish: Wish, record: Record, entry: Mapping[str, Any]) -> Fault:
    known = entry["title"] != NO_SUCH_PRODUCT and record.seen(entry["product_id"], wish.end)
    return set() if known else {cause.MADE_UP}
