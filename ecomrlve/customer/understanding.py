"""What the agent's free text asks for: which slots, and whether it is an open question or asks for a confirmation.

Only sentences that ask count; what the agent tells is not a question about it. A slot is asked about when a word of
its label, its synonyms or its kind stands in such a sentence, in any inflection and with small typos; a sentence that
names an item asks about that item's slots alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from ecomrlve.customer import errand_cues
from ecomrlve.customer.ledger import HEADS, Slot

# What people ask with, by kind of slot, besides the slot's own label and synonyms. Several words = all must stand.
KIND_CUES: dict[str, tuple[str, ...]] = {
    "priority": ("priority", "matter", "important", "importance", "prioritise", "prioritize", "care", "rank"),
    "quantity": ("many", "quantity", "amount", "number", "unit", "piece", "count", "pcs", "multiple"),
    "variant": ("variant", "version", "option", "variation", "type", "kind"),
    "identify": ("exactly", "model", "specific", "exact", "variation", "tell apart", "lookalike", "detail"),
    "fallback": (
        "instead", "alternative", "sold", "stock", "unavailable", "replacement", "substitute", "fallback", "replace",
        "alternatively", "swap", "backup",
    ),
}  # fmt: skip
_ASKING = re.compile(
    r"\?|^(which|what|whats|how|do|does|did|would|could|can|should|is|are|any|who|when|where|will|may|shall)\b"
    r"|\b(tell me|let me know|please (say|share|specify|confirm|tell|give|provide|clarify|describe)|"
    r"i (need|have|want|would like|d like) to (know|ask|check)|can you|could you|would you|may i|"
    r"looking to know|wondering|clarify|specify|confirm)\b"
)
_OPEN = re.compile(
    r"\b((any|some|every)thing (else|more|specific|particular|i should|to add|to know|other|in mind)|what else|"
    r"more details?|other (requirements?|details?|preferences?|wishes|needs|criteria|things?)|"
    r"(any|your|all|further|additional|specific|particular) (\w+ )?(requirements?|preferences?|criteria|needs|wishes|"
    r"details?)|tell me more|what are you looking for|what do you (need|want)|what should i know|missing anything|"
    r"(is|was) that (all|everything))\b"
)
_CONFIRM = re.compile(
    r"\b((is|are|does|do|was|were) (this|that|these|those|it|they|everything|all|the (cart|list|order|basket))\b.{0,80}"
    r"\b(right|correct|ok|okay|good|fine|work|fit|match|suit|want|looking for|meant?|had in mind)"
    r"|shall i|should i (go|submit|proceed|finish|finali[sz]e)|ready to|happy with|can you confirm|please confirm"
    r"|sound (good|right)|look (good|right|ok)|correct\?|right\?)"
)
_SPLIT = re.compile(r"(?<=[.!?;\n])\s+|\n+")
_EXCEPT = re.compile(r"\b(apart from|besides|except( for)?|other than|aside from|leaving aside)\b(.*?)(,|$|\?)")
_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*")
MOST_READ = 4000  # characters of a message that the customer reads; nobody reads a novel in a chat
_CLOSE_ENOUGH = 0.8  # one slip in a word of five letters


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
    """

    asked: tuple[str, ...] = ()
    open: bool = False
    confirm: bool = False
    question: bool = False
    about: str | None = None
    how_many: str = ""


def understand(message: str, slots: Sequence[Slot]) -> Understanding:
    """Read a message against the slots there are, said or not.

    Args:
        message: The agent's text.
        slots: Live slots of the problem, most important first.
    """
    names = item_words(slots)
    kinds = {slot.kind for slot in slots}
    errand = bool(kinds & errand_cues.KINDS)
    asked: set[str] = set()
    is_open = confirm = question = False
    about: str | None = None
    how_many = ""
    for sentence in _SPLIT.split(message[:MOST_READ].casefold().replace("’", "'").replace("_", " ")):
        if not _ASKING.search(sentence.strip()) and not (errand and errand_cues.ASKING.search(sentence)):
            continue
        question = True
        excluded = [match.group(3) for match in _EXCEPT.finditer(sentence)]
        heard = _EXCEPT.sub(" ", sentence)
        stems = frozenset(_stems(heard))
        items = {item for item, words in names.items() if words & stems}
        meant = [slot for slot in slots if slot.kind not in HEADS and _meant(slot, heard, kinds, bool(items))]
        found = {slot.key for slot in meant if _asks(slot, stems, items, heard)} - {
            slot.key for text in excluded for slot in slots if _asks(slot, frozenset(_stems(text)), set(), text)
        }
        # "which one exactly" and "which variant" say nothing that tells the kinds apart, so both are meant.
        asked |= found
        is_open |= bool(excluded) or bool(_OPEN.search(sentence))
        confirm |= bool(_CONFIRM.search(sentence))
        if not found and stems & _HOW_MANY:
            how_many = "item" if items else "all"
        elif not found and not is_open and not confirm:
            if items and not found:
                asked |= {slot.key for slot in slots if slot.item in items and slot.kind not in (*HEADS, "fallback")}
            else:
                about = about or _subject(heard)
    return Understanding(
        asked=tuple(slot.key for slot in slots if slot.key in asked),
        open=is_open,
        confirm=confirm,
        question=question,
        about=about if not asked and not is_open and not confirm else None,
        how_many=how_many,
    )


