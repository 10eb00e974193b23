"""The report of a training run: its figures, what it says of runs that are odd, and a page that needs nothing."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ecomrlve.curriculum import Curriculum, LogEntry, Outcome
from ecomrlve.evaluation.statistics import wilson
from ecomrlve.evaluation.training_report import TrainingReport, build
from ecomrlve.evaluation.training_report_curves import WINDOW, ends, frontier, moving_mean
from ecomrlve.evaluation.training_report_html import to_html
from ecomrlve.evaluation.training_report_pages import show, to_csv, to_json, write
from ecomrlve.evaluation.training_report_svg import Drawing, Trace, nice_ticks, svg

GROUP = 8
HOSTILE = "<script>alert(1)</script><img src=//evil.invalid>[/bold]"
RUN: dict[str, Any] = {
    "kind": "training",
    "version": 1,
    "name": "small",
    "preset": "tiny-cpu",
    "stage": "all",
    "config": {"group_size": GROUP, "steps": 60, "sft_steps": 30, "threshold": 0.9},
    "engine": "1",
    "catalog": {"name": "shop", "fingerprint": "abc", "search": "words"},
    "libraries": {"torch": "2"},
    "command": "ecomrlve train --preset tiny-cpu --out run",
    "started": "2026-01-01T00:00:00+00:00",
    "processes": 1,
}


def sft_lines(steps: int = 30) -> list[dict[str, Any]]:
    return [
        {
            "stage": "sft",
            "step": step,
            "loss": 2.0 * math.exp(-step / 10),
            "learning_rate": 1e-5,
            "grad_norm": 1.0,
            "token_accuracy": 1 - 0.5 * math.exp(-step / 10),
            "seconds": 0.5,
        }
        for step in range(steps)
    ]


def dapo_runs(
    env_ids: tuple[str, ...] = ("E_CART", "E_PD"), steps: int = 60, seed: int = 0
) -> tuple[list[dict[str, Any]], list[LogEntry]]:
    """A learner that gets better, under the real curriculum: its metrics and the curriculum's log."""
    drawn, curriculum = random.Random(seed), Curriculum(env_ids, min_episodes=64, seed=seed)
    lines, log = [], []
    for step in range(steps):
        outcomes, environments = [], {}
        for env_id in env_ids:
            low, high = curriculum.window(env_id)
            levels = [curriculum.draw(env_id, step, slot) for slot in range(16)]
            played = [(d, drawn.random() < 1 / (1 + math.exp(d - 1 - step / 10))) for d in levels for _ in range(GROUP)]
            outcomes += [Outcome(env_id, d, right) for d, right in played]
            top = [right for d, right in played if d == high]
            share = sum(right for _, right in played) / len(played)
            environments[env_id] = {
                "rollouts": len(played),
                "success": share,
                "total": share - 0.2,
                "task": share,
                "efficiency": 0.5,
                "hallucination": None,
                "turns": 3.0,
                "difficulty": sum(levels) / len(levels),
                "low": low,
                "high": high,
                "frontier_rollouts": len(top),
                "frontier_success": sum(top) / len(top) if top else None,
            }
        lines.append(dapo_line(step, environments, drawn))
        log += [progress.log_entry(step) for progress in curriculum.finish_batch(outcomes)]
    return lines, log


def dapo_line(step: int, environments: dict[str, Any], drawn: random.Random) -> dict[str, Any]:
    success = sum(one["success"] for one in environments.values()) / len(environments)
    rollouts = sum(one["rollouts"] for one in environments.values())
    return {
        "stage": "dapo",
        "step": step,
        "loss": drawn.gauss(0, 0.02),
        "grad_norm": abs(drawn.gauss(0.5, 0.1)),
        "learning_rate": 1e-5,
        "entropy": 0.6 * math.exp(-step / 200),
        "clip_low": 0.001,
        "clip_high": 0.004,
        "batch": {
            "rounds": drawn.randint(1, 3),
            "groups": 48,
            "groups_without_variance": drawn.randint(8, 32),
            "groups_masked": drawn.randint(0, 3),
            "rollouts": rollouts,
            "reward": success - 0.2 + drawn.gauss(0, 0.05),
            "reward_std": 0.4,
            "success": success,
            "overlong": 0.02,
            "invalid": 0.1 * math.exp(-step / 30),
            "turns": 3.0,
            "tool_errors": 0.2,
            "own_tokens": 200.0 + step,
            "own_tokens_most": 900,
            "completion_tokens": 1800.0,
            "overlong_penalty": -0.01,
        },
        "seconds": {"batch": 21.0, "generation": 19.0, "environment": 1.0, "update": 8.0, "step": 30.0},
        "environments": environments,
    }


