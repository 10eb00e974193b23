"""The processes that train together, as far as playing and counting need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol


class Processes(Protocol):
    """Processes that all call the same things in the same order.

    Attributes:
        rank: Number of this one.
        count: How many there are.
    """

    rank: int
    count: int

    def gathered(self, values: Sequence[Any]) -> list[Any]:
        """The values of all processes, in the order of their ranks."""
        ...

    def most(self, number: int) -> int:
        """The largest of the processes' numbers."""
        ...


class Alone:
    """The only process."""

    rank = 0
    count = 1

    def gathered(self, values: Sequence[Any]) -> list[Any]:
        """See `Processes.gathered`."""
        return list(values)

    def most(self, number: int) -> int:
        """See `Processes.most`."""
        return number


class Together:
    """The processes of an accelerator.

    Args:
        accelerator: Accelerate's.
    """

    def __init__(self, accelerator: Any):
        self.rank: int = accelerator.process_index
        self.count: int = accelerator.num_processes

    def gathered(self, values: Sequence[Any]) -> list[Any]:
        """See `Processes.gathered`."""
        from accelerate.utils import gather_object

        found: Iterable[Any] = gather_object(list(values)) if self.count > 1 else values
        return list(found)

    def most(self, number: int) -> int:
        """See `Processes.most`."""
        return max(self.gathered([number]))
