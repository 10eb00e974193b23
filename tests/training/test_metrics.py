"""The lines of metrics.jsonl: strict to write, forgiving to read, and honest about figures that are none."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ecomrlve.training.metrics import (
    BatchMetrics,
    DapoMetrics,
    EnvironmentMetrics,
    SftMetrics,
    StepSeconds,
    read_metrics,
)

DAPO = {
    "stage": "dapo",
    "step": 7,
    "loss": 0.02,
    "grad_norm": 0.4,
    "learning_rate": 1e-5,
    "entropy": 0.3,
    "clip_low": 0.0,
    "clip_high": 0.01,
    "batch": {"rounds": 2, "groups": 24, "groups_without_variance": 9, "rollouts": 192, "reward": 0.41, "success": 0.6},
    "seconds": {"batch": 20.0, "generation": 18.0, "environment": 0.6, "update": 9.0, "step": 30},
    "environments": {"E_CART": {"rollouts": 96, "success": 0.75, "low": 0, "high": 4, "frontier_rollouts": 16}},
}


def test_a_line_of_the_format_is_read_with_all_its_parts():
    (line,), problems = read_metrics([json.dumps(DAPO)])
    assert problems == []
    assert isinstance(line, DapoMetrics)
    assert isinstance(line.batch, BatchMetrics)
    assert (line.batch.rounds, line.batch.groups_masked) == (2, None)
    assert isinstance(line.seconds, StepSeconds)
    assert line.seconds.step == 30.0
    assert line.environments is not None
    assert line.environments["E_CART"] == EnvironmentMetrics(
        rollouts=96, success=0.75, low=0, high=4, frontier_rollouts=16
    )


def test_of_a_steps_lines_the_last_counts_and_stages_do_not_mix():
    lines = [
        DapoMetrics(step=1, loss=1.0),
        SftMetrics(step=1, loss=2.0),
        DapoMetrics(step=0, loss=3.0),
        DapoMetrics(step=1, loss=4.0),
    ]
    found, problems = read_metrics(line.to_json() for line in lines)
    assert [(line.stage, line.step, line.loss) for line in found] == [
        ("sft", 1, 2.0),
        ("dapo", 0, 3.0),
        ("dapo", 1, 4.0),
    ]
    assert problems == []


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"stage":"dapo","step":3,"lo', "JSON"),
        ("[1]", "line 2"),
        ('{"step":3}', "stage"),
        ('{"stage":"ppo","step":3}', "ppo"),
        ('{"stage":"sft"}', "step"),
        ('{"stage":"sft","step":-1}', "step"),
        ('{"stage":"sft","step":true}', "step"),
        ('{"stage":"sft","step":1,"loss":"0.5"}', "loss"),
        ('{"stage":"dapo","step":1,"batch":{"success":1.5}}', "batch.success"),
        ('{"stage":"dapo","step":1,"environments":{"E_CART":{"rollouts":1,"high":13}}}', "E_CART.high"),
    ],
)
def test_a_bad_line_is_named_and_costs_no_other(line, named):
    good = SftMetrics(step=0, loss=1.0)
    found, (problem,) = read_metrics([good.to_json(), line, ""])
    assert found == [good]
    assert problem.startswith("line 2: ")
    assert named in problem


def test_fields_that_are_not_known_are_ignored():
    (line,), problems = read_metrics(['{"stage":"sft","step":0,"loss":1.0,"weather":"fine"}'])
    assert (line, problems) == (SftMetrics(step=0, loss=1.0), [])


@pytest.mark.parametrize("fields", [{"step": "1"}, {"step": 1, "loss": "1"}, {"step": 1, "token_accuracy": 2.0}])
def test_who_writes_is_held_to_the_types(fields):
    with pytest.raises(ValidationError):
        SftMetrics(**fields)


def test_a_figure_that_is_no_number_is_stored_as_null_and_named():
    line = DapoMetrics(step=3, loss=math.nan, grad_norm=math.inf, batch={"reward": -math.inf, "rollouts": 4})
    assert (line.loss, line.grad_norm) == (None, None)
    assert line.not_finite == ("loss", "grad_norm", "batch.reward")
    stored = json.loads(line.to_json(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert stored["batch"]["reward"] is None
    assert read_metrics([line.to_json()]) == ([line], [])


def test_nan_in_a_file_that_others_wrote_is_named_as_well():
    (line,), problems = read_metrics(['{"stage":"sft","step":0,"loss":NaN}'])
    assert (line.loss, line.not_finite, problems) == (None, ("loss",), [])


_numbers = st.none() | st.floats(width=32)
_amounts = st.none() | st.floats(min_value=0)


@given(
    st.builds(SftMetrics, step=st.integers(0, 2**53 - 1), loss=_numbers, grad_norm=_amounts, seconds=_amounts)
    | st.builds(
        DapoMetrics,
        step=st.integers(0, 2**53 - 1),
        loss=_numbers,
        clip_high=st.none() | st.floats(0, 1),
        batch=st.none() | st.builds(BatchMetrics, rounds=st.none() | st.integers(0, 99), own_tokens=st.none()),
        environments=st.none() | st.dictionaries(st.text(min_size=1, max_size=8), st.builds(EnvironmentMetrics)),
    )
)
def test_what_is_written_is_read(line):
    text = line.to_json()
    assert "\n" not in text
    assert read_metrics([text]) == ([line], [])
