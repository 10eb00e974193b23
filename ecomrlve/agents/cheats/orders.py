"""Cheats on E_STATUS and E_RETURN: guesses at the order, the line, its status, and whether it may go back."""

from __future__ import annotations

import datetime
from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.cheats.base import Cheat, calls, item_of, named_type, return_answer, status_answer
from ecomrlve.agents.cheats.registry import cheat
from ecomrlve.protocol import Observation

SHORTEST_WORD, LIKE_NAMED = 4, 85  # of values that a text may name; of 100, from where it counts as naming one
MOST_QUESTIONS = 2  # a customer whom three turns in a row bring nothing leaves
OrderLine = tuple[dict[str, Any], dict[str, Any]]  # an order and one of its lines


def read_orders(agent: Cheat, observation: Observation) -> dict[str, Any] | None:
    """The next pages of the list of orders; None once all were read, or there is no time."""
    if agent.memory.orders_finished or agent.last(observation):
        return None
    first = agent.memory.order_pages + 1
    return calls(*(("order_list", {"page": page}) for page in range(first, first + observation.tool_budget)))


def _random_order(agent: Cheat) -> dict[str, Any] | None:
    if not agent.picked and agent.memory.orders:
        agent.picked = [agent.stream.choice(sorted(agent.memory.orders))]
    return agent.memory.orders[agent.picked[0]] if agent.picked else None


# --- E_STATUS --------------------------------------------------------------------------------------------------------


@cheat("E_STATUS")
def random_order_fixed_status(agent: Cheat, observation: Observation) -> Any:
    """A random order, said to be delivered. Taught to draw all statuses alike."""
    step = read_orders(agent, observation)
    order = _random_order(agent)
    return step or status_answer(order["order_id"] if order else "", "delivered")


@cheat("E_STATUS")
def random_order_true_status(agent: Cheat, observation: Observation) -> Any:
    """A random order with its own status and estimate. The floor that only the number of orders can lower."""
    step = read_orders(agent, observation)
    if step:
        return step
    order = _random_order(agent)
    if order is None:
        return status_answer("", "")
    return tracked(agent, observation, order)


def tracked(agent: Cheat, observation: Observation, order: dict[str, Any]) -> dict[str, Any]:
    """An answer with all that the shop knows of an order, once it was tracked."""
    known = agent.memory.tracked.get(order["order_id"])
    if known is None and not agent.last(observation):
        return calls(("order_track", {"order_id": order["order_id"]}))
    return status_answer(order["order_id"], order["status"], (known or {}).get("eta") or "")


@cheat("E_STATUS")
def newest_order(agent: Cheat, observation: Observation) -> Any:
    """The newest order with its status. Taught that customers must not ask about the newest order above all."""
    if agent.turn == 0:
        return calls(("order_list", {"page": 1}))
    order = max(agent.memory.orders.values(), key=lambda found: found["placed"], default=None)
    return tracked(agent, observation, order) if order else status_answer("", "")


@cheat("E_STATUS")
def order_on_its_way(agent: Cheat, observation: Observation) -> Any:
    """A random order that is still on its way. Taught that who asks for a status need not be waiting."""
    step = read_orders(agent, observation)
    if step:
        return step
    over = ("delivered", "cancelled", "returned")
    moving = [order["order_id"] for order in agent.memory.orders.values() if order["status"] not in over]
    agent.picked = agent.picked or agent.stream.sample(sorted(moving or agent.memory.orders), 1)
    return tracked(agent, observation, agent.memory.orders[agent.picked[0]]) if agent.picked else status_answer("", "")


@cheat("E_STATUS")
def order_titled_like_opening(agent: Cheat, observation: Observation) -> Any:
    """The order with a title that stands nearest to the opening. Taught to leave what identifies unsaid at first."""
    step = read_orders(agent, observation)
    if step:
        return step
    said = agent.wish.casefold()
    order = max(
        agent.memory.orders.values(),
        key=lambda found: max(fuzz.partial_ratio(line["title"].casefold(), said) for line in found["lines"]),
        default=None,
    )
    return tracked(agent, observation, order) if order else status_answer("", "")


@cheat("E_STATUS", "E_RETURN")
def ask_about_each(agent: Cheat, observation: Observation) -> Any:
    """Ask of one order after the other whether it is the one, by id and title, and take the one last asked about.

    Taught that the customer must not confirm what only the shop can know, and that it knows no ids.
    """
    step = read_orders(agent, observation)
    if step:
        return step
    agent.picked = agent.picked or agent.stream.shuffled(sorted(item_of(order, line) for order, line in agent.lines()))
    if not agent.picked:
        return agent.answer([])
    item = agent.picked[min(len(agent.tried), len(agent.picked) - 1)]
    order, line = next(found for found in agent.lines() if item_of(*found) == item)
    if len(agent.tried) < MOST_QUESTIONS and not agent.last(observation) and "yes" not in agent.reply.casefold():
        agent.tried.add(item)
        return {"assistant_message": f"Do you mean the {line['title']} of order {order['order_id']}? Is that right?"}
    return agent.answer([item if agent.kind == "E_RETURN" else order["order_id"]])


