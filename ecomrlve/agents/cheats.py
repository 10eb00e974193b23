"""Policies that do not do the task. Law 2: none of them may score.

A cheat sees what any agent sees. Each is one small function from what was observed so far to the next action.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.memory import Memory
from ecomrlve.catalog.aliases import ALPHABET, LENGTH
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.streams import Stream

Move = Callable[["Cheat", Observation], Any]


class Cheat:
    """An agent that follows one cheating rule.

    Args:
        name: Name of the rule.
        move: The rule.
    """

    def __init__(self, name: str, move: Move):
        self.name = name
        self._move = move

    def reset(self, env: Environment) -> None:
        """Forget everything. The random stream is keyed by the seed alone: nothing hidden is read."""
        self.memory = Memory()
        self.stream = Stream("cheat", self.name, env.episode.seed)
        self.opening = ""
        self.picked: list[str] = []
        self.tried: set[str] = set()

    def act(self, observation: Observation) -> Any:
        """The next action."""
        self.memory.read(observation)
        if observation.turn == 0:
            self.opening = self.memory.customer[0]
        return self._move(self, observation)

    def answer(self, ids: list[str], observation: Observation) -> dict[str, Any]:
        """An answer with these ids where the environment asks for ids, else a plain one."""
        wants_ids = "recommended_product_ids" in observation.answer_fields
        return {"answer": {"recommended_product_ids": ids[:100]} if wants_ids else {"done": True}}

    def look(self, observation: Observation) -> dict[str, Any]:
        """See as much as one call shows: the visit history where there is one, else a search with the opening."""
        if observation.env_id == "E_CART":
            return _calls(("user_get_visit_history", {"limit": 100}))
        return self.search(observation, observation.search_depth)

    def search(self, observation: Observation, limit: int) -> dict[str, Any]:
        """A search with the words of the opening."""
        return _calls(("catalog_search", {"query": self.opening[:400], "limit": limit}))

    def buy(self, ids: list[str], observation: Observation) -> dict[str, Any] | None:
        """The next step of putting products, in their first variant, into the cart; None when that is done."""
        fresh = [i for i in ids if self.memory.hits[i].get("has_variants") and i not in self.memory.variants]
        if fresh:
            return _calls(*(("catalog_get_variants", {"product_id": i}) for i in fresh[: observation.tool_budget]))
        have = {product for product, _ in self.memory.cart}
        calls = []
        for identifier in ids:
            if identifier not in have and identifier not in self.tried:
                variants = self.memory.variants.get(identifier) or []
                chosen = {"variant_id": variants[0]["variant_id"]} if variants else {}
                calls.append(("cart_add", {"product_id": identifier, **chosen}))
        calls = calls[: observation.tool_budget]
        self.tried.update(call[1]["product_id"] for call in calls)
        return _calls(*calls) if calls else None


def _calls(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args} for name, args in calls]}


def _finish(cheat: Cheat, observation: Observation, ids: list[str]) -> dict[str, Any]:
    """Buy (E_CART) or recommend (elsewhere) these ids, then answer."""
    if observation.env_id == "E_CART" and observation.turns_left > 1:
        step = cheat.buy(ids, observation)
        if step is not None:
            return step
    return cheat.answer(ids, observation)


def empty_answer(cheat: Cheat, observation: Observation) -> Any:
    """Answer nothing, at once and again and again."""
    return cheat.answer([], observation)


def random_seen(cheat: Cheat, observation: Observation) -> Any:
    """Random ids among those seen, as many as the list holds."""
    if observation.turn == 0:
        return cheat.look(observation)
    if observation.turn == 1:
        cheat.picked = cheat.stream.sample(sorted(cheat.memory.hits), observation.list_size)
    return _finish(cheat, observation, cheat.picked)


def all_seen(cheat: Cheat, observation: Observation) -> Any:
    """Everything seen; in E_CART that is the whole visit history."""
    return cheat.look(observation) if observation.turn == 0 else _finish(cheat, observation, list(cheat.memory.hits))


def first_hits(cheat: Cheat, observation: Observation) -> Any:
    """The first hits of a search with the opening."""
    if observation.turn == 0:
        return cheat.search(observation, 10)
    count = observation.list_size if observation.env_id != "E_CART" else max(1, observation.list_size - 2)
    return _finish(cheat, observation, list(cheat.memory.hits)[:count])


def repeated_ids(cheat: Cheat, observation: Observation) -> Any:
    """The first hit, many times over."""
    if observation.turn == 0:
        return cheat.search(observation, 10)
    first = next(iter(cheat.memory.hits), "p0000000")
    if observation.env_id == "E_CART" and observation.turns_left > 1:
        step = cheat.buy([first], observation)
        if step is not None:
            return _calls(*[(c["name"], c["args"]) for c in step["tool_calls"]] * observation.tool_budget)
    return cheat.answer([first] * observation.list_size, observation)


def never_seen(cheat: Cheat, observation: Observation) -> Any:
    """Invented ids."""
    ids = ["p" + "".join(cheat.stream.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(observation.list_size)]
    if observation.env_id == "E_CART" and observation.turn == 0:
        return _calls(*(("cart_add", {"product_id": i}) for i in ids[: observation.tool_budget]))
    return cheat.answer(ids, observation)


def clock(cheat: Cheat, observation: Observation) -> Any:
    """Say nothing, do nothing useful, and answer with what the first search showed in the last turn."""
    if observation.turn == 0:
        return cheat.look(observation)
    if observation.turns_left > 1:
        return _calls(("datetime_now", {}))
    return cheat.answer(list(cheat.memory.hits)[: observation.list_size], observation)


def chatter(cheat: Cheat, observation: Observation) -> Any:
    """Chat and ask for confirmations in the hope of free turns, then answer."""
    if observation.turns_left > 1:
        words = ["Hello! How are you today?", "Is that right? Shall I go ahead?", "Great, thank you so much!"]
        return {"assistant_message": words[observation.turn % len(words)]}
    return cheat.answer(list(cheat.memory.hits)[: observation.list_size], observation)


def at_once(cheat: Cheat, observation: Observation) -> Any:
    """Search and answer in one breath with what the opening's words find, without asking anything."""
    if observation.turn == 0:
        return {**cheat.search(observation, 10), **cheat.answer([], observation)}
    return cheat.answer(list(cheat.memory.hits)[:1], observation)


