"""The command `train`, small and for real: fine-tuning, then DAPO, killed and gone on with; refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ecomrlve.cli import app
from ecomrlve.errors import EcomrlveError
from ecomrlve.replay import load_trajectories
from ecomrlve.training.run_folder import RunFolder, RunFolderError

pytest.importorskip("trl")
# Enough to run through everything: a model that is a quarter of the preset's, and turns of a few words.
SMALLER = ("model=tiny-random", "sft_episodes=4", "turn_tokens=8", "own_tokens=32", "overlong_buffer=16")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def train(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ECOMRLVE_CACHE", str(cache))

    def given(*words: str, changes: tuple[str, ...] = SMALLER) -> Any:
        settings = [word for change in changes for word in ("--set", change)]
        return CliRunner().invoke(app, ["train", "--preset", "tiny-cpu", "--words-only", *settings, *words])

    return given


@pytest.mark.parametrize("envs", ["C1", "C8"])
def test_fine_tuning_then_dapo(train, envs, tmp_path):
    folder = RunFolder(tmp_path / "run")
    more = (
        f"envs={envs}", "prompts_per_batch=8", "group_size=2", "context_tokens=16000", "sft_tokens=4000", "steps=1",
        "most_rounds=1", "sft_episodes=8",
    )  # fmt: skip
    done = train("--out", str(folder.path), changes=(*SMALLER, *more))
    assert done.exit_code == 0, done.output
    assert "tiny-cpu" in done.output
    lines, problems = folder.metrics()
    assert not problems
    assert [(line.stage, line.step) for line in lines] == [("sft", 0), ("sft", 1), ("dapo", 0)]
    assert all(line.loss is not None and math.isfinite(line.loss) for line in lines)
    played = {env_id for line in lines[2:] for env_id in line.environments}
    assert len(played) == int(envs[1:])
    entries, _ = folder.curriculum()
    assert len(entries) == len(played)
    saved = json.loads((folder.last_checkpoint("dapo") / "curriculum.json").read_text())
    assert set(saved["environments"]) == played
    assert (folder.sft_model / "config.json").exists()
    assert (folder.final_model / "config.json").exists()
    records, problems = load_trajectories(folder.trajectories)
    assert records
    assert not problems


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_been(train, tmp_path, monkeypatch):
    """Killed in the middle of fine-tuning, then in the middle of DAPO."""
    from ecomrlve.training.dapo import DapoTrainer
    from ecomrlve.training.sft import _Trainer

    whole, broken = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "broken")
    assert train("--out", str(whole.path)).exit_code == 0
    for kind in (_Trainer, DapoTrainer):
        step = kind.training_step

        def killed(self: Any, *given: Any, step: Any = step, **more: Any) -> Any:
            if self.state.global_step == 1:
                raise KeyboardInterrupt
            return step(self, *given, **more)

        with monkeypatch.context() as patch:
            patch.setattr(kind, "training_step", killed)
            assert train("--out", str(broken.path), "--resume").exit_code != 0
    assert [path.name for path in broken.checkpoints("dapo")] == ["checkpoint-1"]
    assert not broken.final_model.exists()
    done = train("--out", str(broken.path), "--resume")
    assert done.exit_code == 0, done.output
    expected, _ = whole.metrics()
    found, _ = broken.metrics()
    assert [(line.stage, line.step) for line in found] == [(line.stage, line.step) for line in expected]
    assert [line.loss for line in found] == pytest.approx([line.loss for line in expected], abs=1e-5)
    drawn = [
        [(record["env_id"], record["difficulty"], record["seed"]) for record in load_trajectories(run.trajectories)[0]]
        for run in (whole, broken)
    ]
    assert set(drawn[0]) == set(drawn[1])
    assert (whole.curriculum()[0]) == (broken.curriculum()[0])


def test_a_finished_run_is_left_as_it_is(train, tmp_path):
    words = ("--out", str(tmp_path / "run"), "--stage", "dapo", "--set", "steps=1")
    assert train(*words).exit_code == 0
    before = (tmp_path / "run" / "metrics.jsonl").read_bytes()
    again = train(*words)
    assert isinstance(again.exception, RunFolderError)
    assert "resume" in str(again.exception)
    assert train(*words, "--resume").exit_code == 0
    assert (tmp_path / "run" / "metrics.jsonl").read_bytes() == before
    other = train(*words, "--resume", "--set", "learning_rate=0.5")
    assert isinstance(other.exception, RunFolderError)
    assert "learning_rate" in str(other.exception)
    assert train(*words, "--resume", "--set", "samples=7").exit_code == 0, "what changes nothing that is learned may"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "x", "--set", "stepz=3"], "did you mean steps"),
        (["--out", "x", "--set", "steps"], "name=value"),
        (["--out", "x", "--set", "micro_batch=3"], "micro_batch"),
        (["--out", "x", "--set", "steps=0", "--set", "sft_steps=0"], "nothing to do"),
        (["--out", "x", "--model", "/there/is/none", "--stage", "dapo"], "/there/is/none"),
        (["--out", "x", "--model", "small", "--stage", "dapo"], "demonstrations"),
        ([], "--out"),
    ],
)
def test_refusals_say_what_to_do(train, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = train(*words, changes=())
    assert done.exit_code != 0
    assert said in " ".join(f"{done.output} {done.exception}".split())
    assert isinstance(done.exception, SystemExit | EcomrlveError)


def test_presets_and_settings_are_listed(train):
    listed = CliRunner().invoke(app, ["train", "--presets"])
    assert "qwen3-8b-c1" in listed.output
    shown = CliRunner().invoke(app, ["train", "--settings"])
    assert "clip_high" in shown.output
    unknown = CliRunner().invoke(app, ["train", "--preset", "huge", "--out", "x"])
    assert unknown.exit_code != 0
    assert "tiny-cpu" in str(unknown.exception)
