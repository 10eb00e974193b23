"""The certificate: small grids of every law hold in all environments. That each can fail: test_laws_can_fail.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from ecomrlve.agents import cheats
from ecomrlve.collections import COLLECTIONS
from ecomrlve.evaluation import laws
from ecomrlve.evaluation.certificate import ALL_LAWS, certify
from ecomrlve.evaluation.pool import each

ALL = COLLECTIONS["C8"]
LEVELS = (0, 6, 12)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Boosting so small a table gains nothing from threads, and on a busy machine they wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def few_seeds_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 3 compares problems of fewer seeds of each range."""
    ranges = (range(0, 20), range(10_000, 10_020), range(1_000_000, 1_000_060))
    monkeypatch.setattr(laws, "SEED_RANGES", ranges)


def held(certificate: Any) -> list[int]:
    """The laws that were measured, all of which must hold."""
    broken = [
        [result.law, result.summary, [row for row in result.rows if not row.get("passed", True)]]
        for result in certificate.results
        if not result.passed
    ]
    assert not broken
    assert certificate.passed
    return [result.law for result in certificate.results]


@pytest.mark.usefixtures("few_seeds_apart")
def test_the_laws_without_many_episodes_hold_on_a_small_grid(words_engine: Any):
    found = certify(
        words_engine, ALL, LEVELS, range(1), which=(1, 3, 5, 6, 7, 8), slip_seeds=16, words_only=True, progress=False
    )
    assert held(found) == [1, 3, 5, 6, 7, 8]
    assert json.loads(json.dumps(found.to_dict()))["passed"]
    by_law = {result.law: result for result in found.results}
    assert {(row["env"], row["d"]) for row in by_law[1].rows} == {(env_id, d) for env_id in ALL for d in LEVELS}
    assert {row["env"] for row in by_law[5].rows} == set(ALL)
    assert set(found.seconds) == {1, 3, 5, 6, 7, 8}


@pytest.mark.parametrize("env_id", ALL)
def test_no_cheat_scores(words_engine: Any, env_id: str):
    result = laws.not_hackable(words_engine, (env_id,), (6,), range(6), 1, progress=False)
    assert result.passed, [row for row in result.rows if not row["passed"]]
    assert {row["cheat"] for row in result.rows} == set(cheats.cheats_for(env_id))


def test_all_eight_laws_are_measured_unless_some_are_named(
    words_engine: Any, few_seeds_apart: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(laws, "digests_in_new_process", lambda cells, *_: [laws._digest_cell(cell) for cell in cells])
    found = certify(
        words_engine, ("E_STATUS",), (0,), range(2), cheat_seeds=8, slip_seeds=4, words_only=True, progress=False
    )
    assert held(found) == list(ALL_LAWS) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert {row["d"] for row in found.results[1].rows} == {3, 6, 12}


@pytest.mark.parametrize("env_id", ALL)
def test_nothing_leaks_on_a_small_grid(words_engine: Any, env_id: str):
    found = certify(words_engine, (env_id,), LEVELS, range(1), which=(4,), words_only=True, progress=False)
    assert held(found) == [4]
    assert all(row["cases"] > 0 for row in found.results[0].rows if "silent" not in row["check"])


@pytest.mark.usefixtures("few_seeds_apart")
def test_the_laws_that_search_hold_with_sentence_vectors(engine: Any):
    found = certify(engine, ALL, (6,), range(1), which=(1, 3, 6), progress=False)
    assert held(found) == [1, 3, 6]


@pytest.mark.parametrize("env_id", ALL)
def test_the_reference_agent_is_perfect_at_every_difficulty(words_engine: Any, env_id: str):
    cells = [(env_id, d, seed) for d in range(13) for seed in (100, 101)]
    result = laws.solvable(words_engine, cells, 1, progress=False)
    assert result.passed, result.summary
    assert [row["d"] for row in result.rows] == list(range(13))
    assert all(row["replayed"] == row["perfect"] == row["episodes"] == 2 for row in result.rows)


def test_a_certificate_of_one_broken_law_is_broken(words_engine: Any):
    broken = laws.LawResult(1, "solvable", False, "no")
    found = certify(words_engine, ("E_STATUS",), (0,), range(1), which=(1,), progress=False)
    assert found.passed
    assert not type(found)(found.catalog, (*found.results, broken)).passed


def test_every_cheat_of_the_list_is_there():
    assert {
        "empty_answer", "random_seen", "all_seen", "first_hits", "repeated_ids", "never_seen", "clock", "chatter",
        "at_once", "right_items_first_variant",
    } <= set(cheats.CHEATS)  # fmt: skip
    assert all(len(cheats.cheats_for(env_id)) >= 10 for env_id in ALL)


def _double(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_tasks(words_engine: Any, workers: int):
    assert each(_double, list(range(50)), words_engine, workers=workers, progress=False) == list(range(0, 100, 2))


def test_the_axes_are_as_published(words_engine: Any):
    from ecomrlve.evaluation.axes import measure

    rows, dropped = measure(words_engine, ("E_CART", "E_PD"), [0, 3, 6, 9, 12], 300, 1, progress=False)
    assert [row for row in rows if not row.within] == []
    assert all(entry["omission"] == "0.0%" for entry in dropped)
