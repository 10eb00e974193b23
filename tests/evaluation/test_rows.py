"""From trajectories to rows: what is read, what is skipped, and that no order of lines or files matters."""

from __future__ import annotations

import copy
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.registry import make_agent
from ecomrlve.environment import Environment
from ecomrlve.errors import TrajectoryError
from ecomrlve.evaluation.failures import CAUSES
from ecomrlve.evaluation.rows import MixedCatalogsError, read_rows, row_of

ENVIRONMENTS = ("E_STATUS", "E_POLICY", "E_CART")


def evaluated(engine: Any, agents: tuple[str, ...] = ("reference", "random"), trials: int = 1) -> list[dict[str, Any]]:
    """Real trajectories as a runner leaves them, through JSON."""
    found = []
    for env_id in ENVIRONMENTS:
        env = Environment((env_id,), engine)
        for name in agents:
            for d in (0, 5):
                for seed in (1, 2):
                    play(env, make_agent(name), seed, d)
                    for trial in range(trials):
                        data = env.trajectory(name).to_dict()
                        notes = {"prompt_tokens": 10 * seed, "problems": ["slow"]} if name == "random" else {}
                        seconds = {"seconds": 0.5, "engine_seconds": 0.25}
                        data["evaluation"] = {"agent": name, "trial": trial, **seconds, "notes": notes}
                        found.append(json.loads(json.dumps(data)))
    return found


def store(path: Path, trajectories: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(data) + "\n" for data in trajectories), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trajectories(words_engine: Any) -> list[dict[str, Any]]:
    return evaluated(words_engine)


