"""Two agents over a series of seeds: the figures of the evaluation's report, in words that claim no more than they do.

The same functions compute both, so that what the page says of some episodes is what `ecomrlve report` says of them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from components.agents import title_of
from components.compare_playing import Match, Scenario, agents_match
from components.session import SessionError, Shop, whole
from ecomrlve.errors import GenerationError, SeedError
from ecomrlve.evaluation.rows import Row, row_of
from ecomrlve.evaluation.statistics import Paired, paired, sign_test, wilson

COUNTS = (10, 25, 50)
MOST_SEEDS = 50
MOST_SECONDS = 900.0
RUNNING, DONE, STOPPED = "running", "done", "stopped"
MEASURES = ("total", "correct")


@dataclass(frozen=True)
class Played:
    """One seed of a series.

    Attributes:
        seed: The seed.
        rows: Figures of both, in the order of the players.
        packed: The records of both; as they are, fifty pairs would take tens of megabytes.
    """

    seed: int
    rows: tuple[Row, Row]
    packed: tuple[bytes, bytes]

    def records(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The records of both."""
        one, other = (json.loads(zlib.decompress(data)) for data in self.packed)
        return one, other


@dataclass
class Series:
    """A series on its way: the seeds from the first one on, one match each.

    Args:
        shop: Where it is played.
        scenario: The first seed's scenario.
        names: The two agents.
        count: How many seeds.

    Attributes:
        played: What is finished.
        skipped: Seeds for which this catalog has no problem.
        status: Running, done or stopped.
        note: Why it stopped.

    Raises:
        SessionError: There is no such agent, it is the same twice, or the count is not offered.
    """

    shop: Shop
    scenario: Scenario
    names: tuple[Any, Any]
    count: Any
    played: list[Played] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    status: str = RUNNING
    note: str = ""

    def __post_init__(self) -> None:
        self.count = whole(self.count)
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 2 <= self.count <= MOST_SEEDS:
            raise SessionError(f"A series has from 2 to {MOST_SEEDS} seeds.")
        self.first = whole(self.scenario.seed)
        if isinstance(self.first, bool) or not isinstance(self.first, int):
            raise SeedError("A series starts at a seed that is a whole number from 0 on.")
        agents_match(self.shop, self.scenario, *self.names)  # whoever may not play is told at once

    def next_match(self) -> Match | None:
        """The match of the next seed; None after the last."""
        tried = len(self.played) + len(self.skipped)
        if tried >= self.count:
            return None
        base = self.scenario
        return agents_match(
            self.shop, Scenario(base.env_id, base.difficulty, self.first + tried, base.overrides), *self.names
        )

    def portion(self, match: Match) -> bool:
        """Play on in a match for a moment; returns whether its seed is done with.

        Raises:
            EcomrlveError: An agent cannot play, or the scenario does not exist.
        """
        try:
            if not match.portion():
                return False
        except GenerationError:
            self.skipped.append(match.scenario.seed)
            return True
        one, other = match.records()
        entry = Played(match.scenario.seed, (row_of(one), row_of(other)), (_packed(one), _packed(other)))
        if self.status == RUNNING:  # what was under way when somebody stopped it is not shown any more
            self.played.append(entry)
        return True

    def find(self, seed: Any) -> Played | None:
        """What was played with this seed."""
        return next((entry for entry in self.played if entry.seed == whole(seed)), None)


def columns(played: Sequence[Played]) -> tuple[list[Row], list[Row]]:
    """The figures of both players, seed by seed."""
    return [entry.rows[0] for entry in played], [entry.rows[1] for entry in played]


def _packed(record: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())


# --- figures ---------------------------------------------------------------------------------------------------------


