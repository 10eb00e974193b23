"""Supervised fine-tuning: what is learned from, in which order, that it learns, and that a killed run goes on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.brief import BriefAgent
from ecomrlve.splits import HELD
from ecomrlve.training.demonstrations_files import DemonstrationError
from ecomrlve.training.sft import SftSettings, arguments_of, run_sft
from ecomrlve.training.sft_data import (
    FIRST_SEED,
    NOT_LEARNED,
    Chat,
    Row,
    SftError,
    beginning,
    in_order,
    teacher_chats,
    tokens_of,
)
from ecomrlve.training.small_chat import chat_texts
from ecomrlve.training.small_model import SmallModelConfig, small_model, small_tokenizer

CONFIG = SmallModelConfig(hidden=64, heads=2, feed_forward=64, vocabulary=2200, context=1024)


@pytest.fixture(scope="module")
def chats(words_engine: Any) -> list[Any]:
    return list(teacher_chats(words_engine, BriefAgent(), ["E_CART"], [0, 1], 24))


@pytest.fixture(scope="module")
def tokenizer(chats: list[Any]) -> Any:
    return small_tokenizer(chat_texts(chat.messages for chat in chats), CONFIG)


@pytest.fixture(scope="module")
def rows(chats: list[Any], tokenizer: Any) -> list[Row]:
    return list(tokens_of(chats, tokenizer, 1024))


class Broken:
    """Answers at once, always in vain."""

    name = "broken"

    def reset(self, env: Any) -> None:
        pass

    def act(self, observation: Any) -> Any:
        return {"answer": {"done": True}}


def settings(**changes: Any) -> SftSettings:
    usual = {"steps": 6, "batch": 4, "micro_batch": 2, "learning_rate": 3e-3, "warmup_steps": 0, "save_every": 3}
    return SftSettings(**{**usual, "bfloat16": False, **changes})


def test_demonstrations_are_successes_of_seeds_that_measure_nothing(words_engine: Any, chats: list[Any]):
    assert len(chats) == 24
    assert len({chat.messages[1]["content"] for chat in chats}) == 24
    assert all(max(seeds) < FIRST_SEED for seeds in HELD.values())
    for name, seeds in HELD.items():
        with pytest.raises(DemonstrationError, match=name):
            next(teacher_chats(words_engine, BriefAgent(), ["E_CART"], [0], 1, first_seed=seeds[0]))
    with pytest.raises(SftError, match="broken"):
        list(teacher_chats(words_engine, Broken(), ["E_CART"], [0], 5))


def test_only_what_the_model_writes_is_learned(chats: list[Any], rows: list[Row], tokenizer: Any):
    for chat, row in zip(chats, rows, strict=True):
        learned = [token for token in row["labels"] if token != NOT_LEARNED]
        assert [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label >= 0] == learned
        text = tokenizer.decode(learned)
        turns = [message for message in chat.messages if message["role"] == "assistant"]
        assert text.count("<|end|>") == len(turns)
        assert text.startswith('<tool_call>{"name": "catalog_search"')
        assert text.endswith('{"name": "submit_answer", "arguments": {}}</tool_call><|end|>')
        assert "results" not in text


def test_a_model_of_somebody_else_learns_the_same(chats: list[Any], tiny_folder: Path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
    [row] = tokens_of(chats[:1], tokenizer, 100_000)
    learned = tokenizer.decode([token for token in row["labels"] if token != NOT_LEARNED])
    assert "catalog_search" in learned
    assert "turns left" not in learned


def test_a_beginning_ends_with_the_first_turn(chats: list[Any], rows: list[Row], tokenizer: Any):
    for chat, row in zip(chats, rows, strict=True):
        first = next(place for place, message in enumerate(chat.messages) if message["role"] == "assistant")
        [shorter] = tokens_of([Chat(chat.messages[: first + 1], chat.tools)], tokenizer, 1024)
        begun = beginning(row)
        assert begun == shorter
        assert len(begun["input_ids"]) < len(row["input_ids"])
        assert beginning(begun) == begun


def test_what_is_too_long_is_left_out_whole(chats: list[Any], rows: list[Row], tokenizer: Any):
    limit = sorted(len(row["input_ids"]) for row in rows)[10]
    kept = list(tokens_of(chats, tokenizer, limit))
    assert kept == [row for row in rows if len(row["input_ids"]) <= limit]
    assert 0 < len(kept) < len(rows)


def test_a_template_without_marks_is_refused(chats: list[Any], tokenizer: Any):
    import copy

    plain = copy.deepcopy(tokenizer)
    plain.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
    with pytest.raises(SftError, match="does not mark"):
        next(tokens_of(chats, plain, 1024))


@given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 200), st.integers(0, 5))
def test_every_row_is_shown_about_equally_often(count: int, batch: int, wanted: int, seed: int):
    rows: list[Row] = [{"input_ids": [0] * (number % 9 + 1), "labels": []} for number in range(count)]
    order = in_order(rows, wanted, batch, seed)
    assert len(order) == wanted
    assert order == in_order(rows, wanted, batch, seed)
    shown = Counter(order)
    rounds = -(-wanted // max(1, count - count % batch if count >= batch else count))
    assert max(shown.values()) <= rounds


def test_batches_are_of_similar_length(rows: list[Row]):
    order = in_order(rows, len(rows), 4, 0)
    assert sorted(order) == list(range(len(rows)))
    batches = [[len(rows[row]["input_ids"]) for row in order[start : start + 4]] for start in range(0, len(rows), 4)]
    spread = sum(max(batch) - min(batch) for batch in batches)
    unsorted = [[len(rows[row]["input_ids"]) for row in range(start, start + 4)] for start in range(0, len(rows), 4)]
    assert spread < sum(max(batch) - min(batch) for batch in unsorted) / 2


def test_it_learns_and_goes_on_exactly_after_a_kill(tmp_path: Path, rows: list[Row], tokenizer: Any):
    import torch

    lines: list[dict[str, Any]] = []
    saved: list[Path] = []

    def train(name: str, **more: Any) -> Any:
        lines.clear()
        model = small_model(tokenizer, CONFIG)
        run_sft(
            settings(), model, tokenizer, rows, tmp_path / name, on_cpu=True, on_step=lines.append,
            on_saved=saved.append, **more,
        )  # fmt: skip
        return model

    whole = train("whole")
    first = list(lines)
    assert [line["step"] for line in first] == [0, 1, 2, 3, 4, 5]
    assert first[-1]["loss"] < first[0]["loss"]
    assert all(0 <= line["token_accuracy"] <= 1 and line["grad_norm"] > 0 and line["seconds"] > 0 for line in first)
    assert [path.name for path in saved] == ["checkpoint-3", "checkpoint-6"]
    resumed = train("resumed", resume=saved[0])
    assert [line["step"] for line in lines] == [3, 4, 5]
    same = ("step", "loss", "learning_rate", "grad_norm", "token_accuracy")
    assert [[line[key] for key in same] for line in lines] == [[line[key] for key in same] for line in first[3:]]
    assert all(torch.equal(one, two) for one, two in zip(whole.parameters(), resumed.parameters(), strict=True))
    with pytest.raises(SftError, match="other demonstrations"):
        run_sft(settings(), resumed, tokenizer, rows[1:], tmp_path / "other", resume=saved[0], on_cpu=True)


def test_the_loss_without_an_accelerator_is_the_same(tmp_path: Path, rows: list[Row], tokenizer: Any):
    import torch
    from trl import SFTTrainer

    model = small_model(tokenizer, CONFIG)
    trainer = run_sft(settings(steps=1), model, tokenizer, rows, tmp_path, on_cpu=True)
    batch = trainer.data_collator([dict(row) for row in rows[:3]])
    assert (batch["attention_mask"] == 0).any()
    found = []
    for count in (None, torch.tensor(1000)):
        for compute_loss in (trainer.compute_loss, SFTTrainer.compute_loss.__get__(trainer)):
            model.zero_grad()
            loss = compute_loss(model, dict(batch), num_items_in_batch=count)
            loss.backward()
            gradient = torch.cat([weights.grad.flatten() for weights in model.parameters()])
            found.append((loss.detach(), gradient, trainer._metrics["train"]["mean_token_accuracy"][-1]))
    for ours, theirs in (found[:2], found[2:]):
        torch.testing.assert_close(ours[0], theirs[0])
        torch.testing.assert_close(ours[1], theirs[1], atol=1e-6, rtol=1e-3)
        assert ours[2] == pytest.approx(theirs[2])


def test_the_learning_rate_follows_its_schedule(tmp_path: Path):
    import torch
    from transformers import get_scheduler

    def rates(schedule: str) -> list[float]:
        arguments = arguments_of(settings(schedule=schedule, steps=20, warmup_steps=4), tmp_path, 1, on_cpu=True)
        assert arguments.gradient_accumulation_steps == 2
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        scheduler = get_scheduler(
            arguments.lr_scheduler_type, optimizer, int(arguments.warmup_steps), 20, arguments.lr_scheduler_kwargs
        )
        found = []
        for _ in range(20):
            found.append(scheduler.get_last_lr()[0])
            optimizer.step()
            scheduler.step()
        return found

    for schedule in ("constant", "linear", "cosine", "decay"):
        found = rates(schedule)
        assert found[0] < found[2] < found[4] == 1.0
        assert (found[-1] == 1.0) == (schedule == "constant")
    assert set(rates("decay")[4:10]) == {1.0}
    assert rates("decay")[-1] < 0.2


def test_batches_that_cannot_be_dealt_out_and_nothing_to_learn_are_refused(tmp_path: Path, tokenizer: Any):
    assert settings().accumulation(2) == 1
    with pytest.raises(SftError, match="evenly"):
        settings().accumulation(3)
    with pytest.raises(SftError, match="no demonstration"):
        run_sft(settings(), small_model(tokenizer, CONFIG), tokenizer, [], tmp_path, on_cpu=True)
