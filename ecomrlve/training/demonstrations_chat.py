"""From the record of an episode to a demonstration: the chat of a model that takes the same turns.

The turns are taken once more, in the very form in which the model is to learn them, and the chat is made of what comes
back. Nothing else of the record gets into it, so neither the goal nor a forged result can; and a chat whose reward or
customer differs from the record's is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from ecomrlve.agents.chat import Conversation, Message
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import TASKS
from ecomrlve.customer.model_grammar import grammar_of
from ecomrlve.environment import Environment
from ecomrlve.errors import EcomrlveError, InvalidActionError, short
from ecomrlve.protocol import Action, Observation, parse_action
from ecomrlve.replay import first_difference
from ecomrlve.trajectory import described

Talk = Literal["ask_user", "text"]


class Reason(StrEnum):
    """Why a trajectory becomes no demonstration."""

    UNREADABLE = "its line cannot be read"
    NOT_DRAWN = "no such problem can be drawn"
    NO_RECORD = "it lacks what a record has"
    OTHER_AGENT = "another agent played"
    INVALID = "it ends with an invalid output"
    NOT_CORRECT = "it is not correct"
    LOW_TOTAL = "its total is too low"
    FULL = "its cell has enough already"
    OTHER_CATALOG = "it was recorded on another catalog"
    DIFFERS = "it does not replay to what it says"
    NO_ANSWER = "no answer of it was accepted"
    NOT_SAYABLE = "a message of it would be read as something else"
    NOT_STORABLE = "a number in it would be read back as another"
    TOO_LONG = "it is too long"
    REPEATED = "the same chat came before"


class LeftOutError(EcomrlveError):
    """A trajectory that becomes no demonstration.

    Args:
        reason: Which kind of reason it is.
        detail: What exactly, in a sentence.
    """

    def __init__(self, reason: Reason, detail: str = ""):
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One episode as a chat with tools, and what became of it.

    Attributes:
        messages: The chat, as chat templates take it: system, user, assistant and tool messages.
        tools: The tools that were offered, as OpenAI function schemas.
        env_id: The environment.
        difficulty: d.
        seed: The episode's seed.
        overrides: Axis → value, where the episode was started with any.
        total: Its reward.
        correct: Whether it was a success.
        turns: How many turns the agent took.
    """

    messages: list[Message]
    tools: list[dict[str, Any]]
    env_id: str
    difficulty: int
    seed: int
    overrides: dict[str, float]
    total: float
    correct: bool
    turns: int

    @property
    def characters(self) -> int:
        """Length of the chat: all contents and calls, without the tools."""
        calls = (call["function"] for message in self.messages for call in message.get("tool_calls", ()))
        called = sum(len(json.dumps(call, ensure_ascii=False)) for call in calls)
        return called + sum(len(message["content"]) for message in self.messages)


def said_natively(action: Action, talk: Talk) -> Message:
    """An action as the assistant message of a model that calls tools natively.

    Args:
        action: What the agent did.
        talk: How it talks to the customer: by a call of ask_user, so that every turn has a call, or by plain text.
    """
    calls = [(call.name, call.args) for call in action.tool_calls]
    if action.message and talk == "ask_user":
        calls.append(("ask_user", {"question": action.message}))
    if action.answer is not None or action.draft:
        calls.append(("submit_answer", {"done": False} if action.answer is None else action.answer))
    message: Message = {"role": "assistant", "content": action.message if talk == "text" else ""}
    if calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in calls
        ]
    return message


def demonstrate(data: Mapping[str, Any], engine: SearchEngine, talk: Talk = "ask_user") -> Demonstration:
    """Take the turns of a record once more and keep the chat.

    Args:
        data: The record of a finished episode, as `ecomrlve.replay.iter_trajectories` gives it.
        engine: The engine with the catalog that it was recorded on.
        talk: See `said_natively`.

    Raises:
        LeftOutError: The record does not replay, or no answer in it was accepted.
    """
    try:
        env, observation = _started(data, engine)
        chat = Conversation(env.system_prompt("native"), observation.tools)
        chat.hear(observation)
        _expect("opening.text", _text_of(data.get("opening")), env.episode.opening.text)
        for number, step in enumerate(data["steps"]):
            _take_turn(env, chat, step["action"], talk)
            _expect(f"steps[{number}].customer.text", _text_of(step.get("customer")), _said(env))
    except LeftOutError:
        raise
    except InvalidActionError as error:
        raise LeftOutError(Reason.INVALID, str(error)) from error
    except EcomrlveError as error:
        raise LeftOutError(Reason.DIFFERS, str(error)) from error
    return _judged(data, env, chat)


def _started(data: Mapping[str, Any], engine: SearchEngine) -> tuple[Environment, Observation]:
    """The episode of a record at its start."""
    there, here = data["catalog"], described(engine)
    for key in ("fingerprint", "search"):
        if there.get(key) != here[key]:
            raise LeftOutError(Reason.OTHER_CATALOG, f"its {key} is {short(there.get(key))}, here it is {here[key]}")
    if data["env_id"] not in TASKS:
        raise LeftOutError(Reason.DIFFERS, f"there is no environment {short(data['env_id'])}")
    env = Environment((data["env_id"],), engine, grammar_of(data.get("phrasing"), engine.catalog))
    options = {"difficulty": data["difficulty"], "overrides": data["overrides"]}
    return env, env.reset(seed=data["seed"], options=options)[0]


def _take_turn(env: Environment, chat: Conversation, recorded: Any, talk: Talk) -> None:
    action = parse_action(recorded)
    message = said_natively(action, talk)
    if _read_again(message) != action:
        raise LeftOutError(Reason.NOT_SAYABLE, short(action.message))
    observation = env.step(message)[0]
    chat.say(message)
    chat.hear(observation)


def _read_again(message: Message) -> Action | None:
    try:
        return parse_action(message)
    except InvalidActionError:
        return None


def _judged(data: Mapping[str, Any], env: Environment, chat: Conversation) -> Demonstration:
    episode = env.episode
    if episode.reward is None:
        raise LeftOutError(Reason.DIFFERS, "it does not run to an end")
    _expect("reward", data["reward"], json.loads(json.dumps(episode.reward.to_dict())))
    if episode.steps[-1]["canonical"] is None:
        raise LeftOutError(Reason.INVALID, episode.reward.reason)
    if episode.intents.unanswered:
        raise LeftOutError(Reason.NO_ANSWER)
    return Demonstration(
        messages=chat.messages,
        tools=chat.tools,
        env_id=episode.task.env_id,
        difficulty=episode.axes.d,
        seed=episode.seed,
        overrides=dict(data["overrides"]),
        total=episode.reward.total,
        correct=episode.reward.correct,
        turns=episode.turn,
    )


def _said(env: Environment) -> str:
    """What the customer replied to the last turn; empty for nothing."""
    return _text_of(env.episode.steps[-1]["customer"])


def _text_of(said: Any) -> Any:
    return said.get("text") if isinstance(said, Mapping) else ""


def _expect(place: str, stored: Any, replayed: Any) -> None:
    difference = first_difference(stored, replayed, place)
    if difference:
        raise LeftOutError(Reason.DIFFERS, difference)
