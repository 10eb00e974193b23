"""What speaks for a piece of text asking about a slot, as numbers that `judgement` weighs."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ecomrlve.customer import claims, errand_cues
from ecomrlve.customer.asking import library, vectors
from ecomrlve.customer.asking.cues import KIND_PATTERNS, names_slot
from ecomrlve.customer.asking.library import ACTS, NEVER_KNOWN, Topic, topic
from ecomrlve.customer.asking.shelf import Shelf
from ecomrlve.customer.asking.stems import content, stem, stems
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.values import unit_words

# Topics that everybody may be asked about, whether they are slots or not: they compete for a question's meaning.
_RIVALS = (
    "price", "rating", "ship_days", "brand", "color", "priority", "quantity", "variant", "identify", "fallback",
    "budget", "tie", "order_id", "ordered_on", "delivered_on", "paid", "order_total", "bought", "reason", "refund",
    "wish", "eta", "tier", "region", "department", "days_since_purchase", "payment", "channel", "opened", *ACTS,
    *NEVER_KNOWN,
)  # fmt: skip
_SAME_TOPIC = {"quantity": "order_quantity"}
# Facts of orders and of cases, whose own synonyms ("number", "when") would say too little.
_ERRANDS = frozenset(
    """order_id ordered_on delivered_on paid order_total bought order_quantity tier region department reason
    days_since_purchase payment channel opened amount""".split()
)
# What matters most is asked by naming what may matter.
MAY_MATTER = ("price", "rating", "ship_days", "brand", "paid", "order_total")
# Kinds that are asked about as such, whatever their attribute.
_BY_KIND = ("priority", "quantity", "fallback", "budget", "tie", "reason", "refund", "wish", "eta")
_GENERIC = {"variant": "variant", "identify": "identify", "reference": "which"}
# Rivals that ask for the same thing in other words, so that nearness to one says nothing against the other.
_ALIKE: tuple[frozenset[str], ...] = (
    frozenset(("price", "budget", "paid", "order_total", "amount")),
    frozenset(("ordered_on", "days_since_purchase")),
    frozenset(("ship_days", "eta")),
    frozenset(("payment", "refund", "payment_card_details")),
    frozenset(("region", "delivery_address")),
    frozenset(("department", "bought")),
    frozenset(("quantity", "order_quantity")),
    frozenset(("variant", "identify", "which")),
)

_BASE = (
    "meaning", "words", "cue", "generic meaning", "generic words", "ahead in meaning", "ahead in both", "unit",
    "item named", "whole sentence", "context", "long", "meaning of the sentence", "ahead of the live", "cue of another",
    "time", "recap", "stated", "stated in a recap",
)  # fmt: skip
# Groups of slots whose evidence may weigh differently.
GROUPS = ("constraint", "identify", "variant", "reference", "fact", "by kind")
BEFORE_VALUES = len(_BASE) - 2
FEATURES = (*_BASE, *(f"{name} of {group}" for group in GROUPS for name in _BASE), *GROUPS)
# Kinds of slot that are about what was, and about what is wanted.
_SIDE = {"reference": "past", "reason": "past", "constraint": "to come", "priority": "to come"}
_SOLD_OUT = re.compile(
    r"\b(?:original\w*|old|sold[- ]out|gone|wanted|used to|always bought|were|was|had|previous|first one|lost|missing one|it was)\b"
)
_INSTEAD = re.compile(
    r"\b(?:new|substitutes?|stand-?in|replacement|alternatives?|similar|next|successor|instead|another|in its place|now|should|must|need|would you)\b"
)


def group(slot: Slot) -> str:
    """The group a slot belongs to."""
    return slot.kind if slot.kind in GROUPS else "by kind"


class Unit(NamedTuple):
    """A piece of a message that may ask for something.

    Attributes:
        text: Lower case.
        plain: The same without the words that name the matter.
        sentence: The sentence that it is part of.
        whole: Whether it is the whole sentence.
        context: Whether it is the sentence before, which the question refers to.
        recap: Whether the question asks whether what was understood is right.
        items: The items that it names, or else its sentence.
    """

    text: str
    plain: str
    sentence: str
    whole: bool
    context: bool
    recap: bool
    items: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as it is compared: its vector, its stems that carry meaning, and all its stems."""

    vector: np.ndarray
    words: frozenset[str]
    norm: float
    stems: frozenset[str]


