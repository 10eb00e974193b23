"""Which drawings a training run's report has: one for each thing measured, and three for each environment."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from ecomrlve.evaluation.report_figures import PALETTE
from ecomrlve.evaluation.training_report_curves import Figure, Group
from ecomrlve.evaluation.training_report_svg import Drawing, Trace

Curves = Mapping[str, Mapping[str, Any]]

_WHOLE = (0.0, 1.0)
# Shares that can be anything from 0 to 1; the others are small as a rule, and would be flat lines on that axis.
_WHOLE_AXES = ("success", "token_accuracy", "without_variance")
# Where a curve lies matters, not how far from 0 it is.
_OWN_RANGE = ("loss", "entropy")


def of_group(group: Group, curves: Curves) -> list[Drawing]:
    """The drawings of a group of figures, without those of which nothing is known."""
    by_key = {figure.key: figure for figure in group.figures}
    drawn = []
    for title, keys in group.drawings:
        known = [by_key[key] for key in keys if key in curves]
        if known:
            drawn.append(_drawing(title, known, curves))
    return drawn


def _drawing(title: str, figures: list[Figure], curves: Curves) -> Drawing:
    traces = [
        Trace(figure.title, PALETTE[number], curves[figure.key]["step"], curves[figure.key]["mean"])
        for number, figure in enumerate(figures)
    ]
    if len(figures) == 1:
        only = curves[figures[0].key]
        traces.append(Trace("single step", PALETTE[0], only["step"], only["value"], faint=True))
    key = figures[0].key
    bounds = _WHOLE if key in _WHOLE_AXES else None
    return Drawing(title, tuple(traces), figures[0].unit, bounds, zero=key not in _OWN_RANGE)


def of_environment(one: Mapping[str, Any], threshold: float | None) -> list[Drawing]:
    """The drawings of an environment: its window, success at the frontier, and its rewards.

    Args:
        one: The environment, as the report's data has it.
        threshold: Success at which the window rises; None if it does not.
    """
    curves = one["curves"]
    found = [_window(curves["window"]), _frontier(curves["frontier"], threshold), _rewards(curves)]
    return [drawing for drawing in found if drawing.traces]


def _window(window: Mapping[str, Any]) -> Drawing:
    steps, low, high = window["step"], window["low"], window["high"]
    trace = Trace("frontier", PALETTE[0], steps, high, low, high, stepped=True)
    return Drawing("Window of difficulties", (trace,) if steps else (), "level", (0.0, max(4.0, *high, 0.0)))


def _frontier(found: Mapping[str, Any], threshold: float | None) -> Drawing:
    """A line of its own for each difficulty: success at another one cannot be compared with it."""
    rows = zip(*(found[name] for name in ("step", "difficulty", "mean", "low", "high")), strict=True)
    traces = []
    for level, of_level in groupby(rows, key=lambda row: row[1]):
        steps, _, means, lows, highs = zip(*of_level, strict=True)
        traces.append(Trace(f"d = {level}", PALETTE[level % 2], steps, means, lows, highs))
    marks = () if threshold is None else (threshold,)
    return Drawing("Success at the frontier, by d", tuple(traces), "share", _WHOLE, marks, legend=False)


def _rewards(curves: Curves) -> Drawing:
    names = {"total": "total", "task": "r_task", "efficiency": "r_eff", "hallucination": "r_hall"}
    traces = [
        Trace(name, PALETTE[number], curves[key]["step"], curves[key]["mean"])
        for number, (key, name) in enumerate(names.items())
        if curves[key]["step"]
    ]
    return Drawing("Reward and its parts", tuple(traces), "number")
