"""The Leaderboard tab: people and agents side by side, with scores that this server computed from their actions."""

from __future__ import annotations

import importlib.util
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import gradio as gr
from gradio.utils import get_space

from components.episode import YOU
from components.leaderboard_board import Board
from components.leaderboard_counting import (
    KINDS,
    LEFT_OUT,
    MINIMUM,
    MOST_CHOSEN,
    Score,
    Standing,
    View,
    curve,
    person_key,
    standings,
    view_of,
)
from components.leaderboard_hub import dataset
from components.leaderboard_names import LONGEST, SHORTEST, SIGNED_IN, Visitor
from components.leaderboard_runs import MOST_BYTES, MOST_EPISODES, Run, Submission
from components.session import ENVIRONMENTS
from components.tables import mapping
from components.widgets.leaderboard_chart import LeaderboardChart
from components.widgets.leaderboard_name import LeaderboardName
from components.widgets.leaderboard_runs import LeaderboardRuns
from components.widgets.leaderboard_table import LeaderboardTable

MOST_RANKED: Final = 100
MOST_UNRANKED: Final = 30
MOST_COMMANDS: Final = 8
LONGEST_COMMAND: Final = 300
LONGEST_KEY: Final = 100
_FIRST_CHOICE = 3  # lines of the chart before the visitor has chosen
# A widget redraws when its value is another one than before; this makes every value another one.
_number = itertools.count(1)
_OAUTH = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL")


@dataclass(frozen=True)
class LeaderboardTab:
    """The components of the tab that events touch.

    Attributes:
        view: What the visitor looks at, as a `View`.
        nickname: The name that the visitor's finished games are kept under: `YOU` unless it agreed to another.
        ticket: What the visitor asks for its submission by.
        login: The button to sign in, where that is possible.
        name: The panel about the visitor's own name.
        table: The board.
        chart: Success by difficulty.
        upload: The button to submit a run.
        runs: The submitted runs.
    """

    view: gr.State
    nickname: gr.State
    ticket: gr.State
    login: gr.LoginButton | None
    name: LeaderboardName
    table: LeaderboardTable
    chart: LeaderboardChart
    upload: gr.UploadButton
    runs: LeaderboardRuns


def login_possible() -> bool:
    """Whether visitors can sign in by Hugging Face: in a Space whose settings ask for it, with the libraries it takes.

    Elsewhere Gradio refuses to start with a button to sign in.
    """
    libraries = all(importlib.util.find_spec(name) for name in ("authlib", "itsdangerous"))
    return libraries and get_space() is not None and all(os.environ.get(name) for name in _OAUTH)


def build(board: Board) -> LeaderboardTab:
    """Lay the tab out."""
    view, nickname = gr.State(View(), time_to_live=3600), gr.State(YOU, time_to_live=3600)
    ticket = gr.State("", time_to_live=3600)
    login = None
    name = LeaderboardName(me(Visitor(), "none"), elem_id="leaderboard-name")
    if login_possible():
        login = gr.LoginButton("Sign in with Hugging Face", size="sm", elem_id="leaderboard-login")
    with gr.Row(equal_height=False, elem_classes="ec-columns"):
        with gr.Column(scale=7, min_width=320):
            table = LeaderboardTable(None, elem_id="leaderboard-table")
        with gr.Column(scale=4, min_width=320):
            chart = LeaderboardChart(None, elem_id="leaderboard-chart")
    runs = LeaderboardRuns(None, elem_id="leaderboard-runs")
    upload = gr.UploadButton(
        "Submit an evaluation run",
        file_types=[".jsonl", ".json"],
        file_count="multiple",
        size="sm",
        visible="hidden",  # the panel above has a button that presses this one
        elem_id="leaderboard-upload",
    )
    return LeaderboardTab(view, nickname, ticket, login, name, table, chart, upload, runs)


def linked(query: Any) -> View | None:
    """The view that an address asks for (``?tab=leaderboard&env=E_CART&d=3``); None if it asks for another tab."""
    query = mapping(query)
    return view_of(query) if query.get("tab") == "leaderboard" else None


def visitor_of(sent: Any, profile: Mapping[str, Any] | None = None) -> Visitor:
    """Who a visitor says to be.

    Args:
        sent: What the page sent: ``name`` and ``key``, which may be anything.
        profile: The profile at Hugging Face of who is signed in. Where there is one, nothing else counts.
    """
    if profile is not None:
        return Visitor(f"{SIGNED_IN}{profile['preferred_username']}", signed_in=True)
    sent = mapping(sent)
    name, key = sent.get("name"), sent.get("key")
    usable = isinstance(name, str) and len(name) <= LONGEST_KEY and not name.startswith(SIGNED_IN)
    return Visitor(
        name if isinstance(name, str) and usable else "",
        key if isinstance(key, str) and len(key) <= LONGEST_KEY else "",
    )


