"""How a person takes turns, hints, and what is there after the end, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from tabs import Tabs
from ui_space import Server, Space, reference_actions

import app
from components import agents, play
from components.episode import YOU
from components.events.play import wire_play
from components.events.shared import QUIET, data_of
from components.library import Library
from components.session import Shop

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect


@pytest.fixture(scope="module")
def alone(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The tab by itself, with a box that shows what other tabs would get."""
    yield from serve(words_engine, tmp_path_factory.mktemp("alone"), "play")


def serve(engine: Any, store: Path, selected: str) -> Iterator[Server]:
    """A page with the tab and another one, one of which is open at first."""
    shop, library = Shop(lambda: engine).start(), Library(store)

    def hand(session: Any, event: gr.EventData) -> tuple[Any, str]:
        return session, json.dumps(play.handover(session, data_of(event).get("agent")))

    with gr.Blocks() as demo:
        session = gr.State(None)
        with gr.Tabs(elem_id="tabs", selected=selected):
            with gr.Tab("Play", id="play"):
                tab = play.build(agents.choices())
            with gr.Tab("Other", id="other"):
                gr.Markdown("Nothing here.", elem_id="other-tab")
        handed = gr.Textbox(elem_id="handed")
        wire_play(demo, session, tab, shop, library.append, gr.State(YOU), lambda name: str(name))
        tab.options.submit(hand, session, [session, handed], **QUIET)
        tab.result.play(lambda it: (it, play.replay_key(it, library)), session, [session, handed], **QUIET)
    _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=None, prevent_thread_lock=True, quiet=True)
    yield Server(url.rstrip("/"), demo, engine, store)
    demo.close()


@pytest.fixture
def tab(tabs: Tabs, alone: Server) -> Iterator[Space]:
    with tabs.lend() as page, Space(page, alone) as space:
        yield space


def records(store: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in store.glob("*.jsonl") for line in file.read_text().splitlines()]


def end(space: Space) -> None:
    """End the running episode at once."""
    if not space.page.locator("#ec-raw").is_visible():
        space.page.click("text=Raw action")
    space.page.fill("#ec-raw", "{broken")
    before = space.version
    space.page.click("#ec-raw-send")
    space.wait(before + 1)
    # Nothing may be under way any more when the page is left.
    space.page.wait_for_selector(".ec-versus")


def test_the_cost_of_a_turn_is_in_sight(tab: Space) -> None:
    page = tab.open("env=E_CART&d=0&seed=1", version=1).page
    expect(page.locator("#ec-cost")).to_have_text("Sending takes 1 of your 4 turns left, whatever it holds.")
    expect(page.locator(".ec-tools .ec-cost")).to_have_text("A call now takes 1 of your 4 turns left.")
    page.check("#ec-option-single")
    expect(page.locator("#ec-cost")).to_have_text("A message or an answer takes 1 of your 4 turns left.")
    for word in ("mug", "lamp", "hat"):  # a customer who sees no progress would leave
        tab.call("catalog_search", {"query": word})
    expect(page.locator("#ec-cost")).to_have_text("A message or an answer takes your last turn.")
    expect(page.locator(".ec-tools .ec-cost")).to_have_text("A call now takes your last turn.")
    tab.open("env=E_JOURNEY&d=0&seed=1", version=1)
    expect(page.locator("#ec-cost")).to_contain_text("1 of your 8 turns left (4 turns for this wish)")


def test_one_thing_per_turn_is_remembered(tab: Space) -> None:
    page = tab.open("env=E_CART&d=0&seed=1", version=1).page
    expect(page.locator(".ec-collect")).to_be_visible()
    page.check("#ec-option-single")
    expect(page.locator(".ec-collect")).to_be_hidden()
    expect(page.locator("#ec-send")).to_contain_text("Send message")
    tab.go()
    tab.wait(1)
    expect(page.locator("#ec-option-single")).to_be_checked()
    expect(page.locator(".ec-collect")).to_be_hidden()
    page.uncheck("#ec-option-single")
    expect(page.locator(".ec-collect")).to_be_visible()
    # What is in the tray stays in sight, whichever way turns are taken.
    page.fill("#ec-arg-query", "mug")
    page.click(".ec-collect")
    page.check("#ec-option-single")
    expect(page.locator(".ec-tray li")).to_have_count(1)
    expect(page.locator("#ec-send")).to_contain_text("Send turn")


