"""Settle which attributes a catalog from the Hub has, and which of them are numbers, once all products were seen.

While rows are read, every batch counts what its attributes hold (`count_values`); the counts travel with the chunks,
and their sum (`AttributeCounts`) decides (`settle`). Then the texts of each chunk become numbers or stay words
(`settle_chunk`). That can be done to a chunk twice without harm, so that a killed run just does it again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ecomrlve.catalog.chunks import chunk_file, read_chunk
from ecomrlve.catalog.columns import fold
from ecomrlve.catalog.hub_details import LONGEST_VALUE
from ecomrlve.catalog.hub_units import COUNT, converted, family, measure, unit_for
from ecomrlve.catalog.product import Attribute

# An attribute is a number where at least this share of its values are numbers that convert into its unit.
NUMBERS = 0.95
# One with more words, or more numbers without a unit, is no choice that people make in a shop.
MOST_DIFFERENT = 5_000
MOST_ATTRIBUTES = 400
# One whose values are all different, and at least so many, tells a product from all others: it is a number plate.
LEAST_PLATES = 20
# An attribute is left out where a larger share of its values are texts too long to choose by.
LONG = 0.5

# What people call them, where that is more than the name: label, other words, which way is better.
_FACTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "item_weight": ("weight", ("heavy", "weigh"), "less"),
    "length": ("length", ("long",), ""),
    "width": ("width", ("wide",), ""),
    "height": ("height", ("tall", "high"), ""),
    "depth": ("depth", ("deep",), ""),
    "color": ("color", ("colour", "shade"), ""),
    "material": ("material", ("made of", "fabric"), ""),
    "screen_size": ("screen size", ("display size",), ""),
    "battery_life": ("battery life", ("runtime",), "more"),
    "wattage": ("wattage", ("power", "watts"), ""),
    "capacity": ("capacity", ("volume",), "more"),
    "memory_storage_capacity": ("storage", ("memory",), "more"),
    "noise_level": ("noise level", ("loud", "quiet"), "less"),
    "refresh_rate": ("refresh rate", (), "more"),
    "item_count": ("number of items", ("pieces",), ""),
    "item_type": ("kind", (), ""),
    "connector_type": ("connector type", ("plug", "connection"), ""),
}


@dataclass
class AttributeCounts:
    """What is known so far of one attribute's values.

    Attributes:
        known: How many values, texts that are too long not among them.
        long: How many texts were too long.
        families: Family of units → how many values are numbers with such a unit.
        different: Folded values, no more than `MOST_DIFFERENT` of them.
        crowded: Whether there are more.
    """

    known: int = 0
    long: int = 0
    families: Counter[str] = field(default_factory=Counter)
    different: set[str] = field(default_factory=set)
    crowded: bool = False

    def add(self, counts: Mapping[str, Any]) -> None:
        """Add what `count_values` found in one batch."""
        self.known += counts["known"]
        self.long += counts["long"]
        self.families.update(counts["families"])
        if not self.crowded:
            self.different.update(counts["new"])
            if len(self.different) > MOST_DIFFERENT:
                self.crowded, self.different = True, set()


def count_values(values: Iterable[str], long: int, before: AttributeCounts) -> dict[str, Any]:
    """Count one attribute's values in one batch, as plain values that fit JSON.

    Args:
        values: The values; none is longer than `LONGEST_VALUE`.
        long: How many were left out because they are longer.
        before: The counts of all batches before.
    """
    texts = Counter(values)
    families: Counter[str] = Counter()
    for text, count in texts.items():
        if found := measure(text):
            families[family(found[1])] += count
    new = [] if before.crowded else sorted({fold(text) for text in texts} - before.different)
    return {"known": texts.total(), "long": long, "families": dict(families), "new": new}


@dataclass(frozen=True)
class Settled:
    """The attributes of a catalog.

    Attributes:
        attributes: Name → fact sheet, most common first.
        known_for: Name → how many products have a value.
        left_out: Why → names of the attributes that are left out for it.
        notes: What was changed or left unknown, with how many values.
    """

    attributes: dict[str, Attribute]
    known_for: dict[str, int]
    left_out: dict[str, list[str]]
    notes: Counter[str]


def settle(counts: Mapping[str, AttributeCounts]) -> Settled:
    """Decide which attributes the catalog has, and the kind and unit of each.

    Args:
        counts: Name → the counts over all rows.
    """
    settled = Settled({}, {}, {}, Counter())
    candidates: list[tuple[int, str, str]] = []
    for name, some in counts.items():
        main, numbers = max(sorted(some.families.items()), key=lambda item: item[1], default=(COUNT, 0))
        numeric = bool(numbers) and numbers >= NUMBERS * some.known
        reason = _why_left_out(some, numeric and main != COUNT)
        if reason:
            settled.left_out.setdefault(reason, []).append(name)
        else:
            candidates.append((numbers if numeric else some.known, name, main if numeric else ""))
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1]))
    rare = [name for _, name, _ in candidates[MOST_ATTRIBUTES:]]
    if rare:
        settled.left_out[f"not among the {MOST_ATTRIBUTES} most common"] = rare
    for known_for, name, main in candidates[:MOST_ATTRIBUTES]:
        label, synonyms, better = _FACTS.get(name, (name.replace("_", " "), (), ""))
        unit = unit_for(name, main) if main else ""
        kind = "number" if main else "category"
        settled.attributes[name] = Attribute(name, kind, label, unit, synonyms, better if main else "")
        settled.known_for[name] = known_for
        if unfit := counts[name].known - known_for:
            what = f"numbers in {unit}" if unit else "plain numbers"
            settled.notes[f"values of {name} that are no {what}, left unknown"] = unfit
        if counts[name].long:
            settled.notes[f"texts of {name} longer than {LONGEST_VALUE} characters, left unknown"] = counts[name].long
    for names in settled.left_out.values():
        names.sort()
    return settled


def _why_left_out(counts: AttributeCounts, measured: bool) -> str:
    if counts.long > LONG * (counts.known + counts.long):
        return "mostly long texts"
    if measured:
        return ""
    if counts.crowded:
        return f"more than {MOST_DIFFERENT} different values"
    plates = counts.known >= LEAST_PLATES and len(counts.different) == counts.known
    return "another value for every product" if plates else ""


def settled_value(text: str, attribute: Attribute) -> float | str | None:
    """What an attribute's text says: a number in its unit, a word, or None where it does not fit."""
    if attribute.kind != "number":
        return text
    found = measure(text)
    return None if found is None else converted(found[0], found[1], attribute.unit)


