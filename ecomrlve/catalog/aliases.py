"""Ids an agent sees: opaque, different in every episode, and computed instead of stored.

A keyed Feistel network permutes the numbers 0 … 2³⁵ − 1; a row number goes through it and comes out as seven base-32
characters. Going back is the same network in reverse, so translating costs microseconds and no table, an id carried
over from another episode names nothing, and an id tells nothing about its row (Luby and Rackoff 1988).
"""

from __future__ import annotations

from ecomrlve.streams import key_of, mix

# Base 32 without letters that people confuse (i, l, o, u), after Crockford.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 7
_LEFT_BITS, _RIGHT_BITS = 17, 18
_LEFT_MASK, _RIGHT_MASK = (1 << _LEFT_BITS) - 1, (1 << _RIGHT_BITS) - 1
_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}


class Aliases:
    """The ids of one kind of thing in one episode.

    Args:
        prefix: Letter that starts every id: ``p`` for products.
        size: Ids name the numbers 0 … size − 1, at most 2³⁵.
        *key: What the permutation is keyed by: the episode.
    """

    def __init__(self, prefix: str, size: int, *key: object):
        self._prefix = prefix
        self._size = size
        self._ids: dict[int, str] = {}
        self._keys = [key_of("alias", prefix, number, *key) for number in range(2)]

    def encode(self, number: int) -> str:
        """The id of a number. What was asked once is remembered: an episode shows the same few hundred again."""
        if number not in self._ids:
            self._ids[number] = self._encode(number)
        return self._ids[number]

    def _encode(self, number: int) -> str:
        left, right = number >> _RIGHT_BITS, number & _RIGHT_MASK
        for key in self._keys:
            left ^= mix(key ^ right) & _LEFT_MASK
            right ^= mix(key + 1 ^ left) & _RIGHT_MASK
        value = left << _RIGHT_BITS | right
        return self._prefix + "".join(ALPHABET[value >> 5 * place & 31] for place in reversed(range(LENGTH)))

    def decode(self, text: str) -> int | None:
        """The number behind an id, or None where it names nothing. Letter case and surrounding spaces do not count."""
        text = text.strip().lower()
        if len(text) != LENGTH + len(self._prefix) or not text.startswith(self._prefix):
            return None
        value = 0
        for letter in text[len(self._prefix) :]:
            if letter not in _VALUES:
                return None
            value = value << 5 | _VALUES[letter]
        left, right = value >> _RIGHT_BITS, value & _RIGHT_MASK
        for key in reversed(self._keys):
            right ^= mix(key + 1 ^ left) & _RIGHT_MASK
            left ^= mix(key ^ right) & _LEFT_MASK
        number = left << _RIGHT_BITS | right
        return number if number < self._size else None
