"""Success by difficulty of the players that were picked in the table."""

from __future__ import annotations

from components.widgets.base import Widget


class LeaderboardChart(Widget):
    """Draws {env, lines}."""

    frame = "ec-board-chart"
    script = "leaderboard_chart.js"
