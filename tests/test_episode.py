"""One episode: the order of things in a turn, who is told what and when, and which turns count."""

import math
from collections import Counter

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.environment import Environment
from ecomrlve.shop.world import VARIANTS_PER_ROW

BOTH = ("E_CART", "E_PD")
ANSWER = {"answer": {"done": True}}
SMALL_TALK = "Hello there, lovely weather in the shop."
OPEN_QUESTION = "Is there anything else?"


def start(engine, env_id, seed, d=6, **overrides):
    env = Environment((env_id,), engine)
    env.reset(seed=seed, options={"difficulty": d, "overrides": overrides})
    return env


def find(engine, env_id, wanted, d=6, seeds=150, **overrides):
    """The first episode in which a situation is given; that there is one is part of the test."""
    for seed in range(seeds):
        env = start(engine, env_id, seed, d, **overrides)
        if wanted(env.episode):
            return env
    pytest.fail(f"none of {seeds} seeds gives the situation that this test needs")


def call(name, **args):
    return {"name": name, "args": args}


def calls(*each, say=""):
    return {"tool_calls": list(each)} | ({"assistant_message": say} if say else {})


def fresh_look(episode, say=""):
    """A turn that makes progress, because it shows products not seen before, and does nothing else."""
    page = call("catalog_search", query="", filters={"type": episode.world.catalog.type_names[-1]}, limit=1)
    page["args"] |= {"page": episode.turn + 1}
    return calls(page, say=say)


def reply(episode):
    """What the customer said after the last turn: acts, text, slots, new."""
    return episode.steps[-1]["customer"]


def acts(episode):
    return (reply(episode) or {"acts": []})["acts"]


def new(episode):
    return (reply(episode) or {"new": []})["new"]


def fallbacks(episode):
    """What to do about items that are fated to sell out: said by the end like everything else, seen or not."""
    return [key for key in episode.ledger.slots if key in episode.problem.asleep]


def omitted(episode):
    """Omitted slots, most important first."""
    return [key for key in episode.ledger.slots if key in episode.problem.omitted]


def labels(episode):
    """A question about everything that this problem has a slot for; it is no open question."""
    if episode.task.env_id == "E_CART":
        return "Which model exactly, which variant and how many of each would you like?"
    names = {slot.label or slot.kind for slot in episode.ledger.slots.values() if slot.kind not in ("item", "type")}
    return f"Which {', '.join(sorted(names))} should it be, how many, and what matters to you?"


def no_switch(episode):
    return not episode.problem.switch


def plain_rows(world, count):
    """Rows without variants that are on the shelf and stay there."""
    fine = (r for r in range(len(world.catalog)) if not world.variants.has(r) and world.stock.lasting(r) >= 9)
    return [next(fine) for _ in range(count)]


def required(episode):
    """The cart that the customer wants now."""
    return episode.task.required(episode.problem, episode.ledger)


def cart_call(episode, name, line, qty=None):
    world = episode.world
    args = {"product_id": world.product_id(line[0])}
    args |= {} if line[1] is None else {"variant_id": world.variant_id(*line)}
    return call(name, **args, **({} if qty is None else {"qty": qty}))


def fill_cart(episode):
    return [cart_call(episode, "cart_add", line, units) for line, units in required(episode).items()]


def results(observation):
    return [message["result"] for message in observation.messages if message["role"] == "tool"]


# --- a turn ----------------------------------------------------------------------------------------------------------


def test_calls_run_in_the_order_in_which_they_stand(words_engine):
    env = start(words_engine, "E_CART", 0, tool_budget=8)
    (row,) = plain_rows(env.episode.world, 1)
    line = (row, None)
    observation = env.step(
        calls(
            call("cart_view"),
            cart_call(env.episode, "cart_add", line, 2),
            call("cart_view"),
            cart_call(env.episode, "cart_update", line, 5),
            cart_call(env.episode, "cart_remove", line),
            call("cart_view"),
        )
    )[0]
    assert [sum(entry["qty"] for entry in result["lines"]) for result in results(observation)] == [0, 2, 2, 5, 0, 0]
    assert [message["name"] for message in observation.messages if message["role"] == "tool"] == [
        "cart_view", "cart_add", "cart_view", "cart_update", "cart_remove", "cart_view",
    ]  # fmt: skip


def test_the_customer_speaks_after_the_tool_results(words_engine):
    env = start(words_engine, "E_CART", 0)
    observation = env.step(calls(call("cart_view"), say="Which size?"))[0]
    assert [message["role"] for message in observation.messages] == ["tool", "customer"]


