"""Whether everybody can use the page: width, contrast, labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ui_space import Server, Space, each_look, go_to, reference_actions

AUDIT = Path(__file__).with_name("audit.js").read_text()
METERS = "[...document.querySelectorAll('.ec-meter *')]"
FARTHEST = f"Math.max(0, ...{METERS}.map((node) => node.getBoundingClientRect().right))"
CONTRAST, UNNAMED = AUDIT + "; contrast()", AUDIT + "; unnamed()"


def at_all_stages(browser: Any, server: Server, look: Any) -> None:
    """Call `look` on the empty page, in mid-episode, after the end, on the inspector, and on every panel filled."""
    actions, _ = reference_actions(server.engine, "E_PD", 4, 7)
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 844})
    space = Space(context.new_page(), server)
    space.open()
    look(space.page)
    space.open("env=E_PD&d=4&seed=7", version=1)
    for action in actions[:-1]:
        space.take(action)
    space.page.click(".ec-add-filter") if space.page.locator(".ec-add-filter").count() else None
    space.page.locator(".ec-recommend").first.click()
    space.page.click(".ec-collect")
    look(space.page)
    space.take(actions[-1])
    look(space.page)
    go_to(space.page, "Trajectories")
    space.page.locator("#episodes tbody tr").first.click()
    space.page.wait_for_selector(".ec-stepper")
    space.page.focus(".ec-timeline")
    space.page.keyboard.press("j")
    look(space.page)
    space.page.keyboard.press("End")
    look(space.page)
    with_every_panel(space, look)
    context.close()
    assert not space.problems


def with_every_panel(space: Space, look: Any) -> None:
    """A journey has all tools, so that it fills all panels: orders, tracking, returns, help pages, profile."""
    page = space.open("env=E_JOURNEY&d=4&seed=7", version=1).page
    page.click("text=Raw action")

    def take(*calls: tuple[str, dict[str, Any]]) -> None:
        page.fill("#ec-raw", json.dumps({"tool_calls": [{"name": name, "args": args} for name, args in calls]}))
        before = space.version
        page.click("#ec-raw-send")
        space.wait(before + 1)

    take(("order_list", {}), ("policy_search", {"query": "return"}), ("user_get_profile", {}), ("cart_view", {}))
    order = page.locator(".ec-order").first
    ids = {"order_id": order.get_attribute("data-order")}
    ids["line_id"] = order.locator(".ec-lines li").first.get_attribute("data-line")
    take(("order_track", {"order_id": ids["order_id"]}), ("return_check_eligibility", ids))
    page.select_option("#ec-answer-kind", "E_RETURN")
    page.select_option("#ec-tool", "return_initiate")
    look(page)
    page.fill("#ec-raw", "{broken")
    before = space.version
    page.click("#ec-raw-send")
    space.wait(before + 1)
    look(page)


@pytest.fixture(scope="module")
def findings(browser: Any, server: Server) -> dict[str, list[Any]]:
    """All that is wrong, by day at a desk and by night on a phone."""
    found: dict[str, list[Any]] = {"light": [], "dark": [], "unnamed": [], "widths": []}

    def look(page: Any) -> None:
        for width in each_look(page):
            found["light" if width > 390 else "dark"] += page.evaluate(CONTRAST)
            found["unnamed"] += page.evaluate(UNNAMED)
            # What sticks out of its panel may be cut off instead of making the page wide.
            edges = [page.evaluate("document.documentElement.scrollWidth"), page.evaluate(FARTHEST)]
            found["widths"] += [edge - width for edge in edges]

    at_all_stages(browser, server, look)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(findings: dict[str, list[Any]], scheme: str) -> None:
    assert not sorted(set(findings[scheme]))


def test_a_phone_needs_no_sideways_scrolling(findings: dict[str, list[Any]]) -> None:
    assert max(findings["widths"]) <= 0


def test_every_control_has_a_name(findings: dict[str, list[Any]]) -> None:
    assert not findings["unnamed"]
