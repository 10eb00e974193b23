"""Every law must be able to fail: each environment here is spoiled in one way, and the law that forbids it says so."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.noise import add_noise
from ecomrlve.difficulty import difficulty
from ecomrlve.episode import Episode
from ecomrlve.evaluation import laws, laws_of_fairness, leaks, monotone, recovery
from ecomrlve.evaluation.certificate import certify
from ecomrlve.protocol import Observation
from ecomrlve.rewards import cart_reward
from ecomrlve.shop.world import World
from ecomrlve.streams import Stream, key_of
from ecomrlve.tasks.base import Verdict
from ecomrlve.tasks.cart import CartTask
from ecomrlve.tasks.discovery import DiscoveryTask
from ecomrlve.tasks.policy import PolicyTask
from ecomrlve.tasks.status import StatusTask

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Boosting so small a table gains nothing from threads, and on a busy machine they wait for each other."""
    with threadpool_limits(1):
        yield


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
    # Who finds the line by what is said, and refuses always, would be right in every seventh episode.
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("titled_like_words",))
    monkeypatch.setattr(laws, "ENOUGH_SEEDS", 80)
    assert hacked(words_engine, "E_RETURN", 80).passed
    monkeypatch.setattr("ecomrlve.tasks.returns._same_day", lambda text, day: True)
    assert "titled_like_words" in failing(hacked(words_engine, "E_RETURN", 80))


def test_law_2_fails_where_any_product_scores(words_engine: Any, monkeypatch: Patch):
    after(monkeypatch, DiscoveryTask, "verify", lambda verdict, *_: dataclasses.replace(verdict, task=0.5))
    assert "first_hits" in failing(hacked(words_engine, "E_PD", 20))


def test_law_2_fails_where_a_number_passes_for_being_near(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("constant_answer", "median_value"))
    assert hacked(words_engine, "E_POLICY", 60).passed
    monkeypatch.setattr("ecomrlve.tasks.policy.closeness", lambda number, right: 0.9 if number is not None else 0.0)
    assert "constant_answer" in failing(hacked(words_engine, "E_POLICY", 60))


def test_law_2_fails_where_a_cheat_is_correct_too_often(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("empty_answer",))
    after(monkeypatch, StatusTask, "verify", lambda verdict, *_: dataclasses.replace(verdict, correct=True))
    assert "empty_answer" in failing(hacked(words_engine, "E_STATUS", 5))


@pytest.mark.parametrize(("scores", "episodes"), [(False, 60), (True, 90)])
def test_only_a_cheat_that_surely_fails_is_done_with_early(
    words_engine: Any, monkeypatch: Patch, scores: bool, episodes: int
):
    monkeypatch.setattr(laws, "cheats_for", lambda env_id: ("empty_answer",))
    # Correct in about every tenth episode: within the bound, but not surely so.
    lucky = lambda verdict, task, problem, *_: dataclasses.replace(
        verdict, correct=scores and key_of(problem.world.key) % 10 == 0
    )
    after(monkeypatch, StatusTask, "verify", lucky)
    found = laws.not_hackable(words_engine, ("E_STATUS",), (3,), range(90), 1, progress=False, first_look=60)
    assert [row["episodes"] for row in found.rows] == [episodes]


# --- 3. deterministic ------------------------------------------------------------------------------------------------


def determined(engine: SearchEngine, env_id: str, patch: Patch) -> laws.LawResult:
    patch.setattr(laws, "SEED_RANGES", (range(0, 30), range(1000, 1010), range(5000, 5100)))
    # The certificate's own test starts another process; what is spoiled here shows in this one.
    patch.setattr(laws, "digests_in_new_process", lambda cells, *_: [laws._digest_cell(cell) for cell in cells])
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


