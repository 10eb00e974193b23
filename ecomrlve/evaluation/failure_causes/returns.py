"""What is wrong with how something was sent back (E_RETURN)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.accounts import given, selection_fault
from ecomrlve.evaluation.failure_causes.recommendations import requirement_blame
from ecomrlve.evaluation.failure_causes.record import Record
from ecomrlve.evaluation.failure_causes.requirements import meets, value_of
from ecomrlve.evaluation.failure_causes.vocabulary import Fault, Mistake, mistake
from ecomrlve.evaluation.failure_causes.wish import Wish
from ecomrlve.tasks.order_reference import normal_date
from ecomrlve.tasks.returns import REPLACEMENT_CORRECT

Json = Mapping[str, Any]


def return_mistakes(wish: Wish, record: Record) -> list[Mistake]:
    """The line, the decision, what was made of it, and the replacement; nothing else counts for another line."""
    goal = wish.goal
    fields = {"selected_order_id": goal["order_id"], "selected_line_id": goal["line_id"]}
    selection = selection_fault(wish, record, fields, goal["line_id"])
    if selection:
        return [mistake(selection)]
    found: list[Mistake] = []
    made = record.returns()
    if "_".join(given(wish, "return_decision").replace("-", " ").split()) != goal["decision"]:
        found.append(mistake({cause.DECISION, *wish.blame("wish", "reason")}))
    else:
        if goal["decision"] == "not_eligible" and _day(wish) != (goal["last_return_day"] or ""):
            found.append(mistake({cause.DATE, *wish.blame("reason")}))
        if not _as_wanted(goal, made):
            found.append(mistake({cause.RETURN, *wish.blame("wish", "reason", "refund")}))
    if goal["best"]:
        fault = _replacement(wish, record, made)
        found += [mistake(fault)] if fault else []
    return found


def return_found(wish: Wish, record: Record) -> bool:
    """Whether the line was shown before the end."""
    return record.shown(wish.goal["line_id"], wish.end)


def _day(wish: Wish) -> str:
    """The day that was told, as ISO text; whatever else was told stays as it is."""
    text = given(wish, "last_return_day")
    day = normal_date(text)
    return text if day is None else day.isoformat()


def _as_wanted(goal: Json, made: Sequence[Json]) -> bool:
    if goal["decision"] == "not_eligible":
        return not made
    names = ("line_id", "reason", "method")
    one = [{name: entry.get(name) for name in names} | {"decision": entry["kind"]} for entry in made]
    return one == [{name: goal[name] for name in (*names, "decision")}]


def _replacement(wish: Wish, record: Record, made: Sequence[Json]) -> Fault:
    """What is wrong with the product exchanged for, or suggested; nothing if it is near enough to the best."""
    best = {product["product_id"]: product["utility"] for product in wish.goal["best"]}
    if wish.goal["decision"] == "exchange":
        products = [entry["new_product_id"] for entry in made if entry["kind"] == "exchange"]
        if len(products) != 1:
            return set()  # no exchange, or too many, is a mistake already
    else:
        products = [str(one).strip().lower() for one in (wish.answer or {}).get("recommended_product_ids", ())]
    not_found = set() if any(record.shown(product, wish.end) for product in best) else {cause.NOT_FOUND}
    if not products:
        return {cause.MISSING, *not_found}
    if len(products) > 1:
        return {cause.EXTRA}
    [product] = products
    if product in best and (1 + best[product]) / (1 + max(best.values())) >= REPLACEMENT_CORRECT:
        return set()
    fault = {cause.RANKING, *wish.blame(*wish.keys("priority:"))} if product in best else _misfit(wish, record, product)
    return fault | not_found


def _misfit(wish: Wish, record: Record, product: str) -> Fault:
    """Why a product that is none of the best ones does not do."""
    if not record.seen(product, wish.end):
        return {cause.MADE_UP}
    facts = record.facts.get(product, {})
    returned = record.ordered.get(wish.goal["line_id"])
    if product == returned or facts.get("type") != wish.wanted("sendback").partition(": ")[2]:
        return {cause.PRODUCT}
    keys = wish.keys("constraint:")
    missed = [key for key in keys if not meets(wish.wanted(key), value_of(facts, key.partition(":")[2]))]
    if missed:
        blames = [requirement_blame(wish, record, product, key) for key in missed]
        return {cause.REQUIREMENT, *set.intersection(*blames)}
    if product in record.sold_out:
        return {cause.SOLD_OUT}
    # Feasible, but not among the best that the record lists.
    return {cause.RANKING, *wish.blame(*wish.keys("priority:"))}
