"""The tables of a report as texts, the same for Markdown, terminal and page, which differ only in their marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.evaluation.report import Report
from ecomrlve.evaluation.report_groups import PARTS

NOTHING = "–"
_WHERE_ALL = "all"


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        columns: Headings.
        rows: Cells, as many per row as there are headings.
        texts: How many columns from the left hold words; the others hold figures.
        title: What it is about, where the section has several.
        detail: Whether it is more than a first look needs: a page folds it, a terminal leaves it out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    title: str = ""
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Tables that belong together.

    Attributes:
        key: Short name.
        title: Heading.
        about: How to read it; may be empty.
        tables: At least one.
    """

    key: str
    title: str
    about: str
    tables: tuple[Table, ...]


def sections(report: Report) -> list[Section]:
    """All that a report has to show, in order; what would be empty is left out."""
    data = report.data
    found = [
        Section("agents", "Agents", "", (_outcomes(data), _behaviour(data))),
        Section(
            "comparison",
            f"Compared with {data['baseline']}",
            "On the problems that both played. A difference above 0 is in favour of the agent.",
            (_comparison(data, every=False), _comparison(data, every=True)),
        ),
        Section(
            "repetition",
            "Repeated trials",
            "pass^k: the chance that k trials of a problem all succeed. Problems with fewer trials are left out.",
            (_repetition(data),),
        ),
        Section("environments", "Success by environment", "", (_by(data, "environment", "env_id"),)),
        Section("difficulties", "Success by difficulty", "", (_by(data, "difficulty", "difficulty"),)),
        Section(
            "grid",
            "Success by environment and difficulty",
            "",
            tuple(_grid(data, agent) for agent in data["agents"]),
        ),
        Section(
            "causes",
            "Why episodes failed",
            "Episodes by the main cause of their failure, and their share of all.",
            (_causes(data), _meanings(data), *(_causes_by_environment(data, agent) for agent in data["agents"])),
        ),
        Section("errors", "Refusals of tools", "Per episode, by code.", (_errors(data),)),
        Section(
            "rewards",
            "What the reward is made of",
            "What each part adds to the mean total; an invalid output counts −1 instead of all of them.",
            (_rewards(data),),
        ),
    ]
    filled = [(section, tuple(table for table in section.tables if table.rows)) for section in found]
    return [Section(section.key, section.title, section.about, tables) for section, tables in filled if tables]


def facts(report: Report) -> list[tuple[str, str]]:
    """Where the episodes come from, as pairs of a word and its value."""
    data, catalog = report.data, report.data["catalog"]
    problems = data["problems"]["count"]
    return [
        ("Episodes", f"{data['episodes']:,}"),
        ("Agents", f"{len(data['agents'])}"),
        ("Environments", ", ".join(data["environments"])),
        ("Difficulties", ", ".join(map(str, data["difficulties"]))),
        ("Catalog", f"{catalog['name']} ({catalog['fingerprint']}, search by {catalog['search']})"),
        ("Program", ", ".join(data["engines"])),
        ("Skipped or contradicting records", f"{problems:,}"),
        ("Records of a cell that was there already", f"{data['doubled']:,}"),
    ]


# --- figures as text -------------------------------------------------------------------------------------------------


def percent(share: float) -> str:
    """A share as ``85.3 %``."""
    return f"{100 * share:.1f} %"


def percent_with_interval(value: Mapping[str, float]) -> str:
    """A share with its interval: ``85.3 % [80.1, 89.4]``."""
    return f"{percent(value['mean'])} [{100 * value['low']:.1f}, {100 * value['high']:.1f}]"


def signed(value: float, digits: int = 3) -> str:
    """A number that may be negative, with a minus sign as wide as a plus; never minus zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def signed_with_interval(value: Mapping[str, float]) -> str:
    """A mean with its interval."""
    return f"{signed(value['mean'])} [{signed(value['low'])}, {signed(value['high'])}]"


def amount(value: float) -> str:
    """A quantity of any size with about three figures that mean something."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _optional(value: float | None, text: str) -> str:
    return NOTHING if value is None else text.format(value)


# --- the tables ------------------------------------------------------------------------------------------------------


def _outcomes(data: Mapping[str, Any]) -> Table:
    columns = ("Agent", "Episodes", "Problems", "Success", "Total", "r_task", "r_eff", "r_hall", "Invalid", "No output")
    rows = [
        (
            found["agent"],
            f"{found['episodes']:,}",
            f"{found['problems']:,}",
            percent_with_interval(found["success"]),
            signed_with_interval(found["total"]),
            signed(found["task"]),
            signed(found["efficiency"]),
            signed(found["hallucination"]),
            percent(found["invalid"]),
            f"{found['failed']:,}",
        )
        for found in data["by_agent"]
    ]
    return Table(columns, tuple(rows), title="Outcome")


def _behaviour(data: Mapping[str, Any]) -> Table:
    noted = sorted({name for found in data["by_agent"] for name in found["notes"]})
    columns = ("Agent", "Turns", "Tool calls", "Refusals", "Out of turns", "Seconds", "Engine's share")
    rows = [
        (
            found["agent"],
            f"{found['turns']:.2f}",
            f"{found['tool_calls']:.2f}",
            f"{found['tool_errors']:.2f}",
            percent(found["truncated"]),
            _optional(found["seconds"], "{:.3f}"),
            NOTHING if found["engine_share"] is None else percent(found["engine_share"]),
            *(amount(found["notes"].get(name, {"per_episode": 0})["per_episode"]) for name in noted),
        )
        for found in data["by_agent"]
    ]
    headings = (*columns, *(name.replace("_", " ").capitalize() for name in noted))
    return Table(headings, tuple(rows), title="Behaviour, per episode")


