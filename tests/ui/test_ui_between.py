"""From tab to tab: a game is replayed, an agent's episode taken over, one's own handed over, an address followed."""

from __future__ import annotations

import pytest
from ui_space import Space, reference_actions


def selected(tab: Space, name: str) -> None:
    """Wait until the page shows a tab."""
    tab.page.wait_for_selector(f"[role=tab][aria-selected=true]:has-text('{name}')")


def test_a_finished_game_is_replayed_step_by_step(tab: Space) -> None:
    actions, _ = reference_actions(tab.server.engine, "E_CART", 2, 5)
    tab.open("env=E_CART&d=2&seed=5", version=1)
    for action in actions:
        tab.take(action)
    tab.page.click("#ec-replay")
    selected(tab, "Trajectories")
    tab.page.wait_for_selector(".ec-stepper")
    assert "E_CART · d 2 · seed 5" in tab.page.inner_text("#timeline")


def test_a_person_goes_on_where_an_agent_was(tab: Space) -> None:
    tab.go(f"{tab.server.url}/?tab=watch&env=E_CART&d=4&seed=9&agent=scripted")
    selected(tab, "Watch")
    tab.page.get_by_role("button", name="Take over from here").last.click()
    selected(tab, "Play")
    tab.page.wait_for_selector("#meters .ec-meters[data-status=running]")
    assert "seed 9" in tab.page.inner_text("#meters")


def test_an_agent_goes_on_where_a_person_was(tab: Space) -> None:
    actions, _ = reference_actions(tab.server.engine, "E_CART", 2, 5)
    tab.open("env=E_CART&d=2&seed=5", version=1)
    tab.take(actions[0])
    tab.page.get_by_role("button", name="Hand over").click()
    selected(tab, "Watch")
    tab.page.wait_for_selector("#watch-meters .ec-meters:has-text('seed 5')")
    tab.page.wait_for_selector("#watch-talk :text('Turn 2')")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("tab=compare&env=E_PD&d=3&seed=2&a=reference&b=random", "Compare"),
        ("tab=trajectories", "Trajectories"),
        ("tab=curriculum&d=6", "Difficulty"),
        ("tab=leaderboard&env=E_CART", "Leaderboard"),
        ("tab=nowhere", "Play"),
    ],
)
def test_an_address_names_a_tab_and_starts_no_other_game(tab: Space, query: str, name: str) -> None:
    tab.go(f"{tab.server.url}/?{query}")
    tab.page.wait_for_selector(".ec-meters:not([data-status=loading])", state="attached")
    selected(tab, name)
    assert tab.page.evaluate("window.ecom.readLog()") is None