# --- E_RETURN --------------------------------------------------------------------------------------------------------


def lines_named(agent: Cheat) -> list[OrderLine]:
    """Delivered lines of the type that the opening names; all delivered lines where it names none."""
    delivered = [(order, line) for order, line in agent.lines() if order["status"] == "delivered"]
    kind = named_type([line["type"] for _, line in delivered], agent.wish)
    return [(order, line) for order, line in delivered if line["type"] == kind] or delivered


def one_line(agent: Cheat) -> str:
    """One of them at random, the same one throughout a wish."""
    if not agent.picked:
        agent.picked = agent.stream.sample(sorted(item_of(order, line) for order, line in lines_named(agent)), 1)
    return agent.picked[0] if agent.picked else ""


@cheat("E_RETURN")
def return_every_line(agent: Cheat, observation: Observation) -> Any:
    """Return every line of the type, as far as the shop lets it. Taught that any other transaction is wrong."""
    step = read_orders(agent, observation)
    if step:
        return step
    items = [item_of(order, line) for order, line in lines_named(agent)]
    todo = [item for item in items if item not in agent.tried]
    if todo and not agent.last(observation):
        now = todo[: observation.tool_budget]
        agent.tried.update(now)
        return calls(*(agent.send_back(item) for item in now))
    return return_answer(one_line(agent), "return")


@cheat("E_RETURN")
def never_eligible(agent: Cheat, observation: Observation) -> Any:
    """A random line of the type, said not to be eligible. Taught to have several lines of each type."""
    return read_orders(agent, observation) or return_answer(one_line(agent), "not_eligible")


@cheat("E_RETURN")
def returned_earlier(agent: Cheat, observation: Observation) -> Any:
    """A line of the type that went back earlier, said not to be eligible. Taught to refuse for many causes."""
    step = read_orders(agent, observation)
    if step:
        return step
    gone = sorted(item_of(order, line) for order, line in lines_named(agent) if line.get("returned"))
    return return_answer(gone[0] if gone else one_line(agent), "not_eligible")


@cheat("E_RETURN")
def oldest_not_eligible(agent: Cheat, observation: Observation) -> Any:
    """The line of the type that arrived first, said not to be eligible. Taught that age must not single out a line."""
    step = read_orders(agent, observation)
    if step:
        return step
    oldest = min(lines_named(agent), key=lambda found: found[0].get("delivered", "9"), default=None)
    return return_answer(item_of(*oldest) if oldest else "", "not_eligible")


@cheat("E_RETURN")
def titled_like_words(agent: Cheat, observation: Observation) -> Any:
    """The line whose fields stand nearest to all the customer's words, said not to be eligible; at first in haste.

    Taught what the right line is worth to someone who never looks at the policy.
    """
    step = read_orders(agent, observation)
    if step:
        return step
    said = " ".join(agent.heard).casefold()
    best = max(lines_named(agent), key=lambda found: _likeness(found[0], found[1], said), default=None)
    return return_answer(item_of(*best) if best else "", "not_eligible")


def _likeness(order: dict[str, Any], line: dict[str, Any], said: str) -> float:
    """How many of a line's fields the words seem to name, the telling ones counting more."""
    days = [day for day in (order["placed"], order.get("delivered")) if day]
    exact = [f"${line['price']:g}", *(form for day in days for form in _written(datetime.date.fromisoformat(day)))]
    likely = [str(value) for value in line["attributes"].values() if len(str(value)) >= SHORTEST_WORD]
    found = 3.0 * sum(fact in said for fact in exact)
    found += fuzz.partial_ratio(line["title"].casefold(), said) / 25
    found += 2.0 * (fuzz.partial_ratio(line.get("brand", "?").casefold(), said) >= LIKE_NAMED)
    return found + sum(fuzz.partial_ratio(value.casefold(), said) >= LIKE_NAMED for value in likely)


def _written(day: datetime.date) -> tuple[str, ...]:
    """A day as people write it, in lower case."""
    month = f"{day:%B}".lower()
    return day.isoformat(), f"{month} {day.day}, {day.year}", f"{day.day} {month} {day.year}"


def _checked(agent: Cheat, observation: Observation) -> dict[str, Any] | None:
    """The next checks of lines of the type; None once all were made."""
    items = [item_of(order, line) for order, line in lines_named(agent)]
    todo = [item for item in items if tuple(item.split()) not in agent.memory.checked]
    if not todo or agent.last(observation):
        return None
    now = [dict(zip(("order_id", "line_id"), item.split(), strict=True)) for item in todo[: observation.tool_budget]]
    return calls(*(("return_check_eligibility", ids) for ids in now))


