"""TRL trains on an export as it is: chat templates render it, and only what the agent said counts for the loss."""

import importlib.util
import math

import pytest

from ecomrlve.training.demonstrations import Choice, export
from ecomrlve.training.demonstrations_chat import demonstrate

if not all(importlib.util.find_spec(name) for name in ("trl", "accelerate")):
    pytest.skip("TRL is not installed", allow_module_level=True)

SEARCH = {"name": "catalog_search", "args": {"query": "mug", "filters": {"weight": {"le": 0.3}}, "limit": 2}}
SHORT = ("E_CART", "E_STATUS", "E_POLICY")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A Qwen3 with random weights, and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from ecomrlve.agents.tiny_model import build

    folder = build(tmp_path_factory.mktemp("models") / "tiny", hidden=32, layers=1)
    return AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def loaded(all_records, words_engine, tmp_path_factory):
    """An export of all records, loaded."""
    from datasets import load_dataset

    folder = tmp_path_factory.mktemp("export") / "all"
    export(all_records, words_engine, folder)
    return load_dataset(str(folder), cache_dir=str(folder.parent / "cache"))


@pytest.fixture
def trainer(tiny, tmp_path):
    """Makes a trainer as the dataset card says."""
    from trl import SFTConfig, SFTTrainer

    def make(dataset, **options):
        options = {"assistant_only_loss": True, "max_length": None, "max_steps": 2} | options
        args = SFTConfig(
            output_dir=str(tmp_path / "trained"), per_device_train_batch_size=1, logging_steps=1, report_to="none",
            save_strategy="no", use_cpu=True, bf16=False, disable_tqdm=True, **options,
        )  # fmt: skip
        model, tokenizer = tiny
        return SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)

    return make


def learned(trainer, number=0):
    """What a row teaches: the text of those tokens that count for the loss."""
    row = trainer.train_dataset[number]
    tokens = [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
    return trainer.processing_class.decode(tokens)


def test_a_template_renders_what_is_loaded_as_what_was_demonstrated(loaded, all_records, words_engine, tiny):
    _, tokenizer = tiny
    rows = {row["episode_id"]: row for split in loaded.values() for row in split}
    for record in all_records:
        one, row = demonstrate(record, words_engine), rows[record["episode_id"]]
        before, after = (
            tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
            for messages, tools in ((one.messages, one.tools), (row["messages"], row["tools"]))
        )
        assert before == after
        assert "null" not in after.split("</tools>")[0]


@pytest.mark.parametrize("only_assistant", [True, False])
def test_two_steps_are_taken(loaded, trainer, only_assistant):
    short = loaded["train"].filter(lambda row: row["env_id"] in SHORT and row["difficulty"] == 0)
    assert len(short) == 3
    one = trainer(short, assistant_only_loss=only_assistant)
    one.train()
    losses = [entry["loss"] for entry in one.state.log_history if "loss" in entry]
    assert len(losses) == 2
    assert all(math.isfinite(loss) and loss > 0 for loss in losses)


def test_the_model_learns_its_own_turns_all_of_them_and_nothing_else(loaded, trainer):
    short = loaded["train"].filter(lambda row: row["env_id"] == "E_CART")
    messages = short[0]["messages"]
    text = learned(trainer(short))
    turns = text.split("<|im_end|>\n")
    assert len(turns) == 1 + sum(message["role"] == "assistant" for message in messages)
    assert turns[-1] == ""
    assert all("<tool_call>" in turn and "<tool_response>" not in turn for turn in turns[:-1])
    assert '"name": "submit_answer"' in turns[-2]
    for message in messages:
        if message["role"] != "assistant":
            assert message["content"] not in text


def test_a_number_is_learned_as_it_was_said(scripted, words_engine, trainer, tmp_path):
    from datasets import load_dataset

    record = scripted("E_CART", {"tool_calls": [SEARCH]}, {"answer": {}})
    export([record], words_engine, tmp_path / "out", Choice(only="answered", min_total=-1))
    dataset = load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["train"]
    assert '"filters": {"weight": {"le": 0.3}}, "limit": 2}' in learned(trainer(dataset))
