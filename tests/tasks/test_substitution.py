"""E_SUB: a product that is gone, what can stand in for it, and the verdict on a list of such products."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.similar import compatible_by, similarity
from ecomrlve.catalog.synthetic import generate as generate_catalog
from ecomrlve.customer.ledger import Ledger
from ecomrlve.difficulty import difficulty
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.discovery import constraint_of
from ecomrlve.tasks.identify import matching_rows
from ecomrlve.tasks.substitution import SubstitutionTask

TASK = SubstitutionTask()
LEVELS = (0, 3, 6, 9, 12)


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_SUB", seed))


def told(problem: Problem) -> Ledger:
    ledger = problem.ledger()
    ledger.say(list(ledger.slots), 0, "open")
    return ledger


def judge(problem: Problem, ids: list[str], d: int, ledger: Ledger | None = None) -> Any:
    answer = {"recommended_product_ids": ids}
    return TASK.verify(problem, ledger or told(problem), answer, difficulty(d))


def value_at(problem: Problem, row: int, attribute: str) -> Any:
    return problem.world.catalog.columns[attribute].get(row)


def holds(own: Any, operator: str, value: Any) -> bool:
    if own is None:
        return False
    if operator in ("le", "ge"):
        return bool(own <= value if operator == "le" else own >= value)
    return bool(own in value if operator == "in" else own == value)


def met(problem: Problem, ledger: Ledger, row: int) -> list[bool]:
    """Which of the requirements a row meets, one cell at a time."""
    slots = [slot for slot in ledger.slots.values() if slot.kind == "constraint"]
    return [holds(value_at(problem, row, slot.attribute), slot.operator, slot.value) for slot in slots]


def candidates(problem: Problem) -> list[int]:
    """Rows that may be recommended at all: of the type, in stock for good, compatible, and not the product itself."""
    goal, world = problem.goal, problem.world
    attribute = compatible_by(world.catalog, world.catalog.type_of(goal.original))
    wanted = None if attribute is None else value_at(problem, goal.original, attribute)
    found = []
    for row in world.catalog.rows_of_type(world.catalog.type_of(goal.original)).tolist():
        if row == goal.original:
            continue
        fits = attribute is None or wanted is None or value_at(problem, row, attribute) == wanted
        if fits and world.stock.lasting(row) > 0:
            found.append(row)
    return found


def feasible(problem: Problem, ledger: Ledger) -> list[int]:
    return [row for row in candidates(problem) if all(met(problem, ledger, row))]


def alike(problem: Problem, row: int) -> float:
    return float(similarity(problem.world.catalog, problem.goal.original, np.array([row]))[0])


def utilities(problem: Problem, ledger: Ledger) -> dict[int, float]:
    """The share of the feasible products that are no more similar, counted."""
    rows = feasible(problem, ledger)
    original = problem.goal.original
    values = dict(zip(rows, similarity(problem.world.catalog, original, np.array(rows)).tolist(), strict=True))
    return {row: sum(other <= values[row] for other in values.values()) / len(rows) for row in rows}


def list_score(problem: Problem, ledger: Ledger, rows: list[int], d: int) -> float:
    """The contract's list reward, written down once more."""
    known, k = utilities(problem, ledger), difficulty(d).list_size
    allowed = set(candidates(problem))
    rows = rows[:k]
    n = min(k, len(known))
    slots = max(n, len(rows))
    fresh = [row not in rows[:place] for place, row in enumerate(rows)]
    good = [new and row in known for new, row in zip(fresh, rows, strict=True)]
    shares = []
    for new, row in zip(fresh, rows, strict=True):
        flags = met(problem, ledger, row)
        shares.append((sum(flags) / len(flags)) ** (4 + d // 4) if new and row in allowed else 0.0)
    gains = [(1 + known[row]) / 2 if ok else 0.0 for row, ok in zip(rows, good, strict=True)]
    every = sorted(((1 + u) / 2 for u in known.values()), reverse=True)
    discount = [1 / math.log2(place + 2) for place in range(max(len(rows), n))]
    dcg = sum(gain * weight for gain, weight in zip(gains, discount, strict=False))
    best = sum(gain * weight for gain, weight in zip(every[:n], discount, strict=False))
    average = sum(every) / len(every) * sum(discount[:n])
    ranking = 1.0 if best - average < 1e-9 else min(1.0, max(0.0, (dcg - average) / (best - average)))
    return 2 * (0.8 * (sum(good) / slots) ** 2 + 0.2 * sum(shares) / slots) * (0.6 + 0.4 * ranking) - 1


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[tuple[int, Problem]]:
    return [(d, draw(words_engine, seed, d)) for d in LEVELS for seed in range(40)]


def test_the_feasible_set_is_as_large_as_the_contract_asks_for(problems: list[tuple[int, Problem]]):
    for d, problem in problems:
        found = TASK.reveal(problem, told(problem))["feasible"]
        rows = {problem.world.row(entry["product_id"]) for entry in found}
        assert 2 <= len(rows) == len(found) <= 3 * difficulty(d).list_size
        assert len(rows) <= 0.7 * difficulty(d).search_depth
        assert problem.goal.original not in rows


def test_the_feasible_set_is_what_the_contract_says(problems: list[tuple[int, Problem]]):
    for _, problem in problems[::4]:
        found = TASK.reveal(problem, told(problem))["feasible"]
        assert {problem.world.row(entry["product_id"]) for entry in found} == set(feasible(problem, told(problem)))


def test_compatibility_has_work_to_do_in_many_episodes(problems: list[tuple[int, Problem]]):
    """In a good part of them, something meets all requirements and differs only in the attribute that must be equal."""
    bound = 0
    for _, problem in problems[::2]:
        goal, world, ledger = problem.goal, problem.world, told(problem)
        assert goal.compatible == compatible_by(world.catalog, goal.type)
        if goal.compatible is None:
            continue
        allowed = set(candidates(problem))
        others = [r for r in goal.rows.tolist() if r not in allowed and r != goal.original]
        bound += any(all(met(problem, ledger, row)) and world.stock.lasting(row) > 0 for row in others)
    assert bound >= 20


def test_every_requirement_can_be_said_and_excludes_something(problems: list[tuple[int, Problem]]):
    for d, problem in problems:
        slots = [slot for slot in problem.slots if slot.kind == "constraint"]
        assert len(slots) == problem.supported == difficulty(d).constraints
        assert len({slot.attribute for slot in slots}) == len(slots)
        for slot in slots:
            cells = [value_at(problem, int(row), slot.attribute) for row in problem.goal.rows]
            assert not all(holds(cell, slot.operator, slot.value) for cell in cells), slot
        assert problem.slots[0].key == "original"
        assert "original" not in problem.omitted
        # Nothing that is not scored is said: the customer has no priorities here.
        assert {slot.kind for slot in problem.slots} <= {"original", "identify", "constraint"}


def test_what_the_customer_says_of_the_product_singles_it_out(problems: list[tuple[int, Problem]]):
    for _, problem in problems:
        catalog, original = problem.world.catalog, problem.goal.original
        said = [constraint_of(slot) for slot in problem.slots if slot.kind == "identify"]
        assert problem.slots[0].value == catalog.titles[original]
        assert matching_rows(catalog, catalog.titles[original], said) == [original]


def test_the_product_is_sold_out_in_the_world_from_the_start(problems: list[tuple[int, Problem]], call: Any):
    for _, problem in problems:
        world, original = problem.world, problem.goal.original
        assert world.stock.left(original) == 0
        shown = call(world, "catalog_get_product", product_id=world.product_id(original))
        assert shown["stock"] == 0


def test_where_the_catalog_has_enough_that_is_sold_out_the_product_is_one_of_it(problems: list[tuple[int, Problem]]):
    """Then nothing about the shop depends on the goal."""
    assert all(problem.world.catalog.stock[problem.goal.original] == 0 for _, problem in problems)
    assert all(not problem.world.stock.sold_out for _, problem in problems)


@pytest.fixture(scope="module")
def full_shop() -> SearchEngine:
    """A shop that has some of everything."""
    catalog: Catalog = generate_catalog(1500, 3)
    catalog.stock[:] = np.maximum(catalog.stock, 1)
    return SearchEngine(catalog)


def test_a_shop_that_has_everything_sells_out_of_the_product_named(full_shop: SearchEngine, call: Any):
    assert (full_shop.catalog.stock > 0).all()
    for seed in range(15):
        for d in (0, 6):
            problem = draw(full_shop, seed, d, sellout=0.0)
            world, original = problem.world, problem.goal.original
            assert world.stock.left(original) == 0
            assert world.stock.sold_out == {(original, None)}
            assert not world.stock.available_rows(np.array([original]))[0]
            kind, title = world.catalog.type_of(original), world.catalog.titles[original]
            wanted = {"type": kind, "in_stock": True}
            offered = call(world, "catalog_search", query=title, filters=wanted, limit=200)
            assert world.product_id(original) not in [hit["id"] for hit in offered["results"]]
            best = TASK.reveal(problem, told(problem))["feasible"]
            assert world.product_id(original) not in [entry["product_id"] for entry in best]
            assert not judge(problem, [world.product_id(original)], d).correct
            others = [row for row in problem.goal.rows.tolist() if row != original]
            assert all(world.stock.left(row) > 0 for row in others)


def best_list(problem: Problem, ledger: Ledger, d: int) -> list[int]:
    known = utilities(problem, ledger)
    return sorted(known, key=lambda row: (-known[row], row))[: difficulty(d).list_size]


def ids_of(problem: Problem, rows: list[int]) -> list[str]:
    return [problem.world.product_id(row) for row in rows]


def test_the_most_similar_first_is_perfect_and_exactly_one(problems: list[tuple[int, Problem]]):
    for d, problem in problems[::3]:
        verdict = judge(problem, ids_of(problem, best_list(problem, told(problem), d)), d)
        assert verdict.task == 1.0
        assert verdict.correct
        assert verdict.reason


def test_the_verdict_is_the_contracts_list_reward(problems: list[tuple[int, Problem]]):
    different = set()
    for number, (d, problem) in enumerate(problems[::2]):
        stream, ledger = Stream("lists", number), told(problem)
        good, type_rows = best_list(problem, ledger, d), problem.goal.rows.tolist()
        lists = [
            stream.shuffled(good),
            stream.sample(type_rows, 1 + stream.integer(6)),
            [*good[:1], *stream.sample(type_rows, 3), *good[:1]],
            [problem.goal.original, *good],
            stream.sample(feasible(problem, ledger), 2),
            [stream.integer(len(problem.world.catalog)), *good[1:]],
        ]
        for rows in lists:
            verdict = judge(problem, ids_of(problem, rows), d)
            expected = list_score(problem, ledger, rows, d)
            assert verdict.task == pytest.approx(expected, abs=1e-9)
            different.add(round(verdict.task, 4))
            n = min(difficulty(d).list_size, len(feasible(problem, ledger)))
            hits = set(rows[: difficulty(d).list_size]) & set(feasible(problem, ledger))
            shown = len(rows[: difficulty(d).list_size])
            assert verdict.correct == (len(hits) == n == shown and expected >= 0.8)
    assert len(different) > 100


def test_equal_similarities_may_stand_in_any_order(words_engine: Any):
    swapped = 0
    for seed in range(120):
        problem = draw(words_engine, seed, 6)
        ledger = told(problem)
        good = best_list(problem, ledger, 6)
        for place in range(len(good) - 1):
            if alike(problem, good[place]) == alike(problem, good[place + 1]):
                other = [*good[:place], good[place + 1], good[place], *good[place + 2 :]]
                assert judge(problem, ids_of(problem, other), 6).task == 1.0
                swapped += 1
    assert swapped >= 3


def test_a_wrong_order_costs_and_a_reversed_one_is_no_success(problems: list[tuple[int, Problem]]):
    reversed_correct, checked = 0, 0
    for d, problem in problems:
        known = utilities(problem, told(problem))
        if len(set(known.values())) < 3:
            continue
        worst = sorted(known, key=lambda row: (known[row], row))[: difficulty(d).list_size]
        verdict = judge(problem, ids_of(problem, worst), d)
        assert verdict.task < 1.0
        reversed_correct += verdict.correct
        checked += 1
    assert checked > 100
    assert reversed_correct < 0.05 * checked


def test_ids_are_read_without_regard_to_case_and_spaces_and_no_further(problems: list[tuple[int, Problem]]):
    d, problem = problems[5]
    good = ids_of(problem, best_list(problem, told(problem), d))
    assert judge(problem, [f" {one.upper()}\n" for one in good], d).task == 1.0
    for spoiled in (good[0][:-1], good[0] + "0", f"{good[0]},{good[1]}", "", "p0000000", "x" * 1000):
        assert not judge(problem, [spoiled, *good[1:]], d).correct
    assert judge(problem, [], d).task == -1.0


def test_what_was_not_said_is_not_scored(words_engine: Any):
    checked = 0
    for seed in range(30):
        problem = draw(words_engine, seed, 3, switching=0.0)
        for slot in [slot for slot in problem.slots if slot.kind == "constraint"]:
            ledger = problem.ledger()
            ledger.say([key for key in ledger.slots if key != slot.key], 0, "open")
            rest = [other for other in problem.slots if other.kind == "constraint" and other is not slot]
            for row in candidates(problem):
                loose = all(holds(value_at(problem, row, o.attribute), o.operator, o.value) for o in rest)
                if loose and not holds(value_at(problem, row, slot.attribute), slot.operator, slot.value):
                    odd = ids_of(problem, [row])
                    assert judge(problem, odd, 3, ledger).parts["hits"] == 1
                    assert judge(problem, odd, 3).parts["hits"] == 0
                    checked += 1
                    break
    assert checked > 30


def test_reveal_names_the_product_what_must_be_equal_and_the_similarities(problems: list[tuple[int, Problem]]):
    for d, problem in problems[::5]:
        ledger = told(problem)
        found = TASK.reveal(problem, ledger)
        assert found["original"]["product_id"] == problem.world.product_id(problem.goal.original)
        assert found["compatible_by"] == problem.goal.compatible
        assert "priorities" not in found
        known = utilities(problem, ledger)
        for entry in found["feasible"]:
            row = problem.world.row(entry["product_id"])
            assert entry["similarity"] == alike(problem, row)
        # The best list that people are shown is one that the judge takes for perfect.
        assert judge(problem, found["best"], d).task == 1.0
        assert [known[problem.world.row(one)] for one in found["best"]] == sorted(known.values(), reverse=True)[
            : difficulty(d).list_size
        ]


def whats(sight: Any) -> list[str]:
    return [complaint.facts["what"] for complaint in sight.complaints]


def test_the_customer_points_out_the_product_itself_and_what_does_not_fit(problems: list[tuple[int, Problem]]):
    incompatible = 0
    for d, problem in problems:
        goal, world, ledger = problem.goal, problem.world, told(problem)
        good = best_list(problem, ledger, d)[:2]
        fine = TASK.see(problem, ledger, good)
        assert fine.complaints == ()
        assert fine.reached == ledger.everything_said()
        # Seen last, said first; and one complaint about one product.
        sight = TASK.see(problem, ledger, [*good, goal.original])
        assert whats(sight) == ["sold_out"]
        assert not sight.reached
        assert sight.complaints[0].facts["title"] == world.catalog.titles[goal.original]
        foreign = next(row for row in range(len(world.catalog)) if world.catalog.type_of(row) != goal.type)
        assert whats(TASK.see(problem, ledger, [foreign])) == ["wrong_type"]
        bad = [row for row in candidates(problem) if not all(met(problem, ledger, row))]
        assert whats(TASK.see(problem, ledger, bad[:1])) == ["violates"]
        if goal.compatible is None or value_at(problem, goal.original, goal.compatible) is None:
            continue
        wanted = value_at(problem, goal.original, goal.compatible)
        other = next((r for r in goal.rows.tolist() if value_at(problem, r, goal.compatible) != wanted), None)
        if other is not None:
            sight = TASK.see(problem, ledger, [*good, other])
            assert whats(sight) == ["not_compatible"]
            facts = sight.complaints[0].facts
            assert (facts["got"], facts["want"]) == (value_at(problem, other, goal.compatible), wanted)
            assert not sight.reached
            incompatible += 1
    assert incompatible > 50


def test_a_complaint_never_gives_an_unsaid_slot_away_unnoticed(problems: list[tuple[int, Problem]]):
    for _, problem in problems[::4]:
        ledger = told(problem)
        for row in problem.goal.rows.tolist()[:20]:
            for complaint in TASK.see(problem, ledger, [row]).complaints:
                slot = complaint.facts.get("slot")
                assert complaint.keys == (() if slot is None else (slot.key,))


def test_a_change_of_mind_leaves_a_good_problem(words_engine: Any):
    changed = 0
    for d in (3, 6, 9, 12):
        for seed in range(40):
            problem = draw(words_engine, seed, d, switching=1.0, omission=0.3)
            if not problem.switch:
                continue
            ledger = told(problem)
            before = set(feasible(problem, ledger))
            assert all(problem.ledger().slots[key].kind == "constraint" for key in problem.switch)
            ledger.switch(2)
            after = set(feasible(problem, ledger))
            assert 2 <= len(after) <= 3 * problem.goal.k
            assert problem.goal.original not in after
            found = TASK.reveal(problem, ledger)
            assert {problem.world.row(entry["product_id"]) for entry in found["feasible"]} == after
            assert judge(problem, found["best"], d, ledger).task == 1.0
            changed += before != after
    assert changed > 60


def test_the_same_key_gives_the_same_problem_and_another_seed_another(words_engine: Any):
    for d in (0, 6, 12):
        goals = []
        for seed in range(40):
            one, two = draw(words_engine, seed, d), draw(words_engine, seed, d)
            assert [dataclasses.asdict(slot) for slot in one.slots] == [dataclasses.asdict(slot) for slot in two.slots]
            assert (one.goal.original, one.omitted, one.switch) == (two.goal.original, two.omitted, two.switch)
            goals.append((one.goal.original, str([slot.value for slot in one.slots])))
        assert len(set(goals)) == 40
        assert len({original for original, _ in goals}) > 25
