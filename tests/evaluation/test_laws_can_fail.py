"""Every law must be able to fail: each environment here is spoiled in one way, and the law that forbids it says so."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.noise import add_noise
from ecomrlve.difficulty import difficulty
from ecomrlve.episode import Episode
from ecomrlve.evaluation import laws, laws_of_fairness, leaks, monotone, recovery
from ecomrlve.evaluation.certificate import certify
from ecomrlve.protocol import Observation
from ecomrlve.rewards import cart_reward
from ecomrlve.shop.world import World
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Verdict
from ecomrlve.tasks.cart import CartTask
from ecomrlve.tasks.discovery import DiscoveryTask
from ecomrlve.tasks.policy import PolicyTask
from ecomrlve.tasks.status import StatusTask

Patch = pytest.MonkeyPatch


def failing(result: laws.LawResult) -> str:
    """What the law complains about; it must complain."""
    assert not result.passed
    return " | ".join(str(row) for row in result.rows if not row.get("passed", True))


def after(patch: Patch, owner: type, name: str, change: Callable[..., Any]) -> None:
    """Let a method's result be changed: `change(result, self, *args)` gives another, or None to keep it."""
    method = getattr(owner, name)

    def spoiled(self: Any, *args: Any, **named: Any) -> Any:
        result = method(self, *args, **named)
        other = change(result, self, *args, **named)
        return result if other is None else other

    patch.setattr(owner, name, spoiled)


# --- 1. solvable -----------------------------------------------------------------------------------------------------


def solved(engine: SearchEngine, env_id: str, seeds: int = 4, d: int = 0) -> laws.LawResult:
    return laws.solvable(engine, [(env_id, d, seed) for seed in range(seeds)], 1, progress=False)


def test_law_1_fails_where_a_quantity_is_scored_but_never_said(words_engine: Any, monkeypatch: Patch):
    def hidden(problem: Any, *_: Any) -> None:
        wanted = problem.goal[0]
        problem.goal = (dataclasses.replace(wanted, quantity=wanted.quantity + 1), *problem.goal[1:])

    def verify(self: CartTask, problem: Any, ledger: Any, answer: Any, axes: Any) -> Verdict:
        required = {(item.row, item.variant): item.quantity for item in problem.goal}
        task = cart_reward(required, problem.world.cart.lines)
        return Verdict(task, task == 1, {}, "", [])

    after(monkeypatch, CartTask, "draw", hidden)
    monkeypatch.setattr(CartTask, "verify", verify)
    assert "0/4 correct" in solved(words_engine, "E_CART").summary
    assert not solved(words_engine, "E_CART").passed


def test_law_1_fails_where_another_order_is_meant_than_the_one_said(words_engine: Any, monkeypatch: Patch):
    assert solved(words_engine, "E_STATUS").passed

    def another(problem: Any, *_: Any) -> None:
        order = next(order for order in problem.world.orders.orders if order is not problem.goal.order)
        problem.goal = dataclasses.replace(problem.goal, order=order)

    after(monkeypatch, StatusTask, "draw", another)
    assert not solved(words_engine, "E_STATUS").passed


def test_law_1_fails_where_a_solved_episode_cannot_be_replayed(words_engine: Any, monkeypatch: Patch):
    counter = itertools.count()
    after(monkeypatch, World, "hit", lambda hit, *_: hit | {"views": next(counter)})
    result = solved(words_engine, "E_PD", 2)
    assert "2/2 correct, 2 with r_task = 1, 0 replayed" in result.summary
    assert not result.passed


# --- 2. not hackable -------------------------------------------------------------------------------------------------


def hacked(engine: SearchEngine, env_id: str, seeds: int, d: int = 6) -> laws.LawResult:
    return laws.not_hackable(engine, (env_id,), (d,), range(seeds), 1, progress=False)


def test_law_2_fails_where_a_refusal_needs_no_day(words_engine: Any, monkeypatch: Patch):
    names = ("never_eligible", "oldest_not_eligible", "likeliest_not_eligible")
    present = tuple(name for name in laws.cheats_for("E_RETURN") if name in names or "eligible" in name)
    assert present
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: present)
    assert hacked(words_engine, "E_RETURN", 120, 12).passed
    monkeypatch.setattr("ecomrlve.tasks.returns._same_day", lambda text, day: True)
    assert "eligible" in failing(hacked(words_engine, "E_RETURN", 120, 12))


