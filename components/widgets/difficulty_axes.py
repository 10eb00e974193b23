"""The twelve axes over all difficulties."""

from __future__ import annotations

from components.widgets.base import Widget


class DifficultyAxes(Widget):
    """Moving the slider is the browser's own affair; d in the page's address sets it first."""

    frame = "ec-axes"
    script = "difficulty_axes.js"
