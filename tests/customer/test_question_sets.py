"""The question sets: they are sound, and understood as well as the customer is said to, the same everywhere."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from ecomrlve.customer.asking import vectors
from ecomrlve.customer.ledger import HEADS, KINDS, Slot
from ecomrlve.customer.understanding import MOST_READ, Understanding, understand

QUESTIONS = Path(__file__).parent / "questions"
SETS = ("development", "training", "test")
FITTED = ("development", "training")
# Repeats the questions of the unit tests, several of them in more than one problem.
REPEATS = "training_d.yaml"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine the threads of a product wait for each other, ten times longer than the product takes."""
    with threadpool_limits(limits=1):
        yield


@lru_cache(maxsize=3)
def problems(name: str) -> dict[str, dict[str, Slot]]:
    """Problem → key → slot, of one set."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (QUESTIONS / f"{name}_scenarios.yaml").read_text("utf-8")
    found: dict[str, dict[str, Slot]] = {}
    for key, problem in yaml.load(text, Loader=loader).items():
        slots = [
            Slot(**{**slot, **{part: tuple(slot.get(part, ())) for part in ("synonyms", "choices")}})
            for slot in problem["slots"]
        ]
        found[key] = {slot.key: slot for slot in slots}
        assert len(found[key]) == len(slots), f"{name} {key} has two slots of one key"
    return found


@lru_cache(maxsize=3)
def cases(name: str) -> list[tuple[str, dict[str, Any]]]:
    """The messages of one set: the name of the file and the case."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [
        (file.name, case)
        for file in sorted(QUESTIONS.glob(f"{name}_[a-z].yaml"))
        for case in yaml.load(file.read_text("utf-8"), Loader=loader)
    ]


def read(name: str, number: int) -> Understanding:
    """What the customer understands of one message, and nothing remembered of it."""
    case = cases(name)[number][1]
    return understand(case["say"], list(problems(name)[case["in"]].values()))


@lru_cache(maxsize=3)
def understood(name: str) -> list[Understanding]:
    return [read(name, number) for number in range(len(cases(name)))]


def plain(found: Understanding) -> list[Any]:
    return [
        found.asked, found.open, found.confirm, found.question, found.about, found.how_many,
        sorted(found.claims.items()),
    ]  # fmt: skip


# Some messages of every set.
SAMPLE = [(name, number) for name in SETS for number in range(0, len(cases(name)), 4 if name == "test" else 16)]


def digest(results: dict[tuple[str, int], Understanding]) -> str:
    text = json.dumps([[*key, plain(results[key])] for key in sorted(results)])
    return hashlib.sha256(text.encode()).hexdigest()


def shuffled_digest(seed: int) -> str:
    """The digest of the sample, read in another order. Other processes call it, too."""
    order = list(SAMPLE)
    random.Random(seed).shuffle(order)
    return digest({(name, number): read(name, number) for name, number in order})


# --- the sets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_every_case_is_about_slots_that_its_problem_has(name: str) -> None:
    for file, case in cases(name):
        assert {"in", "say", "asks"} <= set(case) <= {"in", "say", "asks", "open", "confirm", "nothing", "claims"}
        assert case["in"] in problems(name), (file, case)
        assert case["say"].strip(), (file, case)
        slots = problems(name)[case["in"]]
        assert len(case["asks"]) == len(set(case["asks"])), (file, case)
        for key in (*case["asks"], *case.get("claims", {})):
            assert key in slots, (file, case, key)
            assert slots[key].kind not in HEADS, (file, case, key)
        # What is stated to have it confirmed is asked about; nothing is "nothing" if it asks something.
        assert set(case.get("claims", {})) <= set(case["asks"]), (file, case)
        assert not (case.get("nothing") and (case["asks"] or case.get("open"))), (file, case)


def squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


def test_no_message_of_the_test_set_stands_anywhere_else() -> None:
    mine = [squeezed(case["say"]) for _, case in cases("test")]
    others = {squeezed(case["say"]) for name in FITTED for _, case in cases(name)}
    assert len(mine) == len(set(mine))
    assert not set(mine) & others


