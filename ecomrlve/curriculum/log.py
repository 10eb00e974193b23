"""The log of a run's windows, ``curriculum.jsonl``: one JSON object per line, step and environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ecomrlve.curriculum.state import Level, first_problem

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
# The longest name that a log may give an environment; ours have at most ten letters.
Name = Annotated[str, Field(min_length=1, max_length=40)]


class LogEntry(BaseModel):
    """One line of ``curriculum.jsonl``: where an environment stood in one step.

    Attributes:
        step: Training step, from 0.
        env_id: The environment.
        low: Lower end of the window that the step's episodes were drawn from.
        high: Upper end of that window.
        success: Share of the step's episodes at d = high that were correct; None if there were none.
    """

    # Whoever writes the log may add fields of their own.
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    step: Annotated[int, Field(ge=0, lt=2**53)]
    env_id: Name
    low: Level
    high: Level
    success: Share | None

    @model_validator(mode="after")
    def _in_order(self) -> LogEntry:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


def read_log(lines: Iterable[str | bytes]) -> tuple[list[LogEntry], list[str]]:
    """The entries of a ``curriculum.jsonl``.

    A run that was resumed from a checkpoint writes some steps again: of an environment's lines for one step the last
    counts.

    Args:
        lines: The file, or its lines.

    Returns:
        The entries by environment in order of first appearance and then by step, and one sentence for each line that
        was skipped.
    """
    found: dict[str, dict[int, LogEntry]] = {}
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = LogEntry.model_validate_json(line)
        except ValidationError as error:
            problems.append(f"line {number}: {first_problem(error)}")
        else:
            found.setdefault(entry.env_id, {})[entry.step] = entry
    return [by_step[step] for by_step in found.values() for step in sorted(by_step)], problems
