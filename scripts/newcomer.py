"""How long a newcomer takes: python scripts/newcomer.py [TIMES].

Opens the Space in a real browser as often as told, presses one button, and follows the guide to the first reward; once
over words alone, once with vectors, the median of each. What the page takes is measured, what a person takes is a model
(see `tests/ui/newcomer_path.py`). The first page of a server that has only just been started is told apart.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui")]

from newcomer_path import Newcomer  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from ui_space import ARGUMENTS, CHROMIUM, Space, serve_with  # noqa: E402

from ecomrlve.catalog.encoder import SentenceEncoder  # noqa: E402
from ecomrlve.catalog.search import SearchEngine  # noqa: E402
from ecomrlve.catalog.synthetic import generate  # noqa: E402

# Made anew for each server, as when it starts.
ENGINES: dict[str, Callable[[], SearchEngine]] = {
    "words alone": lambda: SearchEngine(generate()),
    "with vectors": lambda: SearchEngine(generate(), SentenceEncoder()),
}


def visit(browser: Browser, server: Any, began: float = 0.0) -> tuple[Newcomer, float]:
    """One newcomer with a browser that has nothing in store; and the seconds from `began` to a usable page."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    newcomer = Newcomer(Space(context.new_page(), server))
    newcomer.page.set_default_timeout(120_000)
    newcomer.arrive()
    usable = time.perf_counter() - began
    newcomer.play()
    context.close()
    return newcomer, usable


def summary(newcomers: list[Newcomer]) -> dict[str, Any]:
    """For each mark: acts, words, the page's seconds and all seconds, the last two as medians."""
    marks = {}
    for name, (acts, words, _) in newcomers[0].marks.items():
        marks[name] = {
            "clicks and choices": acts,
            "words read": words,
            "seconds of the page": round(statistics.median(one.marks[name][2] for one in newcomers), 2),
            "seconds in all": round(statistics.median(one.seconds(name) for one in newcomers), 1),
        }
    return marks


def main(times: int) -> None:
    """Both engines, the first visit to a fresh server apart from the others."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, engine in ENGINES.items():
            with tempfile.TemporaryDirectory() as store:
                began = time.perf_counter()
                server = serve_with(engine, Path(store))
                _, usable = visit(browser, server, began)
                later = [visit(browser, server)[0] for _ in range(times)]
                server.demo.close()
            print(f"{name}: {usable:.1f} s from the server's start to a usable page; then, of {times} visits:")
            print(json.dumps(summary(later), indent=1))
        browser.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
