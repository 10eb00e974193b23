"""What goes wrong around a page: back and forward, reloads, servers that start anew, double clicks, broken files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import free_port, process
from ui_space import Server, Space, go_to, reference_actions

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
LONG_SERIES = {"#ec-cmp-env": "E_JOURNEY", "#ec-cmp-count": "50", "#ec-cmp-other": "scripted"}


def selected(tab: Space, name: str) -> None:
    """Wait until the page shows a tab."""
    tab.page.wait_for_selector(f"#tabs > .tab-wrapper button.selected:has-text('{name}')", state="attached")


def turns_asked(page: Any) -> list[str]:
    """Collects the requests for a turn from now on."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if '"action":' in (request.post_data or "") else None)
    return sent


# --- back and forward ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_back_leads_from_tab_to_tab(browser: Any, server: Server, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    tab = Space(context.new_page(), server).open("env=E_CART&d=3&seed=5", version=1)
    for name in ("Watch", "Leaderboard"):
        go_to(tab.page, name)
        selected(tab, name)
    tab.page.go_back()
    selected(tab, "Watch")
    tab.page.go_back()
    selected(tab, "Play")
    assert tab.version == 1
    tab.page.go_forward()
    tab.page.go_forward()
    selected(tab, "Leaderboard")
    # A page that is loaded again opens where it was, and has its game.
    tab.page.reload()
    selected(tab, "Leaderboard")
    tab.page.wait_for_selector("#meters .ec-meters[data-version='1']", state="attached")
    tab.page.go_back()
    selected(tab, "Watch")
    context.close()
    assert not tab.broke_off()


def test_back_from_another_game_leads_to_the_one_that_was_left(tab: Space) -> None:
    tab.open("env=E_CART&d=3&seed=5", version=1)
    tab.call("catalog_search", {"query": "mug"})
    tab.open("env=E_PD&d=3&seed=6", version=1)
    tab.call("catalog_search", {"query": "lamp"})
    tab.call("catalog_search", {"query": "red lamp"})
    tab.page.go_back()
    tab.wait(2)
    expect(tab.page.locator("#meters")).to_contain_text("E_CART · d 3 · seed 5")
    tab.call("catalog_search", {"query": "cup"})
    tab.page.go_forward()
    tab.wait(3)
    expect(tab.page.locator("#meters")).to_contain_text("E_PD · d 3 · seed 6")
    tab.page.go_back()
    tab.wait(3)
    expect(tab.page.locator("#chat .thought-group")).to_have_count(2)
    # A page that is left in the middle of something breaks that off.
    assert not tab.broke_off()


def test_a_link_to_a_tab_and_back(tab: Space) -> None:
    tab.open("env=E_CART&d=3&seed=5", version=1)
    tab.go(f"{tab.server.url}/?tab=compare&env=E_POLICY&d=2&seed=9&a=reference&b=random")
    selected(tab, "Compare")
    tab.page.wait_for_selector(".ec-cpair[data-status=done]")
    go_to(tab.page, "Play")
    selected(tab, "Play")
    tab.page.go_back()
    selected(tab, "Compare")
    assert not tab.problems
    tab.page.go_back()
    selected(tab, "Play")
    tab.wait(1)
    assert not tab.broke_off()


# --- reloads and servers that start anew -----------------------------------------------------------------------------


def series(tab: Space) -> Any:
    """Start a series that takes long; returns the page."""
    page = tab.page
    tab.go(f"{tab.server.url}/?tab=compare")
    page.wait_for_selector("#ec-cmp-series")
    for name, value in LONG_SERIES.items():
        page.select_option(name, value)
    page.locator("#ec-cmp-d").fill("12")
    page.click("#ec-cmp-series")
    page.wait_for_selector("#ec-cmp-stop")
    return page


