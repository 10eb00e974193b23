"""Advice for people: each piece where the rules give reason for it, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

import ecomrlve
from ecomrlve.agents.advice import Past, advice

HISTORY = {"name": "user_get_visit_history", "args": {}}


class Game:
    """An episode with the advice on it."""

    def __init__(self, engine: Any, env_id: str, difficulty: int, seed: int):
        self.environment = ecomrlve.make(env_id, catalog=engine)
        self.observation, _ = self.environment.reset(seed=seed, options={"difficulty": difficulty})
        self.past: list[Past] = []

    def take(self, *calls: dict[str, Any], say: str = "") -> Game:
        action: dict[str, Any] = {"tool_calls": list(calls), "assistant_message": say}
        self.observation, *_ = self.environment.step(action)
        results = tuple(message["result"] for message in self.observation.messages if message["role"] == "tool")
        self.past.append(Past(bool(say), results))
        return self

    @property
    def codes(self) -> list[str]:
        return [found.code for found in advice(self.observation, self.past)]


@pytest.fixture
def game(words_engine: Any) -> Any:
    return lambda env_id, difficulty, seed: Game(words_engine, env_id, difficulty, seed)


def test_the_first_turn_and_the_question(game: Any) -> None:
    at = game("E_PD", 6, 3)
    assert at.codes == ["collect", "ask"]
    assert at.take(say="What matters most to you?").codes == []


def test_more_and_refused(game: Any) -> None:
    at = game("E_PD", 6, 3).take({"name": "catalog_search", "args": {"query": "lamp", "limit": 1}}, say="Hm?")
    assert at.codes == ["more"]
    refused = {"name": "catalog_search", "args": {"query": "lamp", "limit": 1, "filters": {"smell": "nice"}}}
    assert at.take(refused).codes == ["refused"]


def test_variants_are_advised_until_some_were_read(game: Any) -> None:
    at = game("E_CART", 6, 5).take(HISTORY, say="Hm?")
    assert "variants" in at.codes
    product = next(hit for hit in at.past[0].results[0]["products"] if hit.get("has_variants"))
    at.take({"name": "catalog_get_variants", "args": {"product_id": product["id"]}})
    assert "variants" not in at.codes


def test_where_there_is_no_cart_variants_are_of_no_use(game: Any) -> None:
    at = game("E_PD", 6, 3).take({"name": "catalog_search", "args": {"query": "shirt", "limit": 50}})
    assert "variants" not in at.codes


def test_sold_out_says_what_to_ask(words_engine: Any) -> None:
    observation, _ = ecomrlve.make("E_CART", catalog=words_engine).reset(seed=1)
    result = {"error": {"code": "out_of_stock", "message": "this item is sold out"}}
    codes = [found.code for found in advice(observation, [Past(True, (result,))])]
    assert codes == ["refused", "sold_out"]


def test_the_last_turns(game: Any) -> None:
    at = game("E_STATUS", 0, 3).take(say="Which order?")
    assert at.codes == ["speaks_up"]
    at.take(say="Hm.").take(say="Hm.")
    (last,) = advice(at.observation, at.past)
    assert last.text == "This is the last turn. Hand in the answer (selected_order_id, order_status, eta)."
    journey = game("E_JOURNEY", 0, 3)
    for _ in range(3):
        journey.take(say="Which one?")
    (last,) = (found for found in advice(journey.observation, journey.past) if found.code == "last_turn")
    assert "last turn for this wish" in last.text


def test_the_goal_makes_no_difference(words_engine: Any) -> None:
    """Whatever is advised follows from the observation and the past: equal ones get equal advice."""
    texts = set()
    for seed in range(4):
        observation, _ = ecomrlve.make("E_CART", catalog=words_engine).reset(seed=seed, options={"difficulty": 3})
        texts.add(tuple(found.text for found in advice(observation, [])))
    assert len(texts) == 1
