"""Language models that may choose the customer's words: behind a URL, or on this machine. See `model_grammar`."""

from __future__ import annotations

import math
import threading
from typing import Any, Protocol

from ecomrlve.errors import EcomrlveError


class ModelError(EcomrlveError, RuntimeError):
    """A language model, or the way to it, failed.

    Args:
        message: What happened.
        reason: The same in two or three words, for counting.
        status: The HTTP status, if there was one.
        retry_after: Seconds after which the server wants to be asked again, if it said so.
    """

    def __init__(
        self, message: str, reason: str = "model failed", status: int | None = None, retry_after: float | None = None
    ):
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after


class Completions(Protocol):
    """Whatever answers a chat.

    Attributes:
        name: The model's name, which is part of the cache's keys.
    """

    name: str

    def complete(self, messages: list[dict[str, str]], seed: int) -> str:
        """The answer to a chat.

        Args:
            messages: Dicts with ``role`` ("user" or "assistant", in turn) and ``content``.
            seed: From 0 to 2³¹ − 1; the same seed should give the same answer, as far as the model can.

        Raises:
            ModelError: There is no answer.
        """
        ...


class EndpointModel:
    """A model behind any URL that speaks OpenAI's chat completions, or behind Hugging Face's Inference Providers.

    Args:
        model: Its name there.
        base_url: The server, with or without "/v1"; None for Hugging Face.
        api_key: Key for the server. Without one, Hugging Face gets the token of this machine's login, and any other
            server gets none.
        timeout: Seconds to wait for the server, each time it is waited for.
        temperature: How freely the model chooses.
        max_tokens: The longest answer.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 10.0,
        temperature: float = 0.9,
        max_tokens: int = 200,
    ):
        self.name = model
        # Where no key is given, the client would send the login's token, which is nobody's business but the hub's.
        self._where = {"base_url": base_url, "api_key": api_key or "none"} if base_url else {"api_key": api_key}
        self._timeout = timeout
        self._options = {"temperature": temperature, "max_tokens": max_tokens}

    def complete(self, messages: list[dict[str, str]], seed: int) -> str:
        """See `Completions.complete`."""
        from huggingface_hub import InferenceClient
        from huggingface_hub.errors import HfHubHTTPError, HTTPError, InferenceTimeoutError

        client = InferenceClient(**self._where, timeout=self._timeout)  # type: ignore[arg-type]
        try:
            answer = client.chat_completion(messages, model=self.name, seed=seed, **self._options)  # type: ignore[call-overload]
            text = answer.choices[0].message.content
        except InferenceTimeoutError as error:
            raise ModelError(str(error), "timed out") from error
        except HfHubHTTPError as error:
            raise _refusal(error) from error
        except (HTTPError, OSError) as error:
            # Also where HF_HUB_OFFLINE is set, with which the client calls no server at all.
            raise ModelError(str(error), "no connection") from error
        except Exception as error:  # whatever a server may send instead of a completion
            raise ModelError(f"{type(error).__name__}: {error}", "unreadable answer") from error
        if not isinstance(text, str):
            raise ModelError("the completion holds no text", "unreadable answer")
        return text


def _refusal(error: Any) -> ModelError:
    """The error for a response whose status is none of success."""
    status = error.response.status_code
    try:
        wait = float(error.response.headers.get("Retry-After", ""))
    except ValueError:
        wait = math.nan
    reason = {429: "too many requests"}.get(status, "server error" if status >= 500 else "request refused")
    return ModelError(str(error), reason, status, max(0.0, wait) if math.isfinite(wait) else None)


class LocalModel:
    """A transformers checkpoint on this machine, loaded when first used.

    Args:
        name: Its id on the Hub, or its folder. It needs a chat template.
        device: As torch names it; None for the best there is.
        temperature: How freely the model chooses; 0 for its likeliest answer.
        max_tokens: The longest answer.
    """

    def __init__(self, name: str, *, device: str | None = None, temperature: float = 0.9, max_tokens: int = 200):
        self.name = name
        self._device = device
        self._temperature = temperature
        self._max_tokens = max_tokens
        # One at a time: the seed is set for all of the process.
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._unusable: ModelError | None = None

    def complete(self, messages: list[dict[str, str]], seed: int) -> str:
        """See `Completions.complete`."""
        with self._lock:
            tokenizer, model = self._load()
            try:
                return self._generate(tokenizer, model, messages, seed)
            except Exception as error:  # memory that runs out, a template that refuses, a device that fails
                raise ModelError(f"{type(error).__name__}: {error}") from error

    def _load(self) -> tuple[Any, Any]:
        if self._unusable is not None:
            # What could not be loaded once is not tried for every utterance, which may take minutes each time.
            raise self._unusable
        if self._loaded is None:
            try:
                import torch
                from transformers import AutoModelForCausalLM, AutoTokenizer

                best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
                tokenizer = AutoTokenizer.from_pretrained(self.name)
                model: Any = AutoModelForCausalLM.from_pretrained(self.name, dtype="auto")
                self._loaded = tokenizer, model.to(self._device or best).eval()
            except Exception as error:  # no such model, no network, not enough memory, no torch
                message = f"{self.name!r} cannot be loaded: {type(error).__name__}: {error}"
                self._unusable = ModelError(message, "cannot be loaded")
                raise self._unusable from error
        return self._loaded

    def _generate(self, tokenizer: Any, model: Any, messages: list[dict[str, str]], seed: int) -> str:
        import torch

        # Templates that know of thinking leave it out; the others ignore the word.
        chat = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True, enable_thinking=False
        ).to(model.device)
        choice: dict[str, Any] = {"do_sample": False}
        if self._temperature > 0:
            choice = {"do_sample": True, "temperature": self._temperature}
        devices = [model.device] if model.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), torch.inference_mode():
            torch.manual_seed(seed)
            tokens = model.generate(
                **chat,
                **choice,
                max_new_tokens=self._max_tokens,
                pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id,
            )
        answer = tokens[0, chat["input_ids"].shape[1] :]
        return str(tokenizer.decode(answer, skip_special_tokens=True))
