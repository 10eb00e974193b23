"""The picture of the curriculum shows its numbers, and they are what the code simulates."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.evaluation.curriculum_study import SPEEDS, STEPS

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "assets" / "pictures" / "curriculum.json"
SVG = "{http://www.w3.org/2000/svg}"
PAPER, NIGHT = "#ffffff", "#0d1117"  # what GitHub shows pictures on
LEAST_CONTRAST = 3.0  # for graphics, by the web's accessibility guidelines


@pytest.fixture(scope="module")
def script() -> Any:
    """scripts/curriculum_picture.py as a module."""
    spec = importlib.util.spec_from_file_location("curriculum_picture", ROOT / "scripts" / "curriculum_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def picture() -> ElementTree.Element:
    return ElementTree.fromstring(FIGURES.with_suffix(".svg").read_text(encoding="utf-8"))


def scale(labels: list[ElementTree.Element], coordinate: str) -> Callable[[float], float]:
    """From pixels back to values, by the labels of an axis."""
    known = [(float(label.get(coordinate, "")), float((label.text or "").removesuffix(" %"))) for label in labels]
    (first, low), (last, high) = known[0], known[-1]
    assert len(known) >= 3
    for place, value in known:
        assert low + (place - first) * (high - low) / (last - first) == pytest.approx(value, abs=0.1)
    return lambda pixels: low + (pixels - first) * (high - low) / (last - first)


def test_the_picture_shows_its_numbers(figures: dict[str, Any], picture: ElementTree.Element) -> None:
    labels: dict[str, list[ElementTree.Element]] = {}
    for label in picture.iter(f"{SVG}text"):
        labels.setdefault(f"{label.get('class')}{label.get('data-panel', '')}", []).append(label)
    share, skill = scale(labels["useful"], "y"), scale(labels["skill"], "y")
    drawn = {(group.get("data-speed"), group.get("data-schedule")): group for group in picture.iter(f"{SVG}g")}
    assert len(drawn) == 9
    for panel, (speed, courses) in enumerate(figures["courses"].items()):
        step = scale(labels[f"step{panel}"], "x")
        for name, course in courses.items():
            paths = {path.get("class"): path.get("d", "") for path in drawn[speed, name].iter(f"{SVG}path")}
            assert set(paths) == {"useful", "skill"} | ({"high"} if name == "adaptive" else set())
            for measure, line in paths.items():
                spots = [tuple(map(float, pair.split())) for pair in re.split("[ML]", line)[1:]]
                assert [round(step(x)) for x, _ in spots] == list(range(0, STEPS, figures["every"]))
                values = [share(y) / 100 if measure == "useful" else skill(y) for _, y in spots]
                assert values == pytest.approx(course[measure], abs=0.005)


def test_the_picture_is_what_the_script_draws_of_the_numbers(script: Any, figures: dict[str, Any]) -> None:
    assert script.drawn(figures) == FIGURES.with_suffix(".svg").read_text(encoding="utf-8")


def test_the_numbers_are_what_the_code_simulates(script: Any, figures: dict[str, Any]) -> None:
    """Two learners of the sixteen take part in the means; all of them would take a while."""
    made = script.simulated({"medium": SPEEDS["medium"]}, seeds=2)
    again = figures["courses"]["medium"]
    for name, course in made.pop("courses")["medium"].items():
        assert course["skill"] == pytest.approx(again[name]["skill"], abs=0.8)
    assert {**made, "speeds": SPEEDS, "seeds": script.SEEDS} == {
        key: value for key, value in figures.items() if key != "courses"
    }


def test_the_numbers_show_saturation_starvation_and_growth(figures: dict[str, Any]) -> None:
    assert list(figures["courses"]) == list(SPEEDS)
    for courses in figures["courses"].values():
        easy, hard, adaptive = (courses[name] for name in ("easy", "hard", "adaptive"))
        half = len(easy["skill"]) // 2
        assert easy["useful"][-1] < 0.15 < 0.9 < easy["useful"][0]
        assert max(hard["useful"]) < 0.02
        assert hard["skill"][-1] < 0.1
        gained = adaptive["skill"][-1] - adaptive["skill"][half]
        assert gained > 1.5 * (easy["skill"][-1] - easy["skill"][half])
        assert all(later >= earlier for earlier, later in zip(adaptive["high"], adaptive["high"][1:], strict=False))


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb, as the web's accessibility guidelines define it."""
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_picture_can_be_read_by_day_and_by_night(script: Any) -> None:
    used = set(re.findall(r"#[0-9a-f]{6}", FIGURES.with_suffix(".svg").read_text(encoding="utf-8")))
    assert used == {*script.COLORS.values(), script.GRAY}
    for color in used:
        for ground in (PAPER, NIGHT):
            high, low = sorted((luminance(color), luminance(ground)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= LEAST_CONTRAST, color
