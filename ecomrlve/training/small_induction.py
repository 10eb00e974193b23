"""Weights to begin with that copy: the first two layers are set to continue a run of tokens as it went on before.

Copying is found by gradient descent, too, but only after many more tokens than a CPU makes in an hour, since the ids in
a chat are few among its words. So the circuit that is known to do it, the induction head (Olsson et al. 2022, arXiv
2209.11895), is there from the start, and training has to find only where it is of use.

The hidden state is shared out: half of it is the token itself, a quarter the token before, an eighth the one before
that. The first layer, a convolution, moves them there. In the second, attention looks for the place whose two tokens
before are this one and the one before it, and brings the token that stood there. All other weights stay small and
random, and nothing is kept from changing.
"""

from __future__ import annotations

from typing import Any

EMBEDDING = 0.2  # size of a token's numbers
SMALL = 0.02
BROUGHT = 4.0  # how much stronger the token that is brought is than the one that stands there
SHARPNESS = 4.0  # of the attention
CALM = 0.25  # share of the first random weights that the layers in between keep


def set_to_copy(model: Any, seed: int = 0) -> None:
    """Set the first two layers of a model to copy.

    Args:
        model: An LFM2 with biases in its convolutions, whose first layers are a convolution and attention.
        seed: Of the random weights.
    """
    import torch

    draws = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        half = model.config.hidden_size // 2
        embeddings = model.model.embed_tokens.weight
        embeddings.normal_(0, SMALL, generator=draws)
        embeddings[:, :half].normal_(0, EMBEDDING, generator=draws)
        for layer in model.model.layers:
            layer.feed_forward.w2.weight.mul_(CALM)
        seen = torch.linalg.qr(torch.randn(half, half, generator=draws))[0][: half // 2]
        _set_to_remember(model.model.layers[0].conv, seen, draws)
        _set_to_bring(model.model.layers[1].self_attn, seen, model.config, draws)


def _set_to_remember(layer: Any, seen: Any, draws: Any) -> None:
    """The convolution puts the last token and the one before it beside the token itself.

    Args:
        layer: The convolution.
        seen: What is kept of a token: an orthonormal matrix, a quarter by a half of the hidden state.
        draws: Of the random weights.
    """
    quarter, half = seen.shape
    eighth = quarter // 2
    hidden, both = 2 * half, quarter + eighth
    inward, kernel, outward = layer.in_proj, layer.conv, layer.out_proj
    inward.weight.normal_(0, SMALL, generator=draws)
    outward.weight.normal_(0, SMALL, generator=draws)
    for part in (inward, kernel, outward):
        part.bias.zero_()
    inward.bias[: 2 * hidden] = 1.0  # both gates are open
    moved = inward.weight[2 * hidden :]
    moved[:both] = 0.0
    moved[:quarter, :half] = seen
    moved[quarter:both, :half] = seen[:eighth]
    kernel.weight[:both] = 0.0
    kernel.weight[:quarter, 0, -2] = 1.0
    kernel.weight[quarter:both, 0, -3] = 1.0
    outward.weight[:, :both] = 0.0
    for place in range(both):
        # The layer's input is normalised over the whole hidden state, of which tokens fill a half.
        outward.weight[half + place, place] = EMBEDDING / 2**0.5


def _set_to_bring(layer: Any, seen: Any, config: Any, draws: Any) -> None:
    """Attention looks for what it has just seen, and brings what came next there.

    Args:
        layer: The attention.
        seen: As above.
        config: The model's configuration.
        draws: Of the random weights.
    """
    import torch

    quarter, half = seen.shape
    eighth = quarter // 2
    size, heads = config.hidden_size // config.num_attention_heads, config.num_attention_heads
    # What stands far away must look the same, so only the dimensions that turn slowly with the position are used.
    slow = [place for place in range(size) if place % (size // 2) >= max(2, size // 8)]
    now, before = slow[: 2 * len(slow) // 3], slow[2 * len(slow) // 3 :]
    query, key, value, outward = (part.weight for part in (layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj))
    for weight in (query, key, value, outward):
        weight.normal_(0, SMALL / 2, generator=draws)
    carried = half // heads
    for head in range(heads):
        rows = [head * size + place for place in now]
        look = torch.randn(len(now), quarter, generator=draws) / quarter**0.5
        query[rows], key[rows] = 0.0, 0.0
        query[rows, :half], key[rows, half : half + quarter] = look @ seen, look
        rows = [head * size + place for place in before]
        look = torch.randn(len(before), eighth, generator=draws) / eighth**0.5
        query[rows], key[rows] = 0.0, 0.0
        query[rows, half : half + eighth] = look
        key[rows, half + quarter : half + quarter + eighth] = look
        for place in range(carried):
            inside, outside = head * size + place, head * carried + place
            value[inside], outward[:, inside] = 0.0, 0.0
            value[inside, outside] = 1.0
            outward[outside, inside] = BROUGHT * EMBEDDING
    layer.q_layernorm.weight.fill_(SHARPNESS)
