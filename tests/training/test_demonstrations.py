"""Demonstrations as chats: they hold what an agent gets and nothing else, and they replay to the reward they claim."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.chat import NO_REPLY
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.synthetic import generate
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.protocol import Action, ToolCall, parse_action
from ecomrlve.training.demonstrations_chat import LeftOutError, Reason, demonstrate, said_natively

SEARCH = {"name": "catalog_search", "args": {"query": "lamp", "limit": 3}}
LOOK_AT_ORDERS = {"tool_calls": [{"name": "order_list", "args": {}}]}


@pytest.fixture(scope="module")
def demonstrations(all_records, words_engine):
    return [demonstrate(record, words_engine) for record in all_records]


def reason_of(record, engine, **options):
    """Why a record becomes no demonstration."""
    with pytest.raises(LeftOutError) as caught:
        demonstrate(record, engine, **options)
    return caught.value.reason


def calls_of(message):
    return [call["function"]["name"] for call in message.get("tool_calls", ())]


# --- what a chat holds -----------------------------------------------------------------------------------------------


def test_the_environments_are_all_there(demonstrations):
    assert {one.env_id for one in demonstrations} == set(COLLECTIONS["C8"])
    assert all(one.correct for one in demonstrations)


def test_every_call_has_its_result_right_after_it(demonstrations):
    for one in demonstrations:
        waiting = []
        for message in one.messages:
            if message["role"] == "tool":
                call = waiting.pop(0)
                assert (message["tool_call_id"], message["name"]) == (call["id"], call["function"]["name"])
            else:
                assert waiting == []
                waiting = list(message.get("tool_calls", ()))
        assert waiting == []


def test_every_turn_of_the_agent_is_a_call_and_the_last_one_answers(demonstrations):
    for one in demonstrations:
        turns = [message for message in one.messages if message["role"] == "assistant"]
        assert len(turns) == one.turns
        assert all(turn["tool_calls"] and turn["content"] == "" for turn in turns)
        assert calls_of(turns[-1])[-1] == "submit_answer"
        assert "done" not in turns[-1]["tool_calls"][-1]["function"]["arguments"]
        assert [message["role"] for message in one.messages[:3]] == ["system", "user", "assistant"]


def test_calls_come_in_the_order_in_which_they_run(demonstrations):
    places = {"ask_user": 1, "submit_answer": 2}
    orders = [[places.get(name, 0) for name in calls_of(message)] for one in demonstrations for message in one.messages]
    assert all(order == sorted(order) for order in orders)
    assert any({0, 1} <= set(order) for order in orders)


def test_a_model_that_says_what_the_chat_says_gets_what_the_chat_holds_and_the_same_reward(
    demonstrations, words_engine
):
    for one in demonstrations:
        env = Environment((one.env_id,), words_engine)
        observation, _ = env.reset(seed=one.seed, options={"difficulty": one.difficulty})
        assert one.messages[0]["content"] == env.system_prompt("native")
        assert one.tools == list(observation.tools)
        rest = one.messages[1:]
        total, over = 0.0, False
        while not over:
            come = [rest.pop(0) for _ in range(next(n for n, m in enumerate(rest) if m["role"] == "assistant"))]
            assert_shows(come, observation)
            observation, total, terminated, truncated, _ = env.step(rest.pop(0))
            over = terminated or truncated
        assert_shows(rest, observation)
        assert total == one.total


def assert_shows(messages, observation):
    """The messages of a chat show an observation, all of it, and nothing besides."""
    results = [json.dumps(m["result"], ensure_ascii=False) for m in observation.messages if m["role"] == "tool"]
    said = [message["content"] for message in observation.messages if message["role"] == "customer"]
    *contents, last = [message["content"] for message in messages]
    last, bracket, turns = last.rpartition("[turns left: ")
    assert bracket
    assert turns.startswith(str(observation.turns_left))
    shown = [text for text in [*contents, last.rstrip("\n")] if text and text != NO_REPLY]
    assert shown == results + said


def test_nothing_of_a_record_but_its_actions_gets_into_the_chat(all_records, demonstrations, words_engine):
    for record, honest in zip(all_records[:8], demonstrations, strict=False):
        forged = copy.deepcopy(record)
        canary = {"canary": "THE-HIDDEN-GOAL"}
        forged |= dict.fromkeys(("goal", "done", "ledger", "axes", "dropped_hazards", "player"), canary)
        for step in forged["steps"]:
            step |= {"canonical": canary, "tool_results": [canary], "shop": canary, "discount_reason": "canary"}
        assert demonstrate(forged, words_engine) == honest


# --- what is left out ------------------------------------------------------------------------------------------------


def forge(record, path, value):
    *way, last = path
    for part in way:
        record = record[part]
    record[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("reward", "total"), 1.0),
        (("reward", "correct"), False),
        (("reward", "parts", "turns"), 1),
        (("reward",), {}),
        (("seed",), 20002),
        (("seed",), "20005"),
        (("seed",), -1),
        (("difficulty",), 6),
        (("difficulty",), [7]),
        (("overrides",), {"noise": 0.0}),
        (("overrides",), {"no such axis": 1}),
        (("env_id",), "E_PD"),
        (("env_id",), "C8"),
        (("opening", "text"), "Hello, I want something else."),
        (("opening",), None),
        (("steps", 0, "customer", "text"), "All right, take the first one."),
        (("steps", -1, "customer"), None),
        (("steps", 0, "action"), {"assistant_message": "Hello?"}),
    ],
)
def test_a_record_that_was_tampered_with_is_left_out(cart_record, words_engine, path, value):
    forge(cart_record, path, value)
    assert reason_of(cart_record, words_engine) is Reason.DIFFERS


@pytest.mark.parametrize("change", [lambda steps: steps.pop(), lambda steps: steps.append(steps[0])])
def test_a_record_with_another_number_of_turns_is_left_out(cart_record, words_engine, change):
    change(cart_record["steps"])
    assert reason_of(cart_record, words_engine) is Reason.DIFFERS


def test_a_record_of_another_catalog_is_left_out(cart_record, words_engine):
    assert reason_of(cart_record, SearchEngine(generate(1000, seed=9))) is Reason.OTHER_CATALOG
    cart_record["catalog"]["search"] = "something else"
    assert reason_of(cart_record, words_engine) is Reason.OTHER_CATALOG


@pytest.mark.parametrize("action", ['{"tool_calls": [', {"unreadable": "no output"}, {"tool_calls": [{"name": "fly"}]}])
def test_an_episode_that_ends_invalidly_is_left_out(scripted, words_engine, action):
    record = scripted("E_CART", {"tool_calls": [SEARCH]}, action)
    assert record["reward"]["total"] == -1
    assert reason_of(record, words_engine) is Reason.INVALID


def test_an_episode_without_an_answer_is_left_out(scripted, words_engine):
    record = scripted("E_CART", "Hello.")
    assert reason_of(record, words_engine) is Reason.NO_ANSWER


def test_a_message_that_reads_as_json_is_said_by_a_call_only(scripted, words_engine):
    record = scripted("E_STATUS", {"assistant_message": '{"answer": {}}'}, LOOK_AT_ORDERS, {"answer": {}})
    assert demonstrate(record, words_engine, "ask_user").turns == len(record["steps"])
    assert reason_of(record, words_engine, talk="text") is Reason.NOT_SAYABLE


# --- the two ways to talk --------------------------------------------------------------------------------------------


def test_talking_in_plain_text_comes_to_the_same(all_records, demonstrations, words_engine):
    for record, by_call in zip(all_records[::2], demonstrations[::2], strict=True):
        by_text = demonstrate(record, words_engine, "text")
        assert (by_text.total, by_text.turns) == (by_call.total, by_call.turns)
        names = {name for message in by_text.messages for name in calls_of(message)}
        assert "ask_user" not in names
        said = [message["content"] for message in by_text.messages if message["role"] == "assistant"]
        assert said == [step["canonical"].get("assistant_message", "") for step in record["steps"]]


def test_a_draft_of_an_answer_stays_a_draft(scripted, words_engine):
    record = scripted("E_STATUS", {"answer": {"order_status": "x", "done": False}}, LOOK_AT_ORDERS, {"answer": {}})
    one = demonstrate(record, words_engine)
    call = next(message for message in one.messages if message["role"] == "assistant")["tool_calls"][0]["function"]
    assert call == {"name": "submit_answer", "arguments": {"done": False}}


def test_thoughts_and_dialects_are_gone(scripted, words_engine):
    thought = '<think>It is surely the first.</think>\n<tool_call>{"name": "order.list", "arguments": "{}"}</tool_call>'
    one = demonstrate(scripted("E_STATUS", thought, {"answer": {"done": True}}), words_engine)
    turn = next(message for message in one.messages if message["role"] == "assistant")
    assert turn["content"] == ""
    assert turn["tool_calls"][0]["function"] == {"name": "order_list", "arguments": {}}


def test_axes_set_apart_are_kept(record_of, words_engine):
    record = record_of(ReferenceAgent(), "E_CART", d=3, overrides={"noise": 0.0, "turn_budget": 9})
    assert demonstrate(record, words_engine).overrides == {"noise": 0.0, "turn_budget": 9}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=6).filter(lambda key: key != "done"), VALUES, max_size=3)
NAMES = st.from_regex(r"[a-z_]{1,12}", fullmatch=True).filter(lambda name: name not in ("ask_user", "submit_answer"))
ACTIONS = st.builds(
    Action,
    message=st.text(max_size=40).map(str.strip),
    tool_calls=st.lists(st.builds(ToolCall, NAMES, OBJECTS), max_size=3).map(tuple),
    answer=st.none() | OBJECTS,
).filter(lambda action: action.message or action.tool_calls or action.answer is not None)


@given(ACTIONS)
def test_whatever_an_agent_does_a_model_can_do_by_calls(action):
    message = said_natively(action, "ask_user")
    assert message["content"] == ""
    assert parse_action(message) == action
    assert parse_action(json.loads(json.dumps(message))) == action
