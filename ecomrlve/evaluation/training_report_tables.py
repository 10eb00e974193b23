"""The tables of a training run's report as texts, the same for terminal and page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ecomrlve.evaluation.report_tables import NOTHING, Section, Table, percent, percent_with_interval
from ecomrlve.evaluation.training_report import PARTS, TrainingReport
from ecomrlve.evaluation.training_report_curves import GROUPS, Figure, Group, ends
from ecomrlve.evaluation.training_report_words import figure_text

_TIMES = {"generation": "Generation", "environment": "Environment", "update": "Update", "rest": "All else"}


def sections(report: TrainingReport) -> list[Section]:
    """All that a report has to show, in order; what would be empty is left out."""
    data = report.data
    found = [
        Section("environments", "Environments", _about_environments(data), (_environments(data),)),
        *(Section(group.key, group.title, group.about, _tables(data, group)) for group in GROUPS),
        Section("settings", "Settings", "", (_settings(data["run"]),)),
    ]
    filled = [(section, tuple(table for table in section.tables if table.rows)) for section in found]
    return [Section(section.key, section.title, section.about, tables) for section, tables in filled if tables]


def facts(report: TrainingReport) -> list[tuple[str, str]]:
    """Where the figures come from, as pairs of a word and its value."""
    run = report.data["run"]
    catalog, libraries = run.get("catalog", {}), run.get("libraries", {})
    return [
        ("Run", f"{run.get('name', '')} (preset {run.get('preset', '')}, stage {run.get('stage', '')})"),
        ("Started", str(run.get("started", ""))),
        ("Processes", f"{run.get('processes', NOTHING)}"),
        ("Catalog", f"{catalog.get('name')} ({catalog.get('fingerprint')}, search by {catalog.get('search')})"),
        ("Program", f"ecomrlve {run.get('engine', '')}"),
        ("Libraries", ", ".join(f"{name} {version}" for name, version in libraries.items()) or NOTHING),
        ("Skipped lines", f"{report.data['problems']['count']:,}"),
    ]


def headline(report: TrainingReport) -> list[tuple[str, str]]:
    """The few figures that a first look asks for, as pairs of a word and its value; unknown ones are left out."""
    found = report.data["headline"]
    values = [
        ("Environment's share of the time", found["environment_share"], "share"),
        ("Success, last steps", found["success"], "share"),
        ("Reward, last steps", found["reward"], "number"),
        ("Groups without variance", found["without_variance"], "share"),
        ("Time per step", found["seconds_per_step"], "seconds"),
        ("Own tokens per second", found["tokens_per_second"], "count"),
        ("Rollouts", found["rollouts"] or None, "count"),
    ]
    return [(word, figure_text(value, unit)) for word, value, unit in values if value is not None]


def window_text(one: Mapping[str, Any]) -> str:
    """The window of an environment: ``d = 0–4``."""
    if one["high"] is None:
        return NOTHING
    return f"d = {one['high']}" if one["low"] == one["high"] else f"d = {one['low']}–{one['high']}"


def _about_environments(data: Mapping[str, Any]) -> str:
    return f"Success, rewards and turns are over the last {data['window']} steps with the environment."


def _environments(data: Mapping[str, Any]) -> Table:
    columns = (
        "Environment", "Window", "Frontier success", "Rollouts", "Success", "Total", "r_task", "r_eff", "r_hall",
        "Turns",
    )  # fmt: skip
    rows = [
        (
            one["env_id"],
            window_text(one),
            percent_with_interval(one["frontier"]) if one["frontier"] else NOTHING,
            f"{one['rollouts']:,}",
            figure_text(one["recent"]["success"], "share"),
            *(figure_text(one["recent"][part], "number") for part in PARTS),
            figure_text(one["recent"]["turns"], "number"),
        )
        for one in data["environments"]
    ]
    return Table(columns, tuple(rows))


def _tables(data: Mapping[str, Any], group: Group) -> tuple[Table, ...]:
    curves = data["stages"].get(group.stage, {}).get("curves", {})
    rows = [_row(figure, curves[figure.key]["value"]) for figure in group.figures if figure.key in curves]
    table = Table(("Figure", "First steps", "Last steps", "Lowest", "Highest"), tuple(rows))
    return (_time(data), table) if group.title == "Time" else (table,)


def _row(figure: Figure, values: list[float]) -> tuple[str, ...]:
    return (figure.title, *(figure_text(value, figure.unit) for value in (*ends(values), min(values), max(values))))


def _time(data: Mapping[str, Any]) -> Table:
    """Where the time of a step goes, over all steps."""
    parts = data["time"]["parts"] if data["time"] else {}
    rows = [
        (_TIMES[name], figure_text(part["seconds"], "seconds"), percent(part["share"])) for name, part in parts.items()
    ]
    return Table(("Where the time goes", "Per step", "Share"), tuple(rows))


def _settings(run: Mapping[str, Any]) -> Table:
    rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in run.get("config", {}).items()]
    return Table(("Setting", "Value"), tuple(rows), 2, detail=True)
