"""Make the picture of the curriculum: python scripts/curriculum_picture.py [--redraw].

It simulates the learners of `ecomrlve.evaluation.curriculum_study` at three speeds under three schedules, writes the
numbers to assets/pictures/curriculum.json and draws them beside it. All of it is deterministic, so that a test can
compare the picture with its numbers, and the numbers with the code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ecomrlve.evaluation.curriculum_study import (  # noqa: E402
    ALWAYS_EASY,
    ALWAYS_HARD,
    GROUP_SIZE,
    GROUPS,
    SPEEDS,
    STEPS,
    Course,
    Learner,
    compare,
    mean_course,
)

FIGURES = ROOT / "assets" / "pictures" / "curriculum.json"
EVERY = 5  # steps from one point to the next
SEEDS = 16
MEASURES = ("useful", "skill", "high")

WIDTH, HEIGHT = 960, 512
LEFT, GAP, PANEL = 60, 34, 266
TOP, ROW, BETWEEN = 92, 160, 44
MOST_SKILL = 16
GRAY = "#6e7781"
# Each has a contrast of at least 3 on white and on GitHub's dark background; dashes tell them apart without color.
COLORS = {"adaptive": "#2c938a", "easy": "#b97a1a", "hard": "#986ee2"}
DASHES = {"adaptive": "", "easy": "7 4", "hard": "2 4"}
NAMES = {
    "adaptive": "adaptive curriculum",
    "easy": f"always d = {ALWAYS_EASY}",
    "hard": f"always d = {ALWAYS_HARD}",
}


def simulated(speeds: Mapping[str, float] = SPEEDS, seeds: int = SEEDS) -> dict[str, Any]:
    """The courses of all learners, averaged over seeds, with what they were simulated with; ready for JSON."""
    courses: dict[str, Any] = {}
    for speed, rate in speeds.items():
        runs = [compare(Learner(rate=rate), seed=seed) for seed in range(seeds)]
        courses[speed] = {name: _points(mean_course([run[name] for run in runs])) for name in COLORS}
    about = {"skill": Learner().skill, "slope": Learner().slope, "speeds": dict(speeds), "seeds": seeds}
    sizes = {"steps": STEPS, "groups": GROUPS, "group_size": GROUP_SIZE, "every": EVERY}
    return about | sizes | {"easy": ALWAYS_EASY, "hard": ALWAYS_HARD, "courses": courses}


def _points(course: Course) -> dict[str, list[float]]:
    """Every fifth step; the share of useful groups is the mean over the five steps, since single batches are noisy."""
    useful = course.useful.reshape(-1, EVERY).mean(axis=1)
    chosen = {"useful": useful, "skill": course.skill[::EVERY], "high": course.high[::EVERY]}
    return {name: [round(float(value), 4) for value in chosen[name]] for name in MEASURES}


def across(panel: int, step: float) -> float:
    """Where a step stands in a column of panels, in pixels."""
    return LEFT + panel * (PANEL + GAP) + PANEL * step / STEPS


def upward(row: int, share: float) -> float:
    """Where a share of a row's height stands, in pixels."""
    return TOP + row * (ROW + BETWEEN) + ROW * (1 - share)


def drawn(figures: Mapping[str, Any]) -> str:
    """The courses as SVG, transparent and in colors that can be read by day and by night."""
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{GRAY}" role="img" aria-labelledby="title">',
        '<title id="title">Simulated learners: always easy episodes stop teaching, always hard ones never begin to, '
        "the adaptive curriculum keeps going</title>",
        *_legend(),
    ]
    for panel, (speed, courses) in enumerate(figures["courses"].items()):
        middle = f'x="{across(panel, STEPS / 2):.1f}" text-anchor="middle"'
        text.append(f'<text {middle} y="{TOP - 34}" font-weight="600">{speed} learner</text>')
        text.append(f'<text {middle} y="{upward(1, 0) + 40:.0f}">training step</text>')
        text += [*_frame(panel, 0), *_frame(panel, 1)]
        for name, course in courses.items():
            text += _course(panel, speed, name, course)
    return "\n".join([*text, "</svg>"]) + "\n"


