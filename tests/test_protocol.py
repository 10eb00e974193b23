"""Reading what agents put out, in every dialect, and showing them what came back."""

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecomrlve.prompts import system_prompt
from ecomrlve.protocol import Action, Observation, ToolCall, parse_action

# A busy machine may take its time over an example.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

SEARCH = ToolCall("catalog_search", {"query": "usb-c charger", "filters": {"price": {"le": 25}}})
FULL = Action("Here is what I found …", (SEARCH,), {"recommended_product_ids": ["p7k2m9qd"]})


# --- every dialect of one action -------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
# Prose that no dialect can take for something else.
prose = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='{}[]<>`"'), max_size=40).map(str.strip)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=4)
names = st.from_regex(r"[a-z]{1,8}(_[a-z]{1,8}){0,2}", fullmatch=True).filter(
    lambda name: name not in ("ask_user", "submit_answer")
)
answers = objects.map(lambda fields: {name: value for name, value in fields.items() if name != "done"})
tool_calls = st.lists(st.builds(ToolCall, names, objects), max_size=3).map(tuple)


def actions(messages=prose):
    built = st.builds(Action, messages, tool_calls, st.none() | answers)
    return built.filter(lambda action: action.canonical())


def hermes(action: Action, *, submit: bool = True) -> str:
    blocks = [{"name": call.name, "arguments": call.args} for call in action.tool_calls]
    if action.answer is not None and submit:
        blocks.append({"name": "submit_answer", "arguments": action.answer})
    return "\n".join([action.message, *(f"<tool_call>\n{json.dumps(block)}\n</tool_call>" for block in blocks)])


def openai(action: Action) -> dict:
    calls = [(call.name, call.args) for call in action.tool_calls]
    if action.answer is not None:
        calls.append(("submit_answer", {**action.answer, "done": True}))
    return {
        "role": "assistant",
        "content": action.message or None,
        "refusal": None,
        "tool_calls": [
            {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for i, (name, args) in enumerate(calls)
        ],
    }


def generous(action: Action) -> dict:
    result: dict = {"role": "assistant", "message": action.message}
    result["tool_calls"] = [
        {"name": call.name.replace("_", ".", 1), "arguments": json.dumps(call.args)} for call in action.tool_calls
    ]
    if action.answer is not None:
        result["answer"] = action.answer
    return result


@given(actions(texts.map(str.strip)))
def test_canonical_round_trip(action):
    assert parse_action(json.dumps(action.canonical())) == action
    assert parse_action(json.dumps(action.canonical(), ensure_ascii=False, indent=2)) == action
    assert parse_action(action.canonical()) == action
    assert parse_action(action) == action


@given(actions())
def test_all_dialects_of_an_action_are_equal(action):
    canonical = json.dumps(action.canonical())
    thinking = '<think>\nShould I say {"answer": 1} or <tool_call>?\n</think>\n\n'
    for raw in (
        generous(action),
        json.dumps(generous(action)),
        hermes(action),
        thinking + hermes(action),
        openai(action),
        {**openai(action), "content": thinking + action.message},
        {"role": "assistant", "content": canonical},
        {"role": "assistant", "content": hermes(action), "tool_calls": None},
        f"```json\n{canonical}\n```",
        f"Sure, here it is:\n```json\n{canonical}\n```\nIs that {{ok}}?",
        f"I answer {canonical} as asked.",
        f"{canonical}\n{canonical}",
        thinking + canonical,
    ):
        assert parse_action(raw) == action, raw


@given(actions(), st.randoms(use_true_random=False))
def test_order_of_keys_and_whitespace_change_nothing(action, random):
    def shuffle(value):
        if isinstance(value, dict):
            items = list(value.items())
            random.shuffle(items)
            return {key: shuffle(part) for key, part in items}
        return [shuffle(part) for part in value] if isinstance(value, list) else value

    raw = shuffle(action.canonical())
    if "assistant_message" in raw:
        raw["assistant_message"] = f" \n{raw['assistant_message']}\t "
    assert parse_action(f"\n\n  {json.dumps(raw, indent=3)}  \n") == action
    assert parse_action(raw) == action


def test_the_result_shares_nothing_with_what_was_read():
    raw = {"answer": {"ids": ["a"]}, "tool_calls": [{"name": "x", "args": {"list": [1]}}]}
    read = parse_action(raw)
    raw["answer"]["ids"].append("b")
    raw["tool_calls"][0]["args"]["list"].append(2)
    assert read == Action("", (ToolCall("x", {"list": [1]}),), {"ids": ["a"]})


def test_ask_user_and_submit_answer_are_message_and_answer():
    calls = [
        {"name": "ask_user", "args": {"question": " Which size? "}},
        {"name": "submit_answer", "args": {"selected_order_id": "o1"}},
        {"name": "ask.user", "args": {"question": "And colour?"}},
    ]
    expected = Action("Hello\nWhich size?\nAnd colour?", (), {"selected_order_id": "o1"})
    assert parse_action({"assistant_message": "Hello", "tool_calls": calls}) == expected
    assert parse_action("Hello " + "".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in calls)) == expected
    assert parse_action(Action("Hello", tuple(ToolCall(**call) for call in calls))) == expected


