"""Agents by the one string that names them everywhere, such as ``scripted`` or ``checkpoint:Qwen/Qwen3-8B``."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from ecomrlve.agents.base import Agent, Players, Singles
from ecomrlve.agents.baselines import RandomAgent
from ecomrlve.agents.cheats import CHEATS, make_cheat
from ecomrlve.agents.learned import learned_players
from ecomrlve.agents.names import AgentNameError, read_options, split_name
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.agents.slipping import SlippingAgent

# Agents without options that share nothing. Where nothing is drawn, or by the seed alone, all trials are the same.
SIMPLE: dict[str, Callable[[int], Agent]] = {
    "reference": lambda trial: ReferenceAgent(),
    "brief": lambda trial: _brief(),
    "scripted": lambda trial: _scripted(),
    "slipping": lambda trial: SlippingAgent(trial=trial),
    "random": lambda trial: RandomAgent(trial=trial),
}
KINDS = (
    *SIMPLE, "learned", "cheat:NAME", "checkpoint:ID_OR_FOLDER", "endpoint:URL#MODEL", "endpoint:MODEL",
    "python:MODULE:NAME",
)  # fmt: skip


def players_of(name: str) -> Players:
    """What plays under a name.

    Args:
        name: ``reference``, ``scripted``, ``slipping``, ``random``; ``cheat:first_hits``; ``checkpoint:Qwen/Qwen3-8B``;
            ``endpoint:http://127.0.0.1:8000/v1#my-model``; ``python:my_package.my_module:MyAgent``, anything that gives
            an agent when called without arguments. Checkpoints and endpoints take options, as in
            ``checkpoint:Qwen/Qwen3-8B?thinking=true&temperature=0.6``.

    Raises:
        AgentNameError: There is no such agent, or it has no such option.
    """
    kind, what, options = split_name(name)
    if kind == "checkpoint" and what:
        from ecomrlve.agents.checkpoint import CheckpointOptions, CheckpointPlayers

        return CheckpointPlayers(name, what, read_options(name, options, CheckpointOptions))
    if kind == "endpoint" and what:
        from ecomrlve.agents.endpoint import EndpointOptions, EndpointPlayers

        return EndpointPlayers(name, what, read_options(name, options, EndpointOptions))
    if options:
        raise AgentNameError(f"agent {name!r}: only checkpoints and endpoints take options")
    if name == "learned":
        return learned_players(name)
    if name in SIMPLE:
        return Singles(name, SIMPLE[name])
    if kind == "cheat" and what in CHEATS:
        return Singles(name, lambda trial: make_cheat(what))
    if kind == "python" and what:
        return Singles(name, _imported(name, what))
    hint = f"; the cheats are {', '.join(CHEATS)}" if kind == "cheat" else ""
    raise AgentNameError(f"there is no agent {name!r}; there are {', '.join(KINDS)}{hint}")


def make_agent(name: str, trial: int = 0) -> Agent:
    """The agent of one episode at a time that a name stands for (see `players_of`)."""
    return players_of(name).player(trial)


def _scripted() -> Agent:
    from ecomrlve.agents.scripted import ScriptedAgent

    return ScriptedAgent()


def _brief() -> Agent:
    from ecomrlve.agents.brief import BriefAgent

    return BriefAgent()


def _imported(name: str, what: str) -> Callable[[int], Agent]:
    """Somebody's own agent."""
    module, _, attribute = what.partition(":")
    try:
        make = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise AgentNameError(
            f"agent {name!r} cannot be imported: {error}; write python:MODULE:NAME of something that can be imported"
        ) from error
    if not callable(make):
        raise AgentNameError(f"agent {name!r}: {attribute} is not callable; it must give an agent without arguments")
    return lambda trial: make()
