"""How the lines of `ecomrlve play` are read: commands, tool calls, answers, numbers for ids, completion."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.cli.play_commands import COMMANDS, call_line, parse, tool_schemas
from ecomrlve.cli.play_input import completions
from ecomrlve.cli.play_numbers import Numbers, kind_of
from ecomrlve.cli.play_values import PlayError
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation

VOCABULARY = st.sampled_from(
    [*COMMANDS, "+", "search", "add", "cart_add", "variants", "history", "done=true", "query=", "limit=", "price<=",
     "filters={", "#1", "#2", "#99", '"', "'", ",", "=", "lamp", "3", "true", "[", "}", "[]", "\\", "é", "\x00"]
)  # fmt: skip
LINES = st.one_of(
    st.text(max_size=40),
    st.lists(VOCABULARY, max_size=6).map(" ".join),
    st.lists(VOCABULARY, max_size=6).map("".join),
)


@pytest.fixture(scope="module")
def seen(words_engine: Any) -> dict[str, Observation]:
    """The first observation of each environment."""
    return {
        env_id: Environment((env_id,), words_engine).reset(seed=3, options={"difficulty": 3})[0]
        for env_id in COLLECTIONS["C8"]
    }


@settings(max_examples=300)
@given(LINES)
def test_any_line_is_understood_or_asked_back(seen, line):
    numbers = Numbers()
    numbers.read({"results": [{"id": "p7k2m9qd"}], "variants": [{"variant_id": "v7k2m9qd"}]})
    if line.strip():
        for observation in seen.values():
            with contextlib.suppress(PlayError):
                command = parse(line, observation, numbers)
                assert command.name in (*COMMANDS, "turn")
                assert (command.action is not None) == (command.name == "turn")


# --- what lines mean -------------------------------------------------------------------------------------------------


def call(line: str, observation: Observation, numbers: Numbers | None = None) -> tuple[str, dict[str, Any]]:
    action = parse(line, observation, numbers or Numbers()).action
    assert action is not None
    (found,) = action.tool_calls
    return found.name, found.args


@pytest.mark.parametrize(
    ("line", "args"),
    [
        ("catalog_search query=lamp", {"query": "lamp"}),
        ("catalog.search query=lamp", {"query": "lamp"}),
        ("SEARCH lamp", {"query": "lamp"}),
        ("search usb charger 65 W", {"query": "usb charger 65 W"}),
        ('search "usb charger" limit=5', {"query": "usb charger", "limit": 5}),
        ("search limit = 5 men's shoes", {"query": "men's shoes", "limit": 5}),
        ("search query=3", {"query": "3"}),
        ("search query='a \"b\"'", {"query": 'a "b"'}),
        (r'search query="a \"b\"\n"', {"query": 'a "b"\n'}),
        ("search usb, charger", {"query": "usb, charger"}),
        ("search x price<=25 rating>=4", {"query": "x", "filters": {"price": {"le": 25}, "rating": {"ge": 4}}}),
        ("search x price >= 10 price ≤ 25", {"query": "x", "filters": {"price": {"ge": 10, "le": 25}}}),
        ("search x color=black, price<=25", {"query": "x", "filters": {"color": {"eq": "black"}, "price": {"le": 25}}}),
        ("search x color=black,white", {"query": "x", "filters": {"color": {"in": ["black", "white"]}}}),
        ('search x type="desk lamp" in_stock=true',
         {"query": "x", "filters": {"type": {"eq": "desk lamp"}, "in_stock": {"eq": True}}}),
        ('search x size="10"', {"query": "x", "filters": {"size": {"eq": "10"}}}),
        ('search x filters={"price": {"le": 25}} price>=5', {"query": "x", "filters": {"price": {"le": 25, "ge": 5}}}),
        ('search x price={"le": 25}', {"query": "x", "filters": {"price": {"le": 25}}}),
        ("search x filters={}", {"query": "x", "filters": {}}),
    ],
)  # fmt: skip
def test_how_arguments_are_written(seen, line, args):
    assert call(line, seen["E_PD"]) == ("catalog_search", args)


def test_numbers_stand_for_ids_of_their_kind(seen):
    numbers = Numbers()
    shown = [{"id": "p1111111"}, {"id": "p2222222"}]
    numbers.read({"results": shown, "orders": [{"order_id": "o1111111", "lines": [{"line_id": "l1111111"}]}]})
    numbers.read({"product_id": "p1111111", "variants": [{"variant_id": "v1111111"}]})
    everything = seen["E_JOURNEY"]
    assert call("add #2", everything, numbers) == ("cart_add", {"product_id": "p2222222"})
    wanted = {"product_id": "p1111111", "variant_id": "v1111111", "qty": 2}
    assert call("add #1 #5 qty=2", everything, numbers) == ("cart_add", wanted)
    assert call("add #5 qty=2 product_id=p1111111", everything, numbers) == ("cart_add", wanted)
    assert call("rerank nice lamp #2,#1", everything, numbers)[1] == {
        "query": "nice lamp", "product_ids": ["p2222222", "p1111111"],
    }  # fmt: skip
    assert call("initiate #3 #4 changed_mind store_credit", everything, numbers)[1] == {
        "order_id": "o1111111", "line_id": "l1111111", "reason": "changed_mind", "method": "store_credit",
    }  # fmt: skip
    for line, problem in {
        "add #3": "id of an order",
        "add product_id=#5": "number of a variant",
        "add #6": "no #6",
    }.items():
        with pytest.raises(PlayError, match=problem):
            parse(line, everything, numbers)
    said = parse("say Do you mean #2 or #77?", everything, numbers).action
    assert said is not None
    assert said.message == "Do you mean p2222222 or #77?"


@pytest.mark.parametrize(
    ("env_id", "line", "answer"),
    [
        ("E_CART", "answer", {}),
        ("E_PD", "answer #2 #1", {"recommended_product_ids": ["p2222222", "p1111111"]}),
        ("E_PD", "answer #2,#1", {"recommended_product_ids": ["p2222222", "p1111111"]}),
        ("E_PD", "answer recommended_product_ids=#2,p1111111", {"recommended_product_ids": ["p2222222", "p1111111"]}),
        ("E_PD", 'answer recommended_product_ids=["p2222222"]', {"recommended_product_ids": ["p2222222"]}),
        ("E_STATUS", "answer #3 order_status=in_transit",
         {"selected_order_id": "o1111111", "order_status": "in_transit"}),
        ("E_POLICY", "answer 30 days", {"policy_answer": "30 days"}),
        ("E_POLICY", "answer 30", {"policy_answer": 30}),
        ("E_POLICY", 'answer policy_answer="30"', {"policy_answer": "30"}),
        ("E_POLICY", "answer $14.50", {"policy_answer": "$14.50"}),
        ("E_POLICY", "answer $1,014.50", {"policy_answer": "$1,014.50"}),
        ("E_RETURN", "answer return_decision=return #4 #3",
         {"selected_order_id": "o1111111", "selected_line_id": "l1111111", "return_decision": "return"}),
    ],
)  # fmt: skip
def test_how_answers_are_written(seen, env_id, line, answer):
    numbers = Numbers()
    shown = [{"id": "p1111111"}, {"id": "p2222222"}]
    numbers.read({"results": shown, "orders": [{"order_id": "o1111111", "lines": [{"line_id": "l1111111"}]}]})
    command = parse(line, seen[env_id], numbers)
    assert command.doubt == ""
    assert command.action is not None
    assert command.action.answer == answer


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows."""
    words = st.text(max_size=12)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = {
        "integer": st.integers(-5, 2**40),
        "array": st.lists(words, max_size=4),
        "object": st.dictionaries(words, st.one_of(st.integers(-9, 9), words, st.booleans()), max_size=3),
    }
    return kinds.get(schema["type"], words)


