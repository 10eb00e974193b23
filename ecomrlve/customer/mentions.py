"""The checker: does a noise-free text carry a slot's value?

It guards the ledger's truth, above all when a language model chose the words, so it prefers to miss an odd wording
over taking another number for the one it looks for. Text and value are compared as tokens: whole words and whole
numbers, so that "10" is not in "100", "XL" not in "2XL" and "S" not in "that's". A bare number means nothing by
itself; its unit or its attribute must stand beside it. A date counts as a whole, and its numbers as nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ecomrlve.customer.dates import dates_in
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mention_tokens import Token, is_denied, is_near, label_words, places_of, tokens_of
from ecomrlve.customer.values import WEEKS, count_word, unit_words
from ecomrlve.customer.words import bare, is_number, number
from ecomrlve.shop.questions import fact_in

# What stands before a number and turns the requirement round, by the operator that it contradicts.
_CONTRADICTIONS = {
    "le": {("at", "least"), ("minimum",), ("minimum", "of"), ("min",), ("over",), ("above",), ("more", "than")},
    "ge": {
        ("at", "most"),
        ("maximum",),
        ("maximum", "of"),
        ("max",),
        ("under",),
        ("below",),
        ("less", "than"),
        ("up", "to"),
    },
}
_PRIORITY_WORDS = {
    "price": {"price", "prices", "cheap", "cheaper", "cheapest", "cost", "costs", "affordable", "inexpensive"},
    "rating": {"rating", "ratings", "rated", "review", "reviews"},
    "ship_days": {"delivery", "delivered", "shipping", "ship", "ships", "arrive", "arrives", "arrival"},
}
_PRIORITY_CUES = {
    "matter", "matters", "priority", "care", "prefer", "preferably", "counts", "mainly", "mostly", "importantly",
    "important", "decides", "favourite", "favorite", "preference",
}  # fmt: skip
_PRIORITY_CUE_PAIRS = {("after", "that"), ("then", "comes"), ("comes", "first"), ("comes", "second"), ("above", "all")}
_QUANTITY_AFTER = {"of", "x", "pieces", "piece", "units", "unit", "pcs", "copies", "times", "altogether", "please"}
_QUANTITY_BEFORE = {"quantity", "qty", "need", "want", "total", "make", "x", "order", "only", "just", "take"}
_SINGLE_LETTER_CUES = {"size", "version", "one", "variant", "type", "class", "grade"}
_GONE = {"gone", "sold", "stock", "unavailable", "available", "runs", "run"}
_ORDERED = {"ordered", "order", "bought", "placed", "purchased", "purchase", "made"}
_DELIVERED = {"delivered", "delivery", "arrived", "came", "received", "got", "arrival"}
# An amount of money that is no price paid, but a sum or a limit, by what stands around it.
_SUMS = {"total", "altogether", "whole", "together", "sum", "overall", "everything"}
_LIMITS = {"under", "most", "max", "maximum", "budget", "spend", "than", "least", "below", "less", "more", "should"}
_WORD_SPANS = re.compile(r"[^\W\d_]+")
_ENDS = re.compile(r"[.!?;\n]\s")
_EXCHANGE = {"exchange", "exchanged", "exchanging", "swap", "swapped"}
_SUGGEST = {"suggest", "suggestion", "suggestions", "suggesting", "recommend", "recommendation", "recommending"}
_JUST_A_REFUND = (
    "just want", "only want", "all i want", "just a refund", "only a refund", "nothing but a refund", "simply want",
)  # fmt: skip
_EXPECTED = {"arrive", "arrives", "arriving", "here", "get", "delivered", "come", "coming", "expect", "deliver"}
_LEAVE_OUT = {"leave", "skip", "drop", "forget", "without", "bother"}


def _contradicted(tokens: Sequence[Token], place: int, operator: str) -> bool:
    for cue in _CONTRADICTIONS.get(operator, ()):
        start = place - len(cue)
        # In "10 hours at least; $25" the first two words belong to the hours.
        if start < 0 or tokens[start].clause != tokens[place].clause:
            continue
        if tuple(token.word for token in tokens[start:place]) == cue and not is_denied(tokens, start, 4):
            return True
    return False


def _number_found(tokens: Sequence[Token], slot: Slot, value: Any) -> bool:
    if slot.attribute == "ship_days" and value in WEEKS:
        places = places_of(tokens, WEEKS[int(value)])
        if any(not _contradicted(tokens, place, slot.operator) for place in places):
            return True
    wanted = number(value)
    for place, token in enumerate(tokens):
        if token.word != wanted or token.glued or _contradicted(tokens, place, slot.operator):
            continue
        follower = tokens[place + 1].word if place + 1 < len(tokens) else ""
        if slot.attribute == "price" or slot.unit == "$":
            good = token.before == "$" or follower in ("dollars", "dollar", "bucks", "buck", "usd")
        elif token.before == "$":
            good = False
        elif slot.attribute == "rating":
            good = is_near(tokens, place, {"star", "stars", "rating", "rated", "rate"}, 6, 4)
        elif slot.attribute == "ship_days":
            good = is_near(tokens, place, {"day", "days"}, 0, 3)
        elif slot.unit and tokens_of(slot.unit):
            units = [[t.word for t in tokens_of(unit)] for unit in unit_words(slot.unit)]
            good = any([t.word for t in tokens[place + 1 : place + 1 + len(unit)]] == unit for unit in units)
        elif slot.unit:
            good = token.after == slot.unit[0] or follower in unit_words(slot.unit)
        else:
            good = is_near(tokens, place, label_words(slot), 7, 3)
        if good:
            return True
    return False


def _quantity_found(tokens: Sequence[Token], value: Any) -> bool:
    wanted = {number(value), count_word(value)}
    for place, token in enumerate(tokens):
        if token.word not in wanted or token.before in "$#":
            continue
        follower = tokens[place + 1].word if place + 1 < len(tokens) else ""
        leader = tokens[place - 1].word if place else ""
        if follower in _QUANTITY_AFTER or leader in _QUANTITY_BEFORE:
            return True
    return False


def _words_found(tokens: Sequence[Token], slot: Slot, value: str) -> bool:
    places = places_of(tokens, value)
    if len(value.strip()) == 1 and value.strip().isalpha():
        # "A" and "I" are words, and "S" or "M" may be initials: only the capital counts, beside what it is about.
        cues = _SINGLE_LETTER_CUES | label_words(slot)
        return any(tokens[place].raw == value.strip() and is_near(tokens, place, cues, 5, 3) for place in places)
    if value.strip().lower() == "one":
        # "The one in red" names no value.
        label = {token.word for token in tokens_of(slot.label or slot.attribute.replace("_", " "))}
        return any(is_near(tokens, place, label, 9, 5) for place in places)
    return bool(places)


def yes_or_no(value: Any) -> bool | None:
    """True or False for a yes/no value, else None."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return {"yes": True, "no": False}.get(word)


