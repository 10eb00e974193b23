"""The Compare tab: two players in the same scenario, side by side; or two agents over a series of seeds.

In blind mode the sides are shuffled and nothing that is sent to the browser tells who is who, until the visitor has
guessed. What could tell goes with the names: times, notes, and which of the two is the recorded game.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from components import compare_playing, compare_rows, compare_series
from components.agents import choices, title_of
from components.compare_playing import AGENT, PERSON, Game, Match, Scenario
from components.compare_series import Played, Series
from components.session import ENVIRONMENTS
from components.tables import mapping, words
from components.widgets.compare_pair import ComparePair
from components.widgets.compare_series import CompareSeries
from components.widgets.compare_setup import CompareSetup
from ecomrlve.streams import Stream

START: dict[str, Any] = {"env_id": next(iter(ENVIRONMENTS)), "difficulty": 3, "seed": 7}
# In place of an agent's name: the recorded game at hand, and the game last finished in the Play tab.
GAME, LAST_GAME = "@game", "@last"
HIDDEN = ("Circle", "Triangle")
PAIR, SERIES = "pair", "series"
# A widget redraws when its value is another one than before; this makes every value another one.
_number = itertools.count(1)
against = compare_playing.against


@dataclass(frozen=True)
class Pair:
    """Two finished episodes of one scenario, ready to be looked at.

    Attributes:
        scenario: The scenario.
        names: The players' names, "" for a recorded game.
        labels: The same for people.
        kinds: Person or agent.
        records: Their records.
        notes: Sentences for people; in blind mode they wait.
    """

    scenario: Scenario
    names: tuple[str, str]
    labels: tuple[str, str]
    kinds: tuple[str, str]
    records: tuple[dict[str, Any], dict[str, Any]]
    notes: tuple[str, ...] = ()


def pair_of(match: Match) -> Pair:
    """What a match that is over came to."""
    one, other = match.sides
    notes = tuple(note for side in match.sides for note in side.notes)
    names, labels, kinds = (one.name, other.name), (one.label, other.label), (one.kind, other.kind)
    return Pair(match.scenario, names, labels, kinds, match.records(), notes)


def pair_in(series: Series, played: Played) -> Pair:
    """One seed of a series."""
    base = series.scenario
    one, other = map(words, series.names)
    scenario = Scenario(base.env_id, base.difficulty, played.seed, base.overrides)
    return Pair(scenario, (one, other), (title_of(one), title_of(other)), (AGENT, AGENT), played.records())


@dataclass
class Comparison:
    """What one browser tab compares.

    Attributes:
        token: Keys the draws of which side is which; nobody can guess it.
        jobs: Numbers of the pair and of the series that are being played; raising one stops it.
        game: The recorded game at hand.
        pair: What is shown side by side.
        blind: Whether the visitor is to guess who is who.
        revealed: Whether that has been told.
        swapped: Whether the player named second stands first.
        guesses: Guesses so far, and those that were right.
        series: The series shown.
    """

    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    jobs: dict[str, int] = field(default_factory=lambda: dict.fromkeys((PAIR, SERIES), 0))
    game: Game | None = None
    pair: Pair | None = None
    blind: bool = False
    revealed: bool = False
    swapped: bool = False
    guesses: list[bool] = field(default_factory=list)
    series: Series | None = None

    @property
    def hidden(self) -> bool:
        """Whether nothing may tell yet who is who."""
        return self.blind and not self.revealed

    def begin(self, what: str) -> int:
        """Stop the pair or the series that is being played; returns the number of the next one."""
        self.jobs[what] += 1
        return self.jobs[what]

    def show(self, pair: Pair, *, blind: bool) -> None:
        """Put a pair on the page; in blind mode its sides are shuffled."""
        self.pair, self.blind, self.revealed = pair, blind, False
        self.swapped = blind and Stream("compare", self.token, self.jobs[PAIR]).chance(0.5)

    def guess(self, side: Any) -> bool | None:
        """Take the visitor's guess and reveal who is who.

        Args:
            side: Which side, 0 or 1, the visitor takes for the one asked about; anything else is no guess.

        Returns:
            Whether it is right; None if it was no guess, or nothing is hidden.
        """
        if self.pair is None or not self.hidden:
            return None
        self.revealed = True
        if isinstance(side, bool) or side not in (0, 1):
            return None
        self.guesses.append(side == int(self.swapped))
        return self.guesses[-1]


# --- values of the widgets -------------------------------------------------------------------------------------------


def setup(chosen: Mapping[str, Any] | None = None, game: Game | None = None) -> dict[str, Any]:
    """Value of the form.

    Args:
        chosen: Any of env_id, difficulty, seed, one and other.
        game: The recorded game at hand; it is chosen, and fixes the scenario.
    """
    agents = [{"name": choice.name, "label": choice.label} for choice in choices()]
    players = {"one": agents[0]["name"], "other": agents[1]["name"]}
    value: dict[str, Any] = {
        "environments": [{"id": name, "label": label} for name, label in ENVIRONMENTS.items()],
        "agents": agents,
        "counts": list(compare_series.COUNTS),
        "game": None,
        **START,
        **players,
        **(chosen or {}),
        "number": next(_number),
    }
    if game is not None:
        scenario = game.scenario
        place = f"{words(scenario.env_id)}, d {words(scenario.difficulty)}, seed {words(scenario.seed)}"
        value |= {"game": {"label": f"Recorded game by {game.label} ({place})"}, "one": GAME}
        value |= {name: words(getattr(scenario, name)) for name in ("env_id", "difficulty", "seed")}
    return {**value, "seed": words(value["seed"])}


def empty() -> dict[str, Any]:
    """Value of the two sides before anything was compared."""
    return {"status": "empty", "number": next(_number)}


def playing(match: Match) -> dict[str, Any]:
    """Value of the two sides while they are being played; it tells nothing of who is how far."""
    return {"status": "playing", "turns": match.turns, "number": next(_number)}


def failed(note: str) -> dict[str, Any]:
    """Value of the two sides where there is nothing to see, and why."""
    return {"status": "failed", "note": note, "number": next(_number)}


def sides(comparison: Comparison, *, right: bool | None = None) -> dict[str, Any]:
    """Value of the two sides.

    Args:
        comparison: What is shown.
        right: Whether the visitor has just guessed right; None if there was no guess.
    """
    pair = comparison.pair
    if pair is None:
        return empty()
    hidden = comparison.hidden
    order = (1, 0) if comparison.swapped else (0, 1)
    records = [pair.records[place] for place in order]
    pairs = compare_rows.aligned(*(record.get("steps", []) for record in records))
    openings = [words(mapping(record.get("opening")).get("text")) for record in records]
    return {
        "status": "done",
        "number": next(_number),
        "key": comparison.jobs[PAIR],
        "title": _title(records[0]),
        # Whoever plays this seed now knows how it ends, and the browser remembers that.
        "env_id": words(records[0].get("env_id")),
        "seed": words(records[0].get("seed")),
        "hidden": hidden,
        "question": _question(pair) if hidden else "",
        "verdict": _verdict(comparison, right, order) if comparison.blind and not hidden else None,
        "sides": [
            {
                "name": HIDDEN[at] if hidden else pair.labels[place],
                "figures": compare_rows.figures(record, timed=not hidden),
            }
            for at, (place, record) in enumerate(zip(order, records, strict=True))
        ],
        "opening": openings[:1] if openings[0] == openings[1] else openings,
        "told": compare_rows.told(pairs),
        "first": compare_rows.first_difference(pairs),
        "rows": compare_rows.table(pairs, timed=not hidden),
        "notes": [] if hidden else list(pair.notes),
        "link": "" if hidden or "" in pair.names else link(pair),
    }


def _title(record: Mapping[str, Any]) -> str:
    env_id = words(record.get("env_id"))
    task = ENVIRONMENTS.get(env_id, env_id)
    return f"{task}, difficulty {words(record.get('difficulty'))}, seed {words(record.get('seed'))}"


def _question(pair: Pair) -> str:
    """What the visitor is to guess: always which side is the player named first, who is the person if there is one."""
    if pair.kinds[0] == PERSON:
        return "person"
    return "game" if not pair.names[0] else "player"


def _verdict(comparison: Comparison, right: bool | None, order: tuple[int, int]) -> dict[str, Any]:
    """What the visitor is told once it is out who is who."""
    assert comparison.pair is not None
    first, second = (comparison.pair.labels[place] for place in order)
    who = f"{HIDDEN[0]} is {first}, {HIDDEN[1]} is {second}."
    told = {True: f"Right! {who}", False: f"No: {who}", None: who}[right]
    if right is not None and len(comparison.guesses) > 1:
        told += f" You were right {sum(comparison.guesses)} times out of {len(comparison.guesses)}."
    return {"right": right, "text": told}


# --- links -----------------------------------------------------------------------------------------------------------


def link(pair: Pair) -> str:
    """The address of a comparison of two agents, to be put after the page's own."""
    place = {"env": pair.scenario.env_id, "d": pair.scenario.difficulty, "seed": pair.scenario.seed}
    return "?" + urlencode({"tab": "compare", **place, "a": pair.names[0], "b": pair.names[1]})


