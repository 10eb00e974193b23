"""The causes of failure, and how those of several mistakes make one list.

A mistake is one thing that is not as it should be: a cart line, a recommended product, a part without a product. It has
a list of causes, its root first: what led to it (nobody asked, it was never found) says more than what it looks like
(another product), so the vocabulary is ordered from the one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

INVALID, NO_OUTPUT, LEFT, TURNS = "invalid call", "no answer from the model", "customer left", "budget"
UNFINISHED, MADE_UP = "unfinished", "hallucinated id"
CORRECTION, CHANGE, NOT_ASKED = "ignored a correction", "ignored a change of mind", "did not ask"
NOT_FOUND, SOLD_OUT = "never found", "sold out"
ORDER, DECISION, RETURN = "wrong order", "wrong decision", "wrong return"
STATUS, DATE, NUMBER, CHOICE = "wrong status", "wrong date", "wrong number", "wrong choice"
PRODUCT, VARIANT, QUANTITY = "wrong product", "wrong variant", "wrong quantity"
REQUIREMENT, MONEY, RANKING = "requirement missed", "over budget", "wrong ranking"
MISSING, EXTRA, EMPTY, OTHER = "missing item", "extra items", "empty answer", "other"

CAUSES: dict[str, str] = {
    INVALID: "The output was no valid action: an unknown tool, a wrong argument, or nothing that can be read.",
    NO_OUTPUT: "The agent put out nothing: its model gave no answer, or the agent itself broke.",
    LEFT: "The customer lost patience and left before there was an answer.",
    TURNS: "The turns ran out before there was an answer.",
    UNFINISHED: "The episode ended before the customer could raise this wish.",
    MADE_UP: "An id was put out that neither a tool nor the customer had shown.",
    CORRECTION: "The customer said what was wrong, and it is wrong still.",
    CHANGE: "The customer changed its mind, and the outcome is what it wanted before.",
    NOT_ASKED: "The customer left something out at first and had to bring it up itself, since nobody asked.",
    NOT_FOUND: "What was needed (the right product, order or help page, say) was never shown by any tool.",
    SOLD_OUT: "What was taken had sold out, or what the customer wanted instead was not taken.",
    ORDER: "Another order, or another line of an order, was named than the customer meant.",
    DECISION: "The decision between return, exchange and refusal is wrong.",
    RETURN: "The returns and exchanges made are not the one wanted: another line, reason or refund, none, or too many.",
    STATUS: "The order is right, its status is not.",
    DATE: "The order is right, the date that goes with it is not.",
    NUMBER: "The question was answered with another number.",
    CHOICE: "The question was answered with another of the choices.",
    PRODUCT: "Another product was taken than the one wanted, or one of the wrong kind.",
    VARIANT: "The product is right, its variant is not.",
    QUANTITY: "The product is right, the number of units is not.",
    REQUIREMENT: "A product does not meet a requirement that the customer said.",
    MONEY: "All together costs more than the customer's budget.",
    RANKING: "All that was named meets the requirements, but what suits the customer best does not come first.",
    MISSING: "Something wanted is missing: a cart item, a part, or a recommendation.",
    EXTRA: "Something is there that nobody wanted, or is there twice.",
    EMPTY: "The answer was empty.",
    OTHER: "None of the other causes; the record may be incomplete.",
}
_PLACE = {cause: place for place, cause in enumerate(CAUSES)}

Mistake = tuple[str, ...]  # causes, the root first
Fault = set[str]  # one thing that is wrong with what was taken: how it looks, and what led to it


def mistake(*faults: Fault) -> Mistake:
    """One mistake with one or more faults.

    Args:
        *faults: Causes of each fault. The root of a fault is the first in the vocabulary. The root of the mistake is
            that of its plainest fault: what does not explain all of a mistake was not what led to it.
    """
    root = max((min(fault, key=_PLACE.__getitem__) for fault in faults), key=_PLACE.__getitem__)
    return (root, *sorted(set().union(*faults) - {root}, key=_PLACE.__getitem__))


def summed_up(mistakes: Iterable[Mistake]) -> tuple[str, ...]:
    """The causes of all mistakes: first the roots, those of most mistakes before others, then what else is true."""
    mistakes = list(mistakes)
    roots = Counter(one[0] for one in mistakes)
    named = Counter(cause for one in mistakes for cause in one)
    return tuple(sorted(named, key=lambda cause: (-roots[cause], -named[cause], _PLACE[cause])))
