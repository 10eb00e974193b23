"""What an agent says to the shop and what it gets back: `Action`, `Observation`, and the reading of raw output.

An agent may write canonical JSON, Hermes/Qwen text with ``<tool_call>`` blocks, an OpenAI chat message, or plain prose.
`parse_action` turns each into the same `Action`, or says in one sentence why it is none. Whether a tool exists and its
arguments fit is not decided here, with one exception: `ask_user` and `submit_answer` are only other ways to write the
message and the answer, so they vanish into them.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from ecomrlve.errors import InvalidActionError
from ecomrlve.strict_json import MAX_LIST, Copier, canonical_text, check_size, decode_object, short

# The first of each group is the canonical name, the others are read as well.
MESSAGE_KEYS = ("assistant_message", "message", "content")
ARGUMENT_KEYS = ("args", "arguments")
KNOWN_KEYS = frozenset((*MESSAGE_KEYS, "tool_calls", "answer"))
NOT_TOOLS = ("ask_user", "submit_answer")

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_THINK, _THOUGHT = "<think>", "</think>"
# Where something that is not prose may start. Prose has braces too, but hardly ever a brace before a quoted word.
_START = re.compile(r'<tool_call>|\{(?=\s*")')
_BROKEN = re.compile(r'\{\s*"(?:' + "|".join(sorted(KNOWN_KEYS)) + r')"\s*:')
_SPACE = re.compile(r"\s*")
_FENCE = re.compile(r"```\w*\s*")
_LIST = re.compile(r"\[\s*[\[{]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        name: The tool's name, with underscores.
        args: Its arguments by name.
    """

    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """One turn of an agent.

    Attributes:
        message: What the customer is told or asked, without outer whitespace; "" for nothing.
        tool_calls: The calls in the order in which they run.
        answer: The fields of the answer without ``done`` (so `{}` is an answer), or None where none is given.
        draft: The action holds nothing but an answer with ``done: false``, which is ignored: a turn passes.
    """

    message: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answer: dict[str, Any] | None = None
    draft: bool = False

    def canonical(self) -> dict[str, Any]:
        """The canonical JSON object, with only those keys that say something."""
        result: dict[str, Any] = {}
        if self.message:
            result["assistant_message"] = self.message
        if self.tool_calls:
            result["tool_calls"] = [{"name": call.name, "args": call.args} for call in self.tool_calls]
        if self.answer is not None:
            result["answer"] = {**self.answer, "done": True}
        elif self.draft:
            result["answer"] = {"done": False}
        return result


def parse_action(raw: object) -> Action:
    """Read what an agent put out.

    The result shares nothing with `raw`, and reading it again, or its canonical JSON, gives an equal action.

    Args:
        raw: An `Action`, a dict (canonical or an OpenAI chat message), or text in any dialect.

    Raises:
        InvalidActionError: It is not an action; the message says why.
    """
    reader = _Reader()
    if isinstance(raw, Action):
        answer = {"done": False} if raw.draft and raw.answer is None else raw.answer
        raw = {"assistant_message": raw.message, "tool_calls": raw.tool_calls, "answer": answer}
    if isinstance(raw, str):
        reader.read_text(raw)
    elif isinstance(raw, dict):
        reader.read_object(raw)
    else:
        raise InvalidActionError(f"an action is text or a JSON object, not {type(raw).__name__}")
    return reader.action()


