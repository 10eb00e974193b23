"""Cheats on E_BUNDLE: something of every type, without the requirements or without the budget."""

from __future__ import annotations

import re
from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.cheats.base import NAMED, Cheat, calls, named_type
from ecomrlve.agents.cheats.lists import LIKE_NAMED
from ecomrlve.agents.cheats.registry import cheat
from ecomrlve.protocol import Observation

PER_PART = 8  # hits that a search for one named thing shows
# Up to four words between an article, typed well or not, and the end of an entry of a list.
_PART = re.compile(r"\b(?:an?|s[a-z]{1,2}e|some)\s+([\w'-]+(?:\s[\w'-]+){0,2}?)(?=\s*[,.?!]|\s+and\b|\s+for\b|\s+to\b)")

Shelves = dict[str, list[dict[str, Any]]]  # type → what is in stock of it, in the order of the search


def parts_named(words: str) -> list[str]:
    """The things that a list names: what stands behind "a", "an" or "some", up to a comma or the next of them."""
    return [match.strip() for match in _PART.findall(words.casefold())]


def shelves(agent: Cheat, observation: Observation, sort: str, limit: int = 30) -> dict[str, Any] | Shelves:
    """The next step of reading what is in stock of each part's type; once that is done, what was read.

    Each named thing is searched for, and the type of the hit that is named most like it is taken for what is meant.
    Each type is then searched for twice, time allowing, so that what is fated to sell out has done so.
    """
    count = agent.count(observation)
    for message in observation.messages:
        asked = message.get("args", {})
        if asked.get("query") in agent.tried and "filters" not in asked:
            words = asked["query"]
            kind = named_type([hit["type"] for hit in message["result"].get("results", [])], words)
            if kind and fuzz.ratio(kind, words) >= NAMED and kind not in agent.picked and len(agent.picked) < count:
                agent.picked.append(kind)
    todo: list[tuple[str, dict[str, Any]]] = []
    for words in parts_named(agent.wish):
        todo.append((words, {"query": words, "limit": PER_PART}))
    for look in ("first", "again"):
        for kind in agent.picked:
            filters = {"type": kind, "in_stock": True}
            todo.append((f"{look} {kind}", {"query": kind, "filters": filters, "sort": sort, "limit": limit}))
    todo = [step for step in todo if step[0] not in agent.tried][: observation.tool_budget]
    if todo and not agent.last(observation):
        agent.tried.update(name for name, _ in todo)
        return calls(*(("catalog_search", search) for _, search in todo))
    hits = [hit for hit in agent.found.values() if hit["stock"] > 0]
    if sort == "price_asc":
        hits.sort(key=lambda hit: hit["price"])
    if sort == "rating":
        hits.sort(key=lambda hit: -(hit.get("rating") or 0))
    found = {kind: [hit for hit in hits if hit["type"] == kind] for kind in agent.picked}
    return {kind: shelf for kind, shelf in found.items() if shelf}


def _nth(agent: Cheat, observation: Observation, sort: str, places: tuple[int, ...], share: float = 1.0) -> Any:
    """For each part the products at these places of its shelf; only for the first share of the parts."""
    found = shelves(agent, observation, sort)
    if "tool_calls" in found:
        return found
    kept = list(found.values())[: max(1, round(share * len(found)))]
    return agent.answer([shelf[place]["id"] for shelf in kept for place in places if place < len(shelf)])


@cheat("E_BUNDLE")
def cheapest_per_slot(agent: Cheat, observation: Observation) -> Any:
    """The cheapest product in stock for every part. Taught that the cheapest of a type must seldom fit."""
    return _nth(agent, observation, "price_asc", (0,))


@cheat("E_BUNDLE")
def second_cheapest_per_slot(agent: Cheat, observation: Observation) -> Any:
    """The second cheapest for every part. Taught to look beyond the one product that the lure is about."""
    return _nth(agent, observation, "price_asc", (1,))


