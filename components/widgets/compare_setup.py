"""The form that starts a comparison."""

from __future__ import annotations

from components.widgets.base import Widget


class CompareSetup(Widget):
    """Scenario and players; `submit` asks for a pair or a series.

    It sends {what, env_id, difficulty, seed, one, other, blind, count}.
    """

    frame = "ec-csetup"
    script = "compare_setup.js"
