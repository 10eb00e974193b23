"""Servers and models that misbehave: every episode ends with a record that says why, or goes on as if nothing was."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chat_server import (
    ChatStub,
    FakeTime,
    Scripted,
    completion,
    half,
    hang_up,
    played,
    players_on,
    running,
    says,
    sends,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.agents.base import NO_ANSWER
from ecomrlve.agents.endpoint_answer import Answer, read_answer
from ecomrlve.agents.endpoint_server import KEY, MOST_BYTES, wait_asked
from ecomrlve.agents.endpoint_trouble import RequestError
from ecomrlve.agents.endpoint_waiting import RateLimit
from ecomrlve.errors import InvalidActionError
from ecomrlve.protocol import parse_action

DEEP = "[" * 100_000
NOW = "Wed, 21 Oct 2026 07:28:00 GMT"
SOON = "Wed, 21 Oct 2026 07:28:09 GMT"
PASSED = "Wed, 21 Oct 2026 07:27:00 GMT"


@pytest.fixture(scope="module")
def scripted(words_engine: Any) -> Scripted:
    """A model that plays an episode as the reference agent does."""
    model = Scripted(words_engine)
    model.learn("E_CART")
    return model


@pytest.fixture
def stub(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatStub]:
    monkeypatch.delenv(KEY, raising=False)
    with running(scripted) as made:
        yield made


def endless(handler: Any) -> None:
    """Sends more than anybody wants to read."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(2 * MOST_BYTES // 2**20):
            handler.wfile.write(b" " * 2**20)
    except OSError:  # the client has had enough
        handler.close_connection = True


# What a server does → what is noted of it.
PASSING: dict[str, tuple[Any, str]] = {
    "broken JSON": (sends(b'{"choices": [{'), "unreadable answer: it is not JSON"),
    "not UTF-8": (sends(b'"\xff\xfe"'), "unreadable answer: it is not JSON"),
    "deep JSON": (sends(DEEP.encode()), "unreadable answer: it is not JSON"),
    "a long number": (sends(b"1" * 10_000), "unreadable answer: it is not JSON"),
    "a list": (sends([1, 2]), "unreadable answer: there are no choices"),
    "an error in disguise": (sends({"error": {"code": 429}}), "unreadable answer: there are no choices"),
    "empty choices": (sends({"choices": []}), "unreadable answer: there are no choices"),
    "choices of another type": (sends({"choices": ["a"]}), "unreadable answer: there are no choices"),
    "null message": (says(None), "unreadable answer: there is no message"),
    "content of another type": (says({"content": 7}), "unreadable answer: the content is no text"),
    "calls of another type": (says({"tool_calls": "x"}), "unreadable answer: the tool calls are no list"),
    "a call of another type": (says({"tool_calls": [7]}), "unreadable answer: a tool call has no name"),
    "a call without a name": (says({"tool_calls": [{"function": {}}]}), "unreadable answer: a tool call has no name"),
    "arguments of another type": (
        says({"tool_calls": [{"function": {"name": "cart_view", "arguments": [1]}}]}),
        "unreadable answer: the arguments of a tool call are neither a text nor an object",
    ),
    "endless": (endless, "unreadable answer: more than 16 MiB"),
    "broken compression": (sends(b"what?", Content_Encoding="gzip"), "the connection failed: "),
    "hung up": (hang_up, "the connection failed: "),
    "hung up half-way": (half, "the connection failed: "),
    "408": (sends({}, 408), r"request refused \(408\)"),
    "409": (sends({}, 409), r"request refused \(409\)"),
    "425": (sends({}, 425), r"request refused \(425\)"),
    "429": (sends({"error": {"message": "slow\n down"}}, 429), r"too many requests \(429\): slow down"),
    "500": (sends({"error": "oh"}, 500), r"server error \(500\): oh"),
    "502": (sends(b"<html>Bad gateway</html>", 502), r"server error \(502\)$"),
    "503": (sends({"detail": [{"msg": "loading"}]}, 503), r"server error \(503\): \[{\"msg\": \"loading\"}\]"),
}
LASTING: dict[str, tuple[Any, str]] = {
    "400": (sends({"error": {"message": "what?"}}, 400), r"request refused \(400\): what\?"),
    "401": (sends({"message": "who?"}, 401), r"request refused \(401\): who\?"),
    "403": (sends(b"no", 403), r"request refused \(403\): no"),
    "404": (sends({"error": {"message": "no such model"}}, 404), r"request refused \(404\): no such model"),
    "422": (sends({"detail": "seed?"}, 422), r"request refused \(422\): seed\?"),
    "301": (sends(b"", 301, Location="https://h/"), r"request refused \(301\): it redirects to https://h/;"),
    "deep error": (sends(DEEP.encode(), 400), r"request refused \(400\): \["),
}


