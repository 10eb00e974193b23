"""A newcomer on the Space: opens it, presses one button, and does what the guide says, reading all that it says.

Time has two parts. What the page takes is measured; what a person takes is a model: `WORDS_PER_MINUTE` for every word
that is shown anew (of the welcome, the guide and the customer), and `SECONDS_PER_ACT` for every click, choice or field.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ui_space import Space

WORDS_PER_MINUTE = 250
SECONDS_PER_ACT = 1.2
MOST_ACTS = 30
FIRST_RESULT, FIRST_REWARD = "#chat .thought-group", "#result .ec-totalnumber"


@dataclass
class Newcomer:
    """Somebody who has never seen the page.

    Attributes:
        space: The browser tab.
        acts: Clicks, choices and fields so far.
        words: Words read so far.
        waited: Seconds that the page took so far.
        marks: What was reached → (acts, words, seconds waited) by then.
    """

    space: Space
    acts: int = 0
    words: int = 0
    waited: float = 0.0
    marks: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    @property
    def page(self) -> Any:
        """The browser's page."""
        return self.space.page

    def reach(self, what: str) -> None:
        """Note that something is there now, if it was not before."""
        self.marks.setdefault(what, (self.acts, self.words, self.waited))

    def seconds(self, what: str) -> float:
        """How long it took to get there, page and person together."""
        acts, words, waited = self.marks[what]
        return acts * SECONDS_PER_ACT + words * 60 / WORDS_PER_MINUTE + waited

    def read(self, selector: str) -> None:
        """Read the texts that stand there, each once."""
        for text in self.page.locator(f"{selector}:visible").all_inner_texts():
            if text and text not in self._read:
                self._read.add(text)
                self.words += len(text.split())

    def arrive(self) -> None:
        """Open the page and read what it says first."""
        began = time.perf_counter()
        self.page.goto(self.space.server.url)
        self.page.wait_for_selector("#ec-guided:enabled")
        self.page.wait_for_selector(".ec-meters:not([data-status=loading])")
        self.waited += time.perf_counter() - began
        self.reach("a usable page")
        self.read(".ec-title, .ec-meters .ec-note")

    def play(self) -> None:
        """Press the button of the guided game, and follow the guide to the reward."""
        self.do(lambda: self.page.click("#ec-guided"), version=1)
        self.reach("a first game")
        for _ in range(MOST_ACTS):
            self.read("#chat .bot.message, .ec-guide-step, .ec-guide-aside, .ec-guide-text")
            if self.page.locator(FIRST_REWARD).count():
                return
            self.do(self.follow)
        raise AssertionError(f"no reward after {MOST_ACTS} acts")

    def _note(self) -> None:
        for name, selector in (("a tool result", FIRST_RESULT), ("a reward", FIRST_REWARD)):
            if self.page.locator(selector).count():
                self.reach(name)

    def do(self, act: Any, version: int | None = None) -> None:
        """One act of a person; waits until the page shows what came of it."""
        guide = self.page.locator(".ec-guide")
        before = "" if version else guide.inner_text()
        began = time.perf_counter()
        act()
        if version:
            self.space.wait(version)
        changed = "before => document.querySelector('.ec-guide').innerText !== before"
        self.page.wait_for_function(changed, arg=before)
        self.waited += time.perf_counter() - began
        self.acts += 1
        self._note()

    def follow(self) -> None:
        """Do the one thing that the guide says, with what it offers or what it has outlined."""
        guide, page = self.page.locator(".ec-guide"), self.page
        offered = guide.locator(".ec-guide-next:visible, .ec-guide-write:visible")
        lit = page.locator(".ec-lit")
        if offered.count():
            offered.first.click()
        elif lit.evaluate("node => node.tagName") == "SELECT":
            lit.select_option(guide.locator(".ec-guide-text code").inner_text())
        elif lit.evaluate("node => node.tagName") == "INPUT":
            lit.fill(f"more {lit.input_value()}")
        else:
            lit.click()
