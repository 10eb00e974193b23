"""The Python door: what `make`, `reset`, `step` and the rest promise to whoever calls them."""

import copy
import itertools
import json

import pytest

import ecomrlve
from ecomrlve.agents.base import play
from ecomrlve.agents.baselines import RandomAgent
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.environment import HIGHEST_SEED, Environment, make
from ecomrlve.errors import (
    DifficultyError,
    EcomrlveError,
    EpisodeNotRunningError,
    OptionError,
    SeedError,
    UnknownEnvironmentError,
)
from ecomrlve.rewards import Reward
from ecomrlve.trajectory import stable

BOTH = ("E_CART", "E_PD")
LOOK = {"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp", "limit": 5}}]}
ANSWER = {"answer": {"done": True}}


@pytest.fixture
def env(words_engine):
    return Environment(BOTH, words_engine)


def finish(env):
    """End the running episode by answering until the answer is taken."""
    while not env.episode.over:
        outcome = env.step(ANSWER)
    return outcome


def trace(env, agent, seed, d, env_id):
    """An episode as bytes, observation by observation."""
    observation, info = env.reset(seed=seed, options={"difficulty": d, "env_id": env_id})
    agent.reset(env)
    parts = [observation.to_json(), json.dumps(info).encode()]
    while not env.episode.over:
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
        parts += [observation.to_json(), f"{reward!r} {terminated} {truncated} {sorted(info)}".encode()]
    return parts


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("E_CART", ("E_CART",)),
        ("C1", ("E_CART",)),
        ("C2", ("E_CART", "E_SUB")),
        ("C4", ("E_CART", "E_SUB", "E_PD", "E_RETURN")),
        ("C8", ("E_CART", "E_SUB", "E_PD", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE", "E_JOURNEY")),
        (["E_PD", "E_CART"], ("E_PD", "E_CART")),
        ("E_PD, E_CART", ("E_PD", "E_CART")),
        (["C1", "E_CART"], ("E_CART",)),
    ],
    ids=str,
)
def test_make_knows_environments_collections_and_lists(words_engine, name, ids):
    assert make(name, catalog=words_engine).env_ids == ids
    assert ecomrlve.make(name, catalog=words_engine).env_ids == ids


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("E_NOPE", ("E_NOPE", "E_CART", "E_PD", "C1")),
        ("e_cart", ("e_cart", "E_CART")),
        ("C16", ("C16", "C8", "not in this version")),
        (["E_CART", "C3"], ("C3", "E_CART")),
        ("", ("''", "E_CART")),
        ([], ("at least one",)),
    ],
    ids=str,
)
def test_an_unknown_name_is_refused_with_what_there_is(words_engine, name, words):
    with pytest.raises(UnknownEnvironmentError) as caught:
        make(name, catalog=words_engine)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("name", [None, 5, [["E_CART"]]], ids=str)
def test_a_name_that_is_no_name_is_refused_too(words_engine, name):
    with pytest.raises((EcomrlveError, TypeError)):
        make(name, catalog=words_engine)


def test_the_seed_decides_between_several_environments(env):
    drawn = [env.reset(seed=seed)[1]["env_id"] for seed in range(40)]
    assert set(drawn) == set(BOTH)
    assert drawn == [env.reset(seed=seed)[1]["env_id"] for seed in range(40)]
    assert 8 <= drawn.count("E_PD") <= 32


def test_an_engine_is_shared_and_a_catalog_gets_one(words_engine):
    assert make("E_CART", catalog=words_engine).engine is words_engine


