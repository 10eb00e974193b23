"""Evaluation runs that visitors submitted."""

from __future__ import annotations

from components.widgets.base import Widget


class LeaderboardRuns(Widget):
    """Draws {runs, mine}."""

    frame = "ec-board-runs"
    script = "leaderboard_runs.js"
