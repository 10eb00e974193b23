"""A language model of transformers, loaded with its tokenizer and its chat template: chats in, answers out."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.chat import THOUGHT
from ecomrlve.agents.checkpoint_chats import ChatTokenizer, cannot_load
from ecomrlve.agents.tiny_model import TINY, build, default_folder

# Gets the length of the prompts; gives what makes the next tokens' scores (rows × tokens) those of the choice alone.
Chooser = Callable[[int], Callable[[Any, Any], Any]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model put out.

    Attributes:
        text: The text with markers such as ``<tool_call>``, but without the token that ends it. A thought that the
            chat template has begun in the prompt begins here.
        tokens: Tokens made, with the one that ends it.
        cut_off: It was not finished when it had as many tokens as it may have.
    """

    text: str
    tokens: int
    cut_off: bool


class Checkpoint:
    """A model that is ready to answer.

    Its own settings of generation (temperature, penalties …) are not used; only the tokens that end an answer are.

    Args:
        chats: Its tokenizer.
        model: A causal language model of transformers.
    """

    def __init__(self, chats: ChatTokenizer, model: Any):
        from transformers import GenerationConfig

        self.chats = chats
        self.model = model
        ends = model.generation_config.eos_token_id
        every = (*(ends if isinstance(ends, list) else [ends]), chats.tokenizer.eos_token_id)
        self.ends = sorted({token for token in every if token is not None})
        pad = chats.tokenizer.pad_token_id
        self.pad: int = pad if pad is not None else next(iter(self.ends), 0)
        model.generation_config = GenerationConfig(eos_token_id=self.ends or None, pad_token_id=self.pad)

    def generate(self, prompts: Sequence[list[int]], most: int, chooser: Chooser | None = None) -> list[Answer]:
        """The answers to some prompts.

        Args:
            prompts: Tokens of each, as `ChatTokenizer.prompt` gives them.
            most: Most tokens of an answer.
            chooser: Chooses the tokens; without one it is always the likeliest.
        """
        import torch
        from transformers import GenerationConfig, LogitsProcessorList

        length = max(map(len, prompts))
        rows = [[self.pad] * (length - len(prompt)) + prompt for prompt in prompts]
        masks = [[0] * (length - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        with torch.inference_mode():
            tokens = self.model.generate(
                input_ids=torch.tensor(rows, device=self.model.device),
                attention_mask=torch.tensor(masks, device=self.model.device),
                generation_config=GenerationConfig(max_new_tokens=most, do_sample=False),
                logits_processor=LogitsProcessorList([chooser(length)] if chooser else []),
            )
        return [self._answer(prompt, row) for prompt, row in zip(prompts, tokens[:, length:].tolist(), strict=True)]

    def _answer(self, prompt: list[int], row: list[int]) -> Answer:
        end = next((number for number, token in enumerate(row) if token in self.ends), None)
        text = self.chats.text([token for token in row[:end] if token != self.pad])
        if self.chats.text(prompt[-8:]).rstrip().endswith(THOUGHT[0]):
            text = f"{THOUGHT[0]}\n{text}"
        return Answer(text, len(row) if end is None else end + 1, cut_off=end is None)


_loaded: weakref.WeakValueDictionary[tuple[str | None, ...], Checkpoint] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def load(checkpoint: str, *, revision: str | None = None, dtype: str = "auto", device: str | None = None) -> Checkpoint:
    """A checkpoint; it is loaded once, and shared for as long as anybody uses it.

    Args:
        checkpoint: A folder, a model's id on the Hub, or ``tiny-random``.
        revision: Branch, tag or commit on the Hub.
        dtype: ``auto`` (as stored), ``float32``, ``bfloat16`` or ``float16``.
        device: As torch names it; None for the best there is.

    Raises:
        CheckpointError: It cannot be loaded; the message says why and what to do.
    """
    with _lock:
        key = (checkpoint, revision, dtype, device)
        found = _loaded.get(key)
        if found is None:
            try:
                found = _loaded[key] = _load(checkpoint, revision, dtype, device)
            except Exception as error:  # no network, too little memory, an unknown device, a broken file …
                raise cannot_load(checkpoint, error) from error
        return found


def load_chats(checkpoint: str, revision: str | None = None) -> ChatTokenizer:
    """The tokenizer and the chat template of a checkpoint; its weights stay where they are.

    Args:
        checkpoint: As for `load`.
        revision: Branch, tag or commit on the Hub.

    Raises:
        CheckpointError: They cannot be loaded, or there is no template.
    """
    try:
        return _chats(*_place(checkpoint, revision))
    except Exception as error:  # as in `load`
        raise cannot_load(checkpoint, error) from error


def _load(checkpoint: str, revision: str | None, dtype: str, device: str | None) -> Checkpoint:
    import torch
    from transformers import AutoModelForCausalLM

    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    kind = dtype if dtype == "auto" else getattr(torch, dtype)
    where, kept = _place(checkpoint, revision)
    chats = _chats(where, kept)
    model: Any = AutoModelForCausalLM.from_pretrained(where, dtype=kind, **kept)
    return Checkpoint(chats, model.to(device or best))


def _place(checkpoint: str, revision: str | None) -> tuple[str, dict[str, Any]]:
    """What transformers is to load, and how."""
    where = str(build(default_folder())) if checkpoint == TINY else os.path.expanduser(checkpoint)
    return where, {} if revision is None else {"revision": revision}


def _chats(where: str, kept: dict[str, Any]) -> ChatTokenizer:
    from transformers import AutoConfig, AutoTokenizer

    return ChatTokenizer(AutoTokenizer.from_pretrained(where, **kept), AutoConfig.from_pretrained(where, **kept))
