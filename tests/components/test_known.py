"""What was known by each turn of an episode."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from components.known import known
from components.session import ENVIRONMENTS, JOURNEY
from ecomrlve.agents.base import play
from ecomrlve.agents.registry import players_of

SINGLE = [env_id for env_id in ENVIRONMENTS if env_id != JOURNEY]


@pytest.fixture(scope="module")
def missed(words_engine: Any) -> dict[str, dict[str, Any]]:
    """One record per environment of an agent that finds next to nothing."""
    import ecomrlve

    found = {}
    for env_id in ENVIRONMENTS:
        env = ecomrlve.make(env_id, catalog=words_engine)
        play(env, players_of("random").player(), 7, 6)
        found[env_id] = env.trajectory("random").to_dict()
    return found


@pytest.mark.parametrize("env_id", SINGLE)
def test_who_solves_an_episode_was_shown_what_it_takes(played: dict[str, Any], env_id: str) -> None:
    record = played[env_id]
    (group,) = known(record)["groups"]
    needed = [one for one in group["targets"] if one["sub"] != "fits"]
    assert needed
    assert all(1 <= one["at"] <= len(record["steps"]) for one in needed)


def test_what_no_tool_showed_is_never_shown(missed: dict[str, Any]) -> None:
    (group,) = known(missed["E_SUB"])["groups"]
    assert {one["at"] for one in group["targets"]} == {None}


def test_an_id_counts_from_the_turn_whose_results_hold_it(played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_STATUS"])
    record["goal"]["order_id"], order = "o_other", record["goal"]["order_id"]
    (group,) = known(record)["groups"]
    assert group["targets"][0]["at"] is None
    refused = {"name": "order_get", "args": {"order_id": "o_other"}, "result": {"error": {"message": "o_other"}}}
    shown = {"name": "order_get", "args": {"order_id": order}, "result": {"lines": [{"deep": ["o_other"]}]}}
    record["steps"][0]["tool_results"] = [refused]
    record["steps"][1]["tool_results"] = [shown]
    assert known(record)["groups"][0]["targets"][0]["at"] == 2


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_everything_said_has_its_turn(played: dict[str, Any], env_id: str) -> None:
    record = played[env_id]
    slots = [slot for group in known(record)["groups"] for slot in group["said"]]
    assert len(slots) == len(record["ledger"])
    turns = [number for slot in slots for number, _, _ in slot["said"]]
    assert {0} <= set(turns) <= set(range(len(record["steps"]) + 1))
    assert len(turns) == sum(len(slot["said"]) for slot in record["ledger"])


@pytest.mark.parametrize("env_id", ["E_CART", JOURNEY])
def test_the_cart_is_held_against_the_goal_turn_by_turn(played: dict[str, Any], env_id: str) -> None:
    record = played[env_id]
    told = known(record)
    carts = told["carts"]
    assert (carts[0]["at"], carts[0]["filled"]) == (0, False)
    assert {row[2]["text"] for row in carts[0]["rows"]} == {"missing"}
    assert {row[2]["text"] for row in carts[-1]["rows"]} == {"right"}
    assert [cart["at"] for cart in carts] == sorted({cart["at"] for cart in carts})
    goals = record["goal"].get("intents", [record["goal"]])
    assert goals[told["cart_wish"]]["env_id"] == "E_CART"


def test_a_stray_line_and_a_wrong_quantity_stand_beside_what_is_right(played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_CART"])
    line = record["steps"][-1]["shop"]["cart"][0]
    stray = {**line, "product_id": "p0000000", "title": "Stray"}
    record["steps"][0]["shop"]["cart"] = [{**line, "qty": line["qty"] + 1}, stray]
    at_first = next(cart for cart in known(record)["carts"] if cart["at"] == 1)
    assert at_first["rows"][0][2]["text"] == "too many"
    assert at_first["rows"][-1][2]["text"] == "not wanted"
    assert "Stray" in at_first["rows"][-1][1]["text"]


def test_a_cart_that_nobody_asked_for_is_told(played: dict[str, Any]) -> None:
    assert known(played["E_PD"])["carts"] == []
    record = copy.deepcopy(played["E_PD"])
    record["steps"][1]["shop"]["cart"] = played["E_CART"]["steps"][-1]["shop"]["cart"]
    cart = known(record)["carts"][0]
    assert (cart["at"], cart["note"]) == (2, "No wish of this customer is about a cart.")


def test_wishes_are_raised_and_answered_one_after_the_other(played: dict[str, Any]) -> None:
    wishes = known(played[JOURNEY])["wishes"]
    assert len(wishes) == len(played[JOURNEY]["goal"]["intents"])
    assert wishes[0]["raised"] == 0
    assert all(wish["raised"] < wish["answered"] and wish["right"] for wish in wishes)
    assert max(wish["answered"] for wish in wishes) == len(played[JOURNEY]["steps"])
    assert known(played["E_PD"])["wishes"] == []


def test_a_wish_that_is_interrupted_is_answered_after_the_other() -> None:
    acts = [["switch", "open"], ["thanks"], ["clarify"], ["thanks", "next", "open"], ["clarify"]]
    goals = [{"env_id": env_id} for env_id in SINGLE[:3]]
    record = {
        "goal": {"env_id": JOURNEY, "intents": goals},
        "steps": [{"turn": turn, "customer": {"acts": one}} for turn, one in enumerate(acts, 1)],
    }
    told = [(wish["raised"], wish["answered"]) for wish in known(record)["wishes"]]
    assert told == [(0, 4), (1, 2), (4, None)]


def test_it_is_small_enough_to_be_sent_with_every_episode(played: dict[str, Any]) -> None:
    for record in played.values():
        assert len(json.dumps(known(record))) < 40_000


@pytest.mark.parametrize("junk", [None, 5, "x", [], [None], {"a": [1, {"b": None}]}, float("nan"), "\ud800"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_odd_values_anywhere_are_shown_not_fatal(missed: dict[str, Any], env_id: str, junk: Any) -> None:
    record = missed[env_id]
    for key in record:
        json.dumps(known({**record, key: junk}))
    for key in record["goal"]:
        json.dumps(known({**record, "goal": {**record["goal"], key: junk}}))
    for key in record["steps"][0]:
        json.dumps(known({**record, "steps": [{**record["steps"][0], key: junk}, junk]}))
