"""The Compare tab in a real browser, on a page of its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tabs import Tabs
from ui_space import HOSTILE, LISTENER, Server, Space, each_look, reference_actions

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

AUDIT = Path(__file__).with_name("audit.js").read_text()
FARTHEST = "Math.max(0, ...[...document.querySelectorAll('.ec *')].filter((node) => !node.closest('.ec-scroll, svg'))"
FARTHEST += ".map((node) => node.getBoundingClientRect().right))"


def person(engine: Any) -> dict[str, Any]:
    """A game that a person played: what the reference agent does, without its last question."""
    import ecomrlve

    env = ecomrlve.make("E_PD", catalog=engine)
    env.reset(seed=11, options={"difficulty": 3})
    actions, _ = reference_actions(engine, "E_PD", 3, 11)
    for action in [actions[0], *actions]:
        if not env.episode.over:
            env.step(action)
    return env.trajectory("you", "human").to_dict()


def serve(engine: Any, game: dict[str, Any], store: Path) -> Server:
    """A page with this tab alone, a button as another tab may have one, and a game played in a session."""
    import gradio as gr

    from components import compare, theme
    from components.events.compare import wire_compare
    from components.session import Session, Shop

    shop = Shop(lambda: engine).start()
    with gr.Blocks(title="Compare", fill_width=True, analytics_enabled=False) as demo:
        session = gr.State(None)
        hand_over, play = gr.Button("Hand over", elem_id="hand-over"), gr.Button("Play", elem_id="play")
        tab = compare.build()
        against = wire_compare(demo, session, tab, shop)

        async def handed(state: Any) -> AsyncIterator[list[Any]]:
            async for values in against(state, game, "random"):
                yield values

        def played() -> tuple[Session, Any]:
            made = Session(shop)
            made.start("E_CART", 0, 3)
            made.act("{broken", 1)
            return made, gr.Button("Played")

        hand_over.click(handed, tab.state, tab.outputs())
        play.click(played, None, [session, play])
    _, url, _ = demo.launch(
        theme=theme.theme(),
        head=theme.head(),
        ssr_mode=False,
        run_history=False,
        footer_links=["settings"],
        server_name="127.0.0.1",
        server_port=None,
        prevent_thread_lock=True,
        quiet=True,
    )
    return Server(url.rstrip("/"), demo, engine, store)


@pytest.fixture(scope="module")
def game(words_engine: Any) -> dict[str, Any]:
    return person(words_engine)


@pytest.fixture(scope="module")
def compare_server(words_engine: Any, game: dict[str, Any], tmp_path_factory: Any) -> Iterator[Server]:
    running = serve(words_engine, game, tmp_path_factory.mktemp("compare"))
    yield running
    running.demo.close()


@pytest.fixture
def space(tabs: Tabs, compare_server: Server) -> Iterator[Space]:
    with tabs.lend() as page, Space(page, compare_server) as space:
        yield space


@pytest.fixture
def page(space: Space) -> Any:
    return opened(space)


def opened(space: Space, query: str = "") -> Any:
    space.go(f"{space.server.url}/?{query}")
    space.page.wait_for_selector(".ec-cpair[data-status]")
    return space.page


def choose(page: Any, one: str, other: str, env_id: str = "E_PD", seed: int = 7) -> None:
    page.select_option("#ec-cmp-one", one)
    page.select_option("#ec-cmp-other", other)
    if env_id:
        page.select_option("#ec-cmp-env", env_id)
        page.fill("#ec-cmp-seed", str(seed))


def start(page: Any) -> None:
    page.click("#ec-cmp-start")
    page.wait_for_selector(".ec-cpair[data-status=done]")


def totals(page: Any) -> list[str]:
    return page.locator(".ec-boardtotal .ec-totalnumber").all_inner_texts()


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def test_two_agents_side_by_side_and_where_they_part(page: Any, words_engine: Any) -> None:
    import ecomrlve
    from components.compare_rows import aligned, first_difference
    from ecomrlve.agents.base import play
    from ecomrlve.agents.registry import make_agent

    records = []
    for name in ("reference", "scripted"):
        env = ecomrlve.make("E_CART", catalog=words_engine)
        play(env, make_agent(name), 23, 3)
        records.append(env.trajectory(name, "agent").to_dict())
    pairs = aligned(*(record["steps"] for record in records))
    place = first_difference(pairs)
    assert place is not None
    choose(page, "reference", "scripted", "E_CART", 23)
    start(page)
    assert totals(page) == [signed(record["reward"]["total"]) for record in records]
    expect(page.locator(".ec-crow")).to_have_count(len(pairs) + 1)
    sides = page.locator(".ec-cpair")
    expect(sides).to_have_attribute("data-step", str(place + 1))
    expect(page.locator(".ec-crow.ec-on .ec-badge").first).to_have_text("Here they part")
    sides.focus()
    for key, step in (
        ("Home", 0),
        ("ArrowRight", 1),
        ("j", 2),
        ("k", 1),
        ("End", len(pairs)),
        ("ArrowRight", len(pairs)),
    ):
        page.keyboard.press(key)
        expect(sides).to_have_attribute("data-step", str(step))
    page.click("#ec-cmp-part")
    expect(sides).to_have_attribute("data-step", str(place + 1))
    call = page.locator(".ec-toolcall").first
    call.locator("summary").click()
    expect(call.locator("pre").first).to_be_visible()


def test_an_address_opens_a_comparison_and_gives_it_away_again(space: Space) -> None:
    page = opened(space, "tab=compare&env=E_POLICY&d=2&seed=9&a=random&b=scripted")
    page.wait_for_selector(".ec-cpair[data-status=done]")
    expect(page.locator(".ec-cpair h3")).to_contain_text("E_POLICY), difficulty 2, seed 9")
    chosen = [page.input_value(f"#ec-cmp-{name}") for name in ("env", "d", "seed", "one", "other")]
    assert chosen == ["E_POLICY", "2", "9", "random", "scripted"]
    page.click("#ec-cmp-link")
    copied = page.locator(".ec-cpair .ec-head").get_by_text("Link copied")
    expect(copied.or_(page.locator(".ec-cpair .ec-head input"))).to_be_visible()


def test_nothing_that_is_sent_tells_who_is_who_until_the_guess(browser: Any, compare_server: Server) -> None:
    with browser.new_context() as window, Space(window.new_page(), compare_server) as space:
        space.page.add_init_script(LISTENER)
        guess_blindly(opened(space))


def guess_blindly(page: Any) -> None:
    choose(page, "reference", "scripted")
    page.check("#ec-cmp-blind")
    before = page.evaluate("window.sent.length")
    start(page)
    expect(page.locator(".ec-guess b")).to_have_text("Which one is the Reference agent?")
    sent = page.evaluate(f"window.sent.slice({before})").lower()
    assert sent.count('"circle"') == 1
    assert "reference" not in sent
    assert "scripted" not in sent
    assert "agent" not in page.locator(".ec-board").inner_text().lower()
    page.click("[data-guess='0']")
    expect(page.locator(".ec-verdict")).to_contain_text("Circle is ")
    names = page.locator(".ec-board th[scope=col]").all_inner_texts()
    assert sorted(name.split("\u00a0")[1] for name in names) == ["Reference agent", "Scripted agent"]
    right = "Reference" in names[0]
    expect(page.locator(".ec-verdict")).to_have_attribute("data-tone", "good" if right else "bad")


def test_a_series_runs_to_its_figures_and_opens_a_seed(page: Any) -> None:
    choose(page, "reference", "random", "E_CART", 30)
    page.click("#ec-cmp-series")
    page.wait_for_selector(".ec-cseries[data-status=done]")
    expect(page.locator("#ec-cmp-conclusion")).to_contain_text("Reference agent earns more than Random agent")
    expect(page.locator(".ec-seeds tbody tr")).to_have_count(10)
    expect(page.locator(".ec-dotplot circle")).to_have_count(11)
    shown = page.locator("tr[data-seed='34']").inner_text()
    page.click("[aria-label='Look at seed 34']")
    expect(page.locator(".ec-cpair h3")).to_contain_text("E_CART), difficulty 3, seed 34")
    assert all(total in shown for total in totals(page))
    page.click("[aria-label='Close the series']")
    expect(page.locator(".ec-cseries")).to_be_hidden()


def test_a_series_can_be_stopped(page: Any) -> None:
    choose(page, "reference", "scripted", "E_JOURNEY", 1)
    page.locator("#ec-cmp-d").fill("12")
    page.select_option("#ec-cmp-count", "50")
    page.click("#ec-cmp-series")
    page.click("#ec-cmp-stop")
    page.wait_for_selector(".ec-cseries[data-status=stopped]")
    expect(page.locator(".ec-cseries")).to_contain_text("What was played until then counts")
    assert int(page.get_attribute(".ec-cseries", "data-tried")) < 50


def test_a_wrong_seed_is_told_and_the_page_goes_on(page: Any) -> None:
    choose(page, "reference", "random")
    page.fill("#ec-cmp-seed", "<img src=x onerror='window.__ran=1'>")
    page.click("#ec-cmp-start")
    expect(page.locator(".ec-cpair .ec-error")).to_contain_text("seed must be a whole number")
    page.fill("#ec-cmp-seed", "5")
    start(page)
    assert page.evaluate("window.__ran") is None


# --- recorded games --------------------------------------------------------------------------------------------------


def test_another_tab_hands_over_a_game(page: Any, game: dict[str, Any]) -> None:
    page.click("#hand-over")
    page.wait_for_selector(".ec-cpair[data-status=done]")
    assert totals(page)[0] == signed(game["reward"]["total"])
    names = page.locator(".ec-board th[scope=col]").all_inner_texts()
    assert [name.split("\u00a0")[1] for name in names] == ["You", "Random agent"]
    expect(page.locator("#ec-cmp-one option:checked")).to_contain_text("Recorded game by You (E_PD, d 3, seed 11)")
    expect(page.locator("#ec-cmp-seed")).to_be_disabled()
    expect(page.locator("#ec-cmp-series")).to_be_disabled()
    page.check("#ec-cmp-blind")
    page.click("#ec-cmp-start")
    expect(page.locator(".ec-guess b")).to_have_text("Which one is the person?")
    page.click("text=just tell me")
    expect(page.locator(".ec-verdict")).to_have_attribute("data-tone", "plain")
    page.select_option("#ec-cmp-one", "scripted")
    expect(page.locator("#ec-cmp-seed")).to_be_enabled()


def test_the_last_game_of_the_play_tab(page: Any) -> None:
    choose(page, "@last", "reference", "")
    page.click("#ec-cmp-start")
    expect(page.locator(".toast-wrap")).to_contain_text("There is no such game")
    page.click("#play")
    expect(page.locator("#play")).to_have_text("Played")
    start(page)
    expect(page.locator(".ec-cpair h3")).to_contain_text("E_CART), difficulty 0, seed 3")
    assert totals(page)[0] == "−1.00"


def send(page: Any, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.click("#compare-upload")
    chooser.value.set_files(str(file))


def test_an_uploaded_game_is_text_whatever_it_holds(page: Any, game: dict[str, Any], tmp_path: Path) -> None:
    actions = [{"assistant_message": HOSTILE}, "{" + HOSTILE]
    steps = [{"action": action, "customer": {"text": HOSTILE}, "tool_results": [HOSTILE]} for action in actions]
    hostile = {**game, "steps": steps, "player": {"name": HOSTILE, "kind": "human"}, "goal": HOSTILE}
    file = tmp_path / "markup.jsonl"
    file.write_text('{"torn": \n' + json.dumps(hostile) + "\n")
    send(page, file)
    expect(page.locator("#ec-cmp-one option:checked")).to_contain_text("<img src=x")
    start(page)
    expect(page.locator(".ec-crow", has_text="Turn 1")).to_contain_text("<img src=x")
    assert totals(page)[0] == "−1.00"
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[src='x']").count() == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"x" * (10 * 2**20), "10 MB"),
        (b'{"schema": 1, "env_id": "E_PD"}\n', "lacks difficulty"),
        (b"", "it is empty"),
    ],
)
def test_a_file_that_is_no_game_is_refused(page: Any, tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "<b>odd.jsonl"
    file.write_bytes(content)
    send(page, file)
    expect(page.locator(".toast-wrap")).to_contain_text(told)
    choose(page, "reference", "random")
    start(page)


# --- looks -----------------------------------------------------------------------------------------------------------


def test_everybody_can_read_and_use_it(page: Any) -> None:
    def look() -> None:
        for width in each_look(page):
            assert page.evaluate(AUDIT + "; contrast()") == []
            assert page.evaluate(AUDIT + "; unnamed()") == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(FARTHEST) <= width

    look()
    choose(page, "reference", "scripted", "E_CART", 23)
    page.check("#ec-cmp-blind")
    start(page)
    look()
    page.click("text=just tell me")
    expect(page.locator(".ec-verdict")).to_be_visible()
    page.locator(".ec-toolcall summary").first.click()
    page.click("#ec-cmp-series")
    page.wait_for_selector(".ec-cseries[data-status=done]")
    look()
    choose(page, "random", "scripted", "E_BUNDLE", 4)
    page.uncheck("#ec-cmp-blind")
    page.click("#ec-cmp-start")
    expect(page.locator(".ec-cpair h3")).to_contain_text("E_BUNDLE")
    look()
