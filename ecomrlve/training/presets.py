"""Settings that belong together, by name. docs/training.md has the arithmetic of their memory and time."""

from __future__ import annotations

from typing import Any

from ecomrlve.errors import short
from ecomrlve.training.config import TrainingConfig, TrainingConfigError, config_of

# The published run: C1, G = 8, learning rate 1e-5, 300 steps; what it does not say is DAPO's own.
_PUBLISHED: dict[str, Any] = {
    "model": "Qwen/Qwen3-8B",
    "group_size": 8,
    "learning_rate": 1e-5,
    "steps": 300,
    "prompts_per_batch": 32,
    "updates_per_batch": 2,
    "micro_batch": 2,
    "context_tokens": 16384,
    "turn_tokens": 1024,
    "own_tokens": 4096,
    "overlong_buffer": 1024,
    "gradient_checkpointing": True,
    "vllm": "colocate",
    "vllm_memory": 0.35,
    "save_every": 50,
    "sft_teacher": "brief",
    "sft_tokens": 16384,
}


def _published(collection: str, **changes: Any) -> dict[str, Any]:
    return {**_PUBLISHED, "envs": collection, **changes}


_PRESETS: dict[str, dict[str, Any]] = {
    # A Qwen3 of about a million parameters that is made on the spot: everything runs, on any machine, in a minute.
    "tiny-cpu": {
        "model": "tiny",
        "envs": "C1",
        "steps": 2,
        "prompts_per_batch": 2,
        "group_size": 4,
        "micro_batch": 4,
        "learning_rate": 1e-3,
        "warmup_steps": 0,
        "precision": "float32",
        "most_rounds": 2,
        "min_episodes": 8,
        "context_tokens": 8192,
        "turn_tokens": 24,
        "own_tokens": 96,
        "overlong_buffer": 48,
        "save_every": 1,
        "sft_steps": 2,
        "sft_episodes": 16,
        "sft_batch": 2,
        "sft_micro_batch": 2,
        "sft_learning_rate": 1e-3,
        "sft_warmup_steps": 0,
        "samples": 2,
    },
    # Two CPU cores and about two hours: a small model learns E_CART at d = 0 to 2 from nothing.
    "small-cart": {
        "model": "small",
        "envs": "C1",
        "precision": "float32",
        "schedule": "static",
        "static_low": 0,
        "static_high": 2,
        "steps": 200,
        "prompts_per_batch": 24,
        "group_size": 8,
        "updates_per_batch": 4,
        "micro_batch": 24,
        "learning_rate": 2e-4,
        "warmup_steps": 8,
        "adam_beta2": 0.98,
        "weight_decay": 0.01,
        "most_rounds": 2,
        "context_tokens": 2048,
        "turn_tokens": 72,
        "own_tokens": 288,
        "overlong_buffer": 72,
        "save_every": 20,
        "sample_every": 5,
        "samples": 2,
        "sft_steps": 5000,
        "sft_high": 2,
        "sft_episodes": 40_000,
        "sft_openings": True,
        "sft_batch": 16,
        "sft_micro_batch": 16,
        "sft_learning_rate": 2e-3,
        "sft_warmup_steps": 100,
        "sft_schedule": "decay",
        "sft_tokens": 1024,
    },
    # One GPU with 24 GB or more.
    "qwen3-0.6b": {
        "model": "Qwen/Qwen3-0.6B",
        "envs": "C1",
        "steps": 200,
        "prompts_per_batch": 16,
        "group_size": 8,
        "updates_per_batch": 2,
        "micro_batch": 4,
        "learning_rate": 5e-6,
        "context_tokens": 8192,
        "turn_tokens": 512,
        "own_tokens": 2048,
        "overlong_buffer": 512,
        "gradient_checkpointing": True,
        "vllm": "colocate",
        "vllm_memory": 0.3,
        "min_episodes": 64,
        "sft_steps": 100,
        "sft_episodes": 1600,
        "sft_batch": 16,
        "sft_micro_batch": 2,
    },
    "qwen3-8b-c1": _published("C1"),
    "qwen3-8b-c2": _published("C2"),
    "qwen3-8b-c4": _published("C4", prompts_per_batch=64),
    "qwen3-8b-c8": _published("C8", prompts_per_batch=64, context_tokens=32768, own_tokens=8192, sft_tokens=32768),
}
PRESETS: tuple[str, ...] = tuple(_PRESETS)


def preset(name: str) -> TrainingConfig:
    """The settings of a preset.

    Raises:
        TrainingConfigError: There is no such preset.
    """
    if name not in _PRESETS:
        raise TrainingConfigError(f"there is no preset {short(name)!r}; there are {', '.join(PRESETS)}")
    return config_of(_PRESETS[name])
