"""The ways to say one value: "$25", "25 dollars", "25 bucks"; "7 days", "a week"; "3", "three".

`phrases` chooses among them and `mentions` looks for all of them, so both go by the same tables.
"""

from __future__ import annotations

from functools import lru_cache

from ecomrlve.customer.words import amount, money, number, singular_unit
from ecomrlve.streams import Stream

NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# What people write for a unit, besides the unit itself. Not where it would change how big the number is.
UNIT_WORDS: dict[str, tuple[str, ...]] = {
    "hours": ("hrs",),
    "minutes": ("mins",),
    "years": ("yrs",),
    "kg": ("kilos", "kilograms"),
    "g": ("grams",),
    "cm": ("centimeters",),
    "mm": ("millimeters",),
    "m": ("meters",),
    "in": ("inches",),
    "L": ("liters", "litres"),
    "ml": ("milliliters",),
    "W": ("watts",),
    "V": ("volts",),
    "lm": ("lumens",),
    "%": ("percent",),
}
WEEKS = {7: "a week", 14: "two weeks"}
_OTHER_UNIT, _IN_WORDS, _BUCKS, _DOLLARS, _WEEKS = 0.3, 0.35, 0.18, 0.15, 0.4


@lru_cache(maxsize=512)
def unit_words(unit: str) -> tuple[str, ...]:
    """A unit in all its spellings, also after the number 1: "hours", "hour", "hrs", "hr"."""
    forms = (unit, *UNIT_WORDS.get(unit, ()))
    return tuple(dict.fromkeys((*forms, *map(singular_unit, forms))))


def say_amount(value: float | int, unit: str, stream: Stream) -> str:
    """A number with its unit in one of the ways.

    Args:
        value: The number.
        unit: Its unit, "$" for money, or empty.
        stream: Chooses.
    """
    if unit == "$":
        return say_money(value, stream)
    others = UNIT_WORDS.get(unit)
    if not others or not stream.chance(_OTHER_UNIT):
        return amount(value, unit)
    other = stream.choice(others)
    return f"{number(value)} {singular_unit(other) if value == 1 else other}"


def say_days(value: float | int, stream: Stream) -> str:
    """How many days something may take: "7 days" or "a week"."""
    if value in WEEKS and stream.chance(_WEEKS):
        return WEEKS[int(value)]
    return amount(value, "days")


def say_money(value: float | int, stream: Stream) -> str:
    """An amount of money: "$25", "25 dollars" or, where it is round, "25 bucks"."""
    plain = money(value).removeprefix("$")
    draw = stream.uniform()
    if draw < _BUCKS and plain.isdigit():
        return f"{plain} {'buck' if plain == '1' else 'bucks'}"
    if draw < _BUCKS + _DOLLARS:
        return f"{plain} {'dollar' if plain == '1' else 'dollars'}"
    return money(value)


def say_count(value: int, stream: Stream) -> str:
    """How many: "3" or "three"."""
    return count_word(value) if stream.chance(_IN_WORDS) else str(value)


def count_word(value: int) -> str:
    """A small number in words, others in digits."""
    return NUMBER_WORDS[value] if 0 < value < len(NUMBER_WORDS) else str(value)
