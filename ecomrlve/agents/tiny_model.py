"""A tiny Qwen3 with random weights and a tokenizer of its own, built on the spot.

It has learnt nothing and plays badly. What it is for: to run everything that a real checkpoint runs through, on any
machine, without a network.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ecomrlve import __version__
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.index import cache_folder
from ecomrlve.collections import TASKS
from ecomrlve.environment import Environment
from ecomrlve.errors import EcomrlveError
from ecomrlve.prompts import DIALECTS

TINY = "tiny-random"
TEMPLATE = "qwen3.jinja"
CONTEXT = 8192
RECIPE = "recipe.json"
LONGEST_TEXT = 4000  # characters of one text that the tokenizer learns from: long results repeat themselves
PAD, END = "<|endoftext|>", "<|im_end|>"
# As in Qwen3: the first group never stands in an answer, the second does.
SPECIAL = (PAD, "<|im_start|>", END)
MARKERS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")


class TinyModelError(EcomrlveError, RuntimeError):
    """The tiny model cannot be built here."""


def default_folder() -> Path:
    """Where the tiny model of this version lies, once it is built."""
    return cache_folder() / f"{TINY}-{__version__}"


def build(folder: str | Path, *, hidden: int = 64, layers: int = 2, seed: int = 0, vocabulary: int = 2048) -> Path:
    """Build the model, its tokenizer and its chat template; what is there already is kept.

    Args:
        folder: Where to; it appears whole or not at all.
        hidden: Size of the hidden state, a multiple of 32.
        layers: How many.
        seed: Of the weights; the same arguments give the same weights.
        vocabulary: Most tokens, all included; at least 300.

    Returns:
        The folder.

    Raises:
        TinyModelError: A size is out of range, the ``train`` extra is missing, or the folder holds something else.
    """
    if vocabulary < 300 or layers < 1 or hidden < 32 or hidden % 32:
        raise TinyModelError("a tiny model has 300 tokens, a layer, and a hidden state of a multiple of 32 at least")
    folder = Path(folder)
    recipe = {"hidden": hidden, "layers": layers, "seed": seed, "vocabulary": vocabulary, "version": __version__}
    if _built(folder, recipe):
        return folder
    template = _chat_template()
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        tokenizer = _tokenizer(vocabulary, template)
        tokenizer.save_pretrained(draft)
        _model(tokenizer, hidden, layers, seed).save_pretrained(draft)
        (draft / RECIPE).write_text(json.dumps(recipe), encoding="utf-8")
        for path in (draft, *draft.iterdir()):  # temporary files are private; a cache may be shared
            path.chmod(0o755 if path.is_dir() else 0o644)
        os.rename(draft, folder)
    except OSError:
        # Another process was quicker.
        if not _built(folder, recipe):
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _built(folder: Path, recipe: dict[str, Any]) -> bool:
    """Whether this very model is there."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    try:
        found = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if found != recipe:
        raise TinyModelError(f"{folder} holds something else than this tiny model; remove it or take another folder")
    return True


def _chat_template() -> str:
    """Qwen3's template, which TRL ships; only read, for importing TRL takes seconds."""
    found = importlib.util.find_spec("trl")
    if found is None or found.origin is None:
        raise TinyModelError("the tiny model's chat template comes with TRL: pip install 'ecomrlve[train]'")
    return (Path(found.origin).parent / "chat_templates" / TEMPLATE).read_text(encoding="utf-8")


def _tokenizer(vocabulary: int, template: str) -> Any:
    try:
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise TinyModelError(f"{error}: pip install 'ecomrlve[train]'") from error
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(MARKERS),
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    trained.train_from_iterator((text[:LONGEST_TEXT] for text in _texts()), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained, eos_token=END, pad_token=PAD, padding_side="left", model_max_length=CONTEXT
    )
    tokenizer.add_tokens(list(MARKERS))
    tokenizer.chat_template = template
    return tokenizer


def _texts() -> Iterator[str]:
    """What shopping sounds like: prompts, schemas, and episodes of the reference agent, two of each environment."""
    from ecomrlve.catalog.search import SearchEngine
    from ecomrlve.catalog.synthetic import generate

    engine = SearchEngine(generate())
    for env_id in TASKS:
        env = Environment((env_id,), engine)
        for difficulty in (0, 12):
            observation, _ = env.reset(seed=0, options={"difficulty": difficulty})
            agent = ReferenceAgent()
            agent.reset(env)
            yield from (env.system_prompt(dialect) for dialect in DIALECTS)
            yield json.dumps(observation.tools)
            over = False
            while not over:
                yield from (message["content"] for message in observation.as_chat())
                action = agent.act(observation)
                yield json.dumps(action, ensure_ascii=False)
                observation, _, terminated, truncated, _ = env.step(action)
                over = terminated or truncated


def _model(tokenizer: Any, hidden: int, layers: int, seed: int) -> Any:
    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 16,
        num_key_value_heads=hidden // 32,
        head_dim=16,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,  # tied and without training, the likeliest token is always the last one again
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    ends = [tokenizer.eos_token_id, tokenizer.pad_token_id]
    model.generation_config = GenerationConfig(eos_token_id=ends, pad_token_id=tokenizer.pad_token_id)
    return model
