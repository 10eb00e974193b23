"""DAPO on TRL's GRPOTrainer, with whole episodes as rollouts.

TRL brings the loss (token mean, clip-higher, no KL), the optimizer, the machines and vLLM. Ours are the rollouts, which
reach it as ``rollout_func``; dynamic sampling; the punishment and the filter of overlong rollouts, which count the
model's own tokens alone; and the curriculum. TRL's own tool loop is not used: it ends a rollout where the model speaks
without a call, runs what should be one turn as many, and says nothing about output that is no action.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel
from trl import GRPOConfig, GRPOTrainer

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.curriculum import Schedule, schedule_from_dict
from ecomrlve.replay import TrajectoryStore
from ecomrlve.streams import key_of
from ecomrlve.training.batch_metrics import batch_metrics, environment_metrics
from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.metrics import DapoMetrics, StepSeconds
from ecomrlve.training.own_scores import own_scores, trimmed
from ecomrlve.training.processes import Processes, Together
from ecomrlve.training.progress import show_figures
from ecomrlve.training.rollouts import Turn
from ecomrlve.training.rows import schedule_of
from ecomrlve.training.run_folder import RunFolder
from ecomrlve.training.sampling import Batch, BatchSampler
from ecomrlve.training.token_chats import TokenChats

CURRICULUM = "curriculum.json"


class DapoTrainer(GRPOTrainer):
    """Trains a model by DAPO.

    Args:
        config: The run's settings.
        folder: Where metrics, trajectories and checkpoints go.
        engine: The engine with the catalog.
        model: The model.
        tokenizer: Its tokenizer.
        arguments: TRL's arguments, as `arguments_of` gives them.
        adapters: Settings of the adapters to train instead of all weights.

    Attributes:
        schedule: The curriculum.

    Raises:
        CheckpointError: The chat template cannot be trained with.
    """

    def __init__(
        self,
        config: TrainingConfig,
        folder: RunFolder,
        engine: SearchEngine,
        model: PreTrainedModel,
        tokenizer: Any,
        arguments: GRPOConfig,
        adapters: Any = None,
    ):
        from datasets import Dataset

        self._settings = config
        # What TRL reads of a data set is how many groups a batch has; which ones is decided when they are drawn.
        groups = Dataset.from_dict({"prompt": [""] * config.prompts_per_batch})
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=groups,
            processing_class=tokenizer,
            reward_funcs=[self._rewards],
            rollout_func=lambda prompts, trainer: self._rollouts(),
            peft_config=adapters,
        )
        if self.use_vllm:
            self.vllm_generation.max_completion_length = config.turn_tokens
        self._folder = folder
        self._processes: Processes = Together(self.accelerator)
        self._chats = TokenChats(tokenizer, model.config, self.eos_token_ids, thinking=config.thinking)
        self.schedule: Schedule = schedule_of(config)
        self._sampler = BatchSampler(config, engine, self._chats, self.schedule, self._processes)
        self._store = TrajectoryStore(folder.trajectories)
        # TRL's kernel is for GPUs; and with several processes the wrapped model must be called.
        self._scores_itself = self.args.use_cpu and self._processes.count == 1
        self._scored: torch.Tensor | None = None  # which tokens of the batch in hand are the model's own
        self._batch: Batch | None = None
        self._unlogged: Batch | None = None
        self._generation_seconds = 0.0
        self._step_began = time.perf_counter()
        show_figures(self, ("loss", "reward", "entropy"))

    # --- playing -----------------------------------------------------------------------------------------------------

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Play a batch, and give TRL what it is to learn from it."""
        step = self.state.global_step
        # What a batch samples depends on its step alone, so that a resumed run samples what it would have sampled.
        torch.manual_seed(key_of("sampling", self._settings.seed, step, self._processes.rank) % 2**63)
        self._generation_seconds = 0.0
        batch = self._batch = self._unlogged = self._sampler.sample(step, self._generate_turns)
        self._store_samples(batch, step)
        own = [torch.tensor(rollout.own or [0], dtype=torch.bool) for rollout in batch.rollouts]
        self._scored = torch.nn.utils.rnn.pad_sequence(own, batch_first=True)
        output = super()._generate_and_score_completions(inputs)
        kept = torch.tensor(batch.kept, device=output["tool_mask"].device, dtype=output["tool_mask"].dtype)
        output["tool_mask"] = output["tool_mask"] * kept.unsqueeze(1)
        learned = (output["completion_mask"] * output["tool_mask"]).sum()
        output["num_items_in_batch"] = self.accelerator.gather(learned).sum()
        return output

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """TRL's loss, of rollouts that are no longer than they are."""
        inputs = trimmed(inputs)
        self._scored = (inputs["completion_mask"] * inputs["tool_mask"]).bool()
        return super()._compute_loss(model, inputs)

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        **more: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """Log-probabilities and entropies; on a CPU of the model's own tokens alone."""
        if not self._scores_itself or self._scored is None:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, batch_size, **more
            )
        whole = self.accelerator.unwrap_model(model)
        rows = batch_size or self.args.per_device_train_batch_size
        with self.accelerator.autocast():
            logs, entropies = own_scores(whole, input_ids, attention_mask, self._scored, self.temperature, rows)
        return logs, entropies, None

    def _rollouts(self) -> dict[str, Any]:
        """The batch's tokens, in the form that TRL takes from a ``rollout_func``."""
        assert self._batch is not None
        rollouts = self._batch.rollouts
        told = [rollout.log_probabilities for rollout in rollouts]
        # A rollout without a single turn (its prompt was too long) has one token that does not count.
        nothing = [self._tokenizer.eos_token_id]
        return {
            "prompt_ids": [rollout.prompt for rollout in rollouts],
            "completion_ids": [rollout.tokens or nothing for rollout in rollouts],
            "env_mask": [rollout.own or [0] for rollout in rollouts],
            "logprobs": [one or [0.0] for one in told] if self.use_vllm else None,
        }

    def _rewards(self, prompts: Sequence[Any], **_: Any) -> list[float | None]:
        """The engine's reward of each rollout, with the punishment for length."""
        assert self._batch is not None
        return list(self._batch.rewards)

    def _generate_turns(self, prompts: Sequence[list[int]], places: int) -> list[Turn]:
        """One turn for each prompt. All processes bring equally many: some ways to generate need that."""
        began = time.perf_counter()
        filled = [*prompts, *([[self._tokenizer.eos_token_id]] * (places - len(prompts)))]
        at_once = self._settings.generation_batch or len(filled)
        turns: list[Turn] = []
        # Prompts of similar length together: what is shorter than the longest is filled up.
        order = sorted(range(len(filled)), key=lambda number: len(filled[number]))
        for start in range(0, len(order), at_once):
            chosen = [filled[number] for number in order[start : start + at_once]]
            tokens, told = self._generate_single_turn(chosen, None, {}, 1)
            told = told or [None] * len(tokens)
            turns += [Turn(list(one), logs) for one, logs in zip(tokens, told, strict=True)]
        self._generation_seconds += time.perf_counter() - began
        by_place = dict(zip(order, turns, strict=True))
        return [by_place[number] for number in range(len(prompts))]

    # --- the record of the run ---------------------------------------------------------------------------------------

    def _store_samples(self, batch: Batch, step: int) -> None:
        """Store a few trajectories of the batch: the first members of its first groups."""
        settings, number = self._settings, step // self._settings.updates_per_batch
        if self._processes.rank or not settings.sample_every or number % settings.sample_every:
            return
        player = f"{self._folder.path.name} step {step}"
        spread = range(0, len(batch.rollouts), settings.group_size)
        for place in list(spread)[: settings.samples]:
            self._store.append(batch.rollouts[place].trajectory(player).to_dict())

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Write the step's line besides what TRL does with it."""
        averages = {name: _mean(values) for name, values in self._metrics["train"].items()}
        super().log(logs, start_time)
        if "loss" in logs and not self._processes.rank:
            self._write(logs, averages)

    def _write(self, logs: Mapping[str, float], averages: Mapping[str, float | None]) -> None:
        step = self.state.global_step - 1
        now = time.perf_counter()
        whole, self._step_began = now - self._step_began, now
        batch, self._unlogged = self._unlogged, None
        spent = batch.seconds if batch else 0.0
        self._folder.append_metrics(
            DapoMetrics(
                step=step,
                loss=logs["loss"],
                grad_norm=logs.get("grad_norm"),
                learning_rate=logs.get("learning_rate"),
                entropy=averages.get("entropy"),
                clip_low=averages.get("clip_ratio/low_mean"),
                clip_high=averages.get("clip_ratio/high_mean"),
                batch=batch_metrics(batch) if batch else None,
                environments=environment_metrics(batch) if batch else None,
                seconds=StepSeconds(
                    batch=spent,
                    generation=self._generation_seconds if batch else 0.0,
                    environment=batch.engine_seconds if batch else 0.0,
                    update=whole - spent,
                    step=whole,
                ),
            )
        )
        if batch:
            self._folder.append_curriculum(progress.log_entry(step) for progress in batch.progress)

    # --- going on after a kill ---------------------------------------------------------------------------------------

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save the curriculum with everything else; the mark that all is there comes last."""
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self._processes.rank:
            return
        place = self._folder.checkpoint_folder("dapo") / f"checkpoint-{self.state.global_step}"
        (place / CURRICULUM).write_text(json.dumps(self.schedule.to_dict()), encoding="utf-8")
        self._folder.mark_complete(place)

    def train_on(self, checkpoint: Path | None = None) -> None:
        """Train to the end.

        Args:
            checkpoint: A complete checkpoint of this run to go on from.
        """
        if checkpoint is not None:
            saved = json.loads((checkpoint / CURRICULUM).read_text(encoding="utf-8"))
            self.schedule = self._sampler.schedule = schedule_from_dict(saved)
        self._step_began = time.perf_counter()
        self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def arguments_of(config: TrainingConfig, folder: RunFolder, processes: int, *, on_cpu: bool) -> GRPOConfig:
    """TRL's arguments for these settings.

    Args:
        config: The run's settings.
        folder: Where checkpoints go.
        processes: How many train together.
        on_cpu: There is no accelerator.

    Raises:
        TrainingConfigError: A batch cannot be dealt out evenly.
    """
    accumulation = config.accumulation(processes)
    server: dict[str, Any] = {}
    if config.vllm != "off":
        server = {
            "use_vllm": True,
            "vllm_mode": config.vllm,
            "vllm_max_model_length": config.context_tokens,
            "vllm_gpu_memory_utilization": config.vllm_memory,
            "vllm_tensor_parallel_size": config.vllm_tensor_parallel,
            "vllm_server_host": config.vllm_host,
            "vllm_server_port": config.vllm_port,
        }
    return GRPOConfig(
        output_dir=str(folder.checkpoint_folder("dapo")),
        seed=config.seed,
        max_steps=config.steps,
        per_device_train_batch_size=config.micro_batch,
        gradient_accumulation_steps=accumulation,
        steps_per_generation=accumulation * config.updates_per_batch,
        num_generations=config.group_size,
        # One turn: how long a whole rollout may get is ours to say.
        max_completion_length=config.turn_tokens,
        loss_type="dapo" if config.token_level_loss else "grpo",
        scale_rewards="group",
        epsilon=config.clip_low,
        epsilon_high=config.clip_high,
        beta=config.kl,
        mask_truncated_completions=False,  # ours: TRL takes a rollout for cut off by its last token alone
        temperature=config.temperature,
        top_p=config.top_p,
        top_k=0,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_steps,
        lr_scheduler_type="constant_with_warmup"
        if config.schedule_after_warmup == "constant"
        else config.schedule_after_warmup,
        weight_decay=config.weight_decay,
        adam_beta2=config.adam_beta2,
        max_grad_norm=config.gradient_norm,
        bf16=config.precision == "bfloat16",
        gradient_checkpointing=config.gradient_checkpointing,
        use_cpu=on_cpu,
        logging_steps=1,
        report_to=config.log_to,
        save_strategy="steps",
        save_steps=config.save_every,
        save_total_limit=config.keep_checkpoints,
        ignore_data_skip=True,
        shuffle_dataset=False,
        disable_tqdm=False,
        **server,
    )


def _mean(values: Sequence[float]) -> float | None:
    """The mean of those that are numbers."""
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else None
