"""A tool is one typed, documented function; everything else about it is derived from that.

Its name, the JSON schema a model sees, the validation of arguments, the form in the Space and the text of the prompt
all come from the signature and the Google docstring. No second description exists.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ecomrlve.errors import InvalidActionError, Refused, short
from ecomrlve.shop.world import World

REGISTRY: dict[str, Tool] = {}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that agents can call.

    Attributes:
        name: What agents call.
        description: First paragraph of the docstring.
        function: Takes the world and the arguments, returns JSON, may raise `Refused`.
        arguments: The pydantic model of the arguments.
        schema: OpenAI function schema.
    """

    name: str
    description: str
    function: Callable[..., dict[str, Any]]
    arguments: type[BaseModel]
    schema: dict[str, Any]

    def validate(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Check the arguments' names and types.

        Raises:
            InvalidActionError: Missing, unknown or of the wrong type.
        """
        try:
            model = self.arguments.model_validate(dict(args))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in problem["loc"]) or "arguments"
            raise InvalidActionError(f"{self.name}: {short(place)}: {problem['msg']}") from error
        return {name: getattr(model, name) for name in type(model).model_fields}

    def call(self, world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run the tool on validated arguments; a refusal is a result, and leaves the world as it was."""
        try:
            return self.function(world, **arguments)
        except Refused as refusal:
            return refusal.as_result()
        finally:
            world.end_call()


def tool(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Register a function as a tool; its first parameter is the world."""
    REGISTRY[function.__name__] = make_tool(function)
    return function


def make_tool(function: Callable[..., dict[str, Any]], *, skip: int = 1) -> Tool:
    """Derive a tool from a function; the first `skip` parameters are not the agent's."""
    hints = typing.get_type_hints(function, include_extras=True)
    description, docs = parse_docstring(inspect.getdoc(function) or "")
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    fields: dict[str, Any] = {}
    for parameter in parameters:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=docs[parameter.name]),
        )
    model = create_model(f"{function.__name__}_arguments", __config__=ConfigDict(strict=True, extra="forbid"), **fields)
    schema = {
        "type": "function",
        "function": {"name": function.__name__, "description": description, "parameters": plain_schema(model)},
    }
    return Tool(function.__name__, description, function, model, schema)


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a Google docstring into its first paragraph and the texts of its arguments."""
    first = " ".join(text.split("\n\n")[0].split())
    docs: dict[str, str] = {}
    inside, name = False, ""
    for line in text.splitlines():
        if line.strip() == "Args:":
            inside = True
        elif inside and line.strip().endswith(":") and not line.startswith(" "):
            inside = False
        elif inside and line.startswith("    ") and not line.startswith("     ") and ":" in line:
            name, rest = line.strip().split(":", 1)
            docs[name] = rest.strip()
        elif inside and line.strip() and name:
            docs[name] += " " + line.strip()
    return first, docs


@cache
def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """A model's JSON schema without pydantic's titles and with optional types unwrapped: short, as prompts need it."""
    schema = model.model_json_schema()
    properties = {}
    for name, entry in schema.get("properties", {}).items():
        entry.pop("title", None)
        options = entry.pop("anyOf", None)
        if options:
            kept = [option for option in options if option.get("type") != "null"]
            entry = {**kept[0], **entry} if len(kept) == 1 else {"anyOf": kept, **entry}
            if entry.get("default", 0) is None:
                del entry["default"]
        properties[name] = entry
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}
