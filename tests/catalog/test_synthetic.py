"""The generated catalog: complete, plausible, the same everywhere, and rich enough for every difficulty."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.departments import holds, read_goods
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.catalog.synthetic import generate
from ecomrlve.errors import CatalogError, SeedError
from ecomrlve.streams import Stream


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return generate()


@pytest.fixture(scope="module")
def kinds():
    return {kind.name: kind for _, kind in read_goods().types()}


def families(catalog: Catalog) -> list[list[int]]:
    found = defaultdict(list)
    for row, number in enumerate(catalog.family.tolist()):
        found[number].append(row)
    return list(found.values())


def test_it_is_a_whole_shop(catalog):
    assert len(catalog) == 10_000
    assert catalog.name == "default"
    assert len(catalog.type_names) >= 140
    assert len({path[0] for path in catalog.category_names}) >= 14
    assert catalog.card["types"] == len(catalog.type_names)
    assert catalog.card["departments"] == len({path[0] for path in catalog.category_names})
    assert not catalog.synthesized


def test_every_type_has_enough_products_and_attributes(catalog):
    for name in catalog.type_names:
        rows = catalog.rows_of_type(name)
        assert 48 <= len(rows) <= 80, name
        assert np.count_nonzero(catalog.stock[rows] > 0) >= 40, name
        own = catalog.attributes_of_type(name)
        assert len(own) >= 6, name
        numeric = sum(catalog.columns[key].numeric for key in own)
        assert numeric >= 2, name
        assert len(own) - numeric >= 3, name


def test_everything_is_known_of_every_product(catalog):
    for row in range(0, len(catalog), 7):
        product = catalog.product(row)
        assert set(product.attributes) == set(catalog.attributes_of_type(product.type))
        assert product.brand
        assert product.description
        assert 2 <= len(product.features) <= 3
        assert None not in (product.rating, product.rating_count, product.ship_days)


def test_numbers_are_plausible(catalog):
    prices, ratings = catalog.columns["price"].values, catalog.columns["rating"].values
    assert (prices > 0).all()
    assert np.array_equal(np.round(prices, 2), prices)
    assert 0.4 < np.mean(np.isin(np.round(prices * 100) % 100, (95, 99))) < 0.8
    assert ratings.min() >= 2.5
    assert ratings.max() <= 5
    assert np.array_equal(np.round(ratings, 1), ratings)
    assert catalog.rating_count.min() >= 1
    days = catalog.columns["ship_days"].values
    assert set(days.tolist()) == set(range(1, 11))
    assert 0.5 < np.mean((days >= 2) & (days <= 5)) < 0.8
    assert 0.03 < np.mean(catalog.stock == 0) < 0.05
    some = np.array([units for row, units in enumerate(catalog.stock) if units and row not in catalog.variants])
    assert some.min() >= 5
    assert some.max() <= 200


def test_products_with_many_ratings_spread_less(catalog):
    ratings = catalog.columns["rating"].values
    assert np.std(ratings[catalog.rating_count < 20]) > np.std(ratings[catalog.rating_count > 200])


def test_prices_stay_near_the_median_of_the_type(catalog, kinds):
    prices = catalog.columns["price"].values
    for name, kind in kinds.items():
        assert 0.4 < np.median(prices[catalog.rows_of_type(name)]) / kind.price < 2.5, name


def test_more_of_what_raises_the_price_costs_more(catalog, kinds):
    dearer = []
    for name, kind in kinds.items():
        rows = catalog.rows_of_type(name)
        for key in kind.raises_price:
            amounts = catalog.columns[key].values[rows]
            dearer.append(np.corrcoef(amounts, np.log(catalog.columns["price"].values[rows]))[0, 1])
    assert np.mean(dearer) > 0.2


def test_texts_are_plain(catalog):
    for row, title in enumerate(catalog.titles):
        assert 3 <= len(title.split()) <= 9, title
        for text in (title, catalog.descriptions[row], *catalog.features[row]):
            assert re.fullmatch(r"[^<>*_`\[\]{}|#~^\\\n]+", text), text
            assert "  " not in text
            assert text == text.strip()


def test_titles_name_brand_and_type(catalog, kinds):
    for row, title in enumerate(catalog.titles):
        assert title.startswith(str(catalog.columns["brand"].get(row)))
        words = title.lower().replace(",", "").split()
        assert set(catalog.type_of(row).split()) <= set(words), title


def test_no_title_names_a_variant(catalog, kinds):
    for row, title in enumerate(catalog.titles):
        for value in kinds[catalog.type_of(row)].variant.values:
            assert not holds(title, value), (title, value)


def test_many_products_share_their_title(catalog):
    counts = Counter(catalog.titles)
    assert 0.3 <= np.mean([counts[title] > 1 for title in catalog.titles]) <= 0.7
    owners = defaultdict(set)
    for row, title in enumerate(catalog.titles):
        owners[title].add(int(catalog.family[row]))
    assert max(map(len, owners.values())) == 1


def test_families_are_grids_over_one_or_two_attributes(catalog):
    sizes: Counter[int] = Counter()
    for rows in families(catalog):
        sizes[len(rows)] += 1
        assert len({(catalog.columns["brand"].get(row), catalog.type_codes[row]) for row in rows}) == 1
        names = catalog.type_attributes(rows[0])
        cells = [tuple(catalog.columns[name].get(row) for name in names) for row in rows]
        assert len(set(cells)) == len(cells)
        differing = [len(set(column)) for column in zip(*cells, strict=True)]
        differing = [count for count in differing if count > 1]
        assert 1 <= len(differing) <= 2
        # At most two cells of the grid are empty: no member has all the others around it.
        assert np.prod(differing) - len(rows) <= 2
    assert set(sizes) == {4, 5, 6, 7, 8}


def test_members_cost_about_the_same_but_not_the_same(catalog):
    spreads = []
    for rows in families(catalog):
        prices = catalog.columns["price"].values[rows]
        assert prices.max() / prices.min() < 4
        spreads.append(len(set(prices.tolist())) > 1)
    assert np.mean(spreads) > 0.95


def test_order_of_rows_tells_nothing(catalog):
    neighbours = np.mean(catalog.type_codes[1:] == catalog.type_codes[:-1])
    assert neighbours < 3 / len(catalog.type_names)
    halves = np.bincount(catalog.type_codes[: len(catalog) // 2], minlength=len(catalog.type_names))
    assert halves.min() >= 8


def test_products_of_variant_types_list_variants(catalog, kinds):
    natural = {name for name, kind in kinds.items() if kind.natural_variants}
    assert 0.08 * len(kinds) < len(natural) < 0.25 * len(kinds)
    for row in range(len(catalog)):
        variants = catalog.variants.get(row, ())
        assert bool(variants) == (catalog.type_of(row) in natural)
        if variants:
            rule = kinds[catalog.type_of(row)].variant
            values = [variant.attributes[rule.attribute] for variant in variants]
            assert 4 <= len(values) <= 6
            assert len(set(values)) == len(values)
            assert set(values) <= set(rule.values)
            assert catalog.stock[row] == sum(variant.stock for variant in variants)
            assert all(variant.stock == 0 or 5 <= variant.stock <= 60 for variant in variants)
    listed = [variant.stock for variants in catalog.variants.values() for variant in variants]
    assert 0.05 < np.mean(np.array(listed) == 0) < 0.16
    assert set(catalog.variant_rules) == set(catalog.type_names)


@pytest.mark.parametrize("difficulty", [0, 6, 12])
def test_enough_constraints_can_be_met_together(catalog, difficulty):
    stream, wanted, supported = Stream("support", difficulty), 2 + difficulty // 2, 0
    for _ in range(100):
        row = stream.integer(len(catalog))
        rows = catalog.rows_of_type(catalog.type_of(row))
        masks: dict[str, list[np.ndarray]] = defaultdict(list)
        for name in [*catalog.type_attributes(row), "price", "rating", "ship_days", "brand"]:
            column = catalog.columns[name]
            for operator in ("le", "ge") if column.numeric else ("eq",):
                mask = satisfied(catalog, rows, Constraint(name, operator, column.get(row)))
                if not mask.all():
                    masks[name].append(mask)
        left, chosen = np.ones(len(rows), bool), 0
        while masks and chosen < wanted:
            kept = {name: max(np.count_nonzero(mask & left) for mask in some) for name, some in masks.items()}
            name = max(kept, key=kept.__getitem__)
            left &= max(masks.pop(name), key=lambda mask: np.count_nonzero(mask & left))
            chosen += 1
        supported += int(chosen == wanted and np.count_nonzero(left) >= 2)
    assert supported >= 90


def test_random_constraints_are_neither_empty_nor_idle(catalog):
    """Three unrelated wishes, each true of one product, mostly leave a handful of others."""
    stream, left = Stream("random wishes"), []
    for _ in range(200):
        row = stream.integer(len(catalog))
        rows = catalog.rows_of_type(catalog.type_of(row))
        kept = np.ones(len(rows), bool)
        for name in stream.sample(catalog.type_attributes(row), 3):
            column = catalog.columns[name]
            operator = "ge" if column.numeric else "eq"
            kept &= satisfied(catalog, rows, Constraint(name, operator, column.get(row)))
        left.append(np.count_nonzero(kept))
    assert 3 <= np.median(left) <= 25


def test_the_same_seed_gives_the_same_catalog(catalog):
    assert generate(10_000, 0).fingerprint == catalog.fingerprint
    other = generate(10_000, 1)
    assert other.fingerprint != catalog.fingerprint
    assert other.name == "generated-10000-1"


def test_another_process_gives_the_same_catalog():
    code = "from ecomrlve.catalog.synthetic import generate; print(generate(1000, 5).fingerprint)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert result.stdout.strip() == generate(1000, 5).fingerprint


@pytest.mark.parametrize("size", [1_000, 30_000])
def test_other_sizes(size):
    catalog = generate(size)
    assert len(catalog) == size
    assert catalog.name == f"generated-{size}-0"
    counts = np.bincount(catalog.type_codes)
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("size", [0, 999, 2_000_001, -5, 1e4, "10000", True, None])
def test_bad_sizes_are_refused(size):
    with pytest.raises(CatalogError, match="1,000 to 2,000,000"):
        generate(size)


@pytest.mark.parametrize("seed", [-1, 2**63, 0.5, "0", True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(SeedError):
        generate(1_000, seed)