def _answer_found(tokens: Sequence[Token], slot: Slot, wanted: bool) -> bool:
    label = slot.label or slot.attribute.replace("_", " ")
    size = len(tokens_of(label))
    for place in places_of(tokens, label):
        answered_no = tokens[place + size - 1].after in ":=" and [t.word for t in tokens[place + size :][:1]] == ["no"]
        denied = answered_no or is_denied(tokens, place, 3)
        if denied != wanted:
            return True
    return False


def _priority_found(tokens: Sequence[Token], slot: Slot) -> bool:
    if slot.attribute == "brand" and slot.value:
        words = {tokens[place].sentence for place in places_of(tokens, str(slot.value))}
    else:
        known = _PRIORITY_WORDS.get(slot.attribute) or label_words(slot)
        words = {token.sentence for token in tokens if token.word in known}
    cues = {token.sentence for token in tokens if token.word in _PRIORITY_CUES}
    cues |= {one.sentence for one, two in pairwise(tokens) if (one.word, two.word) in _PRIORITY_CUE_PAIRS}
    return bool(words & cues)


def _fallback_found(tokens: Sequence[Token], slot: Slot) -> bool:
    value = slot.value
    words = {token.word for token in tokens}
    if value["do"] == "drop":
        return bool(words & _GONE) and bool(words & _LEAVE_OUT)
    if value["do"] == "product" and not places_of(tokens, bare(value["title"])):
        return False
    facts = dict(value.get("identify") or {})
    if value.get("attribute") and value.get("value") is not None:
        facts[value["attribute"]] = value["value"]
    return all(_value_found(tokens, Slot(slot.key, "constraint", name, "eq", fact)) for name, fact in facts.items())


