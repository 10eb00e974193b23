"""Dates as customers write them, and finding them again in a text."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from ecomrlve.streams import Stream

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = "|".join(rf"{month[:3]}(?:{month[3:]}|\.)?" if len(month) > 3 else month for month in MONTHS)
_DATE = re.compile(
    rf"(?<![\w-])(?:(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})"
    rf"|(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH}),?\s+(?P<year2>\d{{4}}))(?![\w-])",
    re.IGNORECASE,
)


class FoundDate(NamedTuple):
    """A date in a text: as ISO, and where it stands."""

    day: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def date_forms(day: str) -> tuple[str, ...]:
    """The ways to write a day: "March 4, 2025", "4 March 2025", "2025-03-04".

    Args:
        day: An ISO date.

    Raises:
        ValueError: It is none.
    """
    value = date.fromisoformat(day)
    month = MONTHS[value.month - 1]
    return (f"{month} {value.day}, {value.year}", f"{value.day} {month} {value.year}", value.isoformat())


def say_date(day: str, stream: Stream) -> str:
    """One of `date_forms`."""
    return stream.choice(date_forms(day))


@lru_cache(maxsize=2048)
def dates_in(text: str) -> tuple[FoundDate, ...]:
    """All full dates in a text, in any of the forms, also with a short month or "4th"; days that do not exist aside."""
    found = []
    for match in _DATE.finditer(text):
        if match["iso"]:
            year, month, day = map(int, match["iso"].split("-"))
        else:
            year, day = int(match["year"] or match["year2"]), int(match["day"] or match["day2"])
            name = (match["month"] or match["month2"])[:3].title()
            month = 1 + next(number for number, word in enumerate(MONTHS) if word.startswith(name))
        try:
            found.append(FoundDate(date(year, month, day).isoformat(), *match.span()))
        except ValueError:
            continue
    return tuple(found)
