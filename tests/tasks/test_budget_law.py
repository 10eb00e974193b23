"""The budget law: what is emitted fits its plan, and hazards are dropped in the stated order."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import TASKS
from ecomrlve.difficulty import Difficulty, difficulty
from ecomrlve.environment import Environment
from ecomrlve.errors import GenerationError
from ecomrlve.tasks.base import OMISSION, OPTIONAL, SELLOUT, SWITCH, Problem, generate

ORDER = [SELLOUT, SWITCH, OMISSION, OPTIONAL]
EVERY = sorted(TASKS)
ALONE = [env_id for env_id in EVERY if env_id != "E_JOURNEY"]
SEEDS = {"E_JOURNEY": 12}  # problems that are drawn at each difficulty, 30 if not given


def draw(engine: Any, env_id: str, seed: int, axes: Difficulty) -> Problem:
    return generate(TASKS[env_id], engine, axes, (env_id, seed))


def intents(problem: Problem) -> list[Problem]:
    """The problem itself, or those of a journey's intents."""
    return [part.problem for part in problem.parts] or [problem]


def rate_of_axis(problem: Problem, axes: Difficulty) -> float:
    """How often things sell out where nothing was dropped: never where the shop of the task does not sell out."""
    return axes.sellout if problem.world.setting.sells_out else 0.0


def check(problem: Problem, axes: Difficulty) -> None:
    """All that the law says of one problem."""
    for each in intents(problem):
        assert 1 <= each.plan.turns <= axes.turn_budget
        assert 1 <= each.plan.calls <= axes.tool_budget
        assert list(each.dropped) == [hazard for hazard in ORDER if hazard in each.dropped]
        # A hazard goes only after those before it, as far as the problem had them.
        if each.dropped and each.dropped != (SELLOUT,):
            assert each.world.stock.rate == 0
        if SWITCH in each.dropped:
            assert not each.switch
        assert set(each.omitted) <= {slot.key for slot in each.slots}
        assert set(each.switch) <= {slot.key for slot in each.slots} - set(each.omitted)
        # What may still sell out does so at the rate of the axis: nothing lies between that and never.
        assert each.world.stock.rate in (0.0, rate_of_axis(problem, axes))
        if SELLOUT not in problem.dropped:
            assert each.world.stock.rate == rate_of_axis(problem, axes)
        if SELLOUT in each.dropped:
            assert each.world.stock.rate == 0


@pytest.mark.parametrize("env_id", EVERY)
@pytest.mark.parametrize("d", range(13))
def test_every_emitted_problem_fits_both_budgets(words_engine: Any, env_id: str, d: int) -> None:
    axes = difficulty(d)
    for seed in range(SEEDS.get(env_id, 30)):
        check(draw(words_engine, env_id, seed, axes), axes)


@pytest.mark.parametrize("env_id", EVERY)
@pytest.mark.parametrize("d", [0, 4, 12])
def test_a_tight_budget_gives_a_problem_that_fits_or_a_clear_error(words_engine: Any, env_id: str, d: int) -> None:
    fitted: dict[int, int] = {}
    for turns in (2, 3, 4, 5):
        axes = difficulty(d, {"turn_budget": turns, "omission": 0.6, "switching": 1.0})
        for seed in range(4):
            found = attempt(words_engine, env_id, seed, axes)
            if isinstance(found, str):
                assert f"turn budget of {turns}" in found
                continue
            check(found, axes)
            if turns < 4:
                assert not any(each.omitted or each.switch for each in intents(found))
            fitted[turns] = fitted.get(turns, 0) + 1
    # More time never makes fewer problems possible.
    assert list(fitted.values()) == sorted(fitted.values())
    assert fitted[5] == 4


def attempt(engine: Any, env_id: str, seed: int, axes: Difficulty) -> Problem | str:
    """A problem, or why there is none."""
    try:
        return draw(engine, env_id, seed, axes)
    except GenerationError as error:
        return str(error)


def test_what_a_tight_budget_gives_is_solved_within_it(words_engine: Any) -> None:
    solved: dict[str, int] = {}
    for env_id in EVERY:
        env = Environment((env_id,), words_engine)
        for turns, seed in itertools.product((2, 3, 4), range(4)):
            overrides = {"turn_budget": turns, "omission": 0.6, "switching": 1.0}
            if isinstance(attempt(words_engine, env_id, seed, difficulty(3, overrides)), str):
                continue
            reward = play(env, ReferenceAgent(), seed, 3, overrides)
            assert (reward.task, reward.correct) == (1.0, True), (env_id, turns, seed, reward.reason)
            solved[env_id] = solved.get(env_id, 0) + 1
    assert set(solved) == set(EVERY), solved


