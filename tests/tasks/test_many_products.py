"""Types with many hundreds of products: problems are still narrow, sound and solved by the reference plan."""

from __future__ import annotations

import numpy as np
import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.filters import satisfied
from ecomrlve.catalog.growth import GrowthPlan
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.difficulty import difficulty
from ecomrlve.environment import Environment
from ecomrlve.streams import Stream
from ecomrlve.tasks.bundle_baskets import MOST_FITTING, written_projects
from ecomrlve.tasks.constraints import MANY, NECESSARY, alternatives, draw_from_many, narrowed, necessary
from ecomrlve.tasks.discovery import constraint_of, most_feasible

PER_TYPE = 600


@pytest.fixture(scope="module")
def engine() -> SearchEngine:
    """A shop for home offices with six hundred products of each type."""
    plan = GrowthPlan(400_000)
    wanted = set(written_projects()["home office"]["types"])
    records = []
    for number, chunk in enumerate(plan.chunks):
        _, kind = plan.types[chunk.place]
        if kind.name in wanted:
            wanted.remove(kind.name)
            records += plan.records(number)[:PER_TYPE]
    rules = {kind.name: (kind.variant.attribute, kind.variant.values) for _, kind in plan.types}
    return SearchEngine(
        Catalog.from_records(records, name="offices", attributes=plan.goods.attributes, variant_rules=rules)
    )


def test_the_shop_is_large_enough_for_the_way_of_many(engine: SearchEngine) -> None:
    sizes = [len(engine.catalog.rows_of_type(name)) for name in engine.catalog.type_names]
    assert sum(size > MANY + 50 for size in sizes) >= 10


@pytest.mark.parametrize("env_id", ["E_PD", "E_SUB", "E_RETURN", "E_BUNDLE", "E_JOURNEY"])
@pytest.mark.parametrize("d", [0, 3, 6, 9, 12])
def test_the_reference_plan_solves_what_is_drawn_from_many(engine: SearchEngine, env_id: str, d: int) -> None:
    env = Environment((env_id,), engine)
    for seed in range(4):
        reward = play(env, ReferenceAgent(), seed, d)
        assert (reward.task, reward.correct) == (1.0, True), f"seed {seed}: {reward}"


class Shallow(SearchEngine):
    """Rankings end after a thousand hits, as those of large catalogs do."""

    def rank(self, query: str, rows: np.ndarray, sort: str = "relevance") -> np.ndarray:
        return super().rank(query, rows, sort)[:1_000]


@pytest.mark.parametrize("d", [0, 3, 6, 7, 9, 12])
def test_a_ranking_that_ends_early_is_not_taken_for_all_there_is(engine: SearchEngine, d: int) -> None:
    env = Environment(("E_BUNDLE",), Shallow(engine.catalog))
    for seed in range(4):
        reward = play(env, ReferenceAgent(), seed, d)
        assert (reward.task, reward.correct) == (1.0, True), f"seed {seed}: {reward}"


@pytest.mark.parametrize("d", range(0, 13, 2))
def test_requirements_single_out_a_handful_and_each_does_some_of_the_work(engine: SearchEngine, d: int) -> None:
    catalog, axes = engine.catalog, difficulty(d)
    env = Environment(("E_PD",), engine)
    supported = 0
    for seed in range(8):
        env.reset(seed=seed, options={"difficulty": d})
        problem = env.episode.problem
        goal = problem.goal
        constraints = [constraint_of(slot) for slot in problem.slots if slot.kind == "constraint"]
        supported += len(constraints) == axes.constraints
        assert len({constraint.attribute for constraint in constraints}) == len(constraints)
        left = narrowed(catalog, goal.rows, goal.alive, constraints)
        assert 2 <= len(left) <= most_feasible(axes, axes.list_size)
        needed = necessary(catalog, goal.rows, goal.alive, constraints)
        assert needed >= min(NECESSARY, len(constraints))
        assert necessary(catalog, goal.rows, goal.alive, constraints, enough=1) == min(1, needed)
    assert supported >= 6


def test_necessary_counts_what_brute_force_counts(engine: SearchEngine) -> None:
    catalog = engine.catalog
    for seed, name in enumerate(catalog.type_names):
        rows = catalog.rows_of_type(name)
        alive = catalog.stock[rows] > 0
        if alive.sum() <= MANY:
            continue
        found = draw_from_many(catalog, rows, alive, 4, 5, Stream("test", seed))
        masks = [satisfied(catalog, rows, constraint) for constraint in found]
        failures = np.sum([~mask for mask in masks], axis=0)
        brute = sum(bool((alive & ~mask & (failures == 1)).any()) for mask in masks)
        assert necessary(catalog, rows, alive, found) == brute
        assert narrowed(catalog, rows, alive, found).tolist() == np.flatnonzero(alive & (failures == 0)).tolist()


def test_a_change_of_mind_among_many_leaves_what_is_accepted(engine: SearchEngine) -> None:
    catalog, changes = engine.catalog, 0
    for seed, name in enumerate(catalog.type_names):
        rows = catalog.rows_of_type(name)
        alive = catalog.stock[rows] > 0
        found = draw_from_many(catalog, rows, alive, 1, 40, Stream("test", seed)) if alive.sum() > MANY else []
        if not found:
            continue
        value = alternatives(catalog, rows, alive, found, 0, lambda count: 5 <= count <= 300, Stream("change", seed))
        if value is not None:
            changes += 1
            other = type(found[0])(found[0].attribute, found[0].operator, value)
            assert other != found[0]
            assert 5 <= len(narrowed(catalog, rows, alive, [other])) <= 300
    assert changes >= 5


@pytest.mark.parametrize("d", [6, 9, 12])
def test_tied_parts_have_requirements_and_fit_on_a_page(engine: SearchEngine, d: int) -> None:
    env = Environment(("E_BUNDLE",), engine)
    ties = 0
    for seed in range(10):
        env.reset(seed=seed, options={"difficulty": d})
        problem = env.episode.problem
        goal = problem.goal
        if goal.tie is None:
            continue
        ties += 1
        for index in goal.tie[:2]:
            part = goal.parts[index]
            mine = [constraint_of(s) for s in problem.slots if s.kind == "constraint" and s.item == index]
            if part.alive.sum() > MANY:
                assert mine
                assert len(narrowed(engine.catalog, part.rows, part.alive, mine)) <= 3 * MOST_FITTING
    assert ties >= 5