def test_done_counts_as_true_unless_it_is_false():
    for answer in ({}, {"done": True}):
        assert parse_action({"answer": answer}) == Action(answer={})
        assert parse_action({"answer": answer}).canonical() == {"answer": {"done": True}}
    draft = parse_action({"answer": {"recommended_product_ids": ["p1"], "done": False}})
    assert (draft.message, draft.tool_calls, draft.answer, draft.draft) == ("", (), None, True)
    assert parse_action(draft) == parse_action(json.dumps(draft.canonical())) == draft
    assert parse_action({"assistant_message": "Hi", "answer": {"done": False}}) == Action("Hi")
    assert parse_action({"tool_calls": [{"name": "submit_answer", "args": {"done": False}}]}) == draft
    both = {"answer": {"done": False}, "tool_calls": [{"name": "submit_answer", "args": {"policy_answer": 3}}]}
    assert parse_action(both) == Action(answer={"policy_answer": 3})


@pytest.mark.parametrize(
    "text",
    [
        "use {curly} braces",
        'the API gave {"status": "ok"} back',
        'a set {"a", "b"} and {"x": } and { "y"',
        "[Looking at the options] one moment",
        "[1, 2]",
        "42",
        '"quoted"',
        "true",
        "Thinking aloud: </think> done",
        "{".join(["a"] * 200),
        "Code: ```python\nprint({})\n```",
    ],
)
def test_prose_stays_prose(text):
    assert parse_action(text) == Action(text)
    assert parse_action({"role": "assistant", "content": text}) == Action(text)


def test_json_strings_may_hold_what_looks_like_another_dialect():
    for message in ("<tool_call>", "</tool_call>", "<think>a</think>b", "```json\n{}\n```", '{"answer": {}}', "[{"):
        action = Action(message, (ToolCall("x", {"q": message, message: 1}),), {"policy_answer": message})
        assert parse_action(json.dumps(action.canonical())) == action
        call = {"name": "x", "arguments": action.tool_calls[0].args}
        assert parse_action(f"<tool_call>{json.dumps(call)}</tool_call>").tool_calls == action.tool_calls


