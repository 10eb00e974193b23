"""Kill an evaluation at random moments, again and again, and compare what it comes to with an undisturbed one.

    python scripts/kill_evaluation.py [KILLS] [FOLDER]

Every kill is a SIGKILL to the command and its workers; the same command is given again each time. Exit code 1 where a
cell is lost, doubled or different.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ecomrlve.evaluation.grid import Cell, cell_of
from ecomrlve.evaluation.processes import command_of
from ecomrlve.replay import load_trajectories
from ecomrlve.trajectory import stable

GRID = ("--envs", "C8", "--difficulty", "0,3,6,9,12", "--seeds", "dev:20", "--words-only", "--workers", "2", "--quiet")
AGENTS = ("--agent", "reference", "--agent", "scripted", "--agent", "random")


def command(folder: Path) -> list[str]:
    """The evaluation, kept in a folder."""
    return command_of("evaluate", *AGENTS, *GRID, "--out", folder)


def results(folder: Path) -> tuple[dict[Cell, str], int, int]:
    """What each cell came to; how many records there are besides; how many lines were torn."""
    found, torn = load_trajectories(folder)
    cells = Counter(map(cell_of, found))
    records = {cell_of(data): json.dumps(stable(data), sort_keys=True) for data in found}
    return records, cells.total() - len(cells), len(torn)


def main(kills: int, folder: Path) -> int:
    """Run both, say what came of it."""
    moments = random.Random(0)
    calm, killed = folder / "calm", folder / "killed"
    started = time.perf_counter()
    subprocess.run(command(calm), check=True, stdout=subprocess.DEVNULL)
    duration = time.perf_counter() - started
    done = 0
    while done < kills:
        process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            # Early enough that there is something left to kill the next time.
            process.wait(duration * moments.uniform(0.02, 2.0) / kills + 2)
            shutil.rmtree(killed)  # it ended before it could be killed: from the beginning
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            done += 1
            print(f"kill {done}: {len(results(killed)[0])} cells")
    subprocess.run(command(killed), check=True, stdout=subprocess.DEVNULL)
    (one, _, _), (other, doubled, torn) = results(calm), results(killed)
    print(f"{len(one)} cells undisturbed, {len(other)} after {kills} kills; {doubled} doubled, {torn} lines torn")
    print("identical" if one == other else "DIFFERENT")
    return int(one != other or doubled > 0)


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(times, Path(sys.argv[2] if len(sys.argv) > 2 else temporary)))
