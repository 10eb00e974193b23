"""The matrix axis × environment: raising one axis alone changes the episodes that it is said to change, no others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.tools import REGISTRY
from ecomrlve.trajectory import stable

ALL = COLLECTIONS["C8"]
LISTS = ("E_SUB", "E_PD", "E_BUNDLE")
SEARCHING = ("E_CART", *LISTS, "E_RETURN")
SELLING = SEARCHING
# Axis → the environments that it reaches, as ENVIRONMENTS.md §2 has it; a journey is made of all of them. Budgets and
# page sizes reach an episode where its agent runs into them, so they are raised and lowered far enough for that.
MATRIX: dict[str, tuple[str, ...]] = {
    "constraints": (*LISTS, "E_RETURN"),
    "omission": ALL[:-1],
    "distractors": SEARCHING,
    "sellout": SELLING,
    "turn_budget": ALL[:-1],
    "noise": ALL[:-1],
    "switching": ("E_CART", *LISTS),
    "search_depth": SEARCHING,
    "list_size": ("E_SUB", "E_PD"),
    "order_history": ("E_STATUS", "E_RETURN", "E_POLICY"),
    "policy_clauses": ("E_POLICY", "E_RETURN"),
    "tool_budget": ALL[:-1],
}
LOW: dict[str, float] = {
    "constraints": 2, "omission": 0.0, "distractors": 0.0, "sellout": 0.0, "turn_budget": 9, "noise": 0.0,
    "switching": 0.0, "search_depth": 60, "list_size": 3, "order_history": 4, "policy_clauses": 1, "tool_budget": 3,
}  # fmt: skip
HIGH: dict[str, float] = {
    "constraints": 6, "omission": 1.0, "distractors": 0.5, "sellout": 0.6, "turn_budget": 4, "noise": 0.2,
    "switching": 1.0, "search_depth": 20, "list_size": 8, "order_history": 30, "policy_clauses": 4, "tool_budget": 12,
}  # fmt: skip
DIFFICULTY = 5
SEEDS = range(6)


def traces(engine: Any, env_id: str, axis: str, value: float) -> list[str]:
    """What happens in some episodes, without the budgets that every observation names."""
    env = Environment((env_id,), engine)
    # One customer says much at once, another nothing: what is measured must not hide behind another axis.
    overrides = {"turn_budget": 8, "omission": 0.5, **({} if axis == "sellout" else {"sellout": 0.3}), axis: value}
    found = []
    for seed in SEEDS:
        observation, _ = env.reset(seed=seed, options={"difficulty": DIFFICULTY, "overrides": overrides})
        agent = ReferenceAgent()
        agent.reset(env)
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(agent.act(observation))
            over = terminated or truncated
        record = stable(env.trajectory().to_dict())
        kept = [record["opening"], record["steps"], record["goal"], record["ledger"], record["reward"]["efficiency"]]
        found.append(json.dumps(kept, sort_keys=True) + _page_of_a_search(env))
    return [*found, _refused(env, overrides)]


def _refused(env: Environment, overrides: dict[str, float]) -> str:
    """Which of five calls in one turn are refused."""
    env.reset(seed=0, options={"difficulty": DIFFICULTY, "overrides": overrides})
    observation, *_ = env.step({"tool_calls": [{"name": "datetime_now", "args": {}}] * 5})
    return json.dumps(["error" in message["result"] for message in observation.messages if message["role"] == "tool"])


def _page_of_a_search(env: Environment) -> str:
    """The first and last hit of a page as long as a page may be, where the environment has a search."""
    if "catalog_search" not in env.episode.task.tools:
        return ""
    world = env.episode.world
    args = {"query": "red", "filters": {"price": {"le": 400}}, "limit": 2000}
    hits = REGISTRY["catalog_search"].call(world, REGISTRY["catalog_search"].validate(args))["results"]
    return json.dumps([len(hits), [hit["id"] for hit in hits[:12]]])


@pytest.mark.parametrize("axis", MATRIX)
def test_an_axis_changes_the_environments_that_it_is_said_to_change(words_engine: Any, axis: str) -> None:
    changed = {
        env_id
        for env_id in ALL[:-1]
        if traces(words_engine, env_id, axis, LOW[axis]) != traces(words_engine, env_id, axis, HIGH[axis])
    }
    assert changed == set(MATRIX[axis])


@pytest.mark.parametrize("axis", ["switching", "omission", "noise", "constraints", "policy_clauses"])
def test_a_journey_is_changed_by_what_changes_its_parts(words_engine: Any, axis: str) -> None:
    low, high = (traces(words_engine, "E_JOURNEY", axis, value[axis]) for value in (LOW, HIGH))
    assert low != high
