"""What was known at a step of a recorded episode."""

from __future__ import annotations

from components.widgets.base import Widget


class KnownPanel(Widget):
    """Follows the steps of the timeline; the value holds what was known by turn, as JSON text."""

    frame = "ec-known"
    attributes = 'role="region" aria-label="What was known by this step" hidden'
    script = "known_panel.js"
