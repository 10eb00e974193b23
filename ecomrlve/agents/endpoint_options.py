"""The options of an endpoint's name, and the requests that they make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, Json, field_validator

from ecomrlve.agents.chat import Message
from ecomrlve.prompts import Dialect


class EndpointOptions(BaseModel):
    """What may follow the ``?`` in an endpoint's name.

    Attributes:
        dialect: How the model writes its actions; only ``native`` sends it the tools.
        temperature: How freely it chooses; None leaves it to the server, as with `top_p`.
        top_p: Share of the probability it chooses from.
        max_tokens: Most tokens of one answer.
        timeout: Most seconds for one request.
        tries: Most requests for one answer.
        patience: Most seconds for one turn, with all waits.
        parallel: Episodes played at a time.
        per_minute: Most requests in a minute, over all episodes.
        price_in: US dollars for a million tokens that the model reads.
        price_out: The same for those it writes.
        seed: Sent with each request, mixed with the episode's seed, the trial and the turn.
        provider: The Inference Provider; None or ``auto`` leaves it to Hugging Face.
        extra: A JSON object of more fields for each request; null takes a field away.
        thinking: Whether the chat template lets the model think, where the server passes that on.
        context: Most tokens of a chat, roughly counted; older tool results are left out of a longer one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    dialect: Dialect = "native"
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)
    timeout: float = Field(default=120.0, gt=0)
    tries: int = Field(default=5, ge=1)
    patience: float = Field(default=600.0, gt=0)
    parallel: int = Field(default=8, ge=1, le=1024)
    per_minute: float | None = Field(default=None, gt=0)
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    seed: int = 0
    provider: str | None = Field(default=None, pattern=r"^[\w-]+$")
    extra: Json[dict[str, Any]] = Field(default_factory=dict)
    thinking: bool | None = None
    context: int | None = Field(default=None, ge=1)

    @field_validator("extra")
    @classmethod
    def _sendable(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if taken := extra.keys() & {"messages", "stream"}:
            raise ValueError(f"it must not hold {' or '.join(sorted(taken))}, which the agent needs as it is")
        json.dumps(extra, allow_nan=False)
        return extra

    def body(self, model: str, messages: list[Message], tools: Sequence[dict[str, Any]], seed: int) -> dict[str, Any]:
        """The body of a request.

        Args:
            model: The model's name on its server.
            messages: The chat as it is sent.
            tools: Function schemas; none are sent where there are none.
            seed: From 0 to 2³¹ − 1.
        """
        found: dict[str, Any] = {"model": model, "messages": messages, "max_tokens": self.max_tokens, "seed": seed}
        optional = {"temperature": self.temperature, "top_p": self.top_p, "tools": list(tools) or None}
        found |= {name: value for name, value in optional.items() if value is not None}
        template = {} if self.thinking is None else {"enable_thinking": self.thinking}
        extra = dict(self.extra)
        if isinstance(extra.get("chat_template_kwargs", {}), dict):
            template |= extra.pop("chat_template_kwargs", {})
        found |= ({"chat_template_kwargs": template} if template else {}) | extra
        return {name: value for name, value in found.items() if value is not None}