@pytest.fixture(scope="module")
def whole() -> TrainingReport:
    lines, log = dapo_runs()
    return build(RUN, [*sft_lines(), *lines], log, finished=True)


def printed(report: TrainingReport) -> str:
    console = Console(file=io.StringIO(), width=200)
    show(report, console)
    return console.file.getvalue()


class Page(HTMLParser):
    """What a page is made of: its elements with their attributes, and its text outside of styles."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.shown = ""
        self._mute = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._mute = tag == "style"

    def handle_endtag(self, tag):
        self._mute = False

    def handle_data(self, data):
        if not self._mute:
            self.shown += data


# --- figures ---------------------------------------------------------------------------------------------------------


def test_the_summary_says_what_came_of_it_in_words(whole):
    sft, dapo, reached, time, state = whole.data["summary"]
    assert sft.startswith("Supervised fine-tuning, 30 steps, loss 1.")
    assert dapo.startswith("DAPO, 60 steps, reward ")
    assert "E_CART reached d = " in reached
    assert "frontier success" in reached
    assert time == "A step takes 30.0 s; the environment takes 3.3 % of the time."
    assert "through" in state


def test_the_frontier_is_counted_over_the_steps_since_it_was_reached_and_by_groups():
    def line(step: int, high: int, rollouts: int, share: float) -> dict[str, Any]:
        one = {"rollouts": 64, "high": high, "frontier_rollouts": rollouts, "frontier_success": share}
        return {"stage": "dapo", "step": step, "environments": {"E_CART": one}}

    lines = [line(0, 0, 64, 1.0), line(1, 1, 16, 0.5), line(2, 1, 48, 1.0)]
    found = frontier(lines, "E_CART", GROUP)
    assert found["difficulty"] == [0, 1, 1]
    assert found["mean"] == [1.0, 0.5, (8 + 48) / 64]
    assert (found["low"][2], found["high"][2]) == wilson(8 * 56 / 64, 8)
    many = frontier([line(step, 3, 8, float(step >= 40)) for step in range(60)], "E_CART", GROUP)
    assert (many["mean"][-1], many["rollouts"][-1]) == (1.0, 8 * WINDOW)


def test_a_frontier_of_yesterday_is_not_shown_as_todays():
    lines, log = dapo_runs(("E_CART",), 3)
    raised = LogEntry(step=3, env_id="E_CART", low=0, high=log[-1].high + 1, success=None)
    (one,) = build(RUN, lines, [*log, raised]).data["environments"]
    assert (one["high"], one["frontier"]) == (raised.high, None)


def test_an_environments_figures_are_those_of_its_lines(whole):
    lines, log = dapo_runs()
    one = whole.data["environments"][0]
    assert one["env_id"] == "E_CART"
    assert one["rollouts"] == sum(line["environments"]["E_CART"]["rollouts"] for line in lines)
    assert one["curves"]["window"]["high"] == [entry.high for entry in log if entry.env_id == "E_CART"]
    last = [line["environments"]["E_CART"]["success"] for line in lines[-WINDOW:]]
    assert one["recent"]["success"] == pytest.approx(sum(last) / WINDOW)
    assert one["recent"]["hallucination"] is None


def test_without_the_curriculums_log_windows_come_from_the_metrics():
    lines, log = dapo_runs()
    with_log, without = (build(RUN, lines, entries).data["environments"] for entries in (log, []))
    assert [one["curves"]["window"] for one in with_log] == [one["curves"]["window"] for one in without]


def test_reward_parts_are_means_over_rollouts_of_all_environments():
    environments = {
        "E_CART": {"rollouts": 30, "task": 1.0},
        "E_PD": {"rollouts": 10, "task": 0.0},
        "E_SUB": {"rollouts": 5, "task": None},
    }
    report = build(RUN, [{"stage": "dapo", "step": 0, "environments": environments}])
    assert report.data["stages"]["dapo"]["curves"]["task"]["value"] == [0.75]


def test_updates_that_share_a_batch_count_for_its_time():
    batch = {"stage": "dapo", "step": 0, "batch": {"rollouts": 8}, "seconds": {"step": 10.0, "environment": 2.0}}
    update = {"stage": "dapo", "step": 1, "batch": None, "seconds": {"step": 10.0, "environment": None, "update": 9.0}}
    unknown = {"stage": "dapo", "step": 2, "batch": {"rollouts": 8}, "seconds": {"step": 99.0, "environment": None}}
    time = build(RUN, [batch, update, unknown]).data["time"]
    assert (time["steps"], time["seconds_per_step"]) == (2, 10.0)
    assert time["parts"]["environment"]["share"] == pytest.approx(0.1)
    assert time["parts"]["rest"]["share"] == pytest.approx(0.45)


def test_an_update_without_a_batch_is_no_batch_that_took_no_time():
    seconds = {"step": 10.0, "environment": 1.0, "generation": 5.0, "update": 4.0}
    lines = [
        {"stage": "dapo", "step": 0, "batch": {"rollouts": 8}, "seconds": seconds},
        {"stage": "dapo", "step": 1, "batch": None, "seconds": seconds | {"environment": 0.0, "generation": 0.0}},
    ]
    curves = build(RUN, lines).data["stages"]["dapo"]["curves"]
    assert (curves["environment"]["step"], curves["environment_share"]["value"]) == ([0], [0.1])
    assert curves["seconds"]["step"] == [0, 1]


def test_shares_and_rates_are_of_what_they_say():
    batch = {"groups": 40, "groups_without_variance": 10, "own_tokens": 50.0, "rollouts": 16}
    line = {"stage": "dapo", "step": 0, "batch": batch, "seconds": {"generation": 4.0, "step": 8.0}}
    curves = build(RUN, [line]).data["stages"]["dapo"]["curves"]
    assert curves["without_variance"]["value"] == [0.25]
    assert curves["tokens_per_second"]["value"] == [200.0]
    assert "environment_share" not in curves


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400))
def test_moving_means_stay_among_the_values_and_end_with_the_last_ones(values):
    means = moving_mean(values)
    assert len(means) == len(values)
    slack = 1e-6 * (1 + max(map(abs, values)))
    assert all(min(values) - slack <= mean <= max(values) + slack for mean in means)
    assert min(values) - slack <= min(ends(values)) <= max(ends(values)) <= max(values) + slack
    if len(values) >= 10 * WINDOW:
        assert means[-1] == pytest.approx(ends(values)[1], abs=slack)


# --- runs that are odd -----------------------------------------------------------------------------------------------


def test_a_run_without_a_step_says_so():
    report = build(RUN, [])
    assert report.data["summary"] == ["The run has made no step yet."]
    assert "no step yet" in printed(report)
    page = Page(to_html(report))
    assert "no step yet" in page.shown
    assert "svg" not in [tag for tag, _ in page.elements]
    assert len(to_csv(report).splitlines()) == 1


def test_a_run_of_fine_tuning_only_shows_that():
    report = build(RUN, sft_lines())
    assert list(report.data["stages"]) == ["sft"]
    assert report.data["time"] is None
    assert "Supervised fine-tuning" in printed(report)
    assert "DAPO" not in " ".join(report.data["summary"])
    assert [tag for tag, _ in Page(to_html(report)).elements].count("svg") == 5


def test_a_run_that_is_going_on_says_how_far_it_is():
    lines, log = dapo_runs(steps=10)
    summary = build(RUN, lines, log).data["summary"]
    assert any(sentence.startswith("DAPO, 10 of 60 steps") for sentence in summary)
    assert summary[-1].startswith("There is no final model yet")


@pytest.mark.parametrize("line", [{"stage": "dapo", "step": 0}, {"stage": "sft", "step": 0}])
def test_a_line_of_which_nothing_is_known_is_a_step_all_the_same(line):
    report = build(RUN, [line])
    assert "1 of" in report.data["summary"][0]
    assert printed(report)
    assert to_html(report)
    assert json.loads(to_json(report))["headline"]["steps"] == {line["stage"]: 1}


def test_a_single_step_is_drawn_as_a_point():
    lines, log = dapo_runs(("E_CART",), 1)
    page = Page(to_html(build(RUN, lines, log)))
    drawn, points = ([tag for tag, _ in page.elements].count(name) for name in ("svg", "circle"))
    assert 0 < drawn <= points


def test_figures_that_are_no_numbers_are_a_warning():
    lines = [{"stage": "dapo", "step": step, "not_finite": ("loss",)} for step in range(9)]
    (warning,) = build(RUN, lines).data["warnings"]
    assert "NaN" in warning
    assert "dapo 0 (loss)" in warning
    assert "and 4 more" in warning


def test_lines_that_were_skipped_are_told_everywhere():
    report = build(RUN, sft_lines(), [], ["metrics.jsonl, line 9: torn; skipped"])
    assert report.data["warnings"] == ["1 line could not be read and is left out."]
    assert "1 line could not be read" in printed(report)
    assert "line 9: torn" in Page(to_html(report)).shown


def test_many_environments_are_summed_up():
    log = [LogEntry(step=0, env_id=f"E_{number}", low=0, high=number, success=None) for number in range(8)]
    lines = [{"stage": "dapo", "step": 0}]
    assert "8 environments reached d = 0 (E_0) to d = 7 (E_7)." in build(RUN, lines, log).data["summary"]
    alike = [entry.model_copy(update={"high": 3}) for entry in log]
    assert "8 environments reached d = 3." in build(RUN, lines, alike).data["summary"]


# --- what it looks like ----------------------------------------------------------------------------------------------


def test_the_page_needs_no_script_and_no_request(whole):
    page = Page(to_html(whole))
    tags = {tag for tag, _ in page.elements}
    assert not {"script", "img", "iframe", "object", "embed", "base", "a", "form"} & tags
    assert [attrs["href"] for tag, attrs in page.elements if tag == "link"] == ["data:,"]
    policies = [attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv")]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "prefers-color-scheme: dark" in to_html(whole)


def test_every_environment_has_a_card_and_every_drawing_says_what_it_shows(whole):
    page = Page(to_html(whole))
    assert [tag for tag, _ in page.elements].count("article") == 2
    labels = [attrs["aria-label"] for tag, attrs in page.elements if tag == "svg"]
    assert len(labels) > 20
    assert all("at step" in label for label in labels)


def test_the_page_draws_nothing_outside_of_its_drawings(whole):
    for tag, attrs in Page(to_html(whole)).elements:
        if tag == "path":
            numbers = attrs["d"].replace("M", " ").replace("L", " ").replace("H", " 0 ").replace("Z", "").split()
            assert all(0 <= float(number) <= 340 for number in numbers)


def test_names_are_text_everywhere():
    lines, _ = dapo_runs(("E_CART",), 2)
    lines = [line | {"environments": {HOSTILE: line["environments"]["E_CART"]}} for line in lines]
    run = RUN | {"name": HOSTILE, "command": HOSTILE, "preset": HOSTILE, "config": {"model": HOSTILE}}
    report = build(run, lines, [], [HOSTILE])
    page = Page(to_html(report))
    assert not {"script", "img"} & {tag for tag, _ in page.elements}
    assert page.shown.count(HOSTILE) >= 4
    assert HOSTILE in printed(report)


def test_files_are_whole_and_say_the_same(whole, tmp_path):
    files = write(whole, tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["report.csv", "report.html", "report.json"]
    data = json.loads(files["json"].read_text(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert len(rows) == 30 + 60
    rewards = [float(row["reward"]) for row in rows if row["stage"] == "dapo"]
    assert rewards == data["stages"]["dapo"]["curves"]["reward"]["value"]
    assert {row["reward"] for row in rows if row["stage"] == "sft"} == {""}
    own = [float(row["E_CART.success"]) for row in rows if row["stage"] == "dapo"]
    assert own == data["environments"][0]["curves"]["success"]["value"]


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_few_and_reach_from_end_to_end(low, size):
    high = low + size
    if high > low + 1e-9 * abs(low):
        ticks = nice_ticks(low, high)
        assert 2 <= len(ticks) <= 7
        slack = 1e-6 * size + 1e-9 * abs(low)
        assert ticks[0] <= low + slack
        assert ticks[-1] >= high - slack


@given(
    st.dictionaries(st.integers(0, 10**6), st.floats(-1e6, 1e6), min_size=1, max_size=400),
    st.sampled_from(["share", "number", "count", "seconds"]),
    st.booleans(),
)
def test_any_numbers_can_be_drawn(points, unit, zero):
    steps = sorted(points)
    values = [points[step] for step in steps]
    drawn = svg(Drawing("x", (Trace("y", "#123456", steps, values), Trace("z", "#123456", steps, values, faint=True)),
                        unit, zero=zero))  # fmt: skip
    assert "nan" not in drawn.lower()
    assert drawn.count('class="hint"') <= 60


def test_a_long_run_makes_no_larger_a_drawing():
    steps = list(range(5000))
    values = [step / 5000 for step in steps]
    short, long = (
        svg(Drawing("x", (Trace("y", "#123456", steps[:size], values[:size]),), "share")) for size in (160, 5000)
    )
    assert long.count('class="hint"') <= short.count('class="hint"') <= 60
    assert len(long) < 1.2 * len(short)
    assert "to 100.0 % at step 4,999" in long
