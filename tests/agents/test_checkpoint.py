"""The agent that is a language model of transformers, with the tiny model and with models that follow a script."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from tiny_checkpoint import Cell, Played, play_in_step, scripted

from ecomrlve.agents import checkpoint
from ecomrlve.agents.base import NO_ANSWER
from ecomrlve.agents.chat import DROPPED
from ecomrlve.agents.checkpoint import CheckpointOptions, CheckpointPlayers
from ecomrlve.agents.checkpoint_chats import CheckpointError
from ecomrlve.agents.checkpoint_model import Checkpoint
from ecomrlve.agents.names import AgentNameError, read_options, split_name
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import TASKS
from ecomrlve.environment import Environment
from ecomrlve.protocol import parse_action
from ecomrlve.replay import verify

CALL = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'


def players_of(name: str) -> CheckpointPlayers:
    _, what, options = split_name(name)
    return CheckpointPlayers(name, what, read_options(name, options, CheckpointOptions))


def texts(played: list[Played]) -> list[list[str]]:
    return [episode.actions for episode in played]


Script = Callable[[Callable[[str], str] | Checkpoint], Any]


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Makes `checkpoint:tiny-random` follow a script from now on; returns the model."""

    def start(script: Callable[[str], str] | Checkpoint) -> Any:
        model = script if isinstance(script, Checkpoint) else scripted(script)
        monkeypatch.setattr(checkpoint, "load", lambda *_, **__: model)
        return model.model

    return start


# --- the tiny model plays --------------------------------------------------------------------------------------------


def test_episodes_of_all_environments_come_to_a_recorded_end(words_engine: Any):
    name = "checkpoint:tiny-random?max_new_tokens=8&temperature=1&batch=3"
    cells = [(env_id, 3, 1, 0) for env_id in TASKS]
    played = play_in_step(players_of(name), words_engine, cells)  # in batches of about the same length
    for (env_id, *_), episode in zip(cells, played, strict=True):
        assert episode.record["env_id"] == env_id
        assert episode.record["player"]["name"] == name
        assert episode.record["reward"]["reason"]
        assert all(isinstance(action, str) for action in episode.actions)
        assert [step["action"] for step in episode.record["steps"]] == episode.actions
        assert verify(episode.record, words_engine).ok
        turns = len(episode.actions)
        assert episode.notes["requests"] == turns
        assert 1 <= episode.notes["completion_tokens"] <= 8 * turns
        assert episode.notes["prompt_tokens"] > 1000 * turns
        assert episode.notes.get("cut_off", 0) <= turns
        assert set(episode.notes) <= {"requests", "prompt_tokens", "completion_tokens", "cut_off"}


CELLS: list[Cell] = [("E_CART", 3, 0, 0), ("E_SUB", 9, 1, 0), ("E_POLICY", 0, 2, 0), ("E_PD", 6, 3, 0)]


@pytest.mark.parametrize("options", ["temperature=0", "temperature=1&top_k=50&top_p=0.95"])
def test_an_episode_does_not_depend_on_its_company(words_engine: Any, options: str):
    def play(cells: list[Cell], batch: int) -> dict[Cell, list[str]]:
        players = players_of(f"checkpoint:tiny-random?max_new_tokens=8&{options}&batch={batch}")
        return dict(zip(cells, texts(play_in_step(players, words_engine, cells)), strict=True))

    alone = play(CELLS, 1)
    assert play(CELLS, 3) == alone
    others: list[Cell] = [("E_STATUS", 12, 9, 0), *reversed(CELLS)]
    together = play(others, 5)
    assert {cell: together[cell] for cell in CELLS} == alone
    assert len({str(said) for said in together.values()}) == len(others)


def test_trials_and_seeds_draw_anew_and_repeat_themselves(words_engine: Any):
    def play(options: str, trial: int) -> list[str]:
        players = players_of(f"checkpoint:tiny-random?max_new_tokens=8&{options}")
        return texts(play_in_step(players, words_engine, [("E_CART", 3, 0, trial)]))[0]

    sampled = {
        (options, trial): play(options, trial)
        for options in ("temperature=1", "temperature=1&seed=7")
        for trial in (0, 1)
    }
    assert len({said[0] for said in sampled.values()}) == 4
    assert play("temperature=1&seed=7", 1) == sampled["temperature=1&seed=7", 1]
    greedy = play("temperature=0", 0)
    assert play("temperature=0&seed=7", 1) == greedy
    assert play("temperature=1&top_k=1", 3) == greedy


def test_an_agent_alone_plays_as_it_does_among_others(words_engine: Any):
    from ecomrlve.agents.base import play

    players = players_of("checkpoint:tiny-random?max_new_tokens=8&temperature=0.7")
    env = Environment(("E_CART",), words_engine)
    play(env, players.player(2), seed=5, difficulty=1)
    [episode] = play_in_step(players, words_engine, [("E_CART", 1, 5, 2)])
    assert [step["action"] for step in env.episode.steps] == episode.actions


