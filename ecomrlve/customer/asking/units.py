"""The pieces of a message that may each ask for something, with the items they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ecomrlve.customer import errand_cues
from ecomrlve.customer.asking.evidence import Unit
from ecomrlve.customer.asking.stems import content, stems
from ecomrlve.customer.sentences import OPEN, Sentence, asks_to_confirm, sentences, sums_up

_FEW_WORDS = 3
_REFERS = re.compile(
    r"\b(?:which|which one|which of (?:them|those|these)|it|that|those|these|them|one|there|more than that|the (?:least|most|limit)|"
    r"(?:enough|sufficient|okay|ok|fine|soon enough|too (?:much|long|late|heavy|big|small)))\b"
)


@dataclass(frozen=True, slots=True)
class Asking:
    """One sentence that asks.

    Attributes:
        sentence: The sentence.
        units: What in it may ask for something.
        excluded: What it, or the sentence in front of it, says not to be asked for.
        items: The items it names; those of the sentence in front if it names none.
        named: Those that it names itself.
        confirms: Whether it asks whether what was understood, shown or done is right.
        without: The items it leaves out: "apart from the mattress".
    """

    sentence: Sentence
    units: tuple[Unit, ...]
    excluded: tuple[Unit, ...]
    items: frozenset[int]
    named: frozenset[int]
    confirms: bool
    without: frozenset[int]


def askings(message: str, names: Mapping[int, set[str]], matter: frozenset[str], errand: bool) -> list[Asking]:
    """The sentences of a message that ask.

    Args:
        message: The agent's text.
        names: For each item, the stems that name it.
        matter: Stems that name what it is all about ("bird", "feeder"): they tell nothing about what is asked of it.
        errand: Whether it is about an order, a return or the rules, which are asked about with a few words more.
    """
    found: list[Asking] = []
    before: Sentence | None = None
    left_out: tuple[str, ...] = ()
    for sentence in sentences(message):
        if not (sentence.asks or (errand and errand_cues.ASKING.search(sentence.text))):
            # "You have told me the size. What about the color?" leaves out the size, too.
            left_out = sentence.excluded
            before = sentence
            continue
        found.append(_asking(sentence, before, left_out, names, matter))
        left_out, before = (), sentence
    return found


def _asking(
    sentence: Sentence,
    before: Sentence | None,
    left_out: Sequence[str],
    names: Mapping[int, set[str]],
    matter: frozenset[str],
) -> Asking:
    items = named = _named(sentence.heard, names)
    context = before.heard if before is not None else ""
    refers = len(content(sentence.heard)) <= _FEW_WORDS or _REFERS.search(sentence.heard) is not None
    if not items and context:
        items = _named(context, names)

    recap = asks_to_confirm(sentence.text)

    def unit(text: str, of: str, own: frozenset[int], *, whole: bool = False, context: bool = False) -> Unit:
        text = text.strip(" ?.!,;:")
        return Unit(text, _without(text, matter), of, whole, context, recap, own)

    units = [
        unit(piece, sentence.heard, own, whole=len(sentence.pieces) == 1)
        for piece, own in _items_of(sentence.pieces, items, names)
    ]
    if len(sentence.pieces) != 1:
        units.append(unit(sentence.heard, sentence.heard, items, whole=True))
    # What a product is like is no summary of the customer's wishes: "This one has 5 zones. Does it suit you?"
    # Nor does "Anything else?" ask once more for what the sentence before asked for.
    opens = OPEN.search(sentence.heard) is not None
    if refers and not opens and before is not None and not (recap and not sums_up(before.text)):
        parts = (*before.pieces, before.heard) if len(before.pieces) > 1 else (before.heard,)
        units += [unit(piece, before.heard, own, context=True) for piece, own in _items_of(parts, items, names)]
    excluded = tuple(unit(text, text, _named(text, names)) for text in (*sentence.excluded, *left_out) if text.strip())
    # "Apart from the mattress" leaves out the item, "apart from the size of the mattress" only its size.
    without = [unit.items for unit in excluded if unit.items and not content(unit.plain)]
    return Asking(sentence, tuple(units), excluded, items, named, recap, frozenset().union(*without))


def _items_of(
    pieces: Sequence[str], items: frozenset[int], names: Mapping[int, set[str]]
) -> Iterator[tuple[str, frozenset[int]]]:
    """Every piece with the items that it names, or those named last before it."""
    last = frozenset[int]()
    for piece in pieces:
        own = _named(piece, names)
        last = own or last
        yield piece, own or last or items


def _without(text: str, matter: frozenset[str]) -> str:
    """The text without the words that name the matter."""
    return " ".join(word for word in text.split() if not matter.intersection(stems(word)))


def _named(text: str, names: Mapping[int, set[str]]) -> frozenset[int]:
    found = set(stems(text))
    return frozenset(item for item, words in names.items() if words & found)
