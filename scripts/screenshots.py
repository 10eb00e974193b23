"""Take pictures of the Space: python scripts/screenshots.py [FOLDER].

Without a folder only the pictures that the repository keeps are made anew; a folder gets those of all environments, by
day, by night and on a phone. Needs a Chromium and the development packages.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui")]

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from ui_space import ARGUMENTS, CHROMIUM, Server, Space, go_to, reference_episode, serve  # noqa: E402

from ecomrlve.environment import default_engine  # noqa: E402

# The ending of a picture's name, and the episode it shows.
EPISODES = {
    "": ("E_CART", 6, 7),
    "-discovery": ("E_PD", 4, 7),
    "-substitution": ("E_SUB", 4, 7),
    "-return": ("E_RETURN", 4, 7),
    "-status": ("E_STATUS", 4, 7),
    "-policy": ("E_POLICY", 4, 7),
    "-bundle": ("E_BUNDLE", 4, 7),
    "-journey": ("E_JOURNEY", 4, 7),
}

TABS = {
    "watch": "tab=watch&env=E_CART&d=6&seed=7&agent=scripted",
    "compare": "tab=compare&env=E_PD&d=4&seed=7&a=reference&b=scripted",
    "curriculum": "tab=curriculum&d=6",
    "leaderboard": "tab=leaderboard",
}
# When a tab shows what it is to show.
READY = {
    "watch": "#watch-result :text('Total')",
    "compare": "#compare-pair :text('Turn 1')",
    "curriculum": ".ec-chart",
    "leaderboard": "#leaderboard-table tbody tr, #leaderboard-table :text('Nobody')",
}
KEPT = ROOT / "assets" / "screenshots"
LOOKS = {"": (1440, False), "-dark": (1440, True), "-phone": (390, False)}


def main() -> None:
    """One picture per view and look."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else KEPT
    folder.mkdir(parents=True, exist_ok=True)
    engine = default_engine()
    engine.warm_up()
    with tempfile.TemporaryDirectory() as store, sync_playwright() as playwright:
        server = serve(engine, Path(store))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, (width, dark) in LOOKS.items():
            take(browser, server, folder, name, width, dark)
        browser.close()
        server.demo.close()


def take(browser: Browser, server: Server, folder: Path, name: str, width: int, dark: bool) -> None:
    """The Play tab before, in the middle of and after an episode, and the other tabs."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    page = context.new_page()
    space = Space(page, server)
    page.set_default_timeout(60_000)

    def shoot(picture: str, *, full_page: bool = False) -> None:
        if wanted(folder, picture):
            page.screenshot(path=folder / f"{picture}.png", full_page=full_page)
            lighter(folder / f"{picture}.png")

    for label, (env_id, difficulty, seed) in EPISODES.items():
        if not (wanted(folder, f"play{label}{name}") or wanted(folder, f"result{label}{name}")):
            continue
        turns, _, _ = reference_episode(server.engine, env_id, difficulty, seed)
        space.open(f"env={env_id}&d={difficulty}&seed={seed}&__theme={scheme}", version=1)
        for number, (wish, action) in enumerate(turns, 1):
            space.take(action, wish if env_id == "E_JOURNEY" else "")
            if number == min(2, len(turns) - 1):
                shoot(f"play{label}{name}")
        shoot(f"result{label}{name}", full_page=True)
    go_to(page, "Trajectories")
    page.locator("#episodes tbody tr").first.click()
    page.wait_for_selector(".ec-stepper")
    shoot(f"trajectories{name}")
    for tab, query in TABS.items():
        page.goto(f"{server.url}/?{query}&__theme={scheme}")
        page.wait_for_selector(READY[tab])
        shoot(f"{tab}{name}")
    context.close()


def lighter(path: Path) -> None:
    """A picture in 256 colours: a third of the size, and no difference that one sees."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def wanted(folder: Path, picture: str) -> bool:
    """Whether a picture is to be made: every one; in the repository's own folder those that are there, and tabs."""
    of_a_tab = picture.partition("-")[0] in (*TABS, "trajectories")
    return folder != KEPT or of_a_tab or (folder / f"{picture}.png").exists()


if __name__ == "__main__":
    main()