@pytest.mark.parametrize("env_id", EVERY)
def test_with_time_enough_nothing_is_dropped(words_engine: Any, env_id: str) -> None:
    axes = difficulty(9, {"turn_budget": 50, "tool_budget": 50, "switching": 1.0, "omission": 0.5})
    dropped = omitted = 0
    for seed in range(8):
        problem = draw(words_engine, env_id, seed, axes)
        dropped += len(problem.dropped)
        for each in intents(problem):
            omitted += len(each.omitted)
            assert each.world.stock.rate == rate_of_axis(problem, axes)
            assert len(each.omitted) == each.drawn["omitted"]
    assert dropped == 0
    assert omitted > 0


def test_things_sell_out_wherever_products_are_wanted(words_engine: Any) -> None:
    axes = difficulty(6, {"turn_budget": 50, "tool_budget": 50})
    selling = {env_id for env_id in EVERY if draw(words_engine, env_id, 0, axes).world.stock.rate > 0}
    assert selling == {"E_PD", "E_SUB", "E_CART", "E_BUNDLE", "E_RETURN", "E_JOURNEY"}


@pytest.mark.parametrize("env_id", ALONE)
def test_the_figures_that_were_drawn_survive_what_is_dropped(words_engine: Any, env_id: str) -> None:
    """The published tables are about what the axes drew, so a tight budget must not change them."""
    tight = difficulty(6, {"turn_budget": 5, "omission": 0.6})
    free = difficulty(6, {"turn_budget": 50, "tool_budget": 50, "omission": 0.6})
    compared = 0
    for seed in range(10):
        try:
            problem = draw(words_engine, env_id, seed, tight)
        except GenerationError:
            continue
        assert problem.drawn == draw(words_engine, env_id, seed, free).drawn
        compared += 1
    assert compared > 5


def test_a_tight_budget_drops_sell_outs_for_the_whole_episode(words_engine: Any) -> None:
    axes = difficulty(9, {"turn_budget": 5})
    dropped = [draw(words_engine, "E_CART", seed, axes).dropped for seed in range(40)]
    assert any(SELLOUT in hazards for hazards in dropped)
    assert any(OMISSION in hazards for hazards in dropped)
    for seed in range(40):
        problem = draw(words_engine, "E_CART", seed, axes)
        assert problem.plan.turns <= 5


def test_a_replacement_is_optional_and_goes_last(words_engine: Any) -> None:
    axes = difficulty(9, {"turn_budget": 3})
    for seed in range(30):
        problem = draw(words_engine, "E_RETURN", seed, axes)
        if OPTIONAL in problem.dropped:
            assert problem.goal.wish == "refund"
            assert not [slot for slot in problem.slots if slot.kind in ("constraint", "priority")]
            return
    pytest.fail("none of 30 problems lost its replacement to a budget of 3 turns")


def test_a_sell_out_dropped_for_one_intent_is_dropped_for_the_whole_journey(words_engine: Any) -> None:
    found = 0
    for seed in range(40):
        problem = draw(words_engine, "E_JOURNEY", seed, difficulty(1))
        if SELLOUT in problem.dropped:
            assert problem.world.stock.rate == 0
            found += 1
        else:
            assert problem.world.stock.rate == difficulty(1).sellout
    assert found > 0


def test_below_four_turns_nothing_is_omitted_or_changed(words_engine: Any) -> None:
    drawn = 0
    for env_id in EVERY:
        for seed in range(10):
            axes = difficulty(1, {"turn_budget": 3, "omission": 1.0, "switching": 1.0})
            try:
                problem = draw(words_engine, env_id, seed, axes)
            except GenerationError:
                continue
            assert not any(each.omitted or each.switch for each in intents(problem))
            drawn += 1
    assert drawn > 30


def test_a_budget_that_nothing_fits_is_a_clear_error(words_engine: Any) -> None:
    axes = difficulty(12, {"turn_budget": 2, "tool_budget": 2})
    for seed in range(5):
        with pytest.raises(GenerationError, match="turn budget of 2"):
            draw(words_engine, "E_CART", seed, axes)
