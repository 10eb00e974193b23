"""Two episodes of one scenario, side by side."""

from __future__ import annotations

from components.widgets.base import Widget


class ComparePair(Widget):
    """Stepping happens in the browser; `select` hands in a guess ({guess}) or stops what is being played ({stop})."""

    frame = "ec-cpair"
    attributes = 'tabindex="0" role="region" aria-label="Two players side by side; arrow keys step through the turns"'
    script = "compare_pair.js"
