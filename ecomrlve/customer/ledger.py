"""What the customer wants, slot by slot, and a truthful record of what it has said so far.

A slot is one fact of the goal that can be said or left unsaid. The ledger is the only place that knows which; the
verifier scores only what stands in it, and the dialogue policy decides from it what to say next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

# The kinds of slot, each phrased and asked about in its own way:
#   type        the product type wanted                         value: "air fryer"
#   item        a thing on the list, by its title               value: the title; `item` is its index
#   constraint  a requirement (attribute, operator, value)
#   priority    what matters, in order                          attribute: "price" | "rating" | "ship_days" | "brand",
#                                                               rank: 1 or 2; value: the preferred brand or ""
#   identify    an attribute that tells an item from its lookalikes
#   variant     the version of an item                          attribute: "size", value: "XS"
#   quantity    how many of an item, where more than one
#   fallback    what to do if an item is sold out               value: {"do": "variant" | "product" | "drop", ...}
#   original    the product that is sold out                    value: its title
#   sendback    what is to go back                              value: its product type
#   order       that it is about an order                       value: ""
#   question    what the customer wants to know                 value: a clause: "how many days I have to send it back";
#                                                               choices: the possible answers, if they are few
#   project     what a bundle is for                            value: "home office"
#   part        a thing the project needs                       value: its product type; `item` is its index
#   reference   a fact that tells which order or line is meant  attribute: "order_id", "ordered_on", "delivered_on" (ISO
#                                                               date), "paid", "order_total" (dollars), "bought" (a
#                                                               title), "quantity", or a catalog attribute
#   reason      why it goes back                                value: "damaged" or another code of the policies
#   refund      how the money comes back                        value: "original_payment" | "store_credit"
#   wish        what is to happen                               value: "refund" | "refund_and_suggestion" | "exchange"
#   eta         that the day of arrival is asked for, too       value: True
#   fact        a fact of the case that a question is about     attribute: as in the policies, or "order_id", "amount"
#   budget      what all parts together may cost                value: dollars
#   tie         an attribute that two parts must share          value: [product type, product type]
KINDS = (
    "type", "item", "constraint", "priority", "identify", "variant", "quantity", "fallback", "original", "sendback",
    "order", "question", "project", "part", "reference", "reason", "refund", "wish", "eta", "fact", "budget", "tie",
)  # fmt: skip
# What the opening always says.
HEADS = ("type", "item", "original", "sendback", "order", "question", "project", "part")


@dataclass(frozen=True, slots=True)
class Slot:
    """One fact of the goal.

    Attributes:
        key: Unique within the episode: ``item0:variant``, ``constraint:price:le``.
        kind: One of `KINDS`.
        attribute: Attribute name, as in filters.
        operator: ``eq``, ``le``, ``ge`` or ``in``.
        value: What is required; JSON.
        label: How people call the attribute: ``battery life``.
        unit: Unit of a number, or empty.
        synonyms: Other words for the attribute.
        item: Index of the item it belongs to, or None.
        item_name: How the customer calls that item ("the GreenLeaf charger"), or empty.
        rank: 1 or 2 for a priority, else 0.
        choices: Words the attribute can take, so that "the red one?" is understood as a question about the color.
    """

    key: str
    kind: str
    attribute: str
    operator: str
    value: Any
    label: str = ""
    unit: str = ""
    synonyms: tuple[str, ...] = ()
    item: int | None = None
    item_name: str = ""
    rank: int = 0
    choices: tuple[str, ...] = ()

    def __hash__(self) -> int:
        # All fields are compared, but these tell slots apart, and others are long: slots are looked up all the time.
        value = self.value if isinstance(self.value, str | int | float) else None
        return hash((self.key, self.attribute, self.label, value))

    def public(self) -> dict[str, Any]:
        """The slot as (kind, item, attribute, operator, value): what the reference agent may read once it is said."""
        return {
            "kind": self.kind,
            "item": self.item,
            "attribute": self.attribute,
            "operator": self.operator,
            "value": self.value,
            "rank": self.rank,
        }


@dataclass(slots=True)
class Saying:
    """When and how a slot was said.

    Attributes:
        turn: The agent turn after which it was said; 0 is the opening.
        act: The customer's act that carried it.
        value: The value that was said, which a change of mind may replace later.
    """

    turn: int
    act: str
    value: Any


@dataclass(slots=True)
class Ledger:
    """The slots in order of importance, and what has been said of them.

    Attributes:
        slots: Key → slot, most important first; a change of mind replaces a slot's value here.
        sayings: Key → every time it was said, oldest first.
        asleep: Keys that are not alive yet: fallbacks before their item is known to be sold out.
        pending: Key → new value of a change of mind that is not said yet.
        omitted: Keys that the opening left out.
    """

    slots: dict[str, Slot]
    sayings: dict[str, list[Saying]] = field(default_factory=dict)
    asleep: set[str] = field(default_factory=set)
    pending: dict[str, Any] = field(default_factory=dict)
    omitted: frozenset[str] = frozenset()

    def said(self, key: str) -> bool:
        """Whether the slot was said in any form."""
        return key in self.sayings

    def unsaid(self) -> list[Slot]:
        """Live slots that were never said, most important first."""
        return [slot for key, slot in self.slots.items() if key not in self.sayings and key not in self.asleep]

    def said_slots(self) -> list[Slot]:
        """Slots that were said, with the value said last."""
        return [
            replace(slot, value=self.sayings[key][-1].value) for key, slot in self.slots.items() if key in self.sayings
        ]

    def everything_said(self) -> bool:
        """Whether no live slot and no change of mind is left to say."""
        return not self.pending and not self.unsaid()

    def say(self, keys: Iterable[str], turn: int, act: str) -> list[str]:
        """Record that the customer says these slots; returns the keys that are new.

        Raises:
            KeyError: A key that is no slot of this episode.
        """
        new = []
        for key in keys:
            if key not in self.sayings:
                new.append(key)
            self.sayings.setdefault(key, []).append(Saying(turn, act, self.slots[key].value))
            self.asleep.discard(key)
        return new

    def switch(self, turn: int) -> list[str]:
        """Say the pending changes of mind: the slots take their new values. Returns their keys."""
        keys = list(self.pending)
        for key in keys:
            self.slots[key] = replace(self.slots[key], value=self.pending.pop(key))
        self.say(keys, turn, "switch")
        return keys

    def wake(self, key: str) -> None:
        """Bring a fallback to life: from now on it may be asked for and must be said."""
        self.asleep.discard(key)