def test_a_player_starts_anew_with_each_episode(words_engine: Any):
    players = players_of("checkpoint:tiny-random?max_new_tokens=8")
    agent = players.player()
    env = Environment(("E_POLICY",), words_engine)
    seen = []
    for _ in range(2):
        observation, _ = env.reset(seed=1)
        agent.reset(env)
        assert agent.notes() == {}
        seen.append((agent.act(observation), agent.notes(), len(agent.chat.messages)))
    assert seen[0] == seen[1]


# --- a model that follows a script -----------------------------------------------------------------------------------


def test_a_call_is_run_and_its_result_is_in_the_next_prompt(words_engine: Any, follow: Script):
    def script(prompt: str) -> str:
        return "Goodbye." if "<tool_response>" in prompt else CALL % ("catalog_search", '{"query": "lamp"}')

    model = follow(script)
    [episode] = play_in_step(players_of("checkpoint:tiny-random"), words_engine, [("E_CART", 0, 0, 0)])
    result = episode.record["steps"][0]["tool_results"][0]
    assert (result["name"], result["args"]) == ("catalog_search", {"query": "lamp"})
    text = json.dumps(result["result"], ensure_ascii=False)
    assert f"<tool_response>\n{text}\n" in model.prompts[1]
    assert CALL % ("catalog_search", '{"query": "lamp"}') in model.prompts[1]
    assert "# Tools" in model.prompts[0]
    assert '"name": "submit_answer"' in model.prompts[0]


@pytest.mark.parametrize("env_id", TASKS)
def test_what_solves_an_episode_solves_it_in_a_models_words(words_engine: Any, follow: Script, env_id: str):
    env = Environment((env_id,), words_engine)
    agent = ReferenceAgent()
    observation, _ = env.reset(seed=2, options={"difficulty": 4})
    agent.reset(env)
    said = []
    while not env.episode.over:
        action = parse_action(agent.act(observation))
        calls = [(call.name, call.args) for call in action.tool_calls]
        calls += [("submit_answer", action.answer)] if action.answer is not None else []
        said.append("\n".join([action.message, *(CALL % (name, json.dumps(args)) for name, args in calls)]))
        observation, *_ = env.step(action)
    script = iter(said)
    follow(lambda prompt: f"<think>\nNext.\n</think>\n\n{next(script)}")
    name = "checkpoint:tiny-random?thinking=on&context=1000000&max_new_tokens=5000"
    [episode] = play_in_step(players_of(name), words_engine, [(env_id, 4, 2, 0)])
    assert env.episode.reward is not None
    assert episode.record["reward"] == json.loads(json.dumps(env.episode.reward.to_dict()))
    assert episode.record["reward"]["correct"]
    assert episode.notes["requests"] == len(said)


def test_former_thoughts_are_not_sent_again(words_engine: Any, follow: Script):
    model = follow(lambda prompt: "<think>\nSecret.\n</think>\n\nWhat would you like?")
    [episode] = play_in_step(players_of("checkpoint:tiny-random?thinking=on"), words_engine, [("E_CART", 0, 0, 0)])
    assert len(model.prompts) == len(episode.actions) > 1
    assert "What would you like?" in model.prompts[-1]
    assert "Secret" not in model.prompts[-1]


@pytest.mark.parametrize("begun", [True, False])
def test_a_thought_that_was_cut_off_is_an_invalid_action(words_engine: Any, follow: Script, begun: bool):
    follow(scripted(lambda prompt: "Hm. " * 100, "{{ '<think>\n' }}" if begun else ""))
    name = "checkpoint:tiny-random?thinking=on&max_new_tokens=20"
    [episode] = play_in_step(players_of(name), words_engine, [("E_CART", 0, 0, 0)])
    assert episode.notes["cut_off"] == len(episode.actions)
    reward = episode.record["reward"]
    assert (reward["total"] == -1, "</think> never comes" in reward["reason"]) == (begun, begun)
    assert "failed" not in episode.notes


@pytest.mark.parametrize("dialect", ["json", "hermes"])
def test_in_the_other_dialects_everything_is_text(words_engine: Any, follow: Script, dialect: str):
    action = '{"tool_calls": [{"name": "cart_view", "args": {}}]}' if dialect == "json" else CALL % ("cart_view", "{}")
    model = follow(lambda prompt: action)
    name = f"checkpoint:tiny-random?dialect={dialect}"
    [episode] = play_in_step(players_of(name), words_engine, [("E_CART", 0, 0, 0)])
    assert episode.record["steps"][0]["tool_results"][0]["name"] == "cart_view"
    assert "# Tools" not in model.prompts[0]
    assert "cart_view" in model.prompts[0]
    assert f"<|im_start|>assistant\n{action}<|im_end|>" in model.prompts[1]
    assert "<|im_start|>user\nResult of cart_view: {" in model.prompts[1]


