"""The Play tab: a person sits where an agent would."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components import aftermath, guide, panels, records, views
from components.agents import Choice, check_name
from components.library import Library
from components.session import ENVIRONMENTS, Episode, Session, SessionError
from components.voice import READER
from components.widgets import (
    CartPanel,
    Controls,
    Desk,
    HelpPages,
    Meters,
    OrdersPanel,
    ProductCards,
    ProfilePanel,
    ReturnsPanel,
    RewardWaterfall,
    ToolForm,
)
from components.widgets.aftermath import Aftermath
from components.widgets.guide import Guide
from components.widgets.play_options import PlayOptions
from components.widgets.recent_calls import RecentCalls

START: dict[str, Any] = {"env_id": next(iter(ENVIRONMENTS)), "difficulty": 0, "seed": 7}
LONG_SECONDS = 8
# A widget redraws when its value is another one than before; this makes every value another one.
_number = itertools.count(1)


def loading(seconds: float) -> str:
    """What the page says while the catalog and the encoder load."""
    if seconds < LONG_SECONDS:
        return "loading the shop …"
    return f"loading the shop … {seconds:.0f} s so far. A first start indexes the catalog, which takes a few minutes."


@dataclass(frozen=True)
class PlayTab:
    """The components of the tab that events touch."""

    controls: Controls
    meters: Meters
    guide: Guide
    result: RewardWaterfall
    aftermath: Aftermath
    chat: gr.Chatbot
    desk: Desk
    cart: CartPanel
    returns: ReturnsPanel
    profile: ProfilePanel
    pages: HelpPages
    tools: ToolForm
    orders: OrdersPanel
    cards: ProductCards
    options: PlayOptions

    def outputs(self) -> list[Any]:
        """In the order of what `show` returns."""
        return [getattr(self, name) for name in OUTPUTS]


# The desk alone is sent where nothing has changed, the meters alone while the page waits. The options belong to the
# browser, which nothing overrules.
OUTPUTS = tuple(name for name in PlayTab.__dataclass_fields__ if name != "options")


def build(agents: Sequence[Choice] = ()) -> PlayTab:
    """Lay the tab out.

    Args:
        agents: Who may take an episode over; nobody hides the menu.
    """
    controls = Controls(views.controls(**START), elem_id="controls")
    meters = Meters(views.meters(None, 0, note=loading(0)), elem_id="meters")
    guide_panel = Guide(guide.HIDDEN, elem_id="guide")
    result = RewardWaterfall(None, elem_id="result")
    after = Aftermath(None, elem_id="aftermath")
    with gr.Row(equal_height=False, elem_classes="ec-columns"):
        with gr.Column(scale=6, min_width=320):
            chat = gr.Chatbot(
                label="Conversation: the customer on the left, you on the right",
                elem_id="chat",
                height=380,
                # Everything is shown as the text it is: customers' words and titles are not markup.
                render_markdown=False,
                sanitize_html=True,
                allow_tags=False,
                latex_delimiters=[],
                placeholder="The customer's first message appears here.",
                buttons=["copy_all"],
                group_consecutive_messages=False,
            )
            desk = Desk(views.desk(None, 0), elem_id="desk")
            options = PlayOptions({"agents": [[agent.name, agent.title] for agent in agents]}, elem_id="options")
            cart = CartPanel(views.cart(None), elem_id="cart")
            returns = ReturnsPanel(panels.returns(None), elem_id="returns")
            profile = ProfilePanel(panels.profile(None), elem_id="profile")
            pages = HelpPages(panels.help_pages(None), elem_id="pages")
        with gr.Column(scale=5, min_width=320):
            tools = ToolForm(views.tool_form(None), elem_id="tools")
            RecentCalls(None, elem_id="recent")
            orders = OrdersPanel(panels.orders(None), elem_id="orders")
            cards = ProductCards(views.cards(None), elem_id="cards")
    return PlayTab(
        controls, meters, guide_panel, result, after, chat, desk, cart, returns, profile, pages, tools, orders, cards,
        options,
    )  # fmt: skip


def show(session: Session, *, fresh: bool = True) -> list[Any]:
    """Values of all outputs for the session as it stands.

    Args:
        session: The visitor's session.
        fresh: Whether the episode may be another one than the page shows. What changes only then need not be sent
            again: the control bar and the tool form, which keep what is typed in them, and the result of an episode
            that is still running.
    """
    episode = session.episode
    over = episode is not None and not episode.running
    guided = episode is not None and episode.guided
    chosen: dict[str, Any] = (
        {"env_id": episode.env_id, "difficulty": episode.difficulty, "seed": episode.seed} if episode else START
    )
    return [
        {**views.controls(**chosen), "number": next(_number)} if fresh else gr.skip(),
        views.meters(episode, session.version),
        guide.guide(episode) if fresh or guided else gr.skip(),
        _result(episode) if fresh or over else gr.skip(),
        aftermath.pending(episode) if fresh or over else gr.skip(),
        views.conversation(episode),
        _desk(session),
        views.cart(episode),
        panels.returns(episode),
        panels.profile(episode),
        panels.help_pages(episode),
        views.tool_form(episode) if fresh else gr.skip(),
        panels.orders(episode),
        views.cards(episode),
    ]


def _desk(session: Session) -> dict[str, Any]:
    return {**views.desk(session.episode, session.version), "number": next(_number)}


def _result(episode: Episode | None) -> dict[str, Any] | None:
    """Value of the result: the one of the record, with what the browser needs to remember that it was shown."""
    finished = records.result(episode.trajectory, READER) if episode is not None and episode.trajectory else None
    if finished is None or episode is None:
        return None
    return {**finished, "episode": episode.key, "env_id": episode.env_id, "seed": episode.seed}


def resume(session: Session, log: Any) -> list[Any]:
    """Go on with an episode from another tab, such as one that an agent has begun.

    Args:
        session: The visitor's session; what was running in it is dropped.
        log: What `Episode.log` gave, by way of the browser.

    Returns:
        Values of all outputs.

    Raises:
        SessionError: The log does not name an episode that can be played here. What was running goes on.
    """
    if not session.restore(log, session.version + 1):
        raise SessionError("That episode cannot be taken over here.")
    return show(session)


def handover(session: Session | None, agent: Any) -> dict[str, Any]:
    """What the Watch tab needs to let an agent go on with the visitor's episode.

    Args:
        session: The visitor's session.
        agent: The agent's name, as the page sent it.

    Returns:
        ``log`` and ``agent``.

    Raises:
        SessionError: No episode is running, or there is no such agent here.
    """
    if session is None or session.episode is None or not session.episode.running:
        raise SessionError("No episode is running that an agent could take over.")
    return {"log": session.episode.log(), "agent": check_name(agent)}


def replay_key(session: Session | None, library: Library) -> str | None:
    """Key of the visitor's finished episode in the Trajectories tab; None where it could not be stored."""
    if session is None or session.episode is None or not session.episode.stored:
        return None
    return library.find(session.episode.stored)


def unchanged(session: Session) -> list[Any]:
    """Only the desk is sent again, so that it wakes up; everything else stays as it is."""
    return _only("desk", _desk(session))


def waiting(note: str, *, failed: bool = False) -> list[Any]:
    """Only the line of meters changes: it says what the page is waiting for."""
    return _only("meters", views.meters(None, 0, note=note, failed=failed))


def _only(name: str, value: Any) -> list[Any]:
    """Values of all outputs where one alone changes."""
    return [value if name == one else gr.skip() for one in OUTPUTS]
