"""Wiring of the Leaderboard tab."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from components import leaderboard
from components.episode import YOU
from components.events.shared import QUIET, data_of, warn
from components.leaderboard import LeaderboardTab
from components.leaderboard_board import Board
from components.leaderboard_counting import View, view_of
from components.leaderboard_names import Visitor
from components.session import SessionError
from components.tables import mapping
from ecomrlve.errors import EcomrlveError

_PAGE = """() => {
  let saved = null;
  try {
    saved = JSON.parse(localStorage.getItem("ecomrlve.name") || "null");
  } catch {
    /* forbidden, or not what this page wrote: a visitor without a name */
  }
  return { query: window.ecom.query(), saved };
}"""
_READ_PAGE = f"() => [({_PAGE})()]"
_READ_VISITOR = f"(...states) => [...states.slice(0, 3), ({_PAGE})()]"


def wire_leaderboard(demo: gr.Blocks, page: gr.Tab, tab: LeaderboardTab, board: Board) -> None:
    """Connect the Leaderboard tab. Whoever wants the visitor's name listens to changes of `tab.nickname`."""
    states = [tab.view, tab.nickname, tab.ticket]
    shown = [*states, tab.table, tab.chart, tab.runs]

    def show(view: View | None, nickname: str | None, ticket: str | None) -> list[Any]:
        view, nickname, ticket = view or View(), nickname or YOU, ticket or ""
        table, chart = leaderboard.show(board, view, nickname)
        return [view, nickname, ticket, table, chart, leaderboard.runs(board, ticket)]

    def who(page: Any, profile: gr.OAuthProfile | None) -> tuple[Visitor, str, str]:
        """The visitor that a page remembers, how its name stands, and under which name its games are kept."""
        visitor = leaderboard.visitor_of(mapping(page).get("saved"), profile)
        status = board.names.status(visitor)
        return visitor, status, board.name_for(visitor.name) if status == "on" else YOU

    def called(nickname: str | None, page: Any, profile: gr.OAuthProfile | None) -> str:
        """The name of a visitor, also before `arrive` has found it."""
        return nickname if nickname not in (None, YOU) else who(page, profile)[2]

    def arrive(page: Any, profile: gr.OAuthProfile | None) -> list[Any]:
        """A page was opened: who is it, and does its address ask for this tab?"""
        page = mapping(page)
        board.start()
        visitor, status, nickname = who(page, profile)
        panel = leaderboard.me(visitor, status, *_welcome(visitor, status))
        view = leaderboard.linked(page.get("query"))
        if view is None:
            return [View(), nickname, "", gr.skip(), gr.skip(), gr.skip(), panel]
        return [*show(view, nickname, ""), panel]

    def refresh(
        view: View | None, nickname: str | None, ticket: str | None, page: Any, profile: gr.OAuthProfile | None
    ) -> list[Any]:
        """The tab was turned to, which a page that is loaded again may do before it has arrived."""
        board.start()
        return show(view, called(nickname, page, profile), ticket)

    def look(
        view: View | None,
        nickname: str | None,
        ticket: str | None,
        page: Any,
        event: gr.EventData,
        profile: gr.OAuthProfile | None,
    ) -> list[Any]:
        """Another view was chosen, or the page asks whether there is anything new in this one."""
        return show(view_of(data_of(event)), called(nickname, page, profile), ticket)

    def act_on_name(
        view: View | None,
        nickname: str | None,
        ticket: str | None,
        event: gr.EventData,
        profile: gr.OAuthProfile | None,
    ) -> list[Any]:
        sent = data_of(event)
        visitor = leaderboard.visitor_of(sent, profile)
        try:
            nickname, panel = change_name(board, visitor, sent)
        except EcomrlveError as error:
            panel = leaderboard.me(visitor, board.names.status(visitor), str(error), "bad")
        return [*show(view, nickname, ticket), panel]

    def submit(view: View | None, nickname: str | None, ticket: str | None, files: list[str] | None) -> list[Any]:
        earlier = board.runs.submission(ticket or "")
        try:
            if earlier is not None and earlier.status in ("waiting", "checking"):
                raise SessionError("Your last submission is still being checked. Wait for it first.")
            ticket = board.runs.take([Path(file) for file in files or []]).ticket
            board.start()
        except EcomrlveError as error:
            warn(error)
        return show(view, nickname, ticket)

    demo.load(arrive, tab.name, [*shown, tab.name], js=_READ_PAGE, **QUIET)
    page.select(refresh, [*states, tab.name], shown, js=_READ_VISITOR, **QUIET)
    tab.table.select(look, [*states, tab.name], shown, js=_READ_VISITOR, **QUIET)
    tab.name.submit(act_on_name, states, [*shown, tab.name], **QUIET)
    tab.upload.upload(submit, [*states, tab.upload], shown, **QUIET)


def _welcome(visitor: Visitor, status: str) -> tuple[str, str]:
    """What the panel says to a visitor whose browser remembers a name that is not its own here."""
    if not visitor.name or visitor.signed_in or status in ("on", "off"):
        return "", "plain"
    why = "belongs to somebody else on this server" if status == "taken" else "is not known on this server any more"
    return f"“{visitor.name}” {why}. Your games are kept without a name until you join again.", "bad"


def change_name(board: Board, visitor: Visitor, sent: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Do with a visitor's name what it asks for.

    Args:
        board: The leaderboard.
        visitor: Who asks, with the name.
        sent: What the page sent: ``do`` is join, stop or forget; joining takes ``agreed``.

    Returns:
        The name that the visitor's games are kept under from now on, and the value of the panel.

    Raises:
        EcomrlveError: That cannot be done.
    """
    wanted = sent.get("do")
    if wanted == "join":
        if sent.get("agreed") is not True:
            raise SessionError("Tick the box first: nothing is kept under a name without your consent.")
        if leaderboard.login_possible() and not visitor.signed_in and board.names.status(visitor) == "none":
            raise SessionError("Sign in with Hugging Face first; that name will be yours here.")
        visitor = board.names.join(visitor, board.agents())
        said = f"Welcome, {visitor.name}! From now on your finished games count."
        return visitor.name, leaderboard.me(visitor, "on", said, "good")
    if wanted == "stop":
        board.names.stop(visitor)
        said = "New games are kept without a name. Those so far stay on the board."
        return YOU, leaderboard.me(visitor, "off", said, "good")
    if wanted == "forget":
        erased = board.forget(visitor)
        board.start()
        said = f"{visitor.name} is forgotten: the name and {erased} {'game' if erased == 1 else 'games'} were erased."
        return YOU, leaderboard.me(Visitor(signed_in=visitor.signed_in), "forgotten", said, "good")
    raise SessionError("The page asked for something that this server does not know. Load it again.")
