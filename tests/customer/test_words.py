"""Articles, plurals, numbers and sentences."""

from __future__ import annotations

import pytest

from ecomrlve.customer.words import a, amount, common_noun, listed, number, sentence, the, tidy


@pytest.mark.parametrize(
    ("noun", "said"),
    [
        ("air fryer", "an air fryer"), ("USB hub", "a USB hub"), ("hourglass", "an hourglass"),
        ("yoga mat", "a yoga mat"), ("UV lamp", "a UV lamp"),
        ("LED lamp", "an LED lamp"), ("RAM kit", "a RAM kit"), ("running shoes", "running shoes"), ("dress", "a dress"),
        ("umbrella", "an umbrella"), ("unicycle", "a unicycle"), ("8-quart pot", "an 8-quart pot"),
        ("dog food", "some dog food"), ("one-person tent", "a one-person tent"), ("canvas", "a canvas"),
        ("undershirt", "an undershirt"), ("HDMI cable", "an HDMI cable"), ("usb cable", "a usb cable"),
    ],
)  # fmt: skip
def test_articles(noun: str, said: str) -> None:
    assert a(noun) == said


def test_amounts() -> None:
    assert amount(25, "$") == "$25"
    assert amount(24.5, "$") == "$24.50"
    assert amount(1, "hours") == "1 hour"
    assert amount(80, "%") == "80%"
    assert amount(2.50, "kg") == "2.5 kg"
    assert number(1e-05) == "0.00001"
    assert number(100000000.0) == "100000000"
    assert common_noun("Air Fryer") == "air fryer"
    assert common_noun("USB Hub") == "USB hub"
    assert common_noun("Bluetooth speaker") == "Bluetooth speaker"


def test_sentences() -> None:
    assert tidy("one ,  two . ") == "one, two."
    assert sentence("in black") == "In black."
    assert sentence("iPad wanted") == "iPad wanted."
    assert sentence("is it black?") == "Is it black?"
    assert the("the charger") == the("charger") == "the charger"
    assert the("my old phone") == "my old phone"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a, b", "c", "d"], "or") == "a, b; c; or d"
    assert listed(["a, b", "c"]) == "a, b, and c"
