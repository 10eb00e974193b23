"""What a report looks like: names are text everywhere, files are whole, and the page works offline in a browser."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
from markdown_it import MarkdownIt
from test_report import entry, made, printed, row, synthetic

from ecomrlve.evaluation.report import build
from ecomrlve.evaluation.report_charts import charts
from ecomrlve.evaluation.report_html import PageError, _inert, to_html
from ecomrlve.evaluation.report_pages import ReportFilesError, to_csv, to_markdown, write
from ecomrlve.evaluation.report_tables import sections
from ecomrlve.evaluation.rows import Rows

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = "<script>alert(1)</script>|**x** ](http://evil.invalid) %{y} <a href='//evil.invalid'>a</a>"


class Marks(HTMLParser):
    """What a page is made of: its elements with their attributes, and its text outside of scripts and styles."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.shown: list[str] = []
        self._mute = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._mute = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._mute = False

    def handle_data(self, data):
        if not self._mute:
            self.shown.append(data)


def test_the_page_carries_everything_with_it():
    page = Marks(to_html(made(synthetic(trials=2))))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 3  # the figures, plotly.js, and what draws them
    assert not {"img", "iframe", "object", "embed", "base", "a", "form"} & set(tags)
    links = [
        value or "" for _, attributes in page.elements for key, value in attributes.items() if key in ("src", "href")
    ]
    assert links == ["data:,"]
    style = to_html(made(synthetic())).partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    policy = next(attributes for tag, attributes in page.elements if "http-equiv" in attributes)
    assert "default-src 'none'" in str(policy["content"])


def test_names_from_files_are_text_everywhere():
    rows = [
        row(agent, correct, env_id=HOSTILE, seed=seed, causes=() if correct else (HOSTILE,), tool_errors={HOSTILE: 1})
        for agent in (HOSTILE, "plain")
        for seed, correct in enumerate((True, False))
    ]
    report = build(Rows(tuple(rows), (HOSTILE,)), baseline="plain", commands=[HOSTILE], resamples=50)
    page = Marks(to_html(report))
    assert [tag for tag, _ in page.elements].count("script") == 3
    assert "a" not in {tag for tag, _ in page.elements}
    assert HOSTILE in page.shown
    markdown = Marks(MarkdownIt("commonmark").enable("table").render(to_markdown(report)))
    tags = [tag for tag, _ in markdown.elements]
    assert not {"a", "script", "img"} & set(tags)
    assert HOSTILE in "".join(markdown.shown)
    assert HOSTILE in printed(report)
    assert next(csv.DictReader(io.StringIO(to_csv(Rows(tuple(rows))))))["agent"] == HOSTILE


def test_figures_in_the_page_cannot_end_their_script():
    text = "</script><script>alert(1)</script><!--"
    inert = _inert({"text": text})
    assert "<" not in inert
    assert json.loads(inert) == {"text": text}


def test_without_plotly_the_page_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(PageError, match="pip install plotly"):
        to_html(made([row()]))


def test_every_row_of_a_markdown_table_has_all_its_cells():
    report = made(synthetic((HOSTILE, "two"), trials=2))
    page = Marks(MarkdownIt("commonmark").enable("table").render(to_markdown(report)))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == sum(len(section.tables) for section in sections(report))
    expected = sum(len(table.rows) * len(table.columns) for section in sections(report) for table in section.tables)
    assert tags.count("td") == expected
    assert page.shown.count(HOSTILE) > 10


def test_the_figures_are_valid_plotly_and_hold_no_markup():
    report = made([*synthetic((HOSTILE, "two"), trials=2), row(env_id="E_SUB", seed=50)])
    drawn = charts(report)
    assert set(drawn) == {"agents", "comparison", "environments", "grid", "causes", "errors", "rewards"}
    for section in drawn.values():
        for chart in section.charts:
            go.Figure(data=chart.data, layout=chart.layout)  # raises for anything that Plotly does not know
            assert "<script" not in json.dumps(chart.data)
    curve = drawn["environments"].charts[0].data[0]
    found = entry(report, "curves", agent=HOSTILE, env_id="E_CART", difficulty=6)["success"]
    assert curve["y"][1] == pytest.approx(100 * found["mean"])
    assert curve["error_y"]["arrayminus"][1] == pytest.approx(100 * (found["mean"] - found["low"]))


def test_bars_are_as_long_as_the_shares_whatever_is_put_together():
    rows = [row(seed=seed, correct=False, causes=(f"cause {seed % 14}",)) for seed in range(40)]
    bars = charts(made([*rows, row(seed=99)]))["causes"].charts[0].data
    assert len(bars) == 10
    assert sum(trace["x"][0] for trace in bars) == pytest.approx(100 * 40 / 41)


