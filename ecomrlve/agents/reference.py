"""The reference agent: it shows that every problem is solvable by what an agent can see.

Its one privilege is to read what the customer *said* as (attribute, operator, value) instead of as words, which acts
the customer's last reply made, and of which kind the intent is that the customer raised last. It never reads an unsaid
slot, an id or the goal.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.plans.base import IntentPlan, Said
from ecomrlve.agents.plans.bundle import BundlePlan
from ecomrlve.agents.plans.cart import CartPlan
from ecomrlve.agents.plans.discovery import DiscoveryPlan
from ecomrlve.agents.plans.policy import PolicyPlan
from ecomrlve.agents.plans.returns import ReturnPlan
from ecomrlve.agents.plans.status import StatusPlan
from ecomrlve.agents.plans.substitution import SubstitutionPlan
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.protocol import Observation

PLANS: dict[str, type[IntentPlan]] = {
    "E_CART": CartPlan,
    "E_PD": DiscoveryPlan,
    "E_SUB": SubstitutionPlan,
    "E_RETURN": ReturnPlan,
    "E_STATUS": StatusPlan,
    "E_POLICY": PolicyPlan,
    "E_BUNDLE": BundlePlan,
}


def said(episode: Episode) -> tuple[int, str, Said]:
    """The privileged view: which intent is the current one, of which kind, and what was said of it."""
    intent = episode.intents.current
    slots = tuple(slot.public() for slot in intent.ledger.said_slots())
    return intent.index, intent.task.env_id, Said(slots, intent.complete)


class ReferenceAgent:
    """Plays every environment by the reference plan of its task."""

    name = "reference"

    def reset(self, env: Environment) -> None:
        """Forget everything and look at the new episode's said slots from now on."""
        self._episode = env.episode
        self._memory = Memory()
        self._plans: dict[int, IntentPlan] = {}

    def act(self, observation: Observation) -> dict[str, Any]:
        """The next turn."""
        pages = self._memory.read(observation)
        index, env_id, view = self._said()
        if index not in self._plans:
            self._plans[index] = PLANS[env_id](self._memory)
        return self._plans[index].take_turn(observation, view, pages)

    def _said(self) -> tuple[int, str, Said]:
        return said(self._episode)
