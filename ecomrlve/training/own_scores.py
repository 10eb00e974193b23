"""Log-probabilities of a model's own tokens, and of no others.

Most of a rollout is what tools and customers said, and most of a small model's work is to score tokens of its
vocabulary. On a GPU TRL's kernel scores all positions in tiles; on a CPU it is several times as quick to score only the
tokens that are learned from, and to cut off what a batch was filled up with.
"""

from __future__ import annotations

from typing import Any

import torch


def trimmed(inputs: dict[str, Any]) -> dict[str, Any]:
    """A part of a batch without the columns that only the batch's longest rollouts had.

    Args:
        inputs: As TRL deals them out: prompts filled up on the left, completions on the right.
    """
    prompts, completions = inputs["prompt_mask"].any(0), inputs["completion_mask"].any(0)
    first = int(prompts.int().argmax()) if prompts.any() else prompts.numel() - 1
    last = int(completions.nonzero().max()) + 1 if completions.any() else 1
    width = completions.numel()
    cut = dict(inputs)
    for name, value in inputs.items():
        if name in ("prompt_ids", "prompt_mask"):
            cut[name] = value[:, first:]
        elif isinstance(value, torch.Tensor) and value.dim() == 2 and value.shape[1] == width:
            cut[name] = value[:, :last]
    return cut


def own_scores(
    model: Any, ids: torch.Tensor, mask: torch.Tensor, scored: torch.Tensor, temperature: float, at_once: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities of tokens, and the entropy of the distributions that they were drawn from.

    Args:
        model: A causal language model.
        ids: Prompts and completions, rows × all columns.
        mask: 1 where there is a token, of the same shape.
        scored: Which tokens of the completion to score, rows × columns of the completion.
        temperature: Of the sampling.
        at_once: Rows per forward pass.

    Returns:
        Both of the shape of `scored`, 0 where nothing was scored.
    """
    logs = torch.zeros(scored.shape, device=ids.device)
    entropies = torch.zeros(scored.shape, device=ids.device)
    head = model.get_output_embeddings()
    if not scored.any():  # a graph all the same: whoever goes backwards finds one, with gradients of 0
        return logs + 0.0 * head.weight.sum(), entropies
    rows = scored.any(1).nonzero()[:, 0]
    # Rows of similar length together.
    rows = rows[mask[rows].sum(1).argsort()]
    width = scored.shape[1]
    for chosen in rows.split(at_once):
        present = mask[chosen].any(0).nonzero()[:, 0]
        first, last = int(present.min()), int(present.max()) + 1
        hidden = model.base_model(
            input_ids=ids[chosen, first:last], attention_mask=mask[chosen, first:last], use_cache=False
        ).last_hidden_state
        picked = scored[chosen]
        # The token in column c of the completion is told by the state before it.
        start = ids.shape[1] - width - first
        places = picked.nonzero()
        states = hidden[places[:, 0], places[:, 1] + start - 1]
        spread = torch.log_softmax(head(states).float() / temperature, dim=-1)
        tokens = ids[chosen][:, -width:][picked]
        where = chosen[places[:, 0]], places[:, 1]
        logs = logs.index_put(where, spread.gather(1, tokens[:, None])[:, 0])
        entropies = entropies.index_put(where, -(spread.exp() * spread).sum(1))
    return logs, entropies