def test_hardly_a_message_of_the_other_sets_stands_twice() -> None:
    own = Counter(squeezed(case["say"]) for name in FITTED for file, case in cases(name) if file != REPEATS)
    assert sum(own.values()) - len(own) == 0
    again = {squeezed(case["say"]) for name in FITTED for file, case in cases(name) if file == REPEATS} & set(own)
    assert len(again) <= 5


def test_the_sets_are_large_enough_and_ask_about_every_kind_of_slot() -> None:
    assert sum(len(cases(name)) for name in FITTED) >= 400
    assert len(cases("test")) >= 200
    for names in (FITTED, ("test",)):
        asked = {
            problems(name)[case["in"]][key].kind for name in names for _, case in cases(name) for key in case["asks"]
        }
        assert asked == set(KINDS) - set(HEADS)


def test_every_environment_is_in_every_set() -> None:
    for name in SETS:
        found = {case["in"].split("-")[0] for _, case in cases(name)}
        assert {"pd", "sub", "cart", "return", "status", "policy", "bundle"} <= found


# --- how well they are understood ------------------------------------------------------------------------------------


def f1(pairs: list[tuple[set[str], set[str]]]) -> float:
    """Over (slots asked about, slots understood): twice the right ones over all of both."""
    return (
        2 * sum(len(asked & given) for asked, given in pairs) / sum(len(asked) + len(given) for asked, given in pairs)
    )


def pairs_of(name: str, environment: str = "") -> list[tuple[set[str], set[str]]]:
    return [
        (set(case["asks"]), set(found.asked))
        for (_, case), found in zip(cases(name), understood(name), strict=True)
        if case["in"].split("-")[0] == environment or not environment
    ]


@pytest.mark.parametrize(("name", "least"), [("development", 0.87), ("training", 0.88), ("test", 0.88)])
def test_the_slots_that_are_asked_about_are_understood(name: str, least: float) -> None:
    assert f1(pairs_of(name)) >= least


@pytest.mark.parametrize("environment", sorted({case["in"].split("-")[0] for _, case in cases("test")}))
def test_the_slots_of_every_environment_are_understood(environment: str) -> None:
    pairs = pairs_of("test", environment)
    assert len(pairs) >= 20
    assert f1(pairs) >= 0.8


def test_what_is_understood_are_slots_of_the_problem_in_their_order() -> None:
    for name in SETS:
        for (_, case), found in zip(cases(name), understood(name), strict=True):
            keys = [key for key, slot in problems(name)[case["in"]].items() if slot.kind not in HEADS]
            assert list(found.asked) == [key for key in keys if key in found.asked]
            assert set(found.claims) <= set(found.asked)
            assert found.question or not (found.asked or found.open or found.confirm)


# --- the same everywhere ---------------------------------------------------------------------------------------------


def test_the_order_of_messages_and_what_ran_before_do_not_matter() -> None:
    expected = digest({(name, number): understood(name)[number] for name, number in SAMPLE})
    assert shuffled_digest(3) == expected


def test_another_process_understands_the_same() -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_question_sets as t; "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(t.shuffled_digest(11))"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest({(name, number): understood(name)[number] for name, number in SAMPLE})


TEXTS = [case["say"] for _, case in cases("test")]


def test_vectors_are_whole_numbers_of_one_length() -> None:
    for text in TEXTS:
        vector = vectors.vector(text)
        assert vector.shape == (vectors.DIMENSIONS,)
        assert (vector == np.rint(vector)).all()
        # Rounding changes every dimension by a half at most.
        assert abs(float(np.linalg.norm(vector)) - vectors.SCALE) <= np.sqrt(vectors.DIMENSIONS) / 2
    assert not vectors.vector("").any()
    assert not vectors.similarities(vectors.stacked([]), vectors.vector("color")).size