def test_a_reload_in_the_middle_leaves_a_page_that_works(tab: Space) -> None:
    _, reward = reference_actions(tab.server.engine, "E_CART", 6, 7)
    page = tab.page
    tab.go(f"{tab.server.url}/?tab=watch&env=E_CART&d=6&seed=7&agent=reference")
    page.wait_for_selector(".ec-watch-turn[data-turn='2']")
    tab.go()
    selected(tab, "Watch")
    page.wait_for_selector(".ec-watch-turn[data-turn='2']")
    expect(page.locator(".ec-watch-line")).to_contain_text("Paused after turn")
    page.select_option("#ec-watch-speed", "most")
    page.click("#ec-watch-pause")
    page.wait_for_selector(".ec-watch-talk[data-status=finished]")
    assert float(page.get_attribute("#watch-result .ec-totalnumber", "data-total")) == pytest.approx(reward.total)
    series(tab)
    tab.go()
    selected(tab, "Compare")
    expect(page.locator(".ec-cseries")).to_be_hidden()
    page.click("#ec-cmp-start")
    page.wait_for_selector(".ec-cpair[data-status=done]")


def test_a_server_that_starts_anew_finds_every_page_where_it_is(browser: Any, tmp_path: Path) -> None:
    port = free_port()
    site = Server(f"http://127.0.0.1:{port}", None, None, tmp_path)
    pages = [Space(browser.new_context(reduced_motion="reduce").new_page(), site) for _ in range(3)]
    playing, watching, comparing = pages
    with process(port, tmp_path):
        playing.open("env=E_CART&d=3&seed=5", version=1).call("catalog_search", {"query": "mug"})
        watching.go(site.url)
        go_to(watching.page, "Watch")
        watching.page.click("#ec-watch-start")
        watching.page.wait_for_selector(".ec-watch-turn[data-turn='1']")
        watching.page.click("#ec-watch-pause")
        watching.page.wait_for_selector(".ec-watch-talk[data-waiting=false]")
        turns = int(watching.page.get_attribute(".ec-watch-talk", "data-turns"))
        series(comparing)
        comparing.page.evaluate("window.isOld = true")
    with process(port, tmp_path):
        playing.call("catalog_search", {"query": "lamp"})
        expect(playing.page.locator("#meters .ec-turn")).to_contain_text("Turn 3 of")
        expect(playing.page.locator("#chat .thought-group")).to_have_count(2)
        watching.page.wait_for_selector(f".ec-watch-talk[data-turns='{turns}']")
        watching.page.select_option("#ec-watch-speed", "most")
        watching.page.click("#ec-watch-pause")
        watching.page.wait_for_selector(".ec-watch-talk[data-status=finished]")
        expect(watching.page.locator("#watch-result")).to_contain_text("Correct")
        # A page that was waiting for something loads itself anew, and opens where it was.
        comparing.page.wait_for_function("!window.isOld")
        selected(comparing, "Compare")
        expect(comparing.page.locator(".ec-cseries")).to_be_hidden()
        comparing.page.click("#ec-cmp-start")
        comparing.page.wait_for_selector(".ec-cpair[data-status=done]")
        for one in pages:
            one.page.context.close()
            assert not one.broke_off()


# --- double clicks ---------------------------------------------------------------------------------------------------


def test_a_double_click_takes_one_turn(tab: Space) -> None:
    tab.open()
    page = tab.page
    page.dblclick("#ec-random")
    tab.page.wait_for_selector("#meters .ec-meters[data-status=running]")
    begun = tab.wait(tab.version).version
    assert begun <= 2  # two games were asked for, or one; either way the page shows the last of them
    tab.open("env=E_CART&d=3&seed=5", version=1)
    sent = turns_asked(page)

    def twice(selector: str, version: int) -> None:
        sent.clear()
        page.dblclick(selector)
        tab.wait(version)
        assert len(sent) == 1

    tab.fill_call("catalog_search", {"query": "mug"})
    twice(".ec-call", 2)
    page.fill("#ec-message", "Which size?")
    twice("#ec-send", 3)
    page.click("text=Raw action")
    page.fill("#ec-raw", "One moment.")
    twice("#ec-raw-send", 4)
    tab.fill_call("cart_view", {})
    page.dblclick(".ec-collect")
    expect(page.locator(".ec-tray code")).to_have_text(["cart_view", "cart_view"])
    twice("#ec-submit", 5)
    assert tab.version == 5