def item_words(slots: Sequence[Slot]) -> dict[int, set[str]]:
    """For each item, the stems that name it and no other item."""
    stems = {
        slot.item: set(_stems(str(slot.value)))
        for slot in slots
        if slot.kind in ("item", "part") and slot.item is not None
    }
    return {
        item: {
            stem
            for stem in mine
            if len(stem) > 2 and not any(stem in theirs for o, theirs in stems.items() if o != item)
        }
        for item, mine in stems.items()
    }


def _meant(slot: Slot, sentence: str, kinds: set[str], named: bool) -> bool:
    """Whether a slot can be meant at all where others of its sort exist.

    Args:
        slot: The slot.
        sentence: Lower-case text of one sentence.
        kinds: All kinds of slot that the customer has.
        named: Whether the sentence names an item.
    """
    if "sendback" in kinds and slot.kind in ("reference", "constraint", "priority"):
        # What was bought and what is to replace it have prices, brands and colors alike.
        time = errand_cues.past_or_to_come(sentence)
        return time != ("to come" if slot.kind == "reference" else "past")
    if "budget" in kinds and slot.kind == "constraint" and slot.attribute == "price" and not named:
        return not errand_cues.about_all(sentence)
    return True


def _asks(slot: Slot, stems: frozenset[str], items: set[int], sentence: str = "") -> bool:
    if slot.item is not None and items and slot.item not in items:
        return False
    if slot.kind in errand_cues.KINDS:
        if errand_cues.asks(slot, sentence, bool(items)):
            return True
        words = errand_cues.by_words(slot)
        return bool(words or slot.choices) and _named(slot.kind, "", "", words, slot.choices, stems)
    return _named(slot.kind, slot.attribute, slot.label, slot.synonyms, slot.choices, stems)


@lru_cache(maxsize=65536)
def _named(
    kind: str, attribute: str, label: str, synonyms: tuple[str, ...], choices: tuple[str, ...], stems: frozenset[str]
) -> bool:
    """Whether a sentence with these stems names a slot: by a cue of its kind, its label, a synonym or a value."""
    single, several = _cues(kind, attribute, label, synonyms)
    if single & stems or any(stems.issuperset(cue) for cue in several):
        return True
    # "Is the black one right?" asks about the color, whichever it is.
    if any(stems.issuperset(words) for words in map(_stems, choices) if words and len(words[0]) > 1):
        return True
    near = [stem for stem in stems if len(stem) > 4]
    return any(
        cue[0] == stem[0] and OSA.normalized_similarity(cue, stem) >= _CLOSE_ENOUGH
        for cue in single
        if len(cue) > 4
        for stem in near
    )


@lru_cache(maxsize=4096)
def _cues(
    kind: str, attribute: str, label: str, synonyms: tuple[str, ...]
) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    """The cues of a slot that are one word, and those of several words, which must all stand."""
    words: list[str] = list(KIND_CUES.get(kind, ()))
    if kind not in ("priority", "fallback"):
        words += [label, attribute.replace("_", " "), *synonyms]
    cues = [cue for cue in map(_stems, words) if cue]
    return frozenset(cue[0] for cue in cues if len(cue) == 1), tuple(cue for cue in cues if len(cue) > 1)


@lru_cache(maxsize=2048)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(_stem(word) for word in _WORD.findall(text.casefold()))


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    """A light stemmer: plural and the commonest endings, so that "colours", "shipped" and "shipping" meet."""
    word = {"colour": "color", "colours": "color", "colors": "color"}.get(word, word).removesuffix("'s")
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least:
            if ending == "ies":
                return word[:-3] + "y"
            if ending == "s" and word.endswith("ss"):
                return word
            if ending == "es" and word[-3] not in "sxzh":
                return word[:-1]
            core = word[: -len(ending)]
            return core[:-1] if ending in ("ing", "ed") and len(core) > 3 and core[-1] == core[-2] else core
    return word


_HOW_MANY = frozenset(("many", "quantity", "amount"))
_SMALL = frozenset(
    """what which how do does did you your have has any a an the is are for would could can should want need prefer
    like it this that these those me tell know let please in on of to with and or about there will be i we they
    them""".split()
)


def _subject(sentence: str) -> str | None:
    """The word a question is about, for "I don't mind about …": its last one that means something, letters only."""
    words = [word for word in re.findall(r"[a-z]{3,20}", sentence) if word not in _SMALL]
    return words[-1] if words else None
