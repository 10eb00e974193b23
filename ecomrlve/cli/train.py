"""The command `train`: a preset, changed where one likes, becomes a run in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from ecomrlve.cli.options import CatalogOption, WordsOption, console, given_command

if TYPE_CHECKING:
    from ecomrlve.training.config import TrainingConfig


def train(
    preset: Annotated[str, typer.Option(help="where the settings come from; --presets lists them")] = "",
    out: Annotated[Path | None, typer.Option(help="the run's folder")] = None,
    stage: Annotated[
        Literal["sft", "dapo", "all"], typer.Option(help="fine-tuning on demonstrations, DAPO, or one after the other")
    ] = "all",
    model: Annotated[str, typer.Option(help="another model than the preset's: a folder or a Hub id")] = "",
    change: Annotated[list[str] | None, typer.Option("--set", help="a setting, as name=value; again and again")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on with the run in the folder, if there is one")] = False,
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    presets: Annotated[bool, typer.Option("--presets", help="list the presets and stop")] = False,
    settings: Annotated[
        bool, typer.Option("--settings", help="list the settings, with --preset its values, and stop")
    ] = False,
) -> None:
    """Train a model by DAPO, after supervised fine-tuning if the preset has it; again with --resume after a kill."""
    from ecomrlve.evaluation.pool import engine_of
    from ecomrlve.training.config import TrainingConfig, changes_of
    from ecomrlve.training.presets import preset as preset_of

    if presets:
        _list_presets()
        return
    changes: dict[str, Any] = changes_of(change or ()) | ({"model": model} if model else {})
    config = preset_of(preset).changed(changes) if preset else None
    if settings:
        _list_settings(config, TrainingConfig)
        return
    if config is None or out is None:
        raise typer.BadParameter("name a --preset and a folder for the run, --out; --presets lists the presets")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # it warns of rollout_func, which is what we use
    from ecomrlve.training.run import Plan, processes, run
    from ecomrlve.training.run_folder import RunFolder

    first = processes()[0] == 0
    if first:
        console.print(f"preset {preset}, into {out}", highlight=False)
        _list_settings(config, TrainingConfig)
    engine = engine_of(catalog, words_only=words_only, progress=first)
    plan = Plan(config, preset, stage, RunFolder(out), resume, given_command())
    last = run(plan, engine)
    if first:
        console.print(
            f"done: the model is in {last}\n  ecomrlve report {out}\n  ecomrlve evaluate --agent checkpoint:{last} …",
            highlight=False,
            markup=False,
        )


def _list_presets() -> None:
    from ecomrlve.training.presets import PRESETS
    from ecomrlve.training.presets import preset as preset_of

    table = Table("preset", "model", "environments", "groups × rollouts", "updates", "fine-tuning")
    for name in PRESETS:
        one = preset_of(name)
        batch = f"{one.prompts_per_batch} × {one.group_size}"
        table.add_row(name, one.model, one.envs, batch, str(one.steps), str(one.sft_steps or "none"))
    console.print(table)


def _list_settings(config: TrainingConfig | None, kind: type[TrainingConfig]) -> None:
    """Every setting with its value; what a preset or the command changed is in bold."""
    table = Table("setting", "value", "what it is")
    for name, field in kind.model_fields.items():
        usual = "" if field.is_required() else field.default
        value = getattr(config, name) if config else usual
        shown = ", ".join(f"{axis}={held:g}" for axis, held in value.items()) if isinstance(value, dict) else str(value)
        table.add_row(name, f"[bold]{shown}[/bold]" if config and value != usual else shown, field.description)
    console.print(table)