def test_a_call_beyond_the_tool_budget_is_refused_and_changes_nothing(words_engine):
    env = start(words_engine, "E_CART", 0, d=0)
    assert env.episode.axes.tool_budget == 2
    rows = plain_rows(env.episode.world, 4)
    adding = [cart_call(env.episode, "cart_add", (row, None), 1) for row in rows]
    observation, _, terminated, truncated, _ = env.step(calls(*adding))
    codes = [result.get("error", {}).get("code") for result in results(observation)]
    assert codes == [None, None, "tool_budget", "tool_budget"]
    assert list(env.episode.world.cart.lines) == [(row, None) for row in rows[:2]]
    assert not terminated
    assert not truncated
    assert "error" not in results(env.step(calls(adding[2]))[0])[0]


def test_asking_and_answering_do_not_use_up_the_tool_budget(words_engine):
    env = start(words_engine, "E_CART", 0, d=0)
    asking = [call("ask_user", question="Which size?")] * 3
    observation = env.step(calls(*asking, call("cart_view"), call("datetime_now")))[0]
    assert all("error" not in result for result in results(observation))
    assert len(results(observation)) == 2


def test_turns_are_counted_and_the_last_one_truncates(words_engine):
    for env_id in BOTH:
        env = start(words_engine, env_id, 1, d=2)
        budget = env.episode.axes.turn_budget
        for turn in range(1, budget + 1):
            observation, _, terminated, truncated, _ = env.step(fresh_look(env.episode))
            assert (observation.turn, observation.turns_left) == (turn, budget - turn)
            assert truncated == (turn == budget)
            assert not terminated


INVALID = {
    "unknown tool": ("E_CART", call("cart_empty"), "cart_empty"),
    "tool of another environment": ("E_CART", call("catalog_rerank", query="", product_ids=[]), "catalog_rerank"),
    "missing argument": ("E_CART", call("cart_add"), "product_id"),
    "unknown argument": ("E_CART", call("cart_view", all=True), "all"),
    "digit for a number": ("E_CART", call("cart_add", product_id="p", qty="3"), "qty"),
    "true for a number": ("E_CART", call("cart_add", product_id="p", qty=True), "qty"),
    "fraction": ("E_CART", call("cart_add", product_id="p", qty=1.5), "qty"),
    "whole fraction": ("E_CART", call("cart_add", product_id="p", qty=1.0), "qty"),
    "number for a text": ("E_CART", call("cart_add", product_id=5), "product_id"),
    "text for a list": ("E_PD", call("catalog_rerank", query="x", product_ids="p"), "product_ids"),
    "long list": ("E_PD", call("catalog_rerank", query="x", product_ids=["p"] * 101), "100"),
    "no such order": ("E_PD", call("catalog_search", query="x", sort="best"), "sort"),
    "filters in a list": ("E_PD", call("catalog_search", query="x", filters=[]), "filters"),
    "NaN in a filter": ("E_PD", call("catalog_search", query="x", filters={"price": float("nan")}), "NaN"),
    "answer: text for a list": ("E_PD", {"answer": {"recommended_product_ids": "p"}}, "recommended_product_ids"),
    "answer: numbers for ids": ("E_PD", {"answer": {"recommended_product_ids": [1]}}, "recommended_product_ids"),
    "answer: long list": ("E_PD", {"answer": {"recommended_product_ids": ["p"] * 101}}, "100"),
    "answer: null for a list": ("E_PD", {"answer": {"recommended_product_ids": None}}, "recommended_product_ids"),
}


@pytest.mark.parametrize(("env_id", "bad", "reason"), INVALID.values(), ids=INVALID.keys())
def test_an_invalid_output_ends_the_episode_at_once_and_nothing_of_it_happens(words_engine, env_id, bad, reason):
    env = start(words_engine, env_id, 0, d=12)
    episode = env.episode
    valid = [call("catalog_search", query="lamp")]
    if env_id == "E_CART":
        valid.append(cart_call(episode, "cart_add", (plain_rows(episode.world, 1)[0], None), 1))
    action = {"assistant_message": labels(episode), "tool_calls": valid}
    action = action | bad if "answer" in bad else action | {"tool_calls": [*valid, bad]}
    said = list(episode.ledger.sayings)
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["reward"].total == -1.0
    assert not info["reward"].correct
    assert reason in info["reward"].reason
    assert observation.messages == ()
    assert not episode.world.cart.lines
    assert not episode.world.seen
    assert not episode.world.outputs
    assert list(episode.ledger.sayings) == said


def test_an_invalid_last_turn_is_not_forgiven_after_a_perfect_start(words_engine):
    env = start(words_engine, "E_CART", 0, omission=0.0, switching=0.0, sellout=0.0)
    env.step(calls(*fill_cart(env.episode)))
    _, reward, terminated, _, info = env.step({"answer": {"done": "yes"}})
    assert (reward, terminated, info["reward"].task) == (-1.0, True, -1.0)


def test_a_draft_answer_passes_a_turn(words_engine):
    env = start(words_engine, "E_CART", 0)
    observation, _, terminated, truncated, _ = env.step({"answer": {"done": False}})
    assert (terminated, truncated, observation.turn, observation.messages) == (False, False, 1, ())


