"""Wiring of the Watch tab.

All that is decided about a watch is decided in the server's event loop, so that no two requests get in each other's
way; agents think in threads of their own, and what takes more than an instant is done in a thread as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components import agents, watch, watched
from components.events.shared import QUIET, data_of, warn
from components.session import SessionError, Shop
from components.watch import WatchTab
from components.watched import GONE, Viewer, Watch
from ecomrlve.errors import EcomrlveError

HARDEST = 12
# A second request must not be dropped while the first waits for an agent.
AT_ONCE: dict[str, Any] = {**QUIET, "trigger_mode": "multiple"}
# What was watched when the page was left goes on, and the talk asks for it.
_READ_QUERY = "() => [null, window.ecom.found.watched ? {} : window.ecom.query()]"


@dataclass(frozen=True)
class WatchHooks:
    """What other tabs need of this one.

    Attributes:
        taken_over: After this event the tab's `handover` holds a log to go on from, or None.
        outputs: What the values that `go_on` gives are for; the first is the visitor's state.
        go_on: Called with the state, a log and an agent's name, lets the agent go on in the middle of an episode.
    """

    taken_over: Any
    outputs: list[Any]
    go_on: Callable[[Viewer | None, Any, Any], Any]


def wire_watch(demo: gr.Blocks, tab: WatchTab, shop: Shop, keep: Callable[[dict[str, Any]], None]) -> WatchHooks:
    """Connect the Watch tab.

    Args:
        demo: The page.
        tab: The tab.
        shop: Where environments come from.
        keep: Stores the record of a finished episode.
    """
    outputs = [tab.state, *tab.outputs()]
    nothing = [gr.skip() for _ in tab.outputs()]

    async def seated(agent: Any, make: Callable[[], Watch]) -> Watch:
        """A new watch, made where its agent plays: sitting down may take long as well."""
        pool = await asyncio.to_thread(agents.pool, agent, sitting=True)
        return await asyncio.wrap_future(pool.submit(make))

    async def start(viewer: Viewer | None, agent: Any, make: Callable[[], Watch]) -> AsyncIterator[list[Any]]:
        """Drop what is watched for a new watch, as soon as the shop is there."""
        viewer = viewer or Viewer()
        if not shop.start().loaded.is_set():
            yield [viewer, *watch.waiting("loading the shop …")]
        while not shop.loaded.is_set():
            await asyncio.sleep(0.05)
        try:
            made = await seated(agent, make)
        except EcomrlveError as error:
            warn(error)
            yield [viewer, *(nothing if viewer.watch else watch.show(None))]
            return
        if viewer.watch:
            viewer.watch.stopped = True
        viewer.watch = made
        yield [viewer, *await asyncio.to_thread(watch.show, made, run=True)]

    async def choose(viewer: Viewer | None, event: gr.EventData) -> AsyncIterator[list[Any]]:
        sent = data_of(event)
        asked = [sent.get(name) for name in ("agent", "env_id", "difficulty", "seed")]
        async for values in start(viewer, asked[0], lambda: watched.begin(shop, *asked)):
            yield values

    async def arrive(viewer: Viewer | None, query: Any) -> AsyncIterator[list[Any]]:
        """A page was opened by a link to a watch."""
        asked = watch.linked(query)
        if asked is None:
            yield [viewer, *nothing]
            return
        begun = [asked[name] for name in ("agent", "env", "d", "seed")]
        async for values in start(viewer, begun[0], lambda: watched.begin(shop, *begun)):
            yield values

    async def go_on(viewer: Viewer | None, log: Any, agent: Any) -> AsyncIterator[list[Any]]:
        async for values in start(viewer, agent, lambda: watched.take(shop, log, agent)):
            yield values

    async def another(viewer: Viewer | None, event: gr.EventData) -> AsyncIterator[list[Any]]:
        """After the end: the same agent on the same seed, the next one, or one step harder."""
        seen = viewer.watch if viewer else None
        if seen is None:
            warn(SessionError(GONE))
            yield [viewer, *nothing]
            return
        episode, how = seen.episode, data_of(event).get("how")
        seed = episode.seed + 1 if how == "next" else episode.seed
        difficulty = min(HARDEST, episode.difficulty + 1) if how == "harder" else episode.difficulty
        asked = (seen.agent, episode.env_id, difficulty, seed)
        async for values in start(viewer, asked[0], lambda: watched.begin(shop, *asked)):
            yield values

    async def found(viewer: Viewer, sent: dict[str, Any]) -> Watch | None:
        """The watch that the page speaks of; one that the server has forgotten is brought back from the page's log."""
        key = sent.get("watch")
        if viewer.watch is None and key:
            log = sent.get("log")
            agent = log.get("agent") if isinstance(log, dict) else None
            await asyncio.to_thread(shop.wait)
            made = await seated(agent, lambda: watched.again(shop, log, agent, key))
            viewer.watch = viewer.watch or made
        return viewer.watch if viewer.watch and viewer.watch.episode.key == key else None

    async def tick(viewer: Viewer | None, event: gr.EventData) -> list[Any]:
        """The page wants the next turn, or what it lacks of those that have been."""
        viewer, sent = viewer or Viewer(), data_of(event)
        try:
            seen = await found(viewer, sent)
        except EcomrlveError as error:
            warn(error)
            return [viewer, *watch.show(None)]
        if seen is None:
            return [viewer, *nothing]
        have = whole_number(sent.get("have"))
        seen.wanted = max(seen.wanted, whole_number(sent.get("tick")))
        if seen.busy:  # the turn that is under way will be the answer
            return [viewer, *nothing]
        if have != len(seen.episode.turns):
            seen.sent = {}  # an answer was lost on its way, and with it whatever was in it
        elif sent.get("go") is True and seen.status == "going":
            seen.pending = agents.pool(seen.agent).submit(seen.turn)
            # If this visitor's request is broken off, the turn still ends in good order.
            await asyncio.shield(asyncio.wrap_future(seen.pending))
        if viewer.watch is not seen:
            return [viewer, *nothing]
        viewer.note_end()
        return [viewer, *await asyncio.to_thread(watch.show, seen, have)]

    async def pause(viewer: Viewer | None, event: gr.EventData) -> list[Any]:
        """The visitor pauses while the agent thinks."""
        viewer, sent = viewer or Viewer(), data_of(event)
        seen = viewer.watch
        if seen is None or seen.episode.key != sent.get("watch"):
            return [viewer, gr.skip()]
        seen.paused = max(seen.paused, whole_number(sent.get("tick")))
        return [viewer, watch.talk(seen, whole_number(sent.get("have")))]

    async def stop(viewer: Viewer | None, event: gr.EventData) -> list[Any]:
        viewer, sent = viewer or Viewer(), data_of(event)
        seen = viewer.watch
        if seen is None or seen.episode.key != sent.get("watch"):
            return [viewer, *nothing]
        seen.stopped = True
        return [viewer, *await asyncio.to_thread(watch.show, seen, whole_number(sent.get("have")))]

    async def store(viewer: Viewer | None, event: gr.EventData) -> list[Any]:
        """The visitor wants the finished episode kept for all to see."""
        viewer, sent = viewer or Viewer(), data_of(event)
        try:
            seen = await found(viewer, sent)
            if seen is None or seen.episode.trajectory is None:
                raise SessionError(GONE)
        except EcomrlveError as error:
            warn(error)
            return [viewer, *nothing]
        if not seen.kept:
            seen.kept = True
            await asyncio.to_thread(keep, seen.episode.trajectory)
        return [viewer, *await asyncio.to_thread(watch.show, seen, whole_number(sent.get("have")))]

    async def take_over(viewer: Viewer | None, event: gr.EventData) -> list[Any]:
        """The visitor wants to go on from a turn: its log is for the Play tab."""
        viewer, sent = viewer or Viewer(), data_of(event)
        seen, turn = viewer.watch, whole_number(sent.get("turn"))
        known = seen is not None and seen.episode.key == sent.get("watch")
        try:
            log = viewer.log(turn) if known else watched.checked(sent.get("log"), turn)
        except SessionError as error:
            warn(error)
            return [viewer, None]
        return [viewer, log]

    demo.load(arrive, [tab.state, tab.chooser], outputs, js=_READ_QUERY, **QUIET)
    tab.chooser.submit(choose, tab.state, outputs, **AT_ONCE)
    tab.result.select(another, tab.state, outputs, **AT_ONCE)
    tab.talk.tick(tick, tab.state, outputs, **AT_ONCE)
    tab.talk.pause(pause, tab.state, [tab.state, tab.talk], **AT_ONCE)
    tab.talk.stop(stop, tab.state, outputs, **AT_ONCE)
    tab.talk.apply(store, tab.state, outputs, **AT_ONCE)
    taken_over = tab.talk.select(take_over, tab.state, [tab.state, tab.handover], **AT_ONCE)
    return WatchHooks(taken_over, outputs, go_on)


def whole_number(value: Any) -> int:
    """A whole number from a page; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
