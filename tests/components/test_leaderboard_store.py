from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from leaderboard_games import lost, write

from components.leaderboard_store import Reader, StoreError, Verdicts, erase
from ecomrlve.replay import TrajectoryStore, load_trajectories


def texts(reader: Reader) -> list[bytes]:
    return [line.text.strip() for line in reader.lines()]


def aged(file: Path, seconds: int) -> None:
    os.utime(file, (seconds, seconds))


def test_a_line_is_read_once_and_only_when_it_is_whole(tmp_path: Path) -> None:
    reader, file = Reader(tmp_path / "store"), tmp_path / "store" / "a.jsonl"
    assert texts(reader) == []
    file.parent.mkdir()
    file.write_bytes(b"1\n\n2\n3")
    assert texts(reader) == [b"1", b"2"]
    assert texts(reader) == []
    with file.open("ab") as stream:
        stream.write(b"3\n4\n")
    assert texts(reader) == [b"33", b"4"]
    assert not reader.replaced()
    reader.start_over()
    assert texts(reader) == [b"1", b"2", b"33", b"4"]


def test_files_are_read_in_the_order_in_which_they_were_left(tmp_path: Path) -> None:
    for name, seconds in (("a", 300), ("b", 100), ("c", 200)):
        (tmp_path / f"{name}.jsonl").write_text(f"{name}\n")
        aged(tmp_path / f"{name}.jsonl", seconds)
    (tmp_path / "other.txt").write_text("x\n")
    assert texts(Reader(tmp_path)) == [b"b", b"c", b"a"]


def test_a_line_that_was_not_taken_is_read_the_next_time(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"1\n2\n3\n")
    reader = Reader(tmp_path)
    assert next(reader.lines()).text == b"1\n"
    assert texts(reader) == [b"2", b"3"]


@pytest.mark.parametrize("change", ["removed", "shorter", "another file"])
def test_a_file_that_is_another_one_is_noticed(tmp_path: Path, change: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"one\ntwo\n")
    reader = Reader(tmp_path)
    assert len(texts(reader)) == 2
    if change == "removed":
        file.unlink()
    elif change == "shorter":
        file.write_bytes(b"one\n")
    else:
        (tmp_path / "new").write_bytes(b"three\nfour\nfive\n")
        os.replace(tmp_path / "new", file)
    assert reader.replaced()


def test_an_erased_game_is_gone_from_the_disk_and_nothing_else_is(tmp_path: Path, words_engine: Any) -> None:
    records = [lost(words_engine, "E_CART", 0, seed, name) for seed, name in enumerate(("Ann", "Bob", "Ann", "Cid"))]
    file = write(tmp_path / "a.jsonl", records)
    write(tmp_path / "b.jsonl", records[1:2])
    aged(file, 100)
    aged(tmp_path / "b.jsonl", 200)
    before = file.read_bytes()
    assert erase(tmp_path, lambda record: record["player"]["name"] == "Ann") == 2
    after = file.read_bytes()
    assert len(after) == len(before)
    assert b"Ann" not in after
    assert load_trajectories(tmp_path)[0] == [records[1], records[3], records[1]]
    assert [line.file.name for line in Reader(tmp_path).lines()] == ["a.jsonl", "a.jsonl", "b.jsonl"]
    assert file.stat().st_mtime_ns != 100 * 10**9
    assert erase(tmp_path, lambda record: record["player"]["name"] == "Ann") == 0


def test_what_is_appended_while_games_are_erased_is_not_lost(tmp_path: Path, words_engine: Any) -> None:
    ann, bob = (lost(words_engine, "E_CART", 0, 1, name) for name in ("Ann", "Bob"))
    store = TrajectoryStore(tmp_path, sync=False)
    store.append(ann)

    def wanted(record: dict[str, Any]) -> bool:
        own = record["player"]["name"] == "Ann"
        if own:
            store.append(bob)
        return own

    assert erase(tmp_path, wanted) == 1
    assert load_trajectories(tmp_path)[0] == [bob]


def test_lines_that_are_no_games_stay(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"torn": \n[]\n\xff\n')
    assert erase(tmp_path, lambda record: True) == 0
    assert (tmp_path / "a.jsonl").read_bytes() == b'{"torn": \n[]\n\xff\n'


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"a\.jsonl cannot be read"):
        texts(Reader(tmp_path))


def test_verdicts_outlive_the_program_but_not_the_catalog(tmp_path: Path) -> None:
    file = tmp_path / "leaderboard" / "verdicts.txt"
    verdicts = Verdicts(file, "catalog 1")
    assert verdicts.get("a") is None
    verdicts.put("a", "")
    verdicts.put("b", "changed")
    with file.open("a") as stream:
        stream.write('{"digest": "c", "stamp": "catalog 1", "rea')
    again = Verdicts(file, "catalog 1")
    assert (again.get("a"), again.get("b"), again.get("c"), again.problem) == ("", "changed", None, "")
    assert Verdicts(file, "catalog 2").get("a") is None


def test_verdicts_hold_no_names(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.txt"
    Verdicts(file, "catalog").put("0123", "changed")
    assert json.loads(file.read_text()) == {"digest": "0123", "stamp": "catalog", "reason": "changed"}


def test_verdicts_that_cannot_be_kept_are_said_so(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    verdicts = Verdicts(tmp_path / "folder" / "verdicts.txt", "catalog")
    verdicts.put("a", "")
    assert verdicts.get("a") == ""
    assert "cannot be written" in verdicts.problem
