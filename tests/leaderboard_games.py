"""Records of finished games for the tests of the leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def lost(
    engine: Any, env_id: str, difficulty: int, seed: int, name: str = "Ann", kind: str = "human"
) -> dict[str, Any]:
    """A game that ends at once with an output that is no action."""
    import ecomrlve

    env = ecomrlve.make(env_id, catalog=engine)
    env.reset(seed=seed, options={"difficulty": difficulty})
    env.step("{broken")
    return env.trajectory(name, kind).to_dict()


def won(engine: Any, env_id: str, difficulty: int, seed: int, name: str = "Ann", kind: str = "human") -> dict[str, Any]:
    """A game that the reference agent played."""
    import ecomrlve
    from ecomrlve.agents.base import play
    from ecomrlve.agents.reference import ReferenceAgent

    env = ecomrlve.make(env_id, catalog=engine)
    play(env, ReferenceAgent(), seed, difficulty)
    return env.trajectory(name, kind).to_dict()


def evaluated(record: dict[str, Any], agent: str, trial: int = 0) -> dict[str, Any]:
    """A record as an evaluation keeps it."""
    return {**record, "evaluation": {"agent": agent, "trial": trial}}


def write(file: Path, records: Iterable[dict[str, Any]]) -> Path:
    """Store records as JSONL, after what is there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return file
