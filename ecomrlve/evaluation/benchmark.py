"""How fast and how big: medians on the default catalog, in this process."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.encoder import SentenceEncoder
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import COLLECTIONS
from ecomrlve.difficulty import HIGHEST
from ecomrlve.environment import Environment, default_engine

ENVS = COLLECTIONS["C8"]
DIFFICULTIES = (0, 6, 12)
MIX = [(env_id, d, seed) for d in range(HIGHEST + 1) for env_id in ENVS for seed in (0, 1)]
# What the project promises, in milliseconds and megabytes.
TARGETS = {
    "reset": 5.0, "step without search": 1.0, "search step, new query": 20.0, "search step, repeated query": 2.0,
    "resident memory": 1300.0,
}  # fmt: skip


EPISODES_PER_SECOND = 50.0


def resident_megabytes() -> float:
    """Resident memory of this process (Linux), or NaN where it cannot be read."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return float("nan")
    return pages * 4096 / 1e6


def median(action: Callable[[int], Any], count: int) -> float:
    """Median milliseconds of `action(number)`."""
    times = []
    for number in range(count):
        started = time.perf_counter()
        action(number)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def measure(rounds: int = 100) -> dict[str, Any]:
    """All figures.

    Args:
        rounds: Repetitions behind each median.
    """
    started = time.perf_counter()
    engine = default_engine()
    engine.warm_up()
    rows: list[dict[str, Any]] = [
        {"what": "load catalog, index and encoder", "value": 1000 * (time.perf_counter() - started), "unit": "ms"}
    ]
    encoder = SentenceEncoder()
    encoder.query("warm up")
    rows.append(
        {
            "what": "encoding a new query, part of the step below",
            "value": median(lambda number: encoder.query(engine.catalog.titles[number]), rounds),
            "unit": "ms",
        }
    )
    for env_id in ENVS:
        env = Environment((env_id,), engine)
        for d in DIFFICULTIES:
            rows.append(_row("reset", env_id, d, median(partial(_reset, env, d), rounds)))
            rows.append(_row("step without search", env_id, d, _plain_steps(env, d, rounds)))
            if "catalog_search" in env.task_of(env_id).tools:
                rows += [_row(*found) for found in _search_steps(env, d, rounds)]
            rows.append(_row("reference episode", env_id, d, median(partial(_episode, env, d), rounds)))
    rows += _throughput(engine)
    rows.append(
        {
            "what": "50 concurrent episodes in one process agree with single ones",
            "value": _concurrent(engine),
            "unit": "",
        }
    )
    rows.append(
        {"what": "resident memory", "value": resident_megabytes(), "unit": "MB", "target": TARGETS["resident memory"]}
    )
    return {"products": len(engine.catalog), "rows": rows}


def _throughput(engine: SearchEngine) -> list[dict[str, Any]]:
    """Reference episodes per second over all environments and difficulties, and where their time goes.

    Each episode is played twice, and the second time is measured: by then the encoder remembers its queries.
    """
    agent = ReferenceAgent()
    environments = {env_id: Environment((env_id,), engine) for env_id in ENVS}
    spent = dict.fromkeys(("drawing the problem", "tools", "customer, judging and record", "the agent itself"), 0.0)
    for measured in (False, True):
        for env_id, d, seed in MIX:
            env = environments[env_id]
            clock = _Clock()
            observation, _ = env.reset(seed=seed, options={"difficulty": d})
            drawing, acting, stepping, over = clock.lap(), 0.0, 0.0, False
            agent.reset(env)
            clock.lap()
            while not over:
                action = agent.act(observation)
                acting += clock.lap()
                observation, _, terminated, truncated, _ = env.step(action)
                stepping += clock.lap()
                over = terminated or truncated
            if measured:
                tools = sum(result["ms"] for step in env.episode.steps for result in step["tool_results"]) / 1000
                parts = (drawing, tools, stepping - tools, acting)
                for name, seconds in zip(spent, parts, strict=True):
                    spent[name] += seconds
    total = sum(spent.values())
    rate = {
        "what": "reference episodes over C8 × d 0–12, queries remembered", "value": len(MIX) / total, "unit": "/s",
        "at_least": EPISODES_PER_SECOND,
    }  # fmt: skip
    shares = [
        {"what": f"  of that, {name}", "value": 100 * value / total, "unit": "%"} for name, value in spent.items()
    ]
    return [rate, *shares]


