"""Files that a visitor uploads: what is read, what is said of the rest, and who can see it."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest

from components import entries, trajectories, uploads
from components.entries import entry_of, failures_of, read_line
from components.trajectories import Library, Uploads


@pytest.fixture(scope="module")
def record(words_engine: Any) -> dict[str, Any]:
    import ecomrlve

    env = ecomrlve.make("E_CART", catalog=words_engine)
    env.reset(seed=3)
    env.step("{broken")
    return env.trajectory("somebody").to_dict()


def write(folder: Path, name: str, content: bytes | str) -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_uploads_belong_to_one_visitor(tmp_path: Path, record: dict[str, Any]) -> None:
    file = write(tmp_path, "mine.jsonl", json.dumps(record) + "\n")
    library, mine, other = Library(tmp_path / "store"), Uploads(), Uploads()
    assert mine.read([file])["tone"] == "good"
    (entry,) = mine.entries
    assert trajectories.find(library, mine, entry.key)["seed"] == 3
    assert trajectories.find(library, other, entry.key) is None
    assert trajectories.lines(library, {"token": mine.token, "keys": [entry.key]})["gone"] == 0
    for token in (other.token, None, "guessed"):
        assert trajectories.lines(library, {"token": token, "keys": [entry.key]}) == {
            "text": "", "taken": 1, "gone": 1,
        }  # fmt: skip


def test_what_a_visitor_uploaded_goes_with_the_visitor(tmp_path: Path, record: dict[str, Any]) -> None:
    mine = Uploads()
    mine.read([write(tmp_path, "mine.jsonl", json.dumps(record))])
    token = mine.token
    assert uploads.of_token(token) is mine
    del mine
    gc.collect()
    assert uploads.of_token(token) is None


def test_two_first_requests_of_one_page_find_the_same() -> None:
    one, two = uploads.of_session("a"), uploads.of_session("a")
    assert one is two
    assert uploads.of_session("b") is not one
    assert uploads.of_session(None) is not uploads.of_session(None)


def test_the_same_episode_is_kept_once(tmp_path: Path, record: dict[str, Any]) -> None:
    file = write(tmp_path, "mine.jsonl", f"{json.dumps(record)}\n{json.dumps(record)}\n")
    mine = Uploads()
    assert "1 episode read. 1 episode had been read before." in mine.read([file])["lines"][0]
    assert "2 episodes had been read before" in mine.read([file])["lines"][0]
    assert len(mine.entries) == 1
    mine.forget()
    assert mine.entries == []
    assert mine.read([file])["lines"][0].startswith("mine.jsonl: 1 episode read.")


def test_a_record_comes_back_byte_by_byte(tmp_path: Path, record: dict[str, Any]) -> None:
    line = json.dumps({**record, "seed": 2**62 + 1, "note": "é"}, ensure_ascii=False, separators=(" , ", ":")).encode()
    mine = Uploads()
    mine.read([write(tmp_path, "mine.jsonl", b"\xef\xbb\xbf" + line + b"\r\n")])
    assert mine.line(mine.entries[0].key) == line


@pytest.mark.parametrize("layout", ["one", "list", "lines"])
def test_a_json_file_may_spread_over_lines(tmp_path: Path, record: dict[str, Any], layout: str) -> None:
    other = {**record, "seed": 4}
    text = {
        "one": json.dumps(record, indent=2),
        "list": json.dumps([record, other], indent=2),
        "lines": f"{json.dumps(record)}\n{json.dumps(other)}\n",
    }[layout]
    mine = Uploads()
    assert mine.read([write(tmp_path, "mine.json", text)])["tone"] == "good"
    assert [entry.seed for entry in mine.entries] == ([3] if layout == "one" else [3, 4])


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"", b"\n\n", b"{}\n[]\n5\nnull\n", b'{"schema": 99}\n', b"\0" * 50, b"PK\x03\x04zip"]
)
@pytest.mark.parametrize("name", ["odd.jsonl", "odd.json"])
def test_a_file_that_holds_nothing_usable_is_reported(tmp_path: Path, content: bytes, name: str) -> None:
    notice = Uploads().read([write(tmp_path, name, content)])
    assert "0 episodes read" in notice["lines"][0]
    assert notice["tone"] == "bad"


def test_good_lines_are_kept_where_others_are_broken(tmp_path: Path, record: dict[str, Any]) -> None:
    good = json.dumps(record)
    deep = "[" * 5000 + "]" * 5000
    bad = [
        good[:90],
        '{"schema": 1}',
        good.replace('"seed": 3', '"seed": NaN'),
        good.replace('"seed": 3', f'"seed": {deep}'),
    ]
    text = "\n".join([*bad, good, *["torn"] * 20])
    mine = Uploads()
    notice = mine.read([write(tmp_path, "mixed.jsonl", text)])
    assert (len(mine.entries), notice["tone"]) == (1, "bad")
    assert notice["lines"][0] == "mixed.jsonl: 1 episode read."
    assert [line.partition(":")[0] for line in notice["lines"][1:5]] == ["line 1", "line 2", "line 3", "line 4"]
    assert "NaN" in notice["lines"][3]
    assert notice["lines"][-1] == "… and 18 more problems"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    with file.open("wb") as stream:
        stream.truncate(uploads.MOST_BYTES + 1)
    notice = Uploads().read([file])
    assert notice["tone"] == "bad"
    assert "a file may have up to 50 MB" in notice["lines"][0]


def test_a_record_that_is_too_large_is_left_out(
    tmp_path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MOST_BYTES", 10_000)
    assert "far more than an episode" in read_line(json.dumps({**record, "padding": "x" * 10_000}).encode())[0]


@pytest.mark.parametrize("limit", ["MOST_EPISODES", "MOST_KEPT"])
def test_what_finds_no_room_is_told_and_the_rest_stays(
    tmp_path: Path, record: dict[str, Any], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = Uploads()
    mine.read([write(tmp_path, "first.jsonl", json.dumps(record))])
    monkeypatch.setattr(uploads, limit, 1)
    notice = mine.read([write(tmp_path, "more.jsonl", json.dumps({**record, "seed": 4}))])
    assert len(mine.entries) == 1
    assert (notice["tone"], "found no room" in notice["lines"][1]) == ("bad", True)


def test_an_evaluation_shows_who_played_and_in_which_trial(record: dict[str, Any]) -> None:
    note = {"agent": "checkpoint:tiny", "trial": 2, "seconds": 1.5, "notes": {"tokens": 70, "failed": "no answer"}}
    found = entry_of({**record, "player": {"name": "checkpoint:tiny", "kind": "agent"}, "evaluation": note}, "k")
    assert (found.player, found.trial) == ("checkpoint:tiny", 2)


def test_a_record_of_absurd_lengths_costs_no_time(record: dict[str, Any]) -> None:
    items = [{"product_id": f"p{n}", "variant_id": None, "title": "A", "qty": 1, "note": ""} for n in range(20_000)]
    lines = [{"product_id": f"q{n}", "variant_id": None, "title": "B", "qty": 1} for n in range(20_000)]
    step = {**record["steps"][0], "canonical": {"answer": {}}, "shop": {"cart": lines, "sold_out": []}}
    reward = {"correct": False, "total": 0, "hallucination": 0}
    absurd = {**record, "goal": {"env_id": "E_CART", "items": items}, "steps": [step], "reward": reward}
    # Held against each other, these would be four hundred million pairs.
    assert failures_of(absurd) == ("other",)
    view = json.loads(trajectories.inspect(json.dumps(absurd).encode(), "k").timeline["view"])
    assert all(len(block["rows"]) <= 1000 for block in view["result"]["blocks"])


@pytest.mark.parametrize("junk", [None, 5, "\ud800", [], [None], {"a": [1, {"b": None}]}, float("inf"), 10**400, True])
def test_any_odd_part_makes_an_entry(record: dict[str, Any], junk: Any) -> None:
    for key in record:
        assert entry_of({**record, key: junk}, "k").key == "k"
    for key in record["reward"]:
        entry_of({**record, "reward": {**record["reward"], key: junk}}, "k")
