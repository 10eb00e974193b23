"""How a person plays: switches that the browser remembers, and handing the episode over to an agent."""

from __future__ import annotations

from components.widgets.base import Widget


class PlayOptions(Widget):
    """Two switches, and a menu of the agents in the value; `submit` carries {agent, log}."""

    frame = "ec-options"
    script = "play_options.js"
