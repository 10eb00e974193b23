"""The conversation that is watched, with what makes it go on."""

from __future__ import annotations

from components.widgets.base import Widget


class WatchTalk(Widget):
    """Asks for the next turn (`tick`), pauses, stops, keeps (`apply`), and lets the visitor take over (`select`)."""

    frame = "ec-watch-talk"
    script = "watch_talk.js"
