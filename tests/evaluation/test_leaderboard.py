"""Recomputing stored results from their actions, and the leaderboard's lines: what was edited is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.errors import TrajectoryError
from ecomrlve.evaluation.grid import EvaluationError, Plan
from ecomrlve.evaluation.leaderboard import check_entry, make_entry, read_entries
from ecomrlve.evaluation.recompute import recompute
from ecomrlve.evaluation.runner import evaluate

Record = dict[str, Any]
PLAN = Plan(["reference", "random"], ["E_CART", "E_POLICY"], [0, 6], range(10_000, 10_003), words_only=True)


@pytest.fixture(scope="module")
def run(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaderboard") / "run"
    evaluate(PLAN, words_engine, folder, command="ecomrlve evaluate --seeds test:3", progress=False)
    return folder


def copied(run: Path, folder: Path, edit: Callable[[Record], None], agent: str = "reference") -> Path:
    """The run with one trajectory of an agent edited."""
    folder.mkdir()
    edited = False
    for file in run.glob("traj-*.jsonl"):
        lines = []
        for line in file.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            if not edited and data["player"]["name"] == agent and data["env_id"] == "E_CART" and data["difficulty"]:
                edit(data)
                edited = True
            lines.append(json.dumps(data, ensure_ascii=False) + "\n")
        (folder / file.name).write_text("".join(lines), encoding="utf-8")
    assert edited
    return folder


# --- recompute -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_played_is_found_as_it_was(run: Path, words_engine: Any, workers: int):
    found = recompute([run], words_engine, workers=workers, progress=False)
    assert (found.checked, found.wrong, found.unreadable) == (24, (), ())


def better(data: Record) -> None:
    data["reward"] |= {"total": 1.0, "task": 1.0, "correct": True}


def other_total(data: Record) -> None:
    data["reward"]["total"] -= 1e-9


def other_result(data: Record) -> None:
    step = next(step for step in data["steps"] if step["tool_results"])
    step["tool_results"][0]["result"]["note"] = "free shipping"


def other_action(data: Record) -> None:
    data["steps"][0]["action"] = {"assistant_message": "Hello."}


def other_words(data: Record) -> None:
    next(step for step in data["steps"] if step["customer"])["customer"]["text"] = "Perfect, that is all."


def one_step_less(data: Record) -> None:
    del data["steps"][-1]


def one_step_more(data: Record) -> None:
    data["steps"].append(dict(data["steps"][-1]))


def other_seed(data: Record) -> None:
    data["seed"] += 1


def easier(data: Record) -> None:
    data["difficulty"] = 0


def eased(data: Record) -> None:
    data["overrides"] = {"noise": 0.0}


def other_goal(data: Record) -> None:
    data["goal"] = {"env_id": "E_CART"}


def other_ledger(data: Record) -> None:
    data["ledger"][0]["said"] = []


@pytest.mark.parametrize(
    "edit",
    [
        better, other_total, other_result, other_action, other_words, one_step_less, one_step_more, other_seed, easier,
        eased, other_goal, other_ledger,
    ],
)  # fmt: skip
def test_what_was_edited_is_found(run: Path, words_engine: Any, tmp_path: Path, edit: Callable[[Record], None]):
    forged = copied(run, tmp_path / "forged", edit)
    found = recompute([forged], words_engine, progress=False)
    assert found.checked == 24
    assert len(found.wrong) == 1
    assert "E_CART" in found.wrong[0]


def test_what_cannot_be_read_is_told_apart(run: Path, words_engine: Any, tmp_path: Path):
    folder = copied(run, tmp_path / "torn", lambda data: None)
    with next(folder.glob("*.jsonl")).open("ab") as file:
        file.write(b'\n{"schema": 1, "env\xff')
    found = recompute([folder], words_engine, progress=False)
    assert (found.checked, found.wrong) == (24, ())
    assert len(found.unreadable) == 1
    with pytest.raises(TrajectoryError):
        recompute([tmp_path / "nowhere"], words_engine, progress=False)


# --- entries ---------------------------------------------------------------------------------------------------------


def test_an_entry_says_what_was_played(run: Path, words_engine: Any):
    entry = make_entry([run], "reference")
    assert (entry.agent, entry.split, entry.seeds, entry.trials) == ("reference", "test", 3, 1)
    assert entry.score.episodes == 12
    assert (entry.score.success, entry.score.success_high) == (1.0, 1.0)
    assert entry.score.success_low == pytest.approx(0.7575, abs=1e-4)  # Wilson's bound for 12 of 12
    assert [(cell.env_id, cell.difficulty, cell.episodes) for cell in entry.cells] == [
        ("E_CART", 0, 3), ("E_CART", 6, 3), ("E_POLICY", 0, 3), ("E_POLICY", 6, 3),
    ]  # fmt: skip
    assert entry.commands == ("ecomrlve evaluate --seeds test:3",)
    assert entry.catalog["fingerprint"] == words_engine.catalog.fingerprint
    assert check_entry(entry, [run], words_engine, progress=False) == []


def test_an_entry_is_read_as_it_was_written(run: Path, tmp_path: Path):
    entries = [make_entry([run], agent) for agent in ("reference", "random")]
    file = tmp_path / "board.jsonl"
    file.write_text("".join(entry.to_json() + "\n" for entry in entries), encoding="utf-8")
    assert read_entries(file) == entries
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[0])["schema"] == 1


def test_the_same_episodes_in_other_files_make_the_same_entry(run: Path, words_engine: Any, tmp_path: Path):
    half = Plan(PLAN.agents, ["E_POLICY"], PLAN.difficulties, PLAN.seeds, words_only=True)
    other = Plan(PLAN.agents, ["E_CART"], PLAN.difficulties, PLAN.seeds, words_only=True)
    for plan, name in ((half, "a"), (other, "b")):
        evaluate(plan, words_engine, tmp_path / name, progress=False)
    one, two = make_entry([run], "random"), make_entry([tmp_path / "b", tmp_path / "a"], "random")
    assert one.model_dump(exclude={"commands"}) == two.model_dump(exclude={"commands"})


@pytest.mark.parametrize("edit", [better, other_action, one_step_less, other_words])
def test_a_forged_submission_is_found(run: Path, words_engine: Any, tmp_path: Path, edit: Callable[[Record], None]):
    forged = copied(run, tmp_path / "forged", edit, agent="random")
    claim = make_entry([forged], "random")
    assert check_entry(claim, [forged], words_engine, progress=False)


def test_figures_that_are_not_those_of_the_actions_are_found(run: Path, words_engine: Any):
    entry = make_entry([run], "random")
    score = entry.score.model_copy(update={"success": 0.9})
    problems = check_entry(entry.model_copy(update={"score": score}), [run], words_engine, progress=False)
    assert len(problems) == 1
    assert problems[0].startswith("score: claimed")
    problems = check_entry(entry.model_copy(update={"actions": "0" * 64}), [run], words_engine, progress=False)
    assert [problem.partition(":")[0] for problem in problems] == ["actions"]


def test_no_seed_may_be_picked(run: Path, words_engine: Any, tmp_path: Path):
    def refused(message: str, **changes: Any) -> None:
        folder = tmp_path / message.replace(" ", "-")
        grid: dict[str, Any] = {
            "agents": ["random"], "env_ids": ["E_CART"], "difficulties": [0], "seeds": [10_000, 10_001],
            "words_only": True,
        }  # fmt: skip
        evaluate(Plan(**(grid | changes)), words_engine, folder, progress=False)
        with pytest.raises(EvaluationError, match=message):
            make_entry([folder])

    refused("lacks seed 10000", seeds=[10_001])
    refused("lacks seed 10001", seeds=[10_000, 10_002])
    refused("for training", seeds=[500])
    refused("lacks seed 1,", seeds=[10_000, 0])
    refused("overrides", overrides={"noise": 0.0})
    with pytest.raises(EvaluationError, match="name one agent; there are episodes of random, reference"):
        make_entry([run])
    with pytest.raises(EvaluationError, match="no episodes of 'nobody'"):
        make_entry([run], "nobody")


def test_all_environments_need_the_same_seeds(run: Path, words_engine: Any, tmp_path: Path):
    more = Plan(["random"], ["E_CART"], [0], range(10_000, 10_004), words_only=True)
    evaluate(more, words_engine, tmp_path, progress=False)
    with pytest.raises(EvaluationError, match="lacks seed 10003"):
        make_entry([run, tmp_path], "random")


@pytest.mark.parametrize("line", ["{}", "not json", '{"schema": 2}', "[]"])
def test_a_line_that_is_no_entry_is_named(run: Path, tmp_path: Path, line: str):
    file = tmp_path / "board.jsonl"
    file.write_text(f"{make_entry([run], 'random').to_json()}\n{line}\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"board\.jsonl, line 2"):
        read_entries(file)
