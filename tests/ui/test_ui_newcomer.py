"""A newcomer gets to a first reward in two minutes of reading and clicking; what the page itself takes is not timed."""

from __future__ import annotations

from newcomer_path import Newcomer
from ui_space import Space


def person_seconds(newcomer: Newcomer, what: str) -> float:
    """The part of the time that does not depend on the machine."""
    return newcomer.seconds(what) - newcomer.marks[what][2]


def test_from_the_page_to_a_first_reward(tab: Space) -> None:
    newcomer = Newcomer(tab)
    newcomer.arrive()
    newcomer.play()
    assert newcomer.marks["a first game"][0] <= 1
    assert person_seconds(newcomer, "a tool result") <= 30
    assert person_seconds(newcomer, "a reward") <= 120
    assert tab.page.inner_text("#result .ec-totalnumber").startswith("+")
