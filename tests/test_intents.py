"""Several intents in one conversation: whose turn it is, who is answered, what is said when, and which turns count."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from ecomrlve.customer.dialogue import Reply
from ecomrlve.difficulty import difficulty
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.intents import SUBJECT_CHANGED, TURNS_BEFORE_A_NEW_SUBJECT, intents_of, spoken
from ecomrlve.tasks.base import generate
from ecomrlve.tasks.cart import CartTask

ANSWER = {"answer": {"done": True}}


def start(engine: Any, seed: int, d: int = 4, **overrides: float) -> Environment:
    env = Environment(("E_JOURNEY",), engine)
    env.reset(seed=seed, options={"difficulty": d, "overrides": overrides})
    return env


def find(engine: Any, wanted: Callable[[Episode], bool], d: int = 4, seeds: int = 120, **overrides: float) -> Any:
    """The first journey in which a situation is given; that there is one is part of the test."""
    for seed in range(seeds):
        env = start(engine, seed, d, **overrides)
        if wanted(env.episode):
            return env
    pytest.fail(f"none of {seeds} seeds gives the situation that this test needs")


def look(episode: Episode) -> dict[str, Any]:
    """A turn that makes progress, because it shows a product not seen before, and says nothing."""
    kind = episode.world.catalog.type_names[-1]
    page = {"query": "", "filters": {"type": kind}, "limit": 1, "page": episode.turn + 1}
    return {"tool_calls": [{"name": "catalog_search", "args": page}]}


def reply(episode: Episode) -> dict[str, Any]:
    return episode.steps[-1]["customer"] or {"acts": [], "slots": [], "new": [], "text": ""}


def stack(episode: Episode) -> list[int]:
    return list(episode.intents.stack)


def plain(episode: Episode, place: int) -> bool:
    """Whether an intent has no change of mind, no omission and nothing that may be said late."""
    problem = episode.problem.parts[place].problem
    return not (problem.switch or problem.omitted or problem.asleep)


QUIET: dict[str, float] = {"omission": 0.0, "switching": 0.0, "sellout": 0.0}


def test_an_answer_closes_the_current_intent_and_the_customer_raises_the_next(words_engine: Any):
    for seed in range(12):
        env = start(words_engine, seed, 8, **QUIET)
        episode = env.episode
        kinds = [part.task.env_id for part in episode.problem.parts]
        assert len(kinds) == 4
        for place in range(4):
            assert stack(episode) == [place]
            assert episode.intents.raised == place + 1
            assert episode.intents.current.task.env_id == kinds[place]
            assert episode.intents.current.answer is None
            observation, _, terminated, truncated, info = env.step(ANSWER)
            assert episode.intents.all[place].answer is not None
            assert episode.intents.all[place].turns == 1
            assert terminated == (place == 3) == bool(info)
            assert not truncated
            expected = ["thanks"] if place == 3 else ["thanks", "next", "open"]
            assert reply(episode)["acts"] == expected
            assert [message["role"] for message in observation.messages] == ["customer"]
        assert stack(episode) == []
        assert not episode.intents.unanswered
        assert episode.user_turns == 0


def test_nothing_of_a_later_intent_is_said_before_it_is_raised(words_engine: Any):
    for seed in range(12):
        env = start(words_engine, seed, 8, **QUIET)
        for place in range(3):
            later = env.episode.intents.all[place + 1]
            assert not later.ledger.sayings
            assert later.turns == 0
            env.step(look(env.episode))
            assert not later.ledger.sayings
            env.step(ANSWER)
            assert later.ledger.everything_said()
            numbers = {key.split(":")[0] for key in reply(env.episode)["new"]}
            assert numbers == {str(place + 1)}


def test_the_customer_changes_the_subject_after_two_turns_and_comes_back(words_engine: Any):
    env = find(words_engine, lambda e: e.problem.parts[0].interrupted and plain(e, 1), switching=1.0, omission=0.0)
    episode = env.episode
    assert TURNS_BEFORE_A_NEW_SUBJECT == 2
    env.step(look(episode))
    assert stack(episode) == [0]
    assert reply(episode)["acts"] == []
    observation = env.step(look(episode))[0]
    assert stack(episode) == [0, 1]
    assert reply(episode)["acts"] == ["switch", "open"]
    assert observation.messages[-1] == {"role": "customer", "content": reply(episode)["text"]}
    assert episode.steps[-1]["discount_reason"] == SUBJECT_CHANGED
    assert (episode.user_turns, episode.steps[-1]["discounted"]) == (1, True)
    # The answer goes to the intent raised last; then the customer is back at the first, which is open as before.
    first, second = episode.intents.all[:2]
    said = dict(first.ledger.sayings)
    env.step(ANSWER)
    assert second.answer is not None
    assert first.answer is None
    assert stack(episode) == [0]
    assert reply(episode)["acts"] == ["thanks", "switch"]
    assert first.ledger.sayings == said
    assert (first.turns, second.turns) == (2, 1)
    assert episode.user_turns == 1
    # Interrupted once, and not again.
    env.step(look(episode))
    env.step(look(episode))
    assert stack(episode) == [0]
    assert episode.intents.raised == 2


def test_interruptions_nest_and_unwind_in_order(words_engine: Any):
    env = find(
        words_engine,
        lambda e: [part.interrupted for part in e.problem.parts] == [True, True, False],
        switching=1.0,
        omission=0.0,
    )
    episode = env.episode
    seen = [stack(episode)]
    for _ in range(4):
        env.step(look(episode))
        seen.append(stack(episode))
    assert seen == [[0], [0], [0, 1], [0, 1], [0, 1, 2]]
    closed = []
    while not episode.over:
        before = stack(episode)
        env.step(ANSWER)
        if stack(episode) != before:
            closed.append(before[-1])
    assert closed == [2, 1, 0]
    assert episode.intents.all[0].turns >= 3


def test_an_intent_answered_in_time_is_not_interrupted_any_more(words_engine: Any):
    env = find(words_engine, lambda e: e.problem.parts[0].interrupted and plain(e, 0), switching=1.0, omission=0.0)
    env.step(look(env.episode))
    env.step(ANSWER)
    assert stack(env.episode) == [1]
    assert env.episode.user_turns == 0
    assert SUBJECT_CHANGED not in [step["discount_reason"] for step in env.episode.steps]


def test_a_hasty_answer_keeps_the_subject(words_engine: Any):
    def wanted(episode: Episode) -> bool:
        return episode.problem.parts[0].interrupted and len(episode.problem.parts[0].problem.omitted) >= 4

    env = find(words_engine, wanted, d=8, switching=1.0, omission=1.0)
    env.step(look(env.episode))
    env.step(ANSWER)
    assert reply(env.episode)["acts"][-1] == "elaborate"
    assert stack(env.episode) == [0]
    env.step(look(env.episode))
    assert stack(env.episode) == [0, 1]


def test_the_current_intents_fields_count_and_those_of_others_are_ignored(words_engine: Any):
    everything = {
        "recommended_product_ids": ["p0000000"], "selected_order_id": "o1", "selected_line_id": "l1",
        "return_decision": "return", "last_return_day": "2025-01-02", "order_status": "delivered",
        "eta": "2025-01-01", "policy_answer": 30,
        "something_else": [1, 2],
    }  # fmt: skip
    kinds = set()
    for seed in range(25):
        env = start(words_engine, seed, 8, **QUIET)
        episode = env.episode
        for part in episode.problem.parts:
            intent, before = episode.intents.current, len(episode.world.outputs)
            env.step({"answer": everything})
            fields = set(part.task.answer.model_fields)
            assert intent.answer == {k: v for k, v in everything.items() if k in fields} | {"done": True}
            # What is no field of this answer was put out by nobody.
            named = "recommended_product_ids" in fields
            assert len(episode.world.outputs) == max(before, int(named))
            kinds.add(part.task.env_id)
    assert len(kinds) == 7


@pytest.mark.parametrize(
    "bad", [{"recommended_product_ids": "p"}, {"policy_answer": True}, {"eta": 5}, {"selected_order_id": None}]
)
def test_a_malformed_field_of_any_intent_is_invalid(words_engine: Any, bad: dict[str, Any]):
    for seed in range(4):
        env = start(words_engine, seed, 0, **QUIET)
        _, total, terminated, _, info = env.step({"answer": bad})
        assert (total, terminated) == (-1.0, True)
        assert next(iter(bad)) in info["reward"].reason


def test_the_turns_of_all_intents_are_added_up_and_shown(words_engine: Any):
    for d in (0, 4, 8, 12):
        env = start(words_engine, 1, d, **QUIET)
        episode = env.episode
        count, share = len(episode.problem.parts), difficulty(d).turn_budget
        assert episode.turn_budget == count * share
        observation = episode.first_observation()
        assert (observation.turns_left, observation.intent_turns_left) == (count * share, share)
        observation = env.step(look(episode))[0]
        assert (observation.turns_left, observation.intent_turns_left) == (count * share - 1, share - 1)
        observation = env.step(ANSWER)[0]
        assert (observation.turns_left, observation.intent_turns_left) == (count * share - 2, share)


def test_an_intent_may_overspend_its_share_and_the_sum_is_the_end(words_engine: Any):
    env = start(words_engine, 2, 4, **QUIET)
    episode = env.episode
    for turn in range(1, episode.turn_budget + 1):
        observation, _, terminated, truncated, _ = env.step(look(episode))
        assert observation.intent_turns_left == max(0, difficulty(4).turn_budget - turn)
        assert observation.turns_left == episode.turn_budget - turn
        assert (terminated, truncated) == (False, turn == episode.turn_budget)
    assert episode.intents.current.turns == episode.turn_budget


def test_what_is_unsaid_is_said_when_two_turns_of_the_intents_own_remain(words_engine: Any):
    def wanted(episode: Episode) -> bool:
        first, second = (part.problem for part in episode.problem.parts[:2])
        return not first.omitted and len(second.omitted) >= 3

    env = find(words_engine, wanted, d=6, seeds=300, omission=0.5, switching=0.0, sellout=0.0)
    episode = env.episode
    env.step(look(episode))
    env.step(look(episode))
    env.step(ANSWER)
    second = episode.intents.current
    assert second.index == 1
    share = difficulty(6).turn_budget
    for own in range(1, share):
        env.step(look(episode))
        assert second.ledger.everything_said() == (own >= share - 2)
        assert (reply(episode)["acts"] == ["elaborate"]) == (own == share - 2)
    # The rule of the last turn is the intent's own too: nothing is left to be hasty about.
    assert not episode.over
    env.step(ANSWER)
    assert second.answer is not None
    assert episode.user_turns == 0


def test_a_hasty_answer_in_a_later_intent_costs_the_turn_and_is_not_judged(words_engine: Any):
    def wanted(episode: Episode) -> bool:
        first, second = (part.problem for part in episode.problem.parts[:2])
        return not first.omitted and len(second.omitted) >= 4

    env = find(words_engine, wanted, d=6, seeds=300, omission=0.5, switching=0.0, sellout=0.0)
    episode = env.episode
    env.step(ANSWER)
    second = episode.intents.current
    unsaid = [slot.key for slot in second.ledger.unsaid()]
    env.step(ANSWER)
    assert reply(episode)["acts"] == ["elaborate"]
    assert reply(episode)["new"] == [f"1:{key}" for key in unsaid[:3]]
    assert second.answer is None
    assert stack(episode) == [1]
    assert not episode.steps[-1]["discounted"]


def test_three_idle_turns_make_the_customer_leave_and_everything_open_stays_unanswered(words_engine: Any):
    env = start(words_engine, 3, 8, **QUIET)
    episode = env.episode
    env.step(ANSWER)
    for number in range(3):
        _, _, terminated, truncated, info = env.step({"assistant_message": "One moment, please."})
        assert (terminated, truncated) == (number == 2, False)
    assert "quit" in reply(episode)["acts"]
    assert [intent.answer is not None for intent in episode.intents.all] == [True, False, False, False]
    assert not info["reward"].correct
    # Nothing is raised by somebody who leaves.
    assert episode.intents.raised == 2


def test_leaving_says_everything_of_the_current_intent(words_engine: Any):
    env = find(words_engine, lambda e: len(e.problem.parts[0].problem.omitted) >= 3, d=8, omission=1.0, switching=0.0)
    for _ in range(3):
        env.step({"tool_calls": [{"name": "datetime_now", "args": {}}]})
    assert env.episode.terminated
    assert env.episode.intents.all[0].ledger.everything_said()


def test_impatience_with_one_intent_is_not_carried_into_the_next(words_engine: Any):
    env = start(words_engine, 3, 8, **QUIET)
    for _ in range(3):
        env.step({"assistant_message": "One moment, please."})
        env.step({"assistant_message": "Just a second."})
        assert not env.episode.over
        env.step(ANSWER)
    assert not env.episode.over


class Chatty:
    """Talks, asks and looks around for as long as it may, then answers: for the caps on free turns."""

    def __init__(self, variety: int):
        self.variety = variety

    def act(self, episode: Episode, turn: int) -> dict[str, Any]:
        if (turn + self.variety) % 5 == 4:
            return ANSWER
        messages = ("Is there anything else?", "Is that right so far?", "Which brand, size, color and price?", "")
        found = look(episode)
        return found | {"assistant_message": messages[(turn * 3 + self.variety) % 4]}


def test_free_turns_are_capped_per_intent(words_engine: Any):
    subjects = 0
    for seed, d in itertools.product(range(8), (3, 6, 12)):
        env = start(words_engine, seed, d, switching=1.0)
        episode, chatty = env.episode, Chatty(seed)
        while not episode.over:
            env.step(chatty.act(episode, episode.turn))
        reasons = [step["discount_reason"] for step in episode.steps if step["discounted"]]
        assert episode.user_turns in (len(reasons), len(reasons) + 1)
        parts = episode.problem.parts
        changed = reasons.count(SUBJECT_CHANGED)
        assert changed <= sum(part.interrupted for part in parts)
        subjects += changed
        details = sum(reason.startswith("the customer a") for reason in reasons)
        assert details <= sum(math.ceil(len(part.problem.omitted) / 2) for part in parts)
        assert reasons.count("the customer changed its mind") <= sum(bool(part.problem.switch) for part in parts)
        assert reasons.count("the customer confirmed") <= len(parts)
        fallbacks = sum(len(part.problem.asleep) for part in parts)
        assert sum("sold out" in reason for reason in reasons) <= fallbacks
        for step in episode.steps:
            canonical = step["canonical"]
            accepted = "answer" in canonical and "thanks" in (step["customer"] or {"acts": []})["acts"]
            assert not (accepted and step["discounted"])
    assert subjects > 10


# --- the parts of it -------------------------------------------------------------------------------------------------


def test_an_environment_of_one_intent_has_the_problem_itself_as_its_only_intent(words_engine: Any):
    task, axes = CartTask(), difficulty(3)
    problem = generate(task, words_engine, axes, ("E_CART", 5))
    intents = intents_of(task, problem, axes.turn_budget, axes.noise, ("E_CART", 5))
    (only,) = intents.all
    assert intents.current is only
    assert (only.problem, only.budget, only.interrupted) == (problem, axes.turn_budget, False)
    assert intents.key(only, "item0") == "item0"
    assert intents.interrupt(1) is None
    assert intents.close(1) is None
    assert not intents.unanswered
    # Whose turn it was remains known after the end.
    assert intents.current is only


def test_slots_of_a_journey_are_recorded_with_the_intents_number(words_engine: Any):
    episode = start(words_engine, 0, 4).episode
    for intent in episode.intents.all:
        assert episode.intents.key(intent, "reason") == f"{intent.index}:reason"


def test_the_last_reply_tells_whether_all_is_said(words_engine: Any):
    intent = start(words_engine, 0, 0).episode.intents.current
    for acts, complete in (
        (("nothing_else",), True),
        (("confirm",), True),
        (("chat", "nothing_else"), True),
        (("clarify",), False),
        ((), False),
    ):
        intent.heard(Reply(acts, "words"))
        assert intent.complete is complete
    intent.heard(Reply(("confirm",), "words"))
    intent.heard(None)
    assert intent.complete is False


def test_turns_left_of_a_share_never_fall_below_none(words_engine: Any):
    intent = start(words_engine, 0, 0).episode.intents.current
    intent.turns = intent.budget + 3
    assert intent.turns_left == 0


def test_two_replies_are_one_message():
    one = Reply(("thanks",), "Thanks.", ("a",), ("a",), "")
    two = Reply(("open",), "Now this.", ("b",), ("b",), "because", quit=True)
    both = spoken(one, two)
    assert both is not None
    assert (both.acts, both.slots, both.new) == (("thanks", "open"), ("a", "b"), ("a", "b"))
    assert both.text.startswith("Thanks.")
    assert both.text.endswith("Now this.")
    assert (both.discount, both.quit) == ("because", True)
    assert spoken(one, None) is one
    assert spoken(None, two) is two
    assert spoken(None, None) is None
