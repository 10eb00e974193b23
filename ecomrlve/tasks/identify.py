"""Telling a product from others of the same title, and slots with the words people use for an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ecomrlve.catalog.columns import COMMON, Catalog
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.customer.ledger import Slot

MOST_IDENTIFYING = 2
MOST_CHOICES = 12


def matching_rows(catalog: Catalog, title: str, constraints: Sequence[Constraint]) -> list[int]:
    """Rows with this title that satisfy the constraints."""
    rows = np.array(catalog.rows_titled(title), np.int64)
    for constraint in constraints:
        rows = rows[satisfied(catalog, rows, constraint)]
    return rows.tolist()


def identifying(catalog: Catalog, row: int) -> tuple[Constraint, ...] | None:
    """The fewest attributes that tell a row from all others of its title, found greedily.

    Returns:
        Nothing to say where the title is unique; None where more than two attributes would be needed.
    """
    remembered = catalog.memo.setdefault("identifying", {})
    if row not in remembered:
        remembered[row] = _identifying(catalog, row)
    return remembered[row]


def _identifying(catalog: Catalog, row: int) -> tuple[Constraint, ...] | None:
    rows = np.array(catalog.rows_titled(catalog.titles[row]), np.int64)
    found: list[Constraint] = []
    names = [*catalog.type_attributes(row), "brand"]
    while len(rows) > 1:
        best: tuple[int, Constraint, np.ndarray] | None = None
        for name in names:
            value = catalog.columns[name].get(row)
            if value is None:
                continue
            constraint = Constraint(name, "eq", value)
            left = rows[satisfied(catalog, rows, constraint)]
            if best is None or len(left) < best[0]:
                best = len(left), constraint, left
        if best is None or best[0] == len(rows) or len(found) == MOST_IDENTIFYING:
            return None
        found.append(best[1])
        rows = best[2]
    return tuple(found)


def slot_of(
    catalog: Catalog,
    key: str,
    kind: str,
    attribute: str,
    operator: str,
    value: Any,
    item: int | None = None,
    item_name: str = "",
    rank: int = 0,
    choices: tuple[str, ...] = (),
) -> Slot:
    """A slot with label, unit, synonyms and possible words taken from the catalog."""
    column = catalog.columns.get(attribute)
    info = column.info if column is not None else None
    if column is not None and not column.numeric and not choices and attribute not in COMMON:
        choices = tuple(column.names[:MOST_CHOICES])
    return Slot(
        key=key,
        kind=kind,
        attribute=attribute,
        operator=operator,
        value=list(value) if isinstance(value, tuple) else value,
        label=info.label if info else attribute.replace("_", " "),
        unit=info.unit if info else "",
        synonyms=info.synonyms if info else (),
        item=item,
        item_name=item_name,
        rank=rank,
        choices=choices if kind in ("constraint", "identify", "variant") else (),
    )
