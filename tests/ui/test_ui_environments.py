"""Every environment played to its end in a real browser, and its record opened in the inspector.

Nothing that the server sends before the end tells more than the customer and the tools have told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ui_space import LISTENER, Server, Space, reference_episode

import ecomrlve
from components.session import ENVIRONMENTS

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

DIFFICULTY, HARD, SEED = 3, 6, 7
LONGEST_SECRET = 500
IDS = re.compile(r"\b[a-z][0-9a-hjkmnp-tv-z]{7}\b")
# What the panels hold at the end of an episode that the reference agent played, and a heading of its result.
PANELS = {
    "E_CART": (("#cart", "Total"), "Hidden goal and "),
    "E_PD": (("#cards", "Products seen"), "All products that would have fitted"),
    "E_SUB": (("#cards", "similarity"), "Similarity"),
    "E_RETURN": (("#orders", "placed"), "The line that was meant"),
    "E_STATUS": (("#orders", "placed"), "The order that was meant"),
    "E_POLICY": (("#pages", "page "), "What the answer depends on"),
    "E_BUNDLE": (("#cards", "Products seen"), "The project's parts"),
    "E_JOURNEY": (("#meters", "of "), "The wishes, in the order in which they were raised"),
}
HIDDEN = {
    "E_CART": ("#orders", "#returns", "#pages", "#profile"),
    "E_PD": ("#cart", "#orders", "#returns", "#pages", "#profile"),
    "E_SUB": ("#cart", "#orders", "#returns", "#pages", "#profile"),
    "E_RETURN": ("#cart",),
    "E_STATUS": ("#cart", "#cards", "#returns", "#pages", "#profile"),
    "E_POLICY": ("#cart", "#cards", "#returns"),
    "E_BUNDLE": ("#cart", "#orders", "#returns", "#pages", "#profile"),
    "E_JOURNEY": (),
}


def test_all_eight_can_be_chosen() -> None:
    assert list(ENVIRONMENTS) == list(PANELS)


def untold(record: dict[str, Any], told: str, turn: int) -> tuple[set[str], set[str]]:
    """Ids of the goal that no message has named yet, and requirements that the customer has not said by a turn."""
    ids = set(IDS.findall(text_of(record["goal"]))) - set(IDS.findall(told))
    unsaid = {
        slot["text"]
        for slot in record["ledger"]
        if slot["text"] and not any(saying["turn"] <= turn for saying in slot["said"])
    }
    return ids, unsaid


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.fixture
def overheard(browser: Any, server: Server) -> Iterator[Space]:
    """A browser tab that keeps all that the server sends."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_init_script(LISTENER)
    space = Space(context.new_page(), server)
    yield space
    context.close()
    assert not space.problems


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_whole_episode_of_which_nothing_is_told_too_early(overheard: Space, env_id: str) -> None:
    tab = overheard
    turns, reward, record = reference_episode(tab.server.engine, env_id, HARD, SEED)
    twin = ecomrlve.make(env_id, catalog=tab.server.engine)
    told = text_of(twin.reset(seed=SEED, options={"difficulty": HARD})[0].messages)
    tab.open(f"env={env_id}&d={HARD}&seed={SEED}", version=1)
    for panel in HIDDEN[env_id]:
        expect(tab.page.locator(panel)).to_be_hidden()
    looked_at = heard = 0
    for turn, (wish, action) in enumerate(turns):
        ids, unsaid = untold(record, told, turn)
        # What came before was held against even more that was untold.
        sent = tab.page.evaluate("from => window.sent.slice(from)", max(0, heard - LONGEST_SECRET))
        heard = max(0, heard - LONGEST_SECRET) + len(sent)
        assert not ids & set(IDS.findall(sent))
        assert not [text for text in unsaid if text in sent or text_of(text)[1:-1] in sent]
        assert '"ledger"' not in sent
        assert '\\"ledger\\"' not in sent
        looked_at += len(ids) + len(unsaid)
        told += text_of(twin.step(action)[0].messages)
        expect(tab.page.locator("#result .ec-totalnumber")).to_have_count(0)
        if env_id == "E_JOURNEY":
            expect(tab.page.locator("#meters")).to_contain_text("This wish")
        tab.take(action, wish if env_id == "E_JOURNEY" else "")
    assert looked_at
    # The same look finds the goal as soon as the episode is over: it has been looking where it is.
    tab.page.wait_for_function("() => /what the customer said/i.test(window.sent)")
    total = float(tab.page.get_attribute("#result .ec-totalnumber", "data-total"))
    assert reward.correct
    assert total == pytest.approx(reward.total)
    (panel, text), heading = PANELS[env_id]
    expect(tab.page.locator(panel)).to_contain_text(text)
    expect(tab.page.locator("#result")).to_contain_text(heading)
    expect(tab.page.locator("#result")).not_to_contain_text("Field")
    for hidden in HIDDEN[env_id]:
        expect(tab.page.locator(hidden)).to_be_hidden()