def test_generous_details():
    assert parse_action('{"assistant_message": "two\nlines"}') == Action("two\nlines")
    assert parse_action({"tool_calls": [{"name": "cart_view"}]}) == Action("", (ToolCall("cart_view", {}),))
    for nothing in (None, "", "{}", {}):
        assert parse_action({"tool_calls": [{"name": "cart_view", "arguments": nothing}]}).tool_calls[0].args == {}
    same = {"name": "x", "args": {"a": 1, "b": 2}, "arguments": '{"b": 2, "a": 1}'}
    assert parse_action({"tool_calls": [same]}).tool_calls == (ToolCall("x", {"a": 1, "b": 2}),)
    assert parse_action({"assistant_message": "Hi", "content": " Hi", "message": None}) == Action("Hi")
    assert parse_action('{"answer": {"a": 1, "a": 1}}') == Action(answer={"a": 1})
    assert parse_action({"content": "Hi", "reasoning_content": "x" * 200_000, "logprobs": [0.0] * 500}) == Action("Hi")
    assert parse_action(f"<think>{'x' * 200_000}</think>Hi") == Action("Hi")
    mixed = 'Sure. <tool_call>{"name": "cart_view"}</tool_call> {"answer": {}}'
    assert parse_action(mixed) == Action("", (ToolCall("cart_view", {}),), {})


# --- observations ----------------------------------------------------------------------------------------------------

TOOLS = (
    {
        "type": "function",
        "function": {"name": "ask_user", "description": "Ask.", "parameters": {"properties": {"question": {}}}},
    },
    {
        "type": "function",
        "function": {
            "name": "catalog_search",
            "description": "Search the catalog.\n\nLong explanation.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["query"],
            },
        },
    },
)
OBSERVATION = Observation(
    messages=(
        {"role": "customer", "content": "Ein Kabel für 5 €?"},
        {"role": "tool", "name": "cart_view", "args": {}, "result": {"lines": [], "total": 0.0}},
    ),
    turn=2,
    intent_turns_left=3,
    turns_left=5,
    tool_budget=3,
    search_depth=140,
    list_size=4,
    today="2025-03-14",
    env_id="E_PD",
    tools=TOOLS,
    answer_fields={
        "recommended_product_ids": {"type": "array", "items": {"type": "string"}, "description": "Best first."},
        "return_decision": {"anyOf": [{"type": "string", "enum": ["return", "exchange"]}, {"type": "null"}]},
    },
)


def test_observation_as_json():
    values = OBSERVATION.to_dict()
    assert json.loads(OBSERVATION.to_json()) == values
    assert set(values) == {field.name for field in dataclasses.fields(Observation)}
    assert "für 5 €".encode() in OBSERVATION.to_json()
    turned = {key: dict(reversed(part.items())) for key, part in (("answer_fields", OBSERVATION.answer_fields),)}
    assert dataclasses.replace(OBSERVATION, **turned).to_json() == OBSERVATION.to_json()
    values["tools"][0]["function"]["name"] = "changed"
    assert OBSERVATION.tools[0]["function"]["name"] == "ask_user"


def test_observation_as_chat():
    assert OBSERVATION.as_chat() == [
        {"role": "user", "content": "Ein Kabel für 5 €?"},
        {"role": "tool", "name": "cart_view", "content": '{"lines": [], "total": 0.0}'},
    ]


def test_system_prompt_holds_what_a_model_needs():
    prompt = system_prompt("Product Discovery", "Find what fits.", OBSERVATION)
    for part in ("Product Discovery", "Find what fits.", "5 turns", "3 tool calls", "140", "4 recomm", "2025-03-14"):
        assert part in prompt
    lines = prompt.splitlines()
    assert "- catalog_search(query, limit?): Search the catalog." in lines
    assert "Long explanation" not in prompt
    assert "- recommended_product_ids (list of strings): Best first." in lines
    assert "- return_decision (one of return, exchange)" in lines
    examples = [parse_action(line) for line in lines if line.startswith("{")]
    assert [call.name for call in examples[0].tool_calls] == ["catalog_search"]
    assert set(examples[0].tool_calls[0].args) == {"query"}
    assert set(examples[1].answer) == set(OBSERVATION.answer_fields)
    bare = system_prompt("Cart", "Fill it.", dataclasses.replace(OBSERVATION, tools=(), answer_fields={}))
    assert '{"answer": {"done": true}}' in bare.splitlines()
