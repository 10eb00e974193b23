"""The settings of a run: what cannot be is refused before a model is loaded, and what is stored comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.splits import split_of_seed
from ecomrlve.training.config import TrainingConfig, TrainingConfigError, changes_of, config_of
from ecomrlve.training.presets import PRESETS, preset
from ecomrlve.training.rows import draw_row, schedule_of


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_dapo(name):
    """What makes it DAPO is on in every preset: arXiv 2503.14476, sections 3.1 to 3.4."""
    config = preset(name)
    assert (config.clip_low, config.clip_high, config.kl) == (0.2, 0.28, 0)
    assert config.token_level_loss
    assert config.dynamic_sampling
    assert config.overlong_filtering
    assert config.overlong_weight > 0
    assert config.overlong_buffer > 0


def test_the_published_run():
    config = preset("qwen3-8b-c1")
    assert (config.model, config.env_ids, config.group_size) == ("Qwen/Qwen3-8B", ("E_CART",), 8)
    assert (config.learning_rate, config.steps) == (1e-5, 300)
    sizes = [len(preset(f"qwen3-8b-{name}").env_ids) for name in ("c1", "c2", "c4", "c8")]
    assert sizes == [1, 2, 4, 8]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_run_on_one_device_and_on_eight(name):
    assert preset(name).accumulation(1) >= 1
    if preset(name).model not in ("tiny", "small"):
        assert preset(name).accumulation(8) >= 1


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_stored_comes_back(name):
    assert config_of(json.loads(json.dumps(preset(name).model_dump(mode="json")))) == preset(name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stepz": 3}, "did you mean steps"),
        ({"steps": "many"}, "steps"),
        ({"envs": "E_CRAT"}, "E_CRAT"),
        ({"overrides": {"omision": 0.0}}, "omision"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"group_size": 1}, "group_size"),
        ({"keep_checkpoints": 1}, "keep_checkpoints"),
        ({"static_low": 3, "static_high": 2}, "static_low"),
        ({"overlong_buffer": 10_000}, "overlong_buffer"),
        ({"turn_tokens": 5000}, "turn_tokens"),
        ({"own_tokens": 20_000}, "own_tokens"),
        ({"prompts_per_batch": 1, "group_size": 3, "updates_per_batch": 2, "save_every": 2}, "updates_per_batch"),
        ({"updates_per_batch": 4, "save_every": 6}, "save_every"),
        ({"vllm": "perhaps"}, "vllm"),
    ],
)
def test_settings_that_cannot_be_are_named(changes, words):
    with pytest.raises(TrainingConfigError, match=words):
        config_of({"model": "x"}).changed(changes)


def test_a_preset_that_is_not_there():
    with pytest.raises(TrainingConfigError, match="tiny-cpu"):
        preset("tiny")


def test_settings_as_words():
    changes = changes_of(["steps=7", "overrides=omission=0, sellout=0.5", "envs=C2", "overlong_filtering=false"])
    config = preset("tiny-cpu").changed(changes)
    assert (config.steps, config.envs, config.overlong_filtering) == (7, "C2", False)
    assert config.overrides == {"omission": 0.0, "sellout": 0.5}
    for wrong in ("steps", "=3", "overrides=omission"):
        with pytest.raises(TrainingConfigError):
            preset("tiny-cpu").changed(changes_of([wrong]))


def test_a_batch_that_cannot_be_dealt_out_evenly():
    config = config_of({"model": "x", "prompts_per_batch": 4, "group_size": 8, "micro_batch": 4})
    assert config.accumulation(2) == 4
    with pytest.raises(TrainingConfigError, match="3 processes"):
        config.accumulation(3)
    with pytest.raises(TrainingConfigError, match="16 processes"):
        config.accumulation(16)


# --- rows ----------------------------------------------------------------------------------------------------------


def config_for(**changes: Any) -> TrainingConfig:
    return config_of({"model": "x", "envs": "C8", **changes})


@given(st.integers(0, 1000), st.integers(0, 10**6), st.integers(0, 500), st.integers(0, 3))
def test_rows_are_for_training_and_the_same_for_everybody(seed, step, number, attempt):
    row = draw_row(schedule_of(config_for(seed=seed)), seed, step, number, attempt)
    assert split_of_seed(row.seed) == "train"
    assert row == draw_row(schedule_of(config_for(seed=seed)), seed, step, number, attempt)


def test_rows_differ_and_give_each_environment_its_share():
    schedule = schedule_of(config_for(schedule="static", static_high=12))
    rows = [draw_row(schedule, 0, step, number) for step in range(20) for number in range(16)]
    assert len({row.seed for row in rows}) == len(rows)
    assert {row.env_id: sum(one.env_id == row.env_id for one in rows) for row in rows} == dict.fromkeys(
        config_for().env_ids, 40
    )
    assert {row.difficulty for row in rows} == set(range(13))
    firsts = {draw_row(schedule, 0, step, 0).env_id for step in range(20)}
    assert len(firsts) > 4, "no environment is always the first"


def test_another_attempt_is_another_problem_of_the_same_kind():
    schedule = schedule_of(config_for(schedule="static", static_high=12))
    rows = [draw_row(schedule, 0, 3, 5, attempt) for attempt in range(5)]
    assert len({row.seed for row in rows}) == 5
    assert len({(row.env_id, row.difficulty) for row in rows}) == 1


def test_the_schedule_has_the_settings_of_the_run():
    adaptive = schedule_of(config_for(min_episodes=7, threshold=0.8, width=2, seed=5)).to_dict()
    assert (adaptive["kind"], adaptive["min_episodes"], adaptive["threshold"]) == ("adaptive", 7, 0.8)
    assert (adaptive["width"], adaptive["seed"]) == (2, 5)
    static = schedule_of(config_for(schedule="static", static_low=2, static_high=4))
    assert static.window("E_CART") == (2, 4)
