"""Pure functions: a watched episode → what the Watch tab shows of it. Nothing here knows more than the agent does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from components import panels, views
from components.session import ENVIRONMENTS, Episode, Turn
from components.tables import words
from components.views import MOST_CHARACTERS, error_of
from ecomrlve.errors import InvalidActionError
from ecomrlve.protocol import parse_action

# The newest of each kind; the conversation has all of them.
MOST_PRODUCTS, MOST_ORDERS = 12, 8


def turn_view(turn: Turn, player: str, action: Any, titles: Mapping[str, str]) -> dict[str, Any]:
    """One turn of the conversation.

    Args:
        turn: What happened in it.
        player: Who took it.
        action: What the player put out.
        titles: Titles of the products that were shown, by id.
    """
    return {
        "number": turn.number,
        "player": player,
        "calls": [_call(call) for call in turn.calls],
        "message": turn.message,
        "readable": _readable(action),
        "answer": None if turn.answer is None else _answer(turn.answer, titles),
        "customer": turn.customer,
        "action": action,
    }


def _readable(action: Any) -> bool:
    try:
        parse_action(action)
    except InvalidActionError:
        return False
    return True


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    result = call["result"]
    text = json.dumps(result, indent=1, ensure_ascii=False)
    if len(text) > MOST_CHARACTERS:
        result = text[:MOST_CHARACTERS] + f"\n… {len(text) - MOST_CHARACTERS} more characters"
    shown = {"name": call["name"], "args": call["args"], "result": result, "ms": round(call["ms"], 1)}
    return {**shown, "error": error_of(call["result"])}


def _answer(answer: Mapping[str, Any], titles: Mapping[str, str]) -> list[list[Any]]:
    """The fields of an answer with their values, those of a list one by one."""
    found = []
    for name, value in answer.items():
        entries = value if isinstance(value, list) else [value]
        texts = [words(entry) for entry in entries]
        found.append(
            [name.replace("_", " "), [f"{titles[text]} ({text})" if text in titles else text for text in texts]]
        )
    return found


def titles(episode: Episode) -> dict[str, str]:
    """Titles of the products that were shown, by id."""
    return {card["product_id"]: card["title"] for card in views.cards(episode)["cards"]}


def seen(episode: Episode | None) -> dict[str, Any]:
    """Value of the panel of what the tools have shown: products, orders, returns and help pages, the newest first."""
    return {
        "episode": episode is not None,
        "products": _products(episode),
        "orders": _orders(episode),
        "returns": _returns(episode),
        "pages": _pages(episode),
    }


def _products(episode: Episode | None) -> dict[str, Any] | None:
    found = views.cards(episode)
    if episode is None or found["hidden"]:
        return None
    kept = ("product_id", "title", "type", "category", "color", "price", "rating", "in_stock", "source")
    rows = [{name: card[name] for name in kept} for card in found["cards"][:MOST_PRODUCTS]]
    return {"count": len(found["cards"]), "rows": rows}


def _orders(episode: Episode | None) -> dict[str, Any] | None:
    found = panels.orders(episode)
    if found["hidden"]:
        return None
    rows = [
        {
            "order_id": order["order_id"],
            "status": order["status"],
            "tone": order["tone"],
            "total": order["total"],
            "dates": order["dates"],
            "lines": [f"{words(line['qty'])} × {line['title']}" for line in order["lines"]],
            "source": order["source"],
        }
        for order in found["orders"][:MOST_ORDERS]
    ]
    return {"count": len(found["orders"]), "rows": rows}


def _returns(episode: Episode | None) -> list[dict[str, Any]] | None:
    """Each return, exchange or look at whether a line may go back, in one line."""
    found = panels.returns(episode)
    if found["hidden"]:
        return None
    titles_of = found["titles"]
    rows = []
    for one in found["made"]:
        state = ["cancelled", "warn"] if one["cancelled"] else [one["kind"] or "return", "good"]
        rows.append(_line(one, titles_of, state, [one["reason"], one["method"], one["new"] and f"for {one['new']}"]))
    for one in found["checks"]:
        state = ["may go back", "good"] if one["returnable"] else ["may not go back", "bad"]
        rows.append(_line(one, titles_of, state, one["reasons"]))
    return rows


def _line(one: Mapping[str, Any], named: Mapping[str, str], state: list[str], details: list[Any]) -> dict[str, Any]:
    line = one["line_id"]
    about = ", ".join(str(detail) for detail in details if detail)
    return {"title": named.get(line, line), "state": state, "about": about, "source": f"turn {one['turn']}"}


def _pages(episode: Episode | None) -> list[dict[str, str]] | None:
    found = panels.help_pages(episode)
    if found["hidden"]:
        return None
    return [{"title": page["title"], "source": page["source"]} for page in found["pages"]]


def chooser(chosen: Mapping[str, Any], named: list[Any]) -> dict[str, Any]:
    """Value of the bar that starts a watch.

    Args:
        chosen: ``env_id``, ``difficulty``, ``seed`` and ``agent``.
        named: The agents to choose from.
    """
    environments = [{"id": name, "label": label} for name, label in ENVIRONMENTS.items()]
    listed = [{"id": choice.name, "label": choice.label} for choice in named]
    # As text, because a page cannot hold the digits of a large number.
    return {**chosen, "seed": str(chosen["seed"]), "environments": environments, "agents": listed}