@cheat("E_RETURN")
def first_that_may_not_go(agent: Cheat, observation: Observation) -> Any:
    """Check all lines of the type; name a line that may not go back, if one exists. Taught what checking gives away."""
    step = read_orders(agent, observation) or _checked(agent, observation)
    if step:
        return step
    items = [item_of(order, line) for order, line in lines_named(agent)]
    refused = [i for i in items if not agent.memory.checked.get(_pair(i), {"returnable": True})["returnable"]]
    return return_answer((refused or [one_line(agent)])[0], "not_eligible")


@cheat("E_RETURN")
def first_that_may_go(agent: Cheat, observation: Observation) -> Any:
    """Check all lines of the type; return the first that may go back. Taught that the line must be told from others."""
    step = read_orders(agent, observation) or _checked(agent, observation)
    if step:
        return step
    items = [item_of(order, line) for order, line in lines_named(agent)]
    free = [i for i in items if agent.memory.checked.get(_pair(i), {"reasons": []})["reasons"]]
    if not free:
        return return_answer(one_line(agent), "not_eligible")
    reason = agent.memory.checked[_pair(free[0])]["reasons"][0]
    answer = return_answer(free[0], "return")
    return answer if agent.memory.returns else calls(agent.send_back(free[0], reason, "original_payment")) | answer


def _pair(item: str) -> tuple[str, str]:
    order_id, line_id = item.split()
    return order_id, line_id


@cheat("E_RETURN")
def until_accepted(agent: Cheat, observation: Observation) -> Any:
    """Try to return one line after the other until the shop accepts one. Taught that being let is not being right."""
    step = read_orders(agent, observation)
    if step:
        return step
    made = next(iter(agent.memory.returns.values()), None)
    if made is not None:
        return return_answer(f"{made['order_id']} {made['line_id']}", "return")
    todo = [i for order, line in lines_named(agent) if (i := item_of(order, line)) not in agent.tried]
    if todo and not agent.last(observation):
        agent.tried.add(todo[0])
        return calls(agent.send_back(todo[0]))
    return return_answer(one_line(agent), "not_eligible")


@cheat("E_RETURN")
def return_then_cancel(agent: Cheat, observation: Observation) -> Any:
    """Return lines, cancel all of it, and say that none was eligible. Taught that the world as it stands counts."""
    step = read_orders(agent, observation)
    if step:
        return step
    if agent.memory.returns:
        return calls(*(("return_cancel", {"return_id": made}) for made in agent.memory.returns))
    if not agent.tried and not agent.last(observation):
        agent.tried.add("returned")
        items = [item_of(order, line) for order, line in lines_named(agent)]
        return calls(*(agent.send_back(item) for item in items[: observation.tool_budget]))
    return return_answer(one_line(agent), "not_eligible")


def _exchanged(agent: Cheat, observation: Observation, sort: str) -> Any:
    """Exchange a random line of the type for the first product in stock of that type."""
    step = read_orders(agent, observation)
    if step:
        return step
    item = one_line(agent)
    made = next(iter(agent.memory.returns.values()), None)
    if made is not None or agent.last(observation) or not item or len(agent.tried) > 2:
        return return_answer(item, "exchange" if made else "not_eligible", list(agent.notes)[:1])
    line = next(line for order, line in agent.lines() if item_of(order, line) == item)
    hits = [hit for hit in agent.found.values() if hit["type"] == line["type"] and hit["stock"] > 0]
    hits = [hit for hit in hits if hit["id"] != line["product_id"]]
    if not hits:
        agent.tried.add(f"searched in turn {agent.turn}")
        query = line["title"] if sort == "relevance" else line["type"]
        wanted = {"query": query, "filters": {"type": line["type"], "in_stock": True}, "sort": sort, "limit": 10}
        return calls(("catalog_search", wanted))
    product = hits[0]["id"]
    if hits[0].get("has_variants") and product not in agent.memory.variants:
        return calls(("catalog_get_variants", {"product_id": product}))
    variants = [entry["variant_id"] for entry in agent.memory.variants.get(product, []) if entry["stock"] > 0]
    agent.notes[product] = "exchanged for"
    agent.tried.add(f"exchanged in turn {agent.turn}")
    order_id, line_id = item.split()
    wanted = {"order_id": order_id, "line_id": line_id, "reason": "damaged", "new_product_id": product}
    return calls(("return_exchange", wanted | ({"new_variant_id": variants[0]} if variants else {})))


@cheat("E_RETURN")
def exchange_for_cheapest(agent: Cheat, observation: Observation) -> Any:
    """Exchange a random line of the type for the cheapest of it. Taught that being let is not being right."""
    return _exchanged(agent, observation, "price_asc")


@cheat("E_RETURN")
def exchange_for_best_rated(agent: Cheat, observation: Observation) -> Any:
    """Exchange a random line of the type for the best rated of it. Taught that being let is not being right."""
    return _exchanged(agent, observation, "rating")


@cheat("E_RETURN")
def exchange_for_most_similar(agent: Cheat, observation: Observation) -> Any:
    """Exchange a random line of the type for its likeness. Taught that being let is not being right."""
    return _exchanged(agent, observation, "relevance")
