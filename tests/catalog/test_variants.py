"""Variants: as many products have them as the episode says, by a rule that knows nothing but episode and row."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.variants import (
    FALLBACK,
    LEAST_STOCK,
    PER_PRODUCT,
    PRIORITY,
    VariantRule,
    ruled_types,
    variant_rule,
)
from ecomrlve.streams import key_of

KEYS = [key_of("variants", number) for number in range(3)]
SHARE = 0.4


def bare_rows(catalog: Catalog) -> np.ndarray:
    """Rows without variants of their own."""
    return np.flatnonzero(~catalog.has_own_variants)


def catalog_of(*records: dict[str, Any], **options: Any) -> Catalog:
    """A catalog without variant rules; each record needs only what matters."""
    return Catalog.from_records(
        [{"title": f"Thing {number}", "price": 9.99, "stock": 20, **record} for number, record in enumerate(records)],
        name="small",
        **options,
    )


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("share", [0.0, 0.21, 0.66, 0.93, 1.0])
def test_as_many_products_have_variants_as_the_episode_says(catalog, key, share):
    rows = bare_rows(catalog)
    having = VariantRule(catalog, key, share).having(rows)
    assert abs(having.sum() - share * len(rows)) <= 4 * math.sqrt(len(rows) * share * (1 - share))


def test_every_type_has_its_share(catalog):
    counts, expected = [], []
    for name in catalog.type_names:
        rows = np.intersect1d(catalog.rows_of_type(name), bare_rows(catalog))
        if len(rows) >= 30:
            counts.append(sum(VariantRule(catalog, key, SHARE).having(rows).sum() for key in KEYS))
            expected.append(3 * SHARE * len(rows))
    spread = (np.array(counts) - expected) ** 2 / (np.array(expected) * (1 - SHARE))
    assert len(counts) > 100
    assert stats.chi2.sf(spread.sum(), len(counts)) > 1e-4


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("fact", ["price", "rating", "ship_days", "stock", "rating_count", "title length", "row"])
def test_having_variants_says_nothing_about_the_product(catalog, key, fact):
    rows = bare_rows(catalog)
    having = VariantRule(catalog, key, SHARE).having(rows)
    values = {
        "stock": catalog.stock, "rating_count": catalog.rating_count, "row": np.arange(len(catalog)),
        "title length": np.array([len(title) for title in catalog.titles]),
    }  # fmt: skip
    found = values[fact] if fact in values else catalog.columns[fact].values
    assert abs(stats.spearmanr(having, found[rows]).statistic) < 4 / math.sqrt(len(rows))


@pytest.mark.parametrize("key", KEYS)
def test_lookalikes_have_variants_independently_of_each_other(catalog, key):
    rows = bare_rows(catalog)
    having = dict(zip(rows.tolist(), VariantRule(catalog, key, SHARE).having(rows).tolist(), strict=True))
    pairs = Counter()
    for row in rows.tolist():
        kin = [int(other) for other in catalog.rows_of_family(row) if other > row]
        if kin:
            pairs[having[row], having[kin[0]]] += 1
    table = [[pairs[one, other] for other in (False, True)] for one in (False, True)]
    assert stats.chi2_contingency(table).pvalue > 1e-4


def test_one_row_and_many_rows_are_asked_alike(catalog):
    rows = np.arange(0, len(catalog), 3)
    for share in (0.0, SHARE, 1.0):
        rule = VariantRule(catalog, KEYS[0], share)
        alone = [rule.has(int(row)) for row in rows]
        assert rule.having(rows).tolist() == alone
        assert [bool(rule.of(int(row))) for row in rows] == alone


def test_a_product_gets_three_different_variants_of_one_attribute_that_its_type_lacks(catalog):
    rule = VariantRule(catalog, KEYS[0], 1.0)
    for row in bare_rows(catalog)[::2].tolist():
        variants = rule.of(row)
        assert len(variants) == PER_PRODUCT == 3
        (attribute,) = {name for variant in variants for name in variant.attributes}
        assert all(len(variant.attributes) == 1 for variant in variants)
        values = [variant.attributes[attribute] for variant in variants]
        assert len(set(values)) == 3
        wanted, possible = catalog.variant_rules[catalog.type_of(row)]
        assert (attribute, set(values) <= set(possible)) == (wanted, True)
        assert attribute not in catalog.type_attributes(row)
        assert {variant.price for variant in variants} == {catalog.product(row).price}


def test_variants_are_in_stock_exactly_if_the_product_is(catalog):
    rule = VariantRule(catalog, KEYS[0], 1.0)
    for row in bare_rows(catalog)[::3].tolist():
        for variant in rule.of(row):
            assert (variant.stock > 0) == (catalog.stock[row] > 0)
            assert variant.stock == 0 or variant.stock >= LEAST_STOCK


def test_the_place_and_the_stock_of_a_value_say_nothing(catalog):
    name = max(catalog.type_names, key=lambda name: len(np.intersect1d(catalog.rows_of_type(name), bare_rows(catalog))))
    _, values = catalog.variant_rules[name]
    places: Counter[tuple[int, str]] = Counter()
    stocks: dict[str, list[int]] = {value: [] for value in values}
    for number in range(60):
        rule = VariantRule(catalog, key_of("places", number), 1.0)
        for row in catalog.rows_of_type(name).tolist():
            for place, variant in enumerate(rule.of(row)):
                (value,) = variant.attributes.values()
                places[place, value] += 1
                stocks[value].append(variant.stock)
    assert stats.chisquare([places[place, value] for place in range(3) for value in values]).pvalue > 1e-4
    assert stats.kruskal(*stocks.values()).pvalue > 1e-4


def test_the_same_episode_has_the_same_variants_in_whatever_order_they_are_asked_for(catalog):
    rows = list(range(0, len(catalog), 37))
    one, other = VariantRule(catalog, KEYS[0], SHARE), VariantRule(catalog, KEYS[0], SHARE)
    expected = {row: one.of(row) for row in rows}
    assert {row: other.of(row) for row in reversed(rows)} == expected
    assert {row: one.of(row) for row in rows} == expected


def test_another_episode_has_other_variants(catalog):
    rows = bare_rows(catalog)
    one, other = (VariantRule(catalog, key, SHARE).having(rows) for key in KEYS[:2])
    assert stats.chi2_contingency(np.histogram2d(one, other, bins=2)[0]).pvalue > 1e-4
    both = rows[one & other].tolist()
    first, second = VariantRule(catalog, KEYS[0], SHARE), VariantRule(catalog, KEYS[1], SHARE)
    assert sum(first.of(row) == second.of(row) for row in both) < 0.05 * len(both)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_products_keep_the_variants_that_they_list_themselves(catalog, share):
    rule = VariantRule(catalog, KEYS[0], share)
    assert len(catalog.variants) > 100
    moved = 0
    for row, own in catalog.variants.items():
        variants = rule.of(row)
        assert rule.has(row)
        assert sorted(map(repr, variants)) == sorted(map(repr, own))
        moved += variants != own
    assert moved > 0.8 * len(catalog.variants)  # in an order that tells nothing


# --- catalogs without a rule of their own ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "attribute"),
    [
        ({"type": "t-shirt", "category": ("Apparel", "Tops")}, "size"),
        ({"type": "boots", "category": ("Footwear",)}, "size"),
        ({"type": "bowl", "category": ("Kitchen", "Tableware")}, "material"),
        ({"type": "perfume", "category": ("Beauty", "Fragrance")}, "scent"),
        ({"type": "pasta", "category": ("Groceries",)}, "pack"),
        ({"type": "charger"}, "connector_type"),
        ({"type": "graphics card", "category": ("PC Parts",)}, "connector_type"),
        ({"type": "violin", "category": ("Music", "Strings")}, FALLBACK[0]),
        ({"type": "flowerpot"}, FALLBACK[0]),
        # Where the type has the attribute already, the next that fits is taken.
        ({"type": "t-shirt", "category": ("Apparel",), "attributes": {"size": "M"}}, FALLBACK[0]),
        ({"type": "cable", "category": ("Electronics",), "attributes": {"connector_type": "USB-C"}}, FALLBACK[0]),
        ({"type": "cable", "category": ("Home", "Tech"), "attributes": {"material": "nylon"}}, "connector_type"),
    ],
    ids=str,
)
def test_without_a_rule_the_category_decides_what_variants_differ_in(record, attribute):
    catalog = catalog_of(record)
    found = variant_rule(catalog, record["type"])
    assert found is not None
    assert found[0] == attribute
    possible = dict([*(entry for _, entry in PRIORITY), FALLBACK])
    variants = VariantRule(catalog, KEYS[0], 1.0).of(0)
    values = [variant.attributes[attribute] for variant in variants]
    assert len(set(values)) == PER_PRODUCT
    assert set(values) <= set(found[1])
    assert attribute == "size" or tuple(found[1]) == possible[attribute]


def test_a_word_within_a_word_is_not_the_word():
    assert variant_rule(catalog_of({"type": "cardigan frame"}), "cardigan frame") == FALLBACK
    assert variant_rule(catalog_of({"type": "bootstrap manual"}), "bootstrap manual") == FALLBACK


def test_a_type_that_has_every_attribute_gets_no_variants():
    catalog = catalog_of({"type": "violin", "attributes": {FALLBACK[0]: "Studio"}}, {"type": "flute"})
    assert variant_rule(catalog, "violin") is None
    rule = VariantRule(catalog, KEYS[0], 1.0)
    assert (rule.has(0), rule.of(0), rule.has(1)) == (False, (), True)
    assert rule.having(np.array([0, 1])).tolist() == [False, True]
    assert ruled_types(catalog)[catalog.type_codes].tolist() == [False, True]


def test_a_rule_of_the_catalog_goes_before_the_category():
    rules = {"t-shirt": ("print", ("Cat", "Dog", "Owl", "Fox")), "hat": ("brim", ("wide", "narrow"))}
    catalog = catalog_of({"type": "t-shirt"}, {"type": "hat"}, variant_rules=rules)
    assert variant_rule(catalog, "t-shirt") == rules["t-shirt"]
    assert variant_rule(catalog, "hat") is None  # two values are too few for three variants
    assert {name for variant in VariantRule(catalog, KEYS[0], 1.0).of(0) for name in variant.attributes} == {"print"}


def test_own_variants_count_also_where_no_rule_fits():
    own = (Variant({"edition": "A"}, 5.0, 3), Variant({"edition": "B"}, 6.0, 0))
    catalog = catalog_of({"type": "violin", "attributes": {FALLBACK[0]: "x"}, "variants": own}, {"type": "violin"})
    rule = VariantRule(catalog, KEYS[0], 0.0)
    assert (rule.has(0), rule.has(1)) == (True, False)
    assert sorted(rule.of(0), key=lambda variant: variant.price) == list(own)
