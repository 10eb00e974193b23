"""Curves as SVG text, made of numbers alone: they need no script and follow light and dark by the page's style."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ecomrlve.evaluation.training_report_words import figure_text

WIDTH, HEIGHT = 340, 168
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 10, 24
MOST_POINTS = 160  # More cannot be told apart on a screen.
MOST_HINTS = 60  # Places that say what they show when a pointer rests on them.
_TICKS = 4


@dataclass(frozen=True, slots=True)
class Trace:
    """One line, and perhaps the band around it.

    Attributes:
        name: What it shows.
        colour: Of line and band.
        steps: Training steps, rising.
        values: One per step.
        low: Lower end of the band; empty for none.
        high: Upper end of the band.
        faint: Single steps behind a mean: a thin line, and means where there are more points than fit.
        stepped: Whether a value holds until the next one.
    """

    name: str
    colour: str
    steps: Sequence[int]
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    faint: bool = False
    stepped: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """One drawing.

    Attributes:
        title: What stands above it.
        traces: The first is in front.
        unit: How values are written; see `figure_text`. ``level`` is a difficulty.
        bounds: Ends of the vertical axis; None for those of the values.
        marks: Values at which a dashed line goes across.
        zero: Whether 0 must be on the vertical axis.
        legend: Whether lines are told apart by their names.
    """

    title: str
    traces: tuple[Trace, ...]
    unit: str
    bounds: tuple[float, float] | None = None
    marks: tuple[float, ...] = ()
    zero: bool = True
    legend: bool = True


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a value to its place."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)


def svg(drawing: Drawing) -> str:
    """The drawing, as wide as its place."""
    steps = [step for trace in drawing.traces for step in trace.steps]
    traces = [_thinned(trace) for trace in drawing.traces]
    across = _Scale(min(steps), max(max(steps), min(steps) + 1), LEFT, WIDTH - RIGHT)
    low, high = drawing.bounds or _bounds(traces, zero=drawing.zero)
    up = _Scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [
        *_grid(drawing, across, up),
        *(_band(trace, across, up) for trace in reversed(traces) if trace.low),
        *(_line(trace, across, up, last=max(steps)) for trace in reversed(traces)),
        *_hints(drawing, traces, across),
    ]
    label = html.escape(f"{drawing.title}: {_told(drawing)}", quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


# --- axes ------------------------------------------------------------------------------------------------------------


def _bounds(traces: Sequence[Trace], *, zero: bool) -> tuple[float, float]:
    values = [value for trace in traces for value in (*trace.values, *trace.low, *trace.high)]
    low, high = min(values), max(values)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = (low, low + 1.0) if low == 0 else (low - abs(low) / 2, high + abs(high) / 2)
    ticks = nice_ticks(low, high)
    return min(low, ticks[0]), max(high, ticks[-1])


def nice_ticks(low: float, high: float, most: int = _TICKS) -> list[float]:
    """Some round numbers that reach from `low` to `high` or beyond, 1, 2 or 5 times a power of ten apart."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    apart = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / apart + 1e-9), math.ceil(high / apart - 1e-9)
    return [number * apart for number in range(first, last + 1)]


def level_ticks(high: float) -> list[float]:
    """Some difficulties from 0 to `high`, which are whole numbers."""
    return [float(level) for level in range(0, int(high) + 1, math.ceil(high / _TICKS))]


def _grid(drawing: Drawing, across: _Scale, up: _Scale) -> Iterator[str]:
    for tick in level_ticks(up.high) if drawing.unit == "level" else _inside(nice_ticks(up.low, up.high), up):
        y = up(tick)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{axis_text(tick, drawing.unit)}</text>'
    for mark in drawing.marks:
        yield f'<path class="mark" d="M{LEFT} {up(mark):.1f}H{WIDTH - RIGHT}"/>'
    for tick in _inside([tick for tick in nice_ticks(across.low, across.high) if tick.is_integer()], across):
        x = across(tick)
        anchor = "end" if x > WIDTH - RIGHT - 12 else "middle"
        yield f'<text x="{x:.1f}" y="{HEIGHT - 7}" text-anchor="{anchor}">{tick:,.0f}</text>'


def _inside(ticks: Sequence[float], scale: _Scale) -> list[float]:
    slack = 1e-9 * (scale.high - scale.low)
    return [tick for tick in ticks if scale.low - slack <= tick <= scale.high + slack]


