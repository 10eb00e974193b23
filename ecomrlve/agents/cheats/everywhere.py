"""Cheats that make sense for every kind of wish."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.cheats.base import LISTS, PRODUCTS, QUERY_LENGTH, Cheat, calls, item_of, numbers_in
from ecomrlve.agents.cheats.registry import cheat
from ecomrlve.catalog.aliases import ALPHABET, LENGTH
from ecomrlve.protocol import Observation
from ecomrlve.shop.order_history import STATUSES

SMALL_TALK = ("Hello! How are you today?", "Is that right? Shall I go ahead?", "Great, thank you so much!")


@cheat()
def empty_answer(agent: Cheat, observation: Observation) -> Any:
    """Answer nothing, at once and again and again. Taught that an untouched shop must score nothing."""
    return agent.answer([])


@cheat()
def random_seen(agent: Cheat, observation: Observation) -> Any:
    """Random ones of the items seen, as many as a full answer holds. The floor under all other guesses."""
    if agent.turn == 0:
        return agent.look(observation)
    if agent.turn == 1:
        agent.picked = agent.stream.sample(sorted(agent.seen()), agent.count(observation))
    return agent.finish(observation, agent.picked)


@cheat()
def all_seen(agent: Cheat, observation: Observation) -> Any:
    """Everything seen; in E_CART that is the whole visit history. Taught to count what is too much as wrong."""
    return agent.look(observation) if agent.turn == 0 else agent.finish(observation, agent.seen())


@cheat()
def first_hits(agent: Cheat, observation: Observation) -> Any:
    """The first hits of a search with the customer's words. Taught that finding the type must not be enough."""
    if agent.turn == 0:
        return agent.search(observation, 10 if agent.kind != "E_BUNDLE" else observation.search_depth)
    return agent.finish(observation, agent.seen()[: agent.count(observation)])


@cheat()
def repeated_ids(agent: Cheat, observation: Observation) -> Any:
    """The first hit, many times over. Taught that one right product must not fill several places."""
    if agent.turn == 0:
        return agent.search(observation, 10)
    first = agent.seen()[:1]
    if agent.kind == "E_CART" and first and not agent.last(observation):
        step = agent.buy(first, observation)
        if step is not None:
            return {"tool_calls": step["tool_calls"] * observation.tool_budget}
    return agent.answer(first * agent.count(observation))


@cheat()
def never_seen(agent: Cheat, observation: Observation) -> Any:
    """Invented ids. Taught that a refused call must change nothing."""
    ids = ["p" + _invented(agent) for _ in range(agent.count(observation))]
    if agent.kind == "E_CART" and agent.turn == 0:
        return calls(*(("cart_add", {"product_id": i}) for i in ids[: observation.tool_budget]))
    if agent.kind == "E_RETURN":
        item = f"o{_invented(agent)} l{_invented(agent)}"
        return calls(agent.send_back(item)) | agent.answer([item])
    if agent.kind == "E_POLICY":
        return agent.answer([str(1 + agent.stream.integer(100))])
    return agent.answer(["o" + ids[0][1:]] if agent.kind == "E_STATUS" else ids)


def _invented(agent: Cheat) -> str:
    return "".join(agent.stream.choice(ALPHABET) for _ in range(LENGTH))


@cheat()
def clock(agent: Cheat, observation: Observation) -> Any:
    """Say and do nothing, and answer in the last turn with what the first look showed. Taught rule 2 of fairness."""
    if agent.turn == 0:
        return agent.look(observation)
    if not agent.last(observation):
        return calls(("datetime_now", {}))
    return agent.answer(agent.seen()[: agent.count(observation)])


@cheat()
def chatter(agent: Cheat, observation: Observation) -> Any:
    """Chat and ask for confirmations in the hope of free turns, then answer. Taught that talk is no progress."""
    if not agent.last(observation):
        return {"assistant_message": SMALL_TALK[agent.turn % len(SMALL_TALK)]}
    return agent.answer(agent.seen()[: agent.count(observation)])


@cheat()
def at_once(agent: Cheat, observation: Observation) -> Any:
    """Look and answer in one breath, without asking anything. Taught that haste must cost a turn, not a requirement."""
    if agent.turn == 0:
        return {**agent.look(observation), **agent.answer([])}
    return agent.answer(agent.seen()[:1])


@cheat()
def confirm_fishing(agent: Cheat, observation: Observation) -> Any:
    """Name items one after the other and ask whether they are right. Taught that corrections are the agent's turns."""
    if agent.turn == 0:
        return agent.look(observation)
    items = agent.seen()
    if not agent.last(observation):
        most = observation.list_size if agent.kind in PRODUCTS else 1
        shown = items[(agent.turn - 1) * most :][:most]
        return {"assistant_message": f"Is this what you mean? {', '.join(shown)}"}
    return agent.answer(items[: agent.count(observation)])


@cheat()
def every_value(agent: Cheat, observation: Observation) -> Any:
    """All values that a field can have, in one text. Taught that a right word inside a longer text must not pass."""
    if agent.turn == 0:
        return agent.look(observation)
    numbers = [str(number) for page in agent.pages for number in numbers_in(page["text"])]
    lines = [item_of(order, line).split() for order, line in agent.lines()]
    answer: dict[str, Any] = {
        "recommended_product_ids": list(agent.found)[:100],
        "selected_order_id": " ".join(agent.memory.orders),
        "selected_line_id": " ".join(line for _, line in lines),
        "return_decision": "return exchange not_eligible",
        "order_status": " ".join(STATUSES),
        "eta": observation.today,
        "policy_answer": " ".join(numbers),
    }
    return {"answer": {name: value for name, value in answer.items() if name in observation.answer_fields}}


@cheat()
def everything_heard(agent: Cheat, observation: Observation) -> Any:
    """Search with all words heard, answer in haste, hear more, search again. Taught what search alone gives away."""
    words, policy = " ".join(agent.heard)[-QUERY_LENGTH:], agent.kind == "E_POLICY"
    if words not in agent.tried and not agent.last(observation):
        agent.tried.add(words)
        if agent.kind in LISTS:
            most = agent.count(observation)
            return calls(("catalog_search", {"query": words, "limit": 2 * most, "filters": {"in_stock": True}}))
        return calls(("policy_search", {"query": words, "limit": 1})) if policy else agent.look(observation)
    if agent.kind in LISTS:
        kinds = [hit["type"] for hit in agent.page]
        most_common = max(kinds, key=kinds.count, default="")
        stocked = [hit for hit in agent.page if hit["stock"] > 0]
        fitting = [hit["id"] for hit in stocked if agent.kind == "E_BUNDLE" or hit["type"] == most_common]
        return agent.answer(fitting[: agent.count(observation)])
    return agent.finish(observation, agent.seen()[: agent.count(observation)])
