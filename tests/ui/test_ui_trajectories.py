"""The Trajectories tab in a real browser: the list, the inspector, the panels beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tabs import Tabs
from trajectory_space import INVALID, PLAYED, Site, Visit, running, visiting
from ui_space import each_look

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

AUDIT = Path(__file__).with_name("audit.js").read_text()


@pytest.fixture(scope="module")
def site(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from running(words_engine, tmp_path_factory.mktemp("store"))


@pytest.fixture
def visit(tabs: Tabs, site: Site) -> Iterator[Visit]:
    yield from visiting(tabs, site)


def test_the_newest_come_first_page_by_page(visit: Visit) -> None:
    page = visit.open().page
    expect(visit.rows).to_have_count(50)
    expect(visit.rows.first).to_contain_text("E_JOURNEY")
    expect(page.locator(".ec-pager")).to_contain_text(f"1–50 of {len(visit.site.records)}")
    page.click("[aria-label='Next page']")
    expect(visit.rows).to_have_count(len(visit.site.records) - 50)
    expect(page.locator("[aria-label='Next page']")).to_be_disabled()
    page.click("th >> text=Reward")
    expect(visit.rows.first).to_contain_text("−1.00")
    page.click("th >> text=Reward")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Reward")
    expect(visit.rows.first).to_contain_text("+0.9")


def test_filters_combine_and_stay_while_one_steps(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("environment", "E_CART")
    expect(visit.rows).to_have_count(2)
    visit.choose("outcome", "not correct")
    expect(visit.rows).to_have_count(1)
    expect(page.locator(".ec-filters summary")).to_have_text("Filters: 2 set")
    # Each filter tells how many it would find beside the others.
    expect(page.locator("[aria-label='Filter by environment'] option[value=E_STATUS]")).to_have_text("E_STATUS (1)")
    visit.pick("random").press("ArrowRight", 1)
    expect(visit.rows).to_have_count(1)
    visit.choose("environment", "")
    visit.choose("player", "broken")
    expect(page.locator(".ec-head .ec-count")).to_contain_text(f"{INVALID} of {len(visit.site.records)} episodes")
    page.fill("[aria-label='Turns from']", "2")
    expect(visit.rows).to_have_count(0)
    expect(page.locator(".ec-head .ec-count")).to_contain_text("nothing matches")
    page.click("text=Clear all filters")
    expect(page.locator(".ec-pager")).to_contain_text(f"of {len(visit.site.records)}")
    page.fill("[aria-label='Reward from']", "0.5")
    visit.choose("difficulty", "d 6")
    visit.choose("outcome", "correct")
    assert all(visit.rows.nth(place).inner_text().count("yes") for place in range(visit.rows.count()))
    page.click("text=Clear all filters")
    visit.choose("failure cause", "invalid call")
    page.fill("[aria-label='Filter by player, seed or id']", "s59-")
    expect(visit.rows).to_have_count(1)


def test_the_cause_of_a_failure_is_explained(visit: Visit) -> None:
    page = visit.open().page
    page.fill("[aria-label='Filter by player, seed or id']", "broken")
    expect(visit.rows.first.locator(".ec-cause")).to_have_attribute("title", re.compile("no valid action"))
    visit.pick()
    expect(page.locator(".ec-why")).to_contain_text("Why it failed: invalid call. The output was no valid action")


def test_one_goes_from_episode_to_episode_in_the_order_of_the_list(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("environment", "E_CART")
    visit.pick("random")
    title = page.locator(".ec-timeline .ec-desc").first
    expect(title).to_contain_text("played by random")
    expect(page.locator("text=↑ Episode before")).to_be_disabled()
    page.click("text=↓ Next episode")
    expect(title).to_contain_text("played by reference")
    expect(page.locator("#episodes tr.ec-on")).to_contain_text("reference")
    expect(page.locator("text=↓ Next episode")).to_be_disabled()
    page.focus("#episodes tbody tr:first-child button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(title).to_contain_text("played by random")


def test_steps_by_keyboard_move_all_panels(visit: Visit) -> None:
    page = visit.open().pick("E_CART", "reference").page
    steps = len(next(one for one in visit.site.records if one["env_id"] == "E_CART")["steps"])
    for key, step in (("ArrowRight", 1), ("j", 2), ("k", 1), ("ArrowLeft", 0), ("ArrowLeft", 0)):
        visit.press(key, step)
    known, worth = page.locator(".ec-known"), page.locator(".ec-worth")
    expect(known).to_contain_text("What was known after the opening")
    expect(known.locator("td.ec-bad").first).to_have_text("missing")
    expect(known).to_contain_text("not said yet")
    expect(worth).to_have_text("Ended after the opening, it would be worth −0.75.")
    visit.press("ArrowRight", 1)
    expect(page.locator(".ec-detail .ec-toolcall").first).to_be_visible()
    visit.press("End", steps + 1)
    expect(page.locator(".ec-detail .ec-totalnumber")).to_be_visible()
    expect(page.locator(".ec-detail")).to_contain_text("Hidden goal and the reference agent’s cart")
    expect(known.locator("td.ec-good").first).to_have_text("right")
    expect(known).not_to_contain_text("not said yet")
    expect(worth).to_contain_text("At the end it is worth +0.9")
    visit.press("Home", 0)
    box = page.locator(".ec-course").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.99, box["y"] + 20)
    expect(page.locator(".ec-timeline")).to_have_attribute("data-step", str(steps))


def test_a_journey_tells_of_its_wishes(visit: Visit) -> None:
    page = visit.open().pick("E_JOURNEY").page
    known = page.locator(".ec-known")
    expect(known).to_contain_text("not raised yet")
    page.keyboard.press("End")
    expect(known).not_to_contain_text("not raised yet")
    expect(known).to_contain_text("answered in turn")


def test_arguments_results_and_raw_json_unfold(visit: Visit) -> None:
    page = visit.open().pick("E_PD", "reference").page
    visit.press("ArrowRight", 1)
    call = page.locator(".ec-toolcall").first
    expect(call.locator("summary")).to_contain_text("results")
    call.locator("summary").click()
    expect(call.locator("pre").first).to_contain_text('"query"')
    expect(call.locator("pre").nth(1)).to_contain_text('"results"')
    page.click("text=Raw JSON of this step")
    expect(page.locator(".ec-detail > .ec-raw pre")).to_contain_text('"turn": 1')
    page.focus(".ec-timeline")
    visit.press("ArrowRight", 2)
    expect(page.locator(".ec-detail > .ec-raw pre")).to_contain_text('"turn": 2')
    page.click("text=Raw JSON of the whole episode")
    page.click(".ec-whole >> text=Copy")
    record = next(one for one in visit.site.records if one["env_id"] == "E_PD")
    assert json.loads(page.locator(".ec-whole pre").inner_text()) == record
    expect(page.locator(".ec-whole button")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert json.loads(copied) == record


def test_a_link_leads_to_an_episode_and_a_step(visit: Visit) -> None:
    page = visit.open().pick("E_STATUS").page
    visit.press("ArrowRight", 1)
    visit.press("ArrowRight", 2)
    page.click("text=Copy link")
    expect(page.locator(".ec-timeline").get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    record = next(one for one in visit.site.records if one["env_id"] == "E_STATUS")
    assert link == f"{visit.site.url}/?tab=trajectories&episode={record['episode_id']}&step=2"
    visit.go(link)
    expect(page.locator(".ec-timeline")).to_have_attribute("data-step", "2")
    expect(page.locator("#episodes tr.ec-on")).to_contain_text("E_STATUS")
    page.wait_for_selector(".ec-running[data-state=ready]")
    visit.open("tab=trajectories&episode=E_NONE&step=x")
    expect(page.locator(".toast-wrap")).to_contain_text("is not here")


def test_another_tab_can_open_an_episode(visit: Visit) -> None:
    page = visit.page
    visit.go(visit.site.url)
    page.click("text=Open the last episode")
    expect(page.locator(".ec-timeline")).to_have_attribute("data-step", "1")
    expect(page.locator("#episodes tr.ec-on")).to_contain_text(visit.site.records[-1]["env_id"])
    page.wait_for_selector(".ec-running[data-state=ready]")


def test_everybody_can_use_it(visit: Visit) -> None:
    page = visit.open().page
    looks = [(scheme, width) for width in (1280, 390) for scheme in ("light", "dark")]
    for player, env_id in (PLAYED[1], PLAYED[4]):
        visit.pick(env_id, player)
        for key in ("j", "j", "End"):
            page.focus(".ec-timeline")
            page.keyboard.press(key)
            for width in each_look(page, looks):
                assert not page.evaluate(AUDIT + "; contrast()")
                assert not page.evaluate(AUDIT + "; unnamed()")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
    # On a phone the filters are folded.
    for width in each_look(page, looks[2:]):
        page.click(".ec-filters summary")
        assert not page.evaluate(AUDIT + "; contrast()")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
