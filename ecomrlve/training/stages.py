"""The two stages of a run, each of which goes on where it was killed and does nothing where it is done."""

from __future__ import annotations

import sys
from pathlib import Path

from tqdm import tqdm

from ecomrlve.agents.registry import make_agent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.dapo import DapoTrainer, arguments_of
from ecomrlve.training.metrics import SftMetrics
from ecomrlve.training.models import adapters_of, has_device, load_for_training, save_whole, small_model
from ecomrlve.training.run_folder import RunFolder
from ecomrlve.training.sft import SftSettings, run_sft
from ecomrlve.training.sft_data import Chat, beginning, teacher_chats, tokens_of


def fine_tune(
    config: TrainingConfig, folder: RunFolder, engine: SearchEngine, start: str | None, rank: int, processes: int
) -> Path:
    """Supervised fine-tuning on a teacher's successes.

    Args:
        config: The run's settings.
        folder: The run's.
        engine: The engine with the catalog.
        start: The model to begin with; None for the small one.
        rank: Number of this process.
        processes: How many there are.

    Returns:
        The folder of the model.
    """
    if (folder.sft_model / "config.json").exists():
        return folder.sft_model
    chats = _demonstrations(config, engine, quiet=bool(rank))
    start = start or small_model(folder, [chat.messages for chat in chats])
    model, tokenizer = load_for_training(start, config)
    rows = list(tokens_of(chats, tokenizer, config.sft_tokens))
    trainer = run_sft(
        _settings(config),
        model,
        tokenizer,
        [*rows, *map(beginning, rows)] if config.sft_openings else rows,
        folder.checkpoint_folder("sft"),
        resume=folder.last_checkpoint("sft"),
        processes=processes,
        on_cpu=not has_device(),
        on_step=lambda line: folder.append_metrics(SftMetrics(**line)),
        on_saved=folder.mark_complete,
    )
    save_whole(trainer, folder.sft_model)
    trainer.accelerator.free_memory()  # DAPO needs it for a model of its own
    return folder.sft_model


def reinforce(config: TrainingConfig, folder: RunFolder, engine: SearchEngine, start: str, processes: int) -> Path:
    """DAPO.

    Args:
        config: The run's settings.
        folder: The run's.
        engine: The engine with the catalog.
        start: The model to begin with.
        processes: How many train together.

    Returns:
        The folder of the model.
    """
    if (folder.final_model / "config.json").exists():
        return folder.final_model
    model, tokenizer = load_for_training(start, config)
    arguments = arguments_of(config, folder, processes, on_cpu=not has_device())
    trainer = DapoTrainer(config, folder, engine, model, tokenizer, arguments, adapters_of(config))
    trainer.train_on(folder.last_checkpoint("dapo"))
    save_whole(trainer, folder.final_model)
    return folder.final_model


def _demonstrations(config: TrainingConfig, engine: SearchEngine, *, quiet: bool) -> list[Chat]:
    """The teacher's successes; every process plays the same."""
    teacher = make_agent(config.sft_teacher)
    wanted = config.sft_episodes
    shown = teacher_chats(engine, teacher, config.env_ids, range(config.sft_high + 1), wanted)
    with tqdm(shown, "demonstrations", wanted, leave=False, disable=quiet or not sys.stderr.isatty()) as bar:
        return list(bar)


def _settings(config: TrainingConfig) -> SftSettings:
    return SftSettings(
        steps=config.sft_steps,
        batch=config.sft_batch,
        micro_batch=config.sft_micro_batch,
        learning_rate=config.sft_learning_rate,
        warmup_steps=config.sft_warmup_steps,
        schedule=config.sft_schedule,
        weight_decay=config.weight_decay,
        adam_beta2=config.adam_beta2,
        gradient_norm=config.gradient_norm,
        bfloat16=config.precision == "bfloat16",
        gradient_checkpointing=config.gradient_checkpointing,
        seed=config.seed,
        save_every=config.save_every,
        keep_checkpoints=config.keep_checkpoints,
    )
