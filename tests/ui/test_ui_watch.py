"""The Watch tab in a real browser, on a page of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tabs import Tabs
from ui_space import Server, hostile_engine, reference_actions
from watch_space import BAD_NAME, HERE, Gated, Watching, beside, serve_watch, visitor

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
MINUTE = 60_000


@pytest.fixture(scope="module")
def kept() -> list[Any]:
    """What was handed to the library."""
    return []


@pytest.fixture(scope="module")
def lone_server(words_engine: Any, kept: list[Any]) -> Iterator[Server]:
    yield from serve_watch(words_engine, kept)


@pytest.fixture(scope="module")
def hostile_lone_server(kept: list[Any]) -> Iterator[Server]:
    yield from serve_watch(hostile_engine(), kept)


@pytest.fixture
def gate() -> Iterator[None]:
    Gated.gate.clear()
    Gated.thinking.clear()
    Gated.asked = 0
    yield
    Gated.gate.set()


@pytest.fixture
def watching(gate: None, tabs: Tabs, lone_server: Server) -> Iterator[Watching]:
    with tabs.lend() as page, Watching(page, lone_server) as space:
        yield space


@pytest.fixture
def timed(gate: None, browser: Any, lone_server: Server) -> Iterator[Watching]:
    """Somebody whose clock the test has in its hand."""
    with browser.new_context(reduced_motion="reduce") as window, Watching(window.new_page(), lone_server) as space:
        space.page.clock.install()
        yield space


def test_an_episode_is_watched_to_the_engines_own_reward(watching: Watching) -> None:
    from ecomrlve import make
    from ecomrlve.agents.base import play
    from ecomrlve.agents.registry import make_agent

    environment = make("E_CART", catalog=watching.server.engine)
    reward = play(environment, make_agent("scripted"), 7, 6)
    steps = environment.trajectory().to_dict()["steps"]
    watching.visit().start("E_CART", 6, 7, "scripted")
    page = watching.page
    page.wait_for_selector(".ec-watch-turn")
    assert page.locator("#watch-result .ec-totalnumber").count() == 0
    assert watching.finish() == pytest.approx(reward.total)
    watching.at(len(steps), "finished")
    expect(page.locator("#watch-result")).to_contain_text(reward.reason)
    expect(page.locator("#watch-meters")).to_contain_text(f"Finished after {len(steps)} turns")
    calls = [call["name"] for step in steps for call in step["tool_results"]]
    assert page.locator(".ec-watch-turn .ec-toolcall summary code").all_inner_texts() == calls
    first = page.locator(".ec-watch-turn .ec-toolcall").first
    expect(first.locator("summary")).to_contain_text("ms")
    expect(first.locator("pre").first).to_be_hidden()
    first.locator("summary").click()
    expect(first.locator("pre").nth(1)).to_be_visible()
    # The same agent goes on, one step harder.
    page.click("#watch-result [data-how=harder]")
    expect(page.locator("#watch-meters")).to_contain_text("d 7 · seed 7")
    expect(page.locator("#watch-result .ec-totalnumber")).to_have_count(0)


def test_pause_step_and_stop(timed: Watching) -> None:
    watching, page = timed, timed.page
    turns = watching.visit().start("E_JOURNEY", 4, 7, "reference").after(1).pause()
    expect(page.locator(".ec-watch-line")).to_have_text(f"Paused after turn {turns}.")
    page.clock.fast_forward(10 * MINUTE)
    page.click("#ec-watch-step")
    watching.at(turns + 1)
    page.clock.fast_forward(10 * MINUTE)
    page.keyboard.press("Enter")  # the focus has stayed on the button
    watching.at(turns + 2)
    page.click("#ec-watch-pause")
    watching.after(turns + 3)
    page.click("#ec-watch-stop")
    page.wait_for_selector(".ec-watch-talk[data-status=stopped][data-waiting=false]")
    turns = int(page.get_attribute(".ec-watch-talk", "data-turns"))
    expect(page.locator(".ec-watch-line")).to_have_text(f"Stopped after turn {turns}.")
    expect(page.locator("#ec-watch-step")).to_be_disabled()
    page.clock.fast_forward(10 * MINUTE)
    watching.at(turns, "stopped")


def test_what_an_agent_decides_on_while_paused_waits(watching: Watching) -> None:
    page = watching.page
    watching.visit().start("E_CART", 0, 7, HERE + "Gated")
    page.select_option("#ec-watch-speed", "most")
    expect(page.locator(".ec-watch-line")).to_contain_text("is thinking")
    before = page.get_attribute(".ec-watch-talk", "data-version")
    page.click("#ec-watch-pause")
    expect(page.locator(".ec-watch-line")).to_have_text("Ready for the first turn.")
    page.wait_for_selector(f".ec-watch-talk[data-waiting=true]:not([data-version='{before}'])")
    Gated.gate.set()
    page.wait_for_selector(".ec-watch-talk[data-waiting=false]")
    watching.at(0)
    # A page that asks again gets the turn that was decided on, and the agent is not asked twice.
    page.click("#ec-watch-step")
    watching.at(1)
    expect(page.locator(".ec-agent").first).to_contain_text("I thought 1 times.")


def test_nobody_waits_for_somebody_elses_slow_agent(watching: Watching, browser: Any) -> None:
    actions, reward = reference_actions(watching.server.engine, "E_STATUS", 4, 7)
    crowd = [visitor(browser, watching.server) for _ in range(2)]
    for one in crowd:
        one.visit(f"tab=watch&env=E_CART&d=0&seed=7&agent={HERE}Gated")
    assert Gated.thinking.wait(300)
    watching.visit().start("E_STATUS", 4, 7, "reference")
    assert watching.finish() == pytest.approx(reward.total)
    watching.at(len(actions), "finished")
    assert all(one.page.locator(".ec-watch-turn").count() == 1 for one in crowd)
    Gated.gate.set()
    for one in crowd:
        one.at(1)
        one.page.context.close()
        assert not one.problems


def test_two_visitors_watch_two_episodes(watching: Watching, browser: Any) -> None:
    other = visitor(browser, watching.server)
    watching.visit("tab=watch&env=E_CART&d=6&seed=7&agent=reference")
    other.visit().start("E_PD", 3, 9, "reference")
    totals = [watching.finish(), other.finish()]
    expected = [
        reference_actions(watching.server.engine, *what)[1].total for what in (("E_CART", 6, 7), ("E_PD", 3, 9))
    ]
    assert totals == pytest.approx(expected)
    expect(watching.page.locator("#watch-meters")).to_contain_text("E_CART · d 6 · seed 7")
    expect(other.page.locator("#watch-meters")).to_contain_text("E_PD · d 3 · seed 9")
    other.page.context.close()
    assert not other.problems


def test_nothing_is_asked_of_the_server_while_nobody_looks(timed: Watching) -> None:
    watching, page = timed, timed.page
    watching.visit().start("E_JOURNEY", 4, 7, "reference").after(1)
    page.get_by_role("tab", name="First").click()
    page.wait_for_selector("#log", state="visible")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/queue/join" in request.url else None)
    page.clock.fast_forward(10 * MINUTE)
    page.clock.run_for(2000)
    assert sent == []
    page.get_by_role("tab", name="Watch").click()
    watching.after(3)
    assert sent


def test_a_watch_that_the_server_forgot_goes_on(watching: Watching) -> None:
    _, reward = reference_actions(watching.server.engine, "E_CART", 6, 7)
    watching.visit("tab=watch&env=E_CART&d=6&seed=7&agent=reference").after(2)
    watching.server.demo.state_holder.session_data.clear()
    assert watching.finish() == pytest.approx(reward.total)


def test_a_finished_episode_is_kept_on_request_only(watching: Watching, kept: list[Any]) -> None:
    kept.clear()
    watching.visit("tab=watch&env=E_CART&d=0&seed=3&agent=random").finish()
    assert kept == []
    watching.page.click("#ec-watch-keep")
    expect(watching.page.locator("#ec-watch-keep")).to_be_disabled()
    assert [(record["seed"], record["player"]) for record in kept] == [(3, {"name": "random", "kind": "agent"})]


def test_a_visitor_takes_over_from_a_turn_and_hands_back(watching: Watching) -> None:
    page = watching.page
    actions, _ = reference_actions(watching.server.engine, "E_CART", 6, 7)
    watching.visit("tab=watch&env=E_CART&d=6&seed=7&agent=reference").finish()
    page.click("[data-turn='2'] .ec-watch-from")
    page.get_by_role("tab", name="First").click()
    page.wait_for_function("document.querySelector('#log textarea').value")
    log = json.loads(page.input_value("#log textarea"))
    assert (log["env_id"], log["difficulty"], log["seed"]) == ("E_CART", 6, 7)
    assert log["actions"] == actions[:2]
    assert log["players"] == ["reference", "reference"]
    assert log["again"] is True  # the visitor has seen the goal
    log = {**log, "actions": [*actions[:1], {"assistant_message": "One moment."}], "players": ["reference", "you"]}
    page.fill("#log textarea", json.dumps(log))
    page.click("text=Let the agent go on")
    page.get_by_role("tab", name="Watch").click()
    expect(page.locator("[data-turn='2'] h4")).to_contain_text("taken by you")
    assert watching.finish() > 0


def test_an_agent_that_fails_ends_the_watch_with_a_message(watching: Watching) -> None:
    page = watching.page
    watching.visit().start("E_CART", 0, 7, HERE + "Raising").at(1, "failed")
    expect(page.locator(".ec-watch-line")).to_contain_text("cannot go on. <img src=x")
    expect(page.locator("#ec-watch-take")).to_be_visible()
    page.click("#ec-watch-take")
    page.get_by_role("tab", name="First").click()
    page.wait_for_function("document.querySelector('#log textarea').value")
    assert json.loads(page.input_value("#log textarea"))["players"] == [HERE + "Raising"]
    assert page.evaluate("window.__ran") is None


def test_markup_anywhere_is_text(browser: Any, hostile_lone_server: Server) -> None:
    space = visitor(browser, hostile_lone_server)
    pages = [space.visit().start("E_PD", 0, 7, BAD_NAME).page]
    expect(pages[0].locator(".toast-body")).to_contain_text("<img/src=x")
    for query, says in (
        ("env=<img src=x onerror=window.__ran=5>", "<img src=x"),
        ("env=E_PD&agent=<img src=x onerror=window.__ran=6>", "no agent of that name"),
    ):
        pages.append(beside(space).visit(f"tab=watch&{query}").page)
        expect(pages[-1].locator(".toast-body")).to_contain_text(says)
    for env_id in ("E_PD", "E_CART"):
        other = beside(space).visit(f"tab=watch&env={env_id}&d=0&seed=7&agent=reference")
        other.finish()
        expect(other.page.locator(".ec-watch-product").first).to_contain_text("<img src=x")
        pages.append(other.page)
    for page in pages:
        assert page.evaluate("window.__ran") is None
        assert page.locator("img[src='x']").count() == 0
    space.page.context.close()
    assert not space.problems
