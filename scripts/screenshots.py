"""Take the README's pictures: python scripts/screenshots.py [FOLDER]. Needs a Chromium and the development packages."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui")]

from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from ui_space import ARGUMENTS, CHROMIUM, Server, Space, reference_actions, serve  # noqa: E402

from ecomrlve.environment import default_engine  # noqa: E402

EPISODE = ("E_CART", 6, 7)
DISCOVERY = ("E_PD", 4, 7)


def main() -> None:
    """One picture per view and look."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    engine = default_engine()
    engine.scores("warm up")
    with tempfile.TemporaryDirectory() as store, sync_playwright() as playwright:
        server = serve(engine, Path(store))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, width, dark in (("", 1440, False), ("-dark", 1440, True), ("-phone", 390, False)):
            take(browser, server, folder, name, width, dark)
        browser.close()
        server.demo.close()


def take(browser: Browser, server: Server, folder: Path, name: str, width: int, dark: bool) -> None:
    """The Play tab before, in the middle of and after an episode, and the Trajectories tab."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    page = context.new_page()
    space = Space(page, server)
    page.set_default_timeout(60_000)
    for label, (env_id, difficulty, seed) in (("", EPISODE), ("-discovery", DISCOVERY)):
        actions, _ = reference_actions(server.engine, env_id, difficulty, seed)
        space.open(f"env={env_id}&d={difficulty}&seed={seed}&__theme={scheme}", version=1)
        for number, action in enumerate(actions, 1):
            space.take(action)
            if number == 2:
                page.screenshot(path=folder / f"play{label}{name}.png")
        page.screenshot(path=folder / f"result{label}{name}.png", full_page=True)
    page.get_by_role("tab", name="Trajectories").click()
    page.locator("#episodes tbody tr").first.click()
    page.wait_for_timeout(800)
    page.screenshot(path=folder / f"trajectories{name}.png")
    context.close()


if __name__ == "__main__":
    main()
