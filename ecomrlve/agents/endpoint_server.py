"""A server that speaks OpenAI's chat completions: where it is, the key for it, and one request to it.

Requests go over HTTP directly. The client of huggingface_hub would ask the Hub who is calling even where the server is
one's own, its timeout begins anew with every byte that comes, and it reads answers of any size.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ecomrlve import __version__
from ecomrlve.agents.endpoint_trouble import PASSING, EndpointError, RequestError
from ecomrlve.agents.names import AgentNameError
from ecomrlve.errors import short

if TYPE_CHECKING:
    import httpx2

KEY = "ECOMRLVE_AGENT_KEY"
USAGE = "write endpoint:URL#MODEL or, for a model of Hugging Face, endpoint:OWNER/MODEL"
# Hugging Face's own address for all Inference Providers; the provider is named behind the model's id.
ROUTER = "https://router.huggingface.co/v1"
MOST_BYTES = 16 * 2**20  # of an answer; one of many thousand tokens has less than a hundredth
MOST_ERROR_BYTES = 64 * 1024
MOST_DETAIL = 200  # characters of what a server says about an error
# Servers drop idle connections after five seconds and more; sooner, no request meets one that is just being dropped.
KEEP_ALIVE = 3.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model is.

    Attributes:
        url: What requests are posted to.
        model: Its name there.
        hub: Whether it is Hugging Face that is asked.
    """

    url: str
    model: str
    hub: bool


def place_of(where: str, provider: str | None = None) -> Place:
    """Read the part of an agent's name that says where its model is.

    Args:
        where: ``URL#MODEL``, the URL with or without ``/v1`` or ``/v1/chat/completions``; or a model id, for Hugging
            Face's Inference Providers.
        provider: Which of them; None or ``auto`` leaves it to Hugging Face.

    Raises:
        AgentNameError: It is neither, or the URL holds a password. URLs are not quoted: names and errors get recorded.
    """
    if "://" not in where:
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", where):
            raise AgentNameError(f"endpoint:{short(where)}: {USAGE}")
        suffix = "" if provider in (None, "auto") else f":{provider}"
        return Place(f"{ROUTER}/chat/completions", where + suffix, hub=True)
    import httpx2

    url, _, model = where.partition("#")
    if provider is not None:
        raise AgentNameError("endpoint: the option provider is for models of Hugging Face, not for URLs")
    try:
        address = httpx2.URL(url)
        address.host.encode("idna")  # as it will be looked up
    except (httpx2.InvalidURL, UnicodeError):
        raise AgentNameError(f"endpoint: that is no address of a server; {USAGE}") from None
    if address.userinfo:
        raise AgentNameError(f"endpoint: the URL holds a user or a password; put the key into {KEY} instead")
    if address.scheme not in ("http", "https") or not address.host or (address.port or 1) > 65535:
        raise AgentNameError(f"endpoint: that is no address of a server; {USAGE}")
    if not model:
        raise AgentNameError(f"endpoint: the model is missing; {USAGE}")
    path = address.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path += "/chat/completions" if re.search(r"/v\d+$", path) else "/v1/chat/completions"
    return Place(str(address.copy_with(path=path)), model, hub=False)


def key_for(place: Place) -> str:
    """The key for a server: the environment's, else for Hugging Face the login's token, else none at all.

    Raises:
        EndpointError: The key cannot be sent.
    """
    key = os.environ.get(KEY, "").strip()
    if not key and place.hub:
        from huggingface_hub import get_token

        key = get_token() or ""
    if not all("!" <= letter <= "~" for letter in key):
        raise EndpointError(f"the key in {KEY} has characters that no key has, such as blanks; set it anew")
    return key