def test_the_inspector_opens_every_kind_of_episode(tab: Space, tmp_path: Path) -> None:
    records = {env_id: reference_episode(tab.server.engine, env_id, DIFFICULTY, 11)[2] for env_id in ENVIRONMENTS}
    file = tmp_path / "all.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records.values()))
    tab.open()
    page = tab.page
    page.get_by_role("tab", name="Trajectories").click()
    with page.expect_file_chooser() as chooser:
        page.click("#upload")
    chooser.value.set_files(str(file))
    expect(page.locator("#notice")).to_contain_text(f"{len(records)} episodes read")
    for env_id, record in records.items():
        page.locator("#episodes tbody tr", has_text="uploaded").filter(has_text=env_id).click()
        expect(page.locator(".ec-timeline h3")).to_contain_text(env_id)
        page.focus(".ec-timeline")
        for step in range(1, len(record["steps"]) + 1):
            page.keyboard.press("ArrowRight")
            expect(page.locator(".ec-timeline")).to_have_attribute("data-step", str(step))
        if any("returns" in step["shop"] for step in record["steps"]):
            expect(page.locator(".ec-detail")).to_contain_text("Sent back: line")
        page.keyboard.press("End")
        expect(page.locator(".ec-detail")).to_contain_text(PANELS[env_id][1])
        expect(page.locator(".ec-detail")).to_contain_text("hat the customer said")


def start(tab: Space, env_id: str, first: tuple[str, dict[str, Any]], seed: int = SEED) -> Any:
    """Open an episode and take a turn with one call; returns the page."""
    tab.open(f"env={env_id}&d={DIFFICULTY}&seed={seed}", version=1)
    tab.call(*first)
    return tab.page


def test_ids_of_orders_go_into_the_form_and_the_answer(tab: Space) -> None:
    page = start(tab, "E_RETURN", ("order_list", {}))
    order = page.locator(".ec-order").nth(1)
    line = order.locator(".ec-lines li").first
    ids = [order.get_attribute("data-order"), line.get_attribute("data-line")]
    line.get_by_role("button", name="put this line into the tool form").click()
    assert page.input_value("#ec-tool") == "return_check_eligibility"
    assert [page.input_value(f"#ec-arg-{name}") for name in ("order_id", "line_id")] == ids
    line.locator(".ec-choose").click()
    assert [page.input_value(f"#ec-answer-selected_{name}") for name in ("order_id", "line_id")] == ids
    page.click(".ec-call")
    tab.wait(3)
    expect(page.locator("#returns .ec-checks")).to_contain_text(ids[1])
    # The ids stay chosen from one tool to the next, and a line alone says which order it is in.
    page.select_option("#ec-tool", "return_initiate")
    options = page.locator("#ec-arg-line_id-seen option").evaluate_all("all => all.map((one) => one.value)")
    assert ids[1] in options
    page.fill("#ec-arg-line_id", ids[1])
    assert page.input_value("#ec-arg-order_id") == ids[0]
    page.click(".ec-call")
    expect(page.locator(".ec-form-error")).to_contain_text("reason is needed")


def test_a_return_that_was_cancelled_is_struck_out(tab: Space) -> None:
    found = (
        (seed, reference_episode(tab.server.engine, "E_RETURN", DIFFICULTY, seed)[2]["goal"]) for seed in range(20)
    )
    seed, goal = next((seed, goal) for seed, goal in found if goal["decision"] == "return")
    page = start(tab, "E_RETURN", ("order_list", {}), seed)
    made = {name: goal[name] for name in ("order_id", "line_id", "reason", "method")}
    tab.call("return_initiate", made)
    expect(page.locator("#returns .ec-made")).to_contain_text("money back by")
    page.locator("#returns .ec-id-link").click()
    assert page.input_value("#ec-tool") == "return_cancel"
    page.click(".ec-call")
    tab.wait(4)
    expect(page.locator("#returns .ec-cancelled s")).to_contain_text("return of")
    expect(page.locator("#returns")).to_contain_text("cancelled")


def test_a_help_page_keeps_its_paragraphs_and_rules(tab: Space) -> None:
    page = start(tab, "E_POLICY", ("policy_search", {"query": "return an item", "limit": 2}))
    pages = page.locator("#pages .ec-page")
    expect(pages).to_have_count(2)
    expect(pages.first.locator(".ec-rule").first).to_be_visible()
    assert pages.first.locator("p").count() >= 3
    expect(pages.nth(1).locator("p").first).to_be_hidden()
    pages.nth(1).locator("summary").press("Enter")
    expect(pages.nth(1).locator("p").first).to_be_visible()
    pages.nth(1).locator(".ec-id-link").click()
    assert page.input_value("#ec-tool") == "policy_get"
    assert page.input_value("#ec-arg-policy_id") == pages.nth(1).get_attribute("data-page")


def test_an_answer_in_a_journey_is_for_one_kind_of_wish(tab: Space) -> None:
    page = start(tab, "E_JOURNEY", ("catalog_search", {"query": "anything", "limit": 3}))
    assert page.input_value("#ec-answer-kind") == "E_CART"
    expect(page.locator(".ec-answer input, .ec-list")).to_have_count(0)
    # Recommending turns to a kind of wish that has a list; each kind keeps what was entered for it.
    page.locator(".ec-recommend").first.click()
    assert page.input_value("#ec-answer-kind") == "E_PD"
    page.select_option("#ec-answer-kind", "E_STATUS")
    page.fill("#ec-answer-selected_order_id", "o1")
    expect(page.locator("#ec-answer-order_status option")).to_have_count(9)
    page.select_option("#ec-answer-kind", "E_SUB")
    expect(page.locator(".ec-list li")).to_have_count(0)
    page.select_option("#ec-answer-kind", "E_PD")
    expect(page.locator(".ec-list li")).to_have_count(1)
    page.select_option("#ec-answer-kind", "E_POLICY")
    page.click("#ec-submit")
    expect(page.locator(".ec-desk .ec-error")).to_contain_text("Your answer is empty")
    assert tab.version == 2
