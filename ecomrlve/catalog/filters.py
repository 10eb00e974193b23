"""One evaluator for filters and constraints: (attribute, operator, value) → which rows satisfy it.

The search tool, the generator and the verifier all call it, so that a filter can never disagree with a judgement.
An unknown value satisfies nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ecomrlve.catalog import values
from ecomrlve.catalog.columns import COMMON, Catalog, Column, fold, plain_number
from ecomrlve.errors import Refused, short

OPERATORS = ("eq", "le", "ge", "in")
MOST_LISTED = 60
SHOP_KEYS = ("category", "type", "in_stock")
SYMBOLS = {"eq": "=", "le": "≤", "ge": "≥", "in": "in"}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A requirement that is true or false of a product.

    Attributes:
        attribute: Column name, or ``type`` or ``category``.
        operator: ``eq``, ``le``, ``ge`` or ``in``.
        value: Number or word; a tuple of them for ``in``.
    """

    attribute: str
    operator: str
    value: Any

    def __str__(self) -> str:
        value = " or ".join(map(str, self.value)) if self.operator == "in" else self.value
        return f"{self.attribute} {SYMBOLS[self.operator]} {value}"

    def as_filter(self) -> dict[str, Any]:
        """The same as an entry of the search tool's filters."""
        return {self.attribute: {self.operator: list(self.value) if self.operator == "in" else self.value}}


def satisfied(catalog: Catalog, rows: np.ndarray | slice, constraint: Constraint) -> np.ndarray:
    """Which of `rows` (or a slice of them) satisfy the constraint: a bool array. In stock or not does not count."""
    name, operator, value = constraint.attribute, constraint.operator, constraint.value
    if name == "type":
        return _words(catalog.type_codes[rows], catalog.type_index, operator, value)
    if name == "category":
        return _category(catalog, rows, value if operator == "in" else (value,))
    return _passes(catalog.columns[name], catalog.columns[name].values[rows], constraint)


def rows_satisfying(catalog: Catalog, constraint: Constraint) -> np.ndarray:
    """All rows of the catalog that satisfy the constraint, ascending."""
    if constraint.attribute in catalog.columns:
        column = catalog.columns[constraint.attribute]
        rows = catalog.rows_where(constraint.attribute, lambda cells: _passes(column, cells, constraint))
        if rows is not None:
            return rows
    return np.flatnonzero(satisfied(catalog, slice(None), constraint))


def _passes(column: Column, cells: np.ndarray, constraint: Constraint) -> np.ndarray:
    """Which cells of a column satisfy the constraint."""
    operator, value = constraint.operator, constraint.value
    if not column.numeric:
        return _words(cells, column.codes, operator, value)
    if operator == "in":
        return np.isin(cells, [float(v) for v in value])
    # Comparisons with NaN are false, which is what an unknown value must be.
    if operator == "le":
        return cells <= float(value)
    return cells >= float(value) if operator == "ge" else cells == float(value)


def _words(codes: np.ndarray, index: Mapping[str, int], operator: str, value: Any) -> np.ndarray:
    # An unknown word gets the code −2, an unknown cell has −1: neither can match.
    if operator != "in":
        return codes == index.get(fold(str(value)), -2)
    mask = np.zeros(len(codes), bool)
    for word in value:
        mask |= codes == index.get(fold(str(word)), -2)
    return mask


def _category(catalog: Catalog, rows: np.ndarray | slice, words: Any) -> np.ndarray:
    wanted = {fold(str(word)) for word in words}
    hits = [
        code
        for code, path in enumerate(catalog.category_names)
        if wanted & ({fold(part) for part in path} | {fold(" > ".join(path))})
    ]
    return np.isin(catalog.category_codes[rows], hits)


def parse_filters(catalog: Catalog, filters: Mapping[str, Any] | None) -> tuple[list[Constraint], bool | None]:
    """Read the search tool's filters.

    Args:
        catalog: Whose keys are allowed.
        filters: ``{key: value}`` or ``{key: {operator: value}}``.

    Returns:
        The constraints, and the wanted `in_stock` (None where it is not filtered).

    Raises:
        Refused: Unknown key or operator, or a value that does not fit the key.
    """
    constraints: list[Constraint] = []
    in_stock: bool | None = None
    for raw_key, condition in (filters or {}).items():
        key = fold(str(raw_key)).replace(" ", "_")
        if key == "in_stock":
            in_stock = _truth(condition)
            continue
        if key not in catalog.columns and key not in SHOP_KEYS:
            raise Refused("unknown_filter", _unknown_key(catalog, key, (filters or {}).get("type")))
        pairs = (
            condition if isinstance(condition, Mapping) else {"in" if isinstance(condition, list) else "eq": condition}
        )
        if not pairs:
            raise Refused("bad_filter", f"filter {key!r} is empty; give a value or one of {', '.join(OPERATORS)}")
        constraints.extend(_constraint(catalog, key, str(operator), value) for operator, value in pairs.items())
    return constraints, in_stock


def _constraint(catalog: Catalog, key: str, operator: str, value: Any) -> Constraint:
    operator = fold(operator)
    if operator not in OPERATORS:
        raise Refused(
            "bad_filter", f"unknown operator {short(operator)!r} for {key!r}; the operators are {', '.join(OPERATORS)}"
        )
    numeric = key in catalog.columns and catalog.columns[key].numeric
    if not numeric and operator in ("le", "ge"):
        raise Refused("bad_filter", f"{key!r} holds words; use eq or in, not {operator}")
    if operator == "in":
        if not isinstance(value, list) or not value:
            raise Refused("bad_filter", f"{key!r} with in takes a list of at least one value")
        return Constraint(key, "in", tuple(_value(key, item, numeric) for item in value))
    return Constraint(key, operator, _value(key, value, numeric))


def _value(key: str, value: Any, numeric: bool) -> Any:
    if numeric:
        number = as_number(value)
        if number is None:
            raise Refused("bad_filter", f"{key!r} is compared with a number, not {short(repr(value))}")
        return number
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str | int | float):
        raise Refused("bad_filter", f"{key!r} is compared with a word, not {short(repr(value))}")
    return value if isinstance(value, str) else str(plain_number(value))


def as_number(value: Any) -> float | None:
    """25, 25.0, "25" and "$25.00" as a number; anything else (a bool too) is None."""
    return values.as_number(value.strip().removeprefix("$") if isinstance(value, str) else value)


def _truth(value: Any) -> bool:
    if isinstance(value, Mapping) and set(value) == {"eq"}:
        value = value["eq"]
    if isinstance(value, str) and fold(value) in ("true", "yes", "false", "no"):
        return fold(value) in ("true", "yes")
    if not isinstance(value, bool):
        raise Refused("bad_filter", f"in_stock is true or false, not {short(repr(value))}")
    return value


def _unknown_key(catalog: Catalog, key: str, type_name: Any) -> str:
    """Name the known keys; of a catalog with hundreds of attributes, the common ones and those spelled alike."""
    known = [*SHOP_KEYS, *catalog.columns]
    close = difflib.get_close_matches(key[:80], known, n=3)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    if len(known) <= MOST_LISTED:
        return f"unknown filter {short(key)!r}; {hint}known filters: {', '.join(known)}"
    common = ", ".join([*SHOP_KEYS, *COMMON])
    own = "and the attributes that hits of the type show"
    if isinstance(type_name, str) and fold(type_name) in catalog.type_index:
        own = f"and for {short(type_name)}: {', '.join(catalog.attributes_of_type(type_name))}"
    return f"unknown filter {short(key)!r}; {hint}known filters: {common}, {own}"
