"""Storing, loading and re-executing trajectories."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import resolve
from ecomrlve.customer.model_grammar import grammar_of
from ecomrlve.environment import Environment
from ecomrlve.errors import EcomrlveError, TrajectoryError, short
from ecomrlve.trajectory import SCHEMA, described, stable

NEEDED = ("schema", "env_id", "difficulty", "overrides", "seed", "catalog", "steps", "reward")


class TrajectoryStore:
    """Appends finished episodes to one JSONL file per process and flushes each, so that a crash loses none.

    Args:
        folder: Where the files go; made if it is not there.
        sync: Wait for the disk after each episode, so that not even a power cut loses one. Without, a killed process
            still loses none.
    """

    def __init__(self, folder: str | Path, *, sync: bool = True):
        self.folder = Path(folder)
        self._sync = sync
        self._name, self._process = f"traj-{uuid.uuid4().hex}.jsonl", os.getpid()
        self._lock = threading.Lock()

    def append(self, trajectory: Mapping[str, Any]) -> Path:
        """Write one episode as one line.

        Raises:
            TrajectoryError: The folder cannot be written to, or the trajectory is not JSON.
        """
        try:
            line = json.dumps(trajectory, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
        except (TypeError, ValueError) as error:
            raise TrajectoryError(f"this trajectory does not fit JSON: {error}") from error
        return self.append_line(line)

    def append_line(self, line: str) -> Path:
        """Write one episode that is JSON text already, with its line break.

        Raises:
            TrajectoryError: The folder cannot be written to.
        """
        if os.getpid() != self._process:  # after a fork: one file per process
            self._name, self._process = f"traj-{uuid.uuid4().hex}.jsonl", os.getpid()
        path = self.folder / self._name
        try:
            with self._lock:
                self.folder.mkdir(parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(line)
                    file.flush()
                    if self._sync:
                        os.fsync(file.fileno())
        except OSError as error:
            raise TrajectoryError(f"cannot write trajectories to {self.folder}: {error.strerror}") from error
        return path


def load_trajectories(path: str | Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the trajectories in a JSONL file, or in all ``*.jsonl`` files of a folder.

    Returns:
        The trajectories in file order, and one sentence for each line that was skipped: torn, of another version, or
        no trajectory at all.

    Raises:
        TrajectoryError: There is nothing at the path, or it is not text.
    """
    found: list[dict[str, Any]] = []
    problems: list[str] = []
    for problem, data in iter_trajectories(path):
        if data is None:
            problems.append(problem)
        else:
            found.append(data)
    return found, problems


def iter_trajectories(path: str | Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """The same, one at a time, for more than memory holds.

    Yields:
        An empty text and a trajectory, or one sentence on a line that was skipped and None.

    Raises:
        TrajectoryError: There is nothing at the path, or it is not text.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
    elif path.is_file():
        files = [path]
    else:
        raise TrajectoryError(f"there is no file or folder {path}")
    for file in files:
        try:
            # As bytes, so that a line torn inside a letter costs no more than that line.
            with file.open("rb") as lines:
                for number, line in enumerate(lines, start=1):
                    if b"\0" in line:
                        raise TrajectoryError(f"{file.name} is not text")
                    if not line.strip():
                        continue
                    problem, data = parse_line(line)
                    yield (f"{file.name}, line {number}: {problem}; skipped", None) if problem else ("", data)
        except OSError as error:
            raise TrajectoryError(f"{file.name} cannot be read: {error.strerror}") from error


def parse_line(line: bytes) -> tuple[str, dict[str, Any]]:
    """Read one line of a file of trajectories: an empty text and the trajectory, or what is wrong and nothing."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return "torn or not JSON", {}
    if not isinstance(data, dict) or "schema" not in data:
        return "not a trajectory", {}
    if data["schema"] != SCHEMA:
        return f"has schema version {data['schema']!r}, this program reads {SCHEMA}", {}
    missing = [key for key in NEEDED if key not in data]
    if missing:
        return f"lacks {', '.join(missing)}", {}
    shapes = {"steps": list, "reward": dict, "overrides": dict, "catalog": dict, "env_id": str, "player": dict}
    for key, shape in shapes.items():
        if not isinstance(data.get(key, {}), shape):
            return f"{key} has the wrong type", {}
    if not all(isinstance(step, dict) and "action" in step for step in data["steps"]):
        return "a step has no action", {}
    return "", data


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a trajectory replays to the same bytes.

    Attributes:
        ok: It does.
        difference: Where it first differs, or why it cannot be replayed; empty if ok.
    """

    ok: bool
    difference: str = ""


def replay(data: Mapping[str, Any], engine: SearchEngine) -> dict[str, Any]:
    """Re-execute the actions of a trajectory; returns the new record.

    Raises:
        TrajectoryError: It was recorded on another catalog, or does not run to an end.
    """
    old, here = data["catalog"], described(engine)
    if old.get("fingerprint") != here["fingerprint"]:
        raise TrajectoryError(
            f"recorded on catalog {short(old.get('name'))!r} ({short(old.get('fingerprint'))}), "
            f"this one is {here['name']!r} ({here['fingerprint']})"
        )
    if old.get("search") != here["search"]:
        raise TrajectoryError(f"recorded with search by {short(old.get('search'))!r}, this one is {here['search']!r}")
    try:
        customer = grammar_of(data.get("phrasing"), engine.catalog)
        env = Environment(resolve(data["env_id"]), engine, customer)
        env.reset(seed=data["seed"], options={"difficulty": data["difficulty"], "overrides": data["overrides"]})
        for step in data["steps"]:
            env.step(step["action"])
        player = data.get("player")
        player = player if isinstance(player, Mapping) else {}
        return env.trajectory(str(player.get("name", "")), str(player.get("kind", ""))).to_dict()
    except EcomrlveError as error:
        raise TrajectoryError(f"cannot be replayed: {error}") from error


def verify(data: Mapping[str, Any], engine: SearchEngine) -> Verification:
    """Re-execute a trajectory and compare every byte that may not differ."""
    try:
        again = replay(data, engine)
    except TrajectoryError as error:
        return Verification(False, str(error))
    try:
        # Through JSON, so that tuples and lists, 1 and 1.0 compare as they are stored.
        old, new = (json.loads(json.dumps(stable(record))) for record in (data, again))
        difference = first_difference(old, new)
    except RecursionError:
        return Verification(False, "it is nested too deeply to be a record")
    return Verification(not difference, difference)


def first_difference(old: Any, new: Any, place: str = "") -> str:
    """Where two JSON values first differ, in words, or an empty string."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            where = f"{place}.{key}" if place else str(key)
            if key not in new or key not in old:
                return f"{where} is only in the {'stored' if key in old else 'replayed'} one"
            found = first_difference(old[key], new[key], where)
            if found:
                return found
        return ""
    if isinstance(old, list) and isinstance(new, list):
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            found = first_difference(one, other, f"{place}[{number}]")
            if found:
                return found
        return "" if len(old) == len(new) else f"{place} has {len(old)} entries, replayed {len(new)}"
    if type(old) is not type(new) or old != new:
        return f"{place}: stored {_short(old)}, replayed {_short(new)}"
    return ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"