class _Reader:
    """Gathers message, calls and answer from whatever dialect they come in, within the limits."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.calls: list[ToolCall] = []
        self.answers: list[dict[str, Any]] = []
        self.draft = False
        self.copier = Copier()

    def action(self) -> Action:
        if len(self.answers) > 1:
            raise InvalidActionError("there is more than one answer")
        if len(self.calls) > MAX_LIST:
            raise InvalidActionError(f"there are more than {MAX_LIST} tool calls")
        message = "\n".join(self.messages)
        answer = self.answers[0] if self.answers else None
        nothing = not message and not self.calls and answer is None
        if nothing and not self.draft:
            raise InvalidActionError("the action is empty: it has no message, no tool call and no answer")
        return Action(message, tuple(self.calls), answer, draft=nothing)

    def read_text(self, text: str) -> None:
        text = _without_thinking(text.strip())
        check_size(text)
        if _LIST.match(text):
            raise InvalidActionError("an action is one JSON object, not a list")
        fence = _FENCE.match(text)
        start = fence.end() if fence else 0
        prose: list[str] = []
        objects: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        ends: dict[int, int | None] = {}
        position = taken = 0
        if fence or text.startswith("{"):
            first = decode_object(text, start) if text.startswith("{", start) else None
            if first is None:
                raise InvalidActionError("the text begins as JSON, but no whole JSON object can be read from it")
            objects.append(first[0])
            position = taken = first[1]
        while match := _START.search(text, position):
            if match.group() == _OPEN:
                call, end = _decode_block(text, match.end())
                prose.append(text[taken : match.start()])
                calls.append(call)
                position = taken = end
                continue
            found = decode_object(text, match.start(), ends)
            if found is None:
                if _BROKEN.match(text, match.start()):
                    raise InvalidActionError("a JSON object in the text cannot be read")
                position = match.end()
                continue
            position = found[1]
            if not KNOWN_KEYS.isdisjoint(found[0]):
                objects.append(found[0])
        prose.append(text[taken:])
        if any(canonical_text(other) != canonical_text(objects[0]) for other in objects[1:]):
            raise InvalidActionError("the text holds two different JSON objects, an action is one")
        if objects:
            self.read_object(objects[0])
        else:
            self.read_message("\n".join(part.strip() for part in prose if part.strip()))
        for call in calls:
            self.read_call(call)

    def read_object(self, raw: dict[Any, Any]) -> None:
        if any(not isinstance(key, str) for key in raw):
            raise InvalidActionError("the keys of an object must be strings")
        if KNOWN_KEYS.isdisjoint(raw):
            raise InvalidActionError("the object has none of the keys assistant_message, tool_calls, answer")
        role = raw.get("role")
        chat = isinstance(role, str) and role == "assistant"
        messages = [(key, raw[key]) for key in MESSAGE_KEYS if raw.get(key) is not None]
        if any(not isinstance(text, str) for _, text in messages):
            raise InvalidActionError("assistant_message must be a string")
        messages = [(key, text) for key, text in messages if text.strip()]
        if len({text.strip() for _, text in messages}) > 1:
            raise InvalidActionError("there are two different messages")
        if messages:
            key, text = messages[0]
            # What a model puts in a chat message's content is its raw text: it may think aloud or write JSON there.
            if chat and key == "content":
                self.read_text(text)
            else:
                self.read_message(text)
        calls = raw.get("tool_calls")
        if calls is not None and not isinstance(calls, list | tuple):
            raise InvalidActionError("tool_calls must be a list")
        if calls is not None and len(calls) > MAX_LIST:
            raise InvalidActionError(f"there are more than {MAX_LIST} tool calls")
        for call in calls or ():
            self.read_call(call)
        if raw.get("answer") is not None:
            self.read_answer(raw["answer"])

    def read_message(self, text: str) -> None:
        text = self.copier.copy(text, 1).strip()
        if text:
            self.messages.append(text)

    def read_call(self, raw: object) -> None:
        if isinstance(raw, ToolCall):
            raw = {"name": raw.name, "args": raw.args}
        if isinstance(raw, dict) and "function" in raw:  # OpenAI's wrapping
            raw = raw["function"]
        if not isinstance(raw, dict):
            raise InvalidActionError("a tool call must be an object with name and args")
        name = raw.get("name")
        if not isinstance(name, str) or not name.strip():
            raise InvalidActionError("a tool call has no name")
        name = self.copier.copy(name, 4).strip().replace(".", "_")
        given = [self.read_args(raw[key], name) for key in ARGUMENT_KEYS if raw.get(key) is not None]
        if len(given) == 2 and canonical_text(given[0]) != canonical_text(given[1]):
            raise InvalidActionError(f"the call of {short(name)} has two different sets of arguments")
        args = given[0] if given else {}
        if name == "ask_user":
            if set(args) != {"question"} or not isinstance(args["question"], str):
                raise InvalidActionError("ask_user takes exactly one argument: question, a string")
            self.messages.extend(filter(None, [args["question"].strip()]))
        elif name == "submit_answer":
            self.read_answer(args)
        else:
            self.calls.append(ToolCall(name, args))

    def read_args(self, raw: object, name: str) -> dict[str, Any]:
        if isinstance(raw, str):
            text = raw.strip()
            check_size(text)
            found = decode_object(text, 0) if text.startswith("{") else ({}, 0)
            if found is None or found[1] != len(text):
                raise InvalidActionError(f"the arguments of {short(name)} are not a JSON object")
            raw = found[0]
        if not isinstance(raw, dict):
            raise InvalidActionError(f"the arguments of {short(name)} must be an object")
        return self.copier.copy(raw, 4)

    def read_answer(self, raw: object) -> None:
        if not isinstance(raw, dict):
            raise InvalidActionError("answer must be an object")
        answer = self.copier.copy(raw, 2)
        done = answer.pop("done", True)
        if not isinstance(done, bool):
            raise InvalidActionError("answer.done must be true or false")
        if done:
            self.answers.append(answer)
        else:
            self.draft = True


def _without_thinking(text: str) -> str:
    """The text after a leading block of thought, which counts towards no limit."""
    if not text.startswith(_THINK):
        return text
    end = text.find(_THOUGHT)
    if end < 0:
        raise InvalidActionError("the text begins with <think>, and </think> never comes")
    return text[end + len(_THOUGHT) :].strip()


def _decode_block(text: str, start: int) -> tuple[dict[str, Any], int]:
    """The object of a ``<tool_call>`` block and the place after the block."""
    start = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # it matches anywhere
    found = decode_object(text, start) if text.startswith("{", start) else None
    if found is None:
        raise InvalidActionError("a <tool_call> does not hold a JSON object that can be read")
    call, end = found[0], _SPACE.match(text, found[1]).end()  # type: ignore[union-attr]
    if not text.startswith(_CLOSE, end):
        raise InvalidActionError("a <tool_call> is not closed after its JSON object")
    return call, end + len(_CLOSE)


@dataclass(frozen=True, slots=True)
class Observation:
    """All that an agent gets to know at the start of a turn.

    Attributes:
        messages: What came since the last observation, in order: ``{"role": "customer", "content": str}`` and
            ``{"role": "tool", "name": str, "args": dict, "result": dict}``.
        turn: Turns taken so far.
        turns_left: Turns that may still be taken.
        intent_turns_left: Those of them that are meant for what the customer is after now; fewer only in a journey.
        tool_budget: Tool calls that one turn may hold.
        search_depth: Most results that one page of a search may hold.
        list_size: Longest list of recommendations that is scored.
        today: The date in the shop (ISO).
        env_id: The environment.
        tools: The offered tools as OpenAI function schemas.
        answer_fields: The properties of the answer as JSON schema.
    """

    messages: tuple[dict[str, Any], ...]
    turn: int
    turns_left: int
    intent_turns_left: int
    tool_budget: int
    search_depth: int
    list_size: int
    today: str
    env_id: str
    tools: tuple[dict[str, Any], ...]
    answer_fields: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """A deep copy that is ready for JSON."""
        values = asdict(self)
        return {**values, "messages": list(values["messages"]), "tools": list(values["tools"])}

    def to_json(self) -> bytes:
        """The canonical bytes: equal observations have equal bytes."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode()

    def as_chat(self) -> list[dict[str, str]]:
        """The messages in the form that chat templates and OpenAI-compatible servers take."""
        chat = []
        for message in self.messages:
            if message["role"] == "tool":
                content = json.dumps(message["result"], ensure_ascii=False)
                chat.append({"role": "tool", "name": message["name"], "content": content})
            else:
                chat.append({"role": "user", "content": message["content"]})
        return chat
