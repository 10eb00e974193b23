"""E_STATUS: which order is meant, what is asked about it, and the verdict on the answer."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ecomrlve.customer.ledger import Ledger
from ecomrlve.difficulty import difficulty, sigmoid
from ecomrlve.shop.order_history import STATUSES
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.order_reference import normal_date
from ecomrlve.tasks.status import StatusTask, indirect_probability, normal_status

TASK = StatusTask()
LEVELS = (0, 3, 6, 9, 12)
UNDER_WAY = {"processing", "shipped", "in_transit", "out_for_delivery", "delayed"}


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_STATUS", seed))


def told(problem: Problem) -> Ledger:
    ledger = problem.ledger()
    ledger.say(list(ledger.slots), 0, "open")
    return ledger


def judge(problem: Problem, ledger: Ledger | None = None, **answer: str) -> Any:
    return TASK.verify(problem, ledger or told(problem), answer, difficulty(6))


def right(problem: Problem) -> dict[str, str]:
    """The answer that gets everything."""
    goal = problem.goal
    found = {"selected_order_id": problem.world.orders.order_id(goal.order.number), "order_status": goal.order.status}
    return found | ({"eta": goal.order.eta.isoformat()} if goal.eta else {})


def listed(problem: Problem, call: Any) -> list[dict[str, Any]]:
    """All orders, as an agent reads them."""
    found: list[dict[str, Any]] = []
    page, more = 1, True
    while more:
        result = call(problem.world, "order_list", page=page)
        found += result["orders"]
        more, page = result["more"], page + 1
    return found


def fits(order: dict[str, Any], attribute: str, value: Any) -> bool:
    if attribute == "bought":
        return value in [line["type"] for line in order["lines"]]
    return order[{"order_id": "order_id", "ordered_on": "placed", "order_total": "total"}[attribute]] == value


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[tuple[int, Problem]]:
    return [(d, draw(words_engine, seed, d)) for d in LEVELS for seed in range(40)]


def test_what_is_said_singles_out_exactly_the_order_meant(problems: list[tuple[int, Problem]], call: Any):
    indirect = 0
    for d, problem in problems:
        orders = listed(problem, call)
        assert len(orders) == difficulty(d).order_history
        facts = [slot for slot in problem.slots if slot.kind == "reference"]
        fitting = [o for o in orders if all(fits(o, slot.attribute, slot.value) for slot in facts)]
        assert [order["order_id"] for order in fitting] == [problem.world.orders.order_id(problem.goal.order.number)]
        direct = [slot.attribute for slot in facts] == ["order_id"]
        assert direct or (len(facts) >= 2 and all(slot.attribute != "order_id" for slot in facts))
        indirect += not direct
    assert indirect > 80


def test_a_product_is_named_by_its_kind_which_rarely_tells_the_order_alone(problems: list[tuple[int, Problem]]):
    named = alone = 0
    for d, problem in problems:
        world = problem.world
        for slot in problem.slots:
            if slot.attribute == "bought" and d >= 6:
                assert slot.value in world.catalog.type_names
                having = [o for o in world.orders.orders if slot.value in kinds_in(problem, o)]
                assert problem.goal.order in having
                named += 1
                alone += len(having) == 1
    assert named > 50
    assert alone < 0.5 * named


def kinds_in(problem: Problem, order: Any) -> set[str]:
    return {problem.world.catalog.type_of(line.row) for line in order.lines}


def test_nothing_sells_out_in_a_shop_that_is_only_asked_about_orders(problems: list[tuple[int, Problem]]):
    for d, problem in problems:
        assert difficulty(d).sellout > 0 or d == 0
        assert problem.world.stock.rate == 0
        assert "sellout" not in problem.dropped


def test_the_opening_says_that_it_is_about_an_order_and_nothing_that_cannot_be_omitted_is_scored(
    problems: list[tuple[int, Problem]],
):
    for _, problem in problems:
        assert problem.slots[0].kind == "order"
        assert "order" not in problem.omitted
        assert {slot.kind for slot in problem.slots} <= {"order", "reference", "eta"}
        assert ("eta" in [slot.key for slot in problem.slots]) == problem.goal.eta
        assert not problem.switch
        assert not problem.asleep


def test_the_share_of_indirect_references_is_the_published_one(words_engine: Any):
    for d in (0, 2, 4, 8):
        share = sum(draw(words_engine, seed, d).drawn["indirect"] for seed in range(300)) / 300
        expected = sigmoid((d - 2) / 1.5)
        assert indirect_probability(d) == expected
        # Four standard errors, and a little for orders that cannot be told apart but by their number.
        assert abs(share - expected) <= 4 * (expected * (1 - expected) / 300) ** 0.5 + 0.01, d


@pytest.mark.parametrize("d", [0, 6, 12])
def test_the_statuses_of_the_orders_meant_are_about_even(words_engine: Any, d: int):
    counts = Counter(draw(words_engine, seed, d).goal.order.status for seed in range(400))
    assert set(counts) == set(STATUSES)
    assert chisquare([counts[status] for status in STATUSES]).pvalue > 1e-4


def test_no_place_in_the_list_tells_the_order_meant(words_engine: Any):
    counts = Counter(draw(words_engine, seed, 2).goal.order.number for seed in range(400))
    assert chisquare([counts[place] for place in range(difficulty(2).order_history)]).pvalue > 1e-4


def test_the_arrival_is_asked_for_only_of_orders_under_way_and_of_half_of_them(
    problems: list[tuple[int, Problem]], call: Any
):
    waiting = asked = 0
    for _, problem in problems:
        goal = problem.goal
        identifier = problem.world.orders.order_id(goal.order.number)
        tracked = call(problem.world, "order_track", order_id=identifier)
        assert (tracked["eta"] is not None) == (goal.order.status in UNDER_WAY)
        if goal.eta:
            assert tracked["eta"] == right(problem)["eta"]
        else:
            assert "eta" not in [slot.key for slot in problem.slots]
        waiting += goal.order.status in UNDER_WAY
        asked += goal.eta
    assert 0.35 * waiting < asked < 0.65 * waiting


def test_the_list_of_orders_never_tells_the_arrival(problems: list[tuple[int, Problem]], call: Any):
    for _, problem in problems[::10]:
        for order in listed(problem, call):
            assert "eta" not in order
            assert "promised" not in order


def test_the_right_answer_is_exactly_one_and_read_without_fuss(problems: list[tuple[int, Problem]]):
    for _, problem in problems:
        answer = right(problem)
        ways = [
            answer,
            {key: f"  {value.upper()}\n" for key, value in answer.items()},
            answer | {"order_status": answer["order_status"].replace("_", " ").capitalize()},
            answer | {"order_status": answer["order_status"].replace("_", "-")},
            answer | {"order_status": answer["order_status"].replace("_", "  ")},
        ]
        if answer["order_status"] == "cancelled":
            ways.append(answer | {"order_status": "Canceled"})
        for way in ways:
            verdict = judge(problem, **way)
            assert verdict.task == 1.0, way
            assert verdict.correct
            assert verdict.parts["order"] == verdict.parts["status"] == 1


def wrong_ids(problem: Problem) -> list[str]:
    world, number = problem.world, problem.goal.order.number
    own = world.orders.order_id(number)
    others = [world.orders.order_id(order.number) for order in world.orders.orders if order.number != number]
    line = world.orders.line_id(problem.goal.order.lines[0].number)
    return [*others[:3], own[:-1], own + "0", own[1:], f"{own} {others[0]}", f"order {own}", line, "", "o0000000"]


def test_another_order_scores_nothing_whatever_else_is_right(problems: list[tuple[int, Problem]]):
    for _, problem in problems[::3]:
        for identifier in wrong_ids(problem):
            verdict = judge(problem, **(right(problem) | {"selected_order_id": identifier}))
            assert verdict.task == -1.0, identifier
            assert not verdict.correct


def test_the_right_order_with_another_status_scores_half(problems: list[tuple[int, Problem]]):
    for _, problem in problems[::3]:
        own = problem.goal.order.status
        others = [status for status in STATUSES if status != own]
        for text in (*others, "", own[:-1], own + "s", f"{own}, {others[0]}", f"{others[0]} {own}", f"not {own}", "1"):
            verdict = judge(problem, **(right(problem) | {"order_status": text}))
            assert verdict.task == 0.0, text
            assert not verdict.correct


def test_no_part_of_a_status_passes_for_it():
    assert normal_status("transit") != "in_transit"
    for status in STATUSES:
        assert normal_status(status) == status
        assert normal_status(status.replace("_", " ").title()) == status
    assert normal_status("delivery") not in STATUSES
    assert normal_status("on its way") not in STATUSES


def test_the_arrival_must_be_that_very_day_where_it_was_asked_for(problems: list[tuple[int, Problem]]):
    asked = 0
    for _, problem in problems:
        goal, answer = problem.goal, right(problem)
        if not goal.eta:
            # Where nobody asked, anything goes.
            for text in ("", "2020-01-01", "soon"):
                assert judge(problem, **(answer | {"eta": text})).task == 1.0
            continue
        asked += 1
        date = goal.order.eta
        near = [(date + datetime.timedelta(days=days)).isoformat() for days in (-7, -1, 1, 365)]
        typed = [date.strftime("%d.%m.%Y"), date.strftime("%m/%d/%Y"), f"on {date.isoformat()}", date.isoformat()[:-1]]
        promised = goal.order.promised
        if promised != date:
            near.append(promised.isoformat())
        for text in (*near, *typed, "", "soon", f"{date.isoformat()} or later", "9" * 400):
            verdict = judge(problem, **(answer | {"eta": text}))
            assert verdict.task == 0.0, text
            assert not verdict.correct
        assert judge(problem, **(answer | {"eta": f" {date.isoformat()} "})).task == 1.0
        # A right day does not save a wrong status, nor does either save a wrong order.
        other = next(status for status in STATUSES if status != goal.order.status)
        assert judge(problem, **(answer | {"order_status": other})).task == 0.0
    assert asked > 30


def test_an_arrival_that_was_never_asked_for_in_words_is_not_scored(problems: list[tuple[int, Problem]]):
    checked = 0
    for _, problem in problems:
        if problem.goal.eta:
            ledger = problem.ledger()
            ledger.say([key for key in ledger.slots if key != "eta"], 0, "open")
            assert judge(problem, ledger, **(right(problem) | {"eta": ""})).task == 1.0
            ledger.say(["eta"], 1, "clarify")
            assert judge(problem, ledger, **(right(problem) | {"eta": ""})).task == 0.0
            checked += 1
    assert checked > 30


@settings(max_examples=60)
@given(
    which=st.sampled_from(["right", "other", ""]),
    status=st.sampled_from([*STATUSES, "", "gone"]),
    eta=st.sampled_from(["", "2025-01-01", "right"]),
)
def test_scores_are_minus_one_zero_or_one(problems: list[tuple[int, Problem]], which: str, status: str, eta: str):
    for _, problem in problems[7:60:13]:
        answer = right(problem)
        day = problem.goal.order.eta.isoformat() if eta == "right" and problem.goal.order.eta else eta
        identifier = {"right": answer["selected_order_id"], "other": wrong_ids(problem)[0], "": ""}[which]
        verdict = judge(problem, selected_order_id=identifier, order_status=status, eta=day)
        order = which == "right"
        whole = order and status == answer["order_status"] and day == answer.get("eta", day)
        assert verdict.task == (1.0 if whole else 0.0 if order else -1.0)
        assert verdict.correct == whole


def test_an_empty_answer_is_minus_one(problems: list[tuple[int, Problem]]):
    verdict = judge(problems[0][1])
    assert (verdict.task, verdict.correct, verdict.done) == (-1.0, False, [])


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2025-03-04", datetime.date(2025, 3, 4)),
        (" 2025-03-04 ", datetime.date(2025, 3, 4)),
        ("2025-3-4", None),
        ("2025-02-30", None),
        ("04.03.2025", None),
        ("2025-03-04T10:00", None),
        ("", None),
    ],
)
def test_dates_are_read_as_iso_alone(text: str, date: datetime.date | None):
    assert normal_date(text) == date


def test_reveal_shows_the_order_meant(problems: list[tuple[int, Problem]]):
    for _, problem in problems[::7]:
        found = TASK.reveal(problem, told(problem))
        answer = right(problem)
        assert (found["order_id"], found["status"]) == (answer["selected_order_id"], answer["order_status"])
        assert found["eta"] == answer.get("eta")
        assert len(found["products"]) == len(problem.goal.order.lines)


def test_the_customer_sees_nothing_of_it(problems: list[tuple[int, Problem]]):
    """It never confirms what only the shop can know."""
    for _, problem in problems[::9]:
        sight = TASK.see(problem, told(problem), [line.row for line in problem.goal.order.lines])
        assert (sight.complaints, sight.reached) == ((), False)
