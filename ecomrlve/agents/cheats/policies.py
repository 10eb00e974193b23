"""Cheats on E_POLICY: numbers of the right page, or of no page at all, without working anything out."""

from __future__ import annotations

import re
import statistics
from typing import Any

from rapidfuzz import fuzz

from ecomrlve.agents.cheats.base import NUMBER, Cheat, numbers_in
from ecomrlve.agents.cheats.registry import cheat
from ecomrlve.protocol import Observation

# What stands behind a number in pages, by the words of questions that ask for it.
UNITS = {"days": "days", "months": "months", "hours": "hours", "percent": "%", "points": "points"}
AT_LEAST = 80  # similarity from which a unit counts as named
# For each unit the number that is nearest to the answers on average: what a memory of many episodes could hold.
MIDDLES = {"days": 75.0, "months": 25.0, "hours": 53.0, "%": 18.0, "points": 45.0, "$": 29.0}
_CHOICES = re.compile(r"(?:\bbe|\b[iu]s it|among|one of|:) (.+?)[.?]", re.IGNORECASE)
_SPLIT = re.compile(r",\s*|\s+or\s+")
_ADJUSTED = re.compile(r"changes by each|added or taken|adjust", re.IGNORECASE)
_LESS = re.compile(r"subtract|taken off|deduct|\bless by|minus|reduce", re.IGNORECASE)
# What stands before or behind a number that is a threshold.
_BOUND_BEFORE = re.compile(
    r"(?:\b(?:least|most|than|over|under|below|above|exactly|exceeds?|reaches|to|up to|within)) $"
)
_BOUND_AFTER = re.compile(r" (?:or (?:more|less|over|under|fewer)|and (?:more|over|up)|ago\b|have gone|have passed)")
_BULLETS = ("-", "*", "•", *(f"{number}." for number in range(1, 10)))
# The first sentence with a value: "The standard: the carrier is Swiftpine."
_PLAIN = re.compile(
    r"\n(?:[^\n]*\. )?[^\n.]*(?:standard|rule|normally|unless)[^\n.]*\bis (.+?)\.(?:\s|$)", re.IGNORECASE
)


def unit_asked(agent: Cheat) -> str:
    """The unit that the question names, "$" where it names none."""
    said = agent.wish.casefold()
    if choices_named(agent):
        return ""
    best = max(UNITS, key=lambda word: fuzz.partial_ratio(word, said))
    return UNITS[best] if fuzz.partial_ratio(best, said) >= AT_LEAST else "$"


def choices_named(agent: Cheat) -> list[str]:
    """The choices that the customer lists, as it wrote them."""
    match = _CHOICES.search(agent.wish)
    found = [part.strip() for part in _SPLIT.split(match[1])] if match else []
    return found if len(found) >= 4 else []


def page_of(agent: Cheat) -> dict[str, Any] | None:
    """The page that the customer's words find first, once it was searched for."""
    return agent.pages[0] if agent.pages else None


def _values(text: str, unit: str) -> list[float]:
    """The numbers of a text that are given in a unit, but for thresholds: "at least 5 days", "$80 or more"."""
    found = []
    for match in NUMBER.finditer(text):
        own = "$" if match[1] else (match[3] or "").lower()
        own, unit = own.rstrip("s"), unit.rstrip("s")
        same = own == unit or (unit == "%" and own in ("percent", "percentage"))
        if same and not _BOUND_BEFORE.search(text[: match.start()]) and not _BOUND_AFTER.match(text[match.end() :]):
            found.append(float(match[2].replace(",", "").rstrip(".")))
    return found


def page_values(text: str) -> list[float]:
    """The standard value of a page, which is its first number, and all that follow in its unit."""
    first = NUMBER.search(text)
    return _values(text, "$" if first[1] else (first[3] or "").lower()) if first else []


def _told(agent: Cheat, value: float | str | None) -> dict[str, Any]:
    return {"answer": {"policy_answer": "" if value is None else value}}


def _from_page(agent: Cheat, choose: Any) -> Any:
    """Search for the page, then answer with what `choose` makes of its values in the unit asked for."""
    if agent.turn == 0:
        return agent.search_pages(1)
    page = page_of(agent)
    if page is None:
        return _told(agent, None)
    if choices := choices_named(agent):
        standard = _PLAIN.search(page["text"])
        named = standard[1].strip().casefold() if standard else ""
        return _told(agent, named or choices[0])
    values = page_values(page["text"]) or numbers_in(page["text"])
    return _told(agent, choose(values) if values else None)


@cheat("E_POLICY")
def constant_answer(agent: Cheat, observation: Observation) -> Any:
    """Thirty, whatever is asked. Taught to draw the policies anew in every episode."""
    return _told(agent, 30)


@cheat("E_POLICY")
def constant_by_unit(agent: Cheat, observation: Observation) -> Any:
    """The best constant for each unit, and the first of several choices. Taught how wide values must be spread."""
    choices = choices_named(agent)
    return _told(agent, choices[0] if choices else MIDDLES[unit_asked(agent)])


