"""A visitor for the tests of what people see."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def session(words_engine: Any) -> Any:
    """A visitor's session, and in `kept` what it hands to the store."""
    from components.session import Session, Shop

    kept: list[dict[str, Any]] = []
    made = Session(Shop(lambda: words_engine).start(), keep=kept.append)
    made.kept = kept
    return made


@pytest.fixture(scope="session")
def played(words_engine: Any) -> dict[str, dict[str, Any]]:
    """One record per environment, played by the reference agent."""
    import ecomrlve
    from components.session import ENVIRONMENTS
    from ecomrlve.agents.base import play
    from ecomrlve.agents.reference import ReferenceAgent

    found = {}
    for env_id in ENVIRONMENTS:
        env = ecomrlve.make(env_id, catalog=words_engine)
        play(env, ReferenceAgent(), 7, 6)
        found[env_id] = env.trajectory("reference", "agent").to_dict()
    return found
