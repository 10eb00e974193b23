"""The environments' own figures beside a reward, in words and units for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from components.tables import number, rows, words


def _share(value: Any) -> str:
    return f"{100 * number(value):.0f} %"


def _yes(value: Any) -> str:
    return "yes" if value else "no"


def _money(value: Any) -> str:
    return "none" if value is None else f"${number(value):.2f}"


# Figure → what it is called, and how its value is written. No two environments mean different things by one name.
_NAMES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "precision": ("Share of the list that fits", _share),
    "satisfaction": ("Wishes met, weighed by how nearly", _share),
    "ranking": ("Order: 0 % as if drawn, 100 % the best", _share),
    "n": ("Products on a perfect list", words),
    "hits": ("Products of the list that fit", words),
    "given": ("Products recommended", words),
    "feasible_count": ("Products in the shop that fit", words),
    "f1": ("Agreement with what was wanted (F1)", _share),
    "matched": ("Pieces in the cart that are right", words),
    "in_cart": ("Pieces in the cart", words),
    "required": ("Pieces wanted", words),
    "filled": ("Parts of the project filled", words),
    "parts": ("Parts of the project", words),
    "cost": ("Cost of the bundle", _money),
    "budget": ("Budget that was named", _money),
    "within_budget": ("Within the budget", _yes),
    "tie_kept": ("Parts that must match do", _yes),
    "selected": ("Right order line", _yes),
    "returned": ("Right decision, and nothing else done", _yes),
    "replacement": ("Worth of the replacement, of the best", _share),
    "order": ("Right order", _yes),
    "status": ("Right status", _yes),
    "eta": ("Right arrival, where one was asked for", _yes),
    "closeness": ("How near the number came", _share),
    "exact": ("Exactly right", _yes),
    "right": ("Wishes fulfilled", words),
    "turns": ("Turns taken", words),
    "user_turns": ("Of them caused by the customer", words),
    "strays": ("Cart lines and returns nobody wished for", words),
}


def figures(parts: Mapping[str, Any]) -> list[list[str]]:
    """Name and value of each figure; what is a table of its own elsewhere is none.

    Args:
        parts: A reward's, maybe from an uploaded file: what is not known keeps its name.
    """
    shown = []
    for name, value in parts.items():
        if rows(value):
            continue
        label, write = _NAMES.get(name, (name.replace("_", " "), words))
        shown.append([label, write(value)])
    return shown
