"""The Difficulty & curriculum tab without a browser: true axes, real openings, simulated and real runs."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components import curriculum_axes, curriculum_runs
from components.session import ENVIRONMENTS, Shop
from ecomrlve import difficulty as engine_axes
from ecomrlve.curriculum import Curriculum, Outcome
from ecomrlve.difficulty import HIGHEST, difficulty
from ecomrlve.evaluation.curriculum_study import SPEEDS, STEPS, Learner, compare

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shop(words_engine: Any) -> Shop:
    made = Shop(lambda: words_engine)
    made.wait()
    return made


# --- axes ------------------------------------------------------------------------------------------------------------


def value_of(formula: str, d: int) -> float:
    """What a formula in our notation comes to."""
    text = re.sub(r"⌊([^⌋]*)⌋", r"floor(\1)", formula.replace("−", "-").replace("·", "*"))
    names = {"floor": math.floor, "σ": engine_axes.sigmoid, "min": min, "max": max, "d": d}
    return eval(text, {"__builtins__": {}}, names)


def test_the_formulas_shown_are_those_of_the_engine() -> None:
    assert tuple(axis.name for axis in curriculum_axes.AXES) == engine_axes.AXES
    for axis in curriculum_axes.AXES:
        for d in range(HIGHEST + 1):
            assert value_of(axis.formula, d) == pytest.approx(getattr(difficulty(d), axis.name)), (axis.name, d)


def test_the_values_shown_are_those_of_the_engine() -> None:
    shown = {axis["name"]: axis for axis in curriculum_axes.axes()["axes"]}
    for d in range(HIGHEST + 1):
        for name, value in difficulty(d).axes().items():
            assert shown[name]["points"][d] == value
            assert shown[name]["shown"][d] == (str(value) if isinstance(value, int) else f"{100 * value:.0f} %")


def test_an_axis_changes_what_the_measured_matrix_says() -> None:
    spec = importlib.util.spec_from_file_location("matrix", ROOT / "tests" / "evaluation" / "test_axis_matrix.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    said = {axis.name: set(axis.reaches) - {"E_JOURNEY"} for axis in curriculum_axes.AXES}
    assert said == {name: set(envs) for name, envs in module.MATRIX.items()}


def test_every_effect_is_one_short_sentence() -> None:
    for axis in curriculum_axes.AXES:
        assert axis.effect.count(". ") == 0
        assert axis.effect.endswith(".")
        assert len(axis.effect) <= 130


# --- openings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_openings_are_what_an_agent_reads_first_and_nothing_else(shop: Shop, words_engine: Any, env_id: str) -> None:
    import ecomrlve

    value = curriculum_axes.comparison(shop, {"env_id": env_id, "seed": " 11 ", "difficulties": [0, "9"]})
    assert (value["env_id"], value["seed"], value["difficulties"]) == (env_id, "11", [0, 9])
    for side, d in zip(value["sides"], (0, 9), strict=True):
        observation, _ = ecomrlve.make(env_id, catalog=words_engine).reset(seed=11, options={"difficulty": d})
        assert side == {
            "d": d,
            "opening": observation.messages[0]["content"],
            "turns": observation.turns_left,
            "tool_budget": observation.tool_budget,
            "tools": len(observation.tools),
        }
    assert set(value) == {"environments", "env_id", "seed", "difficulties", "sides", "number"}


@pytest.mark.parametrize(
    "changes",
    [
        {"env_id": "E_NONE"},
        {"env_id": ["E_CART"]},
        {"env_id": None},
        {"seed": "<img src=x>"},
        {"seed": -1},
        {"seed": 2**63},
        {"seed": "9" * 5000},
        {"seed": None},
        {"difficulties": [0, 13]},
        {"difficulties": [0, "x" * 5000]},
        {"difficulties": [0.5, 1]},
        {"difficulties": [True, 1]},
    ],
)
def test_what_cannot_be_compared_is_said_and_the_page_goes_on(shop: Shop, changes: dict[str, Any]) -> None:
    value = curriculum_axes.comparison(shop, {**curriculum_axes.FIRST_COMPARISON, **changes})
    assert value["sides"] == []
    assert 10 < len(value["problem"]) < 500
    assert len(value["environments"]) == len(ENVIRONMENTS)


@pytest.mark.parametrize("pair", [None, [], [1], [1, 2, 3], "12"])
def test_difficulties_that_are_no_pair_are_replaced(shop: Shop, pair: Any) -> None:
    value = curriculum_axes.comparison(shop, {"env_id": "E_CART", "seed": 1, "difficulties": pair})
    assert value["difficulties"] == curriculum_axes.FIRST_COMPARISON["difficulties"]


def test_a_shop_that_could_not_be_loaded_is_said() -> None:
    def broken() -> Any:
        raise OSError("no disk")

    value = curriculum_axes.comparison(Shop(broken), curriculum_axes.FIRST_COMPARISON)
    assert "no disk" in value["problem"]


# --- simulated learners ----------------------------------------------------------------------------------------------


def test_the_live_picture_is_the_study() -> None:
    value = curriculum_runs.learning({"skill": 2, "speed": "fast", "seed": "5"})
    assert (value["skill"], value["speed"], value["seed"], value["steps"]) == (2, "fast", "5", STEPS)
    courses = compare(Learner(skill=2.0, rate=SPEEDS["fast"]), seed=5)
    assert [shown["name"] for shown in value["courses"]] == list(courses)
    for shown in value["courses"]:
        course = courses[shown["name"]]
        assert shown["high"] == course.high.tolist()
        assert shown["low"] == course.low.tolist()
        for name in ("success", "useful", "skill", "exam"):
            assert shown[name] == pytest.approx(getattr(course, name), abs=6e-4)
    assert len(json.dumps(value)) < 50_000


def test_the_same_choice_redraws_the_widget_all_the_same() -> None:
    first, again = (curriculum_runs.learning(curriculum_runs.FIRST_LEARNER) for _ in range(2))
    assert first["courses"] == again["courses"]
    assert first["number"] != again["number"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"skill": 9}, "skill"),
        ({"skill": -1}, "skill"),
        ({"skill": 1.5}, "skill"),
        ({"skill": True}, "skill"),
        ({"skill": [1]}, "skill"),
        ({"speed": "<b>"}, "slow"),
        ({"speed": ["fast"]}, "slow"),
        ({"seed": ""}, "seed"),
        ({"seed": -1}, "seed"),
        ({"seed": "1" * 6000}, "seed"),
        ({"seed": None}, "seed"),
    ],
)
def test_a_learner_that_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    value = curriculum_runs.learning({**curriculum_runs.FIRST_LEARNER, **changes})
    assert value["courses"] == []
    assert said in value["problem"]
    assert len(value["problem"]) < 200
    assert value["speeds"] == SPEEDS


# --- the log of a real run -------------------------------------------------------------------------------------------


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str | bytes], dict[str, Any]]:
    """Reads a text as an uploaded log."""

    def read_text(text: str | bytes) -> dict[str, Any]:
        file = tmp_path / "curriculum.jsonl"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return curriculum_runs.read_run(file, file.name)

    return read_text


def line(step: int, env_id: str = "E_CART", low: int = 0, high: int = 1, success: float | None = 0.5) -> str:
    return json.dumps({"step": step, "env_id": env_id, "low": low, "high": high, "success": success}) + "\n"


def test_what_a_curriculum_logs_is_what_is_shown(read: Callable[[str], dict[str, Any]]) -> None:
    curriculum = Curriculum("C2", min_episodes=2)
    text = ""
    for step in range(4):
        for progress in curriculum.finish_batch([Outcome("E_CART", curriculum.window("E_CART").high, True)]):
            text += progress.log_entry(step).model_dump_json() + "\n"
    value = read(text)
    assert value["problems"] == []
    both = {"step": [0, 1, 2, 3], "low": [0] * 4, "lines": 4}
    assert value["runs"] == [
        {"env_id": "E_CART", "high": [0, 0, 1, 1], "success": [1.0] * 4, **both},
        {"env_id": "E_SUB", "high": [0] * 4, "success": [None] * 4, **both},
    ]


def test_a_long_run_is_drawn_in_few_points_that_keep_its_end(read: Callable[[str], dict[str, Any]]) -> None:
    count = 2 * curriculum_runs.MOST_POINTS + 1
    (run,) = read("".join(line(step, high=step * 12 // count, success=step % 2) for step in range(count)))["runs"]
    assert len(run["step"]) <= curriculum_runs.MOST_POINTS
    assert {len(run[name]) for name in ("step", "low", "high", "success")} == {len(run["step"])}
    assert (run["step"][-1], run["high"][-1], run["lines"]) == (count - 1, 11, count)
    assert run["success"][0] == pytest.approx(1 / 3, abs=1e-4)


def test_steps_without_episodes_take_no_part_in_a_mean(read: Callable[[str], dict[str, Any]]) -> None:
    count = 2 * curriculum_runs.MOST_POINTS
    (run,) = read("".join(line(step, success=None if step % 2 else 0.75) for step in range(count)))["runs"]
    assert set(run["success"]) == {0.75}


def test_bad_lines_are_told_but_not_all_of_many(read: Callable[[str], dict[str, Any]]) -> None:
    value = read(line(0) + "torn\n" * 20)
    assert len(value["runs"]) == 1
    assert value["problems"][0].startswith("line 2: ")
    assert value["problems"][-1] == "… and 12 more problems"
    assert len(value["problems"]) == curriculum_runs.MOST_PROBLEMS + 1


@pytest.mark.parametrize("text", ["", "\n\n", b"\x00\x01\xff" * 50, "[1, 2]\n", "null", "{}"])
def test_a_file_without_a_log_says_so(read: Callable[[Any], dict[str, Any]], text: Any) -> None:
    value = read(text)
    assert value["runs"] == []
    assert any("no line of a curriculum's log" in problem for problem in value["problems"])


def test_limits_hold(read: Callable[[Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(curriculum_runs, "MOST_LINES", 5)
    value = read("".join(line(step) for step in range(9)))
    assert value["runs"][0]["lines"] == 5
    assert value["problems"] == ["only the first 5 lines are shown"]
    monkeypatch.setattr(curriculum_runs, "MOST_LINES", 100)
    value = read("".join(line(0, f"E_{number}") for number in range(40)))
    assert len(value["runs"]) == curriculum_runs.MOST_ENVIRONMENTS
    assert "of 40 environments" in value["problems"][0]
    large = tmp_path / "large.jsonl"
    with large.open("wb") as stream:
        stream.truncate(curriculum_runs.MOST_BYTES + 1)
    value = curriculum_runs.read_run(large, large.name)
    assert value["runs"] == []
    assert "up to 20 MB" in value["problems"][0]


def test_the_spaces_run_is_a_folder_or_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ECOMRLVE_RUN", raising=False)
    assert curriculum_runs.server_run()["from_server"] is False
    monkeypatch.setenv("ECOMRLVE_RUN", str(tmp_path / "first"))
    value = curriculum_runs.server_run()
    assert (value["from_server"], value["runs"]) == (True, [])
    assert "can be read yet" in value["problems"][0]
    assert str(tmp_path) not in json.dumps(value), "visitors need not know where the server keeps its files"
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "curriculum.jsonl").write_text(line(3))
    assert curriculum_runs.server_run()["runs"][0]["step"] == [3]
    monkeypatch.setenv("ECOMRLVE_RUN", str(tmp_path / "first" / "curriculum.jsonl"))
    assert curriculum_runs.server_run()["runs"][0]["step"] == [3]


# --- the tab ---------------------------------------------------------------------------------------------------------


def test_all_events_are_private_and_wait_for_nobody(shop: Shop) -> None:
    import gradio as gr

    from components import curriculum
    from components.events.curriculum import wire_curriculum

    with gr.Blocks(analytics_enabled=False) as demo:
        wire_curriculum(curriculum.build(), shop)
    events = list(demo.fns.values())
    assert len(events) == 4
    assert {(event.api_visibility, event.concurrency_limit) for event in events} == {("private", None)}


def test_scripts_make_no_markup_and_ask_nobody_else() -> None:
    scripts = [*(ROOT / "assets" / "js").glob("curriculum_*.js"), *(ROOT / "assets" / "js").glob("difficulty_*.js")]
    assert len(scripts) == 5
    for script in scripts:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|https?:|eval\(|fetch\(", script.read_text()), script
