"""Everything that decides a training run, in one place: it is printed at the start and stored with the run.

A preset (`ecomrlve.training.presets`) is a `TrainingConfig`; single settings can be changed by name. Whatever cannot be
is refused here, before a model is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ecomrlve.collections import resolve
from ecomrlve.curriculum import MIN_EPISODES, THRESHOLD, WIDTH
from ecomrlve.curriculum.state import first_problem
from ecomrlve.difficulty import HIGHEST, LOWEST, difficulty
from ecomrlve.errors import EcomrlveError, short

Count = Annotated[int, Field(ge=1)]
NoneOrMore = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Level = Annotated[int, Field(ge=LOWEST, le=HIGHEST)]


class TrainingConfigError(EcomrlveError, ValueError):
    """A setting that is unknown, out of range, or at odds with another."""


class TrainingConfig(BaseModel):
    """The settings of a run. Field descriptions are what `ecomrlve train --help-settings` prints."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    # What is trained, on what.
    model: str = Field(description="folder or Hub id of the model; tiny and small are made on the spot")
    envs: str = Field("C1", description="environments or a collection, comma-separated")
    overrides: dict[str, float] = Field({}, description="axes held at a value, such as omission=0")
    seed: NoneOrMore = Field(0, description="of the rows, the curriculum's draws and the sampling")
    precision: Literal["float32", "bfloat16"] = Field("bfloat16", description="of the computation")
    thinking: bool = Field(False, description="let the model think before it acts, where its template knows how")

    # The curriculum.
    schedule: Literal["adaptive", "static"] = Field("adaptive", description="how difficulty is scheduled")
    static_low: Level = Field(0, description="lowest d of the static schedule")
    static_high: Level = Field(0, description="highest d of the static schedule")
    min_episodes: Count = Field(MIN_EPISODES, description="episodes at the frontier that a decision takes")
    threshold: Positive = Field(THRESHOLD, le=1, description="success at the frontier that raises it")
    width: NoneOrMore = Field(WIDTH, description="how far the window's lower end stays behind the upper one")

    # DAPO.
    steps: NoneOrMore = Field(300, description="updates of the weights")
    prompts_per_batch: Count = Field(32, description="groups per batch")
    group_size: Annotated[int, Field(ge=2)] = Field(8, description="rollouts per group, G")
    updates_per_batch: Count = Field(1, description="updates that share a batch of rollouts")
    micro_batch: Count = Field(8, description="rollouts per forward and backward pass, on each device")
    learning_rate: Positive = Field(1e-5, description="peak learning rate")
    warmup_steps: NoneOrMore = Field(10, description="updates until the learning rate has its peak")
    schedule_after_warmup: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="learning rate after the warm-up"
    )
    weight_decay: Annotated[float, Field(ge=0)] = Field(0.0, description="of AdamW")
    adam_beta2: Annotated[float, Field(gt=0, lt=1)] = Field(0.95, description="of AdamW")
    gradient_norm: Positive = Field(1.0, description="gradients are clipped to this norm")
    token_level_loss: bool = Field(True, description="mean over tokens of the batch; else over rollouts, then tokens")
    clip_low: Share = Field(0.2, description="probability ratios count down to 1 - this")
    clip_high: Share = Field(0.28, description="probability ratios count up to 1 + this")
    kl: Annotated[float, Field(ge=0)] = Field(0.0, description="weight of the KL term; DAPO has none")
    temperature: Positive = Field(1.0, description="of the sampling")
    top_p: Annotated[float, Field(gt=0, le=1)] = Field(1.0, description="of the sampling")
    dynamic_sampling: bool = Field(True, description="draw groups without variance anew, and mask what is left of them")
    most_rounds: Count = Field(3, description="rounds of drawing per batch at most")

    # Lengths, in tokens.
    context_tokens: Count = Field(8192, description="prompt, turns, tool results and the customer's words together")
    turn_tokens: Count = Field(512, description="one turn of the model")
    own_tokens: Count = Field(2048, description="all turns of the model in an episode together")
    overlong_buffer: NoneOrMore = Field(512, description="the last of own_tokens, where the penalty grows from 0 to 1")
    overlong_weight: Annotated[float, Field(ge=0)] = Field(1.0, description="weight of that penalty; 0 turns it off")
    overlong_filtering: bool = Field(True, description="leave rollouts that ran out of tokens out of the loss")

    # Memory and machines.
    generation_batch: NoneOrMore = Field(0, description="rollouts that generate together without vLLM; 0 for all")
    gradient_checkpointing: bool = Field(False, description="compute activations again to save memory")
    lora_rank: NoneOrMore = Field(0, description="train adapters of this rank; 0 trains all weights")
    vllm: Literal["off", "colocate", "server"] = Field("off", description="where vLLM generates, if it does")
    vllm_memory: Annotated[float, Field(gt=0, lt=1)] = Field(0.3, description="share of a device that vLLM takes")
    vllm_tensor_parallel: Count = Field(1, description="devices that share one vLLM engine, with colocate")
    vllm_host: str = Field("127.0.0.1", description="address of the vLLM server")
    vllm_port: Annotated[int, Field(ge=1, le=65535)] = Field(8000, description="its port")

    # Supervised fine-tuning before it.
    sft_steps: NoneOrMore = Field(0, description="updates of the weights; 0 for none")
    sft_teacher: str = Field("brief", description="agent whose successes are shown")
    sft_high: Level = Field(0, description="highest d of the demonstrations")
    sft_episodes: Count = Field(2000, description="demonstrations")
    sft_openings: bool = Field(False, description="show each a second time, up to the end of the model's first turn")
    sft_batch: Count = Field(32, description="demonstrations per update, on all devices together")
    sft_micro_batch: Count = Field(8, description="demonstrations per forward and backward pass, on each device")
    sft_learning_rate: Positive = Field(1e-5, description="peak learning rate")
    sft_warmup_steps: NoneOrMore = Field(20, description="updates until it has its peak")
    sft_schedule: Literal["constant", "linear", "cosine", "decay"] = Field(
        "constant", description="learning rate after that; decay falls to 0 in the second half"
    )
    sft_tokens: Count = Field(8192, description="longer demonstrations are left out")

    # The record of the run.
    save_every: Count = Field(50, description="updates between checkpoints")
    keep_checkpoints: Annotated[int, Field(ge=2)] = Field(2, description="checkpoints that are kept")
    sample_every: NoneOrMore = Field(1, description="batches between stored trajectories; 0 stores none")
    samples: Count = Field(4, description="trajectories that are stored of such a batch")
    log_to: Literal["none", "tensorboard", "trackio"] = Field(
        "none", description="where curves go besides the run's folder"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> TrainingConfig:
        resolve(self.envs)
        difficulty(0, self.overrides)
        if self.static_low > self.static_high:
            raise ValueError(f"static_low {self.static_low} is above static_high {self.static_high}")
        if self.overlong_buffer > self.own_tokens:
            raise ValueError(f"overlong_buffer {self.overlong_buffer} is more than own_tokens {self.own_tokens}")
        if self.turn_tokens > self.own_tokens:
            raise ValueError(f"turn_tokens {self.turn_tokens} is more than own_tokens {self.own_tokens}")
        if self.own_tokens >= self.context_tokens:
            raise ValueError(f"own_tokens {self.own_tokens} leaves nothing of context_tokens {self.context_tokens}")
        if self.rollouts_per_batch % self.updates_per_batch:
            raise ValueError(
                f"{self.rollouts_per_batch} rollouts cannot be dealt out to updates_per_batch={self.updates_per_batch}"
            )
        if self.save_every % self.updates_per_batch:
            raise ValueError(
                "save_every must be a multiple of updates_per_batch: a run goes on exactly only between batches"
            )
        return self

    @property
    def rollouts_per_batch(self) -> int:
        """Rollouts of one batch, on all devices together."""
        return self.prompts_per_batch * self.group_size

    @property
    def env_ids(self) -> tuple[str, ...]:
        """The environments by name."""
        return resolve(self.envs)

    def accumulation(self, processes: int) -> int:
        """Backward passes per update on each of so many devices.

        Raises:
            TrainingConfigError: The rollouts of an update cannot be dealt out evenly.
        """
        each = self.rollouts_per_batch // self.updates_per_batch
        steps, rest = divmod(each, self.micro_batch * processes)
        if rest or not steps:
            raise TrainingConfigError(
                f"an update has {each} rollouts, which {processes} processes with micro_batch={self.micro_batch} "
                "cannot share evenly; change micro_batch, prompts_per_batch or the number of processes"
            )
        return steps

    def changed(self, changes: Mapping[str, Any]) -> TrainingConfig:
        """The same settings but for some.

        Raises:
            TrainingConfigError: A setting is unknown, or has an impossible value.
        """
        for name in changes:
            if name not in TrainingConfig.model_fields:
                raise TrainingConfigError(f"there is no setting {short(name)!r}; {_similar(name)}")
        return config_of(self.model_dump() | dict(changes))


def config_of(data: Mapping[str, Any]) -> TrainingConfig:
    """The settings that were stored, or are put together from parts.

    Raises:
        TrainingConfigError: A setting is unknown, or has an impossible value.
    """
    try:
        return TrainingConfig.model_validate(dict(data))
    except ValidationError as error:
        raise TrainingConfigError(f"no run can have these settings: {first_problem(error)}") from error


def changes_of(texts: Sequence[str]) -> dict[str, Any]:
    """Settings given as ``name=value`` on a command line; ``overrides`` takes ``overrides=axis=value,axis=value``.

    Raises:
        TrainingConfigError: One is not of that form.
    """
    changes: dict[str, Any] = {}
    for text in texts:
        name, found, value = text.partition("=")
        if not found or not name.strip():
            raise TrainingConfigError(f"{short(text)!r} is no setting; write name=value")
        changes[name.strip()] = _overrides(value) if name.strip() == "overrides" else value.strip()
    return changes


def _overrides(text: str) -> dict[str, float]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    try:
        return {axis.strip(): TypeAdapter(float).validate_python(value) for axis, _, value in pairs}
    except ValidationError as error:
        raise TrainingConfigError(f"{short(text)!r} is no list of axis=value") from error


def _similar(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, TrainingConfig.model_fields, 3, 0.5)
    return f"did you mean {', '.join(near)}?" if near else "ecomrlve train --settings lists them"
