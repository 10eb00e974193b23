"""Files on the Trajectories tab in a real browser: what goes in, and what comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tabs import Tabs
from trajectory_space import Site, Visit, played, running, visiting, write
from ui_space import HOSTILE

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect


@pytest.fixture(scope="module")
def site(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from running(words_engine, tmp_path_factory.mktemp("store"))


@pytest.fixture
def visit(tabs: Tabs, site: Site) -> Iterator[Visit]:
    yield from visiting(tabs, site)


def test_an_upload_is_read_seen_by_one_visitor_and_forgotten(visit: Visit, browser: Any, tmp_path: Path) -> None:
    records = [played(visit.site.engine, "reference", env_id, 11, 3) for env_id in ("E_CART", "E_PD")]
    note = {"agent": "reference", "trial": 1, "seconds": 0.5, "notes": {"tokens": 70}}
    visit.open().send(write(tmp_path, records[0], records[1] | {"evaluation": note}, '{"torn": '))
    expect(visit.notice).to_contain_text("2 episodes read")
    expect(visit.notice).to_contain_text("line 3")
    uploaded = visit.rows.filter(has_text="uploaded")
    expect(uploaded).to_have_count(2)
    visit.pick("uploaded", "E_PD")
    expect(visit.row("uploaded", "E_PD")).to_contain_text("trial 2")
    expect(visit.page.locator(".ec-timeline .ec-desc").first).to_contain_text("tokens 70")
    visit.page.click("#ec-verify")
    expect(visit.page.locator("#verdict")).to_contain_text("Verified")
    assert visit.saved("#ec-download") == [records[1] | {"evaluation": note}]
    other = Visit(browser.new_page(), visit.site).open()
    expect(other.rows.filter(has_text="uploaded")).to_have_count(0)
    other.page.close()
    visit.page.click("#ec-forget")
    expect(uploaded).to_have_count(0)


def test_a_file_may_be_dropped_anywhere(visit: Visit) -> None:
    record = json.dumps(visit.site.records[0] | {"player": {"name": "dropped"}})
    visit.open().drop("mine.jsonl", record)
    expect(visit.notice).to_contain_text("mine.jsonl: 1 episode read.")
    expect(visit.row("dropped", "uploaded")).to_be_visible()
    visit.drop("notes.txt", "hello", onto="#tabs")
    expect(visit.page.locator(".ec-drop [role=alert]")).to_contain_text("notes.txt was not read")
    visit.drop("broken.jsonl", "{" * 3000, onto="body")
    expect(visit.notice).to_contain_text("0 episodes read. It does not look like a file of episodes")
    expect(visit.row("dropped")).to_be_visible()


def test_large_files_are_read_or_refused_with_a_reason(visit: Visit, tmp_path: Path) -> None:
    record = visit.site.records[-1]
    ten = write(tmp_path, *[record | {"seed": seed} for seed in range(10_000_000 // len(json.dumps(record)))])
    visit.open().send(ten)
    expect(visit.notice).to_contain_text("episodes read")
    listed = visit.page.get_attribute(".ec-episodes", "data-count")
    huge = tmp_path / "huge.jsonl"
    with huge.open("wb") as stream:
        stream.truncate(51 * 2**20)
    visit.send(huge)
    expect(visit.page.locator(".ec-drop [role=alert]")).to_contain_text("51 MB, and up to 50 MB can be uploaded")
    assert visit.page.get_attribute(".ec-episodes", "data-count") == listed


def test_a_changed_record_is_found_out(visit: Visit, tmp_path: Path) -> None:
    record = visit.site.records[-5]
    changed = record | {"reward": record["reward"] | {"total": 0.33}}
    visit.open().send(write(tmp_path, changed))
    visit.pick("+0.33")
    expect(visit.page.locator(".ec-running")).to_contain_text("does not come out as it is recorded")
    visit.page.click("#ec-verify")
    expect(visit.page.locator("#verdict")).to_contain_text("reward.total")


def hostile(record: dict[str, Any]) -> dict[str, Any]:
    """The record with markup wherever there is text, and with what Gradio would take for a file."""
    file = {"path": "app.py", "url": None, "meta": {"_type": "gradio.FileData"}}
    changed = json.loads(json.dumps(record))
    changed["player"]["name"] = changed["opening"]["text"] = changed["reward"]["reason"] = HOSTILE
    changed["episode_id"] = changed["seed"] = changed["env_id"] = HOSTILE
    changed["steps"][0]["customer"] = {"text": HOSTILE, "acts": [HOSTILE]}
    calls = [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}, "result": {HOSTILE: [HOSTILE]}, "ms": HOSTILE}, 5, file]
    changed["steps"][0] |= {"tool_results": calls, "action": file, "canonical": {"answer": {HOSTILE: HOSTILE}}}
    changed["steps"][0]["shop"] = {"cart": [{"title": HOSTILE, "qty": HOSTILE}], "sold_out": [HOSTILE]}
    changed["steps"][1]["discounted"], changed["steps"][1]["discount_reason"] = True, HOSTILE
    changed["goal"]["items"][0] |= {"title": HOSTILE, "note": HOSTILE, "variant": {HOSTILE: HOSTILE}}
    changed["ledger"] = [{"text": HOSTILE, "said": [HOSTILE, {"turn": 0, "text": HOSTILE}]}, None, file]
    changed["evaluation"] = {"trial": 1, "notes": {HOSTILE: HOSTILE}}
    changed["reward"]["total"] = "x"
    return changed


def test_uploaded_markup_is_text(visit: Visit, tmp_path: Path) -> None:
    record = hostile(visit.site.records[-5])
    page = visit.open().send(write(tmp_path, record, json.dumps({"schema": HOSTILE}))).page
    expect(visit.notice).to_contain_text("<img src=x")
    visit.pick("<img src=x")
    for step in range(1, len(record["steps"]) + 2):
        visit.press("ArrowRight", step)
        for summary in page.locator(".ec-detail summary, .ec-whole summary").all():
            summary.click()
        page.focus(".ec-timeline")
    expect(page.locator(".ec-detail .ec-score")).to_contain_text("<img src=x")
    expect(page.locator(".ec-known")).to_contain_text("<img src=x")
    assert visit.saved("#ec-download") == [record]
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[src='x']").count() == 0
    assert "file=" not in page.content()


def test_what_the_filters_leave_is_downloaded(visit: Visit) -> None:
    page = visit.open().page
    assert len(visit.saved("#ec-download-all")) == len(visit.site.records)
    visit.choose("environment", "E_CART")
    expect(page.locator("#ec-download-all")).to_have_text("Download these 2")
    carts = [one for one in visit.site.records if one["env_id"] == "E_CART"]
    assert visit.saved("#ec-download-all") == carts[::-1]


def test_an_episode_that_is_gone_is_told(visit: Visit, tmp_path: Path) -> None:
    record = visit.site.records[0] | {"player": {"name": "passing"}}
    file = visit.site.library.folder / "passing.jsonl"
    file.write_text(json.dumps(record) + "\n")
    visit.open()
    file.unlink()
    visit.row("passing").click()
    expect(visit.page.locator(".toast-wrap")).to_contain_text("no longer here")
