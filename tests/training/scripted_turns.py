"""Turns for rollouts in tests: what an agent does, as the tokens that a model would have made of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.training.config import TrainingConfig
from ecomrlve.training.rollouts import Rollout, Turn
from ecomrlve.training.rows import schedule_of
from ecomrlve.training.sampling import BatchSampler

NONSENSE = "<tool_call>\n{nothing}\n</tool_call>"
GOOD, BAD, LONG = "good", "bad", "long"

# Whether a rollout goes well, by the round, its place in the group, and itself.
Choose = Callable[[int, int, Rollout], str]


def hermes(action: dict[str, Any]) -> str:
    """An action as a model of Qwen's family writes it."""
    calls = [(call["name"], call["args"]) for call in action.get("tool_calls", ())]
    if action.get("assistant_message"):
        calls.append(("ask_user", {"question": action["assistant_message"]}))
    if "answer" in action:
        calls.append(("submit_answer", action["answer"]))
    return "\n".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"
        for name, arguments in calls
    )


class Tongue:
    """Writes turns.

    Args:
        tokenizer: The model's.
    """

    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer

    def turn(self, text: str, *, finished: bool = True) -> Turn:
        """A text as a turn."""
        tokens = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Turn(tokens + [self.tokenizer.eos_token_id] * finished)

    def reference(self, rollout: Rollout) -> Turn:
        """The reference agent's next turn."""
        if not hasattr(rollout, "agent"):
            agent = ReferenceAgent()
            agent.reset(rollout.env)
            rollout.agent = agent  # type: ignore[attr-defined]
        return self.turn(hermes(rollout.agent.act(rollout.observation)))  # type: ignore[attr-defined]

    def player(
        self, rollouts: Sequence[Rollout], choose: Callable[[int, Rollout], Turn]
    ) -> Callable[[Sequence[list[int]], int], list[Turn]]:
        """What generates the turns of these rollouts.

        Args:
            rollouts: All of them, in the order in which they are played.
            choose: Gives the turn of a rollout, by its place and itself.
        """

        def generate(prompts: Sequence[list[int]], places: int) -> list[Turn]:
            running = [(place, rollout) for place, rollout in enumerate(rollouts) if not rollout.over]
            assert [[*rollout.prompt, *rollout.tokens] for _, rollout in running] == list(prompts)
            assert places >= len(prompts)
            return [choose(place, rollout) for place, rollout in running]

        return generate


class Watched(BatchSampler):
    """A sampler whose rollouts a test can see, and whose turns it writes.

    Args:
        choose: Whether a rollout goes well, by the round, its place in the batch, and itself.
    """

    def __init__(self, config: TrainingConfig, engine: Any, chats: Any, tongue: Tongue, choose: Choose, processes: Any):
        super().__init__(config, engine, chats, schedule_of(config), processes)
        self.config = config
        self.made: list[tuple[int, int, Rollout]] = []
        self.tongue, self.choose = tongue, choose
        self._round = 0

    def _rollout(self, step: int, number: int) -> Rollout:
        made = super()._rollout(step, number)
        self.made.append((number // self.config.prompts_per_batch, number, made))
        return made

    def generate(self, prompts: Sequence[list[int]], places: int) -> list[Turn]:
        running = [entry for entry in self.made if not entry[2].over]
        assert len(running) == len(prompts)
        return [self._turn(*entry) for entry in running]

    def _turn(self, around: int, number: int, one: Rollout) -> Turn:
        group = [entry[2] for entry in self.made if entry[:2] == (around, number)]
        return {
            GOOD: lambda: self.tongue.reference(one),
            BAD: lambda: self.tongue.turn(NONSENSE),
            LONG: lambda: self.tongue.turn("Well", finished=False),
        }[self.choose(around, group.index(one), one)]()
