"""Wiring of the Play tab."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import gradio as gr

from components import aftermath, guide, play
from components.events.shared import QUIET, data_of, warn
from components.play import PlayTab
from components.session import ENVIRONMENTS, Session, SessionError, Shop, whole
from ecomrlve.errors import EcomrlveError

HARDEST = 12
_READ_PAGE = "(page, name) => [{log: window.ecom.readLog(), query: window.ecom.query()}, name]"


def wire_play(
    demo: gr.Blocks,
    state: gr.State,
    tab: PlayTab,
    shop: Shop,
    keep: Callable[[dict[str, Any]], Any],
    nickname: gr.State,
    name_for: Callable[[Any], str],
) -> None:
    """Connect the Play tab.

    Args:
        demo: The page.
        state: The visitor's session.
        tab: The tab.
        shop: Where environments come from.
        keep: Stores the record of a finished episode.
        nickname: The name under which the visitor's games are kept.
        name_for: That name, as it may be used at this moment.
    """
    outputs = [state, *tab.outputs()]

    def fresh_session() -> Session:
        return Session(shop, keep=keep)

    def start(session: Session | None, env_id: Any, difficulty: Any, seed: Any, *, guided: bool = False) -> list[Any]:
        session = session or fresh_session()
        try:
            session.start(env_id, difficulty, seed, guided=guided)
        except EcomrlveError as error:
            warn(error)
            return [session, *play.unchanged(session)]
        return [session, *play.show(session)]

    async def boot(page: Any, name: Any) -> AsyncIterator[list[Any]]:
        """A page was opened or reloaded: wait for the shop, then bring its episode back or start the linked one."""
        page = page if isinstance(page, dict) else {}
        session = fresh_session()
        session.nickname = name_for(name)
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
        query = query if isinstance(query, dict) and query.get("tab", "play") == "play" else {}
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
        asked = data_of(event)
        if asked.get("guided") is True:
            return start(session, **guide.EPISODE, guided=True)
        return start(session, asked.get("env_id"), asked.get("difficulty"), asked.get("seed"))

    def act(session: Session | None, name: Any, event: gr.EventData) -> list[Any]:
        sent = data_of(event)
        session = session or fresh_session()
        session.nickname = name_for(name)
        try:
            if session.episode is None:
                session.restore(sent.get("log"), sent.get("version"))
            session.act(sent.get("action"), sent.get("version"), seen=sent.get("seen") is True)
        except SessionError as error:
            warn(error)
            return [session, *play.show(session, fresh=True)]
        return [session, *play.show(session, fresh=False)]

    def go_on(session: Session | None, event: gr.EventData) -> list[Any]:
        """The same episode again, another one, or one that is a step harder."""
        if session is None or session.episode is None:
            warn(SessionError("That episode is gone. Choose one above."))
            session = session or fresh_session()
            return [session, *play.unchanged(session)]
        episode, how = session.episode, data_of(event).get("how")
        # Another seed for the harder one too: one level up, the same seed often has the same goal.
        seed = episode.seed if how == "again" else data_of(event).get("seed", episode.seed + 1)
        difficulty = min(HARDEST, episode.difficulty + 1) if how == "harder" else episode.difficulty
        return start(session, episode.env_id, difficulty, seed, guided=episode.guided and how == "again")

    def reference(session: Session | None, event: gr.EventData) -> list[Any]:
        """What the reference agent does from the seed of the episode that is over."""
        sent = data_of(event)
        session = session or fresh_session()
        try:
            if session.episode is None:
                session.restore(sent.get("log"))
            episode = session.episode
            if episode is None or episode.key != sent.get("episode"):
                return [session, gr.skip()]
            value = aftermath.aftermath(episode, shop)
            # The visitor may have gone on meanwhile.
            return [session, value if session.episode is episode else gr.skip()]
        except EcomrlveError as error:
            warn(error)
            return [session, None]

    demo.load(boot, [tab.desk, nickname], outputs, js=_READ_PAGE, **QUIET)
    tab.controls.submit(reset, state, outputs, **QUIET)
    tab.desk.submit(act, [state, nickname], outputs, **QUIET)
    tab.result.select(go_on, state, outputs, **QUIET)
    tab.aftermath.submit(reference, state, [state, tab.aftermath], **QUIET)


def _same_episode(log: Any, linked: dict[str, Any]) -> bool:
    """Whether the log belongs to the episode that the address names; an address that names none takes any."""
    if not isinstance(log, dict):
        return False
    asked = {"env": log.get("env_id"), "d": log.get("difficulty"), "seed": log.get("seed")}
    return all(whole(value) == asked[name] for name, value in linked.items())
