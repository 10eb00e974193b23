"""A tool as an async method, with the signature and the docstring that libraries make its schema of.

Everything in it comes from the schema that the episode offers, so no second description of a tool exists.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal

# Answers are made by calling submit_answer at all.
LEFT_OUT = ("done",)

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict[str, Any],
}


def tool_method(function: Mapping[str, Any]) -> Callable[..., Any]:
    """The method of one tool: it takes the tool's arguments by name and hands them to ``self.rollout.call``.

    The arguments are not checked here, so that what the episode says about wrong ones is the last word.

    Args:
        function: The ``function`` entry of an OpenAI function schema.
    """
    name: str = function["name"]

    async def method(self: Any, **arguments: Any) -> str:
        return await self.rollout.call(name, arguments)

    parameters = [
        inspect.Parameter(
            argument,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if argument in function["parameters"]["required"] else None,
            annotation=_annotation(schema),
        )
        for argument, schema in _arguments(function).items()
    ]
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _docstring(function)
    # Without the return type: chat templates would print it.
    method.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    method.__signature__ = inspect.Signature([receiver, *parameters])  # type: ignore[attr-defined]
    return method


def _arguments(function: Mapping[str, Any]) -> dict[str, Any]:
    properties = function["parameters"]["properties"]
    return {name: schema for name, schema in properties.items() if name not in LEFT_OUT}


def _annotation(schema: Mapping[str, Any]) -> Any:
    """The Python type of a JSON schema, of those kinds that tools have."""
    if "anyOf" in schema:
        return functools.reduce(operator.or_, map(_annotation, schema["anyOf"]))
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if schema["type"] == "array":
        return list[_annotation(schema["items"])]  # type: ignore[misc]  # made at run time
    return _TYPES[schema["type"]]


def _docstring(function: Mapping[str, Any]) -> str:
    """A Google docstring, each argument on one line."""
    lines = [function["description"]]
    arguments = _arguments(function)
    if arguments:
        lines += ["", "Args:"]
        lines += [f"    {name}: {' '.join(schema['description'].split())}" for name, schema in arguments.items()]
    return "\n".join(lines)
