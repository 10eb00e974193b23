"""The last calls of the episode."""

from __future__ import annotations

from components.widgets.base import Widget


class RecentCalls(Widget):
    """Puts a call into the tool form again, or makes it again; it hears of them from the desk."""

    frame = "ec-recent"
    script = "recent_calls.js"
