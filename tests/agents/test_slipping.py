"""The imperfect agent of law 5: it slips as often as it says, always in the same places, and is perfect otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.agents.slipping import HEADS, LISTS, SLIP, SlippingAgent, misheard
from ecomrlve.environment import Environment


def slot(kind: str = "constraint", attribute: str = "brand", value: Any = "Acme", item: int | None = None) -> Any:
    return {"kind": kind, "item": item, "attribute": attribute, "value": value}


def started(engine: Any, slip: float, seed: int = 0, noise: float = 0.0) -> SlippingAgent:
    env = Environment(("E_STATUS",), engine)
    env.reset(seed=seed, options={"difficulty": 0, "overrides": {"noise": noise}})
    agent = SlippingAgent(slip)
    agent.reset(env)
    return agent


# --- what is misheard ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (10, 14), (1, 2), (0, 1), (2.5, 3.5), (-10, -9), (True, False), (False, True), ("yes", "no"), ("no", "yes"),
        ("refund", "exchange"), ("exchange", "refund"), ("Acme", "Acme or so"), (["a", "b"], ["a"]),
        (["a"], ["something else"]), ({"do": "variant", "value": "XL"}, {"do": "drop"}),
    ],
)  # fmt: skip
def test_another_value_takes_the_place_of_what_was_said(said: Any, heard: Any):
    assert misheard(said) == heard
    assert type(misheard(said)) is type(heard)
    assert misheard(said) != said


def test_nothing_that_a_customer_says_is_misheard_as_itself(words_engine: Any):
    values: list[Any] = []
    for env_id in ("E_CART", "E_PD", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE"):
        env = Environment((env_id,), words_engine)
        for seed in range(4):
            env.reset(seed=seed, options={"difficulty": 9})
            values += [one.value for one in env.episode.problem.slots if one.kind != "tie"]
    assert len(values) > 100
    for value in values:
        if value != {"do": "drop"}:
            assert misheard(value) != value, value


# --- how often -------------------------------------------------------------------------------------------------------


def rates(agent: SlippingAgent, count: int) -> float:
    """The share of many different facts that is misheard."""
    facts = [slot(value=f"value {number}") for number in range(count)]
    return sum(agent._heard(0, fact) != fact for fact in facts) / count


@pytest.mark.parametrize(("slip", "noise"), [(0.03, 0.0), (0.03, 0.06), (0.2, 0.12), (0.0, 0.1), (0.5, 0.0)])
def test_facts_are_misheard_at_the_stated_rate_and_more_often_with_typos(words_engine: Any, slip: float, noise: float):
    expected = 1 - (1 - slip) * (1 - noise) ** 2
    count, error = 8000, math.sqrt(expected * (1 - expected) / 8000)
    assert abs(rates(started(words_engine, slip, noise=noise), count) - expected) <= 4 * error


def test_nothing_is_misheard_without_slips_and_typos_and_everything_with_slips_alone(words_engine: Any):
    assert rates(started(words_engine, 0.0), 500) == 0
    assert rates(started(words_engine, 1.0), 500) == 1


@pytest.mark.parametrize("slip", [0.03, 0.3])
def test_entries_of_lists_are_overlooked_at_the_stated_rate(words_engine: Any, slip: float):
    agent = started(words_engine, slip)
    entries = [{"id": number} for number in range(100)]
    message = {"role": "tool", "result": {"orders": entries, "page": 1, "tags": entries}}
    left = 0
    for turn in range(80):
        read = agent._read(message, turn, 0)["result"]
        assert read["page"] == 1
        assert read["tags"] == entries, "what is no list of finds is read as it is"
        assert [entry for entry in entries if entry in read["orders"]] == read["orders"]
        left += len(read["orders"])
    assert message["result"]["orders"] == entries, "what was received must stay as it was"
    assert abs(1 - left / 8000 - slip) <= 4 * math.sqrt(slip * (1 - slip) / 8000)
    assert "orders" in LISTS


def test_what_it_is_all_about_is_never_misheard(words_engine: Any):
    agent = started(words_engine, 1.0)
    for kind in HEADS:
        head = slot(kind)
        assert agent._heard(0, head) is head
    # That two things have to match can only be missed.
    assert agent._heard(0, slot("tie")) is None
    assert agent._heard(0, slot())["value"] == "Acme or so"


def test_each_thing_goes_wrong_by_a_draw_of_its_own_and_always_in_the_same_way(words_engine: Any):
    facts = [slot(value=number, item=number % 3) for number in range(400)]

    def slips(seed: int, index: int = 0) -> list[bool]:
        agent = started(words_engine, 0.3, seed)
        return [agent._heard(index, fact) != fact for fact in facts]

    one = slips(5)
    assert one == slips(5)
    agree = [
        sum(a == b for a, b in zip(one, other, strict=True)) / len(facts) for other in (slips(6), slips(7), slips(5, 1))
    ]
    # Independent draws of 0.3 agree in 0.58 of the cases.
    assert all(abs(share - 0.58) < 0.1 for share in agree), agree


# --- in episodes -----------------------------------------------------------------------------------------------------


def actions(engine: Any, agent: Any, env_id: str, d: int) -> Iterator[tuple[Any, Any]]:
    env = Environment((env_id,), engine)
    for seed in range(6):
        reward = play(env, agent, seed, d, {"noise": 0.0})
        yield [step["canonical"] for step in env.episode.steps], reward


@pytest.mark.parametrize("env_id", ["E_CART", "E_STATUS"])
def test_without_slips_it_is_the_reference_agent(words_engine: Any, env_id: str):
    assert list(actions(words_engine, SlippingAgent(0.0), env_id, 6)) == list(
        actions(words_engine, ReferenceAgent(), env_id, 6)
    )


def test_the_more_it_slips_the_less_it_scores_and_twice_the_same(words_engine: Any):
    means = []
    for slip in (0.0, SLIP, 0.4):
        tasks = [reward.task for _, reward in actions(words_engine, SlippingAgent(slip), "E_CART", 6)]
        assert tasks == [reward.task for _, reward in actions(words_engine, SlippingAgent(slip), "E_CART", 6)]
        means.append(sum(tasks) / len(tasks))
    assert means[0] == 1.0
    assert means[0] >= means[1] > means[2]
