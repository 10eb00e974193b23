"""Options that several commands share, and the reading of lists of numbers and seeds."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

# A file or a pipe gets wide tables instead of names cut short.
console = Console(width=None if sys.stdout.isatty() else 160)
complaints = Console(stderr=True)

MOST_PROBLEMS = 5  # problems that a command names one by one

CatalogOption = Annotated[
    str,
    typer.Option(
        help="default; a file, folder or glob of products, FILE::MAPPING; or a catalog folder, FOLDER::ENCODER"
    ),
]
WordsOption = Annotated[bool, typer.Option("--words-only", help="search by words alone, without sentence vectors")]


def numbers(text: str) -> list[int]:
    """Read ``0:13`` (end not included), ``3``, ``0,3,6`` and mixtures of them.

    Raises:
        typer.BadParameter: It is none of these.
    """
    found: list[int] = []
    for part in text.split(","):
        start, colon, end = part.strip().partition(":")
        try:
            found += range(int(start or 0), int(end)) if colon else [int(start)]
        except ValueError as error:
            raise typer.BadParameter(f"{text!r} is not a list of numbers; write 0:13 or 0,3,6") from error
    if not found:
        raise typer.BadParameter(f"{text!r} holds no number")
    return found


def seeds_in(text: str) -> list[int]:
    """Read seeds: as `numbers` does, or a held split (``dev``, ``test``), or its first ones (``test:50``).

    Raises:
        typer.BadParameter: It is none of these.
        SeedError: The split has fewer seeds.
    """
    from ecomrlve.environment import check_seed
    from ecomrlve.splits import HELD, seeds_of

    name, _, count = text.strip().partition(":")
    if name in HELD:
        if count and not count.isdecimal():
            raise typer.BadParameter(f"{text!r}: write {name} or {name}:50")
        return seeds_of(name, int(count) if count else None)
    if name.isalpha():
        raise typer.BadParameter(f"{text!r} are no seeds; write {', '.join(HELD)}, test:50, or 0:20")
    return [check_seed(seed) for seed in numbers(text)]


def by_words(paths: Iterable[Path], words_only: bool) -> bool:
    """Whether stored episodes are executed again with search by words alone: if asked for, or if so played."""
    from ecomrlve.replay import iter_trajectories

    for path in paths:
        for _, data in iter_trajectories(path):
            if data is not None:
                return words_only or data["catalog"].get("search") == "words"
    return words_only


def tell(problems: list[str], more: str = "more like these") -> None:
    """Print the first few problems."""
    for problem in problems[:MOST_PROBLEMS]:
        complaints.print(problem, style="yellow", highlight=False, markup=False, soft_wrap=True)
    if len(problems) > MOST_PROBLEMS:
        complaints.print(f"… and {len(problems) - MOST_PROBLEMS} {more}")


def given_command() -> str:
    """The command that is running, as one would type it again."""
    return shlex.join(["ecomrlve", *sys.argv[1:]])