def test_the_reason_of_an_invalid_output_stays_short(words_engine):
    env = start(words_engine, "E_CART", 0)
    info = env.step(calls(call("cart_view", **{"x" * 30_000: 1})))[4]
    assert len(info["reward"].reason) < 1000


def test_a_refusal_stays_short(words_engine):
    env = start(words_engine, "E_PD", 0)
    observation = env.step(calls(call("catalog_search", query="x", filters={"x" * 30_000: 1})))[0]
    assert len(results(observation)[0]["error"]["message"]) < 10_000


# --- haste -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
def test_a_hasty_answer_is_not_judged_and_costs_the_turn(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: len(e.problem.omitted) >= 5 and no_switch(e), d=12)
    episode, missing = env.episode, omitted(env.episode)
    hasty = {"answer": {"recommended_product_ids": [episode.world.product_id(3)], "done": True}}
    observation, reward, terminated, truncated, info = env.step(hasty)
    assert (reward, terminated, truncated, info) == (0.0, False, False, {})
    assert acts(episode) == ["elaborate"]
    assert new(episode) == missing[:3]
    assert observation.messages[-1]["role"] == "customer"
    assert episode.user_turns == 0
    assert not episode.steps[-1]["discounted"]
    assert not episode.world.outputs
    env.step(hasty)
    assert new(episode) == missing[3:6]
    assert not episode.over
    assert episode.user_turns == 0


def test_a_question_beside_a_hasty_answer_stays_unanswered(words_engine):
    env = find(words_engine, "E_PD", lambda e: len(e.problem.omitted) >= 5 and no_switch(e), d=12)
    last = env.episode.ledger.slots[omitted(env.episode)[-1]]
    env.step({"assistant_message": f"Which {last.label}?", **ANSWER})
    assert new(env.episode) == omitted(env.episode)[:3]
    assert acts(env.episode) == ["elaborate"]


def test_a_hasty_answer_is_told_of_a_pending_change_of_mind_first(words_engine):
    env = find(words_engine, "E_PD", lambda e: e.problem.switch and len(e.problem.omitted) >= 4, d=12, switching=1.0)
    episode, missing = env.episode, omitted(env.episode)
    env.step(ANSWER)
    assert acts(episode) == ["switch", "elaborate"]
    assert new(episode) == [*episode.problem.switch, *missing[:2]]


@pytest.mark.parametrize("env_id", BOTH)
def test_an_answer_is_judged_at_once_when_everything_is_said(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: not e.problem.omitted and no_switch(e), d=0)
    _, _, terminated, truncated, info = env.step(ANSWER)
    assert (terminated, truncated) == (True, False)
    assert acts(env.episode) == ["thanks"]
    assert info["reward"].task == -1.0


@pytest.mark.parametrize("env_id", BOTH)
def test_in_the_last_turn_every_answer_is_judged(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: e.problem.omitted)
    while env.episode.axes.turn_budget - env.episode.turn > 1:
        env.step(fresh_look(env.episode))
    assert env.step(ANSWER)[2:4] == (True, False)


# --- everything is said in the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
@pytest.mark.parametrize("say", ["", SMALL_TALK], ids=["silent", "spoken to"])
def test_when_two_turns_remain_everything_unsaid_is_said(words_engine, env_id, say):
    env = find(words_engine, env_id, lambda e: len(e.problem.omitted) >= 4 and no_switch(e))
    episode, missing = env.episode, omitted(env.episode) + fallbacks(env.episode)
    while episode.axes.turn_budget - episode.turn > 3:
        env.step(fresh_look(episode, say))
        assert not episode.over
        assert new(episode) == []
        assert (reply(episode) is None) == (not say)
    assert not episode.ledger.everything_said()
    env.step(fresh_look(episode, say))
    assert episode.axes.turn_budget - episode.turn == 2
    assert "elaborate" in acts(episode)
    assert new(episode) == missing
    assert episode.ledger.everything_said()
    assert episode.user_turns == 0
    assert not episode.steps[-1]["discounted"]


@pytest.mark.parametrize("env_id", BOTH)
def test_an_unsaid_change_of_mind_is_said_when_two_turns_remain(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: e.problem.switch, d=8, switching=1.0)
    episode = env.episode
    while episode.axes.turn_budget - episode.turn > 3:
        env.step(fresh_look(episode))
        assert acts(episode) == []
    env.step(fresh_look(episode))
    assert "switch" in acts(episode)
    for key, value in episode.problem.switch.items():
        assert episode.ledger.slots[key].value == value
    assert episode.ledger.everything_said()


@pytest.mark.parametrize("env_id", BOTH)
def test_a_turn_of_calls_without_a_message_gets_no_reply(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: not e.problem.omitted and no_switch(e), d=10, omission=0.0, sellout=0.0)
    while not env.episode.over:
        observation = env.step(fresh_look(env.episode))[0]
        assert [message["role"] for message in observation.messages] == ["tool"]
        assert reply(env.episode) is None


