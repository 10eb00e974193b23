"""The half of a checkpoint that needs no weights: its tokenizer and its chat template turn chats into tokens."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ecomrlve.agents.chat import Message
from ecomrlve.errors import EcomrlveError, short

# A chat to see whether a template shows what it is given: the tool's name, its argument and its result.
TOOL = {
    "type": "function",
    "function": {
        "name": "availability",
        "description": "Whether it is there.",
        "parameters": {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
    },
}
CALL = {"id": "call00001", "type": "function", "function": {"name": "availability", "arguments": {"colour": "magenta"}}}
PROBE: list[Message] = [
    {"role": "system", "content": "Be polite."},
    {"role": "user", "content": "A pencil."},
    {"role": "assistant", "content": "Certainly.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call00001", "name": "availability", "content": "plenty"},
]


class CheckpointError(EcomrlveError, RuntimeError):
    """A checkpoint that cannot be loaded, or cannot play."""


class TemplateError(CheckpointError):
    """A chat template that cannot show a chat."""


class ChatTokenizer:
    """Makes the tokens of chats, and text of tokens.

    Args:
        tokenizer: A tokenizer of transformers with a chat template.
        config: The model's configuration.

    Attributes:
        tokenizer: The tokenizer.
        context: Most tokens that prompt and answer may have together, as model and tokenizer say; None if they do not.

    Raises:
        CheckpointError: The tokenizer has no chat template.
    """

    def __init__(self, tokenizer: Any, config: Any):
        if not tokenizer.chat_template:
            raise CheckpointError("it has no chat template; take a model that was made for chats (often “Instruct”)")
        self.tokenizer = tokenizer
        limits = (getattr(config.get_text_config(), "max_position_embeddings", None), tokenizer.model_max_length)
        # A tokenizer without a limit says so with an enormous number.
        self.context: int | None = min((limit for limit in limits if limit and limit < 10**9), default=None)
        tokenizer.model_max_length = 10**30  # it would warn of long chats, which are made to fit anyway

    def prompt(self, messages: list[Message], tools: Sequence[dict[str, Any]], *, thinking: bool) -> list[int]:
        """The tokens of a chat, up to where the answer begins.

        Control tokens that stand in what others wrote (a product's title, say) are encoded as plain text. Without tools
        for the template they are left alone: then the text tells the model of ``<tool_call>``, and shows its own.

        Raises:
            TemplateError: The template does not take this chat.
        """
        try:
            return self.tokenizer.apply_chat_template(
                messages,
                tools=list(tools) or None,
                add_generation_prompt=True,
                enable_thinking=thinking,  # templates that do not know of thinking ignore it
                return_dict=False,
                sanitize_control_tokens=bool(tools),
            )
        except Exception as error:  # a template is somebody else's program and may raise anything
            raise TemplateError(f"{type(error).__name__}: {in_a_line(error)}") from error

    def text(self, tokens: Sequence[int]) -> str:
        """What tokens say. Markers of calls and thoughts stay: they are special tokens for some tokenizers."""
        return self.tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def check(self, *, native: bool) -> None:
        """See that the chat template shows what a player needs.

        Args:
            native: Tools, their calls and their results are to be shown by the template.

        Raises:
            CheckpointError: Something gets lost.
        """
        chat, tools = (PROBE, [TOOL]) if native else (PROBE[:2], [])
        needed = {"the system message": "Be polite.", "what the user says": "A pencil."}
        if native:
            needed |= {"the tools": "availability", "the calls": "magenta", "their results": "plenty"}
        advice = "; tell it of its tools by dialect=json or dialect=hermes" if native else ""
        try:
            shown = self.text(self.prompt(chat, tools, thinking=False))
        except TemplateError as error:
            raise CheckpointError(f"its chat template fails ({error}){advice}") from error
        lost = [what for what, word in needed.items() if word not in shown]
        if lost:
            raise CheckpointError(f"its chat template leaves out {', '.join(lost)}{advice}")


def cannot_load(checkpoint: str, error: Exception) -> CheckpointError:
    """The error for a checkpoint that cannot be loaded; it says why, and what to do where that is known."""
    text = in_a_line(error)
    if isinstance(error, ImportError):
        reason = f"it needs torch and transformers: pip install 'ecomrlve[train]' ({text})"
    elif isinstance(error, EcomrlveError):
        reason = text
    elif out_of_memory(error):
        reason = f"memory ran out; try dtype=bfloat16, device=cpu or a smaller model ({text})"
    elif isinstance(error, OSError) and not os.path.isdir(os.path.expanduser(checkpoint)):
        reason = f"there is no such folder, and the Hub did not give such a model ({text})"
    else:
        reason = f"{type(error).__name__}: {text}"
    return CheckpointError(f"the checkpoint {checkpoint!r} cannot be loaded: {reason}")


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out, on whatever device."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in text or "you tried to allocate" in text)


def in_a_line(error: Exception) -> str:
    """What an error says, in one line that is not too long."""
    return short(" ".join(str(error).split()), 250)
