"""Agents without any privilege, as floors to compare with."""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.memory import Memory
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.streams import Stream

WORDS = ("charger", "lamp", "blue", "tent", "shoe", "mug", "under 20 dollars", "gift")
SENTENCES = ("What would you like?", "Is there anything else?", "Here is what I found.", "Which size do you need?")


class RandomAgent:
    """Calls random offered tools with arguments of the right types, talks, and answers at some point.

    Args:
        name: Also the key of its random stream, together with the episode's seed.
        trial: Another stream for each repetition of an episode.
    """

    def __init__(self, name: str = "random", trial: int = 0):
        self.name = name
        self._trial = (trial,) if trial else ()

    def reset(self, env: Environment) -> None:
        """Start a stream for the episode."""
        self._stream = Stream("agent", self.name, env.episode.seed, *self._trial)
        self._memory = Memory()

    def act(self, observation: Observation) -> dict[str, Any]:
        """One to three random calls, a random sentence, and an answer with growing probability."""
        self._memory.read(observation)
        stream = self._stream
        schemas = [
            s["function"] for s in observation.tools if s["function"]["name"] not in ("ask_user", "submit_answer")
        ]
        calls = []
        for _ in range(1 + stream.integer(3)):
            schema = stream.choice(schemas)
            calls.append({"name": schema["name"], "args": self._arguments(schema["parameters"])})
        action: dict[str, Any] = {"tool_calls": calls}
        if stream.chance(0.5):
            action["assistant_message"] = stream.choice(SENTENCES)
        if observation.turns_left <= 1 or stream.chance(0.15):
            action["answer"] = {"done": True}
            if "recommended_product_ids" in observation.answer_fields:
                ids = sorted(self._memory.hits)
                action["answer"]["recommended_product_ids"] = stream.sample(ids, observation.list_size)
        return action

    def _arguments(self, schema: dict[str, Any]) -> dict[str, Any]:
        required = schema.get("required", [])
        chosen = {n: p for n, p in schema["properties"].items() if n in required or self._stream.chance(0.3)}
        return {name: self._value(name, part) for name, part in chosen.items()}

    def _value(self, name: str, schema: dict[str, Any]) -> Any:
        stream = self._stream
        products = sorted(self._memory.hits) or ["p0000000"]
        if "enum" in schema:
            return stream.choice(schema["enum"])
        if name == "variant_id":
            variants = [v["variant_id"] for found in self._memory.variants.values() for v in found]
            return stream.choice(variants or ["v0000000"])
        if schema.get("type") == "integer":
            return stream.integer(5)
        if schema.get("type") == "array":
            return stream.sample(products, 3)
        if schema.get("type") == "object":
            return stream.choice([{}, {"price": {"le": 30}}, {"no_such_key": 1}, {"in_stock": True}])
        return stream.choice(products) if name.endswith("_id") else stream.choice(WORDS)
