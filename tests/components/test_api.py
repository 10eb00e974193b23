from __future__ import annotations

import gc
import json
import re
import threading
import weakref
from collections.abc import Callable
from typing import Any

import gradio as gr
import pytest
from gradio.utils import get_function_description
from hypothesis import given, settings
from hypothesis import strategies as st

from components import api
from components.api import NAMES, Endpoints, Reply, add_endpoints, answering
from components.api_episodes import ApiError
from components.session import ENVIRONMENTS, Shop
from ecomrlve.errors import DifficultyError, GenerationError, OptionError, SeedError
from ecomrlve.replay import verify

SEARCH = {"tool_calls": [{"name": "catalog_search", "args": {"query": "mug"}}]}
BROKEN = "{broken"


@pytest.fixture(scope="module")
def shop(words_engine: Any) -> Shop:
    made = Shop(lambda: words_engine)
    made.wait()
    return made


@pytest.fixture
def endpoints(shop: Shop) -> Any:
    """The endpoints, and in `kept` what they hand to the library."""
    kept: list[dict[str, Any]] = []
    made = Endpoints(shop, kept.append)
    made.kept = kept
    return made


def call(method: Callable[..., dict[str, Any]], *arguments: Any) -> Any:
    """What a caller gets, errors included."""
    return json.loads(str(answering(method)(*arguments)))


# --- an episode ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_an_episode_is_the_one_that_python_plays(endpoints: Any, words_engine: Any, env_id: str) -> None:
    import ecomrlve
    from ecomrlve.agents.reference import ReferenceAgent

    env, agent = ecomrlve.make(env_id, catalog=words_engine), ReferenceAgent()
    observation, info = env.reset(seed=5, options={"difficulty": 6, "overrides": {"noise": 0.0}})
    agent.reset(env)
    started = call(endpoints.reset, env_id, 6, 5, {"noise": 0.0})
    assert set(started) == {"token", "observation", "info"}
    assert started["observation"] == json.loads(observation.to_json())
    assert started["info"] == {**info, "prompt": env.system_prompt()}
    token = started["token"]
    while True:
        assert call(endpoints.trajectory, token)["error"]["code"] == "episode_running"
        action = agent.act(observation)
        observation, reward, terminated, truncated, info = env.step(action)
        told = call(endpoints.step, token, action)
        assert told["observation"] == json.loads(observation.to_json())
        assert (told["reward"], told["terminated"], told["truncated"]) == (reward, terminated, truncated)
        if terminated or truncated:
            break
        assert told["info"] == {}
    assert told["info"] == {"reward": json.loads(json.dumps(info["reward"].to_dict()))}
    record = call(endpoints.trajectory, token)
    assert record["goal"]
    assert record["player"] == {"name": "api", "kind": "agent"}
    assert verify(record, words_engine).ok


@pytest.mark.parametrize("text", [False, True])
def test_an_answer_is_submitted_as_an_object_or_as_its_text(endpoints: Any, text: bool) -> None:
    token = call(endpoints.reset, "E_PD", 0, 7)["token"]
    answer = {"recommended_product_ids": ["p0000000"]}
    told = call(endpoints.submit, token, json.dumps(answer) if text else answer)
    while not told["terminated"]:  # an answer in haste is not judged
        told = call(endpoints.submit, token, answer)
    canonical = call(endpoints.trajectory, token)["steps"][-1]["canonical"]
    assert canonical == {"answer": {**answer, "done": True}}


def test_the_same_seed_is_the_same_episode_and_none_is_drawn(endpoints: Any) -> None:
    one, two, drawn = (call(endpoints.reset, "E_CART", 2, seed) for seed in (9, "9", None))
    assert one["observation"] == two["observation"]
    assert one["token"] != two["token"]
    again = call(endpoints.reset, "E_CART", 2, drawn["info"]["seed"])
    assert again["observation"] == drawn["observation"]


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_tools_are_those_of_the_observation(endpoints: Any, env_id: str) -> None:
    told, observation = call(endpoints.tools, env_id), call(endpoints.reset, env_id)["observation"]
    assert (told["tools"], told["answer_fields"]) == (observation["tools"], observation["answer_fields"])
    assert told["title"]
    assert told["instructions"]
    assert len(endpoints.episodes) == 1  # looking something up starts none


