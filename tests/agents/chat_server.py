"""A server of chat completions on this machine, for tests: a model that plays by a script, and all kinds of trouble."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ecomrlve.agents.base import play
from ecomrlve.agents.endpoint import EndpointOptions, EndpointPlayers
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.environment import Environment
from ecomrlve.replay import verify
from ecomrlve.rewards import Reward

Reaction = Callable[[BaseHTTPRequestHandler], None]
Model = Callable[[dict[str, Any]], dict[str, Any]]


class FakeTime:
    """A clock that goes on by itself, and jumps for each thread that sleeps.

    Attributes:
        slept: How long all threads slept each time.
    """

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._own = threading.local()

    def clock(self) -> float:
        return time.monotonic() + getattr(self._own, "ahead", 0.0)

    def sleep(self, seconds: float) -> None:
        self._own.ahead = getattr(self._own, "ahead", 0.0) + seconds
        self.slept.append(seconds)


class ChatStub:
    """Answers requests with what `model` says, except where it is told to react otherwise.

    Attributes:
        model: Body of a request → message of the model.
        reactions: What to do instead, by the number of the request.
        always: What to do instead with every other request.
        requests: The bodies, in the order in which they came.
        keys: Their Authorization headers.
        usage: What is said about tokens.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.reactions: dict[int, Reaction] = {}
        self.always: Reaction | None = None
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.usage: Any = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        self.released = threading.Event()
        lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    number = len(stub.requests)
                    stub.requests.append(body)
                    stub.keys.append(self.headers.get("Authorization"))
                if self.path != "/v1/chat/completions":
                    respond(self, {"error": f"nothing at {self.path}"}, 404)
                elif reaction := stub.reactions.get(number, stub.always):
                    reaction(self)
                else:
                    respond(self, completion(stub.model(body), usage=stub.usage))

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        """Never answers."""
        self.released.wait()

    def trickle(self, handler: BaseHTTPRequestHandler) -> None:
        """Sends a byte now and then, for ever."""
        handler.send_response(200)
        handler.end_headers()
        try:
            while not self.released.wait(0.01):
                handler.wfile.write(b" ")
        except OSError:  # the client has had enough
            handler.close_connection = True

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """Sends a good answer in small pieces."""
        message = self.model(self.requests[-1])
        data = json.dumps(completion(message)).encode()
        handler.send_response(200)
        handler.end_headers()
        for start in range(0, len(data), 20):
            handler.wfile.write(data[start : start + 20])
            handler.wfile.flush()


@contextmanager
def running(model: Model) -> Iterator[ChatStub]:
    """A server that runs inside the block."""
    stub = ChatStub(model)
    thread = threading.Thread(target=stub.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield stub
    finally:
        stub.released.set()
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()


def completion(message: Any, finish: Any = "stop", usage: Any = None) -> dict[str, Any]:
    """The body of a chat completion."""
    return {"id": "x", "choices": [{"index": 0, "finish_reason": finish, "message": message}], "usage": usage}


def respond(handler: BaseHTTPRequestHandler, body: Any, status: int = 200, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response_only(status)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def sends(body: Any, status: int = 200, **headers: str) -> Reaction:
    """A reaction: this body, with this status."""
    return lambda handler: respond(handler, body, status, **headers)


def says(message: Any, finish: Any = "stop") -> Reaction:
    """A reaction: a completion with this message."""
    return sends(completion(message, finish))


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


def half(handler: BaseHTTPRequestHandler) -> None:
    """Announces more than it sends, then hangs up."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


class Scripted:
    """A model that knows what the reference agent does in some episodes, told apart by what the customer says first.

    Args:
        engine: The engine of the episodes.
        dialect: How it writes.

    Attributes:
        rewards: What the reference agent got, by environment.
    """

    def __init__(self, engine: Any, dialect: str = "native"):
        self._engine = engine
        self._write = {"native": native_message, "json": json_message, "hermes": hermes_message}[dialect]
        self._scripts: dict[str, tuple[int, list[dict[str, Any]]]] = {}
        self.rewards: dict[str, float] = {}

    def learn(self, env_id: str, seed: int = 1, difficulty: int = 3) -> None:
        """Play an episode with the reference agent and remember its actions."""
        env = Environment((env_id,), self._engine)
        observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        agent, total = ReferenceAgent(), 0.0
        agent.reset(env)
        actions: list[dict[str, Any]] = []
        assert observation.messages[0]["content"] not in self._scripts, "two episodes begin alike"
        self._scripts[observation.messages[0]["content"]] = observation.turns_left, actions
        while not env.episode.over:
            actions.append(agent.act(observation))
            observation, total, *_ = env.step(actions[-1])
        self.rewards[env_id] = total

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        opening = next(message["content"] for message in body["messages"] if message["role"] == "user")
        scripts = [script for text, script in self._scripts.items() if opening.startswith(text)]
        if not scripts:
            return {"role": "assistant", "content": "I do not know what to say."}
        ((turns, script),) = scripts
        left = re.findall(r"\[turns left: (\d+)", body["messages"][-1]["content"])
        return self._write(script[turns - int(left[-1])])


def native_message(action: dict[str, Any]) -> dict[str, Any]:
    """A canonical action as the message of a model that is given its tools."""
    calls = [(call["name"], call.get("args", {})) for call in action.get("tool_calls", ())]
    if action.get("answer") is not None:
        calls.append(("submit_answer", action["answer"]))
    written = [
        {"id": f"x{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": action.get("assistant_message"), "tool_calls": written or None}


def json_message(action: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": f"<think>Let me see.</think>\n{json.dumps(action)}"}


def hermes_message(action: dict[str, Any]) -> dict[str, Any]:
    native = native_message(action)
    calls = [call["function"] for call in native["tool_calls"] or ()]
    written = [f'{{"name": "{call["name"]}", "arguments": {call["arguments"]}}}' for call in calls]
    blocks = [f"<tool_call>\n{call}\n</tool_call>" for call in written]
    return {"role": "assistant", "content": "\n".join([native["content"] or "", *blocks])}


def players_on(stub: ChatStub, fake: FakeTime | None = None, **options: Any) -> EndpointPlayers:
    """Agents on a server, who do not really sleep."""
    fake = fake or FakeTime()
    where = f"{stub.url}/v1#my-model"
    return EndpointPlayers(
        f"endpoint:{where}", where, EndpointOptions(**options), clock=fake.clock, sleep=fake.sleep
    )  # fmt: skip


def played(
    engine: Any, players: EndpointPlayers, env_id: str = "E_CART", seed: int = 1, trial: int = 0
) -> tuple[Reward, dict[str, Any], dict[str, Any]]:
    """One episode: its reward, the agent's notes and the record, which replays."""
    env = Environment((env_id,), engine)
    agent = players.player(trial)
    reward = play(env, agent, seed, 3)
    record = json.loads(env.trajectory(players.name).to_json())
    assert verify(record, engine).ok
    return reward, agent.notes(), record
