"""TRL's tool loop plays our episodes turn by turn, and its rewards are the engine's, whatever a model puts out."""

import asyncio
import json

import pytest

from ecomrlve.adapters.trl import OVER, environment_factories, episode_reward, training_rows
from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.errors import OptionError, SeedError, UnknownEnvironmentError

SEED = 20_001
ALL = COLLECTIONS["C8"]


@pytest.fixture(scope="module")
def factories(words_engine):
    return environment_factories("C8", catalog=words_engine)


@pytest.fixture
def shop(factories):
    """A started instance of one environment, and its opening."""

    def make(env_id="E_CART", seed=SEED, difficulty=0, **row):
        instance = factories[env_id]()
        return instance, instance.reset(prompt=[], seed=seed, difficulty=difficulty, **row)

    return make


def called(name, **arguments):
    """A call, as TRL parses it out of a model's output."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def said(content="", *calls):
    message = {"role": "assistant", "content": content}
    return message | {"tool_calls": list(calls)} if calls else message


def run_tools(instance, message):
    """What TRL's loop does with the calls of one assistant message: async tools of a message run together."""
    pending, results = [], []
    for call in message["tool_calls"]:
        function = call["function"]
        try:
            method = getattr(instance, function["name"])
            pending.append((function["name"], method(**function["arguments"])))
        except Exception as error:
            results.append((function["name"], {"error": str(error)}))

    async def together():
        return await asyncio.gather(*[coroutine for _, coroutine in pending], return_exceptions=True)

    texts = asyncio.run(together())
    results += [(name, text) for (name, _), text in zip(pending, texts, strict=True)]
    return [{"role": "tool", "name": name, "content": str(text)} for name, text in results]


def completion_of(instance, *messages):
    """The chat after the prompt, as TRL hands it to reward functions."""
    chat = []
    for message in messages:
        chat.append(message)
        if message.get("tool_calls"):
            chat += run_tools(instance, message)
    return chat


def reward_of(instance, *messages):
    (reward,) = episode_reward([completion_of(instance, *messages)], [instance])
    return reward


def as_message(action):
    """A turn of the reference agent as a model under TRL has to write it: everything is a call."""
    calls = [called(call["name"], **call["args"]) for call in action.get("tool_calls", ())]
    if action.get("assistant_message"):
        calls.append(called("ask_user", question=action["assistant_message"]))
    if "answer" in action:
        calls.append(called("submit_answer", **action["answer"]))
    return said("", *calls)


class Recorder(ReferenceAgent):
    """The reference agent; remembers what it did and saw."""

    def reset(self, env):
        super().reset(env)
        self.actions, self.seen = [], []

    def act(self, observation):
        action = super().act(observation)
        self.actions.append(action)
        self.seen.append(observation)
        return action


# --- turns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", [0, 6, 12])
@pytest.mark.parametrize("env_id", ALL)
def test_the_reference_plan_is_playable_and_gets_the_engines_reward(env_id, difficulty, words_engine, shop):
    agent = Recorder()
    expected = play(Environment((env_id,), words_engine), agent, SEED, difficulty)
    instance, opening = shop(env_id, SEED, difficulty)
    assert agent.seen[0].messages[0]["content"] in opening
    chat = completion_of(instance, *map(as_message, agent.actions), said("Goodbye!"))
    assert episode_reward([chat], [instance]) == [expected.total]
    assert expected.correct
    assert OVER in chat[-2]["content"]
    told = "\n".join(message["content"] for message in chat if message["role"] == "tool")
    for message in (message for observation in agent.seen[1:] for message in observation.messages):
        text = json.dumps(message["result"], ensure_ascii=False) if message["role"] == "tool" else message["content"]
        assert text in told


def test_the_calls_of_a_message_are_one_turn_and_those_beyond_the_budget_are_refused(shop):
    instance, opening = shop("E_CART", difficulty=0)
    assert opening.endswith("[turns left: 4]")
    calls = [called("cart_view") for _ in range(3)]
    results = [message["content"] for message in run_tools(instance, said("", *calls))]
    assert ["tool_budget" in result for result in results] == [False, False, True]
    assert results[-1].endswith("[turns left: 3]")
    assert not any("[turns left" in result for result in results[:-1])


def test_calls_of_two_messages_are_two_turns(shop):
    instance, _ = shop("E_CART")
    for left in (3, 2):
        (message,) = run_tools(instance, said("", called("cart_view")))
        assert message["content"].endswith(f"[turns left: {left}]")


def test_the_customer_answers_a_question_in_its_call(shop):
    instance, _ = shop("E_CART", difficulty=6)
    results = run_tools(instance, said("", called("cart_view"), called("ask_user", question="What do you need?")))
    assert json.loads(results[0]["content"]) == {"lines": [], "total": 0}
    assert results[1]["name"] == "ask_user"
    assert not results[1]["content"].startswith("{")


def test_what_the_customer_says_unasked_reaches_the_agent(shop, words_engine):
    env = Environment(("E_CART",), words_engine)
    env.reset(seed=SEED, options={"difficulty": 8})
    instance, _ = shop("E_CART", SEED, 8)
    heard = []
    while not env.episode.over:
        observation = env.step({"tool_calls": [{"name": "cart_view", "args": {}}]})[0]
        (result,) = run_tools(instance, said("", called("cart_view")))
        words = [message["content"] for message in observation.messages if message["role"] == "customer"]
        assert all(text in result["content"] for text in words)
        heard += words
    assert heard


