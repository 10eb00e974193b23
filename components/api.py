"""The Space as an API: named endpoints for programs, which are tools for MCP clients as well.

Gradio makes both from the signatures and docstrings of `Endpoints`, so these are written for people who call them.
"""

import functools
import importlib.util
import json
import os
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.data_classes import JsonData
from pydantic import model_serializer

from components.api_episodes import ApiError, Episodes, RemoteEpisode
from components.session import ENVIRONMENTS, Shop, whole
from ecomrlve.errors import EcomrlveError, GenerationError, short

# No `from __future__ import annotations` here: Gradio reads the types of what is returned as they stand.

PLAYER = {"player": "api", "kind": "agent"}
NAMES = ("reset", "step", "submit", "tools", "trajectory")
LOADING_SECONDS = 20.0
LONGEST_MESSAGE = 500


class Reply(JsonData):
    """What an endpoint answers, as JSON text.

    In plain dicts Gradio looks for files to copy and to serve, and what an agent wrote may look like one; text it
    leaves alone. It also keeps the last answer to every visitor, and an MCP client gets the text as it is.
    """

    root: str

    @model_serializer
    def _plain(self) -> Any:
        return json.loads(self.root)

    def __str__(self) -> str:
        return self.root


class Endpoints:
    """What programs can call. Each method is one endpoint; what it raises is answered as an error, see `answering`.

    Args:
        shop: Where environments come from.
        keep: Takes the record of a finished episode whose player wants it kept.
        episodes: Where running episodes are.
    """

    def __init__(
        self, shop: Shop, keep: Callable[[dict[str, Any]], None] = lambda record: None, episodes: Episodes | None = None
    ):
        self.episodes = Episodes() if episodes is None else episodes
        self._shop = shop
        self._keep = keep
        self._schemas: dict[str, dict[str, Any]] = {}

    def reset(
        self,
        env_id: str,
        difficulty: int = 0,
        seed: int | None = None,
        overrides: dict[str, float] | None = None,
        keep: bool = False,
    ) -> dict[str, Any]:
        """Start an episode: a customer writes to the shop, and you are its assistant. Equal seeds give equal episodes.

        Args:
            env_id: What the customer wants: E_CART, E_PD, E_SUB, E_RETURN, E_STATUS, E_POLICY, E_BUNDLE or E_JOURNEY
            difficulty: From 0 to 12
            seed: A whole number from 0; without one it is drawn
            overrides: Values for single axes of difficulty, by name
            keep: Whether the finished episode is shown to everybody under Trajectories

        Returns:
            token for all further calls, the first observation, and info: seed, env_id, difficulty, prompt for a model
        """
        environment = self._make(env_id)
        if not isinstance(keep, bool):
            raise ApiError("bad_arguments", "keep must be true or false.")
        options = {"difficulty": whole(difficulty), "overrides": overrides}
        observation, info = environment.reset(seed=whole(seed), options=options)
        told = {**info, "prompt": environment.system_prompt()}
        token = self.episodes.add(RemoteEpisode(environment, keep))
        return {"token": token, "observation": observation.to_dict(), "info": told}

    def step(self, token: str, action: str | dict[str, Any]) -> dict[str, Any]:
        """Take one turn. The tool calls run first, then the customer reads the message.

        Args:
            token: The token that reset gave
            action: Text, or {"assistant_message": "…", "tool_calls": [{"name": "…", "args": {…}}]}, or one of the two

        Returns:
            observation of what came since, reward (0 until the end), terminated, truncated, and info with its parts
        """
        if not isinstance(action, str | dict):
            raise ApiError("bad_arguments", "action must be an object or text. No turn was taken.")
        return self._take_turn(token, action)

    def submit(self, token: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Hand in the answer, which ends the episode unless the customer has something to add.

        Args:
            token: The token that reset gave
            answer: The fields that the observation names as answer_fields; {} where there is nothing to say

        Returns:
            What step returns
        """
        if not isinstance(answer, str | dict):
            raise ApiError("bad_arguments", "answer must be an object. No turn was taken.")
        # As a call, because the protocol reads that from an object and from its text, which some clients send instead.
        return self._take_turn(token, {"tool_calls": [{"name": "submit_answer", "args": answer}]})

    def tools(self, env_id: str) -> dict[str, Any]:
        """Look up what an environment asks for, its tools as JSON schemas, and the fields of the answer.

        Args:
            env_id: E_CART, E_PD, E_SUB, E_RETURN, E_STATUS, E_POLICY, E_BUNDLE or E_JOURNEY

        Returns:
            env_id, title, instructions, tools, answer_fields
        """
        environment = self._make(env_id)
        if env_id not in self._schemas:
            observation, _ = environment.reset(seed=0)
            task = environment.task_of(env_id)
            self._schemas[env_id] = {
                "env_id": env_id,
                "title": task.title,
                "instructions": task.instructions.strip(),
                "tools": list(observation.tools),
                "answer_fields": observation.answer_fields,
            }
        return self._schemas[env_id]

    def trajectory(self, token: str) -> dict[str, Any]:
        """Get the record of a finished episode: all turns, the goal that was hidden, and how the reward came about.

        Args:
            token: The token that reset gave

        Returns:
            The record, which can be uploaded under Trajectories or verified with the ecomrlve package
        """
        episode = self.episodes.find(token)
        with episode.lock:
            if episode.environment is not None:
                raise ApiError("episode_running", "The episode is still running; its record would tell the goal.")
            return json.loads(episode.record)

    def _make(self, env_id: Any) -> Any:
        if not isinstance(env_id, str) or env_id not in ENVIRONMENTS:
            known = ", ".join(ENVIRONMENTS)
            raise ApiError("bad_arguments", f"There is no environment {short(repr(env_id))}; choose one of {known}.")
        if not self._shop.start().loaded.wait(LOADING_SECONDS):
            raise ApiError("loading", "The shop is still loading. Ask again in a few seconds.")
        if self._shop.problem:
            raise ApiError("unavailable", self._shop.problem)
        return self._shop.make(env_id)

    def _take_turn(self, token: Any, action: str | dict[str, Any]) -> dict[str, Any]:
        episode = self.episodes.find(token)
        with episode.lock:
            environment = episode.running()
            observation, reward, terminated, truncated, info = environment.step(action)
            if terminated or truncated:
                info = {"reward": info["reward"].to_dict()}
                record = environment.trajectory(**PLAYER).to_dict()
                episode.end(json.dumps(record, ensure_ascii=False).encode())
                if episode.keep:
                    self._keep(record)
        return {
            "observation": observation.to_dict(),
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }


def problem(error: EcomrlveError) -> dict[str, Any]:
    """The answer to a call that cannot be answered: ``{"error": {"code", "message"}}``."""
    if isinstance(error, ApiError):
        code = error.code
    else:
        code = "no_episode" if isinstance(error, GenerationError) else "bad_arguments"
    # A message may quote what was sent, and half a surrogate pair cannot be sent back.
    message = short(error, LONGEST_MESSAGE).encode(errors="replace").decode()
    return {"error": {"code": code, "message": message}}


def answering(method: Callable[..., dict[str, Any]]) -> Callable[..., Reply]:
    """The method as an endpoint that never fails on purpose: what it raises on purpose becomes an answer."""

    @functools.wraps(method)
    def answer(*arguments: Any) -> Reply:
        try:
            found = method(*arguments)
        except EcomrlveError as error:
            found = problem(error)
        return Reply(json.dumps(found, ensure_ascii=False))

    return answer


def add_endpoints(endpoints: Endpoints) -> None:
    """Publish the endpoints on the page that is being built; nothing of them can be seen there.

    To be called before any event is wired: an event takes the name of its function, and the first one has it.

    Raises:
        RuntimeError: An event of the page has taken a name.
    """
    for name in NAMES:
        # Not through the queue: a step takes milliseconds, one POST is enough for it, and MCP is answered directly.
        made = gr.api(answering(getattr(endpoints, name)), api_name=name, queue=False, concurrency_limit=None)
        if made["api_name"] != name:
            raise RuntimeError(f"an event of the page is called {name} already; add the endpoints before it")


def mcp_server() -> bool | None:
    """What `launch` is to be told of MCP: on where the ``mcp`` package is installed.

    None leaves it to Gradio, where GRADIO_MCP_SERVER decides.
    """
    return None if "GRADIO_MCP_SERVER" in os.environ else importlib.util.find_spec("mcp") is not None
