"""The commands `catalog` and `index`: make, load and look at catalogs, and index them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markdown import Markdown
from typer.core import TyperGroup

from ecomrlve.cli.options import console


class _ShowUnlessNamed(TyperGroup):
    """`catalog FILE` is short for `catalog show FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = args and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if known else ["show", *args])


catalog_app = typer.Typer(cls=_ShowUnlessNamed, help="Make, load and look at catalogs.")
index_app = typer.Typer(no_args_is_help=True, help="Index a catalog folder, so that millions of products are searched.")

FolderArgument = Annotated[Path, typer.Argument(help="a catalog folder")]
OutOption = Annotated[Path, typer.Option(help="the catalog folder to make")]
EncoderOption = Annotated[
    str | None,
    typer.Option(help="static, all-MiniLM-L6-v2, a Hub id or a model's folder; empty: by size, or what is there"),
]


@catalog_app.command()
def show(
    source: Annotated[str, typer.Argument(help="default, FILE::MAPPING, or a catalog folder")] = "default",
) -> None:
    """Show a catalog's card: what was read, dropped and synthesized, and what its types offer."""
    from ecomrlve.catalog.stored import is_catalog_folder, open_catalog
    from ecomrlve.evaluation.pool import engine_of

    products = open_catalog(source) if is_catalog_folder(source) else engine_of(source, words_only=True).catalog
    facts = {
        "name": products.name,
        "fingerprint": products.fingerprint,
        "products": len(products),
        "types": len(products.type_names),
        "synthesized": sorted(products.synthesized),
        "card": products.card,
        "offers": {
            name: f"{len(products.rows_of_type(name))} products; {', '.join(products.attributes_of_type(name))}"
            for name in products.type_names
        },
    }
    console.print_json(json.dumps(facts, ensure_ascii=False, default=str))


@catalog_app.command()
def generate(
    out: OutOption,
    size: Annotated[int, typer.Option(help="how many products, 1,000 to 2,000,000")] = 10_000,
    seed: Annotated[int, typer.Option(help="which catalog of that size", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="processes")] = os.cpu_count() or 1,
) -> None:
    """Generate a catalog into a folder; run again after a stop, it goes on."""
    from ecomrlve.catalog.synthetic import generate_folder

    products = generate_folder(size, out, seed=seed, workers=workers, progress=True)
    console.print(f"{len(products):,} products of {len(products.type_names)} types in {out}", highlight=False)


@catalog_app.command()
def load(
    source: Annotated[
        str, typer.Argument(help="a Hub dataset, Parquet of its columns, or FILE::MAPPING for any other table")
    ],
    out: OutOption,
    limit: Annotated[int | None, typer.Option(help="read at most so many rows", min=1)] = None,
    revision: Annotated[str | None, typer.Option(help="branch, tag or commit of the dataset")] = None,
) -> None:
    """Load owlgebra-ai/Amazebay-catalog-2M or a table of its 16 columns; run again after a stop, it goes on.

    FILE::MAPPING loads any other table that fits into memory, and keeps it as a catalog folder.
    """
    from ecomrlve.catalog.hub import load_hub
    from ecomrlve.catalog.hub_card import readable_card

    file, _, mapping = source.partition("::")
    if mapping or (Path(file).is_file() and Path(file).suffix.lower() != ".parquet"):
        from ecomrlve.catalog.files import load_file
        from ecomrlve.catalog.store import save_catalog

        if limit is not None or revision is not None:
            raise typer.BadParameter("--limit and --revision are for tables of the Hub's columns")
        kept = save_catalog(load_file(file, mapping or None, out.name), out)
        console.print_json(json.dumps(kept.card, ensure_ascii=False, default=str))
        return
    products = load_hub(source, out, limit=limit, revision=revision, progress=True)
    card = readable_card(products.card)
    if sys.stdout.isatty():
        console.print(Markdown(card))
    else:
        print(card)


@index_app.command()
def build(
    folder: FolderArgument,
    encoder: EncoderOption = None,
    device: Annotated[str | None, typer.Option(help="where a sentence encoder computes: cpu, cuda …")] = None,
    batch: Annotated[int, typer.Option(help="texts that the encoder gets at once", min=1)] = 8_192,
    shard_rows: Annotated[int, typer.Option(help="vectors that are written at once", min=1)] = 65_536,
    shard: Annotated[str, typer.Option(help="K/N: encode only the shards of worker K (from 1) of N")] = "1/1",
    words_only: Annotated[bool, typer.Option("--words-only", help="the word index alone, without vectors")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress bars")] = False,
) -> None:
    """Build the indexes that a catalog folder lacks; run again after a stop, it goes on."""
    from ecomrlve.catalog.indexes import build as build_indexes

    meta = build_indexes(
        folder,
        encoder,
        device=device,
        batch_rows=batch,
        shard_rows=shard_rows,
        worker=_worker(shard),
        words_only=words_only,
        progress=not quiet,
    )
    console.print_json(json.dumps(meta, default=str))


def _worker(text: str) -> tuple[int, int]:
    number, slash, count = text.partition("/")
    if not slash or not number.isdigit() or not count.isdigit() or not 1 <= int(number) <= int(count):
        raise typer.BadParameter(f"{text!r} is not K/N with K from 1 to N, such as 2/4")
    return int(number) - 1, int(count)


@index_app.command()
def info(folder: FolderArgument) -> None:
    """Show what is in a catalog folder, all files checked against their checksums."""
    from ecomrlve.catalog.indexes import info as told

    found = told(folder)
    console.print_json(json.dumps(found, default=str))
    fine = not found["damaged_files"] and all(index.get("checksum_ok", True) for index in found["indexes"].values())
    raise typer.Exit(0 if fine else 1)


@index_app.command()
def verify(
    folder: FolderArgument,
    encoder: EncoderOption = None,
    queries: Annotated[int, typer.Option(help="how many queries", min=1)] = 1000,
    least: Annotated[float, typer.Option(help="exit with an error below this recall@10", min=0, max=1)] = 0.95,
) -> None:
    """Measure the index's recall@10 and @100 against exact search."""
    from ecomrlve.catalog.indexes import verify as measured

    found = measured(folder, encoder, count=queries)
    console.print_json(json.dumps(found))
    raise typer.Exit(0 if found["recall_at_10"] >= least else 1)
