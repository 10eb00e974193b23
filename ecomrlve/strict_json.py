"""JSON from a source that is not trusted: within limits, without two meanings, and never slow.

`decode_object` finds one object inside a text; `Copier` copies plain values and refuses what JSON does not know.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ecomrlve.errors import InvalidActionError

MAX_BYTES = 64 * 1024
MAX_LEVELS = 50
MAX_LIST = 100

# One bracket or whole string, after whatever needs no look. A backslash outside a string matches nothing: that is no
# JSON, and stopping there keeps a text full of false starts from being scanned once for each of them.
_TOKEN = re.compile(r'[^"{}\[\]\\]*+(?:"(?:[^"\\]++|\\.)*+"|(?P<open>[{\[])|(?P<close>[}\]]))', re.DOTALL)

_TOO_LARGE = f"the action is larger than {MAX_BYTES // 1024} KiB"
_TOO_DEEP = f"the action is nested deeper than {MAX_LEVELS} levels"
_NO_NUMBER = "NaN and Infinity are not numbers of JSON"


class Copier:
    """Copies JSON values and keeps count of their size. One copier serves all parts of one action."""

    def __init__(self) -> None:
        self._bytes_left = MAX_BYTES

    def copy(self, value: Any, level: int) -> Any:
        """A copy that shares nothing with `value`; tuples become lists.

        Args:
            value: What claims to be a JSON value.
            level: How deep it stands in the canonical form of an action.

        Raises:
            InvalidActionError: It is no JSON value, or too large, too deep or too long.
        """
        # Every value costs at least a byte, so that one with shared parts, or with itself inside, ends here as well.
        self._bytes_left -= max(1, len(utf8(value))) if isinstance(value, str) else 1
        if self._bytes_left < 0:
            raise InvalidActionError(_TOO_LARGE)
        if isinstance(value, list | tuple | dict) and level > MAX_LEVELS:
            raise InvalidActionError(_TOO_DEEP)
        if isinstance(value, dict):
            if any(not isinstance(key, str) for key in value):
                raise InvalidActionError("the keys of an object must be strings")
            return {self.copy(key, level): self.copy(part, level + 1) for key, part in value.items()}
        if isinstance(value, list | tuple):
            if len(value) > MAX_LIST:
                raise InvalidActionError(f"a list is longer than {MAX_LIST}")
            return [self.copy(part, level + 1) for part in value]
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidActionError(_NO_NUMBER)
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise InvalidActionError("a whole number does not fit 64 bits")
        if value is None or isinstance(value, str | int | float):
            return value
        raise InvalidActionError(f"{type(value).__name__} is not a type of JSON")


def decode_object(
    text: str, start: int, ends: dict[int, int | None] | None = None
) -> tuple[dict[str, Any], int] | None:
    """The JSON object that begins at `start` and the place after it; None if no whole object stands there.

    Brackets are counted before anything is parsed, so that no nesting reaches the parser's own limit.

    Args:
        text: Any text.
        start: The place of an opening brace.
        ends: What earlier calls for the same text found out. With it, many starts cost no more than a few.

    Raises:
        InvalidActionError: It is nested too deep, holds NaN or Infinity, or a key has two different values.
    """
    ends = {} if ends is None else ends
    if start not in ends:
        _match_brackets(text, start, ends)
    end = ends[start]
    if end is None:
        return None
    try:
        # Models write line breaks into strings as they are, hence not strict.
        value = json.loads(text[start:end], strict=False, parse_constant=_no_constant, object_pairs_hook=_no_conflict)
    except InvalidActionError:  # a ValueError too, but one that says what is wrong
        raise
    except ValueError:
        return None
    return value, end


def _match_brackets(text: str, start: int, ends: dict[int, int | None]) -> None:
    """Note for the bracket at `start`, and all inside it, the place after its partner, or None if it has none."""
    opened: list[int] = []
    position = start
    while token := _TOKEN.match(text, position):
        position = token.end()
        if token["open"]:
            opened.append(position - 1)
            if len(opened) > MAX_LEVELS:
                raise InvalidActionError(_TOO_DEEP)
        elif token["close"]:
            ends[opened.pop()] = position
            if not opened:
                return
    ends.update(dict.fromkeys(opened))


def canonical_text(value: object) -> str:
    """The same text for equal JSON values, and only for them (1, 1.0 and true differ)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def check_size(text: str) -> None:
    """Refuse text that is too large or cannot be written as UTF-8.

    Raises:
        InvalidActionError: It is one of these.
    """
    if len(text) > MAX_BYTES or len(utf8(text)) > MAX_BYTES:
        raise InvalidActionError(_TOO_LARGE)


def utf8(text: str) -> bytes:
    """The text as UTF-8.

    Raises:
        InvalidActionError: It has a lone surrogate.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidActionError("the text has half of a surrogate pair, which is no character") from None


def short(text: str) -> str:
    """The text, or its beginning where it is long: for use in a reason."""
    return text if len(text) <= 40 else text[:39] + "…"


def _no_constant(word: str) -> None:
    raise InvalidActionError(_NO_NUMBER)


def _no_conflict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # A key may come twice only with the same value: else, which one was meant?
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result and canonical_text(result[key]) != canonical_text(value):
            raise InvalidActionError(f"the key {short(json.dumps(key))} comes twice, with different values")
        result[key] = value
    return result