# --- questions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
def test_a_question_about_everything_reveals_the_three_most_important_slots(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: len(e.problem.omitted) >= 5 and no_switch(e), d=12)
    missing = omitted(env.episode)
    env.step(labels(env.episode))
    assert acts(env.episode) == ["clarify"]
    assert new(env.episode) == missing[:3]
    env.step(labels(env.episode))
    assert new(env.episode) == missing[3:6]


@pytest.mark.parametrize("env_id", BOTH)
def test_no_question_reveals_more_than_three_slots_and_an_open_one_two(words_engine, env_id):
    most = Counter()
    for seed in range(25):
        for name, question in (("open", OPEN_QUESTION), ("all", None), ("both", None)):
            env = start(words_engine, env_id, seed, d=12, switching=0.0, omission=1.0)
            episode = env.episode
            while episode.axes.turn_budget - episode.turn > 3 and not episode.ledger.everything_said():
                text = question or labels(episode) + (f" {OPEN_QUESTION}" if name == "both" else "")
                env.step(fresh_look(episode, text))
                most[name] = max(most[name], len(new(episode)))
                if name == "open":
                    unsaid = [key for key in omitted(episode) if episode.ledger.sayings.get(key, [])[-1:] == []]
                    assert all(
                        omitted(episode).index(key) < omitted(episode).index(u) for key in new(episode) for u in unsaid
                    )
    assert most == {"open": 2, "all": 3, "both": 3}


@pytest.mark.parametrize("env_id", BOTH)
def test_when_all_is_said_an_open_question_hears_that_there_is_nothing_else(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: not e.problem.omitted and no_switch(e), d=0)
    env.step(OPEN_QUESTION)
    assert acts(env.episode) == ["nothing_else"]
    assert env.episode.user_turns == 0


@pytest.mark.parametrize("env_id", BOTH)
def test_a_question_asked_again_brings_nothing_new_and_no_free_turn(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: 1 <= len(e.problem.omitted) <= 2 and no_switch(e), d=8)
    episode = env.episode
    question = labels(episode)
    env.step(fresh_look(episode, question))
    assert new(episode) == omitted(episode)
    assert episode.user_turns == 1
    env.step(fresh_look(episode, question))
    assert acts(episode) == ["repeat"]
    assert new(episode) == []
    assert episode.user_turns == 1


@pytest.mark.parametrize("env_id", BOTH)
def test_small_talk_brings_nothing_new_and_no_free_turn(words_engine, env_id):
    env = find(words_engine, env_id, lambda e: e.problem.omitted and no_switch(e), d=8)
    said = list(env.episode.ledger.sayings)
    env.step(fresh_look(env.episode, SMALL_TALK))
    assert acts(env.episode) == ["chat"]
    assert list(env.episode.ledger.sayings) == said
    assert env.episode.user_turns == 0


# --- a change of mind ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
def test_a_change_of_mind_comes_with_the_second_message_once_and_changes_what_is_scored(words_engine, env_id):
    env = find(
        words_engine, env_id, lambda e: e.problem.switch and not e.problem.omitted, d=9, switching=1.0, omission=0.0
    )
    episode = env.episode
    ((key, value),) = episode.problem.switch.items()
    old, before = episode.ledger.slots[key].value, episode.task.reveal(episode.problem, episode.ledger)
    assert old != value
    assert episode.ledger.said(key)
    env.step(fresh_look(episode, SMALL_TALK))
    env.step(fresh_look(episode))  # not a message
    assert "switch" not in acts(episode)
    assert episode.ledger.slots[key].value == old
    env.step(fresh_look(episode, SMALL_TALK))
    assert acts(episode) == ["switch"]
    assert new(episode) == [key]
    assert episode.ledger.slots[key].value == value
    assert episode.user_turns == 1
    assert episode.task.reveal(episode.problem, episode.ledger) != before
    env.step(fresh_look(episode, SMALL_TALK))
    assert "switch" not in acts(episode)
    assert episode.ledger.slots[key].value == value
    assert episode.user_turns == 1


def test_after_a_change_of_mind_the_old_cart_is_wrong_and_the_new_one_right(words_engine):
    for fresh in (False, True):
        env = find(
            words_engine,
            "E_CART",
            lambda e: e.problem.switch and not e.problem.omitted,
            d=9,
            switching=1.0,
            omission=0.0,
        )
        episode = env.episode
        first = fill_cart(episode)
        env.step(fresh_look(episode, SMALL_TALK))
        env.step(fresh_look(episode, SMALL_TALK))
        assert "switch" in acts(episode)
        info = env.step({**calls(*(fill_cart(episode) if fresh else first)), **ANSWER})[4]
        assert info["reward"].correct == fresh
        assert (info["reward"].task == 1.0) == fresh


# --- turns that count as the customer's ------------------------------------------------------------------------------


