"""The library of phrasings: how people ask for attributes, for what else a customer may know, and for what none knows.

A text is compared with a topic by the words they share and by what they mean; see `shelf`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np
import yaml

from ecomrlve.customer.asking import vectors
from ecomrlve.customer.asking.stems import content, stems

# Topics of the library that belong to no slot: who asks for them asks for nothing that the customer could tell.
NEVER_KNOWN = (
    "email", "phone_number", "name", "delivery_address", "date_of_birth", "gift_wrap", "engraving_text",
    "payment_card_details", "delivery_time_slot", "weather", "hobbies", "assembly_service", "insurance", "newsletter",
    "photo_of_damage", "password", "occasion", "recipient", "previous_product", "location_in_home",
    "how_customer_found_shop", "small_talk", "language_preference", "invoice", "coupon_code",
)  # fmt: skip
ACTS = ("open", "confirm", "statement")


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """Something to ask for.

    Attributes:
        name: Its name in the library, or an attribute's.
        words: For every phrasing, the stems that carry its meaning.
        norms: For every phrasing, the length of `words` in the weights of `weight_of`.
        matrix: For every phrasing, its vector: shape (phrasings, vectors.DIMENSIONS).
    """

    name: str
    words: tuple[frozenset[str], ...]
    norms: tuple[float, ...]
    matrix: np.ndarray


@lru_cache(maxsize=1)
def phrasings() -> dict[str, tuple[str, ...]]:
    """Topic → how people ask for it."""
    found: dict[str, tuple[str, ...]] = {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for name in ("attributes.yaml", "topics.yaml"):
        text = resources.files("ecomrlve.customer.asking").joinpath(name).read_text("utf-8")
        for topic, texts in yaml.load(text, Loader=loader).items():
            found[topic] = (*found.get(topic, ()), *texts)
    return found


@lru_cache(maxsize=1)
def _counts() -> tuple[Counter[str], int]:
    """In how many phrasings a stem stands, and how many phrasings there are."""
    by_stem: Counter[str] = Counter()
    total = 0
    for texts in phrasings().values():
        for text in texts:
            by_stem.update(set(stems(text)))
            total += 1
    return by_stem, total


@lru_cache(maxsize=65536)
def weight_of(stem: str) -> float:
    """How much a stem tells: the logarithm of how rare it is, ln((n + 1) / (occurrences + 1)); two decimals."""
    by_stem, total = _counts()
    return round(math.log((total + 1) / (by_stem[stem] + 1)), 2)


def is_known(stem: str) -> bool:
    """Whether a stem stands in any phrasing."""
    return _counts()[0][stem] > 0


def norm_of(stems_: frozenset[str]) -> float:
    """The length of a set of stems in the weights of `weight_of`."""
    return math.sqrt(sum(weight_of(stem) ** 2 for stem in sorted(stems_)))


@lru_cache(maxsize=4096)
def topic(name: str, more: tuple[str, ...] = ()) -> Topic:
    """A topic with the library's phrasings and others that a slot brings along.

    Args:
        name: A key of the library, or an attribute that it does not know.
        more: Label, synonyms and the like.
    """
    texts = dict.fromkeys((*phrasings().get(name, ()), *(text for text in more if text)))
    words = tuple(content(text) for text in texts)
    return Topic(name, words, tuple(map(norm_of, words)), vectors.stacked([vectors.vector(text) for text in texts]))
