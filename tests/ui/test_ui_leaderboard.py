"""The Leaderboard tab in a real browser, on a page of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from leaderboard_games import evaluated, lost, won, write
from tabs import Tabs
from ui_space import HOSTILE, Server, Space, each_look

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
AUDIT = Path(__file__).with_name("audit.js").read_text()
# Printable and short enough for the name of an agent, which strangers choose.
MARKUP = "<img src=x onerror='window.__ran=1'>${window.__ran=2}{{value}}"[:60]


@dataclass
class Place:
    """A page with the tab, and what is behind it."""

    server: Server
    board: Any
    library: Any


@pytest.fixture(scope="module")
def place(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Ann, who has joined, with twelve games, the scripted agent with three, and one game that was changed."""
    from components import leaderboard, theme
    from components.events.leaderboard import wire_leaderboard
    from components.leaderboard_board import Board
    from components.leaderboard_names import Visitor
    from components.library import Library
    from components.session import Shop

    folder = tmp_path_factory.mktemp("board")
    board = Board(Library(folder), Shop(lambda: words_engine).start(), rest=0)
    board.names.join(Visitor("Ann"))
    games = [lost(words_engine, "E_CART", seed % 3, seed) for seed in range(500, 510)]
    games += [won(words_engine, "E_CART", 4, seed) for seed in (520, 521)]
    games += [lost(words_engine, "E_PD", 4, seed, "scripted", "agent") for seed in (1, 2, 3)]
    changed = lost(words_engine, "E_CART", 0, 530)
    changed["reward"]["correct"] = True
    write(folder / "traj-a.jsonl", [*games, changed])
    with gr.Blocks(title="EcomRLVE", fill_width=True, analytics_enabled=False) as demo:
        gr.HTML("<h1>EcomRLVE</h1>", js_on_load=None)
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("Play", id="play"):
                name = gr.Textbox(label="Played as", elem_id="played-as")
            with gr.Tab("Leaderboard", id="leaderboard") as page:
                tab = leaderboard.build(board)
        wire_leaderboard(demo, page, tab, board)
        tab.nickname.change(lambda nickname: nickname, tab.nickname, name)
    options = {"ssr_mode": False, "theme": theme.theme(), "head": theme.head(), "footer_links": ["settings"]}
    _, url, _ = demo.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, **options)
    yield Place(Server(url.rstrip("/"), demo, words_engine, folder), board, board._store)
    demo.close()


@pytest.fixture
def visit(tabs: Tabs, place: Place) -> Iterator[Callable[..., Any]]:
    """Opens the tab as another visitor each time; at the end nothing may have gone wrong on any of the pages."""
    with ExitStack() as visits:

        def open_page(query: str = "", **options: Any) -> Any:
            page = visits.enter_context(tabs.lend(**options))
            visits.enter_context(Space(page, place.server))
            show(page, f"{place.server.url}/?{query}")
            return page

        yield open_page


def show(page: Any, address: str = "") -> None:
    """Load the page, or load it again once it has come to rest, and wait until the board is complete."""
    if address:
        page.goto(address)
    else:
        page.wait_for_selector(".ec-board[aria-busy=false]")
        page.reload()
    page.get_by_role("tab", name="Leaderboard").click()
    page.wait_for_selector(".ec-board[aria-busy=false]")


def join(page: Any, name: str) -> None:
    page.fill("#ec-nickname", name)
    page.check("#ec-agree")
    page.click(".ec-join .ec-primary")


def played_as(page: Any) -> Any:
    """What the name is that the Play tab would use."""
    return page.locator("#played-as textarea, #played-as input")


def row(page: Any, name: str) -> Any:
    return page.locator(".ec-boardtable tbody tr", has=page.locator(".ec-playername", has_text=name))