def chatter(episode):
    """One turn of an agent that asks everything, shows what is right and seeks confirmations all the time."""
    phase = episode.turn % 3
    text = (labels(episode), f"{OPEN_QUESTION} {labels(episode)}", "Is this right for you? Shall I go ahead?")[phase]
    goal, world = episode.problem.goal, episode.world
    if episode.task.env_id == "E_CART":
        listing = [call("catalog_get_variants", product_id=world.product_id(item.row)) for item in goal]
        emptying = [cart_call(episode, "cart_remove", line) for line in world.cart.lines]
        return calls(*(listing, [*emptying, *fill_cart(episode)], emptying or listing)[phase], say=text)
    if phase == 1:
        best = episode.task.reveal(episode.problem, episode.ledger)["best"]
        text = f"How about {', '.join(best)}?" if episode.turn % 2 else f"Have a look at {', '.join(best)}."
    kind = call("catalog_search", query="", filters={"type": goal.type}, limit=20, page=1 + episode.turn)
    everything = call("catalog_search", query="", filters={"type": goal.type}, limit=1000)
    return calls(everything, kind, say=text)


def test_free_turns_are_capped_however_much_the_agent_talks(words_engine):
    reasons = Counter()
    for number in range(100):
        env = start(words_engine, BOTH[number % 2], number, (3, 6, 9, 11)[number % 4], turn_budget=14, tool_budget=10)
        episode = env.episode
        while not episode.over:
            env.step(chatter(episode))
        told = [key for step in episode.steps for key in (step["customer"] or {"new": []})["new"]]
        fallbacks = sum(key.endswith(":fallback") for key in told)
        cap = math.ceil(len(episode.problem.omitted) / 2) + 1 + fallbacks + len(episode.problem.switch)
        counted = [step["discount_reason"] for step in episode.steps if step["discount_reason"]]
        assert episode.user_turns == len(counted) <= cap
        asked = [reason for reason in counted if "question" in reason or "detail" in reason]
        assert len(asked) <= math.ceil(len(episode.problem.omitted) / 2)
        assert sum("confirmed" in reason for reason in counted) <= 1
        assert sum("mind" in reason for reason in counted) <= len(episode.problem.switch)
        assert sum("fallback" in reason for reason in counted) <= fallbacks
        reasons.update(counted)
    # The agent did get every kind of free turn, so that the caps were put to the test.
    assert len(reasons) >= 5


@pytest.mark.parametrize("env_id", BOTH)
def test_the_turn_of_the_answer_is_never_free_and_the_free_turns_are_those_in_the_record(words_engine, env_id):
    free = 0
    for seed in range(30):
        env = Environment((env_id,), words_engine)
        reward = play(env, ReferenceAgent(), seed, 8)
        steps = env.episode.steps
        assert not steps[-1]["discounted"]
        assert steps[-1]["discount_reason"] == ""
        assert env.episode.user_turns == sum(step["discounted"] for step in steps)
        turns = max(1, len(steps) - env.episode.user_turns)
        assert reward.efficiency == pytest.approx(1 - 2 * (turns - 1) / (env.episode.axes.turn_budget - 1))
        assert reward.parts["turns"] == len(steps)
        free += env.episode.user_turns
    assert free > 30


def test_a_confirmation_is_free_once(words_engine):
    env = find(words_engine, "E_CART", lambda e: not e.problem.omitted and no_switch(e), d=8, omission=0.0, sellout=0.0)
    episode = env.episode
    env.step(calls(*fill_cart(episode), say="Is this right?"))
    assert acts(episode) == ["confirm"]
    assert episode.user_turns == 1
    env.step(fresh_look(episode, "Is this right?"))
    assert acts(episode) == ["confirm"]
    assert episode.user_turns == 1


def test_a_wrong_or_incomplete_cart_is_never_confirmed(words_engine):
    for seed in range(20):
        env = start(words_engine, "E_CART", seed, 6, omission=0.0, switching=0.0, sellout=0.0)
        episode = env.episode
        right = required(episode)
        line = next(iter(right))
        env.step(calls(*fill_cart(episode)[:-1], cart_call(episode, "cart_add", line, 1), say="All right?"))
        assert episode.world.cart.lines != right
        assert "confirm" not in acts(episode)
        assert "correct" in acts(episode)


# --- patience --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
@pytest.mark.parametrize("say", ["", SMALL_TALK], ids=["silent", "spoken to"])
def test_after_three_turns_without_progress_the_customer_says_everything_and_leaves(words_engine, env_id, say):
    env = find(words_engine, env_id, lambda e: len(e.problem.omitted) >= 3 and no_switch(e), d=10)
    episode, missing = env.episode, omitted(env.episode) + fallbacks(env.episode)
    for turn in (1, 2, 3):
        assert not episode.over
        observation, _, terminated, truncated, info = env.step(calls(call("datetime_now"), say=say))
        assert observation.turn == turn
    assert (terminated, truncated) == (True, False)
    assert "quit" in acts(episode)
    assert new(episode) == missing
    assert episode.ledger.everything_said()
    assert info["reward"].task == -1.0
    assert not info["reward"].correct
    assert "left" in info["reward"].reason


