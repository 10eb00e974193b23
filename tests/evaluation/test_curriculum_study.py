"""The curriculum's rule as a test of mastery, and the learners that practise under it."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecomrlve.curriculum import Curriculum, Schedule, StaticCurriculum, read_log
from ecomrlve.evaluation.curriculum_study import (
    GROUP_SIZE,
    SPEEDS,
    SUCCESS_RATES,
    WINDOWS,
    Learner,
    compare,
    fewest_successes,
    mean_course,
    promotion_chance,
    promotion_rate,
    promotions,
    schedules,
    train,
)

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "curriculum.md").read_text(encoding="utf-8")

# --- how often a window promotes -------------------------------------------------------------------------------------


def test_the_fewest_successes_are_nine_in_ten_rounded_up() -> None:
    assert [fewest_successes(window) for window in WINDOWS] == [29, 58, 116, 231]
    for window in range(1, 400):
        assert fewest_successes(window) == -(-9 * window // 10)


@pytest.mark.parametrize("success", SUCCESS_RATES)
@pytest.mark.parametrize("window", WINDOWS)
def test_the_exact_chance_is_the_binomial_tail(success: float, window: int) -> None:
    terms = [
        math.comb(window, k) * success**k * (1 - success) ** (window - k)
        for k in range(fewest_successes(window), window + 1)
    ]
    assert promotion_chance(success, window) == pytest.approx(math.fsum(terms), rel=1e-9)


@pytest.mark.parametrize(("success", "window"), [(0.8, 32), (0.85, 64), (0.9, 128), (0.95, 256)])
def test_the_curriculum_promotes_as_often_as_the_binomial_says(success: float, window: int) -> None:
    trials = 300
    chance = promotion_chance(success, window)
    error = math.sqrt(chance * (1 - chance) / trials)
    assert abs(promotion_rate(success, window, trials) - chance) <= max(3.5 * error, 1 / trials)


def test_the_simulation_is_the_same_every_time() -> None:
    assert promotion_rate(0.9, 32, 50, seed=1) == promotion_rate(0.9, 32, 50, seed=1)


def test_correlated_episodes_are_worth_fewer() -> None:
    """An unworthy learner slips through more often, a worthy one is held up more often."""
    for success, sign in ((0.8, 1), (0.95, -1)):
        chances = [promotion_chance(success, 128, group_size=8, correlation=c) for c in (0.0, 0.1, 0.2, 0.4)]
        assert all(sign * (later - earlier) > 0 for earlier, later in itertools.pairwise(chances))
    hardly = promotion_chance(0.85, 128, group_size=8, correlation=1e-6)
    assert hardly == pytest.approx(promotion_chance(0.85, 128), rel=1e-3)


def test_the_chance_with_correlation_is_what_correlated_groups_give() -> None:
    success, correlation, trials = 0.85, 0.2, 20_000
    scale = (1 - correlation) / correlation
    generator = np.random.default_rng(3)
    problems = generator.beta(success * scale, (1 - success) * scale, (trials, 16))
    share = float((generator.binomial(8, problems).sum(axis=1) >= 116).mean())
    chance = promotion_chance(success, 128, group_size=8, correlation=correlation)
    assert share == pytest.approx(chance, abs=4 * math.sqrt(chance / trials))


def test_a_window_that_is_not_made_of_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="groups of 8"):
        promotion_chance(0.9, 100, group_size=8, correlation=0.1)


def test_the_table_has_a_row_per_rate_and_window() -> None:
    rows = promotions((0.9,), (32, 64), trials=20)
    assert [(row["success"], row["window"], row["needed"]) for row in rows] == [(0.9, 32, 29), (0.9, 64, 58)]
    for row in rows:
        assert row["episodes"] == pytest.approx(row["window"] / row["chance"])
        assert 0 <= row["simulated"] <= 1


def test_the_default_window_tells_the_worthy_from_the_unworthy() -> None:
    """What docs/curriculum.md recommends it for."""
    assert promotion_chance(0.80, 128) < 0.002
    assert promotion_chance(0.85, 128) < 0.05
    assert promotion_chance(0.95, 128) > 0.98


# --- learners --------------------------------------------------------------------------------------------------------


def test_a_learner_solves_half_of_what_is_as_hard_as_it_is_skilled() -> None:
    learner = Learner(skill=3.0, slope=2.0)
    assert learner.success(np.array([3]))[0] == 0.5
    assert learner.success(np.array([2, 4])).sum() == pytest.approx(1)
    assert learner.success(np.array([2]))[0] == pytest.approx(1 / (1 + math.exp(-2)))
    exam = Learner().exam(np.array([6.0, -50.0, 60.0]))
    assert exam == pytest.approx([0.5, 0, 1])


@pytest.mark.parametrize("rows", [[False], [True], [True, False]])
def test_groups_that_all_fail_or_all_succeed_teach_nothing(rows: list[bool]) -> None:
    assert Learner(skill=1.0).after(np.array([[row] * 8 for row in rows])).skill == 1.0


def test_a_group_teaches_most_where_half_of_it_is_correct() -> None:
    gains = [Learner(skill=0.0, rate=0.2).after(np.arange(8)[None] < k).skill for k in range(9)]
    assert gains[4] == pytest.approx(0.2)
    assert gains == pytest.approx(gains[::-1])
    assert all(later > earlier for earlier, later in itertools.pairwise(gains[:5]))
    mixed = np.array([np.arange(8) < 4, np.arange(8) < 8])
    assert Learner(rate=0.2).after(mixed).skill == pytest.approx(0.1)


def test_the_mean_gain_is_the_variance_of_success() -> None:
    learner = Learner(skill=1.0, rate=0.3)
    correct = np.random.default_rng(0).random((40_000, GROUP_SIZE)) < learner.success(np.array([0]))[0]
    p = 1 / (1 + math.exp(-1))
    assert learner.after(correct).skill - 1 == pytest.approx(0.3 * 4 * p * (1 - p) * (1 - 1 / GROUP_SIZE), rel=0.01)


@pytest.mark.parametrize("speed", SPEEDS)
def test_easy_saturates_hard_starves_and_adaptive_grows(speed: str) -> None:
    courses = compare(Learner(rate=SPEEDS[speed]), steps=200)
    easy, hard, adaptive = (courses[name] for name in ("easy", "hard", "adaptive"))
    assert easy.success[-50:].mean() > 0.9
    assert easy.useful[-50:].mean() < 0.5 * easy.useful[:20].mean()
    assert hard.success.mean() < 0.01
    assert hard.skill[-1] < 0.1
    assert adaptive.skill[-1] > easy.skill[-1] + 0.4
    assert adaptive.useful[-50:].mean() > easy.useful[-50:].mean()
    assert adaptive.exam[-1] > easy.exam[-1] > hard.exam[-1]
    assert np.all(np.diff(adaptive.high) >= 0)
    assert adaptive.high[-1] > 2


def test_a_course_is_the_same_every_time_and_another_with_other_luck() -> None:
    first, again, other = (train(Curriculum("E_CART", seed=1), Learner(), steps=60, seed=seed) for seed in (1, 1, 2))
    for name in ("low", "high", "success", "useful", "skill", "exam"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.success, other.success)


def test_a_course_records_what_its_schedule_did() -> None:
    schedule = Curriculum("E_CART", min_episodes=16, width=0)
    course = train(schedule, Learner(skill=9.0), steps=4, groups=4, group_size=8)
    assert course.high.tolist() == [0, 1, 2, 3]
    assert course.low.tolist() == [0, 1, 2, 3]
    assert len(course.skill) == 4
    static = train(StaticCurriculum("E_CART", (2, 5)), Learner(), steps=3, groups=4, group_size=8)
    assert static.low.tolist() == [2, 2, 2]
    assert static.high.tolist() == [5, 5, 5]


def test_the_mean_of_courses_is_taken_step_by_step() -> None:
    courses = [train(StaticCurriculum("E_CART", 1), Learner(), steps=5, seed=seed) for seed in (1, 2)]
    mean = mean_course(courses)
    assert mean.skill == pytest.approx((courses[0].skill + courses[1].skill) / 2)


def test_the_three_schedules_are_easy_hard_and_adaptive() -> None:
    made = schedules(seed=3, min_episodes=32)
    assert list(made) == ["easy", "hard", "adaptive"]
    assert made["easy"].window("E_CART") == (1, 1)
    assert made["hard"].window("E_CART") == (11, 11)
    assert made["adaptive"].to_dict()["min_episodes"] == 32


# --- the document ----------------------------------------------------------------------------------------------------


def table(name: str) -> list[list[str]]:
    """The rows of a table in docs/curriculum.md that has a comment before it."""
    lines = DOCUMENT.split(f"<!-- {name} -->\n")[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in (lines[0], *lines[2:])]


def per_cent(share: float) -> str:
    return f"{100 * share:.2f} %"


def test_the_chances_in_the_document_are_those_of_the_code() -> None:
    head, *rows = table("chances")
    assert [re.findall(r"\d+", cell) for cell in head[2:]] == [[str(w), str(fewest_successes(w))] for w in WINDOWS[1:]]
    assert [float(row[0]) for row in rows] == list(SUCCESS_RATES)
    for success, *cells in rows:
        for window, cell in zip(WINDOWS, cells, strict=True):
            exact, simulated = cell.rstrip(")").split(" (")
            assert exact == per_cent(promotion_chance(float(success), window))
            assert float(simulated.rstrip(" %")) == pytest.approx(float(exact.rstrip(" %")), abs=2.5)
    assert rows[0][1].endswith(f"({per_cent(promotion_rate(0.8, 32, 2000))})")


def test_the_waits_in_the_document_are_those_of_the_code() -> None:
    for success, *cells in table("waits")[1:]:
        for row, cell in zip(promotions((float(success),)), cells, strict=True):
            wait = row["episodes"]
            assert cell == (f"{wait:,.0f}" if wait < 1e6 else f"{wait / 1e6:.0f} million")


def test_the_correlated_chances_in_the_document_are_those_of_the_code() -> None:
    for success, *cells in table("correlated")[1:]:
        for row, cell in zip(promotions((float(success),), correlation=0.2), cells, strict=True):
            assert cell == per_cent(row["chance"])


@pytest.mark.parametrize("number", range(7))
def test_the_skills_in_the_document_are_those_of_the_code(number: int) -> None:
    """A cell in each row and each column."""
    head, *rows = table("skills")
    rate, skill, slope = map(float, re.findall(r"[\d.]+", rows[number][0]))
    name, written = head[1 + number], rows[number][1 + number]
    ends = [int(text) for text in re.findall(r"\d+", name)]

    def schedule(seed: int) -> Schedule:
        if name.startswith("adaptive"):
            return Curriculum("E_CART", min_episodes=ends[0], seed=seed)
        return StaticCurriculum("E_CART", (ends[0], ends[-1]), seed=seed)

    courses = [train(schedule(seed), Learner(skill, rate, slope), seed=seed) for seed in range(8)]
    assert f"{mean_course(courses).skill[-1]:.1f}" == written


def test_the_example_in_the_document_runs() -> None:
    code = re.search(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    assert names["curriculum"].to_dict() == names["saved"]
    line = re.search(r"```json\n(.*?)\n```", DOCUMENT, flags=re.DOTALL)
    assert line is not None
    ((entry,), problems) = read_log([line[1]])
    assert problems == []
    assert set(json.loads(line[1])) == set(json.loads(names["line"])) == set(entry.model_dump())


def test_links_and_paths_in_the_document_lead_somewhere() -> None:
    for path in re.findall(r"\]\(([^)#]+)", DOCUMENT):
        assert (ROOT / "docs" / path).exists(), path
    for path in re.findall(r"`(scripts/[\w./]+)`", DOCUMENT):
        assert (ROOT / path).exists(), path
