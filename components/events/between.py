"""What passes from tab to tab: an episode that somebody else goes on with, and the tab that an address names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import gradio as gr

from components import play
from components.events.shared import QUIET, data_of, warn
from components.events.trajectories import Opening
from components.events.watch import WatchHooks
from components.play import PlayTab
from components.session import Session, SessionError, Shop
from components.trajectories import Library, TrajectoriesTab
from components.watch import WatchTab
from ecomrlve.errors import EcomrlveError

# The Trajectories tab turns to itself, with the episode that the address names.
NAMED = ("play", "watch", "compare", "curriculum", "leaderboard")
# A page that was here before knows itself which tab it had open.
_READ_TAB = "() => [window.ecom.found.tab ? null : window.ecom.query().tab || null]"
_STORED_NOT = "This game was not stored, so there is nothing to replay."


def wire_between(
    demo: gr.Blocks,
    tabs: gr.Tabs,
    session: gr.State,
    play_tab: PlayTab,
    watch_tab: WatchTab,
    watching: WatchHooks,
    trajectories_tab: TrajectoriesTab,
    opening: Opening,
    shop: Shop,
    library: Library,
    keep: Callable[[dict[str, Any]], Any],
) -> None:
    """Connect the tabs with each other.

    Args:
        demo: The page.
        tabs: All tabs.
        session: The visitor's session of the Play tab.
        play_tab: Its components.
        watch_tab: Those of the Watch tab.
        watching: What its wiring offers.
        trajectories_tab: Those of the Trajectories tab.
        opening: What its wiring offers.
        shop: Where environments come from.
        library: Where finished episodes are kept.
        keep: Stores the record of one, under a name only with its owner's consent.
    """

    def arrive(tab: Any) -> Any:
        """A page was opened by a link to a tab."""
        return gr.Tabs(selected=tab) if tab in NAMED else gr.skip()

    def take_over(here: Session | None, log: Any) -> list[Any]:
        """The visitor goes on where an agent was."""
        nothing = [gr.skip() for _ in play_tab.outputs()]
        if log is None:  # the Watch tab has said why
            return [here, gr.skip(), *nothing]
        here = here or Session(shop, keep=keep)
        try:
            return [here, gr.Tabs(selected="play"), *play.resume(here, log)]
        except EcomrlveError as error:
            warn(error)
            return [here, gr.skip(), *nothing]

    async def hand_over(viewer: Any, here: Session | None, event: gr.EventData) -> AsyncIterator[list[Any]]:
        """An agent goes on where the visitor was."""
        sent = data_of(event)
        try:
            if here is None or here.episode is None:  # the server has forgotten it, the page has not
                here = Session(shop)
                here.restore(sent.get("log"))
            given = play.handover(here, sent.get("agent"))
        except EcomrlveError as error:
            warn(error)
            yield [gr.skip(), *(gr.skip() for _ in watching.outputs)]
            return
        async for values in watching.go_on(viewer, given["log"], given["agent"]):
            yield [gr.Tabs(selected="watch"), *values]
        # What a generator gave last is sent once more when it ends.
        yield [gr.skip(), *(gr.skip() for _ in watching.outputs)]

    def replay(uploads: Any, here: Session | None, request: gr.Request) -> list[Any]:
        """The visitor's finished game, step by step."""
        key = play.replay_key(here, library)
        if key is None:
            warn(SessionError(_STORED_NOT))
            return [gr.skip() for _ in opening.outputs]
        return opening.show(uploads, request, key)

    demo.load(arrive, play_tab.desk, tabs, js=_READ_TAB, **QUIET)
    watching.taken_over.then(take_over, [session, watch_tab.handover], [session, tabs, *play_tab.outputs()], **QUIET)
    play_tab.options.submit(hand_over, [watch_tab.state, session], [tabs, *watching.outputs], **QUIET)
    play_tab.result.play(replay, [trajectories_tab.state, session], opening.outputs, **QUIET)
