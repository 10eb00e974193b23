"""Agents that do one thing wrongly, and the ways to do it. A slip gives None where an episode offers no way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ecomrlve.agents.memory import value_of
from ecomrlve.agents.plans.base import meets
from ecomrlve.agents.reference import ReferenceAgent

Json = dict[str, Any]
Slip = Callable[["Saboteur", Json], Json | None]


def call(name: str, **args: Any) -> Json:
    return {"name": name, "args": args}


class Saboteur(ReferenceAgent):
    """Plays like the reference agent, but for its answer, in which one thing is done wrongly.

    It goes wrong in the answer to the first wish it is made for; the slip returns None where there is no way to.
    """

    def __init__(self, env_id: str, slip: Slip):
        self.env_id, self._slip, self.slipped = env_id, slip, False

    def act(self, observation: Any) -> Json:
        self.observation = observation
        action = super().act(observation)
        _, env_id, self.view = self._said()
        if "answer" in action and env_id == self.env_id and not self.slipped:
            changed = self._slip(self, copy.deepcopy(action))
            self.slipped = changed is not None
            action = changed or action
        return action

    @property
    def goal(self) -> Any:
        return self._episode.intents.current.problem.goal

    @property
    def world(self) -> Any:
        return self._episode.world

    @property
    def hits(self) -> dict[str, Json]:
        return self._memory.hits

    @property
    def cart(self) -> dict[tuple[str, str | None], int]:
        return dict(self._memory.cart)

    def fits(self, identifier: str, but: str = "") -> bool:
        """Whether a product that was seen is of the type wanted, in stock, and meets all that was said (but one)."""
        hit = self.hits[identifier]
        rules = [slot for slot in self.view.of_kind("constraint") if slot["attribute"] != but]
        return self.alike(hit) and hit["stock"] > 0 and meets(hit, rules)

    def alike(self, hit: Json) -> bool:
        """Whether a product is of the type wanted and, as a substitute, compatible."""
        shared = getattr(self.goal, "compatible", None)
        own = self.world.catalog.columns[shared].get(self.goal.original) if shared else None
        return hit["type"] == self.goal.type and (own is None or value_of(hit, shared) == own)


def line_args(line: tuple[str, str | None]) -> Json:
    return {"product_id": line[0]} | ({"variant_id": line[1]} if line[1] else {})


def last_replaced(action: Json, identifier: str | None) -> Json | None:
    """The action with another product in the last place of its list."""
    ids = action["answer"]["recommended_product_ids"]
    if identifier is None or not ids:
        return None
    action["answer"]["recommended_product_ids"] = [*ids[:-1], identifier]
    return action


def answered(action: Json, **fields: Any) -> Json:
    action["answer"] |= fields
    return action


# --- one thing done wrongly in the answer ----------------------------------------------------------------------------


def cart_calls(agent: Saboteur, action: Json, *calls: Json) -> Json | None:
    """The action with more calls, if the cart is filled by now and the turn's budget allows them."""
    made = [*action.get("tool_calls", []), *calls]
    if not agent.cart or action.get("tool_calls") or len(made) > agent.observation.tool_budget:
        return None
    return action | {"tool_calls": made}


def another_variant(agent: Saboteur, action: Json) -> Json | None:
    for (product, variant), quantity in agent.cart.items():
        for other in agent._memory.variants.get(product, ()) if variant else ():
            if other["stock"] >= quantity and (product, other["variant_id"]) not in agent.cart:
                added = call("cart_add", product_id=product, variant_id=other["variant_id"], qty=quantity)
                return cart_calls(agent, action, call("cart_remove", **line_args((product, variant))), added)
    return None


def one_more_unit(agent: Saboteur, action: Json) -> Json | None:
    for line, quantity in agent.cart.items():
        return cart_calls(agent, action, call("cart_update", **line_args(line), qty=quantity + 1))
    return None


def an_item_less(agent: Saboteur, action: Json) -> Json | None:
    for line in agent.cart:
        return cart_calls(agent, action, call("cart_remove", **line_args(line)))
    return None


def a_stranger(agent: Saboteur) -> str | None:
    """A product without variants that was seen and is not in the cart."""
    inside = {product for product, _ in agent.cart}
    plain = (i for i, hit in agent.hits.items() if hit["stock"] > 0 and not hit.get("has_variants") and i not in inside)
    return next(plain, None)


