"""Words that ask for a slot by name: its label, its synonyms, a cue of its kind, or one of its possible values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA

from ecomrlve.customer import errand_cues
from ecomrlve.customer.asking.stems import stems as stems_of
from ecomrlve.customer.ledger import Slot

# What people ask with, by kind of slot, besides the slot's own label and synonyms. Several words = all must stand.
KIND_CUES: dict[str, tuple[str, ...]] = {
    "priority": ("priority", "matter", "important", "importance", "prioritise", "prioritize", "care", "rank"),
    "quantity": ("quantity", "amount", "unit", "piece", "count", "pcs", "multiple"),
    "variant": ("variant", "version", "option", "variation", "type", "kind"),
    "identify": ("exactly", "model", "specific", "exact", "variation", "tell apart", "lookalike", "detail"),
    "fallback": (
        "instead", "alternative", "sold", "stock", "unavailable", "replacement", "substitute", "fallback", "replace",
        "alternatively", "swap", "backup",
    ),
}  # fmt: skip
# The same where single words would say too little.
KIND_PATTERNS: dict[str, re.Pattern[str]] = {
    "priority": re.compile(
        r"\b(?:(?:more|most|less|least) (?:important|decisive|crucial|essential|relevant|weight|worth|valuable)|worth more|matters? (?:more|most)|"
        r"beats?\b|outweigh\w*|weigh(?:s|ed)? (?:more|most|heav)|rank\w*|tip(?:s|ping)? the (?:scales?|balance)|above (?:the rest|all|everything)|"
        r"clos(?:er|est) to your heart|(?:put|comes?|goes) (?:first|next|second|top)|counts? (?:most|more)|order of importance|prioriti[sz]\w*|priorit\w+|"
        r"favou?r .{0,30}\b(?:over|above)|come down to|when in doubt|trade-?offs?|first and (?:what )?second|most crucial|decid(?:es|ing) factor|top of (?:your|the) list)\b"
    ),
    "quantity": re.compile(
        r"\b(?:how many (?:of (?:them|those|these|it)|should i|shall i|do you|would you|are you|pieces|units|packs?|copies|items|sets|pairs)|"
        r"(?:number|count) of (?:pieces|units|copies|items|sets|pairs|them)|quantit\w*|how often|a figure|just (?:the )?one\b|(?:one|single) or (?:more|several|two))\b"
    ),
    "fallback": re.compile(
        r"\b(?:(?:if|should|in case|suppose|supposing|when|were|once)\b.{0,60}\b(?:gone|sold|unavailable|run out|out of stock|not available|no longer|no more|can't (?:get|find|have)|"
        r"isn't available|not in stock|none|run short|sell out|sells out|disappear\w*|vanish\w*)|plan b|stand-?in|in (?:its|their) place|back-?ups?|second choice|next best|"
        r"(?:is|are|were) (?:none )?left\b)"
    ),
    "identify": re.compile(
        r"\b(?:(?:tell|set|sets|setting|keep) .{0,40}\bapart|recogni[sz]e|distinguish\w*|lookalikes?|look-alikes?|near-?identical|same name|which (?:of them |one |model |exact |product )?(?:exactly|precisely)|"
        r"(?:exactly|precisely) (?:which|what)|which exact|make out (?:which|yours)|what makes (?:yours|it) different|(?:several|two|three|many|lots of|half a dozen|\d+) .{0,60}(?:which (?:of|one|is)|how do i))\b"
    ),
    "variant": re.compile(r"\b(?:which|what) (?:version|variant|option|edition|variety|design|motif|style)s?\b"),
}  # fmt: skip
_COUNTED = re.compile(
    r"\b(?:how many|(?:what|which) (?:number|quantity)|number of|count (?:of|for)|(?P<number>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten))"
    r"(?: of| for)?\b"
)
_CLOSE_ENOUGH = 0.8  # one slip in a word of five letters


def item_words(slots: Sequence[Slot]) -> dict[int, set[str]]:
    """For each item, the stems that name it and no other item."""
    named = {slot.item: _name(slot) for slot in slots if slot.kind in ("item", "part") and slot.item is not None}
    return {
        item: {
            stem
            for stem in mine
            if len(stem) > 2 and not any(stem in theirs for o, theirs in named.items() if o != item)
        }
        for item, mine in named.items()
    }


def matter_words(slots: Sequence[Slot]) -> frozenset[str]:
    """The stems that name what it is all about: products by type or title, up to a title's first comma."""
    return frozenset(
        stem
        for slot in slots
        if slot.kind in ("type", "item", "part", "original", "sendback")
        for stem in _name(slot)
        if len(stem) > 2
    )


def _name(slot: Slot) -> set[str]:
    # Behind the comma stand properties: "Ankle Boot, 60 mm Heel Height".
    return set(stems_of(str(slot.value).split(",", 1)[0]))


def names_slot(slot: Slot, stems: frozenset[str], items: frozenset[int], sentence: str = "") -> bool:
    """Whether a text names a slot in a word that belongs to it.

    Args:
        slot: The slot.
        stems: All stems of the text.
        items: The items that it is about; empty for any.
        sentence: The text, lower case.
    """
    if slot.item is not None and items and slot.item not in items:
        return False
    pattern = KIND_PATTERNS.get(slot.kind)
    if pattern is not None and pattern.search(sentence):
        return True
    if slot.kind == "quantity" and _counts(sentence, slot.item_name):
        return True
    if slot.kind in errand_cues.KINDS:
        if errand_cues.asks(slot, sentence, bool(items)):
            return True
        words = errand_cues.by_words(slot)
        return bool(words or slot.choices) and _named(slot.kind, "", "", words, slot.choices, stems)
    return _named(slot.kind, slot.attribute, slot.label, slot.synonyms, slot.choices, stems)


@lru_cache(maxsize=8192)
def _counts(sentence: str, item_name: str) -> bool:
    """Whether pieces of the item are counted: "how many umbrellas", "the number of each", "three mugs"."""
    name = set(stems_of(item_name.split(",", 1)[0]))
    for match in _COUNTED.finditer(sentence):
        after = stems_of(sentence[match.end() : match.end() + 40])[:4]
        if name & set(after) or (not match["number"] and after[:1] and after[0] in ("each", "every", "everything")):
            return True
    return False


@lru_cache(maxsize=65536)
def _named(
    kind: str, attribute: str, label: str, synonyms: tuple[str, ...], choices: tuple[str, ...], stems: frozenset[str]
) -> bool:
    """Whether a sentence with these stems names a slot: by a cue of its kind, its label, a synonym or a value."""
    single, several = _cues(kind, attribute, label, synonyms)
    if single & stems or any(stems.issuperset(cue) for cue in several):
        return True
    # "Is the black one right?" asks about the color, whichever it is.
    if any(stems.issuperset(words) for words in map(stems_of, choices) if words and len(words[0]) > 1):
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
    cues = [cue for cue in map(stems_of, words) if cue]
    return frozenset(cue[0] for cue in cues if len(cue) == 1), tuple(cue for cue in cues if len(cue) > 1)
