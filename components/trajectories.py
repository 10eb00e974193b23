"""The Trajectories tab: stored episodes, uploaded ones, an inspector that steps through one, and its verification."""

from __future__ import annotations

import html
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr

from components import records
from components.widgets import EpisodeTable, Notice, Timeline
from ecomrlve import replay
from ecomrlve.errors import TrajectoryError
from ecomrlve.replay import TrajectoryStore, load_trajectories

MOST_BYTES = 20 * 2**20
MOST_EPISODES = 5000
MOST_PROBLEMS = 8
PLAIN = {"tone": "plain", "lines": []}


class Library:
    """The folder of finished episodes, read again only where it has changed.

    Args:
        folder: Where the JSONL files are.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.problems: list[str] = []
        self._store = TrajectoryStore(folder)
        self._lock = threading.Lock()
        self._files: dict[Path, tuple[tuple[int, int], list[dict[str, Any]], list[str]]] = {}

    def append(self, trajectory: dict[str, Any]) -> None:
        """Store a finished episode. A full disk must not cost the visitor the page that shows the reward."""
        try:
            self._store.append(trajectory)
        except TrajectoryError as error:
            gr.Warning(html.escape(f"This episode could not be stored: {error}"))

    def episodes(self) -> dict[str, dict[str, Any]]:
        """All stored episodes by key, oldest file first."""
        with self._lock:
            files = sorted(self.folder.glob("*.jsonl")) if self.folder.is_dir() else []
            self._files = {file: self._read(file) for file in files}
            self.problems = [problem for _, _, problems in self._files.values() for problem in problems]
            return {
                f"{file.stem}:{number}": trajectory
                for file, (_, found, _) in self._files.items()
                for number, trajectory in enumerate(found)
            }

    def _read(self, file: Path) -> tuple[tuple[int, int], list[dict[str, Any]], list[str]]:
        facts = file.stat()
        stamp = (facts.st_mtime_ns, facts.st_size)
        known = self._files.get(file)
        if known is not None and known[0] == stamp:
            return known
        return (stamp, *_load(file))

    def export(self) -> str:
        """All stored episodes as JSONL."""
        return "".join(json.dumps(found, ensure_ascii=False) + "\n" for found in self.episodes().values())


def _load(file: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The episodes of a file and the problems with its lines."""
    try:
        found, problems = load_trajectories(file)
    except (OSError, TrajectoryError) as error:
        return [], [f"{file.name}: {error}"]
    return list(found), [str(problem) for problem in problems]


@dataclass
class Uploads:
    """What one visitor uploaded; nobody else sees it."""

    episodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: int = 0

    def read(self, file: Path) -> dict[str, Any]:
        """Take a file in. Returns the notice that says what came of it."""
        size = file.stat().st_size
        if size > MOST_BYTES:
            text = f"{file.name} has {size / 2**20:.1f} MB; up to {MOST_BYTES // 2**20} MB can be uploaded. Split it."
            return {"tone": "bad", "lines": [text]}
        found, problems = _load(file)
        space = MOST_EPISODES - len(self.episodes)
        self.files += 1
        for number, trajectory in enumerate(found[:space]):
            self.episodes[f"upload{self.files}:{number}"] = trajectory
        lines = [f"{file.name}: {min(len(found), space)} episodes read."]
        if len(found) > space:
            problems = [*problems, f"only the first {space} episodes were taken"]
        return {"tone": "bad" if problems else "good", "lines": [*lines, *_first(problems)]}


def _first(problems: list[str]) -> list[str]:
    more = len(problems) - MOST_PROBLEMS
    return [*problems[:MOST_PROBLEMS], *([f"… and {more} more problems"] if more > 0 else [])]


@dataclass(frozen=True)
class TrajectoriesTab:
    """The components of the tab that events touch."""

    state: gr.State
    upload: gr.UploadButton
    table: EpisodeTable
    notice: Notice
    timeline: Timeline
    verdict: Notice


def build(library: Library) -> TrajectoriesTab:
    """Lay the tab out."""

    def export_all(_: Any = None) -> str:
        """All stored episodes as JSONL, for the browser to save."""
        return library.export()

    state = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="ec-toolbar"):
        gr.HTML(
            "<p class='ec-desc'>Every finished episode is kept here, with all that was said and done. Pick one to walk "
            "through it, or upload a JSONL file of your own: only you will see it.</p>",
            js_on_load=None,
            apply_default_css=False,
        )
        upload = gr.UploadButton("Upload JSONL", file_types=[".jsonl", ".json"], size="sm", scale=0, elem_id="upload")
    notice = Notice(PLAIN, elem_id="notice")
    table = EpisodeTable({"episodes": []}, elem_id="episodes", server_functions=[export_all])
    timeline = Timeline(None, elem_id="timeline")
    verdict = Notice(PLAIN, elem_id="verdict")
    return TrajectoriesTab(state, upload, table, notice, timeline, verdict)


def table(library: Library, uploads: Uploads) -> dict[str, Any]:
    """Value of the table: the visitor's uploads and the stored episodes, newest first."""
    entries = [(key, found, "stored") for key, found in library.episodes().items()]
    entries += [(key, found, "uploaded") for key, found in uploads.episodes.items()]
    return {"episodes": [records.row(found, key, source, order) for order, (key, found, source) in enumerate(entries)]}


def problems(library: Library) -> dict[str, Any]:
    """Notice about lines in the store that could not be read."""
    return {"tone": "bad", "lines": _first(library.problems)} if library.problems else PLAIN


def find(library: Library, uploads: Uploads, key: Any) -> dict[str, Any] | None:
    """The episode with this key."""
    return uploads.episodes.get(str(key)) or library.episodes().get(str(key))


def inspect(trajectory: dict[str, Any], key: str) -> dict[str, Any]:
    """Value of the inspector."""
    return {**records.timeline(trajectory), "key": key}


def verify(trajectory: dict[str, Any] | None, engine: Any) -> dict[str, Any]:
    """Play the episode again and compare. Returns the notice that says what came of it."""
    if trajectory is None:
        return {"tone": "bad", "lines": ["That episode is no longer in the store."]}
    verdict = replay.verify(trajectory, engine)
    if verdict.ok:
        return {"tone": "good", "lines": ["Verified: played again, it came out the same to the last byte and reward."]}
    return {"tone": "bad", "lines": [f"It does not come out the same: {verdict.difference}"]}
