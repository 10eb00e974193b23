"""An episode as the chat that a language model is shown: who said what, which calls were made, what they returned.

The chat is in the form that chat templates and OpenAI-compatible servers share: ``system``, ``user`` (the customer),
``assistant`` and ``tool`` messages. What the customer says to a call of ask_user or submit_answer is that call's
result, so that every call has one. The last message of a turn ends with the turns that are left, which nobody could
know else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ecomrlve.errors import EcomrlveError, InvalidActionError
from ecomrlve.protocol import ARGUMENT_KEYS, NOT_TOOLS, Observation
from ecomrlve.strict_json import decode_object

THOUGHT = ("<think>", "</think>")
CALL = ("<tool_call>", "</tool_call>")
DROPPED = '{"note": "This result was dropped to save space; call the tool again if you need it."}'
NO_REPLY = "(no reply)"

Message = dict[str, Any]
Counter = Callable[[list[Message]], int]


class ContextError(EcomrlveError, ValueError):
    """A chat that does not fit a model's context, whatever is left out of it."""


class Conversation:
    """The chat of one episode so far.

    Args:
        system: The system message.
        tools: The offered tools as OpenAI function schemas; for chat templates and servers that take them.

    Attributes:
        messages: The chat, oldest first. Calls have ids, ``call00001`` and so on (Mistral's templates insist on nine
            letters and digits), and their arguments as objects.
        dropped_results: Tool results that were left out so that the chat fits.
        dropped_turns: Whole turns that were left out.
    """

    def __init__(self, system: str, tools: Sequence[dict[str, Any]] = ()):
        self.messages: list[Message] = [{"role": "system", "content": system}]
        self.tools = list(tools)
        self.dropped_results = self.dropped_turns = 0
        self._calls = 0
        self._open: list[tuple[str, str]] = []
        # Results that may be left out, oldest first, with the messages that they stand in; and those that came last.
        self._old_results: list[tuple[Message, str]] = []
        self._new_results: list[tuple[Message, str]] = []

    def hear(self, observation: Observation) -> None:
        """Add what came since the last turn."""
        self._old_results += self._new_results
        self._new_results = []
        results = [message for message in observation.messages if message["role"] == "tool"]
        said = "\n".join(message["content"] for message in observation.messages if message["role"] == "customer")
        calls, self._open = self._open, []
        spoken = [identifier for identifier, name in calls if name in NOT_TOOLS]
        # Calls that stood as JSON in the text have no id, so their results come as text too. They ran before the rest.
        in_text = max(0, len(results) - (len(calls) - len(spoken)))
        texts = [_text(result) for result in results]
        returned = iter(texts[in_text:])
        for identifier, name in calls:
            if name not in NOT_TOOLS:
                text = next(returned, NO_REPLY)
                self._add(_tool_message(identifier, name, text), [text])
            else:
                heard = said if identifier == spoken[-1] else ""
                self._add(_tool_message(identifier, name, heard or NO_REPLY), [])
        lines = [f"Result of {result['name']}: {text}" for result, text in zip(results[:in_text], texts, strict=False)]
        if said and not spoken:
            lines.append(f"Customer: {said}" if lines else said)
        if lines or not calls:
            self._add({"role": "user", "content": "\n".join(lines)}, texts[:in_text])
        last = self.messages[-1]
        last["content"] = f"{last['content']}\n{_turns(observation)}".strip()

    def say(self, message: Message) -> None:
        """Add what the model put out.

        Args:
            message: An assistant message: ``content`` (a text or None) and maybe ``tool_calls`` in OpenAI's form, with
                arguments as an object or as JSON text. Thoughts (``reasoning_content``) are not kept.
        """
        content, called = message.get("content"), message.get("tool_calls")
        said: Message = {"role": "assistant", "content": content if isinstance(content, str) else ""}
        calls = []
        for call in called if isinstance(called, list | tuple) else ():
            self._calls += 1
            identifier = f"call{self._calls:05}"
            name, arguments = _called(call)
            self._open.append((identifier, name))
            function = {"name": name, "arguments": arguments}
            calls.append({"id": identifier, "type": "function", "function": function})
        if calls:
            said["tool_calls"] = calls
        self.messages.append(said)

    def fit(self, limit: int, count: Counter) -> int:
        """Leave out what is oldest until the chat fits: first tool results, then whole turns; for good.

        To be called after `hear`. The system message, the opening, and the last turn with what came of it always stay.

        Args:
            limit: Most tokens that the chat may have.
            count: Gives the tokens of a chat; what it is called with last is the chat that is left.

        Returns:
            The tokens of the chat that is left.

        Raises:
            ContextError: Even the shortest chat is too long.
        """
        while (tokens := count(self.messages)) > limit:
            # Counting is slow, so several parts go at a time: until half of what is too much is gone, as far as
            # characters tell. The rest is a smaller matter for the next round.
            surplus = (tokens - limit) / tokens * (_size(self.messages) + _size(self.tools))
            freed = 0
            while freed <= surplus / 2 and (more := self._leave_out_result() or self._leave_out_turn()):
                freed += more
            if not freed:
                raise ContextError(f"the chat has {tokens} tokens at its shortest; the model takes {limit} at most")
        return tokens

    def _add(self, message: Message, results: Sequence[str]) -> None:
        self.messages.append(message)
        self._new_results += [(message, text) for text in results if len(text) > len(DROPPED)]

    def _leave_out_result(self) -> int:
        """Leave out the oldest result that did not come just now; returns the characters saved, 0 if there is none."""
        if not self._old_results:
            return 0
        message, text = self._old_results.pop(0)
        message["content"] = message["content"].replace(text, DROPPED, 1)
        self.dropped_results += 1
        return len(text) - len(DROPPED)

    def _leave_out_turn(self) -> int:
        """Leave out the oldest turn with what came of it, unless it is the last; returns the characters saved."""
        begins = [number for number, message in enumerate(self.messages) if message["role"] == "assistant"]
        if len(begins) < 2:
            return 0
        turn = slice(begins[0], begins[1])
        size = _size(self.messages[turn])
        del self.messages[turn]
        self.dropped_turns += 1
        return size


