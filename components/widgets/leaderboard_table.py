"""The board itself."""

from __future__ import annotations

from components.widgets.base import Widget


class LeaderboardTable(Widget):
    """Draws {ranked, unranked, …}; `select` carries {env, d, kind, chosen}, also while the server is at work."""

    frame = "ec-board"
    script = "leaderboard_table.js"
