"""Cheats on E_CART: products that are named, without what was asked of them."""

from __future__ import annotations

from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.cheats.base import Cheat, calls
from ecomrlve.agents.cheats.everywhere import SMALL_TALK
from ecomrlve.agents.cheats.registry import cheat
from ecomrlve.protocol import Observation


def named_products(agent: Cheat, most: int) -> list[str]:
    """One product of each type of the history: the one whose title stands nearest to the words, typos and all."""
    said = agent.wish.casefold()
    ranked = sorted(agent.found.values(), key=lambda hit: -fuzz.partial_ratio(hit["title"].casefold(), said))
    chosen: dict[str, str] = {}
    for hit in ranked:
        chosen.setdefault(hit["type"], hit["id"])
    return list(chosen.values())[:most]


@cheat("E_CART")
def right_items_first_variant(agent: Cheat, observation: Observation) -> Any:
    """The products that the opening names, one of each in its first variant. Taught to compare product and variant."""
    if agent.turn == 0:
        return agent.look(observation)
    return agent.finish(observation, named_products(agent, 100))


@cheat("E_CART")
def every_variant(agent: Cheat, observation: Observation) -> Any:
    """All variants of the products that the opening names. Taught what a cart may hold too much."""
    if agent.turn == 0:
        return agent.look(observation)
    ids = named_products(agent, agent.count(observation))
    fresh = [i for i in ids if agent.memory.hits[i].get("has_variants") and i not in agent.memory.variants]
    if agent.last(observation):
        return agent.answer([])
    if fresh:
        return calls(*(("catalog_get_variants", {"product_id": i}) for i in fresh[: observation.tool_budget]))
    steps: list[tuple[str, dict[str, Any]]] = []
    for identifier in ids:
        for variant in agent.memory.variants.get(identifier) or [{}]:
            chosen = {"variant_id": variant["variant_id"]} if variant else {}
            key = str((identifier, chosen))
            if key not in agent.tried and len(steps) < observation.tool_budget:
                agent.tried.add(key)
                steps.append(("cart_add", {"product_id": identifier, **chosen}))
    return calls(*steps) if steps else agent.answer([])


@cheat("E_CART")
def two_of_each(agent: Cheat, observation: Observation) -> Any:
    """Two of each product that the opening names. Taught that a right product in excess is wrong."""
    if agent.turn == 0:
        return agent.look(observation)
    if not agent.last(observation):
        step = agent.buy(named_products(agent, agent.count(observation)), observation)
        if step is not None:
            for made in step["tool_calls"]:
                if made["name"] == "cart_add":
                    made["args"]["qty"] = 2
            return step
    return agent.answer([])


@cheat("E_CART")
def add_and_remove(agent: Cheat, observation: Observation) -> Any:
    """Fill the cart, empty it, and fill it again. Taught that the way to a cart must count for nothing."""
    if agent.turn == 0:
        return agent.look(observation)
    if agent.memory.cart and not agent.last(observation):
        lines = list(agent.memory.cart)[: observation.tool_budget]
        agent.tried.clear()
        return calls(
            *(("cart_remove", {"product_id": p} | ({"variant_id": v} if v else {})) for p, v in lines)
        )  # fmt: skip
    return agent.finish(observation, named_products(agent, agent.count(observation)))


@cheat("E_CART")
def next_variant_until_quiet(agent: Cheat, observation: Observation) -> Any:
    """Put named products into the cart, and the next variant of whichever the customer complains about, unread.

    Taught how far corrections alone carry: a variant that was tried is ruled out without being understood.
    """
    if agent.turn == 0:
        return agent.look(observation)
    if agent.last(observation):
        return agent.answer([])
    ids = named_products(agent, agent.count(observation))
    step = agent.buy(ids, observation)
    if step is not None:
        return {**step, "assistant_message": "I put these into the cart. Is everything right?"}
    swaps: list[tuple[str, dict[str, Any]]] = []
    blamed = agent.reply.casefold()
    for product, variant in agent.memory.cart:
        variants = [entry["variant_id"] for entry in agent.memory.variants.get(product) or []]
        title = agent.memory.hits[product]["title"].casefold()
        if variant in variants and product in ids and fuzz.partial_ratio(title, blamed) >= 80:
            following = variants[(variants.index(variant) + 1) % len(variants)]
            swaps.append(("cart_remove", {"product_id": product, "variant_id": variant}))
            swaps.append(("cart_add", {"product_id": product, "variant_id": following}))
    if not swaps:
        return {"assistant_message": SMALL_TALK[1]}
    return {**calls(*swaps[: observation.tool_budget]), "assistant_message": "I changed it. Is it right now?"}
