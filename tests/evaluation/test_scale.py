"""The measurement of growth measures, judges its promises, and finds a build that a kill has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.synthetic import generate
from ecomrlve.evaluation import kills, scale
from ecomrlve.evaluation.processes import memory_of


def test_all_that_is_promised_is_measured_for_every_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "READERS", 3)
    figures = scale.measure(tmp_path, (3_000, 4_000), rounds=1, progress=False)
    found = {(row["what"], row.get("env"), row.get("d"), row["size"]): row for row in figures["rows"]}
    for size in (3_000, 4_000):
        for what in (
            "generate", "embed and index", "build, all together", "open the catalog", "resident after opening",
            "eight readers: mapped, of one", "search step, no filter", "search step, 0.01 %", "recall@10, 50 %",
            "serving: resident",
        ):  # fmt: skip
            row = found[what, None, None, size]
            assert row["value"] > 0, what
        for env_id in ("E_PD", "E_JOURNEY"):
            assert found["reset", env_id, 12, size]["value"] > 0
        assert found["recall@10, no filter", None, None, size]["value"] == 1.0
    row = found["reset", "E_PD", 0, 4_000]
    assert row["ratio"] == pytest.approx(row["value"] / found["reset", "E_PD", 0, 3_000]["value"])
    console = Console(record=True, width=200)
    scale.show(figures, console)
    told = console.export_text()
    assert "4,000" in told
    assert "E_JOURNEY" in told


def test_what_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []
    monkeypatch.setattr(scale, "watched", lambda command: commands.append(" ".join(command[3:5])) or 1.0)
    list(scale.built(tmp_path / "shop", 1_000))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "catalog.json").write_text("{}")
    list(scale.built(tmp_path / "shop", 1_000))
    assert commands == ["catalog generate", "index build", "index build"]


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ({"value": 3.0, "unit": "ms"}, True),
        ({"value": 3.0, "unit": "ms", "target": 3.0}, True),
        ({"value": 3.1, "unit": "ms", "target": 3.0}, False),
        ({"value": 0.94, "unit": "", "at_least": 0.95}, False),
        ({"value": 1.0, "unit": "ms", "target": 3.0, "ratio": 2.1, "target_ratio": 2.0}, False),
        ({"value": 1.0, "unit": "ms", "target": 3.0, "ratio": 1.9, "target_ratio": 2.0}, True),
    ],
)
def test_a_promise_is_kept_or_not(row: dict[str, Any], kept: bool) -> None:
    assert scale.judged(row)[0] is kept
    full = row | {"what": "it", "size": 5}
    assert scale.show({"sizes": [5], "rows": [full]}, Console(quiet=True)) is kept


def test_filters_leave_about_the_share_they_are_made_for() -> None:
    engine = SearchEngine(generate())
    for share in (0.5, 0.01):
        rows = engine.matching([scale.constraint_for(engine, share)])
        assert share * 0.8 <= len(rows) / len(engine.catalog) <= share * 1.3
    assert 1 <= len(engine.matching([scale.constraint_for(engine, 0.0001)])) <= 20


def test_a_killed_build_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    told = kills.killed(tmp_path, 2, size=11_000, progress=False)
    assert told["kills"] == 2
    assert told["identical"]
    assert told["files"] > 30


def test_a_difference_of_one_byte_is_seen(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "x.npy", np.arange(4))
    assert kills.checksums(tmp_path / "a") == kills.checksums(tmp_path / "b")
    np.save(tmp_path / "b" / "x.npy", np.array([0, 1, 2, 4]))
    assert kills.checksums(tmp_path / "a") != kills.checksums(tmp_path / "b")
    (tmp_path / "a" / "more").write_text("")
    assert "more" in kills.checksums(tmp_path / "a")


def test_memory_is_read_from_the_system() -> None:
    mine = memory_of("self")
    assert 10 < mine["Pss"] <= mine["Rss"] < 1e5
    assert memory_of(2**30)["Rss"] == 0.0
