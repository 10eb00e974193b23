from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from components import goals, records
from components.session import ENVIRONMENTS

FIRST_TABLE = {
    "E_CART": "Hidden goal and the reference agent’s cart",
    "E_PD": "The reference agent’s list against the hidden goal",
    "E_SUB": "The reference agent’s list against the hidden goal",
    "E_RETURN": "The line that was meant",
    "E_STATUS": "The order that was meant",
    "E_POLICY": "The question",
    "E_BUNDLE": "The project's parts",
    "E_JOURNEY": "The wishes, in the order in which they were raised",
}


def tones(block: dict[str, Any]) -> list[str]:
    """The colors of all cells that judge something."""
    cells = [cell for row in block["rows"] for cell in row if isinstance(cell, dict)]
    return [cell["tone"] for cell in cells if cell["tone"]]


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_what_the_reference_agent_did_is_right_in_every_cell(played: dict[str, Any], env_id: str) -> None:
    assert played[env_id]["reward"]["correct"]
    blocks = goals.goal_blocks(played[env_id])
    assert blocks[0]["title"] == FIRST_TABLE[env_id]
    judged = [tone for block in blocks for tone in tones(block)]
    assert judged
    assert set(judged) == {"good"}
    json.dumps(blocks, allow_nan=False)


def test_a_wrong_status_is_told_from_a_right_one(played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_STATUS"])
    record["goal"] |= {"order_id": "o1", "status": "in_transit", "eta": "2025-05-08"}
    record["done"] = [{"order_id": "O1 ", "status": "In transit", "eta": ""}]
    (block,) = goals.goal_blocks(record)
    assert [row[3]["text"] for row in block["rows"]] == ["right", "right", "missing"]
    record["done"] = [{"order_id": "o2", "status": "delayed", "eta": "2025-05-09"}]
    (block,) = goals.goal_blocks(record)
    assert [row[3]["text"] for row in block["rows"]] == ["wrong", "wrong", "wrong"]
    record["goal"]["eta"], record["done"] = None, []
    (block,) = goals.goal_blocks(record)
    assert [row[3]["text"] for row in block["rows"]] == ["missing", "missing"]


def test_a_return_says_in_what_it_differs() -> None:
    goal = {"env_id": "E_RETURN", "order_id": "o1", "line_id": "l1", "decision": "return", "reason": "damaged",
            "method": "store_credit", "window_days": 30, "days_since_delivery": 3, "best": []}  # fmt: skip
    made = {"return_id": "r1", "kind": "return", "order_id": "o1", "line_id": "l1", "reason": "damaged"}
    answer = {"selected_order_id": "o1", "selected_line_id": "l2", "return_decision": "return"}
    steps = [{"canonical": {"answer": answer}}]
    record = {"goal": goal, "steps": steps, "done": [made | {"method": "original_payment"}]}
    line, transactions = goals.goal_blocks(record)
    assert [row[3]["text"] for row in line["rows"]] == ["right", "wrong", "right"]
    assert transactions["rows"][0][1] == {"text": "not as wanted", "tone": "bad", "sub": "method"}
    right = goals.goal_blocks(record | {"done": [made | {"method": "store_credit"}]})[1]
    assert right["rows"][0][1]["text"] == "right"
    refused = record | {"goal": goal | {"decision": "not_eligible", "method": None}}
    assert goals.goal_blocks(refused)[1]["rows"][0][1]["text"] == "not wanted"


def test_substitutes_show_their_similarity(played: dict[str, Any]) -> None:
    block = goals.goal_blocks(played["E_SUB"])[1]
    assert block["columns"][-1] == "Similarity"
    shown = [float(row[-1]) for row in block["rows"]]
    assert shown == sorted(shown, reverse=True)
    assert "In place of" in goals.goal_blocks(played["E_SUB"])[0]["note"]


def test_a_bundle_shows_what_is_not_filled_and_what_fills_nothing(played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_BUNDLE"])
    record["done"][0] |= {"fills": None, "wrong": ["color = red"]}
    parts, extra = goals.goal_blocks(record)
    assert [row[3]["text"] for row in parts["rows"]].count("not filled") == 1
    assert extra["rows"][0][1]["text"] == "color = red"


def test_a_policy_answer_shows_the_facts_and_where_they_stand(played: dict[str, Any]) -> None:
    question, facts = goals.goal_blocks(played["E_POLICY"])
    assert question["rows"][0][1] == played["E_POLICY"]["goal"]["answer"]
    assert len(facts["rows"]) == len(played["E_POLICY"]["goal"]["facts"])
    assert all(row[2] in ("said by the customer", "in the profile", "in the order") for row in facts["rows"])


def test_a_journey_has_a_group_for_each_wish(played: dict[str, Any]) -> None:
    record = played["E_JOURNEY"]
    kinds = [goal["env_id"] for goal in record["goal"]["intents"]]
    overview, *tables = goals.goal_blocks(record)
    assert [row[1] for row in overview["rows"]] == [goals.wish_name({"env_id": kind}) for kind in kinds]
    for place, kind in enumerate(kinds, 1):
        name = goals.wish_name({"env_id": kind})
        assert tables[0]["title"] == f"{place}. {name}: {FIRST_TABLE[kind]}"
        tables = [table for table in tables if not table["title"].startswith(f"{place}. ")]
    assert tables == []
    said = [block for block in records.ledger_blocks(record) if "what the customer said" in block["title"]]
    assert [block["title"][:2] for block in said] == [f"{place}." for place in range(1, len(kinds) + 1)]
    assert sum(len(block["rows"]) for block in said) == len(record["ledger"])


def test_a_wish_that_was_never_answered_says_so(played: dict[str, Any]) -> None:
    record = copy.deepcopy(played["E_JOURNEY"])
    record["reward"]["parts"]["intents"][-1] |= {"answered": False, "correct": False, "task": -1.0}
    assert goals.goal_blocks(record)[0]["rows"][-1][3]["text"] == "never answered"


def test_an_unknown_environment_keeps_the_plain_tables() -> None:
    record = {"goal": {"env_id": "E_NEW", "secret": [1, 2]}, "done": [{"did": "it"}]}
    first, second = goals.goal_blocks(record)
    assert ["secret", "1, 2"] in first["rows"]
    assert second["rows"] == [['{"did": "it"}']]
    assert goals.goal_blocks({"goal": {}, "done": []}) == []


@pytest.mark.parametrize("junk", [None, 5, "x", [], [None], {"a": [1, {"b": None}]}, float("nan")])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_odd_values_anywhere_are_shown_not_fatal(played: dict[str, Any], env_id: str, junk: Any) -> None:
    record = played[env_id]
    for part in ("goal", "done", "ledger", "reward", "steps"):
        records.timeline({**record, part: junk})
        whole = record[part]
        for key in whole if isinstance(whole, dict) else whole[0] if whole else ():
            changed = {**whole, key: junk} if isinstance(whole, dict) else [{**whole[0], key: junk}]
            records.timeline({**record, part: changed})
    for key, value in record["goal"].items():
        inner = value if isinstance(value, list) else []
        for field in inner[0] if inner and isinstance(inner[0], dict) else ():
            records.timeline({**record, "goal": {**record["goal"], key: [{**inner[0], field: junk}]}})
