"""Records to make demonstrations of: the reference agent's, two of each environment, and one with a bad end."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment

# The second seed is one of the test split.
SEEDS_BY_DIFFICULTY = {0: 20001, 7: 20005}


class Script:
    """Takes given turns, one after the other; the last one again and again."""

    name = "script"

    def __init__(self, *actions: Any):
        self.actions = actions

    def reset(self, env: Any) -> None:
        self.turn = -1

    def act(self, observation: Any) -> Any:
        self.turn += 1
        return copy.deepcopy(self.actions[min(self.turn, len(self.actions) - 1)])


@pytest.fixture(scope="session")
def record_of(words_engine: Any) -> Callable[..., dict[str, Any]]:
    """Plays an episode and gives its record, as it comes back from a file."""

    def make(agent: Any, env_id: str, seed: int = 20001, d: int = 0, overrides: Any = None) -> dict[str, Any]:
        env = Environment((env_id,), words_engine)
        play(env, agent, seed, d, overrides)
        return json.loads(env.trajectory(agent.name).to_json())

    return make


@pytest.fixture(scope="session")
def all_records(record_of: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """Two episodes of each environment. Not to be changed."""
    return [
        record_of(ReferenceAgent(), env_id, seed, d)
        for env_id in COLLECTIONS["C8"]
        for d, seed in SEEDS_BY_DIFFICULTY.items()
    ]


@pytest.fixture
def cart_record(all_records: list[dict[str, Any]]) -> dict[str, Any]:
    """A copy of a cart episode with several turns, some of which the customer answers."""
    found = copy.deepcopy(all_records[1])
    assert found["env_id"] == "E_CART"
    assert len(found["steps"]) > 3
    return found


@pytest.fixture
def scripted(record_of: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Records of given turns: `scripted("E_STATUS", turn, turn)`."""
    return lambda env_id, *actions, **options: record_of(Script(*actions), env_id, **options)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Qwen3 with random weights."""
    from ecomrlve.agents.tiny_model import build

    return build(tmp_path_factory.mktemp("model") / "tiny", hidden=32, layers=1)


@pytest.fixture(scope="session")
def tiny_tokenizer(tiny_folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_folder)


@pytest.fixture(scope="session")
def tiny_chats(tiny_folder: Path, tiny_tokenizer: Any) -> Any:
    """Its tokens."""
    from transformers import AutoConfig

    from ecomrlve.training.token_chats import TokenChats

    ends = [tiny_tokenizer.eos_token_id, tiny_tokenizer.pad_token_id]
    return TokenChats(tiny_tokenizer, AutoConfig.from_pretrained(tiny_folder), ends)
