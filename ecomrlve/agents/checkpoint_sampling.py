"""Sampling tokens so that what one episode gets does not depend on what is sampled beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ecomrlve.streams import unit_hash


class KeyedChooser:
    """Samples each row's tokens from a random stream of its own, with temperature, top-k and top-p.

    The global generator of torch hands its numbers to the rows of a batch in turn, so that an episode would get others
    in other company. Here row and position have one number of their own, and the token is the one whose part of the
    cumulative distribution that number falls into.

    Args:
        keys: The key of each row's stream.
        temperature: Above 0.
        top_k: Among that many likeliest tokens; 0 for all.
        top_p: Among the likeliest tokens that have this probability together.
    """

    def __init__(self, keys: Sequence[int], *, temperature: float, top_k: int = 0, top_p: float = 1.0):
        from transformers import LogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

        self._keys = keys
        self._warpers: list[LogitsProcessor] = [TemperatureLogitsWarper(float(temperature))]
        if top_k:
            self._warpers.append(TopKLogitsWarper(top_k))
        if top_p < 1:
            self._warpers.append(TopPLogitsWarper(top_p))

    def __call__(self, prompt_length: int) -> Callable[[Any, Any], Any]:
        """A logits processor for prompts of this length: it makes all scores (rows × tokens) −∞ but the choices'."""

        def choose(input_ids: Any, scores: Any) -> Any:
            import torch

            for warper in self._warpers:
                scores = warper(input_ids, scores)
            number = input_ids.shape[1] - prompt_length
            # Sums of many small numbers: in double precision wherever the device has it.
            kind = torch.float32 if scores.device.type == "mps" else torch.float64
            cumulative = scores.to(kind).softmax(dim=-1).cumsum(dim=-1)
            total = cumulative[:, -1:].contiguous()
            points = torch.tensor([[unit_hash(key, number)] for key in self._keys], dtype=kind, device=scores.device)
            chosen = torch.searchsorted(cumulative, points * total, right=True)
            # Rounding may lead beyond the last token that has any probability; scores that are no numbers, beyond all.
            chosen = torch.minimum(chosen, torch.searchsorted(cumulative, total)).clamp(max=scores.shape[1] - 1)
            return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)

        return choose