@lru_cache(maxsize=8192)
def _read(text: str) -> _Read:
    words = content(text)
    return _Read(vectors.vector(text), words, library.norm_of(words), frozenset(stems(text)))


@lru_cache(maxsize=1)
def _rivals() -> Shelf:
    return Shelf([topic(name) for name in _RIVALS])


@lru_cache(maxsize=1)
def _generic() -> Shelf:
    return Shelf([topic(name) for name in dict.fromkeys(_GENERIC.values())])


class _Near(NamedTuple):
    """How near a text is to the topics of a shelf, in meaning and in words: arrays of shape (topics,)."""

    meanings: np.ndarray
    words: np.ndarray


@lru_cache(maxsize=8192)
def _near(shelf: Shelf, text: str) -> _Near:
    read = _read(text)
    return _Near(shelf.meanings(read.vector), shelf.words(read.words, read.norm))


def topic_name(slot: Slot) -> str:
    """Under which name the library knows what a slot is about."""
    if slot.kind in _BY_KIND:
        return slot.kind
    if slot.kind in ("reference", "fact"):
        return _SAME_TOPIC.get(slot.attribute, slot.attribute)
    return slot.attribute


@lru_cache(maxsize=16384)
def _topic(name: str, label: str, synonyms: tuple[str, ...], choices: tuple[str, ...]) -> Topic:
    values = f"{', '.join(choices[:6])}?" if choices else ""
    return topic(name, (label, *synonyms, values))


def topic_of(slot: Slot) -> Topic:
    """The slot's topic; that of an attribute of products with its own label, synonyms and values."""
    name = topic_name(slot)
    if slot.kind in _BY_KIND or (slot.kind in ("reference", "fact") and name in _ERRANDS):
        return topic(name)
    return _topic(name, slot.label, slot.synonyms, slot.choices)


@lru_cache(maxsize=65536)
def _same(one: str, other: str) -> bool:
    """Whether two topics are asked for alike: sizes of clothes and of shoes are both sizes."""
    return one == other or one.endswith(f"_{other}") or other.endswith(f"_{one}")


@lru_cache(maxsize=65536)
def _alike(one: str, other: str) -> bool:
    """Whether nearness to a rival says nothing against a topic."""
    return _same(one, other) or any(one in group and other in group for group in _ALIKE)


@lru_cache(maxsize=4096)
def _unit_pattern(unit: str) -> re.Pattern[str]:
    words = "|".join(re.escape(word.casefold()) for word in unit_words(unit))
    return re.compile(rf"(?<![a-z])(?:{words})(?![a-z])")


@lru_cache(maxsize=512)
def _shelf(topics: tuple[Topic, ...]) -> Shelf:
    return Shelf(topics)


class Scene:
    """What a problem's slots have in common with each other and with the rivals; the same for all its messages."""

    def __init__(self, slots: Sequence[Slot]):
        names = [topic_name(slot) for slot in slots]
        self.shelf = _shelf(tuple(topic_of(slot) for slot in slots))
        self.live_apart = np.array([[not _same(one, other) for other in names] for one in names], dtype=bool)
        self.rivals_apart = np.array([[not _alike(one, other) for other in _RIVALS] for one in names], dtype=bool)
        generic = list(dict.fromkeys(_GENERIC.values()))
        self.generic = np.array([generic.index(_GENERIC[slot.kind]) if slot.kind in _GENERIC else -1 for slot in slots])
        self.groups = np.array([GROUPS.index(group(slot)) for slot in slots])
        # For what does not depend on values: any slots of this scene will do.
        self.slots = tuple(slots)
        self.sides = _sides(slots)
        self.twins = [
            slot.kind in self.sides
            and any(_same_fact(one, slot) and one.kind != slot.kind and one.kind in self.sides for one in slots)
            for slot in slots
        ]