@settings(max_examples=150)
@given(st.data())
def test_a_call_as_it_is_printed_is_read_as_the_same_call(seen, data):
    observation = seen["E_JOURNEY"]
    name = data.draw(st.sampled_from(sorted(tool_schemas(observation))))
    parameters = tool_schemas(observation)[name]["parameters"]
    args = {
        key: data.draw(values_of(schema))
        for key, schema in parameters["properties"].items()
        if key in parameters["required"] or data.draw(st.booleans())
    }
    assert call(call_line(name, args), observation) == (name, args)


def test_what_a_customer_names_is_no_stranger(seen):
    numbers = Numbers()
    assert parse("track order_id=o7k2m9qd", seen["E_STATUS"], numbers).doubt
    numbers.hear("It is order O7K2M9QD, please.")
    assert not parse("track order_id=o7k2m9qd", seen["E_STATUS"], numbers).doubt


@pytest.mark.parametrize(
    ("name", "kind"),
    [("id", "product"), ("new_product_id", "product"), ("recommended_product_ids", "product"),
     ("selected_order_id", "order"), ("query", ""), ("title", ""), ("paid", "")],
)  # fmt: skip
def test_what_a_field_holds_ids_of(name, kind):
    assert kind_of(name) == kind


def test_what_can_be_completed(seen):
    assert completions("cat", seen["E_PD"])[:2] == ["catalog_search", "catalog_get_product"]
    assert completions("+ he", seen["E_PD"]) == ["help"]
    assert completions("help cart_a", seen["E_CART"]) == ["cart_add"]
    assert completions("search ", seen["E_PD"])[:3] == ["query=", "filters=", "sort="]
    assert "query=" not in completions("search query=lamp ", seen["E_PD"])
    assert "sort=price_asc" in completions("search sort=pr", seen["E_PD"])
    assert completions("answer ", seen["E_STATUS"]) == ["selected_order_id=", "order_status=", "eta="]
    assert completions("say hel", seen["E_PD"]) == completions("nothing x", seen["E_PD"]) == []