def changed(data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A copy with other fields; ``notes`` and ``trial`` go into its evaluation, ``total`` into its reward."""
    made = copy.deepcopy(data)
    for key, value in fields.items():
        place = {"notes": made["evaluation"], "trial": made["evaluation"], "total": made["reward"]}.get(key, made)
        place[key] = value
    return made


# --- one trajectory --------------------------------------------------------------------------------------------------


def test_a_row_holds_what_the_trajectory_says(trajectories):
    for data in trajectories:
        row = row_of(data)
        reward, steps = data["reward"], data["steps"]
        assert row.cell == (data["evaluation"]["agent"], data["env_id"], data["difficulty"], "{}", data["seed"], 0)
        assert (row.total, row.task, row.efficiency) == (reward["total"], reward["task"], reward["efficiency"])
        assert (row.correct, row.reason) == (reward["correct"], reward["reason"])
        assert (row.turns, row.user_turns) == (len(steps), reward["parts"]["user_turns"])
        assert row.parts == {key: reward["parts"][key] for key in reward["parts"] if key not in ("turns", "user_turns")}
        assert sum(row.tool_calls.values()) == sum(len(step["tool_results"]) for step in steps)
        assert (row.seconds, row.engine_seconds) == (0.5, 0.25)
        assert (row.terminated, row.truncated) == (data["terminated"], data["truncated"])
        assert (row.fingerprint, row.search) == (data["catalog"]["fingerprint"], data["catalog"]["search"])
        assert bool(row.causes) is not row.correct
        assert set(row.causes) <= set(CAUSES)
    rows = [row_of(data) for data in trajectories]
    assert {row.correct for row in rows if row.agent == "reference"} == {True}
    assert any(row.tool_errors for row in rows if row.agent == "random")


def test_an_invalid_output_is_told_from_a_bad_one(words_engine):
    env = Environment(("E_STATUS",), words_engine)
    env.reset(seed=1)
    env.step({"tool_calls": [{"name": "no_such_tool", "args": {}}]})
    row = row_of(env.trajectory("clumsy").to_dict())
    assert (row.agent, row.trial, row.invalid, row.total, row.turns) == ("clumsy", 0, True, -1, 1)
    assert row.causes[0] == "invalid call"
    assert row.seconds is None


def test_overrides_are_one_text_however_they_are_written(trajectories):
    texts = {
        row_of(changed(trajectories[0], overrides=overrides)).overrides
        for overrides in ({"sellout": 0.0, "turn_budget": 6}, {"turn_budget": 6.0, "sellout": 0})
    }
    assert texts == {'{"sellout":0,"turn_budget":6}'}


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("reward", "total"), 2),
        (("reward", "total"), "0.5"),
        (("reward", "task"), float("nan")),
        (("reward", "correct"), 1),
        (("seed",), "7"),
        (("difficulty",), None),
        (("evaluation", "trial"), -1),
        (("evaluation", "seconds"), "fast"),
        (("overrides",), {"sellout": "none"}),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(trajectories, where, value):
    data = copy.deepcopy(trajectories[0])
    place = data
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    with pytest.raises(TrajectoryError, match=where[-1]):
        row_of(data)


def test_figures_that_no_average_could_bear_are_dropped(trajectories):
    data = copy.deepcopy(trajectories[0])
    data["reward"]["parts"] = {"f1": float("nan"), "cost": 10**400, "kept": True, "name": "x", "share": 0.5}
    assert row_of(data).parts == {"kept": 1, "share": 0.5}


# --- files -----------------------------------------------------------------------------------------------------------


def test_folders_and_files_merge_in_any_order(trajectories, tmp_path):
    whole = read_rows([store(tmp_path / "whole" / "traj-a.jsonl", trajectories).parent])
    mixed = trajectories[:]
    random.Random(5).shuffle(mixed)
    one = store(tmp_path / "one" / "traj-b.jsonl", mixed[:7])
    other = store(tmp_path / "other" / "traj-c.jsonl", mixed[7:])
    assert len(whole.rows) == len(trajectories)
    assert read_rows([one.parent, other.parent]) == whole
    assert read_rows([str(other), one, one.parent, other.parent]) == whole  # a file named twice is read once
    assert (whole.problems, whole.doubled) == ((), 0)


def test_broken_lines_are_named_and_skipped(trajectories, tmp_path):
    path = store(tmp_path / "traj-a.jsonl", trajectories[:2])
    broken = changed(trajectories[2], seed="seven")
    path.write_text(path.read_text() + json.dumps(broken) + "\n" + json.dumps(trajectories[3])[:500])
    found = read_rows([tmp_path])
    assert len(found.rows) == 2
    seed, torn = found.problems
    assert "seed" in seed
    assert broken["episode_id"] in seed
    assert "torn" in torn
    assert all("traj-a.jsonl" in problem for problem in found.problems)


def test_of_two_records_the_first_that_did_not_fail_counts(trajectories, tmp_path):
    fine, other = trajectories[0], trajectories[1]
    failed = changed(fine, notes={"failed": "timed out"}, total=-0.5)
    store(tmp_path / "traj-a.jsonl", [failed, other])
    store(tmp_path / "traj-b.jsonl", [fine, changed(failed, total=-0.75), other])
    found = read_rows([tmp_path])
    by_cell = {row.cell: row for row in found.rows}
    assert by_cell[row_of(fine).cell] == row_of(fine)
    assert (len(found.rows), found.doubled, found.problems) == (2, 3, ())
    alone = read_rows([store(tmp_path / "failed" / "traj-a.jsonl", [failed])]).rows[0]
    assert alone.failed
    assert alone.total == -0.5


def test_records_of_a_cell_that_contradict_each_other_are_named(trajectories, tmp_path):
    fine = trajectories[0]
    store(tmp_path / "traj-a.jsonl", [fine, changed(fine, total=-0.125), changed(fine, trial=1)])
    found = read_rows([tmp_path])
    assert [row.total for row in found.rows] == [fine["reward"]["total"]] * 2
    assert found.doubled == 1
    assert "-0.125" in found.problems[0]
    assert f"seed {fine['seed']}" in found.problems[0]


@pytest.mark.parametrize(("key", "value"), [("fingerprint", "fedcba"), ("search", "other words")])
def test_different_catalogs_do_not_mix(trajectories, tmp_path, key, value):
    foreign = changed(trajectories[1], catalog={**trajectories[1]["catalog"], key: value})
    store(tmp_path / "traj-a.jsonl", [trajectories[0], foreign])
    with pytest.raises(MixedCatalogsError) as caught:
        read_rows([tmp_path])
    assert value in str(caught.value)
    assert trajectories[0]["catalog"][key] in str(caught.value)


def test_nothing_at_a_path_is_an_error(tmp_path):
    with pytest.raises(TrajectoryError, match="nowhere"):
        read_rows([tmp_path / "nowhere"])
    assert read_rows([tmp_path]).rows == ()


def test_memory_grows_by_rows_and_not_by_trajectories(trajectories, tmp_path):
    """A hundred thousand episodes must take less than a gigabyte: ten kilobytes for each."""
    longest = max(trajectories, key=lambda data: len(json.dumps(data)))
    count = 100
    path = store(tmp_path / "traj-a.jsonl", [changed(longest, seed=seed) for seed in range(count)])
    tracemalloc.start()
    found = read_rows([path])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.rows) == count
    assert kept / count < 5_000
    assert peak - kept < 20 * len(json.dumps(longest))