@pytest.mark.parametrize("name", PASSING)
def test_passing_trouble_is_waited_out(words_engine: Any, stub: ChatStub, scripted: Scripted, name: str) -> None:
    reaction, reason = PASSING[name]
    stub.reactions = {1: reaction, 2: reaction}
    fake = FakeTime()
    reward, notes, record = played(words_engine, players_on(stub, fake))
    assert reward.total == scripted.rewards["E_CART"]
    assert (notes["retries"], notes["requests"]) == (2, len(record["steps"]) + 2)
    assert all(re.match(f"turn 2: {reason}", problem) for problem in notes["problems"])
    assert len(notes["problems"]) == 2
    assert 0.5 <= fake.slept[0] <= 1.0 <= fake.slept[1] <= 2.0
    assert notes["waited"] == pytest.approx(sum(fake.slept), abs=0.001)
    assert stub.requests[1] == stub.requests[2] == stub.requests[3]
    assert "failed" not in notes


@pytest.mark.parametrize("name", [*PASSING, *LASTING])
def test_lasting_trouble_ends_the_episode_with_its_reason(words_engine: Any, stub: ChatStub, name: str) -> None:
    reaction, reason = (PASSING | LASTING)[name]
    stub.always = reaction
    stub.reactions = {0: says({"content": "Which one?"})}
    reward, notes, record = played(words_engine, players_on(stub, tries=3))
    assert re.match(reason, notes["failed"])
    assert (reward.total, len(record["steps"])) == (-1.0, 2)
    assert reward.reason == f"Invalid output: {NO_ANSWER}: {notes['failed']}"
    assert notes["requests"] == 1 + (3 if name in PASSING else 1)
    assert notes.get("retries", 0) == (2 if name in PASSING else 0)
    assert json.dumps(notes, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize("how", ["hang", "trickle"])
def test_a_server_that_never_answers_is_not_waited_for(
    words_engine: Any, stub: ChatStub, scripted: Scripted, how: str
) -> None:
    stub.reactions[1] = getattr(stub, how)
    reward, notes, _ = played(words_engine, players_on(stub, timeout=1.5))
    assert reward.total == scripted.rewards["E_CART"]
    assert notes["problems"][0].startswith("turn 2: timed out")
    stub.always = getattr(stub, how)
    _, notes, _ = played(words_engine, players_on(stub, timeout=0.1, tries=2))
    assert notes["failed"].startswith("timed out")


def test_a_slow_server_is_waited_for(words_engine: Any, stub: ChatStub, scripted: Scripted) -> None:
    stub.always = stub.drip
    reward, notes, _ = played(words_engine, players_on(stub))
    assert (reward.total, notes.get("retries")) == (scripted.rewards["E_CART"], None)


def test_no_server_at_all(words_engine: Any, scripted: Scripted) -> None:
    with running(scripted) as stub:
        players = players_on(stub, tries=2)
    _, notes, _ = played(words_engine, players)
    assert notes["failed"].startswith("the connection failed")
    assert notes["requests"] == 2


# --- waiting


@pytest.mark.parametrize(
    ("headers", "least"),
    [({"Retry_After": "7"}, 7.0), ({"Retry_After": SOON, "Date": NOW}, 9.0), ({"Retry_After": PASSED, "Date": NOW}, 0)],
)
def test_a_server_may_say_when_to_come_back(
    words_engine: Any, stub: ChatStub, headers: dict[str, str], least: float
) -> None:
    stub.reactions = {0: sends({}, 429, **headers)}
    fake = FakeTime()
    reward, notes, _ = played(words_engine, players_on(stub, fake))
    assert reward.correct
    assert least <= notes["waited"] <= least + 1
    assert len(fake.slept) == 1


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "1e999", "Wed, 99 Oct 2026 07:28:00 GMT"])
def test_what_is_no_time_is_not_waited_for(text: str) -> None:
    assert wait_asked({"retry-after": text, "date": NOW}) is None
    assert wait_asked({"retry-after": SOON, "date": text}) is None or text == ""


