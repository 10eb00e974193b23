"""The learned model: it plays from the repository, and about as well as docs/training.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.agents import learned
from ecomrlve.agents.names import AgentNameError
from ecomrlve.agents.registry import players_of
from ecomrlve.environment import Environment
from ecomrlve.evaluation.grid import Cell
from ecomrlve.evaluation.rollouts import play_cells

MEGABYTE = 2**20


def test_it_is_small_and_plays_without_a_network():
    files = list(learned.FOLDER.iterdir())
    assert sum(path.stat().st_size for path in files) < 20 * MEGABYTE
    names = {path.name for path in files}
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= names


def test_it_fills_most_easy_carts(words_engine: Any):
    """The first thirty held seeds at d = 0; the document has the figures of all."""
    cells = [Cell("learned", learned.ENV_ID, 0, "{}", seed, 0) for seed in range(30)]
    played = list(play_cells(words_engine, cells))
    assert len(played) == 30
    assert sum(one.correct for one in played) >= 20
    assert all(json.loads(one.line)["player"]["name"] == "learned" for one in played)


def test_it_says_so_where_its_files_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(learned, "FOLDER", tmp_path / "learned")
    assert not learned.is_here()
    with pytest.raises(AgentNameError, match="repository"):
        players_of("learned")


def test_an_environment_it_never_saw_ends_it_without_an_error(words_engine: Any):
    env = Environment(("E_STATUS",), words_engine)
    observation, _ = env.reset(seed=1)
    players = players_of("learned")
    player = players.player()
    player.reset(env)
    over = False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(players.act([player], [observation])[0])
        over = terminated or truncated
    assert -1 <= reward <= 1


def test_the_document_tells_of_it():
    text = (Path(__file__).resolve().parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    assert re.search(r"`learned`", text)