def a_stranger_more(agent: Saboteur, action: Json) -> Json | None:
    other = a_stranger(agent)
    return cart_calls(agent, action, call("cart_add", product_id=other)) if other else None


def a_stranger_instead(agent: Saboteur, action: Json) -> Json | None:
    other = a_stranger(agent)
    for line in agent.cart:
        if other and agent.hits[other]["type"] == agent.hits[line[0]]["type"]:
            return cart_calls(agent, action, call("cart_remove", **line_args(line)), call("cart_add", product_id=other))
    return None


def made_up_product(agent: Saboteur, action: Json) -> Json | None:
    for line in agent.cart:
        made_up = call("cart_add", product_id="p0000000")
        return cart_calls(agent, action, call("cart_remove", **line_args(line)), made_up)
    return None


def a_requirement_less(agent: Saboteur, action: Json) -> Json | None:
    for rule in agent.view.of_kind("constraint"):
        for identifier in agent.hits:
            if agent.fits(identifier, but=rule["attribute"]) and not agent.fits(identifier):
                return last_replaced(action, identifier)
    return None


def another_type(agent: Saboteur, action: Json) -> Json | None:
    return last_replaced(action, next((i for i, h in agent.hits.items() if h["type"] != agent.goal.type), None))


def a_sold_out_one(agent: Saboteur, action: Json) -> Json | None:
    gone = {identifier for step in agent._episode.steps for identifier in step["shop"]["sold_out"]}
    rules = agent.view.of_kind("constraint")
    fitting = (i for i in gone & set(agent.hits) if agent.alike(agent.hits[i]) and meets(agent.hits[i], rules))
    return last_replaced(action, min(fitting, default=None))


def an_unseen_one(agent: Saboteur, action: Json) -> Json | None:
    rows = (row for row in range(len(agent.world.catalog)) if row not in agent.world.seen)
    return last_replaced(action, agent.world.product_id(next(rows)))


def no_such_product(agent: Saboteur, action: Json) -> Json | None:
    return last_replaced(action, "p0000000")


def the_first_again(agent: Saboteur, action: Json) -> Json | None:
    ids = action["answer"]["recommended_product_ids"]
    return last_replaced(action, ids[0]) if len(ids) > 1 else None


def one_product_less(agent: Saboteur, action: Json) -> Json | None:
    ids = action["answer"]["recommended_product_ids"]
    return answered(action, recommended_product_ids=ids[:-1]) if len(ids) > 1 else None


def worst_first(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, recommended_product_ids=action["answer"]["recommended_product_ids"][::-1])


def no_products(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, recommended_product_ids=[])


def another_order(agent: Saboteur, action: Json) -> Json | None:
    others = [i for i in agent._memory.orders if i != action["answer"]["selected_order_id"]]
    return answered(action, selected_order_id=others[0]) if others else None


def made_up_order(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, selected_order_id="o0000000")


def no_order(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, selected_order_id="", selected_line_id="")


def another_status(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, order_status="delayed" if action["answer"]["order_status"] != "delayed" else "shipped")


def another_arrival(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, eta="2031-01-01") if action["answer"].get("eta") else None


def another_line(agent: Saboteur, action: Json) -> Json | None:
    lines = (line["line_id"] for order in agent._memory.orders.values() for line in order["lines"])
    return answered(action, selected_line_id=next(i for i in lines if i != action["answer"]["selected_line_id"]))


def refuse_all(agent: Saboteur, action: Json) -> Json | None:
    if action["answer"]["return_decision"] == "not_eligible":
        return None
    return answered(action, return_decision="not_eligible") | {"tool_calls": []}


def another_day(agent: Saboteur, action: Json) -> Json | None:
    refused = action["answer"]["return_decision"] == "not_eligible"
    return answered(action, last_return_day="2031-01-01") if refused else None


def nothing_done(agent: Saboteur, action: Json) -> Json | None:
    # Without the exchange there is no replacement either.
    return action | {"tool_calls": []} if action["answer"]["return_decision"] == "return" else None


