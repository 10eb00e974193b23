"""Whether everybody can use the page: width, contrast, labels."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Server, Space, reference_actions

# Every visible text of ours: its colour against the ground it really stands on.
CONTRAST = """() => {
  const rgb = text => { const m = text.match(/[\\d.]+/g).map(Number); return text.startsWith('color(srgb') ? [...m.slice(0, 3).map(x => x * 255), m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = node => { const stack = []; for (let n = node; n; n = n.parentElement) stack.push(rgb(getComputedStyle(n).backgroundColor)); return stack.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]); };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (node.closest('svg, script, style, option, :disabled, .ec-off textarea, .toast-wrap, footer')) continue;
    let opacity = 1;
    for (let n = node; n; n = n.parentElement) opacity *= Number(getComputedStyle(n).opacity);
    const below = ground(node), ink = rgb(getComputedStyle(node).color);
    const text = over([ink[0], ink[1], ink[2], ink[3] * opacity], below);
    const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${node.tagName}.${node.className} ${walker.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return poor;
}"""
UNNAMED = """() => [...document.querySelectorAll('.ec :is(input, select, textarea, button)')].filter(node => node.checkVisibility()).filter(node =>
  !(node.getAttribute('aria-label') || node.textContent.trim() && node.tagName === 'BUTTON' || node.labels && node.labels.length)).map(node => node.outerHTML.slice(0, 120))"""


def at_all_stages(browser: Any, server: Server, look: Any, **options: Any) -> None:
    """Call `look` on the empty page, in mid-episode, after the end, and on the inspector."""
    actions, _ = reference_actions(server.engine, "E_PD", 4, 7)
    context = browser.new_context(reduced_motion="reduce", **options)
    space = Space(context.new_page(), server)
    space.open()
    look(space.page)
    space.open("env=E_PD&d=4&seed=7", version=1)
    for action in actions[:-1]:
        space.take(action)
    space.page.click(".ec-add-filter") if space.page.locator(".ec-add-filter").count() else None
    space.page.locator(".ec-recommend").first.click()
    space.page.click(".ec-collect")
    look(space.page)
    space.take(actions[-1])
    look(space.page)
    space.page.get_by_role("tab", name="Trajectories").click()
    space.page.locator("#episodes tbody tr").first.click()
    space.page.wait_for_selector(".ec-stepper")
    space.page.focus(".ec-timeline")
    space.page.keyboard.press("j")
    look(space.page)
    space.page.keyboard.press("End")
    look(space.page)
    context.close()
    assert not space.problems


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(browser: Any, server: Server, scheme: str) -> None:
    poor: list[str] = []
    at_all_stages(browser, server, lambda page: poor.extend(page.evaluate(CONTRAST)), color_scheme=scheme)
    assert not sorted(set(poor))


def test_a_phone_needs_no_sideways_scrolling(browser: Any, server: Server) -> None:
    wide: list[int] = []
    size = {"width": 390, "height": 844}
    at_all_stages(
        browser, server, lambda page: wide.append(page.evaluate("document.documentElement.scrollWidth")), viewport=size
    )
    assert max(wide) <= 390


def test_every_control_has_a_name(browser: Any, server: Server) -> None:
    unnamed: list[str] = []
    at_all_stages(browser, server, lambda page: unnamed.extend(page.evaluate(UNNAMED)))
    assert not unnamed
