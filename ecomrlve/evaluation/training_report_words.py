"""What a training run came to, in sentences: a summary, warnings, and how to read the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ecomrlve.errors import short
from ecomrlve.evaluation.report_tables import NOTHING, percent, percent_with_interval, signed
from ecomrlve.evaluation.training_report_curves import ends

MOST_NAMED = 4  # Environments that the summary names one by one.
MOST_STEPS = 5  # Steps that a warning names.


def figure_text(value: float | None, unit: str) -> str:
    """A figure as people read it.

    Args:
        value: The figure; None if it is not known.
        unit: ``share``, ``count``, ``seconds`` or ``number``.
    """
    if value is None:
        return NOTHING
    if unit == "share":
        return f"{100 * value:.2g} %" if 0 < value < 0.01 else percent(value)
    if unit == "count":
        return f"{value:,.0f}"
    size = abs(value)
    if unit == "seconds":
        return f"{value:,.1f} s" if size >= 1 else f"{value:.2g} s"
    if value and not 0.01 <= size < 10_000:
        return f"{value:.3g}".replace("e-0", "e-").replace("-", "−")
    return signed(value, 3 if size < 1 else 2 if size < 100 else 0)


def summary(data: Mapping[str, Any]) -> list[str]:
    """The run in a few sentences."""
    if not data["stages"]:
        return ["The run has made no step yet."]
    return [*_sft(data), *_dapo(data), *_reached(data), *_time(data), _state(data)]


def _sft(data: Mapping[str, Any]) -> Iterator[str]:
    if "sft" in data["stages"]:
        found = data["stages"]["sft"]
        sentence = f"Supervised fine-tuning, {_steps(found, data['run']['config'].get('sft_steps'))}"
        if "loss" in found["curves"]:
            sentence += f", loss {_course(found['curves']['loss'], 'number')}"
        if "token_accuracy" in found["curves"]:
            sentence += f", {percent(ends(found['curves']['token_accuracy']['value'])[1])} of tokens predicted right"
        yield f"{sentence}."


def _dapo(data: Mapping[str, Any]) -> Iterator[str]:
    if "dapo" in data["stages"]:
        found = data["stages"]["dapo"]
        sentence = f"DAPO, {_steps(found, data['run']['config'].get('steps'))}"
        for key, unit in (("reward", "number"), ("success", "share")):
            if key in found["curves"]:
                sentence += f", {key} {_course(found['curves'][key], unit)}"
        yield f"{sentence}."


def _steps(found: Mapping[str, Any], planned: Any) -> str:
    count = len(found["steps"])
    of = f" of {planned:,}" if isinstance(planned, int) and planned > count else ""
    return f"{count:,}{of} step{'s' if of or count != 1 else ''}"


def _course(curve: Mapping[str, Any], unit: str) -> str:
    """From the first steps to the last ones; a single value where there is just one."""
    first, last = (figure_text(value, unit) for value in ends(curve["value"]))
    return last if len(curve["step"]) == 1 else f"{first} → {last}"


def _reached(data: Mapping[str, Any]) -> Iterator[str]:
    found = [one for one in data["environments"] if one["high"] is not None]
    if len(found) > MOST_NAMED:
        by_level = sorted(found, key=lambda one: one["high"])
        lowest, highest = by_level[0], by_level[-1]
        to = f" ({lowest['env_id']}) to d = {highest['high']} ({highest['env_id']})"
        to = to if lowest["high"] < highest["high"] else ""
        yield f"{len(found)} environments reached d = {lowest['high']}{to}."
    elif found:
        yield "; ".join(_one_reached(one) for one in found) + "."


def _one_reached(one: Mapping[str, Any]) -> str:
    success = f", frontier success {percent_with_interval(one['frontier'])}" if one["frontier"] else ""
    return f"{one['env_id']} reached d = {one['high']}{success}"


def _time(data: Mapping[str, Any]) -> Iterator[str]:
    time = data["time"]
    if time:
        seconds = figure_text(time["seconds_per_step"], "seconds")
        share = percent(time["parts"]["environment"]["share"])
        yield f"A step takes {seconds}; the environment takes {share} of the time."


def _state(data: Mapping[str, Any]) -> str:
    if data["finished"]:
        return "The run is through."
    return "There is no final model yet: the run is going on, or was stopped."


def warnings(data: Mapping[str, Any]) -> list[str]:
    """What a reader must not overlook."""
    found = []
    broken = data["not_finite"]
    if broken:
        places = ", ".join(
            f"{one['stage']} {one['step']} ({short(', '.join(one['figures']))})" for one in broken[:MOST_STEPS]
        )
        more = f" and {len(broken) - MOST_STEPS} more" if len(broken) > MOST_STEPS else ""
        found.append(f"Figures were NaN or infinite in the steps {places}{more}: the run may have diverged.")
    if data["problems"]["count"]:
        count = data["problems"]["count"]
        found.append(
            f"{count:,} line{'s' if count > 1 else ''} could not be read and {'are' if count > 1 else 'is'} left out."
        )
    return found


def notes(data: Mapping[str, Any]) -> list[str]:
    """How to read the figures."""
    return [
        f"Bold curves are means over the last {data['window']} steps, fewer where a run is short; thin ones are single "
        "steps. First and last steps are as many, and in a short run its two halves.",
        "Reward, success, lengths and shares are over all rollouts that were finished, also those of groups that were "
        "dropped because they had no variance.",
        "r_task, r_eff and r_hall are over the rollouts that were judged: one with invalid output or too many tokens "
        "has only a reward.",
        "The frontier is the upper end of the window of difficulties, d = high. Success at it is over the last "
        f"{data['window']} steps since d = high began, with Wilson's 95 % interval. The interval counts groups, since "
        "the rollouts of a group share their problem. Each piece of the curve is one d; at the dashed line d rises.",
        "The environment's time is that in the engine: reset, step and record.",
    ]
