"""What an evaluation plays: a grid of cells, each one episode of one agent, and the parts it can be split into."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.errors import EcomrlveError, OptionError
from ecomrlve.streams import key_of


class EvaluationError(EcomrlveError, ValueError):
    """An evaluation that cannot be run, or whose parts do not belong together."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One episode of one agent.

    Attributes:
        agent: The agent's name.
        env_id: The environment.
        difficulty: d, from 0 to 12.
        overrides: Axis overrides as canonical JSON text, ``{}`` for none.
        seed: The episode's seed.
        trial: Which repetition of the same episode.
    """

    agent: str
    env_id: str
    difficulty: int
    overrides: str
    seed: int
    trial: int

    def options(self) -> dict[str, Any]:
        """What `Environment.reset` takes besides the seed."""
        return {"env_id": self.env_id, "difficulty": self.difficulty, "overrides": json.loads(self.overrides)}


@dataclass(frozen=True)
class Plan:
    """A grid: every agent plays every seed of every environment at every difficulty, in every trial.

    Attributes:
        agents: Names of agents.
        env_ids: Environments.
        difficulties: Values of d.
        seeds: Seeds, the same for all.
        trials: Repetitions of each episode.
        overrides: Axis → value, for all episodes.
        catalog: The name of the catalog, as commands take it.
        words_only: Search by words alone.
    """

    agents: Sequence[str]
    env_ids: Sequence[str]
    difficulties: Sequence[int]
    seeds: Sequence[int]
    trials: int = 1
    overrides: Mapping[str, float] = field(default_factory=dict)
    catalog: str = "default"
    words_only: bool = False

    def cells(self) -> list[Cell]:
        """All cells; the same plan gives the same list."""
        overrides = canonical_overrides(self.overrides)
        return [
            Cell(agent, env_id, d, overrides, seed, trial)
            for agent in dict.fromkeys(self.agents)
            for env_id in dict.fromkeys(self.env_ids)
            for d in dict.fromkeys(self.difficulties)
            for seed in dict.fromkeys(self.seeds)
            for trial in range(self.trials)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON data."""
        return {
            "agents": list(self.agents),
            "env_ids": list(self.env_ids),
            "difficulties": list(self.difficulties),
            "seeds": list(self.seeds),
            "trials": self.trials,
            "overrides": dict(self.overrides),
            "catalog": self.catalog,
            "words_only": self.words_only,
        }


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of a grid, for one machine each.

    Attributes:
        part: From 1 on.
        parts: How many there are.
    """

    part: int = 1
    parts: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``2/4``.

        Raises:
            OptionError: It is not that.
        """
        part, _, parts = text.partition("/")
        if not (part.strip().isdecimal() and parts.strip().isdecimal() and 1 <= int(part) <= int(parts)):
            raise OptionError(f"a shard is written as 2/4, the second of four; not {text!r}")
        return cls(int(part), int(parts))

    def of(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells of this part. Which part a cell is in depends on the cell alone, so that grids can grow."""
        return [cell for cell in cells if _mixed(cell) % self.parts == self.part - 1]

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"


def _mixed(cell: Cell) -> int:
    return key_of("shard", cell.agent, cell.env_id, cell.difficulty, cell.overrides, cell.seed, cell.trial)


def canonical_overrides(overrides: Mapping[str, float]) -> str:
    """One text for equal overrides, as `Cell` holds it: keys in order, whole numbers without a decimal point."""
    plain = {key: int(value) if float(value).is_integer() else float(value) for key, value in overrides.items()}
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def cell_of(trajectory: Mapping[str, Any]) -> Cell:
    """The cell that a stored trajectory fills. One without a note of an evaluation is its player's, trial 0."""
    note = trajectory.get("evaluation")
    note = note if isinstance(note, Mapping) else {}
    player = trajectory.get("player")
    player = player if isinstance(player, Mapping) else {}
    return Cell(
        str(note.get("agent") or player.get("name") or "unknown"),
        str(trajectory["env_id"]),
        int(trajectory["difficulty"]),
        canonical_overrides(trajectory.get("overrides") or {}),
        int(trajectory["seed"]),
        int(note.get("trial") or 0),
    )
