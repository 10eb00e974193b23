"""What a report looks like: Markdown, JSON, CSV, a terminal, and a folder with all of them and the page."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ecomrlve.errors import EcomrlveError
from ecomrlve.evaluation.report import Report
from ecomrlve.evaluation.report_html import to_html
from ecomrlve.evaluation.report_tables import Table, facts, sections
from ecomrlve.evaluation.rows import Row, Rows

NAME = "report"
_PLAIN = (
    "agent", "env_id", "difficulty", "overrides", "seed", "trial", "correct", "invalid", "total", "task", "efficiency",
    "hallucination", "turns", "user_turns", "terminated", "truncated", "seconds", "engine_seconds", "reason", "catalog",
    "fingerprint", "search", "engine",
)  # fmt: skip
_SPREAD = ("parts", "tool_calls", "tool_errors", "notes")  # A column for each key that occurs.
# Markdown's marks that change how a cell looks, the one that ends it, and what makes a link of brackets. Underscores
# inside words change nothing.
_MARKS = re.compile(r"([\\`*|]|(?<=\])[(\[])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


class ReportFilesError(EcomrlveError, OSError):
    """A report that cannot be written."""


def to_json(report: Report) -> str:
    """The whole report as JSON text."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_csv(rows: Rows) -> str:
    """One line per episode with all its figures, for pandas and spreadsheets.

    Columns such as ``tool_calls.cart_add`` exist for every key that occurs; an episode without it leaves them empty.
    """
    spread = [
        (field, key) for field in _SPREAD for key in sorted({key for row in rows.rows for key in getattr(row, field)})
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_PLAIN, "cause", "causes", *(f"{field}.{key}" for field, key in spread)])
    for row in rows.rows:
        writer.writerow([*_plain_cells(row), *(_flat(getattr(row, field).get(key)) for field, key in spread)])
    return text.getvalue()


def _plain_cells(row: Row) -> Iterable[Any]:
    cells = [getattr(row, field) for field in _PLAIN]
    return [*cells, row.causes[0] if row.causes else "", "; ".join(row.causes)]


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def to_markdown(report: Report) -> str:
    """The whole report as a Markdown document with GitHub's tables."""
    data = report.to_dict()
    lines = ["# Evaluation report", ""]
    lines += [f"> **Warning: {_marked(sentence)}**\n>" for sentence in data["warnings"]]
    lines += ["", *(f"- {word}: {_marked(value)}" for word, value in facts(report)), ""]
    if data["commands"]:
        lines += ["```", *(one_line(command).replace("```", "'''") for command in data["commands"]), "```", ""]
    for section in sections(report):
        lines += [f"## {_marked(section.title)}", ""]
        lines += [section.about, ""] if section.about else []
        for table in section.tables:
            lines += [f"**{_marked(table.title)}**", ""] if table.title else []
            lines += [*_markdown_table(table), ""]
    lines += ["## How to read this", "", *(f"- {_marked(sentence)}" for sentence in data["notes"])]
    if data["problems"]["count"]:
        lines += ["", "## Skipped or contradicting records", ""]
        lines += [f"- {_marked(sentence)}" for sentence in data["problems"]["first"]]
    return "\n".join(lines) + "\n"


def _markdown_table(table: Table) -> Iterable[str]:
    marks = ["---" if place < table.texts else "---:" for place in range(len(table.columns))]
    for cells in (table.columns, marks, *table.rows):
        yield f"| {' | '.join(cells if cells is marks else map(_marked, cells))} |"


def _marked(text: str) -> str:
    """Any text as it shall look in Markdown: no markup, no line break."""
    return _MARKS.sub(r"\\\1", html.escape(one_line(text), quote=False))


def one_line(text: str) -> str:
    """Any text without line breaks and other control characters."""
    return _CONTROL.sub(" ", text)


def show(report: Report, console: Console) -> None:
    """Print what fits a terminal; the grid and other details are in the files."""
    data = report.to_dict()
    for sentence in data["warnings"]:
        console.print(Text(f"Warning: {one_line(sentence)}", style="bold red"))
    for word, value in facts(report):
        console.print(Text(f"{word}: {one_line(value)}"))
    for section in sections(report):
        tables = [table for table in section.tables if not table.detail]
        if tables:
            console.print(Text(f"\n{one_line(section.title)}", style="bold"), Text(section.about, style="dim"))
        for table in tables:
            console.print(rich_table(table))
    console.print()
    for sentence in data["notes"]:
        console.print(Text(one_line(sentence), style="dim"))


def rich_table(table: Table) -> RichTable:
    """A table as a terminal shows it."""
    title = Text(one_line(table.title), style="italic") if table.title else None
    shown = RichTable(box=None, header_style="bold", pad_edge=False, title=title, title_justify="left")
    for place, column in enumerate(table.columns):
        shown.add_column(Text(one_line(column)), justify="left" if place < table.texts else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(one_line(cell)) for cell in row))
    return shown


def write(report: Report, rows: Rows, folder: str | Path) -> dict[str, Path]:
    """Write ``report.md``, ``report.json``, ``report.csv`` and ``report.html``, each whole or not at all.

    Args:
        report: The report.
        rows: The rows it was made of.
        folder: Where the files go; made if it is not there.

    Returns:
        The files by the ending of their names.

    Raises:
        ReportFilesError: The folder cannot be written to.
        PageError: Plotly is not installed.
    """
    folder = Path(folder)
    texts = {"md": to_markdown(report), "json": to_json(report), "csv": to_csv(rows), "html": to_html(report)}
    files = {ending: folder / f"{NAME}.{ending}" for ending in texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in texts.items():
            replace_file(files[ending], text)
    except OSError as error:
        raise ReportFilesError(f"cannot write the report to {folder}: {error.strerror}") from error
    return files


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        # A lone surrogate, which JSON allows in a text, is no letter of any alphabet.
        unfinished.write_text(text, encoding="utf-8", errors="replace", newline="")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
