from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from components import records
from components.session import ENVIRONMENTS


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_the_waterfall_adds_up_to_the_total(played: dict[str, Any], env_id: str) -> None:
    reward = played[env_id]["reward"]
    bars = records.bars(reward)
    assert sum(bar["value"] for bar in bars[:-1]) == pytest.approx(reward["total"])
    assert bars[-1]["end"] == pytest.approx(reward["total"])
    assert all(one["end"] == pytest.approx(following["start"]) for one, following in pairwise(bars[:-1]))


def test_efficiency_counts_only_where_the_task_went_well() -> None:
    failed = {"task": -1.0, "efficiency": 1.0, "hallucination": 0.0, "total": -0.75}
    assert [bar["value"] for bar in records.bars(failed)] == pytest.approx([-0.75, 0.0, 0.0, -0.75])
    assert "did not count" in records.notes({"reward": failed})[0]


def test_an_invalid_output_has_a_bar_of_its_own() -> None:
    bars = records.bars({"task": 0.0, "efficiency": 0.0, "hallucination": 0.0, "total": -1.0})
    assert [bar["label"] for bar in bars] == ["Task", "Efficiency", "Made-up ids", "Invalid output", "Total"]
    assert bars[-1]["value"] == -1


def test_a_right_cart_is_right_line_by_line(played: dict[str, Any]) -> None:
    block = records.goal_blocks(played["E_CART"])[0]
    assert len(block["rows"]) == len(played["E_CART"]["goal"]["items"])
    assert all(row[2]["text"] == "right" for row in block["rows"])


def test_a_wrong_cart_shows_what_is_missing_and_what_is_too_much() -> None:
    items = [{"product_id": "a", "variant_id": "v1", "title": "A", "variant": {"size": "S"}, "qty": 2, "note": ""},
             {"product_id": "b", "variant_id": None, "title": "B", "variant": None, "qty": 1, "note": ""}]  # fmt: skip
    done = [{"product_id": "a", "variant_id": "v1", "title": "A", "qty": 1, "status": "partial"},
            {"product_id": "a", "variant_id": "v2", "title": "A", "qty": 1, "status": "extra"}]  # fmt: skip
    rows = records.goal_blocks({"goal": {"items": items}, "done": done})[0]["rows"]
    assert [row[2]["text"] for row in rows] == ["too few", "missing", "not wanted"]
    assert rows[0][0]["text"] == "2 × A [size: S]"


def test_the_list_says_what_each_product_violates(played: dict[str, Any]) -> None:
    record = json.loads(json.dumps(played["E_PD"]))
    record["done"][0] |= {"feasible": False, "violates": ["price ≤ 70"]}
    mine, fitting = records.goal_blocks(record)
    assert mine["rows"][0][2] == {"text": "does not fit", "tone": "bad", "sub": "price ≤ 70"}
    assert mine["rows"][1][2]["text"] == "fits"
    assert [row[0] for row in fitting["rows"]][: len(record["goal"]["best"])] == list(
        range(1, len(record["goal"]["best"]) + 1)
    )


def test_the_ledger_tells_what_was_never_said() -> None:
    said = [{"turn": 0, "act": "open", "text": "size: L"}, {"turn": 2, "act": "switch", "text": "size: M"}]
    slots = [{"text": "size: S", "omitted": True, "said": []}, {"text": "size: M", "omitted": False, "said": said}]
    rows = records.ledger_blocks({"ledger": slots})[0]["rows"]
    assert [rows[0][1]["text"], rows[1][1]] == ["left out", "said"]
    assert rows[0][2]["text"] == "never said, so not scored"
    assert rows[1][2]["text"] == "opening: size: L; turn 2 (switch)"


def test_the_inspector_has_every_step(played: dict[str, Any]) -> None:
    for record in played.values():
        value = records.timeline(record)
        assert [step["turn"] for step in value["steps"]] == [str(step["turn"]) for step in record["steps"]]
        for step, original in zip(value["steps"], record["steps"], strict=True):
            assert [call["name"] for call in step["calls"]] == [call["name"] for call in original["tool_results"]]
            assert [call["at"] for call in step["calls"]] == list(range(len(original["tool_results"])))
        assert value["opening"] == record["opening"]["text"]
        assert value["failures"] == []
        assert value["result"]["total"] == pytest.approx(record["reward"]["total"])
        json.dumps(value, allow_nan=False)


def test_a_failed_episode_says_why(played: dict[str, Any]) -> None:
    record = json.loads(json.dumps(played["E_STATUS"]))
    record["reward"]["correct"] = False
    record["goal"]["status"] = "another"
    failures = records.timeline(record)["failures"]
    assert failures[0] == ["wrong status", "The order is right, its status is not."]


def test_calls_keep_their_places_among_what_is_none(played: dict[str, Any]) -> None:
    record = json.loads(json.dumps(played["E_CART"]))
    calls = record["steps"][0]["tool_results"]
    record["steps"][0]["tool_results"] = [5, calls[0], "x", {"name": "odd", "result": {"results": [1, 2]}}]
    record["steps"].insert(0, None)
    step = records.timeline(record)["steps"][0]
    assert step["at"] == 1
    assert [(call["at"], call["name"]) for call in step["calls"]] == [(1, calls[0]["name"]), (3, "odd")]
    assert step["calls"][1]["gist"] == "2 results"


def test_a_result_is_told_in_two_words() -> None:
    results = ({"results": [1]}, {"results": [1, 2], "total": 9}, {"lines": []}, {"error": {}}, None, 5, {})
    assert [records.gist(one) for one in results] == ["1 result", "2 results", "0 lines", "", "", "", ""]


def test_an_answer_is_shown_field_by_field(played: dict[str, Any]) -> None:
    last = records.timeline(played["E_STATUS"])["steps"][-1]
    given = played["E_STATUS"]["steps"][-1]["canonical"]["answer"]
    assert dict(last["answer"])["order_status"] == given["order_status"]
    assert records.timeline(played["E_CART"])["steps"][-1]["answer"] == []
    assert records.timeline(played["E_STATUS"])["steps"][0]["answer"] is None


def test_an_evaluation_is_told_among_the_facts(played: dict[str, Any]) -> None:
    note = {"agent": "a", "trial": 1, "seconds": 2.345, "notes": {"prompt_tokens": 70, "failed": "no answer"}}
    facts = records.timeline({**played["E_PD"], "evaluation": note})["facts"]
    assert facts[-4:] == ["trial 2", "took 2.35 s", "prompt tokens 70", "failed no answer"]


def test_returns_that_were_made_stand_among_the_steps(played: dict[str, Any]) -> None:
    record = json.loads(json.dumps(played["E_CART"]))
    made = {"return_id": "r1", "kind": "exchange", "line_id": "l_1", "reason": "does_not_fit", "new_product_id": "p_1"}
    record["steps"][0]["shop"]["returns"] = [made, None]
    steps = records.timeline(record)["steps"]
    assert steps[0]["returns"] == ["Sent back: line l_1 (exchange), reason: does not fit, for p_1"]
    assert steps[1]["returns"] == []


@pytest.mark.parametrize("junk", [None, 5, "x", [], [None], {"a": [1, {"b": None}]}, float("nan")])
def test_a_record_with_any_odd_part_can_be_shown(played: dict[str, Any], junk: Any) -> None:
    for key in played["E_CART"]:
        json.dumps(records.timeline({**played["E_CART"], key: junk}))
