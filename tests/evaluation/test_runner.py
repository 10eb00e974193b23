"""Running a grid: every cell once, resumed after a kill, split over shards and workers, whatever an agent does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.names import AgentNameError
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.synthetic import generate
from ecomrlve.errors import OptionError, SeedError
from ecomrlve.evaluation import rollouts
from ecomrlve.evaluation.grid import Cell, EvaluationError, Plan, Shard, canonical_overrides, cell_of
from ecomrlve.evaluation.launchers import portions
from ecomrlve.evaluation.runner import commands_of, done_cells, evaluate
from ecomrlve.replay import load_trajectories, verify
from ecomrlve.splits import DEV, TEST, seeds_of, split_of_seed
from ecomrlve.trajectory import stable

PLAN = Plan(["reference", "random"], ["E_CART", "E_STATUS"], [0, 6], range(4), words_only=True)


def results(folder: Path) -> dict[Cell, str]:
    """What a run came to, without what may differ between two runs; fails if a cell is there twice."""
    found, _ = load_trajectories(folder)
    cells = Counter(cell_of(data) for data in found)
    assert max(cells.values(), default=1) == 1
    return {cell_of(data): json.dumps(stable(data), sort_keys=True) for data in found}


@pytest.fixture(scope="module")
def undisturbed(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    outcome = evaluate(PLAN, words_engine, folder, command="ecomrlve evaluate", progress=False)
    assert (outcome.played, outcome.kept, outcome.problems) == (32, 0, [])
    return folder


@pytest.fixture(autouse=True)
def fresh_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents made for one test do not stay for the next."""
    monkeypatch.setattr(rollouts, "_players", {})


# --- the grid --------------------------------------------------------------------------------------------------------


def test_every_cell_is_played_once_and_replays(undisturbed: Path, words_engine: Any):
    found, problems = load_trajectories(undisturbed)
    assert not problems
    assert {cell_of(data) for data in found} == set(PLAN.cells())
    assert len(PLAN.cells()) == 2 * 2 * 2 * 4
    for data in found:
        note = data["evaluation"]
        assert data["player"] == {"name": note["agent"], "kind": "agent"}
        assert 0 < note["engine_seconds"] <= note["seconds"]
        assert verify(data, words_engine).ok
    assert all(data["reward"]["correct"] for data in found if data["evaluation"]["agent"] == "reference")


def test_a_finished_run_plays_nothing(undisturbed: Path, words_engine: Any):
    before = {file: file.stat().st_size for file in undisturbed.glob("traj-*.jsonl")}
    outcome = evaluate(PLAN, words_engine, undisturbed, progress=False)
    assert (outcome.played, outcome.kept) == (0, 32)
    assert {file: file.stat().st_size for file in undisturbed.glob("traj-*.jsonl")} == before
    assert commands_of([undisturbed]) == ["ecomrlve evaluate"]


def test_a_larger_grid_adds_only_what_is_missing(undisturbed: Path, words_engine: Any, tmp_path: Path):
    folder = tmp_path / "grown"
    evaluate(Plan(["random"], ["E_CART"], [0], range(2), words_only=True), words_engine, folder, progress=False)
    outcome = evaluate(PLAN, words_engine, folder, progress=False)
    assert (outcome.played, outcome.kept) == (30, 2)
    assert results(folder) == results(undisturbed)


def test_trials_repeat_the_problem_but_not_the_draws(words_engine: Any, tmp_path: Path):
    plan = Plan(["random", "reference"], ["E_CART"], [3], range(3), trials=2, words_only=True)
    evaluate(plan, words_engine, tmp_path, progress=False)
    found, _ = load_trajectories(tmp_path)
    by_agent: dict[tuple[str, int], list[Any]] = {}
    for data in sorted(found, key=lambda data: data["evaluation"]["trial"]):
        by_agent.setdefault((data["player"]["name"], data["seed"]), []).append(data)
    for (agent, _), (one, two) in by_agent.items():
        assert (
            one["goal"]["wanted"] == two["goal"]["wanted"]
            if "wanted" in one["goal"]
            else one["opening"] == two["opening"]
        )
        same = [step["action"] for step in one["steps"]] == [step["action"] for step in two["steps"]]
        assert same == (agent == "reference")


