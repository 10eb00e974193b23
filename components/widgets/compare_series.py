"""Two agents over a series of seeds."""

from __future__ import annotations

from components.widgets.base import Widget


class CompareSeries(Widget):
    """Progress, figures and one line per seed; `select` opens a seed ({seed}) or stops the series ({stop})."""

    frame = "ec-cseries"
    script = "compare_series.js"
