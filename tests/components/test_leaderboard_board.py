from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from leaderboard_games import evaluated, lost, won, write

from components.leaderboard_board import Board
from components.leaderboard_counting import View, standings
from components.leaderboard_names import NicknameError, Visitor
from components.library import Library
from components.session import SessionError, Shop
from ecomrlve import replay


@pytest.fixture
def shop(words_engine: Any) -> Shop:
    ready = Shop(lambda: words_engine).start()
    ready.wait()
    return ready


@pytest.fixture
def board(tmp_path: Path, shop: Shop) -> Board:
    """A board over an empty store, on which Ann has agreed to be."""
    made = Board(Library(tmp_path), shop, offered=lambda: ["scripted"], rest=0)
    made.names.join(Visitor("Ann"))
    return made


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the games that were played again."""
    seeds: list[int] = []
    verify = replay.verify

    def counting(record: Any, engine: Any) -> Any:
        seeds.append(record["seed"])
        return verify(record, engine)

    monkeypatch.setattr(replay, "verify", counting)
    return seeds


def counts(board: Board) -> dict[str, int]:
    """Games that count, by player."""
    return {key: len(player.games) for key, player in board.counted().players.items()}


def test_a_changed_record_is_left_out_and_counted(board: Board, tmp_path: Path, words_engine: Any) -> None:
    honest = won(words_engine, "E_CART", 0, 1)
    forged = lost(words_engine, "E_CART", 0, 2)
    forged["reward"].update(correct=True, total=1.0)
    borrowed = {**won(words_engine, "E_CART", 0, 3), "seed": 4}
    odd = {**lost(words_engine, "E_CART", 0, 5), "seed": [1], "difficulty": {"d": []}}
    broken = {**lost(words_engine, "E_CART", 0, 6), "reward": {}}
    write(tmp_path / "a.jsonl", [honest, forged, borrowed, odd, broken])
    board.check()
    assert counts(board) == {"human:Ann": 1}
    assert dict(board.counted().left_out) == {"changed": 4}
    [one] = standings(board.counted().players.values(), View())
    assert (one.score.success, one.score.total) == (1.0, honest["reward"]["total"])


def test_games_of_another_catalog_are_not_called_changed(board: Board, tmp_path: Path, words_engine: Any) -> None:
    record = lost(words_engine, "E_CART", 0, 1)
    write(tmp_path / "a.jsonl", [{**record, "catalog": {**record["catalog"], "fingerprint": "other"}}])
    board.check()
    assert dict(board.counted().left_out) == {"catalog": 1}


def test_only_the_first_game_of_an_episode_counts_also_over_files(
    board: Board, tmp_path: Path, words_engine: Any
) -> None:
    first, second = lost(words_engine, "E_CART", 0, 1), won(words_engine, "E_CART", 0, 1)
    write(tmp_path / "z.jsonl", [first])
    board.check()
    write(tmp_path / "a.jsonl", [second, lost(words_engine, "E_CART", 0, 2)])
    board.check()
    [player] = board.counted().players.values()
    assert [(game.seed, game.correct) for game in player.games] == [(1, False), (2, False)]
    assert dict(board.counted().left_out) == {"repeated": 1}


def test_who_did_not_agree_is_not_on_the_board(board: Board, tmp_path: Path, words_engine: Any) -> None:
    who = [("you", "human"), ("Eve", "human"), ("Ann (again)", "human"), ("scripted, then Ann", "mixed")]
    who += [("api", "agent"), ("scripted", "agent")]
    write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, seed, *one) for seed, one in enumerate(who)])
    board.check()
    assert counts(board) == {"agent:scripted": 1}
    assert dict(board.counted().left_out) == {"anonymous": 1, "unknown": 2, "seen": 2}


def test_evaluations_in_the_store_count_over_held_seeds(board: Board, tmp_path: Path, words_engine: Any) -> None:
    found = [evaluated(lost(words_engine, "E_CART", 0, seed), "mine") for seed in (0, 10_000, 50_000)]
    write(tmp_path / "a.jsonl", found)
    board.check()
    assert counts(board) == {"stored:mine": 2}
    assert dict(board.counted().left_out) == {"training": 1}


def test_each_game_is_played_again_once(
    board: Board, tmp_path: Path, shop: Shop, words_engine: Any, verified: list[int]
) -> None:
    write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, seed) for seed in (1, 2)])
    board.check()
    board.check()
    assert verified == [1, 2]
    write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, 3)])
    write(tmp_path / "b.jsonl", [lost(words_engine, "E_CART", 0, 4)])
    board.check()
    assert verified == [1, 2, 3, 4]
    restarted = Board(Library(tmp_path), shop, offered=lambda: ["scripted"])
    restarted.check()
    assert verified == [1, 2, 3, 4]
    assert counts(restarted) == counts(board) == {"human:Ann": 4}


def test_lines_that_are_no_games_do_no_harm(board: Board, tmp_path: Path, words_engine: Any) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"torn": \n[]\n\xff\xfe\n{"schema": 1}\n' + b"[" * 100_000 + b"\n")
    write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, 1)])
    board.check()
    assert counts(board) == {"human:Ann": 1}
    assert board.problem == ""


def test_a_game_that_breaks_the_engine_counts_as_changed(
    board: Board, tmp_path: Path, words_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(record: Any, engine: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(replay, "verify", broken)
    write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, 1)])
    board.check()
    assert dict(board.counted().left_out) == {"changed": 1}


def test_a_person_s_games_can_be_forgotten(board: Board, tmp_path: Path, shop: Shop, words_engine: Any) -> None:
    bob = board.names.join(Visitor("Bob"))
    names = [("Ann", "human"), ("Bob", "human"), ("Bob (again)", "human"), ("scripted, then Bob", "mixed")]
    names += [("Bob", "agent")]
    library = Library(tmp_path)
    board = Board(library, shop, offered=lambda: ["scripted"], rest=0)
    for seed, one in enumerate(names):
        library.append(lost(words_engine, "E_CART", 0, seed, *one))
    board.check()
    assert counts(board) == {"human:Ann": 1, "human:Bob": 1}
    assert len(library.entries()) == 5
    with pytest.raises(NicknameError):
        board.forget(Visitor("Bob", "a guess"))
    assert counts(board) == {"human:Ann": 1, "human:Bob": 1}
    assert board.forget(bob) == 3
    assert counts(board) == {"human:Ann": 1}
    board.check()
    assert counts(board) == {"human:Ann": 1}
    assert len(library.entries()) == 2
    assert not any(
        b"Bob" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".jsonl"
    )
    assert sum(path.read_bytes().count(b'"Bob"') for path in tmp_path.glob("*.jsonl")) == 1  # the agent of that name


def test_nothing_is_stored_under_a_name_without_consent(board: Board, words_engine: Any) -> None:
    def named(name: str, kind: str = "human") -> str:
        return board.consented(lost(words_engine, "E_CART", 0, 1, name, kind))["player"]["name"]

    assert (named("Ann"), named("Ann (again)"), named("scripted, then Ann", "mixed")) == (
        "Ann", "Ann (again)", "scripted, then Ann",
    )  # fmt: skip
    assert (named("Eve"), named("Eve (again)"), named("Eve, then scripted", "mixed")) == (
        "you", "you (again)", "you, then scripted",
    )  # fmt: skip
    assert named("Eve, guided (again)", "mixed") == "you, guided (again)"
    assert (named("api", "agent"), named("you")) == ("api", "you")
    ann = Visitor("Ann", board.names.join(Visitor("Cid")).key)
    with pytest.raises(NicknameError):
        board.names.stop(ann)
    assert board.name_for("Ann") == "Ann"


def test_who_stopped_stays_on_the_board_but_is_not_named_again(board: Board, tmp_path: Path, words_engine: Any) -> None:
    bob = board.names.join(Visitor("Bob"))
    record = lost(words_engine, "E_CART", 0, 1, "Bob")
    write(tmp_path / "a.jsonl", [board.consented(record)])
    board.names.stop(bob)
    board.check()
    assert counts(board) == {"human:Bob": 1}
    assert board.consented(record)["player"] == {"name": "you", "kind": "human"}
    assert board.name_for("Bob") == "you"


def test_the_background_does_the_same(board: Board, tmp_path: Path, words_engine: Any) -> None:
    write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, seed) for seed in (1, 2)])
    assert board.progress() is None
    board.start().start()
    assert board.idle.wait(300)
    assert board.progress() is None
    assert counts(board) == {"human:Ann": 2}


def test_a_shop_that_does_not_load_is_said_so(tmp_path: Path) -> None:
    def fail() -> Any:
        raise RuntimeError("no catalog")

    board = Board(Library(tmp_path), Shop(fail))
    with pytest.raises(SessionError):
        board.check()
    board.start()
    assert board.idle.wait(300)
    assert board.progress() is None
    assert "no catalog" in board.problem
    assert board.submitted() == []


def test_a_verdict_is_of_the_whole_line(board: Board, tmp_path: Path, words_engine: Any, verified: list[int]) -> None:
    """Whoever changes a stored game afterwards has it judged anew."""
    file = write(tmp_path / "a.jsonl", [lost(words_engine, "E_CART", 0, 1)])
    board.check()
    record = json.loads(file.read_text())
    record["reward"]["total"] = 0.5
    file.unlink()
    write(file, [record])
    board.check()
    assert verified == [1, 1]
    assert dict(board.counted().left_out) == {"changed": 1}