def test_a_customer_who_leaves_says_its_change_of_mind_too(words_engine):
    env = find(words_engine, "E_PD", lambda e: e.problem.switch, d=10, switching=1.0)
    for _ in range(3):
        env.step(calls(call("datetime_now")))
    assert env.episode.terminated
    assert "switch" in acts(env.episode)
    assert env.episode.ledger.everything_said()


def test_progress_starts_patience_anew(words_engine):
    env = start(words_engine, "E_PD", 0, 12, omission=0.0, switching=0.0)
    for _ in range(3):
        env.step(calls(call("datetime_now")))
        env.step(calls(call("datetime_now")))
        env.step(fresh_look(env.episode))
    assert not env.episode.over


def test_what_was_seen_already_is_no_progress(words_engine):
    env = start(words_engine, "E_PD", 0, 12, omission=0.0, switching=0.0)
    same = calls(call("catalog_search", query="lamp"))
    for _ in range(4):
        assert not env.episode.over
        env.step(same)
    assert env.episode.terminated


def test_a_perfect_cart_without_an_answer_is_no_success_when_the_customer_leaves(words_engine):
    env = find(
        words_engine, "E_CART", lambda e: not e.problem.omitted and no_switch(e), d=10, omission=0.0, sellout=0.0
    )
    env.step(calls(*fill_cart(env.episode)))
    while not env.episode.over:
        info = env.step(calls(call("cart_view")))[4]
    assert env.episode.terminated
    assert env.episode.turn == 4
    assert info["reward"].task == 1.0
    assert not info["reward"].correct


def wrong_versions(episode):
    """The wanted line of a single-item list, and the two other variants of the product."""
    ((line, _),) = required(episode).items()
    return line, [(line[0], n) for n in range(len(episode.world.variants_of(line[0]))) if n != line[1]]


def one_item_in_versions(episode):
    item = episode.problem.goal[0]
    return len(episode.problem.goal) == 1 and item.variant is not None and no_switch(episode)


def swap(episode, line, qty=1):
    """A turn that leaves nothing but this line in the cart, shows a new product and calls for a look."""
    changes = [cart_call(episode, "cart_remove", old) for old in episode.world.cart.lines]
    changes += [cart_call(episode, "cart_add", line, qty), fresh_look(episode)["tool_calls"][0]]
    return calls(*changes, say="I have changed the cart.")


def test_after_three_corrections_of_an_item_the_customer_gives_it_up_and_still_wants_it(words_engine):
    env = find(
        words_engine, "E_CART", one_item_in_versions, d=1, turn_budget=12, omission=0.0, sellout=0.0, tool_budget=5
    )
    episode = env.episode
    goal = required(episode)
    _, wrong = wrong_versions(episode)
    for number in range(3):
        env.step(swap(episode, wrong[number % 2]))
        assert acts(episode) == ["correct"]
    env.step(swap(episode, wrong[1]))
    assert acts(episode) == ["give_up"]
    env.step(swap(episode, wrong[0]))
    assert not {"correct", "give_up"} & set(acts(episode))
    assert required(episode) == goal
    assert episode.user_turns == 0
    changes = [cart_call(episode, "cart_remove", line) for line in episode.world.cart.lines]
    info = env.step({**calls(*changes, *fill_cart(episode)), **ANSWER})[4]
    assert info["reward"].task == 1.0
    assert info["reward"].correct


def test_an_item_that_gets_better_is_not_given_up(words_engine):
    env = find(
        words_engine, "E_CART", lambda e: one_item_in_versions(e) and e.problem.goal[0].quantity > 1,
        d=2, turn_budget=12, omission=0.0, sellout=0.0, tool_budget=5,
    )  # fmt: skip
    episode = env.episode
    right, wrong = wrong_versions(episode)
    for number in range(3):
        env.step(swap(episode, wrong[number % 2]))
        assert acts(episode) == ["correct"]
    env.step(swap(episode, right))  # the right version, though still too few of it
    assert acts(episode) == ["correct"]


def test_a_correction_never_names_an_id_and_names_at_most_two_things(words_engine):
    named = []
    for seed in range(15):
        env = start(words_engine, "E_CART", seed, 9, omission=0.0, switching=0.0, sellout=0.0, noise=0.0)
        episode = env.episode
        world, rows = episode.world, plain_rows(episode.world, 4)
        env.step(calls(*(cart_call(episode, "cart_add", (row, None), 1) for row in rows), say="Here you are."))
        assert acts(episode) == ["correct"]
        text = reply(episode)["text"].casefold()
        lines = [*required(episode), *world.cart.lines]
        assert not any(world.product_id(row) in text for row, _ in lines)
        named.append(sum(title in text for title in {world.catalog.titles[row].casefold() for row, _ in lines}))
    assert max(named) == 2


