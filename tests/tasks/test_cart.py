"""E_CART: what is drawn, what is wanted, and how a cart is judged."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from ecomrlve.customer.ledger import Slot
from ecomrlve.difficulty import difficulty
from ecomrlve.evaluation.pool import _use
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.cart import CartTask, items_wanted, quantity_probability, variant_probability
from ecomrlve.tasks.identify import identifying, matching_rows
from ecomrlve.trajectory import slot_text

TASK = CartTask()
FIGURES = {
    "items": {0: 1, 3: 2, 6: 3, 9: 4},
    "variants": {0: 0.21, 3: 0.66, 6: 0.93, 9: 0.99},
    "quantities": {0: 0.0, 3: 0.30, 6: 0.50, 9: 0.50},
}


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_CART", seed))


def fill(problem: Problem, ledger: Any) -> None:
    problem.world.cart.lines = dict(TASK.required(problem, ledger))


def judge(problem: Problem, ledger: Any, d: int = 6) -> Any:
    return TASK.verify(problem, ledger, {}, difficulty(d))


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[Problem]:
    return [draw(words_engine, seed, d) for d in (0, 3, 6, 9, 12) for seed in range(60)]


@pytest.mark.parametrize("d", [0, 3, 6, 9])
def test_published_scaling_is_met_to_the_printed_digits(d: int) -> None:
    assert items_wanted(d) == FIGURES["items"][d]
    assert round(variant_probability(d), 2) == FIGURES["variants"][d]
    assert round(quantity_probability(d), 2) == FIGURES["quantities"][d]


def test_said_in_full_the_slots_single_out_every_target(problems: list[Problem]) -> None:
    from ecomrlve.catalog.filters import Constraint

    for problem in problems:
        catalog = problem.world.catalog
        for index, item in enumerate(problem.goal):
            marks = [s for s in problem.slots if s.kind == "identify" and s.item == index]
            constraints = [Constraint(s.attribute, "eq", s.value) for s in marks]
            assert matching_rows(catalog, catalog.titles[item.row], constraints) == [item.row]


def test_identifying_is_none_exactly_where_two_attributes_do_not_suffice(words_engine: Any) -> None:
    catalog = words_engine.catalog
    for row in range(0, len(catalog), 97):
        found = identifying(catalog, row)
        assert found is not None  # the generated catalog's lookalikes differ in at most two attributes
        assert matching_rows(catalog, catalog.titles[row], found) == [row]
        for left_out in range(len(found)):
            fewer = [c for number, c in enumerate(found) if number != left_out]
            assert len(matching_rows(catalog, catalog.titles[row], fewer)) > 1


def test_history_holds_targets_and_the_lookalikes_that_the_contract_asks_for(problems: list[Problem]) -> None:
    for problem in problems:
        history, targets = problem.world.history, {item.row for item in problem.goal}
        assert targets <= set(history)
        assert len(set(history)) == len(history)
        assert len(history) - len(targets) == max(3, 2 * len(targets))
        types = {problem.world.catalog.type_codes[row] for row in targets}
        assert {problem.world.catalog.type_codes[row] for row in history} == types


def test_what_is_wanted_is_never_fated_and_never_all_dropped(problems: list[Problem]) -> None:
    for problem in problems:
        required = TASK.required(problem, problem.ledger())
        assert required
        for (row, variant), units in required.items():
            assert problem.world.stock.lasting(row, variant) >= units


def test_a_fated_item_has_a_fallback_slot_that_sleeps(problems: list[Problem]) -> None:
    kinds: Counter[str] = Counter()
    for problem in problems:
        for index, item in enumerate(problem.goal):
            fated = problem.world.stock.fated(item.row, item.variant)
            assert fated == (item.fallback is not None) == (f"item{index}:fallback" in problem.asleep)
        kinds.update(s.value["do"] for s in problem.slots if s.kind == "fallback")
    assert set(kinds) == {"variant", "product", "drop"}, kinds


def test_the_required_variant_is_uniform_among_those_listed(words_engine: Any) -> None:
    places: Counter[int] = Counter()
    for seed in range(500):
        for item in draw(words_engine, seed, 6, sellout=0.0).goal:
            if item.variant is not None and item.row not in words_engine.catalog.variants:
                places[item.variant] += 1
    share = np.array([places[n] for n in range(3)]) / sum(places.values())
    assert np.all(np.abs(share - 1 / 3) < 4 * np.sqrt(2 / 9 / sum(places.values())))


def test_a_perfect_cart_scores_exactly_one_at_every_size(problems: list[Problem]) -> None:
    for problem in problems:
        ledger = problem.ledger()
        ledger.say(list(ledger.slots), 0, "open")
        fill(problem, ledger)
        verdict = judge(problem, ledger)
        assert verdict.task == 1.0
        assert verdict.correct
        assert {entry["status"] for entry in verdict.done} == {"match"}


def test_every_single_mistake_is_noticed(problems: list[Problem]) -> None:
    for problem in problems[60:]:
        ledger = problem.ledger()
        ledger.say(list(ledger.slots), 0, "open")
        right = dict(TASK.required(problem, ledger))
        (row, variant), units = next(iter(right.items()))
        stranger = next(r for r in problem.world.history if r not in {line[0] for line in right})
        mistakes = [
            {line: n for line, n in right.items() if line != (row, variant)},
            right | {(row, variant): units + 1},
            right | {(stranger, None): 1},
        ]
        if variant is not None:
            other = (variant + 1) % len(problem.world.variants_of(row))
            mistakes.append({line: n for line, n in right.items() if line != (row, variant)} | {(row, other): units})
        for cart in mistakes:
            problem.world.cart.lines = cart
            verdict = judge(problem, ledger)
            assert verdict.task < 1
            assert not verdict.correct


def test_what_was_never_said_is_not_asked_for(words_engine: Any) -> None:
    checked: Counter[str] = Counter()
    for seed in range(80):
        problem = draw(words_engine, seed, 6, sellout=0.0, switching=0.0)
        for slot in problem.slots:
            if slot.kind not in ("variant", "quantity", "identify"):
                continue
            ledger = problem.ledger()
            ledger.say([s.key for s in problem.slots if s is not slot], 0, "open")
            item = problem.goal[slot.item]
            cart = dict(TASK.required(problem, ledger))
            line = (item.row, item.variant)
            units = cart.pop(line)
            if slot.kind == "variant":
                cart[(item.row, (item.variant + 1) % 3)] = units
            elif slot.kind == "quantity":
                cart[line] = 1
            else:
                others = [s for s in problem.slots if s.kind == "identify" and s.item == slot.item and s is not slot]
                rows = matching_rows(
                    problem.world.catalog,
                    problem.world.catalog.titles[item.row],
                    [_constraint(other) for other in others],
                )
                twin = next(row for row in rows if row != item.row)
                cart[(twin, 0 if problem.world.variants.has(twin) else None)] = units
            problem.world.cart.lines = cart
            verdict = judge(problem, ledger)
            assert verdict.correct, (seed, slot, verdict.reason)
            ledger.say([slot.key], 3, "clarify")
            assert not judge(problem, ledger).correct, (seed, slot)
            checked[slot.kind] += 1
    assert min(checked[kind] for kind in ("variant", "quantity", "identify")) > 20, checked


def _constraint(slot: Slot) -> Any:
    from ecomrlve.catalog.filters import Constraint

    return Constraint(slot.attribute, "eq", slot.value)


def test_a_change_of_mind_moves_the_goal_and_stays_solvable(words_engine: Any) -> None:
    changed: Counter[str] = Counter()
    for seed in range(150):
        problem = draw(words_engine, seed, 8, switching=1.0, omission=0.2)
        if not problem.switch:
            continue
        (key, _), ledger = next(iter(problem.switch.items())), problem.ledger()
        before = TASK.required(problem, ledger)
        ledger.say([k for k in ledger.slots if k not in problem.asleep], 0, "open")
        assert ledger.switch(2) == [key]
        after = TASK.required(problem, ledger)
        assert before != after
        assert all(problem.world.stock.lasting(*line) >= units for line, units in after.items())
        changed[ledger.slots[key].kind] += 1
    assert changed["variant"] > 10, changed
    assert changed["quantity"] > 10, changed


def test_a_sold_out_item_is_worth_its_fallback_only(words_engine: Any) -> None:
    done: Counter[str] = Counter()
    for seed in range(60):
        problem = draw(words_engine, seed, 9)
        ledger = problem.ledger()
        ledger.say(list(ledger.slots), 0, "open")
        original: Counter[tuple[int, int | None]] = Counter()
        for index, item in enumerate(problem.goal):
            slot = ledger.slots.get(f"item{index}:quantity")
            original[(item.row, item.variant)] += slot.value if slot else 1
            if item.fallback is not None:
                done[ledger.slots[f"item{index}:fallback"].value["do"]] += 1
        problem.world.cart.lines = dict(original)
        assert judge(problem, ledger).correct == all(item.fallback is None for item in problem.goal)
    assert min(done.values()) > 3


def test_reveal_and_ledger_text_speak_plainly(problems: list[Problem]) -> None:
    for problem in problems:
        goal = TASK.reveal(problem, problem.ledger())
        assert all(entry["qty"] >= 1 and entry["title"] for entry in goal["items"])
        for slot in problem.slots:
            text = slot_text(slot, slot.value)
            assert text
            assert "None" not in text
            assert "{" not in text


def test_types_on_one_list_are_distinct(problems: list[Problem]) -> None:
    for problem in problems:
        types = [problem.world.catalog.type_codes[item.row] for item in problem.goal]
        assert len(set(types)) == len(types) == len(problem.goal)


def test_pool_refuses_environments_without_an_engine() -> None:
    from ecomrlve.evaluation.pool import environment

    _use(None)
    with pytest.raises(AssertionError):
        environment("E_CART")
