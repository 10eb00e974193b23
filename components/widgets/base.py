"""The base of all widgets: a frame that never changes, and a script that fills it.

Gradio puts values into a template with Handlebars and then evaluates the outcome as a JavaScript template literal. So
`{{title}}` escapes ``<`` but runs whatever a title holds between ``${`` and ``}``. No value of ours therefore goes
through a template: the template is a constant, and the script builds the contents from text nodes.
"""

from __future__ import annotations

from abc import ABCMeta
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.component_meta import ComponentMeta, updateable
from gradio.data_classes import JsonData

ASSETS = Path(__file__).resolve().parents[2] / "assets"


class _WithoutStub(ComponentMeta):
    """Gradio writes a .pyi file beside the source of every component class; this leaves the source tree alone."""

    def __new__(mcs, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> type:
        if "__init__" in attrs:
            attrs["__init__"] = updateable(attrs["__init__"])
        return ABCMeta.__new__(mcs, name, bases, attrs)


@cache
def _script(name: str) -> str:
    return (ASSETS / "js" / name).read_text(encoding="utf-8")


class Widget(gr.HTML, metaclass=_WithoutStub):
    """A `gr.HTML` whose contents a script from `assets/js` draws from the value.

    Attributes:
        frame: CSS class of the root element; the script looks it up by this.
        script: File name in `assets/js`.
        attributes: More attributes of the root element, as HTML.
    """

    frame = ""
    script = ""
    attributes = ""

    def __init__(self, value: Any = None, **settings: Any):
        super().__init__(
            value,
            html_template=f'<div class="ec {self.frame}" {self.attributes}></div>',
            js_on_load=_script(self.script),
            apply_default_css=False,
            **settings,
        )

    def __getattr__(self, name: str) -> Any:
        """Say that an attribute is not there, at once.

        Gradio would search the whole script for the name, to make an event of it, and does so a thousand times for each
        visitor; a script that quotes a name which Gradio asks for would put that event into the page's settings, and
        with it this component and all the page. The events that scripts trigger here are ones that Gradio knows.
        """
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def postprocess(self, value: Any) -> Any:
        """Hand a value through as the data that it is.

        Gradio takes any object with a path in it, as deep as it may lie, for a file: it would copy that file and serve
        it. Values of ours hold what visitors sent, and name no files.
        """
        return JsonData.model_construct(root=value) if isinstance(value, dict | list) else value

    def api_info(self) -> dict[str, Any]:
        """The value is a JSON object."""
        return {"type": "object"}
