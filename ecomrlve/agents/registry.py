"""Agents by the one string that names them everywhere."""

from __future__ import annotations

from ecomrlve.agents.base import Agent
from ecomrlve.agents.baselines import RandomAgent
from ecomrlve.agents.cheats import CHEATS, make_cheat
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.agents.slipping import SlippingAgent
from ecomrlve.errors import EcomrlveError


def make_agent(name: str) -> Agent:
    """Make the agent that a name stands for, such as ``reference``, ``random`` or ``cheat:first_hits``.

    Raises:
        EcomrlveError: There is no such agent.
    """
    kind, _, rest = name.partition(":")
    if name == "reference":
        return ReferenceAgent()
    if name == "slipping":
        return SlippingAgent()
    if name == "random":
        return RandomAgent()
    if kind == "cheat" and rest in CHEATS:
        return make_cheat(rest)
    known = ["reference", "slipping", "random", *(f"cheat:{cheat}" for cheat in CHEATS)]
    raise EcomrlveError(f"there is no agent {name!r}; there are {', '.join(known)}")
