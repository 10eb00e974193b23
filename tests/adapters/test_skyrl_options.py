"""The example's options are DAPO's, fit each other and our episodes, and are options of SkyRL."""

import importlib.util
from pathlib import Path

import pytest
import yaml

from ecomrlve.difficulty import HIGHEST, difficulty
from ecomrlve.tasks.journey import intents_wanted

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "skyrl"
SECTIONS = {
    "data": "DataConfig",
    "environment": "EnvironmentConfig",
    "generator": "GeneratorConfig",
    "trainer": "TrainerConfig",
}


@pytest.fixture(scope="module")
def options():
    return yaml.safe_load((EXAMPLE / "dapo.yaml").read_text(encoding="utf-8"))


def test_it_is_dapo(options):
    algorithm = options["trainer"]["algorithm"]
    assert (algorithm["eps_clip_low"], algorithm["eps_clip_high"]) == (0.2, 0.28)
    assert algorithm["dynamic_sampling"]["type"] == "filter"
    assert algorithm["loss_reduction"] == "token_mean"
    assert algorithm["use_kl_loss"] is algorithm["use_kl_in_reward"] is False
    assert options["generator"]["n_samples_per_prompt"] == 8
    assert options["generator"]["apply_overlong_filtering"] is True


def test_the_sizes_fit_each_other(options):
    trainer, generator = options["trainer"], options["generator"]
    placement = trainer["placement"]
    devices = placement["policy_num_nodes"] * placement["policy_num_gpus_per_node"]
    engine = generator["inference_engine"]
    assert engine["num_engines"] * engine["tensor_parallel_size"] == devices
    assert trainer["train_batch_size"] % trainer["policy_mini_batch_size"] == 0
    rollouts = trainer["policy_mini_batch_size"] * generator["n_samples_per_prompt"]
    assert rollouts % (devices * trainer["micro_train_batch_size_per_gpu"]) == 0
    assert generator["max_input_length"] > trainer["max_prompt_length"]


def test_no_episode_is_cut_off_by_the_limit_on_turns(options):
    longest = difficulty(HIGHEST).turn_budget * intents_wanted(HIGHEST)
    assert options["generator"]["max_turns"] >= longest


@pytest.mark.skipif(importlib.util.find_spec("skyrl") is None, reason="skyrl is not installed")
@pytest.mark.parametrize("section", SECTIONS)
def test_every_option_is_one_of_skyrl(section, options):
    from skyrl.train import config

    built = config.config.build_nested_dataclass(getattr(config, SECTIONS[section]), options[section])
    assert set(SECTIONS) == set(options)
    for name, value in leaves(options[section]):
        found = built
        for part in name:
            found = found[part] if isinstance(found, dict) else getattr(found, part)
        assert found == value, ".".join(name)


@pytest.mark.skipif(importlib.util.find_spec("skyrl") is None, reason="skyrl is not installed")
def test_an_unknown_option_would_be_noticed(options):
    from skyrl.train import config

    with pytest.raises(ValueError, match="eps_clip_hi"):
        config.config.build_nested_dataclass(config.AlgorithmConfig, {"eps_clip_hi": 0.28})


def leaves(options, path=()):
    """Every single option with the names on the way to it."""
    for name, value in options.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name), value