def axis_text(value: float, unit: str) -> str:
    """A round number at an axis, as short as it can be."""
    if unit == "level":
        return f"{value:.0f}"
    if unit == "share":
        return f"{float(f'{100 * value:.4g}'):g} %"
    if value and abs(value) < 1e-3:
        return f"{value:.0e}".replace("e-0", "e-").replace("-", "−")
    if abs(value) >= 10_000:
        return f"{float(f'{value / 1000:.4g}'):g}k".replace("-", "−")
    return f"{float(f'{value:.6g}'):g}".replace("-", "−")


# --- lines -----------------------------------------------------------------------------------------------------------


def _thinned(trace: Trace) -> Trace:
    """The same line in no more points than can be told apart: single steps as means, all else as it ended."""
    size = math.ceil(len(trace.steps) / MOST_POINTS)
    if size <= 1:
        return trace
    starts = range(0, len(trace.steps), size)
    stops = [min(start + size, len(trace.steps)) for start in starts]
    last = [stop - 1 for stop in stops]
    values = [
        math.fsum(trace.values[start:stop]) / (stop - start) if trace.faint else trace.values[stop - 1]
        for start, stop in zip(starts, stops, strict=True)
    ]
    low, high = ([ends[place] for place in last] if ends else () for ends in (trace.low, trace.high))
    steps = [trace.steps[place] for place in last]
    return Trace(trace.name, trace.colour, steps, values, low, high, trace.faint, trace.stepped)


def _points(trace: Trace, values: Sequence[float], across: _Scale, up: _Scale) -> list[tuple[float, float]]:
    points = [(across(step), up(value)) for step, value in zip(trace.steps, values, strict=True)]
    if not trace.stepped:
        return points
    corners = [(x, before) for (_, before), (x, _) in pairwise(points)]
    return [points[0], *(point for pair in zip(corners, points[1:], strict=True) for point in pair)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _band(trace: Trace, across: _Scale, up: _Scale) -> str:
    above, below = (_points(trace, ends, across, up) for ends in (trace.high, trace.low))
    return f'<path class="band" fill="{trace.colour}" d="{_path([*above, *reversed(below)])}Z"/>'


def _line(trace: Trace, across: _Scale, up: _Scale, *, last: int) -> str:
    """The line, with a point where it stands now."""
    points = _points(trace, trace.values, across, up)
    kind = "faint" if trace.faint else "line"
    line = f'<path class="{kind}" stroke="{trace.colour}" d="{_path(points)}"/>'
    if trace.faint or trace.steps[-1] < last:
        return line
    x, y = points[-1]
    return f'{line}<circle cx="{x:.1f}" cy="{y:.1f}" r="2.8" fill="{trace.colour}"/>'


# --- what it says ----------------------------------------------------------------------------------------------------


def value_text(value: float, unit: str) -> str:
    """A value as people read it."""
    return f"d = {value:.0f}" if unit == "level" else figure_text(value, unit)


def _hints(drawing: Drawing, traces: Sequence[Trace], across: _Scale) -> Iterator[str]:
    """Strips that nobody sees; a pointer that rests on one is told what is there."""
    told: dict[int, list[str]] = {}
    for trace in traces:
        for place, step in enumerate(trace.steps):
            told.setdefault(step, []).append(_hint(trace, place, drawing.unit))
    steps = sorted(told)
    steps = steps[:: math.ceil(len(steps) / MOST_HINTS)]
    for place, step in enumerate(steps):
        left = across((steps[place - 1] + step) / 2) if place else LEFT
        right = across((step + steps[place + 1]) / 2) if place + 1 < len(steps) else WIDTH - RIGHT
        text = html.escape(f"step {step:,}: {', '.join(told[step])}")
        yield (
            f'<rect class="hint" x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{HEIGHT - TOP - BOTTOM}">'
            f"<title>{text}</title></rect>"
        )


def _hint(trace: Trace, place: int, unit: str) -> str:
    text = f"{trace.name} {value_text(trace.values[place], unit)}"
    return (
        f"{text} [{value_text(trace.low[place], unit)}, {value_text(trace.high[place], unit)}]" if trace.low else text
    )


def _told(drawing: Drawing) -> str:
    """The course in words, for those who do not see it."""
    shown = [trace for trace in drawing.traces if not trace.faint]
    return "; ".join(
        f"{trace.name} from {value_text(trace.values[0], drawing.unit)} at step {trace.steps[0]:,} to "
        f"{value_text(trace.values[-1], drawing.unit)} at step {trace.steps[-1]:,}"
        for trace in shown
    )
