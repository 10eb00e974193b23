"""The report: its figures, what it warns of, and that no order of anything changes them."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from test_rows import evaluated, store

from ecomrlve.errors import EcomrlveError
from ecomrlve.evaluation.failures import CAUSES
from ecomrlve.evaluation.report import NothingToReportError, Report, build
from ecomrlve.evaluation.report_html import to_html
from ecomrlve.evaluation.report_pages import show, to_csv, to_json, to_markdown, write
from ecomrlve.evaluation.rows import Row, Rows, read_rows
from ecomrlve.evaluation.statistics import wilson
from ecomrlve.rewards import compose

ENVIRONMENTS = ("E_CART", "E_PD", "E_STATUS")


def row(agent: str = "one", correct: bool = True, **fields: Any) -> Row:
    """A row with figures that fit each other; any field may be given."""
    task = 1.0 if correct else -0.5
    plain: dict[str, Any] = {
        "agent": agent,
        "env_id": "E_CART",
        "difficulty": 0,
        "overrides": "{}",
        "seed": 0,
        "trial": 0,
        "correct": correct,
        "invalid": False,
        "task": task,
        "efficiency": 0.5,
        "hallucination": 0.0,
        "total": compose(task, 0.5, 0.0),
        "causes": () if correct else ("wrong product",),
        "catalog": "shop",
        "fingerprint": "abc",
        "search": "words",
        "engine": "1",
    }
    return Row(**plain | fields)


def synthetic(agents: tuple[str, ...] = ("one", "two"), seeds: int = 5, trials: int = 1, key: int = 0) -> list[Row]:
    """A grid in which agents fail at random, each for one of three causes."""
    drawn = random.Random(key)
    return [
        row(
            agent,
            right := drawn.random() < 0.7 - 0.2 * number,
            env_id=env_id,
            difficulty=d,
            seed=seed,
            trial=trial,
            causes=() if right else tuple(drawn.sample(sorted(CAUSES), 2)),
            tool_calls={"cart_add": 2, "catalog_search": 1},
            tool_errors={"out_of_stock": 1} if drawn.random() < 0.3 else {},
            turns=drawn.randint(1, 6),
            seconds=2.0,
            engine_seconds=0.5,
        )
        for number, agent in enumerate(agents)
        for env_id in ENVIRONMENTS
        for d in (0, 6, 12)
        for seed in range(seeds)
        for trial in range(trials)
    ]


def made(rows: list[Row], **options: Any) -> Report:
    return build(Rows(tuple(rows)), resamples=200, **options)


def entry(report: Report, table: str, **wanted: Any) -> dict[str, Any]:
    """The one entry of a list that fits."""
    found = [one for one in report.data[table] if all(one[key] == value for key, value in wanted.items())]
    assert len(found) == 1
    return found[0]


def printed(report: Report) -> str:
    console = Console(width=200, file=io.StringIO(), color_system=None)
    show(report, console)
    return console.file.getvalue()


# --- figures ---------------------------------------------------------------------------------------------------------


def test_the_headline_is_what_the_rows_say():
    rows = [
        row(seed=0, notes={"prompt_tokens": 100, "cost": 0.5, "problems": ["slow"]}, seconds=2.0, engine_seconds=1.0),
        row(
            seed=1, correct=False, tool_calls={"cart_add": 3}, tool_errors={"sold": 2}, seconds=2.0, engine_seconds=0.5
        ),
        row(seed=2, correct=False, invalid=True, total=-1.0, task=-1.0, efficiency=0.0, truncated=False),
        row(seed=3, correct=False, notes={"failed": "timed out"}, truncated=True, turns=4, causes=("budget",)),
    ]
    found = entry(made(rows), "by_agent", agent="one")
    low, high = wilson(1, 4)
    assert found["success"] == {"mean": 0.25, "low": low, "high": high}
    assert found["total"]["mean"] == pytest.approx(sum(one.total for one in rows) / 4)
    assert (found["episodes"], found["problems"], found["correct"], found["failed"]) == (4, 4, 1, 1)
    assert (found["invalid"], found["truncated"], found["turns"]) == (0.25, 0.25, 1)
    assert (found["tool_calls"], found["tool_errors"]) == (0.75, 0.5)
    assert found["notes"] == {
        "cost": {"sum": 0.5, "per_episode": 0.125},
        "prompt_tokens": {"sum": 100, "per_episode": 25},
    }
    assert (found["seconds"], found["engine_share"]) == (2, 1.5 / 4)


def test_contributions_add_up_to_the_mean_total():
    rows = [*synthetic(), row("one", False, seed=99, invalid=True, total=-1.0, task=-1.0, efficiency=0.0)]
    for table in ("by_agent", "by_environment", "by_difficulty", "grid"):
        for found in made(rows).data[table]:
            assert sum(found["contributions"].values()) == pytest.approx(found["total"]["mean"])


def test_repeated_trials_make_an_average_no_surer():
    once = [row(seed=seed, correct=seed % 3 == 0) for seed in range(12)]
    thrice = [replace(one, trial=trial) for one in once for trial in range(3)]
    alone, repeated = (entry(made(rows), "by_agent", agent="one") for rows in (once, thrice))
    assert (repeated["episodes"], repeated["problems"]) == (36, 12)
    for measure in ("success", "total"):
        assert repeated[measure] == pytest.approx(alone[measure])


def test_every_grouping_counts_every_episode():
    rows = [*synthetic(), *(replace(one, overrides='{"sellout":0}') for one in synthetic(("one",)))]
    report = made(rows)
    for table in ("by_agent", "by_environment", "by_difficulty", "curves", "grid"):
        assert sum(found["episodes"] for found in report.data[table]) == len(rows)
    assert len(report.data["grid"]) == 3 * 9
    assert len(report.data["curves"]) == 2 * 9
    assert any("different axis overrides" in note for note in report.data["notes"])


def test_causes_and_refusals_are_counted():
    rows = [
        row(seed=0),
        row(seed=1, correct=False, causes=("budget", "never found"), tool_errors={"sold": 2, "lost": 1}),
        row(seed=2, correct=False, causes=("never found",), env_id="E_PD", tool_errors={"sold": 1}),
        row(seed=3, correct=False, causes=("budget",)),
    ]
    report = made(rows)
    assert [(one["cause"], one["main"], one["mentioned"]) for one in report.data["causes"]] == [
        ("budget", 2, 2),
        ("never found", 1, 2),
    ]
    first = report.data["causes"][0]
    assert (first["share_of_failures"], first["share_of_episodes"]) == pytest.approx((2 / 3, 1 / 2))
    assert first["sentence"] == CAUSES["budget"]
    assert entry(report, "causes_by_environment", env_id="E_PD")["main"] == 1
    assert [(one["code"], one["count"]) for one in report.data["tool_errors"]] == [("sold", 3), ("lost", 1)]


def test_pass_hat_k_goes_up_to_the_most_trials():
    rows = [row(seed=0, trial=trial, correct=trial < 2) for trial in range(3)]
    rows += [row(seed=1, trial=trial) for trial in range(2)]
    found = made(rows).data["pass_hat_k"]
    assert [(one["k"], one["problems"], one["left_out"]) for one in found] == [(1, 2, 0), (2, 2, 0), (3, 1, 1)]
    assert [one["value"] for one in found] == pytest.approx([(2 / 3 + 1) / 2, (1 / 3 + 1) / 2, 0])
    assert made(synthetic()).data["pass_hat_k"] == []


def test_every_agent_is_compared_with_the_baseline_on_common_episodes():
    rows = [row("base", seed=seed, correct=False) for seed in range(6)]
    rows += [row("a", seed=seed) for seed in range(2, 9)]
    rows += [row("b", seed=seed, env_id="E_PD") for seed in range(3)]
    report = made(rows, baseline="base")
    assert {(one["agent"], one["env_id"], one["measure"]) for one in report.data["paired"]} == {
        ("a", env_id, measure) for env_id in (None, "E_CART") for measure in ("correct", "total")
    }
    found = entry(report, "paired", env_id=None, measure="correct")
    assert (found["problems"], found["difference"], found["p_value"]) == (4, 1, 0.125)
    assert entry(report, "paired", env_id=None, measure="total")["difference"] > 0
    assert any("b and base have no episode in common" in warning for warning in report.data["warnings"])
    assert made(rows).data["baseline"] == "a"
    with pytest.raises(NothingToReportError, match=r"nobody.*a, b, base"):
        made(rows, baseline="nobody")


def test_an_agent_against_itself_makes_no_difference():
    rows = synthetic(("one",))
    report = made([*rows, *(replace(one, agent="same") for one in rows)])
    for found in report.data["paired"]:
        assert (found["difference"], found["low"], found["high"], found["equal"]) == (0, 0, 0, 1)
        assert found["p_value"] in (1, None)


def test_no_episode_is_an_error_that_says_what_was_skipped():
    with pytest.raises(EcomrlveError, match=r"no episode.*torn line"):
        build(Rows((), ("torn line",)))


# --- what it warns of ------------------------------------------------------------------------------------------------


def everywhere(report: Report, words: str) -> None:
    """Whether all renderings that people read say it."""
    for text in (to_markdown(report), to_html(report), printed(report).replace("\n", " ")):
        assert words in text


def test_unequal_coverage_is_said_in_every_rendering():
    full = synthetic()
    everywhere(
        made([one for one in full if one.agent == "one" or one.difficulty < 12]), "Unequal coverage: two lacks 15"
    )
    assert not made(full).data["warnings"]


def test_what_makes_figures_doubtful_is_said_in_every_rendering():
    rows = [row(seed=0), row(seed=1), row(seed=0, trial=1), row("two", seed=0), row("two", seed=1, engine="2")]
    rows += [row(agent, seed=5, difficulty=6, notes={"failed": "no route"}) for agent in ("one", "two")]
    report = build(Rows(tuple(rows), ("a bad line",), 1))
    everywhere(report, "Unequal trials per problem: one 2, two 1")
    everywhere(report, "two gave no output in 1 of 3 episodes")
    everywhere(report, "several versions of the program: 1, 2")
    everywhere(report, "Uneven grid: two played from 1 to 2 episodes")
    everywhere(report, "contradict each other: 1")
    everywhere(report, "Averages are over episodes")


# --- determinism -----------------------------------------------------------------------------------------------------


def test_no_order_of_lines_or_folders_changes_a_byte(words_engine, tmp_path):
    trajectories = evaluated(words_engine, trials=2)
    whole = read_rows([store(tmp_path / "whole" / "traj-a.jsonl", trajectories)])
    random.Random(1).shuffle(trajectories)
    parts = [store(tmp_path / name / f"traj-{name}.jsonl", trajectories[n::2]).parent for n, name in enumerate("xy")]
    merged = read_rows(parts)
    first, second = (write(build(rows, resamples=500), rows, tmp_path / "out") for rows in (whole, merged))
    assert first == second
    texts = []
    for rows in (whole, merged):
        report = build(rows, resamples=500)
        texts.append([to_json(report), to_markdown(report), to_html(report), to_csv(rows), printed(report)])
    assert texts[0] == texts[1]
    reference = entry(build(whole, resamples=500), "by_agent", agent="reference")
    assert reference["success"]["mean"] == 1


def test_a_report_survives_json():
    report = made(synthetic(trials=2))
    again = Report(json.loads(to_json(report)))
    assert again == report
    assert to_html(again) == to_html(report)
    assert to_markdown(again) == to_markdown(report)
