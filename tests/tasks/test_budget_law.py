"""The budget law: what is emitted fits its plan, and hazards are dropped in the stated order."""

from __future__ import annotations

from typing import Any

import pytest

from ecomrlve.collections import TASKS
from ecomrlve.difficulty import difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.tasks.base import OMISSION, OPTIONAL, SELLOUT, SWITCH, generate

ORDER = [SELLOUT, SWITCH, OMISSION, OPTIONAL]


@pytest.mark.parametrize("env_id", sorted(TASKS))
@pytest.mark.parametrize("d", [0, 1, 3, 6, 12])
def test_every_emitted_problem_fits_both_budgets(words_engine: Any, env_id: str, d: int) -> None:
    axes = difficulty(d)
    for seed in range(80):
        problem = generate(TASKS[env_id], words_engine, axes, (env_id, seed))
        assert problem.plan.turns <= axes.turn_budget
        assert problem.plan.calls <= axes.tool_budget
        assert list(problem.dropped) == [hazard for hazard in ORDER if hazard in problem.dropped]
        if SELLOUT in problem.dropped:
            assert problem.world.stock.rate == 0


def test_a_tight_budget_drops_sell_outs_for_the_whole_episode(words_engine: Any) -> None:
    axes = difficulty(9, {"turn_budget": 5})
    dropped = [generate(TASKS["E_CART"], words_engine, axes, ("E_CART", seed)).dropped for seed in range(40)]
    assert any(SELLOUT in hazards for hazards in dropped)
    assert any(OMISSION in hazards for hazards in dropped)
    for seed in range(40):
        problem = generate(TASKS["E_CART"], words_engine, axes, ("E_CART", seed))
        assert problem.plan.turns <= 5


def test_below_four_turns_nothing_is_omitted_or_changed(words_engine: Any) -> None:
    for seed in range(30):
        for env_id in TASKS:
            axes = difficulty(1, {"turn_budget": 3, "omission": 1.0, "switching": 1.0})
            problem = generate(TASKS[env_id], words_engine, axes, (env_id, seed))
            assert not problem.omitted
            assert not problem.switch


def test_a_budget_that_nothing_fits_is_a_clear_error(words_engine: Any) -> None:
    axes = difficulty(12, {"turn_budget": 2, "tool_budget": 2})
    for seed in range(5):
        with pytest.raises(GenerationError, match="turn budget of 2"):
            generate(TASKS["E_CART"], words_engine, axes, ("E_CART", seed))
