"""Where the episode stands."""

from __future__ import annotations

from components.widgets.base import Widget


class Meters(Widget):
    """Turn, budgets, date; `data-version` in the page counts what happened."""

    frame = "ec-meters"
    script = "meters.js"
