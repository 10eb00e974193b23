"""Two episodes side by side, as pure functions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import compare_rows
from components.compare_rows import ACTED, CAME_BACK, ENDING, aligned, differences, first_difference, told

texts = st.sampled_from(["", "Hello", "Which colour?", "<b>"])
calls = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["cart_view", "cart_add"]), "args": st.sampled_from([{}, {"n": 1}])}
    ),
    max_size=2,
)
answers = st.sampled_from([None, {"done": True}, {"choice": "x", "done": True}])


@st.composite
def steps(draw: Any) -> dict[str, Any]:
    """A step as the engine records it, unreadable ones included."""
    if draw(st.integers(0, 9)) == 0:
        return {"action": draw(st.sampled_from(["{", "…"])), "canonical": None, "tool_results": [], "customer": None}
    made = draw(calls)
    canonical = {"assistant_message": draw(texts), "tool_calls": made, "answer": draw(answers)}
    canonical = {key: value for key, value in canonical.items() if value}
    results = [{**call, "result": draw(st.sampled_from([{}, {"ok": 1}])), "ms": draw(st.floats(0, 9))} for call in made]
    return {"action": canonical, "canonical": canonical, "tool_results": results, "customer": {"text": draw(texts)}}


episodes = st.lists(steps(), max_size=6)


def retimed(step: dict[str, Any]) -> dict[str, Any]:
    """The same step, measured again."""
    return {**step, "ms": 1.5, "tool_results": [{**result, "ms": 77.0} for result in step["tool_results"]]}


@given(episodes, episodes)
def test_alignment_keeps_both_in_order_and_leaves_nothing_out(one: Any, other: Any) -> None:
    pairs = aligned(one, other)
    assert len(pairs) == max(len(one), len(other))
    for side, episode in enumerate((one, other)):
        assert [pair[side] for pair in pairs if pair[side] is not None] == episode
        assert [pair[side] for pair in pairs[: len(episode)]] == episode


@given(episodes)
def test_an_episode_does_not_differ_from_itself_however_long_it_took(episode: Any) -> None:
    pairs = aligned(episode, [retimed(step) for step in episode])
    assert first_difference(pairs) is None
    assert told(pairs) == "Both did exactly the same, turn by turn."
    assert all(len(row["sides"]) == 1 and row["differs"] == "" for row in compare_rows.table(pairs, timed=True))


@given(episodes, episodes)
def test_the_first_difference_is_the_first_and_the_same_from_both_sides(one: Any, other: Any) -> None:
    pairs = aligned(one, other)
    place = first_difference(pairs)
    assert place == first_difference(aligned(other, one))
    alike = len(pairs) if place is None else place
    assert not any(differences(*pair) for pair in pairs[:alike])
    if place is not None:
        assert differences(*pairs[place])
        assert f"turn {place + 1}" in told(pairs)


@given(episodes, steps(), steps(), episodes, episodes)
def test_after_a_common_beginning_the_next_turn_is_where_they_part(
    common: Any, one: Any, other: Any, rest: Any, other_rest: Any
) -> None:
    pairs = aligned([*common, one, *rest], [*map(retimed, common), other, *other_rest])
    if differences(one, other):
        assert first_difference(pairs) == len(common)


@given(steps(), steps())
def test_what_came_back_counts_only_where_both_acted_alike(one: Any, other: Any) -> None:
    found = set(differences(one, other))
    assert not (found & set(ACTED) and found & set(CAME_BACK))
    if one["canonical"] == other["canonical"] and one["canonical"]:
        assert found <= set(CAME_BACK)


@given(steps())
def test_a_side_that_has_ended_is_a_difference_of_its_own(step: Any) -> None:
    assert differences(step, None) == differences(None, step) == (ENDING,)
    assert "only one of the two" in told([(step, None)])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"canonical": {"assistant_message": "Hi"}}, ("calls", "message")),
        ({"canonical": {"tool_calls": [{"name": "cart_view", "args": {}}], "answer": {"done": True}}}, ("answer",)),
        ({"canonical": None, "action": "{"}, ("calls", "unreadable")),
        ({"tool_results": []}, ("results",)),
        ({"customer": {"text": "Bye"}}, ("reply",)),
    ],
)
def test_differences_are_named(change: dict[str, Any], named: tuple[str, ...]) -> None:
    calls = [{"name": "cart_view", "args": {}}]
    step = {"action": {}, "canonical": {"tool_calls": calls}, "tool_results": [{"result": {}}], "customer": None}
    assert differences(step, {**step, **change}) == named


@given(episodes, episodes)
def test_rows_are_plain_json_and_untimed_where_times_may_tell(one: Any, other: Any) -> None:
    rows = compare_rows.table(aligned(one, other), timed=False)
    assert json.loads(json.dumps(rows)) == rows
    cells = [cell for row in rows for cell in row["sides"] if cell is not None]
    assert all(call["ms"] is None for cell in cells for call in cell["calls"])


def test_a_long_result_is_cut_and_says_so() -> None:
    result = {"text": "x" * 9000}
    step = {"canonical": {}, "tool_results": [{"name": "n", "args": {}, "result": result, "ms": 1}]}
    text = compare_rows.shown(step, timed=True)["calls"][0]["result"]
    assert len(text) < compare_rows.MOST_CHARACTERS + 50
    assert "more characters" in text


def test_figures_tell_what_the_reward_was_made_of_and_why(played: dict[str, Any]) -> None:
    for record in played.values():
        told_ = compare_rows.figures(record, timed=True)
        assert told_["total"] == pytest.approx(sum(part["value"] for part in told_["parts"]))
        assert told_["turns"] == len(record["steps"])
        assert told_["correct"] == record["reward"]["correct"]
        assert bool(told_["causes"]) != told_["correct"]
        assert told_["seconds"] is None
    timed = {**record, "evaluation": {"seconds": 2.5}}
    assert compare_rows.figures(timed, timed=True)["seconds"] == 2.5
    assert compare_rows.figures(timed, timed=False)["seconds"] is None


@pytest.mark.parametrize("record", [{}, {"steps": 5, "reward": []}, {"steps": [None, {}], "reward": {"total": "x"}}])
def test_figures_of_a_broken_record_are_empty_but_there(record: dict[str, Any]) -> None:
    told_ = compare_rows.figures(record, timed=True)
    assert told_["total"] == 0
    assert told_["causes"][0]["name"] == "other"
