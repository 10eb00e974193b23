"""docs/adapters.md is true: its examples run, and what it names is there."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

from ecomrlve.adapters import _episodes

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
TRL, SKYRL = DOCUMENT.split("\n## SkyRL\n")


def examples(text):
    """The Python of a section, in one: what stands further down uses what stands above."""
    return "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))


@pytest.fixture
def quick(words_engine, monkeypatch, tmp_path):
    """The default catalog is there already, searched by words, and files go to a folder that is thrown away."""
    monkeypatch.setitem(_episodes._engines, ("default", False), words_engine)
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("trl", "accelerate")), reason="TRL is not installed"
)
def test_the_examples_for_trl_run(quick, monkeypatch, capsys):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    names = {}
    exec(compile(examples(TRL), "adapters.md", "exec"), names)
    history = names["trainer"].state.log_history
    rewards = [entry["reward"] for entry in history if "reward" in entry]
    assert len(rewards) == 2
    assert all(-1 <= reward <= 1 for reward in rewards)
    assert all(math.isfinite(entry["loss"]) for entry in history if "loss" in entry)
    assert any("E_CART/reward" in entry or "E_SUB/reward" in entry for entry in history)
    assert f"{rewards}\nE_CART 0 20000\n" in capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("skyrl_gym") is None, reason="skyrl-gym is not installed")
def test_the_examples_for_skyrl_run(quick, tmp_path, capsys):
    from skyrl_gym.envs.registration import registry

    try:
        exec(compile(examples(SKYRL), "adapters.md", "exec"), {})
    finally:
        registry.pop("ecomrlve", None)
    assert "[turns left: 3]" in capsys.readouterr().out
    assert [path.name for path in sorted((tmp_path / "data" / "ecomrlve").iterdir())] == [
        "dev.parquet",
        "train.parquet",
    ]


def test_links_files_and_figures_are_right():
    for link in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", DOCUMENT):
        assert (ROOT / "docs" / link).exists(), link
    for path in re.findall(r"`(?:python )?((?:ecomrlve|tests|scripts|docs|examples)/[\w./-]*)`", DOCUMENT):
        assert (ROOT / path).exists(), path
    for key in re.findall(r"`(?:trainer|generator)\.[\w.]+", DOCUMENT):
        name = key.rpartition(".")[2]
        assert name in (ROOT / "examples" / "skyrl" / "dapo.yaml").read_text(encoding="utf-8"), key