# --- the five-tuple --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
def test_reward_and_info_are_empty_until_the_end(words_engine, env_id):
    env = Environment((env_id,), words_engine)
    observation, info = env.reset(seed=5, options={"difficulty": 6})
    assert info == {"seed": 5, "env_id": env_id, "difficulty": 6}
    assert observation.turn == 0
    assert observation.turns_left == 7
    agent = ReferenceAgent()
    agent.reset(env)
    for turn in itertools.count(1):
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
        assert type(reward) is float
        assert type(terminated) is bool
        assert type(truncated) is bool
        assert (observation.turn, observation.turns_left) == (turn, 7 - turn)
        if terminated or truncated:
            break
        assert reward == 0.0
        assert info == {}
    assert turn > 1
    assert set(info) == {"reward"}
    assert isinstance(info["reward"], Reward)
    assert reward == info["reward"].total > 0.5
    assert info["reward"].correct
    assert terminated
    assert not truncated


def test_the_same_seed_gives_the_same_episode_and_another_seed_another(words_engine):
    env = Environment(("E_PD",), words_engine)
    first = trace(env, RandomAgent(), 8, 6, "E_PD")
    other = trace(env, RandomAgent(), 9, 6, "E_PD")
    assert trace(env, RandomAgent(), 8, 6, "E_PD") == first != other


def test_without_a_seed_one_is_drawn_and_reported(env):
    seeds = [env.reset()[1]["seed"] for _ in range(6)]
    assert len(set(seeds)) == 6
    assert all(0 <= seed <= HIGHEST_SEED for seed in seeds)
    observation, info = env.reset(options={"difficulty": 3})
    again, _ = env.reset(seed=info["seed"], options={"difficulty": 3})
    assert again.to_json() == observation.to_json()


@pytest.mark.parametrize("seed", [0, HIGHEST_SEED])
def test_the_first_and_the_last_seed_work(env, seed):
    assert env.reset(seed=seed)[1]["seed"] == seed


def test_options_may_be_missing_or_empty(env):
    plain = env.reset(seed=2)[0].to_json()
    for options in ({}, None, {"overrides": {}}, {"overrides": None}, {"difficulty": 0}, {"env_id": None}):
        assert env.reset(seed=2, options=options)[0].to_json() == plain


def test_an_override_changes_its_axis_alone(env):
    before = env.reset(seed=2, options={"difficulty": 4, "env_id": "E_PD"})[0]
    after = env.reset(seed=2, options={"difficulty": 4, "env_id": "E_PD", "overrides": {"turn_budget": 9}})[0]
    assert (before.turns_left, after.turns_left) == (6, 9)
    assert before.tool_budget == after.tool_budget


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED = {
    "difficulty -1": (1, {"difficulty": -1}, DifficultyError),
    "difficulty 13": (1, {"difficulty": 13}, DifficultyError),
    "difficulty 2.5": (1, {"difficulty": 2.5}, DifficultyError),
    "difficulty 2.0": (1, {"difficulty": 2.0}, DifficultyError),
    "difficulty as a word": (1, {"difficulty": "hard"}, DifficultyError),
    "difficulty as a digit": (1, {"difficulty": "3"}, DifficultyError),
    "difficulty True": (1, {"difficulty": True}, DifficultyError),
    "difficulty None": (1, {"difficulty": None}, DifficultyError),
    "difficulty in a list": (1, {"difficulty": [1]}, DifficultyError),
    "seed -1": (-1, {}, SeedError),
    "seed 1.5": (1.5, {}, SeedError),
    "seed as a word": ("x", {}, SeedError),
    "seed as a digit": ("1", {}, SeedError),
    "seed True": (True, {}, SeedError),
    "seed 2**63": (2**63, {}, SeedError),
    "unknown option": (1, {"dificulty": 3}, OptionError),
    "unknown axis": (1, {"overrides": {"sell_out": 0.1}}, DifficultyError),
    "axis without a name": (1, {"overrides": {1: 2}}, DifficultyError),
    "axis above its bound": (1, {"overrides": {"sellout": 1.0}}, DifficultyError),
    "axis below its bound": (1, {"overrides": {"turn_budget": 1}}, DifficultyError),
    "whole axis with a fraction": (1, {"overrides": {"turn_budget": 4.0}}, DifficultyError),
    "axis NaN": (1, {"overrides": {"noise": float("nan")}}, DifficultyError),
    "axis as a word": (1, {"overrides": {"noise": "0.1"}}, DifficultyError),
    "axis True": (1, {"overrides": {"noise": True}}, DifficultyError),
    "unknown environment": (1, {"env_id": "E_SUB"}, UnknownEnvironmentError),
    "environment in a list": (1, {"env_id": ["E_PD"]}, UnknownEnvironmentError),
}


