"""Loading the Hub's product data: files, datasets of the Hub, and all that goes wrong with them."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import hub_table
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_table import BATCH, FILES, ROWS, Killed, Truth, dying, products, same

from ecomrlve.catalog import hub
from ecomrlve.catalog.chunks import part_folder, write_chunk
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.hub import load_hub, readable_card
from ecomrlve.catalog.hub_rows import COLUMNS
from ecomrlve.errors import CatalogError


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Truth]]:
    """The dirty table in several files, and the truth about it."""
    folder = tmp_path_factory.mktemp("hub") / "tables [x]"
    return folder, hub_table.write(folder, ROWS, seed=3, files=FILES, row_group=450)


@pytest.fixture(scope="module")
def loaded(table: tuple[Path, list[Truth]], tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalog of that table."""
    return load_hub(str(table[0]), tmp_path_factory.mktemp("catalogs") / "whole", batch_rows=BATCH)


def test_a_limit_counts_rows(table: tuple[Path, list[Truth]], tmp_path: Path) -> None:
    catalog = load_hub(str(table[0]), tmp_path / "some", limit=1_500, batch_rows=BATCH)
    assert (catalog.card["read"], catalog.card["limit"]) == (1_500, 1_500)
    assert max(products(catalog)) < 1_500
    assert "first 1,500 rows only" in readable_card(catalog.card)


def test_files_can_be_named_in_three_ways(table: tuple[Path, list[Truth]], tmp_path: Path) -> None:
    names = [str(table[0] / "part-000.parquet"), str(table[0].parent / "tables*" / "part-00[01].parquet")]
    sizes = [load_hub(name, tmp_path / str(place)).card["read"] for place, name in enumerate(names)]
    # A part of a name in brackets is no pattern where there is such a file.
    assert sizes == [ROWS // FILES, 2 * ROWS // FILES]


def test_progress_is_shown(table: tuple[Path, list[Truth]], tmp_path: Path, capsys: Any) -> None:
    load_hub(str(table[0]), tmp_path / "whole", limit=100, progress=True)
    shown = capsys.readouterr().err
    assert "100/100" in shown
    assert "kept=" in shown
    assert "dropped=" in shown


def test_a_dataset_of_the_hub(
    table: tuple[Path, list[Truth]], loaded: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets
    import huggingface_hub

    calls: list[dict[str, Any]] = []
    commits = {"main": "c0ffee", None: "c0ffee", "new": "beef"}
    load = datasets.load_dataset

    class Info:
        def __init__(self, sha: str):
            self.sha = sha

    def load_dataset(path: str, *, revision: str, streaming: bool, **options: Any) -> Any:
        calls.append({"path": path, "revision": revision, "columns": options["columns"]})
        files = [str(file) for file in sorted((tmp_path / "tables").iterdir())]
        return load(
            "parquet", data_files={"train": files}, cache_dir=str(tmp_path / "cache"), streaming=streaming, **options
        )

    (tmp_path / "tables").symlink_to(table[0])
    monkeypatch.setattr(
        huggingface_hub.HfApi, "dataset_info", lambda self, name, revision=None: Info(commits[revision])
    )
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    catalog = load_hub("owner/name", tmp_path / "hub", batch_rows=BATCH)
    assert catalog.card["revision"] == "c0ffee"
    assert catalog.fingerprint == loaded.fingerprint
    assert calls == [{"path": "owner/name", "revision": "c0ffee", "columns": list(COLUMNS)}]
    with monkeypatch.context() as patch:
        patch.setattr(hub, "write_chunk", dying(write_chunk, 2, before=False))
        with pytest.raises(Killed):
            load_hub("owner/name", tmp_path / "again", batch_rows=BATCH, revision="main")
    with pytest.raises(CatalogError, match="remove that folder"):
        load_hub("owner/name", tmp_path / "again", batch_rows=BATCH, revision="new")


def test_a_dataset_of_the_hub_in_another_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    hub_table.write(tmp_path / "t.parquet", 300)
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    for cells in rows:
        if not math.isfinite(cells["average_rating"] or 0):  # JSON has no such numbers
            cells["average_rating"] = 0.0
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(cells) + "\n" for cells in rows), encoding="utf-8")
    load = datasets.load_dataset

    def load_dataset(path: str, *, revision: str, **options: Any) -> Any:
        names = {"train": str(tmp_path / "t.jsonl"), "test": str(tmp_path / "t.jsonl")}
        return load("json", data_files=names, cache_dir=str(tmp_path / "cache"), **options)

    plain = load_hub(str(tmp_path / "t.parquet"), tmp_path / "parquet")
    monkeypatch.setattr(hub, "_commit", lambda source, revision: "c0ffee")
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    catalog = load_hub("owner/name", tmp_path / "json", batch_rows=70)
    assert catalog.fingerprint == plain.fingerprint
    assert catalog.card["dropped"] == plain.card["dropped"]
    assert catalog.card["splits_not_read"] == ["test"]
    assert "Not read: test." in readable_card(catalog.card)


