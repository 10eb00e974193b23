"""The curriculum of a real training run."""

from __future__ import annotations

from components.widgets.base import Widget


class CurriculumRun(Widget):
    """It asks for the server's run when it first comes into view."""

    frame = "ec-runlog"
    script = "curriculum_run.js"
