from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components import trajectories
from components.trajectories import Library, Uploads


@pytest.fixture
def record(session: Any) -> dict[str, Any]:
    session.start("E_CART", 0, 3)
    session.act("{broken", 1)
    return session.kept[0]


def test_a_stored_episode_is_found_again(tmp_path: Path, record: dict[str, Any]) -> None:
    library = Library(tmp_path / "new" / "folder")
    assert trajectories.table(library, Uploads()) == {"episodes": []}
    library.append(record)
    library.append({**record, "seed": 4})
    rows = trajectories.table(library, Uploads())["episodes"]
    assert [(row["seed"], row["turns"], row["total"], row["player"]) for row in rows] == [
        (3, 1, -1, "you"),
        (4, 1, -1, "you"),
    ]
    assert trajectories.find(library, Uploads(), rows[1]["key"])["seed"] == 4
    assert [json.loads(line)["seed"] for line in library.export().splitlines()] == [3, 4]


def test_torn_lines_are_reported_and_the_rest_is_read(tmp_path: Path, record: dict[str, Any]) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n" + json.dumps(record)[:50])
    library = Library(tmp_path)
    assert len(library.episodes()) == 1
    assert "line 2" in trajectories.problems(library)["lines"][0]


def test_uploads_belong_to_one_visitor(tmp_path: Path, record: dict[str, Any]) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(record) + "\n")
    library, mine, other = Library(tmp_path / "store"), Uploads(), Uploads()
    assert mine.read(file)["tone"] == "good"
    assert len(trajectories.table(library, mine)["episodes"]) == 1
    assert trajectories.table(library, other)["episodes"] == []


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"{}\n[]\n5\nnull\n", b'{"schema": 99}\n'])
def test_a_file_that_holds_nothing_usable_is_reported(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_bytes(content)
    notice = Uploads().read(file)
    assert "0 episodes" in notice["lines"][0]
    assert (notice["tone"] == "bad") == bool(content)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    with file.open("wb") as stream:
        stream.truncate(trajectories.MOST_BYTES + 1)
    assert "20 MB" in Uploads().read(file)["lines"][0]


def test_verification_tells_a_changed_record(record: dict[str, Any], words_engine: Any) -> None:
    assert trajectories.verify(record, words_engine)["tone"] == "good"
    changed = {**record, "reward": {**record["reward"], "total": 0.5}}
    assert "reward.total" in trajectories.verify(changed, words_engine)["lines"][0]
    assert trajectories.verify(None, words_engine)["tone"] == "bad"
