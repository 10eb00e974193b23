"""Finding products: search, details, variants, re-ranking."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MaxLen

from ecomrlve.catalog.columns import fold
from ecomrlve.catalog.filters import Constraint, parse_filters
from ecomrlve.catalog.similar import compatible_by, similarity
from ecomrlve.errors import Refused
from ecomrlve.shop.world import World
from ecomrlve.streams import key_of, mix, unit_hashes
from ecomrlve.tools.base import tool

MOST_IDS = 100
NOISE_POOL = 300
MOST_WEAVINGS = 16  # rankings that an episode remembers


@tool
def catalog_search(
    world: World,
    query: str,
    filters: dict[str, Any] | None = None,
    sort: Literal["relevance", "price_asc", "price_desc", "rating", "ship_days"] = "relevance",
    limit: int = 10,
    page: int = 1,
) -> dict[str, Any]:
    """Search the shop's products by words, with exact filters.

    Args:
        query: What to look for, in plain words.
        filters: {key: value} or {key: {"eq"|"le"|"ge"|"in": value}}; keys are category, type, brand, price, rating,
            ship_days, in_stock and every attribute that hits show.
        sort: How to order the hits.
        limit: Hits per page, from 1 to the search depth.
        page: Page number, starting at 1.
    """
    if limit < 1 or page < 1:
        raise Refused("bad_page", "limit and page start at 1")
    limit = min(limit, world.axes.search_depth)
    constraints, in_stock = parse_filters(world.catalog, filters)
    rows = world.engine.matching(constraints)
    if in_stock is not None:
        rows = rows[world.stock.available_rows(rows) == in_stock]
    ranked = world.engine.rank(query, rows, sort)
    key = key_of(world.retrieval_key, fold(query), json.dumps(filters, sort_keys=True, default=str), sort)
    noise = ranked[:0]
    if world.axes.distractors > 0:
        noise = world.engine.stray(query, ranked, NOISE_POOL, filtered=len(rows) < len(world.catalog), key=key)
    shown, more = _page(world, ranked, noise, key, page, limit)
    return {"results": [world.hit(row) for row in shown], "page": page, "more": more}


@tool
def catalog_similar(
    world: World, product_id: str, filters: dict[str, Any] | None = None, limit: int = 10, page: int = 1
) -> dict[str, Any]:
    """List products of the same type, most similar first, and tell in which attribute a substitute must be equal.

    Args:
        product_id: Id of the product to resemble, as tool results show it.
        filters: As for catalog_search.
        limit: Hits per page, from 1 to the search depth.
        page: Page number, starting at 1.
    """
    row = world.row(product_id)
    if limit < 1 or page < 1:
        raise Refused("bad_page", "limit and page start at 1")
    limit = min(limit, world.axes.search_depth)
    constraints, in_stock = parse_filters(world.catalog, filters)
    kind = world.catalog.type_of(row)
    rows = world.engine.matching([Constraint("type", "eq", kind), *constraints])
    rows = rows[rows != row]
    if in_stock is not None:
        rows = rows[world.stock.available_rows(rows) == in_stock]
    ranked = rows[np.argsort(-similarity(world.catalog, row, rows), kind="stable")]
    key = key_of(world.retrieval_key, "similar", row, json.dumps(filters, sort_keys=True, default=str))
    noise = _neighbours(world, row, ranked) if world.axes.distractors > 0 else ranked[:0]
    shown, more = _page(world, ranked, noise, key, page, limit)
    alike = similarity(world.catalog, row, np.array(shown, np.int64)).tolist()
    hits = [world.hit(other) | {"similarity": value} for other, value in zip(shown, alike, strict=True)]
    return {"results": hits, "compatible_by": compatible_by(world.catalog, kind), "page": page, "more": more}


def _neighbours(world: World, row: int, ranked: np.ndarray) -> np.ndarray:
    """What a deficient engine takes for similar: products of the same category, whatever the filters say."""
    catalog = world.catalog
    near = catalog.rows_of_category(int(catalog.category_codes[row]))
    genuine = np.zeros(len(catalog), bool)
    genuine[ranked] = genuine[row] = True
    foreign = near[~genuine[near]]
    if not len(foreign):
        # Among so many rows are as many foreign ones as are wanted.
        foreign = np.flatnonzero(~genuine[: NOISE_POOL + len(ranked) + 1])
    return foreign[:NOISE_POOL]


class Weaving:
    """One ranking with distractors woven in, made as far as it is asked for.

    Each position is a distractor with probability `share`, by a hash of episode, search and position, which knows
    nothing of the goal. Genuine hits keep their order and take the other positions, so none is lost. No row is shown
    twice in one ranking.

    Args:
        ranked: Genuine rows, best first.
        noise: Rows to draw distractors from.
        share: Probability that a position is a distractor.
        key: 64-bit key of episode and search.
    """

    def __init__(self, ranked: np.ndarray, noise: np.ndarray, share: float, key: int):
        self._ranked = ranked
        self._noise = noise
        self._share = share
        self._key = key
        self._rows: list[int] = []
        self._genuine = 0  # the next genuine hit
        self._moved: set[int] = set()  # shown as distractors
        self._passed: set[int] = set()  # shown as genuine hits
        self._noisy = np.empty(0, bool)  # which positions are meant for a distractor

    def page(self, start: int, count: int) -> tuple[list[int], bool]:
        """Positions start … start + count − 1, and whether more genuine hits follow."""
        self._extend(start + count)
        more = any(int(row) not in self._moved for row in self._ranked[self._genuine :])
        return self._rows[start : start + count], more or len(self._rows) > start + count

    def _extend(self, end: int) -> None:
        if end > len(self._noisy):
            size = min(end, len(self._ranked) + len(self._noise))
            self._noisy = unit_hashes(self._key, np.arange(size)) < self._share
        while len(self._rows) < end:
            while self._genuine < len(self._ranked) and int(self._ranked[self._genuine]) in self._moved:
                self._genuine += 1
            if self._genuine >= len(self._ranked):
                return
            position = len(self._rows)
            row = _distractor(self._noise, self._moved, self._key, position) if self._noisy[position] else None
            if row is None or row in self._passed:
                row = int(self._ranked[self._genuine])
                self._genuine += 1
                self._passed.add(row)
            else:
                self._moved.add(row)
            self._rows.append(row)


def woven(
    ranked: np.ndarray, noise: np.ndarray, share: float, key: int, start: int, count: int
) -> tuple[list[int], bool]:
    """A page of a ranking with distractors woven in; see `Weaving`."""
    return Weaving(ranked, noise, share, key).page(start, count)


def _page(world: World, ranked: np.ndarray, noise: np.ndarray, key: int, page: int, limit: int) -> Any:
    """A page of a ranking in this episode. A ranking that is paged through is woven once."""
    share = world.axes.distractors
    if share <= 0:
        start = (page - 1) * limit
        return ranked[start : start + limit].tolist(), len(ranked) > start + limit
    name = key, ranked.tobytes()
    if name not in world.weavings:
        if len(world.weavings) >= MOST_WEAVINGS:
            world.weavings.clear()
        world.weavings[name] = Weaving(ranked, noise, share, key)
    return world.weavings[name].page((page - 1) * limit, limit)


def _distractor(noise: np.ndarray, moved: set[int], key: int, position: int) -> int | None:
    if len(moved) >= len(noise):
        return None
    place = mix(key ^ mix(position + 1)) % len(noise)
    while int(noise[place]) in moved:
        place = (place + 1) % len(noise)
    return int(noise[place])


@tool
def catalog_get_product(world: World, product_id: str) -> dict[str, Any]:
    """Read everything the shop says about one product.

    Args:
        product_id: Id of the product, as tool results show it.
    """
    row = world.row(product_id)
    product = world.catalog.product(row)
    return {
        **world.hit(row),
        "category": " > ".join(product.category),
        "rating_count": product.rating_count,
        "description": product.description,
        "features": list(product.features),
    }


@tool
def catalog_get_variants(world: World, product_id: str) -> dict[str, Any]:
    """List the variants of a product (size, connector, material …) with their ids, prices and stock.

    Args:
        product_id: Id of the product, as tool results show it.
    """
    row = world.row(product_id)
    world.show(row)
    variants = []
    for number, variant in enumerate(world.variants_of(row)):
        world.show(row, number)
        variants.append(
            {
                "variant_id": world.variant_id(row, number),
                "attributes": dict(variant.attributes),
                "price": variant.price,
                "stock": world.stock.left(row, number),
            }
        )
    return {"product_id": world.product_id(row), "title": world.catalog.titles[row], "variants": variants}


@tool
def catalog_rerank(world: World, query: str, product_ids: Annotated[list[str], MaxLen(MOST_IDS)]) -> dict[str, Any]:
    """Order given products by how well they fit a query, best first.

    Args:
        query: What they should fit, in plain words.
        product_ids: Ids of the products to order, at most 100.
    """
    rows = np.array(sorted({world.row(product_id) for product_id in product_ids}), np.int64)
    ranked = world.engine.rank(query, rows)
    for row in ranked:
        world.show(int(row))
    return {"product_ids": [world.product_id(int(row)) for row in ranked]}
