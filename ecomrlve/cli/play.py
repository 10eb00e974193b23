"""The command `play`: a person sits where an agent would, in a terminal."""

from __future__ import annotations

import getpass
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ecomrlve.cli.options import CatalogOption, WordsOption

INTERRUPTED = 130  # what shells report where Ctrl-C ended a command
PIPED_WIDTH = 100


def play(
    env: Annotated[str, typer.Option(help="an environment or a collection, of which one is drawn")] = "C8",
    difficulty: Annotated[int, typer.Option(help="d of the first episode", min=0, max=12)] = 0,
    seed: Annotated[int | None, typer.Option(help="which episode; drawn, and said, if not given", min=0)] = None,
    catalog: CatalogOption = "default",
    words_only: WordsOption = False,
    out: Annotated[Path, typer.Option(help="folder for the trajectories of finished episodes")] = Path("trajectories"),
    name: Annotated[str, typer.Option(help="your name in the trajectories; your login if not given")] = "",
    advise: Annotated[bool, typer.Option("--hints", help="advice for newcomers before every turn")] = False,
) -> None:
    """Play the shopping assistant yourself: you see what an agent sees, and get the same reward."""
    from ecomrlve.cli.play_desk import Desk
    from ecomrlve.cli.play_input import Lines
    from ecomrlve.cli.play_screen import Screen
    from ecomrlve.collections import resolve
    from ecomrlve.environment import Environment
    from ecomrlve.evaluation.pool import engine_of
    from ecomrlve.replay import TrajectoryStore

    _check_writable(out)
    names = resolve(env)
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    screen = Screen(Console(markup=False, highlight=False, emoji=False, width=width))
    desk: Desk | None = None
    try:
        engine = engine_of(catalog, words_only=words_only, progress=sys.stderr.isatty())
        lines = Lines(sys.stdin, lambda line: desk.choices(line) if desk is not None else [])
        desk = Desk(
            screen,
            lines.read,
            Environment(names, engine),
            TrajectoryStore(out),
            name=name or _login(),
            command=_command(catalog, words_only),
            advise=advise,
        )
        desk.run(seed, difficulty)
    except KeyboardInterrupt:
        screen.note("")
        if desk is not None:
            desk.farewell()
        raise typer.Exit(INTERRUPTED) from None


def _command(catalog: str, words_only: bool) -> str:
    """The command line up to where the episode is chosen."""
    parts = ["ecomrlve", "play"]
    parts += ["--catalog", catalog] if catalog != "default" else []
    parts += ["--words-only"] if words_only else []
    return shlex.join(parts)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user, or a system without users
        return "human"


def _check_writable(folder: Path) -> None:
    """Find out before an episode is played that it could not be stored."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise typer.BadParameter(f"trajectories cannot be written to {folder}; name another folder with --out")
