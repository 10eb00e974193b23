"""Loading the Hub's product data: every row accounted for and nothing made up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import hub_table
import pytest
from hub_table import BATCH, FILES, ROWS, Truth, products

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.hub import load_hub, readable_card
from ecomrlve.catalog.hub_rows import COLUMNS, RowReader
from ecomrlve.catalog.values import snake_case


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Truth]]:
    """The dirty table in several files, and the truth about it."""
    folder = tmp_path_factory.mktemp("hub") / "tables [x]"
    return folder, hub_table.write(folder, ROWS, seed=3, files=FILES, row_group=450)


@pytest.fixture(scope="module")
def loaded(table: tuple[Path, list[Truth]], tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalog of that table."""
    return load_hub(str(table[0]), tmp_path_factory.mktemp("catalogs") / "whole", batch_rows=BATCH)


def row(**cells: Any) -> dict[str, Any]:
    """One row as the reader takes it, sellable unless told otherwise."""
    given = {"parent_asin": "B1", "title": "Kettle", "price": "10.00"} | cells
    return {name: given.get(name) for name in COLUMNS}


def records_of(*rows: dict[str, Any]) -> tuple[list[dict[str, Any]], RowReader]:
    reader = RowReader()
    return reader.batch({name: [cells[name] for cells in rows] for name in COLUMNS})[0], reader


# -- every row accounted for, nothing made up


def test_every_row_is_accounted_for(table: tuple[Path, list[Truth]], loaded: Catalog) -> None:
    card, truths = loaded.card, table[1]
    assert card["read"] == ROWS == card["kept"] + sum(card["dropped"].values())
    assert card["kept"] == len(loaded)
    assert card["dropped"] == dict(Counter(truth.dropped for truth in truths if truth.dropped))
    assert set(products(loaded)) == {number for number, truth in enumerate(truths) if not truth.dropped}


def test_every_kind_of_dirt_is_in_the_table(table: tuple[Path, list[Truth]]) -> None:
    reasons = {truth.dropped for truth in table[1]}
    assert reasons == {"", "title missing", "duplicate", *hub_table.NO_PRICES.values()}


def test_nothing_is_made_up(table: tuple[Path, list[Truth]], loaded: Catalog) -> None:
    for number, product in products(loaded).items():
        truth = table[1][number]
        assert (product.title, product.price, product.brand) == (truth.title, truth.price, truth.brand)
        # A rating below 1 is none.
        assert (product.rating, product.rating_count) == (truth.rating, truth.rating_count)
        assert fold(product.type) == fold(truth.type)
        assert product.category == (truth.category or (product.type,))


def test_attributes_are_those_of_the_page(table: tuple[Path, list[Truth]], loaded: Catalog) -> None:
    for number, product in products(loaded).items():
        truth = table[1][number]
        found = {key: value for key, value in product.attributes.items() if key != "manufacturer"}
        assert found == truth.attributes
        assert not set(truth.absent) & set(found)


def test_only_stock_and_days_to_ship_are_synthesized(loaded: Catalog) -> None:
    assert loaded.synthesized == {"stock", "ship_days"}
    assert loaded.card["synthesized"] == ["ship_days", "stock"]
    assert set(loaded.stock[:].tolist()) == set(range(3, 61))
    assert set(loaded.columns["ship_days"].values[:].tolist()) == set(range(1, 8))
    assert not loaded.variants


def test_synthesized_values_follow_from_the_id_alone() -> None:
    one, _ = records_of(row(parent_asin="A"), row(parent_asin="B"))
    other, _ = records_of(row(parent_asin="C"), row(parent_asin="B", title="Pot", price="3"))
    for key in ("stock", "ship_days"):
        assert one[1][key] == other[1][key]
    assert (one[0]["stock"], one[0]["ship_days"]) != (one[1]["stock"], one[1]["ship_days"])


def test_numbers_are_in_one_unit(loaded: Catalog) -> None:
    kinds = {name: (facts["kind"], facts["unit"]) for name, facts in loaded.card["attributes"].items()}
    assert kinds["item_weight"] == ("number", "lb")
    assert kinds["length"] == kinds["depth"] == ("number", "inches")
    assert kinds["wattage"] == ("number", "W")
    assert kinds["color"] == kinds["batteries_required"] == ("category", "")
    assert loaded.columns["item_weight"].info.better == "less"
    for name, facts in loaded.card["attributes"].items():
        known = [name in loaded.product(row).attributes for row in range(len(loaded))]
        assert facts["known_for"] == sum(known)


def test_what_is_left_out_is_told(loaded: Catalog) -> None:
    left_out = loaded.card["attributes_left_out"]
    assert left_out["another value for every product"]["names"] == ["serial"]
    assert left_out["mostly long texts"]["names"] == ["notes"]
    notes = " ".join(loaded.card["notes"])
    for told in ("values of wattage that are no numbers in W", "no JSON object", "details inside details", "control"):
        assert told in notes


def test_names_collide_with_nothing(loaded: Catalog) -> None:
    names = set(loaded.card["attributes"])
    taken = {"price", "rating", "ship_days", "brand", "category", "type", "in_stock"}
    assert names & taken == set()
    assert "item_type" in names
    assert all(name == snake_case(name) for name in names)


def test_the_card_can_be_read(loaded: Catalog) -> None:
    text = readable_card(json.loads(json.dumps(loaded.card)))
    assert f"{ROWS:,} rows read" in text
    assert "| price is a range |" in text
    assert "| item_weight | number | lb |" in text
