"""Wiring of the Trajectories tab."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from components import trajectories
from components.events.shared import QUIET, data_of, warn
from components.running_reward import RunningRewards
from components.session import SessionError, Shop
from components.trajectories import PLAIN, Inspection, Library, TrajectoriesTab, Uploads
from components.uploads import of_session

# A widget's value is only how these get to the server.
_READ_ADDRESS = "() => [window.ecom.query()]"
_WHETHER_DRAWN = "() => [null, Boolean(document.querySelector('.ec-episodes[data-count]'))]"
GONE = "That episode is no longer here. Uploaded ones are forgotten an hour after your last click."


@dataclass(frozen=True)
class Opening:
    """How other tabs open an episode here.

    Attributes:
        show: Given the value of the tab's state, the request, and an episode's key (as `Library.find` gives it), values
            for `outputs`; the step to begin at may follow.
        outputs: What it changes: the tab's state, which tab is shown, and the inspector.
    """

    show: Callable[..., list[Any]]
    outputs: list[Any]


def wire_trajectories(demo: gr.Blocks, page: gr.Tab, tab: TrajectoriesTab, shop: Shop, library: Library) -> Opening:
    """Connect the Trajectories tab."""
    rewards = RunningRewards()
    inspector = [tab.timeline, tab.known, tab.verdict]

    def listed(uploads: Uploads) -> Any:
        """The table, where the page does not show it yet."""
        value = trajectories.table(library, uploads)
        return gr.skip() if value is None else value

    def refresh(uploads: Uploads | None, request: gr.Request, drawn: Any = True) -> list[Any]:
        """What is new in the list; a page that has none yet asks for it as soon as it can draw one."""
        if not drawn:
            return [uploads or gr.skip(), gr.skip(), gr.skip()]
        uploads = uploads or of_session(request.session_hash)
        value = listed(uploads)
        return [uploads, value, trajectories.problems(library)]

    def upload(uploads: Uploads | None, request: gr.Request, files: list[str] | None) -> list[Any]:
        uploads = uploads or of_session(request.session_hash)
        notice = uploads.read([Path(file) for file in files]) if files else PLAIN
        return [uploads, listed(uploads), notice]

    def forget(uploads: Uploads | None, request: gr.Request) -> list[Any]:
        uploads = uploads or of_session(request.session_hash)
        uploads.forget()
        notice = {"tone": "plain", "lines": ["Your uploaded episodes are forgotten."]}
        return [uploads, listed(uploads), notice]

    def shown(uploads: Uploads, key: Any, start: int = 0) -> Inspection | None:
        """The episode with this key; the visitor is told where there is none to be seen."""
        line = trajectories.line_of(library, uploads, key)
        if line is None:
            warn(SessionError(GONE))
            return None
        try:
            return trajectories.inspect(line, str(key), start=start)
        except RecursionError:
            warn(SessionError("This record is nested too deeply to be shown."))
            return None

    def opened(uploads: Uploads, key: Any, start: int = 0) -> list[Any]:
        """Values of the inspector."""
        found = shown(uploads, key, start)
        return [gr.skip()] * len(inspector) if found is None else [found.timeline, found.known, PLAIN]

    def pick(uploads: Uploads | None, request: gr.Request, event: gr.EventData) -> list[Any]:
        uploads = uploads or of_session(request.session_hash)
        return [uploads, *opened(uploads, data_of(event).get("key"))]

    def show(uploads: Uploads | None, request: gr.Request, key: Any, start: int = 0) -> list[Any]:
        """Turn to this tab and open an episode."""
        uploads = uploads or of_session(request.session_hash)
        return [uploads, gr.Tabs(selected=page.id), *opened(uploads, key, start)]

    def arrive(query: Any) -> Any:
        """A page was opened: show this tab, if the address names it."""
        named = isinstance(query, dict) and query.get("tab") == page.id
        return gr.Tabs(selected=page.id) if named else gr.skip()

    def follow(uploads: Uploads | None, request: gr.Request, event: gr.EventData) -> list[Any]:
        """Show the episode that the address names."""
        uploads = uploads or of_session(request.session_hash)
        key, step = trajectories.linked(library, uploads, data_of(event))
        if key is None:
            warn(SessionError("The episode that the link names is not here: too old, deleted, or somebody's upload."))
        return [uploads, *([gr.skip()] * len(inspector) if key is None else opened(uploads, key, step))]

    async def judge(uploads: Uploads | None, request: gr.Request, event: gr.EventData) -> list[Any]:
        """What an episode was worth at each step; the page asks for it when it shows one."""
        uploads = uploads or of_session(request.session_hash)
        while not shop.loaded.is_set():
            await asyncio.sleep(0.1)
        return [uploads, await asyncio.to_thread(judged, uploads, data_of(event).get("key"))]

    def judged(uploads: Uploads, key: Any) -> dict[str, Any]:
        line = trajectories.line_of(library, uploads, key)
        if line is None or shop.problem:
            return {"key": key, "problem": shop.problem or GONE}
        record = trajectories.find(library, uploads, key) or {}
        return {**rewards.get(trajectories.reward_key(line), record, shop.engine), "key": key}

    def verify(uploads: Uploads | None, request: gr.Request, event: gr.EventData) -> list[Any]:
        uploads = uploads or of_session(request.session_hash)
        found = trajectories.find(library, uploads, data_of(event).get("key"))
        try:
            shop.wait()
        except SessionError as error:
            return [uploads, {"tone": "bad", "lines": [str(error)]}]
        return [uploads, trajectories.verify(found, shop.engine)]

    listing = [tab.state, tab.table, tab.notice]
    page.select(refresh, [tab.state, tab.drop], listing, js=_WHETHER_DRAWN, **QUIET)
    tab.table.input(refresh, tab.state, listing, **QUIET)
    tab.upload.upload(upload, [tab.state, tab.upload], listing, **QUIET)
    tab.table.clear(forget, tab.state, listing, **QUIET)
    # Who clicks on another row does not want to wait for the first.
    tab.table.select(pick, tab.state, [tab.state, *inspector], trigger_mode="multiple", **QUIET)
    demo.load(arrive, tab.drop, page.parent, js=_READ_ADDRESS, **QUIET)
    tab.timeline.input(follow, tab.state, [tab.state, *inspector], **QUIET)
    tab.reward.submit(judge, tab.state, [tab.state, tab.reward], trigger_mode="multiple", **QUIET)
    tab.timeline.select(verify, tab.state, [tab.state, tab.verdict], **QUIET)
    return Opening(show, [tab.state, page.parent, *inspector])
