"""The commands that measure agents: what they print and write, what they refuse, and with which exit code they end."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecomrlve import cli
from ecomrlve.evaluation import pool

Run = Callable[..., tuple[int, str, str]]
GRID = ("--envs", "E_CART,E_STATUS", "--difficulty", "0,6", "--words-only", "--workers", "1")


@pytest.fixture(autouse=True)
def quick_default(monkeypatch: pytest.MonkeyPatch, words_engine: Any) -> None:
    """The default catalog is there already."""
    monkeypatch.setattr(pool, "engine_of", lambda catalog, **options: words_engine)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: exit code, what it printed, what it complained about."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ecomrlve", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        code: Any = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_from_episodes_to_a_report_and_a_line_of_the_leaderboard(run: Run, tmp_path: Path):
    folder, board = tmp_path / "run", tmp_path / "board.jsonl"
    agents = ("--agent", "reference", "--agent", "random")
    code, out, err = run("evaluate", *agents, *GRID, "--seeds", "test:3", "--out", folder)
    assert code == 0, err
    assert "24 episodes played, 0 were there" in out
    assert "reference" in out
    assert "100" in out
    code, out, _ = run("evaluate", *agents, *GRID, "--seeds", "test:3", "--out", folder, "--quiet")
    assert code == 0
    assert out.strip() == f"0 episodes played, 24 were there; all in {folder}"
    code, out, _ = run("report", folder, "--recompute", *GRID[4:], "--out", tmp_path / "report")
    assert code == 0
    assert "24 trajectories executed again: 0 differ; 0 lines unreadable" in out
    assert sorted(file.suffix for file in (tmp_path / "report").iterdir()) == [".csv", ".html", ".json", ".md"]
    written = json.dumps(json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8")))
    assert "ecomrlve evaluate --agent reference" in written
    code, out, err = run("leaderboard", "entry", folder, "--out", board)
    assert code == 2
    assert "name one agent" in err
    for agent in ("reference", "random"):
        assert run("leaderboard", "entry", folder, "--agent", agent, "--out", board)[0] == 0
    code, out, _ = run("leaderboard", "entry", folder, "--agent", "random", "--out", board)
    assert (code, "has this line already" in out) == (0, True)
    assert len(board.read_text(encoding="utf-8").splitlines()) == 2
    code, out, err = run("leaderboard", "check", folder, "--file", board, "--agent", "random", "--words-only")
    assert code == 0, err
    assert "every figure is as claimed" in out
    code, out, _ = run("leaderboard", "show", board)
    assert code == 0
    assert out.index("reference") < out.index("random")


def test_what_was_edited_is_reported(run: Run, tmp_path: Path):
    run("evaluate", "--agent", "random", *GRID, "--seeds", "0:2", "--out", tmp_path, "--quiet")
    file = next(tmp_path.glob("traj-*.jsonl"))
    lines = file.read_text(encoding="utf-8").splitlines()
    data = json.loads(lines[0])
    data["reward"] |= {"total": 0.5}
    file.write_text("\n".join([json.dumps(data), *lines[1:]]) + "\n", encoding="utf-8")
    code, out, err = run("report", tmp_path, "--recompute", *GRID[4:])
    assert code == 1
    assert "1 differ" in out
    assert "reward.total: stored 0.5" in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--agent", "nobody"), "there is no agent 'nobody'"),
        (("--agent", "random", "--shard", "5/4"), "a shard is written as 2/4"),
        (("--agent", "random", "--seeds", "test:500"), "has 200 seeds"),
        (("--agent", "random", "--seeds", "test:x"), "test:50"),
        (("--agent", "random", "--seeds", "-1"), "seed must be"),
        (("--agent", "random", "--difficulty", "13"), "12"),
        (("--agent", "random", "--envs", "E_NOTHING"), "E_NOTHING"),
        (("--agent", "random", "--override", "sellout"), "sellout=0"),
        (("--agent", "random", "--override", "weather=1"), "weather"),
        (("--agent", "random", "--launcher", "slurm"), "there is no launcher 'slurm'"),
        (("--agent", "checkpoint:/no/such/folder?batch=x"), "batch"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, tmp_path: Path, arguments: tuple[str, ...], complaint: str):
    code, _, err = run("evaluate", "--out", tmp_path / "run", "--words-only", "--quiet", *arguments)
    assert code == 2
    assert complaint in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("run/traj-*"))


def test_a_report_on_nothing_is_refused(run: Run, tmp_path: Path):
    for path in (tmp_path / "nowhere", tmp_path):
        code, _, err = run("report", path)
        assert code == 2
        assert str(path) in err or "no episodes" in err.lower()
        assert "Traceback" not in err


def test_stored_episodes_are_executed_with_the_search_they_were_played_with(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words_engine: Any
):
    asked: list[bool] = []

    def engine_of(catalog: str, *, words_only: bool = False, progress: bool = True) -> Any:
        asked.append(words_only)
        return words_engine

    run("evaluate", "--agent", "random", *GRID, "--seeds", "test:1", "--out", tmp_path, "--quiet")
    run("leaderboard", "entry", tmp_path, "--out", tmp_path / "board")
    monkeypatch.setattr(pool, "engine_of", engine_of)
    for command in (
        ("report", tmp_path, "--recompute"),
        ("leaderboard", "check", tmp_path, "--file", tmp_path / "board"),
        ("replay", tmp_path, "--verify"),
    ):
        code, _, err = run(*command)
        assert code == 0, err
    assert asked == [True, True, True]
