"""The tiny model that is built on the spot."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.agents import tiny_model
from ecomrlve.agents.tiny_model import MARKERS, TinyModelError, build, default_folder
from ecomrlve.catalog.index import cache_folder


@pytest.fixture
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer is trained in no time."""

    def texts() -> Iterator[str]:
        yield from ("Which lamp would you like? " * 3, '{"name": "cart_view", "arguments": {}}')

    monkeypatch.setattr(tiny_model, "_texts", texts)


def test_it_is_loaded_as_any_checkpoint_is():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = build(default_folder())
    assert folder.is_relative_to(cache_folder())
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    assert type(model).__name__ == "Qwen3ForCausalLM"
    assert sum(weights.numel() for weights in model.parameters()) < 1_000_000
    assert len(tokenizer) == model.config.vocab_size == 2048
    assert tokenizer.model_max_length == model.config.max_position_embeddings == 8192
    assert tokenizer.convert_ids_to_tokens(model.generation_config.eos_token_id) == ["<|im_end|>", "<|endoftext|>"]
    for marker in (*MARKERS, "<|im_start|>", "<|im_end|>"):
        assert len(tokenizer(marker)["input_ids"]) == 1, marker
    kept = "<tool_call>\nUn café, <think>œuf</think>?\n</tool_call>"
    tokens = tokenizer(f"{kept}<|im_end|>")["input_ids"]
    assert tokenizer.decode(tokens, skip_special_tokens=True) == kept


def test_what_is_there_is_kept():
    folder = build(default_folder())
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert build(folder) == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(f".{folder.name}")] == []


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path, few_texts: None):
    one, two = (build(tmp_path / name, vocabulary=400) for name in ("one", "two"))
    assert sorted(path.name for path in one.iterdir()) == sorted(path.name for path in two.iterdir())
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes(), path.name
    other = build(tmp_path / "other", vocabulary=400, seed=1)
    assert (other / "model.safetensors").read_bytes() != (one / "model.safetensors").read_bytes()
    assert (other / "tokenizer.json").read_bytes() == (one / "tokenizer.json").read_bytes()


def test_building_leaves_the_random_state_of_torch_alone(tmp_path: Path, few_texts: None):
    import torch

    before = torch.random.get_rng_state()
    build(tmp_path / "model", vocabulary=400)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_its_size_is_as_asked_for(tmp_path: Path, few_texts: None):
    folder = build(tmp_path / "model", hidden=32, layers=1, vocabulary=300)
    config = json.loads((folder / "config.json").read_text())
    found = (config["hidden_size"], config["num_hidden_layers"], config["vocab_size"])
    assert found == (32, 1, 300)


@pytest.mark.parametrize("sizes", [{"hidden": 0}, {"hidden": 48}, {"layers": 0}, {"vocabulary": 299}])
def test_a_size_out_of_range_is_refused(tmp_path: Path, sizes: dict[str, int]):
    with pytest.raises(TinyModelError, match="multiple of 32"):
        build(tmp_path / "model", **sizes)
    assert list(tmp_path.iterdir()) == []


def test_another_model_is_not_taken_for_it_nor_overwritten(tmp_path: Path, few_texts: None):
    folder = build(tmp_path / "model", vocabulary=400)
    with pytest.raises(TinyModelError, match="holds something else"):
        build(folder, vocabulary=400, seed=1)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    with pytest.raises(TinyModelError, match="holds something else"):
        build(tmp_path / "mine", vocabulary=400)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "precious"


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, few_texts: None, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tiny_model, "_model", fails)
    with pytest.raises(MemoryError):
        build(tmp_path / "model", vocabulary=400)
    assert list(tmp_path.iterdir()) == []


def test_whoever_is_slower_takes_what_the_quicker_built(
    tmp_path: Path, few_texts: None, monkeypatch: pytest.MonkeyPatch
):
    real = tiny_model._model

    def meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(tiny_model, "_model", real)
        build(tmp_path / "model", vocabulary=400)
        return real(*arguments)

    monkeypatch.setattr(tiny_model, "_model", meanwhile)
    assert build(tmp_path / "model", vocabulary=400) == tmp_path / "model"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_without_trl_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TinyModelError, match=r"pip install 'ecomrlve\[train\]'"):
        build(tmp_path / "model")
