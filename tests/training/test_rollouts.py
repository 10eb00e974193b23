"""Rollouts: the engine's rewards, the model's tokens as its own, and an end for whoever runs out of tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_turns import NONSENSE, Tongue

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.replay import verify
from ecomrlve.training.rollouts import Limits, Rollout, Turn, overlong_penalty, play_out
from ecomrlve.training.rows import Row

WIDE = Limits(context=10**6, turn=10**5, own=10**6)
CART = Row("E_CART", 0, 20001)


@pytest.fixture
def tongue(tiny_tokenizer: Any) -> Tongue:
    return Tongue(tiny_tokenizer)


@pytest.fixture
def rollout(words_engine: Any, tiny_chats: Any) -> Any:
    return lambda row=CART, limits=WIDE: Rollout(words_engine, row, {}, tiny_chats, limits)


def played(tongue: Tongue, rollout: Rollout) -> Rollout:
    play_out([rollout], tongue.player([rollout], lambda _, one: tongue.reference(one)))
    return rollout


@pytest.mark.parametrize("env_id", COLLECTIONS["C8"])
def test_the_reward_is_the_engines(env_id, words_engine, rollout, tongue):
    reward = play(Environment((env_id,), words_engine), ReferenceAgent(), 20001, 3)
    found = played(tongue, rollout(Row(env_id, 3, 20001)))
    assert found.reward == reward
    assert found.reward.correct
    assert not found.overlong
    assert not found.invalid


def test_own_tokens_are_what_was_sampled_and_nothing_else(rollout, tongue):
    spoken: list[Turn] = []

    def noted(_: int, one: Rollout) -> Turn:
        spoken.append(tongue.reference(one))
        return spoken[-1]

    one = rollout()
    play_out([one], tongue.player([one], noted))
    own = [token for token, mine in zip(one.tokens, one.own, strict=True) if mine]
    assert own == [token for turn in spoken for token in turn.tokens]
    assert one.own[-1] == 1, "what comes after the last turn belongs to nobody"
    others = tongue.tokenizer.decode([token for token, mine in zip(one.tokens, one.own, strict=True) if not mine])
    assert "turns left" in others
    assert "submit_answer" not in others


def test_the_tokens_are_those_of_the_whole_chat(rollout, tongue, words_engine):
    """Nothing is lost or said twice where the model's tokens and the template's meet."""
    one = played(tongue, rollout())
    text = tongue.tokenizer.decode([*one.prompt, *one.tokens])
    for step in one.trajectory("x").to_dict()["steps"]:
        for call in step["tool_results"]:
            assert text.count(json.dumps(call["result"], ensure_ascii=False)) == 1
    assert text.count("<|im_start|>") == text.count("<|im_end|>")
    assert text.count("<|im_start|>assistant") == one.turns


def test_a_prompt_begins_like_the_one_before(rollout, tongue):
    one = rollout()
    before = [*one.prompt]
    while not one.over:
        one.take(tongue.reference(one))
        assert [*one.prompt, *one.tokens][: len(before)] == before
        before = [*one.prompt, *one.tokens]


def test_the_record_replays(rollout, tongue, words_engine):
    record = json.loads(played(tongue, rollout()).trajectory("someone").to_json())
    assert verify(record, words_engine).ok
    assert record["player"] == {"name": "someone", "kind": "checkpoint"}


def test_output_that_is_no_action_gets_minus_one(rollout, tongue):
    one = rollout()
    one.take(tongue.turn(NONSENSE))
    assert one.over
    assert one.invalid
    assert not one.overlong
    assert one.reward.total == -1


def test_plain_words_go_to_the_customer(rollout, tongue):
    one = rollout()
    one.take(tongue.turn("Which one do you mean?"))
    assert not one.over
    said = one.observation.messages[0]["content"]
    assert f"user\n{said}" in tongue.tokenizer.decode(one.tokens)


def test_an_unfinished_turn_is_lost(rollout, tongue):
    one = rollout()
    one.take(tongue.turn("Which one do", finished=False))
    assert one.over
    assert one.overlong
    assert not one.invalid
    assert one.reward.total == -1
    assert one.own == [1] * len(one.tokens)


@pytest.mark.parametrize("limit", ["context", "own"])
def test_who_has_no_room_for_another_turn_is_lost(limit, rollout, tongue):
    free = rollout()
    free.take(tongue.turn("Which one do you mean?"))
    used = len(free.prompt) + len(free.tokens) if limit == "context" else free.own_tokens
    enough = replace(WIDE, turn=50, **{limit: used + 50})
    for limits, over in ((enough, False), (replace(enough, **{limit: used + 49}), True)):
        one = rollout(CART, limits)
        one.take(tongue.turn("Which one do you mean?"))
        assert one.over is one.overlong is over
    assert one.own == [1] * len(one.tokens), "what the model did not get to answer is no part of its rollout"


def test_a_prompt_that_is_too_long_is_lost_at_once(rollout):
    one = rollout(CART, replace(WIDE, context=100, turn=50))
    assert one.over
    assert one.overlong
    assert one.tokens == one.own == []
    assert one.reward.total == -1


def test_what_the_sampler_tells_stays_beside_its_tokens(rollout, tongue):
    one = rollout()
    turn = tongue.turn("Which one do you mean?")
    one.take(replace(turn, log_probabilities=[-1.5] * len(turn.tokens)))
    assert one.log_probabilities == [-1.5 * mine for mine in one.own]
    one.take(replace(turn, log_probabilities=[-0.5] * len(turn.tokens)))
    assert one.log_probabilities is not None
    assert len(one.log_probabilities) == len(one.tokens) == len(one.own)


def test_rollouts_are_played_together_until_the_last_is_over(rollout, tongue):
    rollouts = [rollout(), rollout(Row("E_STATUS", 0, 20002)), rollout()]
    sizes: list[int] = []

    def choose(place: int, one: Rollout) -> Turn:
        return tongue.turn(NONSENSE) if place == 2 else tongue.reference(one)

    generate = tongue.player(rollouts, choose)

    def counted(prompts: Any, places: int) -> list[Turn]:
        sizes.append(len(prompts))
        return generate(prompts, places)

    play_out(rollouts, counted)
    assert all(one.over for one in rollouts)
    assert sizes[:2] == [3, 2]
    assert [one.reward.correct for one in rollouts] == [True, True, False]


def test_a_process_without_rollouts_waits_for_the_others(rollout, tongue):
    """Others still play twice; here nothing is left, and still it takes part."""
    left = iter([2, 1, 0])
    calls: list[tuple[int, int]] = []
    play_out([], lambda prompts, places: calls.append((len(prompts), places)) or [], lambda own: next(left))
    assert calls == [(0, 2), (0, 1)]


@given(st.integers(0, 5000), st.integers(1, 4000), st.integers(0, 4000))
def test_the_overlong_penalty_falls_from_nothing_to_one(own, most, buffer):
    buffer = min(buffer, most)
    penalty = overlong_penalty(own, most, buffer)
    assert -1 <= penalty <= 0
    assert (penalty == 0) == (own <= most - buffer)
    assert penalty >= overlong_penalty(own + 1, most, buffer)
    assert overlong_penalty(most + 1, most, buffer) == -1


def test_the_overlong_penalty_is_the_papers():
    """L_max 16384 + 4096 with a cache of 4096: nothing up to 16384, half way down at 18432 (DAPO, equation 13)."""
    assert overlong_penalty(16384, 20480, 4096) == 0
    assert overlong_penalty(18432, 20480, 4096) == -0.5
    assert overlong_penalty(20480, 20480, 4096) == -1
