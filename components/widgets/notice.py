"""One short message inside a page."""

from __future__ import annotations

from components.widgets.base import Widget


class Notice(Widget):
    """The value is {tone, lines}: tone is good, bad or plain."""

    frame = "ec-notice"
    script = "notice.js"
