"""One class per failure, so that a caller can tell them apart and a person reads what to do."""

from __future__ import annotations


def short(text: object, most: int = 60) -> str:
    """A text as an error may quote it: not longer than needed to recognise it."""
    text = str(text)
    return text if len(text) <= most else text[: most - 1] + "…"


class EcomrlveError(Exception):
    """Base of everything this package raises on purpose."""


class DifficultyError(EcomrlveError, ValueError):
    """A difficulty or an axis override that is out of range or unknown."""


class UnknownEnvironmentError(EcomrlveError, ValueError):
    """An environment or collection name that is not registered."""


class SeedError(EcomrlveError, ValueError):
    """A seed that is not a whole number from 0 to 2**63 - 1."""


class OptionError(EcomrlveError, ValueError):
    """Options of `reset` that are no mapping, or have an unknown name."""


class EpisodeNotRunningError(EcomrlveError, RuntimeError):
    """`step` was called before `reset`, or after the episode had ended."""


class CatalogError(EcomrlveError, ValueError):
    """A catalog that cannot be read, or that lacks what an environment needs."""


class GenerationError(EcomrlveError, RuntimeError):
    """No problem could be drawn for this catalog, environment and seed."""


class TrajectoryError(EcomrlveError, ValueError):
    """A trajectory that cannot be read, or does not replay to the same bytes."""


class InvalidActionError(EcomrlveError, ValueError):
    """An agent's output that is not an action; it ends the episode with total −1."""


class Refused(EcomrlveError):  # noqa: N818 — the contract's own word; it is an outcome, not a crash
    """A tool call that the shop declines: the agent gets the reason and the episode goes on.

    Args:
        code: A stable snake_case word that programs can test, such as ``out_of_stock``.
        message: One sentence for people and models: what is wrong, and what would work.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code
        self.message = message

    def as_result(self) -> dict[str, dict[str, str]]:
        """The tool result that the agent sees."""
        return {"error": {"code": self.code, "message": self.message}}
