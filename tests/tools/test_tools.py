"""Tools: one description each, strict types, refusals that say what is wrong, and short results."""

from __future__ import annotations

import inspect
import json
import re
import typing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.errors import InvalidActionError
from ecomrlve.tools import REGISTRY
from ecomrlve.tools.base import make_tool, parse_docstring

NAMES = sorted(REGISTRY)
# The tools of the shop, with their arguments in order; a question mark stands for "optional".
SIGNATURES = {
    "catalog_search": "query filters? sort? limit? page?",
    "catalog_get_product": "product_id",
    "catalog_get_variants": "product_id",
    "catalog_rerank": "query product_ids",
    "catalog_similar": "product_id filters? limit? page?",
    "cart_add": "product_id variant_id? qty?",
    "cart_update": "product_id qty variant_id?",
    "cart_remove": "product_id variant_id?",
    "cart_view": "",
    "order_list": "page? status? since?",
    "order_get": "order_id",
    "order_track": "order_id",
    "return_check_eligibility": "order_id line_id",
    "return_initiate": "order_id line_id reason method",
    "return_exchange": "order_id line_id reason new_product_id new_variant_id?",
    "return_cancel": "return_id",
    "policy_search": "query limit?",
    "policy_get": "policy_id",
    "user_get_profile": "",
    "user_get_visit_history": "limit?",
    "datetime_now": "",
}
EVERY_ARGUMENT = [(name, argument) for name in NAMES for argument in REGISTRY[name].arguments.model_fields]


def parameters(name: str) -> dict[str, Any]:
    return REGISTRY[name].schema["function"]["parameters"]