def test_similarities_are_exact_in_whatever_order_they_are_summed() -> None:
    matrix = vectors.stacked([vectors.vector(text) for text in TEXTS])
    draws = np.random.default_rng(0)
    for text in TEXTS[:40]:
        one = vectors.vector(text)
        found = vectors.similarities(matrix, one)
        exact = (matrix.astype(np.int64) @ one.astype(np.int64)) / (vectors.SCALE * vectors.SCALE)
        assert found.tolist() == exact.tolist()
        for _ in range(5):
            order = draws.permutation(vectors.DIMENSIONS)
            permuted = np.ascontiguousarray(matrix[:, order])
            assert vectors.similarities(permuted, one[order]).tolist() == found.tolist()


# --- odd texts -------------------------------------------------------------------------------------------------------


def slot(kind: str, attribute: str, value: Any, **more: Any) -> Slot:
    key = more.pop("key", f"{kind}:{attribute}")
    return Slot(key, kind, attribute, "eq", value, **{"label": attribute.replace("_", " "), **more})


MACHINE = [
    slot("type", "type", "time machine"),
    slot("constraint", "price", 80, unit="$", synonyms=("budget", "cost", "spend", "expensive", "cheap", "pay")),
    slot("constraint", "color", "black", synonyms=("colour", "shade"), choices=("black", "white", "red")),
    slot("constraint", "flux_capacitance", 3, label="flux capacitance", synonyms=("flux",), unit="jigowatts"),
    slot("priority", "rating", "", key="priority:1", rank=1),
]
FLUX = "constraint:flux_capacitance"
ODD = (
    "color ",
    "what ",
    "is it right ",
    "and ",
    "so ",
    "$1 ",
    "(",
    "1. ",
    "? ",
    "\n",
    "\x00",
    "😀",
    "ß",
    "漢字 ",
    "’",
    "-",
)


@pytest.mark.parametrize("part", ODD, ids=ascii)
def test_a_long_odd_text_ends_with_a_result(part: str) -> None:
    text = part * (MOST_READ // len(part) + 200)
    assert len(text) > MOST_READ
    found = understand(text, MACHINE)
    assert isinstance(found, Understanding)
    assert found == understand(text[:MOST_READ], MACHINE)


@given(st.text(max_size=200))
def test_any_text_ends_with_a_result(text: str) -> None:
    found = understand(text, MACHINE)
    assert set(found.asked) <= {slot.key for slot in MACHINE[1:]}


@pytest.mark.parametrize("text", ["", " ", "\n\n", "!!!", ".,;:-", "…", "\x00\x00", "😀🎉", "()[]{}", "¯\\_(ツ)_/¯"])
def test_a_text_without_words_asks_for_no_slot(text: str) -> None:
    found = understand(text, MACHINE)
    assert not found.asked
    assert not found.open
    assert not found.claims


def test_nothing_is_read_beyond_the_most_that_is_read() -> None:
    told = ("I found nothing so far. " * 400)[:MOST_READ]
    question = "What is your budget?"
    assert understand(told[: -len(question)] + question, MACHINE).asked == ("constraint:price",)
    assert understand(told + question, MACHINE) == understand(told, MACHINE)
    assert not understand(told + question, MACHINE).question


def test_without_slots_nothing_is_asked_about() -> None:
    for text in ("What color?", "Is the black one right?", "Anything else?", ""):
        assert not understand(text, []).asked
        assert not understand(text, MACHINE[:1]).asked


# --- another catalog -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "What flux capacitance do you need?",
        "And the flux capacitance?",
        "What about the flux?",
        "Which flux should it have?",
        "What flux capacitanse should it have?",
        "Which flux capacitence?",
        "flux capacitance?",
    ],
)
def test_an_attribute_that_nobody_foresaw_is_asked_about_by_its_words(text: str) -> None:
    assert understand(text, MACHINE).asked == (FLUX,)


@pytest.mark.parametrize("text", ["What color?", "What is your budget?", "Which shade would you like?", "Thank you!"])
def test_another_question_is_not_about_it(text: str) -> None:
    assert FLUX not in understand(text, MACHINE).asked


@pytest.mark.parametrize(("stated", "right"), [(3, True), (4, False)])
def test_its_value_is_compared_with_what_is_stated(stated: int, right: bool) -> None:
    found = understand(f"So the flux capacitance should be {stated} jigowatts, right?", MACHINE)
    assert found.asked == (FLUX,)
    assert found.claims == {FLUX: right}
