"""The list of stored episodes."""

from __future__ import annotations

from components.widgets.base import Widget


class EpisodeTable(Widget):
    """A table that filters and sorts in the browser; `select` carries {key}."""

    frame = "ec-episodes"
    script = "episode_table.js"
