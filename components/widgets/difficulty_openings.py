"""What the customer opens with at two difficulties."""

from __future__ import annotations

from components.widgets.base import Widget


class DifficultyOpenings(Widget):
    """It asks the server for openings when it first comes into view, and after each choice."""

    frame = "ec-openings"
    script = "difficulty_openings.js"
