"""Where a column mapping comes from: a dict, a file, a built-in one, or a guess by the usual names of columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ecomrlve.catalog.mapping import ALL_OTHER_COLUMNS, CatalogMapping
from ecomrlve.catalog.reading import YAML_LOADER
from ecomrlve.catalog.values import snake_case
from ecomrlve.errors import CatalogError

BUILT_IN = Path(__file__).with_name("mappings")


def load_mapping(mapping: CatalogMapping | Mapping[str, Any] | str | Path) -> CatalogMapping:
    """Read and check a mapping.

    Args:
        mapping: The mapping itself, the path of a YAML or JSON file, or the name of a built-in one.

    Raises:
        CatalogError: Not found, not readable, or with a key or value that means nothing; the message says which.
    """
    if isinstance(mapping, CatalogMapping):
        return mapping
    where = "the mapping"
    if isinstance(mapping, str | Path):
        where = f"mapping {str(mapping)!r}"
        mapping = _read_mapping(mapping, where)
    try:
        return CatalogMapping.model_validate(mapping)
    except ValidationError as error:
        problems = "; ".join(_problem(detail) for detail in error.errors(include_url=False)[:5])
        raise CatalogError(f"{where} is wrong: {problems}") from error


def _read_mapping(name: str | Path, where: str) -> Any:
    names = sorted(file.stem for file in BUILT_IN.glob("*.yaml"))
    file = BUILT_IN / f"{name}.yaml" if str(name) in names else Path(name).expanduser()
    if not file.is_file():
        raise CatalogError(f"{where} is neither a file nor built in; the built-in ones are {', '.join(names)}")
    try:
        text = file.read_text(encoding="utf-8")
        return json.loads(text) if file.suffix.lower() == ".json" else yaml.load(text, Loader=YAML_LOADER)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CatalogError(f"{where} cannot be read: {error}") from error


def _problem(detail: Any) -> str:
    place = ".".join(str(step) for step in detail["loc"])
    message = detail["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


_GUESSES: dict[str, tuple[str, ...]] = {
    "title": ("title", "name", "product_name", "product_title", "product"),
    "price": ("price", "price_usd", "sale_price", "unit_price"),
    "description": ("description", "product_description", "short_description"),
    "category": ("category", "categories", "category_path", "main_category", "department"),
    "type": ("type", "product_type", "item_type"),
    "brand": ("brand", "brand_name", "manufacturer", "vendor", "store"),
    "rating": ("rating", "average_rating", "avg_rating", "stars", "rating_rate"),
    "rating_count": ("rating_count", "rating_number", "ratings_total", "review_count", "reviews_count", "num_reviews"),
    "ship_days": ("ship_days", "shipping_days", "delivery_days"),
    "stock": ("stock", "current_stock", "quantity", "qty", "inventory", "stock_quantity"),
    "id": ("id", "product_id", "sku", "asin", "parent_asin"),
    "features": ("features", "bullet_points", "highlights"),
}


def guess_mapping(columns: Iterable[str]) -> CatalogMapping:
    """A mapping by the usual names of columns; all other columns become attributes.

    Raises:
        CatalogError: No column looks like a title or a price.
    """
    names = {snake_case(column): column for column in reversed(list(columns))}
    found = {
        field: next(names[guess] for guess in guesses if guess in names)
        for field, guesses in _GUESSES.items()
        if any(guess in names for guess in guesses)
    }
    missing = [field for field in ("title", "price") if field not in found]
    if missing:
        raise CatalogError(
            f"no column looks like a {' or a '.join(missing)}; give a mapping that says which one it is. "
            f"The columns are {', '.join(reversed(names.values()))}"
        )
    return load_mapping({**found, "attributes": ALL_OTHER_COLUMNS})
