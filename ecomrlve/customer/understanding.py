"""What the agent's free text asks for: which slots, and whether it is an open question or asks for a confirmation.

Only sentences that ask count; what the agent tells is not a question about it. Each is read in pieces, and a piece asks
about a slot if its words or its meaning are near to how people ask for it (`asking`), nearer than to anything else they
may ask. What a sentence leaves out ("apart from the color") is not asked; what it states when it asks for a
confirmation ("so the black one, twice?") is compared with the truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ecomrlve.customer import claims, errand_cues
from ecomrlve.customer.asking.cues import item_words, matter_words, names_slot
from ecomrlve.customer.asking.evidence import MAY_MATTER, may_be_about
from ecomrlve.customer.asking.judgement import NEVER, scores
from ecomrlve.customer.asking.stems import SMALL_WORDS, content, stems
from ecomrlve.customer.asking.units import Asking, askings
from ecomrlve.customer.ledger import HEADS, Slot
from ecomrlve.customer.sentences import MOST_READ, OPEN

__all__ = ["MOST_READ", "Understanding", "item_words", "understand"]

_HOW_MANY = re.compile(r"\b(?:how many|quantity|quantities|what amount|which amount|number of)\b")
# What asks for all there is to know of an item.
_ALL_OF_IT = re.compile(
    r"\b(?:(?:tell|say) me (?:\w+ ){0,3}more|more (?:details?|about)|describe|what do you mean by|details? (?:of|about|on|for)|anything (?:\w+ )?(?:special|particular|else|specific|i should)|"
    r"(?:what|which) (?:exactly|precisely)|which (?:\w+ ){0,4}(?:exactly|precisely)|exactly (?:which|what)|more specific|specifics|what (?:about|kind of|sort of)|requirements?|be like)\b"
)
_MORE = re.compile(
    r"\b(?:tell me (?:\w+ ){0,3}more about|describe|what do you mean by|(?:more )?details? (?:of|about|on|for))\b"
)
# What matters most may be asked by comparing what may matter: "is a low price more important than good reviews?"
_COMPARES = re.compile(
    r"\b(?:more|less) (?:important|decisive|crucial|relevant|of a (?:concern|priority))|order of importance|worth more|"
    r"matters? more|counts? (?:for )?more|bigger (?:deal|concern)|outweighs?|beats?\b|"
    r"\bor .*\b(?:most important|matters? (?:the )?most|comes? first|weighs? (?:more|most)|closer)\b.*\?|"
    r"\bwhich (?:of (?:these|those|them|the two) |one )?(?:is|comes|counts|matters|weighs) (?:more|most|first)|"
    r"first and what second|choose between|between .* and .*\b(?:first|more|most)\b"
)
_DOUBTFUL = -6.0  # log odds


@dataclass(frozen=True, slots=True)
class Understanding:
    """What an agent's message asks.

    Attributes:
        asked: Keys of the slots asked about, in order of importance.
        open: Whether it asks openly for whatever else there is.
        confirm: Whether it asks for a confirmation.
        question: Whether anything is asked at all.
        about: A noun asked about that is no slot of this problem, or None.
        how_many: Whether it asks for a number where there is none to tell: "" no, "item" of one item, "all" of any.
        claims: Of the slots asked about, those whose value the message states; whether it is the right one.
    """

    asked: tuple[str, ...] = ()
    open: bool = False
    confirm: bool = False
    question: bool = False
    about: str | None = None
    how_many: str = ""
    claims: Mapping[str, bool] = field(default_factory=dict)


def understand(message: str, slots: Sequence[Slot]) -> Understanding:
    """Read a message against the slots there are, said or not.

    Args:
        message: The agent's text.
        slots: Live slots of the problem, most important first.
    """
    errand = any(slot.kind in errand_cues.KINDS for slot in slots)
    kinds = {slot.kind for slot in slots}
    able = [claims.comparable(slot) for slot in slots if slot.kind not in HEADS]
    counted = {slot.key for slot in able if slot.kind == "quantity"}
    asked: set[str] = set()
    stated: dict[str, bool] = {}
    is_open = confirm = question = False
    about: str | None = None
    how_many = ""
    for asking in askings(message, item_words(slots), matter_words(slots), errand):
        question = True
        text = asking.sentence.heard
        opens = OPEN.search(text) is not None
        found = _asked(asking, able, kinds, opens)
        told = _claims(asking, able) if asking.confirms else {}
        # Whoever states a value as it is, to have it confirmed, asks about it; another number may be about anything.
        found |= {key for key, right in told.items() if right or (key in counted and asking.items)}
        references = {slot.key for slot in able if slot.kind == "reference"}
        if errand_cues.asks_which(text) and len(references & found) != 1:
            # "Which order is it?" asks for all that tells it.
            found |= references
        told = {key: right for key, right in told.items() if key in found}
        if opens and len(content(text)) <= 1:
            found = set()  # "any other details?"
        all_of_it = not found and _ALL_OF_IT.search(text) is not None
        if (asking.named and (_MORE.search(text) or (opens and not found))) or (
            asking.items and all_of_it and not opens
        ):
            found |= {slot.key for slot in able if slot.item in asking.items and slot.kind != "fallback"}
            opens = False
        asked |= found
        stated |= told
        is_open |= opens or (bool(asking.sentence.excluded) and not found and not asking.confirms)
        confirm |= asking.confirms and (not found or bool(told))
        if not found and not opens and _HOW_MANY.search(text):
            how_many = "item" if asking.items else "all"
        elif not found and not is_open and not confirm:
            about = about or _subject(text)
    return Understanding(
        asked=tuple(slot.key for slot in slots if slot.key in asked),
        open=is_open,
        confirm=confirm,
        question=question,
        about=about if not asked and not is_open and not confirm else None,
        how_many=how_many,
        claims=stated,
    )


def _asked(asking: Asking, slots: Sequence[Slot], kinds: set[str], opens: bool) -> set[str]:
    """Keys of the slots that a sentence asks about."""
    if not slots:
        return set()
    found = scores(asking.units, slots)
    whole = [unit for unit in asking.units if unit.whole][:1]
    left_out = scores(asking.excluded, slots)
    # A price in a question about a project is that of a part, where one is named, and else that of all together.
    of_all = "budget" in kinds and not asking.items and errand_cues.about_all(asking.sentence.heard)
    ranks = _COMPARES.search(asking.sentence.heard) is not None and any(
        score > 0 and slot.kind == "priority" for slot, score in zip(slots, found.tolist(), strict=True)
    )
    # "In terms of brand, color and weight": a piece that is the attribute's name leaves no doubt.
    pieces = {content(text) for unit in asking.units if not unit.context for text in (unit.plain, unit.text)}
    named = [bool(pieces & _names(slot)) for slot in slots]
    found = np.where(np.array(named) & (found > NEVER), np.maximum(found, 1.0), found)
    if not opens and not asking.confirms and not (found > 0).any():
        # A word that belongs to a slot alone counts where nothing else is understood.
        cued = [
            names_slot(slot, frozenset(stems(unit.text)), unit.items, unit.text) for slot in slots for unit in whole
        ]
        found = np.where(np.array(cued) & (found > _DOUBTFUL), 1.0, found)
    return {
        slot.key
        for slot, score, excluded in zip(slots, found.tolist(), left_out.tolist(), strict=True)
        if score > 0
        and not excluded > max(score, 0.0)
        and not (of_all and slot.kind == "constraint" and slot.attribute == "price")
        and not (ranks and slot.kind in ("constraint", "reference") and slot.attribute in MAY_MATTER)
        and slot.item not in asking.without
    }


@lru_cache(maxsize=8192)
def _label_names(label: str, attribute: str, synonyms: tuple[str, ...]) -> frozenset[frozenset[str]]:
    texts = (label, attribute.replace("_", " "), *synonyms)
    return frozenset(words for words in map(content, texts) if words)


def _names(slot: Slot) -> frozenset[frozenset[str]]:
    """The words that name a slot by itself; none for what is asked for in whole sentences."""
    if slot.kind not in ("constraint", "identify", "variant"):
        return frozenset()
    return _label_names(slot.label, slot.attribute, slot.synonyms)


def _claims(asking: Asking, slots: Sequence[Slot]) -> dict[str, bool]:
    """Of the slots asked about, those whose value is stated, and whether it is the right one."""
    told: dict[str, bool] = {}
    for slot in slots:
        for unit in asking.units:
            answer = claims.stated(slot, unit.text) if may_be_about(unit, slot) else None
            if answer is not None:
                told[slot.key] = answer or told.get(slot.key, False)
    return told


def _subject(sentence: str) -> str | None:
    """The word a question is about, for "I don't mind about …": its last one that means something, letters only."""
    words = [word for word in re.findall(r"[a-z]{3,20}", sentence) if word not in SMALL_WORDS]
    return words[-1] if words else None
