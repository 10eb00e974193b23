"""The models of a run: where they come from, how they are loaded for training, and how they are saved."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecomrlve import __version__
from ecomrlve.agents.checkpoint_chats import CheckpointError, cannot_load
from ecomrlve.agents.tiny_model import TINY, build, default_folder
from ecomrlve.catalog.index import cache_folder
from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.run_folder import RunFolder

TINY_QWEN, SMALL = "tiny", "small"


def starting_model(config: TrainingConfig) -> str | None:
    """Where the model lies that training begins with; None for the small one, which is made of the demonstrations."""
    if config.model == TINY_QWEN:
        return str(build(cache_folder() / f"tiny-qwen3-{__version__}", hidden=128, layers=3))
    if config.model == TINY:
        return str(build(default_folder()))
    return None if config.model == SMALL else os.path.expanduser(config.model)


def small_model(folder: RunFolder, chats: Sequence[Sequence[dict[str, Any]]]) -> str:
    """The small model, whose tokenizer learns its vocabulary from what will be shown; built once for a run.

    Args:
        folder: The run's.
        chats: The messages of each demonstration.
    """
    from ecomrlve.training.small_chat import chat_texts
    from ecomrlve.training.small_model import build_small_model

    place = folder.start_model
    if not place.exists():
        draft = place.with_name(f".{place.name}-{os.getpid()}")
        build_small_model(draft, chat_texts(chats))
        try:
            os.rename(draft, place)
        except OSError:  # another process of this run was quicker, and built the same
            shutil.rmtree(draft)
    return str(place)


def load_for_training(where: str, config: TrainingConfig) -> tuple[Any, Any]:
    """A model and its tokenizer.

    All weights are float32 where they are trained: an update of 1e-5 is lost between two neighbours of bfloat16.

    Raises:
        CheckpointError: They cannot be loaded.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    kind = torch.bfloat16 if config.lora_rank and config.precision == "bfloat16" else torch.float32
    try:
        tokenizer = AutoTokenizer.from_pretrained(where)
        if not tokenizer.chat_template:
            raise CheckpointError("it has no chat template; take a model that was made for chats (often “Instruct”)")
        return AutoModelForCausalLM.from_pretrained(where, dtype=kind), tokenizer
    except Exception as error:  # no network, too little memory, a broken file …
        raise cannot_load(where, error) from error


def has_device() -> bool:
    """Whether there is something quicker than a CPU to train on."""
    import torch

    return torch.cuda.is_available()


def adapters_of(config: TrainingConfig) -> Any:
    """Settings of the adapters that are trained; None where all weights are."""
    if not config.lora_rank:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=config.lora_rank, lora_alpha=2 * config.lora_rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )


def save_whole(trainer: Any, folder: Path) -> None:
    """Save a trainer's model, with its adapters merged in, and its tokenizer; whole or not at all.

    Args:
        trainer: One of TRL's; all its processes call this.
        folder: Where to.
    """
    from accelerate.utils import is_peft_model

    draft = folder.with_name(f".{folder.name}")
    first = trainer.accelerator.is_main_process
    model = trainer.accelerator.unwrap_model(trainer.model)
    if is_peft_model(model):
        if first:
            model.merge_and_unload().save_pretrained(draft)
            trainer.processing_class.save_pretrained(draft)
    else:
        trainer.save_model(str(draft))
    trainer.accelerator.wait_for_everyone()
    if first:
        (draft / "training_args.bin").unlink(missing_ok=True)
        draft.rename(folder)
    trainer.accelerator.wait_for_everyone()
