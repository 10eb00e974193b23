"""What all cheats share: what was seen, what the customer wants, and an answer of every kind.

A cheat is one small function from what was observed so far to the next action, written in terms of *items*: whatever
an answer can name. These are products (E_CART, E_SUB, E_PD, E_BUNDLE), order lines (E_RETURN), orders (E_STATUS) and
numbers on help pages (E_POLICY). In a journey a cheat plays each wish as what its words look like.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.memory import Memory
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.shop.order_history import STATUSES
from ecomrlve.shop.policy_rules import METHODS, REASONS
from ecomrlve.streams import Stream

Move = Callable[["Cheat", Observation], Any]

LISTS = ("E_SUB", "E_PD", "E_BUNDLE")
PRODUCTS = ("E_CART", *LISTS)
ORDERS = ("E_RETURN", "E_STATUS")
QUERY_LENGTH = 400  # characters of the customer's words that a search gets
NUMBER = re.compile(r"(?<![\w.,-])(\$?)(\d[\d,]*(?:\.\d+)?)\s?(%|[a-z]+)?", re.IGNORECASE)
NAMED = 75  # similarity, of 100, from which a type counts as named in a text with slips of the keys

# How openings of each kind are worded. A wish without any of it is taken for a search for products.
CUES: dict[str, tuple[str, ...]] = {
    "E_SUB": ("it's sold out", "is sold out", "is out of stock", "can't be had any more", "as close to it as possible"),
    "E_RETURN": (
        "send back", "to send back to you", "i want to return", "send them back", "sending back", "back to you",
        "give back", "help me return",
    ),
    "E_STATUS": (
        "status of my order", "status of the order", "where is the order", "check on an order", "look up an order",
        "about an order of mine", "order of mine", "where is my order", "how far along is my order",
        "happening with my order", "happening with the order", "know its status", "the order i placed",
    ),
    "E_POLICY": (
        "i'd like to know", "find out", "asking myself", "tell me how", "tell me what", "look up how", "look up what",
        "how many days", "tell me which", "do you know",
    ),
    "E_BUNDLE": (
        "put together", "getting things together", "help me prepare", "planning a", "in mind, and for that",
        "what i need for",
    ),
    "E_CART": (
        "to my cart", "into the cart", "for the cart", "shopping list", "here's my list", "fill my cart", "to order:",
        "i'd like to order the", "help me order the", "what i need is the", "i'd like the", "i want to buy the",
        "could you add the", "can you get me the", "please put the",
    ),
}  # fmt: skip
AT_LEAST = 80  # similarity of a cue from which it counts
MANY_PARTS, MANY_PRODUCTS = 3, 2


class Cheat:
    """An agent that follows one cheating rule.

    Args:
        name: Name of the rule.
        move: The rule.
        made_for: Kinds of wishes that it has a trick for.
        otherwise: The rule for all other kinds.

    Attributes:
        memory: All that tools returned in the episode.
        wishes: How many wishes were raised so far.
        expected: How many there will be.
        kind: Environment that the current wish seems to belong to.
        turn: Turns taken for it.
        wish: The customer's words that raised it.
        heard: All that the customer said of it.
        reply: What the customer said since the last turn.
        found: Products seen since it was raised, by id.
        page: The last page of products.
        pages: Help pages read since it was raised, in order.
        picked, tried, notes: For the rule's own use; empty at the start of each wish.
    """

    def __init__(self, name: str, move: Move, made_for: tuple[str, ...] = (), otherwise: Move | None = None):
        self.name = name
        self._move = move
        self._made_for = made_for
        self._otherwise = otherwise or move

    def reset(self, env: Environment) -> None:
        """Forget everything. The random stream is keyed by the seed alone: nothing hidden is read."""
        self.memory = Memory()
        self.seed = env.episode.seed
        self.stream = Stream("cheat", self.name, self.seed)
        self._left = -1
        self.page: list[dict[str, Any]] = []
        self.wishes = self.expected = 0

    def act(self, observation: Observation) -> Any:
        """The next action."""
        pages = self.memory.read(observation)
        words = [message["content"] for message in observation.messages if message["role"] == "customer"]
        # The turns left for a wish fall by one with each turn, unless another wish came up.
        if observation.turn == 0 or observation.intent_turns_left != self._left - 1:
            self._begin(observation, " ".join(words))
        self._left = observation.intent_turns_left
        self.reply = " ".join(words)
        self.heard += words
        for page in pages:
            self.found.update((hit["id"], hit) for hit in page)
            self.page = page
        for message in observation.messages:
            if message["role"] == "tool" and message["name"] in ("policy_search", "policy_get"):
                self.pages += message["result"].get("policies", [])
        mine = not self._made_for or bool({self.kind, observation.env_id} & set(self._made_for))
        action = (self._move if mine else self._otherwise)(self, observation)
        self.turn += 1
        return action

    def _begin(self, observation: Observation, words: str) -> None:
        self.kind = observation.env_id if observation.env_id != "E_JOURNEY" else kind_of(words)
        self.wish = words
        self.wishes += 1
        if observation.turn == 0:
            # All wishes have the same number of turns, which the first observation gives away.
            self.expected = observation.turns_left // max(1, observation.intent_turns_left)
        self.turn = 0
        self.heard: list[str] = []
        self.found: dict[str, dict[str, Any]] = {}
        self.page = []
        self.pages: list[dict[str, Any]] = []
        self.picked: list[str] = []
        self.tried: set[str] = set()
        self.notes: dict[str, str] = {}

    def last(self, observation: Observation) -> bool:
        """Whether this is the last turn for the wish."""
        return observation.intent_turns_left <= 1

    def count(self, observation: Observation) -> int:
        """How many items a full answer has, by what the observation gives away of the difficulty."""
        if self.kind == "E_CART":
            return max(1, observation.list_size - 2)
        if self.kind == "E_BUNDLE":
            return observation.tool_budget + 1
        return observation.list_size if self.kind in LISTS else 1

    # --- seeing --------------------------------------------------------------------------------------------------

    def look(self, observation: Observation) -> dict[str, Any]:
        """See as much as one turn shows of what the wish is about."""
        if self.kind == "E_CART":
            return calls(("user_get_visit_history", {"limit": 100}))
        if self.kind in LISTS:
            return self.search(observation, observation.search_depth)
        if self.kind == "E_POLICY":
            return self.search_pages(3)
        return calls(*(("order_list", {"page": page}) for page in range(1, observation.tool_budget + 1)))

    def search(self, observation: Observation, limit: int, **more: Any) -> dict[str, Any]:
        """A search with the words of the wish; for orders and policies what comes nearest to one."""
        if self.kind in PRODUCTS:
            return calls(("catalog_search", {"query": self.wish[:QUERY_LENGTH], "limit": limit, **more}))
        return self.search_pages(1) if self.kind == "E_POLICY" else self.look(observation)

    def search_pages(self, limit: int) -> dict[str, Any]:
        """A search of the help pages with the words of the wish."""
        return calls(("policy_search", {"query": self.wish[:QUERY_LENGTH], "limit": limit}))

    def seen(self) -> list[str]:
        """All items seen for the wish, in the order in which they were shown."""
        if self.kind in PRODUCTS:
            return list(self.found)
        if self.kind == "E_STATUS":
            return list(self.memory.orders)
        if self.kind == "E_RETURN":
            return [item_of(order, line) for order, line in self.lines()]
        return [str(number) for page in self.pages for number in numbers_in(page["text"])]

    def lines(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """All lines of the orders that were read."""
        return [(order, line) for order in self.memory.orders.values() for line in order["lines"]]

    # --- answering -----------------------------------------------------------------------------------------------

    def finish(self, observation: Observation, items: list[str]) -> dict[str, Any]:
        """Buy these items (E_CART), send back the first (E_RETURN) or nothing, and answer with them."""
        if self.kind == "E_CART" and not self.last(observation):
            step = self.buy(items, observation)
            if step is not None:
                return step
        answer = self.answer(items)
        if self.kind == "E_RETURN" and items and answer["answer"]["return_decision"] == "return":
            return calls(self.send_back(items[0])) | answer
        return answer

    def answer(self, items: list[str]) -> dict[str, Any]:
        """An answer with these items and a guess at whatever else the kind asks for."""
        if self.kind in LISTS:
            return {"answer": {"recommended_product_ids": items[:100]}}
        if self.kind == "E_POLICY":
            return {"answer": {"policy_answer": items[0] if items else ""}}
        if self.kind == "E_STATUS":
            return status_answer(items[0] if items else "", self.guess("status", STATUSES) if items else "")
        if self.kind == "E_RETURN":
            decision = self.guess("decision", ("return", "exchange", "not_eligible")) if items else ""
            return return_answer(items[0] if items else "", decision)
        return {"answer": {"done": True}}

    def guess(self, what: str, choices: tuple[str, ...]) -> str:
        """A random choice, the same one throughout a wish."""
        return Stream("cheat", self.name, what, self.seed, self.wishes).choice(choices)

    def send_back(self, item: str, reason: str = "", method: str = "") -> tuple[str, dict[str, Any]]:
        """The call that returns a line, for a guessed reason and method unless they are given."""
        order_id, line_id = item.split()
        reason = reason or self.guess("reason", REASONS)
        method = method or self.guess("method", METHODS)
        return "return_initiate", {"order_id": order_id, "line_id": line_id, "reason": reason, "method": method}

    def buy(self, ids: list[str], observation: Observation) -> dict[str, Any] | None:
        """The next step of putting products, in their first variant, into the cart; None when that is done."""
        fresh = [i for i in ids if self.memory.hits[i].get("has_variants") and i not in self.memory.variants]
        if fresh:
            return calls(*(("catalog_get_variants", {"product_id": i}) for i in fresh[: observation.tool_budget]))
        have = {product for product, _ in self.memory.cart}
        steps = []
        for identifier in ids:
            if identifier not in have and identifier not in self.tried:
                variants = self.memory.variants.get(identifier) or []
                chosen = {"variant_id": variants[0]["variant_id"]} if variants else {}
                steps.append(("cart_add", {"product_id": identifier, **chosen}))
        steps = steps[: observation.tool_budget]
        self.tried.update(step[1]["product_id"] for step in steps)
        return calls(*steps) if steps else None


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """An action of tool calls alone."""
    return {"tool_calls": [{"name": name, "args": args} for name, args in made]}


def item_of(order: dict[str, Any], line: dict[str, Any]) -> str:
    """How an order line is named among items."""
    return f"{order['order_id']} {line['line_id']}"


def status_answer(order_id: str, status: str, eta: str = "") -> dict[str, Any]:
    """An answer of E_STATUS."""
    return {"answer": {"selected_order_id": order_id, "order_status": status, "eta": eta}}


def return_answer(item: str, decision: str, products: list[str] | None = None) -> dict[str, Any]:
    """An answer of E_RETURN; the item is an order line, or "" for none."""
    order_id, line_id = item.split() if item else ("", "")
    answer: dict[str, Any] = {"selected_order_id": order_id, "selected_line_id": line_id, "return_decision": decision}
    return {"answer": answer | {"recommended_product_ids": products or []}}


def numbers_in(text: str) -> list[float]:
    """All numbers of a text, in order."""
    return [float(match[2].replace(",", "").rstrip(".")) for match in NUMBER.finditer(text)]


def kind_of(words: str) -> str:
    """What kind of wish some words raise, by their likeness to how people open."""
    said = words.casefold()
    if len(re.findall(r"(?:, | and )(?:an?|s[a-z]{1,3}e) ", said)) >= MANY_PARTS:
        return "E_BUNDLE"
    if len(re.findall(r"(?:; |, |: |and )the [A-Z]\w+ \w+", words)) >= MANY_PRODUCTS:
        return "E_CART"
    scores = {kind: max(fuzz.partial_ratio(cue, said) for cue in cues) for kind, cues in CUES.items()}
    best = max(scores, key=lambda kind: scores[kind])
    return best if scores[best] >= AT_LEAST else "E_PD"


def named_type(types: list[str], words: str) -> str | None:
    """The type whose name stands nearest to anything in the words, typing slips and all."""
    said = words.casefold()
    # Of equals the longer name: "lamp" stands in "desk lamp".
    return max(types, key=lambda name: (fuzz.partial_ratio(name.casefold(), said), len(name)), default=None)


def named_types(types: list[str], words: str, most: int) -> list[str]:
    """Up to so many types that the words name, the clearest first."""
    said = words.casefold()
    scores = {name: fuzz.partial_ratio(name.casefold(), said) for name in dict.fromkeys(types)}
    ranked = sorted(scores, key=lambda name: -scores[name])
    return [name for name in ranked if scores[name] >= NAMED][:most]
