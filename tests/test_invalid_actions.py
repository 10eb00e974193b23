"""What is no action, why, and that nothing an agent puts out can hurt the reader."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecomrlve.errors import InvalidActionError
from ecomrlve.protocol import Action, parse_action

# A busy machine may take its time over an example.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def nested(levels: int) -> str:
    return '{"answer": {"a": ' + "[" * levels + "]" * levels + "}}"


def call_with(**fields):
    return {"tool_calls": [{"name": "x", **fields}]}


INVALID = {
    "nothing": ("", "empty"),
    "whitespace": (" \n\t", "empty"),
    "only thought": ("<think>hm</think>  ", "empty"),
    "no end of thought": ("<think>hm", "</think> never comes"),
    "empty object": ({}, "none of the keys"),
    "empty object as text": ("{}", "none of the keys"),
    "empties": ({"assistant_message": " ", "tool_calls": [], "answer": None}, "empty"),
    "empty question": (call_with(name="ask_user", args={"question": " "}), "empty"),
    "empty action": (Action(), "empty"),
    "unknown keys only": ({"role": "assistant", "refusal": "no"}, "none of the keys"),
    "a call without its wrapping": ('{"name": "cart_view", "arguments": {}}', "none of the keys"),
    "torn JSON": ('{"assistant_message": "Hi", "tool_ca', "begins as JSON"),
    "trailing comma": ('{"assistant_message": "Hi",}', "begins as JSON"),
    "single quotes": ("{'assistant_message': 'Hi'}", "begins as JSON"),
    "prose in braces": ("{curly} at the start", "begins as JSON"),
    "torn fence": ('```json\n{"assistant_message": "Hi"', "begins as JSON"),
    "a fence of something else": ("```python\nprint()\n```", "begins as JSON"),
    "torn JSON after prose": ('Sure: {"answer": {"policy_answer": 3', "cannot be read"),
    "list of calls": ('[{"name": "cart_view"}]', "not a list"),
    "list": (["a"], "not list"),
    "bytes": (b'{"answer": {}}', "not bytes"),
    "none": (None, "not NoneType"),
    "unclosed call": ('<tool_call>{"name": "cart_view"}', "not closed"),
    "torn call": ('Hi <tool_call>{"name": "cart_v', "does not hold a JSON object"),
    "call of prose": ("<tool_call>cart_view</tool_call>", "does not hold a JSON object"),
    "call of a list": ("<tool_call>[]</tool_call>", "does not hold a JSON object"),
    "two objects in a call": ('<tool_call>{"name": "a"}{"name": "b"}</tool_call>', "not closed"),
    "two objects": ('{"answer": {"a": 1}} {"answer": {"a": 2}}', "two different JSON objects"),
    "two objects in prose": ('or {"answer": {"a": 1}} or {"answer": {"a": true}}', "two different JSON objects"),
    "message type": ({"assistant_message": ["Hi"]}, "must be a string"),
    "calls type": ({"tool_calls": {"name": "x"}}, "must be a list"),
    "calls as text": ({"tool_calls": "cart_view"}, "must be a list"),
    "call type": ({"tool_calls": ["cart_view"]}, "must be an object"),
    "function type": ({"tool_calls": [{"function": "cart_view"}]}, "must be an object"),
    "no name": ({"tool_calls": [{"args": {}}]}, "no name"),
    "name type": (call_with(name=3), "no name"),
    "blank name": (call_with(name=" "), "no name"),
    "args type": (call_with(args=[1]), "must be an object"),
    "args number": (call_with(args=0), "must be an object"),
    "args not JSON": (call_with(args="query=x"), "not a JSON object"),
    "args and more": (call_with(arguments='{"a": 1} and'), "not a JSON object"),
    "args torn": (call_with(arguments='{"a": '), "not a JSON object"),
    "two args": (call_with(args={"a": 1}, arguments={"a": True}), "two different sets"),
    "answer type": ({"answer": ["p1"]}, "must be an object"),
    "answer text": ({"answer": "p1"}, "must be an object"),
    "done type": ({"answer": {"done": "yes"}}, "done must be"),
    "question missing": (call_with(name="ask_user"), "exactly one argument"),
    "question type": (call_with(name="ask_user", args={"question": 3}), "exactly one argument"),
    "question and more": (call_with(name="ask_user", args={"question": "a", "b": 1}), "exactly one argument"),
    "two messages": ({"assistant_message": "a", "content": "b"}, "two different messages"),
    "two answers": ({"answer": {}, **call_with(name="submit_answer")}, "more than one answer"),
    "NaN": ({"answer": {"policy_answer": float("nan")}}, "NaN"),
    "NaN as text": ('{"answer": {"policy_answer": NaN}}', "NaN"),
    "infinity in a list": (call_with(args={"a": [[float("inf")]]}), "NaN"),
    "infinity as text": ('{"answer": {"policy_answer": -Infinity}}', "NaN"),
    "infinity as a number": ('{"answer": {"policy_answer": 1e999}}', "NaN"),
    "NaN in arguments": (call_with(arguments='{"a": NaN}'), "NaN"),
    "large number": ('{"answer": {"policy_answer": 9223372036854775808}}', "64 bits"),
    "huge number": ('{"answer": {"policy_answer": ' + "9" * 9000 + "}}", "begins as JSON"),
    "1 MB of JSON": (json.dumps({"assistant_message": "a" * 2**20}), "64 KiB"),
    "1 MB in a dict": ({"assistant_message": "a" * 2**20}, "64 KiB"),
    "1 MB of prose": ("a " * 2**19, "64 KiB"),
    "64 KiB of two-byte letters": ("é" * 2**15 + "a", "64 KiB"),
    "many parts": (call_with(args={str(i): "a" * 1000 for i in range(70)}), "64 KiB"),
    "deep": (nested(49), "50 levels"),
    "deep arguments": (call_with(arguments=json.loads(nested(46))), "50 levels"),
    "deep arguments as text": (call_with(arguments='{"a":' * 60 + "1" + "}" * 60), "50 levels"),
    "10,000 brackets": ('{"answer":' + "[" * 10_000 + "]" * 10_000 + "}", "50 levels"),
    "100,000 brackets": ('{"answer":' + "[" * 100_000 + "]" * 100_000 + "}", "64 KiB"),
    "only brackets": ("[" * 10_000, "not a list"),
    "long list": ({"answer": {"ids": ["p"] * 101}}, "longer than 100"),
    "long list in args": (call_with(args={"a": {"b": [0] * 101}}), "longer than 100"),
    "many calls": ({"tool_calls": [{"name": "x"}] * 101}, "more than 100"),
    "many blocks": ('<tool_call>{"name": "x"}</tool_call>' * 101, "more than 100"),
    "key type": ({1: "a", "answer": {}}, "keys"),
    "deep key type": ({"answer": {"a": {1: 2}}}, "keys"),
    "a type that is not JSON's": ({"answer": {"a": {1, 2}}}, "not a type of JSON"),
    "bytes inside": (call_with(args={"a": b"x"}), "not a type of JSON"),
    "surrogate": ("Hi \ud800", "surrogate"),
    "surrogate in a dict": ({"assistant_message": "Hi \ud800"}, "surrogate"),
    "escaped surrogate": ('{"assistant_message": "\\ud800"}', "surrogate"),
    "surrogate in a key": ({"answer": {"\udfff": 1}}, "surrogate"),
    "surrogate in arguments": (call_with(arguments='{"a": "\\ud800"}'), "surrogate"),
    "conflicting keys": ('{"answer": {"a": 1}, "answer": {"a": 2}}', "comes twice"),
    "conflicting types": ('{"answer": {"a": 1, "a": true}}', "comes twice"),
}


@pytest.mark.parametrize(("raw", "reason"), INVALID.values(), ids=INVALID.keys())
def test_invalid_actions_say_why(raw, reason):
    began = time.perf_counter()
    with pytest.raises(InvalidActionError) as caught:
        parse_action(raw)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 200
    assert time.perf_counter() - began < 2


def test_the_limits_themselves_are_allowed():
    assert parse_action("a" * 2**16).message == "a" * 2**16
    assert parse_action("é" * 2**15).message == "é" * 2**15
    assert parse_action(nested(48)) == parse_action(json.loads(nested(48)))
    assert len(parse_action({"answer": {"ids": ["p"] * 100}}).answer["ids"]) == 100
    assert len(parse_action({"tool_calls": [{"name": "x"}] * 100}).tool_calls) == 100
    assert parse_action({"answer": {"a": 2**63 - 1, "b": -(2**63)}}).answer == {"a": 2**63 - 1, "b": -(2**63)}


def test_shared_and_circular_values_end():
    circle: list = []
    circle.append(circle)
    tree: object = 1
    for _ in range(40):
        tree = [tree, tree]
    for value in (circle, tree):
        with pytest.raises(InvalidActionError):
            parse_action({"answer": {"a": value}})


@given(
    st.sampled_from(['{"a":', '{"a":[', '{"', '{"\\"', '{\\"', "{", "{}", '{"a":1}', '{"a', "<think>", "```", '\\"{"'])
)
@settings(max_examples=20)
def test_text_full_of_false_starts_is_quick(piece):
    for tail in ('"",', "{},", "[],", "1,"):
        text = ("x " + piece * 40 + tail * 30_000)[: 2**16]
        began = time.perf_counter()
        try:
            parse_action(text)
            parse_action("x " + (piece * 30_000)[: 2**16 - 2])
        except InvalidActionError:
            pass
        assert time.perf_counter() - began < 3


shards = st.sampled_from(
    '{ } [ ] " : , \\ {} <think> </think> <tool_call> </tool_call> ```json ``` NaN 1 null é \ud800'.split(" ")
    + '"answer" "tool_calls" "assistant_message" "name" "args"'.split(" ")
    + ["\n", " "]
)
WORDS = "assistant_message content role tool_calls answer done name args arguments function question".split()
words = st.sampled_from([*WORDS, "assistant", "ask_user", "submit_answer"])


def trees(leaves, keys):
    return st.recursive(
        words | leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=15,
    )


json_leaves = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
anything = trees(json_leaves | st.floats() | st.binary(max_size=5), words | st.text(max_size=3) | st.integers())
json_objects = st.dictionaries(words, trees(json_leaves, words | st.text(max_size=3)), max_size=5)


@given(st.text() | st.lists(shards, max_size=30).map("".join) | st.binary() | anything | json_objects)
@settings(max_examples=500)
def test_any_input_is_an_action_or_invalid(raw):
    try:
        action = parse_action(raw)
    except InvalidActionError:
        return
    assert parse_action(action) == action
    assert parse_action(json.dumps(action.canonical())) == action


@given(json_objects)
def test_a_dict_and_its_text_are_read_alike(raw):
    outcomes = []
    for form in (raw, json.dumps(raw)):
        try:
            outcomes.append(parse_action(form))
        except InvalidActionError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
