"""A Space to test and a browser tab on it, handled as a person would handle it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabs import Noted

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
]
# What a title may try: markup, a template expression, a template literal, a picture from elsewhere.
HOSTILE = (
    '<img src=x onerror="window.__ran=1"><script>window.__ran=2</script>${window.__ran=3} '
    "`{{value}}` ![i](http://evil.invalid/i.png) "
)

# Keeps everything that the server sends in `window.sent`.
LISTENER = """
const real = window.fetch;
window.sent = "";
window.fetch = async (...request) => {
  const answer = await real(...request);
  const copy = answer.clone().body?.pipeThrough(new TextDecoderStream()).getReader();
  (async () => {
    for (let part = await copy?.read(); part && !part.done; part = await copy.read()) window.sent += part.value;
  })().catch(() => {});
  return answer;
};
"""


def hostile_engine() -> Any:
    """A search engine over a small catalog whose titles try everything that could run."""
    from ecomrlve.catalog.search import SearchEngine
    from ecomrlve.catalog.synthetic import generate

    catalog = generate(2000)
    catalog.titles[:] = [HOSTILE + title for title in catalog.titles]
    return SearchEngine(catalog)


@dataclass
class Server:
    """A running Space."""

    url: str
    demo: Any
    engine: Any
    store: Path


def serve(engine: Any, store: Path, port: int | None = None) -> Server:
    """Serve the Space; on a certain port where a server is to come back that pages know."""
    server = serve_with(lambda: engine, store, port)
    return Server(server.url, server.demo, engine, store)


def serve_with(load: Callable[[], Any], store: Path, port: int | None = None) -> Server:
    """Serve the Space at once, while its engine loads."""
    import app
    from components.session import Shop

    demo = app.build(Shop(load), str(store))
    _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=port, prevent_thread_lock=True, quiet=True)
    return Server(url.rstrip("/"), demo, None, store)


@dataclass
class Space(Noted):
    """One browser tab on a Space, with everything that went wrong in it."""

    page: Any
    server: Server
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.note(self.server.url)

    def open(self, query: str = "", version: int = 0) -> Space:
        """Load the page; wait for the state with this version."""
        self.go(f"{self.server.url}/?{query}")
        self.page.wait_for_selector(".ec-meters:not([data-status=loading])")
        return self.wait(version)

    def wait(self, version: int) -> Space:
        """Wait until the page shows this version of the episode."""
        self.page.wait_for_selector(f".ec-meters[data-version='{version}']", state="attached")
        self.page.wait_for_selector(".ec-desk[aria-busy=false]", state="attached")
        return self

    @property
    def version(self) -> int:
        return int(self.page.get_attribute(".ec-meters", "data-version"))

    def fill_call(self, name: str, args: dict[str, Any]) -> None:
        """Type a tool call into the form, every argument where a person would type it."""
        page = self.page
        page.select_option("#ec-tool", name)
        for key, value in args.items():
            field_ = f"#ec-arg-{key}"
            if isinstance(value, dict):
                if page.locator(f"{field_} textarea").count() == 0:
                    page.click(f"{field_} >> text=Edit as JSON")
                page.fill(f"{field_} textarea", json.dumps(value))
            elif page.locator(field_).evaluate("node => node.tagName") == "SELECT":
                page.select_option(field_, str(value))
            else:
                page.fill(field_, ", ".join(value) if isinstance(value, list) else str(value))

    def call(self, name: str, args: dict[str, Any]) -> Space:
        """Take a turn with one tool call."""
        before = self.version
        self.fill_call(name, args)
        self.page.click(".ec-call")
        return self.wait(before + 1)

    def take(self, action: dict[str, Any], wish: str = "") -> Space:
        """Take a turn as an agent's action says, through the tray, the message box and the answer.

        Args:
            action: The action.
            wish: In a journey, which kind of wish an answer is for.
        """
        page, before = self.page, self.version
        for call in action.get("tool_calls", []):
            self.fill_call(call["name"], call["args"])
            page.click(".ec-collect")
        if action.get("answer") is not None:
            self.fill_answer(action["answer"], wish)
        if action.get("assistant_message"):
            page.fill("#ec-message", action["assistant_message"])
        page.click("#ec-submit" if action.get("answer") is not None else "#ec-send")
        return self.wait(before + 1)

    def fill_answer(self, answer: dict[str, Any], wish: str = "") -> None:
        """Enter an answer: products from their cards, everything else into its field."""
        page = self.page
        if wish:
            page.select_option("#ec-answer-kind", wish)
        while page.locator(".ec-list .ec-remove").count():
            page.locator(".ec-list .ec-remove").first.click()
        for product in answer.get("recommended_product_ids", []):
            page.fill("#cards .ec-find", product)
            page.click(f".ec-card[data-pid='{product}'] .ec-recommend")
        for name, value in answer.items():
            field_ = f"#ec-answer-{name}"
            if name in ("done", "recommended_product_ids") or value in ("", None):
                continue
            if page.locator(field_).evaluate("node => node.tagName") == "SELECT":
                page.select_option(field_, str(value))
            else:
                page.fill(field_, str(value))


def reference_actions(engine: Any, env_id: str, difficulty: int, seed: int) -> tuple[list[dict[str, Any]], Any]:
    """What the reference agent does in an episode, and the reward it gets."""
    turns, reward, _ = reference_episode(engine, env_id, difficulty, seed)
    return [action for _, action in turns], reward


def reference_episode(
    engine: Any, env_id: str, difficulty: int, seed: int
) -> tuple[list[tuple[str, dict[str, Any]]], Any, dict[str, Any]]:
    """What the reference agent does in an episode.

    Returns:
        Its actions, each with the kind of wish that the turn belonged to; the reward; the record.
    """
    import ecomrlve
    from ecomrlve.agents.reference import ReferenceAgent

    env = ecomrlve.make(env_id, catalog=engine)
    agent = ReferenceAgent()
    observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
    agent.reset(env)
    turns: list[tuple[str, dict[str, Any]]] = []
    while True:
        wish = env.episode.intents.current.task.env_id
        turns.append((wish, agent.act(observation)))
        observation, _, terminated, truncated, info = env.step(turns[-1][1])
        if terminated or truncated:
            return turns, info["reward"], env.trajectory("reference", "agent").to_dict()


# Colours that are still on their way to those of the other scheme.
AT_REST = """Promise.all(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map(({finished}) => finished.catch(() => null))
)"""
# By day at a desk, and by night on a phone.
DESK_AND_PHONE = (("light", 1280), ("dark", 390))


def each_look(page: Any, looks: Sequence[tuple[str, int]] = DESK_AND_PHONE) -> Iterator[int]:
    """The page in one look after the other, as it stands; gives the width of each. It ends in the first."""
    for number, (scheme, width) in enumerate((*looks, looks[0])):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function("dark => document.body.classList.contains('dark') === dark", arg=scheme == "dark")
        page.evaluate(AT_REST)
        if number < len(looks):
            yield width


def go_to(page: Any, name: str) -> None:
    """Turn to a tab, which a narrow page keeps behind "More tabs"."""
    tab = page.get_by_role("tab", name=name)
    more = page.get_by_label("More tabs")
    tab.or_(more).first.wait_for()
    if tab.count():
        tab.click()
    else:
        more.click()
        page.locator(".overflow-dropdown").get_by_role("button", name=name).click()
