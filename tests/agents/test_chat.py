"""The chat that a language model is shown: every call gets its result, and what is left out is the oldest."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.chat import DROPPED, NO_REPLY, ContextError, Conversation, assistant_message, split_thought
from ecomrlve.environment import Environment
from ecomrlve.errors import InvalidActionError
from ecomrlve.protocol import Observation, parse_action

TOOLS = ("catalog_search", "cart_view", "datetime_now")


def observed(
    results: list[tuple[str, Any]] = (), said: str = "", turns_left: int = 5, here: int | None = None
) -> Observation:
    messages = [{"role": "tool", "name": name, "args": {}, "result": result} for name, result in results]
    messages += [{"role": "customer", "content": said}] if said else []
    return Observation(
        tuple(messages), 0, turns_left, turns_left if here is None else here, 3, 10, 3, "2026-01-01", "E_CART", (), {}
    )


def call(name: str, arguments: Any = None) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments or {}}}


def roles(chat: Conversation) -> list[str]:
    return [message["role"] for message in chat.messages]


def check_shape(chat: Conversation) -> None:
    """Every call has exactly one result, right behind it; nobody speaks twice in a row but the tools."""
    waiting: list[tuple[str, str]] = []
    assert roles(chat)[0] == "system"
    for before, message in zip(chat.messages, chat.messages[1:], strict=False):
        if message["role"] == "tool":
            assert waiting.pop(0) == (message["tool_call_id"], message["name"])
            continue
        assert not waiting
        assert message["role"] in ("user", "assistant")
        assert message["role"] != before["role"]
        calls = message.get("tool_calls", [])
        waiting = [(one["id"], one["function"]["name"]) for one in calls]
    assert not waiting


def begun() -> Conversation:
    chat = Conversation("Sell.")
    chat.hear(observed(said="I need a lamp."))
    return chat


# --- what is heard ---------------------------------------------------------------------------------------------------


def test_it_begins_with_the_system_message_and_the_opening():
    assert begun().messages == [
        {"role": "system", "content": "Sell."},
        {"role": "user", "content": "I need a lamp.\n[turns left: 5]"},
    ]


def test_a_model_that_only_talks_has_a_plain_chat():
    chat = begun()
    chat.say({"content": "What colour?"})
    chat.hear(observed(said="Red.", turns_left=4))
    assert chat.messages[2:] == [
        {"role": "assistant", "content": "What colour?"},
        {"role": "user", "content": "Red.\n[turns left: 4]"},
    ]


def test_fewer_turns_for_the_current_request_are_told():
    chat = Conversation("")
    chat.hear(observed(said="Hi", turns_left=9, here=4))
    assert chat.messages[-1]["content"] == "Hi\n[turns left: 9, 4 of them for this request]"


def test_results_go_to_their_calls_and_the_customer_speaks_after_them():
    chat = begun()
    chat.say({"content": "One moment.", "tool_calls": [call("catalog_search"), call("cart_view")]})
    chat.hear(observed([("catalog_search", {"a": 1}), ("cart_view", {"b": "ü"})], said="Fine."))
    calls = chat.messages[2]["tool_calls"]
    assert [(message["role"], message["content"]) for message in chat.messages[3:]] == [
        ("tool", '{"a": 1}'),
        ("tool", '{"b": "ü"}'),
        ("user", "Fine.\n[turns left: 5]"),
    ]
    assert [message["tool_call_id"] for message in chat.messages[3:5]] == [one["id"] for one in calls]


def test_what_the_customer_replies_is_the_result_of_asking():
    chat = begun()
    chat.say({"content": None, "tool_calls": [call("ask_user", {"question": "Size?"}), call("cart_view")]})
    chat.hear(observed([("cart_view", {})], said="Large."))
    assert [message["content"] for message in chat.messages[3:]] == ["Large.", "{}\n[turns left: 5]"]
    assert roles(chat)[3:] == ["tool", "tool"]


def test_one_more_thing_is_the_result_of_a_hasty_answer():
    chat = begun()
    chat.say({"content": "", "tool_calls": [call("ask_user", {"question": "Ok?"}), call("submit_answer")]})
    chat.hear(observed(said="One more thing …"))
    assert [message["content"] for message in chat.messages[3:]] == [NO_REPLY, "One more thing …\n[turns left: 5]"]


def test_a_turn_without_any_reply_still_says_how_many_turns_are_left():
    chat = begun()
    chat.say({"content": '{"answer": {"done": false}}'})
    chat.hear(observed())
    assert chat.messages[-1] == {"role": "user", "content": "[turns left: 5]"}


def test_results_of_calls_that_were_written_as_json_come_as_text():
    chat = begun()
    chat.say({"content": '{"tool_calls": [{"name": "cart_view", "args": {}}]}'})
    chat.hear(observed([("cart_view", {"items": []})], said="Nice."))
    expected = 'Result of cart_view: {"items": []}\nCustomer: Nice.\n[turns left: 5]'
    assert chat.messages[3:] == [{"role": "user", "content": expected}]


def test_calls_as_json_run_before_native_ones_so_their_results_come_first():
    chat = begun()
    raw = {
        "role": "assistant",
        "content": '{"tool_calls": [{"name": "cart_view", "args": {}}]}',
        "tool_calls": [call("datetime_now")],
    }
    assert [one.name for one in parse_action(raw).tool_calls] == ["cart_view", "datetime_now"]
    chat.say(raw)
    chat.hear(observed([("cart_view", {"items": []}), ("datetime_now", {"date": "d"})]))
    assert [message["content"] for message in chat.messages[3:]] == [
        '{"date": "d"}',
        'Result of cart_view: {"items": []}\n[turns left: 5]',
    ]


# --- what is said ----------------------------------------------------------------------------------------------------


def test_names_and_arguments_are_kept_in_one_form():
    chat = begun()
    text_arguments = {"function": {"name": " catalog.search ", "arguments": '{"query": "lamp"}'}}
    chat.say({"content": "", "tool_calls": [text_arguments, {"name": "cart_view", "args": {}}]})
    functions = [one["function"] for one in chat.messages[-1]["tool_calls"]]
    assert functions == [
        {"name": "catalog_search", "arguments": {"query": "lamp"}},
        {"name": "cart_view", "arguments": {}},
    ]
    identifiers = [one["id"] for one in chat.messages[-1]["tool_calls"]]
    assert all(len(one) == 9 and one.isalnum() for one in identifiers)
    assert len(set(identifiers)) == 2


def test_thoughts_are_not_kept():
    chat = begun()
    chat.say(assistant_message("<think>\nHm.\n</think>\nHello"))
    assert chat.messages[-1] == {"role": "assistant", "content": "Hello"}


@pytest.mark.parametrize(
    "message",
    [
        {}, {"content": 3}, {"content": None, "tool_calls": None}, {"tool_calls": "x"}, {"tool_calls": [1, None]},
        {"tool_calls": [{"function": "x"}]}, {"tool_calls": [{"function": {"name": 1, "arguments": [1]}}]},
        {"tool_calls": [{"function": {"name": "a", "arguments": "[" * 100_000}}]},
        {"tool_calls": [{"function": {"name": "a", "arguments": '{"a": NaN}'}}]},
        {"tool_calls": [{"name": "cart_view", "arguments": ""}]},
    ],
)  # fmt: skip
def test_a_malformed_message_breaks_nothing(message: dict[str, Any]):
    chat = begun()
    chat.say(message)
    chat.hear(observed(said="What?"))
    check_shape(chat)


# --- raw text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        ("Hello", "Hello", []),
        ('<tool_call>\n{"name": "cart.view", "arguments": {"q": 1}}\n</tool_call>', "", [("cart_view", {"q": 1})]),
        (
            'A\n<tool_call>{"name": "a", "arguments": {}}</tool_call>B<tool_call>{"name": "b"}</tool_call>\nC ',
            "A\nB\nC",
            [("a", {}), ("b", {})],
        ),
        (
            '<think>x</think><tool_call>{"name": "a", "arguments": {"t": "</tool_call> </think>"}}</tool_call>',
            "",
            [("a", {"t": "</tool_call> </think>"})],
        ),
        ('<tool_call>{"name": "a", "arguments": {"t": "</think>"}}</tool_call>', "", [("a", {"t": "</think>"})]),
        ('<tool_call>{"name": "a", "arguments": "{}"}</tool_call>', "", [("a", {})]),
        ('A <tool_call>{"name": }</tool_call>', 'A <tool_call>{"name": }</tool_call>', []),
        ('<tool_call>{"name": "a"} x</tool_call>', '<tool_call>{"name": "a"} x</tool_call>', []),
        ('<tool_call>{"name": "a"}', '<tool_call>{"name": "a"}', []),
        (
            '{"message": "<tool_call>{\\"name\\": \\"a\\"}</tool_call>"}',
            '{"message": "<tool_call>{\\"name\\": \\"a\\"}</tool_call>"}',
            [],
        ),
    ],
)
def test_calls_are_taken_out_of_raw_text(text: str, content: str, calls: list[tuple[str, Any]]):
    message = assistant_message(text)
    found = [(one["function"]["name"], one["function"]["arguments"]) for one in message.get("tool_calls", [])]
    assert (message["content"], found) == (content, calls)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", ("", "Hello")),
        ("<think>\na\n</think>\n\nHello", ("a", "Hello")),
        ("<think></think>Hello", ("", "Hello")),
        ("a\n</think>\nHello", ("a", "Hello")),
        ("<think>never closed", ("", "<think>never closed")),
        ("Hello <think>a</think>", ("", "Hello <think>a</think>")),
        ('{"message": "</think>"}', ("", '{"message": "</think>"}')),
        ("<think>a</think>b</think>c", ("a", "b</think>c")),
    ],
)
def test_a_leading_thought_is_split_off(text: str, expected: tuple[str, str]):
    assert split_thought(text) == expected


PIECES = st.sampled_from([
    "Hello. ", "\n", "<think>", "</think>", "<tool_call>", "</tool_call>", '{"name": "cart_view", "arguments": {}}',
    '{"name": "ask_user", "arguments": {"question": "Size?"}}', '{"answer": {"done": true}}', "{", "}", "```json\n",
    '{"tool_calls": [{"name": "cart_view"}]}', '"',
])  # fmt: skip


@given(st.lists(PIECES, max_size=8).map("".join))
def test_text_that_is_an_action_is_the_same_action_as_a_message(text: str):
    try:
        action = parse_action(text)
    except InvalidActionError:
        return
    message = assistant_message(text)
    message.pop("reasoning_content", None)
    calls = [name for one in message.get("tool_calls", []) if (name := one["function"]["name"]) in TOOLS]
    ran = [one.name for one in action.tool_calls]
    # The calls taken out are the last that run; those before them stood as JSON in the text.
    assert ran[len(ran) - len(calls) :] == calls


# --- whole chats -----------------------------------------------------------------------------------------------------

TURN = st.fixed_dictionaries({
    "calls": st.lists(st.sampled_from([*TOOLS, "ask_user", "submit_answer"]), max_size=4),
    "in_text": st.integers(0, 2),
    "said": st.sampled_from(["", "Yes.", "I would like it in red, please, and large."]),
    "size": st.sampled_from([0, 5, 200, 1000]),
})  # fmt: skip


def chat_of(turns: list[dict[str, Any]]) -> Conversation:
    """A chat of such turns; every result holds its own number."""
    chat = begun()
    numbers = iter(range(1000))
    for turn in turns:
        native = [name for name in turn["calls"] if name in TOOLS]
        text = json.dumps({"tool_calls": [{"name": "cart_view"}] * turn["in_text"]}) if turn["in_text"] else "Well …"
        chat.say({"content": text, "tool_calls": [call(name) for name in turn["calls"]]})
        names = ["cart_view"] * turn["in_text"] + native
        results = [(name, {"number": f"<{next(numbers)}>", "fill": "x" * turn["size"]}) for name in names]
        chat.hear(observed(results, said=turn["said"]))
    return chat


def everything(chat: Conversation) -> str:
    return "\n".join(message["content"] for message in chat.messages if message["role"] != "assistant")


def characters(messages: list[dict[str, Any]]) -> int:
    return len(json.dumps(messages))


@given(st.lists(TURN, max_size=6))
def test_every_call_has_a_result_and_everything_is_heard_once(turns: list[dict[str, Any]]):
    chat = chat_of(turns)
    check_shape(chat)
    text = everything(chat)
    results = sum(turn["in_text"] + sum(name in TOOLS for name in turn["calls"]) for turn in turns)
    assert [text.count(f"<{number}>") for number in range(results + 1)] == [1] * results + [0]
    assert text.count("in red, please") == sum("red" in turn["said"] for turn in turns)
    assert text.count("[turns left") == len(turns) + 1


@given(st.lists(TURN, max_size=6), st.integers(0, 12_000))
def test_a_chat_is_made_to_fit_by_leaving_out_what_is_oldest(turns: list[dict[str, Any]], limit: int):
    chat, whole = chat_of(turns), chat_of(turns)
    newest = max((n for n, role in enumerate(roles(whole)) if role == "assistant"), default=1)
    counted: list[int] = []

    def count(messages: list[dict[str, Any]]) -> int:
        counted.append(characters(messages))
        return counted[-1]

    try:
        assert chat.fit(limit, count) == counted[-1] == characters(chat.messages) <= limit
    except ContextError:
        assert characters(chat.messages) > limit
        assert roles(chat).count("assistant") <= 1
    check_shape(chat)
    assert chat.messages[:2] == whole.messages[:2]
    assert chat.messages[len(chat.messages) - len(whole.messages) + newest :] == whole.messages[newest:]
    if characters(whole.messages) <= limit:
        assert (chat.messages, chat.dropped_results, chat.dropped_turns) == (whole.messages, 0, 0)
    older = chat.messages[: len(chat.messages) - len(whole.messages) + newest]
    if chat.dropped_turns:  # all results went before the first turn
        assert all("xxxxxx" * 20 not in message["content"] for message in older)
    else:
        assert len(chat.messages) == len(whole.messages)
        assert everything(chat).count(DROPPED) == chat.dropped_results
        assert everything(chat).count("in red, please") == everything(whole).count("in red, please")
        long = re.findall(r"<(\d+)>.{,20}x{200}", everything(whole))
        assert [number for number in long if f"<{number}>" in everything(chat)] == long[chat.dropped_results :]


def test_a_chat_that_was_made_to_fit_goes_on():
    chat = chat_of([{"calls": ["cart_view"], "in_text": 1, "said": "Yes.", "size": 1000}] * 3)
    chat.fit(4000, characters)
    assert (chat.dropped_results, chat.dropped_turns) == (4, 0)
    chat.say({"content": "And now?"})
    chat.hear(observed(said="Bye."))
    chat.fit(2800, characters)
    assert (chat.dropped_results, chat.dropped_turns) == (5, 0)
    chat.fit(1500, characters)
    assert (chat.dropped_results, chat.dropped_turns) == (6, 1)
    assert chat.messages[-1]["content"].startswith("Bye.")


def test_a_long_chat_is_not_counted_for_each_result_that_goes():
    chat = chat_of([{"calls": list(TOOLS), "in_text": 0, "said": "", "size": 1000}] * 100)
    counted = []

    def count(messages: list[dict[str, Any]]) -> int:
        counted.append(1)
        return characters(messages) // 4

    chat.fit(20_000, count)
    assert chat.dropped_results > 200
    assert len(counted) < 20


# --- real episodes ---------------------------------------------------------------------------------------------------


def test_a_real_hasty_answer_gets_what_was_missing(words_engine: Any):
    env = Environment(("E_PD",), words_engine)
    observation, _ = env.reset(seed=3, options={"difficulty": 6})
    chat = Conversation(env.system_prompt("native"), observation.tools)
    chat.hear(observation)
    text = '<tool_call>{"name": "submit_answer", "arguments": {"recommended_product_ids": []}}</tool_call>'
    observation, _, terminated, _, _ = env.step(text)
    assert not terminated
    chat.say(assistant_message(text))
    chat.hear(observation)
    check_shape(chat)
    said = env.episode.steps[0]["customer"]["text"]
    assert chat.messages[-1]["role"] == "tool"
    assert chat.messages[-1]["content"] == f"{said}\n[turns left: {observation.turns_left}]"


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("env_id", ["E_CART", "E_RETURN", "E_JOURNEY"])
def test_a_reference_episode_is_told_in_full(words_engine: Any, env_id: str, native: bool):
    from ecomrlve.agents.reference import ReferenceAgent

    env = Environment((env_id,), words_engine)
    observation, _ = env.reset(seed=1, options={"difficulty": 6})
    agent = ReferenceAgent()
    agent.reset(env)
    chat = Conversation(env.system_prompt("native" if native else "json"), observation.tools)
    chat.hear(observation)
    while not env.episode.over:
        action = parse_action(agent.act(observation))
        message: dict[str, Any] = {"role": "assistant", "content": json.dumps(action.canonical())}
        if native:
            calls = [call(one.name, one.args) for one in action.tool_calls]
            calls += [call("submit_answer", action.answer)] if action.answer is not None else []
            message = {"role": "assistant", "content": action.message, "tool_calls": calls}
        observation, *_ = env.step(message)
        chat.say(message)
        chat.hear(observation)
    check_shape(chat)
    assert env.episode.reward is not None
    assert env.episode.reward.correct
    text = everything(chat)
    for step in env.episode.steps:
        assert all(json.dumps(result["result"], ensure_ascii=False) in text for result in step["tool_results"])
        assert not step["customer"] or step["customer"]["text"] in text
    assert ("tool" in roles(chat)) == native
