"""Pure functions: episode → the panels beside the conversation, made of what tools returned and of nothing else.

A panel is hidden where the environment does not offer the tools that fill it. What a later call returned is put over
what an earlier one did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.session import Episode, Turn
from components.views import error_of, variant_label

ORDER_TOOLS = frozenset(("order_list", "order_get", "order_track"))
RETURN_TOOLS = frozenset(("return_check_eligibility", "return_initiate", "return_exchange", "return_cancel"))
PAGE_TOOLS = frozenset(("policy_search", "policy_get"))
PROFILE_TOOL = "user_get_profile"
# How a status is colored: it went well, it is on its way, something is wrong.
STATUS_TONES = {"delivered": "good", "delayed": "bad", "cancelled": "bad", "returned": "warn"}
# What order_get and order_list tell of an order besides its id and lines, as the card writes it.
_FACTS = ("payment", "channel")
_DATES = ("placed", "promised", "eta", "delivered")


def offers(episode: Episode | None, names: frozenset[str]) -> bool:
    """Whether the environment has any of these tools; before the first episode it has none."""
    return episode is not None and any(tool["function"]["name"] in names for tool in episode.observation.tools)


def takes(episode: Episode | None, argument: str) -> bool:
    """Whether any tool of the environment has an argument of this name, so that such an id is of use."""
    tools = episode.observation.tools if episode is not None else ()
    return any(argument in tool["function"]["parameters"].get("properties", {}) for tool in tools)


def asks_for(episode: Episode | None, field: str) -> bool:
    """Whether the answer has this field."""
    return episode is not None and field in episode.observation.answer_fields


def _results(episode: Episode | None, names: frozenset[str]) -> Iterator[tuple[Turn, Mapping[str, Any]]]:
    """Every call of these tools that was not refused, oldest first, with the turn it was made in."""
    for turn in episode.turns if episode is not None else ():
        for call in turn.calls:
            if call["name"] in names and isinstance(call["result"], Mapping) and not error_of(call["result"]):
                yield turn, call


def _text(value: Any) -> str:
    return "" if value is None else str(value).replace("_", " ")


def orders(episode: Episode | None) -> dict[str, Any]:
    """Value of the orders panel: the orders that were shown, those of the newest turn first."""
    found: dict[str, dict[str, Any]] = {}
    for position, (turn, call) in enumerate(_results(episode, ORDER_TOOLS)):
        result = call["result"]
        listed = result["orders"] if isinstance(result.get("orders"), list) else [result]
        for place, entry in enumerate(listed):
            if not isinstance(entry, Mapping) or not isinstance(entry.get("order_id"), str):
                continue
            card = found.setdefault(entry["order_id"], _blank_order(entry["order_id"]))
            _merge_order(card, entry)
            card["sorting"] = (-turn.number, position, place)
            card["source"] = f"{call['name'].removeprefix('order_')}, turn {turn.number}"
    cards = sorted(found.values(), key=lambda card: card["sorting"])
    for card in cards:
        del card["sorting"]
    return {
        "episode": episode.key if episode is not None else "",
        "hidden": not offers(episode, ORDER_TOOLS),
        "orders": cards,
        "usable": [name for name in ("order_id", "line_id", "product_id") if takes(episode, name)],
        "selects": asks_for(episode, "selected_order_id"),
        "selects_lines": asks_for(episode, "selected_line_id"),
    }


def _blank_order(order_id: str) -> dict[str, Any]:
    return {"order_id": order_id, "status": "", "tone": "", "total": None, "facts": [], "dates": [], "lines": [],
            "events": [], "known": {}}  # fmt: skip


def _merge_order(card: dict[str, Any], entry: Mapping[str, Any]) -> None:
    known: dict[str, Any] = card["known"]
    known.update({name: entry[name] for name in (*_DATES, *_FACTS) if entry.get(name) is not None})
    if entry.get("status") is not None:
        card["status"] = _text(entry["status"])
        card["tone"] = STATUS_TONES.get(str(entry["status"]), "way")
    if entry.get("total") is not None:
        card["total"] = entry["total"]
    card["dates"] = [[name, str(known[name])] for name in _DATES if name in known]
    card["facts"] = [_text(known[name]) for name in _FACTS if name in known]
    if isinstance(entry.get("lines"), list):
        card["lines"] = [_line(line) for line in entry["lines"] if isinstance(line, Mapping)]
    if isinstance(entry.get("events"), list):
        card["events"] = [
            {"date": _text(event.get("date")), "text": _text(event.get("text") or event.get("status"))}
            for event in entry["events"]
            if isinstance(event, Mapping)
        ]


def _line(line: Mapping[str, Any]) -> dict[str, Any]:
    attributes = line.get("attributes") if isinstance(line.get("attributes"), Mapping) else {}
    facts = {"brand": line.get("brand"), "department": line.get("department"), **(attributes or {})}
    return {
        "line_id": line.get("line_id"),
        "product_id": line.get("product_id"),
        "title": _text(line.get("title")),
        "variant": variant_label(line.get("variant")),
        "facts": {name: value for name, value in facts.items() if value is not None},
        "qty": line.get("qty"),
        "price": line.get("price"),
        "returned": bool(line.get("returned")),
    }


def returns(episode: Episode | None) -> dict[str, Any]:
    """Value of the returns panel: returns and exchanges that were made, and what was found out about lines."""
    made: dict[str, dict[str, Any]] = {}
    checks: dict[tuple[Any, Any], dict[str, Any]] = {}
    for turn, call in _results(episode, RETURN_TOOLS):
        result = call["result"]
        if call["name"] == "return_check_eligibility":
            key = (result.get("order_id"), result.get("line_id"))
            checks.pop(key, None)
            checks[key] = _check(result, turn.number)
        elif isinstance(result.get("return_id"), str):
            before = made.get(result["return_id"], {})
            made[result["return_id"]] = before | _transaction(result, turn.number)
    return {
        "hidden": not offers(episode, RETURN_TOOLS),
        "made": list(made.values()),
        "checks": list(reversed(checks.values())),
        "titles": _line_titles(episode),
    }


def _transaction(result: Mapping[str, Any], turn: int) -> dict[str, Any]:
    cancelled = bool(result.get("cancelled"))
    new = " · ".join(str(result[name]) for name in ("new_product_id", "new_variant_id") if result.get(name))
    told = {
        "return_id": result["return_id"],
        "kind": _text(result.get("kind")),
        "order_id": _text(result.get("order_id")),
        "line_id": _text(result.get("line_id")),
        "reason": _text(result.get("reason")),
        "method": _text(result.get("method")),
        "new": new,
        "cancelled": cancelled,
        "turn": turn,
    }
    # A cancellation does not repeat what was paid back.
    return told if cancelled else told | {"refund": result.get("refund")}


def _check(result: Mapping[str, Any], turn: int) -> dict[str, Any]:
    reasons = result.get("reasons") if isinstance(result.get("reasons"), list) else []
    return {
        "order_id": _text(result.get("order_id")),
        "line_id": _text(result.get("line_id")),
        "returnable": bool(result.get("returnable")),
        "already": bool(result.get("already_returned")),
        "days": result.get("days_since_delivery"),
        "reasons": [_text(reason) for reason in reasons or ()],
        "turn": turn,
    }


def _line_titles(episode: Episode | None) -> dict[str, str]:
    """Titles of the order lines that were shown, by line id."""
    lines = (line for order in orders(episode)["orders"] for line in order["lines"])
    return {line["line_id"]: line["title"] for line in lines if isinstance(line["line_id"], str)}


def help_pages(episode: Episode | None) -> dict[str, Any]:
    """Value of the help pages: those that were read, the newest turn's first."""
    found: dict[str, dict[str, Any]] = {}
    for position, (turn, call) in enumerate(_results(episode, PAGE_TOOLS)):
        result = call["result"]
        listed = result["policies"] if isinstance(result.get("policies"), list) else [result]
        for place, page in enumerate(listed):
            if not isinstance(page, Mapping) or not isinstance(page.get("policy_id"), str):
                continue
            title = _text(page.get("title"))
            found[page["policy_id"]] = {
                "policy_id": page["policy_id"],
                "title": title,
                "parts": page_parts(str(page.get("text") or ""), title),
                "source": f"{call['name'].removeprefix('policy_')}, turn {turn.number}",
                "sorting": (-turn.number, position, place),
            }
    pages = sorted(found.values(), key=lambda page: page["sorting"])
    for page in pages:
        del page["sorting"]
    return {
        "episode": episode.key if episode is not None else "",
        "hidden": not offers(episode, PAGE_TOOLS),
        "usable": takes(episode, "policy_id"),
        "pages": pages,
    }


