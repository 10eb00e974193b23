"""The indexes of a catalog folder, and the search engine over them.

They lie inside the folder: ``words`` for the word index, ``index-<encoder>`` for the vectors and the dense index of
each encoder. Building goes on where a killed run stopped, and every part is published by a rename.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from ecomrlve.catalog import approximate, static_encoder
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.encoder import DEFAULT, STATIC, Encoder, encoder_by_name
from ecomrlve.catalog.large_search import LargeSearchEngine
from ecomrlve.catalog.lexical import LexicalIndex
from ecomrlve.catalog.lexical_store import write_lexical
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.stored import StoredCatalog, open_catalog
from ecomrlve.catalog.vectors import VECTORS, build_vectors, open_vectors, vector_facts
from ecomrlve.errors import CatalogError
from ecomrlve.streams import HashStream, key_of

WORDS = "words"
EXACT_UP_TO = approximate.EXACT_UP_TO
_FOLDER = "index-"
QUERIES = 1000


def default_encoder(size: int) -> str:
    """The encoder that is used if none is named: the static one where there is too much for a sentence encoder."""
    return DEFAULT if size <= EXACT_UP_TO else STATIC


def index_folder(folder: Path, encoder: Encoder) -> Path:
    """Where the index of an encoder lies; models in folders are told apart by a hash of the path."""
    name = encoder.name.replace("/", "--")
    if not re.fullmatch(r"[\w.-]{1,80}", name):
        name = f"model-{hashlib.sha256(encoder.name.encode()).hexdigest()[:12]}"
    return folder / f"{_FOLDER}{name}"


def texts_of(catalog: Catalog, start: int, end: int) -> list[str]:
    """What is encoded of some products, as `index.text_of` has it."""
    kinds = catalog.type_codes[start:end].tolist()
    categories = catalog.category_codes[start:end].tolist()
    paths = {code: " ".join(catalog.category_names[code]) for code in set(categories)}
    return [
        f"{title}. {catalog.type_names[kind]}, {paths[category]}"
        for title, kind, category in zip(catalog.titles[start:end], kinds, categories, strict=True)
    ]


def build(
    folder: str | Path,
    encoder: str | None = None,
    *,
    device: str | None = None,
    batch_rows: int = 8_192,
    shard_rows: int = 65_536,
    worker: tuple[int, int] = (0, 1),
    words_only: bool = False,
    progress: bool = False,
) -> dict[str, Any]:
    """Build whatever indexes a catalog folder lacks.

    Args:
        folder: The catalog folder.
        encoder: ``static``, ``all-MiniLM-L6-v2``, a Hub id or a model's folder; None for `default_encoder`.
        device: Where a sentence encoder computes: ``cpu``, ``cuda`` …
        batch_rows: Texts that the encoder gets at once.
        shard_rows: Vectors that are written at once.
        worker: (k, n): encode only the shards of worker k of n, and nothing else.
        words_only: Build the word index alone.
        progress: Show bars.

    Returns:
        What is known of the index (see `approximate.build_index`); for one of several workers, of its shards.

    Raises:
        CatalogError: No catalog folder, or one whose unfinished index is of something else.
    """
    catalog = open_catalog(folder)
    if worker[1] == 1 and not (catalog.folder / WORDS).is_dir():
        write_lexical(catalog, catalog.folder / WORDS, progress=progress)
    if words_only:
        return {"kind": "words", "count": len(catalog)}
    chosen = encoder_by_name(encoder or default_encoder(len(catalog)), device=device)
    place = index_folder(catalog.folder, chosen)
    vectors = build_vectors(
        lambda start, end: texts_of(catalog, start, end),
        len(catalog),
        chosen,
        place,
        fingerprint=catalog.fingerprint,
        shard_rows=shard_rows,
        batch_rows=batch_rows,
        worker=worker,
        progress=progress,
    )
    if worker[1] > 1:
        return {"kind": "shards", "worker": list(worker), "folder": str(vectors)}
    queries = np.stack([chosen.query(text) for text in sample_queries(catalog, approximate.SAMPLED_QUERIES)])
    return approximate.build_index(vectors, place, progress=progress, queries=queries)


def sample_queries(catalog: Catalog, count: int, seed: int = 0) -> list[str]:
    """What shoppers might type: some of the words of a product's title, of products drawn evenly.

    Args:
        catalog: Whose products.
        count: How many queries.
        seed: Which ones.
    """
    stream = HashStream(key_of("sample queries", seed, len(catalog)))
    queries = []
    for _ in range(count):
        row = stream.integer(len(catalog))
        words = catalog.titles[row].split()
        kept = sorted(stream.sample(range(len(words)), max(2, (len(words) + 1) // 2)))
        queries.append(" ".join([*(words[place] for place in kept), catalog.type_of(row)]))
    return queries


def folders_of(folder: Path) -> list[Path]:
    """The dense indexes of a catalog folder, finished or not."""
    return sorted(path for path in folder.glob(f"{_FOLDER}*") if path.is_dir())


def info(folder: str | Path) -> dict[str, Any]:
    """What is in a catalog folder: catalog, word index, and each dense index with its files checked.

    Raises:
        CatalogError: No catalog folder.
    """
    catalog = open_catalog(folder)
    found: dict[str, Any] = {
        "catalog": catalog.name,
        "fingerprint": catalog.fingerprint,
        "products": len(catalog),
        "damaged_files": catalog.check(),
        "words": (catalog.folder / WORDS).is_dir(),
        "indexes": {},
    }
    for place in folders_of(catalog.folder):
        name = place.name.removeprefix(_FOLDER)
        try:
            found["indexes"][name] = approximate.info(place)
        except CatalogError as error:
            found["indexes"][name] = {"unfinished": str(error)}
    return found


def verify(folder: str | Path, encoder: str | None = None, *, count: int = QUERIES) -> dict[str, Any]:
    """Recall of a dense index against exact search, by `sample_queries` that the index was not tuned on.

    Args:
        folder: The catalog folder.
        encoder: Whose index; None where there is one only.
        count: How many queries.

    Raises:
        CatalogError: There is no such index.
    """
    catalog = open_catalog(folder)
    chosen = _encoder_of(catalog, encoder)
    queries = np.stack([chosen.query(text) for text in sample_queries(catalog, count, seed=1)])
    return approximate.verify(index_folder(catalog.folder, chosen), queries)


def _encoder_of(catalog: StoredCatalog, encoder: str | None) -> Encoder:
    """The encoder that is named, or whose index there is."""
    if encoder is not None:
        return encoder_by_name(encoder)
    built = [
        vector_facts(place)["encoder"].rpartition("@")[0] or vector_facts(place)["encoder"]
        for place in folders_of(catalog.folder)
        if (place / VECTORS).is_file()
    ]
    for name in (DEFAULT, static_encoder.NAME, *(built if len(built) == 1 else ())):
        if name in built:
            return encoder_by_name(name)
    what = f"several indexes ({', '.join(sorted(built))}); name the encoder" if built else "no dense index"
    raise CatalogError(f"{catalog.folder} has {what}; build one with: ecomrlve index build {catalog.folder}")


def open_engine(
    folder: str | Path, encoder: str | None = None, *, words_only: bool = False, progress: bool = False
) -> SearchEngine:
    """The search engine of a catalog folder.

    Up to 100,000 products it is the exact one, as for any other catalog; above, the one over the indexes on disk.

    Args:
        folder: The catalog folder.
        encoder: Whose vectors to use; None for those that are there.
        words_only: Search by words alone.
        progress: Show a bar where vectors have to be computed first.

    Raises:
        CatalogError: No catalog folder, or a large one without its indexes.
    """
    catalog = open_catalog(folder)
    if len(catalog) <= EXACT_UP_TO:
        if words_only:
            return SearchEngine(catalog)
        if encoder is None and not folders_of(catalog.folder):
            return SearchEngine(catalog, encoder_by_name(DEFAULT), progress=progress)
        chosen = _encoder_of(catalog, encoder)
        place = index_folder(catalog.folder, chosen)
        vectors = open_vectors(place) if (place / VECTORS).is_file() else None
        return SearchEngine(catalog, chosen, progress=progress, vectors=vectors)
    if not (catalog.folder / WORDS).is_dir():
        raise CatalogError(f"{catalog.folder} has no word index; build it with: ecomrlve index build {catalog.folder}")
    words = LexicalIndex.open(catalog.folder / WORDS)
    if words_only:
        return LargeSearchEngine(catalog, words)
    chosen = _encoder_of(catalog, encoder)
    return LargeSearchEngine(catalog, words, chosen, approximate.open_index(index_folder(catalog.folder, chosen)))
