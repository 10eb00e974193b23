"""Evaluate agents, play, certify the environments, measure axes and speed, replay trajectories, look at catalogs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ecomrlve.cli.catalogs import catalog_app, index_app
from ecomrlve.cli.demonstrations import demonstrations
from ecomrlve.cli.evaluations import evaluate, leaderboard_app, report
from ecomrlve.cli.options import (
    MOST_PROBLEMS,
    CatalogOption,
    WordsOption,
    by_words,
    complaints,
    console,
    numbers,
    tell,
)
from ecomrlve.cli.play import play
from ecomrlve.cli.train import train
from ecomrlve.errors import EcomrlveError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False, help=__doc__)
app.add_typer(catalog_app, name="catalog")
app.add_typer(index_app, name="index")
app.add_typer(leaderboard_app, name="leaderboard")
app.command()(evaluate)
app.command()(report)
app.command()(demonstrations)
app.command()(play)
app.command()(train)


@app.command()
def certify(
    envs: Annotated[str, typer.Option(help="environments or a collection, comma-separated")] = "C8",
    difficulty: Annotated[str, typer.Option(help="values of d: 0:13 or 0,3,6")] = "0:13",
    seeds: Annotated[str, typer.Option(help="seeds per (environment, d)")] = "0:20",
    law: Annotated[str, typer.Option(help="laws to measure, by number; empty for all")] = "",
    full: Annotated[
        bool, typer.Option("--full", help="400 seeds per cheat and difficulty, with vectors, and 60 for law 5; hours")
    ] = False,
    cheat_seeds: Annotated[int, typer.Option(help="seeds per cheat and difficulty (law 2)", min=1)] = 20,
    slip_seeds: Annotated[int, typer.Option(help="seeds per environment and difficulty (law 5)", min=1)] = 20,
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    workers: Annotated[int, typer.Option(help="processes")] = os.cpu_count() or 1,
    as_json: Annotated[bool, typer.Option("--json", help="print the certificate as JSON")] = False,
    out: Annotated[Path | None, typer.Option(help="also write the JSON to this file")] = None,
) -> None:
    """Measure the laws: solvable, not hackable, deterministic, no leak, monotone, recoverable, bounded, indifferent."""
    from ecomrlve.collections import resolve
    from ecomrlve.difficulty import check_difficulty
    from ecomrlve.environment import check_seed
    from ecomrlve.evaluation.certificate import ALL_LAWS, FULL_CHEAT_SEEDS, FULL_SLIP_SEEDS, show
    from ecomrlve.evaluation.certificate import certify as measure
    from ecomrlve.evaluation.pool import engine_of

    which = tuple(numbers(law)) if law else ALL_LAWS
    unknown = [number for number in which if number not in ALL_LAWS]
    if unknown:
        raise typer.BadParameter(f"law {unknown[0]} is not measured; there are {', '.join(map(str, ALL_LAWS))}")
    if out is not None:
        try:
            out.touch()
        except OSError as error:
            raise typer.BadParameter(f"{out} cannot be written: {error.strerror}") from error
    engine = engine_of(catalog, words_only=words_only, progress=not as_json)
    certificate = measure(
        engine,
        resolve(envs),
        [check_difficulty(d) for d in numbers(difficulty)],
        [check_seed(seed) for seed in numbers(seeds)],
        workers=workers,
        which=which,
        cheat_seeds=max(cheat_seeds, FULL_CHEAT_SEEDS) if full else cheat_seeds,
        slip_seeds=max(slip_seeds, FULL_SLIP_SEEDS) if full else slip_seeds,
        cheats_with_vectors=full,
        catalog=catalog,
        words_only=words_only,
        progress=not as_json,
    )
    text = json.dumps(certificate.to_dict(), indent=1, ensure_ascii=False, default=str)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    if as_json:
        print(text)
    else:
        show(certificate, console)
    raise typer.Exit(0 if certificate.passed else 1)


@app.command()
def words(
    envs: Annotated[str, typer.Option(help="environments or a collection, comma-separated")] = "C8",
    difficulty: Annotated[str, typer.Option(help="values of d: 0:13 or 0,4,8,12")] = "0,4,8,12",
    openings: Annotated[int, typer.Option(help="openings per (environment, d) to compare", min=1)] = 1000,
    seeds: Annotated[str, typer.Option(help="seeds of the episodes whose utterances are checked")] = "0:20",
    customer_model: Annotated[str, typer.Option(help="a language model that chooses the customer's words")] = "",
    customer_url: Annotated[str, typer.Option(help="its server (OpenAI-compatible); empty: a checkpoint here")] = "",
    customer_cache: Annotated[Path | None, typer.Option(help="file of what it said, read and added to")] = None,
    catalog: CatalogOption = "default",
) -> None:
    """Measure the customer's words: how varied the openings are, and that what counts as said was said."""
    from rich.table import Table
    from tqdm import tqdm

    from ecomrlve.collections import resolve
    from ecomrlve.customer.model_grammar import grammar_by
    from ecomrlve.difficulty import check_difficulty
    from ecomrlve.evaluation import words as measure
    from ecomrlve.evaluation.pool import engine_of

    engine = engine_of(catalog, words_only=True)
    grammar = grammar_by(customer_model, customer_url, customer_cache, engine.catalog) if customer_model else None
    table = Table(
        "environment", "d", "repeated", "distinct-1", "-2", "-3", "self-BLEU", "utterances", "said", "unsaid", "wrong"
    )
    cells = [(env_id, check_difficulty(d)) for env_id in resolve(envs) for d in numbers(difficulty)]
    wrong: list[tuple[str, str, str]] = []
    total = 0
    for env_id, d in tqdm(cells, disable=not sys.stderr.isatty()):
        one = measure.variety(measure.openings(engine, env_id, d, openings))
        two = measure.truth(engine, env_id, d, numbers(seeds), grammar)
        wrong += two.wrong or []
        total += two.utterances
        shares = [f"{share:.3f}" for share in (*one.distinct, one.self_bleu)]
        counts = map(str, (two.utterances, two.said, two.withheld, len(two.wrong or [])))
        table.add_row(env_id, str(d), f"{one.repeated:.1%}", *shares, *counts)
    console.print(table)
    console.print(f"{total} utterances checked, {len(wrong)} wrong")
    for text, key, what in wrong[:MOST_PROBLEMS]:
        console.print(f"{key} {what} in: {text}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    if grammar is not None:
        counts_of = grammar.counts
        reasons = ", ".join(f"{reason} {count}" for reason, count in counts_of.reasons.most_common())
        console.print(
            f"{counts_of.utterances} utterances by {grammar.model_name}: {counts_of.by_model} new, "
            f"{counts_of.from_cache} from the cache, {counts_of.fell_back} by the grammar "
            f"({counts_of.fall_back_rate:.1%}{': ' + reasons if reasons else ''})"
        )
    raise typer.Exit(1 if wrong else 0)


@app.command()
def replay(
    path: Annotated[Path, typer.Argument(help="a JSONL file or a folder of them")],
    verify: Annotated[bool, typer.Option("--verify", help="re-execute and compare byte for byte")] = False,
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
) -> None:
    """List stored trajectories; with --verify, re-execute them and say where one first differs."""
    from ecomrlve.evaluation.pool import engine_of
    from ecomrlve.replay import load_trajectories
    from ecomrlve.replay import verify as check

    found, problems = load_trajectories(path)
    tell(problems, "more lines like these; is this a file of trajectories?")
    words_only = by_words([path], words_only)
    engine = engine_of(catalog, words_only=words_only, progress=False) if verify and found else None
    wrong = 0
    for data in found:
        line = (
            f"{data.get('episode_id', '?')}  {data['env_id']}  d={data['difficulty']}  seed={data['seed']}  "
            f"{len(data['steps'])} turns  total {data['reward'].get('total')}"
        )
        if engine is not None:
            result = check(data, engine)
            wrong += not result.ok
            line += "  ✓ identical" if result.ok else f"  ✗ {result.difference}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"{len(found)} trajectories, {len(problems)} lines skipped" + (f", {wrong} differ" if verify else ""))
    raise typer.Exit(1 if wrong or (problems and not found) else 0)


@app.command()
def embed(
    catalog: CatalogOption = "default",
    out: Annotated[Path | None, typer.Option(help="also write the vectors into this folder")] = None,
) -> None:
    """Compute a catalog's sentence vectors ahead of time, into the cache (the default catalog's are shipped)."""
    from ecomrlve.catalog.encoder import SentenceEncoder
    from ecomrlve.catalog.index import embeddings, file_name, save
    from ecomrlve.evaluation.pool import engine_of

    products = engine_of(catalog, words_only=True).catalog
    encoder = SentenceEncoder()
    vectors = embeddings(products, encoder, progress=True)
    if out is not None:
        save(vectors, out / file_name(products, encoder))
    console.print(f"{len(vectors):,} vectors of {vectors.shape[1]} dimensions for catalog {products.name!r}")


@app.command()
def axes(
    envs: Annotated[str, typer.Option(help="environments or a collection, comma-separated")] = "C8",
    difficulty: Annotated[str, typer.Option(help="values of d: 0:13 or 0,3,6")] = "0:13",
    episodes: Annotated[int, typer.Option(help="generated episodes per (environment, d)", min=10)] = 1000,
    catalog: CatalogOption = "default",
    workers: Annotated[int, typer.Option(help="processes")] = os.cpu_count() or 1,
    as_json: Annotated[bool, typer.Option("--json", help="print the tables as JSON")] = False,
) -> None:
    """Measure the difficulty axes on generated episodes, and how often the budget law dropped a hazard."""
    from ecomrlve.collections import resolve
    from ecomrlve.difficulty import check_difficulty
    from ecomrlve.evaluation.axes import measure, show, to_dict
    from ecomrlve.evaluation.pool import engine_of

    levels = [check_difficulty(d) for d in numbers(difficulty)]
    engine = engine_of(catalog, words_only=True)
    rows, dropped = measure(engine, resolve(envs), levels, episodes, workers, not as_json)
    if as_json:
        print(json.dumps(to_dict(rows, dropped), indent=1))
    else:
        show(rows, dropped, console)
    raise typer.Exit(0 if all(row.within for row in rows) else 1)


@app.command()
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="print the figures as JSON")] = False,
) -> None:
    """Measure speed and memory on the default catalog, as medians."""
    from ecomrlve.evaluation.benchmark import measure, show

    figures = measure()
    if as_json:
        print(json.dumps(figures, indent=1))
    else:
        show(figures, console)


