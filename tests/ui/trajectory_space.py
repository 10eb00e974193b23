"""A page with the Trajectories tab alone, and a visitor who handles it as a person would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
from tabs import Noted, Tabs

PLAYED = (("reference", "E_CART"), ("random", "E_CART"), ("reference", "E_PD"), ("random", "E_STATUS"),
          ("scripted", "E_JOURNEY"))  # fmt: skip
INVALID = 60  # episodes that ended with their first output, so that the list has two pages


def played(engine: Any, player: str, env_id: str, seed: int, difficulty: int = 6) -> dict[str, Any]:
    """The record of an episode."""
    import ecomrlve
    from ecomrlve.agents.base import play
    from ecomrlve.agents.registry import players_of

    env = ecomrlve.make(env_id, catalog=engine)
    play(env, players_of(player).player(), seed, difficulty)
    return env.trajectory(player).to_dict()


def invalid(engine: Any, seed: int) -> dict[str, Any]:
    """The record of an episode that ended with its first output."""
    import ecomrlve

    env = ecomrlve.make("E_POLICY", catalog=engine)
    env.reset(seed=seed)
    env.step("{broken")
    return env.trajectory("broken").to_dict()


@dataclass
class Site:
    """A running page with the tab, and the records in its store."""

    url: str
    library: Any
    engine: Any
    records: list[dict[str, Any]]


def running(words_engine: Any, store: Path) -> Iterator[Site]:
    """A running page, with the tab's episodes in a folder."""
    import app
    from components import trajectories
    from components.events.trajectories import wire_trajectories
    from components.session import Shop

    library = trajectories.Library(store)
    records = [invalid(words_engine, seed) for seed in range(INVALID)]
    records += [played(words_engine, player, env_id, 7) for player, env_id in PLAYED]
    for record in records:
        library.append(record)
    with gr.Blocks(fill_width=True, analytics_enabled=False) as demo, gr.Tabs(elem_id="tabs"):
        with gr.Tab("First", id="first"):
            button = gr.Button("Open the last episode")
        with gr.Tab("Trajectories", id="trajectories") as page:
            tab = trajectories.build(library)
        opening = wire_trajectories(demo, page, tab, Shop(lambda: words_engine).start(), library)

        def open_last(state: Any, request: gr.Request) -> list[Any]:
            return opening.show(state, request, library.find(records[-1]["episode_id"]), 1)

        button.click(open_last, tab.state, opening.outputs)
    _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=None, prevent_thread_lock=True, quiet=True)
    yield Site(url.rstrip("/"), library, words_engine, records)
    demo.close()


@dataclass
class Visit(Noted):
    """One browser tab, with everything that went wrong in it."""

    page: Any
    site: Site
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.note(self.site.url)

    def open(self, query: str = "") -> Visit:
        """Load the page; with no query, open the tab as a person would."""
        self.go(f"{self.site.url}/?{query}")
        if not query:
            self.page.get_by_role("tab", name="Trajectories").click()
        self.page.wait_for_selector("#episodes tbody tr")
        return self

    @property
    def rows(self) -> Any:
        return self.page.locator("#episodes tbody tr")

    def row(self, *texts: str) -> Any:
        """The first row with all these texts."""
        found = self.rows
        for text in texts:
            found = found.filter(has_text=text)
        return found.first

    def choose(self, name: str, value: str) -> None:
        self.page.select_option(f"[aria-label='Filter by {name}']", value)

    def pick(self, *texts: str) -> Visit:
        """Open an episode and wait for all panels."""
        row = self.row(*texts)
        key = row.get_attribute("data-key")
        row.click()
        self.page.wait_for_selector(f"#episodes tr.ec-on[data-key='{key}']")
        self.page.wait_for_selector(".ec-known:not([hidden])")
        self.page.wait_for_selector(".ec-running:not([data-state=waiting])")
        self.page.focus(".ec-timeline")
        return self

    def press(self, key: str, step: int) -> None:
        """Press a key; wait until the inspector shows that step."""
        self.page.keyboard.press(key)
        self.page.wait_for_selector(f".ec-timeline[data-step='{step}']")

    def send(self, *files: Path) -> Visit:
        """Choose files for the upload button."""
        with self.page.expect_file_chooser() as chooser:
            self.page.click("#upload")
        chooser.value.set_files([str(file) for file in files])
        return self

    def drop(self, name: str, content: str, onto: str = "#episodes") -> None:
        """Drag a file over the page and let it go."""
        carry = "([name, text]) => { const it = new DataTransfer(); it.items.add(new File([text], name)); return it; }"
        carried = self.page.evaluate_handle(carry, [name, content])
        for event in ("dragenter", "dragover", "drop"):
            if event == "drop":
                self.page.wait_for_selector(".ec-veil", state="visible")
            self.page.dispatch_event(onto, event, {"dataTransfer": carried})
        self.page.wait_for_selector(".ec-veil", state="hidden")

    def saved(self, button: str) -> list[dict[str, Any]]:
        """What a button downloads."""
        with self.page.expect_download() as download:
            self.page.click(button)
        return [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]

    @property
    def notice(self) -> Any:
        return self.page.locator("#notice")


def visiting(tabs: Tabs, site: Site) -> Iterator[Visit]:
    """A browser tab; nothing may go wrong in it."""
    with tabs.lend(permissions=["clipboard-read"]) as page, Visit(page, site) as visit:
        yield visit


def write(folder: Path, *records: dict[str, Any] | str, name: str = "episodes.jsonl") -> Path:
    file = folder / name
    file.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records))
    return file
