"""Where files may be dropped: anywhere on the tab."""

from __future__ import annotations

from components.widgets.base import Widget


class FileDrop(Widget):
    """Hands files that are dropped on its tab to an upload button; the value is {most, input}: bytes, its selector."""

    frame = "ec-drop"
    script = "file_drop.js"
