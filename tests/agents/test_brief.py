"""The brief agent: it succeeds almost always, in few calls and few words, with what was said and nothing else."""

from __future__ import annotations

import json
from statistics import mean
from typing import Any

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.brief import BriefAgent
from ecomrlve.agents.brief_cart import MOST_PAGES, BriefCartPlan, wishes
from ecomrlve.agents.brief_words import as_written
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import Said
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.training.demonstrations_chat import demonstrate

SEEDS = range(20_000, 20_040)


def slot(kind: str, value: Any, attribute: str = "", item: int = 0) -> dict[str, Any]:
    return {"kind": kind, "item": item, "attribute": attribute, "operator": "eq", "value": value, "rank": 0}


@pytest.mark.parametrize(("difficulty", "least"), [(0, 0.9), (1, 0.9), (2, 0.85), (3, 0.8)])
def test_it_succeeds_almost_always(words_engine: Any, difficulty: int, least: float):
    env = Environment(("E_CART",), words_engine)
    rewards = [play(env, BriefAgent(), seed, difficulty) for seed in SEEDS]
    assert mean(reward.correct for reward in rewards) >= least
    assert all(reward.hallucination == 0 for reward in rewards)
    assert not any(reward.reason.startswith("Invalid") for reward in rewards)


def test_its_chats_are_short(words_engine: Any):
    env = Environment(("E_CART",), words_engine)
    lengths: dict[str, list[int]] = {"brief": [], "reference": []}
    for agent in (BriefAgent(), ReferenceAgent()):
        for seed in SEEDS[:10]:
            if play(env, agent, seed, 0).correct:
                record = env.trajectory(agent.name).to_dict()
                lengths[agent.name].append(demonstrate(record, words_engine).characters)
    assert mean(lengths["brief"]) < 2500
    assert mean(lengths["brief"]) < 0.6 * mean(lengths["reference"])


def test_it_keeps_to_its_budgets(words_engine: Any):
    env = Environment(("E_CART",), words_engine)
    for seed in SEEDS:
        play(env, BriefAgent(), seed, 9)
        for step in env.episode.steps:
            assert len((step["canonical"] or {}).get("tool_calls", [])) <= env.episode.axes.tool_budget


def test_it_carries_nothing_over(words_engine: Any):
    env, agent = Environment(("E_CART",), words_engine), BriefAgent()
    for seed in (20_003, 20_004):
        play(env, agent, seed, 2)
        actions = json.dumps([step["action"] for step in env.episode.steps])
        play(env, BriefAgent(), seed, 2)
        assert json.dumps([step["action"] for step in env.episode.steps]) == actions


def test_what_is_sold_out_is_replaced_by_what_the_customer_takes_instead():
    lamp, mat = slot("item", "Lamp"), slot("item", "Mat", item=1)
    red = slot("variant", "Red", "color")
    [wish] = wishes(Said((lamp, red, slot("quantity", 3)), False))
    assert (wish.title, wish.version, wish.quantity, wish.marks) == ("Lamp", "Red", 3, {})
    variant = slot("fallback", {"do": "variant", "attribute": "color", "value": "Blue"})
    assert [wish.version for wish in wishes(Said((lamp, red, variant), False))] == ["Blue"]
    assert wishes(Said((lamp, slot("fallback", {"do": "drop"}), mat), False)) == wishes(Said((mat,), False))
    other = {"do": "product", "title": "Torch", "identify": {"power": 5}, "attribute": None, "value": None}
    [wish] = wishes(Said((lamp, red, slot("power", 3), slot("fallback", other)), False))
    assert (wish.title, wish.version, wish.marks) == ("Torch", None, {"power": 5})


def test_it_turns_over_a_few_pages_and_then_gives_up(words_engine: Any):
    env = Environment(("E_CART",), words_engine)
    observation, _ = env.reset(seed=20_000)
    plan = BriefCartPlan(Memory())
    plan.memory.customer.append("A thing that nobody sells, please.")
    view = Said((slot("item", "A thing that nobody sells"),), True)
    pages = [_call(plan, observation, view)["args"].get("page", 1) for _ in range(MOST_PAGES)]
    assert pages == [1, 2, 3]
    assert plan.take_turn(observation, view, []) == {"answer": {"done": True}}


def _call(plan: BriefCartPlan, observation: Observation, view: Said) -> dict[str, Any]:
    [call] = plan.take_turn(observation, view, [])["tool_calls"]
    return dict(call)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("I need the Norsol Desk Lamp, 5 W, please.", "Norsol Desk Lamp, 5 W"),
        ("Hi, the Norsil desk Lmap, 5 W (the one with a warranty of 3 years).", "Norsil desk Lmap, 5 W"),
        ("NorsolDesk Lamp, 5 W", "NorsolDesk Lamp, 5 W"),
        ("Something else entirely.", "Norsol Desk Lamp, 5 W"),
    ],
)
def test_a_title_is_searched_for_as_it_was_written(text: str, written: str):
    assert as_written("Norsol Desk Lamp, 5 W", ["Hello!", text]) == written
