"""Cheats on lists of recommended products (E_PD, E_SUB): the right type, and what a search or a number gives away."""

from __future__ import annotations

import re
from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.cheats.base import LISTS, PRODUCTS, Cheat, calls, named_type
from ecomrlve.agents.cheats.registry import cheat
from ecomrlve.agents.memory import value_of
from ecomrlve.protocol import Observation

LIKE_NAMED = 80  # similarity of a title from which a complaint counts as being about it
_MONEY = re.compile(r"\$(\d[\d,]*(?:\.\d+)?)")
_STARS = re.compile(r"(\d(?:\.\d)?) sta?r?s?", re.IGNORECASE)
_DAYS = re.compile(r"(\d+) d\w+", re.IGNORECASE)


@cheat(*PRODUCTS)
def best_rated(agent: Cheat, observation: Observation) -> Any:
    """The best rated hits of the opening's words, whatever is required. Taught that a priority is no requirement."""
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    hits = sorted(agent.found.values(), key=lambda hit: -(hit.get("rating") or 0))
    return agent.finish(observation, [hit["id"] for hit in hits[: agent.count(observation)]])


@cheat(*PRODUCTS)
def cheapest(agent: Cheat, observation: Observation) -> Any:
    """The cheapest hits of the opening's words, whatever is required. Taught that a priority is no requirement."""
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    hits = sorted(agent.found.values(), key=lambda hit: hit["price"])
    return agent.finish(observation, [hit["id"] for hit in hits[: agent.count(observation)]])


def of_type(agent: Cheat, observation: Observation, sort: str, **filters: Any) -> Any:
    """Look twice at what is in stock of the type named, so that what sells out has done so, and take the first."""
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    if agent.turn <= 2 and not agent.last(observation):
        kind = named_type([hit["type"] for hit in agent.found.values()], agent.wish)
        wanted = {"in_stock": True, **({"type": kind} if kind else {}), **filters}
        search = {"query": kind or "", "filters": wanted, "sort": sort, "limit": observation.search_depth}
        agent.picked = [kind or ""]
        return calls(("catalog_search", search))
    hits = [hit for hit in agent.page if hit["type"] in agent.picked and hit["stock"] > 0]
    return agent.finish(observation, [hit["id"] for hit in hits[: agent.count(observation)]])


@cheat("E_PD", "E_SUB")
def best_rated_of_type(agent: Cheat, observation: Observation) -> Any:
    """The best rated of the type that are in stock. Taught that requirements must exclude most of a type."""
    return of_type(agent, observation, "rating")


@cheat("E_PD", "E_SUB")
def cheapest_of_type(agent: Cheat, observation: Observation) -> Any:
    """The cheapest of the type that are in stock. Taught that requirements must exclude most of a type."""
    return of_type(agent, observation, "price_asc")


@cheat("E_PD", "E_SUB")
def numbers_of_opening(agent: Cheat, observation: Observation) -> Any:
    """The type, and the price, stars and days that the opening names. Taught what a third of understanding is worth."""
    return of_type(agent, observation, "rating", **common_numbers(agent.wish))


@cheat("E_PD", "E_SUB")
def all_common_numbers(agent: Cheat, observation: Observation) -> Any:
    """The type with all prices, stars and days that were said, and no other property; in haste, until all was said.

    Taught that requirements must not all be of the three properties that every product has.
    """
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    if not agent.picked:
        agent.picked = [named_type([hit["type"] for hit in agent.found.values()], agent.wish) or ""]
    words = " ".join(agent.heard)
    if words not in agent.tried and not agent.last(observation):
        agent.tried.add(words)
        filters = {"in_stock": True, "type": agent.picked[0], **common_numbers(words)}
        search = {"query": agent.picked[0], "filters": filters, "sort": "rating", "limit": 2 * observation.list_size}
        return calls(("catalog_search", search))
    hits = [hit for hit in agent.page if hit["type"] in agent.picked and hit["stock"] > 0]
    return agent.answer([hit["id"] for hit in hits[: agent.count(observation)]])


