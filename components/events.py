"""All wiring of the Space: which event calls what, and what it changes.

Every handler returns the session, because a state's time to live counts from when it was last an output. A session that
is gone (its time was over, or the server was started anew) is rebuilt from the log that the page sends along.
"""

from __future__ import annotations

import asyncio
import html
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import gradio as gr

from components import play, trajectories
from components.play import PlayTab
from components.session import ENVIRONMENTS, Session, SessionError, Shop, whole
from components.trajectories import Library, TrajectoriesTab, Uploads
from ecomrlve.errors import EcomrlveError

# Nothing here waits long, so nobody needs a place in a queue or a spinner over what they read.
QUIET: dict[str, Any] = {"show_progress": "hidden", "concurrency_limit": None, "api_visibility": "private"}
HARDEST = 12
_READ_PAGE = "() => [{log: window.ecom.readLog(), query: window.ecom.query()}]"


def _data(event: gr.EventData) -> dict[str, Any]:
    """What a widget sent along, whatever a stranger may send instead."""
    data = event._data
    return data if isinstance(data, dict) else {}


def warn(error: Exception) -> None:
    """Tell the visitor. A `gr.Error` would cover the conversation, a warning does not.

    The message may quote what somebody put into a link, and a warning is shown as HTML.
    """
    gr.Warning(html.escape(str(error), quote=False), title="That did not work", duration=8)


def wire_play(demo: gr.Blocks, state: gr.State, tab: PlayTab, shop: Shop, library: Library) -> None:
    """Connect the Play tab."""
    outputs = [state, *tab.outputs()]

    def fresh_session() -> Session:
        return Session(shop, keep=library.append)

    def start(session: Session | None, env_id: Any, difficulty: Any, seed: Any) -> list[Any]:
        session = session or fresh_session()
        try:
            session.start(env_id, difficulty, seed)
        except EcomrlveError as error:
            warn(error)
            return [session, *play.unchanged(session)]
        return [session, *play.show(session)]

    async def boot(page: Any) -> AsyncIterator[list[Any]]:
        """A page was opened or reloaded: wait for the shop, then bring its episode back or start the linked one."""
        page = page if isinstance(page, dict) else {}
        session = fresh_session()
        began = told = time.monotonic()
        shop.start()
        while not shop.loaded.is_set():
            # Most starts take seconds; where vectors have to be computed first, a sign of life every second.
            if time.monotonic() >= told:
                yield [session, *play.waiting(play.loading(time.monotonic() - began))]
                told += 1
            await asyncio.sleep(0.05)
        if shop.problem:
            yield [session, *play.waiting(shop.problem, failed=True)]
            return
        yield await asyncio.to_thread(arrive, session, page.get("log"), page.get("query") or {})

    def arrive(session: Session, log: Any, query: Any) -> list[Any]:
        query = query if isinstance(query, dict) else {}
        linked = {name: query[name] for name in ("env", "d", "seed") if name in query}
        if _same_episode(log, linked):
            session.restore(log)
        elif "seed" in linked or "env" in linked:
            try:
                session.start(
                    linked.get("env", next(iter(ENVIRONMENTS))), linked.get("d", "0"), linked.get("seed", "0")
                )
            except EcomrlveError as error:
                warn(error)
        return [session, *play.show(session)]

    def reset(session: Session | None, event: gr.EventData) -> list[Any]:
        asked = _data(event)
        return start(session, asked.get("env_id"), asked.get("difficulty"), asked.get("seed"))

    def act(session: Session | None, event: gr.EventData) -> list[Any]:
        sent = _data(event)
        session = session or fresh_session()
        try:
            if session.episode is None:
                session.restore(sent.get("log"), sent.get("version"))
            session.act(sent.get("action"), sent.get("version"))
        except SessionError as error:
            warn(error)
            return [session, *play.show(session, fresh=True)]
        return [session, *play.show(session, fresh=False)]

    def go_on(session: Session | None, event: gr.EventData) -> list[Any]:
        """Same seed again, the next seed, or one step harder."""
        if session is None or session.episode is None:
            warn(SessionError("That episode is gone. Choose one above."))
            session = session or fresh_session()
            return [session, *play.unchanged(session)]
        episode, how = session.episode, _data(event).get("how")
        seed = episode.seed + 1 if how == "next" else episode.seed
        difficulty = min(HARDEST, episode.difficulty + 1) if how == "harder" else episode.difficulty
        return start(session, episode.env_id, difficulty, seed)

    demo.load(boot, tab.desk, outputs, js=_READ_PAGE, **QUIET)
    tab.controls.submit(reset, state, outputs, **QUIET)
    tab.desk.submit(act, state, outputs, **QUIET)
    tab.result.select(go_on, state, outputs, **QUIET)


def _same_episode(log: Any, linked: dict[str, Any]) -> bool:
    """Whether the log belongs to the episode that the address names; an address that names none takes any."""
    if not isinstance(log, dict):
        return False
    asked = {"env": log.get("env_id"), "d": log.get("difficulty"), "seed": log.get("seed")}
    return all(whole(value) == asked[name] for name, value in linked.items())


def wire_trajectories(demo: gr.Blocks, page: gr.Tab, tab: TrajectoriesTab, shop: Shop, library: Library) -> None:
    """Connect the Trajectories tab."""

    def refresh(uploads: Uploads | None) -> list[Any]:
        uploads = uploads or Uploads()
        return [uploads, trajectories.table(library, uploads), trajectories.problems(library)]

    def upload(uploads: Uploads | None, file: str | None) -> list[Any]:
        uploads = uploads or Uploads()
        notice = uploads.read(Path(file)) if file else {"tone": "plain", "lines": []}
        return [uploads, trajectories.table(library, uploads), notice]

    def pick(uploads: Uploads | None, event: gr.EventData) -> list[Any]:
        uploads = uploads or Uploads()
        found = trajectories.find(library, uploads, _data(event).get("key"))
        if found is None:
            warn(SessionError("That episode is no longer in the store."))
            return [uploads, gr.skip(), gr.skip()]
        return [uploads, trajectories.inspect(found, str(_data(event).get("key"))), {"tone": "plain", "lines": []}]

    def verify(uploads: Uploads | None, event: gr.EventData) -> list[Any]:
        uploads = uploads or Uploads()
        found = trajectories.find(library, uploads, _data(event).get("key"))
        try:
            shop.wait()
        except SessionError as error:
            return [uploads, {"tone": "bad", "lines": [str(error)]}]
        return [uploads, trajectories.verify(found, shop.engine)]

    page.select(refresh, tab.state, [tab.state, tab.table, tab.notice], **QUIET)
    demo.load(refresh, tab.state, [tab.state, tab.table, tab.notice], **QUIET)
    tab.upload.upload(upload, [tab.state, tab.upload], [tab.state, tab.table, tab.notice], **QUIET)
    tab.table.select(pick, tab.state, [tab.state, tab.timeline, tab.verdict], **QUIET)
    tab.timeline.select(verify, tab.state, [tab.state, tab.verdict], **QUIET)
