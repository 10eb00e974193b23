"""Vectors on disk: every row once and in order, whatever was killed when, and never another catalog's."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ecomrlve.catalog import vectors
from ecomrlve.catalog.vectors import build_vectors, open_vectors, vector_facts
from ecomrlve.errors import CatalogError

COUNT = 1003
SIZES = {"shard_rows": 100, "batch_rows": 30}
# What a killed process runs: it tells of every batch before it encodes it.
CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_vectors import COUNT, SIZES, NumberEncoder, texts
from ecomrlve.catalog.vectors import build_vectors
def told(start, stop):
    print(start, flush=True)
    return texts(start, stop)
build_vectors(told, COUNT, NumberEncoder(), Path(sys.argv[1]), fingerprint="f", **SIZES)
print("done", flush=True)
"""


class NumberEncoder:
    """Vectors that show which text they are of, and with how many others it was encoded."""

    def __init__(self, name: str = "numbers", dimensions: int = 4):
        self.name = name
        self.dimensions = dimensions
        self.encoded = 0

    def encode(self, texts, *, progress=False):
        self.encoded += len(texts)
        rows = np.array([int(text.split()[1]) for text in texts], dtype=np.float32)
        return np.stack([rows // 100, rows % 100, np.full(len(rows), len(rows)), rows * 0], axis=1)[
            :, : self.dimensions
        ].astype(np.float32)

    def query(self, text):
        return np.zeros(self.dimensions, dtype=np.float32)


def texts(start: int, stop: int) -> list[str]:
    return [f"row {row}" for row in range(start, stop)]


def build(folder: Path, encoder=None, count=COUNT, fingerprint="f", **options) -> Path:
    return build_vectors(
        texts, count, encoder or NumberEncoder(), folder, fingerprint=fingerprint, **{**SIZES, **options}
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """The file that an undisturbed run makes."""
    return build(tmp_path_factory.mktemp("whole")).read_bytes()


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def test_all_rows_in_order(tmp_path):
    path = build(tmp_path)
    assert path == tmp_path / "vectors.npy"
    array = open_vectors(tmp_path)
    assert array.dtype == np.float16
    assert isinstance(array, np.memmap)
    assert (array[:, 0] * 100 + array[:, 1]).tolist() == list(range(COUNT))
    # Batches end where shards do.
    assert array[:100, 2].tolist() == [30] * 90 + [10] * 10
    assert files(tmp_path) == {"vectors.npy", "vectors.json"}
    facts = vector_facts(tmp_path)
    assert facts == {
        "catalog": "f", "encoder": "numbers", "count": COUNT, "dimensions": 4,
        "sha256": vectors.file_checksum(path),
    }  # fmt: skip


def test_what_is_published_is_not_built_again(tmp_path):
    build(tmp_path)
    again = NumberEncoder()
    assert build(tmp_path, again) == tmp_path / "vectors.npy"
    assert again.encoded == 0
    # Another catalog's take their place only when they are whole.
    assert build(tmp_path, again, fingerprint="g", stop_after=2).name == "vectors.part"
    assert vector_facts(tmp_path)["catalog"] == "f"
    build(tmp_path, again, fingerprint="g")
    assert vector_facts(tmp_path)["catalog"] == "g"
    assert again.encoded == COUNT


def test_a_stopped_run_goes_on(tmp_path, whole):
    assert build(tmp_path, stop_after=3) == tmp_path / "vectors.part"
    with pytest.raises(CatalogError, match="build them first"):
        open_vectors(tmp_path)
    rest = NumberEncoder()
    assert build(tmp_path, rest).read_bytes() == whole
    assert rest.encoded == COUNT - 300


def test_killed_anywhere_nothing_is_lost_or_doubled(tmp_path, whole):
    pick = random.Random(5)
    begun = []
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True
        )
        last = pick.randint(1, 7)
        for number, line in enumerate(child.stdout):
            if not number:
                begun.append(line.strip())
            if number == last:
                child.send_signal(signal.SIGKILL)
                break
        child.stdout.close()
        assert child.wait() in (-signal.SIGKILL, 0)
        if begun[-1] == "done":
            break
    assert len(set(begun)) > 2  # it did go on, each time further
    assert build(tmp_path).read_bytes() == whole
    assert files(tmp_path) == {"vectors.npy", "vectors.json"}


@pytest.mark.parametrize("step", ["os.replace", "shutil.rmtree", "write_json"])
def test_killed_while_publishing(tmp_path, whole, monkeypatch, step):
    """Whichever step of publishing is the last, the next run ends with the right file."""
    for last in range(4):
        folder = tmp_path / str(last)
        build(folder, stop_after=10)
        with monkeypatch.context() as patch:
            owner, name = ("os", "replace") if step == "os.replace" else ("shutil", "rmtree")
            target = vectors if step == "write_json" else getattr(vectors, owner)
            name = "write_json" if step == "write_json" else name
            real, calls = getattr(target, name), []

            def dying(*args, real=real, calls=calls, last=last, **kwargs):
                calls.append(args)
                if len(calls) > last:
                    raise KeyboardInterrupt
                return real(*args, **kwargs)

            patch.setattr(target, name, dying)
            with contextlib.suppress(KeyboardInterrupt):
                build(folder)
        assert build(folder).read_bytes() == whole
        assert vector_facts(folder)["sha256"] == vectors.file_checksum(folder / "vectors.npy")
        assert files(folder) == {"vectors.npy", "vectors.json"}


def test_workers_share_the_shards(tmp_path, whole):
    encoded = []
    for part in (2, 0, 1):
        one = NumberEncoder()
        assert build(tmp_path, one, worker=(part, 3)) == tmp_path / "vectors.part"
        encoded.append(one.encoded)
    assert sum(encoded) == COUNT
    last = NumberEncoder()
    assert build(tmp_path, last).read_bytes() == whole
    assert last.encoded == 0


def test_a_damaged_shard_is_encoded_again(tmp_path, whole):
    working = build(tmp_path, stop_after=4)
    for name, damage in (("shard-00000.npy", lambda b: b[:-1] + b"\x01"), ("shard-00002.npy", lambda b: b[:50])):
        (working / name).write_bytes(damage((working / name).read_bytes()))
    (working / "shard-00003.json").unlink()
    again = NumberEncoder()
    assert build(tmp_path, again).read_bytes() == whole
    assert again.encoded == COUNT - 100


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        ({"fingerprint": "g"}, "catalog f instead of g"),
        ({"encoder": NumberEncoder("words")}, "encoder numbers instead of words"),
        ({"encoder": NumberEncoder(dimensions=3)}, "dimensions 4 instead of 3"),
        ({"count": 900}, "count 1003 instead of 900"),
        ({"shard_rows": 50}, "shard_rows 100 instead of 50"),
    ],
)
def test_a_working_folder_of_something_else_is_refused(tmp_path, other, differs):
    build(tmp_path, stop_after=1)
    with pytest.raises(CatalogError, match=differs):
        build(tmp_path, **other)
    assert (tmp_path / "vectors.part" / "shard-00000.npy").exists()


def test_impossible_arguments(tmp_path):
    for worker in ((3, 3), (-1, 2), (0, 0)):
        with pytest.raises(CatalogError, match="worker"):
            build(tmp_path, worker=worker)
    with pytest.raises(CatalogError, match="without products"):
        build(tmp_path, count=0)


def test_the_bar_counts_what_is_done_but_not_for_the_rate(tmp_path, monkeypatch):
    import tqdm

    build(tmp_path, stop_after=6)
    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    build(tmp_path, progress=True)
    assert [(bar.total, bar.initial, bar.n) for bar in bars] == [(COUNT, 600, COUNT)]


def test_vectors_that_do_not_fit_their_facts_are_refused(tmp_path):
    build(tmp_path)
    facts = json.loads((tmp_path / "vectors.json").read_text())
    (tmp_path / "vectors.json").write_text(json.dumps(facts | {"count": 7}))
    with pytest.raises(CatalogError, match=r"not what vectors\.json says"):
        open_vectors(tmp_path)
    (tmp_path / "vectors.json").write_text(json.dumps(facts))
    (tmp_path / "vectors.npy").write_bytes(b"nothing")
    with pytest.raises(CatalogError, match="cannot be read"):
        open_vectors(tmp_path)
