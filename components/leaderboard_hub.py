"""Copies the stored games to a dataset on the Hugging Face Hub, where whoever runs the Space asks for it.

Without the variable `VARIABLE` and a token nothing leaves this machine. The list of names with its checksums of keys
never does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from components.leaderboard_board import FOLDER

VARIABLE: Final = "ECOMRLVE_HUB_DATASET"
MINUTES: Final = 10
_log = logging.getLogger(__name__)


def dataset() -> str:
    """The dataset that stored games are copied to; empty if they stay on this machine."""
    from huggingface_hub import get_token

    name = os.environ.get(VARIABLE, "").strip()
    return name if name and get_token() else ""


def start_copying(folder: Path, scheduler: Callable[..., Any] | None = None) -> Any | None:
    """Copy the stored games from time to time, if that is asked for. A Hub out of reach must not keep the Space down.

    Args:
        folder: Where the games are stored.
        scheduler: Makes what copies; by default `huggingface_hub.CommitScheduler`. A dataset that is not there yet is
            made as a private one.

    Returns:
        What copies; None if nothing does.
    """
    from httpx2 import HTTPError
    from huggingface_hub import CommitScheduler

    name = dataset()
    if not name:
        if os.environ.get(VARIABLE):
            _log.warning("%s is set, but there is no token (HF_TOKEN), so no game is copied to the Hub.", VARIABLE)
        return None
    try:
        return (scheduler or CommitScheduler)(
            repo_id=name,
            repo_type="dataset",
            folder_path=folder,
            path_in_repo="trajectories",
            every=MINUTES,
            private=True,
            allow_patterns=["*.jsonl"],
            ignore_patterns=[f"{FOLDER}/*"],
        )
    except (HTTPError, OSError, ValueError) as error:
        _log.warning("Games are not copied to the dataset %s: %s", name, error)
        return None
