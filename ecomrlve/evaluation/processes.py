"""Commands of this program as processes of their own, and the memory that they hold (Linux)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def command_of(*words: object) -> list[str]:
    """What starts a command of this program."""
    return [sys.executable, "-m", "ecomrlve", *map(str, words)]


def watched(command: list[str]) -> float:
    """Run a command; returns the most megabytes that it and its children held, shared pages counted once."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = 0.0
    while process.poll() is None:
        most = max(most, sum(memory_of(pid)["Pss"] for pid in _family(process.pid)))
        try:
            process.wait(0.3)
        except subprocess.TimeoutExpired:
            continue
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return most


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for process in found:
        try:
            children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        except OSError:
            continue
        found += map(int, children.split())
    return found


def memory_of(pid: int | str) -> dict[str, float]:
    """A process's memory in megabytes: Rss, Pss (pages shared by n processes count 1/n), Pss_Anon, Pss_File …."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return {"Rss": 0.0, "Pss": 0.0, "Pss_Anon": 0.0, "Pss_File": 0.0}
    return {name: float(value.split()[0]) / 1000 for name, value in (line.split(":") for line in lines)}
