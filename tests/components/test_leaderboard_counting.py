from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.leaderboard_counting import (
    LEFT_OUT,
    MINIMUM,
    MOST_CHOSEN,
    Game,
    Player,
    View,
    counted,
    curve,
    score,
    standings,
    view_of,
    why_not,
)
from ecomrlve.evaluation.statistics import mean_interval, wilson

ANN = Game("Ann", "human", "E_CART", 2, 50_000, True, 0.8)


def games(name: str, correct: int, wrong: int, *, kind: str = "human", d: int = 2, start: int = 0) -> list[Game]:
    return [
        Game(name, kind, "E_CART", d, start + seed, seed < correct, 0.8 if seed < correct else -0.5)
        for seed in range(correct + wrong)
    ]


def board(found: list[Game], view: View = View()) -> list[tuple[str, int]]:  # noqa: B008
    players = counted(found, {game.name for game in found}, ["scripted"], {}).players
    return [(one.player.name, one.rank) for one in standings(players.values(), view)]


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (ANN, ""),
        (replace(ANN, name="Eve"), "unknown"),
        (replace(ANN, name="you"), "anonymous"),
        (replace(ANN, name="Ann (again)"), "seen"),
        (replace(ANN, name="scripted, then Ann", kind="mixed"), "seen"),
        (replace(ANN, name="Ann, guided", kind="mixed"), "seen"),
        (replace(ANN, kind=""), "seen"),
        (replace(ANN, overridden=True), "axes"),
        (replace(ANN, name="scripted", kind="agent"), ""),
        (replace(ANN, name="api", kind="agent"), "unknown"),
        (replace(ANN, name="Ann", kind="agent"), "unknown"),
        (replace(ANN, name="mine", kind="agent", run="stored", seed=10_000), ""),
        (replace(ANN, name="mine", kind="agent", run="stored", seed=5), ""),
        (replace(ANN, name="mine", kind="agent", run="stored"), "training"),
        (replace(ANN, name="mine", kind="agent", run="stored", seed=5, overridden=True), "axes"),
    ],
)
def test_which_games_count(game: Game, reason: str) -> None:
    assert why_not(game, {"Ann"}, {"scripted", "reference"}) == reason
    result = counted([game], {"Ann"}, {"scripted", "reference"}, {})
    assert dict(result.left_out) == ({reason: 1} if reason else {})
    assert len(result.players) == (not reason)
    assert not reason or reason in LEFT_OUT


def test_of_a_person_the_first_game_of_a_seed_counts_whatever_its_difficulty() -> None:
    first = replace(ANN, correct=False, total=-0.5)
    found = counted([first, ANN, replace(ANN, difficulty=3), replace(ANN, env_id="E_PD")], {"Ann"}, (), {})
    assert found.players["human:Ann"].games == [first, replace(ANN, env_id="E_PD")]
    assert dict(found.left_out) == {"repeated": 2}


def test_an_agent_remembers_nothing_between_difficulties_and_trials() -> None:
    once = replace(ANN, name="scripted", kind="agent", run="abc", seed=3)
    found = counted([once, replace(once, difficulty=3), replace(once, trial=1), once], (), (), {"abc": "test"})
    assert len(found.players["run:abc"].games) == 3
    assert found.players["run:abc"].note == "test"
    assert dict(found.left_out) == {"repeated": 1}


def test_players_of_one_name_are_kept_apart() -> None:
    agent = replace(ANN, name="scripted", kind="agent", seed=4)
    found = [agent, replace(agent, run="stored"), replace(agent, run="abc"), replace(agent, run="def")]
    assert len(counted(found, (), ["scripted"], {}).players) == 4


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.floats(-1, 1)), min_size=1, max_size=30))
def test_intervals_are_those_of_the_evaluation(played: list[tuple[int, bool, float]]) -> None:
    found = [Game("a", "agent", "E_PD", 3, seed, correct, total) for seed, correct, total in played]
    problems = len({seed for seed, _, _ in played})
    share = sum(correct for _, correct, _ in played) / len(played)
    one = score(found)
    assert (one.low, one.high) == wilson(share * problems, problems)
    assert (one.total_low, one.total_high) == mean_interval(
        [total for _, _, total in played], [g.problem for g in found]
    )
    assert (one.games, one.problems, one.success) == (len(played), problems, share)
    assert 0 <= one.low <= one.success <= one.high <= 1


