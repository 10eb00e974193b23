"""What the reference agent did from the same seed."""

from __future__ import annotations

from components.widgets.base import Widget


class Aftermath(Widget):
    """While its value is pending, `submit` asks for the rest with {episode, log}."""

    frame = "ec-aftermath"
    script = "aftermath.js"