_scenes: OrderedDict[tuple[Any, ...], Scene] = OrderedDict()
_scenes_lock = threading.Lock()
_MOST_SCENES = 512
_SHORTEST_SLIP, _NEARLY = 5, 0.8  # one slip in a word of five letters


def scene_of(slots: Sequence[Slot]) -> Scene:
    """The scene of these slots, remembered: a slot's value, which may be a list, does not matter."""
    key = tuple(
        (slot.kind, slot.attribute, slot.label, slot.unit, slot.synonyms, slot.choices, slot.item, slot.item_name)
        for slot in slots
    )
    with _scenes_lock:
        if key in _scenes:
            _scenes.move_to_end(key)
            return _scenes[key]
    made = Scene(slots)
    with _scenes_lock:
        _scenes[key] = made
        if len(_scenes) > _MOST_SCENES:
            _scenes.popitem(last=False)
    return made


@lru_cache(maxsize=8192)
def _mended(shelf: Shelf, text: str) -> str:
    """The text with words that nobody knows read as those of the topics that they are nearly: "budgte", "budget"."""
    words = text.split()
    for place, word in enumerate(words):
        bare = word.strip(".,;:!?'\"()")
        if len(bare) < _SHORTEST_SLIP or not bare.isalpha() or library.is_known(stem(bare)):
            continue
        found = process.extract(bare, shelf.vocabulary, scorer=OSA.normalized_similarity, score_cutoff=_NEARLY)
        likely = [(score, -abs(len(word) - len(bare)), word) for word, score, _ in found if word[0] == bare[0]]
        if likely:
            words[place] = max(likely)[2]
    return " ".join(words)


