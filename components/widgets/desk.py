"""The agent's desk, where a turn is put together."""

from __future__ import annotations

from components.widgets.base import Widget


class Desk(Widget):
    """Message, calls, answer, raw action; `submit` carries {version, action, log, seen}."""

    frame = "ec-desk"
    script = "desk.js"
