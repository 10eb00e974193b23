"""The guide of the first episode."""

from __future__ import annotations

from components.widgets.base import Widget


class Guide(Widget):
    """Says what to do next and outlines the place for it; what a visitor presses goes to the other widgets."""

    frame = "ec-guide"
    attributes = 'role="region" aria-label="Guide"'
    script = "guide.js"
