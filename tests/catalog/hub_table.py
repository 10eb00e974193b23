"""A table in the columns of the Hub's product data, with every kind of dirt seen there, and the truth about each row.

Everything in it is invented. The truth is written down when a row is made, not found out from the row.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ecomrlve.catalog.columns import Catalog

ROWS, FILES, BATCH = 4_000, 3, 700  # of the table that most tests load
_PICTURES = {name: pa.list_(pa.string()) for name in ("hi_res", "large", "thumb", "variant")}
_VIDEOS = {name: pa.list_(pa.string()) for name in ("title", "url", "user_id")}
SCHEMA = pa.schema(
    {
        "main_category": pa.string(), "title": pa.string(), "average_rating": pa.float64(),
        "rating_number": pa.int64(), "features": pa.list_(pa.string()), "description": pa.list_(pa.string()),
        "price": pa.string(), "images": pa.struct(_PICTURES), "videos": pa.struct(_VIDEOS), "store": pa.string(),
        "categories": pa.list_(pa.string()), "details": pa.string(), "parent_asin": pa.string(),
        "bought_together": pa.string(), "subtitle": pa.string(), "author": pa.string(),
    }
)  # fmt: skip

NOUNS = ("Charger", "Lamp", "Kettle", "Backpack", "Notebook", "Drill", "Mug", "Blanket", "Tripod", "Router")
PATHS = {
    noun: ["Home & Garden" if place % 2 else "Electronics", f"{noun} Goods", f"{noun}s"]
    for place, noun in enumerate(NOUNS)
}
BRANDS = ("Acme", "Bolt & Co", "Çelik", "Dunmore", "Ever Lite", "Fjord", "Gable", "Halden")
COLORS = ("Black", "Black", "White", "Navy Blue", "Red", "Green", "black")
# What a cell of prices says, and why there is none, or which it is.
NO_PRICES = {
    None: "price missing", "None": "price missing", "": "price missing", "—": "price missing", "nan": "price missing",
    "from 12.99": "price is a range", "12.99 - 15.99": "price is a range", "€12": "price is in another currency",
    "-5.00": "price is zero or negative", "0": "price is zero or negative", "0.00": "price is zero or negative",
    "99999999999": "price is above a billion dollars", "see page": "price is not a number",
    "1e400": "price is not a number", "19.999": "price has fractions of a cent",
}  # fmt: skip
PRICES = {"$1,299.00": 1299.0, " 24.99 ": 24.99, "US$7": 7.0, "12.5": 12.5}
NO_TITLES = (None, "", "   ", "None", "\x00\x07")
NO_RATINGS = (None, float("nan"), 0.0, 6.0, 0.9, -1.0, float("inf"))
# A cell of weights, and how many pounds it says; None where it says no weight.
WEIGHTS = {
    "8 Ounces": 0.5, "0.5 pounds": 0.5, "1 Kilograms": 2.205, "454 Grams": 1.001, "16 ounces": 1.0, "2.75 lbs": 2.75,
    "1,200 Pounds": 1200.0,
}  # fmt: skip
# A cell of dimensions, and the inches of its sides; a weight may come with it.
SIZES = {
    "10 x 5 x 2 inches; 1.2 Pounds": {"length": 10, "width": 5, "height": 2, "item_weight": 1.2},
    '7"D x 3.5"W x 12"H': {"depth": 7, "width": 3.5, "height": 12},
    "25.4 x 12.7 x 2.54 cm": {"length": 10, "width": 5, "height": 1},
    "1 x 1 x 1 Feet": {"length": 12, "width": 12, "height": 12},
    "10 x 5 x 2": {},
    "big": {},
}
NO_DETAILS = ("not json", None, "", "{}", "null", "[1, 2]", '{"Color": "Red"', "[" * 5000, '{"a": {"b": {"c": 1}}}')


@dataclass
class Truth:
    """What must become of one row.

    Attributes:
        dropped: Why it is no product, or empty.
        attributes: The attributes that must be known, as numbers and words.
        absent: Attributes that must stay unknown.
    """

    id: str | None
    dropped: str = ""
    title: str = ""
    price: float = 0.0
    rating: float | None = None
    rating_count: int | None = None
    brand: str | None = None
    category: tuple[str, ...] | None = None
    type: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def write(path: Path, rows: int = 50_000, seed: int = 0, *, files: int = 1, row_group: int = 1_500) -> list[Truth]:
    """Write the table.

    Args:
        path: A Parquet file; with several files, a folder for them.
        rows: How many.
        seed: The same one gives the same table.
        files: How many files of about the same size.
        row_group: Rows of a row group.

    Returns:
        The truth about each row, in order.
    """
    maker = _Maker(seed)
    made = [maker.row(number) for number in range(rows)]
    table = pa.Table.from_pylist([cells for cells, _ in made], schema=SCHEMA)
    if files == 1:
        pq.write_table(table, path, row_group_size=row_group)
    else:
        path.mkdir(parents=True, exist_ok=True)
        bounds = [rows * number // files for number in range(files + 1)]
        for number in range(files):
            part = table.slice(bounds[number], bounds[number + 1] - bounds[number])
            pq.write_table(part, path / f"part-{number:03d}.parquet", row_group_size=row_group)
    return [truth for _, truth in made]


class _Maker:
    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._kept: list[str] = []  # ids of products so far
        self._kept_ids: set[str] = set()

    def row(self, number: int) -> tuple[dict[str, Any], Truth]:
        """The cells of one row and the truth about them."""
        pick, chance = self._random.choice, self._random.random
        own_id = pick(self._kept) if self._kept and chance() < 0.04 else f"B{number:09d}"
        own_id = "" if chance() < 0.002 else own_id
        noun = pick(NOUNS)
        truth = Truth(own_id or None)
        very_long = "Long text. " * (30_000 if number % 500 == 0 else 9)
        cells: dict[str, Any] = {
            "parent_asin": own_id or None, "images": None, "videos": None,
            "features": pick(([], None, ["Sturdy", "", "  "], [f"Fits {number % 90} cups", "x" * 300])),
            "description": pick(([], None, ["A good one.", "Really."], [very_long])),
        }  # fmt: skip
        if chance() < 0.5:
            cells["images"] = {name: ["a.jpg", None] for name in _PICTURES}
        dirt = "\x07" if number % 20 == 0 else ""
        title, truth.title = pick(NO_TITLES) if chance() < 0.03 else f"{pick(BRANDS)} {noun}{dirt}  No. {number}", ""
        if title and (plain := " ".join(title.replace("\x07", "").replace("\x00", "").split())) and plain != "None":
            truth.title = plain
        cells["title"] = title
        self._price(cells, truth)
        if not truth.title:
            truth.dropped = "title missing"
        if not truth.dropped and own_id in self._kept_ids:
            truth.dropped = "duplicate"
        self._ratings(cells, truth)
        self._place(cells, truth, noun)
        self._details(cells, truth, number)
        if not truth.dropped and own_id:
            self._kept.append(own_id)
            self._kept_ids.add(own_id)
        return cells, truth

    def _price(self, cells: dict[str, Any], truth: Truth) -> None:
        share = self._random.random()
        if share < 0.2:
            cells["price"] = self._random.choice(list(NO_PRICES))
            truth.dropped = NO_PRICES[cells["price"]]
        elif share < 0.3:
            cells["price"] = self._random.choice(list(PRICES))
            truth.price = PRICES[cells["price"]]
        else:
            cents = self._random.randrange(100, 90_000)
            cells["price"], truth.price = f"{cents / 100:.2f}", cents / 100

    def _ratings(self, cells: dict[str, Any], truth: Truth) -> None:
        if self._random.random() < 0.3:
            cells["average_rating"] = self._random.choice(NO_RATINGS)
        else:
            truth.rating = cells["average_rating"] = self._random.randrange(10, 51) / 10
        count = self._random.choice((None, -3, 0, 7, 123456, 2**40))
        cells["rating_number"], truth.rating_count = count, count if count is not None and 0 <= count < 2**31 else None

    def _place(self, cells: dict[str, Any], truth: Truth, noun: str) -> None:
        share = self._random.random()
        cells["main_category"] = self._random.choice(("All Electronics", None, "Tools"))
        if share < 0.2:
            cells["categories"] = self._random.choice(([], None, [""], [None]))
            truth.type = cells["main_category"] or "unknown"
        elif share < 0.3:
            cells["categories"] = [PATHS[noun][0], "", None, f" {PATHS[noun][2].upper()} "]
            truth.category = (PATHS[noun][0], PATHS[noun][2].upper())
            truth.type = PATHS[noun][2]
        else:
            cells["categories"] = PATHS[noun]
            truth.category, truth.type = tuple(PATHS[noun]), PATHS[noun][2]

    def _details(self, cells: dict[str, Any], truth: Truth, number: int) -> None:
        pick = self._random.choice
        store = pick((None, "None", "", "Unknown", "Jane Doe (Author)", "Format: Kindle", "s" * 90, *BRANDS))
        cells["store"] = store
        truth.brand = store if store in BRANDS else None
        if self._random.random() < 0.15:
            cells["details"] = pick(NO_DETAILS)
            truth.absent = ("color", "item_weight", "asin", "a")
            return
        details: dict[str, Any] = {
            "ASIN": truth.id, "UPC": f"{number:012d}", "Best Sellers Rank": {"Tools": number},
            "Customer Reviews": {"stars": 4.5}, "Date First Available": "May 1, 2020",
            "Item model number": f"M{number}", "Package Dimensions": "9 x 9 x 9 inches; 9 Pounds",
            "Serial": f"S-{number}", "Rating": "5 stars",
            "Price": "$5", "Type": pick(("Corded", "Cordless")),
            "Notes": f"Some long words that tell about the goods, {number}.",
        }  # fmt: skip
        truth.attributes["item_type"] = details["Type"]
        brand = pick(("", None, *BRANDS, 7))
        key = pick(("Brand", "Brand Name", "Manufacturer"))
        details[key] = brand
        if key != "Manufacturer" and brand:
            truth.brand = str(brand)
        details["Color"] = color = pick(COLORS)
        truth.attributes["color"] = "Black" if color == "black" else color
        details["Wattage"] = pick(("60 watts", "100W", "0.5 kilowatts"))
        truth.attributes["wattage"] = {"60 watts": 60, "100W": 100, "0.5 kilowatts": 500}[details["Wattage"]]
        if number % 50 == 0:
            details["Wattage"] = "5 volts"
            del truth.attributes["wattage"]
        details["Batteries Required?"] = pick(("Yes", "No", True, "yes", False))
        truth.attributes["batteries_required"] = (
            "yes" if details["Batteries Required?"] in ("Yes", "yes", True) else "no"
        )
        if self._random.random() < 0.5:
            details["Product Dimensions"] = pick(list(SIZES))
            truth.attributes |= SIZES[details["Product Dimensions"]]
        if self._random.random() < 0.6:
            details["Item Weight"] = pick(list(WEIGHTS))
            truth.attributes["item_weight"] = WEIGHTS[details["Item Weight"]]
        details["Style"] = f"st\x00yle {number % 7}" if number % 9 else ["Modern", number % 3]
        truth.attributes["style"] = f"style {number % 7}" if number % 9 else f"Modern, {number % 3}"
        truth.absent = ("serial", "asin", "upc", "notes", "rating", "best_sellers_rank", "package_dimensions", "price")
        cells["details"] = json.dumps(details, ensure_ascii=False)


# -- what tests of the loader share


def number_of(title: str) -> int:
    return int(title.rpartition("No. ")[2])


def products(catalog: Catalog) -> dict[int, Any]:
    """Number of the row in the table → product."""
    found = [catalog.product(row) for row in range(len(catalog))]
    return {number_of(product.title): product for product in found}


class Killed(BaseException):
    """Stands for the end of the process: nothing in the loader catches it."""


def same(one: Catalog, other: Catalog) -> bool:
    """Whether two catalogs have the same products in the same rows, and the same card."""
    return one.fingerprint == other.fingerprint and one.card == other.card


def dying(function: Callable[..., Any], calls: int, *, before: bool) -> Callable[..., Any]:
    """The function, which kills its process in one of its calls."""
    made = []

    def call(*args: Any, **options: Any) -> Any:
        made.append(0)
        if before and len(made) == calls:
            raise Killed
        result = function(*args, **options)
        if len(made) == calls:
            raise Killed
        return result

    return call
