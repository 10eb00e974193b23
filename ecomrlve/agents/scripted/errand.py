"""What the scripted agent does about one matter: what all kinds of matters share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.scripted.naming import closest, things, types_named
from ecomrlve.agents.scripted.reading import Speller, says_nothing_else
from ecomrlve.agents.scripted.shelf import Shelf
from ecomrlve.protocol import Observation

ANYTHING_ELSE = "Is there anything else I should know?"
MESSAGES_BEFORE_ANSWERING = 2  # customers may change their mind once, early on
MOST_IDLE = 2  # turns: a customer to whom three in a row bring nothing new leaves
FIRST_LOOK, FEW = 50, 10  # hits of a search by all the customer's words, and by a few of them


def call(name: str, **args: Any) -> dict[str, Any]:
    """A tool call."""
    return {"name": name, "args": args}


class Errand:
    """One thing that a customer is after, from its first words to the answer. Subclasses say what to do in `act`.

    Args:
        memory: What tool results showed in this episode.
        speller: Knows the words that were seen.
    """

    def __init__(self, memory: Memory, speller: Speller):
        self.memory = memory
        self.speller = speller
        self.heard: list[str] = []
        self.complete = False  # the customer said that there is nothing else
        self.turn = 0
        self.messages = 0
        self.idle = 0  # turns in a row that brought nothing new
        self._seen = 0
        self._quiet = False  # the last words said nothing new
        self._shelves: dict[str, tuple[int, Shelf]] = {}

    def hear(self, messages: Iterable[str]) -> None:
        """Take in what the customer said in this matter."""
        for message in messages:
            self.heard.append(message)
            self._quiet = says_nothing_else(self.speller.normal(message))
            self.complete |= self._quiet

    def take_turn(self, observation: Observation) -> dict[str, Any]:
        """The next action in this matter, within the budget of tool calls."""
        seen = len(self.memory.hits) + len(self.memory.variants) + len(self.memory.orders)
        self.idle = self.idle + 1 if self._quiet and seen == self._seen else 0
        self._seen = seen
        action = self.act(observation)
        self.turn += 1
        self.messages += "assistant_message" in action
        return action | {"tool_calls": action.get("tool_calls", [])[: observation.tool_budget]}

    def act(self, observation: Observation) -> dict[str, Any]:
        """What to do in this turn."""
        raise NotImplementedError

    @property
    def texts(self) -> list[str]:
        """What the customer said in this matter, as normal texts."""
        return [self.speller.normal(text) for text in self.heard]

    def told(self, observation: Observation) -> bool:
        """Whether the customer has nothing to add, or has had to say everything because only two turns are left."""
        done = self.complete and self.messages >= MESSAGES_BEFORE_ANSWERING
        return done or observation.intent_turns_left <= 2

    def last(self, observation: Observation) -> bool:
        """Whether this is the last turn for the matter, or the last one that the customer will wait for."""
        return observation.intent_turns_left <= 1 or self.idle >= MOST_IDLE

    def reading_orders(self, most: int) -> list[dict[str, Any]]:
        """The next pages of the list of orders, at most so many; none once all were read."""
        first = self.memory.order_pages + 1
        pages = range(first, first + most) if not self.memory.orders_finished else ()
        return [call("order_list", page=page) for page in pages]

    def look_around(self, observation: Observation) -> list[dict[str, Any]]:
        """Searches for what the customer's first words may be about: the words as they came, and things they name."""
        look = call("catalog_search", query=self.heard[0], limit=min(FIRST_LOOK, observation.search_depth))
        few = [call("catalog_search", query=thing, limit=FEW) for thing in things(self.heard[0])]
        return [look, *few][: observation.tool_budget]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The hits of a type seen so far."""
        return [hit for hit in self.memory.hits.values() if hit["type"] == kind]

    def shelf_of(self, kind: str) -> Shelf:
        """What can be said of products of a type; made anew whenever more of them were seen."""
        hits = self.of_type(kind)
        if kind not in self._shelves or self._shelves[kind][0] != len(hits):
            self.speller.learn_of(hits)
            self._shelves[kind] = len(hits), Shelf(hits)
        return self._shelves[kind][1]

    def types(self) -> list[str]:
        """The product types that the customer's first words name, as far as products of them were seen."""
        kinds = list(dict.fromkeys(hit["type"] for hit in self.memory.hits.values()))
        self.speller.learn(kinds)
        named = [closest(thing, kinds) for thing in things(self.heard[0])]
        return [*filter(None, dict.fromkeys(named))] or types_named(self.texts[0], kinds)

    def question(self, *kinds: str) -> str:
        """Ask for all that products of some types differ in, and for whatever else there is."""
        names = {
            name.replace("_", " "): None for kind in kinds for hit in self.of_type(kind) for name in hit["attributes"]
        }
        listed = ", ".join(["price, rating, brand, delivery time, color, size, material", *names])
        return f"What are your wishes as to {listed}, and what matters most to you? {ANYTHING_ELSE}"