def test_after_the_end_calls_tell_that_it_is_over_and_change_nothing(shop):
    instance, _ = shop("E_CART")
    end = said("", called("submit_answer"))
    first = reward_of(instance, end)
    chat = completion_of(shop("E_CART")[0], end, said("", called("cart_view")), said("<tool_call>{"))
    assert chat[3]["content"] == OVER
    assert episode_reward([chat], [instance]) == [first]


def test_an_instance_plays_one_episode_after_the_other(shop):
    instance, opening = shop("E_STATUS")
    run_tools(instance, said("", called("submit_answer")))
    assert instance.reset(seed=SEED, difficulty=0) == opening
    assert run_tools(instance, said("", called("datetime_now")))[0]["content"].endswith("[turns left: 3]")


# --- rewards ---------------------------------------------------------------------------------------------------------

VIEW = called("cart_view")
INVALID = {
    "a tool that does not exist": [said("", called("order_pizza"))],
    "a tool of another environment": [said("", called("return_cancel", return_id="x"))],
    "one of two calls": [said("", VIEW, called("order_pizza"))],
    "an unknown argument": [said("", called("cart_view", loudly=True))],
    "a missing argument": [said("", called("cart_add"))],
    "a wrong type": [said("", VIEW), said("", called("cart_add", product_id="p", qty="two"))],
    "arguments that are no object": [
        said("", {"type": "function", "function": {"name": "cart_view", "arguments": "x"}})
    ],
    "a call that cannot be read": [said("", VIEW), said('<tool_call>\n{"name": "cart_view"')],
    "nothing": [said("", VIEW), said("")],
    "invalid, then a right answer": [said("", called("order_pizza")), said("", called("submit_answer"))],
}


@pytest.mark.parametrize("messages", INVALID.values(), ids=INVALID)
def test_invalid_output_costs_everything(messages, shop):
    instance, _ = shop("E_CART")
    assert reward_of(instance, *messages) == -1.0


def test_after_invalid_arguments_the_episode_is_over(shop):
    instance, _ = shop("E_CART")
    results = run_tools(instance, said("", VIEW, called("cart_add", qty=1)))
    assert [message["content"] for message in results] == [OVER, OVER]
    assert run_tools(instance, said("", VIEW))[0]["content"] == OVER


def test_a_rollout_that_stops_is_judged_as_one_without_an_answer(shop, words_engine):
    env = Environment(("E_STATUS",), words_engine)
    env.reset(seed=SEED, options={"difficulty": 3})
    while not env.episode.over:
        env.step({"answer": {"done": False}})
    silent = env.episode.reward
    assert silent.total > -1.0
    assert not silent.correct
    instance, _ = shop("E_STATUS", SEED, 3)
    assert episode_reward([[]], [instance]) == [silent.total]
    assert reward_of(instance, said("Let me see.")) == pytest.approx(silent.total, abs=0.15)


def test_an_answer_that_stands_in_the_last_text_counts(shop):
    instance, _ = shop("E_STATUS")
    by_call = reward_of(instance, said("", called("submit_answer", order_status="shipped")))
    assert reward_of(instance, said('{"answer": {"order_status": "shipped"}}')) == by_call


def test_means_are_logged_per_environment_and_environments_of_others_are_left_to_them(shop):
    logged = {}
    bad, good = said("", called("order_pizza")), said("", called("submit_answer"))
    instances = [shop("E_CART")[0], shop("E_CART")[0], object(), shop("E_PD")[0]]
    totals = episode_reward([[bad], [good], [good], [bad]], instances, log_metric=logged.__setitem__)
    assert [totals[0], totals[2], totals[3]] == [-1.0, None, -1.0]
    assert logged["E_CART/reward"] == (totals[0] + totals[1]) / 2
    assert logged["E_PD/reward"] == -1.0
    assert logged["E_PD/correct"] == logged["E_CART/correct"] == 0


# --- rows ------------------------------------------------------------------------------------------------------------


def test_rows_hold_a_prompt_and_what_reset_needs(words_engine, shop):
    rows = training_rows("E_CART,E_PD", (0, 3), range(100, 102), catalog=words_engine)
    assert len(rows) == 8
    assert {(row["environment"], row["difficulty"], row["seed"]) for row in rows} == {
        (env_id, d, seed) for env_id in ("E_CART", "E_PD") for d in (0, 3) for seed in (100, 101)
    }
    system, user = rows[7]["prompt"]
    assert user == {"role": "user", "content": ""}
    assert "Task: " in system["content"]
    assert system["content"].endswith("ends the conversation.")
    _, opening = shop(
        **{"env_id": rows[7]["environment"], "seed": rows[7]["seed"], "difficulty": rows[7]["difficulty"]}
    )
    assert opening not in system["content"]


def test_seeds_that_are_held_back_do_not_get_into_training(words_engine):
    with pytest.raises(SeedError, match="split 'dev'"):
        training_rows("C1", [0], [200, 7], catalog=words_engine)
    assert len(training_rows("C1", [0], [7], catalog=words_engine, held=True)) == 1


def test_overrides_come_as_json_or_with_gaps(shop):
    _, plain = shop("E_CART")
    instance, opening = shop("E_CART", overrides='{"turn_budget": 9}')
    assert (plain[-2:], opening[-15:]) == ("4]", "[turns left: 9]")
    _, opening = shop("E_CART", overrides={"turn_budget": 9, "noise": None})
    assert opening.endswith("9]")
    for wrong in ("[1]", "{", 3):
        with pytest.raises(OptionError, match="overrides"):
            instance.reset(seed=1, difficulty=0, overrides=wrong)
    with pytest.raises(OptionError, match="seed"):
        instance.reset(difficulty=0)


def test_unknown_environments_are_refused(words_engine):
    with pytest.raises(UnknownEnvironmentError):
        environment_factories("E_PIZZA", catalog=words_engine)
