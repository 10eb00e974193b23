"""What a language model is told before the first turn of an episode, in three dialects of the same action.

``json`` asks for one JSON object per turn and suits every model. ``native`` is for models that are given the tools by
their chat template or their server. ``hermes`` describes the tools in the text and asks for ``<tool_call>`` blocks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, get_args

from ecomrlve.errors import OptionError
from ecomrlve.protocol import NOT_TOOLS, Observation

Dialect = Literal["json", "native", "hermes"]
DIALECTS: tuple[str, ...] = get_args(Dialect)


def system_prompt(env_title: str, instructions: str, observation: Observation, dialect: str = "json") -> str:
    """The system message.

    Args:
        env_title: The environment's name for people.
        instructions: What the task asks for, in a few sentences.
        observation: The first observation: budgets, tools and answer fields are taken from it.
        dialect: How the model is to write its actions: ``json``, ``native`` or ``hermes``.

    Raises:
        OptionError: There is no such dialect.
    """
    if dialect not in DIALECTS:
        raise OptionError(f"there is no dialect {dialect!r}; there are {', '.join(DIALECTS)}")
    how = {"json": _json_actions, "native": _native_actions, "hermes": _hermes_actions}[dialect]
    what = {"json": _tools_in_short, "native": _nothing_more, "hermes": _tools_in_full}[dialect]
    return "\n".join(
        [
            f"You are the shopping assistant of an online shop. Task: {env_title}.",
            instructions.strip(),
            "",
            *how(observation),
            "",
            f"Limits: {observation.turns_left} turns, {observation.tool_budget} tool calls per turn, "
            f"{observation.search_depth} results per page, {observation.list_size} recommendations. "
            f"Today is {observation.today}.",
            "Use only ids that you were shown. Ask the customer for what you need to know; fewer turns score higher.",
            "The customer leaves after three turns in a row that bring nothing new.",
            *what(observation),
        ]
    )


def _json_actions(observation: Observation) -> list[str]:
    example: dict[str, Any] = {"assistant_message": "One moment, I am looking that up."}
    for function in _functions(observation):
        if function["name"] not in NOT_TOOLS:
            schema = function.get("parameters", {})
            needed = {name: schema["properties"][name] for name in schema.get("required", [])}
            example["tool_calls"] = [{"name": function["name"], "args": _placeholders(needed)}]
            break
    answer = {"answer": {**_placeholders(observation.answer_fields), "done": True}}
    return [
        "Each turn, reply with one JSON object. All three keys are optional, but one must be there. For example:",
        json.dumps(example, ensure_ascii=False),
        "Tool calls run first, then the customer reads assistant_message; you see results and reply next turn.",
        "When you are done, and only then, give your answer. It is final unless the customer adds something:",
        json.dumps(answer, ensure_ascii=False),
        "Native tool calls with the message as plain text are understood as well.",
    ]


def _native_actions(observation: Observation) -> list[str]:
    return [
        "Each turn, call tools, write to the customer, or both: the calls run first, then the customer reads what you "
        "wrote beside them, or what you ask with ask_user.",
        "When you are done, and only then, call submit_answer. It is final unless the customer adds something.",
    ]


def _hermes_actions(observation: Observation) -> list[str]:
    call = '<tool_call>\n{"name": "catalog_search", "arguments": {"query": "…"}}\n</tool_call>'
    return [
        "Each turn, call tools, write to the customer, or both. A call is one JSON object in a block of its own:",
        call,
        *_native_actions(observation)[1:],
        "Calls run first, then the customer reads what stands outside the blocks.",
    ]


def _nothing_more(observation: Observation) -> Sequence[str]:
    return ()


def _tools_in_full(observation: Observation) -> list[str]:
    return ["", "Tools:", *(json.dumps(function, ensure_ascii=False) for function in _functions(observation))]


def _tools_in_short(observation: Observation) -> list[str]:
    fields = [
        f"- {name} ({_kind(schema)}): {_first_line(schema)}".removesuffix(": ")
        for name, schema in observation.answer_fields.items()
        if name != "done"
    ]
    return [
        "",
        "Tools:",
        *(f"- {_signature(function)}: {_first_line(function)}" for function in _functions(observation)),
        "",
        "Fields of the answer:" if fields else "The answer has no fields but done.",
        *fields,
    ]


def _functions(observation: Observation) -> list[dict[str, Any]]:
    return [tool.get("function", tool) for tool in observation.tools]


def _signature(function: dict[str, Any]) -> str:
    schema = function.get("parameters", {})
    required = schema.get("required", [])
    names = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
    return f"{function['name']}({', '.join(names)})"


def _first_line(schema: dict[str, Any]) -> str:
    return str(schema.get("description", "")).strip().partition("\n")[0]


def _core(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, or the first alternative of an optional field."""
    alternatives = schema.get("anyOf")
    return alternatives[0] if alternatives else schema


def _kind(schema: dict[str, Any]) -> str:
    core = _core(schema)
    if core.get("enum"):
        return "one of " + ", ".join(str(choice) for choice in core["enum"])
    if core.get("type") == "array":
        return f"list of {core.get('items', {}).get('type', 'value')}s"
    return str(core.get("type", "value"))


def _placeholders(properties: dict[str, Any]) -> dict[str, Any]:
    shapes: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": ["…"], "object": {}}
    return {
        name: core["enum"][0] if core.get("enum") else shapes.get(core.get("type", ""), "…")
        for name, core in ((name, _core(schema)) for name, schema in properties.items())
        if name != "done"
    }
