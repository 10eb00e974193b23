"""Random streams: the same everywhere, even, and independent of each other."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ecomrlve.streams import HashStream, Stream, key_of, mix, unit_hash, unit_hashes

UNLIKELY = 1e-4  # seeds are fixed, so each of these p-values either is below it for ever or never
KEYS = st.integers(0, 2**64 - 1)
NAMES = st.lists(st.one_of(st.text(), st.integers()), min_size=1, max_size=4)

DRAWS = """
import json
import numpy as np
from ecomrlve.streams import Stream, key_of, unit_hash, unit_hashes
stream = Stream("problem", "E_CART", 7)
print(json.dumps([
    key_of("a", 1, "é"), unit_hash(key_of("a"), 12), unit_hashes(key_of("a"), np.arange(5)).tolist(),
    stream.uniform(), stream.integer(1000), stream.choice("abcdef"), stream.shuffled(range(20)),
    stream.sample("abcdefgh", 3), stream.weighted("xyz", [1, 2, 3]), [stream.chance(0.5) for _ in range(20)],
]))
"""


def evenly(counts: list[int]) -> float:
    """The p-value of all cells being equally likely."""
    return float(stats.chisquare(counts).pvalue)


def draws_in_another_process(hash_seed: str) -> list:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    run = subprocess.run([sys.executable, "-c", DRAWS], env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_draws_are_the_same_in_every_process_whatever_its_hash_seed():
    first = draws_in_another_process("1")
    assert draws_in_another_process("4711") == first


def test_draws_stay_the_same_from_version_to_version():
    # Stored episodes are replayed from their seeds: if these change, every stored trajectory becomes worthless.
    assert key_of("a", 1) == 16780626820265149011
    stream = Stream("problem", "E_CART", 7)
    assert [stream.uniform(), stream.integer(1000)] == [0.9286372641570553, 389]


def test_the_mixer_is_splitmix64():
    # The published first outputs for the seed 1234567.
    gamma = 0x9E3779B97F4A7C15
    states = [(1234567 + step * gamma) % 2**64 for step in range(5)]
    assert [mix(state) for state in states] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


@given(NAMES, NAMES)
def test_different_names_have_different_keys(one, other):
    same = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    assert (key_of(*one) == key_of(*other)) == same


def test_the_boundaries_and_types_of_a_name_count():
    names = [
        ("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"), ("c", "ab"), (1,), ("1",), (1, 2), (12,), ("", "a"),
        ("a", ""), ("a",), ("a\x1fstr:b",), ("a", "b"), ("a\x1f", "b"), ("a", "\x1fb"), ("a\x1f\x1fstr:b",), (True,),
    ]  # fmt: skip
    assert len({key_of(*name) for name in names}) == len(names)


def test_numbers_are_even():
    stream = Stream("even", 0)
    values = [stream.uniform() for _ in range(64_000)]
    assert min(values) >= 0
    assert max(values) < 1
    assert evenly(np.bincount([int(value * 64) for value in values], minlength=64)) > UNLIKELY


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 97])
def test_whole_numbers_are_even(bound):
    stream = Stream("integers", bound)
    counts = Counter(stream.integer(bound) for _ in range(200 * bound))
    assert set(counts) == set(range(bound))
    assert bound == 1 or evenly([counts[number] for number in range(bound)]) > UNLIKELY


def test_the_first_draw_is_even_over_neighbouring_seeds():
    firsts = [Stream("problem", "E_CART", seed).uniform() for seed in range(20_000)]
    assert evenly(np.bincount([int(value * 50) for value in firsts], minlength=50)) > UNLIKELY
    # Neighbours have nothing in common either.
    pairs = Counter((int(one * 8), int(other * 8)) for one, other in pairwise(firsts))
    assert evenly([pairs[x, y] for x in range(8) for y in range(8)]) > UNLIKELY


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("noise", 1), ("problem", 1)),
        (("problem", 1), ("problem", 2)),
        (("problem", 1), ("problem", "1")),
        (("a", "bc"), ("ab", "c")),
    ],
)
def test_streams_of_different_names_are_independent(one, other):
    first, second = Stream(*one), Stream(*other)
    pairs = Counter((first.integer(8), second.integer(8)) for _ in range(20_000))
    assert evenly([pairs[x, y] for x in range(8) for y in range(8)]) > UNLIKELY


def test_reading_one_stream_does_not_move_another():
    alone, first, second = Stream("b"), Stream("a"), Stream("b")
    expected = [alone.uniform() for _ in range(10)]
    found = []
    for _ in range(10):
        first.shuffled(range(20))
        found.append(second.uniform())
    assert found == expected


def test_a_chance_uses_up_one_draw_whatever_its_probability():
    for probability in (0.0, 0.3, 1.0):
        one, other = Stream("same"), Stream("same")
        one.chance(probability)
        other.uniform()
        assert one.uniform() == other.uniform()


def test_chances_come_true_as_often_as_they_say():
    for probability in (0.0, 0.05, 0.5, 0.9, 1.0):
        stream = Stream("chance", str(probability))
        hits = sum(stream.chance(probability) for _ in range(20_000))
        assert abs(hits - 20_000 * probability) <= 4 * math.sqrt(20_000 * probability * (1 - probability))


def test_weights_are_respected():
    stream = Stream("weights")
    weights = [1, 2, 0, 4, 3]
    counts = Counter(stream.weighted("abcde", weights) for _ in range(20_000))
    assert counts["c"] == 0
    found = [counts[letter] for letter in "abde"]
    assert stats.chisquare(found, [2000.0, 4000.0, 8000.0, 6000.0]).pvalue > UNLIKELY


@pytest.mark.parametrize("bound", [0, -1])
def test_there_is_no_whole_number_below_nothing(bound):
    with pytest.raises(ValueError, match="positive"):
        Stream("x").integer(bound)


def test_all_orders_of_a_shuffle_are_equally_likely():
    counts = Counter(tuple(Stream("shuffle", seed).shuffled("abcd")) for seed in range(12_000))
    assert evenly([counts[order] for order in permutations("abcd")]) > UNLIKELY


def test_all_samples_are_equally_likely():
    counts = Counter(tuple(Stream("sample", seed).sample("abcde", 2)) for seed in range(10_000))
    assert evenly([counts[pair] for pair in permutations("abcde", 2)]) > UNLIKELY


@given(st.lists(st.integers(0, 5)), KEYS)
def test_a_shuffle_keeps_what_it_is_given(items, seed):
    before = list(items)
    shuffled = Stream("s", seed).shuffled(items)
    assert sorted(shuffled) == sorted(before)
    assert items == before
    assert shuffled == Stream("s", seed).shuffled(tuple(items))


@given(st.integers(0, 30), st.integers(0, 40), KEYS)
def test_a_sample_holds_different_places_and_as_many_as_there_are(size, count, seed):
    items = list(range(size))
    sample = Stream("s", seed).sample(items, count)
    assert len(sample) == len(set(sample)) == min(count, size)
    assert set(sample) <= set(range(size))
    assert items == list(range(size))


@given(st.integers(1, 10**6), KEYS)
def test_whole_numbers_stay_below_their_bound(bound, seed):
    stream = Stream("i", seed)
    assert all(0 <= stream.integer(bound) < bound for _ in range(20))


@given(KEYS, st.lists(st.integers(0, 2**62), min_size=1, max_size=50))
def test_a_hash_of_many_numbers_equals_the_hash_of_each_to_the_last_bit(key, numbers):
    many = unit_hashes(key, np.array(numbers, np.int64))
    assert many.dtype == np.float64
    assert many.tolist() == [unit_hash(key, number) for number in numbers]


def test_hashes_of_a_table_keep_its_shape_and_take_small_integers():
    table = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert unit_hashes(5, table).tolist() == [[unit_hash(5, int(number)) for number in row] for row in table]


@given(KEYS, st.integers(0, 2**63 - 1))
def test_a_hash_lies_in_the_unit_interval(key, number):
    assert 0 <= unit_hash(key, number) < 1


@pytest.mark.parametrize("step", [1, 64])
def test_hashes_of_rows_are_even_and_independent_of_their_neighbours(step):
    values = unit_hashes(key_of("rows", step), np.arange(40_000) * step)
    assert evenly(np.bincount((values * 100).astype(int), minlength=100)) > UNLIKELY
    cells = (values[:-1] * 10).astype(int) * 10 + (values[1:] * 10).astype(int)
    assert evenly(np.bincount(cells, minlength=100)) > UNLIKELY


def test_hashes_under_neighbouring_keys_are_independent():
    rows = np.arange(20_000)
    for one, other in ((0, 1), (1, 2), (2**63, 2**63 + 1)):
        cells = (unit_hashes(one, rows) * 10).astype(int) * 10 + (unit_hashes(other, rows) * 10).astype(int)
        assert evenly(np.bincount(cells, minlength=100)) > UNLIKELY


def test_a_hash_stream_is_its_hashes_one_after_the_other():
    stream = HashStream(77)
    assert [stream.uniform() for _ in range(20)] == [unit_hash(77, number) for number in range(20)]
    assert HashStream(77).uniform() == unit_hash(77, 0)


@pytest.mark.parametrize("first", [0, 2**40, 2**64 - 4000])
def test_hash_streams_are_even_at_every_place_and_independent_of_place_and_key(first):
    draws = np.array([[stream.uniform() for _ in range(4)] for stream in map(HashStream, range(first, first + 4000))])
    assert ((draws >= 0) & (draws < 1)).all()
    tenths = (draws * 10).astype(int)
    for place in range(4):
        assert evenly(np.bincount(tenths[:, place], minlength=10)) > UNLIKELY
        # Neighbouring keys at the same place, and neighbouring places of the same key.
        keys = tenths[:-1, place] * 10 + tenths[1:, place]
        assert evenly(np.bincount(keys, minlength=100)) > UNLIKELY
        places = tenths[:, place - 1] * 10 + tenths[:, place]
        assert evenly(np.bincount(places, minlength=100)) > UNLIKELY


def test_a_hash_stream_draws_as_any_stream_does():
    counts = Counter(tuple(HashStream(key_of("hash", seed)).sample("abcde", 2)) for seed in range(10_000))
    assert evenly([counts[pair] for pair in permutations("abcde", 2)]) > UNLIKELY
    assert evenly(list(Counter(HashStream(mix(seed)).choice("abc") for seed in range(9_000)).values())) > UNLIKELY
    items = list(range(30))
    shuffled = HashStream(3).shuffled(items)
    assert sorted(shuffled) == items != shuffled
    assert shuffled == HashStream(3).shuffled(items)
    assert shuffled != HashStream(4).shuffled(items)
