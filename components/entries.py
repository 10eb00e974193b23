"""One episode in the table: read from a line of JSONL, with what the table shows of it and nothing more.

Whole records are large (a long journey has half a megabyte), so that the table keeps entries, and a record is read
again when somebody opens it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from components.tables import MOST_ROWS, mapping, number, rows, words
from ecomrlve.evaluation.failures import CAUSES, causes
from ecomrlve.replay import parse_line

MOST_LETTERS = 60  # of a name in the table
MOST_BYTES = 8 * 2**20  # of one record; the longest journey has less than one megabyte
LARGEST_EXACT = 2**53  # a larger whole number is another one in a browser
OTHER = "other"
# Where a line is looked at again, since no JSON has them.
_NO_NUMBERS = (b"NaN", b"Infinity")


@dataclass(frozen=True, slots=True)
class Entry:
    """What the table shows of an episode.

    Attributes:
        key: Names it among all that a visitor can see.
        id: Its ``episode_id``, which links name.
        env_id: The environment.
        difficulty: d.
        seed: The seed; as text where a browser would round it.
        player: Who played.
        trial: Which repetition of the same episode, in an evaluation.
        turns: Turns taken.
        total: The reward.
        correct: Whether it was a success.
        cause: The main cause of its failure, or "".
    """

    key: str
    id: str
    env_id: str
    difficulty: float
    seed: int | str
    player: str
    trial: int
    turns: int
    total: float
    correct: bool
    cause: str = field(default="")


def read_line(line: bytes) -> tuple[str, dict[str, Any]]:
    """Read one line of a JSONL file: an empty text and the record, or what is wrong and nothing."""
    if len(line) > MOST_BYTES:
        return f"has {len(line) / 2**20:.0f} MB, far more than an episode", {}
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8 text", {}
    problem, record = parse_line(line)
    if not problem and any(word in line for word in _NO_NUMBERS):
        problem = _unfit(record)
    return (problem, {}) if problem else ("", record)


def _unfit(record: Mapping[str, Any]) -> str:
    try:
        json.dumps(record, allow_nan=False)
    except (ValueError, RecursionError):
        return "holds NaN or Infinity, which no JSON has"
    return ""


def digest(*parts: bytes) -> str:
    """A short key for whatever these bytes say."""
    return blake2b(b"\0".join(parts), digest_size=8).hexdigest()


def entry_of(record: Mapping[str, Any], key: str) -> Entry:
    """The entry of a record, whatever may be odd about it."""
    reward, seed, difficulty = mapping(record.get("reward")), record.get("seed"), number(record.get("difficulty"))
    exact = isinstance(seed, int) and not isinstance(seed, bool) and abs(seed) < LARGEST_EXACT
    steps = record.get("steps")
    return Entry(
        key=key,
        id=_short(record.get("episode_id")),
        env_id=_short(record.get("env_id")),
        difficulty=int(difficulty) if difficulty.is_integer() else difficulty,
        seed=int(seed) if exact and isinstance(seed, int) else _short(seed),
        player=player_of(record),
        trial=int(number(mapping(record.get("evaluation")).get("trial"))),
        turns=len(steps) if isinstance(steps, list) else 0,
        total=number(reward.get("total")),
        correct=bool(reward.get("correct")),
        cause=next(iter(failures_of(record)), ""),
    )


def player_of(record: Mapping[str, Any]) -> str:
    """Who played."""
    return _short(mapping(record.get("player")).get("name")) or "unknown"


def failures_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Why the episode failed, the main cause first; nothing for a correct one."""
    if not _ordinary(record):
        return () if bool(mapping(record.get("reward")).get("correct")) else (OTHER,)
    try:
        return tuple(cause for cause in causes(record) if cause in CAUSES)
    except (ArithmeticError, RecursionError):
        return (OTHER,)


def _ordinary(record: Mapping[str, Any]) -> bool:
    """Whether no list in it is longer than any of a real episode: causes compare many of them with each other."""
    goal = mapping(record.get("goal"))
    goals = [goal, *rows(goal.get("intents"))]
    lists = [record.get("steps"), record.get("ledger"), record.get("done"), *(v for one in goals for v in one.values())]
    for step in rows(record.get("steps")):
        lists += [step.get("tool_results"), *mapping(step.get("shop")).values()]
    return all(len(value) <= MOST_ROWS for value in lists if isinstance(value, list))


def _short(value: Any) -> str:
    text = words(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