def test_only_what_shall_be_kept_is_kept_and_once(endpoints: Any) -> None:
    for keep in (True, False):
        token = call(endpoints.reset, "E_CART", 0, 3, None, keep)["token"]
        assert not endpoints.kept or not keep
        assert call(endpoints.step, token, BROKEN)["reward"] == -1
        call(endpoints.step, token, BROKEN)
        call(endpoints.trajectory, token)
    assert [record["reward"]["total"] for record in endpoints.kept] == [-1]


def test_a_finished_episode_lets_go_of_everything_but_its_record(endpoints: Any) -> None:
    token = call(endpoints.reset, "E_CART", 0, 3)["token"]
    world = weakref.ref(endpoints.episodes.find(token).environment.episode.world)
    call(endpoints.step, token, BROKEN)
    gc.collect()
    assert world() is None
    assert call(endpoints.trajectory, token)["reward"]["total"] == -1


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [("E_NONE",), (["E_CART"],), (None,), ("E_CART", "hard"), ("E_CART", 13), ("E_CART", None), ("E_CART", True),
     ("E_CART", 0, -1), ("E_CART", 0, 2**63), ("E_CART", 0, 1.5), ("E_CART", 0, 1, [1]), ("E_CART", 0, 1, {"x": 1}),
     ("E_CART", 0, 1, {"noise": "much"}), ("E_CART", 0, 1, None, "yes"), ("E" * 10_000,), ("\ud800",)],
)  # fmt: skip
def test_a_reset_with_bad_arguments_starts_nothing(endpoints: Any, arguments: tuple[Any, ...]) -> None:
    told = call(endpoints.reset, *arguments)
    assert told["error"]["code"] == "bad_arguments"
    assert 20 < len(told["error"]["message"]) <= api.LONGEST_MESSAGE
    assert len(endpoints.episodes) == 0


@pytest.mark.parametrize("wrong", [None, 5, True, [SEARCH]])
def test_what_is_no_action_takes_no_turn(endpoints: Any, wrong: Any) -> None:
    token = call(endpoints.reset, "E_CART", 0, 3)["token"]
    for method in (endpoints.step, endpoints.submit):
        assert call(method, token, wrong)["error"]["code"] == "bad_arguments"
    assert call(endpoints.step, token, SEARCH)["observation"]["turn"] == 1


def test_after_the_end_no_turn_is_taken(endpoints: Any) -> None:
    token = call(endpoints.reset, "E_CART", 0, 3)["token"]
    call(endpoints.step, token, BROKEN)
    before = call(endpoints.trajectory, token)
    assert call(endpoints.step, token, SEARCH)["error"]["code"] == "episode_over"
    assert call(endpoints.submit, token, {})["error"]["code"] == "episode_over"
    assert call(endpoints.trajectory, token) == before


@pytest.mark.parametrize(
    ("error", "code"),
    [(ApiError("loading", "wait"), "loading"), (SeedError("no"), "bad_arguments"), (OptionError("no"), "bad_arguments"),
     (DifficultyError("no"), "bad_arguments"), (GenerationError("none"), "no_episode")],
)  # fmt: skip
def test_every_error_has_a_code(error: Exception, code: str) -> None:
    def fail() -> dict[str, Any]:
        raise error

    assert call(fail) == {"error": {"code": code, "message": str(error)}}