@app.command(name="bench-scale")
def bench_scale(
    folder: Annotated[Path, typer.Option(help="where the catalogs are kept; those that are there are used")],
    sizes: Annotated[str, typer.Option(help="products of each catalog")] = "10000,100000,1000000,2000000",
    rounds: Annotated[int, typer.Option(help="repetitions behind each median", min=1)] = 60,
    kills: Annotated[int, typer.Option(help="kill a smaller build so often, and compare; 0: do not", min=0)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="print the figures as JSON")] = False,
    out: Annotated[Path | None, typer.Option(help="also write the JSON to this file")] = None,
) -> None:
    """Measure how building, memory, resets and searches grow with the catalog; exit 1 where a promise is not kept."""
    from ecomrlve.evaluation.kills import killed
    from ecomrlve.evaluation.scale import measure, show

    figures = measure(folder, numbers(sizes), rounds=rounds, progress=not as_json)
    if kills:
        figures["kills"] = killed(folder / "kills", kills, progress=not as_json)
    if out is not None:
        out.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if as_json:
        print(json.dumps(figures, indent=1))
    kept = show(figures, complaints if as_json else console)
    raise typer.Exit(0 if kept else 1)


def main() -> None:
    """Entry point: our own errors are messages, not tracebacks."""
    try:
        app()
    except EcomrlveError as error:
        complaints.print("error: ", style="red", end="")
        complaints.print(str(error), highlight=False, markup=False, soft_wrap=True)
        raise SystemExit(2) from None
