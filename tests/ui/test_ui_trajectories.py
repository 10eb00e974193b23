"""The Trajectories tab in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ui_space import HOSTILE, Space, reference_actions

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect


def finished(engine: Any, env_id: str, seed: int) -> dict[str, Any]:
    """The record of an episode that the reference agent played."""
    import ecomrlve

    actions, _ = reference_actions(engine, env_id, 3, seed)
    env = ecomrlve.make(env_id, catalog=engine)
    env.reset(seed=seed, options={"difficulty": 3})
    for action in actions:
        env.step(action)
    return env.trajectory("reference", "agent").to_dict()


def send(page: Any, file: Path) -> None:
    """Choose a file for the upload button."""
    with page.expect_file_chooser() as chooser:
        page.click("#upload")
    chooser.value.set_files(str(file))


@pytest.fixture
def upload(tab: Space, tmp_path: Path) -> Space:
    """A tab that has uploaded two episodes."""
    lines = [json.dumps(finished(tab.server.engine, env_id, 11)) for env_id in ("E_CART", "E_PD")]
    file = tmp_path / "episodes.jsonl"
    file.write_text("\n".join(lines) + '\n{"torn": \n')
    tab.open()
    tab.page.get_by_role("tab", name="Trajectories").click()
    send(tab.page, file)
    expect(tab.page.locator("#notice")).to_contain_text("2 episodes read")
    return tab


def test_an_upload_is_read_and_bad_lines_are_reported(upload: Space) -> None:
    expect(upload.page.locator("#notice")).to_contain_text("line 3")
    expect(upload.page.locator("#episodes tbody tr", has_text="uploaded")).to_have_count(2)


def test_the_inspector_steps_by_keyboard(upload: Space) -> None:
    page = upload.page
    page.locator("#episodes tbody tr", has_text="uploaded").filter(has_text="E_CART").click()
    timeline = page.locator(".ec-timeline")
    expect(timeline).to_have_attribute("data-step", "0")
    timeline.focus()
    for key, step in (("ArrowRight", "1"), ("j", "2"), ("k", "1"), ("ArrowLeft", "0"), ("ArrowLeft", "0")):
        page.keyboard.press(key)
        expect(timeline).to_have_attribute("data-step", step)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ec-detail .ec-toolcall").first).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator(".ec-detail .ec-totalnumber")).to_be_visible()
    expect(page.locator(".ec-detail")).to_contain_text("Hidden goal and your cart")
    page.keyboard.press("Home")
    expect(timeline).to_have_attribute("data-step", "0")


def test_verification_replays_the_episode(upload: Space) -> None:
    page = upload.page
    page.locator("#episodes tbody tr", has_text="uploaded").filter(has_text="E_PD").click()
    page.click("#ec-verify")
    expect(page.locator("#verdict")).to_contain_text("Verified")


def test_a_changed_record_is_found_out(tab: Space, tmp_path: Path) -> None:
    record = finished(tab.server.engine, "E_CART", 12)
    record["reward"]["total"] = 0.99
    file = tmp_path / "changed.jsonl"
    file.write_text(json.dumps(record) + "\n")
    tab.open()
    tab.page.get_by_role("tab", name="Trajectories").click()
    send(tab.page, file)
    tab.page.locator("#episodes tbody tr", has_text="+0.99").click()
    tab.page.click("#ec-verify")
    expect(tab.page.locator("#verdict")).to_contain_text("reward.total")


def test_uploaded_markup_is_text(tab: Space, tmp_path: Path) -> None:
    record = finished(tab.server.engine, "E_CART", 13)
    record["player"]["name"] = HOSTILE
    record["opening"]["text"] = HOSTILE
    record["steps"][0]["customer"] = {"text": HOSTILE, "acts": [HOSTILE]}
    record["steps"][0]["tool_results"] = [{"name": HOSTILE, "args": {HOSTILE: 1}, "result": HOSTILE, "ms": HOSTILE}, 5]
    record["goal"] = {HOSTILE: HOSTILE}
    record["ledger"] = [{"text": HOSTILE, "said": [HOSTILE, {"turn": HOSTILE}]}, None]
    record["reward"]["reason"] = HOSTILE
    record["reward"]["total"] = "x"
    file = tmp_path / "markup.jsonl"
    file.write_text(json.dumps(record) + "\n")
    tab.open()
    page = tab.page
    page.get_by_role("tab", name="Trajectories").click()
    send(page, file)
    page.locator("#episodes tbody tr", has_text="<img src=x").click()
    page.wait_for_selector(".ec-stepper")
    page.focus(".ec-timeline")
    for _ in range(len(record["steps"]) + 1):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".ec-detail .ec-score")).to_contain_text("<img src=x")
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[src='x']").count() == 0


def test_a_file_that_is_too_large_is_refused_with_a_reason(tab: Space, tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    with file.open("wb") as stream:
        stream.truncate(21 * 2**20)
    tab.open()
    tab.page.get_by_role("tab", name="Trajectories").click()
    send(tab.page, file)
    expect(tab.page.locator("#notice")).to_contain_text("up to 20 MB can be uploaded")


def test_a_played_episode_is_stored_found_and_downloaded(tab: Space) -> None:
    actions, reward = reference_actions(tab.server.engine, "E_CART", 1, 21)
    tab.open("env=E_CART&d=1&seed=21", version=1)
    for action in actions:
        tab.take(action)
    page = tab.page
    page.get_by_role("tab", name="Trajectories").click()
    page.fill("[aria-label='Filter by player, seed or id']", "21")
    row = page.locator("#episodes tbody tr", has_text=f"+{reward.total:.2f}")
    expect(row.first).to_contain_text("you")
    page.select_option("[aria-label='Filter by outcome']", "no")
    expect(row).to_have_count(0)
    page.select_option("[aria-label='Filter by outcome']", "yes")
    row.first.click()
    page.click("#ec-verify")
    expect(page.locator("#verdict")).to_contain_text("Verified")
    with page.expect_download() as download:
        page.click("#ec-download-all")
    lines = Path(download.value.path()).read_text().splitlines()
    assert any(json.loads(line)["seed"] == 21 for line in lines)
    page.click("[aria-sort] button >> text=Total")
    expect(page.locator("#episodes th[aria-sort=ascending]")).to_contain_text("Total")
