"""Loading the Hub's product data: no harm in being killed, whenever that is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import hub_table
import pytest
from hub_table import BATCH, FILES, ROWS, Killed, Truth, dying, same

from ecomrlve.catalog import hub
from ecomrlve.catalog.chunks import chunk_file, chunk_numbers, chunk_state, part_folder, read_chunk, write_chunk
from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.hub import load_hub
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


@pytest.mark.parametrize("batch_rows", [150, 450, 700, 1333, 9999])
def test_the_catalog_does_not_depend_on_batches(
    batch_rows: int, table: tuple[Path, list[Truth]], loaded: Catalog, tmp_path: Path
) -> None:
    assert same(load_hub(str(table[0]), tmp_path / "whole", batch_rows=batch_rows), loaded)


def test_batches_may_be_without_any_product(tmp_path: Path) -> None:
    hub_table.write(tmp_path / "t.parquet", 60)
    single, whole = (load_hub(str(tmp_path / "t.parquet"), tmp_path / str(rows), batch_rows=rows) for rows in (1, 60))
    assert same(single, whole)
    assert single.card["dropped"]


@pytest.mark.parametrize(
    ("step", "calls", "before"),
    [
        ("write_chunk", 1, True),
        ("write_chunk", 1, False),
        ("write_chunk", 3, True),
        ("write_chunk", 4, False),
        ("write_chunk", 6, False),
        ("settle_chunk", 1, True),
        ("settle_chunk", 4, False),
        ("finish", 1, True),
    ],
)
def test_a_killed_run_goes_on(
    step: str,
    calls: int,
    before: bool,
    table: tuple[Path, list[Truth]],
    loaded: Catalog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "whole"
    with monkeypatch.context() as patch:
        patch.setattr(hub, step, dying(getattr(hub, step), calls, before=before))
        with pytest.raises(Killed):
            load_hub(str(table[0]), folder, batch_rows=BATCH)
    assert not folder.exists()
    # Another batch size the second time: the positions in the stream hold for the first one alone.
    assert same(load_hub(str(table[0]), folder, batch_rows=BATCH + 1), loaded)
    assert not part_folder(folder).exists()


def test_a_run_killed_at_every_chunk_goes_on(
    table: tuple[Path, list[Truth]], loaded: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "whole"
    for expected in range(1, 7):
        with monkeypatch.context() as patch:
            patch.setattr(hub, "write_chunk", dying(write_chunk, 1, before=False))
            with pytest.raises(Killed):
                load_hub(str(table[0]), folder, batch_rows=BATCH)
        assert len(chunk_numbers(part_folder(folder))) == expected
    assert same(load_hub(str(table[0]), folder, batch_rows=BATCH), loaded)


def test_a_process_killed_by_the_system_goes_on(
    table: tuple[Path, list[Truth]], loaded: Catalog, tmp_path: Path
) -> None:
    folder = tmp_path / "whole"
    script = """
        import os, signal, sys
        from pathlib import Path
        from ecomrlve.catalog import chunks, hub
        replace, made = os.replace, []
        def replace_or_die(writing, file):
            if str(file).endswith(".arrow"):
                made.append(file)
                if len(made) == 3:  # the chunk is written but has not got its name
                    os.kill(os.getpid(), signal.SIGKILL)
            replace(writing, file)
        os.replace = replace_or_die
        hub.load_hub(sys.argv[1], Path(sys.argv[2]), batch_rows=int(sys.argv[3]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(table[0]), str(folder), str(BATCH)]
    run = subprocess.run(command, cwd=Path(__file__).parents[2], env=os.environ, capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert chunk_numbers(part_folder(folder)) == [0, 1]
    assert same(load_hub(str(table[0]), folder, batch_rows=BATCH), loaded)


def test_chunks_hold_their_position(table: tuple[Path, list[Truth]], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(hub, "settle_chunk", dying(hub.settle_chunk, 1, before=True))
    with pytest.raises(Killed):
        load_hub(str(table[0]), tmp_path / "whole", batch_rows=BATCH)
    part = part_folder(tmp_path / "whole")
    states = [chunk_state(part, number) for number in chunk_numbers(part)]
    assert [state["read"] for state in states] == [BATCH] * 5 + [ROWS - 5 * BATCH]
    assert len({json.dumps(state["position"]) for state in states}) == len(states)


def test_settling_twice_does_no_harm(
    table: tuple[Path, list[Truth]], loaded: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle_chunk, seen = hub.settle_chunk, []

    def twice(part: Path, number: int, attributes: Any) -> None:
        state = chunk_state(part, number)
        settle_chunk(part, number, attributes)
        once = read_chunk(part, number)
        settle_chunk(part, number, attributes)
        seen.append(read_chunk(part, number).equals(once) and chunk_state(part, number) == state)

    monkeypatch.setattr(hub, "settle_chunk", twice)
    assert same(load_hub(str(table[0]), tmp_path / "whole", batch_rows=BATCH), loaded)
    assert seen == [True] * 6


def test_a_part_folder_of_something_else_is_left_alone(
    table: tuple[Path, list[Truth]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "whole"
    with monkeypatch.context() as patch:
        patch.setattr(hub, "write_chunk", dying(write_chunk, 2, before=False))
        with pytest.raises(Killed):
            load_hub(str(table[0]), folder, batch_rows=BATCH)
    file = str(sorted(table[0].iterdir())[0])
    for source, limit in ((file, None), (str(table[0]), 3000)):
        with pytest.raises(CatalogError, match="remove that folder"):
            load_hub(source, folder, limit=limit, batch_rows=BATCH)
    assert chunk_numbers(part_folder(folder)) == [0, 1]


def test_a_file_that_changed_is_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, folder = tmp_path / "t.parquet", tmp_path / "whole"
    hub_table.write(file, 60)
    with monkeypatch.context() as patch:
        patch.setattr(hub, "write_chunk", dying(write_chunk, 2, before=False))
        with pytest.raises(Killed):
            load_hub(str(file), folder, batch_rows=10)
    hub_table.write(file, 61)
    with pytest.raises(CatalogError, match="remove that folder"):
        load_hub(str(file), folder, batch_rows=10)


def test_a_missing_chunk_is_told(table: tuple[Path, list[Truth]], tmp_path: Path, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(hub, "write_chunk", dying(write_chunk, 3, before=False))
        with pytest.raises(Killed):
            load_hub(str(table[0]), tmp_path / "whole", batch_rows=BATCH)
    chunk_file(part_folder(tmp_path / "whole"), 1).unlink()
    with pytest.raises(CatalogError, match="chunks are missing"):
        load_hub(str(table[0]), tmp_path / "whole", batch_rows=BATCH)
