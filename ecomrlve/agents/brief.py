"""The brief agent: a teacher of few and short calls, for models that have little room and little depth.

It has the reference agent's privilege, the said slots as plain values, and no other. Where the reference agent asks
everything in every turn and reads long pages, this one asks only what it must know for its next call, and reads what
it is about to use. So its chats are about a tenth as long, and whoever imitates it has little to find and to copy. It
does not always succeed; a teacher's successes are what is shown.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.brief_bundle import BriefBundlePlan
from ecomrlve.agents.brief_cart import BriefCartPlan
from ecomrlve.agents.brief_discovery import BriefDiscoveryPlan
from ecomrlve.agents.brief_policy import BriefPolicyPlan
from ecomrlve.agents.brief_returns import BriefReturnPlan
from ecomrlve.agents.brief_status import BriefStatusPlan
from ecomrlve.agents.brief_substitution import BriefSubstitutionPlan
from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan
from ecomrlve.agents.reference import said
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation

BRIEF_PLANS: dict[str, type[IntentPlan]] = {
    "E_CART": BriefCartPlan,
    "E_PD": BriefDiscoveryPlan,
    "E_SUB": BriefSubstitutionPlan,
    "E_STATUS": BriefStatusPlan,
    "E_POLICY": BriefPolicyPlan,
    "E_RETURN": BriefReturnPlan,
    "E_BUNDLE": BriefBundlePlan,
}


class BriefAgent:
    """Plays every environment, each intent by its brief plan."""

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
