"""E_RETURN: which line is meant, whether it may go back, and the verdict on what was done and suggested."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from ecomrlve.customer.ledger import Ledger
from ecomrlve.difficulty import difficulty, sigmoid
from ecomrlve.errors import Refused
from ecomrlve.shop.order_history import Order, OrderLine
from ecomrlve.shop.policies import METHODS, REASONS
from ecomrlve.shop.returns import return_case
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.returns import ReturnTask

TASK = ReturnTask()
LEVELS = (0, 3, 6, 9, 12)


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_RETURN", seed))


def told(problem: Problem) -> Ledger:
    ledger = problem.ledger()
    ledger.say(list(ledger.slots), 0, "open")
    return ledger


@pytest.fixture(scope="module")
def drawn(words_engine: Any) -> list[tuple[int, Problem]]:
    # Seeds of their own for every level: the wish, say, is drawn from the seed alone.
    return [(d, draw(words_engine, 100 * d + seed, d)) for d in LEVELS for seed in range(40)]


@pytest.fixture
def problems(drawn: list[tuple[int, Problem]]) -> Iterator[list[tuple[int, Problem]]]:
    """The problems, with nothing sent back in any of them."""
    undo(drawn)
    yield drawn
    undo(drawn)


def undo(drawn: list[tuple[int, Problem]]) -> None:
    for _, problem in drawn:
        problem.world.returns.active.clear()


# --- the line --------------------------------------------------------------------------------------------------------


def listed(problem: Problem, call: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """All (order, line) pairs, as an agent reads them."""
    found = []
    page, more = 1, True
    while more:
        result = call(problem.world, "order_list", page=page)
        found += [(order, line) for order in result["orders"] for line in order["lines"]]
        more, page = result["more"], page + 1
    return found


def shows(order: dict[str, Any], line: dict[str, Any], attribute: str) -> Any:
    names = {"ordered_on": order["placed"], "delivered_on": order.get("delivered"), "paid": line["price"]}
    names |= {"quantity": line["qty"], "bought": line["title"], "brand": line.get("brand")}
    return names[attribute] if attribute in names else line["attributes"].get(attribute)


def test_what_is_said_singles_the_line_out_among_those_of_its_type(problems: list[tuple[int, Problem]], call: Any):
    company = 0
    for _, problem in problems:
        kind = problem.slots[0].value
        assert (problem.slots[0].kind, "sendback" in problem.omitted) == ("sendback", False)
        facts = [slot for slot in problem.slots if slot.kind == "reference"]
        same = [(order, line) for order, line in listed(problem, call) if line["type"] == kind]
        fitting = [
            line["line_id"]
            for order, line in same
            if all(shows(order, line, slot.attribute) == slot.value for slot in facts)
        ]
        assert fitting == [problem.world.orders.line_id(problem.goal.line.number)]
        company += len(same) > 1
    assert company > 50


def test_more_is_said_of_the_line_the_higher_the_difficulty(drawn: list[tuple[int, Problem]]):
    for d, problem in drawn:
        assert sum(slot.kind == "reference" for slot in problem.slots) >= 1 + d // 4


def test_the_line_was_delivered_and_every_wish_can_be_said(drawn: list[tuple[int, Problem]]):
    for d, problem in drawn:
        goal = problem.goal
        keys = [slot.key for slot in problem.slots]
        assert goal.order.delivered is not None
        assert goal.order.status == "delivered"
        assert goal.line in goal.order.lines
        # The list says what was sent back earlier, which would tell the answer.
        assert not goal.line.returned
        assert keys.index("reason") < keys.index("wish")
        assert ("refund" in keys) == (goal.wish != "exchange")
        wanted = {slot.kind for slot in problem.slots} & {"constraint", "priority"}
        assert bool(wanted) == (goal.wish != "refund") == (goal.replacement is not None)
        constraints = sum(slot.kind == "constraint" for slot in problem.slots)
        assert constraints == (problem.supported if wanted else 0) <= difficulty(d).constraints
        assert not problem.switch
        assert not problem.asleep


def test_all_wishes_reasons_and_methods_occur(drawn: list[tuple[int, Problem]]):
    goals = [problem.goal for _, problem in drawn]
    assert {goal.reason for goal in goals} == set(REASONS)
    assert {goal.method for goal in goals} == set(METHODS)
    for wish, share in {"refund": 0.4, "refund_and_suggestion": 0.3, "exchange": 0.3}.items():
        assert abs(sum(goal.wish == wish for goal in goals) / len(goals) - share) < 0.1


# --- who may send it back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0, 2, 4, 8, 12])
def test_the_share_that_may_not_go_back_and_that_at_the_edge(words_engine: Any, d: int):
    goals = [draw(words_engine, seed, d).goal for seed in range(250)]
    refused = sum(not goal.eligible for goal in goals) / 250
    # 25 to 40 %, give or take a standard error.
    assert 0.25 - 0.028 <= refused <= 0.40 + 0.031, refused
    edge = sum(goal.edge for goal in goals) / 250
    # The wish for a refusal or not goes before, and few orders leave little room, so that it may fall short.
    expected = 0.7 * sigmoid((d - 4) / 1.5)
    assert 0.6 * expected - 0.04 <= edge <= expected + 0.08, edge
    # That no day would have helped is the exception, so that "never" is no safe answer to a refusal.
    never = sum(goal.last_day is None for goal in goals if not goal.eligible)
    assert never <= (0.5 if d < 3 else 0.25) * refused * 250, never


def test_the_edges_are_the_last_day_and_the_day_after(words_engine: Any):
    last = after = 0
    for seed in range(150):
        goal, world = (problem := draw(words_engine, seed, 12)).goal, problem.world
        if not goal.edge:
            continue
        days = (world.today - goal.order.delivered).days
        reveal = TASK.reveal(problem, told(problem))
        assert reveal["days_since_delivery"] == days
        assert days - reveal["window_days"] in (0, 1)
        last += days == reveal["window_days"]
        after += days > reveal["window_days"]
        if days > reveal["window_days"]:
            assert not goal.eligible
        else:
            assert goal.eligible
    assert last > 20
    assert after > 20


def test_the_decision_is_what_the_eligibility_check_says(problems: list[tuple[int, Problem]], call: Any):
    for _, problem in problems:
        goal = problem.goal
        told_reasons = call(problem.world, "return_check_eligibility", **names(problem))["reasons"]
        assert (goal.reason in told_reasons) == goal.eligible
        wanted = "exchange" if goal.wish == "exchange" else "return"
        assert goal.decision == (wanted if goal.eligible else "not_eligible")


def test_the_last_day_is_the_delivery_and_the_window_of_the_page(problems: list[tuple[int, Problem]]):
    open_days = over = never = 0
    for _, problem in problems:
        goal, world = problem.goal, problem.world
        page = world.policies.page("return_window")
        window = page.value(return_case(world, goal.order, goal.line, goal.reason))
        expected = goal.order.delivered + datetime.timedelta(days=int(window)) if window > 0 else None
        assert goal.last_day == expected
        assert goal.eligible == (expected is not None and world.today <= expected)
        shown = TASK.reveal(problem, told(problem))["last_return_day"]
        assert shown == (None if expected is None else expected.isoformat())
        open_days += goal.eligible
        never += expected is None
        over += expected is not None and not goal.eligible
    assert min(open_days, over) > 20
    assert never > 3


def names(problem: Problem, order: Order | None = None, line: OrderLine | None = None) -> dict[str, str]:
    goal, orders = problem.goal, problem.world.orders
    order, line = order or goal.order, line or goal.line
    return {"order_id": orders.order_id(order.number), "line_id": orders.line_id(line.number)}


# --- the verdict -----------------------------------------------------------------------------------------------------


def holds(own: Any, operator: str, value: Any) -> bool:
    if own is None:
        return False
    if operator in ("le", "ge"):
        return bool(own <= value if operator == "le" else own >= value)
    return bool(own in value if operator == "in" else own == value)


def worths(problem: Problem, ledger: Ledger) -> dict[int, float]:
    """Feasible replacement → (1 + u) / 2, with u = 0.75·q₁ + 0.25·q₂ counted one by one."""
    goal, world = problem.goal, problem.world
    catalog = world.catalog
    said = ledger.said_slots()
    rules = [slot for slot in said if slot.kind == "constraint"]
    rows = [
        row
        for row in catalog.rows_of_type(catalog.type_of(goal.line.row)).tolist()
        if row != goal.line.row
        and world.stock.lasting(row) > 0
        and all(holds(catalog.columns[s.attribute].get(row), s.operator, s.value) for s in rules)
    ]
    priorities = sorted((slot for slot in said if slot.kind == "priority"), key=lambda slot: slot.rank)

    def good(row: int, slot: Any) -> float:
        value = catalog.columns[slot.attribute].get(row)
        if slot.attribute == "brand":
            return float(value == slot.value)
        return float("-inf") if value is None else value if slot.attribute == "rating" else -value

    def share(row: int, slot: Any) -> float:
        return sum(good(other, slot) <= good(row, slot) for other in rows) / len(rows)

    weights = [0.75, 0.25] if len(priorities) == 2 else [1.0] * len(priorities)
    used = list(zip(weights, priorities, strict=True))
    return {row: (1 + (sum(weight * share(row, slot) for weight, slot in used) if used else 1.0)) / 2 for row in rows}


def best(problem: Problem) -> int:
    found = worths(problem, told(problem))
    return max(sorted(found), key=lambda row: found[row])


def ready(problem: Problem, row: int) -> dict[str, str]:
    """The arguments that name a product to exchange for."""
    world = problem.world
    chosen = {"new_product_id": world.product_id(row)}
    if world.variants.has(row):
        number = next(n for n in range(len(world.variants_of(row))) if world.stock.left(row, n) > 0)
        chosen["new_variant_id"] = world.variant_id(row, number)
    return chosen


def act(problem: Problem, call: Any, kind: str, **changes: Any) -> dict[str, Any]:
    """Make the return or exchange that the customer wants, or one that differs in what is given."""
    goal = problem.goal
    arguments: dict[str, Any] = names(problem) | {"reason": goal.reason}
    if kind == "return":
        return call(problem.world, "return_initiate", **(arguments | {"method": goal.method} | changes))
    if "new_product_id" not in changes:
        changes |= ready(problem, best(problem))
    return call(problem.world, "return_exchange", **(arguments | changes))


def answer(problem: Problem, **changes: Any) -> dict[str, Any]:
    goal = problem.goal
    found = {f"selected_{key}": value for key, value in names(problem).items()} | {"return_decision": goal.decision}
    if goal.last_day is not None and not goal.eligible:
        found["last_return_day"] = goal.last_day.isoformat()
    if goal.suggestion and goal.decision != "exchange":
        found["recommended_product_ids"] = [problem.world.product_id(best(problem))]
    return found | changes


def judge(problem: Problem, ledger: Ledger | None = None, **changes: Any) -> Any:
    return TASK.verify(problem, ledger or told(problem), answer(problem, **changes), difficulty(6))


def of_decision(problems: list[tuple[int, Problem]], *decisions: str) -> list[Problem]:
    found = [problem for _, problem in problems if problem.goal.decision in decisions]
    assert len(found) > 20
    return found


def score(ret: int, rep: float) -> float:
    return 2 * (3 + 6 * ret + rep) / 10 - 1


def test_the_right_thing_done_is_exactly_one(problems: list[tuple[int, Problem]], call: Any):
    for _, problem in problems:
        if problem.goal.eligible:
            assert "error" not in act(problem, call, problem.goal.decision)
        verdict = judge(problem)
        assert verdict.task == 1.0
        assert verdict.correct
        # Ids, decisions and their spelling are read without fuss.
        loud = {key: f"  {value.upper()} " for key, value in answer(problem).items() if isinstance(value, str)}
        loud["return_decision"] = loud["return_decision"].replace("_", "-")
        assert judge(problem, **loud).task == 1.0


def test_nothing_done_though_it_may_go_back_is_wrong_whatever_is_said(problems: list[tuple[int, Problem]]):
    for problem in of_decision(problems, "return", "exchange"):
        rep = 0.0 if problem.goal.decision == "exchange" else 1.0
        for decision in ("return", "exchange", "not_eligible", "", "done"):
            verdict = judge(problem, return_decision=decision)
            assert verdict.task == pytest.approx(score(0, rep), abs=1e-12)
            assert not verdict.correct


def test_the_right_thing_done_and_the_wrong_one_told_is_wrong(problems: list[tuple[int, Problem]], call: Any):
    for problem in of_decision(problems, "return", "exchange"):
        decision = problem.goal.decision
        act(problem, call, decision)
        for said in ({"return", "exchange", "not_eligible", "", "returned", f"not {decision}"}) - {decision}:
            assert judge(problem, return_decision=said).task == pytest.approx(score(0, 1.0), abs=1e-12)


def test_another_reason_or_method_or_kind_is_not_what_was_asked_for(problems: list[tuple[int, Problem]], call: Any):
    tried = dict.fromkeys(("reason", "method", "kind"), 0)
    for problem in of_decision(problems, "return", "exchange"):
        goal, world = problem.goal, problem.world
        reasons = call(world, "return_check_eligibility", **names(problem))["reasons"]
        other = "return" if goal.decision == "exchange" else "exchange"
        spoiled = [("reason", goal.decision, {"reason": next((r for r in reasons if r != goal.reason), None)})]
        if goal.decision == "return":
            spoiled.append(("method", "return", {"method": next(m for m in METHODS if m != goal.method)}))
        target = {} if goal.replacement is not None or other == "return" else ready(problem, in_stock(problem))
        spoiled.append(("kind", other, target))
        for what, kind, changes in spoiled:
            if None in changes.values():
                continue
            assert "error" not in act(problem, call, kind, **changes)
            verdict = judge(problem)
            assert verdict.parts["returned"] == 0, what
            assert verdict.task <= score(0, 1.0) + 1e-12
            assert not verdict.correct
            world.returns.active.clear()
            tried[what] += 1
    assert min(tried.values()) > 15, tried


def in_stock(problem: Problem) -> int:
    """Some product of the line's type that is on the shelf."""
    world = problem.world
    rows = world.catalog.rows_of_type(world.catalog.type_of(problem.goal.line.row)).tolist()
    return next(row for row in rows if row != problem.goal.line.row and world.stock.left(row) > 0)


