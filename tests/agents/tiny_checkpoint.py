"""Helpers for tests with a checkpoint: the tiny model, a model that says what a script says, and episodes in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.base import Players, notes_of
from ecomrlve.agents.checkpoint_chats import ChatTokenizer
from ecomrlve.agents.checkpoint_model import Checkpoint
from ecomrlve.agents.tiny_model import build, default_folder
from ecomrlve.environment import Environment

Cell = tuple[str, int, int, int]  # environment, difficulty, seed, trial


@dataclass
class Played:
    """One finished episode: the actions, the record, and what the agent noted."""

    actions: list[Any]
    record: dict[str, Any]
    notes: dict[str, Any]


def play_in_step(players: Players, engine: Any, cells: Sequence[Cell]) -> list[Played]:
    """Play episodes at the same time, as an evaluation does."""
    envs, agents, observations = [], [], []
    for env_id, difficulty, seed, trial in cells:
        env = Environment((env_id,), engine)
        observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        agent = players.player(trial)
        agent.reset(env)
        envs.append(env)
        agents.append(agent)
        observations.append(observation)
    actions: list[list[Any]] = [[] for _ in cells]
    running = list(range(len(cells)))
    while running:
        chosen = players.act([agents[n] for n in running], [observations[n] for n in running])
        for number, action in zip(running, chosen, strict=True):
            actions[number].append(action)
            observations[number] = envs[number].step(action)[0]
        running = [number for number in running if not envs[number].episode.over]
    return [
        Played(said, env.trajectory(agent.name).to_dict(), notes_of(agent))
        for said, env, agent in zip(actions, envs, agents, strict=True)
    ]


class ScriptedModel:
    """Stands in for a causal language model: it puts out the tokens of what `script` answers to a prompt.

    Args:
        like: A real checkpoint, for its configuration and tokenizer.
        script: Prompt → answer, as texts; the end token is added.
    """

    def __init__(self, like: Checkpoint, script: Callable[[str], str]):
        self.device = "cpu"
        self.config = like.model.config
        self.generation_config = like.model.generation_config
        self.prompts: list[str] = []
        self.batches: list[int] = []
        self._tokenizer = like.chats.tokenizer
        self._script = script

    def generate(self, input_ids: Any, attention_mask: Any, generation_config: Any, logits_processor: Any) -> Any:
        """What transformers' `generate` gives: the prompts with the answers, filled up on the right."""
        import torch

        self.batches.append(len(input_ids))
        answers = []
        for row, mask in zip(input_ids.tolist(), attention_mask.tolist(), strict=True):
            prompt = self._tokenizer.decode([token for token, real in zip(row, mask, strict=True) if real])
            self.prompts.append(prompt)
            answer = self._tokenizer(self._script(prompt) + self._tokenizer.eos_token)["input_ids"]
            answers.append(answer[: generation_config.max_new_tokens])
        longest = max(map(len, answers))
        padded = [answer + [self._tokenizer.pad_token_id] * (longest - len(answer)) for answer in answers]
        return torch.cat([input_ids, torch.tensor(padded)], dim=1)


def tiny() -> Checkpoint:
    """The tiny model, loaded anew, so that a test may change it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = build(default_folder())
    model = AutoModelForCausalLM.from_pretrained(folder)
    return Checkpoint(ChatTokenizer(AutoTokenizer.from_pretrained(folder), model.config), model)


def scripted(script: Callable[[str], str], template_end: str = "") -> Checkpoint:
    """A checkpoint whose model follows a script.

    Args:
        script: Prompt → answer.
        template_end: Added to the chat template, for templates that begin the answer.
    """
    real = tiny()
    real.chats.tokenizer.chat_template += template_end
    return Checkpoint(real.chats, ScriptedModel(real, script))
