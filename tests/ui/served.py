"""A Space in a process of its own, so that it can be killed: python served.py PORT FOLDER."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = 2000
READY = "the Space is served"


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def process(port: int, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The Space in a process of its own, from when it answers; killed at the end without a word to its pages."""
    command = [sys.executable, __file__, str(port), str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as running:
        try:
            assert running.stdout is not None
            assert any(READY in line for line in running.stdout), "the Space did not start"
            threading.Thread(target=running.stdout.read, daemon=True).start()
            yield running
        finally:
            running.kill()


def main(port: int, folder: Path) -> None:
    """Serve until killed."""
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    from ui_space import serve

    from ecomrlve.catalog.search import SearchEngine
    from ecomrlve.catalog.synthetic import generate

    serve(SearchEngine(generate(PRODUCTS)), folder, port)
    print(READY, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