@pytest.mark.parametrize(("seed", "options", "error"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_reset_leaves_the_running_episode_alone(words_engine, seed, options, error):
    # Where options are refused, nothing but what is named may be wrong with the call.
    control = Environment(("E_PD",), words_engine)
    control.reset(seed=7, options={"difficulty": 6})
    env = Environment(("E_PD",), words_engine)
    env.reset(seed=7, options={"difficulty": 6})
    assert env.step(LOOK)[0].to_json() == control.step(LOOK)[0].to_json()
    with pytest.raises(error) as caught:
        env.reset(seed=seed, options=options)
    assert isinstance(caught.value, EcomrlveError)
    assert isinstance(caught.value, ValueError)
    finish(env)
    finish(control)
    assert stable(env.trajectory().to_dict()) == stable(control.trajectory().to_dict())


def test_refusals_say_what_would_do(env):
    for options, words in [
        ({"difficulty": 13}, ("0", "12", "13")),
        ({"dificulty": 3}, ("dificulty", "difficulty", "overrides", "env_id")),
        ({"overrides": {"sell_out": 0.1}}, ("sell_out", "sellout", "turn_budget")),
        ({"overrides": {"turn_budget": 1}}, ("turn_budget", "2")),
        ({"env_id": "E_SUB"}, ("E_SUB", "E_CART", "E_PD")),
    ]:
        with pytest.raises(EcomrlveError) as caught:
            env.reset(seed=1, options=options)
        assert all(word in str(caught.value) for word in words)
    with pytest.raises(SeedError, match="whole number"):
        env.reset(seed="x")


@pytest.mark.parametrize(
    "options",
    ["abc", [1], {"overrides": "abc"}, {"overrides": 5}, {"overrides": [1]}, {1: 2, "x": 3}],
    ids=str,
)
def test_options_of_the_wrong_shape_are_refused_like_other_bad_options(env, options):
    with pytest.raises(EcomrlveError):
        env.reset(seed=1, options=options)


@pytest.mark.parametrize("env_id", ["", 0])
def test_an_empty_environment_name_is_unknown(env, env_id):
    with pytest.raises(UnknownEnvironmentError):
        env.reset(seed=1, options={"env_id": env_id})


def test_nothing_works_before_reset_and_the_error_says_what_to_do(env):
    for use in (lambda: env.step(LOOK), env.trajectory, env.system_prompt, lambda: env.episode):
        with pytest.raises(EpisodeNotRunningError, match=r"reset\(\)"):
            use()


@pytest.mark.parametrize("last", ["not json {", ANSWER], ids=["invalid", "answered"])
def test_a_step_after_the_end_is_refused_and_changes_nothing(words_engine, last):
    env = Environment(("E_CART",), words_engine)
    env.reset(seed=3, options={"difficulty": 0, "overrides": {"omission": 0.0}})
    while not env.episode.over:
        env.step(last)
    before = env.trajectory().to_dict()
    with pytest.raises(EpisodeNotRunningError, match=r"reset\(\)"):
        env.step(LOOK)
    assert stable(env.trajectory().to_dict()) == stable(before)
    env.reset(seed=3)
    assert not env.episode.over
    env.step(LOOK)


def test_no_trajectory_before_the_end(env):
    env.reset(seed=4)
    with pytest.raises(EpisodeNotRunningError, match="running"):
        env.trajectory()
    env.step(LOOK)
    with pytest.raises(EpisodeNotRunningError, match="running"):
        env.trajectory()
    finish(env)
    data = env.trajectory("somebody", "human").to_dict()
    assert data["player"] == {"name": "somebody", "kind": "human"}
    assert data["seed"] == 4
    assert len(data["steps"]) == env.episode.turn


# --- episodes do not see each other ----------------------------------------------------------------------------------


def test_fifty_interleaved_episodes_are_the_separate_ones(words_engine):
    cells = [(BOTH[n % 2], 200 + n // 2, (0, 4, 8, 12)[n % 4]) for n in range(50)]
    agents = [ReferenceAgent if n % 3 else RandomAgent for n in range(50)]
    alone = [trace(Environment((e,), words_engine), agents[n](), seed, d, e) for n, (e, seed, d) in enumerate(cells)]
    running = []
    for number, (env_id, seed, d) in enumerate(cells):
        env, agent = Environment((env_id,), words_engine), agents[number]()
        observation, info = env.reset(seed=seed, options={"difficulty": d, "env_id": env_id})
        agent.reset(env)
        running.append([env, agent, observation, [observation.to_json(), json.dumps(info).encode()]])
    while any(not env.episode.over for env, *_ in running):
        for entry in running:
            env, agent, observation, parts = entry
            if env.episode.over:
                continue
            observation, reward, terminated, truncated, info = env.step(agent.act(observation))
            entry[2] = observation
            parts += [observation.to_json(), f"{reward!r} {terminated} {truncated} {sorted(info)}".encode()]
    assert [parts for *_, parts in running] == alone


def test_two_episodes_of_one_seed_side_by_side_do_not_share_a_shop(words_engine):
    one, other = (Environment(("E_CART",), words_engine) for _ in range(2))
    for env in (one, other):
        env.reset(seed=6, options={"difficulty": 0})
    world = one.episode.world
    row = next(row for row in range(500) if not world.variants.has(row) and world.stock.left(row) > 3)
    one.step({"tool_calls": [{"name": "cart_add", "args": {"product_id": world.product_id(row)}}]})
    view = other.step({"tool_calls": [{"name": "cart_view", "args": {}}]})[0]
    assert len(one.episode.world.cart.lines) == 1
    assert view.messages[0]["result"]["lines"] == []


def wreck(value):
    """Change everything that can be changed in place."""
    if isinstance(value, dict):
        for key in list(value):
            wreck(value[key])
            if not isinstance(value[key], dict | list):
                value[key] = "wrecked"
        value["wrecked"] = True
    elif isinstance(value, list):
        for part in value:
            wreck(part)
        value.append("wrecked")


def tour(env):
    """Observations of an episode that reads with every reading tool."""
    yield env.reset(seed=11, options={"difficulty": 6})[0]
    observation = env.step(LOOK)[0]
    first = observation.messages[0]["result"]["results"][0]["id"]
    yield observation
    names = ("catalog_get_product", "catalog_get_variants")
    yield env.step({"tool_calls": [{"name": name, "args": {"product_id": first}} for name in names]})[0]
    if env.env_ids == ("E_CART",):
        calls = [{"name": "user_get_visit_history", "args": {}}, {"name": "cart_view", "args": {}}]
    else:
        calls = [{"name": "catalog_rerank", "args": {"query": "lamp", "product_ids": [first]}}]
    yield env.step({"assistant_message": "Which color?", "tool_calls": calls})[0]


@pytest.mark.parametrize("env_id", BOTH)
def test_wrecked_messages_reach_neither_the_next_episode_nor_the_catalog(words_engine, env_id):
    clean = [observation.to_json() for observation in tour(Environment((env_id,), words_engine))]
    for observation in tour(Environment((env_id,), words_engine)):
        for message in observation.messages:
            wreck(message)
    again = [observation.to_json() for observation in tour(Environment((env_id,), words_engine))]
    assert again == clean


@pytest.mark.parametrize("part", ["tools", "answer_fields"])
def test_wrecked_schemas_do_not_reach_the_next_episode(words_engine, part):
    env = Environment(("E_PD",), words_engine)
    observation, _ = env.reset(seed=1)
    clean, kept = observation.to_json(), copy.deepcopy(getattr(observation, part))
    shared = getattr(observation, part)
    target = shared[0]["function"] if part == "tools" else shared
    target["wrecked"] = {}
    try:
        assert env.reset(seed=1)[0].to_json() == clean
    finally:
        del target["wrecked"]
    assert getattr(observation, part) == kept


@pytest.mark.parametrize("what", ["result", "arguments", "action"])
def test_wrecked_results_and_actions_do_not_reach_the_record(words_engine, what):
    env = Environment(("E_PD",), words_engine)
    env.reset(seed=1, options={"difficulty": 4})
    action = {"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp", "filters": {"price": {"le": 30}}}}]}
    observation = env.step(action)[0]
    before = copy.deepcopy(env.episode.steps)
    message = observation.messages[0]
    wreck({"result": message["result"], "arguments": message["args"], "action": action}[what])
    assert env.episode.steps == before


# --- what a model is given -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", BOTH)
def test_the_system_prompt_names_all_tools_and_fields_and_gives_nothing_away(words_engine, env_id):
    env = Environment((env_id,), words_engine)
    observation, _ = env.reset(seed=3, options={"difficulty": 6})
    prompt = env.system_prompt()
    names = [tool["function"]["name"] for tool in observation.tools]
    assert {"ask_user", "submit_answer", "catalog_search", "datetime_now"} <= set(names)
    assert all(f"- {name}(" in prompt for name in names)
    assert all(field in prompt for field in observation.answer_fields)
    assert f"{observation.turns_left} turns" in prompt
    assert observation.today in prompt
    other = env.reset(seed=4, options={"difficulty": 6})[0]
    assert env.system_prompt().replace(other.today, "") == prompt.replace(observation.today, "")


@pytest.mark.parametrize("env_id", BOTH)
def test_every_tool_has_a_schema_that_says_what_each_argument_is(words_engine, env_id):
    observation, _ = Environment((env_id,), words_engine).reset(seed=3)
    for tool in observation.tools:
        function = tool["function"]
        assert tool["type"] == "function"
        assert function["description"]
        assert function["parameters"]["type"] == "object"
        for name, schema in function["parameters"]["properties"].items():
            assert "type" in schema or "anyOf" in schema or "enum" in schema, name
            assert schema.get("description") or name == "done", name


def test_a_chat_holds_the_customer_as_user_and_results_as_json(words_engine):
    env = Environment(("E_CART",), words_engine)
    observation, _ = env.reset(seed=3)
    (opening,) = observation.as_chat()
    assert opening["role"] == "user"
    assert opening["content"] == observation.messages[0]["content"] != ""
    observation = env.step({**LOOK, "assistant_message": "Which size do you need?"})[0]
    result, reply = observation.as_chat()
    assert (result["role"], result["name"]) == ("tool", "catalog_search")
    assert json.loads(result["content"]) == observation.messages[0]["result"]
    assert reply == {"role": "user", "content": observation.messages[1]["content"]}


def test_to_dict_is_a_copy_and_equal_observations_have_equal_bytes(words_engine):
    env = Environment(("E_PD",), words_engine)
    observation, _ = env.reset(seed=3)
    before = observation.to_json()
    wreck(observation.to_dict())
    assert observation.to_json() == before == env.reset(seed=3)[0].to_json()
    assert json.loads(before) == observation.to_dict()


def test_play_returns_the_reward_of_the_episode(words_engine):
    env = Environment(BOTH, words_engine)
    reward = play(env, ReferenceAgent(), 12, 4, {"noise": 0.0}, "E_PD")
    assert env.episode.task.env_id == "E_PD"
    assert env.episode.axes.noise == 0.0
    assert reward is env.episode.reward
    assert env.trajectory().to_dict()["overrides"] == {"noise": 0.0}
