"""An episode as the tokens that a model is trained on: its own, exactly as it made them, and everybody else's between.

What the model put out is never encoded anew: its tokens stay, and what the tools and the customer said is appended as
the tokens that the chat template makes of it. So the gradients belong to the tokens that were sampled, and the prompt
of a turn is the beginning of the next one's.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ecomrlve.agents.chat import THOUGHT, Message
from ecomrlve.agents.checkpoint_chats import PROBE, TOOL, ChatTokenizer, CheckpointError


class TokenChats:
    """Makes the tokens of prompts and of what comes between a model's turns.

    Args:
        tokenizer: A tokenizer of transformers with a chat template.
        config: The model's configuration.
        ends: Tokens that end a turn of the model.
        thinking: Let the template open a thought, where it knows how.

    Raises:
        CheckpointError: The template cannot be trained with: it has no place for tools, or it rewrites earlier turns
            when later ones come, and TRL knows no variant of it that does not.
    """

    def __init__(self, tokenizer: Any, config: Any, ends: Sequence[int], *, thinking: bool = False):
        self._chats = ChatTokenizer(copy.deepcopy(tokenizer), config)
        self._thinking = thinking
        self.ends = frozenset(ends)
        self._chats.check(native=True)
        if not self._keeps_its_word():
            self._chats.tokenizer.chat_template = _training_template(tokenizer)
            if not self._keeps_its_word():
                raise CheckpointError(
                    "the chat template rewrites earlier turns when later ones come; training needs one that does not"
                )

    def prompt(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> list[int]:
        """The tokens of a chat up to where the model's first turn begins."""
        return self._chats.prompt(list(messages), tools, thinking=self._thinking)

    def between(self, messages: Sequence[Message]) -> list[int]:
        """The tokens from the end of a model's turn to the beginning of its next.

        Args:
            messages: What came in between: results of its calls, or the customer's words.
        """
        before = _stand_in(messages)
        shown = self._chats.prompt([*before, *messages], [TOOL], thinking=self._thinking)
        return shown[len(self._up_to_the_end(before)) :]

    def text(self, prompt: Sequence[int], tokens: Sequence[int]) -> str:
        """What a turn says, without the token that ends it. A thought that the prompt opened begins here."""
        text = self._chats.text([token for token in tokens if token not in self.ends])
        opened = self._chats.text(prompt[-8:]).rstrip().endswith(THOUGHT[0])
        return f"{THOUGHT[0]}\n{text}" if opened else text

    def _up_to_the_end(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a chat up to the end of its last turn. Templates put a line break behind it."""
        shown = self._chats.tokenizer.apply_chat_template(
            list(messages),
            tools=[TOOL],
            add_generation_prompt=False,
            enable_thinking=self._thinking,
            return_dict=False,
            sanitize_control_tokens=True,
        )
        last = max((place for place, token in enumerate(shown) if token in self.ends), default=len(shown) - 1)
        return list(shown[: last + 1])

    def _keeps_its_word(self) -> bool:
        """Whether what was shown stays when more comes, after calls as after plain words."""
        for messages in (PROBE[3:], [{"role": "user", "content": "And a sharpener."}]):
            before = _stand_in(messages)
            shown = self._chats.prompt([*before, *messages], [TOOL], thinking=self._thinking)
            beginning = self._up_to_the_end(before)
            if shown[: len(beginning)] != beginning or beginning[-1] not in self.ends:
                return False
        return True


def _stand_in(messages: Sequence[Message]) -> list[Message]:
    """A short chat after which these messages may come; what stood there for real does not change how they look."""
    turn: Message = {"role": "assistant", "content": "Certainly."}
    called = [message for message in messages if message["role"] == "tool"]
    if called:
        turn["tool_calls"] = [
            {
                "id": message["tool_call_id"],
                "type": "function",
                "function": {"name": message["name"], "arguments": {}},
            }
            for message in called
        ]
    return [{"role": "user", "content": "A pencil."}, turn]


def _training_template(tokenizer: Any) -> str:
    """TRL's variant of a known template that leaves earlier turns as they are."""
    from trl.chat_template_utils import get_training_chat_template

    try:
        found = get_training_chat_template(tokenizer)
    except ValueError as error:
        raise CheckpointError(
            "the chat template rewrites earlier turns when later ones come, and TRL knows no variant of it that does "
            "not; take a model whose template it knows, such as Qwen3"
        ) from error
    return found or tokenizer.chat_template