def test_a_lone_agent_with_nothing_to_tell_gives_a_short_report():
    report = made([row()])
    text = to_markdown(report)
    assert "Compared with" not in text
    assert "Why episodes failed" not in text
    assert "100.0 % [20.7, 100.0]" in text
    assert to_html(report)
    assert report.data["paired"] == []


def test_the_csv_is_what_pandas_reads():
    rows = synthetic()
    rows[0] = replace(
        rows[0], parts={"f1": 0.5}, notes={"problems": ["a", "b"], "cost": 0.25}, reason='said "no", twice'
    )
    table = pd.read_csv(io.StringIO(to_csv(Rows(tuple(rows)))))
    assert len(table) == len(rows)
    assert table["total"].tolist() == [one.total for one in rows]
    assert table["correct"].tolist() == [one.correct for one in rows]
    assert (table.loc[0, "parts.f1"], table.loc[0, "notes.cost"]) == (0.5, 0.25)
    assert table.loc[0, "reason"] == 'said "no", twice'
    assert json.loads(str(table.loc[0, "notes.problems"])) == ["a", "b"]
    assert table["tool_calls.cart_add"].sum() == 2 * len(rows)
    failed = table[~table["correct"]]
    assert failed["cause"].tolist() == [one.causes[0] for one in rows if not one.correct]


def test_the_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    rows = Rows(tuple(synthetic()))
    report = build(rows, resamples=50)
    folder = tmp_path / "new" / "folder"
    files = write(report, rows, folder)
    assert {path.name for path in folder.iterdir()} == {"report.md", "report.json", "report.csv", "report.html"}
    assert set(files) == {"md", "json", "csv", "html"}
    assert json.loads(files["json"].read_text()) == report.to_dict()
    before = files["csv"].read_text()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ecomrlve.evaluation.report_pages.os.replace", full)
    with pytest.raises(ReportFilesError, match="No space left"):
        write(report, Rows(rows.rows[:1]), folder)
    assert files["csv"].read_text() == before
    assert len(list(folder.iterdir())) == 4


# --- in a browser ----------------------------------------------------------------------------------------------------


FACTS = """() => ({
    wide: document.documentElement.scrollWidth > innerWidth,
    places: document.querySelectorAll('[data-chart]').length,
    drawn: [...document.querySelectorAll('[data-chart]')].filter(
        (place) => place.querySelector('.cartesianlayer .point, .cartesianlayer .hm')).length,
    text: getComputedStyle(document.querySelector('.xtick text')).fill,
    ground: getComputedStyle(document.body).backgroundColor,
    labels: [...document.querySelectorAll('.ytick text')].map((node) => node.textContent),
    links: document.querySelectorAll('a').length,
})"""


def looked_at(path: Path) -> dict[str, Any]:
    """Open a page on a phone and at a desk, where night falls; what is there, and all that went wrong."""
    from playwright.sync_api import sync_playwright

    seen: dict[str, Any] = {"problems": [], "requests": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, width in (("phone", 390), ("day", 1280)):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="light")
            page.on("pageerror", lambda error: seen["problems"].append(str(error)))
            page.on("console", lambda line: seen["problems"].append(line.text))
            page.on("dialog", lambda dialog: (seen["problems"].append(dialog.message), dialog.dismiss()))
            page.on("request", lambda sent: seen["requests"].append(sent.url))
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-drawn=light]")
            seen[name] = page.evaluate(FACTS)
        page.emulate_media(color_scheme="dark")
        page.wait_for_selector("html[data-drawn=dark]")
        seen["night"] = page.evaluate(FACTS)
        browser.close()
    return seen


@pytest.mark.ui
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found; set CHROMIUM to its path")
def test_the_page_draws_itself_offline_by_day_by_night_and_on_a_phone(tmp_path):
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    rows = Rows(tuple(synthetic((HOSTILE, "two"), trials=2)))
    page = write(build(rows, resamples=50, baseline="two"), rows, tmp_path)["html"]
    # In a thread of its own: elsewhere in this process another browser may be open, and a thread bears only one.
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(looked_at, page).result()
    assert seen["problems"] == []
    assert set(seen["requests"]) == {page.as_uri()}
    for name in ("phone", "day", "night"):
        assert not seen[name]["wide"]
        assert seen[name]["drawn"] == seen[name]["places"] > 10
        assert seen[name]["links"] == 0
    assert any("<script>" in text for text in seen["day"]["labels"])
    assert seen["day"]["ground"] != seen["night"]["ground"]
    assert seen["day"]["text"] != seen["night"]["text"]
