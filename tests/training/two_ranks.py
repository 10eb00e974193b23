"""One of several processes that train together; started by torchrun, it writes down what it knows in the end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from scripted_turns import BAD, GOOD, Tongue, Watched

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.synthetic import generate
from ecomrlve.training.dapo import DapoTrainer
from ecomrlve.training.presets import preset
from ecomrlve.training.run import Plan, run
from ecomrlve.training.run_folder import RunFolder

CHANGES = {
    "prompts_per_batch": 3, "group_size": 4, "micro_batch": 2, "steps": 2, "envs": "E_CART,E_STATUS", "save_every": 2,
    "turn_tokens": 1000, "own_tokens": 4000, "overlong_buffer": 0, "min_episodes": 3, "threshold": 0.5,
}  # fmt: skip
last: list[DapoTrainer] = []
train_on = DapoTrainer.train_on


def choose(around: int, place: int, one: Any) -> str:
    """The first group goes well altogether and is drawn anew; the others have variance."""
    return GOOD if (around == 0 and one.row.env_id == "E_STATUS") or place % 2 else BAD


def watched(self: DapoTrainer, checkpoint: Path | None = None) -> None:
    """Train with turns that are written here."""
    last.append(self)
    sampler: Any = Watched(
        self._settings, self._sampler._engine, self._chats, Tongue(self._tokenizer), choose, self._processes
    )
    sampler.schedule = self.schedule
    self._sampler, self._generate_turns = sampler, sampler.generate  # type: ignore[method-assign]
    train_on(self, checkpoint)


def main(folder: Path, model: str) -> None:
    """Train, and tell."""
    torch.set_num_threads(1)
    DapoTrainer.train_on = watched  # type: ignore[method-assign]
    config = preset("tiny-cpu").changed(CHANGES | {"model": model})
    run(Plan(config, "tiny-cpu", "dapo", RunFolder(folder / "run")), SearchEngine(generate()))
    trainer = last[0]
    batch = trainer._batch
    assert batch is not None
    known = {
        "curriculum": trainer.schedule.to_dict(),
        "finished": [[one.row.env_id, one.row.difficulty, one.row.seed, one.reward.total] for one in batch.finished],
        "mine": [[one.row.env_id, one.row.difficulty, one.row.seed] for one in batch.rollouts],
        "rounds": batch.rounds,
        "weights": [float(value.detach().double().sum()) for value in trainer.model.parameters()],
    }
    (folder / f"rank{os.environ['RANK']}.json").write_text(json.dumps(known))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
