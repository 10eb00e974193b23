"""What an episode would have been worth, had it ended earlier."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import ecomrlve
from components.running_reward import RunningRewards, played_again, running_reward, worth_now
from components.session import ENVIRONMENTS
from ecomrlve.agents.base import play
from ecomrlve.agents.registry import players_of
from ecomrlve.errors import TrajectoryError


def record_of(engine: Any, player: str, env_id: str, seed: int, difficulty: int) -> dict[str, Any]:
    env = ecomrlve.make(env_id, catalog=engine)
    play(env, players_of(player).player(), seed, difficulty)
    return env.trajectory(player).to_dict()


@pytest.mark.parametrize("player", ["scripted", "random"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_it_ends_with_the_reward_of_the_episode(words_engine: Any, env_id: str, player: str) -> None:
    for seed, difficulty in ((3, 0), (4, 7)):
        record = record_of(words_engine, player, env_id, seed, difficulty)
        found = running_reward(record, words_engine)
        assert len(found) == len(record["steps"]) + 1
        assert found[-1].to_dict() == record["reward"]
        assert not any(reward.correct for reward in found[:-1])
        # Nothing is done yet, and nobody was slow yet.
        assert (found[0].task, found[0].efficiency, found[0].hallucination) == (-1, 1, 0)


def test_a_right_cart_is_worth_as_much_before_the_answer(words_engine: Any, played: dict[str, Any]) -> None:
    found = running_reward(played["E_CART"], words_engine)
    assert [reward.task for reward in found[-2:]] == [1, 1]
    assert (found[-2].correct, found[-1].correct) == (False, True)


def test_a_list_is_worth_nothing_before_the_answer(words_engine: Any, played: dict[str, Any]) -> None:
    assert {reward.task for reward in running_reward(played["E_PD"], words_engine)[:-1]} == {-1}


def test_every_answered_wish_of_a_journey_adds_its_share(words_engine: Any, played: dict[str, Any]) -> None:
    record = played["E_JOURNEY"]
    found = running_reward(record, words_engine)
    wishes = len(record["goal"]["intents"])
    answered = 0
    for step, reward in zip(record["steps"], found[1:], strict=True):
        answered += "thanks" in (step["customer"] or {}).get("acts", ())
        # A cart is filled before it is answered for, and is no wish's until then.
        if not step["shop"]["cart"] or answered == wishes:
            assert reward.task == pytest.approx(2 * answered / wishes - 1)


@pytest.mark.parametrize("env_id", ["E_CART", "E_STATUS"])
def test_it_is_what_an_episode_without_an_answer_gets(words_engine: Any, played: dict[str, Any], env_id: str) -> None:
    """Who does all but answer, and then waits until the turns or the customer's patience run out."""
    record = played[env_id]
    env = ecomrlve.make(env_id, catalog=words_engine)
    env.reset(seed=record["seed"], options={"difficulty": record["difficulty"]})
    for step in record["steps"][:-1]:
        env.step(step["action"])
    while not env.episode.over:
        expected = worth_now(env.episode)
        env.step({"tool_calls": [{"name": "datetime_now", "args": {}}]})
    reward = env.episode.reward
    assert "without an answer" in reward.reason
    assert (reward.task, reward.hallucination) == (expected.task, expected.hallucination)
    assert worth_now(env.episode) == reward
    assert running_reward(env.trajectory().to_dict(), words_engine)[-1] == reward


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_asking_for_it_changes_nothing(words_engine: Any, played: dict[str, Any], env_id: str) -> None:
    def states(*, ask: bool) -> list[str]:
        found = []
        for env in played_again(played[env_id], words_engine):
            for _ in range(2 if ask else 0):
                worth_now(env.episode)
            episode = env.episode
            found.append(repr((episode.world.outputs, episode.world.seen, episode.ledger, episode.world.cart.lines)))
        return found

    assert states(ask=True) == states(ask=False)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"catalog": {"name": "other", "fingerprint": "0", "search": "words"}}, "another catalog"),
        ({"reward": {"total": 1.0}}, "does not come out as it is recorded"),
        ({"seed": 99}, "again"),
        ({"seed": -1}, "cannot be played again"),
        ({"env_id": "E_NONE"}, "cannot be played again"),
        ({"overrides": {"turn_budget": 1}}, "cannot be played again"),
        ({"phrasing": 5}, "cannot be played again"),
        ({"difficulty": [1]}, "cannot be played again"),
    ],
)
def test_there_is_none_for_what_cannot_be_played_again(
    words_engine: Any, played: dict[str, Any], changed: dict[str, Any], reason: str
) -> None:
    record = {**copy.deepcopy(played["E_CART"]), **changed}
    with pytest.raises(TrajectoryError, match=reason):
        running_reward(record, words_engine)
    assert reason in RunningRewards().get("k", record, words_engine)["problem"]


def test_steps_after_the_end_are_no_running_reward(words_engine: Any, played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_CART"])
    record["steps"].append(record["steps"][-1])
    assert "cannot be played again" in RunningRewards().get("k", record, words_engine)["problem"]


def test_an_endless_record_is_not_played(words_engine: Any, played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_CART"])
    record["steps"][0]["tool_results"] = [{"name": "cart_view"}] * 501
    assert "too many" in RunningRewards().get("k", record, words_engine)["problem"]


def test_it_is_computed_once(words_engine: Any, played: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = RunningRewards()
    first = rewards.get("k", played["E_STATUS"], words_engine)
    json.dumps(first, allow_nan=False)
    monkeypatch.setattr("components.running_reward.running_reward", None)
    assert rewards.get("k", played["E_STATUS"], words_engine) is first
