"""Builds that are killed at random moments and started again: what they make in the end must be the same."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ecomrlve.catalog.stored import is_catalog_folder
from ecomrlve.evaluation.processes import command_of

KILLS_SIZE = 120_000  # the smallest size class with lists to train


def killed(folder: Path, times: int, *, size: int = KILLS_SIZE, seed: int = 0, progress: bool = True) -> dict[str, Any]:
    """Kill a build at random moments until it was killed so often, then let it finish; compare with an undisturbed one.

    Args:
        folder: Where the catalogs are kept; ``calm`` and ``killed`` in it are made anew.
        times: How many kills of each command, generating and indexing.
        size: Products of the catalog.
        seed: Of the random moments.
        progress: Show a bar.

    Returns:
        How often was killed, and whether all files are the same, by their checksums.
    """
    moments = random.Random(seed)
    commands = {
        name: [
            command_of("catalog", "generate", "--size", size, "--out", folder / name),
            command_of("index", "build", folder / name, "--encoder", "static", "--quiet", "--shard-rows", 8_192),
        ]
        for name in ("calm", "killed")
    }
    durations = []
    for command in commands["calm"]:
        started = time.perf_counter()
        _run(command)
        durations.append(time.perf_counter() - started)
    kills = 0
    with tqdm(total=times, disable=not progress, desc="kills") as bar:
        for number, command in enumerate(commands["killed"]):
            wanted = (times + number) // 2
            for _ in range(20 * times):  # some end before they are killed, when little is left to do
                if wanted <= 0:
                    break
                process = subprocess.Popen(
                    command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
                )
                try:
                    process.wait(moments.uniform(0.0, 1.0) * durations[number])
                    _remove(folder / "killed", everything=number == 0)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    kills, wanted = kills + 1, wanted - 1
                    bar.update()
            if not (number == 0 and is_catalog_folder(folder / "killed")):
                _run(command)
    one, other = (checksums(folder / name) for name in ("calm", "killed"))
    return {"size": size, "kills": kills, "files": len(one), "identical": one == other}


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _remove(folder: Path, *, everything: bool) -> None:
    """What an undisturbed run made, so that there is something to kill again."""
    shutil.rmtree(folder if everything else folder / "words", ignore_errors=True)
    if not everything:
        for index in folder.glob("index-*"):
            shutil.rmtree(index)


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file in a folder, by its path in it."""
    found = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        with file.open("rb") as stream:
            found[str(file.relative_to(folder))] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
