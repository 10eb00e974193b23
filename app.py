"""Build the Space and launch it: `python app.py`, or a Hugging Face Space with the Gradio SDK."""

from __future__ import annotations

import os
from typing import Any

import gradio as gr

from components import events, play, theme, trajectories
from components.session import Shop

WELCOME = (
    "<header class='ec-title'><h1>EcomRLVE</h1><p>You are the shop assistant: find out what the customer wants, use "
    "the shop's tools, and let code check how well you did. AI agents play exactly the same episodes.</p></header>"
)


def build(shop: Shop | None = None, folder: str | None = None) -> gr.Blocks:
    """Make the page.

    Args:
        shop: Where environments come from; by default the engine with its own catalog, loaded in the background.
        folder: Where finished episodes are kept; by default what ECOMRLVE_TRAJECTORIES names, else ``./trajectories``.
    """
    shop = (shop or Shop()).start()
    library = trajectories.Library(folder or os.environ.get("ECOMRLVE_TRAJECTORIES", "trajectories"))
    with gr.Blocks(title="EcomRLVE", fill_width=True, analytics_enabled=False, delete_cache=(3600, 3600)) as demo:
        gr.HTML(WELCOME, js_on_load=None, apply_default_css=False)
        session = gr.State(None, time_to_live=3600)
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("Play", id="play"):
                play_tab = play.build()
            with gr.Tab("Trajectories", id="trajectories") as page:
                trajectories_tab = trajectories.build(library)
        events.wire_play(demo, session, play_tab, shop, library)
        events.wire_trajectories(demo, page, trajectories_tab, shop, library)
    return demo


def launch(demo: gr.Blocks, **options: Any) -> tuple[Any, str, str]:
    """Serve the page with its look, without server-side rendering and without any request to elsewhere."""
    settings: dict[str, Any] = {"ssr_mode": False, "run_history": False, "footer_links": ["settings"]}
    settings |= {"theme": theme.theme(), "head": theme.head(), "max_file_size": "64mb", "state_session_capacity": 2000}
    return demo.launch(**settings | options)


if __name__ == "__main__":
    launch(build())
