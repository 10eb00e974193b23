"""The page of a training run's report: one small file without any script that asks for nothing from anywhere.

It carries a content security policy that forbids every request. All text from the run's files is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ecomrlve.evaluation.report_html import list_html, section_html
from ecomrlve.evaluation.report_looks import STYLE
from ecomrlve.evaluation.report_tables import Section, percent_with_interval
from ecomrlve.evaluation.training_report import TrainingReport
from ecomrlve.evaluation.training_report_curves import GROUPS
from ecomrlve.evaluation.training_report_drawings import of_environment, of_group
from ecomrlve.evaluation.training_report_svg import Drawing, svg
from ecomrlve.evaluation.training_report_tables import facts, headline, sections, window_text

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_STYLE = """
svg { display: block; width: 100%; height: auto; padding: 2px 6px 4px; }
svg text { font-size: 11px; fill: var(--quiet); font-variant-numeric: tabular-nums; }
svg path:not(.band) { fill: none; }
svg .grid { stroke: var(--line); }
svg .mark { stroke: var(--quiet); stroke-dasharray: 4 4; }
svg .line { stroke-width: 2; stroke-linejoin: round; }
svg .faint { stroke-width: 1; opacity: 0.38; stroke-linejoin: round; }
svg .band { opacity: 0.22; }
svg .hint { fill: transparent; }
svg .hint:hover { fill: var(--quiet); opacity: 0.14; }
.charts { --width: 340px; }
figcaption .legend { margin: 2px 0 0; font-size: 12px; font-weight: 400; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px; margin: 14px 0; }
.tiles div { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px; }
.tiles dd { font-size: 22px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; margin: 0; }
.tiles dt { font-size: 13px; }
.summary { padding: 0; list-style: none; font-size: 17px; line-height: 1.45; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(350px, 100%), 1fr)); gap: 14px; }
.cards { margin: 8px 0 12px; }
.scroll + .scroll { margin-top: 10px; }
.cards article { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 12px 4px 4px; }
.cards h3 { margin: 0 12px; font-size: 16px; }
.cards p { margin: 0 12px 4px; overflow-wrap: anywhere; }
.cards figure { border: 0; }
"""


def to_html(report: TrainingReport) -> str:
    """The whole report as a page."""
    title = html.escape(f"Training run {report.data['run'].get('name', '')}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<style>{STYLE}{_STYLE}</style>\n</head>\n'
        f"<body>\n<main>\n<h1>{title}</h1>\n{chr(10).join(_body(report))}\n</main>\n</body>\n</html>\n"
    )


def _body(report: TrainingReport) -> Iterator[str]:
    data = report.data
    for sentence in data["warnings"]:
        yield f'<p class="warning" role="alert">{html.escape(sentence)}</p>'
    yield '<ul class="summary">'
    yield from (f"<li>{html.escape(sentence)}</li>" for sentence in data["summary"])
    yield "</ul>"
    tiles = headline(report)
    if tiles:
        yield '<dl class="tiles">'
        yield from (f"<div><dt>{html.escape(word)}</dt><dd>{html.escape(value)}</dd></div>" for word, value in tiles)
        yield "</dl>"
    drawn = _drawings(data)
    for section in sections(report):
        yield from _with_drawings(section, drawn.get(section.key, []))
    yield "<h2>How to read this</h2>"
    yield from list_html(data["notes"])
    yield "<h2>Where this comes from</h2>\n<dl>"
    yield from (f"<dt>{html.escape(word)}</dt><dd>{html.escape(value)}</dd>" for word, value in facts(report))
    yield "</dl>"
    yield f"<pre>{html.escape(str(data['run'].get('command', '')))}</pre>"
    if data["problems"]["count"]:
        yield f"<h2>Skipped lines: {data['problems']['count']:,}</h2>"
        yield from list_html(data["problems"]["first"])


def _drawings(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is drawn, by key of its section."""
    config = data["run"].get("config", {})
    threshold = config.get("threshold") if config.get("schedule", "adaptive") == "adaptive" else None
    found = {"environments": list(_cards(data["environments"], threshold))}
    for group in GROUPS:
        if group.stage in data["stages"]:
            drawn = of_group(group, data["stages"][group.stage]["curves"])
            found[group.key] = ['<div class="charts">', *map(_figure, drawn), "</div>"]
    return found


def _with_drawings(section: Section, drawn: Sequence[str]) -> Iterator[str]:
    """A section whose drawings stand between its heading and its tables."""
    lines = list(section_html(section, None, []))
    head = 2 if section.about else 1
    yield from (*lines[:head], *drawn, *lines[head:])


def _cards(environments: Sequence[Mapping[str, Any]], threshold: float | None) -> Iterator[str]:
    yield '<div class="cards">'
    for one in environments:
        success = f", frontier success {percent_with_interval(one['frontier'])}" if one["frontier"] else ""
        yield f"<article><h3>{html.escape(one['env_id'])}</h3>"
        yield f'<p class="quiet">{html.escape(window_text(one) + success)}</p>'
        yield from map(_figure, of_environment(one, threshold))
        yield "</article>"
    yield "</div>"


def _figure(drawing: Drawing) -> str:
    title = html.escape(drawing.title)
    named = {trace.name: trace.colour for trace in drawing.traces if not trace.faint}
    marks = "".join(
        f'<li><i style="background:{colour}"></i>{html.escape(name)}</li>' for name, colour in named.items()
    )
    # One line needs no name besides the title.
    legend = f'<ul class="legend">{marks}</ul>' if drawing.legend and len(named) > 1 else ""
    return f"<figure><figcaption>{title}{legend}</figcaption>{svg(drawing)}</figure>"
