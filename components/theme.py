"""Look of the Space: one accent colour, light and dark, fonts that come with Gradio; nothing from the network."""

from __future__ import annotations

import gradio as gr
from gradio.themes.utils import colors

from components.widgets.base import ASSETS

FIRST_STYLES = ("tokens.css", "page.css", "base.css")  # the others are of one tab or widget each
# In this order: the later ones use the earlier.
LIBRARIES = (
    "lib.js",
    "history.js",
    "chooser.js",
    "swatch.js",
    "filters.js",
    "parts.js",
    "answer_form.js",
    "curriculum_charts.js",
)

_ACCENT = colors.Color(
    name="pine",
    c50="#eef7f5",
    c100="#d5ece7",
    c200="#acd9d0",
    c300="#7bc1b5",
    c400="#4aa497",
    c500="#2a877b",
    c600="#176b62",
    c700="#145650",
    c800="#134541",
    c900="#123a37",
    c950="#07211f",
)


def theme() -> gr.themes.Base:
    """The theme: quiet greys, pine green for what can be done next."""
    return gr.themes.Base(
        primary_hue=_ACCENT,
        secondary_hue=_ACCENT,
        neutral_hue=colors.stone,
        spacing_size="sm",
        radius_size="md",
        text_size="md",
        # Only these weights: the SemiBold files that come with Gradio lack letters.
        font=[gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "system-ui", "sans-serif"],
        font_mono=[gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700)), "ui-monospace", "monospace"],
    ).set(
        body_background_fill="#f7f6f3",
        body_background_fill_dark="#141513",
        body_text_color="#21231f",
        body_text_color_dark="#e9e8e3",
        body_text_color_subdued="#5d6059",
        body_text_color_subdued_dark="#a8aaa2",
        block_background_fill="#ffffff",
        block_background_fill_dark="#1d1f1c",
        background_fill_primary="#ffffff",
        background_fill_primary_dark="#1d1f1c",
        background_fill_secondary="#f1f0ec",
        background_fill_secondary_dark="#262824",
        border_color_primary="#dedcd5",
        border_color_primary_dark="#373a35",
        block_border_width="1px",
        block_shadow="none",
        block_label_background_fill="transparent",
        block_label_background_fill_dark="transparent",
        block_label_border_width="0px",
        button_primary_background_fill="#176b62",
        button_primary_background_fill_hover="#145650",
        button_primary_background_fill_dark="#7bc1b5",
        button_primary_background_fill_hover_dark="#acd9d0",
        button_primary_text_color="#ffffff",
        button_primary_text_color_dark="#07211f",
    )


def head() -> str:
    """Styles and shared scripts for the page's head, inline, so that a page is one request fewer and never half."""
    others = sorted(path.name for path in (ASSETS / "css").glob("*.css") if path.name not in FIRST_STYLES)
    css = "\n".join((ASSETS / "css" / name).read_text(encoding="utf-8") for name in (*FIRST_STYLES, *others))
    js = "\n".join((ASSETS / "js" / name).read_text(encoding="utf-8") for name in LIBRARIES)
    return f"<style>\n{css}\n</style>\n<script>\n{js}\n</script>"
