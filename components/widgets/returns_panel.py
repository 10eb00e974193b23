"""What goes back."""

from __future__ import annotations

from components.widgets.base import Widget


class ReturnsPanel(Widget):
    """Returns and exchanges that were made, and what was found out about lines."""

    frame = "ec-returns"
    script = "returns_panel.js"
