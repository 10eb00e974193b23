"""One number d from 0 to 12, and the twelve axes it drives.

The formulas of the first four axes meet the published values at d = 0, 6 and 12; the turn budget follows from the
published rewards. Every axis can be overridden by name, which is how a single kind of hardness is studied alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from ecomrlve.errors import DifficultyError, short

LOWEST, HIGHEST = 0, 12

# For each axis: the lowest and highest value that an override may take.
BOUNDS: dict[str, tuple[float, float]] = {
    "constraints": (1, 12),
    "omission": (0.0, 1.0),
    "distractors": (0.0, 0.9),
    "sellout": (0.0, 0.9),
    "turn_budget": (2, 50),
    "noise": (0.0, 0.3),
    "switching": (0.0, 1.0),
    "search_depth": (20, 1000),
    "list_size": (1, 20),
    "order_history": (1, 200),
    "policy_clauses": (1, 8),
    "tool_budget": (2, 50),
}


def sigmoid(x: float) -> float:
    """The logistic function 1 / (1 + e^−x)."""
    return 1.0 / (1.0 + math.exp(-x))


@dataclass(frozen=True, slots=True)
class Difficulty:
    """The twelve axes at one difficulty. Make it with `difficulty(d, overrides)`.

    Attributes:
        d: The number all axes came from.
        constraints: How many requirements the customer has.
        omission: Probability that a requirement is left out of the opening.
        distractors: Share of search results that are noise.
        sellout: Probability that an item goes out of stock in mid-conversation.
        turn_budget: Agent turns before the episode is cut off.
        noise: Typos and slang per character of what the customer writes.
        switching: Probability that the customer changes its mind or subject.
        search_depth: Most results that one page of a search may hold.
        list_size: Longest list of recommendations that is scored (k).
        order_history: Orders on the customer's account.
        policy_clauses: Conditions that one policy question combines.
        tool_budget: Tool calls that one turn may hold.
    """

    d: int
    constraints: int
    omission: float
    distractors: float
    sellout: float
    turn_budget: int
    noise: float
    switching: float
    search_depth: int
    list_size: int
    order_history: int
    policy_clauses: int
    tool_budget: int

    def axes(self) -> dict[str, float]:
        """The twelve axes by name, without d."""
        values = asdict(self)
        del values["d"]
        return values


AXES = tuple(field.name for field in fields(Difficulty) if field.name != "d")


def check_difficulty(d: object) -> int:
    """Return d as an int.

    Raises:
        DifficultyError: It is not a whole number from 0 to 12. A bool is none.
    """
    if isinstance(d, bool) or not isinstance(d, int) or not LOWEST <= d <= HIGHEST:
        raise DifficultyError(f"difficulty must be a whole number from {LOWEST} to {HIGHEST}, not {short(repr(d))}")
    return d


def difficulty(d: int, overrides: Mapping[str, float] | None = None) -> Difficulty:
    """Compute the twelve axes.

    Args:
        d: Difficulty, a whole number from 0 to 12.
        overrides: Axis name → value, for single axes that should not follow d.

    Raises:
        DifficultyError: d is out of range; an axis is unknown, of the wrong type, or out of its bounds.
    """
    d = check_difficulty(d)
    values: dict[str, float] = {
        "constraints": 2 + d // 2,
        "omission": 0.8 * sigmoid((d - 3.4912) / 1.2892),
        "distractors": min(0.4, 0.02 * d),
        "sellout": min(0.5, 0.05 * d),
        "turn_budget": 4 + d // 2,
        "noise": min(0.125, 0.01 * d),
        "switching": 0.6 * sigmoid((d - 5) / 2),
        "search_depth": max(20, 200 - 10 * d),
        "list_size": min(10, 3 + d // 3),
        "order_history": 2 + 3 * d,
        "policy_clauses": 1 + d // 3,
        "tool_budget": 2 + d // 2,
    }
    for name, value in (overrides or {}).items():
        values[name] = _checked(name, value, whole=isinstance(values.get(name), int))
    return Difficulty(d=d, **values)  # type: ignore[arg-type]


def _checked(name: str, value: object, *, whole: bool) -> float:
    if name not in BOUNDS:
        raise DifficultyError(f"unknown axis {short(name)!r}; the axes are {', '.join(AXES)}")
    low, high = BOUNDS[name]
    kind = "a whole number" if whole else "a number"
    right_type = isinstance(value, int) if whole else isinstance(value, int | float)
    if isinstance(value, bool) or not right_type or not low <= value <= high:  # type: ignore[operator]
        raise DifficultyError(f"axis {name!r} must be {kind} from {low} to {high}, not {short(repr(value))}")
    return value if whole else float(value)  # type: ignore[arg-type,return-value]
