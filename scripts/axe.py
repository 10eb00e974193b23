"""Let axe-core look at every tab of the Space: python scripts/axe.py [PATH TO axe.min.js].

axe-core belongs to Deque Systems (MPL-2.0) and is not part of this repository. Without a path it is taken from the
environment variable AXE, or from where npm keeps global packages. Prints what is wrong once per rule and place,
Gradio's own parts apart from ours; the exit code is 1 where something serious is ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui")]

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from ui_space import ARGUMENTS, CHROMIUM, Server, Space, reference_episode, serve  # noqa: E402

from ecomrlve.catalog.search import SearchEngine  # noqa: E402
from ecomrlve.catalog.synthetic import generate  # noqa: E402

LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}
TABS = {
    "Watch": ("tab=watch&env=E_CART&d=6&seed=7&agent=reference", "#watch-talk :text('Turn 2')"),
    "Compare": ("tab=compare&env=E_PD&d=4&seed=7&a=reference&b=scripted", ".ec-cpair[data-status=done]"),
    "Trajectories": ("tab=trajectories", "#episodes tbody tr"),
    "Difficulty": ("tab=curriculum&d=6", ".ec-learning svg"),
    "Leaderboard": ("tab=leaderboard", "#leaderboard-table"),
}
SERIOUS = ("serious", "critical")
RUN = """async () => {
  const place = ({id, impact, help}) => ({target, html, failureSummary}) => {
    const node = document.querySelector(target[0]);
    const kind = node ? `${node.tagName.toLowerCase()}.${node.classList[0] || ""}` : "";
    const ours = Boolean(node && (node.closest(".ec, .ec-title") || node.querySelector(".ec")));
    const why = failureSummary.split("\\n").slice(1).join(" ").trim().slice(0, 200);
    return {id, impact, help, kind, place: String(target[0]), html: html.slice(0, 160), ours, why};
  };
  const {violations} = await axe.run(document, {resultTypes: ["violations"]});
  return violations.flatMap((rule) => rule.nodes.map(place(rule)));
}"""


@dataclass
class Findings:
    """What is wrong, each once, with where it was seen.

    Attributes:
        seen: (rule, kind of element) → the finding, with the looks and stages under ``where``.
        looks: How many pages were looked at.
    """

    seen: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    looks: int = 0

    def add(self, where: str, page: Page) -> None:
        """Look at a page as it stands."""
        self.looks += 1
        for found in page.evaluate(RUN):
            kept = self.seen.setdefault((found["id"], found["kind"]), {**found, "where": []})
            kept["where"].append(where)

    def of(self, *, ours: bool) -> list[dict[str, Any]]:
        """Those of one origin, the worst first."""
        order = ("critical", "serious", "moderate", "minor", None)
        return sorted(
            (one for one in self.seen.values() if one["ours"] is ours), key=lambda o: order.index(o["impact"])
        )


def script(given: str = "") -> Path:
    """Where axe-core is.

    Raises:
        SystemExit: It is not there; the message says how to get it.
    """
    places = [given, os.environ.get("AXE", "")]
    try:
        root = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False).stdout.strip()
        places.append(f"{root}/axe-core/axe.min.js" if root else "")
    except FileNotFoundError:  # no npm: the other two ways are left
        pass
    for place in filter(None, places):
        if Path(place).is_file():
            return Path(place)
    raise SystemExit(
        "axe-core was not found. Get it with `npm install -g axe-core`, or with `npm pack axe-core` and name its "
        "package/axe.min.js as the argument or in the environment variable AXE."
    )


@contextmanager
def visit(browser: Browser, server: Server, axe: str, look: dict[str, Any]) -> Iterator[Space]:
    """A browser tab that has axe at hand."""
    context = browser.new_context(reduced_motion="reduce", **look)
    context.add_init_script(axe)
    space = Space(context.new_page(), server)
    space.page.set_default_timeout(60_000)
    yield space
    context.close()


def games(space: Space, see: Callable[[str], None]) -> None:
    """The Play tab before, in the middle of and after a game, and its guide."""
    turns, _, _ = reference_episode(space.server.engine, "E_CART", 4, 7)
    space.open()
    see("Play, at first")
    space.page.click("#ec-guided")
    space.wait(1)
    see("Play, guided")
    space.open("env=E_CART&d=4&seed=7", version=1)
    for number, (_, action) in enumerate(turns, 1):
        space.take(action)
        if number == len(turns) - 1:
            see("Play, in the middle")
    space.page.wait_for_selector("#aftermath :text('What it did')")
    see("Play, at the end")


def tabs(space: Space, see: Callable[[str], None]) -> None:
    """The other tabs, each with something in it."""
    for name, (query, ready) in TABS.items():
        space.page.goto(f"{space.server.url}/?{query}")
        space.page.wait_for_selector(ready)
        if name == "Difficulty":  # what nobody has seen yet is not there yet
            space.page.locator(".ec-openings").scroll_into_view_if_needed()
            space.page.wait_for_selector(".ec-openings[data-shown='2']")
        if name == "Trajectories":
            see("Trajectories, the list")
            space.page.locator("#episodes tbody tr").first.click()
            space.page.wait_for_selector(".ec-running:not([data-state=waiting])")
        see(name)
        if name == "Watch":
            space.page.select_option("#ec-watch-speed", "most")
            space.page.wait_for_selector(".ec-watch-talk[data-status=finished]")
            see("Watch, at the end")


def main() -> int:
    """Look at everything; says how it went by its exit code."""
    axe = script(sys.argv[1] if len(sys.argv) > 1 else "").read_text(encoding="utf-8")
    found = Findings()
    with tempfile.TemporaryDirectory() as store, sync_playwright() as playwright:
        server = serve(SearchEngine(generate(2000)), Path(store))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for look, options in LOOKS.items():
            with visit(browser, server, axe, options) as space:
                see = lambda stage, page=space.page, look=look: found.add(f"{look}: {stage}", page)
                games(space, see)
                tabs(space, see)
        browser.close()
        server.demo.close()
    bad = report(found)
    return int(bad > 0)


def report(found: Findings) -> int:
    """Print all findings; returns how many serious ones are ours."""
    print(f"{found.looks} looks")
    for ours, title in ((True, "Ours"), (False, "Gradio's own")):
        listed = found.of(ours=ours)
        print(f"\n{title}: {len(listed)}")
        for one in listed:
            print(f"- [{one['impact']}] {one['id']}: {one['help']}\n    {one['place']}\n    {one['html']}")
            print(f"    {one['why']}\n    seen: {', '.join(one['where'][:4])} ({len(one['where'])})")
    return sum(one["impact"] in SERIOUS for one in found.of(ours=True))


if __name__ == "__main__":
    sys.exit(main())
