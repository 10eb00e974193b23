"""Supervised fine-tuning on demonstrations, by TRL's SFTTrainer, going on exactly after a kill."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from transformers import PreTrainedModel
from trl import SFTConfig, SFTTrainer

from ecomrlve.training.progress import show_figures
from ecomrlve.training.sft_data import NOT_LEARNED, Row, SftError, data_set, fingerprint, in_order

ROWS = "demonstrations.txt"  # in every checkpoint: what its rows were
Line = dict[str, Any]


class SftSettings(BaseModel):
    """How a model is fine-tuned.

    Attributes:
        steps: Updates of the weights.
        batch: Demonstrations per update, on all devices together.
        micro_batch: Demonstrations per forward and backward pass, on each device.
        learning_rate: Its peak.
        warmup_steps: Updates until it has its peak.
        schedule: The learning rate after that; ``decay`` keeps the peak for the first half and then falls to 0.
        weight_decay: Of AdamW.
        adam_beta2: Of AdamW.
        gradient_norm: Gradients are clipped to this norm.
        bfloat16: Compute in it; the weights stay float32.
        gradient_checkpointing: Compute activations again to save memory.
        seed: Of the demonstrations' order.
        save_every: Updates between checkpoints.
        keep_checkpoints: Checkpoints that are kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(ge=1)
    batch: int = Field(default=32, ge=1)
    micro_batch: int = Field(default=8, ge=1)
    learning_rate: float = Field(default=1e-5, gt=0)
    warmup_steps: int = Field(default=20, ge=0)
    schedule: Literal["constant", "linear", "cosine", "decay"] = "constant"
    weight_decay: float = Field(default=0.0, ge=0)
    adam_beta2: float = Field(default=0.95, gt=0, lt=1)
    gradient_norm: float = Field(default=1.0, gt=0)
    bfloat16: bool = True
    gradient_checkpointing: bool = False
    seed: int = Field(default=0, ge=0)
    save_every: int = Field(default=50, ge=1)
    keep_checkpoints: int = Field(default=2, ge=1)

    def accumulation(self, processes: int) -> int:
        """Backward passes per update on each of so many devices.

        Raises:
            SftError: A batch cannot be dealt out evenly.
        """
        passes, rest = divmod(self.batch, self.micro_batch * processes)
        if rest or not passes:
            raise SftError(
                f"a batch of {self.batch} demonstrations cannot be shared evenly by {processes} processes that take "
                f"{self.micro_batch} at a time"
            )
        return passes


def run_sft(
    settings: SftSettings,
    model: PreTrainedModel,
    tokenizer: Any,
    rows: Sequence[Row],
    checkpoints: Path,
    *,
    resume: Path | None = None,
    processes: int = 1,
    on_cpu: bool = False,
    on_step: Callable[[Line], None] | None = None,
    on_saved: Callable[[Path], None] | None = None,
) -> SFTTrainer:
    """Fine-tune a model.

    Args:
        settings: How.
        model: The model; it is changed in place.
        tokenizer: Its tokenizer, which is saved with it.
        rows: What `ecomrlve.training.sft_data.tokens_of` gives.
        checkpoints: Folder for ``checkpoint-N``.
        resume: A whole checkpoint of this run to go on from.
        processes: How many train together.
        on_cpu: There is no accelerator.
        on_step: Gets a line per update, in the process of rank 0: ``step`` (from 0), ``loss``, ``learning_rate``,
            ``grad_norm``, ``token_accuracy``, ``seconds``.
        on_saved: Gets the folder of every checkpoint when all of it is there, in the process of rank 0.

    Returns:
        The trainer, finished; its `save_model` saves the model.

    Raises:
        SftError: There is nothing to learn from, a batch cannot be dealt out, or the checkpoint is of other rows.
    """
    if not rows:
        raise SftError("there is no demonstration to learn from; the longest that may be shown is set too short")
    marked = fingerprint(rows)
    if resume is not None and (resume / ROWS).read_text(encoding="utf-8") != marked:
        raise SftError(f"{resume} was trained on other demonstrations; begin anew, in another folder")
    order = in_order(rows, settings.steps * settings.batch, settings.batch, settings.seed)
    trainer = _Trainer(
        model=model,
        args=arguments_of(settings, checkpoints, processes, on_cpu=on_cpu),
        train_dataset=data_set(rows, order),
        processing_class=tokenizer,
    )
    trainer.listen(marked, on_step, on_saved)
    trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    return trainer


