"""Large generated catalogs: they grow as shops do, in chunks that any process can make, and small ones stay."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from ecomrlve.catalog.chunks import chunk_numbers, claim_part, part_folder, write_chunk
from ecomrlve.catalog.departments import holds, read_goods
from ecomrlve.catalog.growth import MOST_PER_CHUNK, GrowthPlan, SeriesNames
from ecomrlve.catalog.synthetic import generate, generate_folder
from ecomrlve.errors import CatalogError, SeedError

SIZES = (10_001, 50_000, 200_000, 2_000_000)


@pytest.fixture(scope="module")
def plans() -> dict[int, GrowthPlan]:
    return {size: GrowthPlan(size) for size in SIZES}


@pytest.fixture(scope="module")
def large_type(plans):
    """The largest type of the largest catalog, and all its products."""
    plan = plans[2_000_000]
    place = int(plan.counts.argmax())
    numbers = [number for number, chunk in enumerate(plan.chunks) if chunk.place == place]
    return plan.types[place][1], [record for number in numbers for record in plan.records(number)]


@pytest.fixture(scope="module")
def medium():
    """A catalog of 12,000 in memory."""
    return generate(12_000, 3)


@pytest.mark.parametrize(
    ("size", "seed", "fingerprint"),
    [(1_000, 0, "67d0e228ac1316b1"), (3_000, 5, "e04a44047243e1f8"), (10_000, 1, "d46322d10032a18e")],
)
def test_small_catalogs_stay_as_they_were(size, seed, fingerprint):
    assert generate(size, seed).fingerprint == fingerprint


@pytest.mark.parametrize("size", SIZES)
def test_a_plan_adds_up(plans, size):
    plan = plans[size]
    assert plan.counts.sum() == sum(chunk.count for chunk in plan.chunks) == size
    assert plan.families == sum(len(chunk.families) for chunk in plan.chunks)
    assert plan.counts.min() >= 50
    first = first_family = 0
    for chunk, following in zip(plan.chunks, [*plan.chunks[1:], None], strict=True):
        assert (chunk.first, chunk.first_family) == (first, first_family)
        assert chunk.count <= MOST_PER_CHUNK
        assert set(chunk.families) <= set(range(4, 17))
        first, first_family = first + chunk.count, first_family + len(chunk.families)
        if following is not None and following.place == chunk.place:
            assert following.part == chunk.part + 1
            assert following.first_of_type == chunk.first_of_type + len(chunk.families)


def test_types_get_a_long_tail(plans):
    tails = [plan.counts.max() / plan.counts.mean() for plan in plans.values()]
    assert tails == sorted(tails)
    assert tails[0] < 1.1
    assert 1.15 < tails[1] < 1.5
    assert 5 < tails[-1] < 8
    largest = plans[2_000_000].counts
    assert 1 / 20 < largest.min() / largest.mean() < 1 / 10
    assert not np.array_equal(GrowthPlan(2_000_000, 1).counts, largest)


def test_types_are_equally_large_before():
    counts = GrowthPlan(30_000).counts
    assert counts.max() - counts.min() <= 1


def test_brands_become_more_but_more_slowly_than_products(plans):
    written = {brand.name for department in read_goods().departments for brand in department.brands}
    counts = []
    for plan in plans.values():
        names = [brand.name for brands in plan.brands.values() for brand in brands]
        assert len(set(map(str.casefold, names))) == len(names)
        assert written <= set(names)
        counts.append(len(names))
    assert counts[0] <= 1.05 * len(written)
    for (small, few), (large, many) in zip(
        zip(SIZES[:-1], counts[:-1], strict=True), zip(SIZES[1:], counts[1:], strict=True), strict=True
    ):
        assert 0.35 < math.log(many / few) / math.log(large / small) < 0.6


def test_families_become_larger_and_more(plans):
    means = [size / plan.families for size, plan in plans.items()]
    assert means == sorted(means)
    assert 5.7 < means[0] < 6.3
    assert 9 < means[-1] < 12
    sizes = Counter(size for chunk in plans[2_000_000].chunks for size in chunk.families)
    assert set(sizes) == set(range(4, 17))


def test_a_few_brands_lead(large_type, plans):
    kind, records = large_type
    counts = Counter(record["brand"] for record in records)
    department = next(d.department for d, k in plans[2_000_000].types if k is kind)
    assert len(counts) > 0.8 * len(plans[2_000_000].brands[department])
    shares = np.sort(np.array(list(counts.values())))[::-1] / len(records)
    assert shares[0] > 4 / len(shares)
    assert shares[: len(shares) // 5].sum() > 0.45


def test_titles_are_shared_only_inside_a_family(large_type):
    _, records = large_type
    assert len(records) > 2 * MOST_PER_CHUNK
    owners = defaultdict(set)
    for record in records:
        owners[record["title"].casefold()].add(record["family"])
    assert max(map(len, owners.values())) == 1
    assert 0.3 < 1 - len(owners) / len(records) < 0.7


def test_titles_promise_no_variant_and_are_short(large_type):
    kind, records = large_type
    for record in records[::7]:
        assert 3 <= len(record["title"].split()) <= 9, record["title"]
        assert record["title"].startswith(record["brand"])
        assert not any(holds(record["title"], value) for value in kind.variant.values), record["title"]


def test_families_stay_grids(large_type):
    kind, records = large_type
    families = defaultdict(list)
    for record in records:
        families[record["family"]].append(record)
    for members in families.values():
        assert len({record["brand"] for record in members}) == 1
        cells = [tuple(record["attributes"][name] for name in kind.attributes) for record in members]
        assert len(set(cells)) == len(cells)
        differing = [count for count in (len(set(column)) for column in zip(*cells, strict=True)) if count > 1]
        assert 1 <= len(differing) <= 2
        assert math.prod(differing) - len(members) <= 2


def test_every_value_is_one_of_its_type(medium):
    kinds = {kind.name: kind for _, kind in read_goods().types()}
    assert medium.card["families"] == len(set(medium.family.tolist()))
    assert medium.card["brands"] >= len(medium.columns["brand"].names)
    for row in range(0, len(medium), 3):
        product = medium.product(row)
        kind = kinds[product.type]
        assert set(product.attributes) == set(kind.attributes)
        for name, value in product.attributes.items():
            assert value in kind.attributes[name], (name, value)
        assert bool(product.variants) == kind.natural_variants
        assert product.category[1:] == kind.category
        assert (product.price > 0, 1 <= product.rating <= 5, 1 <= product.ship_days <= 10) == (True, True, True)


def test_rows_lie_type_after_type(medium):
    assert medium.name == "generated-12000-3"
    assert np.all(np.diff(medium.type_codes) >= 0)


def test_chunks_do_not_depend_on_what_was_made_before(plans):
    number = len(plans[10_001].chunks) // 2
    expected = plans[10_001].records(number)
    other = GrowthPlan(10_001)
    other.records(number - 1)
    assert other.records(number) == expected
    assert GrowthPlan(10_001, 1).records(number) != expected


@pytest.mark.parametrize("workers", [1, 2])
def test_a_folder_holds_the_same_products_whatever_the_workers(tmp_path, medium, workers):
    stored = generate_folder(12_000, tmp_path / "shop", seed=3, workers=workers)
    assert stored.name == medium.name
    assert len(stored) == len(medium)
    assert [stored.product(row) for row in range(0, 12_000, 11)] == [
        medium.product(row) for row in range(0, 12_000, 11)
    ]
    assert stored.family[:].tolist() == medium.family.tolist()
    assert stored.variant_rules == medium.variant_rules
    assert stored.card["families"] == medium.card["families"]
    assert not part_folder(tmp_path / "shop").exists()


def test_a_killed_run_is_gone_on_with(tmp_path, monkeypatch, medium):
    folder = tmp_path / "shop"
    made: list[int] = []
    records = GrowthPlan.records

    def dying(plan, number):
        if len(made) == 60:
            raise KeyboardInterrupt
        made.append(number)
        return records(plan, number)

    monkeypatch.setattr(GrowthPlan, "records", dying)
    with pytest.raises(KeyboardInterrupt):
        generate_folder(12_000, folder, seed=3, workers=1)
    assert chunk_numbers(part_folder(folder)) == made
    assert not folder.exists()
    again: list[int] = []

    def counting(plan, number):
        again.append(number)
        return records(plan, number)

    monkeypatch.setattr(GrowthPlan, "records", counting)
    stored = generate_folder(12_000, folder, seed=3, workers=1)
    assert not set(made) & set(again)
    assert len(made) + len(again) == len(GrowthPlan(12_000, 3).chunks)
    assert [stored.titles[row] for row in range(12_000)] == medium.titles


@pytest.mark.parametrize(("size", "seed"), [(12_001, 3), (12_000, 4)])
def test_a_part_of_another_catalog_is_refused(tmp_path, monkeypatch, size, seed):
    monkeypatch.setattr(GrowthPlan, "records", lambda plan, number: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        generate_folder(12_000, tmp_path / "shop", seed=3, workers=1)
    with pytest.raises(CatalogError, match="something else"):
        generate_folder(size, tmp_path / "shop", seed=seed, workers=1)


def test_a_part_of_another_source_is_refused(tmp_path):
    part = part_folder(tmp_path / "shop")
    claim_part(part, {"name": "other"})
    write_chunk(part, 0, [{"title": "A", "price": 1.0, "type": "lamp"}])
    with pytest.raises(CatalogError, match="something else"):
        generate_folder(12_000, tmp_path / "shop", workers=1)
    assert chunk_numbers(part) == [0]


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    with pytest.raises(CatalogError, match="is there already"):
        generate_folder(12_000, tmp_path)


def test_a_small_folder_holds_what_is_generated_in_memory(tmp_path):
    stored, expected = generate_folder(1_000, tmp_path / "shop", seed=2), generate(1_000, 2)
    assert sorted(stored.titles[row] for row in range(1_000)) == sorted(expected.titles)
    assert stored.name == expected.name


@pytest.mark.parametrize(("size", "seed", "error"), [(999, 0, CatalogError), (12_000, -1, SeedError)])
def test_bad_sizes_and_seeds_are_refused(tmp_path, size, seed, error):
    with pytest.raises(error):
        generate_folder(size, tmp_path / "shop", seed=seed)
    assert not list(tmp_path.iterdir())


def test_small_catalogs_have_no_plan():
    with pytest.raises(CatalogError, match="in one piece"):
        GrowthPlan(10_000)


@pytest.mark.parametrize(("words", "families"), [(2, 40), (3, 100), (20, 5_000), (350, 30_000)])
def test_series_names_never_run_out(words, families):
    words = [f"W{number}a" for number in range(words)]
    names = SeriesNames(words, ["II", "III"], families, 2**64 - 1)
    found = [names.name(family) for family in range(families)]
    assert len(set(found)) == families
    firsts = [name.split()[:2] for name in found]
    assert all(len(set(pair)) == len(pair) for pair in firsts)


def test_one_series_word_is_not_enough():
    with pytest.raises(CatalogError, match="at least two series words"):
        SeriesNames(["Nova"], [], 5, 0)
