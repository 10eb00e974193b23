"""A catalog on disk is the catalog that was in memory; it is published whole, and damage is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ecomrlve.catalog.chunks import chunk_file, chunk_numbers, chunk_state, claim_part, part_folder, write_chunk
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.filters import Constraint, rows_satisfying, satisfied
from ecomrlve.catalog.product import Attribute, Variant
from ecomrlve.catalog.search import matching_rows
from ecomrlve.catalog.store import finish, save_catalog
from ecomrlve.catalog.stored import META, StoredCatalog, is_catalog_folder, open_catalog
from ecomrlve.catalog.synthetic import generate
from ecomrlve.environment import Environment
from ecomrlve.errors import CatalogError

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
VALUES = st.one_of(
    st.booleans(), st.integers(-5, 5), st.floats(-9, 9, allow_nan=False), st.sampled_from(["Red", "red", "RED", "blue"])
)


@st.composite
def products(draw: st.DrawFn) -> dict[str, Any]:
    """A record as any source might hand it over, with every optional field there or not."""
    record: dict[str, Any] = {
        "title": draw(WORDS), "price": draw(st.floats(0.5, 99)), "type": draw(st.sampled_from(["lamp", "desk", "mug"])),
    }  # fmt: skip
    optional: dict[str, st.SearchStrategy[Any]] = {
        "description": WORDS,
        "category": st.sampled_from([("Home", "Light"), ("Home",), ("Büro", "a > b")]),
        "brand": st.sampled_from(["Acme", "ACME", "Ünder", None]),
        "rating": st.one_of(st.none(), st.floats(1, 5)),
        "rating_count": st.one_of(st.none(), st.integers(0, 900)),
        "ship_days": st.one_of(st.none(), st.integers(1, 9)),
        "stock": st.one_of(st.none(), st.integers(0, 9)),
        "family": st.one_of(st.none(), st.integers(0, 4)),
        "features": st.lists(WORDS, max_size=2),
        "attributes": st.dictionaries(st.sampled_from(["size", "glow", "tint"]), VALUES, max_size=3),
        "variants": st.lists(st.builds(Variant, st.just({"cut": "S"}), st.floats(1, 9), st.integers(0, 5)), max_size=2),
    }
    for key in draw(st.sets(st.sampled_from(sorted(optional)))):
        record[key] = draw(optional[key])
    return record


def assert_same(one: Catalog, other: Catalog) -> None:
    """Everything that an episode may ask of a catalog."""
    assert one.fingerprint == other.fingerprint
    assert len(one) == len(other)
    rows = np.arange(len(one))
    assert list(one.columns) == list(other.columns)
    for key, column in one.columns.items():
        twin = other.columns[key]
        assert (column.info, column.names) == (twin.info, twin.names)
        assert np.array_equal(column.values[rows], twin.values[rows], equal_nan=column.numeric)
        assert [column.get(row) for row in rows] == [twin.get(row) for row in rows]
    for row in rows.tolist():
        assert one.product(row) == other.product(row)
        assert one.facts(row) == other.facts(row)
        assert one.rows_titled(one.titles[row]) == other.rows_titled(one.titles[row])
        assert np.array_equal(one.rows_of_family(row), other.rows_of_family(row))
        assert (row in one.variants) == (row in other.variants)
    for name in one.type_names:
        assert np.array_equal(one.rows_of_type(name), other.rows_of_type(name))
        assert one.attributes_of_type(name) == other.attributes_of_type(name)
    for code in range(len(one.category_names)):
        assert np.array_equal(one.rows_of_category(code), other.rows_of_category(code))
    for code in range(len(one.columns["brand"].names)):
        assert np.array_equal(one.rows_of_brand(code), other.rows_of_brand(code))
    assert np.array_equal(one.has_own_variants, other.has_own_variants)
    assert (one.synthesized, one.variant_rules) == (other.synthesized, other.variant_rules)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(products(), min_size=1, max_size=12), size=st.integers(1, 5))
@example(records=[{"title": "0", "price": 1.0, "type": "lamp", "attributes": {"size": -0.0}}], size=1)
def test_a_stored_catalog_answers_like_the_one_in_memory(
    tmp_path: Path, records: list[dict[str, Any]], size: int
) -> None:
    folder = tmp_path / "catalog"
    shutil.rmtree(folder, ignore_errors=True)
    memory = Catalog.from_records(records, name="some", synthesized=["stock"], card={"read": len(records)})
    stored = save_catalog(memory, folder, chunk_rows=size)
    assert_same(memory, stored)
    assert stored.check() == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(products(), min_size=1, max_size=12), data=st.data())
def test_chunks_laid_out_by_type_are_the_same_products_in_another_order(
    tmp_path: Path, records: list[dict[str, Any]], data: st.DataObject
) -> None:
    folder = tmp_path / "catalog"
    shutil.rmtree(folder, ignore_errors=True)
    cut = data.draw(st.integers(0, len(records)))
    part = part_folder(folder)
    write_chunk(part, 0, records[:cut])
    write_chunk(part, 7, records[cut:])
    stored = finish(part, folder, name="some", attributes={})
    order = sorted(range(len(records)), key=lambda number: records[number]["type"])
    families = [record.get("family") for record in records]
    lone = 1 + max((family for family in families if family is not None), default=-1)
    whole = [
        record | {"family": lone + number if record.get("family") is None else record["family"]}
        for number, record in enumerate(records)
    ]
    assert_same(Catalog.from_records([whole[number] for number in order], name="some"), stored)
    assert not part.exists()


def test_the_default_catalog_plays_the_same_episodes_from_disk(tmp_path: Path) -> None:
    memory = generate()
    stored = save_catalog(memory, tmp_path / "default")
    assert stored.fingerprint == memory.fingerprint == "6343b9fed5fa1226"

    class Words:
        method = "words"

        def __init__(self, catalog: Catalog):
            self.catalog = catalog

    for env_id in ("E_PD", "E_SUB", "E_BUNDLE", "E_CART"):
        one, other = (Environment((env_id,), Words(catalog)) for catalog in (memory, stored))  # type: ignore[arg-type]
        for seed in range(4):
            options = {"difficulty": 3 * seed}
            assert (
                one.reset(seed=seed, options=options)[0].messages == other.reset(seed=seed, options=options)[0].messages
            )


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Catalog, StoredCatalog]:
    """A catalog whose types are mixed, in memory and on disk."""
    memory = generate(1_000, 3)
    return memory, save_catalog(memory, tmp_path_factory.mktemp("mixed") / "catalog", chunk_rows=300)


CONSTRAINTS = [
    [],
    [Constraint("price", "le", 20)],
    [Constraint("color", "eq", "Black")],
    [Constraint("color", "in", ("black", "red"))],
    [Constraint("type", "in", ("tent", "yoga mat", "tent", "no such type"))],
    [Constraint("brand", "eq", "nobody")],
    [Constraint("rating", "ge", 4.2), Constraint("color", "eq", "black")],
    [Constraint("item_weight", "le", 900.0)],
    [Constraint("category", "eq", "Kitchen"), Constraint("ship_days", "le", 3)],
    [Constraint("type", "in", ("no such type",))],
    [Constraint("type", "eq", "tent"), Constraint("color", "eq", "red")],
]


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=lambda found: ", ".join(map(str, found)) or "none")
def test_filters_find_the_same_rows_whatever_postings_they_start_from(
    mixed: tuple[Catalog, StoredCatalog], constraints: list[Constraint]
) -> None:
    memory, stored = mixed
    everything = np.arange(len(memory))
    expected = everything
    for constraint in constraints:
        expected = expected[satisfied(memory, expected, constraint)]
        assert np.array_equal(rows_satisfying(stored, constraint), rows_satisfying(memory, constraint))
    for catalog in (memory, stored):
        assert matching_rows(catalog, everything, constraints).tolist() == expected.tolist()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.integers(0, 999), max_size=60))
def test_attributes_are_read_for_rows_in_any_order(mixed: tuple[Catalog, StoredCatalog], rows: list[int]) -> None:
    memory, stored = mixed
    picked = np.array(rows, np.int64)
    for name in ("color", "item_weight", "capacity"):
        one, other = memory.columns[name], stored.columns[name]
        assert np.array_equal(one.values[picked], other.values[picked], equal_nan=one.numeric)


def test_what_is_remembered_is_computed_once_for_all_processes(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    first = save_catalog(generate(1_000), folder)
    assert first.remembered("numbers", lambda: np.array([3, 1])).tolist() == [3, 1]

    def never() -> np.ndarray:
        raise AssertionError("it was computed before")

    assert open_catalog(folder).remembered("numbers", never).tolist() == [3, 1]
    assert open_catalog(folder).check() == []


# --- what goes wrong -----------------------------------------------------------------------------------------------


def some(number: int = 3) -> list[dict[str, Any]]:
    return [{"title": f"Lamp {n}", "price": 1.0 + n, "type": "lamp", "attributes": {"watts": n}} for n in range(number)]


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    write_chunk(part_folder(folder), 0, some())
    with pytest.raises(CatalogError, match="is there already; remove it or choose another name"):
        finish(part_folder(folder), folder, name="x", attributes={})
    with pytest.raises(CatalogError, match="is there already"):
        save_catalog(generate(1_000), folder)
    assert (folder / "mine.txt").read_text() == "precious"
    assert chunk_numbers(part_folder(folder)) == [0]


def test_nothing_is_published_from_nothing(tmp_path: Path) -> None:
    write_chunk(tmp_path / "a.part", 0, [])
    with pytest.raises(CatalogError, match="has no products"):
        finish(tmp_path / "a.part", tmp_path / "a", name="x", attributes={})
    assert not (tmp_path / "a").exists()


def test_a_half_written_chunk_or_folder_is_no_chunk_or_folder(tmp_path: Path) -> None:
    part = tmp_path / "a.part"
    write_chunk(part, 0, some(), {"row": 3})
    (part / "chunk-000001.arrow.17.writing").write_bytes(b"half of")
    assert (chunk_numbers(part), chunk_state(part, 0)) == ([0], {"row": 3})
    (tmp_path / "a.building").mkdir()
    (tmp_path / "a.building" / "price.npy").write_bytes(b"half of")
    assert not is_catalog_folder(tmp_path / "a.building")
    assert len(finish(part, tmp_path / "a", name="x", attributes={})) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def test_a_part_folder_goes_on_with_the_same_source_only(tmp_path: Path) -> None:
    part = tmp_path / "a.part"
    claim_part(part, {"size": 5, "seed": 0})
    write_chunk(part, 0, some())
    claim_part(part, {"size": 5, "seed": 0})
    with pytest.raises(CatalogError, match=r"size 5, seed 0, not size 5, seed 1.*remove that folder"):
        claim_part(part, {"size": 5, "seed": 1})
    (part / "source.json").unlink()
    with pytest.raises(CatalogError, match="not what they are of"):
        claim_part(part, {"size": 5, "seed": 0})


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    save_catalog(generate(1_000), folder)
    prices = folder / "price.npy"
    data = bytearray(prices.read_bytes())
    data[-1] ^= 1
    prices.write_bytes(bytes(data))
    assert open_catalog(folder).check() == ["price.npy"]
    prices.write_bytes(bytes(data[:40]))
    with pytest.raises(CatalogError, match=r"price.npy is missing or damaged"):
        open_catalog(folder)
    prices.unlink()
    with pytest.raises(CatalogError, match=r"price.npy is missing or damaged"):
        open_catalog(folder)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "no catalog folder"), ("[]", "no catalog folder"), ('{"version": 99}', "version 99")]
)
def test_a_folder_of_another_version_or_of_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / META).write_text(text)
    with pytest.raises(CatalogError, match=message):
        open_catalog(tmp_path)
    with pytest.raises(CatalogError, match="no catalog folder"):
        open_catalog(tmp_path / "nowhere")


def test_a_damaged_chunk_is_named(tmp_path: Path) -> None:
    part = tmp_path / "a.part"
    write_chunk(part, 0, some())
    chunk_file(part, 0).write_bytes(b"no arrow")
    with pytest.raises(CatalogError, match=r"chunk-000000.arrow is damaged"):
        finish(part, tmp_path / "a", name="x", attributes={})


def test_values_that_are_no_numbers_and_rare_attributes_are_left_out_and_counted(tmp_path: Path) -> None:
    records = some(20)
    records[4]["attributes"] = {"watts": "lots", "rare": "yes"}
    part = tmp_path / "a.part"
    write_chunk(part, 0, records)
    known = {"watts": Attribute("watts", "number", "power", "W"), "rare": Attribute("rare", "category", "rare")}
    stored = finish(part, tmp_path / "a", name="x", attributes=known, least_share=0.1, card={"read": 20})
    assert stored.card == {
        "read": 20,
        "left_out": {
            "values of attributes that too few products of a type have": 1, "values of watts that are not numbers": 1,
        },
    }  # fmt: skip
    assert list(stored.columns)[4:] == ["watts"]
    assert np.isnan(stored.columns["watts"].values[4])
    write_chunk(part, 0, records)
    only = finish(part, tmp_path / "b", name="x", attributes={"rare": known["rare"]}, only=True)
    assert list(only.columns)[4:] == ["rare"]
    assert only.card["left_out"] == {"values of attributes that are not kept": 20}


def test_too_many_variants_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    crowded = some(1)[0] | {"variants": [Variant({"n": str(n)}, 1.0, 1) for n in range(1_001)]}
    with pytest.raises(CatalogError, match="'Lamp 0' has more than 1000 variants"):
        write_chunk(tmp_path / "a.part", 0, [crowded])
    assert chunk_numbers(tmp_path / "a.part") == []


def test_the_same_chunks_make_the_same_bytes(tmp_path: Path) -> None:
    metas = []
    for name in ("a", "b"):
        part = tmp_path / f"{name}.part"
        for number in (1, 0):
            write_chunk(part, number, some(4 + number))
        finish(part, tmp_path / name, name="x", attributes={})
        metas.append(json.loads((tmp_path / name / META).read_text()))
    assert metas[0] == metas[1]
