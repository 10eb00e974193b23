from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.helpers import special_args
from gradio.oauth import OAuthProfile
from leaderboard_games import evaluated, lost, won, write

from components import leaderboard
from components.events.leaderboard import change_name, wire_leaderboard
from components.leaderboard_board import Board
from components.leaderboard_counting import MINIMUM, Game, View
from components.leaderboard_hub import VARIABLE, dataset, start_copying
from components.leaderboard_names import NicknameError, Visitor
from components.library import Library
from components.session import ENVIRONMENTS, SessionError, Shop

OAUTH = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL")
PROFILE = {"preferred_username": "ann", "name": "Ann", "profile": "", "picture": ""}


@pytest.fixture
def board(tmp_path: Path, words_engine: Any) -> Board:
    shop = Shop(lambda: words_engine).start()
    shop.wait()
    return Board(Library(tmp_path), shop, offered=lambda: ["scripted"], rest=0)


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a Space whose settings ask for sign-in, but that no library is there that would do it."""
    monkeypatch.setattr("gradio.routes.attach_oauth", lambda app: None)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: name in LIBRARIES or find(name, *rest))
    for name, value in {"SYSTEM": "spaces", "SPACE_ID": "a/b", **dict.fromkeys(OAUTH, "x")}.items():
        monkeypatch.setenv(name, value)


LIBRARIES = ("authlib", "itsdangerous")


def page(board: Board) -> tuple[gr.Blocks, leaderboard.LeaderboardTab]:
    with gr.Blocks() as demo, gr.Tab("Leaderboard") as tab:
        made = leaderboard.build(board)
    with demo:
        wire_leaderboard(demo, tab, made, board)
    return demo, made


def handler(demo: gr.Blocks, name: str) -> Any:
    return next(one.fn for one in demo.fns.values() if one.name == name)


def test_the_table_says_what_the_statistics_say(board: Board, tmp_path: Path, words_engine: Any) -> None:
    board.names.join(Visitor("Ann"))
    games = [won(words_engine, "E_CART", 0, seed) for seed in range(2)]
    games += [lost(words_engine, "E_CART", 1, 100 + seed) for seed in range(MINIMUM - 2)]
    write(tmp_path / "a.jsonl", [*games, lost(words_engine, "E_CART", 0, 900, "scripted", "agent")])
    board.check()
    table, chart = leaderboard.show(board, View(), "Ann")
    [ann], [scripted] = table["ranked"], table["unranked"]
    assert (ann["rank"], ann["own"], ann["kind"], ann["d"], ann["games"]) == (1, True, "human", [0, 1], MINIMUM)
    assert (scripted["rank"], scripted["own"], scripted["kind"]) == (0, False, "agent")
    # E. B. Wilson's interval for 2 of 10.
    assert (ann["success"], ann["low"], ann["high"]) == (
        0.2,
        pytest.approx(0.0567, abs=5e-4),
        pytest.approx(0.5098, abs=5e-4),
    )
    assert table["chosen"] == ["human:Ann", "agent:scripted"]
    assert [(line["name"], [point[0] for point in line["points"]]) for line in chart["lines"]] == [
        ("Ann", [0, 1]),
        ("scripted", [0]),
    ]
    assert table["working"] is None
    table, chart = leaderboard.show(board, View("E_PD", chosen=("human:Ann", "human:gone")), "you")
    assert (table["ranked"], table["unranked"], chart["lines"]) == ([], [], [])
    json.dumps([table, chart])


def test_the_own_row_is_shown_however_low_it_stands(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "MOST_RANKED", 2)
    games = []
    for rank, name in enumerate(("Ann", "Bob", "Cid", "Dan")):
        board.names.join(Visitor(name))
        games += [Game(name, "human", "E_CART", 0, seed, seed >= rank, 0.5) for seed in range(MINIMUM)]
    board._found = dict(enumerate(games))
    table, _ = leaderboard.show(board, View(), "Dan")
    assert [(row["name"], row["rank"]) for row in table["ranked"]] == [("Ann", 1), ("Bob", 2), ("Dan", 4)]
    assert table["more_ranked"] == 2


@pytest.mark.parametrize(
    ("query", "view"),
    [
        ({"tab": "leaderboard", "env": "E_CART", "d": "3"}, View("E_CART", 3)),
        ({"tab": "leaderboard", "env": "<b>", "d": "x"}, View()),
        ({"tab": "play", "env": "E_CART"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_an_address_names_a_view(query: Any, view: View | None) -> None:
    assert leaderboard.linked(query) == view


def test_consent_comes_first(board: Board) -> None:
    for agreed in (None, False, "yes", 1):
        with pytest.raises(SessionError, match="consent"):
            change_name(board, Visitor("Ann"), {"do": "join", "agreed": agreed})
    assert not board.names.listed()
    for sent in ({}, {"do": "delete everything"}, {"do": ["join"]}):
        with pytest.raises(SessionError):
            change_name(board, Visitor("Ann"), sent)


def test_two_visitors_have_two_names(board: Board) -> None:
    nickname, mine = change_name(board, Visitor("Ann"), {"do": "join", "agreed": True})
    assert (nickname, mine["status"], bool(mine["key"])) == ("Ann", "on", True)
    with pytest.raises(NicknameError):
        change_name(board, Visitor("ann"), {"do": "join", "agreed": True})
    for wanted in ("stop", "forget"):
        with pytest.raises(NicknameError):
            change_name(board, Visitor("Ann", "guess"), {"do": wanted})
    ann = leaderboard.visitor_of(mine)
    assert change_name(board, ann, {"do": "stop"})[0] == "you"
    nickname, panel = change_name(board, ann, {"do": "join", "agreed": True})
    assert (nickname, panel["key"]) == ("Ann", ann.key)
    nickname, panel = change_name(board, ann, {"do": "forget"})
    assert (nickname, panel["status"], panel["key"], panel["name"]) == ("you", "forgotten", "", "")
    assert board.idle.wait(300)


def test_agents_on_the_board_cannot_be_impersonated(board: Board, tmp_path: Path, words_engine: Any) -> None:
    run = write(tmp_path / "up" / "a.jsonl", [evaluated(lost(words_engine, "E_CART", 0, 0), "My Agent 7B")])
    board.runs.take([run])
    board.check()
    for name in ("scripted", "my-agent-7b"):
        with pytest.raises(NicknameError, match="reserved"):
            change_name(board, Visitor(name), {"do": "join", "agreed": True})


@pytest.mark.parametrize(
    "sent", [None, [], {}, {"name": 1, "key": []}, {"name": "@ann", "key": ""}, {"name": "x" * 9999}]
)
def test_a_visitor_of_nonsense_is_nobody(sent: Any) -> None:
    assert leaderboard.visitor_of(sent) == Visitor()


def test_a_key_is_told_to_nobody_else() -> None:
    assert leaderboard.me(Visitor("Ann", "secret"), "taken")["key"] == ""
    assert leaderboard.me(Visitor("Ann", "secret"), "none")["key"] == ""
    assert leaderboard.me(Visitor("Ann", "secret"), "on")["key"] == "secret"


def test_an_opened_page_gets_its_name_back(board: Board) -> None:
    demo, _ = page(board)
    arrive = handler(demo, "arrive")
    ann = board.names.join(Visitor("Ann"))
    saved = {"name": ann.name, "key": ann.key}
    _, nickname, _, table, _, _, panel = arrive({"saved": saved, "query": {}}, None)
    assert (nickname, panel["status"]) == ("Ann", "on")
    assert table == gr.skip()
    view, _, _, table, _, _, _ = arrive({"saved": saved, "query": {"tab": "leaderboard", "d": "2"}}, None)
    assert (view, table["d"]) == (View(difficulty=2), 2)
    for odd in (None, "x", {"saved": "x", "query": 5}, {"saved": {"name": "Ann", "key": "guess"}}):
        *_, panel = arrive(odd, None)
        assert (arrive(odd, None)[1], panel["key"]) == ("you", "")
    *_, panel = arrive({"saved": {"name": "Gone", "key": "k"}}, None)
    assert "not known" in panel["said"]
    board.names.stop(ann)
    assert arrive({"saved": saved}, None)[1] == "you"
    assert board.idle.wait(300)


def test_outside_of_spaces_there_is_no_button_to_sign_in(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SYSTEM", "SPACE_ID", *OAUTH):
        monkeypatch.delenv(name, raising=False)
    demo, tab = page(board)
    assert tab.login is None
    assert not demo.expects_oauth
    assert not leaderboard.me(Visitor(), "none")["login"]


@pytest.mark.usefixtures("space")
def test_in_a_space_people_appear_by_their_login(board: Board) -> None:
    demo, tab = page(board)
    assert tab.login is not None
    assert demo.expects_oauth
    with pytest.raises(SessionError, match="Sign in"):
        change_name(board, Visitor("Ann"), {"do": "join", "agreed": True})
    arrive = handler(demo, "arrive")
    saved = {"name": "Bob", "key": "k"}
    *_, panel = arrive({"saved": saved}, OAuthProfile(PROFILE))
    assert (panel["name"], panel["status"], panel["signed_in"]) == ("@ann", "none", True)
    visitor = leaderboard.visitor_of(saved, OAuthProfile(PROFILE))
    assert change_name(board, visitor, {"do": "join", "agreed": True})[0] == "@ann"
    assert arrive({"saved": saved}, OAuthProfile(PROFILE))[1] == "@ann"
    assert arrive({"saved": {"name": "@ann", "key": ""}}, None)[1] == "you"
    assert board.idle.wait(300)


@pytest.mark.usefixtures("space")
@pytest.mark.parametrize("missing", [*OAUTH, "SPACE_ID"])
def test_half_a_sign_in_is_none(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    assert leaderboard.login_possible()
    monkeypatch.delenv(missing)
    if missing == "SPACE_ID":
        monkeypatch.setenv("SYSTEM", "")
    assert not leaderboard.login_possible()


def test_gradio_hands_the_profile_to_the_handlers_that_ask_for_it(board: Board) -> None:
    class Request:
        session: dict[str, Any] = {"oauth_info": {"userinfo": PROFILE, "expires_at": time.time() + 60}}  # noqa: RUF012

    demo, _ = page(board)
    values, *_ = special_args(handler(demo, "arrive"), [{}], Request())  # type: ignore[arg-type]
    assert values[1]["preferred_username"] == "ann"
    event = gr.EventData(None, {"do": "stop"})
    values, *_ = special_args(handler(demo, "act_on_name"), [None, None, None], Request(), event)  # type: ignore[arg-type]
    assert values[4]["preferred_username"] == "ann"


def test_all_events_are_private(board: Board) -> None:
    demo, _ = page(board)
    assert {one.api_visibility for one in demo.fns.values()} == {"private"}


def test_without_a_dataset_and_a_token_nothing_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(**options: Any) -> Any:
        raise AssertionError("something was to be sent")

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    assert (dataset(), start_copying(tmp_path, never)) == ("", None)
    monkeypatch.setenv(VARIABLE, "someone/games")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    assert (dataset(), start_copying(tmp_path, never)) == ("", None)
    assert leaderboard.me(Visitor(), "none")["hub"] == ""


def test_only_games_are_copied_to_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.utils import filter_repo_objects

    asked: list[dict[str, Any]] = []
    monkeypatch.setenv(VARIABLE, "someone/games")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_x")
    assert start_copying(tmp_path, lambda **options: asked.append(options) or "copying") == "copying"
    assert (asked[0]["repo_id"], asked[0]["repo_type"], asked[0]["private"]) == ("someone/games", "dataset", True)
    files = [
        "traj-a.jsonl",
        "leaderboard/names.json",
        "leaderboard/verdicts.txt",
        "leaderboard/incoming/t/traj-0.jsonl",
    ]
    rules = {name: asked[0][name] for name in ("allow_patterns", "ignore_patterns")}
    assert list(filter_repo_objects(files, **rules)) == ["traj-a.jsonl"]
    assert leaderboard.me(Visitor(), "none")["hub"] == "someone/games"

    def unreachable(**options: Any) -> Any:
        raise ConnectionError("no network")

    assert start_copying(tmp_path, unreachable) is None


def test_every_environment_can_be_chosen(board: Board) -> None:
    table, _ = leaderboard.show(board, View(), "you")
    assert [env_id for env_id, _ in table["environments"]] == list(ENVIRONMENTS)
