"""Episodes that programs play over the network: each behind a token, a step at a time, dropped when nobody comes back.

A token is all that ties a visitor to an episode, so it cannot be guessed, and whoever lacks it learns nothing of it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ecomrlve.environment import Environment
from ecomrlve.errors import EcomrlveError

MOST_EPISODES = 2000
IDLE_SECONDS = 3600.0
TOKEN_BYTES = 32


class ApiError(EcomrlveError):
    """A call that cannot be answered.

    Args:
        code: A stable snake_case word that programs can test, such as ``unknown_token``.
        message: One sentence: what is wrong, and what to do.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


@dataclass
class RemoteEpisode:
    """One episode of one visitor.

    Attributes:
        environment: Where it is played; None as soon as it is over.
        keep: Whether its record goes to the library.
        record: Its record as JSON, once it is over.
        lock: Held during a step: two calls at the same time are two turns, one after the other.
        used: When it was last asked for, by the clock of `Episodes`.
    """

    environment: Environment | None
    keep: bool = False
    record: bytes = b""
    lock: threading.Lock = field(default_factory=threading.Lock)
    used: float = 0.0

    def running(self) -> Environment:
        """Where the next turn is taken. To be called under the lock.

        Raises:
            ApiError: The episode is over.
        """
        if self.environment is None:
            raise ApiError("episode_over", "This episode is over. Its record is at /trajectory; start another one.")
        return self.environment

    def end(self, record: bytes) -> None:
        """Keep the record and let go of everything else. To be called under the lock."""
        self.record = record
        self.environment = None


class Episodes:
    """All episodes by token, the one that was idle for longest first.

    Args:
        most: How many there may be; one more drops the one that was idle for longest.
        idle_seconds: How long one may be idle.
        clock: The time in seconds.
    """

    def __init__(
        self,
        most: int = MOST_EPISODES,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._most = most
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._episodes: OrderedDict[str, RemoteEpisode] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            self._expire()
            return len(self._episodes)

    def add(self, episode: RemoteEpisode) -> str:
        """Take an episode in. Returns its token."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._expire()
            while len(self._episodes) >= self._most:
                self._episodes.popitem(last=False)
            episode.used = self._clock()
            self._episodes[token] = episode
        return token

    def find(self, token: Any) -> RemoteEpisode:
        """The episode behind a token, which is not idle any more.

        Raises:
            ApiError: There is none, or not any more.
        """
        with self._lock:
            self._expire()
            episode = self._episodes.get(token) if isinstance(token, str) else None
            if episode is None:
                raise ApiError(
                    "unknown_token",
                    "No episode has this token. Take the one that /reset gave; an episode that is idle for "
                    f"{round(self._idle_seconds / 60)} minutes is dropped.",
                )
            episode.used = self._clock()
            self._episodes.move_to_end(token)
            return episode

    def _expire(self) -> None:
        oldest_allowed = self._clock() - self._idle_seconds
        while self._episodes:
            token, episode = next(iter(self._episodes.items()))
            if episode.used >= oldest_allowed:
                return
            del self._episodes[token]
