"""One recorded episode, step by step."""

from __future__ import annotations

from components.widgets.base import Widget


class Timeline(Widget):
    """Stepping happens in the browser: the value holds the whole episode."""

    frame = "ec-timeline"
    attributes = 'tabindex="0" role="region" aria-label="Recorded episode; arrow keys step through it"'
    script = "timeline.js"