def test_hints_are_there_for_those_who_want_them(tab: Space) -> None:
    page = tab.open("env=E_CART&d=0&seed=1", version=1).page
    expect(page.locator(".ec-hints")).to_be_hidden()
    page.check("#ec-option-hints")
    expect(page.locator(".ec-hints")).to_contain_text("take one turn")
    tab.call("catalog_get_product", {"product_id": "nothing"})
    expect(page.locator(".ec-hints")).to_contain_text("A refused call changes nothing")
    tab.go()
    tab.wait(2)
    expect(page.locator(".ec-hints")).to_contain_text("A refused call changes nothing")
    end(tab)
    expect(page.locator(".ec-hints")).to_be_hidden()


def test_a_call_can_be_made_again_with_one_click(tab: Space) -> None:
    page = tab.open("env=E_PD&d=6&seed=9", version=1).page
    expect(page.locator("#recent .ec-recent")).to_be_hidden()
    args = {"query": "mug", "filters": {"price": {"le": 25}, "brand": ["Simmerly", "7"]}, "limit": 3}
    tab.call("catalog_search", args)
    tab.call("datetime_now", {})
    expect(page.locator(".ec-repeat")).to_have_count(2)
    page.locator(".ec-repeat").nth(1).click()
    tab.wait(4)
    expect(page.locator("#chat .thought-group")).to_have_count(3)
    expect(page.locator(".ec-repeat")).to_have_count(2)
    # The same arguments are in the form again, to be changed.
    page.locator(".ec-refill").first.click()
    assert page.input_value("#ec-tool") == "catalog_search"
    page.fill("#ec-arg-query", "lamp")
    page.click(".ec-call")
    tab.wait(5)
    sent = page.evaluate("window.ecom.readLog().actions.map((action) => action.tool_calls[0].args)")
    assert sent[0] == sent[2] == args
    # A list of values is the same as one of them.
    assert sent[3] == {**args, "query": "lamp", "filters": {"price": {"le": 25}, "brand": {"in": ["Simmerly", "7"]}}}


def test_products_and_variants_can_be_picked_where_they_were_seen(tab: Space) -> None:
    page = tab.open("env=E_CART&d=0&seed=2530", version=1).page
    options = "all => all.map((one) => one.value)"
    page.select_option("#ec-tool", "cart_add")
    assert page.locator("#ec-arg-product_id-seen option").evaluate_all(options) == []
    tab.call("user_get_visit_history", {})
    shown = page.locator(".ec-card").evaluate_all("all => all.map((one) => one.dataset.pid)")
    page.select_option("#ec-tool", "catalog_get_variants")
    assert page.locator("#ec-arg-product_id-seen option").evaluate_all(options) == shown
    tab.call("catalog_get_variants", {"product_id": shown[0]})
    page.select_option("#ec-tool", "cart_add")
    variants = page.locator(".ec-use-variant").evaluate_all("all => all.map((one) => one.dataset.vid)")
    assert page.locator("#ec-arg-variant_id-seen option").evaluate_all(options) == variants
    # Another product has none of them.
    page.fill("#ec-arg-product_id", shown[1])
    page.focus("#ec-arg-variant_id")
    assert page.locator("#ec-arg-variant_id-seen option").evaluate_all(options) == []


def test_every_argument_has_a_help_text(tab: Space) -> None:
    page = tab.open("env=E_JOURNEY&d=0&seed=1", version=1).page
    for name in page.locator("#ec-tool option").evaluate_all("all => all.map((one) => one.value)"):
        page.select_option("#ec-tool", name)
        bare = page.locator(".ec-tools .ec-grid .ec-field:not(:has(small))")
        # The editor of filters explains itself.
        assert bare.locator("label").all_inner_texts() in ([], ["filters"])


