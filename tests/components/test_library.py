from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import curriculum_runs, trajectories
from components.trajectories import Library, Uploads


@pytest.fixture
def record(session: Any) -> dict[str, Any]:
    session.start("E_CART", 0, 3)
    session.act("{broken", 1)
    return session.kept[0]


def told(library: Library, uploads: Uploads | None = None) -> dict[str, Any]:
    """What the page's table is sent, with the rows as mappings."""
    uploads = uploads or Uploads()
    value = json.loads(trajectories.table(library, uploads)["json"])
    for source in ("stored", "uploaded"):
        value[source] = [dict(zip(value["fields"], row, strict=True)) for row in value[source]]
    return value


def lines_of(library: Library, keys: list[str], uploads: Uploads | None = None) -> list[str]:
    asked = {"token": uploads.token if uploads else None, "keys": keys}
    return trajectories.lines(library, asked)["text"].splitlines()


def test_a_stored_episode_is_found_again(tmp_path: Path, record: dict[str, Any]) -> None:
    library = Library(tmp_path / "new" / "folder")
    assert told(library)["stored"] == []
    library.append(record)
    library.append({**record, "seed": 4})
    rows = told(library)["stored"]
    assert [(row["seed"], row["turns"], row["total"], row["player"]) for row in rows] == [
        (3, 1, -1, "you"),
        (4, 1, -1, "you"),
    ]
    assert {row["cause"] for row in rows} == {"invalid call"}
    assert trajectories.find(library, Uploads(), rows[1]["key"])["seed"] == 4
    assert [json.loads(line)["seed"] for line in lines_of(library, [row["key"] for row in rows])] == [3, 4]


def test_the_table_is_sent_again_only_where_it_changed(tmp_path: Path, record: dict[str, Any]) -> None:
    library, uploads = Library(tmp_path), Uploads()
    assert trajectories.table(library, uploads) is not None
    assert trajectories.table(library, uploads) is None
    library.append(record)
    assert trajectories.table(library, uploads) is not None
    uploads.forget()
    assert trajectories.table(library, uploads) is not None
    assert trajectories.table(library, Uploads()) is not None


def test_only_the_newest_are_listed(tmp_path: Path, record: dict[str, Any]) -> None:
    library = Library(tmp_path, most=3)
    for seed in range(5):
        library.append({**record, "seed": seed})
    value = told(library)
    assert [row["seed"] for row in value["stored"]] == [2, 3, 4]
    assert value["older"] == 2
    library.append({**record, "seed": 5})
    assert [row["seed"] for row in told(library)["stored"]] == [3, 4, 5]


def test_files_come_in_the_order_in_which_they_were_written(tmp_path: Path, record: dict[str, Any]) -> None:
    for age, name in enumerate(("b", "a", "c")):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps({**record, "seed": age}) + "\n")
        os.utime(file, (1000 + age, 1000 + age))
    assert [row["seed"] for row in told(Library(tmp_path))["stored"]] == [0, 1, 2]


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path, record: dict[str, Any]) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({**record, "seed": seed}) + "\n" for seed in range(3)))
    library = Library(tmp_path)
    assert len(library.entries()) == 3
    file.unlink()
    file.write_text(json.dumps({**record, "seed": 9}) + "\n")
    assert [entry.seed for entry in library.entries()] == [9]
    file.unlink()
    assert library.entries() == []