def other_lines(problem: Problem) -> list[tuple[Order, OrderLine, str]]:
    """Lines besides the one meant that can go back, with a reason."""
    goal, world = problem.goal, problem.world
    return [
        (order, line, reason)
        for order in world.orders.orders
        for line in order.lines
        if line.number != goal.line.number
        for reason in [goal.reason, *REASONS]
        if world.returns.eligible(order, line, reason)
    ]


def test_another_line_sent_back_instead_or_besides_is_wrong(problems: list[tuple[int, Problem]], call: Any):
    tried = 0
    for _, problem in problems:
        goal, found = problem.goal, other_lines(problem)
        if not found:
            continue
        order, line, reason = found[0]
        wrong = {**names(problem, order, line), "reason": reason, "method": goal.method}
        for besides in (False, True):
            problem.world.returns.active.clear()
            if besides and goal.eligible:
                act(problem, call, goal.decision)
            assert "error" not in act(problem, call, "return", **wrong)
            verdict = judge(problem)
            assert verdict.parts["returned"] == 0
            assert not verdict.correct
            assert verdict.task <= score(0, 1.0) + 1e-12
            # Naming that other line does not help either.
            also = names(problem, order, line)
            verdict = judge(problem, selected_order_id=also["order_id"], selected_line_id=also["line_id"])
            assert verdict.task == -1.0
            tried += 1
    assert tried > 200