def test_overrides_are_cells_of_their_own(words_engine: Any, tmp_path: Path):
    plan = Plan(["reference"], ["E_CART"], [6], range(2), words_only=True)
    calm = Plan(["reference"], ["E_CART"], [6], range(2), overrides={"sellout": 0.0, "noise": 0}, words_only=True)
    evaluate(plan, words_engine, tmp_path, progress=False)
    assert evaluate(calm, words_engine, tmp_path, progress=False).played == 2
    assert {cell.overrides for cell in results(tmp_path)} == {"{}", '{"noise":0,"sellout":0}'}
    assert canonical_overrides({"sellout": 0, "noise": 0.0}) == canonical_overrides({"noise": 0, "sellout": 0.0})


@given(st.integers(1, 9), st.integers(1, 40))
def test_shards_share_out_every_cell(parts: int, seeds: int):
    cells = Plan(["a", "b"], ["E_CART", "E_PD"], [0, 3], range(seeds)).cells()
    shards = [Shard(part, parts).of(cells) for part in range(1, parts + 1)]
    assert sorted(cell for shard in shards for cell in shard) == sorted(cells)
    assert max(map(len, shards)) <= len(cells) / parts + 6 * (len(cells) / parts) ** 0.5 + 1


@given(st.integers(0, 300), st.integers(1, 8), st.integers(1, 40))
def test_portions_hold_every_cell_and_get_small_towards_the_end(count: int, workers: int, most: int):
    cells = [Cell("random", "E_CART", 0, "{}", seed, 0) for seed in range(count)]
    found = portions(cells, workers, most)
    assert [cell for portion in found for cell in portion] == cells
    sizes = [len(portion) for portion in found]
    assert all(1 <= size <= most for size in sizes)
    if workers > 1 and count:
        assert sizes[-1] == 1


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "a/b", "-1/2", "1/2/3", "1.0/2"])
def test_a_wrong_shard_is_refused(text: str):
    with pytest.raises(OptionError, match="2/4"):
        Shard.parse(text)


def test_held_seeds():
    assert (seeds_of("dev"), seeds_of("test", 3)) == (list(range(100)), [10_000, 10_001, 10_002])
    assert [split_of_seed(seed) for seed in (0, 99, 100, 9_999, 10_000, 10_199, 10_200)] == [
        "dev", "dev", "train", "train", "test", "test", "train",
    ]  # fmt: skip
    assert not set(DEV) & set(TEST)
    for name, count in (("test", 201), ("dev", 0), ("train", None)):
        with pytest.raises(SeedError):
            seeds_of(name, count)


# --- shards, workers, clusters ---------------------------------------------------------------------------------------


def test_two_shards_come_to_the_same(undisturbed: Path, words_engine: Any, tmp_path: Path):
    merged: dict[Cell, str] = {}
    for part in (1, 2):
        folder = tmp_path / str(part)
        evaluate(PLAN, words_engine, folder, shard=Shard(part, 2), progress=False)
        found = results(folder)
        assert found
        assert not merged.keys() & found.keys()
        merged |= found
    assert merged == results(undisturbed)


def test_two_processes_come_to_the_same(undisturbed: Path, words_engine: Any, tmp_path: Path):
    evaluate(PLAN, words_engine, tmp_path, workers=2, progress=False)
    assert results(tmp_path) == results(undisturbed)


