"""A page with the Watch tab alone, agents to watch there, and somebody who watches."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from ui_space import HOSTILE, Server, Space

HERE = f"python:{__name__}:"
BAD_NAME = HERE + "<img/src=x/onerror=window.__ran=4>"


class Gated:
    """An agent that thinks until the test lets it go on."""

    name = "gated"
    gate: ClassVar[threading.Event] = threading.Event()
    thinking: ClassVar[threading.Event] = threading.Event()
    asked: ClassVar[int] = 0

    def reset(self, env: Any) -> None:
        pass

    def act(self, observation: Any) -> Any:
        Gated.asked += 1
        Gated.thinking.set()
        Gated.gate.wait(600)
        return {"assistant_message": f"I thought {Gated.asked} times."}


class Raising:
    """An agent that says something and then fails."""

    name = "raising"

    def reset(self, env: Any) -> None:
        pass

    def act(self, observation: Any) -> Any:
        from ecomrlve.errors import EcomrlveError

        if observation.turn:
            raise EcomrlveError(f"{HOSTILE} is too much for me.")
        return {"assistant_message": HOSTILE}


def page_of(engine: Any, kept: list[Any]) -> Any:
    """A page with two tabs, of which the other stands for Play: it shows what is handed over, and hands over."""
    import gradio as gr

    from components import watch
    from components.events.watch import wire_watch
    from components.session import Shop

    shop = Shop(lambda: engine).start()
    with gr.Blocks(title="test", fill_width=True, analytics_enabled=False) as demo:
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("First", id="first"):
                log = gr.Textbox(label="log", elem_id="log")
                go_on = gr.Button("Let the agent go on")
            with gr.Tab("Watch", id="watch"):
                tab = watch.build()
        hooks = wire_watch(demo, tab, shop, kept.append)
        hooks.taken_over.then(json.dumps, tab.handover, log)

        async def hand_over(viewer: Any, text: str) -> Any:
            async for values in hooks.go_on(viewer, json.loads(text), "reference"):
                yield values

        go_on.click(hand_over, [tab.state, log], hooks.outputs)
    return demo


def serve_watch(engine: Any, kept: list[Any]) -> Iterator[Server]:
    import app

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ECOMRLVE_AGENTS", "\n".join([HERE + "Gated", HERE + "Raising", BAD_NAME]))
        demo = page_of(engine, kept)
        _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=None, prevent_thread_lock=True, quiet=True)
        yield Server(url.rstrip("/"), demo, engine, Path())
        demo.close()


class Watching(Space):
    """A browser tab in which somebody watches."""

    def visit(self, query: str = "") -> Watching:
        """Open the page and the tab."""
        self.go(f"{self.server.url}/?{query}")
        self.page.get_by_role("tab", name="Watch").click()
        self.page.wait_for_selector("#ec-watch-start")
        return self

    def start(self, env_id: str, difficulty: int, seed: int, agent: str) -> Watching:
        """Choose and start, as a person does."""
        page = self.page
        page.select_option("#ec-watch-env", env_id)
        page.locator("#ec-watch-d").fill(str(difficulty))
        page.fill("#ec-watch-seed", str(seed))
        page.select_option("#ec-watch-agent", agent)
        page.click("#ec-watch-start")
        return self

    def at(self, turns: int, status: str = "going") -> Watching:
        """Wait until the page shows exactly this many turns."""
        self.page.wait_for_selector(f".ec-watch-talk[data-turns='{turns}'][data-status='{status}']")
        assert self.page.locator(".ec-watch-turn").count() == turns + 1
        return self

    def after(self, turn: int) -> Watching:
        """Wait until this turn is on the page, of an agent that plays on meanwhile."""
        self.page.wait_for_selector(f".ec-watch-turn[data-turn='{turn}']")
        return self

    def pause(self) -> int:
        """Pause; returns how many turns there are, once the server has nothing to say any more."""
        self.page.click("#ec-watch-pause")
        self.page.wait_for_selector(".ec-watch-talk[data-waiting=false]")
        return int(self.page.get_attribute(".ec-watch-talk", "data-turns"))

    def finish(self) -> float:
        """Let the agent play on as fast as it goes; returns the total that the page shows."""
        self.page.select_option("#ec-watch-speed", "most")
        if self.page.locator("#ec-watch-pause", has_text="Go on").count():
            self.page.click("#ec-watch-pause")
        self.page.wait_for_selector(".ec-watch-talk[data-status=finished]")
        return float(self.page.get_attribute("#watch-result .ec-totalnumber", "data-total"))


def beside(space: Watching) -> Watching:
    """Another page in the same window."""
    return Watching(space.page.context.new_page(), space.server, problems=space.problems)


def visitor(browser: Any, server: Server, **options: Any) -> Watching:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", **options)
    return Watching(context.new_page(), server)
