"""Wiring of the Compare tab.

Episodes are played in portions: those of built-in agents on one thread for all visitors, so that however many compare,
a click elsewhere shares the processor with a single one of them; others on the threads that their agent has. A page
that is closed ends its generator, and with it the playing.

A generator that has ended sends its last values once more. So each of them ends with values that change nothing, lest
it draw the page twice, or bring back what was there before it was stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from components import compare, compare_series
from components.agents import BUILT_IN, choices, pool
from components.compare import GAME, LAST_GAME, PAIR, SERIES, CompareTab, Comparison
from components.compare_playing import MOST_BYTES, Game, Match, Scenario, agents_match, game_of
from components.compare_series import DONE, MOST_SECONDS, RUNNING, STOPPED, Series
from components.events.shared import QUIET, data_of, warn
from components.session import Session, SessionError, Shop
from ecomrlve.errors import EcomrlveError, TrajectoryError
from ecomrlve.replay import iter_trajectories

# A thread rests after each portion, for this share of the time that it took, but not for long.
REST, LONGEST_REST_SECONDS = 0.5, 0.1
SIGN_OF_LIFE_SECONDS = 0.2
_QUICK = ThreadPoolExecutor(1, "compare")
Values = AsyncIterator[list[Any]]
Against = Callable[[Comparison | None, Any, Any], Values]


def wire_compare(demo: gr.Blocks, session: gr.State, tab: CompareTab, shop: Shop) -> Against:
    """Connect the Compare tab.

    Args:
        demo: The page.
        session: State of the Play tab, whose last finished game can be compared.
        tab: What `compare.build` made.
        shop: Where episodes are played.

    Returns:
        A handler for other tabs: given the tab's state, a finished trajectory and an agent's name ("" for any), it lets
        the agent play the same scenario and shows both. Its outputs are `tab.outputs()`.
    """

    async def arrive(state: Comparison | None, query: Any) -> Values:
        """A page was opened; its address may name a comparison."""
        state = state or Comparison()
        chosen = compare.linked(query)
        if chosen is None:
            yield _values(state)
            return
        yield _values(state, setup=compare.setup(chosen))
        async for values in pair_of_agents(state, chosen):
            yield values

    async def start(state: Comparison | None, session: Session | None, event: gr.EventData) -> Values:
        state, asked = state or Comparison(), data_of(event)
        one = asked.get("one")
        if asked.get("what") == SERIES:
            steps = play_series(state, asked, shop)
        elif one in (GAME, LAST_GAME):
            steps = recorded(state, _last_game(session) if one == LAST_GAME else state.game, asked)
        else:
            steps = pair_of_agents(state, asked)
        async for values in steps:
            yield values

    async def pair_of_agents(state: Comparison, asked: dict[str, Any]) -> Values:
        scenario = Scenario(asked.get("env_id"), asked.get("difficulty"), asked.get("seed"))
        try:
            match = agents_match(shop, scenario, asked.get("one"), asked.get("other"))
        except EcomrlveError as error:
            warn(error)
            yield _values(state)
            return
        async for values in play_pair(state, match, blind=asked.get("blind") is True):
            yield values

    async def recorded(state: Comparison, trajectory: Any, asked: dict[str, Any]) -> Values:
        try:
            if trajectory is None:
                raise SessionError("There is no such game. Finish one in the Play tab, or upload one.")
            match = compare.against(trajectory, asked.get("other"), shop)
        except EcomrlveError as error:
            warn(error)
            yield _values(state)
            return
        async for values in play_pair(state, match, blind=asked.get("blind") is True):
            yield values

    async def against(state: Comparison | None, trajectory: Any, agent: Any) -> Values:
        state = state or Comparison()
        other = agent or choices()[0].name
        try:
            state.game = game_of(trajectory)
        except EcomrlveError as error:
            warn(error)
            yield _values(state)
            return
        yield _values(state, setup=compare.setup({"other": other}, state.game))
        async for values in recorded(state, state.game, {"other": other}):
            yield values

    def upload(state: Comparison | None, file: str | None) -> list[Any]:
        state = state or Comparison()
        try:
            state.game = _uploaded(Path(file)) if file else None
        except EcomrlveError as error:
            warn(error)
            return _values(state)
        return _values(state, setup=compare.setup(game=state.game))

    def on_pair(state: Comparison | None, event: gr.EventData) -> list[Any]:
        """The visitor guessed who is who, or stops what is being played."""
        state, sent = state or Comparison(), data_of(event)
        if sent.get("stop"):
            state.begin(PAIR)
            return _values(state, pair=compare.sides(state))
        if state.pair is None:
            warn(SessionError("That comparison is gone. Start it again."))
            return _values(state, pair=compare.empty())
        right = state.guess(sent.get("guess"))
        return _values(state, pair=compare.sides(state, right=right))

    def on_series(state: Comparison | None, event: gr.EventData) -> list[Any]:
        """The visitor opens a seed of the series, stops the series, or puts it away."""
        state, sent = state or Comparison(), data_of(event)
        series = state.series
        if series is None:
            warn(SessionError("That series is gone. Run it again."))
            return _values(state, series=None)
        if sent.get("stop"):
            state.begin(SERIES)
            _stop(series, "Stopped. What was played until then counts.")
            return _values(state, series=compare_series.shown(series))
        if sent.get("close"):
            state.begin(SERIES)
            state.series = None
            return _values(state, series=None)
        played = series.find(sent.get("seed"))
        if played is None:
            return _values(state)
        state.begin(PAIR)
        state.show(compare.pair_in(series, played), blind=False)
        return _values(state, pair=compare.sides(state))

    outputs = tab.outputs()
    demo.load(arrive, [tab.state, tab.pair], outputs, js="(state) => [state, window.ecom.query()]", **QUIET)
    tab.setup.submit(start, [tab.state, session], outputs, **QUIET)
    tab.upload.upload(upload, [tab.state, tab.upload], outputs, **QUIET)
    tab.pair.select(on_pair, tab.state, outputs, **QUIET)
    tab.series.select(on_series, tab.state, outputs, **QUIET)
    return against


def _values(state: Comparison, **changed: Any) -> list[Any]:
    """Values of all outputs; what is not named stays as it is."""
    return [state, *(changed.get(name, gr.skip()) for name in ("setup", "pair", "series"))]


def _last_game(session: Session | None) -> Game | None:
    """What the visitor played last in the Play tab, if it has ended."""
    episode = session.episode if session is not None else None
    if episode is None or episode.trajectory is None:
        return None
    return replace(game_of(episode.trajectory), label="You")


def _uploaded(file: Path) -> Game:
    """The first episode of an uploaded file."""
    megabytes = file.stat().st_size / 2**20
    if megabytes > MOST_BYTES / 2**20:
        raise SessionError(f"{file.name} has {megabytes:.0f} MB; up to {MOST_BYTES // 2**20} MB can be uploaded here.")
    problems = []
    for problem, record in iter_trajectories(file):
        if record is not None:
            return game_of(record)
        problems.append(problem)
    raise TrajectoryError(f"There is no episode in {file.name}: {problems[0] if problems else 'it is empty'}.")


def _stop(series: Series, note: str) -> None:
    series.status, series.note = STOPPED, note


# --- playing ---------------------------------------------------------------------------------------------------------


async def _threads(match: Match) -> ThreadPoolExecutor:
    """The threads that a match is played on; to get those of a slow agent may take a while itself."""
    slow = [side.name for side in match.sides if side.name and side.name not in BUILT_IN]
    return await asyncio.to_thread(pool, slow[0]) if slow else _QUICK


async def _in_portions(match: Match, portion: Callable[[], bool], wanted: Callable[[], bool]) -> AsyncIterator[None]:
    """Play in portions until it is over or nobody wants it any more; yields whenever there is time for others."""
    loop, threads = asyncio.get_running_loop(), await _threads(match)
    while wanted() and not await loop.run_in_executor(threads, _rested, portion):
        yield


def _rested(portion: Callable[[], bool]) -> bool:
    """Play a portion, then leave the processor to others for a moment."""
    began = time.perf_counter()
    over = portion()
    time.sleep(min(REST * (time.perf_counter() - began), LONGEST_REST_SECONDS))
    return over


async def play_pair(state: Comparison, match: Match, *, blind: bool) -> Values:
    """Play a match and show it; gives values of the outputs, and ends where the visitor has begun another one."""
    job, problem = state.begin(PAIR), ""
    told = time.monotonic()
    yield _values(state, pair=compare.playing(match))
    try:
        async for _ in _in_portions(match, match.portion, lambda: state.jobs[PAIR] == job):
            if time.monotonic() - told > SIGN_OF_LIFE_SECONDS:
                told = time.monotonic()
                yield _values(state, pair=compare.playing(match))
    except EcomrlveError as error:
        problem = str(error)
        warn(error)
    if state.jobs[PAIR] == job:
        if not problem:
            state.show(compare.pair_of(match), blind=blind)
        yield _values(state, pair=compare.failed(problem) if problem else compare.sides(state))
    yield _values(state)


async def play_series(state: Comparison, asked: dict[str, Any], shop: Shop) -> Values:
    """Play a series, one pair after the other; gives values of the outputs as it goes, and ends where it is stopped."""
    scenario = Scenario(asked.get("env_id"), asked.get("difficulty"), asked.get("seed"))
    try:
        series = Series(shop, scenario, (asked.get("one"), asked.get("other")), asked.get("count"))
    except EcomrlveError as error:
        warn(error)
        yield _values(state)
        return
    job = state.begin(SERIES)
    state.series = series
    began = told = time.monotonic()
    yield _values(state, series=compare_series.shown(series))
    try:
        while state.jobs[SERIES] == job and (match := series.next_match()) is not None:
            portion = partial(series.portion, match)
            async for _ in _in_portions(match, portion, lambda: state.jobs[SERIES] == job):
                pass
            if time.monotonic() - began > MOST_SECONDS:
                _stop(series, f"Stopped after {MOST_SECONDS / 60:.0f} minutes, which is as long as one may take here.")
                break
            if state.jobs[SERIES] == job and time.monotonic() - told > SIGN_OF_LIFE_SECONDS:
                told = time.monotonic()
                yield _values(state, series=compare_series.shown(series))
    except EcomrlveError as error:
        warn(error)
        _stop(series, str(error))
    if state.jobs[SERIES] == job:
        if series.status == RUNNING:
            series.status = DONE
        # The statistics take a moment, too.
        loop = asyncio.get_running_loop()
        yield _values(state, series=await loop.run_in_executor(_QUICK, compare_series.shown, series))
    yield _values(state)
