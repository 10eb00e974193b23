"""Browser tabs for tests, lent to one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import urlsplit

DESK = {"width": 1280, "height": 900}
# How long a page may take before a test gives up, in milliseconds: none is to fail because a machine is slow or busy.
PATIENCE = 120_000
# All that a server's pages have stored, but for cookies. Playwright can reset that, too, but takes a second for it.
FORGET = """async () => {
  localStorage.clear();
  sessionStorage.clear();
  for (const {name} of await indexedDB.databases()) indexedDB.deleteDatabase(name);
}"""
# What a browser, and Gradio after it, say of the connections of a page that is left, and of those that a server breaks.
LEFT = ("signal is aborted", "BodyStreamBuffer was aborted", "Connection errored out")
BROKEN_OFF = (*LEFT, "ERR_", "Server stopped", "network error")


class Noted:
    """Somebody's visit to a page: notes all that goes wrong there, and fails the test for it when the visit is over."""

    page: Any
    problems: list[str]

    def note(self, url: str) -> None:
        """Begin to note; this server is the only one that the page may ask for anything."""
        local, problems = (url, "data:", "blob:"), self.problems
        self._listeners: dict[str, Callable[[Any], None]] = {
            "pageerror": lambda error: problems.append(f"page error: {error}"),
            "console": lambda line: problems.append(line.text) if line.type == "error" else None,
            "request": lambda sent: None if sent.url.startswith(local) else problems.append(f"elsewhere: {sent.url}"),
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)
        self.page.set_default_timeout(PATIENCE)

    def broke_off(self, mild: Sequence[str] = BROKEN_OFF) -> list[str]:
        """The problems so far, which are forgotten, beside those of connections that were broken off on purpose."""
        rest = [text for text in self.problems if not any(words in text for words in mild)]
        self.problems.clear()
        return rest

    def go(self, address: str = "") -> None:
        """Load a page, or the same again. Nothing may have gone wrong on the one that is left, but for being left."""
        assert not self.problems
        left = self.page.url != "about:blank"
        self.page.goto(address) if address else self.page.reload()
        if left:
            assert not self.broke_off(LEFT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        assert not self.problems


class Tabs:
    """Tabs of one browser, each as good as new.

    A window of its own for every test has all scripts of the page compiled anew, which takes longer than most tests.
    So there is one tab that is lent again and again, emptied of all that was left in it; whoever wants a tab while that
    is lent gets a new window. What a test does to a tab itself, as to put scripts into it or to stop its clock, cannot
    be undone: such tests ask the browser for a window.
    """

    def __init__(self, browser: Any):
        self._browser = browser
        self._spare: Any = None

    @contextmanager
    def lend(
        self,
        viewport: dict[str, int] = DESK,
        color_scheme: str = "light",
        reduced_motion: str = "reduce",
        permissions: Sequence[str] = (),
    ) -> Iterator[Any]:
        """A tab, until the end of the block.

        Args:
            viewport: Its size, in CSS pixels.
            color_scheme: "light" or "dark".
            reduced_motion: "reduce" or "no-preference".
            permissions: What pages may do in it.
        """
        page, self._spare = self._spare or self._browser.new_context().new_page(), None
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        if permissions:
            page.context.grant_permissions(list(permissions))
        try:
            yield page
        finally:
            if self._spare is None and self._emptied(page):
                self._spare = page
            else:
                page.context.close()

    def _emptied(self, page: Any) -> bool:
        """Take out of a tab what was left in it; false if that does not work, as where its server is gone."""
        from playwright.sync_api import Error

        try:
            for other in page.context.pages:
                if other is not page:
                    other.close()
            where = urlsplit(page.url)
            # A plain file of the same server: what a page writes when it is left is written by then.
            page.goto(f"{where.scheme}://{where.netloc}/theme.css")
            page.evaluate(FORGET)
            page.goto("about:blank")
            page.mouse.move(0, 0)
            page.context.clear_cookies()
            page.context.clear_permissions()
        except Error:
            return False
        return True
