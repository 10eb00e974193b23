from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from leaderboard_games import evaluated, lost, won, write

from components import leaderboard_runs
from components.leaderboard_counting import View, counted, score, standings
from components.leaderboard_runs import Runs, SubmissionError
from ecomrlve.evaluation.leaderboard import check_entry, make_entry


@pytest.fixture(scope="module")
def episodes(words_engine: Any) -> list[dict[str, Any]]:
    """A whole run of two agents over the first three seeds of `dev`."""
    found = [evaluated(lost(words_engine, "E_CART", d, seed), "fool") for d in (0, 2) for seed in range(3)]
    return found + [evaluated(won(words_engine, "E_CART", 0, seed), "wise") for seed in range(3)]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "leaderboard")


def submitted(runs: Runs, engine: Any, *files: Path) -> Any:
    """What came of submitting some files."""
    taken = runs.take(files)
    assert runs.work(engine, lambda seconds: None)
    return taken


def test_a_run_is_accepted_with_the_figures_of_the_evaluation(
    runs: Runs, tmp_path: Path, episodes: list[dict[str, Any]], words_engine: Any
) -> None:
    run = write(tmp_path / "run" / "traj-a.jsonl", episodes).parent
    note = {"command": "python -m ecomrlve evaluate --agent fool", "started": "2026-01-01"}
    (run / "run-1.json").write_text(json.dumps(note))
    taken = submitted(runs, words_engine, run / "traj-a.jsonl", run / "run-1.json")
    assert (taken.status, taken.done, taken.of) == ("accepted", 9, 9)
    assert "fool: recomputed" in taken.lines[0]
    found = {one.entry.agent: one for one in runs.on(words_engine)}
    for agent in ("fool", "wise"):
        entry = found[agent].entry
        assert entry.model_copy(update={"made": ""}) == make_entry([run], agent).model_copy(update={"made": ""})
        assert check_entry(entry, [run], words_engine, progress=False) == []
        assert entry.commands == (note["command"],)
        one = score(found[agent].games)
        assert (one.games, round(one.low, 6), round(one.total_high, 6)) == (
            entry.score.episodes,
            entry.score.success_low,
            entry.score.total_high,
        )
    assert not list((tmp_path / "leaderboard" / "incoming").iterdir())
    games = [game for one in found.values() for game in one.games]
    players = counted(games, (), (), {one.key: one.note for one in found.values()}).players
    assert [(one.player.name, one.player.note) for one in standings(players.values(), View(kind="agent"))] == [
        ("fool", "submitted run · dev, first 3 seeds"),
        ("wise", "submitted run · dev, first 3 seeds"),
    ]


def test_a_restart_keeps_runs_and_a_run_is_there_once(
    runs: Runs, tmp_path: Path, episodes: list[dict[str, Any]], words_engine: Any
) -> None:
    file = write(tmp_path / "a.jsonl", episodes)
    submitted(runs, words_engine, file)
    again = Runs(tmp_path / "leaderboard")
    assert [run.key for run in again.on(words_engine)] == [run.key for run in runs.on(words_engine)]
    assert [run.games for run in again.on(words_engine)] == [run.games for run in runs.on(words_engine)]
    assert "already" in submitted(again, words_engine, file).lines[0]
    assert len(again.on(words_engine)) == 2


def test_a_stored_run_that_is_broken_is_named(runs: Runs, tmp_path: Path) -> None:
    kept = tmp_path / "leaderboard" / "runs"
    kept.mkdir(parents=True)
    for number, content in enumerate(
        ('{"entry": ', "[]", '{"entry": {}, "episodes": []}', "\ud800".encode("utf-8", "surrogatepass"))
    ):
        (kept / f"{number}.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert len(Runs(tmp_path / "leaderboard").problems) == 4


def changed(episodes: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    """The run with something wrong in it."""
    first, rest = episodes[0], episodes[1:]
    if what == "forged":
        return [{**first, "reward": {**first["reward"], "correct": True, "total": 1.0}}, *rest]
    if what == "missing":
        return rest
    if what == "other catalog":
        return [{**first, "catalog": {**first["catalog"], "fingerprint": "x"}}, *rest]
    if what == "hostile name":
        return [evaluated(one, "<b>\u202ea") for one in episodes[:6]]
    return [evaluated(one, "x" * 61) for one in episodes[:6]]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("forged", "reward.total"),
        ("missing", "lacks seed 0"),
        ("other catalog", "recorded on catalog"),
        ("hostile name", "visible characters"),
        ("long name", "visible characters"),
    ],
)
def test_what_is_no_honest_whole_run_is_refused(
    runs: Runs, tmp_path: Path, episodes: list[dict[str, Any]], words_engine: Any, what: str, told: str
) -> None:
    taken = submitted(runs, words_engine, write(tmp_path / "a.jsonl", changed(episodes, what)))
    assert taken.status == "refused"
    assert told in " ".join(taken.lines)
    assert runs.on(words_engine) == []
    assert not list((tmp_path / "leaderboard" / "incoming").iterdir())


