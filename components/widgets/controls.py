"""The bar that starts episodes."""

from __future__ import annotations

from components.widgets.base import Widget


class Controls(Widget):
    """Environment, difficulty, seed; `submit` asks for {env_id, difficulty, seed}, or for the {guided} episode."""

    frame = "ec-controls"
    script = "controls.js"