def assistant_message(text: str) -> Message:
    """A model's raw text as an assistant message: its thoughts, its calls and the rest taken apart.

    Calls that cannot be read stay in the text; whether the text is an action at all is not decided here. Text that
    begins as JSON is left as it is: what looks like a call may stand inside a string there.
    """
    thought, text = split_thought(text)
    message: Message = {"role": "assistant"}
    if thought:
        message["reasoning_content"] = thought
    parts, calls = [], []
    position = len(text) if text.startswith(("{", "```")) else 0
    parts.append(text[:position])
    while (start := text.find(CALL[0], position)) >= 0:
        found = _call_at(text, start + len(CALL[0]))
        if found is None:
            break
        parts.append(text[position:start].strip())
        call, position = found
        calls.append({"type": "function", "function": call})
    parts.append(text[position:].strip())
    message["content"] = "\n".join(filter(None, parts))
    if calls:
        message["tool_calls"] = calls
    return message


def split_thought(text: str) -> tuple[str, str]:
    """A leading block of thought and the text after it; the thought is empty where there is none.

    Some templates open the block in the prompt, so the text may begin inside it.
    """
    stripped = text.strip()
    head, closed, rest = stripped.partition(THOUGHT[1])
    thought = head.removeprefix(THOUGHT[0])
    # Without its opening it is a thought only where nothing else has begun: a string in a call may hold the word too.
    if closed and (thought != head or not (THOUGHT[0] in head or head.startswith(("{", "```", CALL[0])))):
        return thought.strip(), rest.strip()
    return "", stripped


def _call_at(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """The call of the block that was opened before `start` and the place after the block; None if it is no block."""
    start = len(text) - len(text[start:].lstrip())
    try:
        found = decode_object(text, start) if text.startswith("{", start) else None
    except InvalidActionError:
        return None
    if found is None or not text[found[1] :].lstrip().startswith(CALL[1]):
        return None
    name, arguments = _called(found[0])
    if not name or not isinstance(arguments, dict):
        return None
    return {"name": name, "arguments": arguments}, text.index(CALL[1], found[1]) + len(CALL[1])


def _called(call: Any) -> tuple[str, Any]:
    """The tool's name and the arguments of a call, as an object where they are one."""
    function = call.get("function", call) if isinstance(call, dict) else {}
    if not isinstance(function, dict):
        return "", {}
    arguments: Any = next((function[key] for key in ARGUMENT_KEYS if function.get(key) is not None), {})
    if isinstance(arguments, str):
        arguments = _object_or_text(arguments.strip() or "{}")
    name = function.get("name")
    return name.strip().replace(".", "_") if isinstance(name, str) else "", arguments


def _object_or_text(text: str) -> dict[str, Any] | str:
    """The JSON object that a text is; the text, if it is none."""
    try:
        found = decode_object(text, 0) if text.startswith("{") else None
    except InvalidActionError:
        return text
    return found[0] if found is not None and found[1] == len(text) else text


def _tool_message(identifier: str, name: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": identifier, "name": name, "content": content}


def _text(result: Message) -> str:
    return json.dumps(result["result"], ensure_ascii=False)


def _size(messages: Sequence[dict[str, Any]]) -> int:
    """Characters, about."""
    return len(json.dumps(messages, ensure_ascii=False))


def _turns(observation: Observation) -> str:
    here = observation.intent_turns_left
    less = f", {here} of them for this request" if here < observation.turns_left else ""
    return f"[turns left: {observation.turns_left}{less}]"