# -- what goes wrong


def test_the_hub_is_out_of_reach(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"owner/name cannot be opened: .*HF_HUB_OFFLINE.*local Parquet file"):
        load_hub("owner/name", tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("GatedRepoError", "ask on its page"),
        ("RepositoryNotFoundError", "no such dataset"),
        ("RevisionNotFoundError", "no such revision"),
        ("ConnectionError", "check the network"),
        ("SomethingNewError", "SomethingNewError: it broke"),
    ],
)
def test_errors_of_the_hub_say_what_to_do(name: str, told: str, tmp_path: Path, monkeypatch: Any) -> None:
    import huggingface_hub

    def refuse(*args: Any, **options: Any) -> Any:
        raise type(name, (OSError,), {})("it broke")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", refuse)
    with pytest.raises(CatalogError, match=told):
        load_hub("owner/name", tmp_path / "c")


def test_a_stream_that_breaks_off_can_be_taken_up(
    table: tuple[Path, list[Truth]], loaded: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> Any:
        write_chunk(*args, **options)
        raise TimeoutError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(hub, "write_chunk", broken)
        with pytest.raises(CatalogError, match=r"broke off after 700 rows: .*no answer.*the same command goes on"):
            load_hub(str(table[0]), tmp_path / "whole", batch_rows=BATCH)
    assert same(load_hub(str(table[0]), tmp_path / "whole", batch_rows=BATCH), loaded)


def parquet(path: Path, columns: dict[str, Any]) -> str:
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_files_that_cannot_be_used(table: tuple[Path, list[Truth]], tmp_path: Path) -> None:
    folder = tmp_path / "c"
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("no table")
    no_rows = tmp_path / "none.parquet"
    pq.write_table(hub_table.SCHEMA.empty_table(), no_rows)
    unsold = tmp_path / "unsold.parquet"
    pq.write_table(pa.Table.from_pylist([{"title": "A", "price": "None"}] * 3, schema=hub_table.SCHEMA), unsold)
    cases = {
        str(tmp_path / "absent.parquet"): "no file .*absent.parquet",
        "absent": "no file absent, and a dataset on the Hub is called owner/name",
        str(tmp_path / "empty"): "no file in .* ends with .parquet",
        str(tmp_path / "text.parquet"): "no Parquet file, or a damaged one",
        str(no_rows): "has no rows",
        str(unsold): "none of the 3 rows .* 3 × price missing",
        parquet(
            tmp_path / "other.parquet", {"title": ["A"], "price": ["1"]}
        ): "does not have the columns parent_asin, ",
    }
    for source, told in cases.items():
        with pytest.raises(CatalogError, match=told):
            load_hub(source, folder)
        assert not folder.exists()
        assert not part_folder(folder).exists()
    with pytest.raises(CatalogError, match="local files have none"):
        load_hub(str(table[0]), folder, revision="main")
    for options in ({"limit": 0}, {"batch_rows": 0}):
        with pytest.raises(CatalogError, match="from 1"):
            load_hub(str(table[0]), folder, **options)


def test_a_catalog_that_is_there_is_left_alone(table: tuple[Path, list[Truth]], tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is there already"):
        load_hub(str(table[0]), tmp_path)


def test_the_library_that_reads_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(CatalogError, match="pip install datasets"):
        load_hub("owner/name", tmp_path / "c")


def test_the_sample_of_the_published_catalog(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "amazebay_schema_sample.parquet"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the folder of shared data")
    catalog = load_hub(str(path), tmp_path / "sample")
    assert catalog.card["dropped"] == {"price is a range": 1, "price missing": 1, "title missing": 1}
    charger, tee = sorted((catalog.product(row) for row in range(2)), key=lambda product: product.price)
    assert (charger.title, charger.brand, charger.type) == ("65W USB-C Charger", "Acme", "Chargers")
    assert (charger.rating, charger.rating_count, charger.features) == (4.4, 1234, ("GaN", "Foldable plug"))
    assert charger.attributes == {"connector_type": "USB Type C", "wattage": 65, "color": "Black"}
    assert (tee.price, tee.rating, tee.rating_count, tee.brand) == (1299.0, None, 0, "TeeCo")
    assert (tee.type, tee.category) == ("AMAZON FASHION", ("AMAZON FASHION",))
    assert tee.attributes == {"fabric_type": "100% cotton", "item_weight": 0.5}
