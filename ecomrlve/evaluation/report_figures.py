"""What the drawings of a report share: their parts, their colours, and texts that Plotly shows as they are.

Names of agents, environments and causes come from files, and Plotly reads markup in texts; `label` takes it away.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.errors import short

# Middle tones, to be told apart on white and on black, also by most people who see fewer colours.
PALETTE = (
    "#2a877b", "#d9822b", "#5b7fd1", "#c4524a", "#a58a12", "#9a6fc0", "#4d9fcb", "#d16ba5", "#6d9a3c", "#a3714b",
)  # fmt: skip
GREY = "#8c8f88"
FRAME = 70  # Pixels that axis and margins take of a drawing's height.
LONG_LABEL, SHORT_LABEL = 32, 15  # Letters of a row's name on a wide and on a narrow screen.

Colours = dict[str, str]


@dataclass(frozen=True, slots=True)
class Chart:
    """One drawing, without the colours that depend on light or dark.

    Attributes:
        title: What stands above it.
        data: Plotly's traces.
        layout: Plotly's layout.
        height: In pixels; the width is that of its place.
        names: What the rows are called, where the vertical axis has rows; the first is on top.
        wide: Whether it takes the whole width of the page.
    """

    title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int
    names: tuple[str, ...] = ()
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Charts:
    """The drawings of one section.

    Attributes:
        charts: In order.
        legend: Name → colour.
        width: Pixels that each needs at least, where the screen has them.
    """

    charts: tuple[Chart, ...]
    legend: Colours = field(default_factory=dict)
    width: int = 340


def label(text: str, most: int = LONG_LABEL) -> str:
    """A text that Plotly shows as it is, not longer than an axis can bear."""
    return html.escape(short(text, most), quote=False)


def whiskers(found: Sequence[Mapping[str, float]], factor: float = 1.0) -> dict[str, Any]:
    """Error bars from intervals."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, factor * (value["high"] - value["mean"])) for value in found],
        "arrayminus": [max(0.0, factor * (value["mean"] - value["low"])) for value in found],
        "thickness": 1.5,
        "width": 3,
    }


def rows_axis(count: int) -> dict[str, Any]:
    """A vertical axis of rows at 0, 1, 2 …, the first on top; `Chart.names` says what they are called."""
    return {
        "tickvals": list(range(count)),
        "range": [count - 0.5, -0.5],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def share_axis(title: str = "") -> dict[str, Any]:
    """An axis from 0 to 100 %."""
    return {"range": [-3, 103], "ticksuffix": " %", "title": {"text": title}, "zeroline": False, "nticks": 6}
