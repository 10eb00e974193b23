"""Train with SkyRL 0.4 on the machines of a Ray cluster: ``python examples/skyrl/train.py [key.path=value ...]``.

The options are those of ``dapo.yaml`` beside this file; what is given on the command line changes single ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ray
from omegaconf import OmegaConf
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.entrypoints.main_base import BasePPOExp
from skyrl.train.utils import initialize_ray, validate_cfg

from ecomrlve.adapters.skyrl import register

OPTIONS = Path(__file__).with_name("dapo.yaml")


@ray.remote(num_cpus=1)
def run(options: SkyRLTrainConfig) -> None:
    """Train; the episodes are played in this process, so the environment is registered in it."""
    register()
    BasePPOExp(options).run()


def main(arguments: list[str]) -> None:
    """Read the options, start Ray, and wait for the end."""
    given = OmegaConf.merge(OmegaConf.load(OPTIONS), OmegaConf.from_cli(arguments))
    options = SkyRLTrainConfig.from_dict_config(given)
    validate_cfg(options)
    initialize_ray(options)
    ray.get(run.remote(options))


if __name__ == "__main__":
    main(sys.argv[1:])