# --- sell-outs -------------------------------------------------------------------------------------------------------


def test_products_sell_out_at_the_end_of_the_turn_in_which_they_are_first_seen(words_engine):
    env = start(words_engine, "E_PD", 2, 8, sellout=0.5, distractors=0.0)
    episode = env.episode
    kind = episode.problem.goal.type
    first = call("catalog_search", query="", filters={"type": kind}, limit=20)
    second = call("catalog_search", query="", filters={"type": kind}, limit=20, page=2)
    one, again = results(env.step(calls(first, first))[0])
    assert one == again
    gone = set(episode.steps[-1]["shop"]["sold_out"])
    stock = {hit["id"]: hit["stock"] for hit in one["results"]}
    assert 0 < len(gone) < len(stock) == 20
    assert any(stock[identifier] > 0 for identifier in gone)
    later, next_page = results(env.step(calls(first, second))[0])
    assert {hit["id"]: hit["stock"] for hit in later["results"]} == {i: 0 if i in gone else s for i, s in stock.items()}
    assert {hit["stock"] for hit in next_page["results"]} != {0}
    fresh = set(episode.steps[-1]["shop"]["sold_out"])
    assert fresh
    assert fresh <= {hit["id"] for hit in next_page["results"]}
    assert not fresh & set(stock)


def test_a_variant_sells_out_once_it_was_listed_and_its_product_only_with_the_last_one(words_engine):
    env = find(words_engine, "E_CART", lambda e: fated(e), d=6, sellout=0.5, switching=0.0)
    episode = env.episode
    item = fated(episode)[0]
    world = episode.world
    product, listing = world.product_id(item.row), call("catalog_get_variants", product_id=world.product_id(item.row))
    env.step(calls(call("catalog_get_product", product_id=product)))
    assert not [unit for unit in world.stock.sold_out if unit[0] == item.row]
    before = results(env.step(calls(listing))[0])[0]["variants"]
    after = results(env.step(calls(listing))[0])[0]["variants"]
    wanted = world.variant_id(item.row, item.variant)
    assert {v["variant_id"]: v["stock"] > 0 for v in before} == dict.fromkeys((v["variant_id"] for v in before), True)
    assert {v["variant_id"]: v["stock"] for v in after}[wanted] == 0
    for number, entry in ((world.variant_ids.decode(v["variant_id"]) % VARIANTS_PER_ROW, v) for v in after):
        assert (entry["stock"] == 0) == world.stock.fated(item.row, number)


def fated(episode):
    """Items in variants that will sell out; all else is put aside."""
    return [item for item in episode.problem.goal if item.fallback is not None and item.variant is not None]


def ready_to_sell_out(words_engine):
    """An episode whose fated item has been listed: it is sold out now, and the customer has not heard of it."""
    env = find(
        words_engine, "E_CART", lambda e: fated(e) and no_switch(e), d=8, sellout=0.5, omission=0.0, switching=0.0,
        turn_budget=12,
    )  # fmt: skip
    episode = env.episode
    item = fated(episode)[0]
    key = f"item{episode.problem.goal.index(item)}:fallback"
    assert key in episode.ledger.asleep
    env.step(calls(call("catalog_get_variants", product_id=episode.world.product_id(item.row))))
    assert reply(episode) is None
    assert (item.row, item.variant) in episode.world.stock.sold_out
    return env, item, key


@pytest.mark.parametrize("how", ["shown", "refused"])
def test_a_fallback_is_told_unasked_at_the_first_showing_or_refusal_and_only_then(words_engine, how):
    env, item, key = ready_to_sell_out(words_engine)
    episode = env.episode
    shows = call("catalog_get_variants", product_id=episode.world.product_id(item.row))
    refuses = cart_call(episode, "cart_add", (item.row, item.variant), 1)
    env.step(fresh_look(episode))
    assert reply(episode) is None
    observation = env.step(calls(shows if how == "shown" else refuses))[0]
    if how == "refused":
        assert results(observation)[0]["error"]["code"] == "out_of_stock"
    assert acts(episode) == ["elaborate"]
    assert new(episode) == [key]
    assert episode.user_turns == 1
    env.step(calls(shows, refuses, *fresh_look(episode)["tool_calls"]))
    assert reply(episode) is None
    assert episode.user_turns == 1


def test_a_fallback_may_be_asked_for_once_its_item_is_sold_out_and_not_before(words_engine):
    question = "What should I take instead if something is sold out?"
    early = find(words_engine, "E_CART", lambda e: fated(e) and no_switch(e), d=8, sellout=0.5, omission=0.0)
    early.step(question)
    assert new(early.episode) == []
    env, _, key = ready_to_sell_out(words_engine)
    env.step(question)
    assert acts(env.episode) == ["clarify"]
    assert new(env.episode) == [key]
    assert env.episode.user_turns == 1
    env.step(fresh_look(env.episode, question))
    assert new(env.episode) == []
    assert env.episode.user_turns == 1


