"""The form that calls tools."""

from __future__ import annotations

from components.widgets.base import Widget


class ToolForm(Widget):
    """Made in the browser from the JSON schemas of the tools in its value."""

    frame = "ec-tools"
    script = "tool_form.js"
