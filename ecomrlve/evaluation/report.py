"""The report of an evaluation: every figure that its renderings show, as one structure that JSON holds.

`build` makes it from rows alone, and the same rows give the same report in whatever order they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.errors import EcomrlveError, short
from ecomrlve.evaluation.report_groups import errors_of, failures_of, grouped, parts_of, repeated, summary
from ecomrlve.evaluation.rows import Row, Rows
from ecomrlve.evaluation.statistics import CONFIDENCE, RESAMPLES, paired

SCHEMA = 1
MEASURES = ("correct", "total")
MOST_PROBLEMS = 20  # Skipped lines that a report quotes.


class NothingToReportError(EcomrlveError, ValueError):
    """There is no episode, or none of the agent that all others are to be compared with."""


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation in figures.

    Attributes:
        data: Plain data: ``agents``, ``environments`` and ``difficulties`` that occur; ``warnings`` and ``notes``, one
            sentence each; ``by_agent``, ``by_environment``, ``by_difficulty``, ``curves`` (both) and ``grid`` (both,
            and overrides apart), lists of averages; ``parts``, the environments' own figures; ``causes`` and
            ``causes_by_environment``; ``tool_errors``; ``pass_hat_k``; ``paired``.
    """

    data: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self.data


def build(
    rows: Rows,
    *,
    confidence: float = CONFIDENCE,
    baseline: str | None = None,
    commands: Sequence[str] = (),
    resamples: int = RESAMPLES,
) -> Report:
    """Make the report of some episodes.

    Args:
        rows: What `read_rows` gives.
        confidence: Of all intervals.
        baseline: The agent that all others are compared with; None for the first by name.
        commands: How to get the same episodes again, for the record.
        resamples: Of the bootstrap behind the paired comparisons.

    Raises:
        NothingToReportError: There is no episode, or none of the baseline.
    """
    ordered = sorted(rows.rows, key=lambda row: row.cell)
    if not ordered:
        skipped = f"; {len(rows.problems)} lines were skipped, the first: {rows.problems[0]}" if rows.problems else ""
        raise NothingToReportError(f"there is no episode to report on{skipped}")
    by_agent = grouped(ordered, lambda row: row.agent)
    agents = list(by_agent)
    baseline = agents[0] if baseline is None else baseline
    if baseline not in by_agent:
        raise NothingToReportError(f"no episode is by {short(baseline)!r}; the agents are {', '.join(agents)}")
    comparisons, alone = _comparisons(by_agent, baseline, confidence, resamples)
    warnings = [*_coverage(by_agent), *alone, *_doubts(by_agent, rows)]
    overrides = sorted({row.overrides for row in ordered})
    return Report(
        {
            "schema": SCHEMA,
            "catalog": {"name": ordered[0].catalog, "fingerprint": ordered[0].fingerprint, "search": ordered[0].search},
            "engines": sorted({row.engine for row in ordered}),
            "commands": list(commands),
            "confidence": confidence,
            "episodes": len(ordered),
            "agents": agents,
            "environments": sorted({row.env_id for row in ordered}),
            "difficulties": sorted({row.difficulty for row in ordered}),
            "overrides": overrides,
            "baseline": baseline,
            "problems": {"count": len(rows.problems), "first": list(rows.problems[:MOST_PROBLEMS])},
            "doubled": rows.doubled,
            "warnings": warnings,
            "notes": _notes(confidence, overrides, len(agents)),
            "by_agent": _summaries(ordered, ("agent",), confidence),
            "by_environment": _summaries(ordered, ("agent", "env_id"), confidence),
            "by_difficulty": _summaries(ordered, ("agent", "difficulty"), confidence),
            "curves": _summaries(ordered, ("agent", "env_id", "difficulty"), confidence),
            "grid": _summaries(ordered, ("agent", "env_id", "difficulty", "overrides"), confidence),
            "parts": [
                {"agent": agent, "env_id": env_id, "parts": parts_of(group)}
                for (agent, env_id), group in grouped(ordered, lambda row: (row.agent, row.env_id)).items()
            ],
            "causes": [{"agent": agent, **found} for agent, group in by_agent.items() for found in failures_of(group)],
            "causes_by_environment": [
                {"agent": agent, "env_id": env_id, **found}
                for (agent, env_id), group in grouped(ordered, lambda row: (row.agent, row.env_id)).items()
                for found in failures_of(group)
            ],
            "tool_errors": [
                {"agent": agent, **found} for agent, group in by_agent.items() for found in errors_of(group)
            ],
            "pass_hat_k": [{"agent": agent, **found} for agent, group in by_agent.items() for found in repeated(group)],
            "paired": comparisons,
        }
    )