def common_numbers(words: str) -> dict[str, Any]:
    """Filters for the prices, stars and days that some words name; the last one said of each counts."""
    filters: dict[str, Any] = {}
    money, stars, days = _MONEY.findall(words), _STARS.findall(words), _DAYS.findall(words)
    if money:
        filters["price"] = {"le": float(money[-1].replace(",", ""))}
    if stars:
        filters["rating"] = {"ge": min(5.0, float(stars[-1]))}
    if days and int(days[-1]) < 1000:
        filters["ship_days"] = {"le": int(days[-1])}
    return filters


def sold_out_product(agent: Cheat) -> dict[str, Any] | None:
    """The product whose title stands nearest to the opening's words."""
    said = agent.wish.casefold()
    return max(agent.found.values(), key=lambda hit: fuzz.partial_ratio(hit["title"].casefold(), said), default=None)


def _alike(agent: Cheat, observation: Observation, compatible: bool) -> Any:
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    original = sold_out_product(agent) if not agent.picked else agent.memory.hits[agent.picked[0]]
    if original is None:
        return agent.answer([])
    agent.picked = [original["id"]]
    if agent.turn <= 2 and not agent.last(observation):
        wanted = {"product_id": original["id"], "limit": observation.search_depth}
        return calls(("catalog_similar", wanted | ({"filters": {"in_stock": True}} if compatible else {})))
    hits = agent.page
    shared = agent.memory.compatible_by.get(original["id"])
    if compatible:
        hits = [hit for hit in hits if hit["type"] == original["type"] and hit["stock"] > 0]
        if shared:
            hits = [hit for hit in hits if value_of(hit, shared) == value_of(original, shared)]
    return agent.finish(observation, [hit["id"] for hit in hits[: agent.count(observation)]])


@cheat("E_SUB")
def most_similar(agent: Cheat, observation: Observation) -> Any:
    """The first of catalog_similar, whatever is required. Taught that similarity must not imply the requirements."""
    return _alike(agent, observation, False)


@cheat("E_SUB")
def most_similar_compatible(agent: Cheat, observation: Observation) -> Any:
    """The most similar ones that are compatible and in stock, whatever is required. Taught the same, twice over."""
    return _alike(agent, observation, True)


@cheat("E_SUB")
def the_original(agent: Cheat, observation: Observation) -> Any:
    """The sold-out product itself and its namesakes. Taught that nothing is as similar as the thing itself."""
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    original = sold_out_product(agent)
    same = [] if original is None else [hit for hit in agent.found.values() if hit["title"] == original["title"]]
    return agent.finish(observation, [hit["id"] for hit in same[: agent.count(observation)]])


@cheat("E_PD", "E_SUB")
def drop_what_is_blamed(agent: Cheat, observation: Observation) -> Any:
    """Show products of the type, drop those whose titles the customer complains about, show others in their place.

    Taught how far corrections carry someone who does not read what they say.
    """
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    kind = named_type([hit["type"] for hit in agent.found.values()], agent.wish)
    if agent.turn == 1:
        wanted = {"type": kind or "", "in_stock": True}
        search = {"query": agent.wish[:200], "filters": wanted, "limit": observation.search_depth}
        return calls(("catalog_search", search))
    blamed = agent.reply.casefold()
    for identifier in agent.picked:
        if fuzz.partial_ratio(agent.found[identifier]["title"].casefold(), blamed) >= LIKE_NAMED:
            agent.tried.add(identifier)
    stocked = [hit["id"] for hit in agent.found.values() if hit["type"] == kind and hit["stock"] > 0]
    left = [identifier for identifier in stocked if identifier not in agent.tried]
    agent.picked = left[: agent.count(observation)]
    if agent.last(observation):
        return agent.answer(agent.picked)
    return {"assistant_message": f"How about these: {', '.join(agent.picked)}? Are they right?"}


@cheat(*LISTS)
def whole_page(agent: Cheat, observation: Observation) -> Any:
    """A hundred products of the type. Taught to cut the list before judging it."""
    if agent.turn == 0:
        return agent.search(observation, observation.search_depth)
    kind = named_type([hit["type"] for hit in agent.found.values()], agent.wish)
    return agent.answer([hit["id"] for hit in agent.found.values() if hit["type"] == kind])
