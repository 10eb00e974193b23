"""What a training run's report looks like: a terminal, JSON, CSV, and a page."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ecomrlve.evaluation.report_pages import NAME, ReportFilesError, one_line, replace_file, rich_table
from ecomrlve.evaluation.training_report import TrainingReport
from ecomrlve.evaluation.training_report_curves import STAGES
from ecomrlve.evaluation.training_report_html import to_html
from ecomrlve.evaluation.training_report_tables import facts, headline, sections


def to_json(report: TrainingReport) -> str:
    """The whole report as JSON text."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_csv(report: TrainingReport) -> str:
    """One line per stage and step with all its figures, for pandas and spreadsheets.

    Figures of an environment are columns such as ``E_CART.success``; what is not known at a step is empty.
    """
    rows: dict[tuple[str, int], dict[str, float]] = {}
    for stage, found in report.data["stages"].items():
        rows |= {(stage, step): {} for step in found["steps"]}
        for key, curve in found["curves"].items():
            for step, value in zip(curve["step"], curve["value"], strict=True):
                rows[stage, step][key] = value
    for one in report.data["environments"]:
        for key, curve in one["curves"].items():
            if "value" in curve:
                for step, value in zip(curve["step"], curve["value"], strict=True):
                    rows["dapo", step][f"{one['env_id']}.{key}"] = value
    plain = dict.fromkeys(figure.key for figures in reversed(STAGES.values()) for figure in figures)
    known = {key for row in rows.values() for key in row}
    columns = [*(key for key in plain if key in known), *sorted(known - set(plain))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["stage", "step", *columns])
    writer.writerows([stage, step, *(row.get(key) for key in columns)] for (stage, step), row in rows.items())
    return text.getvalue()


def show(report: TrainingReport, console: Console) -> None:
    """Print what fits a terminal; settings and curves are in the files."""
    data = report.data
    for sentence in data["warnings"]:
        console.print(Text(f"Warning: {one_line(sentence)}", style="bold red"))
    for sentence in data["summary"]:
        console.print(Text(one_line(sentence), style="bold"))
    for word, value in (*headline(report), *facts(report)):
        console.print(Text(f"{word}: {one_line(value)}"))
    for section in sections(report):
        tables = [table for table in section.tables if not table.detail]
        if tables:
            console.print(Text(f"\n{one_line(section.title)}", style="bold"), Text(section.about, style="dim"))
        for table in tables:
            console.print(rich_table(table))
    console.print()
    for sentence in data["notes"] if data["stages"] else ():
        console.print(Text(one_line(sentence), style="dim"))


def write(report: TrainingReport, folder: str | Path) -> dict[str, Path]:
    """Write ``report.json``, ``report.csv`` and ``report.html``, each whole or not at all.

    Args:
        report: The report.
        folder: Where the files go; made if it is not there.

    Returns:
        The files by the ending of their names.

    Raises:
        ReportFilesError: The folder cannot be written to.
    """
    folder = Path(folder)
    texts = {"json": to_json(report), "csv": to_csv(report), "html": to_html(report)}
    files = {ending: folder / f"{NAME}.{ending}" for ending in texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in texts.items():
            replace_file(files[ending], text)
    except OSError as error:
        raise ReportFilesError(f"cannot write the report to {folder}: {error.strerror}") from error
    return files