def _summaries(rows: Sequence[Row], fields: Sequence[str], confidence: float) -> list[dict[str, Any]]:
    groups = grouped(rows, lambda row: tuple(getattr(row, field) for field in fields))
    return [{**dict(zip(fields, key, strict=True)), **summary(groups[key], confidence)} for key in sorted(groups)]


# --- comparing agents ------------------------------------------------------------------------------------------------


def _comparisons(
    by_agent: dict[str, list[Row]], baseline: str, confidence: float, resamples: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Every agent against the baseline, in all and per environment; and who cannot be compared."""
    found: list[dict[str, Any]] = []
    alone: list[str] = []
    base = {row.cell[1:]: row for row in by_agent[baseline]}
    for agent, rows in by_agent.items():
        if agent == baseline:
            continue
        common = [row for row in rows if row.cell[1:] in base]
        if not common:
            alone.append(f"{short(agent)} and {short(baseline)} have no episode in common and cannot be compared.")
            continue
        by_environment = grouped(common, lambda row: row.env_id)
        for env_id, group in [(None, common), *by_environment.items()]:
            for measure in MEASURES:
                scores = [
                    {row.cell[1:]: float(getattr(row, measure)) for row in some}
                    for some in (group, (base[row.cell[1:]] for row in group))
                ]
                compared = paired(*scores, confidence=confidence, resamples=resamples).to_dict()
                if measure == "total":  # The sign test asks for the median, the interval for the mean.
                    compared["p_value"] = None
                found.append({"agent": agent, "env_id": env_id, "measure": measure, **compared})
    return found, alone


# --- what to beware of -----------------------------------------------------------------------------------------------


def _coverage(by_agent: dict[str, list[Row]]) -> list[str]:
    """Where agents did not play the same problems, or not equally often."""
    everything = {row.problem for rows in by_agent.values() for row in rows}
    sentences = []
    for agent, rows in by_agent.items():
        lacking = everything - {row.problem for row in rows}
        if lacking:
            counts = Counter(env_id for env_id, *_ in lacking)
            places = ", ".join(f"{short(env_id)} {counts[env_id]}" for env_id in sorted(counts))
            sentences.append(
                f"Unequal coverage: {short(agent)} lacks {len(lacking)} of {len(everything)} problems that others "
                f"played ({places}). Its averages are over other episodes than theirs; only the paired comparison is "
                "fair."
            )
        per_cell = Counter(row.problem[:3] for row in rows).values()
        if min(per_cell) < max(per_cell):
            sentences.append(
                f"Uneven grid: {short(agent)} played from {min(per_cell)} to {max(per_cell)} episodes per environment "
                "and difficulty; those with more weigh more in its averages."
            )
    trials = {agent: max(Counter(row.problem for row in rows).values()) for agent, rows in by_agent.items()}
    if len(set(trials.values())) > 1:
        told = ", ".join(f"{short(agent)} {count}" for agent, count in trials.items())
        sentences.append(f"Unequal trials per problem: {told}. The paired comparison uses the trials that both have.")
    return sentences


def _doubts(by_agent: dict[str, list[Row]], rows: Rows) -> list[str]:
    """What else makes figures less certain than they look."""
    sentences = []
    for agent, played in by_agent.items():
        failed = sum(row.failed for row in played)
        if failed:
            sentences.append(
                f"{short(agent)} gave no output in {failed} of {len(played)} episodes; they count as failures."
            )
    engines = sorted({row.engine for played in by_agent.values() for row in played})
    if len(engines) > 1:
        sentences.append(f"Episodes come from several versions of the program: {', '.join(map(short, engines))}.")
    if rows.problems:
        sentences.append(f"Records that were skipped or contradict each other: {len(rows.problems)}.")
    return sentences


def _notes(confidence: float, overrides: Sequence[str], agents: int) -> list[str]:
    """How to read the figures."""
    sentences = [
        "Averages are over episodes: an environment or a difficulty with more episodes weighs more.",
        f"Intervals hold the true value in {100 * confidence:g} of 100 such reports: Wilson's for success, Student's t "
        "for the total. They count problems, not repeated trials, which depend on each other.",
    ]
    if agents > 1:
        sentences.append(
            "Paired differences compare agents on the episodes that both played; their intervals are bootstraps over "
            "seeds within environment and difficulty, without any width where all differences are alike. p is that of "
            "McNemar's exact test, not adjusted for how many agents and environments are compared."
        )
    if len(overrides) > 1:
        sentences.append(
            f"Episodes with different axis overrides ({', '.join(map(short, overrides))}) are averaged together; only "
            "the grid in the JSON and the rows of the CSV tell them apart."
        )
    return sentences