def statistics(ones: Sequence[Row], others: Sequence[Row]) -> dict[str, Any]:
    """What a series says about two agents; as in the report, episodes are paired by their cell.

    Args:
        ones: The first agent's rows, at least one.
        others: The second agent's rows of the same cells.

    Returns:
        Per measure what `paired` gives; per agent its share of successes with Wilson's interval; wins, ties and losses
        by total; and the p-value of their sign test.
    """
    scores = {
        measure: [{row.cell[1:]: float(getattr(row, measure)) for row in rows} for rows in (ones, others)]
        for measure in MEASURES
    }
    compared = {measure: paired(*both) for measure, both in scores.items()}
    total = compared["total"]
    wins, losses = (round(share * total.problems) for share in (total.one_better, total.other_better))
    return {
        "pairs": total.problems,
        "total": total,
        "correct": compared["correct"],
        "success": [_success(rows) for rows in (ones, others)],
        "wins": wins,
        "ties": total.problems - wins - losses,
        "losses": losses,
        "p_value": sign_test(wins, losses),
    }


def _success(rows: Sequence[Row]) -> dict[str, Any]:
    correct = sum(row.correct for row in rows)
    low, high = wilson(correct, len(rows))
    return {"correct": correct, "share": correct / len(rows), "low": low, "high": high}


def conclusion(total: Paired, one: str, other: str) -> str:
    """In words what the difference of the mean rewards allows to say, and what not.

    Args:
        total: Both agents' totals, paired.
        one: What the first agent is called.
        other: What the second is called.
    """
    pairs, difference = total.problems, total.difference
    if total.low is None or total.high is None:
        return "One pair says nothing about the two in general. Play more seeds."
    if total.equal == 1:
        return (
            f"Both got exactly the same in all {pairs} episodes. That does not prove that they are equal: a difference "
            "that shows seldom may not have come up."
        )
    if total.low <= 0 <= total.high:
        return (
            f"These {pairs} pairs do not tell which of the two is better: the interval includes 0. The true difference "
            f"may well be anything between {signed(total.low)} and {signed(total.high)}."
        )
    better, worse = (one, other) if difference > 0 else (other, one)
    low, high = sorted((abs(total.low), abs(total.high)))
    amount = f"by {abs(difference):.2f} on average"
    if low == high:
        return f"{better} earns more than {worse}: {amount}, and in every one of the {pairs} pairs by the same amount."
    return (
        f"{better} earns more than {worse}: {amount}, most likely by {low:.2f} to {high:.2f} "
        "(95 % interval, which does not include 0)."
    )


def caution(pairs: int) -> str:
    """What to beware of with so many pairs."""
    few = "So few pairs find large differences only. " if pairs < 25 else ""
    return (
        f"{few}It holds for this task and difficulty alone. One in twenty such intervals misses the truth, so whoever "
        "repeats a series until it pleases will be misled."
    )


def signed(value: float) -> str:
    """A number with its sign: ``+0.31``, ``−0.12``."""
    return f"{value:+.2f}".replace("-", "−")


# --- what the page shows ---------------------------------------------------------------------------------------------


def shown(series: Series) -> dict[str, Any]:
    """Value of the widget."""
    played = tuple(series.played)  # another thread may be at it
    labels = [title_of(name) for name in series.names]
    told = statistics(*columns(played)) if played and series.status != RUNNING else None
    return {
        "status": series.status,
        "note": series.note,
        "labels": labels,
        "env_id": series.scenario.env_id,
        "difficulty": series.scenario.difficulty,
        "count": series.count,
        "tried": len(played) + len(series.skipped),
        "skipped": [str(seed) for seed in series.skipped],
        "rows": [_line(entry) for entry in played],
        "figures": told and _figures(told),
        "conclusion": conclusion(told["total"], *labels) if told else "",
        "caution": caution(told["pairs"]) if told else "",
    }


def _line(entry: Played) -> dict[str, Any]:
    return {
        # As text, because a browser's numbers are not exact from 2**53 on.
        "seed": str(entry.seed),
        "totals": [row.total for row in entry.rows],
        "correct": [row.correct for row in entry.rows],
        "turns": [row.turns for row in entry.rows],
    }


def _figures(told: dict[str, Any]) -> dict[str, Any]:
    total, correct = told["total"], told["correct"]
    return {
        **{name: told[name] for name in ("pairs", "success", "wins", "ties", "losses", "p_value")},
        "means": [total.one, total.other],
        "difference": [total.difference, total.low, total.high],
        "success_difference": [correct.difference, correct.low, correct.high],
        "success_p_value": correct.p_value,
    }
