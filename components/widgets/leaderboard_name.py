"""The visitor's own name on the board."""

from __future__ import annotations

from components.widgets.base import Widget


class LeaderboardName(Widget):
    """Draws {status, name, …} and keeps name and key in the browser; `submit` carries {do, name, key, agreed}."""

    frame = "ec-board-name"
    script = "leaderboard_name.js"
