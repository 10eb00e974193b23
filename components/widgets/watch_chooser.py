"""The bar that starts a watch."""

from __future__ import annotations

from components.widgets.base import Widget


class WatchChooser(Widget):
    """Task, difficulty, seed and agent; `submit` carries {env_id, difficulty, seed, agent}."""

    frame = "ec-watch-chooser"
    script = "watch_chooser.js"
