"""Build the Space and launch it: `python app.py`, or a Hugging Face Space with the Gradio SDK."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gradio as gr

from components import api, compare, curriculum, curriculum_runs, events, leaderboard, play, theme, trajectories, watch
from components.agents import choices
from components.leaderboard_board import Board
from components.leaderboard_hub import start_copying
from components.session import Shop

WELCOME = (
    "<header class='ec-title'><h1>EcomRLVE</h1><p>You are the shop assistant: find out what the customer wants, and "
    "let code judge you. AI agents play exactly the same episodes.</p></header>"
)


def store() -> Path:
    """Where finished episodes are kept."""
    return Path(os.environ.get("ECOMRLVE_TRAJECTORIES", "trajectories"))


def build(shop: Shop | None = None, folder: str | None = None) -> gr.Blocks:
    """Make the page.

    Args:
        shop: Where environments come from; by default the engine with its own catalog, loaded in the background.
        folder: Where finished episodes are kept; by default what ECOMRLVE_TRAJECTORIES names, else ``./trajectories``.
    """
    shop = (shop or Shop()).start()
    library = trajectories.Library(folder or str(store()), also=curriculum_runs.run_episodes())
    board = Board(library, shop)

    def keep(record: dict[str, Any]) -> None:
        """Store a finished episode; under a name only with its owner's consent."""
        library.append(board.consented(record))

    with gr.Blocks(title="EcomRLVE", fill_width=True, analytics_enabled=False, delete_cache=(3600, 3600)) as demo:
        # Before any event: events are named after their functions, and the first of a name gets it.
        api.add_endpoints(api.Endpoints(shop, keep))
        gr.HTML(WELCOME, js_on_load=None, apply_default_css=False)
        session = gr.State(None, time_to_live=3600)
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Play", id="play"):
                play_tab = play.build(choices())
            with gr.Tab("Watch", id="watch"):
                watch_tab = watch.build()
            with gr.Tab("Compare", id="compare"):
                compare_tab = compare.build()
            with gr.Tab("Trajectories", id="trajectories") as trajectories_page:
                trajectories_tab = trajectories.build(library)
            with gr.Tab(curriculum.TITLE, id=curriculum.NAME):
                curriculum_tab = curriculum.build()
            with gr.Tab("Leaderboard", id="leaderboard") as leaderboard_page:
                leaderboard_tab = leaderboard.build(board)
        events.wire_play(demo, session, play_tab, shop, keep, leaderboard_tab.nickname, board.name_for)
        watching = events.wire_watch(demo, watch_tab, shop, keep)
        events.wire_compare(demo, session, compare_tab, shop)
        opening = events.wire_trajectories(demo, trajectories_page, trajectories_tab, shop, library)
        events.wire_curriculum(curriculum_tab, shop)
        events.wire_leaderboard(demo, leaderboard_page, leaderboard_tab, board)
        events.wire_between(
            demo, tabs, session, play_tab, watch_tab, watching, trajectories_tab, opening, shop, library, keep
        )
    return demo


def launch(demo: gr.Blocks, **options: Any) -> tuple[Any, str, str]:
    """Serve the page with its look, without server-side rendering and without any request to elsewhere."""
    settings: dict[str, Any] = {"ssr_mode": False, "run_history": False, "footer_links": ["settings"]}
    settings |= {"theme": theme.theme(), "head": theme.head(), "max_file_size": "64mb", "state_session_capacity": 2000}
    settings["mcp_server"] = api.mcp_server()
    return demo.launch(**settings | options)


if __name__ == "__main__":
    start_copying(store())
    launch(build())
