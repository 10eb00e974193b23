"""The small model that learned E_CART on two CPU cores: it lies in this repository and plays without a network.

docs/training.md tells how it was trained and how well it plays. It has seen no other environment.
"""

from __future__ import annotations

from pathlib import Path

from ecomrlve.agents.base import Players
from ecomrlve.agents.names import AgentNameError

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "learned"
ENV_ID = "E_CART"
LONGEST_TURN = 96  # tokens; its turns have 30


def is_here() -> bool:
    """Whether the model's files are here: a package that was installed without the repository has none."""
    return (FOLDER / "config.json").exists()


def learned_players(name: str) -> Players:
    """What plays under the name ``learned``.

    Args:
        name: The agent's whole name.

    Raises:
        AgentNameError: The model's files are not here.
    """
    if not is_here():
        raise AgentNameError("the learned model is not here: it lies in the repository, in assets/learned")
    from ecomrlve.agents.checkpoint import CheckpointOptions, CheckpointPlayers

    return CheckpointPlayers(
        name, str(FOLDER), CheckpointOptions(max_new_tokens=LONGEST_TURN, dtype="float32", batch=32)
    )