def _comparison(data: Mapping[str, Any], *, every: bool) -> Table:
    """Over all environments together, or in every one of them."""
    columns = (
        "Agent", "Environment", "Measure", "Problems", "Agent's", "Baseline's", "Difference", "Better", "Equal",
        "Worse", "p",
    )  # fmt: skip
    rows = []
    for found in data["paired"]:
        if every is (found["env_id"] is None):
            continue
        success = found["measure"] == "correct"
        shown = percent if success else signed
        rows.append(
            (
                found["agent"],
                found["env_id"] or _WHERE_ALL,
                "success" if success else "total",
                f"{found['problems']:,}",
                shown(found["one"]),
                shown(found["other"]),
                difference(found),
                percent(found["one_better"]),
                percent(found["equal"]),
                percent(found["other_better"]),
                _optional(found["p_value"], "{:.2g}"),
            )
        )
    return Table(columns, tuple(rows), 3, "By environment" if every else "", detail=every)


def difference(found: Mapping[str, Any]) -> str:
    """A paired difference with its interval, in percentage points where it is one of success."""
    factor, digits = (100, 1) if found["measure"] == "correct" else (1, 3)
    value = signed(factor * found["difference"], digits)
    if found["low"] is None:
        return value
    return f"{value} [{signed(factor * found['low'], digits)}, {signed(factor * found['high'], digits)}]"


def _repetition(data: Mapping[str, Any]) -> Table:
    values = {(found["agent"], found["k"]): found for found in data["pass_hat_k"]}
    most = range(1, 1 + max((k for _, k in values), default=0))
    agents = [agent for agent in data["agents"] if (agent, 1) in values]
    rows = [(agent, *(_passed(values.get((agent, k))) for k in most)) for agent in agents]
    return Table(("Agent", *(f"pass^{k}" for k in most)), tuple(rows))


def _passed(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return NOTHING
    return percent(found["value"]) + (f" ({found['left_out']:,} left out)" if found["left_out"] else "")


def _by(data: Mapping[str, Any], what: str, field: str) -> Table:
    """Environments or difficulties down, agents across."""
    cells = {(found[field], found["agent"]): percent_with_interval(found["success"]) for found in data[f"by_{what}"]}
    places = sorted({place for place, _ in cells})
    rows = [(_heading(place), *(cells.get((place, agent), NOTHING) for agent in data["agents"])) for place in places]
    return Table((what.capitalize(), *data["agents"]), tuple(rows))


def _heading(place: object) -> str:
    return f"d={place}" if isinstance(place, int) else str(place)


def _grid(data: Mapping[str, Any], agent: str) -> Table:
    cells = {(f["env_id"], f["difficulty"]): f["success"]["mean"] for f in data["curves"] if f["agent"] == agent}
    places = data["difficulties"]
    rows = [
        (env_id, *(percent(cells[env_id, d]) if (env_id, d) in cells else NOTHING for d in places))
        for env_id in data["environments"]
        if any((env_id, d) in cells for d in places)
    ]
    return Table(("Environment", *map(_heading, places)), tuple(rows), title=agent, detail=True)


def _causes(data: Mapping[str, Any]) -> Table:
    counts = {(found["cause"], found["agent"]): found for found in data["causes"] if found["main"]}
    sums = Counter({cause: 0 for cause, _ in counts})
    for (cause, _), found in counts.items():
        sums[cause] += found["main"]
    rows = [
        (
            cause,
            *(
                f"{found['main']:,} ({percent(found['share_of_episodes'])})" if found else NOTHING
                for found in (counts.get((cause, agent)) for agent in data["agents"])
            ),
        )
        for cause in sorted(sums, key=lambda cause: (-sums[cause], cause))
    ]
    return Table(("Main cause", *data["agents"]), tuple(rows))


def _meanings(data: Mapping[str, Any]) -> Table:
    sentences = {found["cause"]: found["sentence"] for found in data["causes"] if found["sentence"]}
    return Table(("Cause", "What it means"), tuple(sorted(sentences.items())), 2, "What the causes mean", detail=True)


def _causes_by_environment(data: Mapping[str, Any], agent: str) -> Table:
    counts = {(f["cause"], f["env_id"]): f["main"] for f in data["causes_by_environment"] if f["agent"] == agent}
    causes = [found["cause"] for found in data["causes"] if found["agent"] == agent and found["main"]]
    places: Sequence[str] = data["environments"]
    rows = [(cause, *(f"{counts.get((cause, place), 0):,}" for place in places)) for cause in causes]
    return Table(("Main cause", *places), tuple(rows), title=agent, detail=True)


def _errors(data: Mapping[str, Any]) -> Table:
    rates = {(found["code"], found["agent"]): found["per_episode"] for found in data["tool_errors"]}
    codes = sorted({code for code, _ in rates})
    rows = [
        (code, *(f"{rates[code, agent]:.3f}" if (code, agent) in rates else NOTHING for agent in data["agents"]))
        for code in codes
    ]
    return Table(("Code", *data["agents"]), tuple(rows))


def _rewards(data: Mapping[str, Any]) -> Table:
    groups: Iterable[tuple[str, Mapping[str, Any]]] = [
        *((_WHERE_ALL, found) for found in data["by_agent"]),
        *((found["env_id"], found) for found in data["by_environment"]),
    ]
    rows = [
        (
            found["agent"],
            place,
            *(signed(found["contributions"][part]) for part in PARTS),
            signed_with_interval(found["total"]),
        )
        for place, found in groups
    ]
    return Table(("Agent", "Environment", *(part.capitalize() for part in PARTS), "Total"), tuple(rows), 2, detail=True)
