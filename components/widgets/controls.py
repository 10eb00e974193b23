"""The bar that starts episodes."""

from __future__ import annotations

from components.widgets.base import Widget


class Controls(Widget):
    """Environment, difficulty, seed; `submit` asks for an episode with {env_id, difficulty, seed}."""

    frame = "ec-controls"
    script = "controls.js"