def test_a_wait_that_is_longer_than_all_patience_is_not_begun(words_engine: Any, stub: ChatStub) -> None:
    stub.always = sends({}, 503, Retry_After="3600")
    fake = FakeTime()
    _, notes, _ = played(words_engine, players_on(stub, fake))
    assert re.match(r"server error \(503\); out of patience: 360\d s to wait, 600 s left", notes["failed"])
    assert (notes["requests"], fake.slept) == (1, [])


def test_patience_ends_before_the_tries_do(words_engine: Any, stub: ChatStub) -> None:
    stub.always = sends({}, 429, Retry_After="10")
    _, notes, _ = played(words_engine, players_on(stub, tries=1000, patience=300))
    assert 27 <= notes["requests"] <= 30
    assert "out of patience" in notes["failed"]
    assert len(notes["problems"]) == 20


def test_requests_are_spaced_out_over_all_threads() -> None:
    limit = RateLimit(30, lambda: 100.0)
    with ThreadPoolExecutor(8) as pool:
        waits = sorted(pool.map(lambda _: limit.reserve(most=1000.0), range(20)))
    assert waits == [2.0 * number for number in range(20)]
    assert limit.reserve(most=10.0) == limit.reserve(most=10.0) == 40.0
    assert RateLimit(None, lambda: 100.0).reserve(most=1.0) == 0.0


def test_episodes_keep_to_the_rate_limit(words_engine: Any, stub: ChatStub) -> None:
    fake = FakeTime()
    reward, notes, record = played(words_engine, players_on(stub, fake, per_minute=60))
    assert reward.correct
    assert notes["waited"] == pytest.approx(len(record["steps"]) - 1, abs=0.5)
    _, notes, record = played(words_engine, players_on(stub, per_minute=0.05))
    assert notes["failed"].startswith("no request could be sent in time; out of patience")
    assert (notes["requests"], len(record["steps"])) == (1, 2)


# --- what is the model's own fault


def called(name: str, arguments: Any) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"id": "1", "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (called("no_such_tool", "{}"), "no tool is called 'no_such_tool'"),
        (called("", "{}"), "a tool call has no name"),
        (called("cart_view", "not JSON"), "the arguments of cart_view are not a JSON object"),
        (called("cart_view", '{"a": ' + DEEP), "larger than 64 KiB"),
        (called("cart_view", f'{{"a": {"[" * 60}{"]" * 60}}}'), "nested deeper than"),
        (called("cart_view", '{"n": 1e999}'), "NaN and Infinity"),
        (called("cart_view", json.dumps({"x": "y" * 70_000})), "larger than 64 KiB"),
        ({"content": "x" * 70_000}, "larger than 64 KiB"),
        ({"content": "half a \ud800 character"}, "half of a surrogate pair"),
        ({"content": "<think>and so on"}, "</think> never comes"),
        ({"content": "fine", "tool_calls": [called("cart_view", "{}")["tool_calls"][0]] * 101}, "more than 100 tool"),
    ],
)
def test_what_the_model_does_wrong_ends_the_episode_as_its_fault(
    words_engine: Any, stub: ChatStub, message: dict[str, Any], reason: str
) -> None:
    stub.always = says(message)
    reward, notes, _ = played(words_engine, players_on(stub))
    assert (reward.total, reward.reason.partition(": ")[0]) == (-1.0, "Invalid output")
    assert reason in reward.reason
    assert (notes["requests"], "failed" in notes, "retries" in notes) == (1, False, False)


