"""Two agents over a series of seeds: the report's own figures, and words that claim no more than they do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import compare_series
from components.compare import SERIES, Comparison
from components.compare_playing import Scenario
from components.compare_series import Series, columns, conclusion, shown, statistics
from components.events.compare import play_series
from components.session import Shop
from ecomrlve.errors import EcomrlveError, GenerationError
from ecomrlve.evaluation.report import build
from ecomrlve.evaluation.rows import read_rows
from ecomrlve.evaluation.statistics import paired

NAMES = ("scripted", "random")
MEASURED = ("one", "other", "difference", "low", "high", "one_better", "equal", "other_better", "cells", "problems")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns, from a thread of its own: browser tests leave an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.fixture(scope="module")
def shop(words_engine: Any) -> Shop:
    return Shop(lambda: words_engine)


def finished(series: Series) -> Series:
    while (match := series.next_match()) is not None:
        while not series.portion(match):
            pass
    return series


@pytest.fixture(scope="module")
def series(shop: Shop) -> Series:
    return finished(Series(shop, Scenario("E_CART", "2", "40"), NAMES, "8"))


def test_the_figures_are_those_of_the_report_on_the_same_episodes(series: Series, tmp_path: Path) -> None:
    records = [record for played in series.played for record in played.records()]
    (tmp_path / "episodes.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    report = build(read_rows([tmp_path]), baseline=NAMES[1]).data
    figures = statistics(*columns(series.played))
    for found in report["paired"]:
        if found["env_id"] is None:
            mine = figures[found["measure"]].to_dict()
            assert {name: mine[name] for name in MEASURED} == {name: found[name] for name in MEASURED}
    mcnemar = next(found for found in report["paired"] if found["measure"] == "correct")["p_value"]
    assert figures["correct"].p_value == mcnemar
    by_agent = {found["agent"]: found for found in report["by_agent"]}
    for name, success in zip(NAMES, figures["success"], strict=True):
        assert (success["share"], success["low"], success["high"]) == tuple(by_agent[name]["success"].values())
        assert success["correct"] == by_agent[name]["correct"]
    assert [figures["total"].one, figures["total"].other] == [by_agent[name]["total"]["mean"] for name in NAMES]


def test_wins_ties_and_losses_are_counted_seed_by_seed(series: Series) -> None:
    figures = statistics(*columns(series.played))
    signs = [
        (one.total > other.total) - (one.total < other.total)
        for one, other in zip(*columns(series.played), strict=True)
    ]
    assert (figures["wins"], figures["ties"], figures["losses"]) == tuple(signs.count(sign) for sign in (1, 0, -1))
    assert figures["pairs"] == 8
    assert figures["p_value"] == figures["total"].p_value


def test_every_seed_is_there_and_its_records_are_the_ones_played(series: Series) -> None:
    assert [played.seed for played in series.played] == list(range(40, 48))
    found = series.find("43")
    assert found is not None
    assert [record["seed"] for record in found.records()] == [43, 43]
    assert [record["player"]["name"] for record in found.records()] == list(NAMES)
    assert [record["reward"]["total"] for record in found.records()] == [row.total for row in found.rows]
    assert [series.find(seed) for seed in (39, "x", None, [43])] == [None] * 4


def test_the_page_gets_plain_values_and_one_line_per_seed(series: Series) -> None:
    running = shown(series)
    assert (running["status"], running["figures"], running["conclusion"]) == ("running", None, "")
    series.status = compare_series.DONE
    value = shown(series)
    assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert [row["seed"] for row in value["rows"]] == [str(seed) for seed in range(40, 48)]
    means = [sum(row["totals"][side] for row in value["rows"]) / 8 for side in (0, 1)]
    assert value["figures"]["means"] == pytest.approx(means)
    assert value["figures"]["difference"][0] == pytest.approx(means[0] - means[1])


@pytest.mark.parametrize(
    ("scenario", "names", "count"),
    [
        (Scenario("E_CART", 2, 1), NAMES, 51),
        (Scenario("E_CART", 2, 1), NAMES, "1"),
        (Scenario("E_CART", 2, 1), NAMES, True),
        (Scenario("E_CART", 2, 1), NAMES, None),
        (Scenario("E_CART", 2, 1), ("random", "random"), 10),
        (Scenario("E_CART", 2, 1), ("random", "nobody"), 10),
        (Scenario("E_CART", 2, "x"), NAMES, 10),
        (Scenario("E_CART", 2, True), NAMES, 10),
    ],
)
def test_a_series_that_cannot_be_is_refused_at_once(shop: Shop, scenario: Scenario, names: Any, count: Any) -> None:
    with pytest.raises(EcomrlveError):
        Series(shop, scenario, names, count)


def test_seeds_without_an_episode_are_left_out_and_named(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_open = Scenario.open

    def sometimes(self: Scenario, shop: Shop) -> Any:
        if self.seed == 41:
            raise GenerationError("nothing fits")
        return whole_open(self, shop)

    monkeypatch.setattr(Scenario, "open", sometimes)
    value = shown(finished(Series(shop, Scenario("E_CART", 0, 40), NAMES, 3)))
    assert value["skipped"] == ["41"]
    assert [row["seed"] for row in value["rows"]] == ["40", "42"]
    assert value["tried"] == 3


# --- as the page gets it ---------------------------------------------------------------------------------------------


def asked(**changed: Any) -> dict[str, Any]:
    form = {"env_id": "E_CART", "difficulty": "1", "seed": "5", "one": "reference", "other": "random", "count": "6"}
    return {**form, **changed}


def test_a_series_tells_how_far_it_is_and_ends_with_its_figures(shop: Shop) -> None:
    state = Comparison()

    async def collect() -> list[Any]:
        return [values[3] async for values in play_series(state, asked(), shop)]

    *sent, last = run(collect())
    assert last == gr.skip()
    assert (sent[0]["status"], sent[0]["tried"]) == ("running", 0)
    assert [value["tried"] for value in sent] == sorted(value["tried"] for value in sent)
    assert (sent[-1]["status"], sent[-1]["tried"], sent[-1]["figures"]["pairs"]) == ("done", 6, 6)


@pytest.mark.parametrize("after", [1, 3])
def test_a_series_that_is_stopped_plays_no_further(shop: Shop, after: int) -> None:
    state = Comparison()

    async def stopped() -> list[Any]:
        steps = play_series(state, asked(count="50"), shop)
        await anext(steps)
        series = state.series
        assert series is not None
        portion = series.portion

        def then_stop(match: Any) -> bool:
            done = portion(match)
            if len(series.played) == after:
                state.begin(SERIES)
            return done

        series.portion = then_stop  # type: ignore[method-assign]
        return [values async for values in steps]

    sent = run(stopped())
    assert state.series is not None
    assert len(state.series.played) == after
    assert sent[-1][1:] == [gr.skip()] * 3
    assert not [values for values in sent if values[3].get("status") == "done"]


def test_what_goes_wrong_in_a_series_is_told_and_what_was_played_counts(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Exception] = []
    monkeypatch.setattr("components.events.compare.warn", told.append)
    state = Comparison()

    async def collect(**changed: Any) -> list[Any]:
        return [values[3] async for values in play_series(state, asked(**changed), shop)]

    last = run(collect(seed=str(2**63 - 3)))[-2]
    assert last["status"] == "stopped"
    assert "seed must be" in last["note"]
    assert last["figures"]["pairs"] == 3
    run(collect(one="nobody"))
    assert len(told) == 2


# --- words -----------------------------------------------------------------------------------------------------------

scores = st.lists(st.tuples(*[st.sampled_from([-1.0, -0.4, 0.0, 0.5, 0.8, 1.0])] * 2), min_size=1, max_size=12)


@given(scores)
def test_words_claim_a_winner_only_where_the_interval_leaves_out_zero(pairs: list[tuple[float, float]]) -> None:
    one, other = ({("E", seed, 0): pair[side] for seed, pair in enumerate(pairs)} for side in (0, 1))
    total = paired(one, other, resamples=400)
    text = conclusion(total, "Ann", "Bob")
    certain = total.low is not None and total.high is not None and not total.low <= 0 <= total.high
    assert ("earns more" in text) == certain
    if certain:
        assert text.startswith("Ann" if total.difference > 0 else "Bob")
    elif len(pairs) > 1 and total.equal < 1:
        assert "do not tell which of the two is better" in text
        assert "includes 0" in text


def test_words_for_one_pair_and_for_no_difference_at_all() -> None:
    one = {("E", seed, 0): 0.5 for seed in range(10)}
    assert "does not prove that they are equal" in conclusion(paired(one, one), "Ann", "Bob")
    single = {("E", 0, 0): 1.0}
    assert "says nothing" in conclusion(paired(single, {("E", 0, 0): 0.0}), "Ann", "Bob")
    always = conclusion(paired(one, dict.fromkeys(one, 0.0)), "Ann", "Bob")
    assert "by 0.50 on average, and in every one of the 10 pairs by the same amount" in always