class ChatServer:
    """Sends chats to a server. Threads may share it.

    Args:
        place: Where it is.
        clock: Seconds that only go forward.
    """

    def __init__(self, place: Place, clock: Callable[[], float]):
        self.place = place
        self._clock = clock
        self._key = key_for(place)
        self._lock = threading.Lock()
        self._opened: httpx2.Client | None = None

    @property
    def has_key(self) -> bool:
        """Whether there is a key to send."""
        return bool(self._key)

    def ask(self, body: Mapping[str, Any], timeout: float) -> Any:
        """Post a body of JSON; returns the JSON that comes back.

        Args:
            body: What is sent.
            timeout: Most seconds until the whole answer is there.

        Raises:
            RequestError: There is no such answer.
        """
        import httpx2

        if self.place.hub:
            self._refuse_offline()
        deadline = self._clock() + timeout
        try:
            with self._client().stream("POST", self.place.url, json=body, timeout=timeout) as response:
                good = response.is_success
                content = self._read(response, deadline, MOST_BYTES if good else MOST_ERROR_BYTES)
        except httpx2.TimeoutException as error:
            unreachable = isinstance(error, httpx2.ConnectTimeout)
            raise RequestError(f"timed out after {timeout:.3g} s", unreachable=unreachable) from error
        except (httpx2.HTTPError, OSError) as error:
            reason = self._clean(f"the connection failed: {error or type(error).__name__}")
            raise RequestError(reason, unreachable=isinstance(error, httpx2.ConnectError)) from error
        if not good:
            raise self._refusal(response, content)
        if len(content) > MOST_BYTES:
            raise RequestError(f"unreadable answer: more than {MOST_BYTES // 2**20} MiB")
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise RequestError("unreadable answer: it is not JSON") from None

    def close(self) -> None:
        """Give up the connections; the next request makes new ones."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    def _client(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._opened is None:
                headers = {"User-Agent": f"ecomrlve/{__version__}", "Authorization": f"Bearer {self._key or 'none'}"}
                # As many connections as there are threads. A redirect would take the key to another server.
                limits = httpx2.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE)
                try:
                    self._opened = httpx2.Client(headers=headers, limits=limits, follow_redirects=False)
                except (ImportError, ValueError) as error:
                    raise EndpointError(f"the proxy that the environment names cannot be used: {error}") from error
            return self._opened

    def _read(self, response: httpx2.Response, deadline: float, most: int) -> bytes:
        """The body, or a little more than `most` of it; the client's own timeout begins anew with every byte."""
        content = bytearray()
        for part in response.iter_bytes():
            content += part
            if len(content) > most:
                break
            if self._clock() > deadline:
                raise RequestError("timed out while the answer was coming")
        return bytes(content)

    def _refusal(self, response: httpx2.Response, content: bytes) -> RequestError:
        status = response.status_code
        if response.has_redirect_location:
            where = f"it redirects to {response.headers['location']}; give that address"
            return RequestError(self._clean(f"request refused ({status}): {where}"), retriable=False, status=status)
        what = {429: "too many requests"}.get(status, "server error" if status >= 500 else "request refused")
        detail = detail_of(content)
        return RequestError(
            self._clean(f"{what} ({status}){': ' if detail else ''}{detail}"),
            retriable=status >= 500 or status in PASSING,
            status=status,
            retry_after=wait_asked(response.headers),
        )

    def _clean(self, text: str) -> str:
        """A text as it may be recorded: short, on one line, of whole characters, and without the key."""
        text = text.replace(self._key, "[key]") if self._key else text
        return short(" ".join(text.encode(errors="replace").decode().split()), MOST_DETAIL)

    @staticmethod
    def _refuse_offline() -> None:
        from huggingface_hub import constants

        if constants.is_offline_mode():
            raise RequestError("HF_HUB_OFFLINE is set, so Hugging Face is not asked", retriable=False, unreachable=True)


def detail_of(content: bytes) -> str:
    """What a server says about an error, in whatever form it does."""
    text = content.decode(errors="replace").strip()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.startswith("<") else text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(key):
            found = found[key]
    return found if isinstance(found, str) else json.dumps(found)[: 2 * MOST_DETAIL] if found else ""


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds after which a server wants to be asked again (RFC 9110, 10.2.3: seconds or a date); None if it says none.

    Args:
        headers: Those of its answer, with names in small letters.
    """
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            until = _moment(text)
            # The server's own time, where it tells it: its clock need not be right.
            now = _moment(headers["date"]) if "date" in headers else datetime.now(UTC)
        except ValueError:
            return None
        seconds = (until - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _moment(text: str) -> datetime:
    moment = parsedate_to_datetime(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
