"""What `scripts/gpu_smoke.sh` runs: a few steps of the preset qwen3-0.6b, measured; see there.

    python scripts/gpu_smoke.py [--steps N] [--cpu] [--json FILE]

``--cpu`` shows without a GPU that the script itself works, with a model of a few layers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

from ecomrlve.agents.tiny_model import build  # noqa: E402
from ecomrlve.catalog.search import SearchEngine  # noqa: E402
from ecomrlve.catalog.synthetic import generate  # noqa: E402
from ecomrlve.training.presets import preset  # noqa: E402
from ecomrlve.training.run import Plan, run  # noqa: E402
from ecomrlve.training.run_folder import RunFolder  # noqa: E402

# Qwen3-0.6B, and a stand-in for machines without a GPU.
SHAPE = {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
         "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936}  # fmt: skip
SMALL = SHAPE | {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
                 "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 2048}  # fmt: skip


def random_model(folder: Path, shape: dict[str, int]) -> Path:
    """A Qwen3 of this shape with random weights, and the tiny model's tokenizer and chat template."""
    import torch
    from transformers import AutoTokenizer, GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(build(folder / "tiny"))
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    torch.manual_seed(0)
    model: Any = Qwen3ForCausalLM(Qwen3Config(**shape, max_position_embeddings=40960, tie_word_embeddings=True, **ends))
    model.generation_config = GenerationConfig(**ends)
    place = folder / "model"
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def main() -> int:
    """Train a few steps and print what they cost."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if not torch.cuda.is_available() and not given.cpu:
        print("there is no CUDA device here; --cpu shows that the script works", file=sys.stderr)
        return 1
    began = time.perf_counter()
    changes: dict[str, Any] = {
        "steps": given.steps, "sft_steps": 2, "sft_episodes": 32, "sft_teacher": "brief", "save_every": given.steps * 2,
        "vllm": "off", "updates_per_batch": 1, "turn_tokens": 128, "own_tokens": 512, "overlong_buffer": 128,
        "most_rounds": 1, "dynamic_sampling": False, "overlong_filtering": False,
    }  # fmt: skip
    if given.cpu:
        changes |= {"precision": "float32", "prompts_per_batch": 2, "group_size": 4, "sft_episodes": 16}
        changes |= {"turn_tokens": 16, "own_tokens": 64, "overlong_buffer": 16}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = os.environ.get("SMOKE_MODEL") or str(random_model(folder, SMALL if given.cpu else SHAPE))
        config = preset("qwen3-0.6b").changed(changes | {"model": model})
        prepared = time.perf_counter()
        run(Plan(config, "qwen3-0.6b", "all", RunFolder(folder / "run")), SearchEngine(generate()))
        trained = time.perf_counter()
        lines, problems = RunFolder(folder / "run").metrics()
    found = measured([line for line in lines if line.stage == "dapo"])
    found |= {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        "model": os.environ.get("SMOKE_MODEL") or "random weights",
        "peak memory, GB": round(torch.cuda.max_memory_allocated() / 1e9, 2) if torch.cuda.is_available() else None,
        "preparing, s": round(prepared - began, 1),
        "training, s": round(trained - prepared, 1),
        "problems": problems,
    }
    print(json.dumps(found, indent=1))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(bool(problems))


def measured(lines: list[Any]) -> dict[str, Any]:
    """Means over the steps but the first, which warms up."""
    steady = lines[1:] or lines
    own = sum(line.batch.own_tokens * line.batch.rollouts for line in steady)
    seconds = {
        name: sum(getattr(line.seconds, name) for line in steady)
        for name in ("generation", "environment", "update", "step")
    }
    turns = sum(line.batch.turns * line.batch.rollouts for line in steady)
    return {
        "steps": len(lines),
        "losses": [line.loss for line in lines],
        "own tokens per second of generation": round(own / seconds["generation"], 1),
        "own tokens per second of training": round(own / seconds["step"], 1),
        "seconds per step": round(seconds["step"] / len(steady), 2),
        "environment share, %": round(100 * seconds["environment"] / seconds["step"], 2),
        "ms in the engine per turn": round(1000 * seconds["environment"] / turns, 2),
        "shares of a step, %": {
            name: round(100 * seconds[name] / seconds["step"], 1) for name in ("generation", "environment", "update")
        },
    }


if __name__ == "__main__":
    sys.exit(main())
