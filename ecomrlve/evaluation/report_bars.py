"""The bars of a report: why episodes failed, which refusals tools gave, what the reward is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ecomrlve.evaluation.report_figures import (
    FRAME,
    GREY,
    PALETTE,
    Chart,
    Charts,
    Colours,
    label,
    rows_axis,
    share_axis,
)
from ecomrlve.evaluation.report_groups import PARTS
from ecomrlve.evaluation.report_tables import percent, signed

_BAR = 30  # Pixels per bar.
_MOST_SHADES = 9  # Causes or codes with a colour of their own; the others are put together.
OTHERS = "all others"

Stacks = Mapping[tuple[str, str], float]  # (bar, part) → length


def stacked_causes(data: Mapping[str, Any]) -> Charts:
    """Share of all episodes by main cause: agents beneath each other, then each agent's environments."""
    shares = {(found["agent"], found["cause"]): found["share_of_episodes"] for found in data["causes"]}
    shades = _shades(shares)
    if not shades:
        return Charts(())
    drawn = [_shares("All environments", data["agents"], shares, shades, wide=True)]
    for agent in data["agents"]:
        own = {
            (found["env_id"], found["cause"]): found["share_of_episodes"]
            for found in data["causes_by_environment"]
            if found["agent"] == agent
        }
        if own:
            drawn.append(_shares(agent, data["environments"], own, shades))
    return Charts(tuple(drawn), shades)


def stacked_errors(data: Mapping[str, Any]) -> Charts:
    """Refusals per episode by code."""
    rates = {(found["agent"], found["code"]): found["per_episode"] for found in data["tool_errors"]}
    shades = _shades(rates)
    if not shades:
        return Charts(())
    axis = {"title": {"text": "refusals per episode"}, "rangemode": "tozero", "zeroline": False}
    traces = _bars(data["agents"], rates, shades, 1, lambda value: f"{value:.3f} per episode")
    return Charts((_chart("Refusals per episode", traces, axis, data["agents"], wide=True),), shades)


def reward_parts(data: Mapping[str, Any]) -> Charts:
    """What each part adds to the mean total, bars to the left of 0 taking away; a mark at the total."""
    shades = dict(zip(PARTS, (PALETTE[0], PALETTE[2], PALETTE[1], PALETTE[3]), strict=True))
    drawn = [_composed("All environments", data["agents"], "agent", data["by_agent"], shades, wide=True)]
    for agent in data["agents"]:
        found = [one for one in data["by_environment"] if one["agent"] == agent]
        drawn.append(_composed(agent, [one["env_id"] for one in found], "env_id", found, shades))
    return Charts(tuple(drawn), shades | {"total": GREY})


def _composed(
    title: str,
    bars: Sequence[str],
    field: str,
    found: Sequence[Mapping[str, Any]],
    shades: Colours,
    *,
    wide: bool = False,
) -> Chart:
    lengths = {(one[field], part): one["contributions"][part] for one in found for part in PARTS}
    traces = _bars(bars, lengths, shades, 1, signed)
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [one["total"]["mean"] for one in found],
            "y": list(range(len(bars))),
            "marker": {"symbol": "diamond", "size": 9, "color": GREY, "line": {"width": 1.5, "color": "#ffffff"}},
            "text": [f"total {signed(one['total']['mean'])}" for one in found],
            "hovertemplate": "%{text}<extra></extra>",
        }
    )
    axis = {"range": [-1.05, 1.05], "title": {"text": "part of the mean total"}, "zeroline": True}
    return _chart(title, traces, axis, bars, wide=wide)


def _shares(title: str, bars: Sequence[str], shares: Stacks, shades: Colours, *, wide: bool = False) -> Chart:
    traces = _bars(bars, shares, shades, 100, percent)
    return _chart(title, traces, share_axis("of all episodes"), bars, wide=wide)


def _chart(title: str, traces: list[dict[str, Any]], axis: dict[str, Any], bars: Sequence[str], *, wide: bool) -> Chart:
    layout = {"barmode": "relative", "bargap": 0.3, "xaxis": axis, "yaxis": rows_axis(len(bars))}
    return Chart(title, traces, layout, FRAME + _BAR * len(bars), tuple(bars), wide)


def _shades(lengths: Stacks) -> Colours:
    """A colour for each of the longest parts, grey for all others together."""
    sums: dict[str, float] = defaultdict(float)
    for (_, part), length in lengths.items():
        sums[part] += length
    ranked = sorted((part for part in sums if sums[part]), key=lambda part: (-sums[part], part))
    shades = dict(zip(ranked[:_MOST_SHADES], PALETTE, strict=False))
    return shades | ({OTHERS: GREY} if len(ranked) > _MOST_SHADES else {})


def _bars(
    bars: Sequence[str], lengths: Stacks, shades: Colours, factor: float, shown: Callable[[float], str]
) -> list[dict[str, Any]]:
    """One trace per part, its bars lying behind those of the parts before."""
    traces = []
    for part, colour in shades.items():
        values = [_length(lengths, bar, part, shades) for bar in bars]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": [factor * value for value in values],
                "y": list(range(len(bars))),
                "marker": {"color": colour},
                "text": [f"{label(part)}: {shown(value)}" for value in values],
                "textposition": "none",
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return traces


def _length(lengths: Stacks, bar: str, part: str, shades: Colours) -> float:
    if part != OTHERS:
        return lengths.get((bar, part), 0.0)
    return sum(length for (own, other), length in lengths.items() if own == bar and other not in shades)