def test_what_was_cancelled_does_not_count(problems: list[tuple[int, Problem]], call: Any):
    for problem in of_decision(problems, "return"):
        goal, world = problem.goal, problem.world
        made = act(problem, call, "return")
        call(world, "return_cancel", return_id=made["return_id"])
        assert not judge(problem).correct
        # A mistake that was mended is no mistake.
        wrong = act(problem, call, "return", method=next(m for m in METHODS if m != goal.method))
        assert not judge(problem).correct
        call(world, "return_cancel", return_id=wrong["return_id"])
        act(problem, call, "return")
        assert judge(problem).task == 1.0
        assert judge(problem).correct


def test_not_eligible_needs_that_nothing_was_done(problems: list[tuple[int, Problem]], call: Any):
    tried = 0
    for problem in of_decision(problems, "not_eligible"):
        reasons = call(problem.world, "return_check_eligibility", **names(problem))["reasons"]
        ways = [names(problem) | {"reason": reason} for reason in reasons[:1]]
        ways += [names(problem, o, line) | {"reason": reason} for o, line, reason in other_lines(problem)[:1]]
        for way in ways:
            made = act(problem, call, "return", **way)
            assert "error" not in made
            verdict = judge(problem)
            assert verdict.task == pytest.approx(score(0, 1.0), abs=1e-12)
            assert not verdict.correct
            call(problem.world, "return_cancel", return_id=made["return_id"])
            tried += 1
        assert judge(problem).task == 1.0
        for decision in ("return", "exchange", "", "eligible"):
            assert judge(problem, return_decision=decision).task == pytest.approx(score(0, 1.0), abs=1e-12)
    assert tried > 30