def test_a_ray_cluster_comes_to_the_same(tmp_path: Path):
    pytest.importorskip("ray", reason="the launcher ray needs Ray, which is an extra")
    plan = Plan(["reference", "random"], ["E_CART", "E_STATUS"], [0], range(3), words_only=True)
    engine = SearchEngine(generate())
    evaluate(plan, engine, tmp_path / "here", progress=False)
    # In a process of its own: Ray starts servers that this one's fence would not know.
    command = [
        sys.executable, "-m", "ecomrlve", "evaluate", "--agent", "reference", "--agent", "random",
        "--envs", "E_CART,E_STATUS", "--difficulty", "0", "--seeds", "0:3", "--words-only", "--launcher", "ray",
        "--workers", "2", "--quiet", "--out", str(tmp_path / "there"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert results(tmp_path / "there") == results(tmp_path / "here")


# --- kills -----------------------------------------------------------------------------------------------------------


def killed_after(lines: int, folder: Path, command: list[str]) -> None:
    """Run a command, and kill it with all its children once so many episodes are there, or let it end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None:
        if sum(file.read_bytes().count(b"\n") for file in folder.glob("traj-*.jsonl")) >= lines:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_killed_run_goes_on_and_comes_to_the_same(undisturbed: Path, words_engine: Any, tmp_path: Path):
    command = [
        sys.executable, "-m", "ecomrlve", "evaluate", "--agent", "reference", "--agent", "random",
        "--envs", "E_CART,E_STATUS", "--difficulty", "0,6", "--seeds", "0:4", "--words-only", "--workers", "2",
        "--quiet", "--out", str(tmp_path),
    ]  # fmt: skip
    killed_after(5, tmp_path, command)
    first = results_of_torn(tmp_path)
    assert 0 < len(first) < 32
    file = next(tmp_path.glob("traj-*.jsonl"))
    with file.open("ab") as torn:
        torn.write(b'{"schema":1,"env_id":"E_CA')  # as a power cut may leave it
    outcome = evaluate(PLAN, words_engine, tmp_path, progress=False)
    assert (outcome.played, outcome.kept) == (32 - len(first), len(first))
    assert results(tmp_path) == results(undisturbed)


def results_of_torn(folder: Path) -> set[Cell]:
    found, _ = load_trajectories(folder)
    return {cell_of(data) for data in found}


# --- troubles --------------------------------------------------------------------------------------------------------


def test_a_run_stays_on_one_catalog(undisturbed: Path):
    other = SearchEngine(generate(3_000))
    with pytest.raises(EvaluationError, match="Take another folder"):
        evaluate(PLAN, other, undisturbed, progress=False)


def test_an_unknown_agent_leaves_no_trace(words_engine: Any, tmp_path: Path):
    for name in ("refrence", "cheat:nobody", "python:json:nothing", "python:no.such.module:x", "random?a=1"):
        with pytest.raises(AgentNameError):
            evaluate(Plan(["random", name], ["E_CART"], [0], [1]), words_engine, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_catalog_that_has_too_little_is_said_and_the_rest_is_played(tmp_path: Path):
    small = SearchEngine(generate(1_000))
    plan = Plan(["reference"], ["E_SUB"], [12], range(4), words_only=True)
    outcome = evaluate(plan, small, tmp_path, progress=False)
    played, without = results(tmp_path).keys(), {cell for cell, _ in outcome.problems}
    assert played
    assert without
    assert not played & without
    assert played | without == set(plan.cells())
    assert all("E_SUB" in why for _, why in outcome.problems)


class BreakingAgent(ReferenceAgent):
    """Breaks in the second turn of every other episode."""

    name = "breaking"
    seeds: Iterator[int]

    def reset(self, env: Any) -> None:
        super().reset(env)
        self._breaks = env.episode.seed % 2 == 1
        if env.episode.seed == 3:
            raise RuntimeError("cannot even start")

    def act(self, observation: Any) -> Any:
        if self._breaks and observation.turn:
            raise ZeroDivisionError("my own mistake")
        return super().act(observation)


def test_an_agent_that_breaks_ends_its_episode_only(words_engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "somebodys_agents", __import__(__name__.rpartition(".")[2]))
    plan = Plan(["python:somebodys_agents:BreakingAgent"], ["E_CART"], [3], range(5), words_only=True)
    evaluate(plan, words_engine, tmp_path, progress=False)
    found, _ = load_trajectories(tmp_path)
    by_seed = {data["seed"]: data for data in found}
    assert sorted(by_seed) == [0, 1, 2, 3, 4]
    for seed, data in by_seed.items():
        failed = data["evaluation"]["notes"].get("failed", "")
        if seed % 2 == 0:
            assert data["reward"]["correct"]
            assert not failed
        else:
            assert data["reward"]["total"] == -1
            assert ("my own mistake" if seed == 1 else "cannot even start") in failed
            assert failed in data["reward"]["reason"]
            assert verify(data, words_engine).ok
    kept = done_cells(tmp_path, words_engine, again_failed=True)
    assert {cell.seed for cell in kept} == {0, 2, 4}


class Together:
    """Players that note how many of them act at once."""

    name, width, threads, model = "together", 4, False, False

    def __init__(self) -> None:
        self.batches: list[int] = []

    def player(self, trial: int = 0) -> Any:
        return ReferenceAgent()

    def act(self, players: Any, observations: Any) -> list[Any]:
        self.batches.append(len(players))
        return [player.act(observation) for player, observation in zip(players, observations, strict=True)]


@pytest.mark.parametrize("threads", [False, True])
def test_episodes_in_step_and_on_threads_come_to_the_same(
    threads: bool, undisturbed: Path, words_engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    players = Together()
    players.threads = threads
    real: Callable[[str], Any] = rollouts.players_of
    monkeypatch.setattr(rollouts, "players_of", lambda name: players if name == "reference" else real(name))
    evaluate(PLAN, words_engine, tmp_path, progress=False)
    assert results(tmp_path) == results(undisturbed)
    if not threads:
        assert max(players.batches) == 4
        # Whatever ends makes place at once: the batch is full until the last few episodes.
        assert all(size == 4 for size in players.batches[: len(players.batches) // 2])
