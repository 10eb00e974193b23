"""Values that an agent states when it asks for a confirmation: "so the black one, twice?" - right, wrong, or none."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ecomrlve.customer import errand_cues
from ecomrlve.customer.dates import dates_in
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import mentions, yes_or_no
from ecomrlve.customer.values import NUMBER_WORDS, unit_words
from ecomrlve.customer.words import is_number, number

_TIMES = {"once": 1, "single": 1, "twice": 2, "both": 2, "couple": 2, "pair": 2, "thrice": 3, "dozen": 12}
_WORDS = {word: count for count, word in enumerate(NUMBER_WORDS)}
_NUMBER = re.compile(rf"(?<![\w.$])\$?\s?(\d[\d,]*(?:\.\d+)?|{'|'.join(NUMBER_WORDS[1:])})\b")
_MEASURE = re.compile(
    r"[\s-]?(?:cm|mm|m|kg|g|l|ml|w|v|gb|in|inch(?:es)?|hours?|hrs|minutes?|days?|weeks?|months?|years?|stars?|degrees?|liters?|"
    r"litres?|grams?|kilos?|watts?|lumens|meters?|percent|dollars?|bucks)(?![a-z])|\s?%"
)
_MULTIPLE = re.compile(r"(?<![\w.])(?:x\s?(\d{1,2})|(\d{1,2})\s?x)(?![\w.])")
_ORDER_ID = re.compile(r"\bo[0-9a-hjkmnp-tv-z]{7}\b")
_MONEY = re.compile(r"\$\s?(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?)\s?(?:dollars?|bucks?|usd|\$)")
_TAG = re.compile(r",? (?:right|no|correct|yes|ok|okay|true)\W*$")
# What a wish sounds like, for those that are told from each other by words alone.
_SIGNS: dict[str, dict[str, str]] = {
    "refund": {"store_credit": r"store credit|voucher", "original_payment": r"original|card|way you paid|how you paid"},
    "wish": {
        "exchange": r"exchang|swap",
        "refund_and_suggestion": r"suggest|recommend|another one|replacement|find you",
        "refund": r"(?:only|just|simply|nothing but) (?:a |the |your )?(?:refund|money)",
    },
    "reason": {
        "damaged": r"damag|broken|crack|shatter|dent",
        "wrong_item": r"wrong (?:item|one|thing|product|article|order)|not what you ordered",
        "not_as_described": r"(?:not|n't) (?:as|match|what|like).{0,20}descri|description",
        "arrived_late": r"\blate\b",
        "changed_mind": r"chang\w+ (?:of|your) mind|changed mind|no longer (?:want|need)|don't (?:want|need) it",
        "does_not_fit": r"(?:not|n't) fit|too (?:small|big|large|tight|loose)|wrong size",
    },
    "opened": {
        "unopened": r"unopened|sealed|(?:not|n't|never)(?: been)? (?:opened|used|unpacked|unwrapped)|still (?:closed|packed|wrapped)",
        "opened": r"(?<!un)(?<!not )(?<!n't )(?<!never )(?<!been )opened|(?<!not )(?<!n't )unwrapped|(?:has|have|'s|'ve|already) (?:been )?(?:opened|used)",
    },
    "channel": {
        "website": r"website|web site|online|web ?shop|browser",
        "app": r"\bapp\b",
        "phone": r"by phone|on the phone|over the phone|called|hotline|phone order",
    },
}


def stated(slot: Slot, sentence: str) -> bool | None:
    """Whether a sentence states the slot's value (True), another value of the same sort (False), or none (None).

    Args:
        slot: A slot that the sentence is about.
        sentence: Lower-case text.
    """
    if slot.kind in ("tie", "fallback", "priority"):
        return None  # not told by a value alone
    return _stated(comparable(slot), sentence)


def comparable(slot: Slot) -> Slot:
    """The slot with a value that can be looked up: a list as a tuple."""
    return replace(slot, value=tuple(slot.value)) if isinstance(slot.value, list) else slot


@lru_cache(maxsize=32768)  # the same sentence is compared with the same slots in many turns
def _stated(slot: Slot, sentence: str) -> bool | None:
    kind = slot.kind
    sentence = _TAG.sub("", sentence)
    attribute = slot.attribute if slot.attribute in ("reason", "opened", "channel") else kind
    if kind == "eta":
        return (
            True
            if re.search(r"when (?:it|the|your)\b.{0,30}\b(?:arriv|come|be|deliver|get)|arrival|\beta\b", sentence)
            else None
        )
    if attribute in _SIGNS:
        return _by_signs(attribute, str(slot.value), sentence)
    if slot.attribute == "order_id":
        found = _ORDER_ID.findall(sentence)
        return str(slot.value) in found if found else None
    if slot.attribute in ("ordered_on", "delivered_on"):
        days = {day.day for day in dates_in(sentence)}
        return slot.value in days if days else None
    if kind == "quantity" or slot.attribute == "quantity":
        # Numbers in a title count nothing: "the Webcam, 60 fps".
        for part in slot.item_name.casefold().split(","):
            sentence = sentence.replace(part.strip(), " ") if part.strip() else sentence
        counts = _counts(sentence)
        return slot.value in counts if counts else None
    if kind == "budget" or slot.attribute in ("price", "paid", "order_total", "amount"):
        if kind == "budget" and not errand_cues.about_all(sentence) and "budget" not in sentence:
            return None
        sums = {float((one or two).replace(",", "")) for one, two in _MONEY.findall(sentence)}
        return any(abs(value - float(slot.value)) < 0.005 for value in sums) if sums and is_number(slot.value) else None
    values = list(slot.value) if isinstance(slot.value, list | tuple) else [slot.value]
    if all(is_number(value) for value in values):
        return _by_number(slot, values, sentence)
    answer = yes_or_no(slot.value)
    if answer is not None:
        return _answered(slot, sentence, answer)
    if any(mentions(sentence, _one(slot, value)) or _stands(str(value), sentence) for value in values):
        return True
    others = [word for word in slot.choices if word not in values and _stands(word, sentence)]
    return False if others else None


def _one(slot: Slot, value: Any) -> Slot:
    return Slot(slot.key, "constraint", slot.attribute, "eq", value, label=slot.label, unit=slot.unit)


def _answered(slot: Slot, sentence: str, answer: bool) -> bool | None:
    """For a yes/no attribute, whether the sentence grants or denies it as the customer wants it."""
    place = sentence.find(slot.label.casefold()) if slot.label else -1
    if place < 0:
        return None
    denied = re.search(r"(?:\bno|\bnot|n't|\bwithout)(?: \w+){0,3} ?$", sentence[:place]) is not None
    return denied != answer


def _stands(word: str, sentence: str) -> bool:
    if len(word) == 1 and word.isalpha():
        letter = word.casefold()
        return (
            re.search(rf"\b(?:size|be|in|an?|version) {letter}(?!\w)|\b{letter} (?:size|version|one)\b", sentence)
            is not None
        )
    return len(word) > 1 and re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", sentence) is not None


def _by_signs(kind: str, value: str, sentence: str) -> bool | None:
    signs = _SIGNS[kind]
    if value in signs and re.search(signs[value], sentence):
        return True
    return False if any(re.search(sign, sentence) for other, sign in signs.items() if other != value) else None


@lru_cache(maxsize=1024)
def _counts(sentence: str) -> frozenset[int]:
    """Whole numbers that may count pieces: "two", "3x", "twice", but no prices, measures or dates."""
    found = {_TIMES[word] for word in re.findall(r"[a-z]+", sentence) if word in _TIMES}
    found |= {int(one or two) for one, two in _MULTIPLE.findall(sentence)}
    for match in _NUMBER.finditer(sentence):
        word, after = match.group(1), sentence[match.end() : match.end() + 12]
        if "$" in match.group() or "." in word or _MEASURE.match(after):
            continue
        # "The black one" counts nothing.
        if word != "one" or not re.match(r"\s*(?:[,.?!]|$|is\b|that\b|with\b|in\b)", after):
            found.add(_WORDS[word] if word.isalpha() else int(word.replace(",", "")))
    return frozenset(found)


def _by_number(slot: Slot, values: list[Any], sentence: str) -> bool | None:
    found = set()
    units = tuple(unit.casefold() for unit in unit_words(slot.unit)) if slot.unit else ()
    if slot.attribute == "rating":
        units = ("star", "stars", "/5", "out of 5")
    elif slot.attribute in ("ship_days", "days_since_purchase"):
        units = ("day", "days")
    for match in _NUMBER.finditer(sentence):
        word, after = match.group(1), sentence[match.end() :].lstrip(" -")
        if units and not after.startswith(units):
            continue
        found.add(number(_WORDS[word]) if word.isalpha() else number(float(word.replace(",", ""))))
    if found & {number(value) for value in values}:
        return True
    # Another number of that unit may be another attribute's, unless this one is named.
    names = {
        word
        for text in (slot.label, slot.attribute.replace("_", " "), *slot.synonyms)
        for word in text.casefold().split()
    }
    named = slot.attribute in ("rating", "ship_days", "days_since_purchase") or names & set(
        re.findall(r"[a-z]+", sentence)
    )
    return False if found and named else None
