"""Numbers with units as product pages write them, and the one unit that an attribute is told in.

Units convert within a family (weights, lengths …) and never between two. A converted number keeps four significant
digits, so that 16 ounces and 1 pound are the same weight; a number that is in the wanted unit already stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ecomrlve.catalog.columns import plain_number

# Family → its units: name as people write it after a number, how many of the family's first unit it is, other
# spellings, all in lower case. The first unit is the one that attributes are told in.
_FAMILIES: dict[str, tuple[tuple[str, float, str], ...]] = {
    "count": (("", 1, "count|ct|pieces|piece|pcs|pc|items|item|units|unit|each"),),
    "weight": (
        ("lb", 1, "lbs|pound|pounds"),
        ("oz", 1 / 16, "ounce|ounces"),
        ("kg", 2.2046226218, "kgs|kilogram|kilograms|kilo|kilos"),
        ("g", 0.0022046226218, "gram|grams|gm|gr"),
        ("mg", 2.2046226218e-6, "milligram|milligrams"),
        ("tons", 2000, "ton"),
        ("hundredths of a pound", 0.01, "hundredths pounds"),
    ),
    "length": (
        ("inches", 1, 'inch|in|"|”|″'),
        ("feet", 12, "foot|ft|'|’|′"),
        ("yards", 36, "yard|yd"),
        ("cm", 1 / 2.54, "centimeter|centimeters|centimetre|centimetres"),
        ("mm", 1 / 25.4, "millimeter|millimeters|millimetre|millimetres"),
        ("m", 100 / 2.54, "meter|meters|metre|metres"),
        ("hundredths of an inch", 0.01, "hundredths inches"),
    ),
    "volume": (
        ("fl oz", 1, "fluid ounce|fluid ounces|fl. oz|fl ounces"),
        ("ml", 1 / 29.5735296, "milliliter|milliliters|millilitre|millilitres|cc"),
        ("l", 33.8140227, "liter|liters|litre|litres"),
        ("cups", 8, "cup"),
        ("pints", 16, "pint"),
        ("quarts", 32, "quart|qt"),
        ("gallons", 128, "gallon|gal"),
    ),
    "space": (("cu ft", 1, "cubic feet|cubic foot"), ("cu in", 1 / 1728, "cubic inches|cubic inch")),
    "area": (
        ("sq ft", 1, "square feet|square foot"),
        ("sq in", 1 / 144, "square inches|square inch"),
        ("sq m", 10.763910417, "square meters|square metres"),
    ),
    "power": (("W", 1, "watt|watts"), ("kW", 1000, "kilowatt|kilowatts"), ("hp", 745.69987, "horsepower")),
    "voltage": (
        ("V", 1, "volt|volts|vdc|volts (dc)|volts (ac)"),
        ("mV", 0.001, "millivolts"),
        ("kV", 1000, "kilovolts"),
    ),
    "current": (("A", 1, "amp|amps|ampere|amperes"), ("mA", 0.001, "milliamp|milliamps|milliampere|milliamperes")),
    "charge": (
        ("mAh", 1, "milliamp hours|milliamp hour|milliampere hours"),
        ("Ah", 1000, "amp hours|amp hour|amp-hours"),
    ),
    "energy": (("Wh", 1, "watt hours|watt hour|watt-hours"), ("kWh", 1000, "kilowatt hours")),
    "storage": (
        ("GB", 1, "gigabyte|gigabytes|gb"),
        ("MB", 1 / 1024, "megabyte|megabytes"),
        ("KB", 1 / 1024**2, "kilobyte|kilobytes"),
        ("TB", 1024, "terabyte|terabytes"),
    ),
    "frequency": (
        ("Hz", 1, "hertz"),
        ("kHz", 1e3, "kilohertz"),
        ("MHz", 1e6, "megahertz"),
        ("GHz", 1e9, "gigahertz"),
    ),
    "hours": (
        ("hours", 1, "hour|hr|hrs"),
        ("minutes", 1 / 60, "minute|min|mins"),
        ("seconds", 1 / 3600, "second|sec|secs"),
    ),
    "days": (("days", 1, "day"), ("weeks", 7, "week")),
    "months": (("months", 1, "month"), ("years", 12, "year|yr|yrs")),
    "light": (("lm", 1, "lumen|lumens"),),
    "colour temperature": (("K", 1, "kelvin|kelvins"),),
    "fahrenheit": (("°F", 1, "degrees fahrenheit|degree fahrenheit|fahrenheit"),),
    "celsius": (("°C", 1, "degrees celsius|degree celsius|celsius"),),
    "angle": (("degrees", 1, "degree|°"),),
    "sound": (("dB", 1, "decibel|decibels"),),
    "resistance": (("ohms", 1, "ohm|ω"),),
    "pressure": (("psi", 1, "pounds per square inch"), ("bar", 14.503774, "bars")),
    "speed": (("mph", 1, "miles per hour"), ("km/h", 0.62137119, "kph|kmh|kilometers per hour")),
    "turning": (("rpm", 1, "revolutions per minute"),),
    "pictures": (("MP", 1, "megapixel|megapixels"),),
    "print": (("dpi", 1, "dots per inch"),),
    "share": (("%", 1, "percent"),),
    "gems": (("carats", 1, "carat"),),
    "heat": (("BTU", 1, "btus|british thermal units"),),
}

# Attributes that people tell in another unit than the first of its family.
_OWN_UNIT = {
    "cable_length": "feet",
    "cord_length": "feet",
    "processor_speed": "GHz",
    "cpu_speed": "GHz",
    "memory_speed": "MHz",
    "ram_memory_speed": "MHz",
    "memory_clock_speed": "MHz",
    "frequency_band": "GHz",
    "cache_size": "MB",
    "warranty_length": "years",
    "lens_focal_length": "mm",
    "focal_length": "mm",
}
COUNT = "count"  # the family of numbers without a unit
_UNITS = {name: (family, size) for family, units in _FAMILIES.items() for name, size, _ in units}
_SPELLINGS = {
    spelling: name
    for units in _FAMILIES.values()
    for name, _, others in units
    for spelling in (name.casefold(), *others.split("|"))
}
# ASCII alone, as everywhere that numbers are read.
_MEASURE = re.compile(r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)\s*([^0-9].{0,39})?", re.S)
LARGEST = 1e15  # beyond this neighbours of a whole number are no longer told apart


@lru_cache(maxsize=1 << 17)
def measure(text: str) -> tuple[float, str] | None:
    """Read a text that is one number, with a known unit or none.

    Args:
        text: Such as ``1.2 pounds``, ``65W`` or ``1,200``.

    Returns:
        The number and its unit as `family` knows it (empty without one); None where the text says anything else.
    """
    match = _MEASURE.fullmatch(text)
    if match is None:
        return None
    unit = unit_of(match[2] or "")
    if unit is None:
        return None
    number = float(match[1].replace(",", ""))
    return (number, unit) if abs(number) <= LARGEST else None


def unit_of(text: str) -> str | None:
    """The unit that a text such as ``Pounds`` or ``ft.`` names; empty for an empty text, None for any other."""
    return _SPELLINGS.get(" ".join(text.casefold().split()).rstrip("."))


def family(unit: str) -> str:
    """The family of a unit: units of one family convert into each other."""
    return _UNITS[unit][0]


def unit_for(attribute: str, family_name: str) -> str:
    """The one unit that an attribute is told in, when its numbers are of this family."""
    own = _OWN_UNIT.get(attribute)
    return own if own and family(own) == family_name else _FAMILIES[family_name][0][0]


def converted(number: float, unit: str, wanted: str) -> float | None:
    """A number in another unit, to four significant digits; None between units that do not convert."""
    if unit == wanted:
        return number
    (own_family, size), (wanted_family, wanted_size) = _UNITS[unit], _UNITS[wanted]
    return float(f"{number * size / wanted_size:.4g}") if own_family == wanted_family else None


def written(number: float, unit: str) -> str:
    """A number and its unit as a text that `measure` reads back."""
    return f"{plain_number(number)} {unit}".rstrip()