def me(visitor: Visitor, status: str, said: str = "", tone: str = "plain") -> dict[str, Any]:
    """Value of the panel about the visitor's name.

    Args:
        visitor: Who it is. The key is sent back only where the name is this visitor's.
        status: As of `components.leaderboard_names.Names.status`, or ``forgotten``.
        said: A sentence about what has just been done.
        tone: Of that sentence: good, bad or plain.
    """
    own = status in ("on", "off")
    return {
        "status": status,
        "name": visitor.name,
        "key": visitor.key if own else "",
        "signed_in": visitor.signed_in,
        "login": login_possible(),
        "hub": dataset(),
        "said": said,
        "tone": tone,
        "shortest": SHORTEST,
        "longest": LONGEST,
        "number": next(_number),
    }


def show(board: Board, view: View, nickname: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The value of the table and that of the chart."""
    counted = board.counted()
    found = standings(counted.players.values(), view)
    own = person_key(nickname) if nickname != YOU else ""
    chosen = _first_choice(found, own) if view.chosen is None else view.chosen
    ranked, unranked = ([one for one in found if bool(one.rank) is wanted] for wanted in (True, False))
    progress = board.progress()
    table = {
        "env": view.env_id,
        "d": view.difficulty,
        "kind": view.kind,
        "chosen": list(chosen),
        "environments": [[env_id, label] for env_id, label in ENVIRONMENTS.items()],
        "kinds": [[kind, label] for kind, label in KINDS.items()],
        "minimum": MINIMUM,
        "most_chosen": MOST_CHOSEN,
        "ranked": _rows(ranked, own, MOST_RANKED),
        "more_ranked": max(0, len(ranked) - MOST_RANKED),
        "unranked": _rows(unranked, own, MOST_UNRANKED),
        "more_unranked": max(0, len(unranked) - MOST_UNRANKED),
        "games": sum(one.score.games for one in found),
        "left_out": [[counted.left_out[reason], text] for reason, text in LEFT_OUT.items() if counted.left_out[reason]],
        "working": progress and [progress.loading, progress.done, progress.of, board.runs.waiting()],
        "problem": board.problem,
    }
    lines = []
    for place, key in enumerate(chosen):
        player = counted.players.get(key)
        points = [[d, *_rounded(one)] for d, one in curve(player, view.env_id)] if player else []
        if player and points:
            lines.append({"series": place, "name": player.name, "kind": player.kind, "points": points})
    return table, {"env": ENVIRONMENTS.get(view.env_id, ""), "lines": lines}


def _first_choice(found: Sequence[Standing], own: str) -> tuple[str, ...]:
    """The visitor and the best, until somebody has chosen whom the chart shows."""
    keys = [one.player.key for one in found]
    mine = [key for key in keys if key == own]
    return (*mine, *[key for key in keys if key != own][: _FIRST_CHOICE - len(mine)])


def _rounded(one: Score) -> list[float]:
    return [round(one.success, 4), round(one.low, 4), round(one.high, 4), one.games]


def _rows(found: Sequence[Standing], own: str, most: int) -> list[dict[str, Any]]:
    """The first rows, and the visitor's own wherever it stands."""
    shown = [one for place, one in enumerate(found) if place < most or one.player.key == own]
    return [_row(one, one.player.key == own) for one in shown]


def _row(one: Standing, own: bool) -> dict[str, Any]:
    success, low, high, games = _rounded(one.score)
    score, (easiest, hardest) = one.score, one.difficulties
    return {
        "key": one.player.key,
        "rank": one.rank,
        "name": one.player.name,
        "kind": one.player.kind,
        "note": one.player.note,
        "own": own,
        "success": success,
        "low": low,
        "high": high,
        "total": round(score.total, 3),
        "total_low": round(score.total_low, 3),
        "total_high": round(score.total_high, 3),
        "games": games,
        "problems": score.problems,
        "d": [easiest, hardest],
    }


def runs(board: Board, ticket: str) -> dict[str, Any]:
    """Value of the list of submitted runs, with what became of the visitor's own submission."""
    return {
        "runs": [_run(run) for run in board.submitted()],
        "mine": _submission(board.runs.submission(ticket)) if ticket else None,
        "limits": [MOST_BYTES // 2**20, MOST_EPISODES],
        "input": "#leaderboard-upload",
    }


def _run(run: Run) -> dict[str, Any]:
    entry = run.entry
    score = entry.score
    cells = [cell.difficulty for cell in entry.cells]
    return {
        "agent": entry.agent,
        "split": entry.split,
        "seeds": entry.seeds,
        "trials": entry.trials,
        "environments": sorted({cell.env_id for cell in entry.cells}),
        "d": [min(cells), max(cells)],
        "episodes": score.episodes,
        "success": [score.success, score.success_low, score.success_high],
        "total": [score.total, score.total_low, score.total_high],
        "commands": [command[:LONGEST_COMMAND] for command in entry.commands[:MOST_COMMANDS]],
        "actions": entry.actions[:12],
        "made": entry.made,
    }


def _submission(taken: Submission | None) -> dict[str, Any]:
    if taken is None:
        return {"status": "gone", "done": 0, "of": 0, "lines": ["This server no longer knows of your submission."]}
    return {"status": taken.status, "done": taken.done, "of": taken.of, "lines": taken.lines}
