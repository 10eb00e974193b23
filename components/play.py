"""The Play tab: a person sits where an agent would."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components import panels, records, views
from components.session import ENVIRONMENTS, Session
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
    result: RewardWaterfall
    chat: gr.Chatbot
    desk: Desk
    cart: CartPanel
    returns: ReturnsPanel
    profile: ProfilePanel
    pages: HelpPages
    tools: ToolForm
    orders: OrdersPanel
    cards: ProductCards

    def outputs(self) -> list[Any]:
        """In the order of what `show` returns."""
        return [getattr(self, name) for name in OUTPUTS]


# The desk alone is sent where nothing has changed, the meters alone while the page waits.
OUTPUTS = tuple(PlayTab.__dataclass_fields__)


def build() -> PlayTab:
    """Lay the tab out."""
    controls = Controls(views.controls(**START), elem_id="controls")
    meters = Meters(views.meters(None, 0, note=loading(0)), elem_id="meters")
    result = RewardWaterfall(None, elem_id="result")
    with gr.Row(equal_height=False, elem_classes="ec-columns"):
        with gr.Column(scale=6, min_width=320):
            chat = gr.Chatbot(
                label="Conversation: the customer on the left, you on the right",
                elem_id="chat",
                height=440,
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
            cart = CartPanel(views.cart(None), elem_id="cart")
            returns = ReturnsPanel(panels.returns(None), elem_id="returns")
            profile = ProfilePanel(panels.profile(None), elem_id="profile")
            pages = HelpPages(panels.help_pages(None), elem_id="pages")
        with gr.Column(scale=5, min_width=320):
            tools = ToolForm(views.tool_form(None), elem_id="tools")
            orders = OrdersPanel(panels.orders(None), elem_id="orders")
            cards = ProductCards(views.cards(None), elem_id="cards")
    return PlayTab(controls, meters, result, chat, desk, cart, returns, profile, pages, tools, orders, cards)


def show(session: Session, *, fresh: bool = True) -> list[Any]:
    """Values of all outputs for the session as it stands.

    Args:
        session: The visitor's session.
        fresh: Whether the episode may be another one than the page shows. The control bar and the tool form change
            only then; they keep what is typed in them, and their values need not be sent again.
    """
    episode = session.episode
    chosen: dict[str, Any] = (
        {"env_id": episode.env_id, "difficulty": episode.difficulty, "seed": episode.seed} if episode else START
    )
    finished = records.result(episode.trajectory) if episode and episode.trajectory else None
    if finished is not None and episode is not None:
        finished["episode"] = episode.key
    return [
        {**views.controls(**chosen), "number": next(_number)} if fresh else gr.skip(),
        views.meters(episode, session.version),
        finished,
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


def unchanged(session: Session) -> list[Any]:
    """Only the desk is sent again, so that it wakes up; everything else stays as it is."""
    return _only("desk", _desk(session))


def waiting(note: str, *, failed: bool = False) -> list[Any]:
    """Only the line of meters changes: it says what the page is waiting for."""
    return _only("meters", views.meters(None, 0, note=note, failed=failed))


def _only(name: str, value: Any) -> list[Any]:
    """Values of all outputs where one alone changes."""
    return [value if name == one else gr.skip() for one in OUTPUTS]
