"""The Trajectories tab: stored episodes, uploaded ones, an inspector that steps through one, and its verification."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components import records
from components.entries import Entry, digest, read_line
from components.library import Library
from components.uploads import MEGABYTE, MOST_BYTES, Uploads, first, of_token
from components.widgets import EpisodeTable, Notice, Timeline
from components.widgets.file_drop import FileDrop
from components.widgets.known_panel import KnownPanel
from components.widgets.running_reward import RunningReward
from ecomrlve import replay
from ecomrlve.evaluation.failures import CAUSES

__all__ = ["Library", "TrajectoriesTab", "Uploads", "build"]

PLAIN: dict[str, Any] = {"tone": "plain", "lines": []}
PARCEL = 4 * MEGABYTE  # of text that one request of a download brings
MOST_ASKED = 500  # episodes that one request may name
# What the table is told of an episode, in this order: without names, so that 5,000 episodes make a small page.
FIELDS = ("key", "id", "env_id", "difficulty", "seed", "player", "trial", "turns", "total", "correct", "cause")
# A widget redraws when its value is another one than before; this makes every value another one.
_number = itertools.count(1)


@dataclass(frozen=True)
class TrajectoriesTab:
    """The components of the tab that events touch."""

    state: gr.State
    drop: FileDrop
    upload: gr.UploadButton
    table: EpisodeTable
    notice: Notice
    timeline: Timeline
    reward: RunningReward
    known: KnownPanel
    verdict: Notice


def build(library: Library) -> TrajectoriesTab:
    """Lay the tab out."""

    def parcel(asked: Any = None) -> dict[str, Any]:
        """Some of the episodes that a page asks for, for the browser to save."""
        return lines(library, asked)

    library.start()
    state = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="ec-toolbar"):
        drop = FileDrop({"most": MOST_BYTES, "input": "#upload"}, elem_id="drop")
        upload = gr.UploadButton(
            "Upload episodes",
            file_types=[".jsonl", ".json"],
            file_count="multiple",
            size="sm",
            scale=0,
            min_width=160,
            elem_id="upload",
        )
    notice = Notice(PLAIN, elem_id="notice")
    table = EpisodeTable(None, elem_id="episodes", server_functions=[parcel])
    verdict = Notice(PLAIN, elem_id="verdict")
    with gr.Row(equal_height=False, elem_classes="ec-columns"):
        with gr.Column(scale=7, min_width=320):
            timeline = Timeline(None, elem_id="timeline")
        with gr.Column(scale=4, min_width=320):
            reward = RunningReward(None, elem_id="running-reward")
            known = KnownPanel(None, elem_id="known")
    return TrajectoriesTab(state, drop, upload, table, notice, timeline, reward, known, verdict)


def table(library: Library, uploads: Uploads) -> dict[str, Any] | None:
    """Value of the table: the visitor's uploads and the stored episodes; None if the page shows just these already."""
    stored = library.entries()
    made_of = (library.version, uploads.version)
    if uploads.shown == made_of:
        return None
    uploads.shown = made_of
    told = {
        "fields": FIELDS,
        "stored": [_told(entry) for entry in stored],
        "uploaded": [_told(entry) for entry in uploads.entries],
        "older": library.older,
        "causes": CAUSES,
        "token": uploads.token,
    }
    # As text: Gradio walks through every value that it sends, looking for files in it.
    return {"json": json.dumps(told, separators=(",", ":"), allow_nan=False), "number": next(_number)}


def _told(entry: Entry) -> tuple[Any, ...]:
    return tuple(getattr(entry, name) for name in FIELDS)


def problems(library: Library) -> dict[str, Any]:
    """Notice about lines in the store that could not be read."""
    return {"tone": "bad", "lines": first(library.problems)} if library.problems else PLAIN


def line_of(library: Library, uploads: Uploads, key: Any) -> bytes | None:
    """The record with this key as it is stored or was uploaded."""
    return (uploads.line(key) or library.line(key)) if isinstance(key, str) else None


def find(library: Library, uploads: Uploads, key: Any) -> dict[str, Any] | None:
    """The record with this key."""
    line = line_of(library, uploads, key)
    return None if line is None else read_line(line)[1] or None


def linked(library: Library, uploads: Uploads, query: Mapping[str, Any]) -> tuple[str | None, int]:
    """The key of the episode that an address names (``?tab=trajectories&episode=ID&step=3``), and the step."""
    episode, step = query.get("episode"), query.get("step")
    key = (uploads.find(episode) or library.find(episode)) if isinstance(episode, str) else None
    digits = isinstance(step, str) and step.isascii() and step.isdigit() and len(step) < 5
    return key, int(step) if digits and isinstance(step, str) else 0


@dataclass(frozen=True)
class Inspection:
    """Values of the widgets that show one episode."""

    timeline: dict[str, Any]
    known: dict[str, Any]


def inspect(line: bytes, key: str, *, start: int = 0) -> Inspection:
    """Show an episode.

    Args:
        line: Its record, as stored.
        key: Its key.
        start: The step to begin at.
    """
    _, record = read_line(line)
    view = records.timeline(record, start=start)
    known = {**view.pop("known"), "key": key}
    # The record goes along as the text it is: the browser reads arguments and results from it and saves it unchanged.
    timeline = {
        "view": json.dumps({**view, "key": key}, allow_nan=False),
        "line": line.decode(),
        "number": next(_number),
    }
    return Inspection(timeline, {"json": json.dumps(known, allow_nan=False), "number": next(_number)})


def reward_key(line: bytes) -> str:
    """What a running reward is kept under: the same for the same bytes."""
    return digest(line)


def verify(trajectory: dict[str, Any] | None, engine: Any) -> dict[str, Any]:
    """Play the episode again and compare. Returns the notice that says what came of it."""
    if trajectory is None:
        return {"tone": "bad", "lines": ["That episode is no longer in the store."]}
    verdict = replay.verify(trajectory, engine)
    if verdict.ok:
        return {"tone": "good", "lines": ["Verified: played again, it came out the same to the last byte and reward."]}
    return {"tone": "bad", "lines": [f"It does not come out the same: {verdict.difference}"]}


def lines(library: Library, asked: Any) -> dict[str, Any]:
    """As many of the asked episodes as fit one parcel, as JSONL.

    Args:
        library: The stored episodes.
        asked: What a page sent: its ``token`` and the ``keys`` it wants.

    Returns:
        The text, how many of the keys it answers, and how many of these are gone.
    """
    asked = asked if isinstance(asked, dict) else {}
    keys = asked.get("keys")
    uploads = of_token(asked.get("token"))
    found: list[str] = []
    taken = size = 0
    for key in keys[:MOST_ASKED] if isinstance(keys, list) else ():
        line = line_of(library, uploads, key) if uploads else library.line(str(key))
        if line is not None and found and size + len(line) > PARCEL:
            break
        taken += 1
        if line is not None:
            found.append(line.decode("utf-8", "replace") + "\n")
            size += len(line)
    return {"text": "".join(found), "taken": taken, "gone": taken - len(found)}
