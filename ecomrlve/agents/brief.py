"""The brief agent: a teacher of few and short calls, for models that have little room and little depth.

It has the reference agent's privilege, the said slots as plain values, and no other. Where the reference agent asks
everything in every turn and reads long pages, this one asks only what it must know for its next call, and reads one hit
at a time. So its chats fit into a few hundred tokens, and whoever imitates it has little to find and to copy.

It knows E_CART. In other environments it plays as the reference agent does.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.brief_cart import BriefCartPlan
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan
from ecomrlve.agents.reference import PLANS, said
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation

BRIEF_PLANS: dict[str, type[IntentPlan]] = PLANS | {"E_CART": BriefCartPlan}


class BriefAgent:
    """Plays every environment: by a brief plan of its task where there is one, else by the reference plan."""

    name = "brief"

    def reset(self, env: Environment) -> None:
        """Forget everything and look at the new episode's said slots from now on."""
        self._episode = env.episode
        self._memory = Memory()
        self._plans: dict[int, IntentPlan] = {}

    def act(self, observation: Observation) -> dict[str, Any]:
        """The next turn."""
        pages = self._memory.read(observation)
        index, env_id, view = said(self._episode)
        if index not in self._plans:
            self._plans[index] = BRIEF_PLANS[env_id](self._memory)
        return self._plans[index].take_turn(observation, view, pages)
