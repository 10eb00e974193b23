"""The endpoint agent against a real server, `transformers serve`, with models that always say the same."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import played

from ecomrlve.agents.endpoint import EndpointOptions, EndpointPlayers
from ecomrlve.agents.endpoint_server import KEY

NEEDED = ("openai", "fastapi", "uvicorn", "accelerate", "torch", "transformers")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"transformers serve needs {', '.join(MISSING)}")

# Qwen's form, by which the server finds the model's calls.
TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{% for call in message.tool_calls or [] %}<tool_call>\n{{ call.function | tojson }}\n</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CALL = ("<tool_call>", '\n{"name": "datetime_now", "arguments": {}}\n', "</tool_call>")
TEXT = ('{"assistant_message": "Hello!"}',)


def build(folder: Path, *answer: str) -> str:
    """A checkpoint that answers everything with these tokens: each one has weights for none but the next."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    plain.train_from_iterator(
        [TEMPLATE],
        trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_tokens(list(answer))
    tokenizer.chat_template = TEMPLATE
    last = tokenizer.encode(TEMPLATE.removesuffix("{% endif %}"))[-1]  # of every prompt
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, tie_word_embeddings=False, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = Qwen3ForCausalLM(config)
    chain = [last, *tokenizer.convert_tokens_to_ids([*answer, "<|im_end|>"])]
    with torch.no_grad():
        for weights in model.parameters():
            weights.fill_(0.0 if weights.dim() > 1 else 1.0)
        for number, (token, following) in enumerate(itertools.pairwise(chain)):
            model.model.embed_tokens.weight[token, number] = 1.0
            model.lm_head.weight[following, number] = 1.0
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A running server."""
    program = "from transformers.cli.transformers import main; main()"
    command = [sys.executable, "-c", program, "serve", "--host", "127.0.0.1", "--port", "0", "--device", "cpu"]
    process = subprocess.Popen(
        [*command, "--log-level", "info"],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r"running on (http://127\.0\.0\.1:\d+)", line):
            break
    else:
        pytest.fail(f"the server did not start:\n{said}")
    drain = threading.Thread(target=process.stderr.read)
    drain.start()
    yield found[1]
    process.terminate()
    process.wait()
    drain.join()
    process.stderr.close()


@pytest.mark.parametrize("thinking", [None, False])
def test_calls_that_the_server_takes_out_of_the_text_are_made(
    words_engine: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thinking: bool | None
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    model = build(tmp_path / "calls", *CALL)
    players = EndpointPlayers("serve", f"{url}/v1#{model}", EndpointOptions(max_tokens=16, thinking=thinking))
    _, notes, record = played(words_engine, players)
    assert len(record["steps"]) > 1
    for step in record["steps"]:
        assert step["canonical"] == {"tool_calls": [{"name": "datetime_now", "args": {}}]}
        assert "today" in step["tool_results"][0]["result"]
    assert notes["requests"] == len(record["steps"])
    assert notes["completion_tokens"] == (len(CALL) + 1) * notes["requests"]
    assert notes["prompt_tokens"] > 1000
    assert not notes.keys() & {"retries", "problems", "failed", "tokens_unknown"}


def test_actions_written_as_text_are_read(words_engine: Any, url: str, tmp_path: Path) -> None:
    model = build(tmp_path / "writes", *TEXT)
    players = EndpointPlayers("serve", f"{url}#{model}", EndpointOptions(max_tokens=16, dialect="json"))
    players.check()
    _, notes, record = played(words_engine, players)
    assert [step["canonical"] for step in record["steps"]] == [{"assistant_message": "Hello!"}] * notes["requests"]


def test_a_model_that_is_not_there_is_an_error_of_this_server(words_engine: Any, url: str, tmp_path: Path) -> None:
    players = EndpointPlayers("serve", f"{url}#{tmp_path / 'nothing'}", EndpointOptions(tries=1))
    with pytest.warns(UserWarning, match=r"server error \(500\)"):
        players.check()
    _, notes, _ = played(words_engine, players)
    assert notes["failed"].startswith("server error (500)")
