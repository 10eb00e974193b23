"""The command `report` on a training run's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from test_training_report import RUN, dapo_runs, sft_lines
from typer.testing import CliRunner

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.cli.evaluations import report
from ecomrlve.environment import Environment
from ecomrlve.evaluation import pool
from ecomrlve.replay import TrajectoryStore
from ecomrlve.training.run_folder import RunFolder, RunRecord


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """The folder of a run that was killed while it wrote a line."""
    folder = RunFolder(tmp_path / "run")
    folder.create(RunRecord(**RUN))
    lines, log = dapo_runs(("E_CART",), 10)
    folder.metrics_file.write_text("".join(json.dumps(line) + "\n" for line in [*sft_lines(), *lines]) + '{"stage"')
    folder.append_curriculum(log)
    return folder


def reported(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(report)
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "200"})


def test_a_training_run_is_recognised_and_reported(run, tmp_path):
    result = reported(run.path, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "DAPO, 10 of 60 steps" in result.output
    assert "metrics.jsonl, line 41" in result.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.csv", "report.html", "report.json"]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["problems"]["count"] == 1


def test_a_finished_run_says_so(run):
    run.final_model.mkdir()
    (run.final_model / "config.json").write_text("{}")
    assert "The run is through" in reported(run.path).output


def test_a_training_run_is_not_mixed_with_others(run, tmp_path):
    result = reported(run.path, tmp_path)
    assert result.exit_code == 2
    assert "report on it alone" in result.output


def test_a_training_runs_episodes_are_executed_again(run, monkeypatch, words_engine):
    monkeypatch.setattr(pool, "engine_of", lambda catalog, **options: words_engine)
    env = Environment(("E_CART",), words_engine)
    play(env, ReferenceAgent(), 20001, 0)
    TrajectoryStore(run.trajectories).append(env.trajectory("small step 3", "agent").to_dict())
    result = reported(run.path, "--recompute", "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "1 trajectories executed again: 0 differ" in result.output
