"""A small model that has learnt nothing but to copy, for learning one environment on a CPU within hours.

Everything about it makes copying easy, which is most of what a shopping agent does: its tokenizer (`small_tokenizer`),
its chats (`small_chat`), its kind, LFM2, whose short convolutions tell each token of the few before it, and its first
weights (`small_induction`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.errors import EcomrlveError
from ecomrlve.training.small_chat import TEMPLATE
from ecomrlve.training.small_induction import set_to_copy
from ecomrlve.training.small_tokenizer import END, PAD, SPECIAL, UNKNOWN, make_tokenizer

Layer = Literal["conv", "full_attention"]


class SmallModelError(EcomrlveError, RuntimeError):
    """The small model cannot be built here."""


class SmallModelConfig(BaseModel):
    """Sizes of a small model.

    Attributes:
        hidden: Size of the hidden state.
        layers: The kinds of the layers, from the input on; the first two are a convolution and attention.
        heads: Heads of an attention layer.
        feed_forward: Size of the layers between them.
        window: Tokens that a convolution spans.
        rope_theta: Base of the rotary positions; large, so that what is looked for looks the same everywhere.
        context: Most tokens of a chat.
        vocabulary: Most tokens of the tokenizer.
        seed: Of the weights.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hidden: int = Field(default=128, ge=64, multiple_of=16)
    layers: tuple[Layer, ...] = Field(default=("conv", "full_attention", "conv", "full_attention"), min_length=2)
    heads: int = Field(default=4, ge=1)
    feed_forward: int = Field(default=384, ge=32)
    window: int = Field(default=4, ge=3)
    rope_theta: float = Field(default=1e8, gt=1)
    context: int = Field(default=2048, ge=64)
    vocabulary: int = Field(default=7200, ge=2000)
    seed: int = 0


def build_small_model(folder: str | Path, texts: Iterable[str], config: SmallModelConfig | None = None) -> Path:
    """Build the model and its tokenizer with its chat template, ready for training.

    Args:
        folder: Where to.
        texts: What the tokenizer learns its vocabulary from: chats as text (see `small_chat.chat_texts`).
        config: The sizes.

    Returns:
        The folder.

    Raises:
        SmallModelError: The ``train`` extra is missing, or the sizes do not fit together.
    """
    config = config or SmallModelConfig()
    tokenizer = small_tokenizer(texts, config)
    folder = Path(folder)
    tokenizer.save_pretrained(folder)
    small_model(tokenizer, config).save_pretrained(folder)
    return folder


def small_tokenizer(texts: Iterable[str], config: SmallModelConfig) -> Any:
    """The tokenizer, as transformers takes it.

    Raises:
        SmallModelError: The ``train`` extra is missing.
    """
    try:
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise SmallModelError(f"{error}: pip install 'ecomrlve[train]'") from error
    return PreTrainedTokenizerFast(
        tokenizer_object=make_tokenizer(texts, vocabulary=config.vocabulary),
        eos_token=END,
        pad_token=PAD,
        unk_token=UNKNOWN,
        additional_special_tokens=[token for token in SPECIAL if token not in (END, PAD, UNKNOWN)],
        padding_side="left",
        model_max_length=config.context,
        clean_up_tokenization_spaces=False,
        chat_template=TEMPLATE,
    )


def small_model(tokenizer: Any, config: SmallModelConfig) -> Any:
    """The model with its first weights; the same arguments give the same weights.

    Raises:
        SmallModelError: The sizes do not fit together, or the first two layers are others.
    """
    import torch
    from transformers import GenerationConfig, Lfm2Config, Lfm2ForCausalLM

    if config.hidden % (8 * config.heads):
        raise SmallModelError(f"a hidden state of {config.hidden} cannot be shared by {config.heads} heads")
    if config.layers[:2] != ("conv", "full_attention"):
        raise SmallModelError("a small model begins with a convolution and attention, which together copy")
    architecture = Lfm2Config(
        vocab_size=len(tokenizer),
        hidden_size=config.hidden,
        intermediate_size=config.feed_forward,
        num_hidden_layers=len(config.layers),
        num_attention_heads=config.heads,
        num_key_value_heads=config.heads,
        max_position_embeddings=config.context,
        layer_types=list(config.layers),
        conv_L_cache=config.window,
        conv_bias=True,
        block_auto_adjust_ff_dim=False,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = Lfm2ForCausalLM(architecture)
    set_to_copy(model, config.seed)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None
    )
    return model