def test_a_double_click_starts_one_watch_one_comparison_and_one_check(tab: Space) -> None:
    actions, _ = reference_actions(tab.server.engine, "E_CART", 2, 5)
    tab.open("env=E_CART&d=2&seed=5", version=1)
    for action in actions:
        tab.take(action)
    page = tab.page
    page.dblclick("#ec-replay")
    selected(tab, "Trajectories")
    page.wait_for_selector(".ec-running:not([data-state=waiting])")
    page.dblclick("#ec-verify")
    expect(page.locator("#verdict")).to_contain_text("Verified")
    go_to(page, "Watch")
    page.dblclick("#ec-watch-start")
    page.select_option("#ec-watch-speed", "most")
    page.wait_for_selector(".ec-watch-talk[data-status=finished]")
    numbers = page.locator(".ec-watch-turn").evaluate_all("nodes => nodes.map((node) => Number(node.dataset.turn))")
    assert numbers == list(range(len(numbers)))
    page.dblclick("#ec-watch-keep")
    expect(page.locator("#ec-watch-keep")).to_be_disabled()
    go_to(page, "Compare")
    page.dblclick("#ec-cmp-start")
    page.wait_for_selector(".ec-cpair[data-status=done]")
    expect(page.locator(".ec-boardtotal .ec-totalnumber")).to_have_count(2)
    lines = [line for file in tab.server.store.glob("*.jsonl") for line in file.read_text().splitlines()]
    watched = [one for one in map(json.loads, lines) if one["player"]["name"] == "reference" and one["seed"] == 7]
    assert len(watched) == 1


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record(words_engine: Any) -> dict[str, Any]:
    """An ordinary record."""
    import ecomrlve
    from ecomrlve.agents.base import play
    from ecomrlve.agents.registry import make_agent

    env = ecomrlve.make("E_PD", catalog=words_engine)
    play(env, make_agent("scripted"), 3, 2)
    return env.trajectory("uploader").to_dict()


def broken(record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name of a file, its text, and what the page says of it."""
    line = json.dumps(record)
    yield "torn.jsonl", f"{line[: len(line) // 2]}\n", "0 episodes read"
    yield "prose.jsonl", "Dear shop,\nwhere is my order?\n", "0 episodes read"
    yield "schema.jsonl", json.dumps(record | {"schema": 99}) + "\n", "0 episodes read"
    yield "deep.jsonl", '{"schema": 1, "goal": ' + "[" * 100_000 + "\n", "0 episodes read"
    yield "long.jsonl", json.dumps(record | {"note": "x" * 9 * 2**20}) + "\n", "0 episodes read"
    yield "half.jsonl", f"{line}\n{line[:90]}\n", "1 episode read"


def test_a_broken_file_is_told_and_the_page_goes_on(tab: Space, record: dict[str, Any], tmp_path: Path) -> None:
    page = tab.open().page
    go_to(page, "Trajectories")
    send: Callable[[str, Path], None] = lambda button, file: _send(page, button, file)
    for name, text, says in broken(record):
        file = tmp_path / name
        file.write_text(text)
        send("#upload", file)
        expect(page.locator("#notice")).to_contain_text(f"{name}: {says}")
    expect(page.locator("#episodes tbody tr", has_text="uploader")).to_have_count(1)
    go_to(page, "Compare")
    for name, _, says in broken(record):
        send("#compare-upload", tmp_path / name)
        if says.startswith("0"):
            expect(page.locator(".toast-wrap")).to_contain_text(name)
            page.locator(".toast-wrap button").first.click()
            expect(page.locator(".toast-body")).to_have_count(0)
    expect(page.locator("#ec-cmp-one option:checked")).to_contain_text("uploader")
    page.click("#ec-cmp-start")
    page.wait_for_selector(".ec-cpair[data-status=done]")


def _send(page: Any, button: str, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.click(button)
    chooser.value.set_files(str(file))