def test_an_empty_answer_is_asked_for_once_more(words_engine: Any, stub: ChatStub, scripted: Scripted) -> None:
    stub.reactions[1] = says({"content": None, "tool_calls": [], "reasoning_content": "Hm."})
    reward, notes, _ = played(words_engine, players_on(stub))
    assert (reward.total, notes["retries"]) == (scripted.rewards["E_CART"], 1)
    assert notes["problems"] == ["turn 2: the answer was empty; all there is are thoughts"]
    assert stub.requests[1]["seed"] != stub.requests[2]["seed"]
    stub.requests.clear()
    stub.reactions.clear()
    stub.always = says({"content": " \n"})
    reward, notes, _ = played(words_engine, players_on(stub))
    assert reward.reason.startswith("Invalid output: the action is empty")
    assert (notes["requests"], "failed" in notes) == (2, False)


def test_an_answer_that_was_cut_off_counts_at_once(words_engine: Any, stub: ChatStub) -> None:
    stub.always = says({"content": None, "reasoning": "and so on and so"}, finish="length")
    reward, notes, _ = played(words_engine, players_on(stub))
    assert reward.reason.startswith("Invalid output: the action is empty")
    assert (notes["requests"], notes["cut_off"]) == (1, 1)


def test_content_in_parts_is_one_text(words_engine: Any, stub: ChatStub) -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Which "},
        {"type": "text", "text": "one?"},
    ]
    stub.always = says({"content": parts})
    _, _, record = played(words_engine, players_on(stub))
    assert record["steps"][0]["canonical"] == {"assistant_message": "Which one?"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FUNCTIONS = st.fixed_dictionaries({}, optional={"name": st.just("cart_view") | VALUES, "arguments": VALUES})
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "content": st.text(max_size=9) | VALUES,
        "tool_calls": st.lists(st.fixed_dictionaries({"function": FUNCTIONS | VALUES}) | VALUES, max_size=3) | VALUES,
        "reasoning_content": VALUES,
    },
)


@given(message=MESSAGES | VALUES, finish=VALUES, usage=VALUES, bare=VALUES)
@settings(max_examples=300)
def test_whatever_a_server_sends_is_an_answer_or_a_reason(message: Any, finish: Any, usage: Any, bare: Any) -> None:
    for data in (completion(message, finish, usage), bare):
        try:
            answer = read_answer(data)
        except RequestError:
            continue
        assert isinstance(answer, Answer)
        try:
            parse_action(answer.action)
        except InvalidActionError:
            continue
        assert not answer.empty


# --- many at a time


def test_many_episodes_over_threads_all_end(words_engine: Any) -> None:
    model = Scripted(words_engine)
    jobs = [(env_id, seed) for env_id in ("E_CART", "E_STATUS", "E_POLICY") for seed in range(8)]
    for env_id, seed in jobs:
        model.learn(env_id, seed)
    draw = random.Random(3)
    mischief = [reaction for reaction, _ in (PASSING | LASTING).values() if reaction is not endless]
    with running(model) as stub:
        players = players_on(stub, timeout=1.0, tries=2)
        mischief += [stub.hang, stub.trickle, says(called("no_such_tool", "{}"))]
        stub.reactions = {number: draw.choice(mischief) for number in range(500) if draw.random() < 0.2}
        with ThreadPoolExecutor(players.width) as pool:
            results = list(pool.map(lambda job: played(words_engine, players, *job), jobs))
        stub.released.set()
    failed = sum("failed" in notes for _, notes, _ in results)
    faults = sum("no tool is called" in reward.reason for reward, _, _ in results)
    assert sum(notes["requests"] for _, notes, _ in results) >= len(stub.requests)
    assert sum(reward.correct for reward, _, _ in results) == len(jobs) - failed - faults
    assert failed > 2
    assert len(jobs) - failed - faults > 2
