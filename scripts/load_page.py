"""Many visitors on the page at once: python scripts/load_page.py [VISITORS] [SECONDS] [THINKING SECONDS].

Each visitor plays reference games in the Play tab over the requests that a browser sends, and compares every reward
with the engine's own. Prints the times from a click to the last byte of its answer, errors, crossed games and memory.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ui")]

import httpx2  # noqa: E402
from ui_space import reference_episode, serve  # noqa: E402

from ecomrlve.collections import COLLECTIONS  # noqa: E402
from ecomrlve.environment import default_engine  # noqa: E402
from ecomrlve.evaluation.benchmark import resident_megabytes  # noqa: E402

ENVS = [env_id for env_id in COLLECTIONS["C8"] if env_id != "E_JOURNEY"]
SEEDS = 4


class Visitor:
    """One browser tab, as the server sees it."""

    def __init__(self, client: httpx2.AsyncClient, events: dict[str, tuple[int, int]]):
        self.client, self.events = client, events
        self.session = uuid.uuid4().hex
        self.version = 0

    async def ask(self, name: str, sent: dict[str, Any]) -> str:
        """Trigger an event and wait for its answer; returns all that came."""
        number, inputs = self.events[name]
        body = {
            "fn_index": number, "data": [None] * inputs, "session_hash": self.session, "event_data": sent,
            "trigger_id": None,
        }  # fmt: skip
        joined = await self.client.post("/gradio_api/queue/join", json=body)
        joined.raise_for_status()
        received = []
        async with self.client.stream("GET", "/gradio_api/queue/data", params={"session_hash": self.session}) as stream:
            async for line in stream.aiter_lines():
                received.append(line)
                if '"process_completed"' in line:
                    if '"success": true' not in line and '"success":true' not in line:
                        raise RuntimeError(line[:300])
                    break
        return "\n".join(received)


def games_of(engine: Any) -> dict[tuple[str, int], Any]:
    """The games that visitors play: by environment and seed, the reference agent's actions and its reward."""
    games = {}
    for env_id in ENVS:
        for seed in range(SEEDS):
            turns, reward, _ = reference_episode(engine, env_id, 4, seed)
            games[env_id, seed] = [action for _, action in turns], reward
    return games


def events_of(server: Any) -> dict[str, tuple[int, int]]:
    """The events of the Play tab: name → its number, and how many inputs it has."""
    return {
        found.fn.__name__: (number, len(found.inputs))
        for number, found in server.demo.fns.items()
        if found.fn is not None and found.fn.__module__ == "components.events.play"
    }


async def play(
    visitor: Visitor, games: dict[Any, Any], over: Callable[[], bool], pause: float, draw: random.Random
) -> dict[str, Any]:
    """Play games until it is over."""
    found: dict[str, Any] = {"times": [], "errors": [], "crossed": 0, "finished": 0}
    while not over():
        (env_id, seed), (turns, reward) = draw.choice(list(games.items()))
        try:
            await visitor.ask("reset", {"env_id": env_id, "difficulty": 4, "seed": seed})
            visitor.version += 1
            answer = ""
            for action in turns:
                await asyncio.sleep(draw.uniform(0, 2 * pause))
                started = time.perf_counter()
                answer = await visitor.ask("act", {"action": action, "version": visitor.version, "log": None})
                found["times"].append(1000 * (time.perf_counter() - started))
                visitor.version += 1
            found["finished"] += 1
            found["crossed"] += f'"total": {reward.total}' not in answer and f'"total":{reward.total}' not in answer
        except Exception as error:  # whatever went wrong, the others play on
            found["errors"].append(f"{type(error).__name__}: {error}")
            visitor.session, visitor.version = uuid.uuid4().hex, 0
    return found


async def watch_memory(memory: list[int]) -> None:
    """Note the process's resident megabytes twice a minute: a leak keeps growing, a cache stops."""
    while True:
        memory.append(round(resident_megabytes()))
        await asyncio.sleep(30)


async def crowd(
    url: str,
    events: dict[str, tuple[int, int]],
    games: Any,
    visitors: int,
    seconds: float,
    pause: float,
    memory: list[int],
    stopped: Callable[[], bool] = lambda: False,
):
    """All visitors together, until the seconds are up or somebody stops them; notes the memory meanwhile.

    Returns:
        What each of them found.
    """
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        until = time.monotonic() + seconds
        over = lambda: stopped() or time.monotonic() >= until
        watching = asyncio.create_task(watch_memory(memory))
        players = [
            play(Visitor(client, events), games, over, pause, random.Random(number)) for number in range(visitors)
        ]
        try:
            return await asyncio.gather(*players)
        finally:
            watching.cancel()


def main(visitors: int, seconds: float, pause: float) -> int:
    """Serve, let all play, say what came of it."""
    engine = default_engine()
    engine.warm_up()
    games = games_of(engine)
    with tempfile.TemporaryDirectory() as store:
        server = serve(engine, Path(store))
        events = events_of(server)
        memory: list[int] = []
        asyncio.run(crowd(server.url, events, games, min(5, visitors), 5, 0, []))  # what the first visitors load
        results = asyncio.run(crowd(server.url, events, games, visitors, seconds, pause, memory))
        memory.append(round(resident_megabytes()))
        server.demo.close()
    times = sorted(milliseconds for one in results for milliseconds in one["times"])
    errors = [error for one in results for error in one["errors"]]
    crossed = sum(one["crossed"] for one in results)
    print(
        json.dumps(
            {
                "visitors": visitors,
                "seconds": seconds,
                "turns": len(times),
                "games": sum(one["finished"] for one in results),
                "median ms": round(statistics.median(times)),
                "p95 ms": round(times[int(0.95 * len(times))]),
                "errors": len(errors),
                "crossed": crossed,
                "memory every half minute, MB": memory,
            }
        )
    )
    for error in errors[:5]:
        print(error)
    return int(bool(errors or crossed))


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    sys.exit(main(int(given[0]) if given else 20, *(given[1:] or [30.0]), *([3.0] if len(given) < 3 else [])))