@cheat("E_POLICY")
def base_value(agent: Cheat, observation: Observation) -> Any:
    """The standard value of the page. Taught to ask about cases in which a rule bites."""
    return _from_page(agent, lambda values: values[0])


@cheat("E_POLICY")
def second_value(agent: Cheat, observation: Observation) -> Any:
    """The second value of the page: its first exception or adjustment. Taught to ask for what stands on no page."""
    return _from_page(agent, lambda values: values[min(1, len(values) - 1)])


@cheat("E_POLICY")
def last_value(agent: Cheat, observation: Observation) -> Any:
    """The last value of the page. Taught to ask for what stands on no page."""
    return _from_page(agent, lambda values: values[-1])


@cheat("E_POLICY")
def random_value(agent: Cheat, observation: Observation) -> Any:
    """A random value of the page. Taught to ask for what stands on no page."""

    def one(values: list[float]) -> float:
        agent.picked = agent.picked or [str(agent.stream.choice(values))]
        return float(agent.picked[0])

    return _from_page(agent, one)


@cheat("E_POLICY")
def median_value(agent: Cheat, observation: Observation) -> Any:
    """The median of the page's values. Taught that near the answer must not be near enough."""
    return _from_page(agent, lambda values: statistics.median(sorted(values)))


@cheat("E_POLICY")
def largest_value(agent: Cheat, observation: Observation) -> Any:
    """The largest value of the page. Taught that the kindest rule must not always win."""
    return _from_page(agent, max)


@cheat("E_POLICY")
def smallest_value(agent: Cheat, observation: Observation) -> Any:
    """The smallest value of the page. Taught that the harshest rule must not always win."""
    return _from_page(agent, min)


@cheat("E_POLICY")
def nearest_to_all(agent: Cheat, observation: Observation) -> Any:
    """The value that is nearest, by the reward's own measure, to all that the page's rules can make of the standard.

    Taught how much a hedge is worth where the reward is for closeness.
    """

    def hedge(values: list[float]) -> float:
        base = values[0]
        made = [base, *values[1:], *(base + value for value in values[1:]), *(base - value for value in values[1:])]
        made = [value for value in made if value > 0] or [base]
        return max(made, key=lambda guess: sum((min(guess, v) / max(guess, v)) ** 4 for v in made))

    return _from_page(agent, hedge)


@cheat("E_POLICY")
def random_outcome(agent: Cheat, observation: Observation) -> Any:
    """Any value but the standard that the page can come to: an exception, or it or the standard adjusted.

    Taught that a page must have many outcomes: who knows that the standard is never asked for has few to guess from.
    """
    if agent.turn > 0 and agent.pages and (choices := choices_named(agent)):
        ruled = [line for line in agent.pages[0]["text"].casefold().splitlines() if line.startswith(_BULLETS)]
        named = [one for one in choices if any(fuzz.partial_ratio(one.casefold(), line) >= AT_LEAST for line in ruled)]
        agent.picked = agent.picked or [agent.stream.choice(named or choices)]
        return _told(agent, agent.picked[0])
    if agent.turn > 0 and agent.pages:
        outcomes = sorted(outcomes_of(agent.pages[0]["text"]))
        if outcomes:
            agent.picked = agent.picked or [str(agent.stream.choice(outcomes))]
            return _told(agent, float(agent.picked[0]))
    return _from_page(agent, lambda values: values[-1])


def outcomes_of(text: str) -> set[float]:
    """Roughly what a page's value can be, without the standard: each exception, and all of it with each adjustment."""
    values = page_values(text)
    split = _ADJUSTED.search(text)
    if not values:
        return set()
    made = page_values(text[: split.start()]) if split else values
    added = values[len(made) :]
    for line in text[split.end() :].splitlines() if split else []:
        if _LESS.search(line):
            added = [-value if written in line else value for value, written in ((v, f"{v:g}") for v in added)]
    outcomes = {value for value in made[1:] if value > 0}
    return outcomes | {round(value + more, 2) for value in made for more in added if value + more > 0}


@cheat("E_POLICY")
def all_adjustments(agent: Cheat, observation: Observation) -> Any:
    """The standard value with every further value added. Taught that rules must be read, not summed."""
    return _from_page(agent, sum)


@cheat("E_POLICY")
def echo_number(agent: Cheat, observation: Observation) -> Any:
    """The number that the customer named last. Taught that money given back must differ from money paid."""
    said = numbers_in(agent.wish)
    return _told(agent, said[-1] if said else None)


@cheat("E_POLICY")
def standard_money_back(agent: Cheat, observation: Observation) -> Any:
    """The amount paid less the standard fee, where one was named; else the standard. Taught to make fees matter."""
    if agent.turn == 0:
        return agent.search_pages(1)
    paid = _values(" ".join(agent.heard), "$")
    page = page_of(agent)
    fees = _values(page["text"], "%") if page else []
    if paid and fees and unit_asked(agent) == "$":
        return _told(agent, round(paid[-1] * (100 - fees[0]) / 100, 2))
    return _from_page(agent, lambda values: values[0])
