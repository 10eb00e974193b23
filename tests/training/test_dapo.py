"""DAPO: each of its ingredients does what it is for, and a test fails when it is off."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_turns import BAD, GOOD, LONG, Choose, Tongue, Watched

from ecomrlve.curriculum import read_log
from ecomrlve.replay import load_trajectories, verify
from ecomrlve.training.config import TrainingConfig, config_of
from ecomrlve.training.models import save_whole
from ecomrlve.training.run_folder import RunFolder

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

SETTINGS = {
    "model": "x", "prompts_per_batch": 2, "group_size": 2, "micro_batch": 4, "context_tokens": 8192,
    "turn_tokens": 1000, "own_tokens": 4000, "overlong_buffer": 0, "precision": "float32", "steps": 4,
    "learning_rate": 1e-3, "warmup_steps": 0, "save_every": 2, "samples": 2, "min_episodes": 1000,
}  # fmt: skip


def half(around: int, place: int, one: Any) -> str:
    return GOOD if place % 2 else BAD


@pytest.fixture
def trainer(tiny_folder: Path, tiny_tokenizer: Any, tmp_path: Path, words_engine: Any) -> Callable[..., Any]:
    """Makes trainers of the tiny model whose turns are written by the test."""
    from transformers import AutoModelForCausalLM

    from ecomrlve.training.dapo import DapoTrainer, arguments_of

    def make(choose: Choose = half, folder: str = "run", **changes: Any) -> Any:
        config: TrainingConfig = config_of(SETTINGS | changes)
        place = RunFolder(tmp_path / folder)
        place.path.mkdir(exist_ok=True)
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_pretrained(tiny_folder, dtype=torch.float32)
        made: Any = DapoTrainer(
            config, place, words_engine, model, tiny_tokenizer, arguments_of(config, place, 1, on_cpu=True)
        )
        watched = Watched(config, words_engine, made._chats, Tongue(tiny_tokenizer), choose, made._processes)
        watched.schedule = made.schedule
        made._sampler, made._generate_turns = watched, watched.generate
        made.model.train()
        made.current_gradient_accumulation_steps = made.args.gradient_accumulation_steps
        return made

    return make


def batch_of(trainer: Any) -> Any:
    """What TRL learns from, of one batch."""
    config = trainer._settings
    return trainer._generate_and_score_completions([{"prompt": ""}] * config.rollouts_per_batch)


def loss_of(trainer: Any, inputs: Any, log_probabilities: Any, monkeypatch: Any) -> Any:
    """The loss if the model gave these probabilities to the tokens."""
    found = (log_probabilities, torch.zeros_like(log_probabilities), None)
    monkeypatch.setattr(trainer, "_get_per_token_logps_and_entropies", lambda *_, **__: found)
    return trainer._compute_loss(trainer.model, inputs)


def leaf(inputs: Any, value: float = -1.0) -> Any:
    return torch.full(inputs["completion_ids"].shape, value, requires_grad=True)


def test_only_the_models_own_tokens_have_a_gradient(trainer, monkeypatch):
    made = trainer()
    inputs = batch_of(made)
    own = torch.zeros_like(inputs["completion_ids"])
    for place, rollout in enumerate(made._batch.rollouts):
        own[place, : len(rollout.own)] = torch.tensor(rollout.own)
    assert 0 < own.sum() < inputs["completion_mask"].sum(), "there is text of both kinds"
    guess = leaf(inputs)
    loss_of(made, inputs, guess, monkeypatch).backward()
    assert torch.equal(guess.grad != 0, own.bool())


def test_what_tools_and_customers_say_changes_no_term_of_the_loss(trainer, monkeypatch):
    made = trainer()
    inputs = batch_of(made)
    guess = leaf(inputs).detach()
    before = loss_of(made, inputs, guess, monkeypatch)
    others = (inputs["completion_mask"] * (1 - inputs["tool_mask"])).bool()
    assert others.any()
    inputs["old_per_token_logps"] = guess.clone()
    perturbed = torch.where(others, torch.rand_like(guess) * -9, guess)
    assert loss_of(made, inputs, perturbed, monkeypatch).item() == before.item()
    own = torch.where(others, guess, guess + 0.1)
    assert loss_of(made, inputs, own, monkeypatch).item() != before.item()


def test_advantages_compare_the_members_of_a_group(trainer):
    made = trainer()
    inputs = batch_of(made)
    first = inputs["advantages"].view(2, 2)
    assert torch.allclose(first.sum(1), torch.zeros(2), atol=1e-5)
    assert (first[:, 1] > 0).all(), "who did well is told so"
    assert first.abs().allclose(torch.full((2, 2), 2**-0.5), atol=1e-3)


def test_the_loss_is_a_mean_over_tokens(trainer, monkeypatch):
    """Long rollouts weigh more than short ones: DAPO, section 3.3."""
    values = {}
    for token_level in (True, False):
        made = trainer(folder=str(token_level), token_level_loss=token_level)
        inputs = batch_of(made)
        values[token_level] = loss_of(made, inputs, leaf(inputs), monkeypatch).item()
    lengths = (inputs["completion_mask"] * inputs["tool_mask"]).sum(1).float()
    assert lengths.max() > lengths.min()
    assert values[True] == pytest.approx(
        -(inputs["advantages"] * lengths).sum().item() / lengths.sum().item(), abs=1e-5
    )
    assert values[False] == pytest.approx(-inputs["advantages"].mean().item(), abs=1e-5)
    assert values[True] != pytest.approx(values[False], abs=1e-3)


@pytest.mark.parametrize(("high", "learns"), [(0.28, True), (0.2, False)])
def test_clip_higher_lets_unlikely_tokens_rise(trainer, monkeypatch, high, learns):
    """A ratio of 1.25 is still learned from below 1.28, and is not below 1.2: DAPO, section 3.1."""
    made = trainer(clip_high=high)
    inputs = batch_of(made)
    guess = leaf(inputs)
    inputs["old_per_token_logps"] = guess.detach() - torch.log(torch.tensor(1.25))
    loss_of(made, inputs, guess, monkeypatch).backward()
    praised = (inputs["advantages"] > 0).unsqueeze(1) & (inputs["completion_mask"] * inputs["tool_mask"]).bool()
    assert (guess.grad[praised] != 0).all().item() is learns
    if not learns:
        assert (guess.grad[praised] == 0).all()


@pytest.mark.parametrize(("low", "learns"), [(0.2, False), (0.4, True)])
def test_the_lower_clip_is_its_own(trainer, monkeypatch, low, learns):
    made = trainer(clip_low=low)
    inputs = batch_of(made)
    guess = leaf(inputs)
    inputs["old_per_token_logps"] = guess.detach() - torch.log(torch.tensor(0.7))
    loss_of(made, inputs, guess, monkeypatch).backward()
    blamed = (inputs["advantages"] < 0).unsqueeze(1) & (inputs["completion_mask"] * inputs["tool_mask"]).bool()
    assert (guess.grad[blamed] != 0).any().item() is learns


def test_there_is_no_kl_term_unless_it_is_asked_for(trainer, monkeypatch):
    free = trainer(folder="free")
    assert free.beta == 0
    assert free.ref_model is None
    held = trainer(folder="held", kl=0.5)
    inputs = batch_of(held)
    inputs["ref_per_token_logps"] = leaf(inputs).detach()
    near, far = (loss_of(held, inputs, leaf(inputs, value), monkeypatch).item() for value in (-1.0, -3.0))
    assert far > near + 0.1
    inputs = batch_of(free)
    near, far = (loss_of(free, inputs, leaf(inputs, value), monkeypatch).item() for value in (-1.0, -3.0))
    assert far == pytest.approx(near)


def test_overlong_rollouts_are_no_part_of_the_loss(trainer):
    def choose(around: int, place: int, one: Any) -> str:
        return GOOD if place else LONG

    made = trainer(choose)
    inputs = batch_of(made)
    learned = (inputs["completion_mask"] * inputs["tool_mask"]).sum(1)
    assert (learned[::2] == 0).all()
    assert (learned[1::2] > 0).all()
    assert inputs["num_items_in_batch"] == learned.sum()
    loose = trainer(choose, folder="loose", overlong_filtering=False)
    inputs = batch_of(loose)
    assert ((inputs["completion_mask"] * inputs["tool_mask"]).sum(1) > 0).all()


def test_length_costs_the_model_and_not_what_others_say(trainer):
    made = trainer(own_tokens=2000, overlong_buffer=2000)
    batch_of(made)
    penalties = [
        reward - rollout.reward.total for rollout, reward in zip(made._batch.rollouts, made._batch.rewards, strict=True)
    ]
    assert penalties == pytest.approx([-rollout.own_tokens / 2000 for rollout in made._batch.rollouts])
    assert any(len(rollout.tokens) > rollout.own_tokens for rollout in made._batch.rollouts)


def test_groups_that_stay_without_variance_are_masked(trainer):
    first_row: list[Any] = []

    def choose(around: int, place: int, one: Any) -> str:
        first_row.append(one.row)
        return half(around, place, one) if one.row != first_row[0] else GOOD

    made = trainer(choose, most_rounds=1)
    inputs = batch_of(made)
    learned = (inputs["completion_mask"] * inputs["tool_mask"]).sum(1)
    assert (learned[:2] == 0).all()
    assert (learned[2:] > 0).all()
    assert inputs["num_items_in_batch"] == learned.sum()
    off = trainer(choose, folder="off", dynamic_sampling=False)
    first_row.clear()
    inputs = batch_of(off)
    assert ((inputs["completion_mask"] * inputs["tool_mask"]).sum(1) > 0).all()


def test_a_prompt_that_is_too_long_does_no_harm(trainer):
    made = trainer(context_tokens=300, turn_tokens=50, own_tokens=100, dynamic_sampling=False)
    inputs = batch_of(made)
    assert inputs["num_items_in_batch"] == 0
    assert made._batch.rewards == [-1.0] * 4


# --- a run -----------------------------------------------------------------------------------------------------------


def losses(trainer: Any) -> dict[int, float]:
    lines, problems = trainer._folder.metrics()
    assert not problems
    return {line.step: line.loss for line in lines}


def test_a_run_learns_and_says_how_it_went(trainer, words_engine):
    made = trainer()
    before = {name: value.clone() for name, value in made.model.named_parameters()}
    made.train_on()
    assert any(not torch.equal(before[name], value) for name, value in made.model.named_parameters())
    lines, problems = made._folder.metrics()
    assert not problems
    assert [line.step for line in lines] == [0, 1, 2, 3]
    for line in lines:
        assert line.loss is not None
        assert line.loss != 0
        assert line.batch.success == 0.5
        assert line.batch.invalid == 0.5
        assert line.seconds.environment > 0
        assert line.seconds.step >= line.seconds.batch
        assert line.environments["E_CART"].frontier_success == 0.5
    with made._folder.curriculum_file.open() as log:
        entries, problems = read_log(log)
    assert not problems
    assert [(entry.step, entry.env_id, entry.success) for entry in entries] == [
        (step, "E_CART", 0.5) for step in range(4)
    ]
    records, problems = load_trajectories(made._folder.trajectories)
    assert not problems
    assert len(records) == 8
    assert all(verify(record, words_engine).ok for record in records)
    assert {record["player"]["name"] for record in records} == {f"run step {step}" for step in range(4)}


def test_going_on_after_a_kill_is_exact(trainer):
    whole = trainer(folder="whole")
    whole.train_on()
    broken = trainer(folder="broken")

    def killed(*_: Any, **__: Any) -> None:
        if broken.state.global_step == 3:
            raise KeyboardInterrupt

    broken._generate_turns, turns = (lambda *given: killed() or turns(*given)), broken._generate_turns
    with pytest.raises(KeyboardInterrupt):
        broken.train_on()
    assert [path.name for path in broken._folder.checkpoints("dapo")] == ["checkpoint-2"]
    again = trainer(folder="broken")
    again.train_on(again._folder.last_checkpoint("dapo"))
    assert losses(again) == pytest.approx(losses(whole), abs=1e-5)
    assert again.schedule.to_dict() == whole.schedule.to_dict()
    for one, other in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_several_updates_share_a_batch(trainer):
    made = trainer(updates_per_batch=2, micro_batch=2, steps=2)
    made.train_on()
    lines, _ = made._folder.metrics()
    assert [line.batch is not None for line in lines] == [True, False]
    assert made.args.steps_per_generation == 2
    assert len(made._sampler.made) == 4


def test_adapters_are_merged_in_the_end(trainer, tiny_tokenizer, tmp_path):
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM

    from ecomrlve.training.dapo import DapoTrainer, arguments_of

    full = trainer(steps=1)
    config = config_of(SETTINGS | {"steps": 1, "lora_rank": 2})
    folder = RunFolder(tmp_path / "lora")
    folder.path.mkdir()
    adapters = LoraConfig(r=2, target_modules="all-linear", task_type="CAUSAL_LM")
    arguments = arguments_of(config, folder, 1, on_cpu=True)
    made = DapoTrainer(config, folder, full._sampler._engine, full.model, tiny_tokenizer, arguments, adapters)
    save_whole(made, folder.final_model)
    assert AutoModelForCausalLM.from_pretrained(folder.final_model).config.model_type == "qwen3"
    assert not (folder.final_model / "adapter_config.json").exists()


def test_the_model_is_saved_whole_and_plays(trainer, tmp_path, words_engine):
    from ecomrlve.agents.base import play
    from ecomrlve.agents.registry import make_agent
    from ecomrlve.environment import Environment

    made = trainer(steps=1)
    save_whole(made, made._folder.final_model)
    assert not list(made._folder.path.glob(".final*"))
    agent = make_agent(f"checkpoint:{made._folder.final_model}?max_new_tokens=8&temperature=0")
    assert -1 <= play(Environment(("E_CART",), words_engine), agent, 20001, 0).total <= 1
    assert json.loads((made._folder.final_model / "config.json").read_text())["model_type"] == "qwen3"
