"""What is wrong with what was said of an order (E_STATUS) or of the shop's policies (E_POLICY)."""

from __future__ import annotations

from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.record import Record
from ecomrlve.evaluation.failure_causes.vocabulary import Fault, Mistake, mistake
from ecomrlve.evaluation.failure_causes.wish import Wish
from ecomrlve.tasks.order_reference import normal_date
from ecomrlve.tasks.status import normal_status


def given(wish: Wish, field: str) -> str:
    """A field of the answer as the verifiers compare it."""
    return str((wish.answer or {}).get(field, "")).strip().lower()


def selection_fault(wish: Wish, record: Record, fields: dict[str, str], needed: str) -> Fault:
    """What is wrong with the order or line that the answer names; nothing if it is the right one.

    Args:
        wish: The wish.
        record: The episode.
        fields: Field of the answer → the id that it should hold.
        needed: The id that a tool must have shown.
    """
    named = {given(wish, field) for field in fields}
    if all(given(wish, field) == wanted for field, wanted in fields.items()):
        return set()
    fault = {cause.EMPTY} if named == {""} else {cause.ORDER, *wish.blame(*wish.keys("reference:"))}
    if not record.shown(needed, wish.end):
        fault.add(cause.NOT_FOUND)
    known = {"", *fields.values()}
    if any(identifier not in known and not record.seen(identifier, wish.end) for identifier in named):
        fault.add(cause.MADE_UP)
    return fault


def status_mistakes(wish: Wish, record: Record) -> list[Mistake]:
    """The order, its status, and its arrival where that was asked for."""
    order = wish.goal["order_id"]
    selection = selection_fault(wish, record, {"selected_order_id": order}, order)
    if selection:
        return [mistake(selection)]
    found: list[Mistake] = []
    not_found = set() if status_found(wish, record) else {cause.NOT_FOUND}
    if normal_status(given(wish, "order_status")) != wish.goal["status"]:
        found.append(mistake({cause.STATUS, *not_found}))
    eta = wish.goal["eta"]
    if eta is not None and _day(given(wish, "eta")) != eta:
        # Only tracking tells when an order arrives.
        tracked = record.shown("order_track", wish.end)
        found.append(mistake({cause.DATE, *(not_found if tracked else {cause.NOT_FOUND}), *wish.blame("eta")}))
    return found


def status_found(wish: Wish, record: Record) -> bool:
    """Whether the order was shown before the end."""
    return record.shown(wish.goal["order_id"], wish.end)


def policy_mistakes(wish: Wish, record: Record) -> list[Mistake]:
    """The one answer, and what it was made from."""
    # No choice begins with a digit.
    numeric = str(wish.goal["answer"]).lstrip("$-")[:1].isdigit()
    fault = {cause.EMPTY} if not given(wish, "policy_answer") else {cause.NUMBER if numeric else cause.CHOICE}
    if not policy_found(wish, record):
        fault.add(cause.NOT_FOUND)
    return [mistake(fault | wish.blame(*wish.keys("fact:")))]


def policy_found(wish: Wish, record: Record) -> bool:
    """Whether the page, and the profile and the order where the answer depends on them, were shown before the end."""
    sources = {fact["source"] for fact in wish.goal["facts"]}
    needed = [wish.goal["policy_id"]]
    needed += ["user_get_profile"] if "profile" in sources else []
    needed += [wish.goal["order_id"]] if "order" in sources else []
    return all(record.shown(identifier, wish.end) for identifier in needed)


def _day(text: str) -> str:
    day = normal_date(text)
    return "" if day is None else day.isoformat()
