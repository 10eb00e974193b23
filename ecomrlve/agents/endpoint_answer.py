"""What a server sent back, read without trust: whatever it is, it is an answer of the model or a `RequestError`.

Two kinds of bad output are told apart. Where a message breaks the protocol of chat completions, the server is at fault
and may be asked again. Where the message is well formed, but calls a tool that does not exist, or with arguments that
are no JSON, the model is at fault: the environment gets to see that and ends the episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.chat import THOUGHT, split_thought
from ecomrlve.agents.endpoint_trouble import RequestError


@dataclass(frozen=True, slots=True)
class Answer:
    """The message of a model.

    Attributes:
        content: Its text; thoughts that the server left in it are there too, between ``<think>`` and ``</think>``.
        calls: Its tool calls: ``{"function": {"name": …, "arguments": …}}``, arguments as sent.
        thoughts: The thoughts that the server had taken out of the text.
        cut_off: The model was stopped because it wrote too much.
        prompt_tokens: Tokens of the chat; None where the server does not say.
        completion_tokens: Tokens of the answer, thoughts included.
    """

    content: str
    calls: tuple[dict[str, Any], ...] = ()
    thoughts: str = ""
    cut_off: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def action(self) -> dict[str, Any]:
        """The message as the environment takes it: without what it does not read."""
        action: dict[str, Any] = {"role": "assistant", "content": self.content}
        return action | ({"tool_calls": list(self.calls)} if self.calls else {})

    @property
    def empty(self) -> bool:
        """Whether the model neither said nor called anything; thoughts do not count."""
        return not self.calls and not split_thought(self.content)[1]


def read_answer(data: Any) -> Answer:
    """Read the JSON of a chat completion.

    Raises:
        RequestError: It is none.
    """
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _unreadable("there are no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise _unreadable("there is no message")
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    usage = data.get("usage")
    return Answer(
        content=_opened(_text(message.get("content"))),
        calls=_calls(message.get("tool_calls")),
        thoughts=thoughts if isinstance(thoughts, str) else "",
        cut_off=choices[0].get("finish_reason") == "length",
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
    )


def _unreadable(why: str) -> RequestError:
    return RequestError(f"unreadable answer: {why}")


def _text(content: Any) -> str:
    """The content as one text: some servers send it in parts."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "".join(str(part.get("text", "")) for part in parts)
    if not isinstance(content, str):
        raise _unreadable("the content is no text")
    return content


def _opened(content: str) -> str:
    """The text with its thoughts marked from the start: some templates put ``<think>`` into the prompt."""
    text = content.strip()
    if text.startswith(THOUGHT[0]) or split_thought(text)[1] == text:
        return content
    return THOUGHT[0] + text


def _calls(calls: Any) -> tuple[dict[str, Any], ...]:
    if calls is None:
        return ()
    if not isinstance(calls, list):
        raise _unreadable("the tool calls are no list")
    return tuple(_call(call) for call in calls)


def _call(call: Any) -> dict[str, Any]:
    """Name and arguments of a call, and nothing else of it."""
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str):
        raise _unreadable("a tool call has no name")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str | dict):
        raise _unreadable("the arguments of a tool call are neither a text nor an object")
    # Without arguments, some servers send an empty text, others null.
    return {"function": {"name": name, "arguments": arguments or "{}"}}


def _count(usage: Any, name: str) -> int | None:
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else None
