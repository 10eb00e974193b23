"""Which products can stand in for another: what makes two of a type compatible, and how alike they are.

Both are facts of the catalog that a tool reports, so that the judge and the agent go by the same figures.
"""

from __future__ import annotations

import numpy as np

from ecomrlve.catalog.columns import Catalog

# An attribute whose name holds one of these words decides whether a product fits where another was used; the first
# word that a type has an attribute for is the one that counts.
COMPATIBILITY_WORDS = (
    "connector", "connectors", "connection", "ends", "socket", "link", "mount", "size", "fit", "shape", "material",
)  # fmt: skip
ATTRIBUTES_SHARE, PRICE_SHARE, BRAND_SHARE = 0.6, 0.25, 0.15
DECIMALS = 3


def compatible_by(catalog: Catalog, type_name: str) -> str | None:
    """The attribute in which a substitute must be equal: a word column of the type, or None where it has none."""
    remembered = catalog.memo.setdefault("compatible_by", {})
    if type_name not in remembered:
        names = [name for name in catalog.attributes_of_type(type_name) if not catalog.columns[name].numeric]
        remembered[type_name] = next(
            (name for word in COMPATIBILITY_WORDS for name in names if word in name.split("_")), None
        )
    return remembered[type_name]


def similarity(catalog: Catalog, row: int, others: np.ndarray) -> np.ndarray:
    """How alike products are to one, from 0 to 1, rounded to three decimals.

    0.6 times the mean likeness over the attributes that the product has (1 for the same word, for numbers one minus
    their distance over the range within the type, 0 where unknown), 0.25 times min/max of the prices, and 0.15 for the
    same brand.

    Args:
        catalog: Whose products.
        row: The product to resemble.
        others: Rows to compare with it.
    """
    same_type = catalog.rows_of_type(catalog.type_of(row))
    likeness = np.zeros(len(others))
    names = [name for name in catalog.type_attributes(row) if catalog.columns[name].get(row) is not None]
    for name in names:
        column = catalog.columns[name]
        own, cells = column.values[row], column.values[others]
        if not column.numeric:
            likeness += cells == own
            continue
        known = column.values[same_type]
        span = float(np.nanmax(known) - np.nanmin(known))
        near = np.where(cells == own, 1.0, 0.0) if span == 0 else np.clip(1 - np.abs(cells - own) / span, 0, 1)
        likeness += np.nan_to_num(near, nan=0.0)
    prices = catalog.columns["price"].values
    closeness = np.minimum(prices[others], prices[row]) / np.maximum(np.maximum(prices[others], prices[row]), 1e-9)
    brand = catalog.columns["brand"].values
    same_brand = (brand[others] == brand[row]) & (brand[row] >= 0)
    total = (
        ATTRIBUTES_SHARE * likeness / max(1, len(names)) + PRICE_SHARE * closeness + BRAND_SHARE * same_brand
    )  # fmt: skip
    return np.round(total, DECIMALS)