def test_a_refusal_must_tell_the_last_day(problems: list[tuple[int, Problem]]):
    dated = never = 0
    for problem in of_decision(problems, "not_eligible"):
        day = problem.goal.last_day
        if day is None:
            right, wrong = ["", "  "], ["2025-01-01", problem.world.today.isoformat(), "never", "none", "0"]
            never += 1
        else:
            near = [(day + datetime.timedelta(days=shift)).isoformat() for shift in (-1, 1, 7, -365, 365)]
            far = [problem.goal.order.delivered.isoformat(), problem.world.today.isoformat()]
            right = [day.isoformat(), f"  {day.isoformat()} "]
            text = day.isoformat()
            wrong = [*near, *far, "", "never", f"{text} ", text[:-1], f"1{text}", f"{text} or {near[1]}", f"not {text}"]
            wrong.remove(f"{text} ")
            dated += 1
        for given in right:
            verdict = judge(problem, last_return_day=given)
            assert (verdict.task, verdict.correct) == (1.0, True), given
        for given in wrong:
            verdict = judge(problem, last_return_day=given)
            assert verdict.task == pytest.approx(score(0, 1.0), abs=1e-12), given
            assert not verdict.correct
    assert dated > 20
    assert never > 3


def test_the_day_is_not_asked_for_where_it_may_go_back(problems: list[tuple[int, Problem]], call: Any):
    for problem in of_decision(problems, "return"):
        act(problem, call, "return")
        assert judge(problem, last_return_day="1999-01-01").task == judge(problem).task == 1.0