def _highest(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """For every row of `where`, the highest of the values that it allows, at least 0."""
    return np.where(where, values, 0.0).max(axis=1, initial=0.0)


def evidence(unit: Unit, slots: Sequence[Slot]) -> np.ndarray:
    """The features of every slot for one piece of text: shape (slots, len(FEATURES)).

    Args:
        unit: The piece.
        slots: The slots it may ask about.
    """
    if not slots:
        return np.zeros((0, len(FEATURES)))
    scene = scene_of(slots)
    told = np.array(told_in(unit, slots), dtype=float)
    base = np.column_stack((apart_from_values(scene, unit).base, told, told * unit.recap))
    rows = np.zeros((len(slots), len(FEATURES)))
    width = base.shape[1]
    rows[:, :width] = base
    for place, number in enumerate(scene.groups.tolist()):
        rows[place, width * (1 + number) : width * (2 + number)] = base[place]
        rows[place, width * (1 + len(GROUPS)) + number] = 1.0
    return rows


def told_in(unit: Unit, slots: Sequence[Slot]) -> list[bool]:
    """For every slot, whether the piece states its value, or another value of that sort."""
    return [may_be_about(unit, slot) and claims.stated(slot, unit.text) is not None for slot in slots]


class Apart(NamedTuple):
    """What a piece of text says of a scene's slots, whatever their values are.

    Attributes:
        base: The first features, those that are not about values: shape (slots, `BEFORE_VALUES`).
        barred: For every slot, whether the piece cannot be about it.
    """

    base: np.ndarray
    barred: list[bool]


@lru_cache(maxsize=8192)
def apart_from_values(scene: Scene, unit: Unit) -> Apart:
    """What a piece says of the slots of a scene, but for their values; remembered, for questions repeat."""
    slots = scene.slots
    plain = _mended(scene.shelf, unit.plain)
    near, rivals, generic = (_near(shelf, plain) for shelf in (scene.shelf, _rivals(), _generic()))
    both, rivals_both = near.meanings + near.words, rivals.meanings + rivals.words
    read, named = _read(plain), _read(unit.text)
    cues = np.array([names_slot(slot, named.stems, unit.items, unit.text) for slot in slots], dtype=float)
    sides, time = scene.sides, _time(unit, scene.sides)
    has_generic = scene.generic >= 0
    live = _highest(both, scene.live_apart)
    highest = np.maximum(_highest(near.meanings, scene.live_apart), _highest(rivals.meanings, scene.rivals_apart))
    highest_both = np.maximum(live, _highest(rivals_both, scene.rivals_apart))
    of_sentence = near.meanings if unit.whole else _near(scene.shelf, unit.sentence).meanings
    has_unit = [bool(slot.unit and slot.unit != "$" and _unit_pattern(slot.unit).search(unit.text)) for slot in slots]
    own = [slot.item is not None and slot.item in unit.items for slot in slots]
    when = [(1 if time == sides[slot.kind] else -1) if time and slot.kind in sides else 0 for slot in slots]
    base = np.column_stack(
        (
            near.meanings, near.words, cues, np.where(has_generic, generic.meanings[scene.generic], 0.0),
            np.where(has_generic, generic.words[scene.generic], 0.0), near.meanings - highest, both - highest_both,
            has_unit, own, np.full(len(slots), unit.whole), np.full(len(slots), unit.context),
            np.full(len(slots), min(len(read.words), 12) / 12), of_sentence, both - live,
            (cues == 0) & (_highest(cues, scene.live_apart) > 0), when, np.full(len(slots), unit.recap),
        )
    ).astype(float)  # fmt: skip
    base.flags.writeable = False
    return Apart(base, _barred(scene, unit, time))


def may_be_about(unit: Unit, slot: Slot) -> bool:
    """Whether a slot is of an item that the piece is about, or of none."""
    return slot.item is None or not unit.items or slot.item in unit.items


def _sides(slots: Sequence[Slot]) -> Mapping[str, str]:
    """Which kinds are about what was and what is to come, where there are both."""
    kinds = {slot.kind for slot in slots}
    if "constraint" in kinds and "identify" in kinds and "variant" not in kinds:
        return {"identify": "past", "constraint": "to come"}
    return _SIDE if "reference" in kinds and "constraint" in kinds else {}


def _time(unit: Unit, sides: Mapping[str, str]) -> str:
    """Which of the two a piece asks about, where there are both; empty if it does not tell."""
    if "identify" in sides:
        for text in (unit.text, unit.sentence):
            past, to_come = bool(_SOLD_OUT.search(text)), bool(_INSTEAD.search(text))
            if past != to_come:
                return "past" if past else "to come"
        return ""
    if sides:
        return errand_cues.past_or_to_come(unit.text) or errand_cues.past_or_to_come(unit.sentence)
    return ""


def barred(unit: Unit, slots: Sequence[Slot]) -> list[bool]:
    """For every slot, whether the piece cannot be about it: another item's, or of the other time."""
    return apart_from_values(scene_of(slots), unit).barred if slots else []


def _barred(scene: Scene, unit: Unit, time: str) -> list[bool]:
    slots = scene.slots
    ranks = KIND_PATTERNS["priority"].search(unit.text) is not None and any(slot.kind == "priority" for slot in slots)
    found = []
    for slot, twin in zip(slots, scene.twins, strict=True):
        other_item = not may_be_about(unit, slot)
        # "Is a low price what matters most?" asks for what matters, not for the price.
        ranked = ranks and slot.kind in ("constraint", "reference") and slot.attribute in MAY_MATTER
        found.append(other_item or ranked or (bool(time) and twin and scene.sides.get(slot.kind) != time))
    return found


def _same_fact(one: Slot, other: Slot) -> bool:
    """What was paid is the price of what was bought."""
    return one.attribute == other.attribute or {one.attribute, other.attribute} == {"price", "paid"}