def test_tokens_are_those_of_the_tokenizer(words_engine: Any, follow: Script):
    model = follow(lambda prompt: "A lamp?")
    [episode] = play_in_step(players_of("checkpoint:tiny-random"), words_engine, [("E_CART", 0, 0, 0)])
    tokenizer = checkpoint.load().chats.tokenizer
    assert episode.notes["prompt_tokens"] == sum(len(tokenizer(prompt)["input_ids"]) for prompt in model.prompts)
    answer = len(tokenizer("A lamp?<|im_end|>")["input_ids"])
    assert episode.notes["completion_tokens"] == answer * len(episode.actions)


# --- trouble ---------------------------------------------------------------------------------------------------------


def test_the_oldest_results_go_first_when_the_context_is_full(words_engine: Any, follow: Script):
    pages = count(1)
    page = lambda prompt: CALL % ("catalog_search", json.dumps({"query": "a lamp", "limit": 5, "page": next(pages)}))
    model = follow(page)
    players = players_of("checkpoint:tiny-random?context=5000&max_new_tokens=500")
    [episode] = play_in_step(players, words_engine, [("E_CART", 12, 0, 0)])
    assert len(episode.actions) > 5
    results = [json.dumps(step["tool_results"][0]["result"], ensure_ascii=False) for step in episode.record["steps"]]
    assert model.prompts[-1].count(DROPPED) == episode.notes["dropped_results"] > 1
    shown = [result for result in results[:-1] if result in model.prompts[-1]]
    assert shown == results[episode.notes["dropped_results"] : -1]
    tokenizer = checkpoint.load().chats.tokenizer
    assert max(len(tokenizer(prompt)["input_ids"]) for prompt in model.prompts) <= 4500
    assert "failed" not in episode.notes


def test_a_chat_that_never_fits_ends_its_episode_alone(words_engine: Any, follow: Script):
    long = CALL % ("catalog_search", '{"query": "lamp", "limit": 100}')
    follow(lambda prompt: long if '"catalog_search"' in prompt else "Yes?")
    cells: list[Cell] = [("E_CART", 0, 0, 0), ("E_STATUS", 0, 0, 0)]
    failing, other = play_in_step(players_of("checkpoint:tiny-random?context=4000"), words_engine, cells)
    reason = "the chat does not fit the context of 4000 tokens, 512 of them for the answer"
    assert failing.notes["failed"] == reason
    assert f"{NO_ANSWER}: {reason}" in failing.record["reward"]["reason"]
    assert verify(failing.record, words_engine).ok
    assert "failed" not in other.notes
    assert len(other.actions) > 2


def test_a_template_that_fails_ends_the_episode(words_engine: Any, follow: Script):
    fussy = scripted(lambda prompt: CALL % ("cart_view", "{}") * 2)
    twice = "{% for m in messages %}{% if m.tool_calls and m.tool_calls|length > 1 %}{{ raise_exception('One!') }}"
    fussy.chats.tokenizer.chat_template += twice + "{% endif %}{% endfor %}"
    follow(fussy)
    [episode] = play_in_step(players_of("checkpoint:tiny-random"), words_engine, [("E_CART", 0, 0, 0)])
    assert episode.notes["failed"] == "the chat template fails: TemplateError: One!"
    assert len(episode.actions) == 2


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate 2 GiB.")])
def test_when_memory_runs_out_fewer_chats_are_answered_at_a_time(words_engine: Any, follow: Script, error: Exception):
    model = follow(lambda prompt: "Hello?")
    real = model.generate

    def generate(input_ids: Any, **rest: Any) -> Any:
        if len(input_ids) > 3:
            raise error
        return real(input_ids=input_ids, **rest)

    model.generate = generate
    cells = [("E_CART", 0, seed, 0) for seed in range(7)]
    played = play_in_step(players_of("checkpoint:tiny-random?batch=7"), words_engine, cells)
    assert model.batches[:3] == [3, 3, 1]
    assert max(model.batches) == 3
    assert all(episode.notes["problems"] == ["memory ran out for 7 chats at a time"] for episode in played)
    assert all("failed" not in episode.notes for episode in played)
    assert all(episode.actions == ["Hello?"] * len(episode.actions) for episode in played)