def shop_state(problem: Problem) -> Any:
    world = problem.world
    return copy.deepcopy(
        (world.transactions(), world.returns._made, world.stock.sold_out, world.outputs, world.cart.lines)
    )


def test_a_refused_call_changes_nothing(problems: list[tuple[int, Problem]], call: Any):
    for problem in of_decision(problems, "not_eligible"):
        world, goal = problem.world, problem.goal
        before = shop_state(problem)
        assert act(problem, call, "return")["error"]["code"] in ("not_returnable", "already_returned")
        taken = act(problem, call, "exchange", **ready(problem, in_stock(problem)))
        assert taken["error"]["code"] in ("not_returnable", "already_returned")
        with pytest.raises(Refused):
            world.returns.initiate(goal.order, goal.line, goal.reason, goal.method)
        assert shop_state(problem) == before
        assert judge(problem).task == 1.0


def test_an_exchange_for_what_is_sold_out_is_refused_and_the_line_can_still_go_back(
    problems: list[tuple[int, Problem]], call: Any
):
    tried = 0
    for problem in of_decision(problems, "exchange"):
        world = problem.world
        row = next((r for r in range(400) if world.stock.left(r) == 0 and not world.variants.has(r)), None)
        if row is None:
            continue
        made = act(problem, call, "exchange", new_product_id=world.product_id(row))
        assert made["error"]["code"] == "out_of_stock"
        assert world.transactions() == ()
        assert "error" not in act(problem, call, "exchange")
        assert judge(problem).task == 1.0
        tried += 1
    assert tried > 10


