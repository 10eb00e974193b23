"""From a click to the page that shows it: python scripts/click_time.py [VISITORS] [TURNS] [THINKING SECONDS].

A real browser takes turns with one plain tool call each, and the time from the click on "Call now" to the page with the
result is measured in that page; first alone, then while other visitors play (their requests are those of
`scripts/load_page.py`). Prints median and 95th percentile of both.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui"), str(ROOT / "scripts")]

from load_page import crowd, events_of, games_of  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from ui_space import ARGUMENTS, CHROMIUM, Space, serve  # noqa: E402

from ecomrlve.environment import default_engine  # noqa: E402

TURNS_IN_A_GAME = 5  # of seven; none of those measured is the last
WORDS = ("mug", "red lamp", "warm socks", "garden chair", "camping stove", "blue hoodie", "desk", "kettle")
_seeds = itertools.count(100)
# The click and the page with its result, seen by the page itself: nothing of the script's own time is in it.
CLICK = """(version) => new Promise((done) => {
  const meters = document.querySelector(".ec-meters");
  const began = performance.now();
  const seen = new MutationObserver(() => {
    if (meters.dataset.version !== String(version)) return;
    if (document.querySelectorAll("#chat .thought-group").length < version - 1) return;
    seen.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  seen.observe(document.body, {subtree: true, childList: true, attributes: true});
  document.querySelector(".ec-call").click();
})"""


def measure(page: Page, space: Space, turns: int) -> list[float]:
    """Milliseconds of so many clicks."""
    found: list[float] = []
    while len(found) < turns:
        seed = next(_seeds)  # another one each time: the page would go on with the game that it knows
        space.open(f"env=E_CART&d=6&seed={seed}", version=1)
        for version in range(2, 2 + TURNS_IN_A_GAME):
            space.fill_call("catalog_search", {"query": WORDS[(seed + version) % len(WORDS)]})
            found.append(page.evaluate(CLICK, version))
            space.wait(version)
    return found[:turns]


def told(name: str, times: list[float]) -> str:
    """One line of figures."""
    ordered = sorted(times)
    figures = {"clicks": len(times), "median ms": round(statistics.median(ordered))}
    return json.dumps({"": name, **figures, "p95 ms": round(ordered[int(0.95 * len(ordered))])})


def main(visitors: int, turns: int, pause: float) -> None:
    """Serve, click alone, then click among others."""
    engine = default_engine()
    engine.warm_up()
    games = games_of(engine)
    with tempfile.TemporaryDirectory() as store, sync_playwright() as playwright:
        server = serve(engine, Path(store))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        space = Space(page, server)
        measure(page, space, TURNS_IN_A_GAME)  # what the first visitor loads
        print(told("alone", measure(page, space, turns)), flush=True)
        over = threading.Event()
        playing: dict[str, Any] = {}

        def others() -> None:
            work = crowd(server.url, events_of(server), games, visitors, 3600, pause, [], over.is_set)
            playing["results"] = asyncio.run(work)

        thread = threading.Thread(target=others)
        thread.start()
        print(told(f"with {visitors} others", measure(page, space, turns)), flush=True)
        over.set()
        thread.join()
        errors = [error for one in playing["results"] for error in one["errors"]]
        taken = sum(len(one["times"]) for one in playing["results"])
        print(json.dumps({"turns of the others": taken, "errors": errors}))
        browser.close()
        server.demo.close()


if __name__ == "__main__":
    given = dict(zip(("visitors", "turns", "pause"), map(float, sys.argv[1:]), strict=False))
    main(int(given.get("visitors", 20)), int(given.get("turns", 60)), given.get("pause", 3.0))
