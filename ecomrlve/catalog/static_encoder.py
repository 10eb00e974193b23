"""A static encoder: a text's vector is the mean of its tokens', looked up in a table. It comes with a wheel.

It understands less than a transformer and is some hundred times as fast, so that millions of products are encoded on
a processor within minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from importlib import util
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.catalog.encoder import QueryCache, check_weights
from ecomrlve.errors import CatalogError

NAME = "wordllama-256"
DIMENSIONS = 256
# SHA-256 of the files in the wheel wordllama 0.4.0.post1: vectors on disk are only right for these.
WEIGHTS = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
REMEMBERED_WORDS = 500_000
LONGEST_REMEMBERED = 40  # letters; anything longer is rarely seen twice
BLOCK = 1024  # texts whose vectors fit a processor's cache


class StaticEncoder:
    """Token vectors of the `wordllama` wheel, read from its folder when first used; nothing is ever downloaded.

    A text's vector depends on that text alone, to the last bit: its tokens' vectors are added one by one in their
    order, on one thread. A text without any token gets zeros, which are similar to nothing.

    The package itself is not imported: that would set up the whole process's logging, and it pads batches, which
    changes the last bits.

    Raises:
        CatalogError: At first use, if the wheel is not installed or its files are not the expected ones.
    """

    name = NAME

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: np.ndarray | None = None
        self._tokenizer: Any = None
        self._words: dict[str, list[int]] = {}  # word → its tokens
        self._cache = QueryCache()

    def encode(self, texts: Sequence[str], *, progress: bool = False) -> np.ndarray:
        """Vectors for many texts (see `Encoder`): float32, shape (len(texts), DIMENSIONS)."""
        from tqdm import tqdm

        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        with self._lock, tqdm(total=len(texts), unit=" texts", disable=not progress) as bar:
            for start in range(0, len(texts), BLOCK):
                block = texts[start : start + BLOCK]
                vectors[start : start + BLOCK] = self._block(block)
                bar.update(len(block))
        return vectors

    def query(self, text: str) -> np.ndarray:
        """The vector of one query, from a small cache where it was asked before: float32, shape (DIMENSIONS,)."""
        with self._lock:
            vector = self._cache.get(text)
            return self._cache.put(text, self._block([text])[0]) if vector is None else vector

    def _block(self, texts: Sequence[str]) -> np.ndarray:
        from scipy import sparse

        table = self._loaded()
        tokens = self._tokens(texts)
        ends = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens)).cumsum()
        columns = np.fromiter(chain.from_iterable(tokens), dtype=np.int32, count=int(ends[-1]))
        # A row of this matrix says which rows of the table to add. SciPy adds them in the order in which they stand
        # here, and leaves a token that comes twice where it is.
        chosen = sparse.csr_array(
            (np.ones(len(columns), dtype=np.float32), columns, np.concatenate(([0], ends))),
            shape=(len(texts), len(table)),
        )
        sums = chosen @ table
        lengths = np.sqrt(np.square(sums, dtype=np.float64).sum(axis=1, keepdims=True))
        return (sums / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)

    def _tokens(self, texts: Iterable[str]) -> list[list[int]]:
        """The tokens of each text, word by word.

        No token reaches over a space, so that a text's tokens are those of its words; words come again and again,
        and looking one up is far quicker than splitting it.
        """
        split = [text.split() for text in texts]
        known = self._words
        missing = {word for words in split for word in words if word not in known}
        if missing:
            if len(known) + len(missing) > REMEMBERED_WORDS:
                known.clear()
                missing = {word for words in split for word in words}
            known.update((word, self._tokenizer.encode(word, add_special_tokens=False).ids) for word in missing)
        tokens = [list(chain.from_iterable(map(known.__getitem__, words))) for words in split]
        for word in missing:
            if len(word) > LONGEST_REMEMBERED:
                del known[word]
        return tokens

    def _loaded(self) -> np.ndarray:
        if self._table is None:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            weights, tokenizer = wheel_files()
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._table = load_file(weights)["embedding.weight"].astype(np.float32)
        return self._table


def wheel_files() -> tuple[Path, Path]:
    """Where the wheel keeps the weights and the tokenizer, both checked.

    Raises:
        CatalogError: It is not installed, or these are not the expected files.
    """
    wheel = util.find_spec("wordllama")
    if wheel is None or wheel.origin is None:
        raise CatalogError("the static encoder's weights are missing; install them with: pip install wordllama")
    package = Path(wheel.origin).parent
    weights = package / "weights" / "l2_supercat_256.safetensors"
    tokenizer = package / "tokenizers" / "l2_supercat_tokenizer_config.json"
    for path, expected in ((weights, WEIGHTS), (tokenizer, TOKENIZER)):
        if not path.is_file():
            raise CatalogError(f"{path} is missing; install it again with: pip install --force-reinstall wordllama")
        check_weights(NAME, path, expected)
    return weights, tokenizer
