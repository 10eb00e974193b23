"""An agent that is a language model of transformers: ``checkpoint:FOLDER``, ``checkpoint:HUB/ID``, with options.

The chat template tells the model of the tools, and the model's text is the action: Qwen3 and others that write Hermes'
``<tool_call>`` blocks play as they are. For a model that writes calls in another way, or has no template for tools, say
``dialect=json`` or ``dialect=hermes``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ecomrlve.agents.base import no_answer
from ecomrlve.agents.chat import ContextError, Conversation, assistant_message, split_thought
from ecomrlve.agents.checkpoint_chats import ChatTokenizer, CheckpointError, TemplateError, out_of_memory
from ecomrlve.agents.checkpoint_model import Answer, Checkpoint, load, load_chats
from ecomrlve.agents.checkpoint_sampling import KeyedChooser
from ecomrlve.agents.past_turns import past_message
from ecomrlve.agents.tiny_model import TINY
from ecomrlve.environment import Environment
from ecomrlve.prompts import Dialect
from ecomrlve.protocol import Observation
from ecomrlve.streams import key_of


class CheckpointOptions(BaseModel):
    """How a checkpoint plays.

    Attributes:
        thinking: Let it think first, where its template knows of that.
        temperature: How freely it chooses; 0 for the likeliest token always.
        top_p: Choose among the likeliest tokens that have this probability together.
        top_k: Choose among that many likeliest tokens; 0 for all.
        max_new_tokens: Longest answer, thoughts included.
        context: Most tokens of prompt and answer together; None for what model and tokenizer say.
        dtype: ``auto`` (as stored), ``float32``, ``bfloat16`` or ``float16``.
        device: As torch names it; None for cuda, else mps, else cpu.
        batch: Most episodes that are answered at once.
        dialect: How it is told to write its actions.
        revision: Branch, tag or commit on the Hub.
        seed: Another one gives other choices where the temperature is above 0.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    thinking: bool = False
    temperature: float = Field(default=0.0, ge=0.0, le=10.0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    top_k: int = Field(default=0, ge=0)
    max_new_tokens: int = Field(default=512, ge=1, le=100_000)
    context: int | None = Field(default=None, ge=2)
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str | None = None
    batch: int = Field(default=8, ge=1, le=4096)
    dialect: Dialect = "native"
    revision: str | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a model gave no answer."""

    reason: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is to answer.

    Attributes:
        prompt: The tokens of the chat.
        key: Of the random stream for choosing the answer's tokens.
    """

    prompt: list[int]
    key: int


class CheckpointPlayer:
    """Plays one episode with a model that others use as well; see `CheckpointPlayers.player`.

    Args:
        players: Whose model it is.
        trial: Tells repetitions of one episode apart.
    """

    def __init__(self, players: CheckpointPlayers, trial: int):
        self.name = players.name
        self._players = players
        self._trial = trial
        self._key: tuple[object, ...] = ()
        self._start("")

    def _start(self, system: str) -> None:
        self.chat = Conversation(system)
        self._counts = dict.fromkeys(("requests", "prompt_tokens", "completion_tokens", "cut_off"), 0)
        self._problems: list[str] = []
        self._failed = ""

    def reset(self, env: Environment) -> None:
        """See `Agent.reset`. Of the episode only its public name is read: environment, difficulty and seed."""
        episode = env.episode
        options = self._players.options
        self._key = (options.seed, episode.task.env_id, episode.axes.d, episode.seed, self._trial)
        self._start(env.system_prompt(options.dialect))

    def act(self, observation: Observation) -> Any:
        """See `Agent.act`."""
        return self._players.act([self], [observation])[0]

    def follow(self, observation: Observation, action: Any) -> None:
        """Take in a turn that was taken already, by whomever, without asking the model.

        Args:
            observation: What came before the turn.
            action: What was given to the environment.
        """
        self._hear(observation)
        message = past_message(action, self._players.options.dialect)
        if message is not None:
            self.chat.say(message)

    def _hear(self, observation: Observation) -> None:
        native = self._players.options.dialect == "native"
        self.chat.tools = list(observation.tools) if native else []
        self.chat.hear(observation)

    def notes(self) -> dict[str, Any]:
        """What happened in the episode; only what did happen.

        Returns:
            ``requests`` (answers of the model), ``prompt_tokens``, ``completion_tokens``, ``cut_off`` (answers that
            were not finished within their limit), ``dropped_results`` and ``dropped_turns`` (left out so that the chat
            fits), ``problems`` (texts), and ``failed`` (why there was no answer, which ended the episode).
        """
        dropped = {"dropped_results": self.chat.dropped_results, "dropped_turns": self.chat.dropped_turns}
        notes: dict[str, Any] = {**self._counts, **dropped, "problems": self._problems, "failed": self._failed}
        return {name: value for name, value in notes.items() if value}

    def request(self, observation: Observation, chats: ChatTokenizer, most: int) -> Request | Failure:
        """Take in an observation; returns what to ask the model for.

        Args:
            observation: What came since the last turn.
            chats: Makes the chat's tokens.
            most: Most tokens that the prompt may have.
        """
        options = self._players.options
        chat = self.chat
        self._hear(observation)
        prompt: list[int] = []

        def count(messages: list[dict[str, Any]]) -> int:
            prompt[:] = chats.prompt(messages, chat.tools, thinking=options.thinking)
            return len(prompt)

        try:
            chat.fit(most, count)
        except ContextError:
            room = f"{most + options.max_new_tokens} tokens, {options.max_new_tokens} of them for the answer"
            return Failure(f"the chat does not fit the context of {room}")
        except TemplateError as error:
            return Failure(f"the chat template fails: {error}")
        self._counts["requests"] += 1
        self._counts["prompt_tokens"] += len(prompt)
        return Request(prompt, key_of("checkpoint", *self._key, observation.turn))

    def action(self, outcome: Answer | Failure) -> Any:
        """Note what the model put out, or why it did not; returns it as an action."""
        if isinstance(outcome, Failure):
            self._failed = outcome.reason
            return no_answer(outcome.reason)
        self._counts["completion_tokens"] += outcome.tokens
        self._counts["cut_off"] += outcome.cut_off
        if self.chat.tools:
            self.chat.say(assistant_message(outcome.text))
        else:
            self.chat.say({"content": split_thought(outcome.text)[1]})
        return outcome.text

    def trouble(self, what: str) -> None:
        """Note something that went wrong and was got over."""
        self._problems.append(what)


class CheckpointPlayers:
    """`Players` over one checkpoint, which is loaded at first use.

    What an episode is answered depends on the episode, the trial and the option ``seed`` alone, and not on the episodes
    that are answered beside it or the order. Rounding sets a limit to that: matrices of other shapes may be multiplied
    in another order, so that two tokens of almost equal score may change places; in float32 that is very rare, in
    bfloat16 it is not.

    Args:
        name: The agent's whole name, as it was given.
        checkpoint: A folder, a model's id on the Hub, or ``tiny-random``.
        options: How it plays.
    """

    threads = False
    model = True

    def __init__(self, name: str, checkpoint: str, options: CheckpointOptions | None = None):
        self.name = name
        self.options = options or CheckpointOptions()
        self.width = self.options.batch
        self._checkpoint = checkpoint
        self._at_once = self.width
        self._model: Checkpoint | None = None
        self._most = 0
        self._lock = threading.Lock()

    def check(self) -> None:
        """See that the checkpoint can play, as far as can be told without its weights.

        These are left to whoever plays, for worker processes may be forked in between: what a device or a thread holds
        does not outlive that.

        Raises:
            CheckpointError: It cannot be loaded, its template lacks something, or there is no room for a chat.
        """
        if self._checkpoint != TINY:  # which would have to be built first
            self._room(load_chats(self._checkpoint, self.options.revision))

    def player(self, trial: int = 0) -> CheckpointPlayer:
        """See `Players.player`."""
        return CheckpointPlayer(self, trial)

    def act(self, players: Sequence[Any], observations: Sequence[Observation]) -> list[Any]:
        """See `Players.act`.

        Raises:
            CheckpointError: As `check`.
        """
        with self._lock:
            model, most = self._ready()
            requests = [
                player.request(observation, model.chats, most)
                for player, observation in zip(players, observations, strict=True)
            ]
            asked = [pair for pair in zip(players, requests, strict=True) if isinstance(pair[1], Request)]
            answers = iter(self._answers(model, asked))
            return [
                player.action(next(answers) if isinstance(request, Request) else request)
                for player, request in zip(players, requests, strict=True)
            ]

    def _ready(self) -> tuple[Checkpoint, int]:
        """The model, and the most tokens that a prompt may have."""
        options = self.options
        if self._model is None:
            model = load(self._checkpoint, revision=options.revision, dtype=options.dtype, device=options.device)
            self._most = self._room(model.chats)
            self._model = model
        return self._model, self._most

    def _room(self, chats: ChatTokenizer) -> int:
        """The most tokens that a prompt may have, for a checkpoint that can play."""
        most = self.options.max_new_tokens
        context = self.options.context or chats.context
        try:
            chats.check(native=self.options.dialect == "native")
        except CheckpointError as error:
            raise CheckpointError(f"the checkpoint {self._checkpoint!r} cannot play: {error}") from error
        if context is None:
            raise CheckpointError(
                f"the checkpoint {self._checkpoint!r} does not say how long its context is; say context=…"
            )
        if context <= most:
            raise CheckpointError(
                f"the checkpoint {self._checkpoint!r} has a context of {context} tokens, "
                f"which leaves no room for a chat beside max_new_tokens={most}"
            )
        return context - most

    def _answers(
        self, model: Checkpoint, requests: Sequence[tuple[CheckpointPlayer, Request]]
    ) -> list[Answer | Failure]:
        """The answers in the order of the requests; as many at once as memory allows."""
        # Chats of similar length together: what is shorter than the longest is filled up.
        waiting = sorted(range(len(requests)), key=lambda number: len(requests[number][1].prompt))
        answers: dict[int, Answer | Failure] = {}
        while waiting:
            now = waiting[: self._at_once]
            found = self._generate(model, [requests[number][1] for number in now])
            if found is None:
                self._make_room([requests[number][0] for number in now])
                if len(now) > 1:
                    continue
                answers[now[0]] = Failure("memory ran out")
            else:
                answers |= zip(now, found, strict=True)
            del waiting[: len(now)]
        return [answers[number] for number in range(len(requests))]

    def _generate(self, model: Checkpoint, requests: Sequence[Request]) -> list[Answer] | None:
        """The answers to requests that are put to the model together; None if memory ran out."""
        options = self.options
        chooser = None
        if options.temperature > 0:
            keys = [request.key for request in requests]
            chooser = KeyedChooser(keys, temperature=options.temperature, top_k=options.top_k, top_p=options.top_p)
        try:
            return model.generate([request.prompt for request in requests], options.max_new_tokens, chooser)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            return None

    def _make_room(self, players: Sequence[CheckpointPlayer]) -> None:
        """After memory ran out for the chats of these players: fewer at a time from now on."""
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self._at_once = max(1, len(players) // 2)
        for player in players:
            player.trouble(f"memory ran out for {len(players)} chats at a time")
