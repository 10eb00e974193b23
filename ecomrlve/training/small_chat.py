"""The chats of a small model, in as few tokens as they can have.

What is the same in every episode of an environment is left out, for training teaches it: the tools' schemas and the
rules in the system message. Of that message the task's name is left. What differs from episode to episode stays, whole:
what the customer says, what the tools return, the turns that are left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# Each message stands for itself, so a chat's beginning does not change when it goes on. `generation` marks what the
# model writes itself, which is what a loss is for.
TEMPLATE = """\
{%- for message in messages -%}
    {%- if message.role == "assistant" -%}
        {{- "<|assistant|>" -}}
        {%- generation -%}
        {{- message.content or "" -}}
        {%- for call in message.tool_calls or [] -%}
            {%- set called = call.function or call -%}
            {{- '<tool_call>{"name": "' + called.name + '", "arguments": ' -}}
            {{- called.arguments if called.arguments is string else called.arguments | tojson -}}
            {{- "}</tool_call>" -}}
        {%- endfor -%}
        {{- "<|end|>" -}}
        {%- endgeneration -%}
    {%- elif message.role == "system" -%}
        {{- "<|system|>" + message.content.split("\\n")[0].split("Task: ")[-1] + "<|end|>" -}}
    {%- else -%}
        {{- ("<|tool|>" if message.role == "tool" else "<|user|>") + message.content + "<|end|>" -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- "<|assistant|>" -}}
{%- endif -%}
"""


def chat_texts(chats: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """The texts of chats for a tokenizer to learn from, as the template writes them.

    Args:
        chats: Chats as `ecomrlve.agents.chat.Conversation` keeps them.
    """
    for chat in chats:
        for message in chat:
            yield str(message.get("content") or "")
            for call in message.get("tool_calls") or ():
                function = call["function"]
                arguments = json.dumps(function["arguments"], ensure_ascii=False)
                yield f'<tool_call>{{"name": "{function["name"]}", "arguments": {arguments}}}</tool_call>'