def test_a_wrong_line_or_order_named_is_minus_one(problems: list[tuple[int, Problem]], call: Any):
    for _, problem in problems[::2]:
        goal, orders = problem.goal, problem.world.orders
        if goal.eligible:
            act(problem, call, goal.decision)
        right = names(problem)
        others = [order for order in orders.orders if order.number != goal.order.number]
        wrong = [{"selected_order_id": orders.order_id(order.number)} for order in others[:1]]
        wrong += [{"selected_line_id": text} for text in ("", right["line_id"][:-1], right["order_id"], "l0000000")]
        wrong += [{"selected_order_id": text} for text in ("", right["order_id"] + "x", right["line_id"])]
        wrong += [{"selected_line_id": orders.line_id(line.number)} for line in goal.order.lines if line != goal.line]
        for change in wrong:
            assert judge(problem, **change).task == -1.0


# --- the replacement -------------------------------------------------------------------------------------------------


def test_the_replacement_is_worth_its_share_of_the_best(problems: list[tuple[int, Problem]], call: Any):
    different, tried = set(), {"return": 0, "exchange": 0, "not_eligible": 0}
    for number, (_, problem) in enumerate(problems):
        goal, world = problem.goal, problem.world
        if not goal.suggestion:
            continue
        worth = worths(problem, told(problem))
        assert 2 <= len(worth) <= 3 * goal.replacement.k
        rows = Stream("rows", number).sample(sorted(worth), 3)
        outside = [row for row in goal.replacement.rows.tolist() if row not in worth]
        rows += Stream("outside", number).sample(outside, 2)
        for row in rows:
            rep = worth.get(row, 0.0) / max(worth.values())
            world.returns.active.clear()
            if goal.decision == "exchange":
                if world.stock.left(row) == 0:
                    continue
                assert "error" not in act(problem, call, "exchange", **ready(problem, row))
                verdict = judge(problem)
            else:
                if goal.eligible:
                    act(problem, call, "return")
                verdict = judge(problem, recommended_product_ids=[f" {world.product_id(row).upper()} "])
            assert verdict.task == pytest.approx(score(1, rep), abs=1e-12)
            assert verdict.correct == (rep >= 0.95)
            different.add(round(rep, 3))
            tried[goal.decision] += 1
    assert min(tried.values()) > 30, tried
    assert len(different) > 40


def test_for_an_exchange_the_product_that_was_taken_counts_and_not_the_one_named(
    problems: list[tuple[int, Problem]], call: Any
):
    lost = 0
    for problem in of_decision(problems, "exchange"):
        worth = worths(problem, told(problem))
        poor = min(sorted(worth), key=lambda row: worth[row])
        top = [problem.world.product_id(best(problem))]
        act(problem, call, "exchange", **ready(problem, poor))
        verdict = judge(problem, recommended_product_ids=top)
        assert verdict.task == pytest.approx(score(1, worth[poor] / max(worth.values())), abs=1e-12)
        problem.world.returns.active.clear()
        act(problem, call, "exchange")
        assert judge(problem, recommended_product_ids=[problem.world.product_id(poor)]).task == 1.0
        lost += worth[poor] < 0.95 * max(worth.values())
    assert lost > 15


def test_one_suggestion_is_right_and_none_or_two_are_not(problems: list[tuple[int, Problem]], call: Any):
    tried = 0
    for _, problem in problems:
        goal = problem.goal
        if goal.wish != "refund_and_suggestion":
            continue
        if goal.eligible:
            act(problem, call, "return")
        top = problem.world.product_id(best(problem))
        for given in ([], [top, top], [top, "p0000000"], ["p0000000"], [""], [problem.world.product_id(goal.line.row)]):
            verdict = judge(problem, recommended_product_ids=given)
            assert verdict.task == pytest.approx(score(1, 0.0), abs=1e-12), given
            assert not verdict.correct
        tried += 1
    assert tried > 30