class _Clock:
    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last lap."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        return passed


def _reset(env: Environment, d: int, seed: int) -> None:
    env.reset(seed=seed, options={"difficulty": d})


def _episode(env: Environment, d: int, seed: int) -> None:
    play(env, ReferenceAgent(), seed, d)


def _row(what: str, env_id: str, d: int, value: float) -> dict[str, Any]:
    return {"what": what, "env": env_id, "d": d, "value": value, "unit": "ms", "target": TARGETS.get(what)}


def _plain_steps(env: Environment, d: int, rounds: int) -> float:
    """Median of a turn with a message and a tool call other than a search, over fresh episodes."""
    call: dict[str, Any] = {
        "name": "user_get_visit_history" if env.env_ids[0] == "E_CART" else "datetime_now",
        "args": {},
    }
    action = {"assistant_message": "Which color would you like? Anything else?", "tool_calls": [call]}
    times = []
    for seed in range(rounds):
        env.reset(seed=seed, options={"difficulty": d})
        started = time.perf_counter()
        env.step(action)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def _search_steps(env: Environment, d: int, rounds: int) -> list[tuple[str, str, int, float]]:
    titles = env.engine.catalog.titles
    new: list[float] = []
    repeated: list[float] = []
    for seed in range(rounds):
        env.reset(seed=seed, options={"difficulty": d})
        # Of this environment alone: the encoder remembers queries, whoever asked.
        query = f"{titles[(seed * 37 + d) % len(titles)]} {env.env_ids[0]} {d} {seed}"
        for times in (new, repeated):
            call = {"name": "catalog_search", "args": {"query": query, "limit": 10}}
            started = time.perf_counter()
            env.step({"tool_calls": [call]})
            times.append(1000 * (time.perf_counter() - started))
    env_id = env.env_ids[0]
    return [
        ("search step, new query", env_id, d, statistics.median(new)),
        ("search step, repeated query", env_id, d, statistics.median(repeated)),
    ]


def _concurrent(engine: SearchEngine, count: int = 50) -> str:
    """Play episodes one by one, then all at once in threads that take turns; the rewards must be the same."""
    alone = [play(Environment(("E_CART",), engine), ReferenceAgent(), seed, 6).total for seed in range(count)]
    together: dict[int, float] = {}

    def one(seed: int) -> None:
        together[seed] = play(Environment(("E_CART",), engine), ReferenceAgent(), seed, 6).total

    threads = [threading.Thread(target=one, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(together[seed] == alone[seed] for seed in range(count))}/{count}"


def show(figures: dict[str, Any], console: Console) -> None:
    """Print the figures, with a mark where a promise is not kept."""
    table = Table("what", "env", "d", "median", "promise", "", box=None, title=f"{figures['products']:,} products")
    for row in figures["rows"]:
        value, target = row["value"], row.get("target")
        text = f"{value:,.2f} {row['unit']}" if isinstance(value, float) else str(value)
        least = row.get("at_least")
        kept = value >= least if least is not None else target is None or value <= target
        mark = "" if target is None and least is None else "✓" if kept else "[red]✗[/]"
        promise = f"≥ {least:g} {row['unit']}" if least else "" if target is None else f"≤ {target:g} {row['unit']}"
        table.add_row(row["what"], row.get("env", ""), str(row.get("d", "")), text, promise, mark)
    console.print(table)
