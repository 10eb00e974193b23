"""Wiring of the Difficulty & curriculum tab. Nothing in it belongs to one visitor, so that it needs no session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import gradio as gr

from components import curriculum_axes, curriculum_runs
from components.curriculum import CurriculumTab
from components.events.shared import QUIET, data_of
from components.session import Shop


def wire_curriculum(tab: CurriculumTab, shop: Shop) -> None:
    """Connect the tab."""

    async def compare(event: gr.EventData) -> Any:
        shop.start()
        while not shop.loaded.is_set():  # without holding one of the threads that serve visitors
            await asyncio.sleep(0.05)
        return await asyncio.to_thread(curriculum_axes.comparison, shop, data_of(event))

    def learn(event: gr.EventData) -> Any:
        return curriculum_runs.learning(data_of(event))

    def own_run(event: gr.EventData) -> Any:
        return curriculum_runs.server_run() | {"by_itself": data_of(event).get("by_itself") is True}

    def upload(file: str | None) -> Any:
        return curriculum_runs.read_run(Path(file), Path(file).name) if file else gr.skip()

    # "multiple", since Gradio drops what is asked before it has taken note of the last answer; the widgets wait for it.
    tab.openings.submit(compare, None, tab.openings, trigger_mode="multiple", **QUIET)
    tab.learning.submit(learn, None, tab.learning, trigger_mode="multiple", **QUIET)
    tab.run.submit(own_run, None, tab.run, **QUIET)
    tab.upload.upload(upload, tab.upload, tab.run, **QUIET)
