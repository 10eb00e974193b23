"""The Play tab in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ui_space import Server, Space, reference_actions

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect


def total(space: Space) -> float:
    return float(space.page.get_attribute("#result .ec-totalnumber", "data-total"))


def test_a_whole_episode_ends_with_the_engines_reward(tab: Space) -> None:
    env_id, difficulty, seed = "E_CART", 4, 7
    actions, reward = reference_actions(tab.server.engine, env_id, difficulty, seed)
    tab.open(f"env={env_id}&d={difficulty}&seed={seed}", version=1)
    for number, action in enumerate(actions, 1):
        expect(tab.page.locator("#meters .ec-turn")).to_contain_text(f"Turn {number} of")
        expect(tab.page.locator("#result .ec-totalnumber")).to_have_count(0)
        tab.take(action)
    assert total(tab) == pytest.approx(reward.total)
    expect(tab.page.locator("#result")).to_contain_text(reward.reason)
    expect(tab.page.locator("#result")).to_contain_text("Correct")
    assert reward.correct
    expect(tab.page.locator("#result .ec-totalnumber")).to_have_text(f"+{reward.total:.2f}")
    tab.page.click("#ec-harder")
    tab.wait(len(actions) + 2)
    expect(tab.page.locator("#meters")).to_contain_text(f"d {difficulty + 1} · seed")
    # One level up, the same seed often has the same goal.
    expect(tab.page.locator("#meters")).not_to_contain_text(re.compile(f"seed {seed}$"))
    expect(tab.page.locator("#result .ec-totalnumber")).to_have_count(0)


def test_one_click_starts_a_first_game(tab: Space) -> None:
    tab.open()
    expect(tab.page.locator("#meters")).to_contain_text("Press “Play a random episode”")
    tab.page.click("#ec-random")
    tab.wait(1)
    expect(tab.page.locator("#meters .ec-turn")).to_contain_text("Turn 1 of 4")
    expect(tab.page.locator("#chat .bot.message")).to_have_count(1)


def test_a_reload_brings_the_episode_back(tab: Space) -> None:
    tab.open("env=E_CART&d=3&seed=5", version=1)
    tab.call("catalog_search", {"query": "mug"})
    tab.page.fill("#ec-message", "Which size do you need?")
    tab.page.press("#ec-message", "Enter")
    tab.wait(3)
    before = tab.page.locator("#chat .bot.message").all_inner_texts()
    tab.go()
    tab.wait(3)
    assert tab.page.locator("#chat .bot.message").all_inner_texts() == before
    assert len(before) == 2
    expect(tab.page.locator("#meters .ec-turn")).to_contain_text("Turn 3 of")
    tab.call("catalog_search", {"query": "lamp"})
    # A link to another episode wins over what was running.
    tab.open("env=E_CART&d=3&seed=6", version=1)
    expect(tab.page.locator("#meters")).to_contain_text("seed 6")


def test_a_restarted_server_goes_on_where_the_page_is(tab: Space) -> None:
    tab.open("env=E_CART&d=3&seed=5", version=1)
    tab.call("catalog_search", {"query": "mug"})
    tab.server.demo.state_holder.session_data.clear()
    tab.call("catalog_search", {"query": "lamp"})
    expect(tab.page.locator("#meters .ec-turn")).to_contain_text("Turn 3 of")
    expect(tab.page.locator("#chat .thought-group")).to_have_count(2)


def test_two_tabs_are_isolated(tab: Space) -> None:
    other = Space(tab.page.context.new_page(), tab.server)
    tab.open("env=E_CART&d=3&seed=5", version=1)
    other.open("env=E_PD&d=6&seed=9", version=1)
    tab.call("catalog_search", {"query": "mug"})
    assert other.version == 1
    other.go()
    other.wait(1)
    expect(other.page.locator("#meters")).to_contain_text("E_PD · d 6 · seed 9")
    tab.go()
    tab.wait(2)
    expect(tab.page.locator("#meters")).to_contain_text("E_CART · d 3 · seed 5")
    assert not other.problems


def test_the_keyboard_does_it_all(tab: Space) -> None:
    tab.open()
    page = tab.page
    page.keyboard.press("Alt+r")
    tab.wait(1)
    page.fill("#ec-arg-query", "mug")
    page.keyboard.press("Control+Enter")
    tab.wait(2)
    page.fill("#ec-message", "Anything else?")
    page.keyboard.press("Shift+Enter")
    assert page.input_value("#ec-message") == "Anything else?\n"
    page.keyboard.press("Enter")
    tab.wait(3)
    assert page.input_value("#ec-message") == ""
    page.keyboard.press("Alt+s")
    tab.wait(4)


def test_switching_tools_keeps_what_is_typed(tab: Space) -> None:
    tab.open("env=E_CART&d=0&seed=1", version=1)
    page = tab.page
    page.fill("#ec-arg-query", "blue mug")
    page.click(".ec-add-filter")
    page.fill("[aria-label='Filter key']", "price")
    page.select_option("[aria-label='Filter operator']", "le")
    page.fill("[aria-label='Filter value']", "25")
    page.select_option("#ec-tool", "cart_view")
    expect(page.locator("#ec-arg-query")).to_have_count(0)
    page.select_option("#ec-tool", "catalog_search")
    assert page.input_value("#ec-arg-query") == "blue mug"
    page.click("text=Edit as JSON")
    assert re.sub(r"\s", "", page.input_value(".ec-filters textarea")) == '{"price":{"le":25}}'
    page.click("text=Edit as rows")
    assert page.input_value("[aria-label='Filter value']") == "25"
    assert tab.version == 1


def test_ids_go_from_cards_into_the_form(tab: Space) -> None:
    actions, _ = reference_actions(tab.server.engine, "E_CART", 4, 7)
    calls = [call for action in actions for call in action.get("tool_calls", [])]
    # The last variant that was put into the cart is one that is not sold out.
    product, variant = next(
        (call["args"]["product_id"], call["args"]["variant_id"])
        for call in reversed(calls)
        if "variant_id" in call["args"]
    )
    tab.open("env=E_CART&d=4&seed=7", version=1)
    tab.call("user_get_visit_history", {"limit": 100})
    tab.page.fill(".ec-find", product)
    card = tab.page.locator(f".ec-card[data-pid='{product}']")
    card.locator(".ec-use").click()
    assert tab.page.input_value("#ec-tool") == "catalog_get_variants"
    assert tab.page.input_value("#ec-arg-product_id") == product
    tab.page.click(".ec-call")
    tab.wait(3)
    card.locator("li", has_text=variant).locator(".ec-use-variant").click()
    assert tab.page.input_value("#ec-tool") == "cart_add"
    assert tab.page.input_value("#ec-arg-variant_id") == variant
    tab.page.click(".ec-call")
    tab.wait(4)
    expect(tab.page.locator("#cart tbody tr")).to_have_count(1)
    expect(tab.page.locator("#cart tbody tr")).to_contain_text(product)


def test_the_list_can_be_ordered(tab: Space) -> None:
    tab.open("env=E_PD&d=0&seed=3", version=1)
    tab.call("catalog_search", {"query": "anything"})
    page = tab.page
    for number in range(4):
        page.locator(".ec-recommend").nth(number).click()
    titles = page.locator(".ec-list .ec-title").all_inner_texts()
    expect(page.locator(".ec-list li")).to_have_count(4)
    expect(page.locator(".ec-list li.ec-beyond")).to_have_count(1)
    page.locator(".ec-list li").nth(3).locator(".ec-up").click()
    page.locator(".ec-list li").nth(0).get_by_label("Remove").click()
    assert page.locator(".ec-list .ec-title").all_inner_texts() == [titles[1], titles[3], titles[2]]


def test_wrong_inputs_are_refused_with_a_reason(tab: Space) -> None:
    tab.open("env=E_CART&d=0&seed=1", version=1)
    page = tab.page
    page.fill("#ec-seed", "soon")
    page.click("[data-hotkey=reset]")
    expect(page.get_by_text("not 'soon'")).to_be_visible()
    assert tab.version == 1
    tab.call("catalog_search", {"query": "mug", "filters": {"smell": "nice"}})
    expect(page.locator("#chat .thought-group")).to_contain_text("refused")
    expect(page.locator("#chat .thought-group")).to_contain_text("smell")
    for _ in range(3):
        tab.fill_call("cart_view", {})
        page.click(".ec-collect")
    expect(page.locator(".ec-count")).to_contain_text("the shop will refuse the last one")
    page.click("#ec-send")
    tab.wait(3)
    expect(page.locator("#chat .thought-group").last).to_contain_text("refused")
    page.select_option("#ec-tool", "catalog_search")
    page.fill("#ec-arg-query", "")
    page.click(".ec-call")
    expect(page.locator(".ec-form-error")).to_contain_text("query is needed")


def test_a_bad_link_says_so(tab: Space) -> None:
    tab.open("env=E_CART&d=hard&seed=1")
    expect(tab.page.get_by_text("not 'hard'")).to_be_visible()
    tab.open("env=E_NOTHING&seed=1")
    expect(tab.page.get_by_text("There is no environment")).to_be_visible()
    tab.open("env=E_CART&seed=1&d=<img src=x onerror=window.__ran=1>")
    expect(tab.page.get_by_text("<img src=x")).to_be_visible()
    assert tab.page.locator("img[src='x']").count() == 0


def test_raw_text_goes_in_as_it_is(tab: Space) -> None:
    tab.open("env=E_CART&d=0&seed=1", version=1)
    page = tab.page
    page.click("text=Raw action")
    page.fill("#ec-raw", 'One moment. <tool_call>{"name": "cart_view", "arguments": {}}</tool_call>')
    page.click("#ec-raw-send")
    tab.wait(2)
    expect(page.locator("#chat .thought-group")).to_contain_text("cart_view")
    page.fill("#ec-raw", '{"tool_calls": [')
    page.click("#ec-raw-send")
    tab.wait(3)
    assert total(tab) == -1
    expect(page.locator("#result")).to_contain_text("Invalid output")


def test_markup_in_titles_never_runs(hostile_tab: Space) -> None:
    tab = hostile_tab
    actions, reward = reference_actions(tab.server.engine, "E_CART", 4, 7)
    tab.open("env=E_CART&d=4&seed=7", version=1)
    for action in actions:
        tab.take(action)
        expect(tab.page.locator("#cards .ec-card h4").first).to_contain_text("<img src=x onerror=")
    for thought in tab.page.locator("#chat .thought-group button, #chat .thought-group .title").all():
        thought.click()
    assert total(tab) == pytest.approx(reward.total)
    tab.page.get_by_role("tab", name="Trajectories").click()
    tab.page.locator("#episodes tbody tr").first.click()
    tab.page.wait_for_selector(".ec-stepper")
    for _ in range(len(actions) + 1):
        tab.page.keyboard.press("Tab")
        tab.page.focus(".ec-timeline")
        tab.page.keyboard.press("j")
    assert tab.page.evaluate("window.__ran") is None
    assert tab.page.locator("img[src='x']").count() == 0


def test_the_page_answers_while_the_shop_loads(browser: Any, words_engine: Any, tmp_path: Any) -> None:
    import threading

    import app
    from components.session import Shop

    gate = threading.Event()

    def load() -> Any:
        gate.wait(600)
        return words_engine

    demo = app.build(Shop(load), str(tmp_path))
    _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=None, prevent_thread_lock=True, quiet=True)
    context = browser.new_context()
    space = Space(context.new_page(), Server(url.rstrip("/"), demo, None, tmp_path))
    space.go(url)
    expect(space.page.locator("#meters")).to_contain_text("loading the shop")
    expect(space.page.locator("#ec-random")).to_be_visible()
    gate.set()
    expect(space.page.locator("#meters")).to_contain_text("Press “Play a random episode”")
    context.close()
    demo.close()
    assert not space.problems