def test_where_no_product_was_asked_for_none_is_scored(problems: list[tuple[int, Problem]], call: Any):
    for _, problem in problems:
        goal = problem.goal
        if goal.suggestion:
            continue
        if goal.eligible:
            act(problem, call, "return")
        assert judge(problem, recommended_product_ids=["p0000000"]).task == 1.0


def test_a_requirement_that_was_never_said_is_not_scored(problems: list[tuple[int, Problem]], call: Any):
    tried = 0
    for _, problem in problems:
        if problem.goal.wish != "refund_and_suggestion":
            continue
        if problem.goal.eligible:
            act(problem, call, "return")
        for slot in [slot for slot in problem.slots if slot.kind == "constraint"]:
            ledger = problem.ledger()
            ledger.say([key for key in ledger.slots if key != slot.key], 0, "open")
            loose = worths(problem, ledger)
            strict = worths(problem, told(problem))
            odd = [row for row in loose if row not in strict]
            if odd:
                given = {"recommended_product_ids": [problem.world.product_id(odd[0])]}
                assert judge(problem, ledger, **given).parts["replacement"] > 0.4
                assert judge(problem, **given).parts["replacement"] == 0
                tried += 1
    assert tried > 40


# --- what the customer sees ------------------------------------------------------------------------------------------


def whats(sight: Any) -> list[str]:
    return [complaint.facts["what"] for complaint in sight.complaints]


def test_the_customer_sees_whether_the_return_is_the_one_it_wanted(problems: list[tuple[int, Problem]], call: Any):
    seen: dict[str, int] = {}
    for _, problem in problems:
        goal, world, ledger = problem.goal, problem.world, told(problem)
        nothing = TASK.see(problem, ledger, [])
        assert (nothing.complaints, nothing.reached, nothing.quality) == ((), False, 0.0)
        if goal.eligible:
            act(problem, call, goal.decision)
            fine = TASK.see(problem, ledger, [])
            assert (fine.complaints, fine.reached, fine.quality) == ((), True, 1.0)
            if goal.decision == "return":
                world.returns.active.clear()
                act(problem, call, "return", method=next(m for m in METHODS if m != goal.method))
                sight = TASK.see(problem, ledger, [])
                assert whats(sight) == ["wrong_return"]
                assert sight.complaints[0].keys == ("refund",)
                assert not sight.reached
                assert sight.quality == -1.0
        world.returns.active.clear()
        for order, line, reason in other_lines(problem)[:1]:
            act(problem, call, "return", **names(problem, order, line), reason=reason)
            sight = TASK.see(problem, ledger, [])
            assert whats(sight) == ["wrong_line"]
            assert sight.complaints[0].facts["title"] == world.catalog.titles[line.row]
            assert not sight.reached
            seen["wrong_line"] = seen.get("wrong_line", 0) + 1
        world.returns.active.clear()
        reasons = call(world, "return_check_eligibility", **names(problem))["reasons"]
        for reason in [reason for reason in reasons if reason != goal.reason and goal.eligible][:1]:
            act(problem, call, goal.decision, reason=reason)
            sight = TASK.see(problem, ledger, [])
            assert whats(sight) == ["wrong_return"]
            assert sight.complaints[0].keys == ("reason",)
            seen["reason"] = seen.get("reason", 0) + 1
        world.returns.active.clear()
    assert min(seen.values()) > 30, seen


def test_the_customer_complains_about_replacements_that_do_not_suit(problems: list[tuple[int, Problem]], call: Any):
    tried = 0
    for _, problem in problems:
        goal, ledger = problem.goal, told(problem)
        if goal.replacement is None:
            continue
        worth = worths(problem, ledger)
        unfit = [r for r in goal.replacement.rows.tolist() if r not in worth and r != goal.line.row]
        unfit = [row for row in unfit if problem.world.stock.lasting(row) > 0]
        assert whats(TASK.see(problem, ledger, [unfit[0]])) == ["violates"]
        assert whats(TASK.see(problem, ledger, [best(problem), goal.line.row])) == []
        if goal.decision == "exchange":
            act(problem, call, "exchange", **ready(problem, unfit[0]))
            sight = TASK.see(problem, ledger, [])
            assert whats(sight) == ["violates"]
            assert not sight.reached
            tried += 1
    assert tried > 15
