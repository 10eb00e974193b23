"""Turn the cells of other people's files into clean texts, prices and numbers, or say that they cannot be.

Nothing here guesses: a price that is not written as one plain amount of dollars is no price.
"""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal
from typing import Any

from ecomrlve.catalog.columns import plain_number

# How files write "nothing here".
MISSING_WORDS = frozenset({"", "none", "null", "nan", "n/a", "-", "–", "—"})
# A larger number cannot be told from its neighbours to the cent by a shop's arithmetic, and is an error in any shop.
LARGEST_PRICE = 1e9

# ASCII alone: the digits of other scripts look like digits to `float`, and a reader of logs cannot check them.
_AMOUNT = re.compile(r"(?:USD|US)?\s*\$?\s*((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)\s*(?:USD)?", re.I)
_NEGATIVE = re.compile(r"[-−]\s*\$?\s*[0-9][0-9.,]*|\$\s*[-−]\s*[0-9][0-9.,]*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_RANGE = re.compile(r"[0-9]\s*(?:-|–|—|to|\.\.)\s*\$?\s*[0-9]|^\s*(?:from|starting|up to|as low)\b", re.I)
_OTHER_CURRENCY = re.compile(r"[€£¥₹₩₽]|\b(?:EUR|GBP|JPY|CAD|AUD|INR|CNY|CHF)\b", re.I)
# Built once: these are asked for every cell of a file.
_NUMERIC = (int, float, Decimal)
_CONTAINERS = (list, tuple, dict)
_KEPT_CONTROLS = "\n\t"
# Characters that turn the direction of the text around them; they can make a title read as another one.
_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def known(value: Any) -> Any:
    """The value, or None where the cell is empty, NaN or a word for "nothing"."""
    if value is None:
        return None
    if isinstance(value, str):
        return None if value.strip().casefold() in MISSING_WORDS else value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Decimal) and value.is_nan():
        return None
    if isinstance(value, _CONTAINERS) and not value:
        return None
    return value


def clean_text(value: str) -> tuple[str, int]:
    """The text without control characters, and how many were taken out.

    Line ends and tabs stay. Halves of surrogate pairs, which no file can hold as UTF-8, go too.
    """
    if value.isascii() and value.isprintable():
        return value.strip(), 0
    value = value.replace("\r\n", "\n")
    kept = "".join(c for c in value if c in _KEPT_CONTROLS or not _is_control(c))
    return kept.strip(), len(value) - len(kept)


def _is_control(character: str) -> bool:
    return character in _DIRECTION or unicodedata.category(character) in ("Cc", "Cs")


def as_text(value: Any) -> str:
    """A cell as people write it: yes and no for truth values, 30 for 30.0, list items joined by commas."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(plain_number(value)) if math.isfinite(value) else ""
    if isinstance(value, list | tuple):
        return ", ".join(text for item in value if known(item) is not None and (text := as_text(item)))
    return "" if isinstance(value, bytes | dict) else str(value)


def as_number(value: Any) -> float | None:
    """The finite number in a cell, or None where it holds none or more than a number."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text.replace(",", "")) if _NUMBER.fullmatch(text) else None
    if value is None or isinstance(value, bool) or not isinstance(value, _NUMERIC):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def as_count(value: Any) -> int | None:
    """The whole number from 0 to 2**31 − 1 in a cell, or None."""
    number = as_number(value)
    if number is None or not number.is_integer() or not 0 <= number < 2**31:
        return None
    return int(number)


def parse_price(value: Any) -> tuple[float | None, str]:
    """Read a price in dollars, strictly.

    Args:
        value: A number, or a text such as ``"$1,299.00"`` or ``"12.99"``.

    Returns:
        The price and an empty string, or None and why there is none. ``"from 12.99"``, ``"12.99 - 15.99"``, other
        currencies, zero, negative, infinite and unreadable values have none.
    """
    value = known(value)
    if value is None:
        return None, "price missing"
    if isinstance(value, str):
        text = value.strip()
        match = _AMOUNT.fullmatch(text)
        if match is None:
            return None, _why_no_price(text)
        value = float(match[1].replace(",", ""))
    number = as_number(value)
    if number is None:
        return None, "price is not a number"
    if number <= 0:
        return None, "price is zero or negative"
    if number > LARGEST_PRICE:
        return None, "price is above a billion dollars"
    price = round(number, 2)
    # Files with 32-bit numbers hold 12.99 as 12.98999977; anything further from whole cents is no price tag.
    if abs(price - number) > min(number * 1e-7 + 1e-9, 1e-3) or price <= 0:
        return None, "price has fractions of a cent"
    return price, ""


def _why_no_price(text: str) -> str:
    if _OTHER_CURRENCY.search(text):
        return "price is in another currency"
    if _RANGE.search(text):
        return "price is a range"
    if _NEGATIVE.fullmatch(text):
        return "price is zero or negative"
    return "price is not a number"


def snake_case(text: str) -> str:
    """``"Connector Type"`` → ``connector_type``; empty where no letter or digit is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    name = re.sub(r"[^a-z0-9]+", "_", plain.casefold()).strip("_")
    return f"n_{name}" if name[:1].isdigit() else name