def test_the_board_shows_people_and_agents_with_recomputed_scores(visit: Callable[..., Any]) -> None:
    page = visit()
    ann = row(page, "Ann")
    expect(ann.locator(".ec-rank")).to_have_text("1")
    expect(ann).to_contain_text("person")
    expect(ann).to_contain_text("12 games · d = 0–4")
    expect(ann.locator(".ec-success")).to_contain_text("17 %")
    expect(ann.locator(".ec-success")).to_contain_text("5–45 %")
    expect(row(page, "scripted").locator(".ec-rank")).to_have_text("–")
    expect(page.locator(".ec-board")).to_contain_text("15 games counted")
    page.click(".ec-board-rules summary")
    expect(page.locator(".ec-left-out")).to_contain_text("1 · did not come out the same")


def test_filters_and_the_chart(visit: Callable[..., Any]) -> None:
    page = visit()
    lines = page.locator(".ec-board-chart .ec-path")
    expect(lines).to_have_count(2)
    page.get_by_label("Show Ann in the chart").focus()
    page.keyboard.press("Space")
    expect(lines).to_have_count(1)
    expect(page.get_by_label("Show Ann in the chart")).to_be_focused()
    page.select_option("[name=kind]", "human")
    expect(row(page, "scripted")).to_have_count(0)
    page.select_option("[name=d]", "4")
    expect(row(page, "Ann").locator(".ec-rank")).to_have_text("–")
    expect(row(page, "Ann")).to_contain_text("2 games · d = 4")
    page.select_option("[name=env]", "E_RETURN")
    page.get_by_role("button", name="Show everything").click()
    expect(row(page, "scripted")).to_have_count(1)
    page.get_by_label("Show Ann in the chart").check()
    expect(page.locator(".ec-legend")).to_contain_text("Ann")
    page.click(".ec-numbers summary")
    expect(page.locator(".ec-numbers")).to_contain_text("100 % (34–100 %)")


def test_a_link_opens_a_view(visit: Callable[..., Any], place: Place) -> None:
    page = visit("tab=leaderboard&env=E_PD&d=4")
    expect(row(page, "scripted")).to_have_count(1)
    expect(row(page, "Ann")).to_have_count(0)
    expect(page.locator("[name=env]")).to_have_value("E_PD")
    link = f"{place.server.url}/?tab=leaderboard&env=E_PD&d=4"
    page.evaluate("void (navigator.clipboard.writeText = async (text) => { window.__copied = text; })")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("window.__copied") == link
    page.evaluate("void (navigator.clipboard.writeText = async () => { throw new Error('no'); })")
    page.get_by_role("button", name="Copied").click()
    expect(page.get_by_label("Link to this view")).to_have_value(link)


def test_a_name_takes_consent_and_comes_back_after_a_reload(
    visit: Callable[..., Any], place: Place, words_engine: Any
) -> None:
    page = visit()
    button = page.locator(".ec-join .ec-primary")
    page.fill("#ec-nickname", "Bob")
    expect(button).to_be_disabled()
    assert "Bob" not in place.board.names.listed()
    page.check("#ec-agree")
    button.click()
    expect(page.locator(".ec-board-name")).to_contain_text("You play as Bob")
    expect(played_as(page)).to_have_value("Bob")
    place.library.append(place.board.consented(lost(words_engine, "E_CART", 0, 600, "Bob")))
    show(page)
    expect(row(page, "Bob")).to_contain_text("you")
    expect(page.locator(".ec-board-name")).to_contain_text("You play as Bob")
    page.get_by_role("button", name="Stop keeping my games").click()
    expect(page.locator(".ec-board-name")).to_contain_text("New games are kept without it")
    expect(played_as(page)).to_have_value("you")
    page.get_by_role("button", name="Keep my games again").click()
    expect(played_as(page)).to_have_value("Bob")
    page.get_by_role("button", name="Forget my games").click()
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("button", name="Forget my games").click()
    page.get_by_role("button", name="Erase", exact=True).click()
    expect(page.locator(".ec-board-name")).to_contain_text("Bob is forgotten")
    expect(row(page, "Bob")).to_have_count(0)
    expect(played_as(page)).to_have_value("you")
    assert not any(b"Bob" in file.read_bytes() for file in place.server.store.glob("*.jsonl"))
    assert page.evaluate("localStorage.getItem('ecomrlve.name')") is None
    show(page)
    expect(page.locator("#ec-nickname")).to_have_value("")


