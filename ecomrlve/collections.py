"""The environments by name, and the published nested collections of them."""

from __future__ import annotations

from collections.abc import Sequence

from ecomrlve.errors import UnknownEnvironmentError
from ecomrlve.tasks.base import AnyTask
from ecomrlve.tasks.journey import INTENTS, JourneyTask

_ALL: tuple[AnyTask, ...] = (*INTENTS, JourneyTask())
TASKS: dict[str, AnyTask] = {task.env_id: task for task in _ALL}

# C1 ⊂ C2 ⊂ C4 ⊂ C8, as published.
COLLECTIONS: dict[str, tuple[str, ...]] = {
    "C1": ("E_CART",),
    "C2": ("E_CART", "E_SUB"),
    "C4": ("E_CART", "E_SUB", "E_PD", "E_RETURN"),
    "C8": ("E_CART", "E_SUB", "E_PD", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE", "E_JOURNEY"),
}


def resolve(name: str | Sequence[str]) -> tuple[str, ...]:
    """The environments behind a name, a collection's name, a comma-separated list or a sequence of names.

    Raises:
        UnknownEnvironmentError: A name that is neither, or an environment that this version does not have.
    """
    names = [part.strip() for part in name.split(",")] if isinstance(name, str) else name
    if not isinstance(names, Sequence) or not all(isinstance(part, str) for part in names):
        raise UnknownEnvironmentError("name an environment, a collection, or a sequence of such names")
    found: list[str] = []
    for part in names:
        for env_id in COLLECTIONS.get(part, (part,)):
            if env_id not in TASKS:
                where = f"collection {part} needs {env_id}, which" if part in COLLECTIONS else f"environment {env_id!r}"
                raise UnknownEnvironmentError(
                    f"{where} is not in this version; there are {', '.join(sorted(TASKS))} and collections "
                    f"{', '.join(COLLECTIONS)}"
                )
            if env_id not in found:
                found.append(env_id)
    if not found:
        raise UnknownEnvironmentError("name at least one environment")
    return tuple(found)