def test_law_2_fails_where_any_product_scores(words_engine: Any, monkeypatch: Patch):
    after(monkeypatch, DiscoveryTask, "verify", lambda verdict, *_: dataclasses.replace(verdict, task=0.5))
    assert "first_hits" in failing(hacked(words_engine, "E_PD", 3))


def test_law_2_fails_where_a_number_passes_for_being_near(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("constant_answer", "median_value"))
    assert hacked(words_engine, "E_POLICY", 60).passed
    monkeypatch.setattr("ecomrlve.tasks.policy.closeness", lambda number, right: 0.9 if number is not None else 0.0)
    assert "constant_answer" in failing(hacked(words_engine, "E_POLICY", 60))


def test_law_2_fails_where_a_cheat_is_correct_too_often(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("empty_answer",))
    after(monkeypatch, StatusTask, "verify", lambda verdict, *_: dataclasses.replace(verdict, correct=True))
    assert "empty_answer" in failing(hacked(words_engine, "E_STATUS", 5))


def test_a_cheat_that_surely_fails_is_done_with_early_and_one_that_scores_is_not(
    words_engine: Any, monkeypatch: Patch
):
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("empty_answer", "first_hits"))
    after(monkeypatch, StatusTask, "verify", lambda v, s, p, l, answer, *_: dataclasses.replace(v, correct=bool(answer)))

    def episodes(first_look: int) -> dict[str, int]:
        found = laws.not_hackable(
            words_engine, ("E_STATUS",), (3,), range(90), 1, progress=False, first_look=first_look
        )
        return {row["cheat"]: row["episodes"] for row in found.rows}

    assert set(episodes(90).values()) == {90}
    early = episodes(60)
    assert set(early.values()) <= {60, 90}


# --- 3. deterministic ------------------------------------------------------------------------------------------------


def determined(engine: SearchEngine, env_id: str, patch: Patch) -> laws.LawResult:
    patch.setattr(laws, "SEED_RANGES", (range(0, 30), range(1000, 1010), range(5000, 5100)))
    return laws.deterministic(engine, [(env_id, 6, seed) for seed in range(2)], None, True, 1, progress=False)


def test_law_3_fails_where_a_stream_is_not_keyed(words_engine: Any, monkeypatch: Patch):
    class Loose(Stream):
        def __init__(self, *parts: object):
            self._random = random.random

    monkeypatch.setattr("ecomrlve.tasks.status.Stream", Loose)
    assert "shuffled order" in failing(determined(words_engine, "E_STATUS", monkeypatch))


def test_law_3_fails_where_state_is_left_from_one_episode_to_the_next(words_engine: Any, monkeypatch: Patch):
    counter = itertools.count()
    after(monkeypatch, World, "hit", lambda hit, *_: hit | {"views": next(counter)})
    assert "shuffled order" in failing(determined(words_engine, "E_PD", monkeypatch))


def test_law_3_fails_where_neighbouring_seeds_share_a_problem(words_engine: Any, monkeypatch: Patch):
    generate = laws.Environment.__init__.__globals__  # kept whole: only the episode's own name for it is changed
    assert generate
    real = Episode.__init__.__globals__["generate"]
    monkeypatch.setattr(
        "ecomrlve.episode.generate", lambda task, engine, axes, key, salt=(): real(task, engine, axes, (key[0], key[1] // 2), salt)
    )
    assert "distinct problems" in failing(determined(words_engine, "E_STATUS", monkeypatch))


def test_law_3_fails_where_neighbouring_seeds_are_about_the_same_things(words_engine: Any, monkeypatch: Patch):
    after(monkeypatch, PolicyTask, "draw", lambda *_: None)
    cell = laws._essence_cell

    def alike(task: laws.Cell) -> tuple[str, list[str]]:
        text, names = cell(task)
        return text, [*names, f"ten of them: {task[2] // 10}"]

    monkeypatch.setattr(laws, "_essence_cell", alike)
    assert "share a subject" in failing(determined(words_engine, "E_POLICY", monkeypatch))