def test_two_visitors_do_not_share_a_name(visit: Callable[..., Any]) -> None:
    one, other = visit(), visit()
    join(one, "Cid")
    expect(one.locator(".ec-board-name")).to_contain_text("You play as Cid")
    join(other, "CID")
    expect(other.locator(".ec-said.ec-bad")).to_contain_text("taken")
    expect(other.locator("#ec-nickname")).to_have_value("CID")
    assert other.evaluate("localStorage.getItem('ecomrlve.name')") is None
    join(other, "Dan")
    expect(other.locator(".ec-board-name")).to_contain_text("You play as Dan")
    expect(played_as(other)).to_have_value("Dan")
    other.evaluate("localStorage.setItem('ecomrlve.name', JSON.stringify({name: 'Cid', key: 'guess'}))")
    show(other)
    expect(other.locator(".ec-board-name")).to_contain_text("belongs to somebody else")
    expect(played_as(other)).not_to_have_value("Cid")


def test_names_that_mislead_or_run_are_refused(visit: Callable[..., Any], place: Place) -> None:
    page = visit()
    before = place.board.names.listed()
    for name, why in (
        (HOSTILE.strip()[:60], "2 to 24"),
        ("<b>${alert(1)}</b>", "made of letters"),
        ("\u202eann", "made of letters"),
        ("scripted", "reserved"),
    ):
        join(page, name)
        expect(page.locator(".ec-said.ec-bad")).to_contain_text(why)
        expect(page.locator("#ec-nickname")).to_be_focused()
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[src='x']").count() == 0
    assert place.board.names.listed() == before


def test_a_run_is_submitted_checked_and_shown_as_text(
    visit: Callable[..., Any], place: Place, words_engine: Any, tmp_path: Path
) -> None:
    run = [evaluated(lost(words_engine, "E_CART", 0, seed), MARKUP) for seed in range(10)]
    files = [write(tmp_path / "traj-1.jsonl", run), tmp_path / "run-1.json"]
    files[1].write_text(json.dumps({"command": f"evaluate {HOSTILE}", "started": "2026"}))
    page = visit()
    for chosen, status in ((files, "accepted"), ([files[0]], "accepted")):
        with page.expect_file_chooser() as chooser:
            page.click("#ec-submit-run")
        chooser.value.set_files(list(map(str, chosen)))
        page.wait_for_selector(f".ec-submission[data-status={status}]")
    expect(page.locator(".ec-submission")).to_contain_text("already")
    expect(page.locator(".ec-run")).to_have_count(1)
    expect(page.locator(".ec-run")).to_contain_text("recomputed ✓")
    expect(page.locator(".ec-run")).to_contain_text("dev, first 10 seeds · d = 0")
    expect(page.locator(".ec-run .ec-playername")).to_have_text(MARKUP)
    page.click(".ec-run summary")
    expect(page.locator(".ec-run pre")).to_contain_text("evaluate <img")
    expect(row(page, "<img")).to_contain_text("submitted run · dev")
    forged = [{**record, "reward": {**record["reward"], "total": 0.5}} for record in run]
    with page.expect_file_chooser() as chooser:
        page.click("#ec-submit-run")
    chooser.value.set_files(str(write(tmp_path / "forged.jsonl", forged)))
    expect(page.locator(".ec-submission[data-tone=bad]")).to_contain_text("does not come out the same")
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[src='x']").count() == 0


def test_everybody_can_use_it(visit: Callable[..., Any]) -> None:
    page = visit()
    join(page, "Eve of daylight")
    page.wait_for_selector(".ec-board-name[data-status=on]")
    page.get_by_role("button", name="Forget my games").click()
    for summary in page.locator("#leaderboard-name, #leaderboard-table, #leaderboard-chart").locator("summary").all():
        summary.click()
    edges = "[...document.querySelectorAll('.ec-board *')].map((node) => node.getBoundingClientRect().right)"
    for width in each_look(page, [("light", 1280), ("dark", 1280), ("light", 390)]):
        assert not page.evaluate(AUDIT + "; contrast()")
        assert not page.evaluate(AUDIT + "; unnamed()")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(f"Math.max(...{edges})") <= width
