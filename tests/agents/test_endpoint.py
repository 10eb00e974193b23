"""Agents behind a server: what they send, what they note, and how they are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from chat_server import ChatStub, Scripted, completion, played, players_on, respond, running, says, sends

from ecomrlve.agents.endpoint import EndpointOptions, EndpointPlayers
from ecomrlve.agents.endpoint_server import KEY, Place, place_of
from ecomrlve.agents.endpoint_trouble import EndpointError
from ecomrlve.agents.names import AgentNameError, read_options, split_name
from ecomrlve.environment import Environment

ENVIRONMENTS = ("E_PD", "E_CART", "E_SUB", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE", "E_JOURNEY")


@pytest.fixture(scope="module")
def scripted(words_engine: Any) -> Scripted:
    """A model that plays one episode of each environment as the reference agent does."""
    model = Scripted(words_engine)
    for env_id in ENVIRONMENTS:
        model.learn(env_id)
    return model


@pytest.fixture
def stub(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatStub]:
    monkeypatch.delenv(KEY, raising=False)
    with running(scripted) as made:
        yield made


# --- what is sent


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_model_with_tools_plays_whole_episodes(
    words_engine: Any, stub: ChatStub, scripted: Scripted, env_id: str
) -> None:
    reward, notes, record = played(words_engine, players_on(stub, price_in=2.0, price_out=8.0), env_id)
    assert reward.correct
    assert reward.total == scripted.rewards[env_id]
    turns = len(record["steps"])
    tokens = {"requests": turns, "prompt_tokens": 100 * turns, "completion_tokens": 10 * turns}
    assert notes == tokens | {"cost": pytest.approx(turns * (200 + 80) / 1e6)}
    chat = stub.requests[-1]["messages"]
    called = [call for message in chat for call in message.get("tool_calls", ())]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in called)
    results = [message["tool_call_id"] for message in chat if message["role"] == "tool"]
    assert results == [call["id"] for call in called]
    assert all({tool["function"]["name"] for tool in body["tools"]} >= {"ask_user"} for body in stub.requests)
    assert [message["role"] for message in chat[:2]] == ["system", "user"]


@pytest.mark.parametrize("dialect", ["json", "hermes"])
def test_a_model_that_writes_its_calls_plays_as_well_and_is_sent_no_tools(words_engine: Any, dialect: str) -> None:
    model = Scripted(words_engine, dialect)
    model.learn("E_CART")
    with running(model) as stub:
        reward, notes, _ = played(words_engine, players_on(stub, dialect=dialect))
    assert reward.total == model.rewards["E_CART"]
    assert set(notes) == {"requests", "prompt_tokens", "completion_tokens"}
    chat = stub.requests[-1]["messages"]
    assert not any("tools" in body for body in stub.requests)
    assert [message["role"] for message in chat[1:]] == ["user", "assistant"] * (len(chat) // 2 - 1) + ["user"]
    assert not any("<think>" in message["content"] for message in chat[1:])
    assert any("Result of " in message["content"] for message in chat)


def test_options_are_sent_and_what_is_not_set_is_not(words_engine: Any, stub: ChatStub) -> None:
    played(words_engine, players_on(stub))
    assert set(stub.requests[0]) == {"model", "messages", "tools", "max_tokens", "seed"}
    assert (stub.requests[0]["model"], stub.requests[0]["max_tokens"]) == ("my-model", 1024)
    stub.requests.clear()
    extra = '{"chat_template_kwargs": {"style": "brief"}, "max_tokens": null, "max_completion_tokens": 7, "top_k": 5}'
    played(words_engine, players_on(stub, temperature=0.6, top_p=0.9, thinking=False, extra=extra))
    sent = {name: stub.requests[0].get(name) for name in ("temperature", "top_p", "max_completion_tokens", "top_k")}
    assert sent == {"temperature": 0.6, "top_p": 0.9, "max_completion_tokens": 7, "top_k": 5}
    assert "max_tokens" not in stub.requests[0]
    assert stub.requests[0]["chat_template_kwargs"] == {"enable_thinking": False, "style": "brief"}


def test_seeds_follow_from_the_episode_the_trial_and_the_turn(words_engine: Any, stub: ChatStub) -> None:
    def seeds(trial: int = 0, seed: int = 0) -> list[int]:
        stub.requests.clear()
        played(words_engine, players_on(stub, seed=seed), trial=trial)
        return [body["seed"] for body in stub.requests]

    first = seeds()
    assert len(first) == len(set(first)) > 1
    assert all(0 <= seed < 2**31 for seed in first)
    assert first == seeds()
    assert set(first).isdisjoint(seeds(trial=1))
    assert set(first).isdisjoint(seeds(seed=1))


def test_thoughts_do_not_count_and_are_not_sent_back(words_engine: Any, stub: ChatStub) -> None:
    asks = {"role": "assistant", "content": "Hm, they want a cart.\n</think>\n\nWhich size do you need?"}
    stub.reactions[0] = says(asks)
    stub.always = says({"role": "assistant", "content": "So far.", "reasoning_content": "I think"})
    _, _, record = played(words_engine, players_on(stub))
    assert record["steps"][0]["canonical"] == {"assistant_message": "Which size do you need?"}
    assert record["steps"][0]["action"]["content"].startswith("<think>Hm")
    assert record["steps"][1]["action"] == {"role": "assistant", "content": "So far."}
    assert "they want a cart" not in json.dumps(stub.requests)
    assert "I think" not in json.dumps(stub.requests)


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": -1}, {"prompt_tokens": "7"}])
def test_answers_without_token_counts_are_counted(words_engine: Any, stub: ChatStub, usage: Any) -> None:
    stub.usage = usage
    _, notes, record = played(words_engine, players_on(stub, price_in=1.0))
    assert notes == {"requests": len(record["steps"]), "tokens_unknown": len(record["steps"])}


def test_players_that_go_in_step_play_as_well(words_engine: Any, stub: ChatStub) -> None:
    players = players_on(stub)
    env = Environment(("E_CART",), words_engine)
    observation, _ = env.reset(seed=1, options={"difficulty": 3})
    agent = players.player()
    agent.reset(env)
    (action,) = players.act([agent], [observation])
    assert action["role"] == "assistant"
    assert agent.notes()["requests"] == 1


# --- the key


def test_the_key_is_sent_and_found_nowhere_else(
    words_engine: Any, stub: ChatStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret-123"
    monkeypatch.setenv(KEY, f"{key}\n")
    echo = f"Incorrect API key provided: {key}. \ud800 Bearer {key}"
    stub.reactions[0] = sends({"error": {"message": echo}}, 500)
    stub.reactions[1] = sends(f"plain {key}".encode(), 503)
    stub.always = sends({"error": {"message": echo}}, 401)
    players = players_on(stub)
    _, notes, record = played(words_engine, players)
    assert set(stub.keys) == {f"Bearer {key}"}
    assert len(notes["problems"]) == 3
    assert "Incorrect API key provided: [key]" in notes["failed"]
    with pytest.raises(EndpointError, match=r"401.*check the key in ECOMRLVE_AGENT_KEY") as failure:
        players.check()
    seen = [json.dumps(notes), json.dumps(record), str(failure.value), repr(failure.value), players.name, repr(players)]
    assert not any(key in text for text in seen)
    json.dumps(notes, ensure_ascii=False).encode()  # half characters would not fit a file


def test_a_server_of_ones_own_is_not_sent_the_login_of_the_hub(
    words_engine: Any, stub: ChatStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_login")
    players_on(stub).check()
    assert stub.keys == ["Bearer none"]
    # As it is where the Hub itself is asked.
    monkeypatch.setattr("ecomrlve.agents.endpoint_server.ROUTER", f"{stub.url}/v1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    EndpointPlayers("hub", "Qwen/Qwen3-8B", EndpointOptions(provider="together")).check()
    assert stub.keys[1:] == ["Bearer hf_login"]
    assert stub.requests[1]["model"] == "Qwen/Qwen3-8B:together"


def test_a_key_that_cannot_be_sent_is_an_error(stub: ChatStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "two words")
    with pytest.raises(EndpointError, match="has characters that no key has") as failure:
        players_on(stub)
    assert "words" not in str(failure.value)


# --- the check before the first episode


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405, 307])
def test_a_mistake_in_the_settings_shows_before_the_first_episode(stub: ChatStub, status: int) -> None:
    stub.always = sends({"error": {"message": "no such thing"}}, status, Location="https://elsewhere/v1")
    with pytest.raises(EndpointError, match=rf"'my-model': request refused \({status}\).*; check the "):
        players_on(stub).check()
    assert (len(stub.requests), stub.requests[0]["max_tokens"]) == (1, 1)


def test_no_server_shows_before_the_first_episode() -> None:
    with pytest.raises(EndpointError, match="is the server running"):
        EndpointPlayers("x", "http://127.0.0.1:9#m").check()


@pytest.mark.parametrize("reaction", [sends({}, 429), sends({}, 500), sends({"error": "what?"}, 400), sends(b"what?")])
def test_everything_else_is_left_to_the_episodes_with_a_warning(stub: ChatStub, reaction: Any) -> None:
    stub.always = reaction
    with pytest.warns(UserWarning, match="playing anyway"):
        players_on(stub).check()
    stub.always = stub.hang
    with pytest.warns(UserWarning, match="timed out"):
        players_on(stub, timeout=0.1).check()


@pytest.mark.filterwarnings("error")
def test_a_server_that_answers_is_fine_whatever_its_model_says(stub: ChatStub) -> None:
    players_on(stub).check()
    stub.always = says({"content": None})
    players_on(stub).check()
    assert [body["max_tokens"] for body in stub.requests] == [1, 1]


def test_the_hub_is_not_asked_offline_nor_without_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_login")
    with pytest.raises(EndpointError, match="HF_HUB_OFFLINE is set"):
        EndpointPlayers("x", "Qwen/Qwen3-8B").check()
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(EndpointError, match="hf auth login"):
        EndpointPlayers("x", "Qwen/Qwen3-8B").check()


# --- a chat that is too long


def test_a_chat_that_is_too_long_loses_its_oldest_results(words_engine: Any) -> None:
    model = Scripted(words_engine)
    model.learn("E_PD")
    most = 35_000  # characters of the chat: more than the last two turns have, less than all have

    def strict(handler: Any) -> None:
        body = stub.requests[-1]
        if len(json.dumps(body["messages"])) > most:
            respond(handler, {"error": {"message": "maximum context length exceeded"}}, 400)
        else:
            respond(handler, completion(model(body)))

    with running(model) as stub:
        stub.always = strict
        reward, notes, record = played(words_engine, players_on(stub), "E_PD")
    assert reward.total == model.rewards["E_PD"]
    assert notes["dropped_results"] > 0
    assert notes["requests"] > len(record["steps"])
    assert all("maximum context length exceeded" in problem for problem in notes["problems"])
    assert stub.requests[-1]["messages"][0]["role"] == "system"


def test_a_known_limit_is_kept_without_being_told(words_engine: Any, stub: ChatStub, scripted: Scripted) -> None:
    reward, notes, _ = played(words_engine, players_on(stub, context=1))
    assert reward.total == scripted.rewards["E_CART"]
    assert notes["dropped_turns"] + notes["dropped_results"] > 0
    assert "retries" not in notes


def test_a_chat_that_cannot_be_made_shorter_is_a_failure(words_engine: Any, stub: ChatStub) -> None:
    stub.always = sends({"error": {"message": "prompt is too long"}}, 413)
    _, notes, _ = played(words_engine, players_on(stub))
    assert notes["failed"] == "request refused (413): prompt is too long"
    assert notes["requests"] == 1


# --- names


@pytest.mark.parametrize(
    ("where", "url", "model"),
    [
        ("http://127.0.0.1:8000#my-model", "http://127.0.0.1:8000/v1/chat/completions", "my-model"),
        ("http://127.0.0.1:8000/v1/#org/model:tag", "http://127.0.0.1:8000/v1/chat/completions", "org/model:tag"),
        ("https://host/api/v4#m", "https://host/api/v4/chat/completions", "m"),
        ("https://host/openai/chat/completions#m", "https://host/openai/chat/completions", "m"),
        ("http://[::1]:9/x#m", "http://[::1]:9/x/v1/chat/completions", "m"),
    ],
)
def test_a_url_may_be_given_with_or_without_its_usual_end(where: str, url: str, model: str) -> None:
    assert place_of(where) == Place(url, model, hub=False)


def test_a_model_of_the_hub_may_name_its_provider() -> None:
    router = "https://router.huggingface.co/v1/chat/completions"
    assert place_of("Qwen/Qwen3-8B") == Place(router, "Qwen/Qwen3-8B", hub=True)
    assert place_of("Qwen/Qwen3-8B", "auto") == Place(router, "Qwen/Qwen3-8B", hub=True)
    assert place_of("Qwen/Qwen3-8B", "groq") == Place(router, "Qwen/Qwen3-8B:groq", hub=True)


@pytest.mark.parametrize(
    ("where", "provider", "reason"),
    [
        ("http://host/v1", None, "the model is missing"),
        ("ftp://host#m", None, "no address"),
        ("http://#m", None, "no address"),
        ("http://host:x/#m", None, "no address"),
        ("http://host:99999/#m", None, "no address"),
        (f"http://{'a' * 80}/#m", None, "no address"),
        ("two words", None, "write endpoint:URL#MODEL"),
        ("a/b/c", None, "write endpoint:URL#MODEL"),
        ("http://host#m", "groq", "for models of Hugging Face"),
        ("http://me:secret@host#m", None, "ECOMRLVE_AGENT_KEY"),
        ("http://secret@host", None, "ECOMRLVE_AGENT_KEY"),
    ],
)
def test_what_names_no_server_is_an_error(where: str, provider: str | None, reason: str) -> None:
    with pytest.raises(AgentNameError, match=reason) as failure:
        place_of(where, provider)
    assert "secret" not in str(failure.value)


def test_options_come_from_the_name() -> None:
    name = 'endpoint:http://h/v1#m?temperature=0.6&tries=2&thinking=false&extra={"top_k":5}&per_minute=30&dialect=json'
    kind, where, texts = split_name(name)
    assert (kind, where) == ("endpoint", "http://h/v1#m")
    options = read_options(name, texts, EndpointOptions)
    assert (options.temperature, options.tries, options.thinking, options.extra) == (0.6, 2, False, {"top_k": 5})
    players = EndpointPlayers(name, where, options)
    assert (players.name, players.width, players.threads) == (name, 8, True)


@pytest.mark.parametrize(
    "option",
    [
        "tries=0", "parallel=0", "timeout=0", "timeout=inf", "temperature=nan", "top_p=2", "dialect=yaml", "extra=[1]",
        'extra={"a":', 'extra={"stream":true}', 'extra={"messages":[]}', 'extra={"a":NaN}', "provider=a b", "key=x",
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_errors(option: str) -> None:
    name = f"endpoint:http://h#m?{option}"
    with pytest.raises(AgentNameError):
        read_options(name, split_name(name)[2], EndpointOptions)
