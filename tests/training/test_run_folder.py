"""A training run's folder: whose it is, what a kill leaves of it, and which checkpoint to go on from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.curriculum import LogEntry
from ecomrlve.errors import EcomrlveError
from ecomrlve.training.metrics import DapoMetrics, SftMetrics
from ecomrlve.training.run_folder import RunFolder, RunFolderError, RunRecord, is_training_run


def record(**fields: Any) -> RunRecord:
    plain: dict[str, Any] = {
        "name": "small",
        "preset": "tiny-cpu",
        "stage": "all",
        "config": {"learning_rate": 1e-5, "group_size": 8, "curriculum": {"min_episodes": 64}},
        "engine": "1",
        "catalog": {"name": "shop", "fingerprint": "abc", "search": "words"},
        "libraries": {"torch": "2"},
        "command": "ecomrlve train --preset tiny-cpu",
        "started": "2026-01-01T00:00:00+00:00",
        "processes": 1,
    }
    return RunRecord(**plain | fields)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "runs" / "one")
    folder.create(record())
    return folder


def checkpoint(run: RunFolder, step: int, *, complete: bool = True) -> Path:
    folder = run.checkpoint_folder("dapo") / f"checkpoint-{step}"
    (folder / "inner").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"w" * 100)
    (folder / "inner" / "curriculum.json").write_text("{}")
    if complete:
        run.mark_complete(folder)
    return folder


# --- whose folder it is ----------------------------------------------------------------------------------------------


def test_a_new_run_is_written_down_and_recognised(run):
    assert run.record() == record()
    assert json.loads(run.record_file.read_text())["kind"] == "training"
    assert is_training_run(run.path)
    assert [path.name for path in run.path.iterdir()] == ["run.json"]


def test_an_empty_folder_will_do(tmp_path):
    RunFolder(tmp_path).create(record())
    assert is_training_run(tmp_path)


def test_a_run_does_not_start_over_another_one(run):
    with pytest.raises(RunFolderError, match=r"holds the run 'small'.*resume"):
        run.create(record(name="other"))
    assert run.record().name == "small"


def test_a_run_does_not_start_among_other_things(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    for resume in (False, True):
        with pytest.raises(RunFolderError, match=r"thesis\.tex"):
            RunFolder(tmp_path).create(record(), resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(EcomrlveError, match="cannot be a run's folder"):
        RunFolder(tmp_path / "run").create(record())


def test_a_resumed_run_keeps_its_first_record(run):
    again = record(command="ecomrlve train --resume", started="2026-02-02T00:00:00+00:00", processes=4)
    assert run.create(again, resume=True) == record()
    assert run.record() == record()


def test_resuming_where_nothing_is_begins(tmp_path):
    folder = RunFolder(tmp_path / "new")
    assert folder.create(record(), resume=True) == folder.record() == record()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"config": record().config | {"group_size": 16}}, "config.group_size was 8, is 16"),
        ({"config": record().config | {"curriculum": {"min_episodes": 128}}}, "min_episodes was 64, is 128"),
        ({"config": record().config | {"temperature": 1.0}}, "config.temperature is new"),
        ({"config": {"learning_rate": 1e-5, "group_size": 8}}, "config.curriculum is missing now"),
        ({"config": record().config | {"group_size": True}}, "config.group_size was 8, is true"),
        ({"stage": "sft"}, 'stage was "all", is "sft"'),
        ({"catalog": record().catalog | {"fingerprint": "xyz"}}, 'catalog.fingerprint was "abc", is "xyz"'),
    ],
)
def test_a_run_does_not_go_on_with_other_settings(run, fields, told):
    with pytest.raises(RunFolderError, match="cannot be resumed") as caught:
        run.create(record(**fields), resume=True)
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "training"}', '{"kind": "evaluation", "version": 1}'])
def test_a_record_that_is_none_is_told(run, text):
    run.record_file.write_text(text)
    with pytest.raises(RunFolderError, match="is no training run's record"):
        run.record()
    assert is_training_run(run.path) is ('"training"' in text)


@pytest.mark.parametrize(("stage", "last"), [("sft", "sft"), ("dapo", "final"), ("all", "final")])
def test_a_run_is_finished_when_its_last_model_is_there(tmp_path, stage, last):
    run = RunFolder(tmp_path)
    run.create(record(stage=stage))
    for name in ("sft", "final"):
        (run.path / name).mkdir()
    assert not run.finished
    (run.path / last / "config.json").write_text("{}")
    assert run.finished


def test_a_folder_without_a_record_is_no_run(tmp_path):
    assert not is_training_run(tmp_path)
    with pytest.raises(RunFolderError, match="holds no run"):
        RunFolder(tmp_path).record()


# --- lines -----------------------------------------------------------------------------------------------------------


def test_a_run_without_a_step_has_no_lines_and_no_problem(run):
    assert run.metrics() == ([], [])
    assert run.curriculum() == ([], [])


def test_lines_come_back_and_the_last_of_a_step_counts(run):
    for loss in (1.0, 2.0):
        run.append_metrics(SftMetrics(step=5, loss=loss))
    run.append_metrics(DapoMetrics(step=0))
    entries = [LogEntry(step=0, env_id=env_id, low=0, high=2, success=0.5) for env_id in ("E_CART", "E_PD")]
    run.append_curriculum(entries)
    run.append_curriculum([])
    assert run.metrics() == ([SftMetrics(step=5, loss=2.0), DapoMetrics(step=0)], [])
    assert run.curriculum() == (entries, [])


@given(st.integers(min_value=1, max_value=200))
def test_a_torn_line_costs_itself_only(tmp_path_factory, torn):
    run = RunFolder(tmp_path_factory.mktemp("run"))
    run.append_metrics(SftMetrics(step=0, loss=1.0))
    whole = run.metrics_file.read_bytes()
    run.metrics_file.write_bytes(whole + SftMetrics(step=1, loss=0.5).to_json().encode()[: min(torn, 60)])
    run.append_metrics(SftMetrics(step=2, loss=0.25))
    found, problems = run.metrics()
    assert [line.step for line in found] == [0, 2]
    assert len(problems) == 1
    assert problems[0].startswith("metrics.jsonl, line 2: ")


def test_lines_outlive_a_process_that_is_killed(run):
    script = (
        "import os, signal, sys\n"
        "from ecomrlve.training.metrics import SftMetrics\n"
        "from ecomrlve.training.run_folder import RunFolder\n"
        "RunFolder(sys.argv[1]).append_metrics(SftMetrics(step=0, loss=1.0))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(run.path)], check=False, capture_output=True)
    assert ended.returncode == -9, ended.stderr
    assert run.metrics() == ([SftMetrics(step=0, loss=1.0)], [])


def test_a_folder_that_is_gone_is_told(tmp_path):
    with pytest.raises(RunFolderError, match="cannot write to"):
        RunFolder(tmp_path / "gone").append_metrics(SftMetrics(step=0))


# --- checkpoints -----------------------------------------------------------------------------------------------------


def test_checkpoints_come_in_the_order_of_their_steps(run):
    made = [checkpoint(run, step) for step in (1000, 20, 300)]
    assert run.checkpoints("dapo") == [made[1], made[2], made[0]]
    assert run.last_checkpoint("dapo") == made[0]
    assert run.last_checkpoint("sft") is None


def test_a_checkpoint_counts_only_when_it_is_complete(run):
    first = checkpoint(run, 10)
    second = checkpoint(run, 20, complete=False)
    assert run.last_checkpoint("dapo") == first
    run.mark_complete(second)
    assert run.last_checkpoint("dapo") == second
    assert json.loads((second / "complete.json").read_text()) == {
        "step": 20,
        "files": {"model.safetensors": 100, "inner/curriculum.json": 2},
    }


@pytest.mark.parametrize("harm", ["cut", "lost", "torn mark", "odd mark"])
def test_a_checkpoint_that_was_harmed_later_does_not_count(run, harm):
    first, second = checkpoint(run, 10), checkpoint(run, 20)
    if harm == "cut":
        os.truncate(second / "model.safetensors", 50)
    elif harm == "lost":
        (second / "inner" / "curriculum.json").unlink()
    else:
        (second / "complete.json").write_text('{"step": 20, "fil' if harm == "torn mark" else '{"files": [1]}')
    assert run.checkpoints("dapo") == [first]


def test_only_a_checkpoint_can_be_completed(run):
    other = run.path / "notes"
    other.mkdir()
    (other / "a.txt").write_text("a")
    empty = run.checkpoint_folder("dapo") / "checkpoint-5"
    empty.mkdir(parents=True)
    for folder in (other, empty):
        with pytest.raises(RunFolderError, match="is no checkpoint"):
            run.mark_complete(folder)
        assert not (folder / "complete.json").exists()