def arguments_of(settings: SftSettings, checkpoints: Path, processes: int, *, on_cpu: bool) -> SFTConfig:
    """TRL's arguments for these settings.

    Raises:
        SftError: A batch cannot be dealt out evenly.
    """
    schedule: dict[str, Any] = {"lr_scheduler_type": settings.schedule}
    if settings.schedule == "constant":
        schedule = {"lr_scheduler_type": "constant_with_warmup"}
    elif settings.schedule == "decay":
        half = max(1, settings.steps // 2)
        schedule = {
            "lr_scheduler_type": "warmup_stable_decay",
            "lr_scheduler_kwargs": {"num_decay_steps": half, "decay_type": "linear"},
        }
    return SFTConfig(
        output_dir=str(checkpoints),
        seed=settings.seed,
        max_steps=settings.steps,
        per_device_train_batch_size=settings.micro_batch,
        gradient_accumulation_steps=settings.accumulation(processes),
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup_steps,
        weight_decay=settings.weight_decay,
        adam_beta2=settings.adam_beta2,
        max_grad_norm=settings.gradient_norm,
        bf16=settings.bfloat16,
        gradient_checkpointing=settings.gradient_checkpointing,
        use_cpu=on_cpu,
        # The order is ours, and what is too long was left out.
        train_sampling_strategy="sequential",
        max_length=None,
        logging_steps=1,
        report_to="none",
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=settings.keep_checkpoints,
        disable_tqdm=False,
        **schedule,
    )


class _Trainer(SFTTrainer):
    """TRL's trainer, telling of its steps and of the checkpoints that are whole."""

    def listen(
        self, marked: str, on_step: Callable[[Line], None] | None, on_saved: Callable[[Path], None] | None
    ) -> None:
        """Set who is told."""
        self._marked, self._on_step, self._on_saved = marked, on_step, on_saved
        self._began = time.perf_counter()
        show_figures(self, ("loss",))

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean cross-entropy of what is learned.

        Without an accelerator TRL scores every position, of which few are learned from, twice. Here only those are
        scored that count, once; and no mask is needed, since what a batch is filled up with stands behind the chats.
        """
        # With several processes the wrapped model must be called: it is what puts their gradients together.
        if not self.args.use_cpu or return_outputs or self.accelerator.num_processes > 1:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        whole = self.accelerator.unwrap_model(model)
        labels = inputs["labels"][:, 1:]
        learned = labels != NOT_LEARNED
        hidden = whole.base_model(input_ids=inputs["input_ids"], use_cache=False).last_hidden_state[:, :-1]
        scores = whole.get_output_embeddings()(hidden[learned])
        right = scores.detach().argmax(-1) == labels[learned]
        self._metrics["train"]["mean_token_accuracy"].append(right.float().mean().item())
        loss = torch.nn.functional.cross_entropy(scores.float(), labels[learned], reduction="sum")
        return loss / (learned.sum() if num_items_in_batch is None else num_items_in_batch)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Tell of a step besides what TRL does with it."""
        accuracy = self._metrics["train"].get("mean_token_accuracy") or [None]
        super().log(logs, start_time)
        if "loss" not in logs or not self.is_world_process_zero():
            return
        now = time.perf_counter()
        seconds, self._began = now - self._began, now
        if self._on_step is not None:
            self._on_step(
                {
                    "step": self.state.global_step - 1,
                    "loss": logs["loss"],
                    "learning_rate": logs.get("learning_rate"),
                    "grad_norm": logs.get("grad_norm"),
                    "token_accuracy": None if accuracy[0] is None else sum(accuracy) / len(accuracy),
                    "seconds": seconds,
                }
            )

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save, note which rows were shown, and say that all is there."""
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if not self.is_world_process_zero():
            return
        place = Path(self.args.output_dir or ".") / f"checkpoint-{self.state.global_step}"
        (place / ROWS).write_text(self._marked, encoding="utf-8")
        if self._on_saved is not None:
            self._on_saved(place)
