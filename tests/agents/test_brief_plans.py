"""The brief plans beside E_CART's: they succeed mostly, in chats of a fraction of the reference's length."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from statistics import mean, median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.base import play
from ecomrlve.agents.brief import BriefAgent
from ecomrlve.agents.brief_bundle import BriefBundlePlan, Look
from ecomrlve.agents.brief_discovery import (
    ANYTHING_ELSE,
    OpenQuestion,
    lasting,
    page_for,
    result_of,
    search_for,
    short_filters,
)
from ecomrlve.agents.brief_policy import BriefPolicyPlan
from ecomrlve.agents.brief_returns import BriefReturnPlan
from ecomrlve.agents.brief_status import BriefStatusPlan, OrderPages
from ecomrlve.agents.brief_substitution import MOST_PAGES, BriefSubstitutionPlan
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import Said, call, filters_of
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.filters import parse_filters
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.training.demonstrations_chat import demonstrate

ENVIRONMENTS = ("E_PD", "E_SUB", "E_STATUS", "E_POLICY", "E_RETURN", "E_BUNDLE")
SEEDS = range(20_000, 20_016)


def slot(
    kind: str, value: Any, attribute: str = "", *, operator: str = "eq", item: int | None = None, rank: int = 0
) -> dict[str, Any]:
    return {"kind": kind, "item": item, "attribute": attribute, "operator": operator, "value": value, "rank": rank}


def hit(identifier: str, price: float = 1.0, kind: str = "lamp", **attributes: Any) -> dict[str, Any]:
    return {"id": identifier, "type": kind, "title": kind, "price": price, "stock": 3, "attributes": attributes}


@pytest.fixture
def turn(words_engine: Any) -> Callable[..., Observation]:
    """An observation of a running episode with other messages: what calls of the last turn returned."""
    env = Environment(("E_PD",), words_engine)
    first, _ = env.reset(seed=20_000)

    def make(*results: tuple[dict[str, Any], dict[str, Any]], **fields: Any) -> Observation:
        messages = tuple({"role": "tool", **one, "result": result} for one, result in results)
        return replace(first, messages=messages, **fields)

    return make


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
@pytest.mark.parametrize(("difficulty", "least"), [(0, 0.9), (3, 0.8), (7, 0.6), (12, 0.5)])
def test_it_succeeds_mostly_and_does_nothing_foul(words_engine: Any, env_id: str, difficulty: int, least: float):
    env = Environment((env_id,), words_engine)
    rewards = []
    for seed in SEEDS:
        rewards.append(play(env, BriefAgent(), seed, difficulty))
        for step in env.episode.steps:
            assert len(step["canonical"].get("tool_calls", [])) <= env.episode.axes.tool_budget
    assert mean(reward.correct for reward in rewards) >= least
    assert all(reward.hallucination == 0 for reward in rewards)


@pytest.mark.parametrize(
    ("env_id", "difficulty", "most", "share"),
    [
        ("E_PD", 0, 4_000, 0.2),
        ("E_PD", 3, 7_000, 0.3),
        ("E_SUB", 3, 8_000, 0.3),
        ("E_STATUS", 0, 2_500, 0.7),
        ("E_POLICY", 0, 2_500, 1.0),
        ("E_POLICY", 3, 4_000, 1.0),
        ("E_RETURN", 0, 6_000, 0.2),
        ("E_BUNDLE", 3, 8_000, 0.1),
    ],
)
def test_its_chats_are_short(words_engine: Any, env_id: str, difficulty: int, most: int, share: float):
    env = Environment((env_id,), words_engine)
    lengths: dict[str, list[int]] = {"brief": [], "reference": []}
    for agent in (BriefAgent(), ReferenceAgent()):
        for seed in SEEDS[:8]:
            if play(env, agent, seed, difficulty).correct:
                record = env.trajectory(agent.name).to_dict()
                lengths[agent.name].append(demonstrate(record, words_engine).characters)
    assert median(lengths["brief"]) < most
    assert mean(lengths["brief"]) < share * mean(lengths["reference"])


def test_a_journey_is_played_by_the_brief_plans_of_its_intents(words_engine: Any):
    env = Environment(("E_JOURNEY",), words_engine)
    rewards = [play(env, BriefAgent(), seed, 1) for seed in SEEDS[:8]]
    assert mean(reward.correct for reward in rewards) >= 0.6
    assert play(env, BriefAgent(), 20_000, 0).correct
    assert demonstrate(env.trajectory("brief").to_dict(), words_engine).characters < 12_000


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_it_carries_nothing_over(words_engine: Any, env_id: str):
    env, agent = Environment((env_id,), words_engine), BriefAgent()
    for seed in (20_003, 20_004):
        play(env, agent, seed, 4)
        actions = json.dumps([step["action"] for step in env.episode.steps])
        play(env, BriefAgent(), seed, 4)
        assert json.dumps([step["action"] for step in env.episode.steps]) == actions


def test_it_sees_nothing_that_was_not_said(words_engine: Any):
    """Another goal behind the same words changes nothing of what it does first."""
    env, agent = Environment(("E_PD",), words_engine), BriefAgent()
    observation, _ = env.reset(seed=20_001, options={"difficulty": 6})
    agent.reset(env)
    action = agent.act(observation)
    ledger = env.episode.ledger
    for key in ledger.omitted:
        ledger.slots[key] = replace(ledger.slots[key], value="something else")
    agent.reset(env)
    assert ledger.omitted
    assert agent.act(observation) == action


class TestOpenQuestion:
    def test_an_answer_of_two_facts_may_not_be_the_last(self):
        question = OpenQuestion()
        question.hear(Said((slot("type", "lamp"),), False))
        assert question.ask() == ANYTHING_ELSE
        question.hear(Said((slot("type", "lamp"), slot("a", 1), slot("b", 1)), False))
        assert not question.over
        question.ask()
        question.hear(Said((slot("type", "lamp"), slot("a", 1), slot("b", 1), slot("c", 1)), False))
        assert question.over

    def test_nobody_asked_so_nothing_is_over(self):
        question = OpenQuestion()
        question.hear(Said((slot("type", "lamp"),), False))
        question.hear(Said((slot("type", "lamp"),), False))
        assert not question.over
        question.hear(Said((slot("type", "lamp"),), True))
        assert question.over


RULES = [
    slot("constraint", "red", "color"),
    slot("constraint", ["red", "blue"], "color", operator="in"),
    slot("constraint", 25.5, "price", operator="le"),
    slot("constraint", 4, "rating", operator="ge"),
    slot("constraint", 10, "price", operator="ge"),
    slot("constraint", "Simmerly", "brand"),
]


@given(st.lists(st.sampled_from(RULES), max_size=5))
def test_short_filters_mean_what_the_long_ones_mean(catalog: Any, rules: list[dict[str, Any]]):
    assert parse_filters(catalog, short_filters(rules)) == parse_filters(catalog, filters_of(rules))


@given(st.integers(1, 10))
def test_a_page_holds_some_more_than_are_wanted(wanted: int):
    assert wanted < page_for(wanted) + (wanted == 1) <= 2 * wanted


def test_it_searches_by_what_matters_most():
    priorities = slot("priority", "", "price", rank=2), slot("priority", "", "rating", rank=1)
    search = search_for("desk lamp", Said(priorities, False), ["a dsk lamp, please"], 4)
    assert search == call(
        "catalog_search", query="dsk lamp", filters={"type": "desk lamp", "in_stock": True}, sort="rating", limit=4
    )
    brand = Said((slot("priority", "Norsol", "brand", rank=1),), False)
    search = search_for("desk lamp", brand, ["a desk lamp"], 4)
    assert search["args"]["query"] == "Norsol desk lamp"
    assert "sort" not in search["args"]


def test_only_the_very_call_is_answered(turn: Callable[..., Observation]):
    search = call("catalog_search", query="lamp", limit=4)
    page = {"results": [], "page": 1, "more": False}
    assert result_of(turn((search, page)), search) == page
    assert result_of(turn((search, page)), call("catalog_search", query="lamp", limit=5)) is None
    assert result_of(turn((search, {"error": {"code": "bad_filter", "message": ""}})), search) is None


def test_what_was_seen_before_lasts(turn: Callable[..., Observation]):
    memory = Memory()
    memory.first_seen = {"p1": 1, "p2": 2}
    assert lasting([hit("p1"), hit("p2")], memory, turn(turn=2)) == [hit("p1")]


class TestOrderPages:
    @staticmethod
    def read(
        pages: OrderPages, turn: Callable[..., Observation], since: str | None, more: set[int], first: int = 1
    ) -> list[int]:
        """The pages that are read in turn, where some are followed by more."""
        numbers = []
        while calls := pages.next(since, first):
            [one] = calls
            numbers.append(one["args"].get("page", 1))
            page = {"orders": [], "page": numbers[-1], "more": numbers[-1] in more}
            pages.take_in(turn((one, page)))
        return numbers

    def test_from_the_first_to_the_last(self, turn: Callable[..., Observation]):
        assert self.read(OrderPages(), turn, None, {1, 2}) == [1, 2, 3]

    @pytest.mark.parametrize(
        ("more", "numbers"), [(set(), [2, 1]), ({1}, [2, 1]), ({1, 2}, [2, 3, 1]), ({1, 2, 3}, [2, 3, 4, 1])]
    )
    def test_from_the_second(self, turn: Callable[..., Observation], more: set[int], numbers: list[int]):
        assert self.read(OrderPages(), turn, "2026-01-31", more, first=2) == numbers

    def test_another_day_is_another_list(self, turn: Callable[..., Observation]):
        pages = OrderPages(status="delivered")
        assert self.read(pages, turn, None, set()) == [1]
        assert pages.next("2026-01-31") == [call("order_list", status="delivered", since="2026-01-31")]


def test_an_order_that_is_named_is_tracked_and_no_list_is_read(turn: Callable[..., Observation]):
    plan = BriefStatusPlan(Memory())
    view = Said((slot("order", ""), slot("reference", "o1", "order_id")), False)
    assert plan.take_turn(turn(), view, [])["tool_calls"] == [call("order_track", order_id="o1")]
    plan.memory.tracked["o1"] = {"order_id": "o1", "status": "shipped", "eta": "2026-02-01"}
    answer = {"selected_order_id": "o1", "order_status": "shipped", "eta": "2026-02-01"}
    assert plan.take_turn(turn(), view, []) == {"answer": answer}


@pytest.mark.parametrize(
    ("turns", "calls"),
    [
        (4, [call("order_list", since="2026-01-31")]),
        (8, [call("order_list", since="2026-01-31", page=2)]),
    ],
)
def test_an_order_of_a_day_is_looked_for_from_that_day_on(
    turn: Callable[..., Observation], turns: int, calls: list[dict[str, Any]]
):
    plan = BriefStatusPlan(Memory())
    view = Said((slot("order", ""), slot("reference", "2026-01-31", "ordered_on")), False)
    assert plan.take_turn(turn(intent_turns_left=turns), view, [])["tool_calls"] == calls


class TestPolicy:
    PAGE = (
        "How long you can return an item\nAs a rule, the return window is 30 days.\n\nExceptions\n"
        "- The return window is 40 days if the order was paid by card."
    )
    QUESTION = "how long the return window is, in days"

    @pytest.fixture
    def plan(self) -> BriefPolicyPlan:
        plan = BriefPolicyPlan(Memory())
        plan.memory.customer.append(f"Tell me {self.QUESTION}.")
        plan.memory.profile = {"tier": "Gold", "region": "Islands"}
        return plan

    def test_what_the_page_asks_for_is_enough(self, plan: BriefPolicyPlan, turn: Callable[..., Observation]):
        question = slot("question", self.QUESTION)
        action = plan.take_turn(turn(), Said((question,), False), [])
        assert action["tool_calls"] == [call("policy_search", query=self.QUESTION, limit=1)]
        plan.memory.found_first[self.QUESTION] = {"text": self.PAGE}
        idle = slot("fact", "o1", "order_id"), slot("fact", "app", "channel")
        assert "answer" not in plan.take_turn(turn(), Said((question, *idle), False), [])
        view = Said((question, slot("fact", "o1", "order_id"), slot("fact", "card", "payment")), False)
        assert plan.take_turn(turn(), view, []) == {"answer": {"policy_answer": 40}}

    @pytest.mark.parametrize("alone", [True, False])
    def test_an_order_is_read_for_what_is_missing(
        self, plan: BriefPolicyPlan, turn: Callable[..., Observation], alone: bool
    ):
        plan.memory.found_first[self.QUESTION] = {"text": self.PAGE}
        view = Said((slot("question", self.QUESTION), slot("fact", "o1", "order_id")), False)
        tools = ({"type": "function", "function": {"name": "order_get"}},) if alone else ()
        calls = plan.take_turn(turn(tools=tools), view, [])["tool_calls"]
        assert calls == [call("order_get", order_id="o1") if alone else call("order_list", page=1)]
        lines = [{"type": "lamp", "title": "Lamp", "qty": 1}]
        plan.memory.orders["o1"] = {
            "order_id": "o1", "placed": "2025-01-01", "total": 5.0, "payment": "card", "channel": "app", "lines": lines,
        }  # fmt: skip
        assert plan.take_turn(turn(), view, []) == {"answer": {"policy_answer": 40}}


def test_a_product_is_looked_for_anew_once_it_is_described_better(turn: Callable[..., Observation]):
    plan = BriefSubstitutionPlan(Memory())
    plan.memory.customer.append("My Norsol Lamp is sold out.")
    title, mark = slot("original", "Norsol Lamp"), slot("identify", 5, "power")
    for page in range(1, MOST_PAGES + 1):
        [search] = plan.take_turn(turn(), Said((title,), False), [])["tool_calls"]
        assert (search["args"].get("page", 1), search["args"]["limit"]) == (page, 1)
    assert plan.take_turn(turn(), Said((title,), False), []) == {"assistant_message": ANYTHING_ELSE}
    [search] = plan.take_turn(turn(), Said((title, mark), False), [])["tool_calls"]
    assert search == call("catalog_search", query="Norsol Lamp", filters={"power": 5}, limit=1)


def a_return(wish: str, reasons: list[str]) -> tuple[BriefReturnPlan, Said]:
    """A plan that knows which line it is about and for which reasons that may go back, and what was said."""
    plan = BriefReturnPlan(Memory())
    line = {"line_id": "l1", "product_id": "p1", "type": "lamp", "title": "Lamp", "qty": 1, "price": 1.0}
    plan.memory.orders["o1"] = {"order_id": "o1", "delivered": "2026-01-31", "placed": "2026-01-28", "lines": [line]}
    plan.memory.checked["o1", "l1"] = {"reasons": reasons}
    slots = slot("sendback", "lamp"), slot("reason", "damaged"), slot("wish", wish)
    return plan, Said((*slots, slot("reference", 1.0, "paid")), True)


@pytest.mark.parametrize(("reasons", "name"), [(["damaged"], "return_initiate"), (["arrived_late"], "policy_search")])
def test_the_policy_is_read_only_for_a_refusal(turn: Callable[..., Observation], reasons: list[str], name: str):
    plan, view = a_return("refund", reasons)
    assert plan.take_turn(turn(), view, [])["tool_calls"][0]["name"] == name


def test_nothing_is_exchanged_for_nothing(turn: Callable[..., Observation]):
    plan, view = a_return("exchange", ["damaged"])
    answer = {"selected_order_id": "o1", "selected_line_id": "l1"}
    assert plan.take_turn(turn(intent_turns_left=1), view, []) == {"answer": answer}


class TestBundle:
    VIEW = Said(
        (
            slot("part", "lamp", item=0),
            slot("part", "desk", item=1),
            slot("constraint", 30, "price", operator="le", item=1),
            slot("tie", ["lamp", "desk"], "color"),
        ),
        True,
    )

    def plan(self, lamps: list[dict[str, Any]], desks: list[dict[str, Any]]) -> BriefBundlePlan:
        plan = BriefBundlePlan(Memory())
        for kind, hits in (("lamp", lamps), ("desk", desks)):
            plan._looks[kind] = Look(call("catalog_search", query=kind, filters={}, limit=4), hits, turn=2)
            plan.memory.first_seen.update((one["id"], 1) for one in hits)
        return plan

    def test_the_cheapest_pair_that_matches(self, turn: Callable[..., Observation]):
        lamps = [hit("p1", 5, color="red"), hit("p2", 6, color="blue"), hit("p3", 7)]
        desks = [hit("p4", 20, "desk"), hit("p5", 22, "desk", color="blue"), hit("p6", 25, "desk", color="red")]
        answer = self.plan(lamps, desks).take_turn(turn(turn=2), self.VIEW, [])
        assert answer == {"answer": {"recommended_product_ids": ["p2", "p5"]}}

    def test_what_does_not_fit_or_may_sell_out_is_no_pair(self, turn: Callable[..., Observation]):
        plan = self.plan([hit("p1", 5, color="red")], [hit("p2", 40, "desk", color="red")])
        assert "answer" not in plan.take_turn(turn(turn=2), self.VIEW, [])
        plan = self.plan([hit("p1", 5, color="red")], [hit("p2", 20, "desk", color="red")])
        plan.memory.first_seen["p2"] = 2
        [search] = plan.take_turn(turn(turn=2, intent_turns_left=5), self.VIEW, [])["tool_calls"]
        filters = {"type": "desk", "price": {"le": 30}, "color": ["red"], "in_stock": True}
        assert search["args"] == {"query": "desk", "filters": filters, "sort": "price_asc", "limit": 5}
