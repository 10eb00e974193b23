"""How texts speak of the player, and the figures beside a reward in words for people."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components import figures, records, voice
from components.session import ENVIRONMENTS
from components.voice import READER, Voice


def played_by(name: str, kind: str = "agent") -> dict[str, Any]:
    return {"player": {"name": name, "kind": kind}}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (played_by("you", "human"), READER),
        (played_by("you (again)", "human"), READER),
        (played_by("you, guided (again)", "mixed"), READER),
        (played_by("Ann", "human"), Voice("Ann", "Ann’s")),
        (played_by("scripted"), Voice("the scripted agent", "the scripted agent’s")),
        (played_by("checkpoint:some/model"), Voice("checkpoint:some/model", "checkpoint:some/model’s")),
        (played_by("you, then scripted", "mixed"), Voice("the player", "the player’s")),
        ({"player": 5}, Voice("unknown", "unknown’s")),
    ],
)
def test_who_played_is_named(record: dict[str, Any], expected: Voice) -> None:
    assert voice.voice_of(record) == expected


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_an_agents_game_is_never_called_the_readers(played: dict[str, Any], env_id: str) -> None:
    record = json.loads(json.dumps(played[env_id]))
    record["reward"] |= {"task": -1.0, "efficiency": 0.5, "correct": False}
    record["steps"][0]["discounted"] = True
    told = json.dumps(records.result(record), ensure_ascii=False).lower()
    assert "your" not in told
    assert '"you ' not in told
    assert "the reference agent’s" in told
    mine = json.dumps(records.result(record, READER), ensure_ascii=False)
    assert "the reference agent" not in mine
    assert "Your efficiency" in mine


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_every_figure_has_a_name_for_people(played: dict[str, Any], env_id: str) -> None:
    parts = {name: value for name, value in played[env_id]["reward"]["parts"].items() if not isinstance(value, list)}
    shown = figures.figures(played[env_id]["reward"]["parts"])
    assert len(shown) == len(parts)
    assert len({name for name, _ in shown}) == len(shown)
    for (label, value), name in zip(shown, parts, strict=True):
        assert label[0].isupper(), name
        assert value


def test_values_have_their_units_and_what_is_odd_stays_text() -> None:
    parts = {"f1": 0.5, "budget": None, "cost": 12.5, "within_budget": False, "n": 3, "new_thing": "<b>", "rows": [{}]}
    assert dict(figures.figures(parts)) == {
        "Agreement with what was wanted (F1)": "50 %",
        "Budget that was named": "none",
        "Cost of the bundle": "$12.50",
        "Within the budget": "no",
        "Products on a perfect list": "3",
        "new thing": "<b>",
    }
    assert figures.figures({"f1": "x", "cost": [], "ranking": float("nan")})