def test_torn_lines_are_reported_and_the_rest_is_read(tmp_path: Path, record: dict[str, Any]) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(record) + "\n\n" + json.dumps(record)[:50])
    library = Library(tmp_path)
    assert len(library.entries()) == 1
    assert "line 3" in trajectories.problems(library)["lines"][0]
    # The rest of the line comes: it was being written.
    with file.open("a") as stream:
        stream.write(json.dumps(record)[50:] + "\n")
    assert len(library.entries()) == 2
    assert trajectories.problems(library)["lines"] == []


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(1, 20))
def test_however_a_file_grows_its_lines_are_found(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], size: int
) -> None:
    folder = tmp_path_factory.mktemp("growing")
    needed = {"schema": 1, "env_id": "E", "difficulty": 0, "overrides": {}, "catalog": {}, "steps": [], "reward": {}}
    text = "".join(json.dumps({**needed, "seed": seed}) + "\n" for seed in range(size))
    library = Library(folder)
    places = sorted({len(text) * cut // 40 for cut in cuts} | {len(text)})
    for start, end in zip([0, *places], places, strict=False):
        with (folder / "a.jsonl").open("a") as file:
            file.write(text[start:end])
        complete = text[:end].count("\n")
        assert [entry.seed for entry in library.entries()][:complete] == list(range(complete))
    assert [entry.seed for entry in library.entries()] == list(range(size))
    assert len({entry.key for entry in library.entries()}) == size


def test_a_training_runs_episodes_are_shown_beside_the_stored_ones(
    tmp_path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    monkeypatch.setenv("ECOMRLVE_RUN", str(run))
    library = Library(tmp_path / "store", also=curriculum_runs.run_episodes())
    library.append({**record, "seed": 1})
    assert [row["seed"] for row in told(library)["stored"]] == [1]
    Library(run / "trajectories").append({**record, "seed": 2})
    rows = told(library)["stored"]
    assert [row["seed"] for row in rows] == [1, 2]
    assert json.loads(library.line(rows[1]["key"]) or b"")["seed"] == 2
    library.append({**record, "seed": 3})
    assert len(list((run / "trajectories").iterdir())) == 1, "visitors' episodes are none of the run's"
    monkeypatch.delenv("ECOMRLVE_RUN")
    assert curriculum_runs.run_episodes() == []


def test_a_seed_that_a_browser_would_round_is_text(tmp_path: Path, record: dict[str, Any]) -> None:
    library = Library(tmp_path)
    library.append({**record, "seed": 2**62 + 1})
    assert told(library)["stored"][0]["seed"] == str(2**62 + 1)


def test_a_link_names_an_episode_and_a_step(tmp_path: Path, record: dict[str, Any]) -> None:
    library, uploads = Library(tmp_path), Uploads()
    library.append(record)
    (entry,) = library.entries()
    asked = {"tab": "trajectories", "episode": record["episode_id"], "step": "2"}
    assert trajectories.linked(library, uploads, asked) == (entry.key, 2)
    assert trajectories.linked(library, uploads, asked | {"step": "-1"}) == (entry.key, 0)
    assert trajectories.linked(library, uploads, {"episode": "another"}) == (None, 0)
    assert trajectories.linked(library, uploads, {"episode": ["x"], "step": 3}) == (None, 0)
    found = trajectories.inspect(library.line(entry.key) or b"", entry.key, start=2)
    assert json.loads(found.timeline["view"])["start"] == 2
    assert json.loads(found.timeline["line"]) == record


def test_a_download_comes_in_parcels(tmp_path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path)
    for seed in range(7):
        library.append({**record, "seed": seed})
    keys = [entry.key for entry in library.entries()]
    monkeypatch.setattr(trajectories, "PARCEL", 3 * len(json.dumps(record)))
    text, done = "", 0
    asked = [*keys[:3], "gone", *keys[3:]]
    while done < len(asked):
        parcel = trajectories.lines(library, {"token": None, "keys": asked[done:]})
        assert parcel["taken"] > 0
        text, done = text + parcel["text"], done + parcel["taken"]
    assert [json.loads(line)["seed"] for line in text.splitlines()] == list(range(7))
    for junk in (None, 5, {"keys": "x"}, {"keys": [None, {"a": 1}], "token": 5}):
        assert trajectories.lines(library, junk)["text"] == ""


def test_verification_tells_a_changed_record(record: dict[str, Any], words_engine: Any) -> None:
    assert trajectories.verify(record, words_engine)["tone"] == "good"
    changed = {**record, "reward": {**record["reward"], "total": 0.5}}
    assert "reward.total" in trajectories.verify(changed, words_engine)["lines"][0]
    assert trajectories.verify(None, words_engine)["tone"] == "bad"