def best_rated(cheat: Cheat, observation: Observation) -> Any:
    """The best rated hits of the opening's words, whatever the customer requires."""
    if observation.turn == 0:
        call = {"query": cheat.opening[:400], "sort": "relevance", "limit": observation.search_depth}
        return _calls(("catalog_search", call))
    hits = sorted(cheat.memory.hits.values(), key=lambda hit: -(hit.get("rating") or 0))
    return _finish(cheat, observation, [hit["id"] for hit in hits[: observation.list_size]])


def cheapest(cheat: Cheat, observation: Observation) -> Any:
    """The cheapest hits of the opening's words, whatever the customer requires."""
    if observation.turn == 0:
        return cheat.search(observation, observation.search_depth)
    hits = sorted(cheat.memory.hits.values(), key=lambda hit: hit["price"])
    return _finish(cheat, observation, [hit["id"] for hit in hits[: observation.list_size]])


def confirm_fishing(cheat: Cheat, observation: Observation) -> Any:
    """Show products one after the other and ask whether they are right, then answer with the last ones shown."""
    if observation.turn == 0:
        return cheat.look(observation)
    ids = list(cheat.memory.hits)
    if observation.turns_left > 1:
        shown = ids[(observation.turn - 1) * observation.list_size :][: observation.list_size]
        return {"assistant_message": f"Are these right for you? {', '.join(shown)}"}
    return cheat.answer(ids[: observation.list_size], observation)


def right_items_first_variant(cheat: Cheat, observation: Observation) -> Any:
    """The products that the opening names, one of each in its first variant, without asking about anything."""
    if observation.env_id != "E_CART":
        return first_hits(cheat, observation)
    if observation.turn == 0:
        return cheat.look(observation)
    # Typos and all: the titles of the history that stand nearest to the opening's words.
    said = cheat.opening.casefold()
    hits = cheat.memory.hits.values()
    ranked = sorted(hits, key=lambda hit: -fuzz.partial_ratio(hit["title"].casefold(), said))
    chosen: dict[str, str] = {}
    for hit in ranked:
        chosen.setdefault(hit["type"], hit["id"])
    return _finish(cheat, observation, list(chosen.values()))


# Declared in the contract: in these environments the rule is half of the work, and its mean reward is meant.
PARTIAL_BY_DESIGN = {"right_items_first_variant": ("E_CART",)}

CHEATS: dict[str, Move] = {
    move.__name__: move
    for move in (
        empty_answer, random_seen, all_seen, first_hits, repeated_ids, never_seen, clock, chatter, at_once, best_rated,
        cheapest, confirm_fishing, right_items_first_variant,
    )
}  # fmt: skip


def make_cheat(name: str) -> Cheat:
    """A cheat by name."""
    return Cheat(name, CHEATS[name])