def test_who_has_too_few_games_stands_below_the_line() -> None:
    found = games("Ann", MINIMUM - 1, 0) + games("Bob", 1, MINIMUM - 1) + games("Cid", 2, 0)
    assert board(found) == [("Bob", 1), ("Ann", 0), ("Cid", 0)]
    assert board([*found, replace(found[0], seed=999)]) == [("Ann", 1), ("Bob", 2), ("Cid", 0)]


def test_repeated_trials_of_few_problems_make_no_rank() -> None:
    trials = [
        replace(ANN, name="scripted", kind="agent", run="abc", seed=1, trial=trial) for trial in range(MINIMUM * 2)
    ]
    assert board(trials) == [("scripted", 0)]


def test_a_long_good_record_stands_above_a_short_lucky_streak() -> None:
    assert board(games("Lucky", 10, 0) + games("Steady", 98, 2)) == [("Steady", 1), ("Lucky", 2)]


def test_equals_share_a_rank_and_the_reward_breaks_ties_of_success() -> None:
    better = [replace(game, name="Better", total=game.total + 0.1) for game in games("x", 8, 2)]
    found = games("Ann", 8, 2) + games("Bob", 8, 2) + better + games("Worse", 0, 10)
    assert board(found) == [("Better", 1), ("Ann", 2), ("Bob", 2), ("Worse", 4)]


def test_a_view_shows_and_ranks_only_its_games() -> None:
    found = games("Ann", 10, 0, d=0) + games("Ann", 0, 10, d=5, start=100) + games("scripted", 10, 0, kind="agent", d=5)
    assert board(found, View(difficulty=5)) == [("scripted", 1), ("Ann", 2)]
    assert board(found, View(difficulty=0)) == [("Ann", 1)]
    assert board(found, View(kind="agent")) == [("scripted", 1)]
    assert board(found, View("E_PD")) == []
    player = counted(found, ["Ann"], (), {}).players["human:Ann"]
    [one] = standings([player], View())
    assert one.difficulties == (0, 5)
    assert [(d, level.success) for d, level in curve(player, "")] == [(0, 1.0), (5, 0.0)]
    assert curve(player, "E_PD") == []


def test_a_board_without_games_has_nobody() -> None:
    assert standings([], View()) == []
    assert standings([Player("human:Ann", "Ann", "human")], View()) == []


@pytest.mark.parametrize(
    ("sent", "view"),
    [
        ({}, View()),
        (None, View()),
        ([1], View()),
        ({"env": "E_CART", "d": "3", "kind": "human"}, View("E_CART", 3, "human")),
        ({"env": "E_CART", "d": 3.0, "chosen": ["human:Ann"]}, View("E_CART", 3, "", ("human:Ann",))),
        ({"env": "E_NONE", "d": "13", "kind": "god", "chosen": "all"}, View()),
        ({"env": ["E_CART"], "d": True, "kind": {}, "chosen": {}}, View()),
        ({"d": "-1"}, View()),
        ({"d": "9" * 5000}, View()),
        ({"d": float("nan")}, View()),
        ({"d": None, "env": None}, View()),
        ({"chosen": [1, None, "a", "b", "c", "d", "e"]}, View(chosen=("a", "b", "c", "d"))),
    ],
)
def test_a_view_takes_anything(sent: Any, view: View) -> None:
    assert view_of(sent) == view
    assert len(view_of(sent).chosen or ()) <= MOST_CHOSEN
