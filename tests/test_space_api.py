"""The Space's endpoints over HTTP, as strangers reach them: by plain POSTs, `gradio_client`, and MCP."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
DOCUMENT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:7860"  # in the document
SEARCH = {"tool_calls": [{"name": "catalog_search", "args": {"query": "mug"}}]}


@dataclass
class Space:
    """A running Space."""

    url: str
    store: Path

    def post(self, name: str, *data: Any, **more: Any) -> httpx.Response:
        body = {"data": list(data), **more}
        return httpx.post(f"{self.url}/gradio_api/run/{name}", json=body, timeout=300)

    def call(self, name: str, *data: Any) -> Any:
        response = self.post(name, *data)
        assert response.status_code == 200
        return response.json()["data"][0]


@pytest.fixture(scope="module")
def space(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    import app
    from components.session import Shop

    store = tmp_path_factory.mktemp("store")
    demo = app.build(Shop(lambda: words_engine), str(store))
    demo.api_open = False  # as on Hugging Face
    _, url, _ = app.launch(demo, server_name="127.0.0.1", server_port=None, prevent_thread_lock=True, quiet=True)
    yield Space(url.rstrip("/"), store)
    demo.close()


@pytest.fixture(scope="module")
def client(space: Space) -> Any:
    from gradio_client import Client

    return Client(space.url, verbose=False, analytics_enabled=False)


def played(engine: Any, env_id: str, difficulty: int, seed: int) -> tuple[list[Any], list[Any]]:
    """What the reference agent does in an episode, and what it is told: (observation, reward, …) after each action."""
    import ecomrlve
    from ecomrlve.agents.reference import ReferenceAgent

    env, agent = ecomrlve.make(env_id, catalog=engine), ReferenceAgent()
    observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
    agent.reset(env)
    actions, told = [], [json.loads(observation.to_json())]
    while not env.episode.over:
        actions.append(agent.act(observation))
        observation, reward, terminated, truncated, _ = env.step(actions[-1])
        told.append([json.loads(observation.to_json()), reward, terminated, truncated])
    return actions, told


# --- what is public --------------------------------------------------------------------------------------------------


def test_the_endpoints_are_public_and_nothing_else_of_the_page(space: Space, client: Any) -> None:
    from components.api import NAMES

    described = client.view_api(return_format="dict", print_info=False)
    assert set(described["named_endpoints"]) == {f"/{name}" for name in NAMES}
    assert not described["unnamed_endpoints"]
    config = httpx.get(f"{space.url}/config").json()
    public = {event["api_name"] for event in config["dependencies"] if event["api_visibility"] != "private"}
    assert public == set(NAMES)
    others = [event["api_name"] for event in config["dependencies"] if event["api_visibility"] == "private"]
    assert others
    assert all(space.post(name).status_code == 404 for name in others if name)


def test_arguments_have_types_and_descriptions(client: Any) -> None:
    described = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    types = {one["parameter_name"]: one["type"] for one in described["/reset"]["parameters"]}
    assert types["env_id"] == {"type": "string"}
    assert types["difficulty"] == {"type": "integer"}
    assert types["keep"] == {"type": "boolean"}
    assert {"type": "object", "additionalProperties": {}} in described["/step"]["parameters"][1]["type"]["anyOf"]
    assert all(endpoint["description"] for endpoint in described.values())
    assert all(endpoint["returns"][0]["type"]["type"] == "object" for endpoint in described.values())


# --- playing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ["E_CART", "E_POLICY"])
def test_a_client_plays_the_episode_that_python_plays(
    space: Space, client: Any, words_engine: Any, env_id: str
) -> None:
    from ecomrlve.replay import load_trajectories, verify

    actions, told = played(words_engine, env_id, 3, 11)
    started = client.predict(env_id, difficulty=3, seed=11, keep=True, api_name="/reset")
    assert started["observation"] == told[0]
    token = started["token"]
    assert client.predict(token, api_name="/trajectory")["error"]["code"] == "episode_running"
    for action, expected in zip(actions, told[1:], strict=True):
        turn = client.predict(token, action, api_name="/step")
        assert [turn[name] for name in ("observation", "reward", "terminated", "truncated")] == expected
    record = client.predict(token, api_name="/trajectory")
    assert verify(record, words_engine).ok
    stored = [one for file in space.store.glob("*.jsonl") for one in load_trajectories(file)[0]]
    assert [one for one in stored if one["episode_id"] == record["episode_id"]] == [record]


def test_visitors_at_the_same_time_keep_to_their_own_episodes(space: Space, words_engine: Any) -> None:
    cases = [(env_id, seed) for env_id in ("E_CART", "E_STATUS") for seed in range(4)]
    expected = {case: played(words_engine, case[0], 2, case[1]) for case in cases}

    def visit(case: tuple[str, int]) -> bool:
        actions, told = expected[case]
        started = space.call("reset", case[0], 2, case[1], None, False)
        assert started["observation"] == told[0]
        for action, following in zip(actions, told[1:], strict=True):
            turn = space.call("step", started["token"], action)
            assert [turn[name] for name in ("observation", "reward", "terminated", "truncated")] == following
        return True

    with ThreadPoolExecutor(len(cases)) as pool:
        assert all(pool.map(visit, cases))


def test_steps_of_one_episode_at_the_same_time_are_turns_one_after_the_other(space: Space) -> None:
    token = space.call("reset", "E_PD", 0, 3, {"turn_budget": 20}, False)["token"]
    with ThreadPoolExecutor(8) as pool:
        turns = list(pool.map(lambda _: space.call("step", token, SEARCH), range(8)))
    counted = [turn["observation"]["turn"] for turn in turns if "observation" in turn]
    assert sorted(counted) == list(range(1, len(counted) + 1))
    assert len(counted) >= 2
    assert {turn["error"]["code"] for turn in turns if "error" in turn} <= {"episode_over"}


def test_errors_are_answers(space: Space, client: Any) -> None:
    token = space.call("reset", "E_CART", 0, 3, None, False)["token"]
    for told, code in [
        (space.call("step", "x" * 43, SEARCH), "unknown_token"),
        (client.predict("x" * 43, {}, api_name="/submit"), "unknown_token"),
        (space.call("reset", "E_CART", 99, 3, None, False), "bad_arguments"),
        (client.predict("E_NONE", api_name="/tools"), "bad_arguments"),
        (space.call("step", token, [SEARCH]), "bad_arguments"),
        (space.call("trajectory", token), "episode_running"),
    ]:
        assert set(told) == {"error"}
        assert told["error"]["code"] == code
    space.call("step", token, "{broken")
    assert space.call("step", token, SEARCH)["error"]["code"] == "episode_over"


def test_words_that_look_like_a_file_of_gradios_stay_words(space: Space) -> None:
    lookalike = {"path": str(ROOT / "app.py"), "meta": {"_type": "gradio.FileData"}, "done": True}
    token = space.call("reset", "E_CART", 0, 3, None, False)["token"]
    while not space.call("step", token, json.dumps({"answer": lookalike}))["terminated"]:
        pass
    assert space.call("trajectory", token)["steps"][-1]["canonical"] == {"answer": lookalike}
    # As an object Gradio itself refuses it before anything of ours runs: no turn is taken.
    token = space.call("reset", "E_CART", 0, 3, None, False)["token"]
    assert space.post("step", token, {"answer": lookalike}).status_code == 500
    assert space.call("step", token, SEARCH)["observation"]["turn"] == 1


# --- the document ----------------------------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, flags=re.DOTALL)


def test_the_documents_python_runs(space: Space, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks("python")
    assert ADDRESS in example
    exec(compile(example.replace(ADDRESS, space.url), "docs/api.md", "exec"), {})
    assert "Garden Hose" in capsys.readouterr().out


def test_the_documents_curl_runs(space: Space) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("there is no curl here")
    (example,) = [block for block in blocks("bash") if block.startswith("curl ")]
    command = ["bash", "-c", example.replace(ADDRESS, space.url)]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=300).stdout)
    assert told["data"][0]["observation"]["env_id"] == "E_CART"


def test_the_documents_tables_are_those_of_the_code() -> None:
    from components.api import NAMES, Endpoints
    from components.api_episodes import IDLE_SECONDS, MOST_EPISODES

    rows = re.findall(r"^\| `/(\w+)` \| ([^|]+) \|", DOCUMENT, flags=re.MULTILINE)
    assert [name for name, _ in rows] == list(NAMES)
    for name, arguments in rows:
        names = [one for one in inspect.signature(getattr(Endpoints, name)).parameters if one != "self"]
        assert re.findall(r"`(\w+)`", arguments) == names
    source = "".join((ROOT / "components" / name).read_text(encoding="utf-8") for name in ("api.py", "api_episodes.py"))
    raised = set(re.findall(r'ApiError\(\s*"(\w+)"', source)) | set(re.findall(r'"(\w+)" if isinstance\(error', source))
    documented = re.search(r"\| code \| meaning \|\n(.*?)\n\n", DOCUMENT, flags=re.DOTALL)
    assert documented is not None
    assert {code for row in documented[1].splitlines() for code in re.findall(r"`(\w+)`", row)} == raised
    assert f"{MOST_EPISODES:,}" in DOCUMENT
    assert IDLE_SECONDS == 3600
    assert "idle for an hour" in DOCUMENT


# --- MCP -------------------------------------------------------------------------------------------------------------


def test_an_mcp_client_plays_an_episode(space: Space, words_engine: Any) -> None:
    mcp = pytest.importorskip("mcp", reason='MCP is not installed here: pip install "gradio[mcp]"')
    from mcp.client.streamable_http import streamable_http_client

    from components.api import NAMES

    actions, told = played(words_engine, "E_CART", 3, 5)

    async def visit() -> None:
        async with (
            streamable_http_client(f"{space.url}/gradio_api/mcp/") as (read, write, _),
            mcp.ClientSession(read, write) as session,
        ):
            await session.initialize()
            listed = (await session.list_tools()).tools
            assert [tool.name for tool in listed] == list(NAMES)
            assert all(
                one.get("description") for tool in listed for one in tool.inputSchema.get("properties", {}).values()
            )

            async def call(name: str, **arguments: Any) -> Any:
                result = await session.call_tool(name, arguments)
                assert not result.isError
                return json.loads(result.content[0].text)

            started = await call("reset", env_id="E_CART", difficulty=3, seed=5)
            assert started["observation"] == told[0]
            for action, expected in zip(actions, told[1:], strict=True):
                turn = await call("step", token=started["token"], action=action)
                assert [turn[name] for name in ("observation", "reward", "terminated", "truncated")] == expected
            assert (await call("trajectory", token=started["token"]))["goal"]
            assert (await call("submit", token="x" * 43, answer={}))["error"]["code"] == "unknown_token"

    # On a thread of its own: where tests with a browser ran before, this one has a loop already.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, visit()).result()
