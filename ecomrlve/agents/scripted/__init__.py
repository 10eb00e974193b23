"""The scripted agent: plays every environment by keywords and numbers, from what any agent sees.

It is a floor to compare with: no learning, no language model, no privilege and no randomness.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.agents.scripted.reading import Speller
from ecomrlve.agents.scripted.subjects import Subjects
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation

__all__ = ["ScriptedAgent"]


class ScriptedAgent:
    """Plays by simple rules from the observations alone.

    Attributes:
        subjects: What the customer of the episode is after, as the agent understood it.
    """

    name = "scripted"

    def reset(self, env: Environment) -> None:
        """Forget everything. The environment is not looked at."""
        self._memory = Memory()
        self.subjects = Subjects(self._memory, Speller())

    def act(self, observation: Observation) -> dict[str, Any]:
        """The next turn in the matter at hand.

        Args:
            observation: What any agent gets.

        Returns:
            A canonical action.
        """
        self._memory.read(observation)
        return self.subjects.take_turn(observation)
