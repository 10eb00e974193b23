"""The commands that measure agents: `evaluate`, `report` and `leaderboard`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecomrlve.cli.options import (
    CatalogOption,
    WordsOption,
    by_words,
    complaints,
    console,
    given_command,
    numbers,
    seeds_in,
    tell,
)

if TYPE_CHECKING:
    from ecomrlve.training.run_folder import RunFolder

leaderboard_app = typer.Typer(no_args_is_help=True, help="Make, check and show lines of the leaderboard.")

RunsArgument = Annotated[list[Path], typer.Argument(help="folders of runs, or JSONL files")]
ReportedArgument = Annotated[
    list[Path], typer.Argument(help="folders of evaluations, or JSONL files; or the folder of one training run")
]
WorkersOption = Annotated[int, typer.Option(help="processes", min=1)]
CPUS = os.cpu_count() or 1


def evaluate(
    agent: Annotated[list[str], typer.Option(help="who plays; may be given several times: reference, scripted, random, "
        "checkpoint:ID_OR_FOLDER, endpoint:URL#MODEL, endpoint:MODEL, python:MODULE:NAME, cheat:NAME")],
    out: Annotated[Path, typer.Option(help="the run's folder; a killed run goes on there")],
    envs: Annotated[str, typer.Option(help="environments or a collection, comma-separated")] = "C8",
    difficulty: Annotated[str, typer.Option(help="values of d: 0:13 or 0,3,6,9,12")] = "0,3,6,9,12",
    seeds: Annotated[str, typer.Option(help="seeds per (environment, d): dev, test, test:50, or 0:20")] = "dev",
    trials: Annotated[int, typer.Option(help="repetitions of each episode", min=1)] = 1,
    override: Annotated[list[str] | None, typer.Option(help="an axis of its own, such as sellout=0")] = None,
    shard: Annotated[str, typer.Option(help="which part of the grid to play, such as 1/4")] = "1/1",
    launcher: Annotated[str, typer.Option(help="local, or ray for a Ray cluster (or Ray on this machine)")] = "local",
    again_failed: Annotated[
        bool, typer.Option("--again-failed", help="play those again in which a model gave no answer")
    ] = False,
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    workers: WorkersOption = CPUS,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bar and no table at the end")] = False,
) -> None:  # fmt: skip
    """Let agents play a grid of episodes, each on the same ones; what is finished is never played twice."""
    from ecomrlve.collections import resolve
    from ecomrlve.difficulty import check_difficulty
    from ecomrlve.evaluation.grid import Plan, Shard
    from ecomrlve.evaluation.pool import engine_of
    from ecomrlve.evaluation.runner import evaluate as run

    plan = Plan(
        agents=agent,
        env_ids=resolve(envs),
        difficulties=[check_difficulty(d) for d in numbers(difficulty)],
        seeds=seeds_in(seeds),
        trials=trials,
        overrides=_overrides(override or []),
        catalog=catalog,
        words_only=words_only,
    )
    part = Shard.parse(shard)
    engine = engine_of(catalog, words_only=words_only, progress=not quiet)
    try:
        outcome = run(
            plan,
            engine,
            out,
            shard=part,
            workers=workers,
            launcher=launcher,
            again_failed=again_failed,
            command=given_command(),
            progress=not quiet,
        )
    except KeyboardInterrupt:
        complaints.print(f"interrupted; what was finished is in {out}, the same command goes on from there")
        raise typer.Exit(130) from None
    if not quiet:
        _show_report([out], baseline=agent[0])
    console.print(f"{outcome.played:,} episodes played, {outcome.kept:,} were there; all in {out}", highlight=False)
    tell([f"{cell.env_id} d={cell.difficulty} seed={cell.seed}: {why}" for cell, why in outcome.problems])
    raise typer.Exit(1 if outcome.problems else 0)


def report(
    runs: ReportedArgument,
    out: Annotated[
        Path | None, typer.Option(help="folder for report.html, .json, .csv as well, and .md of an evaluation")
    ] = None,
    baseline: Annotated[str, typer.Option(help="the agent to compare the others with; empty: the first")] = "",
    recompute: Annotated[
        bool, typer.Option("--recompute", help="execute all actions again; exit 1 where a record differs")
    ] = False,
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    workers: WorkersOption = CPUS,
) -> None:
    """Show what runs came to, with intervals; several folders (shards, agents) are put together."""
    from ecomrlve.training.run_folder import RunFolder, is_training_run

    trained = [RunFolder(run) for run in runs if is_training_run(run)]
    if trained and len(runs) > 1:
        raise typer.BadParameter(f"{trained[0].path} is a training run; report on it alone")
    wrong = 0
    if recompute:
        from ecomrlve.evaluation.pool import engine_of
        from ecomrlve.evaluation.recompute import recompute as again

        episodes = [run.trajectories for run in trained] or runs
        found = again(episodes, engine_of(catalog, words_only=by_words(episodes, words_only)), workers=workers)
        tell([*found.wrong, *found.unreadable])
        wrong = len(found.wrong) + len(found.unreadable)
        console.print(
            f"{found.checked:,} trajectories executed again: {len(found.wrong)} differ; "
            f"{len(found.unreadable)} lines unreadable",
            highlight=False,
        )
    if trained:
        _show_training(trained[0], out)
    else:
        _show_report(runs, baseline=baseline, out=out)
    raise typer.Exit(1 if wrong else 0)


@leaderboard_app.command()
def entry(
    runs: RunsArgument,
    out: Annotated[Path, typer.Option(help="the leaderboard's file, added to")] = Path("leaderboard.jsonl"),
    agent: Annotated[str, typer.Option(help="whose episodes, where there are those of several")] = "",
) -> None:
    """Add the line of a run over a held split to a leaderboard."""
    from ecomrlve.evaluation.leaderboard import make_entry, read_entries, show

    made = make_entry(runs, agent)
    others = read_entries(out) if out.exists() else []
    if any(other.actions == made.actions and other.agent == made.agent for other in others):
        console.print(f"{out} has this line already", highlight=False)
        return
    with out.open("a", encoding="utf-8") as file:
        file.write(made.to_json() + "\n")
    show([made], console)


@leaderboard_app.command()
def check(
    runs: RunsArgument,
    file: Annotated[Path, typer.Option(help="the leaderboard's file")] = Path("leaderboard.jsonl"),
    agent: Annotated[str, typer.Option(help="whose line, where there are several")] = "",
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    workers: WorkersOption = CPUS,
) -> None:
    """Compute a line again from the actions in its trajectories; exit 1 where anything differs."""
    from ecomrlve.evaluation.grid import EvaluationError
    from ecomrlve.evaluation.leaderboard import check_entry, read_entries
    from ecomrlve.evaluation.pool import engine_of

    entries = [one for one in read_entries(file) if not agent or one.agent == agent]
    if len(entries) != 1:
        raise EvaluationError(f"{file} has {len(entries)} lines of {agent or 'any agent'}; name the agent of one")
    engine = engine_of(catalog, words_only=by_words(runs, words_only))
    problems = check_entry(entries[0], runs, engine, workers=workers)
    tell(problems)
    if not problems:
        episodes = entries[0].score.episodes
        console.print(f"{entries[0].agent}: {episodes:,} episodes executed again, every figure is as claimed")
    raise typer.Exit(1 if problems else 0)


@leaderboard_app.command(name="show")
def show_leaderboard(
    file: Annotated[Path, typer.Argument(help="the leaderboard's file")] = Path("leaderboard.jsonl"),
) -> None:
    """Show a leaderboard."""
    from ecomrlve.evaluation.leaderboard import read_entries, show

    show(read_entries(file), console)


def _show_report(runs: list[Path], *, baseline: str = "", out: Path | None = None) -> None:
    from ecomrlve.evaluation.grid import EvaluationError
    from ecomrlve.evaluation.report import build
    from ecomrlve.evaluation.report_pages import show, write
    from ecomrlve.evaluation.rows import read_rows
    from ecomrlve.evaluation.runner import commands_of

    rows = read_rows(runs)
    if not rows.rows:
        tell(list(rows.problems))
        raise EvaluationError(f"there are no episodes in {', '.join(map(str, runs))}")
    made = build(rows, baseline=baseline or None, commands=commands_of(runs))
    show(made, console)
    tell(list(rows.problems))
    if out is not None:
        for file in write(made, rows, out).values():
            console.print(str(file), highlight=False)


def _show_training(run: RunFolder, out: Path | None) -> None:
    from ecomrlve.evaluation.training_report import build
    from ecomrlve.evaluation.training_report_pages import show, write

    (lines, torn), (log, torn_log) = run.metrics(), run.curriculum()
    problems = [*torn, *torn_log]
    made = build(run.record().model_dump(), [line.model_dump() for line in lines], log, problems, finished=run.finished)
    show(made, console)
    tell(problems)
    if out is not None:
        for file in write(made, out).values():
            console.print(str(file), highlight=False)


def _overrides(pairs: list[str]) -> dict[str, float]:
    """Read ``sellout=0`` and the like.

    Raises:
        typer.BadParameter: One is not of that form.
        DifficultyError: There is no such axis, or the value is out of its range.
    """
    from ecomrlve.difficulty import difficulty

    found: dict[str, float] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(f"{pair!r}: write an axis and a number, such as sellout=0")
        found[name.strip()] = int(number) if number.is_integer() else number
    difficulty(0, found)
    return found
