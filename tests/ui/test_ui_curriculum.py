"""The Difficulty & curriculum tab in a real browser, on a page of its own."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tabs import Tabs
from ui_space import HOSTILE, Server, Space, each_look

from components import curriculum_runs

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
AUDIT = Path(__file__).with_name("audit.js").read_text()
CONTRAST, UNNAMED = AUDIT + "; contrast()", AUDIT + "; unnamed()"
FARTHEST = "Math.max(...[...document.querySelectorAll('.ec *')].map((node) => node.getBoundingClientRect().right))"
# Lines and letters of charts, which the audit of texts leaves out: at least 3 to 1 for lines, 4.5 for letters.
LINES = """() => {
  const ratio = (node, style) => {
    const below = ground(node.closest(".ec"));
    const seen = parse(getComputedStyle(node)[style]);
    const [high, low] = [luminance(seen), luminance(below)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const poor = (selector, style, least) =>
    [...document.querySelectorAll(selector)]
      .filter((node) => ratio(node, style) < least)
      .map((node) => `${node.getAttribute("class")} ${ratio(node, style).toFixed(2)}`);
  return [...poor(".ec-track, .ec-curveline", "stroke", 3), ...poor(".ec-chart text", "fill", 4.5)];
}"""


def page_of(engine: Any) -> Any:
    """A page with two tabs: the one that is tested is the second, as in the Space it is not the first."""
    import gradio as gr

    from components import curriculum
    from components.events.curriculum import wire_curriculum
    from components.session import Shop

    shop = Shop(lambda: engine).start()
    with gr.Blocks(title="test", fill_width=True, analytics_enabled=False) as demo:
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("First", id="first"):
                gr.HTML("<p>first</p>")
            with gr.Tab(curriculum.TITLE, id=curriculum.NAME):
                tab = curriculum.build()
        wire_curriculum(tab, shop)
    return demo


@pytest.fixture(scope="module")
def lone_server(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    import app
    from components import theme

    with pytest.MonkeyPatch.context() as patch:
        # The run that the Space shows; one test reads it, and another adds to it.
        run = tmp_path_factory.mktemp("run")
        patch.setenv("ECOMRLVE_RUN", str(run))
        if "curriculum_charts.js" not in theme.LIBRARIES:
            patch.setattr(theme, "LIBRARIES", (*theme.LIBRARIES, "curriculum_charts.js"))
        demo = page_of(words_engine)
        _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=None, prevent_thread_lock=True, quiet=True)
        yield Server(url.rstrip("/"), demo, words_engine, run)
        demo.close()


@pytest.fixture
def visit(tabs: Tabs, lone_server: Server) -> Iterator[Callable[..., Space]]:
    """Opens the tab: `visit("d=3", color_scheme="dark")`. Whatever goes wrong on the page fails the test."""
    with ExitStack() as visits:

        def open_tab(query: str = "", **options: Any) -> Space:
            page = visits.enter_context(tabs.lend(**options))
            space = visits.enter_context(Space(page, lone_server))
            space.go(f"{lone_server.url}/?{query}")
            page.get_by_role("tab", name="Difficulty & curriculum").click()
            page.wait_for_selector("#difficulty-axes .ec-dial")
            return space

        yield open_tab


def drawn(space: Space, frame: str) -> Any:
    """The part of the tab in view and drawn."""
    space.page.locator(frame).scroll_into_view_if_needed()
    space.page.wait_for_selector(f"{frame} .ec-chart" if frame != "#difficulty-openings" else "[data-shown='2']")
    return space.page.locator(frame)


def openings(space: Space) -> list[str]:
    return space.page.locator("#difficulty-openings blockquote p").all_text_contents()


def first_message(engine: Any, env_id: str, d: int, seed: int) -> str:
    import ecomrlve

    observation, _ = ecomrlve.make(env_id, catalog=engine).reset(seed=seed, options={"difficulty": d})
    return observation.messages[0]["content"]


# --- the dials -------------------------------------------------------------------------------------------------------


def test_the_dials_show_the_axes_at_the_chosen_difficulty(visit: Callable[..., Space]) -> None:
    from ecomrlve.difficulty import AXES, difficulty

    page = visit().page
    for d, key in ((6, None), (7, "ArrowRight"), (12, "End"), (0, "Home")):
        if key:
            page.locator("#ec-axes-d").press(key)
        expect(page.locator(".ec-axes")).to_have_attribute("data-d", str(d))
        for name, value in difficulty(d).axes().items():
            shown = page.locator(f".ec-dial[data-axis={name}] .ec-dial-value").text_content() or ""
            assert shown == (str(value) if isinstance(value, int) else f"{100 * value:.0f} %")
    assert page.locator(".ec-dial").count() == len(AXES) == 12


def test_a_marker_stands_on_every_curve(visit: Callable[..., Space]) -> None:
    page = visit("tab=curriculum&d=3").page
    expect(page.locator(".ec-axes")).to_have_attribute("data-d", "3")
    for dial in page.locator(".ec-dial").all():
        marker, spot = dial.locator(".ec-marker"), dial.locator(".ec-spot").nth(3)
        assert [marker.get_attribute(name) for name in ("cx", "cy")] == [
            spot.get_attribute(name) for name in ("cx", "cy")
        ]
    expect(page.locator(".ec-axes-bar a")).to_have_attribute("href", "?tab=curriculum&d=3")


@pytest.mark.parametrize(("query", "d"), [("d=3", 6), ("tab=curriculum&d=13", 6)])
def test_only_a_link_to_this_tab_moves_the_dials(visit: Callable[..., Space], query: str, d: int) -> None:
    expect(visit(query).page.locator(".ec-axes")).to_have_attribute("data-d", str(d))


def test_the_slider_stays_in_view_beside_the_last_dial(visit: Callable[..., Space]) -> None:
    page = visit(viewport={"width": 390, "height": 844}).page
    page.locator(".ec-dial").last.scroll_into_view_if_needed()
    expect(page.locator("#ec-axes-d")).to_be_in_viewport()


# --- openings --------------------------------------------------------------------------------------------------------


def test_openings_are_those_of_the_engine(visit: Callable[..., Space]) -> None:
    space = visit("tab=curriculum&d=8")
    page, engine = space.page, space.server.engine
    drawn(space, "#difficulty-openings")
    assert openings(space) == [first_message(engine, "E_CART", d, 7) for d in (0, 8)]
    page.select_option("#ec-openings-env", "E_STATUS")
    wanted = first_message(engine, "E_STATUS", 8, 7)
    expect(page.locator("#difficulty-openings blockquote p").nth(1)).to_have_text(wanted)
    page.fill("#ec-openings-seed", "12")
    page.locator("#ec-openings-seed").press("Tab")
    page.locator("#ec-openings-first").press("ArrowRight")
    wanted = first_message(engine, "E_STATUS", 1, 12)
    expect(page.locator("#difficulty-openings blockquote p").first).to_have_text(wanted)
    assert openings(space) == [wanted, first_message(engine, "E_STATUS", 8, 12)]
    assert page.locator("#difficulty-openings a").first.get_attribute("href") == "?env=E_STATUS&d=1&seed=12"


def test_a_seed_that_is_none_is_refused_in_place_and_mended(visit: Callable[..., Space]) -> None:
    space = visit()
    page = space.page
    drawn(space, "#difficulty-openings")
    page.fill("#ec-openings-seed", HOSTILE)
    page.locator("#ec-openings-seed").press("Enter")
    expect(page.locator("#difficulty-openings [role=alert]")).to_contain_text("seed")
    assert page.evaluate("window.__ran") is None
    page.fill("#ec-openings-seed", "5")
    page.locator("#ec-openings-seed").press("Enter")
    expect(page.locator("#difficulty-openings blockquote")).to_have_count(2)
    expect(page.locator("#difficulty-openings [role=alert]")).to_have_text("")
    page.get_by_label("Another random seed to compare").click()
    expect(page.locator("#ec-openings-seed")).not_to_have_value("5")


# --- learners --------------------------------------------------------------------------------------------------------


def test_a_learner_is_run_and_judged(visit: Callable[..., Space]) -> None:
    space = visit()
    page = space.page
    part = drawn(space, "#curriculum-learning")
    expect(part.locator(".ec-chart")).to_have_count(3)
    rows = {name: part.locator(f"[data-schedule={name}]") for name in ("easy", "hard", "adaptive")}
    expect(rows["easy"]).to_contain_text("saturated")
    expect(rows["hard"]).to_contain_text("starved")
    expect(rows["adaptive"]).to_contain_text("learning")
    page.locator("#ec-learn-step").press("Home")
    expect(page.locator(".ec-learning")).to_have_attribute("data-step", "0")
    expect(rows["easy"]).to_contain_text("learning")
    page.click("#ec-learn-run")
    expect(page.locator(".ec-learning")).to_have_attribute("data-step", "299")
    number = page.get_attribute(".ec-learning", "data-number")
    page.select_option("#ec-learn-speed", "fast")
    expect(page.locator(".ec-learning")).not_to_have_attribute("data-number", number)
    expect(rows["adaptive"]).to_contain_text("at the top")
    page.fill("#ec-learn-luck", "many")
    page.locator("#ec-learn-luck").press("Enter")
    expect(part.locator("[role=alert]")).to_contain_text("whole number")


def test_the_run_is_animated_and_can_be_paused(visit: Callable[..., Space]) -> None:
    space = visit(reduced_motion="no-preference")
    page = space.page
    drawn(space, "#curriculum-learning")
    page.locator("#ec-learn-step").press("Home")
    page.click("#ec-learn-run")
    page.wait_for_function("Number(document.querySelector('.ec-learning').dataset.step) > 5")
    page.click("#ec-learn-run")
    expect(page.locator("#ec-learn-run")).to_contain_text("Run")
    assert 5 < int(page.get_attribute(".ec-learning", "data-step")) < 299


# --- a real run ------------------------------------------------------------------------------------------------------


def log_line(step: int, env_id: str = "E_CART", **changes: Any) -> str:
    return json.dumps({"step": step, "env_id": env_id, "low": 0, "high": 2, "success": 0.5} | changes) + "\n"


def send(page: Any, file: Path) -> None:
    """Choose a file for the upload button."""
    with page.expect_file_chooser() as chooser:
        page.click("#curriculum-upload")
    chooser.value.set_files(str(file))


def test_the_spaces_own_run_is_shown_and_read_again(visit: Callable[..., Space]) -> None:
    space = visit()
    page, log = space.page, space.server.store / "curriculum.jsonl"
    page.locator("#curriculum-run").scroll_into_view_if_needed()
    expect(page.locator(".ec-runlog")).to_contain_text("can be read yet")
    log.write_text("".join(log_line(step) for step in range(3)))
    page.click("#ec-run-again")
    expect(page.locator(".ec-runlog .ec-figure")).to_have_count(1)
    expect(page.locator(".ec-runlog [data-env=E_CART]")).to_contain_text("d 0 to 2 at step 2; 50 %")
    log.unlink()


def test_an_uploaded_log_is_drawn_and_markup_in_it_is_text(visit: Callable[..., Space], tmp_path: Path) -> None:
    space = visit()
    page = space.page
    name = "<img src=x onerror=window.__ran=1>"
    lines = [
        log_line(step, env_id, success=None if step == 3 else 0.8) for env_id in ("E_PD", name) for step in range(9)
    ]
    file = tmp_path / "curriculum.jsonl"
    file.write_text("".join(lines) + HOSTILE + "\n" + log_line(1, high=13) + '{"step": 9')
    send(page, file)
    expect(page.locator(".ec-runlog")).to_have_attribute("data-runs", "2")
    expect(page.locator(".ec-runlog h4").nth(1)).to_have_text(name)
    expect(page.locator(".ec-problems li")).to_have_count(3)
    expect(page.locator(".ec-problems")).to_contain_text("line 20: high")
    path = page.locator(".ec-runlog [data-env=E_PD] .ec-track").nth(1).get_attribute("d") or ""
    assert len(re.findall("M", path)) == 2, "a step without episodes breaks the line"
    assert page.evaluate("window.__ran") is None
    file.write_text("nothing\n")
    send(page, file)
    expect(page.locator(".ec-problems")).to_contain_text("no line of a curriculum's log")


def test_an_answer_about_the_own_run_that_is_late_leaves_an_upload_alone(
    visit: Callable[..., Space], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, gate, read = threading.Event(), threading.Event(), curriculum_runs.server_run

    def late() -> Any:
        asked.set()
        gate.wait(600)
        return read()

    monkeypatch.setattr(curriculum_runs, "server_run", late)
    page = visit().page
    page.locator("#curriculum-run").scroll_into_view_if_needed()
    assert asked.wait(300)
    file = tmp_path / "mine.jsonl"
    file.write_text(log_line(1) + log_line(2))
    send(page, file)
    expect(page.locator(".ec-runlog")).to_contain_text("From mine.jsonl")
    page.evaluate("window.kept = document.querySelector('.ec-runlog .ec-figure')")
    gate.set()
    page.wait_for_function("!window.kept.isConnected")  # drawn anew with the late answer
    expect(page.locator(".ec-runlog")).to_contain_text("From mine.jsonl")
    # Whoever asks for the own run gets it.
    page.click("#ec-run-again")
    expect(page.locator(".ec-runlog")).to_contain_text("can be read yet")


# --- looks -----------------------------------------------------------------------------------------------------------


def test_everybody_can_read_and_handle_it(visit: Callable[..., Space], tmp_path: Path) -> None:
    space = visit()
    page = space.page
    drawn(space, "#difficulty-openings")
    drawn(space, "#curriculum-learning")
    page.click("summary")
    file = tmp_path / "curriculum.jsonl"
    file.write_text(log_line(1) + "torn\n")
    send(page, file)
    expect(page.locator(".ec-runlog")).to_have_attribute("data-runs", "1")
    for width in each_look(page):
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(FARTHEST) <= width
        assert page.evaluate(LINES) == []
