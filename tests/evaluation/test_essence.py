"""What a problem is in substance: equal for equal problems only, whatever the ids; and what a blind guess is worth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ecomrlve.collections import COLLECTIONS, TASKS
from ecomrlve.difficulty import difficulty
from ecomrlve.episode import Episode
from ecomrlve.evaluation.essence import essence, guessing_chance, subjects
from ecomrlve.tasks.base import Problem, generate

ALL = COLLECTIONS["C8"]


def draw(engine: Any, env_id: str, seed: int, d: int = 6) -> Problem:
    return generate(TASKS[env_id], engine, difficulty(d), (env_id, seed))


@pytest.mark.parametrize("env_id", ALL)
def test_equal_problems_are_equal_and_others_are_not(words_engine: Any, env_id: str):
    texts = [essence(env_id, draw(words_engine, env_id, seed)) for seed in range(12)]
    assert texts[:4] == [essence(env_id, draw(words_engine, env_id, seed)) for seed in range(4)]
    assert len(set(texts)) == len(texts)
    json.loads(texts[0])


@pytest.mark.parametrize("env_id", ALL)
def test_another_level_is_another_problem(words_engine: Any, env_id: str):
    assert essence(env_id, draw(words_engine, env_id, 1, 3)) != essence(env_id, draw(words_engine, env_id, 1, 9))


@pytest.mark.parametrize("env_id", ALL)
def test_ids_do_not_count(words_engine: Any, env_id: str):
    for seed in range(3):
        problem = draw(words_engine, env_id, seed)
        before = essence(env_id, problem), subjects(env_id, problem)
        world, other = problem.world, draw(words_engine, env_id, seed + 100).world
        ids = {world.orders.order_id(order.number) for order in world.orders.orders}
        ids |= {world.product_id(row) for row in range(0, len(world.catalog), 7)}
        assert not any(identifier in before[0] for identifier in ids)
        # The same problem under the names of another episode.
        world.product_ids, world.variant_ids = other.product_ids, other.variant_ids
        assert (essence(env_id, problem), subjects(env_id, problem)) == before


def test_an_order_number_that_is_said_does_not_make_problems_differ(words_engine: Any):
    said = 0
    for seed in range(12):
        problem = draw(words_engine, "E_STATUS", seed, 0)
        for slot in problem.slots:
            if slot.attribute == "order_id":
                assert str(slot.value) not in essence("E_STATUS", problem)
                said += 1
    assert said > 3


@pytest.mark.parametrize("env_id", ["E_CART", "E_PD", "E_RETURN", "E_BUNDLE"])
def test_what_is_asked_for_counts(words_engine: Any, env_id: str):
    problem = draw(words_engine, env_id, 2)
    before = essence(env_id, problem)
    slot = problem.slots.pop()
    assert essence(env_id, problem) != before
    problem.slots.append(slot)
    assert essence(env_id, problem) == before


@pytest.mark.parametrize("env_id", ALL)
def test_every_problem_has_subjects_and_they_vary(words_engine: Any, env_id: str):
    found = [frozenset(subjects(env_id, draw(words_engine, env_id, seed))) for seed in range(12)]
    assert all(found)
    assert len(set(found)) > 3
    if env_id == "E_JOURNEY":
        assert all(name.partition(":")[0] in ALL for names in found for name in names)


def test_a_guess_is_worth_what_is_left_to_guess(words_engine: Any):
    def chances(env_id: str, d: int = 6) -> list[tuple[Any, float]]:
        episodes = [Episode(TASKS[env_id], words_engine, difficulty(d), seed) for seed in range(12)]
        return [(episode.problem, guessing_chance(episode)) for episode in episodes]

    for problem, chance in chances("E_STATUS"):
        assert chance == 1 / len(problem.world.orders.orders) == 1 / 20
    for problem, chance in chances("E_POLICY"):
        choices = problem.goal.question.choices
        assert chance == (1 / len(choices) if choices else 0)
        assert chance <= 0.2
    for problem, chance in chances("E_RETURN"):
        assert 0 < chance <= (0.5 if problem.goal.eligible else 1)
    for problem, chance in chances("E_CART", 0):
        variants = problem.world.variants_of(problem.goal[0].row)
        assert 0 <= chance <= 1 / max(1, len(variants))
    for env_id in ("E_PD", "E_SUB", "E_BUNDLE", "E_JOURNEY"):
        assert {chance for _, chance in chances(env_id)} == {0.0}


def test_a_guess_at_a_cart_is_worth_nothing_where_more_than_one_is_wanted(words_engine: Any):
    several = 0
    for seed in range(30):
        episode = Episode(TASKS["E_CART"], words_engine, difficulty(6), seed)
        # What is sold out and to be left out is no part of the guess.
        left = [item for item in episode.problem.goal if item.fallback is None or item.fallback.row is not None]
        if any(item.quantity > 1 for item in left):
            assert guessing_chance(episode) == 0
            several += 1
    assert several > 5
