"""What all wiring shares: quiet events, what a widget sent, and how a visitor is told that something did not work."""

from __future__ import annotations

import html
from typing import Any

import gradio as gr

# Nothing here waits long, so nobody needs a place in a queue or a spinner over what they read. An empty list of
# components that show progress spares the page a deep copy of everything in it whenever an event starts or ends, which
# it would make to tell each output of each event how far that is, though hidden.
QUIET: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "concurrency_limit": None,
    "api_visibility": "private",
}


def data_of(event: gr.EventData) -> dict[str, Any]:
    """What a widget sent along, whatever a stranger may send instead."""
    data = event._data
    return data if isinstance(data, dict) else {}


def warn(error: Exception) -> None:
    """Tell the visitor. A `gr.Error` would cover the conversation, a warning does not.

    The message may quote what somebody put into a link, and a warning is shown as HTML.
    """
    gr.Warning(html.escape(str(error), quote=False), title="That did not work", duration=8)
