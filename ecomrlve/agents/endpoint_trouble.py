"""What goes wrong between an agent and its server: one class for each request, one for each mistake in the settings."""

from __future__ import annotations

import re

from ecomrlve.errors import EcomrlveError

# Worth asking again, as is every error of the server's own: a timeout on the way, a conflict, too early, too many.
PASSING = (408, 409, 425, 429)
# No request will ever succeed: the key, the plan, the rights, the address or the method is wrong.
MISTAKEN = (401, 402, 403, 404, 405)
_TOO_LONG = re.compile(r"context|length|token|too long|too large", re.IGNORECASE)


class EndpointError(EcomrlveError, RuntimeError):
    """A server that cannot be used with these settings; the message says what to check."""


class RequestError(EcomrlveError, RuntimeError):
    """One request that brought no answer.

    Args:
        reason: What happened, in a few words that may be recorded: without the key, without line breaks.
        retriable: Asking again may help.
        status: The HTTP status, where there was one.
        retry_after: Seconds after which the server wants to be asked again, if it said so.
        unreachable: There was no connection at all.
    """

    def __init__(
        self,
        reason: str,
        *,
        retriable: bool = True,
        status: int | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
    ):
        super().__init__(reason)
        self.reason = reason
        self.retriable = retriable
        self.status = status
        self.retry_after = retry_after
        self.unreachable = unreachable

    @property
    def too_long(self) -> bool:
        """Whether the server refused because the chat does not fit the model, as far as its words tell."""
        return self.status in (400, 413, 422) and bool(_TOO_LONG.search(self.reason))
