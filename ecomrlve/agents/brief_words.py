"""A title in the words in which the customer wrote it, slips of the pen and all.

Who imitates the brief agent sees the customer's text alone. To search for what stands there is copying; to search for
the title as the shop spells it would be guessing. The search forgives slips.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import OSA

ALIKE = 0.7  # least similarity of a stretch of text that is taken for the title
_EDGES = ' \t\n.,;:!?()“”"'


def as_written(title: str, texts: Sequence[str]) -> str:
    """The stretch of the customer's texts that comes closest to a title; the title itself, if none comes near.

    Args:
        title: As the shop spells it.
        texts: What the customer said, oldest first.
    """
    if any(title in text for text in texts):
        return title
    size, folded = len(title.split()), title.casefold()
    best, closest = title, ALIKE
    for text in texts:
        words = text.split()
        for length in range(max(1, size - 1), size + 2):  # a slip may join two words
            for start in range(len(words) - length + 1):
                stretch = " ".join(words[start : start + length]).strip(_EDGES)
                likeness = OSA.normalized_similarity(stretch.casefold(), folded)
                if likeness > closest:
                    best, closest = stretch, likeness
    return best