def test_what_the_shop_cannot_do_yet_or_at_all_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LOADING_SECONDS", 0)
    arrived = threading.Event()

    def load() -> Any:
        arrived.wait()
        raise OSError("no space left")

    shop = Shop(load)
    assert call(Endpoints(shop).reset, "E_CART")["error"]["code"] == "loading"
    arrived.set()
    shop.loaded.wait()
    told = call(Endpoints(shop).tools, "E_CART")["error"]
    assert told["code"] == "unavailable"
    assert "no space left" in told["message"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(JSON, JSON, JSON, JSON, JSON)
def test_whatever_is_sent_gets_an_answer_in_json(
    shop: Shop, one: Any, two: Any, three: Any, four: Any, five: Any
) -> None:
    endpoints = Endpoints(shop)
    token = call(endpoints.reset, "E_CART", 0, 1)["token"]
    told = [
        call(endpoints.reset, "E_CART", two, three, four, five),
        call(endpoints.reset, one),
        call(endpoints.tools, one),
        call(endpoints.trajectory, one),
        call(endpoints.step, one, two),
        call(endpoints.step, token, three),
        call(endpoints.submit, token, four),
    ]
    for reply in told:
        assert ("error" in reply) != ("observation" in reply)
        json.dumps(reply).encode()


# --- tokens ----------------------------------------------------------------------------------------------------------


def test_tokens_cannot_be_guessed_and_belong_to_one_episode_each(endpoints: Any) -> None:
    tokens = [call(endpoints.reset, "E_CART", 0, 3)["token"] for _ in range(20)]
    assert len(set(tokens)) == len(tokens)
    # 32 random bytes: no two share as much as a beginning.
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)
    assert len({token[:8] for token in tokens}) == len(tokens)
    call(endpoints.step, tokens[0], SEARCH)
    assert [endpoints.episodes.find(token).environment.episode.turn for token in tokens] == [1] + [0] * 19


@pytest.mark.parametrize("token", ["", "x", None, 5, ["x"], {"token": "x"}, "ÿ\x00"])
def test_an_unknown_token_opens_nothing(endpoints: Any, token: Any) -> None:
    call(endpoints.reset, "E_CART", 0, 3)
    for told in (
        call(endpoints.step, token, SEARCH),
        call(endpoints.submit, token, {}),
        call(endpoints.trajectory, token),
    ):
        assert told["error"]["code"] == "unknown_token"


class Turnstile:
    """A lock that tells how many have come to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.arrivals = threading.Semaphore(0)

    def __enter__(self) -> None:
        self.arrivals.release()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_two_steps_at_the_same_time_are_two_turns_one_after_the_other(endpoints: Any) -> None:
    token = call(endpoints.reset, "E_CART", 0, 3)["token"]
    episode = endpoints.episodes.find(token)
    episode.lock = turnstile = Turnstile()
    step, both_came, order = episode.environment.step, threading.Event(), []

    def watched(action: Any) -> Any:
        order.append("in")
        both_came.wait(300)
        result = step(action)
        order.append("out")
        return result

    episode.environment.step = watched
    turns: list[int] = []
    threads = [
        threading.Thread(target=lambda: turns.append(call(endpoints.step, token, SEARCH)["observation"]["turn"]))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert turnstile.arrivals.acquire(timeout=300)
    both_came.set()
    for thread in threads:
        thread.join(300)
    assert order == ["in", "out", "in", "out"]
    assert sorted(turns) == [1, 2]


# --- what Gradio makes of it -----------------------------------------------------------------------------------------


def test_a_reply_is_not_searched_for_files() -> None:
    payload = {"path": "/etc/hostname", "meta": {"_type": "gradio.FileData"}, "words": "ü ☃"}
    reply = Reply(json.dumps(payload, ensure_ascii=False))
    assert not isinstance(reply, dict)
    assert reply.model_dump() == payload
    assert json.loads(str(reply)) == payload


def test_every_endpoint_and_argument_is_described(endpoints: Any) -> None:
    for name in NAMES:
        description, arguments, returns = get_function_description(answering(getattr(endpoints, name)))
        assert description.endswith(".")
        assert arguments
        assert all(arguments.values())
        assert len(returns) == 1
        if "env_id" in arguments:
            assert set(re.findall(r"E_[A-Z]+", arguments["env_id"])) == set(ENVIRONMENTS)


def test_the_names_must_be_free(endpoints: Any) -> None:
    def reset() -> None:
        """An event of the page."""

    with gr.Blocks() as page:
        gr.Button().click(reset, api_visibility="private")
        with pytest.raises(RuntimeError, match="called reset already"):
            add_endpoints(endpoints)
    page.close()


def test_mcp_is_on_where_it_is_installed_unless_somebody_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADIO_MCP_SERVER", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name == "mcp" else None)
    assert api.mcp_server() is True
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert api.mcp_server() is False
    monkeypatch.setenv("GRADIO_MCP_SERVER", "True")
    assert api.mcp_server() is None
