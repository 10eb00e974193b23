"""Dense vectors of a catalog, kept in FAISS, computed once and cached on disk.

The default catalog's vectors are shipped (float16). Any other catalog's are computed once into a cache that is keyed
by the fingerprints of catalog and encoder and is published by an atomic rename.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.encoder import Encoder

SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "embeddings"


def cache_folder() -> Path:
    """Where computed vectors are kept: $ECOMRLVE_CACHE, else ~/.cache/ecomrlve."""
    return Path(os.environ.get("ECOMRLVE_CACHE") or Path.home() / ".cache" / "ecomrlve")


def text_of(catalog: Catalog, row: int) -> str:
    """What is encoded of a product."""
    path = " ".join(catalog.category_names[catalog.category_codes[row]])
    return f"{catalog.titles[row]}. {catalog.type_of(row)}, {path}"


def file_name(catalog: Catalog, encoder: Encoder) -> str:
    """Name of the file with a catalog's vectors: it changes with anything they depend on."""
    return f"{catalog.fingerprint}-{encoder.name.replace('/', '--')}.npy"


def embeddings(catalog: Catalog, encoder: Encoder, *, progress: bool = False) -> np.ndarray:
    """Vectors of all rows: float16, shape (rows, dimensions); shipped, cached, or computed and cached now."""
    file = file_name(catalog, encoder)
    for folder in (SHIPPED, cache_folder()):
        if (folder / file).exists():
            vectors = np.load(folder / file)
            if vectors.shape[0] == len(catalog):
                return vectors
    vectors = encoder.encode([text_of(catalog, row) for row in range(len(catalog))], progress=progress)
    vectors = vectors.astype(np.float16)
    save(vectors, cache_folder() / file)
    return vectors


def save(vectors: np.ndarray, path: Path) -> None:
    """Write an array so that a reader sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        np.save(file, vectors)
    os.chmod(file.name, 0o644)  # temporary files are private; a cache may be shared
    os.replace(file.name, path)


class DenseIndex:
    """Exact inner products against all rows, by a FAISS flat index.

    Args:
        vectors: float16 or float32, shape (rows, dimensions), unit length.
    """

    def __init__(self, vectors: np.ndarray):
        import faiss

        self._index: Any = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        shape = self._index.ntotal, self._index.d
        self._matrix: np.ndarray = faiss.rev_swig_ptr(self._index.get_xb(), shape[0] * shape[1]).reshape(shape)

    def nearest(self, vector: np.ndarray, count: int) -> np.ndarray:
        """The `count` most similar rows, best first."""
        return self._index.search(vector[None, :], count)[1][0]

    def scores(self, vector: np.ndarray) -> np.ndarray:
        """Cosine similarity of a query to every row: float32, shape (rows,).

        Fusion needs every row's score, not the best few: a product with FAISS's own matrix gives them without the
        heap that a search for all rows would keep.
        """
        return self._matrix @ vector
