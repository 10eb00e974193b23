"""The page of a report: one file that carries everything it needs and asks for nothing from anywhere.

A content security policy in it forbids every request, so that not even a fault in it could make one. All text from
trajectories is escaped.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from typing import Any

from ecomrlve.errors import EcomrlveError
from ecomrlve.evaluation.report import Report
from ecomrlve.evaluation.report_charts import charts
from ecomrlve.evaluation.report_figures import SHORT_LABEL, Chart, Charts, label
from ecomrlve.evaluation.report_looks import SCRIPT, STYLE
from ecomrlve.evaluation.report_tables import Section, Table, facts, sections

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_LONG_TEXT = 40  # Letters from which a cell may be broken over lines.


class PageError(EcomrlveError, RuntimeError):
    """The page of a report cannot be made here."""


def to_html(report: Report) -> str:
    """The whole report as a page with drawings that work offline; plotly.js, some five megabytes, is inside it.

    Raises:
        PageError: Plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise PageError("the page of a report needs plotly; install it with: pip install plotly") from error
    drawings = charts(report)
    figures: list[Chart] = []
    body = "\n".join(_body(report, drawings, figures))
    plain = [_figure(chart) for chart in figures]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Evaluation report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        f'<script type="application/json" id="figures">{_inert(plain)}</script>\n'
        f"<script>{get_plotlyjs()}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _figure(chart: Chart) -> dict[str, Any]:
    return {
        "data": chart.data,
        "layout": chart.layout,
        "height": chart.height,
        "names": [label(name) for name in chart.names],
        "short_names": [label(name, SHORT_LABEL) for name in chart.names],
    }


def _inert(value: object) -> str:
    """JSON that nothing inside can turn into markup."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _body(report: Report, drawings: dict[str, Charts], figures: list[Chart]) -> Iterator[str]:
    data = report.data
    yield "<h1>Evaluation report</h1>"
    for sentence in data["warnings"]:
        yield f'<p class="warning" role="alert">{html.escape(sentence)}</p>'
    agents, catalog = len(data["agents"]), html.escape(data["catalog"]["name"])
    yield f'<p class="quiet">{data["episodes"]:,} episodes by {agents} {"agents" if agents > 1 else "agent"} '
    yield f"on the catalog {catalog}</p>"
    for section in sections(report):
        yield from section_html(section, drawings.get(section.key), figures)
    yield "<h2>How to read this</h2>"
    yield from list_html(data["notes"])
    yield "<h2>Where this comes from</h2>\n<dl>"
    yield from (f"<dt>{html.escape(word)}</dt><dd>{html.escape(value)}</dd>" for word, value in facts(report))
    yield "</dl>"
    if data["commands"]:
        yield f"<pre>{html.escape(chr(10).join(data['commands']))}</pre>"
    if data["problems"]["count"]:
        yield f"<h2>Skipped or contradicting records: {data['problems']['count']:,}</h2>"
        yield from list_html(data["problems"]["first"])


def list_html(sentences: Iterable[str]) -> Iterator[str]:
    """Sentences as a list of a page."""
    yield "<ul>"
    yield from (f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    yield "</ul>"


def section_html(section: Section, drawn: Charts | None, figures: list[Chart]) -> Iterator[str]:
    """A section as a page shows it: its heading, what it is about, its drawings, its tables.

    Args:
        section: The section.
        drawn: Its drawings; None for none.
        figures: What is drawn is added to it.
    """
    yield f'<section id="{section.key}">\n<h2>{html.escape(section.title)}</h2>'
    if section.about:
        yield f'<p class="quiet">{html.escape(section.about)}</p>'
    if drawn is not None:
        yield from _drawings(drawn, figures)
    for table in section.tables:
        if not table.detail:
            yield from _table(table, section.title)
    details = [table for table in section.tables if table.detail]
    if details:
        name = "More tables" if len(details) > 1 else details[0].title or "As a table"
        yield f"<details><summary>{html.escape(name)}</summary>"
        for table in details:
            yield from _table(table, section.title)
        yield "</details>"
    yield "</section>"


def _drawings(drawn: Charts, figures: list[Chart]) -> Iterator[str]:
    if drawn.legend:
        yield '<ul class="legend">'
        for name, colour in drawn.legend.items():
            yield f'<li><i style="background:{colour}"></i>{html.escape(name)}</li>'
        yield "</ul>"
    yield f'<div class="charts" style="--width: {drawn.width}px">'
    for chart in drawn.charts:
        title = html.escape(chart.title)
        yield (
            f"<figure{' class=wide' if chart.wide else ''}><figcaption>{title}</figcaption>"
            f'<div data-chart="{len(figures)}" role="img" aria-label="{title}; the table holds the same figures" '
            f'style="height:{chart.height}px"></div></figure>'
        )
        figures.append(chart)
    yield "</div>"


def _table(table: Table, section: str) -> Iterator[str]:
    if table.title:
        yield f"<h3>{html.escape(table.title)}</h3>"
    named = html.escape(table.title or section)
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{named}"><table>\n<thead><tr>'
    for place, column in enumerate(table.columns):
        yield f'<th scope="col"{_kind(place < table.texts, column)}>{html.escape(column)}</th>'
    yield "</tr></thead>\n<tbody>"
    for row in table.rows:
        cells = (
            f"<{'td' if place else 'th scope=row'}{_kind(place < table.texts, cell)}>{html.escape(cell)}"
            f"</{'td' if place else 'th'}>"
            for place, cell in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _kind(is_text: bool, cell: str) -> str:
    if not is_text:
        return ""
    return ' class="text long"' if len(cell) > _LONG_TEXT else ' class="text"'
