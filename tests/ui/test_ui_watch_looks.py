"""Whether everybody can use the Watch tab: contrast, labels, width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ui_space import Server, each_look
from watch_space import HERE, Watching, beside, serve_watch

AUDIT = Path(__file__).with_name("audit.js").read_text()
CONTRAST, UNNAMED = AUDIT + "; contrast()", AUDIT + "; unnamed()"
# A wide table scrolls within its own frame.
INSIDE = "[...document.querySelectorAll('.ec *')].filter((node) => !node.closest('.ec-scroll *'))"
FARTHEST = f"Math.max(...{INSIDE}.map((node) => node.getBoundingClientRect().right))"


@pytest.fixture(scope="module")
def lone_server(words_engine: Any) -> Iterator[Server]:
    yield from serve_watch(words_engine, [])


@pytest.fixture(scope="module")
def findings(browser: Any, lone_server: Server) -> dict[str, list[Any]]:
    """All that is wrong, by day at a desk and by night on a phone."""
    found: dict[str, list[Any]] = {"light": [], "dark": [], "unnamed": [], "widths": []}
    context = browser.new_context(viewport={"width": 1280, "height": 844}, reduced_motion="reduce")
    space = Watching(context.new_page(), lone_server)

    def look(page: Any) -> None:
        for width in each_look(page):
            found["light" if width > 390 else "dark"] += page.evaluate(CONTRAST)
            found["unnamed"] += page.evaluate(UNNAMED)
            farthest = [page.evaluate("document.documentElement.scrollWidth"), page.evaluate(FARTHEST)]
            found["widths"] += [edge - width for edge in farthest]

    look(space.visit().page)
    for query in ("env=E_JOURNEY&d=4&seed=7&agent=reference", f"env=E_CART&d=0&seed=7&agent={HERE}Raising"):
        look(beside(space).visit(f"tab=watch&{query}").after(1).page)
    last = beside(space).visit("tab=watch&env=E_RETURN&d=4&seed=7&agent=reference")
    last.finish()
    last.page.locator(".ec-watch-turn summary").first.click()
    last.page.locator("#watch-result summary").click()
    look(last.page)
    context.close()
    assert not space.problems
    return found


@pytest.mark.parametrize("what", ["light", "dark", "unnamed"])
def test_everybody_can_read_and_use_it(findings: dict[str, list[Any]], what: str) -> None:
    assert not sorted(set(findings[what]))


def test_nothing_sticks_out(findings: dict[str, list[Any]]) -> None:
    assert max(findings["widths"]) <= 0
