"""The guided first episode in a real browser: whoever presses what is outlined gets to a reward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tabs import Tabs
from ui_space import Server, Space

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

AUDIT = Path(__file__).with_name("audit.js").read_text()
MOST_CLICKS = 30


def begin(space: Space, version: int = 1) -> Any:
    """Start the guided episode; returns the page."""
    if version == 1:
        space.open()
    space.page.click("#ec-guided")
    space.wait(version)
    expect(space.page.locator(".ec-guide-step")).to_have_text("Step 1 of 5: Meet your customer")
    return space.page


def press(page: Any) -> None:
    """Do the one thing that the guide says, with what it offers or what it has outlined."""
    guide = page.locator(".ec-guide")
    before = guide.inner_text()
    offered = guide.locator(".ec-guide-next:visible, .ec-guide-write:visible")
    if offered.count():
        offered.first.click()
    else:
        lit = page.locator(".ec-lit")
        expect(lit).to_have_count(1)
        kind = lit.evaluate("node => node.tagName")
        if kind == "SELECT":
            lit.select_option(guide.locator(".ec-guide-text code").inner_text())
        elif kind == "INPUT":
            lit.fill(f"more {lit.input_value()}")
        else:
            lit.click()
    # The words change when it is done, at once or with the turn.
    page.wait_for_function("before => document.querySelector('.ec-guide').innerText !== before", arg=before)


def until(page: Any, selector: str) -> int:
    """Follow the guide until something is on the page; returns after how many clicks."""
    for clicks in range(MOST_CLICKS):
        if page.locator(selector).count():
            return clicks
        press(page)
    raise AssertionError(f"{selector} did not come")


@pytest.mark.parametrize("single", [False, True])
def test_the_outline_leads_to_a_reward(tab: Space, single: bool) -> None:
    page = begin(tab)
    if single:
        page.check("#ec-option-single")
    assert until(page, "#result .ec-totalnumber") <= 13
    expect(page.locator("#result .ec-totalnumber")).to_have_text("+0.60" if single else "+0.80")
    expect(page.locator("#result")).to_contain_text("Correct")
    expect(page.locator(".ec-guide-step")).to_have_text("Step 5 of 5: Read your reward")
    for place in (".ec-score", ".ec-reward", ".ec-blocks"):
        expect(page.locator(f"#result {place}.ec-lit")).to_have_count(1)
        press(page)
    page.locator("#ec-another.ec-lit").click()
    tab.wait((4 if single else 3) + 2)
    expect(page.locator(".ec-guide")).to_be_hidden()
    expect(page.locator(".ec-lit")).to_have_count(0)


def test_it_can_be_skipped_and_opened_again(tab: Space) -> None:
    page = begin(tab)
    expect(page.locator("#chat.ec-lit")).to_have_count(1)
    page.click("text=Skip the guide")
    expect(page.locator(".ec-guide-text")).to_be_hidden()
    expect(page.locator(".ec-lit")).to_have_count(0)
    page.click("text=Open the guide")
    expect(page.locator(".ec-guide-text")).to_contain_text("This is your customer")
    expect(page.locator("#chat.ec-lit")).to_have_count(1)
    # A reload brings the episode back, and its guide.
    tab.go()
    tab.wait(1)
    expect(page.locator(".ec-guide-text")).to_contain_text("This is your customer")


def test_another_way_is_gone_on_from(tab: Space) -> None:
    page = begin(tab)
    tab.call("cart_view", {})
    expect(page.locator(".ec-guide-aside")).to_contain_text("You took another way (cart_view)")
    expect(page.locator("#ec-tool.ec-lit")).to_have_count(1)
    tab.call("user_get_visit_history", {})
    expect(page.locator(".ec-guide-aside")).to_be_hidden()
    # Whoever acts before all was read has read enough.
    tab.page.click("#ec-guided")
    tab.wait(4)
    page.select_option("#ec-tool", "user_get_visit_history")
    expect(page.locator(".ec-call.ec-lit")).to_have_count(1)
    # What is undone has to be done again.
    page.select_option("#ec-tool", "cart_view")
    expect(page.locator(".ec-guide-text")).to_contain_text("This is your customer")


def test_the_keyboard_follows_the_guide(tab: Space) -> None:
    page = begin(tab)
    page.focus(".ec-guide-next")
    page.keyboard.press("Enter")
    page.focus(".ec-guide-find")
    page.keyboard.press("Enter")
    expect(page.locator("#ec-tool")).to_be_focused()
    page.keyboard.type("user_get")
    expect(page.locator(".ec-call.ec-lit")).to_have_count(1)
    page.focus(".ec-guide-find")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    tab.wait(2)
    page.focus(".ec-guide-find")
    page.keyboard.press("Enter")
    expect(page.locator(".ec-use.ec-lit")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(tabs: Tabs, server: Server, scheme: str) -> None:
    """By day at a desk and by night on a phone: contrast, names, width, and nothing outlined lies under the guide."""
    size = {"width": 1280, "height": 900} if scheme == "light" else {"width": 390, "height": 844}
    with tabs.lend(size, scheme) as page, Space(page, server) as space:
        begin(space)
        while not page.locator("#ec-another.ec-lit").count():
            assert page.evaluate(AUDIT + "; contrast()") == []
            assert page.evaluate(AUDIT + "; unnamed()") == []
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            if scheme == "dark":
                covered = page.locator(".ec-guide").bounding_box()
                assert page.locator(".ec-lit").bounding_box()["y"] < covered["y"]
            press(page)


def test_markup_in_titles_stays_text(hostile_tab: Space) -> None:
    page = begin(hostile_tab)
    until(page, "#result .ec-totalnumber, .ec-cards.ec-lit")
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[src='x']").count() == 0