def another_refund(agent: Saboteur, action: Json) -> Json | None:
    for made in action.get("tool_calls", ()):
        if made["name"] == "return_initiate":
            made["args"]["method"] = "store_credit" if agent.goal.method != "store_credit" else "original_payment"
            return action
    return None


def no_suggestion(agent: Saboteur, action: Json) -> Json | None:
    suggested = action["answer"].get("recommended_product_ids") and agent.goal.suggestion
    return answered(action, recommended_product_ids=[]) if suggested else None


def the_same_again(agent: Saboteur, action: Json) -> Json | None:
    if not action["answer"].get("recommended_product_ids") or not agent.goal.suggestion:
        return None
    return answered(action, recommended_product_ids=[agent.world.product_id(agent.goal.line.row)])


def two_suggestions(agent: Saboteur, action: Json) -> Json | None:
    suggested = action["answer"].get("recommended_product_ids")
    if not suggested or not agent.goal.suggestion:
        return None
    other = next(identifier for identifier in agent.hits if identifier not in suggested)
    return answered(action, recommended_product_ids=[*suggested, other])


def unfit_replacement(agent: Saboteur, action: Json) -> Json | None:
    if not agent.goal.suggestion or agent.goal.decision == "exchange":
        return None
    kind, own, rules = agent.goal.replacement.type, agent.goal.line.row, agent.view.of_kind("constraint")
    unfit = (i for i, hit in agent.hits.items() if hit["type"] == kind and hit["stock"] > 0 and not meets(hit, rules))
    chosen = next((i for i in unfit if agent.world.product_ids.decode(i) != own), None)
    return answered(action, recommended_product_ids=[chosen]) if chosen else None


def twice_as_much(agent: Saboteur, action: Json) -> Json | None:
    given = action["answer"]["policy_answer"]
    return None if isinstance(given, str) else answered(action, policy_answer=2 * given)


def another_choice(agent: Saboteur, action: Json) -> Json | None:
    question = agent.goal.question
    if not question.choices:
        return None
    return answered(action, policy_answer=next(one for one in question.choices if one != question.answer))


def nothing_said(agent: Saboteur, action: Json) -> Json | None:
    return answered(action, policy_answer="")


def dear_products(agent: Saboteur, action: Json) -> Json | None:
    """Fitting products of the highest price, until all together is dearer than it may be."""
    if agent.goal.tie is not None:
        return None
    ids = list(action["answer"]["recommended_product_ids"])
    for place, identifier in enumerate(ids):
        kind = agent.hits[identifier]["type"]
        index = next(slot["item"] for slot in agent.view.of_kind("part") if slot["value"] == kind)
        rules = [slot for slot in agent.view.of_kind("constraint") if slot["item"] == index]
        stocked = [i for i, hit in agent.hits.items() if hit["type"] == kind and hit["stock"] > 0 and meets(hit, rules)]
        ids[place] = max(stocked, key=lambda i: agent.hits[i]["price"])
    dear = sum(agent.hits[i]["price"] for i in ids) > agent.view.value("budget")
    return answered(action, recommended_product_ids=ids) if dear else None


def unfit_part(agent: Saboteur, action: Json) -> Json | None:
    ids = list(action["answer"]["recommended_product_ids"])
    for place, identifier in enumerate(ids):
        kind, price = agent.hits[identifier]["type"], agent.hits[identifier]["price"]
        index = next(slot["item"] for slot in agent.view.of_kind("part") if slot["value"] == kind)
        rules = [slot for slot in agent.view.of_kind("constraint") if slot["item"] == index]
        for other, hit in agent.hits.items():
            if hit["type"] == kind and hit["price"] <= price and hit["stock"] > 0 and not meets(hit, rules):
                ids[place] = other
                return answered(action, recommended_product_ids=ids)
    return None


def a_part_twice(agent: Saboteur, action: Json) -> Json | None:
    ids = list(action["answer"]["recommended_product_ids"])
    return answered(action, recommended_product_ids=[*ids, ids[0]])


def a_stray_line(agent: Saboteur, action: Json) -> Json | None:
    """Something in the cart of a customer who never asked for a cart."""
    other = a_stranger(agent)
    if other is None or action.get("tool_calls"):
        return None
    return action | {"tool_calls": [call("cart_add", product_id=other)]}
