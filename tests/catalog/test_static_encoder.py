"""The static encoder: its vectors are right, depend on nothing but the text, and never need a network."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading

import numpy as np
import pytest

from ecomrlve.catalog import encoder as encoders
from ecomrlve.catalog import static_encoder
from ecomrlve.catalog.encoder import QueryCache, SentenceEncoder, encoder_by_name, identity
from ecomrlve.catalog.static_encoder import DIMENSIONS, StaticEncoder
from ecomrlve.errors import CatalogError

TEXTS = [
    "Wireless mechanical keyboard, 87 keys",
    "keyboard",
    "Dark chocolate 300 g. dark chocolate, Food Sweets Chocolate",
    "  spaces\tand\u00a0others   ",
    "Käsemesser für Brot – 日本語 🧀",
    "x" * 300,
    "a a a a a a a a",
]


@pytest.fixture(scope="module")
def encoder() -> StaticEncoder:
    return StaticEncoder()


def test_vectors_are_the_normalised_mean_of_the_tokens_vectors(encoder):
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights, tokenizer = static_encoder.wheel_files()
    table = load_file(weights)["embedding.weight"].astype(np.float64)
    split = Tokenizer.from_file(str(tokenizer))
    for text in TEXTS:
        # The whole text at once, not word by word as the encoder does it.
        tokens = split.encode(" ".join(text.split()), add_special_tokens=False).ids
        mean = table[tokens].mean(axis=0)
        np.testing.assert_allclose(encoder.query(text), mean / np.linalg.norm(mean), atol=2e-6)


def test_a_vector_does_not_depend_on_its_batch(encoder):
    many = [f"{text} {number}" for number in range(400) for text in TEXTS]
    together = encoder.encode(many)
    assert together.dtype == np.float32
    assert together.shape == (len(many), DIMENSIONS)
    fresh = StaticEncoder()
    for place in range(0, len(many), 97):
        assert together[place].tobytes() == fresh.encode([many[place]])[0].tobytes()
        assert together[place].tobytes() == fresh.query(many[place]).tobytes()
    backwards = fresh.encode(many[::-1])[::-1]
    assert together.tobytes() == backwards.tobytes()


def test_vectors_are_the_same_in_another_process(encoder):
    code = (
        "import hashlib, json, sys\n"
        "from ecomrlve.catalog.static_encoder import StaticEncoder\n"
        "print(hashlib.sha256(StaticEncoder().encode(json.load(sys.stdin)).tobytes()).hexdigest())\n"
        "assert 'wordllama' not in sys.modules and 'torch' not in sys.modules\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(TEXTS), capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == hashlib.sha256(encoder.encode(TEXTS).tobytes()).hexdigest()


def test_vectors_have_unit_length_and_no_text_has_none(encoder):
    vectors = encoder.encode([*TEXTS, "", "  "])
    np.testing.assert_allclose(np.linalg.norm(vectors[:-2], axis=1), 1, atol=1e-6)
    assert not vectors[-2:].any()
    assert encoder.encode([]).shape == (0, DIMENSIONS)


def test_similar_things_are_more_similar(encoder):
    ask = encoder.query("cheap running shoes")
    near, far = encoder.encode(["Sneakers for joggers, budget price", "Stainless steel kitchen sink"])
    assert ask @ near > ask @ far


def test_few_words_are_remembered_and_forgetting_changes_nothing(encoder, monkeypatch):
    monkeypatch.setattr(static_encoder, "REMEMBERED_WORDS", 10)
    forgetful = StaticEncoder()
    texts = [f"word{number} and another{number} keyboard" for number in range(50)]
    one_by_one = np.stack([forgetful.encode([text])[0] for text in texts])
    assert len(forgetful._words) <= 10
    assert one_by_one.tobytes() == encoder.encode(texts).tobytes()
    forgetful.encode(["y" * 100])
    assert "y" * 100 not in forgetful._words


def test_threads_get_the_same_vectors(encoder):
    shared, found = StaticEncoder(), {}

    def work(number: int) -> None:
        found[number] = [shared.query(f"{text} {number % 3}") for text in TEXTS]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, vectors in found.items():
        assert np.stack(vectors).tobytes() == encoder.encode([f"{text} {number % 3}" for text in TEXTS]).tobytes()


def test_other_weights_are_refused(monkeypatch):
    monkeypatch.setattr(static_encoder, "WEIGHTS", "0" * 64)
    with pytest.raises(CatalogError, match=r"weights of wordllama-256 have the checksum 64b47a2dc493…"):
        StaticEncoder().query("keyboard")


def test_a_missing_wheel_says_what_to_install(monkeypatch):
    monkeypatch.setattr(static_encoder.util, "find_spec", lambda name: None)
    with pytest.raises(CatalogError, match="pip install wordllama"):
        StaticEncoder().encode(["keyboard"])


def test_the_query_cache_forgets_the_oldest_and_is_read_only():
    cache = QueryCache(most=2)
    for word in ("a", "b"):
        cache.put(word, np.zeros(3))
    assert cache.get("a") is not None
    cache.put("c", np.zeros(3))
    assert cache.get("b") is None
    with pytest.raises(ValueError, match="read-only"):
        cache.get("a")[0] = 1


def test_encoders_by_name_and_their_identities(tmp_path):
    assert encoder_by_name().name == encoders.DEFAULT
    assert isinstance(encoder_by_name("static"), StaticEncoder)
    assert isinstance(encoder_by_name("wordllama-256"), StaticEncoder)
    other = encoder_by_name("some/model", device="cuda:1")
    assert isinstance(other, SentenceEncoder)
    assert (other.name, other.device) == ("some/model", "cuda:1")
    assert SentenceEncoder().device == "cpu"
    assert SentenceEncoder("some/model").device is None
    assert identity(encoder_by_name()) == f"{encoders.DEFAULT}@{encoders.DEFAULT_WEIGHTS[:16]}"
    assert identity(StaticEncoder()) == "wordllama-256@64b47a2dc493cb8e"
    assert identity(other) == "some/model"
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    first = identity(SentenceEncoder(str(tmp_path)))
    (tmp_path / "model.safetensors").write_bytes(b"others")
    assert first.startswith(f"{tmp_path}@")
    assert identity(SentenceEncoder(str(tmp_path))) != first