def _value_found(tokens: Sequence[Token], slot: Slot, value: Any = None) -> bool:
    value = slot.value if value is None else value
    answer = yes_or_no(value)
    if isinstance(value, list | tuple | set | frozenset):
        return all(_value_found(tokens, slot, one) or _one_of(tokens, slot, one) for one in value)
    if answer is not None:
        return _answer_found(tokens, slot, answer)
    if is_number(value):
        return _number_found(tokens, slot, value)
    return _words_found(tokens, slot, str(value))


def _one_of(tokens: Sequence[Token], slot: Slot, value: Any) -> bool:
    """A number in a list ("10 or 20 hours"), whose unit stands only behind the last."""
    return is_number(value) and any(
        token.word == number(value) and is_near(tokens, place, {"or"}, 2, 2) for place, token in enumerate(tokens)
    )


# --- orders, returns, questions and projects


def _undated(text: str) -> str:
    """The text with its dates blanked, so that their numbers count as nothing else."""
    for day in dates_in(text):
        text = text[: day.start] + " " * (day.end - day.start) + text[day.end :]
    return text


def _date_found(text: str, day: str, delivered: bool) -> bool:
    """Whether the day stands in the text as that of the delivery, or as that of the order: by the nearest cue."""
    for found in dates_in(text):
        if found.day != day:
            continue
        before = _WORD_SPANS.findall(_ENDS.split(text[: found.start])[-1].lower())
        after = _WORD_SPANS.findall(_ENDS.split(text[found.end :])[0].lower())
        cue = next((word for word in (*reversed(before), *after) if word in _ORDERED | _DELIVERED), "")
        if (cue in _DELIVERED) == delivered:
            return True
    return False


def _is_money(tokens: Sequence[Token], place: int) -> bool:
    follower = tokens[place + 1].word if place + 1 < len(tokens) else ""
    return tokens[place].before == "$" or follower in ("dollars", "dollar", "bucks", "buck", "usd")


def _money_found(tokens: Sequence[Token], value: Any, total: bool) -> bool:
    """Whether an amount of money stands in the text: as a sum of several things, or as a price that was paid."""
    wanted = number(value)
    for place, token in enumerate(tokens):
        if token.word != wanted or token.glued or not _is_money(tokens, place):
            continue
        before, after = _stretch(tokens, place, -1), _stretch(tokens, place, 1)
        if total and {*before, *after} & _SUMS:
            return True
        if not total and not (set(before) & _SUMS or set(after[:3]) & _SUMS or {*before[:4], *after[:3]} & _LIMITS):
            return True
    return False


def _stretch(tokens: Sequence[Token], place: int, step: int) -> list[str]:
    """The words from a place on to the end of its part of the sentence, nearest first."""
    words: list[str] = []
    at = place + step
    while 0 <= at < len(tokens) and tokens[at].word not in ("and", "but", "also"):
        # "Total: $80" is one part.
        if tokens[at].clause != tokens[at - step].clause and not (step < 0 and tokens[at].after == ":"):
            break
        words.append(tokens[at].word)
        at += step
    return words


