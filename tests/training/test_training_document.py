"""docs/training.md tells of the presets, settings and files that there are, and its arithmetic is right."""

from __future__ import annotations

import re
from pathlib import Path

from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.presets import PRESETS, preset

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "training.md").read_text(encoding="utf-8")


def test_every_preset_is_told_of():
    table = TEXT.split("| preset | for | what |")[1].split("\n\n")[0]
    named: set[str] = set()
    for row in re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE):
        first, *more = re.findall(r"`([\w.-]+)`", row)
        named |= {first, *(first.rsplit("-", 1)[0] + ending for ending in more)}
    assert named == set(PRESETS)


def test_every_ingredient_has_settings_that_there_are():
    table = TEXT.split("| ingredient")[1].split("\n\n")[0]
    rows = [row.split("|") for row in table.splitlines()[2:]]
    assert len(rows) == 6
    for row in rows:
        names = re.findall(r"`(\w+)`", row[-2])
        assert names
        assert set(names) <= set(TrainingConfig.model_fields), row


def test_the_memory_is_right():
    """Figures of the table from those they are made of."""
    billion = {"0.6B": 0.596, "8B": 8.19}
    assert round(16 * billion["0.6B"], 1) == 9.5
    assert round(16 * billion["8B"]) == 131
    assert round(16 * billion["8B"] / 8, 1) == 16.4
    assert (2 * 28 * 8 * 128 * 2, 2 * 36 * 8 * 128 * 2) == (114_688, 147_456)
    small, large = preset("qwen3-0.6b"), preset("qwen3-8b-c1")
    assert round(small.vllm_memory * 24, 1) == 7.2
    assert round(large.vllm_memory * 80) == 28
    assert round((7.2 - 1.2) * 1e9 / 114_688, -3) == 52_000
    assert round((28 - 16.4) * 1e9 / 147_456, -3) == 79_000
    activations = [
        one.micro_batch * one.context_tokens * hidden * layers * 2 / 1e9
        for one, hidden, layers in ((small, 1024, 28), (large, 4096, 36))
    ]
    assert [round(value, 1) for value in activations] == [1.9, 9.7]
    for figure in ("9.5 GB", "131 GB", "16.4 GB", "115 kB", "147 kB", "52,000", "79,000", "1.9 GB", "9.7 GB"):
        assert figure in TEXT