def example(schema: dict[str, Any]) -> Any:
    """A value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    return {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}[schema["type"]]


def needed(name: str) -> dict[str, Any]:
    """The least arguments of a tool that its schema allows."""
    schema = parameters(name)
    return {key: example(schema["properties"][key]) for key in schema["required"]}


def allows(schema: dict[str, Any], value: Any) -> bool:
    """Whether a JSON schema, of the few words that tools use, allows a value."""
    if "anyOf" in schema:
        return any(allows(option, value) for option in schema["anyOf"])
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
    kind = kinds[schema["type"]]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return False
    if schema["type"] == "array":
        return len(value) <= schema.get("maxItems", 100) and all(allows(schema["items"], item) for item in value)
    return True


def is_invalid(name: str, args: dict[str, Any]) -> str:
    """Why arguments are no valid call."""
    with pytest.raises(InvalidActionError) as caught:
        REGISTRY[name].validate(args)
    return str(caught.value)


# --- descriptions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_tools_of_the_contract_are_there_with_their_arguments(name):
    schema = parameters(name)
    found = [key if key in schema["required"] else f"{key}?" for key in schema["properties"]]
    assert found == SIGNATURES[name].split()


def test_there_are_no_tools_besides():
    assert sorted(SIGNATURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_described_and_nothing_else_is(name):
    tool = REGISTRY[name]
    description, docs = parse_docstring(inspect.getdoc(tool.function) or "")
    own = list(inspect.signature(tool.function).parameters)[1:]
    assert sorted(docs) == sorted(own)
    assert all(len(text) >= 8 and text.endswith(".") for text in [description, *docs.values()])
    assert tool.description == description
    assert {key: entry["description"] for key, entry in parameters(name)["properties"].items()} == docs


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_an_openai_function(name):
    tool = REGISTRY[name]
    assert set(tool.schema) == {"type", "function"}
    assert tool.schema["type"] == "function"
    function = tool.schema["function"]
    assert set(function) == {"name", "description", "parameters"}
    assert function["name"] == tool.name == name
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
    schema = function["parameters"]
    assert schema["type"] == "object"
    assert set(schema["required"]) <= set(schema["properties"])
    for entry in schema["properties"].values():
        check_schema(entry)
        assert entry["description"]
    assert json.loads(json.dumps(tool.schema)) == tool.schema


def check_schema(schema: dict[str, Any]) -> None:
    """It is a JSON schema of known words, complete in itself, and without titles or nulls that cost tokens."""
    known = {
        "type", "description", "default", "enum", "items", "maxItems", "minItems", "anyOf", "additionalProperties",
        "minimum", "maximum", "format", "properties", "required",
    }  # fmt: skip
    assert set(schema) <= known
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            check_schema(option)
        return
    assert schema["type"] in ("string", "integer", "number", "boolean", "array", "object")
    if schema["type"] == "array":
        check_schema(schema["items"])
    if "default" in schema:
        assert allows({key: value for key, value in schema.items() if key != "default"}, schema["default"])


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_and_the_function_say_the_same(name):
    tool = REGISTRY[name]
    own = list(inspect.signature(tool.function).parameters.values())[1:]
    schema = parameters(name)
    assert list(schema["properties"]) == [parameter.name for parameter in own]
    assert schema["required"] == [p.name for p in own if p.default is inspect.Parameter.empty]
    defaults = {p.name: p.default for p in own if p.default not in (inspect.Parameter.empty, None)}
    assert {key: entry["default"] for key, entry in schema["properties"].items() if "default" in entry} == defaults
    hints = typing.get_type_hints(tool.function)
    assert hints.pop("return", None) == dict[str, Any]
    assert len(hints) == 1 + len(own)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_schema_needs_is_enough_and_the_rest_gets_its_default(name):
    own = list(inspect.signature(REGISTRY[name].function).parameters.values())[1:]
    args = needed(name)
    expected = {p.name: args.get(p.name, p.default) for p in own}
    assert REGISTRY[name].validate(args) == expected


# --- strict types ------------------------------------------------------------------------------------------------

WRONG = {
    "integer": ["3", "", True, False, 1.5, None, [3], {"a": 3}, "three"],
    "number": ["3", True, None, [3.5]],
    "string": [3, 1.5, True, None, ["x"], {"a": "x"}],
    "array": ["p0000000", "[]", "", None, 5, {"a": "b"}, ("x",), ["x"] * 101, [1], [None], [["x"]], [True]],
    "object": ["price < 5", "{}", [], [["price", 5]], 5, True],
    "boolean": ["true", 1, 0, None, "yes"],
}


@pytest.mark.parametrize(("name", "argument"), EVERY_ARGUMENT)
def test_an_argument_of_the_wrong_type_is_invalid(name, argument):
    schema = parameters(name)["properties"][argument]
    optional = argument not in parameters(name)["required"] and "default" not in schema
    for value in WRONG[schema["type"]]:
        if value is None and optional:  # null stands for "not given"
            assert REGISTRY[name].validate({**needed(name), argument: None})[argument] is None
        else:
            why = is_invalid(name, {**needed(name), argument: value})
            assert why.startswith(f"{name}: {argument}")


@pytest.mark.parametrize(
    ("name", "argument"), [pair for pair in EVERY_ARGUMENT if "enum" in parameters(pair[0])["properties"][pair[1]]]
)
def test_a_word_that_is_none_of_the_choices_is_invalid(name, argument):
    for value in ("", "nothing of the kind", parameters(name)["properties"][argument]["enum"][0].upper()):
        is_invalid(name, {**needed(name), argument: value})


@pytest.mark.parametrize(("name", "argument"), [(n, a) for n, a in EVERY_ARGUMENT if a in parameters(n)["required"]])
def test_a_missing_argument_is_invalid(name, argument):
    args = needed(name)
    del args[argument]
    assert argument in is_invalid(name, args)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("extra", ["world", "self", "Query", "product", "", "limit_", "model_config"])
def test_an_unknown_argument_is_invalid(name, extra):
    assert extra in is_invalid(name, {**needed(name), extra: 1})


def test_a_list_of_a_hundred_is_the_longest():
    assert (
        len(REGISTRY["catalog_rerank"].validate({"query": "x", "product_ids": ["p0000000"] * 100})["product_ids"])
        == 100
    )
    assert "100" in is_invalid("catalog_rerank", {"query": "x", "product_ids": ["p0000000"] * 101})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200)
@given(pair=st.sampled_from(EVERY_ARGUMENT), value=JSON)
def test_validation_allows_exactly_what_the_schema_allows(pair, value):
    name, argument = pair
    schema = parameters(name)["properties"][argument]
    optional = argument not in parameters(name)["required"] and "default" not in schema
    args = {**needed(name), argument: value}
    if allows(schema, value) or (value is None and optional):
        assert REGISTRY[name].validate(args)[argument] == value
    else:
        is_invalid(name, args)


def test_a_tool_is_derived_from_its_function_alone():
    def weigh(world: Any, item: str, precise: bool = False, note: str | None = None) -> dict[str, Any]:
        """Weigh
        an item.

        It uses the scales of the shop: the good ones.

        Args:
            item: What to weigh: one
                thing only.
            precise: Whether to be careful.
            note: A remark.

        Returns:
            item: no argument.
        """
        return {}

    tool = make_tool(weigh)
    assert tool.schema["function"] == {
        "name": "weigh",
        "description": "Weigh an item.",
        "parameters": {
            "type": "object",
            "properties": {
                "item": {"type": "string", "description": "What to weigh: one thing only."},
                "precise": {"type": "boolean", "description": "Whether to be careful.", "default": False},
                "note": {"type": "string", "description": "A remark."},
            },
            "required": ["item"],
        },
    }
    assert "weigh" not in REGISTRY


def test_a_tool_with_an_argument_that_is_not_described_cannot_be_made():
    def weigh(world: Any, item: str) -> dict[str, Any]:
        """Weigh an item."""
        return {}

    with pytest.raises(KeyError):
        make_tool(weigh)
