"""Two processes of torchrun (gloo, on a CPU) train one model: the same groups, curriculum and weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
SCRIPT = Path(__file__).with_name("two_ranks.py")


@pytest.fixture(scope="module")
def ranks(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """What both processes know in the end, and where they trained."""
    folder = tmp_path_factory.mktemp("ranks")
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(SCRIPT),
        str(folder), str(tiny_folder),
    ]  # fmt: skip
    found = os.pathsep.join([str(SCRIPT.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1", "PYTHONPATH": found}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(2)]


def test_both_have_the_same_curriculum_and_it_moved(ranks):
    _, (first, second) = ranks
    assert first["curriculum"] == second["curriculum"]
    assert max(tally["high"] for tally in first["curriculum"]["environments"].values()) > 0


def test_both_know_of_all_rollouts(ranks):
    _, (first, second) = ranks
    assert first["finished"] == second["finished"]
    assert first["rounds"] == second["rounds"] > 1


def test_groups_share_their_row_across_processes(ranks):
    """Three groups of four: the second lies on both processes."""
    _, (first, second) = ranks
    rows = [tuple(row) for row in [*first["mine"], *second["mine"]]]
    assert len(first["mine"]) == len(second["mine"]) == 6
    assert [len(list(group)) for _, group in groupby(rows)] == [4, 4, 4]


def test_both_have_the_same_weights(ranks):
    _, (first, second) = ranks
    assert first["weights"] == second["weights"]


def test_one_of_them_keeps_the_record(ranks):
    folder, _ = ranks
    lines = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1]
    assert all(line["loss"] for line in lines)
    assert json.loads((folder / "run" / "run.json").read_text())["processes"] == 2
    saved = json.loads((folder / "run" / "checkpoints" / "dapo" / "checkpoint-2" / "curriculum.json").read_text())
    assert saved == ranks[1][0]["curriculum"]