@cheat("E_BUNDLE")
def third_cheapest_per_slot(agent: Cheat, observation: Observation) -> Any:
    """The third cheapest for every part. Taught to look beyond the one product that the lure is about."""
    return _nth(agent, observation, "price_asc", (2,))


@cheat("E_BUNDLE")
def two_per_slot(agent: Cheat, observation: Observation) -> Any:
    """The two cheapest for every part. Taught that a second product for a part must count as wrong."""
    return _nth(agent, observation, "price_asc", (0, 1))


@cheat("E_BUNDLE")
def half_the_slots(agent: Cheat, observation: Observation) -> Any:
    """The third cheapest for half of the parts, safely within the budget. Taught that missing parts must cost."""
    return _nth(agent, observation, "price_asc", (2,), 0.5)


@cheat("E_BUNDLE")
def best_rated_per_slot(agent: Cheat, observation: Observation) -> Any:
    """The best rated product for every part, whatever it costs: budget ignored. Taught what going over it costs."""
    return _nth(agent, observation, "rating", (0,))


@cheat("E_BUNDLE")
def first_hit_per_slot(agent: Cheat, observation: Observation) -> Any:
    """Whatever a search for each part's type shows first. Taught that the types alone must not pay."""
    return _nth(agent, observation, "relevance", (0,))


@cheat("E_BUNDLE")
def said_as_query(agent: Cheat, observation: Observation) -> Any:
    """For every part the first hit of a search with all words of the customer. Taught what search gives away."""
    found = shelves(agent, observation, "price_asc", 1)
    if "tool_calls" in found and len(agent.picked) < agent.count(observation) and observation.intent_turns_left > 3:
        return found
    for message in observation.messages:
        if message["role"] == "tool" and message["args"].get("limit") == 3:
            agent.notes.update((hit["type"], hit["id"]) for hit in message["result"].get("results", [])[:1])
    words = " ".join(agent.heard)[-350:]
    todo = [kind for kind in agent.picked if f"{kind} {len(words)}" not in agent.tried]
    if todo and not agent.last(observation):
        now = todo[: observation.tool_budget]
        agent.tried.update(f"{kind} {len(words)}" for kind in now)
        wanted = [{"query": f"{kind} {words}", "filters": {"type": kind, "in_stock": True}, "limit": 3} for kind in now]
        return calls(*(("catalog_search", search) for search in wanted))
    return agent.answer([product for kind, product in agent.notes.items() if kind in agent.picked])


@cheat("E_BUNDLE")
def swap_what_is_blamed(agent: Cheat, observation: Observation) -> Any:
    """Show the cheapest of every part, and the next cheapest of whatever the customer complains about, unread.

    Taught how far corrections carry someone who does not read what they say.
    """
    found = shelves(agent, observation, "price_asc")
    if "tool_calls" in found:
        return found
    blamed = agent.reply.casefold()
    basket = [next((hit for hit in shelf if hit["id"] not in agent.tried), None) for shelf in found.values()]
    for hit in basket:
        if hit is not None and fuzz.partial_ratio(hit["title"].casefold(), blamed) >= LIKE_NAMED:
            agent.tried.add(hit["id"])
    left = [next((hit["id"] for hit in shelf if hit["id"] not in agent.tried), "") for shelf in found.values()]
    shown = [identifier for identifier in left if identifier]
    if agent.last(observation):
        return agent.answer(shown)
    return {"assistant_message": f"How about these: {', '.join(shown)}? Are they right?"}


@cheat("E_BUNDLE")
def one_product_many_times(agent: Cheat, observation: Observation) -> Any:
    """The cheapest product of one part in the place of all. Taught that an id must fill one part once."""
    found = shelves(agent, observation, "price_asc")
    if "tool_calls" in found:
        return found
    first = next((shelf[0]["id"] for shelf in found.values() if shelf), None)
    return agent.answer([first] * agent.count(observation) if first else [])
