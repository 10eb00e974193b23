"""Agents that follow a script which leads to one kind of failure. They look at the goal, which agents proper cannot."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from saboteur import Json, call

from ecomrlve.catalog.filters import satisfied
from ecomrlve.episode import Episode
from ecomrlve.tasks.discovery import constraint_of

QUESTION = "Is that all right so?"


class Script:
    """Plays what a generator gives, and its last action again and again when there is nothing more.

    Args:
        write: Given the episode, gives the actions; it goes on only when the next one is due.
    """

    name = "script"

    def __init__(self, write: Callable[[Episode], Iterator[Json]]):
        self._write = write

    def reset(self, env: Any) -> None:
        self._actions = self._write(env.episode)
        self._last: Json = {}

    def act(self, observation: Any) -> Json:
        self._last = next(self._actions, self._last)
        return copy.deepcopy(self._last)


def first(lists: list[list[Any]]) -> Any:
    """The first thing there is; a LookupError where an episode offers none."""
    return [one for listed in lists for one in listed][0]  # noqa: RUF015 — a StopIteration would end the script


def greets(episode: Episode) -> Iterator[Json]:
    """Brings nothing new, turn by turn."""
    yield {"assistant_message": "Hello."}


def browses(episode: Episode) -> Iterator[Json]:
    """Looks at something new in every turn, and never answers."""
    if "catalog_search" not in episode.task.tools:
        for page in range(1, 30):
            yield {"tool_calls": [call("order_list", page=page)]}
    for name in episode.world.catalog.type_names:
        yield {"tool_calls": [call("catalog_search", query=name, filters={"type": name})]}


def answers_at_once(episode: Episode) -> Iterator[Json]:
    """Answers without a look at anything."""
    yield {"answer": {"selected_order_id": "", "policy_answer": 30, "recommended_product_ids": []}}


# --- what nobody asked for -------------------------------------------------------------------------------------------


def searches(episode: Episode) -> Json:
    """All products of the type wanted."""
    kind = episode.problem.goal.type
    return call("catalog_search", query=kind, filters={"type": kind}, limit=episode.axes.search_depth)


def products(episode: Episode, *, meeting: set[str], missing: set[str]) -> list[str]:
    """Lasting products of the type that meet these requirements, as they stand, and none of those."""
    world, goal = episode.world, episode.problem.goal
    mask = goal.alive.copy()
    for key in meeting | missing:
        mask &= satisfied(world.catalog, goal.rows, constraint_of(episode.ledger.slots[key])) == (key in meeting)
    return [world.product_id(int(row)) for row in goal.rows[mask] if int(row) in world.seen]


def lists_without_asking(episode: Episode) -> Iterator[Json]:
    """Recommends, among others, a product that meets what the opening says and no more, and stays with it."""
    keys = {slot.key for slot in episode.problem.slots if slot.kind == "constraint"}
    unsaid = {key for key in keys if key in episode.problem.omitted}
    yield {"tool_calls": [searches(episode)]}
    fitting = products(episode, meeting=keys, missing=set())
    unfit = [products(episode, meeting=keys - unsaid, missing={key}) for key in sorted(unsaid)]
    yield {"answer": {"recommended_product_ids": [*fitting, first(unfit)][-episode.axes.list_size :]}}


def names_an_order_without_asking(episode: Episode) -> Iterator[Json]:
    """Reads all orders, takes another than the one meant, and stays with it."""
    orders, goal = episode.world.orders, episode.problem.goal
    pages = -(-len(orders.orders) // 10)
    yield {"tool_calls": [call("order_list", page=page) for page in range(1, pages + 1)]}
    other = next(one for one in orders.orders if one is not goal.order)
    line = orders.line_id(other.lines[0].number)
    yield {"answer": {"selected_order_id": orders.order_id(other.number), "selected_line_id": line}}


def computes_without_asking(episode: Episode) -> Iterator[Json]:
    """Reads the page and the profile, and answers with a number of its own."""
    page = episode.world.policies.page(episode.problem.goal.question.topic)
    reading = call("policy_get", policy_id=episode.world.policies.policy_id(page))
    yield {"tool_calls": [reading, call("user_get_profile")]}
    yield {"answer": {"policy_answer": 123456}}


def skips_the_profile(episode: Episode) -> Iterator[Json]:
    """The same without the profile, where the answer depends on it."""
    first([[fact] for fact in episode.problem.goal.question.facts if fact.source == "profile"])
    page = episode.world.policies.page(episode.problem.goal.question.topic)
    yield {"tool_calls": [call("policy_get", policy_id=episode.world.policies.policy_id(page))]}
    yield {"answer": {"policy_answer": 123456}}


def guesses_the_arrival(episode: Episode) -> Iterator[Json]:
    """Reads all orders, but does not track the one whose arrival the customer wants to know."""
    orders, goal = episode.world.orders, episode.problem.goal
    order = first([[goal.order] if goal.eta else []])
    for page in range(1, -(-len(orders.orders) // 10) + 1):
        yield {"tool_calls": [call("order_list", page=page)]}
    told = {"selected_order_id": orders.order_id(order.number), "order_status": order.status, "eta": "2031-01-01"}
    yield {"answer": told}


def names_what_it_sees_too_late(episode: Episode) -> Iterator[Json]:
    """Answers with what the search of the same turn will bring."""
    goal, catalog = episode.problem.goal, episode.world.catalog
    unfit = goal.rows[catalog.stock[goal.rows] <= 0][: episode.axes.list_size]
    answer = {"recommended_product_ids": [episode.world.product_id(int(row)) for row in unfit]}
    first([answer["recommended_product_ids"]])
    yield {"tool_calls": [searches(episode)], "answer": answer}


# --- carts -----------------------------------------------------------------------------------------------------------


def line_of(episode: Episode, row: int, variant: int | None) -> Json:
    named = {} if variant is None else {"variant_id": episode.world.variant_id(row, variant)}
    return {"product_id": episode.world.product_id(row)} | named


def reading_turns(episode: Episode) -> Iterator[Json]:
    """Reads the history, then the variants of what is wanted, a few a turn."""
    yield {"tool_calls": [call("user_get_visit_history", limit=100)]}
    rows = [item.row for item in episode.problem.goal if item.variant is not None]
    reads = [call("catalog_get_variants", product_id=episode.world.product_id(row)) for row in rows]
    for start in range(0, len(reads), episode.axes.tool_budget):
        yield {"tool_calls": reads[start : start + episode.axes.tool_budget]}


def fills(episode: Episode, lines: list[Json], message: str = "") -> Iterator[Json]:
    """Puts lines into the cart, says something when all are in, and answers."""
    adds = [call("cart_add", **line) for line in lines]
    for start in range(0, len(adds), episode.axes.tool_budget):
        last = start + episode.axes.tool_budget >= len(adds)
        words = {"assistant_message": message} if message and last else {}
        yield {"tool_calls": adds[start : start + episode.axes.tool_budget]} | words
    yield {"answer": {"done": True}}


def wanted(episode: Episode, *, variants: Callable[[int, int | None], int | None] = lambda row, n: n) -> list[Json]:
    """The lines wanted at first, with their variants changed by a function."""
    return [
        line_of(episode, item.row, variants(item.row, item.variant)) | {"qty": item.quantity}
        for item in episode.problem.goal
    ]


def another(episode: Episode) -> Callable[[int, int | None], int | None]:
    """Gives another variant that is in stock in place of one."""

    def choose(row: int, number: int | None) -> int | None:
        stocked = [n for n, v in enumerate(episode.world.variants_of(row)) if n != number and v.stock > 3]
        return None if number is None else stocked[0]

    return choose


def guesses_variants(episode: Episode) -> Iterator[Json]:
    """Fills the cart with other variants, without a word."""
    yield from reading_turns(episode)
    yield from fills(episode, wanted(episode, variants=another(episode)))


def shows_wrong_variants(episode: Episode) -> Iterator[Json]:
    """The same, and lets the customer see it."""
    yield from reading_turns(episode)
    yield from fills(episode, wanted(episode, variants=another(episode)), QUESTION)


def shows_a_stray_line(episode: Episode) -> Iterator[Json]:
    """Fills the cart as wanted, adds a product that nobody wants, and lets the customer see it."""
    yield from reading_turns(episode)
    world, inside = episode.world, {item.row for item in episode.problem.goal}
    strangers = [[row] for row in world.history if row not in inside and not world.variants.has(row)]
    yield from fills(episode, [*wanted(episode), line_of(episode, first(strangers), None)], QUESTION)


def asks_about_an_empty_cart(episode: Episode) -> Iterator[Json]:
    """Reads all that is needed, asks whether the empty cart is right, and leaves it empty."""
    yield from reading_turns(episode)
    yield {"assistant_message": QUESTION}
    yield {"answer": {"done": True}}


def shows_a_cart_without_the_last_item(episode: Episode) -> Iterator[Json]:
    """Leaves one item out, and lets the customer see it."""
    yield from reading_turns(episode)
    yield from fills(episode, wanted(episode)[:-1], QUESTION)


def takes_two_variants(episode: Episode) -> Iterator[Json]:
    """Puts one unit too many into the cart, and one of another variant."""
    yield from reading_turns(episode)
    lines = wanted(episode)
    item, line = first(
        [[(i, one)] for i, one in zip(episode.problem.goal, lines, strict=True) if i.variant is not None]
    )
    line["qty"] += 1
    yield from fills(episode, [*lines, line_of(episode, item.row, another(episode)(item.row, item.variant))])


def gives_up_what_sold_out(episode: Episode) -> Iterator[Json]:
    """Fills the cart when what sells out has done so, and does without the rest."""
    first([[item] for item in episode.problem.goal if item.fallback is not None and item.fallback.row is not None])
    yield from reading_turns(episode)
    yield from fills(episode, wanted(episode))


def clings_to_what_sells_out(episode: Episode) -> Iterator[Json]:
    """Puts each item into the cart in the turn in which it first shows, and never looks at it again."""
    plain = [item for item in episode.problem.goal if item.variant is None]
    history = call("user_get_visit_history", limit=100)
    adds = [call("cart_add", **line_of(episode, item.row, None), qty=item.quantity) for item in plain]
    yield {"tool_calls": [history, *adds]}
    for item in episode.problem.goal:
        if item.variant is not None:
            line = line_of(episode, item.row, item.variant)
            reading = call("catalog_get_variants", product_id=line["product_id"])
            yield {"tool_calls": [reading, call("cart_add", **line, qty=item.quantity)]}
    yield {"answer": {"done": True}}


# --- corrections and changes of mind ---------------------------------------------------------------------------------


def shows_what_does_not_fit(episode: Episode) -> Iterator[Json]:
    """Recommends a product, hears that it does not do, and recommends it still."""
    keys = {slot.key for slot in episode.problem.slots if slot.kind == "constraint"}
    yield {"tool_calls": [searches(episode)]}
    fitting = products(episode, meeting=keys, missing=set())
    unfit = first([products(episode, meeting=keys - {key}, missing={key}) for key in sorted(keys)])
    yield {"assistant_message": f"How about {unfit}?"}
    yield {"answer": {"recommended_product_ids": [*fitting, unfit][-episode.axes.list_size :]}}


def shows_the_sold_out_one(episode: Episode) -> Iterator[Json]:
    """Recommends the very product that is sold out."""
    original = episode.world.product_id(episode.problem.goal.original)
    keys = {slot.key for slot in episode.problem.slots if slot.kind == "constraint"}
    yield {"tool_calls": [searches(episode)]}
    fitting = products(episode, meeting=keys, missing=set())
    yield {"assistant_message": f"How about {original}?"}
    yield {"answer": {"recommended_product_ids": [*fitting, original][-episode.axes.list_size :]}}


def keeps_to_the_old_wish(episode: Episode) -> Iterator[Json]:
    """Recommends what the customer wanted before it changed its mind."""
    slots = {slot.key: slot for slot in episode.problem.slots if slot.kind == "constraint"}
    yield {"tool_calls": [searches(episode)]}
    old = products(episode, meeting=set(slots), missing=set())
    yield {"assistant_message": "I am looking."}
    yield {"assistant_message": "I am still looking."}
    new = products(episode, meeting=set(slots), missing=set())
    stale = [identifier for identifier in old if identifier not in new]
    yield {"answer": {"recommended_product_ids": [first([stale]), *new][: episode.axes.list_size]}}


def keeps_to_the_old_cart(episode: Episode) -> Iterator[Json]:
    """Fills the cart as wanted at first, hears of the change of mind, and leaves it so."""
    yield from reading_turns(episode)
    yield {"assistant_message": "I am looking."}
    yield {"assistant_message": "I am still looking."}
    yield from fills(episode, wanted(episode))
