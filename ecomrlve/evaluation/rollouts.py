"""Playing the cells of a grid in one process: one after another, in step, or on threads, as the agent likes it."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ecomrlve.agents.base import Agent, Players, no_answer, notes_of
from ecomrlve.agents.registry import players_of
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment
from ecomrlve.errors import EcomrlveError, GenerationError, short
from ecomrlve.evaluation.grid import Cell

# Who played last in this process: a checkpoint is not loaded anew for every handful of cells, but makes place for the
# next one.
_players: dict[str, Players] = {}


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a cell.

    Attributes:
        cell: The cell.
        line: The trajectory as a line of JSON; empty once it is kept, or where there could be no episode.
        correct: Whether the episode was a success.
        problem: Why there was no episode.
    """

    cell: Cell
    line: str
    correct: bool = False
    problem: str = ""


class _Table:
    """One running episode, its agent, and the time both take."""

    def __init__(self, engine: SearchEngine, players: Players, cell: Cell):
        self.cell = cell
        self.env = Environment((cell.env_id,), engine)
        self.agent: Agent = players.player(cell.trial)
        self.engine_seconds = self.seconds = 0.0
        self.trouble = ""
        started = time.perf_counter()
        self.observation, _ = self.env.reset(seed=cell.seed, options=cell.options())
        self.engine_seconds += time.perf_counter() - started
        try:
            self.agent.reset(self.env)
        except EcomrlveError:
            raise
        except Exception as error:  # see `_actions`
            self.trouble = _in_words(error)
        self.seconds += time.perf_counter() - started

    def take(self, action: Any) -> None:
        """Let the environment take the agent's turn."""
        started = time.perf_counter()
        self.observation, *_ = self.env.step(action)
        spent = time.perf_counter() - started
        self.engine_seconds += spent
        self.seconds += spent

    def played(self) -> Played:
        """The record of the finished episode."""
        started = time.perf_counter()
        cell = self.cell
        record = self.env.trajectory(cell.agent).to_dict()
        notes = notes_of(self.agent)
        if self.trouble:
            notes["failed"] = self.trouble
        self.seconds += time.perf_counter() - started
        record["evaluation"] = {
            "agent": cell.agent,
            "trial": cell.trial,
            "seconds": round(self.seconds, 6),
            "engine_seconds": round(self.engine_seconds, 6),
            "notes": notes,
        }
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
        return Played(cell, line, bool(record["reward"]["correct"]))


def play_cells(engine: SearchEngine, cells: Sequence[Cell]) -> Iterator[Played]:
    """Play cells and give what became of them, in the order in which they end.

    Raises:
        EcomrlveError: An agent that cannot play at all: an unknown name, a checkpoint that is not there.
    """
    for name, group in groupby(sorted(cells), key=lambda cell: cell.agent):
        if name not in _players:
            _players.clear()
            _players[name] = players_of(name)
        players = _players[name]
        yield from (_on_threads if players.threads else _in_step)(engine, players, list(group))


def _in_step(engine: SearchEngine, players: Players, cells: Sequence[Cell]) -> Iterator[Played]:
    """As many episodes at a time as the agent likes; whatever ends makes place for the next."""
    waiting = deque(cells)
    running: list[_Table] = []
    while waiting or running:
        while waiting and len(running) < players.width:
            table = _seated(engine, players, waiting.popleft())
            if isinstance(table, Played):
                yield table
            else:
                running.append(table)
        if running:
            for table, action in zip(running, _actions(players, running), strict=True):
                table.take(action)
            yield from (table.played() for table in running if table.env.episode.over)
            running = [table for table in running if not table.env.episode.over]


def _actions(players: Players, tables: Sequence[_Table]) -> list[Any]:
    """One action for each table; the time is shared out evenly."""
    started = time.perf_counter()
    able = [table for table in tables if not table.trouble]
    try:
        chosen = players.act([table.agent for table in able], [table.observation for table in able]) if able else []
    except EcomrlveError:
        raise
    except Exception as error:  # an agent is anybody's code, and one that breaks must not end the evaluation
        for table in able:
            table.trouble = _in_words(error)
        chosen = []
    actions = iter(chosen)
    share = (time.perf_counter() - started) / len(tables)
    for table in tables:
        table.seconds += share
    return [no_answer(table.trouble) if table.trouble else next(actions) for table in tables]


def _in_words(error: Exception) -> str:
    return short(f"{type(error).__name__}: {error}", 300)


def _on_threads(engine: SearchEngine, players: Players, cells: list[Cell]) -> Iterator[Played]:
    """Each episode waits for its own answers."""
    with ThreadPoolExecutor(players.width) as pool:
        games = [pool.submit(_one, engine, players, cell) for cell in cells]
        try:
            for game in as_completed(games):
                yield game.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _one(engine: SearchEngine, players: Players, cell: Cell) -> Played:
    table = _seated(engine, players, cell)
    if isinstance(table, Played):
        return table
    while not table.env.episode.over:
        table.take(_actions(players, [table])[0])
    return table.played()


def _seated(engine: SearchEngine, players: Players, cell: Cell) -> _Table | Played:
    try:
        return _Table(engine, players, cell)
    except GenerationError as error:  # a catalog that has too little for this environment
        return Played(cell, "", problem=str(error))
