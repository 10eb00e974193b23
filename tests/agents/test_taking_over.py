"""Models that go on in the middle of an episode: they are told what happened, and nobody asks them anew for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatStub, Scripted, players_on, running
from tiny_checkpoint import scripted

from ecomrlve.agents import checkpoint
from ecomrlve.agents.checkpoint import CheckpointOptions, CheckpointPlayers
from ecomrlve.agents.past_turns import past_message
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import TASKS
from ecomrlve.environment import Environment

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

DIALECTS = ("native", "json", "hermes")
SEARCH = {"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp"}}], "assistant_message": "One moment."}


@pytest.fixture(scope="module")
def model(words_engine: Any) -> Scripted:
    """A model that plays one episode of each environment as the reference agent does."""
    made = Scripted(words_engine)
    for env_id in TASKS:
        made.learn(env_id)
    return made


@pytest.fixture
def stub(model: Scripted) -> Iterator[ChatStub]:
    with running(model) as made:
        yield made


def turns(engine: Any, agent: Any, env_id: str, seed: int = 1) -> list[tuple[Any, Any]]:
    """An episode of an agent: what it saw, and what it did."""
    env = Environment((env_id,), engine)
    observation, _ = env.reset(seed=seed, options={"difficulty": 3})
    agent.reset(env)
    found = []
    while not env.episode.over:
        found.append((observation, agent.act(observation)))
        observation, *_ = env.step(found[-1][1])
    return found


def follower(engine: Any, players: Any, env_id: str, past: list[tuple[Any, Any]], seed: int = 1) -> Any:
    """A player that has been told of turns."""
    env = Environment((env_id,), engine)
    env.reset(seed=seed, options={"difficulty": 3})
    agent = players.player()
    agent.reset(env)
    for observation, action in past:
        agent.follow(observation, action)
    return agent


@pytest.mark.parametrize("env_id", TASKS)
def test_whoever_is_told_of_its_own_turns_has_the_chat_of_whoever_took_them(
    words_engine: Any, stub: ChatStub, env_id: str
) -> None:
    players = players_on(stub)
    past = turns(words_engine, players.player(), env_id)
    asked = len(stub.requests)
    agent = follower(words_engine, players, env_id, past[:-1])
    assert len(stub.requests) == asked
    assert agent.act(past[-1][0]) == past[-1][1]
    assert stub.requests[-1] == stub.requests[asked - 1]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("env_id", ["E_CART", "E_STATUS", "E_JOURNEY"])
def test_what_others_did_stands_in_the_chat_as_the_model_would_have_written_it(
    words_engine: Any, stub: ChatStub, env_id: str, dialect: str
) -> None:
    past = turns(words_engine, ReferenceAgent(), env_id)
    follower(words_engine, players_on(stub, dialect=dialect), env_id, past[:-1]).act(past[-1][0])
    chat = stub.requests[-1]["messages"]
    own = [message for message in chat if message["role"] == "assistant"]
    assert len(own) == len(past) - 1
    called = [call["function"] for message in own for call in message.get("tool_calls", ())]
    made = [call for _, action in past[:-1] for call in action.get("tool_calls", ())]
    if dialect == "native":
        results = [message["tool_call_id"] for message in chat if message["role"] == "tool"]
        assert results == [call["id"] for message in own for call in message.get("tool_calls", ())]
        real = [call for call in called if call["name"] != "submit_answer"]
        assert [(call["name"], json.loads(call["arguments"])) for call in real] == [
            (call["name"], call["args"]) for call in made
        ]
    else:
        assert not called
        assert [message["role"] for message in chat[1:]] == ["user", "assistant"] * (len(past) - 1) + ["user"]
        begins = "{" if dialect == "json" else "<tool_call>"
        assert all(begins in message["content"] for message in own[:1])
    for (_, action), message in zip(past, own, strict=False):
        assert action.get("assistant_message", "") in message["content"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_odd_turn_is_told_or_left_out(dialect: Any) -> None:
    assert past_message({"tool_calls": 3}, dialect) is None
    assert past_message('{"broken', dialect) is None
    assert past_message("<think>Hm.</think>\nWhich one?", dialect)["content"] == "Which one?"
    draft = past_message({"answer": {"done": False}}, dialect)
    assert json.loads(draft["content"]) == {"answer": {"done": False}}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_checkpoint_is_told_without_being_asked(
    words_engine: Any, monkeypatch: pytest.MonkeyPatch, dialect: Any
) -> None:
    loaded = scripted(lambda prompt: "Which lamp?")
    monkeypatch.setattr(checkpoint, "load", lambda *_, **__: loaded)
    players = CheckpointPlayers("checkpoint:tiny-random", "tiny-random", CheckpointOptions(dialect=dialect))
    env = Environment(("E_CART",), words_engine)
    observation, _ = env.reset(seed=1, options={"difficulty": 0})
    agent = players.player()
    agent.reset(env)
    agent.follow(observation, SEARCH)
    assert loaded.model.prompts == []
    observation, *_ = env.step(SEARCH)
    assert agent.act(observation) == "Which lamp?"
    (prompt,) = loaded.model.prompts
    result = json.dumps(observation.messages[0]["result"], ensure_ascii=False)
    assert result in prompt
    assert prompt.index("One moment.") < prompt.index(result)
    assert agent.notes()["requests"] == 1
    agent.follow(observation, "Which lamp?")


def test_a_seated_model_goes_on_after_a_person(
    words_engine: Any, stub: ChatStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from components.agents import Seat
    from components.episode import YOU
    from components.session import Shop

    name = f"endpoint:{stub.url}/v1#my-model"
    monkeypatch.setenv("ECOMRLVE_AGENTS", name)
    shop = Shop(lambda: words_engine)
    shop.wait()
    past = [(YOU, SEARCH), (name, {"role": "assistant", "content": "What colour?"}), (YOU, "Which size?")]
    seat = Seat(name, shop.open("E_CART", 3, 7), past)
    assert stub.requests == []
    seat.turn()
    chat = stub.requests[-1]["messages"]
    said = [message["content"] for message in chat if message["role"] == "assistant"]
    assert said == ["One moment.", "What colour?", "Which size?"]
    assert chat[-1]["content"].endswith("[turns left: 1]") or "turns left" in chat[-1]["content"]
    assert seat.episode.players == [YOU, name, YOU, name]
