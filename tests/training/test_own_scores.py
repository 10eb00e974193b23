"""Scores of a model's own tokens are those of scoring everything, and so are their gradients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_folder, dtype=torch.float32)


@pytest.fixture
def batch() -> tuple[Any, Any, Any]:
    """Prompts of 7 columns filled up on the left, completions of 9 filled up on the right, some tokens of them own."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(10, 900, (5, 16), generator=generator)
    mask = torch.ones_like(ids)
    for row, (left, right) in enumerate([(0, 0), (3, 2), (2, 5), (5, 8), (1, 4)]):
        mask[row, :left] = 0
        mask[row, 16 - right :] = 0
    scored = (torch.rand((5, 9), generator=generator) < 0.5) & mask[:, 7:].bool()
    scored[4] = False  # a rollout that is masked
    scored[0, 0] = True  # right behind the prompt
    return ids, mask, scored


def everything(model: Any, ids: Any, mask: Any, temperature: float) -> tuple[Any, Any]:
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float() / temperature
    spread = logits.log_softmax(-1)
    logs = spread.gather(-1, ids[:, 1:, None])[..., 0]
    return logs[:, -9:], -(spread.exp() * spread).sum(-1)[:, -9:]


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_scores_are_those_of_scoring_everything(model, batch, at_once):
    from ecomrlve.training.own_scores import own_scores

    ids, mask, scored = batch
    logs, entropies = own_scores(model, ids, mask, scored, 0.7, at_once)
    for found, expected in zip((logs, entropies), everything(model, ids, mask, 0.7), strict=True):
        assert torch.allclose(found[scored], expected[scored], atol=1e-5)
        assert (found[~scored] == 0).all()


def test_gradients_are_those_of_scoring_everything(model, batch):
    from ecomrlve.training.own_scores import own_scores

    ids, mask, scored = batch
    weights = torch.arange(45.0).view(5, 9)
    found = []
    for logs in (own_scores(model, ids, mask, scored, 1.0, 2)[0], everything(model, ids, mask, 1.0)[0]):
        model.zero_grad()
        (logs * weights * scored).sum().backward()
        found.append([value.grad.clone() for value in model.parameters()])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_a_batch_without_anything_to_learn_has_a_gradient_of_nothing(model, batch):
    from ecomrlve.training.own_scores import own_scores

    ids, mask, scored = batch
    model.zero_grad()
    logs, _ = own_scores(model, ids, mask, torch.zeros_like(scored), 1.0, 2)
    logs.sum().backward()
    assert all(value.grad is None or (value.grad == 0).all() for value in model.parameters())


def test_what_only_filled_up_is_cut_off(batch):
    from ecomrlve.training.own_scores import trimmed

    ids, mask, _ = batch
    rows = [1, 2]
    inputs = {
        "prompt_ids": ids[rows, :7], "prompt_mask": mask[rows, :7], "completion_ids": ids[rows, 7:],
        "completion_mask": mask[rows, 7:], "tool_mask": mask[rows, 7:], "advantages": torch.ones(2),
        "num_items_in_batch": torch.tensor(3),
    }  # fmt: skip
    cut = trimmed(inputs)
    assert cut["prompt_ids"].shape == (2, 5)
    assert cut["completion_ids"].shape == cut["tool_mask"].shape == (2, 7)
    assert cut["prompt_mask"].sum() == mask[rows, :7].sum()
    assert cut["completion_mask"].sum() == mask[rows, 7:].sum()
    assert torch.equal(cut["advantages"], inputs["advantages"])
    assert cut["num_items_in_batch"] == 3
