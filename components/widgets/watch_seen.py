"""What the tools have shown to the agent."""

from __future__ import annotations

from components.widgets.base import Widget


class WatchSeen(Widget):
    """Products, orders, returns and help pages, in few words each."""

    frame = "ec-watch-seen"
    script = "watch_seen.js"