def _id_found(text: str, value: str) -> bool:
    return bool(re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", text, re.IGNORECASE))


def _reference_found(text: str, tokens: Sequence[Token], slot: Slot) -> bool:
    if slot.attribute == "order_id":
        return _id_found(text, str(slot.value))
    if slot.attribute in ("ordered_on", "delivered_on"):
        return _date_found(text, str(slot.value), slot.attribute == "delivered_on")
    if slot.attribute in ("paid", "order_total"):
        return _money_found(tokens, slot.value, slot.attribute == "order_total")
    if slot.attribute == "bought":
        return bool(places_of(tokens, bare(str(slot.value))))
    if slot.attribute == "quantity":
        return _quantity_found(tokens, slot.value)
    return _value_found(tokens, slot)


def _refund_found(tokens: Sequence[Token], value: str) -> bool:
    if value == "store_credit":
        phrases: tuple[str, ...] = ("store credit",)
    else:
        phrases = ("way i paid", "original payment", "how i paid", "same way i paid", "original method")
    return any(not is_denied(tokens, place, 4) for phrase in phrases for place in places_of(tokens, phrase))


def _wish_found(tokens: Sequence[Token], value: str) -> bool:
    exchange = any(token.word in _EXCHANGE and not is_denied(tokens, at, 5) for at, token in enumerate(tokens))
    # "Thanks for the suggestions" asks for none.
    thanked = {token.sentence for token in tokens if token.word in ("thanks", "thank")}
    suggest = any(
        token.word in _SUGGEST and token.sentence not in thanked and not is_denied(tokens, at, 5)
        for at, token in enumerate(tokens)
    )
    if value == "exchange":
        return exchange
    if value == "refund_and_suggestion":
        return suggest and not exchange
    cues = {tokens[place].sentence for phrase in _JUST_A_REFUND for place in places_of(tokens, phrase)}
    return not exchange and not suggest and any(token.word == "refund" and token.sentence in cues for token in tokens)


def _eta_found(tokens: Sequence[Token]) -> bool:
    asks = {token.sentence for token in tokens if token.word in ("when", "eta")}
    asks |= {
        tokens[place].sentence for phrase in ("how long", "how soon", "what day") for place in places_of(tokens, phrase)
    }
    return any(token.word == "eta" or (token.word in _EXPECTED and token.sentence in asks) for token in tokens)


def _tie_found(tokens: Sequence[Token], slot: Slot) -> bool:
    places = [places_of(tokens, str(part)) for part in (*slot.value, slot.label or slot.attribute.replace("_", " "))]
    alike = [at for at, token in enumerate(tokens) if token.word in ("same", "match", "matching", "share", "shared")]
    sentences = [{tokens[place].sentence for place in found} for found in (*places, alike)]
    return bool(set.intersection(*sentences))


def _errand_found(text: str, tokens: Sequence[Token], slot: Slot) -> bool | None:
    """For a slot of an errand, whether the text carries it; None for a slot of any other kind."""
    if slot.kind == "reference":
        return _reference_found(text, tokens, slot)
    if slot.kind in ("fact", "reason"):
        return fact_in(text, "reason" if slot.kind == "reason" else slot.attribute, slot.value)
    if slot.kind == "refund":
        return _refund_found(tokens, str(slot.value))
    if slot.kind == "wish":
        return _wish_found(tokens, str(slot.value))
    if slot.kind == "eta":
        return _eta_found(tokens)
    if slot.kind == "budget":
        return _money_found(tokens, slot.value, total=True)
    if slot.kind == "tie":
        return _tie_found(tokens, slot)
    if slot.kind == "order":
        return any(token.word in ("order", "orders", "parcel", "package") for token in tokens)
    if slot.kind == "question":
        return all(places_of(tokens, str(words)) for words in (slot.value, *slot.choices))
    return None


def mentions(text: str, slot: Slot) -> bool:
    """Whether a noise-free text carries the slot's value.

    Which item the value belongs to is not looked at; see `names_item`.

    Args:
        text: What the customer would say.
        slot: The slot, with the value to look for.
    """
    tokens = tokens_of(_undated(text))
    found = _errand_found(text, tokens, slot)
    if found is not None:
        return found
    if slot.kind == "priority":
        return _priority_found(tokens, slot)
    if slot.kind == "quantity":
        return _quantity_found(tokens, slot.value)
    if slot.kind == "fallback":
        return _fallback_found(tokens, slot)
    if slot.kind in ("type", "item", "original", "sendback", "project", "part"):
        return bool(places_of(tokens, bare(str(slot.value))))
    return _value_found(tokens, slot)


def names_item(text: str, slot: Slot) -> bool:
    """Whether the text names the item that the slot belongs to; True for a slot that belongs to none."""
    return slot.item is None or not slot.item_name or bool(places_of(tokens_of(text), bare(slot.item_name)))
