"""E_PD: requirements that matter, priorities, and the verdict on a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ecomrlve.catalog.filters import satisfied
from ecomrlve.difficulty import difficulty
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.constraints import NECESSARY, necessary
from ecomrlve.tasks.discovery import DiscoveryTask, constraint_of, feasible_rows, priority_values, requirements

TASK = DiscoveryTask()


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_PD", seed))


def told(problem: Problem) -> Any:
    ledger = problem.ledger()
    ledger.say(list(ledger.slots), 0, "open")
    return ledger


def judge(problem: Problem, ledger: Any, ids: list[str], d: int) -> Any:
    return TASK.verify(problem, ledger, {"recommended_product_ids": ids}, difficulty(d))


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[tuple[int, Problem]]:
    return [(d, draw(words_engine, seed, d)) for d in range(0, 13, 2) for seed in range(40)]


def test_every_requirement_excludes_something_and_three_are_necessary(problems: list[tuple[int, Problem]]) -> None:
    for _, problem in problems:
        goal, catalog = problem.goal, problem.world.catalog
        constraints = [constraint_of(slot) for slot in problem.slots if slot.kind == "constraint"]
        assert len({c.attribute for c in constraints}) == len(constraints)
        for constraint in constraints:
            assert not satisfied(catalog, goal.rows, constraint).all(), constraint
        needed = necessary(catalog, goal.rows, goal.alive, constraints)
        assert needed >= min(len(constraints), NECESSARY)


def test_the_default_catalog_supports_all_requirements_at_every_difficulty(problems: list[tuple[int, Problem]]) -> None:
    assert all(problem.supported == difficulty(d).constraints for d, problem in problems)


def test_the_feasible_set_has_the_size_that_the_contract_asks_for(problems: list[tuple[int, Problem]]) -> None:
    for d, problem in problems:
        axes = difficulty(d)
        count = len(TASK.reveal(problem, problem.ledger())["feasible"])
        assert 2 <= count <= min(3 * axes.list_size, int(0.7 * axes.search_depth))


def test_sorting_by_the_priorities_is_perfect_and_exactly_one(problems: list[tuple[int, Problem]]) -> None:
    for d, problem in problems:
        ledger = told(problem)
        verdict = judge(problem, ledger, TASK.reveal(problem, ledger)["best"], d)
        assert verdict.task == 1.0
        assert verdict.correct


def test_half_knowledge_scores_as_the_contract_simulated(problems: list[tuple[int, Problem]]) -> None:
    """Sorting by the first priority alone is nearly perfect, a random order of F is not a success."""
    first, shuffled, correct = [], [], []
    for number, (d, problem) in enumerate(problems):
        ledger = told(problem)
        goal, world = problem.goal, problem.world
        rows = goal.rows[feasible_rows(world.catalog, goal, [constraint_of(s) for s in requirements(ledger)])]
        top = next(slot for slot in problem.slots if slot.key == "priority:1")
        values = priority_values(world.catalog, rows, top.attribute, top.value)
        ids = [world.product_id(int(row)) for row in rows[np.argsort(-values, kind="stable")]]
        first.append(judge(problem, ledger, ids[: goal.k], d).task)
        rng = np.random.Generator(np.random.PCG64(number))
        verdict = judge(problem, ledger, [ids[i] for i in rng.permutation(len(ids))[: goal.k]], d)
        shuffled.append(verdict.task)
        correct.append(verdict.correct)
    assert np.mean(first) > 0.85
    assert np.mean(shuffled) < 0.6
    assert np.mean(correct) < 0.25


def test_sold_out_unmet_foreign_repeated_and_invented_ids_are_wrong_entries(
    problems: list[tuple[int, Problem]],
) -> None:
    for d, problem in problems:
        ledger, goal, world = told(problem), problem.goal, problem.world
        best = TASK.reveal(problem, ledger)["best"]
        mask = feasible_rows(world.catalog, goal, [constraint_of(s) for s in requirements(ledger)])
        foreign = next(r for r in range(len(world.catalog)) if world.catalog.type_of(r) != goal.type)
        wrong = [int(goal.rows[~mask][0]), foreign]
        dead = goal.rows[~goal.alive]
        if len(dead):
            wrong.append(int(dead[0]))
        for identifier in [*(world.product_id(row) for row in wrong), best[-1], "p0000000", "", "x" * 1000]:
            verdict = judge(problem, ledger, [identifier, *best[1:]], d)
            assert verdict.task < 1, identifier
            assert not verdict.correct, identifier


def test_a_requirement_that_was_never_said_is_not_scored(words_engine: Any) -> None:
    checked = 0
    for seed in range(60):
        problem = draw(words_engine, seed, 4, switching=0.0)
        goal, world = problem.goal, problem.world
        for slot in [s for s in problem.slots if s.kind == "constraint"]:
            ledger = problem.ledger()
            others = [s for s in problem.slots if s is not slot]
            ledger.say([s.key for s in others], 0, "open")
            loose = goal.rows[
                feasible_rows(world.catalog, goal, [constraint_of(s) for s in others if s.kind == "constraint"])
            ]
            strict = satisfied(world.catalog, loose, constraint_of(slot))
            if strict.all():
                continue
            odd = world.product_id(int(loose[~strict][0]))
            assert judge(problem, ledger, [odd], 4).parts["hits"] == 1
            ledger.say([slot.key], 1, "clarify")
            assert judge(problem, ledger, [odd], 4).parts["hits"] == 0
            checked += 1
    assert checked > 60


def test_the_list_is_cut_to_k_before_anything_else(problems: list[tuple[int, Problem]]) -> None:
    for d, problem in problems:
        ledger = told(problem)
        best = TASK.reveal(problem, ledger)["best"]
        if len(best) == problem.goal.k:
            assert judge(problem, ledger, [*best, "p0000000", "p0000000"], d).task == 1.0
            return
    pytest.fail("no problem with k feasible products")


def test_a_change_of_mind_leaves_a_good_problem(words_engine: Any) -> None:
    changed = 0
    for seed in range(80):
        problem = draw(words_engine, seed, 6, switching=1.0, omission=0.3)
        if not problem.switch:
            continue
        ledger = told(problem)
        before = {entry["product_id"] for entry in TASK.reveal(problem, ledger)["feasible"]}
        ledger.switch(2)
        after = {entry["product_id"] for entry in TASK.reveal(problem, ledger)["feasible"]}
        assert 2 <= len(after) <= 3 * problem.goal.k
        changed += before != after
    assert changed > 30


def test_nothing_recommended_is_minus_one(problems: list[tuple[int, Problem]]) -> None:
    d, problem = problems[0]
    assert judge(problem, told(problem), [], d).task == -1.0


def test_priorities_lean_towards_what_is_asked_for(words_engine: Any) -> None:
    touched, untouched = [0, 0], [0, 0]
    for seed in range(400):
        problem = draw(words_engine, seed, 2)
        asked = {s.attribute for s in problem.slots if s.kind == "constraint"}
        first = next(s for s in problem.slots if s.key == "priority:1")
        for name in ("price", "rating", "ship_days"):
            counter = touched if name in asked else untouched
            counter[0] += first.attribute == name
            counter[1] += 1
    assert touched[0] / touched[1] > 1.5 * untouched[0] / untouched[1]
