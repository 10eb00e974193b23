"""The command `demonstrations`: trajectories become a dataset for supervised fine-tuning."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from ecomrlve.cli.options import CatalogOption, WordsOption, by_words, complaints, console, given_command, seeds_in
from ecomrlve.cli.options import numbers as numbers_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecomrlve.catalog.search import SearchEngine
    from ecomrlve.training.demonstrations import Export, Source

Grid = tuple[tuple[str, ...], list[int], list[int]]


def demonstrations(
    out: Annotated[Path, typer.Option(help="the dataset's folder")],
    runs: Annotated[list[Path] | None, typer.Argument(help="JSONL files of trajectories, or folders of them")] = None,
    only: Annotated[
        Literal["correct", "answered"], typer.Option(help="successes, or whatever answer was accepted")
    ] = "correct",
    min_total: Annotated[float, typer.Option(help="least reward", min=-1, max=1)] = 0.0,
    agent: Annotated[str, typer.Option(help="only what this agent played")] = "",
    talk: Annotated[
        Literal["ask_user", "text"], typer.Option(help="the agent talks by calls of ask_user, or in plain text")
    ] = "ask_user",
    test_share: Annotated[float, typer.Option(help="share of the seeds that are the test split", min=0, max=1)] = 0.1,
    per_cell: Annotated[int | None, typer.Option(help="most rows per (environment, d)", min=1)] = None,
    max_characters: Annotated[int | None, typer.Option(help="leave out longer chats", min=1)] = None,
    allow_held: Annotated[bool, typer.Option("--allow-held", help="take seeds that are for measuring, too")] = False,
    play: Annotated[str, typer.Option(help="no files: let this agent play now")] = "",
    envs: Annotated[str, typer.Option(help="with --play: environments or a collection, comma-separated")] = "C8",
    difficulty: Annotated[str, typer.Option(help="with --play: values of d: 0:13 or 0,3,6")] = "0:13",
    seeds: Annotated[str, typer.Option(help="with --play: seeds per (environment, d)")] = "20000:20100",
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace an earlier export")] = False,
    push_to_hub: Annotated[str, typer.Option(help="also put it on the Hub, as dataset OWNER/NAME")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar")] = False,
) -> None:
    """Make a dataset of chats from trajectories, for supervised fine-tuning with TRL: executed again, split by seed."""
    from tqdm import tqdm

    from ecomrlve.evaluation.pool import engine_of
    from ecomrlve.training.demonstrations import Choice, export, stored
    from ecomrlve.training.demonstrations_files import push

    if bool(runs) == bool(play):
        raise typer.BadParameter("name files or folders of trajectories, or --play AGENT; one of the two")
    choice = Choice(only, min_total, agent, per_cell, max_characters, talk, test_share, allow_held)
    grid = _grid(envs, difficulty, seeds, allow_held) if play else None
    engine = engine_of(catalog, words_only=by_words(runs or [], words_only), progress=not quiet)
    sources = _played(engine, play, grid) if grid else stored(runs or ())
    total = len(grid[0]) * len(grid[1]) * len(grid[2]) if grid else None
    with tqdm(sources, "demonstrations", total, leave=False, disable=quiet or not sys.stderr.isatty()) as bar:
        made = export(bar, engine, out, choice, command=given_command(), overwrite=overwrite)
    _show(made)
    if push_to_hub:
        console.print(f"pushed to {push(out, push_to_hub)}", highlight=False)


def _grid(envs: str, difficulty: str, seeds: str, allow_held: bool) -> Grid:
    """Environments, values of d and seeds, all of them checked before anything is played."""
    from ecomrlve.collections import resolve
    from ecomrlve.difficulty import check_difficulty
    from ecomrlve.training.demonstrations import refuse_held

    chosen = seeds_in(seeds)
    if not allow_held:
        refuse_held(chosen)
    return resolve(envs), [check_difficulty(d) for d in numbers_in(difficulty)], chosen


def _played(engine: SearchEngine, name: str, grid: Grid) -> Iterator[Source]:
    from ecomrlve.agents.registry import make_agent
    from ecomrlve.training.demonstrations import played

    return played(engine, make_agent(name), *grid)


def _show(made: Export) -> None:
    """What was exported, and what was left out, with an example of each reason."""
    table = Table("environment", "rows", "train", "test", "correct", "mean turns")
    for env_id, one in sorted(made.tally.environments.items()):
        splits = [str(one.by_split[split]) for split in ("train", "test")]
        table.add_row(env_id, str(one.rows), *splits, f"{one.correct / one.rows:.1%}", f"{one.turns / one.rows:.2f}")
    console.print(table)
    for reason, count in made.tally.left_out.most_common():
        line = f"left out {count} like {made.tally.examples[reason]}"
        complaints.print(line, style="yellow", highlight=False, markup=False, soft_wrap=True)
    rows = made.tally.rows
    counts = ", ".join(f"{count} {split}" for split, count in rows.items())
    console.print(f"{sum(rows.values())} rows ({counts}), {made.size / 1e6:.1f} MB in {made.folder}", highlight=False)
