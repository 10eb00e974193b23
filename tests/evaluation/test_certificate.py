"""The certificate: a small grid of every law must hold, and each law must be able to fail."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from ecomrlve.agents import cheats
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.evaluation import laws, laws_of_fairness
from ecomrlve.evaluation.certificate import certify
from ecomrlve.evaluation.pool import each
from ecomrlve.shop.world import World
from ecomrlve.tasks.cart import CartTask
from ecomrlve.tasks.discovery import DiscoveryTask

ENVS = ("E_CART", "E_PD")


def test_all_laws_hold_on_a_small_grid(engine: Any) -> None:
    found = certify(engine, ENVS, [0, 6, 12], range(3), cheat_seeds=12, workers=1, progress=False)
    broken = [result.summary for result in found.results if not result.passed]
    assert not broken
    assert [result.law for result in found.results] == [1, 2, 3, 4, 6, 7, 8]
    assert json.loads(json.dumps(found.to_dict()))["passed"]


@pytest.mark.parametrize("env_id", ENVS)
@pytest.mark.parametrize("d", range(13))
def test_the_reference_agent_is_perfect_at_every_difficulty(words_engine: Any, env_id: str, d: int) -> None:
    result = laws.solvable(words_engine, [(env_id, d, seed) for seed in range(100, 125)], 1, progress=False)
    assert result.passed, result.summary


def test_no_cheat_scores(words_engine: Any) -> None:
    result = laws.not_hackable(words_engine, ENVS, (3, 6, 12), range(25), 1, progress=False)
    assert result.passed, [row for row in result.rows if not row["passed"]]


def test_law_1_fails_where_a_requirement_is_scored_but_never_said(
    words_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = CartTask.draw

    def hidden(self: CartTask, *args: Any) -> Any:
        problem = draw(self, *args)
        wanted = problem.goal[0]
        problem.goal = (dataclasses.replace(wanted, quantity=wanted.quantity + 1), *problem.goal[1:])
        return problem

    def required(self: CartTask, problem: Any, ledger: Any) -> Any:
        return {(item.row, item.variant): item.quantity for item in problem.goal}

    def verify(self: CartTask, problem: Any, ledger: Any, answer: Any, axes: Any) -> Any:
        from ecomrlve.rewards import cart_reward
        from ecomrlve.tasks.base import Verdict

        task = cart_reward(required(self, problem, ledger), problem.world.cart.lines)
        return Verdict(task, task == 1, {}, "", [])

    monkeypatch.setattr(CartTask, "draw", hidden)
    monkeypatch.setattr(CartTask, "verify", verify)
    assert not laws.solvable(words_engine, [("E_CART", 0, seed) for seed in range(5)], 1, progress=False).passed


def test_law_2_fails_where_any_product_scores(words_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    verify = DiscoveryTask.verify

    def generous(self: DiscoveryTask, *args: Any) -> Any:
        return dataclasses.replace(verify(self, *args), task=0.5)

    monkeypatch.setattr(DiscoveryTask, "verify", generous)
    assert not laws.not_hackable(words_engine, ("E_PD",), (3,), range(10), 1, progress=False).passed


def test_law_4_fails_where_targets_come_first_in_the_history(
    words_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = CartTask.draw

    def sorted_history(self: CartTask, *args: Any) -> Any:
        problem = draw(self, *args)
        targets = {item.row for item in problem.goal}
        problem.world.history.sort(key=lambda row: row not in targets)
        return problem

    monkeypatch.setattr(CartTask, "draw", sorted_history)
    result = laws_of_fairness.no_leak(words_engine, ("E_CART",), range(10), 1, progress=False)
    assert not result.passed
    assert "position" in result.summary


def test_law_4_fails_where_a_search_favours_the_goal(words_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = DiscoveryTask.draw

    def leaky(self: DiscoveryTask, *args: Any) -> Any:
        problem = draw(self, *args)
        problem.world.retrieval_key ^= len(problem.slots) + hash(problem.goal.type)
        return problem

    monkeypatch.setattr(DiscoveryTask, "draw", leaky)
    assert not laws_of_fairness.no_leak(words_engine, ("E_PD",), range(10), 1, progress=False).passed


def test_law_6_fails_where_words_are_not_understood(words_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ecomrlve.catalog.lexical import LexicalIndex

    plain = SearchEngine(words_engine.catalog)
    monkeypatch.setattr(plain._lexical, "_near", lambda word: ())
    assert isinstance(plain._lexical, LexicalIndex)
    cells = [("E_CART", 12, seed) for seed in range(60)]
    assert laws_of_fairness.recoverable(words_engine, cells, 1, progress=False).passed
    assert not laws_of_fairness.recoverable(plain, cells, 1, progress=False).passed


def test_law_8_fails_where_letter_case_counts(words_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    row = World.row

    def strict(self: World, product_id: str) -> int:
        return row(self, product_id if product_id == product_id.strip().lower() else "p-unknown")

    monkeypatch.setattr(World, "row", strict)
    cells = [("E_CART", 6, seed) for seed in range(3)]
    assert not laws_of_fairness.indifferent(words_engine, cells, 1, progress=False).passed


def test_every_cheat_of_the_list_is_there() -> None:
    assert {
        "empty_answer", "random_seen", "all_seen", "first_hits", "repeated_ids", "never_seen", "clock", "chatter",
        "at_once", "right_items_first_variant",
    } <= set(cheats.CHEATS)  # fmt: skip


def _double(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_tasks(words_engine: Any, workers: int) -> None:
    assert each(_double, list(range(50)), words_engine, workers=workers, progress=False) == list(range(0, 100, 2))


def test_the_axes_are_as_published(words_engine: Any) -> None:
    from ecomrlve.evaluation.axes import measure

    rows, dropped = measure(words_engine, ENVS, [0, 3, 6, 9, 12], 400, 1, progress=False)
    assert [row for row in rows if not row.within] == []
    assert all(entry["omission"] == "0.0%" for entry in dropped)
