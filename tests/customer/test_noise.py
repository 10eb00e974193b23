"""Typing errors: as many as asked for, never where they would change what was meant."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from ecomrlve.customer.noise import NEIGHBOURS, SLANG, add_noise, casual, slips
from ecomrlve.streams import Stream

PLAIN = (
    "Hello there, I'm looking for an air fryer with a battery life of at least ten hours, made of stainless steel. "
    "It should come in black or white, and the connector type should be the one that fits my charger. What matters "
    "most to me is quick delivery, after that good reviews. Please put the wireless headphones in my cart as well. "
)
NUMBERS = "Max $24.50, 65W, USB3-C, order A1B2C3 of 2024-05-17, 3x, 4.2 stars, €9, 10 hours."


@pytest.mark.parametrize("rate", [0.01, 0.03, 0.06, 0.12])
def test_share_of_errors_is_the_rate(rate: float) -> None:
    letters = errors = 0
    for seed in range(250):
        text = slips(PLAIN, rate, Stream("share", seed))
        letters += sum(letter.isalpha() for letter in PLAIN)
        errors += OSA.distance(PLAIN, text)
    assert errors / letters == pytest.approx(rate, rel=0.2)


def test_short_messages_have_the_rate_too() -> None:
    text = "I need size large please."
    errors = sum(OSA.distance(text, slips(text, 0.05, Stream("short", seed))) for seed in range(3000))
    assert errors / (3000 * sum(letter.isalpha() for letter in text)) == pytest.approx(0.05, rel=0.2)


def test_all_kinds_of_slip_occur() -> None:
    kinds = set()
    for seed in range(600):
        text = slips("wonderful kitchen things", 0.03, Stream("kinds", seed))
        before, after = len("wonderful kitchen things"), len(text)
        if text.count(" ") == 1:
            kinds.add("space")
        elif after < before:
            kinds.add("drop")
        elif after > before:
            kinds.add("double")
        elif text != "wonderful kitchen things":
            changed = sum(one != other for one, other in zip(text, "wonderful kitchen things", strict=True))
            kinds.add("swap" if changed == 2 else "neighbour")
    assert kinds == {"space", "drop", "double", "swap", "neighbour"}


@pytest.mark.parametrize("rate", [0.03, 0.12, 0.3])
def test_numbers_ids_and_protected_parts_stay(rate: float) -> None:
    for seed in range(100):
        text = add_noise(f"{PLAIN}{NUMBERS} GreenLeaf charger.", rate, Stream("stay", seed), ["GreenLeaf", "air fryer"])
        for token in NUMBERS.split():
            if re.search(r"[\d$€]", token):
                assert token in text.split()
        assert "GreenLeaf" in text
        assert "air fryer" in text


@pytest.mark.parametrize("rate", [0.05, 0.12, 0.3])
def test_words_remain_recoverable(rate: float) -> None:
    words = re.findall(r"[\w']+", PLAIN)
    for seed in range(100):
        text = slips(PLAIN, rate, Stream("words", seed))
        found = re.findall(r"[\w']+", text)
        if len(found) != len(words):
            continue  # a space was lost; the share of errors is tested above
        for word, other in zip(words, found, strict=True):
            most = 0 if len(word) <= 3 else math.ceil(len(word) / 6)
            assert OSA.distance(word, other) <= most, (word, other)
            assert word[0] == other[0]


def test_casual_spellings_grow_with_the_rate() -> None:
    counts = []
    for rate in (0.02, 0.06, 0.12):
        words = [re.findall(r"[\w/']+", casual(PLAIN, rate, Stream("casual", seed))) for seed in range(200)]
        counts.append(sum(word in ("pls", "w/", "im") for text in words for word in text))
    assert 0 < counts[0] < counts[1] < counts[2]
    assert casual("XS iPad USB", 0.5, Stream(1)) == "XS iPad USB"
    assert any(casual("Hello", 0.5, Stream(seed)) == "hello" for seed in range(20))


def test_slang_is_for_whole_words() -> None:
    for seed in range(50):
        text = casual("About-face youth withhold", 0.9, Stream(seed))
        assert text.lower() == "about-face youth withhold"
    assert all(len(short) < len(word) for word, short in SLANG.items())
    assert not any(re.search(r"\d", short) for short in SLANG.values())


def test_keyboard_neighbours() -> None:
    assert set(NEIGHBOURS) == set("abcdefghijklmnopqrstuvwxyz")
    assert set(NEIGHBOURS["g"]) == set("ftyhbv")
    assert all(one in NEIGHBOURS[other] for one, others in NEIGHBOURS.items() for other in others)


def test_rate_zero_and_determinism() -> None:
    odd = "  two  spaces\n\ttabs, “quotes” \u00e9\u00e8 … "
    assert add_noise(odd, 0.0, Stream(1)) == odd
    assert add_noise(PLAIN, 0.1, Stream("a")) == add_noise(PLAIN, 0.1, Stream("a"))
    assert add_noise(PLAIN, 0.1, Stream("a")) != add_noise(PLAIN, 0.1, Stream("b"))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.floats(0, 0.5), st.integers(0, 10**6), st.lists(st.text(max_size=6), max_size=3))
def test_any_text_survives(text: str, rate: float, seed: int, protect: list[str]) -> None:
    noisy = add_noise(text, rate, Stream(seed), protect)
    assert bool(noisy.strip()) == bool(text.strip())
    for token in re.findall(r"\S*[0-9$€]\S*", text):
        assert token in noisy
    for part in protect:
        assert part in noisy or part not in text
