"""When to ask a server again, and when to stop: back-off, patience, and a limit on the requests of all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ecomrlve.agents.endpoint_trouble import RequestError
from ecomrlve.streams import Stream

LONGEST_PAUSE = 60.0  # seconds, where the server asks for no longer one


def pause_after(failures: int, error: RequestError, stream: Stream) -> float:
    """Seconds to wait before asking again, a random part of them so that not all threads come back together.

    As long as the server asks for and up to a second more; else half to all of 1, 2, 4, 8 … seconds ("equal jitter" of
    exponential back-off).

    Args:
        failures: How many requests failed in a row, this one included.
        error: The last failure.
        stream: Where the random part comes from.
    """
    if error.retry_after is not None:
        return error.retry_after + stream.uniform()
    return min(LONGEST_PAUSE, 2.0 ** (failures - 1)) * (1 + stream.uniform()) / 2


class Patience:
    """The time that one turn may take, requests and waits together.

    Args:
        seconds: How much there is.
        clock: Seconds that only go forward.
        sleep: Waits for some seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float], sleep: Callable[[float], None]):
        self._clock = clock
        self._sleep = sleep
        self._end = clock() + seconds
        self.waited = 0.0

    @property
    def left(self) -> float:
        """Seconds that are left, from 0."""
        return max(0.0, self._end - self._clock())

    def wait(self, seconds: float) -> bool:
        """Wait, if there is time to ask once more afterwards; returns whether there is."""
        if seconds >= self.left:
            return False
        if seconds > 0:
            self._sleep(seconds)
            self.waited += seconds
        return True

    def end_of(self, seconds: float) -> str:
        """In words, why there is no waiting for so many seconds."""
        return f"out of patience: {seconds:.0f} s to wait, {self.left:.0f} s left"


class RateLimit:
    """Spaces out the requests of all threads evenly.

    Args:
        per_minute: Most requests in a minute; None for any number.
        clock: Seconds that only go forward.
    """

    def __init__(self, per_minute: float | None, clock: Callable[[], float]):
        self._distance = 60.0 / per_minute if per_minute else 0.0
        self._clock = clock
        self._next = -float("inf")
        self._lock = threading.Lock()

    def reserve(self, most: float) -> float:
        """Take the next place; returns the seconds until it comes.

        Args:
            most: Where it is further off than these seconds, it is left to others.
        """
        with self._lock:
            now = self._clock()
            wait = max(0.0, self._next - now)
            if wait < most:
                self._next = max(now, self._next) + self._distance
            return wait