def page_parts(text: str, title: str = "") -> list[dict[str, str]]:
    """A help page's lines, each with what it is: a heading, a rule of a list with its mark, or a paragraph.

    Args:
        text: The page as the tool returned it. Nothing of it is left out but a first line that repeats the title.
        title: The title that stands above.
    """
    lines = text.split("\n")
    if lines and lines[0].strip() == title.strip():
        lines = lines[1:]
    parts: list[dict[str, str]] = []
    for number, line in enumerate(lines):
        line = line.strip()
        if not line:
            continue
        mark, _, rest = line.partition(" ")
        listed = mark == "-" or (mark[:-1].isdigit() and mark.endswith((".", ")")))
        if listed and rest:
            parts.append({"kind": "rule", "mark": "•" if mark == "-" else mark, "text": rest})
            continue
        # A short line without a full stop that follows a gap and leads to another line.
        leads = number + 1 < len(lines) and bool(lines[number + 1].strip())
        heading = leads and line[0].isalpha() and len(line) < 60 and not line.endswith((".", ":", "?", "!"))
        parts.append({"kind": "heading" if heading else "paragraph", "mark": "", "text": line})
    return parts


def profile(episode: Episode | None) -> dict[str, Any]:
    """Value of the profile panel: the account as the last call showed it."""
    shown: Mapping[str, Any] = {}
    for _, call in _results(episode, frozenset((PROFILE_TOOL,))):
        shown = call["result"]
    return {
        "hidden": not offers(episode, frozenset((PROFILE_TOOL,))),
        "facts": [[name.replace("_", " "), _text(value)] for name, value in shown.items()],
    }