def test_the_reference_agent_is_shown_after_the_end_only(tab: Space) -> None:
    actions, reward = reference_actions(tab.server.engine, "E_CART", 0, 5)
    page = tab.open("env=E_CART&d=0&seed=5", version=1).page
    tab.call("catalog_search", {"query": "mug"})
    expect(page.locator("#aftermath .ec-aftermath")).to_be_hidden()
    end(tab)
    expect(page.locator(".ec-versus")).to_contain_text(f"{len(actions)} turns. You: −1.00 in 2 turns.")
    assert float(page.get_attribute(".ec-versus b", "data-total")) == pytest.approx(reward.total)
    page.click("#aftermath summary")
    expect(page.locator(".ec-reference-turn")).to_have_count(len(actions))
    expect(page.locator(".ec-reference")).to_contain_text(actions[0]["assistant_message"])
    # It is there again after a reload, and gone with the next episode.
    tab.go()
    tab.wait(3)
    expect(page.locator(".ec-versus")).to_be_visible()
    page.click("#ec-another")
    tab.wait(4)
    expect(page.locator("#aftermath .ec-aftermath")).to_be_hidden()


def test_whoever_plays_again_is_stored_as_such(tab: Space) -> None:
    page = tab.open("env=E_CART&d=1&seed=77", version=1).page
    end(tab)
    page.click("#ec-again")
    tab.wait(3)
    end(tab)
    # Even the browser of tomorrow knows.
    tab.open("env=E_CART&d=0&seed=77", version=1)
    page.evaluate("sessionStorage.clear()")
    tab.open("env=E_CART&d=0&seed=77", version=1)
    end(tab)
    names = [record["player"]["name"] for record in records(tab.server.store) if record["seed"] == 77]
    assert names == ["you", "you (again)", "you (again)"]


def test_other_tabs_get_the_episode(tab: Space) -> None:
    page = tab.open().page
    expect(page.locator("#ec-hand-over")).to_be_disabled()
    tab.open("env=E_CART&d=0&seed=5", version=1)
    tab.call("catalog_search", {"query": "mug"})
    page.select_option("#ec-agent", "scripted")
    page.click("#ec-hand-over")
    box = page.locator("#handed textarea")
    expect(box).to_have_value(re.compile("scripted"))
    handed = json.loads(box.input_value())
    assert handed["agent"] == "scripted"
    assert handed["log"]["players"] == ["you"]
    assert handed["log"]["actions"][0]["tool_calls"][0]["args"] == {"query": "mug"}
    end(tab)
    expect(page.locator("#ec-hand-over")).to_be_disabled()
    page.click("#ec-replay")
    expect(box).not_to_have_value(re.compile("scripted"))
    (key,) = [entry.key for entry in Library(tab.server.store).entries() if entry.turns == 2 and entry.seed == 5][-1:]
    assert box.input_value() == key


def test_a_tab_that_is_opened_later_works_too(tabs: Tabs, words_engine: Any, tmp_path: Path) -> None:
    """What a tab holds comes to the page when the tab is opened, one widget after the other."""
    serving = serve(words_engine, tmp_path, "other")
    server = next(serving)
    with tabs.lend() as page, Space(page, server) as space:
        space.go(f"{server.url}/?env=E_STATUS&d=0&seed=3")
        page.get_by_role("tab", name="Play").click()
        space.wait(1).call("order_list", {})
        space.go()
        page.wait_for_selector("#other-tab")
        page.get_by_role("tab", name="Play").click()
        space.wait(2)
        for selector in ("#orders .ec-id-link", ".ec-call", ".ec-repeat", "#ec-hand-over"):
            expect(page.locator(selector).first).to_be_enabled()
    assert next(serving, None) is None
