"""The log of a run's windows: what is written, and that a reader survives whatever a file holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.curriculum import Curriculum, LogEntry, Outcome, read_log


def test_what_a_batch_did_is_a_line_of_the_log() -> None:
    curriculum = Curriculum("C2", min_episodes=4)
    batch = [Outcome("E_CART", 0, correct) for correct in (True, False, True, True)]
    lines = [progress.log_entry(7).model_dump_json() for progress in curriculum.finish_batch(batch)]
    assert [json.loads(line) for line in lines] == [
        {"step": 7, "env_id": "E_CART", "low": 0, "high": 0, "success": 0.75},
        {"step": 7, "env_id": "E_SUB", "low": 0, "high": 0, "success": None},
    ]
    assert read_log(lines) == ([LogEntry.model_validate_json(line) for line in lines], [])


def line(**changes: Any) -> str:
    return json.dumps({"step": 0, "env_id": "E_CART", "low": 0, "high": 1, "success": 0.5} | changes)


def test_a_log_is_sorted_by_environment_and_step_and_the_last_line_for_a_step_counts() -> None:
    lines = [line(step=2), line(env_id="E_PD"), line(step=1), "", line(step=2, high=2), line(more="field")]
    entries, problems = read_log(lines)
    assert problems == []
    assert [(e.env_id, e.step, e.high) for e in entries] == [
        ("E_CART", 0, 1),
        ("E_CART", 1, 1),
        ("E_CART", 2, 2),
        ("E_PD", 0, 1),
    ]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('{"step": 1, "env_id"', "JSON"),
        (b'{"step": "\xff"}', "line 2"),
        ("[1]", "object"),
        (line(step=-1), "step"),
        (line(step=1.5), "step"),
        (line(step="1"), "step"),
        (line(step=True), "step"),
        (line(env_id=""), "env_id"),
        (line(env_id="E" * 41), "env_id"),
        (line(high=13), "high"),
        (line(low=2), "low 2 is above high 1"),
        (line(success=1.01), "success"),
        (line(success=float("nan")), "success"),
        ('{"step": 0, "env_id": "E_CART", "low": 0, "high": 1}', "success"),
    ],
)
def test_a_bad_line_of_a_log_is_reported_and_skipped(bad: Any, said: str) -> None:
    entries, (problem,) = read_log([line(), bad, line(step=1)])
    assert [entry.step for entry in entries] == [0, 1]
    assert problem.startswith("line 2: ")
    assert said in problem


@given(st.lists(st.one_of(st.text(max_size=40), st.binary(max_size=40))))
def test_no_file_is_too_odd_for_the_reader(lines: list[Any]) -> None:
    entries, problems = read_log(lines)
    assert len(entries) + len(problems) <= len(lines)
