"""The drawings of a report: success, its course with difficulty, heat maps, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ecomrlve.evaluation.report import Report
from ecomrlve.evaluation.report_bars import reward_parts, stacked_causes, stacked_errors
from ecomrlve.evaluation.report_figures import (
    FRAME,
    PALETTE,
    Chart,
    Charts,
    Colours,
    label,
    rows_axis,
    share_axis,
    whiskers,
)
from ecomrlve.evaluation.report_tables import NOTHING, difference, percent_with_interval

_SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up")
_POINT = 30  # Pixels per row of points.
_TILE = 27  # Pixels per row of a heat map.
# Measure of a comparison, what its axis is called, and what turns a difference into that.
_MEASURES = (
    ("correct", "difference in success, percentage points", 100.0),
    ("total", "difference in total", 1.0),
)


def charts(report: Report) -> dict[str, Charts]:
    """The drawings by key of their section."""
    data = report.data
    colours = {agent: PALETTE[number % len(PALETTE)] for number, agent in enumerate(data["agents"])}
    found = {
        "agents": Charts((_success(data, colours),)),
        "comparison": Charts(tuple(_forests(data, colours)), width=480),
        "environments": Charts(tuple(_curves(data, colours)), colours),
        "grid": Charts(tuple(_heat_map(data, agent) for agent in data["agents"])),
        "causes": stacked_causes(data),
        "errors": stacked_errors(data),
        "rewards": reward_parts(data),
    }
    return {key: drawn for key, drawn in found.items() if drawn.charts}


# --- success ---------------------------------------------------------------------------------------------------------


def _success(data: Mapping[str, Any], colours: Colours) -> Chart:
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [100 * found["success"]["mean"]],
            "y": [place],
            "error_x": whiskers([found["success"]], 100),
            "marker": {"size": 10, "color": colours[found["agent"]]},
            "text": [f"{percent_with_interval(found['success'])}, {found['episodes']:,} episodes"],
            "hovertemplate": "%{text}<extra></extra>",
        }
        for place, found in enumerate(data["by_agent"])
    ]
    names = tuple(found["agent"] for found in data["by_agent"])
    layout = {"xaxis": share_axis(), "yaxis": rows_axis(len(names))}
    return Chart("Success", traces, layout, FRAME + _POINT * len(names), names, wide=True)


def _curves(data: Mapping[str, Any], colours: Colours) -> list[Chart]:
    """Success by difficulty, a drawing per environment. Points of different agents are moved apart a little."""
    agents, difficulties = data["agents"], data["difficulties"]
    step = min((later - earlier for earlier, later in pairwise(difficulties)), default=1)
    apart = min(0.12 * step, 0.6 * step / len(agents))
    drawn = []
    for env_id in data["environments"]:
        traces: list[dict[str, Any]] = []
        for number, agent in enumerate(agents):
            found = [one for one in data["curves"] if (one["agent"], one["env_id"]) == (agent, env_id)]
            if found:
                moved = apart * (number - (len(agents) - 1) / 2)
                traces.append(_curve(found, moved, colours[agent], _SYMBOLS[number // len(PALETTE) % len(_SYMBOLS)]))
        layout = {
            "xaxis": {
                "title": {"text": "d"},
                "tickvals": difficulties,
                "range": [difficulties[0] - 0.5 * step, difficulties[-1] + 0.5 * step],
                "zeroline": False,
            },
            "yaxis": share_axis(),
        }
        drawn.append(Chart(env_id, traces, layout, 240))
    return drawn


def _curve(found: Sequence[Mapping[str, Any]], moved: float, colour: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [one["difficulty"] + moved for one in found],
        "y": [100 * one["success"]["mean"] for one in found],
        "error_y": whiskers([one["success"] for one in found], 100),
        "line": {"color": colour, "width": 2},
        "marker": {"size": 7, "symbol": symbol},
        "text": [
            f"{label(one['agent'])}, d={one['difficulty']}: {percent_with_interval(one['success'])}, "
            f"{one['episodes']:,} episodes"
            for one in found
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _heat_map(data: Mapping[str, Any], agent: str) -> Chart:
    environments, difficulties = data["environments"], data["difficulties"]
    cells = {(one["env_id"], one["difficulty"]): one for one in data["curves"] if one["agent"] == agent}
    table = [[cells.get((env_id, d)) for d in difficulties] for env_id in environments]
    trace = {
        "type": "heatmap",
        "z": [[one and 100 * one["success"]["mean"] for one in row] for row in table],
        "x": list(range(len(difficulties))),
        "y": list(range(len(environments))),
        "text": [[f"{100 * one['success']['mean']:.0f}" if one else NOTHING for one in row] for row in table],
        "texttemplate": "%{text}",
        "customdata": [
            [f"{percent_with_interval(one['success'])}, {one['episodes']:,} episodes" if one else "" for one in row]
            for row in table
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "zmin": 0,
        "zmax": 100,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }
    across = {
        "tickvals": list(range(len(difficulties))),
        "ticktext": [str(d) for d in difficulties],
        "title": {"text": "d"},
        "showgrid": False,
        "zeroline": False,
    }
    return Chart(
        agent,
        [trace],
        {"xaxis": across, "yaxis": rows_axis(len(environments))},
        FRAME + _TILE * len(environments),
        tuple(environments),
    )


# --- comparison ------------------------------------------------------------------------------------------------------


def _forests(data: Mapping[str, Any], colours: Colours) -> list[Chart]:
    """Paired differences with their intervals, a drawing per agent and measure, a row per environment."""
    ranges = {measure: _range(data, measure, factor) for measure, _, factor in _MEASURES}
    drawn = []
    for agent in data["agents"]:
        for measure, title, factor in _MEASURES:
            found = [one for one in data["paired"] if (one["agent"], one["measure"]) == (agent, measure)]
            if found:
                names = tuple(one["env_id"] or "all" for one in found)
                axis = {"title": {"text": title}, "zeroline": True, "range": ranges[measure]}
                layout = {"xaxis": axis, "yaxis": rows_axis(len(names))}
                traces = [_forest(found, factor, colours[agent])]
                drawn.append(Chart(agent, traces, layout, FRAME + _POINT * len(names), names))
    return drawn


def _range(data: Mapping[str, Any], measure: str, factor: float) -> list[float]:
    """One range for all drawings of a measure, so that they can be compared; 0 is in it."""
    found = [one for one in data["paired"] if one["measure"] == measure]
    bounds = [one[key] for one in found for key in ("difference", "low", "high") if one[key] is not None]
    low, high = factor * min([0.0, *bounds]), factor * max([0.0, *bounds])
    margin = 0.05 * max(high - low, 0.02 * factor)
    return [low - margin, high + margin]


def _forest(found: Sequence[Mapping[str, Any]], factor: float, colour: str) -> dict[str, Any]:
    bounds = [
        {"mean": one["difference"], "low": one["difference"], "high": one["difference"]}
        if one["low"] is None
        else {"mean": one["difference"], "low": one["low"], "high": one["high"]}
        for one in found
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [factor * one["difference"] for one in found],
        "y": list(range(len(found))),
        "error_x": whiskers(bounds, factor),
        "marker": {
            "size": 9,
            "color": colour,
            "symbol": ["circle" if one["env_id"] else "diamond" for one in found],
        },
        "text": [f"{difference(one)}, {one['problems']:,} problems" for one in found],
        "hovertemplate": "%{text}<extra></extra>",
    }
