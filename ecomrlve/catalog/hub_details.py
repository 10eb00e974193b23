"""Read a product page's `details`: which of its keys are attributes, and what their texts say.

What is read here is still text, "1.2 pounds": whether an attribute is a number, and in which unit, is settled when all
products have been seen (`hub_attributes`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from typing import Any

from ecomrlve.catalog.columns import COMMON
from ecomrlve.catalog.filters import SHOP_KEYS
from ecomrlve.catalog.hub_units import family, measure, unit_of, written
from ecomrlve.catalog.values import MISSING_WORDS, as_text, clean_text, known, snake_case

# A longer text describes a product; people do not filter by it.
LONGEST_VALUE = 40
LONGEST_NAME = 40
LONGEST_BRAND = 60
_LONGEST_MISSING = max(map(len, MISSING_WORDS))

# Keys that name the brand, best first. The manufacturer is none of them: it may make the goods of many brands.
_BRAND_KEYS = ("Brand", "Brand Name")
# Keys that say nothing about what a product is like: numbers that tell it from all others, what the shop wrote about
# its own page, dates, and the parcel.
NOT_ATTRIBUTES = frozenset(
    """
    brand brand_name
    asin upc ean gtin isbn isbn_10 isbn_13 issn mpn sku part_number item_part_number manufacturer_part_number
    oem_part_number oem_equivalent_part_number model_number item_model_number model model_name model_info
    global_trade_identification_number global_trade_item_number catalog_number serial_number unspsc_code
    national_stock_number ndc barcode reference_number style_number item_number product_id id
    best_sellers_rank amazon_best_sellers_rank best_seller_rank sales_rank customer_reviews customer_review
    average_rating reviews number_of_reviews is_discontinued_by_manufacturer discontinued domestic_shipping
    international_shipping shipping_advisory shipping shipping_weight shipping_information country_region_of_shipment
    date_first_available date_first_listed_on_amazon date_first_available_at_amazon first_available release_date
    publication_date publisher print_length_and_date manufacture_date expiration_date data_refreshed last_updated
    package_length package_width package_height item_package_length item_package_width item_package_height
    warranty_description manufacturer_warranty_description manufacturer_contact seller seller_name sold_by
    url link image images video videos important_information legal_disclaimer safety_warning feedback
    title product_name item_name name description product_description features store stock rating_count variants
    """.split()
)
# The same, by how they begin: the sides of a parcel come in many orders.
_PARCELS = ("package_dimension", "package_weight", "item_package_dimension", "item_package_weight")
# Keys whose text is several measures at once.
_DIMENSIONS = (
    "product_dimensions",
    "item_dimensions",
    "dimensions",
    "assembled_product_dimensions",
    "overall_dimensions",
)
_SIDES = {"l": "length", "w": "width", "h": "height", "d": "depth"}
_SIDE_WORDS = {**_SIDES, **{word: word for word in _SIDES.values()}}
_SIDES_IN_KEY = re.compile(r"\b([LWHD])\s*x\s*([LWHD])(?:\s*x\s*([LWHD]))?\b", re.I)
_BY = re.compile(r"\s*[x×X]\s*")
_PIECE = re.compile(r"([0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)\s*(.*)", re.S)
_LETTERS = re.compile(r"[a-z]+|[\"'”’″′]")
# Other names of an attribute.
_SAME = {
    "colour": "color", "weight": "item_weight", "product_weight": "item_weight", "item_length": "length",
    "item_width": "width", "item_height": "height", "item_depth": "depth", "product_length": "length",
    "product_width": "width", "product_height": "height", "product_depth": "depth", "display_size": "screen_size",
    "standing_screen_display_size": "screen_size", "material_type": "material", "number_of_items": "item_count",
    "type": "item_type", "category": "item_category",
}  # fmt: skip
_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
# Names that filters or the store use for something else.
_TAKEN = frozenset({*COMMON, *SHOP_KEYS})


@lru_cache(maxsize=1 << 16)
def meaning(key: str) -> tuple[str, tuple[str, ...]]:
    """What a key of `details` stands for.

    Returns:
        The attribute it names, empty where it names none; and for a key of dimensions its sides in order.
    """
    name = snake_case(key) if len(key) <= 2 * LONGEST_NAME else ""
    if name in NOT_ATTRIBUTES or name.startswith(_PARCELS):
        return "", ()
    if name.startswith(_DIMENSIONS):
        match = _SIDES_IN_KEY.search(key)
        sides = tuple(_SIDES[letter.lower()] for letter in match.groups() if letter) if match else ()
        return name, sides if sides and len(set(sides)) == len(sides) else ("length", "width", "height")
    name = _SAME.get(name, name)
    return ("" if name in _TAKEN or len(name) > LONGEST_NAME else name), ()


def read_details(cell: Any, counted: Counter[str]) -> tuple[dict[str, str], str | None]:
    """The attributes and the brand that a cell of details holds.

    Args:
        cell: JSON text with one object, such an object, or nothing.
        counted: Gets a note for everything that cannot be read.

    Returns:
        Attribute → text, and the brand (None where it names none).
    """
    if known(cell) is None:
        return {}, None
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            cell = None
    if not isinstance(cell, dict):
        counted["details that are no JSON object, left out"] += 1
        return {}, None
    attributes: dict[str, str] = {}
    parts: dict[str, str] = {}
    for key, value in cell.items():
        name, sides = meaning(key)
        if not name:
            continue
        if isinstance(value, str):
            text = _word(value)
        elif isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(item, dict | list) for item in value)
        ):
            counted["details inside details, left out"] += 1
            continue
        else:
            text = plain_text(value)
        if not text:
            continue
        if not sides:
            attributes.setdefault(name, text)
        elif found := dimensions(text, sides):
            parts = {**found, **parts}
        else:
            counted["dimensions that cannot be read, left unknown"] += 1
    # What a page says of one side by itself goes before the same side among dimensions.
    return {**parts, **attributes} if parts else attributes, _brand(cell)


def clean(value: Any) -> tuple[str, int]:
    """A cell as clean text, empty where it says nothing, and how many characters were taken out."""
    if isinstance(value, str) and value.isprintable():  # most texts: there is nothing to take out
        text, removed = value.strip(), 0
    elif known(value) is None:
        return "", 0
    else:
        text, removed = clean_text(as_text(value))
    # Only a short text can be a word for "nothing".
    return ("" if len(text) <= _LONGEST_MISSING and known(text) is None else text), removed


def plain_text(value: Any) -> str:
    """A value as one line of clean text, empty where it says nothing."""
    return " ".join(clean(value)[0].split())


@lru_cache(maxsize=1 << 16)
def _word(text: str) -> str:
    """A text of details, plain. They come again and again."""
    plain = plain_text(text)
    return _TRUTH.get(plain.casefold(), plain)


def _brand(details: dict[str, Any]) -> str | None:
    return next((brand for key in _BRAND_KEYS if (brand := as_brand(details.get(key)))), None)


def as_brand(value: Any) -> str | None:
    """The brand in a cell, or None where it holds none: nothing, "unknown", or a text too long to be a name."""
    if isinstance(value, bool):
        return None
    brand = plain_text(value)
    meaningless = not brand or brand.casefold() in ("unknown", "not specified", "does not apply")
    return None if meaningless or len(brand) > LONGEST_BRAND else brand


def dimensions(text: str, sides: tuple[str, ...] = ("length", "width", "height")) -> dict[str, str]:
    """Take apart a text such as ``10 x 5 x 2 inches; 1.2 Pounds`` or ``10"L x 5"W``.

    Args:
        text: Two or three lengths, each with a letter for its side or none of them, then perhaps the weight.
        sides: What the lengths are, in order, where they have no letters.

    Returns:
        Side → length with its unit, and `item_weight`. Empty where a part cannot be read, or no unit is told.
    """
    lengths, _, rest = text.partition(";")
    pieces = [_piece(piece) for piece in _BY.split(lengths.strip())]
    if not 2 <= len(pieces) <= 3:
        return {}
    found: dict[str, str] = {}
    last_unit = pieces[-1][1] if pieces[-1] else ""
    lettered = any(piece[2] for piece in pieces if piece)
    if not lettered and len(sides) < len(pieces):
        return {}
    for number, piece in enumerate(pieces):
        if piece is None:
            return {}
        side = piece[2] if lettered else sides[number]
        unit = piece[1] or last_unit
        if not side or side in found or not unit:
            return {}
        found[side] = written(piece[0], unit)
    weight = measure(rest.strip())
    if weight and family(weight[1]) == "weight":
        found["item_weight"] = written(*weight)
    return found


def _piece(text: str) -> tuple[float, str, str] | None:
    """Number, unit of length and side of one of several dimensions; unit and side may be empty."""
    match = _PIECE.fullmatch(text)
    if match is None:
        return None
    words = _LETTERS.findall(match[2].casefold())
    side = next((_SIDE_WORDS[word] for word in words if word in _SIDE_WORDS), "")
    unit = unit_of(" ".join(word for word in words if word not in _SIDE_WORDS))
    if unit is None or (unit and family(unit) != "length"):
        return None
    return float(match[1]), unit, side