def _legend() -> list[str]:
    parts = [f'<text x="{LEFT}" y="22" font-size="14" font-weight="600">Three ways to choose the difficulty</text>']
    x = 390.0
    for name, color in COLORS.items():
        dash = f' stroke-dasharray="{DASHES[name]}"' if DASHES[name] else ""
        parts.append(f'<path d="M{x:.0f} 18h34" stroke="{color}" stroke-width="2.5"{dash}/>')
        parts.append(f'<text x="{x + 42:.0f}" y="22" fill="{color}" font-weight="600">{NAMES[name]}</text>')
        x += 216 if name == "adaptive" else 160
    return parts


def _frame(panel: int, row: int) -> list[str]:
    """Lines and labels of one panel: the share of useful groups in the upper row, skill in the lower."""
    ticks = [(0, "0 %"), (0.5, "50 %"), (1, "100 %")] if row == 0 else []
    ticks = ticks or [(skill / MOST_SKILL, str(skill)) for skill in range(0, MOST_SKILL + 1, 4)]
    left, right = across(panel, 0), across(panel, STEPS)
    parts = []
    for share, label in ticks:
        y = upward(row, share)
        parts.append(f'<path d="M{left:.1f} {y:.2f}H{right:.1f}" stroke="{GRAY}" stroke-opacity="0.25"/>')
        if panel == 0 and label:
            where = f'x="{left - 8:.1f}" y="{y:.2f}" text-anchor="end" dominant-baseline="middle"'
            kind = "useful" if row == 0 else "skill"
            parts.append(f'<text class="{kind}" {where}>{label}</text>')
    if panel == 0:
        title = "groups from which anything can be learned" if row == 0 else "skill: the d of which half is solved"
        parts.append(f'<text x="{left:.1f}" y="{upward(row, 1) - 10:.1f}" font-size="12">{title}</text>')
    if row == 1:
        for step in range(0, STEPS + 1, 100):
            where = f'x="{across(panel, step):.1f}" y="{upward(1, 0) + 18:.1f}" text-anchor="middle"'
            parts.append(f'<text class="step" data-panel="{panel}" {where}>{step}</text>')
    return parts


def _course(panel: int, speed: str, name: str, course: Mapping[str, Sequence[float]]) -> list[str]:
    """The lines of one learner under one schedule."""
    dash = f' stroke-dasharray="{DASHES[name]}"' if DASHES[name] else ""
    parts = [
        f'<g data-speed="{speed}" data-schedule="{name}" fill="none" stroke="{COLORS[name]}" stroke-width="2.2" '
        f'stroke-linejoin="round">'
    ]
    lines = {"useful": (0, 1.0), "skill": (1, float(MOST_SKILL))} | (
        {"high": (1, float(MOST_SKILL))} if name == "adaptive" else {}
    )
    for measure, (row, most) in lines.items():
        spots = [
            f"{across(panel, number * EVERY):.2f} {upward(row, value / most):.2f}"
            for number, value in enumerate(course[measure])
        ]
        look = ' stroke-width="1.2" stroke-opacity="0.8"' if measure == "high" else dash
        parts.append(f'<path class="{measure}" d="M{"L".join(spots)}"{look}/>')
    if name == "adaptive" and panel == 2:
        x, y = across(panel, STEPS), upward(1, course["high"][-1] / MOST_SKILL) + 27
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end" font-size="12" fill="{COLORS[name]}" '
            f'stroke="none">hardest d drawn</text>'
        )
    return [*parts, "</g>"]


def main(
    figures: Annotated[Path, typer.Option(help="where the numbers go; the picture goes beside it")] = FIGURES,
    redraw: Annotated[bool, typer.Option("--redraw", help="draw the numbers that are there")] = False,
) -> None:
    """Simulate the learners and draw what became of them."""
    if not redraw:
        figures.write_text(json.dumps(simulated()) + "\n", encoding="utf-8")
    read = json.loads(figures.read_text(encoding="utf-8"))
    figures.with_suffix(".svg").write_text(drawn(read), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