def test_answering_while_a_fallback_is_unsaid_is_hasty(words_engine):
    env, _, key = ready_to_sell_out(words_engine)
    env.step(ANSWER)
    assert not env.episode.over
    assert new(env.episode) == [key]


def test_what_sells_out_in_the_last_two_turns_has_its_fallback_told_before(words_engine):
    env = find(words_engine, "E_CART", fated, d=2, seeds=400, sellout=0.5, omission=0.0, switching=0.0)
    episode = env.episode
    item = fated(episode)[0]
    while episode.axes.turn_budget - episode.turn > 2:
        assert not episode.ledger.said("item0:fallback")
        env.step(fresh_look(episode))
    assert new(episode) == fallbacks(episode) == ["item0:fallback"]
    env.step(calls(call("catalog_get_variants", product_id=episode.world.product_id(item.row))))
    info = env.step({**calls(cart_call(episode, "cart_add", (item.row, item.variant), 1)), **ANSWER})[4]
    assert not info["reward"].correct  # it sold out, and the customer had said what to do then


# --- the end of the clock --------------------------------------------------------------------------------------------


def test_the_clock_runs_out_and_even_a_perfect_cart_is_no_success(words_engine):
    env = find(words_engine, "E_CART", lambda e: not e.problem.omitted and no_switch(e), d=6, omission=0.0, sellout=0.0)
    env.step(calls(*fill_cart(env.episode)))
    while not env.episode.over:
        info = env.step(fresh_look(env.episode))[4]
    assert (env.episode.terminated, env.episode.truncated) == (False, True)
    assert env.episode.turn == env.episode.axes.turn_budget
    assert info["reward"].task == 1.0
    assert not info["reward"].correct
    assert "ran out" in info["reward"].reason
    assert info["reward"].efficiency == -1.0


def test_the_clock_runs_out_and_what_was_only_talked_about_is_worth_nothing(words_engine):
    env = start(words_engine, "E_PD", 1, 6)
    while not env.episode.over:
        info = env.step(fresh_look(env.episode))[4]
    assert env.episode.truncated
    assert info["reward"].task == -1.0
    assert not info["reward"].correct


@pytest.mark.parametrize(("env_id", "budget"), [("E_CART", 2), ("E_CART", 3), ("E_PD", 2), ("E_PD", 3)])
def test_with_two_or_three_turns_nothing_is_left_out_and_all_can_be_done(words_engine, env_id, budget):
    for d in (0, 6, 12):
        for seed in range(8):
            env = Environment((env_id,), words_engine)
            reward = play(env, ReferenceAgent(), seed, d, {"turn_budget": budget, "omission": 1.0, "switching": 1.0})
            assert not env.episode.problem.omitted
            assert not env.episode.problem.switch
            assert env.episode.axes.turn_budget == budget
            assert env.episode.turn <= budget
            assert reward.correct, (env_id, budget, d, seed, reward.reason)


HARDER = {"sellout": 0.9, "omission": 1.0, "switching": 1.0, "noise": 0.3, "distractors": 0.9}


@pytest.mark.parametrize(
    ("env_id", "axes"),
    [(env_id, axes) for env_id in BOTH for axes in [(name,) for name in HARDER] + [tuple(HARDER)]],
    ids=lambda value: value if isinstance(value, str) else "all" if len(value) > 1 else value[0],
)
def test_extreme_axes_leave_every_problem_solvable(words_engine, env_id, axes):
    env = Environment((env_id,), words_engine)
    failed = []
    for d in (4, 8, 12):
        for seed in range(30 if axes != ("sellout",) and len(axes) == 1 else 12):
            reward = play(env, ReferenceAgent(), seed, d, {name: HARDER[name] for name in axes})
            assert all(getattr(env.episode.axes, name) == HARDER[name] for name in axes)
            if not (reward.correct and reward.task == 1.0):
                failed.append((d, seed, reward.reason))
    assert not failed


def test_a_number_that_was_never_named_is_one_and_the_customer_says_so(words_engine):
    env = find(words_engine, "E_CART", lambda e: not any(s.kind == "quantity" for s in e.problem.slots), d=0)
    env.step("How many do you want?")
    assert acts(env.episode) == ["repeat"]
    assert "one" in reply(env.episode)["text"].casefold()


def test_whoever_asks_how_many_and_what_else_hears_both(words_engine):
    env = find(
        words_engine,
        "E_CART",
        lambda e: not any(s.kind != "item" for s in e.problem.slots),
        d=0,
    )
    env.step("How many of each would you like? Is there anything else I should know?")
    assert acts(env.episode) == ["repeat", "nothing_else"]