def linked(query: Any) -> dict[str, Any] | None:
    """What an address asks for: `env_id`, `difficulty`, `seed`, `one`, `other`; None if it is not about this tab.

    Args:
        query: The address's parameters, from a stranger; whatever is missing is as in the empty form.
    """
    query = mapping(query)
    if query.get("tab") != "compare":
        return None
    form = setup()
    names = {"env_id": "env", "difficulty": "d", "seed": "seed", "one": "a", "other": "b"}
    return {name: words(query.get(short, form[name])) for name, short in names.items()}


# --- layout ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompareTab:
    """The components of the tab that events touch."""

    state: gr.State
    setup: CompareSetup
    upload: gr.UploadButton
    pair: ComparePair
    series: CompareSeries

    def outputs(self) -> list[Any]:
        """What every event of the tab may change, the state first."""
        return [self.state, self.setup, self.pair, self.series]


def build() -> CompareTab:
    """Lay the tab out."""
    state = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="ec-toolbar"):
        gr.HTML(
            "<p class='ec-desc'>Two players meet the same customer with the same wish. See side by side what each of "
            "them does, and where they part.</p>",
            js_on_load=None,
            apply_default_css=False,
        )
        upload = gr.UploadButton(
            "Upload a game", file_types=[".jsonl", ".json"], size="sm", scale=0, elem_id="compare-upload"
        )
    form = CompareSetup(setup(), elem_id="compare-setup")
    series = CompareSeries(None, elem_id="compare-series")
    pair = ComparePair(empty(), elem_id="compare-pair")
    return CompareTab(state, form, upload, pair, series)