def test_training_seeds_and_second_tries_are_refused(runs: Runs, tmp_path: Path, words_engine: Any) -> None:
    training = write(tmp_path / "a.jsonl", [evaluated(lost(words_engine, "E_CART", 0, 50_000), "a")])
    assert "for training" in submitted(runs, words_engine, training).lines[0]
    both = [evaluated(make(words_engine, "E_CART", 0, 0), "a") for make in (won, lost)]
    assert "the first counts" in " ".join(submitted(runs, words_engine, write(tmp_path / "b.jsonl", both)).lines)
    assert runs.on(words_engine) == []


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"{}\n[]\n5\nnull\n", b"[" * 100_000, b"{" * 50])
def test_a_file_without_a_run_is_refused(runs: Runs, tmp_path: Path, words_engine: Any, content: bytes) -> None:
    (tmp_path / "odd.json").write_bytes(content)
    taken = submitted(runs, words_engine, tmp_path / "odd.json")
    assert taken.status == "refused"
    assert taken.lines


def test_only_so_much_is_taken(runs: Runs, tmp_path: Path, words_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = tmp_path / "large.jsonl", write(tmp_path / "small.jsonl", [])
    with large.open("wb") as stream:
        stream.truncate(leaderboard_runs.MOST_BYTES + 1)
    for files in ([], [large], [small] * (leaderboard_runs.MOST_FILES + 1)):
        with pytest.raises(SubmissionError):
            runs.take(files)
    for _ in range(leaderboard_runs.MOST_WAITING):
        runs.take([small])
    with pytest.raises(SubmissionError, match="waiting"):
        runs.take([small])
    while runs.work(words_engine, lambda seconds: None):
        pass
    assert runs.waiting() == 0
    monkeypatch.setattr(leaderboard_runs, "LONGEST_LINE", 100)
    small.write_text("x" * 200)
    assert "longer than" in submitted(runs, words_engine, small).lines[0]
    monkeypatch.setattr(leaderboard_runs, "MOST_RUNS", 0)
    with pytest.raises(SubmissionError, match="no more"):
        runs.take([small])


def test_many_episodes_are_refused_before_any_is_played(
    runs: Runs, tmp_path: Path, words_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboard_runs, "MOST_EPISODES", 2)
    (tmp_path / "a.jsonl").write_text("{}\n" * 3)
    taken = submitted(runs, words_engine, tmp_path / "a.jsonl")
    assert (taken.status, taken.done) == ("refused", 0)


def test_a_checker_that_breaks_refuses_and_goes_on(
    runs: Runs, tmp_path: Path, episodes: list[dict[str, Any]], words_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    file = write(tmp_path / "a.jsonl", episodes)
    with monkeypatch.context() as patch:
        patch.setattr(leaderboard_runs, "make_entry", broken)
        assert submitted(runs, words_engine, file).lines == ["These files could not be read (ZeroDivisionError)."]
    assert submitted(runs, words_engine, file).status == "accepted"


def test_a_submission_is_its_sender_s(runs: Runs, tmp_path: Path) -> None:
    taken = runs.take([write(tmp_path / "a.jsonl", [])])
    assert runs.submission(taken.ticket) is taken
    assert runs.submission("") is None
    assert len(taken.ticket) >= 20
    assert [file.name for file in taken.folder.iterdir()] == ["traj-0.jsonl"]
    Runs(tmp_path / "leaderboard")
    assert not taken.folder.exists()
