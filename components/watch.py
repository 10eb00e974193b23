"""The Watch tab: an agent plays, and people look on, turn by turn.

Nothing runs on the server between two turns: the page asks for each turn when it is due, and says how many it has. So a
visitor who leaves stops the agent, a click that comes twice does nothing twice, and a page that missed something gets
it with its next question.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components import agents, panels, records, views, watch_views
from components.play import START
from components.watched import Watch, plain
from components.widgets import CartPanel, Meters, ProfilePanel
from components.widgets.watch_chooser import WatchChooser
from components.widgets.watch_result import WatchResult
from components.widgets.watch_seen import WatchSeen
from components.widgets.watch_talk import WatchTalk

LINKED = ("env", "d", "seed", "agent")
INVITATION = "Choose a task and an agent, and press “Start watching”."
# A widget redraws when its value is another one than before; this makes every value another one. A page also sees by it
# which of two is the newer, so that it goes on from the clock: a server that was started anew gives higher ones.
_number = itertools.count(time.time_ns() // 1_000_000)


@dataclass(frozen=True)
class WatchTab:
    """The components of the tab that events touch.

    Attributes:
        state: The visitor's `Viewer`.
        handover: The log of an episode that the visitor takes over, for whoever wires the Play tab.
    """

    state: gr.State
    handover: gr.State
    chooser: WatchChooser
    meters: Meters
    result: WatchResult
    talk: WatchTalk
    cart: CartPanel
    profile: ProfilePanel
    seen: WatchSeen

    def outputs(self) -> list[Any]:
        """In the order of what `show` returns."""
        return [getattr(self, name) for name in OUTPUTS]


OUTPUTS = ("chooser", "meters", "result", "talk", "cart", "profile", "seen")


def build() -> WatchTab:
    """Lay the tab out."""
    state = gr.State(None, time_to_live=3600)
    handover = gr.State(None, time_to_live=3600)
    values = dict(zip(OUTPUTS, show(None), strict=True))
    chosen = WatchChooser(values["chooser"], elem_id="watch-chooser")
    meters = Meters(values["meters"], elem_id="watch-meters")
    result = WatchResult(None, elem_id="watch-result")
    with gr.Row(equal_height=False, elem_classes="ec-columns"):
        with gr.Column(scale=6, min_width=320):
            talk = WatchTalk(values["talk"], elem_id="watch-talk")
        with gr.Column(scale=5, min_width=320):
            cart = CartPanel(values["cart"], elem_id="watch-cart")
            profile = ProfilePanel(values["profile"], elem_id="watch-profile")
            seen = WatchSeen(values["seen"], elem_id="watch-seen")
    return WatchTab(state, handover, chosen, meters, result, talk, cart, profile, seen)


def show(watch: Watch | None, have: int = 0, *, run: bool | None = None) -> list[Any]:
    """Values of all outputs; what has not changed is left alone.

    Args:
        watch: What is watched.
        have: How many turns the page has.
        run: For a watch that the page does not know yet: whether it goes on by itself at once.
    """
    episode = watch.episode if watch else None
    sent = watch.sent if watch else {}
    values = {
        "meters": views.meters(episode, len(episode.turns) + 1) if episode else waiting_meters(INVITATION, "empty"),
        "result": _result(watch),
        "cart": views.cart(episode) if episode else {"lines": [], "known": False, "hidden": True},
        "profile": panels.profile(episode),
        "seen": watch_views.seen(episode),
    }
    changed = {name: value for name, value in values.items() if name not in sent or sent[name] != value}
    if watch:
        watch.sent = values
    changed["talk"] = talk(watch, have, run=run)
    if run is not None or watch is None:
        changed["chooser"] = chooser(watch)
    return [changed.get(name, gr.skip()) for name in OUTPUTS]


def waiting(note: str) -> list[Any]:
    """Only the line of meters changes: it says what the page is waiting for."""
    return [waiting_meters(note, "loading") if name == "meters" else gr.skip() for name in OUTPUTS]


def waiting_meters(note: str, status: str) -> dict[str, Any]:
    """Value of the line of meters where there is no episode."""
    return {"version": 0, "status": status, "note": note}


def chooser(watch: Watch | None) -> dict[str, Any]:
    """Value of the bar that starts a watch: what is watched is what is chosen."""
    named = agents.choices()
    chosen: dict[str, Any] = {**START, "agent": named[0].name}
    if watch:
        episode = watch.episode
        chosen = {
            "env_id": episode.env_id,
            "difficulty": episode.difficulty,
            "seed": episode.seed,
            "agent": watch.agent,
        }
    return {**watch_views.chooser(chosen, named), "number": next(_number)}


def _result(watch: Watch | None) -> dict[str, Any] | None:
    episode = watch.episode if watch else None
    if episode is None or episode.trajectory is None:
        return None
    found = records.result(episode.trajectory)
    return {**found, "episode": episode.key, "env_id": episode.env_id, "seed": str(episode.seed)} if found else None


def talk(watch: Watch | None, have: int, *, run: bool | None = None) -> dict[str, Any]:
    """Value of the conversation: only the turns that the page lacks."""
    if watch is None:
        return {"watch": "", "status": "empty", "from": 0, "turns": [], "number": next(_number)}
    episode = watch.episode
    names = watch_views.titles(episode)
    count = len(episode.turns)
    start = have if 0 <= have <= count else 0
    turns = [
        watch_views.turn_view(episode.turns[place], episode.players[place], plain(episode.actions[place]), names)
        for place in range(start, count)
    ]
    return {
        "watch": episode.key,
        "number": next(_number),
        "status": watch.status,
        "problem": watch.problem,
        "agent": watch.agent,
        "title": agents.title_of(watch.agent),
        "run": bool(run),
        "kept": watch.kept,
        "busy": watch.busy,
        "opening": episode.opening,
        "from": start,
        "turns": turns,
        # The numbers of the episode as text, because a page cannot hold the digits of a large one.
        "log": {
            "env_id": episode.env_id,
            "difficulty": str(episode.difficulty),
            "seed": str(episode.seed),
            "guided": episode.guided,
            "again": episode.again,
        },
    }


def linked(query: Any) -> dict[str, Any] | None:
    """What a page's address asks to be watched, with what it leaves open filled in; None if it asks for none.

    Args:
        query: The parameters of the address, by name.
    """
    if not isinstance(query, Mapping) or query.get("tab") != "watch" or not any(name in query for name in LINKED[:3]):
        return None
    given = {name: query[name] for name in LINKED if name in query}
    first = {"env": START["env_id"], "d": 0, "seed": START["seed"], "agent": agents.choices()[0].name}
    return first | given