def test_memory_for_not_even_one_chat_ends_the_episode(words_engine: Any, follow: Script):
    def generate(**_: Any) -> Any:
        raise MemoryError

    follow(lambda prompt: "").generate = generate
    played = play_in_step(players_of("checkpoint:tiny-random"), words_engine, [("E_CART", 0, 0, 0)] * 2)
    assert [episode.notes["failed"] for episode in played] == ["memory ran out"] * 2
    assert all(f"{NO_ANSWER}: memory ran out" in episode.record["reward"]["reason"] for episode in played)


def test_another_error_of_the_model_is_not_hidden(words_engine: Any, follow: Script):
    def generate(**_: Any) -> Any:
        raise RuntimeError("device-side assert triggered")

    follow(lambda prompt: "").generate = generate
    with pytest.raises(RuntimeError, match="device-side assert"):
        play_in_step(players_of("checkpoint:tiny-random"), words_engine, [("E_CART", 0, 0, 0)])


# --- names, options, loading -----------------------------------------------------------------------------------------


def test_the_module_costs_nothing_before_it_is_used():
    script = "import sys, ecomrlve.agents.checkpoint; print({'torch', 'transformers', 'trl'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_the_defaults_are_greedy_without_thinking():
    players = players_of("checkpoint:some/model")
    assert (players.name, players.width, players.threads) == ("checkpoint:some/model", 8, False)
    options = players.options
    assert (options.thinking, options.temperature, options.max_new_tokens) == (False, 0.0, 512)
    assert players_of("checkpoint:some/model?batch=3&thinking=on").options.thinking
    assert players_of("checkpoint:some/model?batch=3").width == 3


@pytest.mark.parametrize(
    "option",
    [
        "temperature=-1", "temperature=nan", "temperature=inf", "top_p=0", "top_p=1.1", "top_k=-1", "max_new_tokens=0",
        "batch=0", "context=1", "dtype=int8", "dialect=latin", "thinking=perhaps", "seed=x", "colour=red",
    ],
)  # fmt: skip
def test_an_option_that_is_wrong_is_refused(option: str):
    with pytest.raises(AgentNameError, match=option.partition("=")[0]):
        players_of(f"checkpoint:some/model?{option}")


def test_nothing_is_loaded_before_the_first_turn_and_then_once(words_engine: Any, monkeypatch: pytest.MonkeyPatch):
    model = scripted(lambda prompt: "Hello?")
    loaded: list[Any] = []
    monkeypatch.setattr(checkpoint, "load", lambda *given, **options: loaded.append((given, options)) or model)
    name = "checkpoint:some/model?dtype=bfloat16&device=cpu&revision=v2"
    players = players_of(name)
    env = Environment(("E_CART",), words_engine)
    agents = [players.player() for _ in range(6)]
    observation, _ = env.reset(seed=0)
    for agent in agents:
        agent.reset(env)
    assert loaded == []
    threads = [threading.Thread(target=agent.act, args=(observation,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [(("some/model",), {"revision": "v2", "dtype": "bfloat16", "device": "cpu"})]
    assert [agent.notes()["requests"] for agent in agents] == [1] * 6


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("checkpoint:/no/such/folder", "'/no/such/folder' cannot be loaded: there is no such folder"),
        ("checkpoint:nobody/nothing?batch=2", "'nobody/nothing' cannot be loaded"),
    ],
)
def test_a_checkpoint_that_is_not_there_is_one_clear_error(words_engine: Any, name: str, complaint: str):
    with pytest.raises(CheckpointError, match=complaint):
        players_of(name).check()
    with pytest.raises(CheckpointError, match=complaint):
        play_in_step(players_of(name), words_engine, [("E_CART", 0, 0, 0)])


def test_checking_needs_no_weights(tmp_path: Any):
    from shutil import copytree

    from ecomrlve.agents.tiny_model import build, default_folder

    folder = copytree(build(default_folder()), tmp_path / "model")
    (folder / "model.safetensors").unlink()
    players_of(f"checkpoint:{folder}").check()
    with pytest.raises(CheckpointError, match="has a context of 8192 tokens, which leaves no room"):
        players_of(f"checkpoint:{folder}?max_new_tokens=9000").check()
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}{{ messages[1].content }}")
    players_of(f"checkpoint:{folder}?dialect=json").check()
    with pytest.raises(CheckpointError, match="cannot play: its chat template leaves out the tools"):
        players_of(f"checkpoint:{folder}").check()


def test_a_context_that_nobody_knows_must_be_said(follow: Script, words_engine: Any):
    model = scripted(lambda prompt: "Hello?")
    model.chats.context = None
    follow(model)
    with pytest.raises(CheckpointError, match="say context="):
        play_in_step(players_of("checkpoint:tiny-random"), words_engine, [("E_CART", 0, 0, 0)])
    play_in_step(players_of("checkpoint:tiny-random?context=8000"), words_engine, [("E_CART", 0, 0, 0)])
