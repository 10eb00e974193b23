"""A training run from its settings to its last model: supervised fine-tuning, then DAPO, each going on after a kill."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from ecomrlve import __version__
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import EcomrlveError
from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.models import SMALL, starting_model
from ecomrlve.training.run_folder import RunFolder, RunRecord
from ecomrlve.trajectory import described

StageChoice = Literal["sft", "dapo", "all"]
LIBRARIES = ("torch", "transformers", "trl", "accelerate", "peft", "datasets", "vllm")


class TrainingError(EcomrlveError, RuntimeError):
    """A run that cannot begin or go on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run.

    Attributes:
        config: The settings.
        preset: The preset they were made from.
        stage: One stage, or all that the settings have.
        folder: Where the run lives.
        resume: Go on with the run that is there.
        command: The command that started it.
    """

    config: TrainingConfig
    preset: str
    stage: StageChoice
    folder: RunFolder
    resume: bool = False
    command: str = ""


def processes() -> tuple[int, int]:
    """This process's rank and how many train together, as torchrun and accelerate tell it."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def run(plan: Plan, engine: SearchEngine) -> Path:
    """Train, and save the model.

    Args:
        plan: What is to be run.
        engine: The engine with the catalog.

    Returns:
        The folder of the last model; it plays as ``checkpoint:FOLDER``.

    Raises:
        TrainingConfigError: A batch cannot be dealt out evenly over the processes.
        RunFolderError: The folder holds something else, or cannot be written.
        CheckpointError: The model cannot be loaded, or cannot be trained.
        TrainingError: The settings leave nothing to do.
    """
    config, folder = plan.config, plan.folder
    rank, count = processes()
    fine_tuning = plan.stage in ("sft", "all") and config.sft_steps > 0
    reinforcing = plan.stage in ("dapo", "all") and config.steps > 0
    if not (fine_tuning or reinforcing):
        raise TrainingError("there is nothing to do: set steps or sft_steps above 0, or choose another stage")
    if reinforcing:
        config.accumulation(count)
    if config.model == SMALL and not fine_tuning:
        raise TrainingError("the small model is made of demonstrations: fine-tune it, or name the folder of one")
    if not rank:
        folder.create(_record(plan, engine, count), plan.resume)
    from ecomrlve.training.stages import fine_tune, reinforce  # TRL takes seconds to import

    last = starting_model(config)
    if fine_tuning:
        last = str(fine_tune(config, folder, engine, last, rank, count))
    if reinforcing and last is not None:
        last = str(reinforce(config, folder, engine, last, count))
    return Path(last or "")


def _record(plan: Plan, engine: SearchEngine, count: int) -> RunRecord:
    return RunRecord(
        name=plan.folder.path.name,
        preset=plan.preset,
        stage=plan.stage,
        config=plan.config.model_dump(mode="json"),
        engine=__version__,
        catalog=dict(described(engine)),
        libraries={name: found for name in LIBRARIES if (found := _version(name))},
        command=plan.command,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        processes=count,
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