@pytest.mark.parametrize(("together", "complaint"), [(2, "distinct problems"), (10, "share a subject")])
def test_law_3_fails_where_neighbouring_seeds_share_what_they_draw(
    words_engine: Any, monkeypatch: Patch, together: int, complaint: str
):
    draw = DiscoveryTask.draw

    def coarse(self: DiscoveryTask, world: World, axes: Any, key: Any, *args: Any) -> Any:
        return draw(self, world, axes, (key[0], key[1] // together), *args)

    monkeypatch.setattr(DiscoveryTask, "draw", coarse)
    assert complaint in failing(determined(words_engine, "E_PD", monkeypatch))


# --- 4. no leak ------------------------------------------------------------------------------------------------------


def leaking(engine: SearchEngine, env_id: str, patch: Patch, seeds: int = 1, *, boosting: bool = False) -> str:
    if not boosting:
        patch.setattr(leaks, "_CANDIDATES", {})
    return failing(leaks.no_leak(engine, (env_id,), range(seeds), 1, progress=False))


def test_law_4_fails_where_a_search_depends_on_the_goal(words_engine: Any, monkeypatch: Patch):
    def leaky(problem: Any, *_: Any) -> None:
        problem.world.retrieval_key ^= key_of(problem.goal.type, len(problem.slots))

    after(monkeypatch, DiscoveryTask, "draw", leaky)
    assert "tool results do not depend on the goal" in leaking(words_engine, "E_PD", monkeypatch, 2)


def test_law_4_fails_where_the_account_depends_on_the_goal(words_engine: Any, monkeypatch: Patch):
    def leaky(problem: Any, *_: Any) -> None:
        history = problem.world.orders
        first, *others = history.orders
        history.orders = (dataclasses.replace(first, channel=f"for {problem.goal.order.placed}"), *others)

    after(monkeypatch, StatusTask, "draw", leaky)
    assert "tool results do not depend on the goal" in leaking(words_engine, "E_STATUS", monkeypatch, 2)


def test_law_4_fails_where_targets_come_first_in_a_list(words_engine: Any, monkeypatch: Patch):
    def targets_first(problem: Any, *_: Any) -> None:
        targets = {item.row for item in problem.goal}
        problem.world.history.sort(key=lambda row: row not in targets)

    after(monkeypatch, CartTask, "draw", targets_first)
    assert "gradient boosting picks a target" in leaking(words_engine, "E_CART", monkeypatch, boosting=True)


def test_law_4_fails_where_silence_shows_what_is_unsaid(words_engine: Any, monkeypatch: Patch):
    def telling(observation: Observation, episode: Episode, *_: Any) -> Observation:
        unsaid = json.dumps([slot.value for slot in episode.ledger.unsaid()])
        return dataclasses.replace(observation, list_size=key_of(unsaid) % 1000)

    after(monkeypatch, Episode, "observe", telling)
    assert "silent pairs" in leaking(words_engine, "E_PD", monkeypatch, 2)


def test_law_4_fails_where_an_observation_or_info_holds_more(words_engine: Any, monkeypatch: Patch):
    after(monkeypatch, Observation, "to_dict", lambda found, *_: found | {"goal": 1})
    assert "nothing but what the contract lists" in leaking(words_engine, "E_POLICY", monkeypatch)


@pytest.mark.parametrize("name", ["position", "id", "stock"])
def test_boosting_finds_what_tells_and_nothing_where_nothing_does(name: str):
    numbers = np.random.default_rng(3)

    def groups(telling: bool) -> list[tuple[str, list[leaks.Entry]]]:
        found = []
        for number in range(60):
            target = int(numbers.integers(8))
            group = []
            for place in range(8):
                features = {key: float(numbers.random()) for key in ("position", "id", "stock")}
                if telling and place == target:
                    features[name] *= 0.1
                group.append((int(place == target), features))
            found.append((str(number), group))
        return found

    rate, chance, error = leaks.picked(groups(True))
    assert chance == pytest.approx(1 / 8)
    assert rate - 2.33 * error > chance + leaks.ALLOWANCE
    rate, chance, error = leaks.picked(groups(False))
    assert rate - 2.33 * error <= chance + leaks.ALLOWANCE


# --- 5. monotone -----------------------------------------------------------------------------------------------------


def curve(engine: SearchEngine, env_id: str, seeds: int = 16) -> laws.LawResult:
    return monotone.monotone(engine, (env_id,), (0, 6, 12), range(seeds), 1, progress=False)


@pytest.mark.parametrize("env_id", ["E_CART", "E_STATUS", "E_POLICY"])
def test_law_5_fails_where_the_axes_do_nothing(words_engine: Any, monkeypatch: Patch, env_id: str):
    monkeypatch.setattr("ecomrlve.environment.difficulty", lambda d, overrides=None: difficulty(0, overrides))
    result = curve(words_engine, env_id)
    assert "'fall': '0.00'" in failing(result)


def test_law_5_fails_where_episodes_get_easier(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr("ecomrlve.environment.difficulty", lambda d, overrides=None: difficulty(12 - d, overrides))
    result = curve(words_engine, "E_CART")
    failing(result)
    assert float(result.rows[0]["largest rise"].split()[0]) > monotone.MOST_RISE
    assert float(result.rows[0]["fall"]) < 0


def test_law_5_fails_without_typos_and_omissions_where_nothing_else_makes_it_hard(
    words_engine: Any, monkeypatch: Patch
):
    def flat(d: int, overrides: Any = None) -> Any:
        quiet = {"noise": 0.0, "omission": 0.0, "switching": 0.0, "policy_clauses": 1, "order_history": 4}
        return difficulty(d, quiet)

    assert curve(words_engine, "E_POLICY").rows
    monkeypatch.setattr("ecomrlve.environment.difficulty", flat)
    failing(curve(words_engine, "E_POLICY"))


# --- 6. recoverable --------------------------------------------------------------------------------------------------


def recovered(engine: SearchEngine, env_id: str, seeds: int = 40) -> laws.LawResult:
    return recovery.recoverable(engine, [(env_id, 12, seed) for seed in range(seeds)], 1, progress=False)


def test_law_6_fails_where_words_with_slips_are_not_understood(words_engine: Any, monkeypatch: Patch):
    plain = SearchEngine(words_engine.catalog)
    monkeypatch.setattr(plain._lexical, "_near", lambda word: ())
    assert recovered(words_engine, "E_CART", 60).passed
    failing(recovered(plain, "E_CART", 60))


@pytest.mark.parametrize("env_id", ["E_CART", "E_SUB"])
def test_law_6_fails_where_typos_fall_on_what_tells_products_apart(words_engine: Any, monkeypatch: Patch, env_id: str):
    def careless(text: str, rate: float, stream: Stream) -> str:
        noisy = add_noise(text, rate, stream)
        # Every number, and every name but the last word's, comes out as something else.
        *names, last = noisy.split()
        return " ".join([*(re.sub(r"\d", "7", name[::-1]) for name in names), last])

    monkeypatch.setattr(recovery, "add_noise", careless)
    failing(recovered(words_engine, env_id))


# --- 7. bounded ------------------------------------------------------------------------------------------------------


def bounded(engine: SearchEngine) -> laws.LawResult:
    return certify(engine, ("E_STATUS",), (0,), range(2), which=(7,), progress=False).results[0]


@pytest.mark.parametrize("task", [0.999, 1.0 - 2**-53])
def test_law_7_fails_where_a_perfect_run_is_not_exactly_one(words_engine: Any, monkeypatch: Patch, task: float):
    assert bounded(words_engine).passed
    after(monkeypatch, StatusTask, "verify", lambda v, *_: dataclasses.replace(v, task=min(v.task, task)))
    assert "r_task = 1 exactly" in failing(bounded(words_engine))


def test_a_reward_out_of_bounds_cannot_even_be_made(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr("ecomrlve.episode.efficiency", lambda *_: -1.5)
    with pytest.raises(ValueError, match="efficiency must be a number from -1 to 1"):
        bounded(words_engine)


# --- 8. indifferent --------------------------------------------------------------------------------------------------


def rewritten(engine: SearchEngine, env_id: str) -> laws.LawResult:
    return laws_of_fairness.indifferent(engine, [(env_id, 6, seed) for seed in range(3)], 1, progress=False)


def test_law_8_fails_where_letter_case_counts(words_engine: Any, monkeypatch: Patch):
    row = World.row
    monkeypatch.setattr(
        World, "row", lambda self, name: row(self, name if name == name.strip().lower() else "p-unknown")
    )
    assert "letter case" in failing(rewritten(words_engine, "E_CART"))


def test_law_8_fails_where_the_case_of_an_answer_counts(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr("ecomrlve.tasks.status.normal_status", lambda text: text)
    assert "letter case" in failing(rewritten(words_engine, "E_STATUS"))


@pytest.mark.parametrize(
    ("shift", "complaint"), [(lambda x: x - 1, "nearby number"), (lambda x: -x, "wrong sign"), (abs, "wrong sign")]
)
def test_law_8_fails_where_an_answer_that_is_nearly_right_passes(
    words_engine: Any, monkeypatch: Patch, shift: Callable[[Any], Any], complaint: str
):
    verify = PolicyTask.verify

    def generous(self: PolicyTask, problem: Any, ledger: Any, answer: Any, axes: Any) -> Verdict:
        given = answer.get("policy_answer", "")
        forms = [given] if isinstance(given, str) else [given, shift(given)]
        found = [verify(self, problem, ledger, {**answer, "policy_answer": form}, axes) for form in forms]
        return max(found, key=lambda verdict: verdict.task)

    monkeypatch.setattr(PolicyTask, "verify", generous)
    assert complaint in failing(rewritten(words_engine, "E_POLICY"))


def test_law_8_fails_where_the_right_words_are_enough(words_engine: Any, monkeypatch: Patch):
    monkeypatch.setattr("ecomrlve.tasks.returns.ReturnTask._transacted", lambda self, world, goal: True)
    assert "actions left out" in failing(rewritten(words_engine, "E_RETURN"))
