"""The shop's help pages."""

from __future__ import annotations

from components.widgets.base import Widget


class HelpPages(Widget):
    """Pages that the policy tools returned, as text."""

    frame = "ec-pages"
    script = "help_pages.js"
