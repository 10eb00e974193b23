"""Cheats on E_JOURNEY: on the order of the wishes, rather than on one of them."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.cheats.base import Cheat
from ecomrlve.agents.cheats.registry import CHEATS, cheat
from ecomrlve.protocol import Observation

# The rule that does best on each kind of wish.
BEST = {
    "E_CART": "right_items_first_variant", "E_SUB": "most_similar_compatible", "E_PD": "all_common_numbers",
    "E_RETURN": "titled_like_words", "E_STATUS": "order_titled_like_opening", "E_POLICY": "random_outcome",
    "E_BUNDLE": "said_as_query",
}  # fmt: skip


@cheat("E_JOURNEY")
def best_of_each(agent: Cheat, observation: Observation) -> Any:
    """For every wish the cheat that does best on its kind. Taught that wishes must not be easier in company."""
    return CHEATS[BEST[agent.kind]](agent, observation)


@cheat("E_JOURNEY")
def rush_to_last(agent: Cheat, observation: Observation) -> Any:
    """Empty answers to all wishes but the last, which gets the best cheat. Taught that turns cannot be saved up."""
    if agent.wishes < agent.expected:
        return agent.answer([])
    return best_of_each(agent, observation)


@cheat("E_JOURNEY")
def only_the_first(agent: Cheat, observation: Observation) -> Any:
    """The best cheat for the first wish, empty answers from then on. Taught that an unmet wish costs as much."""
    return best_of_each(agent, observation) if agent.wishes == 1 else agent.answer([])


@cheat("E_JOURNEY")
def never_answer(agent: Cheat, observation: Observation) -> Any:
    """Look at everything and never answer. Taught that a wish without an answer counts as failed."""
    return agent.look(observation)


@cheat("E_JOURNEY")
def undo_everything(agent: Cheat, observation: Observation) -> Any:
    """As the best of each, but empty the cart and cancel all returns in between. Taught to judge the final world."""
    removals: list[dict[str, Any]] = [
        {"name": "cart_remove", "args": {"product_id": product} | ({"variant_id": variant} if variant else {})}
        for product, variant in agent.memory.cart
    ]
    removals += [{"name": "return_cancel", "args": {"return_id": made}} for made in agent.memory.returns]
    if agent.turn == 0 and removals and agent.wishes > 1:
        return {"tool_calls": removals[: observation.tool_budget]} | agent.answer([])
    return best_of_each(agent, observation)
