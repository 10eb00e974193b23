"""A progress bar that shows how a training goes, instead of a line of figures for every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers import ProgressCallback, Trainer


class FiguresBar(ProgressCallback):
    """The trainer's bar with the latest figures beside it.

    Args:
        figures: Names of the figures, as the trainer logs them.
    """

    def __init__(self, figures: Sequence[str]):
        super().__init__()
        self._figures = figures

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Show the latest figures."""
        if self.training_bar is not None and logs:
            shown = {name: f"{logs[name]:.3g}" for name in self._figures if isinstance(logs.get(name), float)}
            if shown:
                self.training_bar.set_postfix(shown)


def show_figures(trainer: Trainer, figures: Sequence[str]) -> None:
    """Give a trainer this bar in place of its own, which prints every figure of every step."""
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(FiguresBar(figures))