def settle_chunk(part: Path, number: int, attributes: Mapping[str, Attribute]) -> None:
    """Turn the attribute texts of one chunk into numbers and words, and leave out all other attributes.

    Args:
        part: The part folder.
        number: Which chunk; it is replaced as a whole or not at all.
        attributes: What `settle` decided.
    """
    batch = read_chunk(part, number)
    lists = batch.column("attribute")
    keys, words = lists.flatten(), batch.column("word").flatten()
    names, texts = keys.dictionary.to_pylist(), words.dictionary.to_pylist()
    numbers = batch.column("number").flatten().to_numpy(zero_copy_only=False)
    key_codes = keys.indices.to_numpy()
    # −1 where there is no word: that value was settled before.
    word_codes = words.indices.fill_null(-1).to_numpy().astype(np.int64)
    pairs, place = np.unique(key_codes * np.int64(len(texts) + 1) + word_codes + 1, return_inverse=True)
    kept = np.zeros(len(pairs), bool)
    parsed = np.full(len(pairs), np.nan)
    for position, pair in enumerate(pairs.tolist()):
        key, word = divmod(pair, len(texts) + 1)
        attribute = attributes.get(names[key])
        if attribute is None:
            continue
        value = settled_value(texts[word - 1], attribute) if word else 0.0
        kept[position] = value is not None
        if isinstance(value, float):
            parsed[position] = value
    keep = kept[place]
    as_number = parsed[place]
    numbers = np.where((word_codes < 0), numbers, as_number)[keep]
    no_number = np.isnan(numbers)
    row_of = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy())
    counts = np.bincount(row_of[keep], minlength=len(lists))
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    chosen = np.flatnonzero(keep)
    new = {
        "attribute": keys.take(pa.array(chosen)),
        "number": pa.array(numbers, pa.float64(), mask=no_number),
        "word": pa.DictionaryArray.from_arrays(
            pa.array(word_codes[chosen], pa.int32(), mask=~no_number), words.dictionary
        ),
    }
    arrays = [
        pa.ListArray.from_arrays(offsets, new[name]) if name in new else batch.column(name)
        for name in batch.schema.names
    ]
    _replace(chunk_file(part, number), pa.RecordBatch.from_arrays(arrays, schema=batch.schema))


def _replace(file: Path, batch: pa.RecordBatch) -> None:
    writing = file.with_name(f"{file.name}.{os.getpid()}.writing")
    with pa.OSFile(str(writing), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    os.replace(writing, file)
